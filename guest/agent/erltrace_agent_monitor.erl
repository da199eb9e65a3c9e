%% erltrace_agent_monitor - what the VM reports to the server by message: the system monitor, nodes that come and go, and
%% processes that wait for a busy port, until they go on.
%%
%% What always holds:
%%  * Before OTP 28 a node has one system monitor. Another tool's is never replaced: a program that needs it then is refused. From
%%    28 on ours is a trace session of its own and disturbs no tool. (The tracer's session cannot serve: it has no process.)
%%  * What is set is in #m.items and #m.nodes, and is removed when no program needs it. When the server dies, the VM removes it.
%%  * Of the limits of several programs, the lowest is set in the VM; each program gets what reaches its own.
%%  * process_info() of a working process waits for it, so the server never calls it: a helper process (the looker) does.
-module(erltrace_agent_monitor).

-export([told/2, check/2, apply_needs/2, back/2, undo/1, dead/1, event/2, watch/1, ours/1]).
-export([slot/0, session/1]).

-import(erltrace_agent_lib, [error4/3, text/2, owner/1, now_ms/0]).

-include("erltrace_agent.hrl").

-define(LOOK, 20).                 % ms between two looks at processes that wait, plus one for each of them
-define(LOOK_MOST, 500).           % ... but at most this
-define(FLOOD, 20000).             % messages of the system monitor in a second beyond which it is switched off
-define(NODES, #{node_type => all, nodedown_reason => true, connection_id => true}).

-record(m, {
    items = [] :: [{atom(), term()}],      % what is set in the system monitor, sorted
    session :: undefined | term(),         % OTP 28+: the strong handle of its session
    nodes = false :: boolean(),            % monitor_nodes is on
    waiting = #{} :: #{pid() => integer()}, % processes that wait for a port, and since when (ms)
    looker :: undefined | pid(),
    looking = false :: boolean(),          % its timer runs, or it is looking
    events = 0 :: non_neg_integer(),       % messages of the system monitor since the last check
    flooded = false :: boolean()
}).

%% What a consumer asks for besides its needs: limits, the period of polls, and the kinds of its probes.
told(Options, Bindings) ->
    O = maps:merge(#{longgc => 100, longschedule => 100, largeheap => 10485760, longqueue => 1000, pollrate => 1000},
                   maps:from_list([KV || {K, _} = KV <- Options, lists:member(K, [longgc, longschedule, largeheap, longqueue, pollrate])])),
    O#{kinds => lists:usort([K || {_, _, _, K, _} <- Bindings, K < ?PROBE_FN_ENTRY, lists:member(K, ?SERVER_PROBES)])}.

%% == needs ====================================================================================================

%% Throws an error if these needs cannot be met now.
check(Needs, #s{has = Has} = S) ->
    Needs band ?NEED_LONG_QUEUE =:= 0 orelse ?HAS(Has, ?OTP_LONG_QUEUES) orelse
        throw(error4('AGENT_OTP', "queue-long and queue-normal need OTP 27: the system monitor of this node does not report long "
                     "message queues", "leave them out on this node; all other limits work")),
    Needs band ?NEED_MONITOR =:= 0 orelse check_slot(S).

check_slot(#s{monitor = #m{flooded = true}}) ->
    throw(error4('AGENT_BUSY', "the system monitor is switched off, because another trace caused more of its messages than the agent "
                 "can handle", "end that trace first"));
check_slot(#s{has = Has}) when ?HAS(Has, ?OTP_MONITOR_SESSIONS) ->
    ok;
check_slot(_) ->
    case slot() of
        {Other, _} when Other =/= self() -> throw(taken(Other));
        _ -> ok
    end.

%% Returns the owner and items of the system monitor. The VM notices that the owner is dead only when it has something to report.
slot() ->
    case erlang:system_monitor() of
        {Pid, _} = Slot when is_pid(Pid) ->
            case erltrace_agent_lib:alive(Pid) of
                true -> Slot;
                false -> undefined
            end;
        Slot ->
            Slot
    end.

taken(Other) ->
    error4('AGENT_BUSY', ["the system monitor of this node belongs to ", owner(Other), ", and before OTP 28 a node has only one"],
           "end that tool first (in RabbitMQ it is sysmon_handler), or leave out the probes *port_busy, *not_busy, gc-long, "
           "schedule-long, heap-large and queue-long").

%% Makes the VM report what the running programs need, no more and no less. If it throws an error, nothing has changed.
apply_needs(Running, #s{monitor = M0} = S) ->
    Bits = lists:foldl(fun(#c{needs = N}, A) -> N bor A end, 0, Running),
    M = system(items(Bits, Running), state(M0), S),
    M1 = watch_nodes(Bits band ?NEED_NODES =/= 0, M),
    M2 = if Bits band (?NEED_BUSY_PORT bor ?NEED_BUSY_DIST_PORT) =:= 0 -> forget_waiting(M1, S);
            true -> M1
         end,
    S#s{monitor = M2}.

%% Sets what was set in an earlier state.
back(#s{monitor = Before}, #s{monitor = Now} = S) ->
    #m{items = Items, nodes = Nodes} = state(Before),
    _ = system(Items, Now, S),
    _ = watch_nodes(Nodes, Now),
    ok.

state(undefined) -> #m{};
state(M) -> M.

items(Bits, Running) ->
    Least = fun(Need, Key) -> lists:min([maps:get(Key, T) || #c{needs = N, told = T} <- Running, N band Need =/= 0]) end,
    lists:sort(lists:append(
        [[{busy_port, true}] || Bits band ?NEED_BUSY_PORT =/= 0] ++
        [[{busy_dist_port, true}] || Bits band ?NEED_BUSY_DIST_PORT =/= 0] ++
        [[{long_gc, max(1, Least(?NEED_LONG_GC, longgc))}] || Bits band ?NEED_LONG_GC =/= 0] ++
        [[{long_schedule, max(1, Least(?NEED_LONG_SCHEDULE, longschedule))}] || Bits band ?NEED_LONG_SCHEDULE =/= 0] ++
        [[{large_heap, max(1, Least(?NEED_LARGE_HEAP, largeheap))}] || Bits band ?NEED_LARGE_HEAP =/= 0] ++
        [[{long_message_queue, queue(Least(?NEED_LONG_QUEUE, longqueue))}] || Bits band ?NEED_LONG_QUEUE =/= 0])).

queue(Limit) ->
    {max(1, Limit div 2), max(2, Limit)}.

%% -- the system monitor

system(Items, #m{items = Items} = M, _) ->
    M;
system(Items, M, #s{has = Has} = S) when ?HAS(Has, ?OTP_MONITOR_SESSIONS) ->
    M#m{items = Items, session = session(Items, M, S), flooded = false};
system(Items, #m{items = Old} = M, _) ->
    More = [K || {K, _} <- Items, not lists:keymember(K, 1, Old)] =/= [],
    case slot() of
        {Other, _} when Other =/= self(), More -> throw(taken(Other));
        {Other, _} when Other =/= self() -> M#m{items = Items}; % it has been complained of
        _ when Items =:= [] -> slot(undefined), M#m{items = []};
        undefined when Old =/= [], not More, not M#m.flooded -> M#m{items = Items}; % it was removed: likewise
        _ -> slot({self(), options(Items)}), M#m{items = Items, flooded = false}
    end.

options(Items) ->
    [case I of {K, true} -> K; _ -> I end || I <- Items].

%% Sets the system monitor. If another tool has taken it since slot/0, that tool's monitor is put back.
slot(Value) ->
    case erlang:system_monitor(Value) of
        {Other, _} = Theirs when Other =/= self() ->
            case erltrace_agent_lib:alive(Other) of
                true ->
                    erlang:system_monitor(Theirs),
                    Value =:= undefined orelse throw(taken(Other));
                false ->
                    ok
            end;
        _ -> ok
    end.

session([], #m{session = undefined}, _) ->
    undefined;
session([], #m{session = Session}, _) ->
    erltrace_agent_session:destroy(Session),
    undefined;
session(Items, #m{session = undefined} = M, S) ->
    session(Items, M#m{session = erltrace_agent_session:create(erltrace_monitor, self(), S), items = []}, S);
session(Items, #m{session = Session, items = Old}, _) ->
    [erltrace_agent_session:system(Session, K, false) || {K, _} <- Old, not lists:keymember(K, 1, Items)],
    [erltrace_agent_session:system(Session, K, V) || {K, V} <- Items -- Old],
    Session.

%% -- nodes

watch_nodes(Same, #m{nodes = Same} = M) ->
    M;
watch_nodes(On, M) ->
    case net_kernel:monitor_nodes(On, ?NODES) of
        ok -> M#m{nodes = On};
        _ -> M
    end.

%% -- the end

%% Removes everything that this module has set.
undo(#s{monitor = undefined} = S) ->
    S;
undo(S) ->
    S1 = apply_needs([], S),
    #m{looker = Looker} = S1#s.monitor,
    Looker =:= undefined orelse exit(Looker, kill),
    S1#s{monitor = undefined}.

%% Cleans up after a server that was killed. (The VM drops a system monitor with a dead owner only when it has something to
%% report.)
dead(Server) ->
    case erlang:system_monitor() of
        {Server, _} -> erlang:system_monitor(undefined);
        _ -> ok
    end.

%% The trace session of the system monitor.
session(#s{monitor = #m{session = Session}}) -> Session;
session(_) -> undefined.

%% == messages =================================================================================================

event({looked, Found}, #s{monitor = #m{} = M} = S) ->
    S#s{monitor = looked(Found, M, S)};
event(look, #s{monitor = #m{} = M} = S) ->
    S#s{monitor = look(M, S)};
event({monitor, _, _, _}, #s{monitor = #m{items = I, flooded = F}} = S) when I =:= []; F ->
    S;
event({monitor, P, _, _}, #s{guard = Guard} = S) when P =:= self(); P =:= Guard ->
    S;
event({monitor, P, What, Info}, #s{monitor = #m{events = N} = M} = S0) when N < ?FLOOD ->
    S = S0#s{monitor = M#m{events = N + 1}},
    case erltrace_agent_shapes:known({system, What}, {P, Info}) of
        true -> system(What, P, Info, S);
        false -> erltrace_agent_shapes:lost(need(What), {system, What}, S)
    end;
event({monitor, _, _, _}, #s{monitor = #m{} = M} = S) ->
    flooded(M, S);
event({How, Node, Info}, #s{monitor = #m{nodes = true}} = S) when How =:= nodeup; How =:= nodedown ->
    case erltrace_agent_shapes:known(How, {Node, Info}) of
        true ->
            #{node_type := Type} = Info,
            Type =:= hidden andalso ours(Node) orelse fire(How, Node, Type, Info),
            S;
        false ->
            erltrace_agent_shapes:lost(?NEED_NODES, How, S)
    end;
event(_, S) ->
    S.

fire(nodeup, Node, Type, _) ->
    ?AGENT:nif_event(?PROBE_DIST_MONITOR, self(), {node(), nodeup, Node, Type, undefined}),
    ?AGENT:nif_event(?PROBE_NODE_UP, self(), {Node, Type});
fire(nodedown, Node, Type, #{nodedown_reason := Because}) ->
    Reason = no_number(Because),
    ?AGENT:nif_event(?PROBE_DIST_MONITOR, self(), {node(), nodedown, Node, Type, Reason}),
    ?AGENT:nif_event(?PROBE_NODE_DOWN, self(), {Node, Type, Reason}).

%% What makes the VM send that.
need(busy_port) -> ?NEED_BUSY_PORT;
need(busy_dist_port) -> ?NEED_BUSY_DIST_PORT;
need(long_gc) -> ?NEED_LONG_GC;
need(long_schedule) -> ?NEED_LONG_SCHEDULE;
need(large_heap) -> ?NEED_LARGE_HEAP;
need(long_message_queue) -> ?NEED_LONG_QUEUE;
need(_) -> ?NEED_MONITOR.

%% Whether a node is an erltrace.
ours(Node) ->
    case atom_to_list(Node) of
        "erltrace_" ++ [D | _] -> D >= $0 andalso D =< $9;
        _ -> false
    end.

system(busy_port, P, Port, S) ->
    ?AGENT:nif_event(?PROBE_PORT_BUSY, P, {Port, P}),
    waits(P, Port, [], S);
system(busy_dist_port, P, Port, S) ->
    There = case lists:keyfind(Port, 2, erltrace_agent_shapes:connections()) of
                {Node, _} -> Node;
                false -> undefined % it has just closed
            end,
    case ours(There) of
        true -> S;
        false ->
            ?AGENT:nif_event(?PROBE_DIST_PORT_BUSY, P, {node(), Port, There, P}),
            waits(P, Port, {node(), There}, S)
    end;
system(long_gc, P, Info, S) ->
    Ms = value(timeout, Info),
    each(?NEED_LONG_GC, longgc, Ms, ?PROBE_GC_LONG, P, list_to_tuple([P, Ms | sizes(Info)]), S),
    S;
system(large_heap, P, Info, S) ->
    Size = value(heap_block_size, Info) + value(old_heap_block_size, Info),
    each(?NEED_LARGE_HEAP, largeheap, Size, ?PROBE_HEAP_LARGE, P, list_to_tuple([P, Size | sizes(Info)]), S),
    S;
system(long_schedule, P, Info, S) ->
    Ms = value(timeout, Info),
    {In, Out} = case lists:keyfind(port_op, 1, Info) of
                    {_, Op} -> {Op, <<>>};
                    false -> {value(in, Info), value(out, Info)}
                end,
    each(?NEED_LONG_SCHEDULE, longschedule, Ms, ?PROBE_SCHEDULE_LONG, P, {P, Ms, In, Out}, S),
    S;
system(long_message_queue, P, Long, #s{monitor = #m{items = Items}} = S) ->
    case lists:keyfind(long_message_queue, 1, Items) of
        {_, {_, Most}} when Long -> ?AGENT:nif_event(?PROBE_QUEUE_LONG, P, {P, Most});
        {_, {Least, _}} -> ?AGENT:nif_event(?PROBE_QUEUE_NORMAL, P, {P, Least});
        false -> ok
    end,
    S.

%% Fires for the programs whose limit is reached.
each(Need, Limit, Value, Kind, P, Args, #s{consumers = Cs}) ->
    [?AGENT:nif_event_of(Program, Kind, P, Args)
     || #c{phase = running, needs = N, program = Program, told = #{Limit := L}} <- maps:values(Cs),
        N band Need =/= 0, Value >= L],
    ok.

value(Key, Info) ->
    {_, V} = lists:keyfind(Key, 1, Info),
    V.

%% An integer is a number to nif_event; this argument is text.
no_number(Reason) when is_integer(Reason) -> integer_to_binary(Reason);
no_number(Reason) -> Reason.

sizes(Info) ->
    [value(K, Info) || K <- ?HEAP_SIZES].

%% Switches the system monitor off, as more comes than the server can take: no events are better than a mailbox that grows without
%% bound. It is set again when other items are wanted.
flooded(#m{items = Items} = M, S) ->
    case M#m.session of
        undefined -> still_ours() andalso slot(undefined);
        Session -> erltrace_agent_session:destroy(Session)
    end,
    S1 = S#s{monitor = (forget_waiting(M, S))#m{flooded = true, session = undefined}},
    erltrace_agent_needs:complain({{flooded, Items},
        text("more than ~b messages of the system monitor came in a second: it is switched off, and its probes no longer fire; start "
             "the trace again with higher limits (longgc, longschedule, largeheap, longqueue)", [?FLOOD])}, S1).

still_ours() ->
    case erlang:system_monitor() of
        {Pid, _} -> Pid =:= self();
        undefined -> false
    end.

%% == processes that wait for a port ===========================================================================

waits(P, Port, Nodes, #s{monitor = #m{waiting = W} = M} = S) ->
    case ?AGENT:nif_block(P, Port, Nodes) of
        true ->
            maps:is_key(P, W) orelse erltrace_agent_flags:add_running(P, S),
            S#s{monitor = look_later(M#m{waiting = W#{P => now_ms()}})};
        false ->
            erltrace_agent_needs:complain({blocked, <<"too many processes wait for busy ports to follow all of them: "
                                                      "some *not_busy and *unblocked probes do not fire">>}, S)
    end.

look_later(#m{looking = true} = M) ->
    M;
look_later(#m{waiting = W} = M) when map_size(W) =:= 0 ->
    M;
look_later(#m{waiting = W} = M) ->
    erlang:send_after(min(?LOOK_MOST, ?LOOK - 1 + map_size(W)), self(), look),
    M#m{looking = true}.

%% Removes the flag from processes that have gone on. Looks at the others once the VM has had time to suspend them, as it reports
%% before it does.
look(#m{waiting = W} = M, S) ->
    Waiting = maps:filter(fun(P, _) -> ?AGENT:nif_blocked(P) orelse begin erltrace_agent_flags:remove_running(P, S), false end end, W),
    Before = now_ms() - ?LOOK div 2,
    M1 = M#m{waiting = Waiting},
    case [P || {P, Since} <- maps:to_list(Waiting), Since =< Before] of
        [] -> look_later(M1#m{looking = false});
        Ps ->
            M2 = with_looker(M1),
            M2#m.looker ! {look, self(), Ps},
            M2
    end.

with_looker(#m{looker = Pid} = M) ->
    case Pid =/= undefined andalso erltrace_agent_lib:alive(Pid) of
        true -> M;
        false ->
            Server = self(),
            M#m{looker = erltrace_agent_lib:start(fun() -> looker(Server) end, [])}
    end.

looked(Found, #m{waiting = W} = M, S) ->
    [case Is of
         gone_on -> ?AGENT:nif_unblock(P);
         dead -> ?AGENT:nif_forget_blocked(P)
     end || {P, Is} <- Found],
    _ = [erltrace_agent_flags:remove_running(P, S) || {P, _} <- Found],
    look_later(M#m{waiting = maps:without([P || {P, _} <- Found], W), looking = false}).

forget_waiting(#m{waiting = W} = M, S) ->
    [begin
         try ?AGENT:nif_forget_blocked(P) catch error:_ -> ok end, % the library may be gone
         erltrace_agent_flags:remove_running(P, S)
     end || P <- maps:keys(W)],
    M#m{waiting = #{}}.

looker(Server) ->
    process_flag(sensitive, true),
    erlang:monitor(process, Server),
    look_loop([]).

%% Doubtful: processes that seemed to have gone on at the last look. A process whose scheduler lost its CPU while it handled a
%% signal also seems so, for as long as that takes: so two looks have to agree.
look_loop(Doubtful) ->
    receive
        {look, Server, Ps} ->
            Found = [{P, Is} || P <- Ps, Is <- [waiting(P)], Is =/= waits],
            Server ! {looked, [{P, Is} || {P, Is} <- Found, Is =:= dead orelse lists:member(P, Doubtful)]},
            look_loop([P || {P, gone_on} <- Found]);
        {'DOWN', _, _, _, _} ->
            ok;
        _ ->
            look_loop(Doubtful)
    end.

%% A process that handles a signal shows as running for a moment although it waits: it counts as going on only if both answers say
%% so.
waiting(P) ->
    case {process_info(P, status), process_info(P, status)} of
        {undefined, _} -> dead;
        {_, undefined} -> dead;
        {{_, A}, {_, B}} when A =/= suspended, B =/= suspended -> gone_on;
        _ -> waits
    end.

%% == regular checks ===========================================================================================

%% -> {what to complain of, state}
watch(#s{monitor = undefined} = S) ->
    {[], S};
watch(#s{monitor = #m{session = Session} = M, has = Has} = S) ->
    case Session =:= undefined orelse erltrace_agent_session:there(Session) of
        true -> {lost(M, Has), S#s{monitor = M#m{events = 0}}};
        false ->
            {[{{monitor, Session}, <<"another process destroyed the trace session of the agent's system monitor: the probes that need it (*port_busy, "
                                     "*not_busy, *-long, heap-large) no longer fire; start the trace again">>}],
             S#s{monitor = (forget_waiting(M, S))#m{items = [], session = undefined, events = 0}}}
    end.

lost(#m{items = Items, flooded = false}, Has) when Items =/= [], not ?HAS(Has, ?OTP_MONITOR_SESSIONS) ->
    case erlang:system_monitor() of
        {Pid, _} when Pid =:= self() -> [];
        undefined -> [{monitor, <<"another process switched off the system monitor: the probes that need it (*port_busy, *not_busy, "
                                  "*-long, heap-large) no longer fire; start the trace again">>}];
        {Other, _} -> [{monitor, text("~s has taken the system monitor: the probes that need it (*port_busy, *not_busy, *-long, "
                                      "heap-large) no longer fire", [owner(Other)])}]
    end;
lost(_, _) ->
    [].
