%% Work whose events are known: what agent_tests traces.
-module(agent_work).
-compile({no_auto_import, [apply/2]}).
-export([calls/1, leaf/1, outer/1, tail/1, chain/1, even/1, odd/1, body/1, deep/1, thrower/1, catcher/1, far/1, server/0,
         pinger/2, ponger/0, leaving/1, run/1, child/0, collect/1, noop/0]).

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

child() -> ok.

noop() -> ok.

collect(0) -> ok;
collect(N) -> erlang:garbage_collect(), collect(N - 1).

%% Waits to be told, so that whoever starts it can set things up first.
run(Fun) ->
    {P, M} = spawn_monitor(fun() -> receive go -> Fun() end end),
    P ! go,
    receive {'DOWN', M, process, P, R} -> {P, R} end.
