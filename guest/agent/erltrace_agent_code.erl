%% erltrace_agent_code - tells the library which functions are loaded, so that it finds them in the VM's code (guest/beam/probe/code.h): stacks need that.
%%
%% What always holds: a table is made when a program that takes stacks is enabled, and again after a frame was not explained: at most every
%% ?SOON ms if other code is loaded since, otherwise so seldom that it takes no more than one part in ?SHARE of a scheduler, because code that is
%% loaded again unchanged has another address. The work is done in parts of at most a millisecond or so.
-module(erltrace_agent_code).

-export([build/0, rebuild/1, names/1]).

-import(erltrace_agent_lib, [functions_of/1, breathe/0]).

-include("erltrace_agent.hrl").

-define(SOON, 2000).
-define(SHARE, 50).

-spec build() -> ok.
build() ->
    Since = erltrace_agent_lib:now_ms(),
    Code = code(),
    _ = make(),
    Now = erltrace_agent_lib:now_ms(),
    _ = put(code_built, {Now, Code, max(?SOON, ?SHARE * (Now - Since))}),
    ok.

%% A number that changes with what is loaded.
code() ->
    erlang:phash2([try erlang:get_module_info(M, md5) catch _:_ -> M end || M <- erlang:loaded()]).

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

%% Makes a new table, if one is due, while a program takes stacks. Called regularly.
rebuild(#s{consumers = Cs}) ->
    case lists:any(fun(#c{stacks = At}) -> At =/= none end, maps:values(Cs)) of
        true -> is_due(?AGENT:nif_code_stale()) andalso build();
        false -> ?AGENT:nif_code_rest()
    end,
    ok.

%% Found: what nif_code_stale/0 has found. A function that has no code of its own is never found, and no reason by itself.
is_due(false) ->
    false;
is_due(Found) ->
    Stale = Found =:= true,
    case get(code_built) of
        {At, Code, Wait} ->
            Age = erltrace_agent_lib:now_ms() - At,
            (Stale andalso Age >= Wait) orelse (Age >= ?SOON andalso Code =/= code());
        undefined ->
            true
    end.

%% The names that this consumer has not got: {[{First, End, Name, Files, Sites}], consumer}.
names(#c{stacks = none} = C) ->
    {[], C};
names(#c{stacks = From} = C) ->
    case ?AGENT:nif_code_names(From) of
        {From, []} -> {[], C};
        {Next, Some} ->
            {More, C1} = names(C#c{stacks = Next}),
            {Some ++ More, C1}
    end.
