%% 200 handles, opened, used and left in every way: nothing of them is left, in this node or in the operating system.
-module(erltrace_leak_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [calls/1, await/1, clean/0, receives/1]).

-define(SCRIPT, "erlang*:erltrace_test:call/0:entry { @ = count(); trace(1); }").
-define(HANDLES, 200).
-define(AT_ONCE, 10).

%% How far a handle gets, and how it is left: every pair of them.
steps() -> [open, compile, bad_compile, bad_go, go, use, subscribe, stop, exit].
ends() -> [close, owner_ends, owner_killed, port_killed, handle_killed].

handles_test() ->
    Ways = [{S, E} || E <- ends(), S <- steps()],
    %% Once before anything is counted: what stays then is the application's own.
    run(lists:sublist(Ways, length(Ways) - ?AT_ONCE, ?AT_ONCE)),
    Before = settled(),
    All = lists:sublist(lists:append(lists:duplicate(?HANDLES div length(Ways) + 1, Ways)), ?HANDLES),
    run(All),
    ?assertEqual(true, clean()),
    await(fun() -> lists:all(fun({B, A}) -> A =< B end, lists:zip(counts(Before), counts(figures()))) end),
    %% Some megabytes more or less are the allocators' business; a handle has a good part of one.
    [_, _, _, _, BeforeMemory] = Before,
    await(fun() -> lists:last(settled()) < BeforeMemory + 16 * 1024 * 1024 end).

counts([P, O, T, A, _]) -> [P, O, T, A].

figures() ->
    [erlang:system_info(process_count), erlang:system_info(port_count), ets_tables(), children(), memory()].

settled() ->
    [erlang:garbage_collect(P) || P <- processes()],
    figures().

ets_tables() -> length(ets:all()).

memory() -> erlang:memory(processes) + erlang:memory(ets) + erlang:memory(binary) + erlang:memory(atom).

%% Port programs: processes of the operating system whose parent's parent is this VM (erl_child_setup is in between).
children() ->
    Parents = maps:from_list([{Pid, Parent} || {ok, Names} <- [file:list_dir("/proc")], Pid <- Names, Parent <- parent(Pid)]),
    Ours = os:getpid(),
    length([Pid || {Pid, Parent} <- maps:to_list(Parents), maps:get(Parent, Parents, none) =:= Ours]).

parent(Pid) ->
    case file:read_file(["/proc/", Pid, "/stat"]) of
        {ok, Stat} ->
            case re:run(Stat, "^[0-9]+ \\(.*\\) [^Z] ([0-9]+)", [{capture, all_but_first, list}]) of
                {match, [Parent]} -> [Parent];
                nomatch -> []
            end;
        {error, _} -> []
    end.

%% Some at a time, each in the hands of an owner.
run([]) ->
    ok;
run(Ways) ->
    {Some, Rest} = lists:split(min(?AT_ONCE, length(Ways)), Ways),
    Self = self(),
    Owners = [spawn_monitor(fun() -> owner(Self, Way) end) || Way <- Some],
    [receive
         {ready, Owner} -> ok;
         {'DOWN', Monitor, process, Owner, Reason} -> error({owner, Reason})
     after 180000 -> error({late, Some})
     end || {Owner, Monitor} <- Owners],
    %% They go in an order that is not that of their coming.
    [Owner ! go || {Owner, _} <- lists:reverse(Owners)],
    [receive {'DOWN', Monitor, process, Owner, Reason} -> lists:member(Reason, [normal, killed]) orelse error({owner, Reason})
     after 180000 -> error({stays, Owner, Some})
     end || {Owner, Monitor} <- Owners],
    run(Rest).

owner(Parent, {Step, End}) ->
    {ok, H} = erltrace:open([{strings, binary}]),
    step(Step, H),
    Parent ! {ready, self()},
    receive go -> ok end,
    left(End, H).

step(open, _) -> ok;
step(compile, H) -> ok = erltrace:compile(H, ?SCRIPT);
step(bad_compile, H) -> {error, {compile, _}} = erltrace:compile(H, "BEGIN { x; }");
step(bad_go, H) ->
    ok = erltrace:compile(H, "erlang*:no_such_module_here::entry { }"),
    {error, {noprobe, _}} = erltrace_test:go(H);
step(go, H) ->
    step(compile, H),
    ok = erltrace_test:go(H);
step(use, H) ->
    step(go, H),
    calls(5),
    {ok, [{count, [], _}]} = await(fun() -> erltrace:walk(H) end),
    {ok, [_ | _]} = await(fun() -> erltrace:consume(H) end);
step(subscribe, H) ->
    step(go, H),
    {ok, Ref} = erltrace:subscribe(H, #{demand => 1, every => 10}),
    calls(5),
    {erltrace, Ref, _} = receives(erltrace);
step(stop, H) ->
    step(go, H),
    ok = erltrace:stop(H);
step(exit, H) ->
    ok = erltrace:compile(H, "BEGIN { exit(0); }"),
    ok = erltrace_test:go(H),
    {error, exited} = await(fun() -> erltrace:walk(H) end).

left(close, H) -> ok = erltrace:close(H);
left(owner_ends, _) -> ok;
left(owner_killed, _) -> exit(self(), kill);
left(port_killed, H) ->
    erltrace_end_tests:kill(H),
    {error, {port_died, _}} = await(fun() -> case erltrace:status(H) of {error, _} = E -> E; _ -> false end end);
left(handle_killed, H) ->
    exit(H, kill),
    {error, closed} = await(fun() -> case erltrace:status(H) of {error, closed} = E -> E; _ -> false end end).
