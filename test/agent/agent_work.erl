%% Work whose events are known: what agent_tests traces.
-module(agent_work).
-compile({no_auto_import, [apply/2]}).
-export([calls/1, leaf/1, outer/1, tail/1, chain/1, even/1, odd/1, body/1, deep/1, thrower/1, catcher/1, far/1, server/0,
         pinger/2, ponger/0, leaving/1, run/1, everything/0, child/0, collect/1, noop/0]).

calls(0) -> ok;
calls(N) -> leaf(N), calls(N - 1).

leaf(X) -> X.

outer(X) -> Y = leaf(X), Y + 1.

tail(0) -> done;
tail(N) -> tail(N - 1).

chain(0) -> leaf(0);
chain(N) -> chain(N - 1).

even(0) -> true;
even(N) -> not odd(N - 1).

odd(0) -> false;
odd(N) -> not even(N - 1).

body(0) -> 0;
body(N) -> 1 + body(N - 1).

%% Not tail recursive, and different functions all the way.
deep(0) -> leaf(0);
deep(N) -> 1 + deep(N - 1).

thrower(X) -> throw({no, X}).

catcher(X) ->
    try far(X) of Y -> Y
    catch throw:_ -> caught
    end.

far(X) -> [thrower(X)].

server() ->
    receive
        {From, N} -> From ! {self(), leaf(N)}, server();
        stop -> ok
    end.

pinger(_, 0) -> ok;
pinger(P, N) ->
    P ! {self(), N},
    receive {P, _} -> pinger(P, N - 1) end.

ponger() ->
    receive
        {P, _} -> P ! {self(), pong}, ponger();
        stop -> ok
    end.

%% Looks like an agent, and ends when it is asked.
leaving(From) ->
    process_flag(sensitive, true),
    group_leader(self(), self()),
    register(erltrace_agent, self()),
    From ! {self(), named},
    receive {ask, _, _, _} -> exit(over) end.

%% Makes the VM report each kind of event that it has in a node without others.
everything() ->
    process_flag(trap_exit, true),
    seq_trace:set_token(label, {a, label}),
    [seq_trace:set_token(F, true) || F <- [send, 'receive', print]],
    seq_trace:print({a, term}),
    seq_trace:print({a, label}, "text"),
    P = spawn_link(?MODULE, server, []),
    register(agent_work_name, P),
    agent_work_name ! {self(), 1},
    {agent_work_name, node()} ! {self(), 2},
    receive {P, 1} -> ok end,
    receive {P, 2} -> ok end,
    _ = erlang:send(alias(), {an, alias}),
    seq_trace:set_token([]),
    unregister(agent_work_name),
    unlink(P),
    Failed = spawn_link(fun() -> link(P), exit({a, [reason]}) end),
    receive {'EXIT', Failed, _} -> ok end,
    {Dead, M} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', M, _, _, _} -> Dead ! hello end,
    {_, Large} = spawn_opt(fun() -> lists:sum(lists:seq(1, 100000)) end, [monitor, {max_heap_size, #{size => 1000, error_logger => false}}]),
    receive {'DOWN', Large, _, _, killed} -> ok end,
    garbage_collect(self(), [{type, minor}]),
    garbage_collect(),
    catcher(leaf(1)),
    cat(spawn(fun() -> receive stop -> ok end end)),
    sockets().

cat(Other) ->
    Port = open_port({spawn, "cat"}, [binary, stream]),
    register(agent_work_port, Port),
    agent_work_port ! {self(), {command, <<"one">>}},
    receive {Port, {data, _}} -> ok end,
    unregister(agent_work_port),
    true = port_command(Port, [<<"two">>, $x]),
    receive {Port, {data, _}} -> ok end,
    unlink(Port),
    link(Port),
    true = port_connect(Port, Other),
    Port ! {Other, close},
    receive {'EXIT', Port, _} -> ok end,
    Other ! stop.

sockets() ->
    {ok, L} = gen_tcp:listen(0, [binary, {active, true}, {ip, {127, 0, 0, 1}}]),
    {ok, At} = inet:port(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, At, [binary, {active, true}]),
    {ok, S} = gen_tcp:accept(L),
    ok = gen_tcp:send(C, <<"hello">>),
    receive {tcp, S, _} -> ok end,
    {ok, U} = gen_udp:open(0, [binary]),
    ok = gen_udp:close(U),
    [ok = gen_tcp:close(X) || X <- [C, S, L]].

child() -> ok.

noop() -> ok.

collect(0) -> ok;
collect(N) -> erlang:garbage_collect(), collect(N - 1).

%% Waits to be told, so that whoever starts it can set things up first.
run(Fun) ->
    {P, M} = spawn_monitor(fun() -> receive go -> Fun() end end),
    P ! go,
    receive {'DOWN', M, process, P, R} -> {P, R} end.
