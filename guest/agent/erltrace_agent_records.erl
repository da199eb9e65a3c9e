%% erltrace_agent_records - whether the records that a program knows from modules are still those of the code that runs.
%%
%% The consumer says with the option `told` from which code of which module it knows a record. When a module has been loaded again with other
%% code, its records are old: their fields cannot be read, and with `redact` nothing is shown of such tuples. That is so before the calls of the
%% new code are seen through patterns that are set again, but not before its first calls: a load is reported once it has happened. The consumer
%% then asks for the module's debug information, and says what it has compared.
-module(erltrace_agent_records).

-export([take/1, check/1, loaded/2, compared/2]).

-include("erltrace_agent.hrl").

-define(MOST, 10000). % modules and records together

%% Splits off the option: {what the program knows from modules, the other options}. An index is that of one of its records.
-spec take([{atom(), term()}]) -> {#{module() => [{binary(), non_neg_integer()}]}, [{atom(), term()}]}.
take(Options) ->
    case lists:keytake(told, 1, Options) of
        {value, {told, Told}, Rest} when is_list(Told), length(Told) =< ?MOST ->
            Records = length(proplists:get_value(records, Rest, [])),
            {lists:foldl(fun({M, Md5, Index}, Acc) when is_atom(M), is_binary(Md5), is_integer(Index), Index >= 0, Index < Records ->
                             Acc#{M => [{Md5, Index} | maps:get(M, Acc, [])]}
                         end, #{}, Told), Rest};
        false -> {#{}, Options}
    end.

%% Says in a program which of its records are old.
check(#c{records = Records}) when map_size(Records) =:= 0 ->
    ok;
check(#c{records = Records, program = P}) ->
    ?AGENT:nif_records_old(P, lists:usort([Index || {M, Told} <- maps:to_list(Records), Now <- [md5(M)], {Md5, Index} <- Told, Md5 =/= Now])).

md5(M) ->
    try erlang:get_module_info(M, md5)
    catch error:badarg -> none
    end.

%% These modules have been loaded.
loaded(Ms, #s{consumers = Cs}) ->
    lists:foreach(fun(#c{records = Records, program = P} = C) ->
                      P =/= undefined andalso lists:any(fun(M) -> is_map_key(M, Records) end, Ms) andalso check(C)
                  end, maps:values(Cs)).

%% The consumer has found the same definitions in this code. Those that it does not name stay what they are.
compared(Told, #c{records = Records} = C) when is_list(Told), length(Told) =< ?MOST ->
    C1 = C#c{records = lists:foldl(fun({M, Md5, Index}, #{} = Acc) when is_binary(Md5) ->
                                       Acc#{M := [case Known of {_, Index} -> {Md5, Index}; _ -> Known end || Known <- map_get(M, Acc)]}
                                   end, Records, Told)},
    ok = check(C1),
    C1.
