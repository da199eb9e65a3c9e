%% erltrace_agent_only - needs for which a few processes are enough.
%%
%% The consumer finds out that the predicates of all its clauses on the probes of a need are true for certain processes only, and says so
%% with the option `only`. If every running program that has the need says so, the need's flags go on those processes only, and not on new
%% ones; in doubt they go on all.
-module(erltrace_agent_only).

-export([take/1, flags/3, functions/2]).

-include("erltrace_agent.hrl").

%% Splits off the option: {#{Need => [pid()]}, the other options}.
-spec take([{atom(), term()}]) -> {#{pos_integer() => [pid()]}, [{atom(), term()}]}.
take(Options) ->
    case lists:keytake(only, 1, Options) of
        {value, {only, Needs}, Rest} ->
            {maps:from_list([{Need, Pids} || {Need, Texts} <- Needs, Pids <- [pids(Texts, [])], Pids =/= unknown]), Rest};
        false ->
            {#{}, Options}
    end.

%% A process that does not exist may yet come, and would get the flags like all others then.
pids([Text | Texts], Acc) ->
    try list_to_pid(binary_to_list(Text)) of
        Pid when node(Pid) =:= node() ->
            case erltrace_agent_lib:alive(Pid) of
                true -> pids(Texts, [Pid | Acc]);
                false -> unknown
            end;
        _ -> unknown
    catch
        error:badarg -> unknown
    end;
pids([], Acc) ->
    lists:usort(Acc).

%% Returns the flags that the programs need: on all processes, and on single ones. Flagged are the functions whose patterns work only with
%% flags, and what is wanted of them.
-spec flags([#c{}], non_neg_integer(), #{mfa() => pos_integer()}) -> {[atom()], #{pid() => [atom()]}}.
flags(Running, Bits, Flagged) ->
    Scopes = [{scope([only(Bit, C) || #c{needs = N} = C <- Running, N band Bit =/= 0]), F}
              || {Bit, F} <- ?PROCESS_FLAGS, Bits band Bit =/= 0] ++
             [{scope([calls(Flagged, C) || C <- Running]), call_flags(Flagged)} || map_size(Flagged) > 0],
    {lists:append([F || {all, F} <- Scopes]),
     lists:foldl(fun({P, F}, Some) -> maps:update_with(P, fun(L) -> L ++ F end, F, Some) end, #{},
                 [{P, F} || {Pids, F} <- Scopes, Pids =/= all, P <- Pids])}.

call_flags(Flagged) ->
    [call, arity] ++ [return_to || erltrace_agent_lib:fold(fun(_, Bits, Any) -> Any orelse Bits band ?RETURN =/= 0 end, false, Flagged)].

scope(Scopes) ->
    case lists:member(all, Scopes) of
        true -> all;
        false -> lists:usort(lists:append(Scopes))
    end.

only(Need, #c{only = Only}) -> maps:get(Need, Only, all).

%% Patterns of Flagged take effect only in processes with the flags; so everything that is wanted of such a function has to be restricted.
calls(Flagged, #c{wants = Wants} = C) ->
    Bits = erltrace_agent_lib:fold(fun(MFA, _, B) -> B bor maps:get(MFA, Wants, 0) end, 0, Flagged),
    scope([only(Need, C) || {Want, Need} <- ?WANT_NEEDS, Bits band Want =/= 0]).

%% Returns the functions of which all programs want only calls and exceptions of a few processes: a local pattern costs the other processes
%% next to nothing, where a meta pattern costs half a microsecond a call. None while another tool traces calls before OTP 27: that tool
%% would get the events as well.
-spec functions([#c{}], #s{}) -> #{mfa() => true}.
functions(_, #s{calls = {_, _, _}}) ->
    #{};
functions(Running, _) ->
    case [C || #c{only = Only, wants = W} = C <- Running, map_size(W) > 0, is_map_key(?NEED_CALL, Only) orelse is_map_key(?NEED_EXCEPTION, Only) orelse is_map_key(?NEED_RETURN, Only)] of
        [] ->
            #{};
        _ ->
            {Few, Any} = lists:foldl(fun few/2, {#{}, #{}}, Running),
            maps:without(maps:keys(Any), Few)
    end.

few(#c{wants = Wants} = C, Acc) ->
    Free = lists:foldl(fun({Want, Need}, B) ->
                           case only(Need, C) of
                               all -> B bor Want;
                               _ -> B
                           end
                       end, ?RETURN bor ?LOCAL bor ?GLOBAL, ?WANT_NEEDS),
    erltrace_agent_lib:fold(fun(MFA, Bits, {Few, Any}) when Bits band Free =:= 0 -> {Few#{MFA => true}, Any};
                               (MFA, _, {Few, Any}) -> {Few, Any#{MFA => true}}
                            end, Acc, Wants).
