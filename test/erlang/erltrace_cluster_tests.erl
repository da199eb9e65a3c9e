%% Other nodes of the cluster, by way of the connections that the nodes have: no cookie, no epmd asked by the port program.
-module(erltrace_cluster_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [trace/1, trace/2, calls/1, counted/2, await/1, clean/0, clean/1, receives/1, closed/1, peer/0, stop/2]).

-define(CALLS, "erlang*:erltrace_test:call/0:entry ").

calls_in(Node, N) -> erpc:call(Node, erltrace_test, calls, [N]).

other_node_test() ->
    {Peer, Node} = peer(),
    H = trace(?CALLS "{ @ = count(); trace(1); }", [{node, Node}]),
    calls(5), % not there
    calls_in(Node, 7),
    ?assertEqual(7, counted(H, 7)),
    {ok, [{probe, {Provider, erltrace_test, 'call/0', entry}, 1} | _]} = await(fun() -> erltrace:consume(H) end),
    ?assertEqual("erlang" ++ erpc:call(Node, os, getpid, []), atom_to_list(Provider)),
    {ok, #{targets := Targets}} = erltrace:status(H),
    ?assertMatch({match, _}, re:run(Targets, atom_to_list(Node))),
    ok = erltrace:close(H),
    ?assertEqual(true, clean(Node)),
    stop(Peer, Node).

%% Several: their aggregations are one. One of them goes, the rest is left; all of them go.
nodes_test() ->
    {PeerA, A} = peer(),
    {PeerB, B} = peer(),
    H = trace(?CALLS "{ @ = count(); }", [{nodes, [A, B, node()]}]),
    calls(1),
    calls_in(A, 10),
    calls_in(B, 100),
    ?assertEqual(111, counted(H, 111)),
    {ok, #{clocks := Clocks}} = erltrace:status(H), % all are of this host
    ?assertEqual(lists:sort([A, B, node()]), lists:sort([binary_to_atom(iolist_to_binary(N)) || #{node := N} <- Clocks])),
    ?assertEqual([], [C || #{offset := O, error := E, wall_offset := W, wall_error := F} = C <- Clocks, abs(O) > E orelse abs(W) > F]),
    ?assertEqual(3, length([known || #{offset := _, wall_offset := _} <- Clocks])),
    stop(PeerA, A),
    ?assertMatch(#{lost := 1}, await(fun() -> {ok, S} = erltrace:status(H), case S of #{lost := 1} -> S; _ -> false end end)),
    calls(1),
    calls_in(B, 100),
    ?assertEqual(101, counted(H, 101)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean(B)),
    H2 = trace(?CALLS "{ @ = count(); }", [{node, B}]),
    stop(PeerB, B),
    ?assertEqual({error, lost}, await(fun() -> case erltrace:walk(H2) of {error, _} = E -> E; _ -> false end end)),
    ok = erltrace:close(H2),
    ?assertEqual(true, clean()).

%% A cluster is traced by the name of one of its nodes. Nodes that join are traced, too. A node that leaves is reported, and its counts are kept.
cluster_test() ->
    {PeerA, A} = peer(),
    H = trace(?CALLS "{ @[node] = count(); }", [{node, {cluster, node()}}]),
    calls(3),
    calls_in(A, 10),
    {PeerB, B} = peer(),
    ?assertMatch(#{node := _, text := _}, member(H, joined, B)),
    calls_in(B, 100),
    Here = atom_to_list(node()),
    Expected = lists:sort([{count, [Here], 3}, {count, [atom_to_list(A)], 10}, {count, [atom_to_list(B)], 100}]),
    ?assertEqual(Expected, await(fun() -> kept(H, Expected) end)),
    stop(PeerA, A),
    ?assertMatch(#{reason := _}, member(H, left, A)),
    calls_in(B, 100),
    Later = lists:sort([{count, [atom_to_list(B)], 200} | lists:delete({count, [atom_to_list(B)], 100}, Expected)]),
    ?assertEqual(Later, await(fun() -> kept(H, Later) end)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean()),
    ?assertEqual(true, clean(B)),
    stop(PeerB, B),
    ?assertMatch({error, {option, nodes, <<"a cluster alone", _/binary>>}}, erltrace:open([{nodes, [{cluster, node()}, node()]}])).

%% Waits for the item that reports this of a node.
member(H, What, Node) ->
    Name = atom_to_binary(Node),
    await(fun() ->
                  case erltrace:consume(H, 100) of
                      {ok, Items} -> hd([M || {member, #{what := W, node := N} = M} <- Items, W =:= What, N =:= Name] ++ [false]);
                      ok -> false
                  end
          end).

%% What the only aggregation has, once it is that.
kept(H, Expected) ->
    case erltrace:walk(H, [keep]) of
        {ok, Entries} -> lists:sort(Entries) =:= Expected andalso Expected;
        ok -> false
    end.

%% A node that is not there.
no_node_test() ->
    {Peer, Node} = peer(),
    stop(Peer, Node),
    {ok, H} = erltrace:open([{node, Node}]),
    ok = erltrace:compile(H, ?CALLS "{ @ = count(); }"),
    {error, {lost, [#{tag := <<"NODE_LOST">>, text := Text} | _]}} = erltrace:go(H),
    ?assertMatch({match, _}, re:run(Text, "cannot connect to " ++ atom_to_list(Node))),
    ok = erltrace:close(H).

%% A handle that lives in another node, and traces that; its owner is here.
remote_handle_test() ->
    {Peer, Node} = peer(["-erltrace", "program", io_lib:format("~p", [element(2, application:get_env(erltrace, program))])]),
    Self = self(),
    Owner = erpc:call(Node, erlang, spawn, [fun() ->
                                                    {ok, _} = application:ensure_all_started(erltrace),
                                                    Self ! {handle, trace(?CALLS "{ @ = count(); trace(2); }")},
                                                    receive stop -> ok end
                                            end]),
    {handle, H} = receives(handle),
    calls_in(Node, 6),
    ?assertEqual(6, counted(H, 6)),
    {ok, Ref} = erltrace:subscribe(H, 1),
    ?assertMatch({erltrace, Ref, {records, [{probe, _, 2} | _]}}, receives(erltrace)),
    Owner ! stop,
    ?assertEqual({error, closed}, await(fun() -> case erltrace:status(H) of {error, _} = E -> E; _ -> false end end)),
    ?assertEqual(true, clean(Node)),
    stop(Peer, Node),
    ?assertEqual({error, closed}, erltrace:walk(H)).

peer(Args) -> erltrace_test:peer([lists:flatten(A) || A <- Args]).

%% A node that becomes distributed, and ceases to be, while it traces itself.
distribution_test() ->
    ok = net_kernel:stop(),
    {ok, Nowhere} = erltrace:open([{node, 'erltrace_test@nowhere'}]),
    ok = erltrace:compile(Nowhere, ?CALLS "{ @ = count(); }"),
    {error, {lost, [#{text := Text} | _]}} = erltrace:go(Nowhere),
    ?assertMatch({match, _}, re:run(Text, "nonode@nohost, which is not distributed, cannot connect to erltrace_test@nowhere")),
    ok = erltrace:close(Nowhere),
    H = trace(?CALLS "{ @ = count(); }"),
    {ok, _} = net_kernel:start([list_to_atom("erltrace_test_b" ++ os:getpid()), shortnames]),
    calls(2),
    ?assertEqual(2, counted(H, 2)),
    H2 = trace(?CALLS "{ @ = count(); }"),
    ok = net_kernel:stop(),
    calls(3),
    ?assertEqual(3, counted(H, 3)),
    ?assertEqual(3, counted(H2, 3)),
    ok = erltrace:close(H),
    ok = erltrace:close(H2),
    ?assertEqual(true, clean()).
