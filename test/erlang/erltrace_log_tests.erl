%% Whoever dies, and however: the log of a node that is traced has no line about it, nor has that of the node where the handle is.
-module(erltrace_log_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [trace/2, await/1, clean/0, receives/1, closed/1, peer/1, stop/2, silent/1]).

-define(SCRIPT, "erlang*:erltrace_test:call/0:entry { @ = count(); trace(1); } erlang*:::process-spawn { @spawned = count(); }").

everybody() -> [owner, owner_by_error, handle, port, port_and_handle, relay, relay_and_handle, keeper_stops, agent, guard].

here_test_() ->
    [{atom_to_list(Who), fun() -> dies(Who, node()) end} || Who <- everybody()].

%% One node for all of them, which the loss of a connection does not end.
there_test() ->
    {Peer, Node} = lasting(),
    [dies(Who, Node) || Who <- [connection | everybody()]],
    stop(Peer, Node).

%% The traced node itself; or agent and guard at once, after whom only the next agent clears up.
node_test_() ->
    [{atom_to_list(How), fun() -> node_dies(How) end} || How <- [halt, stop, kill, agent_and_guard]].

%% The node of the handle. What it writes until the very end is in a file.
own_node_test_() ->
    [{atom_to_list(How), fun() -> own_node_dies(How) end} || How <- [halt, stop, kill]].

dies(Who, Node) ->
    Self = self(),
    Owner = spawn(fun() ->
                          Self ! {handle, trace(?SCRIPT, [{node, Node}])},
                          receive by_error -> exit(crashed) end
                  end),
    {handle, H} = receives(handle),
    erpc:call(Node, erltrace_test, calls, [3]),
    end_of(Who, Owner, H, Node),
    exit(Owner, kill),
    closed(H),
    Who =:= keeper_stops andalso (ok = application:start(erltrace)),
    ?assertEqual(true, clean()),
    ?assertEqual(true, erltrace_test:clean(Node)),
    silent(node()),
    silent(Node).

end_of(owner, Owner, _, _) -> exit(Owner, kill);
end_of(owner_by_error, Owner, _, _) -> Owner ! by_error;
end_of(handle, _, H, _) -> exit(H, kill);
end_of(port, _, H, _) ->
    erltrace_end_tests:kill(H),
    over(H);
end_of(port_and_handle, _, H, _) ->
    erltrace_end_tests:kill(H),
    exit(H, kill);
end_of(relay, _, H, _) ->
    [exit(R, kill) || R <- erltrace_end_tests:relays(H)],
    over(H);
end_of(relay_and_handle, _, H, _) ->
    [exit(P, kill) || P <- erltrace_end_tests:relays(H) ++ [H]];
end_of(keeper_stops, _, _, _) -> ok = application:stop(erltrace);
end_of(agent, _, H, Node) ->
    kill(erltrace_agent, Node),
    over(H);
end_of(guard, _, _, Node) -> kill(erltrace_agent_guard, Node);
end_of(connection, _, H, Node) ->
    erlang:disconnect_node(Node),
    over(H).

kill(Name, Node) -> exit(erpc:call(Node, erlang, whereis, [Name]), kill).

%% A handle whose trace has ended by itself.
over(H) ->
    await(fun() -> case erltrace:walk(H) of {error, _} = E -> E; _ -> false end end).

node_dies(How) ->
    {Peer, Node} = lasting(),
    H = trace(?SCRIPT, [{node, Node}]),
    erpc:call(Node, erltrace_test, calls, [3]),
    silent(Node),
    ends(How, Node),
    over(H),
    ok = erltrace:close(H),
    How =:= agent_and_guard andalso silent(Node),
    gone(Peer),
    silent(node()).

own_node_dies(How) ->
    {ok, Program} = application:get_env(erltrace, program),
    {PeerA, A} = lasting(["-erltrace", "program", lists:flatten(io_lib:format("~p", [Program]))]),
    {PeerB, B} = lasting(),
    File = filename:join(os:getenv("TMPDIR"), lists:concat(["log-", How])),
    Owner = erpc:call(A, erlang, spawn, [fun() ->
                                                 ok = logger:add_handler(to_file, logger_std_h, #{config => #{file => File},
                                                                                           formatter => {logger_formatter, #{single_line => true, template => [level, " ", msg, "\n"]}}}),
                                                 {ok, _} = application:ensure_all_started(erltrace),
                                                 [trace(?SCRIPT, [{node, N}]) || N <- [A, B]],
                                                 register(erltrace_log_owner, self()),
                                                 receive stop -> ok end
                                         end]),
    Monitor = monitor(process, Owner),
    await(fun() -> is_pid(erpc:call(A, erlang, whereis, [erltrace_log_owner])) end),
    silent(A),
    ends(How, A),
    receive {'DOWN', Monitor, process, Owner, _} -> ok end,
    gone(PeerA),
    ?assertEqual(true, erltrace_test:clean(B)),
    stop(PeerB, B),
    {ok, Written} = file:read_file(File),
    ?assertEqual([], erltrace_test:foreign([L || L <- binary:split(Written, <<"\n">>, [global]), L =/= <<>>])).

ends(halt, Node) -> erpc:cast(Node, erlang, halt, [0]);
ends(stop, Node) -> erpc:cast(Node, init, stop, []);
ends(agent_and_guard, Node) -> [kill(Name, Node) || Name <- [erltrace_agent_guard, erltrace_agent]];
ends(kill, Node) ->
    Pid = erpc:call(Node, os, getpid, []),
    [] = os:cmd("kill -KILL " ++ Pid).

gone(Peer) -> try peer:stop(Peer) catch exit:_ -> ok end.

lasting() -> lasting([]).

lasting(Args) -> peer(#{args => Args, connection => standard_io}).
