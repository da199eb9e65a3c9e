%% eto - other tracing tools, as stand-ins that do to the VM what those do: dbg itself, recon_trace, redbug, a tracer of somebody's own.
%%
%% Each collects its trace messages in a process that counts them; seen/1 says how many. All of them are told to stop in
%% the way the tool itself does it, and end by that.
-module(eto).
-export([recon_clear/0, recon/2, redbug/2, dbg/2, dbg_stop/0, process/2, meta/1, session/3, new/1, stop/1, seen/1, kept/1]).
-export([collect/2, hold/2]).

%% recon_trace:clear/0.
recon_clear() ->
    erlang:trace(all, false, [all]),
    erlang:trace_pattern({'_', '_', '_'}, false, [local, meta, call_count, call_time]),
    erlang:trace_pattern({'_', '_', '_'}, false, []),
    ok.

%% recon_trace:calls(MFA, ..., [{pid, Pid}, {scope, local}]): -> the tool
recon(MFA, Pid) ->
    start(fun(Tracer) ->
              erlang:trace_pattern(MFA, [{'_', [], []}], [local]),
              erlang:trace(Pid, true, [call, {tracer, Tracer}])
          end, fun(_) -> recon_clear() end).

%% redbug:start(MFA, [{procs, Pid}]).
redbug(MFA, Pid) ->
    start(fun(Tracer) ->
              erlang:trace(Pid, true, [call, timestamp, arity, {tracer, Tracer}]),
              erlang:trace_pattern(MFA, [{'_', [], [{message, {process_dump}}]}], [global])
          end,
          fun(_) ->
              catch erlang:trace(Pid, false, [all]),
              erlang:trace_pattern(MFA, false, [global])
          end).

%% dbg:tracer, dbg:p(Pid, [c]), dbg:tp(MFA, []).
dbg({M, F, A}, Pid) ->
    Collector = spawn(?MODULE, collect, [0, []]),
    {ok, _} = dbg:tracer(process, {fun(Msg, C) -> C ! Msg, C end, Collector}),
    {ok, _} = dbg:p(Pid, [c]),
    {ok, _} = dbg:tp(M, F, A, []),
    Collector.

dbg_stop() ->
    dbg:ctp(),
    etw:dbg_stop().

%% erlang:trace(Pid, true, Flags).
process(Pid, Flags) ->
    start(fun(Tracer) -> erlang:trace(Pid, true, [{tracer, Tracer} | Flags]) end,
          fun(_) -> catch erlang:trace(Pid, false, [all]) end).

%% The same of processes to come.
new(Flags) -> process(new_processes, Flags).

meta(MFA) ->
    start(fun(Tracer) -> erlang:trace_pattern(MFA, [], [{meta, Tracer}]) end,
          fun(_) -> erlang:trace_pattern(MFA, false, [meta]) end).

%% A trace session (from OTP 27 on) with these flags on a process, and a pattern on a function, or none.
session(Pid, Flags, MFA) ->
    start(fun(Tracer) ->
              S = trace:session_create(eto, Tracer, []),
              trace:process(S, Pid, true, Flags),
              MFA =:= none orelse trace:function(S, MFA, [], [local]),
              S
          end, fun(S) -> trace:session_destroy(S) end).

%% A tool: the process that set it all up, and its collector, which has a name for messages about it.
start(On, Off) ->
    Collector = spawn(?MODULE, collect, [0, []]),
    register(eto_tracer, Collector),
    Me = self(),
    Tool = spawn(?MODULE, hold, [Me, {On, Off, Collector}]),
    receive {Tool, started} -> {Tool, Collector} end.

hold(Starter, {On, Off, Collector}) ->
    process_flag(sensitive, true),
    State = On(Collector),
    Starter ! {self(), started},
    receive
        {stop, From} ->
            Off(State),
            Ref = monitor(process, Collector),
            exit(Collector, kill),
            receive {'DOWN', Ref, _, _, _} -> From ! {self(), stopped} end % its name is free
    end.

stop({Tool, _}) ->
    Tool ! {stop, self()},
    receive {Tool, stopped} -> ok end.

collect(N, Waiting) ->
    receive
        {seen, From, Ref} -> From ! {Ref, N}, collect(N, Waiting);
        T when element(1, T) =:= trace; element(1, T) =:= trace_ts -> collect(N + 1, Waiting);
        _ -> collect(N, Waiting)
    end.

seen({_, Collector}) -> seen(Collector);
seen(Collector) ->
    %% What was on its way has come then.
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    Ref = make_ref(),
    Collector ! {seen, self(), Ref},
    receive {Ref, N} -> N end.

%% Under a name, so that the next order finds it.
kept(Tool) -> put(eto, Tool), ok.
