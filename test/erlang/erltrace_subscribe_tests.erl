%% Results that are pushed: with demand, to slow subscribers, to those that die, until the end of the trace.
-module(erltrace_subscribe_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [trace/1, trace/2, calls/1, await/1, clean/0, receives/1]).

-define(CALLS, "erlang*:erltrace_test:call/0:entry ").

records_test() ->
    {ok, H} = erltrace:script(?CALLS "{ trace(++n); }"),
    {ok, Ref} = erltrace:subscribe(H, 1000),
    ok = erltrace_test:go(H),
    calls(100),
    ?assertEqual(lists:seq(1, 100), records(Ref, 100)),
    ok = erltrace:stop(H),
    ?assertEqual({erltrace, Ref, {done, stopped}}, receives(erltrace)),
    ok = erltrace:close(H),
    ?assertEqual([], mailbox()).

records(_, 0) ->
    [];
records(Ref, N) ->
    {erltrace, Ref, {records, Items}} = receives(erltrace),
    Values = [V || {probe, _, V} <- Items],
    Values ++ records(Ref, N - length(Values)).

mailbox() ->
    {messages, Messages} = process_info(self(), messages),
    [M || M <- Messages, element(1, M) =:= erltrace].

%% Without demand nothing comes, with some exactly that; the rest waits, is bounded, and what is too much is a counted drop.
demand_test() ->
    H = trace(?CALLS "{ trace(++n); }", [{queue, 65536}]),
    {ok, Ref} = erltrace:subscribe(H, #{max => 10}),
    calls(20000),
    ?assertMatch({ok, #{state := running}}, erltrace:status(H)),
    ?assertEqual([], mailbox()),
    ok = erltrace:demand(H, 2),
    {erltrace, Ref, {records, A}} = receives(erltrace),
    {erltrace, Ref, {records, B}} = receives(erltrace),
    ?assert(length(A) =< 10 andalso length(B) =< 10),
    %% An answer to us comes after whatever was sent before.
    {ok, _} = erltrace:status(H),
    ?assertEqual([], mailbox()),
    ok = erltrace:stop(H),
    {Values, Dropped} = to_the_end(H, Ref, A ++ B),
    ?assertEqual(lists:sort(Values), Values),
    ?assert(Dropped > 0),
    ?assertEqual(20000, length(Values) + Dropped),
    ok = erltrace:close(H).

to_the_end(H, Ref, Items) ->
    ok = case erltrace:demand(H, 1) of
             ok -> ok;
             {error, not_subscribed} -> ok
         end,
    case receives(erltrace) of
        {erltrace, Ref, {records, More}} -> to_the_end(H, Ref, Items ++ More);
        {erltrace, Ref, {done, stopped}} -> {[V || {probe, _, V} <- Items], lists:sum([N || {drop, #{count := N}} <- Items])}
    end.

%% Aggregations each so often; a subscriber that is slow gets what has come together.
walk_test() ->
    H = trace(?CALLS "{ @ = count(); }"),
    {ok, Ref} = erltrace:subscribe(H, #{every => 20, records => false, demand => 1}),
    calls(5),
    {erltrace, Ref, {walk, [{count, [], A}]}} = receives(erltrace),
    calls(5),
    calls(5),
    {ok, _} = erltrace:status(H),
    ?assertEqual([], mailbox()),
    ?assertMatch({error, subscribed}, erltrace:subscribe(H, 1)),
    ?assertEqual(ok, erltrace:consume(H)), % the records are not the subscriber's
    ok = erltrace:stop(H),
    ok = erltrace:demand(H, 10),
    ?assertEqual(15, A + counted(Ref)),
    ok = erltrace:close(H).

counted(Ref) ->
    case receives(erltrace) of
        {erltrace, Ref, {walk, [{count, [], N}]}} -> N + counted(Ref);
        {erltrace, Ref, {done, stopped}} -> 0
    end.

%% Both, until the script ends by itself: nothing is missing, and the end comes last.
both_test() ->
    {ok, H} = erltrace:script(?CALLS "{ @ = count(); trace(++n); } " ?CALLS "/n == 50/ { exit(0); }"),
    {ok, Ref} = erltrace:subscribe(H, #{every => 10, demand => 1000}),
    ok = erltrace_test:go(H),
    calls(50),
    {Records, Count} = both(Ref, [], 0),
    ?assertEqual(lists:seq(1, 50), Records),
    ?assertEqual(50, Count),
    ?assertMatch({ok, #{exited := true}}, erltrace:status(H)),
    ok = erltrace:close(H).

both(Ref, Records, Count) ->
    case receives(erltrace) of
        {erltrace, Ref, {records, Items}} -> both(Ref, Records ++ [V || {probe, _, V} <- Items], Count);
        {erltrace, Ref, {walk, [{count, [], N}]}} -> both(Ref, Records, Count + N);
        {erltrace, Ref, {done, exited}} -> {Records, Count}
    end.

%% One at a time; who is subscribed has the records for himself; and may leave.
unsubscribe_test() ->
    H = trace(?CALLS "{ trace(1); }"),
    ?assertEqual({error, not_subscribed}, erltrace:demand(H, 1)),
    ?assertEqual(ok, erltrace:unsubscribe(H)),
    {ok, _} = erltrace:subscribe(H, 0),
    ?assertEqual({error, subscribed}, erltrace:subscribe(H, 0)),
    ?assertEqual({error, subscribed}, erltrace:consume(H)),
    calls(1),
    ?assertEqual(ok, erltrace:unsubscribe(H)),
    ?assertMatch({ok, [{probe, _, 1}]}, await(fun() -> erltrace:consume(H) end)),
    [?assertError(badarg, erltrace:subscribe(H, O)) || O <- [#{demand => -1}, #{nothing => 1}, #{records => false}, #{every => 0}, #{pid => me}]],
    ?assertError(function_clause, erltrace:demand(H, 0)),
    ok = erltrace:close(H),
    ?assertEqual([], mailbox()).

%% A subscriber that dies: the trace goes on, and somebody else may come.
dead_subscriber_test() ->
    H = trace(?CALLS "{ trace(1); }"),
    {Pid, Monitor} = spawn_monitor(fun() -> {ok, _} = erltrace:subscribe(H, 10) end),
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end,
    {ok, Ref} = await(fun() -> case erltrace:subscribe(H, 10) of {error, subscribed} -> false; Ok -> Ok end end),
    calls(1),
    ?assertMatch({erltrace, Ref, {records, [{probe, _, 1}]}}, receives(erltrace)),
    ok = erltrace:close(H).

%% Subscribers who come and go: what one had asked for and was not given is for whoever asks next, and nothing comes twice.
come_and_go_test() ->
    H = trace(?CALLS "{ trace(++n); @ = count(); }"),
    Rounds = 100,
    Had = [begin
               {ok, Ref} = erltrace:subscribe(H, #{demand => 1 + N rem 4, every => 1}),
               calls(3),
               [{ok, _} = erltrace:status(H) || N rem 3 =:= 0], % sometimes the answers come before he leaves
               ok = erltrace:unsubscribe(H),
               had(Ref)
           end || N <- lists:seq(1, Rounds)],
    calls(3),
    ok = erltrace:stop(H),
    Records = lists:append([R || {R, _} <- Had]) ++ values(drained(fun() -> erltrace:consume(H) end)),
    Counts = lists:append([C || {_, C} <- Had]) ++ drained(fun() -> erltrace:walk(H) end),
    ?assertEqual(lists:seq(1, 3 * (Rounds + 1)), lists:sort(Records)),
    ?assertEqual(3 * (Rounds + 1), lists:sum([N || {count, [], N} <- Counts])),
    ok = erltrace:close(H),
    ?assertEqual([], mailbox()).

had(Ref) ->
    receive
        {erltrace, Ref, {records, Items}} -> {R, C} = had(Ref), {values(Items) ++ R, C};
        {erltrace, Ref, {walk, Entries}} -> {R, C} = had(Ref), {R, Entries ++ C}
    after 0 -> {[], []}
    end.

values(Items) -> [V || {probe, _, V} <- Items].

drained(Fun) ->
    case Fun() of
        {ok, Found} -> Found ++ drained(Fun);
        ok -> drained(Fun);
        {error, stopped} -> []
    end.

%% What a subscriber had asked for comes after he has left: it is kept until somebody consumes.
asked_for_and_gone_test() ->
    H = trace(?CALLS "{ trace(1); }"),
    {ok, _} = erltrace:subscribe(H, 10),
    ok = erltrace:unsubscribe(H),
    calls(1),
    await(fun() -> {ok, #{recorded := N}} = erltrace:status(H), N =:= 1 end),
    ?assertMatch({ok, [{probe, _, 1}]}, await(fun() -> erltrace:consume(H) end)),
    ok = erltrace:close(H).

%% A handle that is closed, or whose owner ends: its subscriber is told, unless it was he who closed it.
closed_test_() ->
    [{atom_to_list(How), fun() -> closes(How) end} || How <- [owner_closes, owner_ends, subscriber_closes]].

closes(How) ->
    Self = self(),
    Owner = spawn_link(fun() ->
                               H = trace(?CALLS "{ trace(1); }"),
                               Self ! {handle, H},
                               receive owner_closes -> ok = erltrace:close(H); owner_ends -> ok end
                       end),
    {handle, H} = receives(handle),
    {ok, Ref} = erltrace:subscribe(H, 10),
    case How of
        subscriber_closes ->
            ok = erltrace:close(H),
            ?assertEqual([], mailbox()),
            Owner ! owner_ends;
        _ ->
            Owner ! How,
            ?assertEqual({erltrace, Ref, {done, closed}}, receives(erltrace))
    end,
    ?assertEqual(true, clean()).

%% The end of the port program is told.
port_died_test() ->
    H = trace(?CALLS "{ trace(1); }"),
    {ok, Ref} = erltrace:subscribe(H, 10),
    erltrace_end_tests:kill(H),
    ?assertMatch({erltrace, Ref, {done, {port_died, _}}}, receives(erltrace)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean()).
