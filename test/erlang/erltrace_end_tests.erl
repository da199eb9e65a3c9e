%% Ends: of owners, port programs, relays, agents, the application. Each ends the trace, and leaves nothing behind.
-module(erltrace_end_tests).
-include_lib("eunit/include/eunit.hrl").

-export([kill/1, os_pid/1, relays/1]).
-import(erltrace_test, [trace/1, trace/2, calls/1, counted/2, await/1, clean/0, receives/1, closed/1, dead/1]).

-define(CALLS, "erlang*:erltrace_test:call/0:entry ").

%% The port of a handle, and its program.
port(H) ->
    {links, Links} = process_info(H, links),
    [Port] = [L || L <- Links, is_port(L)],
    Port.

os_pid(H) ->
    {os_pid, Pid} = erlang:port_info(port(H), os_pid),
    Pid.

kill(H) -> signal(H, "KILL").

signal(H, Signal) ->
    [] = os:cmd("kill -" ++ Signal ++ " " ++ integer_to_list(os_pid(H))),
    ok.

relays(H) ->
    {links, Links} = process_info(H, links),
    [L || L <- Links, is_pid(L), L =/= whereis(erltrace_handles)].

%% However an owner ends, so does its trace.
owner_test_() ->
    [{atom_to_list(How), fun() -> owner_ends(How) end} || How <- [normal, kill, exit, error]].

owner_ends(How) ->
    Self = self(),
    {Owner, Monitor} = spawn_monitor(fun() ->
                                             Self ! {handle, trace(?CALLS "{ @ = count(); trace(1); }")},
                                             receive
                                                 normal -> ok;
                                                 exit -> exit(shutdown);
                                                 error -> exit(crashed)
                                             end
                                     end),
    {handle, H} = receives(handle),
    OsPid = os_pid(H),
    calls(3),
    case How of
        kill -> exit(Owner, kill);
        _ -> Owner ! How
    end,
    receive {'DOWN', Monitor, process, Owner, _} -> ok end,
    closed(H),
    dead(OsPid),
    ?assertEqual(true, clean()).

%% A handle for somebody else.
other_owner_test() ->
    Owner = spawn(fun() -> receive stop -> ok end end),
    {ok, H} = erltrace:open([{owner, Owner}]),
    Owner ! stop,
    closed(H),
    ?assertEqual(true, clean()).

%% Probes that take too much of a scheduler end the trace: the last of it is read, then that is said, also to who subscribes; run/2 gives what
%% there is. (Calls that the VM counts cost too little for that.)
overload_test() ->
    Busy = spawn_link(fun busy/0),
    try
        H = trace(?CALLS "{ @ = count(); }", [{options, [{maxload, 1}, {lower, no}]}]),
        {ok, Ref} = erltrace:subscribe(H, 1000),
        ?assertEqual({error, overload}, await(fun() -> case erltrace:walk(H) of {error, _} = E -> E; _ -> false end end)),
        ?assertEqual(overload, done(Ref)),
        ?assertEqual({error, overload}, erltrace:consume(H)),
        ?assertMatch({ok, #{overloaded := 1}}, erltrace:status(H)),
        ok = erltrace:close(H),
        {ok, Found} = erltrace:run(?CALLS "{ @ = count(); }", 600000, [{options, [{maxload, 1}, {lower, no}]}]),
        #{aggregations := [{_, [{count, [], N}]}], events := Events, status := #{overloaded := 1}} = Found,
        ?assert(N > 0),
        ?assertMatch([_], [E || {diag, #{tag := <<"TRACE_OVERLOAD">>}} = E <- Events])
    after
        unlink(Busy),
        exit(Busy, kill)
    end,
    ?assertEqual(true, clean()).

busy() ->
    _ = [erltrace_test:call() || _ <- lists:seq(1, 1000)],
    busy().

done(Ref) ->
    receive
        {erltrace, Ref, {done, Reason}} -> Reason;
        {erltrace, Ref, _} -> done(Ref)
    after etreport:patience() -> error({never, process_info(self(), messages)})
    end.

%% The port program is killed: an error of this handle, in every function, and of no other.
port_killed_test() ->
    A = trace(?CALLS "{ @ = count(); }"),
    B = trace(?CALLS "{ @ = count(); }"),
    kill(A),
    %% By a signal, or, when something was written to it first, by the port having been closed.
    {error, {port_died, How}} = Died = await(fun() -> case erltrace:walk(A) of {error, _} = E -> E; _ -> false end end),
    ?assert(lists:member(How, [137, closed])),
    [?assertEqual(Died, F())
     || F <- [fun() -> erltrace:consume(A) end, fun() -> erltrace:compile(A, "BEGIN { }") end, fun() -> erltrace:go(A) end,
              fun() -> erltrace:stop(A) end, fun() -> erltrace:status(A) end, fun() -> erltrace:setopt(A, quiet, true) end,
              fun() -> erltrace:subscribe(A, 1) end, fun() -> erltrace:demand(A, 1) end]],
    calls(4),
    ?assertEqual(4, counted(B, 4)),
    ok = erltrace:close(A),
    ok = erltrace:close(B),
    ?assertEqual(true, clean()).

%% Whoever waits when it happens is answered.
port_killed_in_a_call_test() ->
    H = trace(?CALLS "{ trace(1); }"),
    Self = self(),
    spawn_link(fun() -> Self ! {waited, erltrace:consume(H, 60000)} end),
    {ok, _} = erltrace:status(H),
    kill(H),
    ?assertMatch({waited, {error, {port_died, _}}}, receives(waited)),
    ok = erltrace:close(H).

%% A port program that stands still: the agent hears nothing and ends the trace, the handle answers and ends.
port_stopped_test() ->
    H = impatient(500),
    OsPid = os_pid(H),
    signal(H, "STOP"),
    ?assertEqual({error, timeout}, erltrace:walk(H)),
    dead(OsPid),
    ?assertEqual({error, timeout}, erltrace:walk(H)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean()).

%% A trace with a timeout that is short, but not too short for coming so far.
impatient(Ms) ->
    Opened = case erltrace:open([{timeout, Ms}]) of
                 {ok, H} -> case erltrace:compile(H, ?CALLS "{ @ = count(); }") of
                                ok -> {erltrace:go(H), H};
                                Error -> {Error, H}
                            end;
                 Error -> Error
             end,
    case Opened of
        {ok, Handle} ->
            Handle;
        {error, _} ->
            impatient(Ms * 2);
        {_, Handle} ->
            ok = erltrace:close(Handle),
            impatient(Ms * 2)
    end.

%% So does one whose owner ends meanwhile.
port_stopped_owner_test() ->
    Self = self(),
    Owner = spawn(fun() -> Self ! {handle, trace(?CALLS "{ @ = count(); }")}, receive stop -> ok end end),
    {handle, H} = receives(handle),
    OsPid = os_pid(H),
    signal(H, "STOP"),
    Owner ! stop,
    closed(H),
    ?assertEqual(true, clean()),
    [] = os:cmd("kill -CONT " ++ integer_to_list(OsPid)),
    dead(OsPid).

%% A handle that is killed itself.
handle_killed_test() ->
    H = trace(?CALLS "{ @ = count(); }"),
    OsPid = os_pid(H),
    exit(H, kill),
    closed(H),
    dead(OsPid),
    ?assertEqual({error, closed}, erltrace:walk(H)),
    ?assertEqual(true, clean()).

%% A relay that is killed is a node that is lost.
relay_killed_test() ->
    H = trace(?CALLS "{ @ = count(); }"),
    calls(1),
    [Relay] = relays(H),
    exit(Relay, kill),
    ?assertEqual({error, lost}, await(fun() -> case erltrace:walk(H) of {error, _} = E -> E; _ -> false end end)),
    ?assertMatch({ok, #{lost := 1}}, erltrace:status(H)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean()).

%% The agent's server is killed.
agent_killed_test() ->
    H = trace(?CALLS "{ @ = count(); }"),
    exit(whereis(erltrace_agent), kill),
    ?assertMatch({error, _}, await(fun() -> case erltrace:walk(H) of {error, _} = E -> E; _ -> false end end)),
    ok = erltrace:close(H),
    ?assertEqual(true, clean()).

%% The application is stopped while handles are open.
application_stopped_test() ->
    Hs = [trace(?CALLS "{ @ = count(); }") || _ <- [1, 2, 3]],
    OsPids = [os_pid(H) || H <- Hs],
    ok = application:stop(erltrace),
    [begin closed(H), ?assertEqual({error, closed}, erltrace:walk(H)) end || H <- Hs],
    [dead(P) || P <- OsPids],
    {clean, _} = etw:await_clean(60000),
    ok = application:start(erltrace).

%% What the application does is no part of what is traced: a script that watches everything sees nothing of a handle's work.
unseen_test() ->
    H = trace("erlang*:erltrace_handle::entry, erlang*:erltrace_port::entry, erlang*:erltrace_relay::entry { @[copyinstr(arg1)] = count(); }"
              "erlang*:::message-send, erlang*:::message-queued { @[copyinstr(arg0)] = count(); }"
              "erlang*:::port-command, erlang*:::port-data { @[copyinstr(arg1)] = count(); }"),
    Port = erlang:port_to_list(port(H)),
    [{ok, _} = erltrace:status(H) || _ <- lists:seq(1, 20)],
    ok = erltrace:stop(H),
    Own = [Port | [pid_to_list(P) || P <- [H | relays(H)]]],
    Seen = case erltrace:walk(H) of
               {ok, Entries} -> [K || {count, [K], _} <- Entries];
               {error, stopped} -> []
           end,
    ?assertEqual([], [K || K <- Seen, lists:member(K, Own) orelse lists:prefix("erltrace_", K), K =/= "erltrace_handle:call/2"]),
    ok = erltrace:close(H).
