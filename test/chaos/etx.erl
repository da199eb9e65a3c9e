%% etx - chaos: a workload that does everything a node can do to whoever traces it, until it is told to pause.
%%
%% Each kind of trouble has a worker that takes turns: processes that are born and killed, names, links, exit signals,
%% messages of every way, modules that are loaded, reloaded, purged under processes in them, ports and sockets, peer nodes that
%% are killed, dirty NIFs, garbage, ETS, tail calls, exceptions, gen_servers, other people's tracing. pause/0 returns when every worker
%% is between two turns and has cleaned up, so that what the node holds can be compared with what it held before; resume/0 goes on.
%% What a turn needs that could fail of itself is caught there; a worker that crashes is a problem (problems/0).
%% All names of processes, modules, tables and nodes come from small pools: atoms do not grow.
-module(etx).
-behaviour(gen_server).
-export([start/2, pause/0, resume/0, problems/0, turns/0, held/0, others/0, agents/1, swollen/1, slowest/0, pulse/1]).
-export([worker/4, life/1, ring/1, tail/1, deep/1, raise/2, fall/2, thrower/1, napper/0, awake/0, echo/0, sink/0, linked/2, big/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, target/1, tool/1]).

-define(KINDS, [procs, names, links, signals, messages, aliases, modules, ports, sockets, peers, dirty, garbage, sleepers,
                tables, calls, raises, servers, timers, suspends, tokens, users, natives, others]).

%% Nif: the library of etx_nif without its ".so".
start(Seed, Nif) ->
    ok = etx_nif:load(Nif),
    {module, _} = code:ensure_loaded(etx_nif),
    _ = [code:ensure_loaded(M) || M <- [erltrace, dyntrace, dbg, trace, peer, gen_server, lists, seq_trace]],
    Variants = [{M, [variant(M, V) || V <- [1, 2]]} || M <- [etx_m1, etx_m2, etx_m3]],
    natives(),
    Turns = atomics:new(length(?KINDS), []),
    %% Of the process that takes the orders, like what pause/0 needs.
    Pulse = atomics:new(2, []),
    spawn(?MODULE, pulse, [Pulse]),
    put(etx, {Turns, [spawn(?MODULE, worker, [Kind, I, Turns, {Seed, Variants}])
                      || {I, Kind} <- lists:enumerate(1, ?KINDS)], Pulse}),
    ok.

%% Native records, where there are any: older releases cannot compile this.
natives() ->
    Text = "-module(etx_natives).\n-export([one/1, back/1]).\n-record #order{id = 0, price = 1.5, tags = [a]}.\n-record #empty{}.\n"
           "one(0) -> #empty{};\none(N) -> #order{id = N, tags = #{#order{id = 7} => one(N - 1)}}.\nback(X) -> {#empty{}, X}.\n",
    try
        {ok, _, Bin} = compile:forms(forms(Text, {1, 1}), []),
        {module, _} = code:load_binary(etx_natives, "etx_natives.erl", Bin)
    catch
        _:_ -> none
    end.

forms(Text, At) ->
    case erl_scan:tokens([], Text, At) of
        {done, {ok, Tokens, Next}, Rest} -> {ok, Form} = erl_parse:parse_form(Tokens), [Form | forms(Rest, Next)];
        {more, _} -> []
    end.

workers() -> element(2, get(etx)).

turns() ->
    {Turns, _, _} = get(etx),
    [{K, atomics:get(Turns, I)} || {I, K} <- lists:enumerate(1, ?KINDS)].

pause() ->
    Asked = [{P, monitor(process, P), catch P ! {pause, self()}} || P <- workers()],
    [receive
         {paused, P} -> demonitor(Ref, [flush]);
         {'DOWN', Ref, _, _, _} -> ok
     end || {P, Ref, _} <- Asked],
    ok.

resume() ->
    [P ! resume || P <- workers()],
    ok.

%% Workers that have crashed.
problems() ->
    [K || {K, P} <- lists:zip(?KINDS, workers()), not is_process_alive(P)].

%% What the node holds: numbers that must not grow. [{what, number}]
held() ->
    [garbage_collect(P) || P <- processes()],
    Memory = [{K, V} || {K, V} <- erlang:memory(), lists:member(K, [processes, system, binary, ets, code])],
    %% Those of OTP are loaded when they are first needed, and stay.
    {Otp, Own} = lists:partition(fun({_, File}) -> is_atom(File) orelse lists:prefix(code:root_dir(), File) end, code:all_loaded()),
    [{process_count, erlang:system_info(process_count)}, {port_count, erlang:system_info(port_count)},
     {atom_count, erlang:system_info(atom_count)}, {tables, length(ets:all())}, {registered, length(registered())},
     {modules, length(Own)}, {libraries, length(Otp)} | Memory].

%% The N processes that hold most, as texts: what they are, and whether it is their mailbox. (In one look: some live for a moment.)
swollen(N) ->
    All = [{M, P, Info} || P <- processes(),
                           [{memory, M} | _] = Info <- [process_info(P, [memory, message_queue_len, total_heap_size, stack_size, initial_call,
                                                                         current_function, status, priority])]],
    [iolist_to_binary(io_lib:format("~p ~0p", [P, Info])) || {_, P, Info} <- lists:sublist(lists:reverse(lists:sort(All)), N)].

%% How many ms the node has taken, at most since this was last asked, for what needs nobody's leave but the code server's and that of who
%% changes code: those who trace wait for both; or by how many a timer was late.
slowest() ->
    {_, _, Pulse} = get(etx),
    Begun = atomics:get(Pulse, 1),
    Now = case Begun of 0 -> 0; _ -> erlang:monotonic_time(millisecond) - Begun end,
    max(atomics:exchange(Pulse, 2, 0), Now).

pulse(Pulse) ->
    Begun = erlang:monotonic_time(millisecond),
    atomics:put(Pulse, 1, Begun),
    _ = code:get_path(),
    _ = erlang:trace_pattern({etx, nothing, 0}, false, []),
    Ended = erlang:monotonic_time(millisecond),
    took(Pulse, Ended - Begun),
    atomics:put(Pulse, 1, 0),
    receive after 500 -> took(Pulse, erlang:monotonic_time(millisecond) - Ended - 500) end,
    pulse(Pulse).

took(Pulse, Ms) -> atomics:put(Pulse, 2, max(atomics:get(Pulse, 2), Ms)).

%% What others than a tracer leave: [] unless the system monitor or the sequential tracer is somebody's.
others() ->
    [iolist_to_binary(io_lib:format("system_monitor ~w", [M])) || M <- [erlang:system_monitor()], M =/= undefined] ++
    [iolist_to_binary(io_lib:format("seq tracer ~w", [T])) || T <- [seq_trace:get_system_tracer()], T =/= false].

%% The end of the agent's processes, or of their code, at the hands of somebody else. -> whether that leaves nobody to clean up
agents(server) ->
    case whereis(erltrace_agent) of
        undefined -> false;
        Server ->
            Guarded = lists:any(fun(G) -> process_info(G, monitors) =:= {monitors, [{process, Server}]} end, guards()),
            exit(Server, kill),
            not Guarded
    end;
agents(guard) ->
    %% One that has nobody to guard any more is at it.
    Guards = [{G, process_info(G, monitors)} || G <- guards()],
    [exit(G, kill) || {G, _} <- Guards],
    lists:any(fun({_, Monitors}) -> Monitors =:= {monitors, []} end, Guards);
agents(all) ->
    [exit(P, kill) || P <- [whereis(erltrace_agent) | guards()], is_pid(P)],
    true;
agents(code) ->
    [begin code:purge(M), code:delete(M), code:purge(M) end
     || {M, _} <- code:all_loaded(), string:prefix(atom_to_list(M), "erltrace_agent") =/= nomatch],
    true.

guards() ->
    [G || G <- [whereis(erltrace_agent_guard)], is_pid(G)].

worker(Kind, I, Turns, {Seed, Variants}) ->
    process_flag(trap_exit, true),
    rand:seed(exsss, {Seed, I, 7}),
    put(variants, Variants),
    turns(Kind, I, Turns).

turns(Kind, I, Turns) ->
    receive
        {pause, From} ->
            over(Kind),
            flush(),
            From ! {paused, self()},
            receive resume -> ok end
    after pick(20) ->
        turn(Kind),
        flush(),
        atomics:add(Turns, I, 1)
    end,
    turns(Kind, I, Turns).

flush() ->
    receive {pause, From} -> self() ! {pause, From}, flush_before(From);
            _ -> flush()
    after 0 -> ok
    end.

%% The order to pause stays, and is last.
flush_before(From) ->
    receive {pause, From} -> self() ! {pause, From}, ok;
            _ -> flush_before(From)
    end.

pick(N) -> rand:uniform(N).
one(L) -> lists:nth(pick(length(L)), L).
doing(F) -> F().
times(N, F) -> [F() || _ <- lists:seq(1, N)].
pause_for(Ms) -> receive after Ms -> ok end.

%% Waits until each of them has ended.
buried(Ps) ->
    [begin
         Ref = monitor(process, P),
         receive {'DOWN', Ref, _, _, _} -> ok after 5000 -> exit(P, kill), receive {'DOWN', Ref, _, _, _} -> ok end end
     end || P <- Ps].

kill(Ps) -> [exit(P, kill) || P <- Ps], buried(Ps).

%% What outlives a turn of this kind.
over(peers) -> [stop_peer(P) || P <- erase_peers()];
%% dbg never destroys its session: that goes with its last handle, which the process that called dbg (a worker) keeps until it collects
%% garbage. And a dbg that was killed by the node's other troubles may leave it for longer.
over(others) -> [catch trace:session_destroy(W) || erlang:function_exported(trace, session_info, 1), {dbg, _} = W <- trace:session_info(all)];
over(_) -> ok.

%%% The kinds

%% As message, reason, argument, result, key, state, in ETS and the process dictionary, as an argument of what has a name.
natives(One, Back) ->
    P = spawn(fun() -> put(One(1), One(2)), catch register(etx_n1, self()), ring(4) end),
    [begin P ! {n, N, One(N rem 4)}, P ! One(N rem 3), Back(One(N rem 4)) end || N <- lists:seq(1, 50)],
    Q = spawn(fun() -> exit({bad, One(2)}) end),
    catch error(One(1)),
    catch throw(Back(One(0))),
    T = ets:new(etx_table, [set, public]),
    ets:insert(T, [{One(N), One(N)} || N <- [0, 1, 2, 3]]),
    [_] = ets:lookup(T, One(2)),
    ets:delete(T),
    {ok, S} = gen_server:start(?MODULE, [], []),
    _ = gen_server:call(S, {keep, One(3)}),
    _ = sys:get_state(S),
    exit(S, One(1)),
    buried([Q]),
    kill([P, S]).

turn(procs) ->
    Ps = times(pick(30), fun() -> spawn(?MODULE, life, [pick(4)]) end),
    [exit(P, one([kill, normal, bad, {shutdown, why}])) || P <- Ps, pick(3) =:= 1],
    Q = spawn_opt(?MODULE, life, [1], [{min_heap_size, 2000}, {priority, high}, monitor]),
    _ = spawn_request(?MODULE, life, [2], [{reply, one([yes, no])}, monitor]),
    _ = (catch spawn_opt(fun() -> ok end, [nonsense])),
    [P ! stop || P <- [element(1, Q) | Ps]],
    buried([element(1, Q) | Ps]);
turn(names) ->
    Names = [etx_n1, etx_n2, etx_n3, etx_n4],
    Ps = [begin P = spawn(?MODULE, life, [4]), catch register(N, P), P end || N <- Names],
    [catch N ! hello || N <- [etx_nobody | Names]],
    [catch unregister(one(Names)) || _ <- [1, 2]],
    catch gen_server:call(etx_nobody, x, 1),
    kill(Ps);
turn(links) ->
    A = spawn(?MODULE, linked, [5, one([normal, kaboom, {shutdown, x}])]),
    B = spawn_link(?MODULE, life, [4]),
    C = spawn(?MODULE, life, [4]),
    [begin catch link(C), unlink(C) end || _ <- [1, 2, 3]],
    catch link(C),
    exit(C, one([kill, bad])),
    unlink(B),
    kill([A, B, C]);
turn(signals) ->
    Ps = times(5, fun() -> spawn(fun() -> process_flag(trap_exit, true), life(4) end) end),
    [exit(P, R) || P <- Ps, R <- [normal, some, {nested, [lists:seq(1, 50)]}]],
    [exit(P, kill) || P <- Ps],
    [exit(P, kill) || P <- Ps],
    buried(Ps);
turn(natives) ->
    case erlang:function_exported(etx_natives, one, 1) of
        true -> natives(fun etx_natives:one/1, fun etx_natives:back/1);
        false -> ok
    end;
turn(messages) ->
    P = spawn(?MODULE, ring, [8]),
    [P ! {n, N, one([small, big(10), big(1000), list_to_binary(lists:duplicate(100, N))])} || N <- lists:seq(1, 100)],
    erlang:send(P, {n, 1, x}, [nosuspend, noconnect]),
    P ! stop,
    buried([P]),
    P ! too_late;
turn(aliases) ->
    P = spawn(?MODULE, echo, []),
    times(20, fun() ->
        A = alias([one([explicit_unalias, reply])]),
        P ! {A, hello},
        receive hello -> ok after 1000 -> ok end,
        unalias(A),
        A ! late
    end),
    kill([P]);
turn(modules) ->
    {M, [One, Two]} = one(get(variants)),
    load(M, One),
    Ps = times(3, fun() -> spawn(M, wait, []) end),
    times(20, fun() -> M:f(3), M:g(4), M:loop(10) end),
    load(M, Two),                                  % those processes are in old code now
    times(20, fun() -> M:f(3), M:g(4) end),
    [P ! go || P <- tl(Ps)],
    doing(one([fun() -> code:soft_purge(M) end, fun() -> code:purge(M) end, fun() -> ok end])),
    case pick(3) of
        1 -> code:purge(M), code:delete(M), catch M:f(1), code:purge(M);
        _ -> code:purge(M)
    end,
    kill(Ps),
    pause_for(30); % the code server has other things to do
turn(ports) ->
    process_flag(trap_exit, true),
    Owner = spawn(?MODULE, life, [4]),
    P = open_port({spawn, one(["cat", "cat -u"])}, [binary, stream, exit_status]),
    catch register(etx_port, P),
    port_command(P, "hello"),
    P ! {self(), {command, <<"there">>}},
    catch port_control(P, 1, "x"),
    catch erlang:port_call(P, 1, x),
    receive {P, {data, _}} -> ok after 1000 -> ok end,
    erlang:port_info(P),
    case pick(5) of
        1 -> port_close(P);
        2 -> P ! {self(), close}, receive {P, closed} -> ok after 2000 -> ok end;
        3 -> port_connect(P, Owner), unlink(P), exit(Owner, kill);
        4 -> case erlang:port_info(P, os_pid) of
                 {os_pid, Os} ->
                     K = open_port({spawn_executable, "/bin/kill"}, [{args, ["-9", integer_to_list(Os)]}, exit_status]),
                     receive {K, {exit_status, _}} -> ok after 2000 -> ok end,
                     receive {P, {exit_status, _}} -> ok after 2000 -> ok end;
                 undefined -> ok
             end,
             catch port_close(P);
        5 -> exit(P, die), catch port_close(P)
    end,
    Gone = monitor(port, P),
    receive {'DOWN', Gone, _, _, _} -> ok after 2000 -> catch port_close(P) end,
    kill([Owner]),
    pause_for(30);
turn(sockets) ->
    case gen_tcp:listen(0, [binary, {ip, {127, 0, 0, 1}}, {active, false}]) of
        {ok, L} ->
            {ok, {_, Port}} = inet:sockname(L),
            {ok, C} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, one([true, false, once])}, {nodelay, true}]),
            {ok, S} = gen_tcp:accept(L),
            times(10, fun() -> gen_tcp:send(S, "0123456789"), gen_tcp:send(C, "abc") end),
            gen_tcp:recv(S, 3, 100),
            %% Nobody reads: the port gets busy, the writer is suspended, and killed so.
            W = spawn(fun() -> [gen_tcp:send(S, lists:duplicate(100000, $x)) || _ <- lists:seq(1, 100)] end),
            pause_for(pick(5)),
            inet:getstat(S),
            kill([W]),
            [catch gen_tcp:close(X) || X <- [C, S, L]];
        _ -> ok
    end,
    {ok, U} = gen_udp:open(0, [binary, {ip, {127, 0, 0, 1}}]),
    {ok, {_, To}} = inet:sockname(U),
    times(5, fun() -> gen_udp:send(U, {127, 0, 0, 1}, To, "ping") end),
    gen_udp:close(U);
turn(peers) ->
    Peers = case get(peers) of undefined -> []; L -> L end,
    case {Peers, pick(40)} of
        {[], _} -> new_peer(etx_peer1);
        {[_], 1} -> new_peer(etx_peer2);
        {_, 2} -> {P, Rest} = {one(Peers), Peers}, stop_peer(P), put(peers, lists:delete(P, Rest));
        _ -> with_peer(one(Peers))
    end;
turn(dirty) ->
    Ps = times(3, fun() -> spawn(fun() -> etx_nif:cpu(pick(8)), etx_nif:io(pick(8)), etx_nif:cpu(1) end) end),
    Q = spawn(?MODULE, ring, [2]),
    Shout = spawn(fun() -> etx_nif:shout(Q, 50) end),
    [exit(P, kill) || P <- Ps, pick(2) =:= 1],
    [P ! hello || P <- Ps],
    buried([Shout | Ps]),
    kill([Q]);
turn(garbage) ->
    P = spawn(fun() -> times(10, fun() -> big(pick(2000)) end), garbage_collect(),
                       [_ = list_to_binary(lists:duplicate(1000, N)) || N <- lists:seq(1, 100)], life(4) end),
    Q = too_large(),
    garbage_collect(P),
    catch garbage_collect(P, [{async, x}, {type, minor}]),
    buried([Q]),
    kill([P]);
turn(sleepers) ->
    Ps = times(5, fun() -> spawn(?MODULE, napper, []) end),
    times(3, fun() -> [P ! wake || P <- Ps] end),
    kill(Ps);
turn(tables) ->
    T = ets:new(etx_table, [one([set, ordered_set, bag]), public, {write_concurrency, true}]),
    [ets:insert(T, {N, big(3)}) || N <- lists:seq(1, 200)],
    P = spawn(fun() -> [begin ets:lookup(T, N), ets:delete(T, N) end || N <- lists:seq(1, 200)] end),
    _ = ets:select(T, [{{'$1', '_'}, [{'<', '$1', 50}], ['$1']}]),
    _ = (catch ets:lookup(no_such_table, x)),
    ets:foldl(fun(_, A) -> A + 1 end, 0, T),
    ets:match_delete(T, {5, '_'}),
    buried([P]),
    ets:delete(T);
turn(calls) ->
    P = spawn(fun() -> tail(20000), deep(500), [apply(lists, reverse, [[1, 2, N]]) || N <- lists:seq(1, 100)],
                       F = fun lists:seq/2, F(1, 10), lists:sort(lists:reverse(lists:seq(1, 300))), target(7) end),
    doing(one([fun() -> exit(P, kill) end, fun() -> ok end])),
    buried([P]);
turn(raises) ->
    times(30, fun() ->
        catch raise(error, 10), catch raise(exit, 3), catch raise(throw, 20),
        try fall(10, x) catch _:_:_ -> ok after target(1) end,
        catch thrower(5), catch lists:nth(10, []), catch erlang:binary_to_term(<<"no">>), catch lists:no_such_function(1)
    end),
    buried([spawn(fun() -> catch raise(exit, 5), exit({raise, self()}) end)]);
turn(servers) ->
    {ok, S} = gen_server:start(?MODULE, [], []),
    Cs = times(4, fun() -> spawn(fun() -> [gen_server:call(S, {add, N}) || N <- lists:seq(1, 50)] end) end),
    [gen_server:cast(S, N) || N <- lists:seq(1, 20)],
    S ! info,
    catch gen_server:call(S, slow, 1),
    buried(Cs),
    doing(one([fun() -> gen_server:stop(S) end, fun() -> exit(S, kill) end, fun() -> catch gen_server:call(S, crash, 100) end])),
    kill([S]);
turn(timers) ->
    R = erlang:start_timer(2, self(), x),
    erlang:send_after(1, self(), y),
    T = erlang:send_after(1000, self(), z),
    erlang:cancel_timer(T),
    receive {timeout, R, x} -> ok after 1000 -> ok end,
    M = monitor(process, etx_nobody),
    receive {'DOWN', M, _, _, noproc} -> ok end,
    timer:sleep(1);
turn(suspends) ->
    P = spawn(?MODULE, ring, [3]),
    erlang:suspend_process(P),
    P ! {n, 1, x},
    process_info(P, [message_queue_len, current_stacktrace, dictionary, backtrace]),
    catch erlang:resume_process(P),
    spawn(fun() -> process_flag(sensitive, true), life(1) end) ! stop,
    process_flag(priority, one([low, normal])),
    process_flag(priority, normal),
    kill([P]);
turn(tokens) ->
    seq_trace:set_token(label, pick(100)),
    seq_trace:set_token(one([send, 'receive', print]), true),
    P = spawn(?MODULE, echo, []),
    P ! {self(), hi},
    receive hi -> ok after 1000 -> ok end,
    seq_trace:print(x),
    seq_trace:set_token([]),
    kill([P]);
turn(users) ->
    catch dyntrace:p(pick(1000), "text"),
    catch dyntrace:p(1, 2, 3, 4, "a", "b", "c", "d"),
    catch dyntrace:pn(pick(950), 7, ["io", <<"list">>]),
    catch dyntrace:put_tag("tag"),
    %% Where it is: each call of a module that is not there would have the code server search for it.
    code:is_loaded(erltrace) =/= false andalso
        [catch apply(erltrace, probe, [etx_event | Args]) || Args <- [[], [big(5)], [pick(10), "text", {tuple, self()}]]];
turn(others) ->
    %% Not killed, however long it takes: what it has set would stay.
    pick(10) =:= 1 andalso begin
        {_, Ref} = spawn_monitor(?MODULE, tool, [one(tools())]),
        receive {'DOWN', Ref, _, _, _} -> ok end
    end.

%%% Parts

life(1) -> ok;
life(2) -> exit(reason);
life(3) -> receive stop -> ok after 20 -> ok end;
life(4) -> receive stop -> ok; _ -> life(4) end.

linked(0, Reason) -> pause_for(1), exit(Reason);
linked(N, Reason) -> spawn_link(?MODULE, linked, [N - 1, Reason]), receive stop -> ok after 200 -> ok end.

%% A chain of N processes that hand on what they get.
ring(0) -> ring_last();
ring(N) -> ring_on(spawn_link(?MODULE, ring, [N - 1])).
ring_on(Next) -> receive stop -> Next ! stop; M -> Next ! M, ring_on(Next) end.
ring_last() -> receive stop -> ok; _ -> ring_last() end.

echo() -> receive {To, What} -> To ! What, echo() end.
big(N) -> [{I, [I, "text", {nested, I}], float(I)} || I <- lists:seq(1, N)].
grow(L) -> grow([L | big(10)]).

%% A process that the VM ends as its heap grows. Not on a debug emulator before OTP 27, which aborts when the collection that finds this was
%% that of a traced call with {exception_trace}, and another one follows (do_call_trace, "!ERTS_PROC_IS_EXITING"): so it does when
%% erlang:trace_pattern/3 and erlang:trace/3 have set that, without any tool.
too_large() ->
    case erlang:system_info(build_type) =:= debug andalso erlang:system_info(otp_release) < "27" of
        true -> spawn(?MODULE, life, [1]);
        false -> spawn_opt(fun() -> grow([]) end, [{max_heap_size, #{size => 5000, kill => true, error_logger => false}}])
    end.

tail(0) -> ok;
tail(N) -> ?MODULE:tail(N - 1).
deep(0) -> 0;
deep(N) -> 1 + ?MODULE:deep(N - 1).
raise(Class, 0) -> erlang:raise(Class, {because, self()}, []);
raise(Class, N) -> {?MODULE:raise(Class, N - 1)}.
fall(0, X) -> X = y;
fall(N, X) -> try ?MODULE:fall(N - 1, X) after target(N) end.
thrower(N) -> case N of 0 -> throw(done); _ -> catch ?MODULE:thrower(N - 1), throw(N) end.
napper() -> case pick(2) of
                1 -> erlang:hibernate(?MODULE, awake, []);
                2 -> proc_lib:hibernate(?MODULE, awake, [])
            end.
awake() -> receive wake -> napper() end.
target(N) -> N.

init([]) -> {ok, 0}.
handle_call({add, N}, _, S) -> {reply, S + N, S + N};
handle_call({keep, X}, _, _) -> {reply, X, X};
handle_call(slow, _, S) -> pause_for(5), {reply, ok, S};
handle_call(crash, _, _) -> exit(crashed).
handle_cast(N, S) -> {noreply, S + N}.
handle_info(_, S) -> {noreply, S}.

%% A module that lives in this binary only, in two variants.
variant(M, V) ->
    Text = ["-module(" ++ atom_to_list(M) ++ ").", "-export([f/1, g/1, loop/1, wait/0]).",
            "f(N) -> " ++ integer_to_list(V) ++ " + h(N).", "h(N) -> N * 2.",
            "g(N) -> catch error({N, " ++ integer_to_list(V) ++ "}).",
            "loop(0) -> ok; loop(N) -> f(N), loop(N - 1).",
            "wait() -> receive go -> loop(5), wait() end."],
    Forms = [begin {ok, T, _} = erl_scan:string(L), {ok, F} = erl_parse:parse_form(T), F end || L <- Text],
    {ok, M, Beam} = compile:forms(Forms),
    Beam.

load(M, Beam) ->
    code:purge(M),
    {module, M} = code:load_binary(M, "nowhere", Beam).

%%% Peer nodes

erase_peers() -> case erase(peers) of undefined -> []; L -> L end.

new_peer(Name) ->
    [_, Host] = string:split(atom_to_list(node()), "@"),
    case catch peer:start(#{name => Name, host => Host, connection => standard_io, wait_boot => 20000}) of
        {ok, Pid, Node} -> put(peers, [{Pid, Node} | erase_peers()]);
        _ -> ok % the name is still taken by the last one
    end.

stop_peer({Pid, Node}) ->
    case pick(3) of
        1 -> catch peer:stop(Pid);
        2 -> catch peer:cast(Pid, erlang, halt, [1]), catch peer:stop(Pid);
        3 -> Os = (catch peer:call(Pid, os, getpid, [])),
             is_list(Os) andalso (not is_tuple(Os)) andalso os:cmd("kill -9 " ++ Os),
             catch peer:stop(Pid)
    end,
    erlang:disconnect_node(Node).

with_peer({_, Node}) ->
    net_kernel:connect_node(Node),
    Q = spawn(Node, erlang, hibernate, [lists, reverse, [[]]]),
    R = spawn_link(Node, timer, sleep, [1]),
    {etx_nobody, Node} ! {hello, big(20)},
    [Q ! {n, N} || N <- lists:seq(1, 10)],
    monitor(process, Q),
    catch link(Q),
    exit(Q, one([kill, bad])),
    unlink(R),
    catch erpc:call(Node, erlang, node, [], 1000),
    pick(10) =:= 1 andalso erlang:disconnect_node(Node).

%%% Other people's tracing. Never of garbage collection: from OTP 27 on two who trace that crash the VM, without us, too. Before 27
%%% nothing on all processes: with dirty schedulers at work, that does.

tools() ->
    case erlang:system_info(otp_release) < "27" of
        true -> [patterns, process];
        false -> [patterns, process, session, dbg, clear]
    end.

sink() -> receive _ -> sink() end.

tool(patterns) ->
    erlang:trace_pattern({?MODULE, target, 1}, true, [local]),
    target(1),
    erlang:trace_pattern({?MODULE, target, 1}, false, [local]),
    erlang:trace_pattern({?MODULE, '_', '_'}, true, [global]),
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [global]),
    erlang:trace_pattern({'_', '_', '_'}, false, [local, meta, call_count, call_time]);
tool(process) ->
    P = spawn(?MODULE, echo, []),
    catch erlang:trace(P, true, [send, 'receive', call, procs, running]),
    P ! {self(), hi},
    receive hi -> ok after 1000 -> ok end,
    catch erlang:trace(P, false, [all]),
    kill([P]);
tool(session) ->
    %% Few processes, and a tracer that takes what it gets. On a machine that is busy it does not keep up, would hold gigabytes soon, and
    %% stop all schedulers for its collections; so it dies early, as a careful tool's does.
    P = spawn_opt(?MODULE, sink, [], [{max_heap_size, #{size => 4_000_000, kill => true, error_logger => false}}]),
    Es = times(3, fun() -> spawn(?MODULE, echo, []) end),
    S = trace:session_create(etx, P, []),
    catch [trace:process(S, E, true, [send, procs, call]) || E <- [new | Es]],
    catch trace:function(S, {?MODULE, '_', '_'}, true, [local]),
    [E ! {self(), hi} || E <- Es],
    [receive hi -> ok after 1000 -> ok end || _ <- Es],
    target(1),
    trace:session_destroy(S),
    kill([P | Es]);
tool(dbg) ->
    catch dbg:tracer(process, {fun(_, A) -> A end, 0}),
    catch dbg:p(self(), [m, c]),
    catch dbg:tpl(?MODULE, target, []),
    target(1),
    catch dbg:stop();
tool(clear) ->
    erlang:trace(all, false, [all]),
    erlang:trace_pattern({'_', '_', '_'}, false, [local, meta, call_count, call_time]).
