%% bench - the workload of the benchmark, and OTP's own tools that observe it.
%%
%% Workers are started once and live until the end, so that a tracer that goes process by process finds them. A
%% measurement returns the nanoseconds of wall time from the start of the first worker to the end of the last one.
-module(bench).
-export([start/0, calls/2, deeps/2, cpu/3, orders/2, probes/2, dyntraces/2, loops/2, messages/2, controls/2]).
-export([paced/1]).
-export([on/1, off/1]).
-export([f/1, order/2, serve/0, pace/3]).

%% Starts the workers: two that call, two pairs that send to each other.
start() ->
    W = [spawn(?MODULE, serve, []) || _ <- lists:seq(1, 6)],
    persistent_term:put(bench, W),
    persistent_term:put(bench_ports, [open_port({spawn_driver, "udp_inet"}, [binary]) || _ <- [1, 2]]),
    _ = [code:ensure_loaded(M) || M <- [erltrace, dyntrace]],
    [{module, M} = code:ensure_loaded(M) || M <- [floor_tracer, floor_profile]],
    ok.

callers(Busy) -> lists:sublist(persistent_term:get(bench), Busy).
ports(Busy) -> lists:sublist(persistent_term:get(bench_ports), Busy).
senders(Busy) -> lists:sublist(lists:nthtail(2, persistent_term:get(bench)), Busy * 2).

%% Busy processes call f/1 N times each.
calls(Busy, N) ->
    timed([{W, {calls, N}} || W <- callers(Busy)]).

%% The same, in functions that are 58 calls deep: a stack has sixty frames then.
deeps(Busy, N) ->
    timed([{W, {deeps, N}} || W <- callers(Busy)]).

%% The longest processor time, in ns, in which one of Busy processes, on a scheduler each, calls f/1 N times (calls), or does so deep down (deeps).
cpu(Kind, Busy, N) ->
    Me = self(),
    Pids = [spawn_opt(fun() ->
                          T = floor_profile:clock(),
                          _ = case Kind of calls -> call(N); deeps -> deep(57, N) end,
                          Me ! {self(), floor_profile:clock() - T}
                      end, [{scheduler, I}]) || I <- lists:seq(1, Busy)],
    lists:max([receive {P, Ns} -> Ns end || P <- Pids]).

%% Busy processes call order/2 N times each, with `get` in one of a hundred calls.
orders(Busy, N) ->
    timed([{W, {orders, N}} || W <- callers(Busy)]).

%% Busy processes ask a port of their own for its name N times.
controls(Busy, N) ->
    timed([{W, {controls, P, N}} || {W, P} <- lists:zip(callers(Busy), ports(Busy))]).

%% Busy processes call erltrace:probe/2, or dyntrace:p/2, N times each, or run an empty loop.
probes(Busy, N) ->
    timed([{W, {probes, N}} || W <- callers(Busy)]).

dyntraces(Busy, N) ->
    timed([{W, {dyntraces, N}} || W <- callers(Busy)]).

loops(Busy, N) ->
    timed([{W, {loops, N}} || W <- callers(Busy)]).

%% Busy pairs send each other N messages there and N back.
messages(Busy, N) ->
    timed(pairs(senders(Busy), N)).

pairs([A, B | More], N) -> [{A, {ping, B, N}}, {B, {pong, A, N}} | pairs(More, N)];
pairs([], _) -> [].

%% From now on a process calls f/1 this many times a second. Late calls are made up for, also on a busy host.
paced(Rate) ->
    spawn(?MODULE, pace, [Rate, erlang:monotonic_time(millisecond), 0]).

pace(Rate, Start, Done) ->
    Due = (erlang:monotonic_time(millisecond) - Start) * Rate div 1000,
    call(Due - Done),
    timer:sleep(10),
    ?MODULE:pace(Rate, Start, Due).

timed(Orders) ->
    Start = erlang:monotonic_time(nanosecond),
    [W ! {self(), Order} || {W, Order} <- Orders],
    [receive {W, done} -> ok end || {W, _} <- Orders],
    erlang:monotonic_time(nanosecond) - Start.

serve() ->
    receive
        {From, {calls, N}} -> call(N), From ! {self(), done};
        {From, {deeps, N}} -> deep(57, N), From ! {self(), done};
        {From, {orders, N}} -> orders(N div 100), From ! {self(), done};
        {From, {controls, Port, N}} -> control(Port, N), From ! {self(), done};
        {From, {probes, N}} -> probe(N), From ! {self(), done};
        {From, {dyntraces, N}} -> dyntrace(N), From ! {self(), done};
        {From, {loops, N}} -> loop(N), From ! {self(), done};
        {From, {ping, To, N}} -> ping(To, N), From ! {self(), done};
        {From, {pong, To, N}} -> pong(To, N), From ! {self(), done}
    end,
    ?MODULE:serve().

call(0) -> ok;
call(N) -> ?MODULE:f(N band 1023), call(N - 1).

f(N) -> N.

deep(0, N) -> call(N);
deep(D, N) -> deep(D - 1, N), D.

orders(0) -> ok;
orders(N) -> ?MODULE:order(get, N), puts(99), orders(N - 1).

puts(0) -> ok;
puts(N) -> ?MODULE:order(put, N), puts(N - 1).

order(_, N) -> N.

control(_, 0) -> ok;
control(Port, N) -> port_control(Port, 16#03f1a300 + 15, []), control(Port, N - 1).

probe(0) -> ok;
probe(N) -> erltrace:probe(bench, N), probe(N - 1).

dyntrace(0) -> ok;
dyntrace(N) -> dyntrace:p(N, "bench"), dyntrace(N - 1).

loop(0) -> ok;
loop(N) -> loop(N - 1).

ping(_, 0) -> ok;
ping(To, N) -> To ! ball, receive ball -> ping(To, N - 1) end.

pong(_, 0) -> ok;
pong(To, N) -> receive ball -> To ! ball, pong(To, N - 1) end.

%%% OTP's tools: on(Name) before a measurement, off(Name) after it; off returns the number of events that were seen, or 0.

on(floor_call) -> pattern(true, [{meta, floor_tracer, []}]);
on(floor_pair_call) -> pattern(true, [local]), flags(callers(2), true, [call, arity, return_to, {tracer, floor_tracer, []}]);
on(floor_message) -> flags(senders(2), true, [send, {tracer, floor_tracer, []}]);
on(floor_profile) -> sampled(997, 0);
on(signal_profile) -> sampled(997, 1);
on(deep_signal) -> sampled(4999, 1);
on(floor_port) -> flags(ports(2), true, ['receive', {tracer, floor_tracer, []}]);
%% What probes of messages and of scheduling need: send, in and out.
on(floor_latency_message) -> flags(senders(2), true, [send, running, {tracer, floor_tracer, []}]);
%% The functions whose calls are the probes, by the pattern that the agent sets on them.
on(floor_probe) -> hook({erltrace, probe, 2}, [{[bench, '_'], [], []}]);
on(floor_dyntrace) -> hook({dyntrace, user_trace_i4s4, 9}, true);
on(probe_off) -> 0;
on(call_count) -> pattern(true, [call_count]);
on(call_time) -> pattern(true, [call_time]), flags(callers(2), true, [call]);
on(dbg_call) -> dbg(callers(2), [call], fun() -> {ok, _} = dbg:tp(?MODULE, f, 1, []) end);
on(dbg_message) -> dbg(senders(2), [send], fun() -> ok end).

off(floor_call) -> pattern(false, [meta]);
off(floor_pair_call) -> flags(callers(2), false, [all]), pattern(false, [local]);
off(floor_message) -> flags(senders(2), false, [all]);
off(Name) when Name =:= floor_profile; Name =:= signal_profile; Name =:= deep_signal -> floor_profile:stop(), 0;
off(floor_port) -> flags(ports(2), false, [all]);
off(floor_latency_message) -> flags(senders(2), false, [all]);
off(floor_probe) -> unhook({erltrace, probe, 2});
off(floor_dyntrace) -> unhook({dyntrace, user_trace_i4s4, 9});
off(probe_off) -> 0;
off(call_count) -> {call_count, N} = erlang:trace_info({?MODULE, f, 1}, call_count), pattern(false, [call_count]), N;
off(call_time) ->
    {call_time, L} = erlang:trace_info({?MODULE, f, 1}, call_time),
    flags(callers(2), false, [call]),
    pattern(false, [call_time]),
    lists:sum([N || {_, N, _, _} <- L]);
off(_) ->
    %% What dbg's tracer has not yet read is part of its cost: the time counts until it has read everything.
    Me = self(),
    {ok, Tracer} = dbg:get_tracer(),
    Start = erlang:monotonic_time(nanosecond),
    Seen = drained(Tracer, Me),
    Late = erlang:monotonic_time(nanosecond) - Start,
    dbg_stop(),
    {Seen, Late}.

pattern(What, Flags) -> 1 = erlang:trace_pattern({?MODULE, f, 1}, What, Flags), 0.
hook(MFA, Condition) -> 1 = erlang:trace_pattern(MFA, Condition, [{meta, floor_tracer, []}]), 0.
unhook(MFA) -> 1 = erlang:trace_pattern(MFA, false, [meta]), 0.
flags(Pids, How, Flags) -> [1 = erlang:trace(P, How, Flags) || P <- Pids], 0.

sampled(Hz, Signal) -> true = floor_profile:start(Hz, Signal) >= erlang:system_info(schedulers), 0.

%% dbg with the smallest possible handler that counts.
dbg(Pids, Flags, More) ->
    Counter = counters:new(1, []),
    persistent_term:put(bench_seen, Counter),
    {ok, _} = dbg:tracer(process, {fun(_, C) -> counters:add(C, 1, 1), C end, Counter}),
    [{ok, _} = dbg:p(P, Flags) || P <- Pids],
    More().

drained(Tracer, Me) ->
    case process_info(Tracer, [message_queue_len, status]) of
        [{_, 0}, {_, waiting}] -> counters:get(persistent_term:get(bench_seen), 1);
        _ -> receive after 1 -> drained(Tracer, Me) end
    end.

dbg_stop() ->
    case erlang:function_exported(dbg, stop_clear, 0) of
        true -> dbg:stop_clear();
        false -> dbg:stop()
    end.
