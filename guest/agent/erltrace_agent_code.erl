%% erltrace_agent_code - tells the library which functions are loaded, so that it finds them in the VM's code (guest/beam/probe/code.h): stacks need that.
%%
%% What always holds: a table is made when a program that takes stacks is enabled, and again, at most every few seconds, after a frame was not
%% explained. The work is done in parts of at most a millisecond or so.
-module(erltrace_agent_code).

-export([build/0, rebuild/1, names/1]).

-import(erltrace_agent_lib, [functions_of/1, breathe/0]).

-include("erltrace_agent.hrl").

%% Makes the table if there is none that is up to date.
-spec build() -> ok.
build() ->
    ?AGENT:nif_code_stale() andalso make(),
    ok.

make() ->
    Modules = [{M, functions_of(M)} || M <- erlang:loaded()],
    case ?AGENT:nif_code_begin(lists:sum([length(Fs) || {_, Fs} <- Modules])) of
        true ->
            [begin ?AGENT:nif_code_add(M, Fs), breathe() end || {M, Fs} <- Modules],
            scan(),
            ?AGENT:nif_code_end();
        false -> % this VM does not keep its code where it is looked for, or an older table is still read
            0
    end.

scan() ->
    breathe(),
    ?AGENT:nif_code_scan() andalso scan().

%% Regularly: makes the table anew while a program takes stacks and code has been loaded.
rebuild(#s{consumers = Cs}) ->
    lists:any(fun(#c{stacks = At}) -> At =/= none end, maps:values(Cs)) andalso build(),
    ok.

%% The names that this consumer has not got: {[{First, End, Name}], consumer}.
names(#c{stacks = none} = C) ->
    {[], C};
names(#c{stacks = From} = C) ->
    case ?AGENT:nif_code_names(From) of
        {From, []} -> {[], C};
        {Next, Some} ->
            {More, C1} = names(C#c{stacks = Next}),
            {Some ++ More, C1}
    end.
