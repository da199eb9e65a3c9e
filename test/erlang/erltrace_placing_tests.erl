%% Placing probes takes a busy node long: how far it is, what ends it, what does not, and from when time counts.
-module(erltrace_placing_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [clean/0, clean/1, receives/1, closed/1, peer/0, stop/2, fake/1]).

-define(FUNCTIONS, 30).
-define(SLOW, "erlang*:etn_*:f0:entry { @ = count(); }").

%% A node in which each call that sets a pattern takes long, as its schedulers are busy.
slow_peer() ->
    {Peer, Node} = peer(),
    ok = erpc:call(Node, etw, tiny, [?FUNCTIONS, 1]),
    ok = erpc:call(Node, etw, held, [2]),
    {Peer, Node}.

%% What go gives comes as {went, Result}.
going(H) ->
    Self = self(),
    spawn_link(fun() -> Self ! {went, erltrace:go(H)} end).

%% Until some of the probes are there.
placing(Ref, Node) ->
    case receives(erltrace) of
        {erltrace, Ref, {progress, #{node := Name, waiting := false, unit := functions, done := Done, total := ?FUNCTIONS}}} when Done > 0 ->
            ?assertEqual(atom_to_binary(Node, utf8), Name),
            ?assert(Done =< ?FUNCTIONS);
        {erltrace, Ref, {progress, #{}}} ->
            placing(Ref, Node)
    end.

%% A subscriber who asks for it hears how far it is; stop and close end it, and go may be tried again; nobody else is told anything.
ended_test() ->
    {Peer, Node} = slow_peer(),
    {ok, H} = erltrace:open([{node, Node}]),
    ok = erltrace:compile(H, "BEGIN { trace(1); } " ?SLOW),
    {ok, Ref} = erltrace:subscribe(H, #{demand => 1000, progress => true}),
    going(H),
    placing(Ref, Node),
    ok = erltrace:stop(H),
    ?assertEqual({went, {error, stopped}}, receives(went)),
    ?assertEqual({error, not_running}, erltrace:walk(H)),
    ?assertEqual(true, clean(Node)), % while the handle is open
    _ = progress(Ref),
    going(H),
    placing(Ref, Node),
    ok = erltrace:unsubscribe(H),
    Self = self(),
    Other = spawn_link(fun() -> {ok, R} = erltrace:subscribe(H, 1000), Self ! subscribed, Self ! {heard, receive {erltrace, R, M} -> M end} end),
    receive subscribed -> ok end,
    ok = erltrace:close(H),
    ?assertEqual({went, {error, stopped}}, receives(went)),
    ?assertEqual({heard, {done, closed}}, receives(heard)),
    unlink(Other),
    closed(H),
    ?assertEqual(true, clean(Node)),
    stop(Peer, Node).

progress(Ref) ->
    receive {erltrace, Ref, {progress, P}} -> [P | progress(Ref)] after 0 -> [] end.

%% The program has its time for an answer from when it has last said how far it is; and when it says no more, it is killed as ever.
timeout_test() ->
    Answers = [{reply, N, R, []} || {N, R} <- [{1, {ok, #{}}}, {2, ok}, {3, {ok, #{}}}]],
    Progress = {progress, 4, #{node => <<"n@h">>, waiting => false, unit => functions, done => 1, total => 2}},
    Fake = fake(["next() { set -- $(dd bs=1 count=4 2>/dev/null | od -An -tu1); dd bs=1 count=$(($3 * 256 + $4)) >/dev/null 2>&1; }\n",
                 [["next; cat ", frame(A), "\n"] || A <- Answers],
                 "next; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 0.1; cat ", frame(Progress), "; done; cat ",
                 frame({reply, 4, {ok, #{}}, []}), "; exec sleep 1000"]),
    {ok, Program} = application:get_env(erltrace, program),
    application:set_env(erltrace, program, Fake),
    try
        {ok, H} = erltrace:open([{node, local}, {timeout, 1500}]),
        ok = erltrace:compile(H, "BEGIN { }"),
        {ok, Ref} = erltrace:subscribe(H, #{demand => 2, progress => true}),
        Self = self(),
        spawn_link(fun() -> Self ! {behind, erltrace:status(H)} end), % perhaps after go, and then it waits for that
        ok = erltrace:go(H),
        ?assertEqual([element(3, Progress), element(3, Progress)], progress(Ref)),
        ?assertEqual({behind, {error, timeout}}, receives(behind)),
        ok = erltrace:close(H)
    after
        application:set_env(erltrace, program, Program)
    end.

%% A file with what the program says.
frame(Term) ->
    Bytes = term_to_binary(Term),
    Path = filename:join(os:getenv("TMPDIR"), "frame" ++ integer_to_list(erlang:unique_integer([positive]))),
    ok = file:write_file(Path, [<<(byte_size(Bytes)):32>>, Bytes]),
    Path.

%% Who has subscribed long before the trace begins gets its first walk when so much time has gone by since then.
walks_count_from_begin_test() ->
    {ok, H} = erltrace:open([{node, local}]),
    ok = erltrace:compile(H, "BEGIN { @ = count(); }"),
    Every = 1000,
    {ok, Ref} = erltrace:subscribe(H, #{demand => 10, every => Every}),
    receive after Every + 100 -> ok end,
    Before = erlang:monotonic_time(millisecond),
    ok = erltrace:go(H),
    {ok, _} = erltrace:status(H), % the answer comes behind that of a walk
    Early = receive {erltrace, Ref, {walk, _}} = M -> [M] after 0 -> [] end,
    ?assert(Early =:= [] orelse erlang:monotonic_time(millisecond) - Before >= Every),
    Early =:= [] andalso ?assertMatch({erltrace, Ref, {walk, [{count, [], 1}]}}, receives(erltrace)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean()).
