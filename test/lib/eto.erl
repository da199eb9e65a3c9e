%% eto - other tracing tools: stand-ins that do to the VM what dbg itself, recon_trace, redbug, or a home-made tracer do.
%%
%% Each collects its trace messages in a process that counts them; seen/1 returns the number. stop/1 ends a stand-in as its tool is ended.
-module(eto).
-export([recon_clear/0, recon/2, redbug/2, dbg/2, dbg_stop/0, process/2, meta/1, session/3, new/1, stop/1, seen/1, kept/1]).
-export([collect/2, hold/2]).
-export([tool/2, tool/3, result/1, told/1, family/1]).
-export([record/1, terminal/2]).

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

%% The same for new processes.
new(Flags) -> process(new_processes, Flags).

meta(MFA) ->
    start(fun(Tracer) -> erlang:trace_pattern(MFA, [], [{meta, Tracer}]) end,
          fun(_) -> erlang:trace_pattern(MFA, false, [meta]) end).

%% A trace session (from OTP 27 on) with these flags on a process, and with a pattern on a function or none.
session(Pid, Flags, MFA) ->
    start(fun(Tracer) ->
              S = trace:session_create(eto, Tracer, []),
              trace:process(S, Pid, true, Flags),
              MFA =:= none orelse trace:function(S, MFA, [], [local]),
              S
          end, fun(S) -> trace:session_destroy(S) end).

%% A tool: the process that set everything up, and its collector, which has a name for messages about it.
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
    %% All trace messages have been delivered after this.
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    Ref = make_ref(),
    Collector ! {seen, self(), Ref},
    receive {Ref, N} -> N end.

%% Keeps a tool where the next order finds it.
kept(Tool) -> put(eto, Tool), ok.

%% == the tools themselves, as users run them: each traces calls of etw:child/1 =================================
%%
%% A tool's group leader is a terminal, which keeps what the tool prints. result/1 ends the tool and returns, in words, what it has seen: each
%% kind of message once from tools that trace, the number of calls of etw:child/1 from tools that profile.

%% Which processes: `all`, `new`, or one. -> the tool
tool(Name, Which) -> tool(Name, Which, []).

%% Paths: folders of the tool's modules. A stand-in replaces a tool that is not installed.
tool(Name, Which, Paths) ->
    code:add_pathsz(Paths),
    Me = self(),
    Tool = spawn(fun() ->
                     Terminal = spawn(?MODULE, terminal, [true, []]),
                     group_leader(Terminal, self()),
                     Seen = spawn(?MODULE, record, [[]]),
                     Answer = try on(Name, Which, Seen) catch C:R -> {C, R} end,
                     Me ! {self(), Answer},
                     at_work(Name, Which, Seen, Terminal)
                 end),
    receive {Tool, Answer} -> {Tool, iolist_to_binary(io_lib:format("~0p", [Answer]))} end.

at_work(Name, Which, Seen, Terminal) ->
    receive
        {result, From} ->
            settle(),
            Result = try off(Name, Which, Seen) catch C:R -> [io_lib:format("~0p", [{C, R}])] end,
            From ! {self(), [iolist_to_binary(T) || T <- lists:usort(Result)]};
        {told, From} ->
            Terminal ! {told, self()},
            receive {Terminal, Text} -> From ! {self(), Text} end,
            at_work(Name, Which, Seen, Terminal);
        _ -> at_work(Name, Which, Seen, Terminal)
    end.

%% A process started by etw:worker/0 calls etw:child/1 and etw:work/1, and so does one that it spawns. -> the spawned one
family(Worker) ->
    etw:as(Worker, fun() ->
        etw:child(1),
        _ = etw:work(1),
        {Pid, Ref} = spawn_monitor(fun() -> etw:child(2), _ = etw:work(2) end),
        receive {'DOWN', Ref, process, Pid, Reason} -> Reason end
    end).

result({Tool, _}) -> ask(Tool, result).

%% Returns what was printed on its terminal.
told({Tool, _}) -> ask(Tool, told).

ask(Tool, What) ->
    Ref = monitor(process, Tool),
    Tool ! {What, self()},
    receive
        {Tool, Answer} -> demonitor(Ref, [flush]), Answer;
        {'DOWN', Ref, _, _, Reason} -> exit(Reason)
    end.

on(dbg, Which, Seen) ->
    {ok, _} = dbg:tracer(process, {fun(M, _) -> Seen ! M end, none}),
    {ok, [{matched, _, _} | _]} = dbg:p(Which, [c]),
    dbg:tpl(etw, child, 1, []);
on(recon, Which, Seen) ->
    Options = [{pid, Which}, {scope, local}, {io_server, Seen}, {formatter, fun(M) -> Seen ! M, "" end}],
    case code:which(recon_trace) of
        non_existing -> recon_calls({etw, child, '_'}, Which, Seen);
        _ -> recon_trace:calls({etw, child, '_'}, {100000, 1000}, Options)
    end;
on(redbug, Which, Seen) ->
    case code:which(redbug) of
        non_existing ->
            redbug_calls({etw, child, 1}, Which, Seen);
        _ ->
            redbug:start("etw:child/1", [{procs, Which}, {time, 600000}, {msgs, 100000}, {print_fun, fun(M) -> Seen ! M end}])
    end;
on(eprof, Which, _) ->
    {ok, _} = eprof:start(),
    eprof:start_profiling([Which], {etw, '_', '_'}, [set_on_spawn]);
on(fprof, Which, _) ->
    fprof:trace([start, {procs, [Which]}, {file, file()}]);
on(tprof, Which, _) ->
    {ok, _} = tprof:start(#{type => call_count}),
    tprof:set_pattern(etw, child, 1),
    tprof:enable_trace(Which, #{set_on_spawn => true}).

off(dbg, _, Seen) ->
    Words = words(Seen),
    dbg:stop(),
    Words;
off(recon, _, Seen) ->
    Words = words(Seen),
    case code:which(recon_trace) of
        non_existing -> recon_clear();
        _ -> recon_trace:clear()
    end,
    Words;
off(redbug, _, Seen) ->
    case code:which(redbug) of
        non_existing -> redbug_stop();
        _ -> redbug:stop(), await_gone(list_to_atom("redbug_" ++ atom_to_list(node())))
    end,
    words(Seen);
off(eprof, _, _) ->
    eprof:stop_profiling(),
    Calls = [N || {_, Fs} <- eprof:dump(), {{etw, child, 1}, {N, _}} <- Fs],
    eprof:stop(),
    calls(lists:sum(Calls));
off(fprof, _, _) ->
    fprof:trace(stop),
    analysed(3),
    {ok, Terms} = file:consult(file() ++ ".txt"),
    fprof:stop(),
    [file:delete(file() ++ End) || End <- ["", ".txt"]],
    calls(lists:sum([N || {{etw, child, 1}, N, _, _} <- Terms]));
off(tprof, _, _) ->
    {_, Sample} = tprof:collect(),
    tprof:stop(),
    calls(lists:sum([N || {etw, child, 1, Counts} <- Sample, {_, N, _} <- Counts])).

%% fprof's server may end between two requests; the next one starts it again.
analysed(N) ->
    case fprof:profile([{file, file()}]) of
        ok -> ok = fprof:analyse([{dest, file() ++ ".txt"}, {callers, false}, {totals, false}]);
        {error, noproc} when N > 1 -> analysed(N - 1)
    end.

calls(N) -> [integer_to_list(N) ++ " calls"].

file() -> filename:join(os:getenv("TMPDIR"), "eto.trace").

await_gone(Name) ->
    case whereis(Name) of
        undefined -> ok;
        _ -> receive after 1 -> await_gone(Name) end
    end.

%% Waits until all trace messages have been delivered.
settle() ->
    Ref = erlang:trace_delivered(all),
    receive {trace_delivered, all, Ref} -> ok end.

words(Seen) ->
    Seen ! {words, self()},
    receive {Seen, Words} -> Words end.

%% Records the messages that a tool gets, in words, each once.
record(Words) ->
    receive
        {words, From} -> From ! {self(), Words};
        {io_request, From, Ref, _} -> From ! {io_reply, Ref, ok}, record(Words);
        Message ->
            case word(Message) of
                "" -> record(Words);
                W -> record([W | Words -- [W]])
            end
    end.

word({trace, _, call, MFA}) -> called(MFA);
word({trace, _, call, MFA, _}) -> called(MFA);
word({trace_ts, _, call, MFA, _}) -> called(MFA);
word({trace_ts, _, call, MFA, _, _}) -> called(MFA);
word(T) when element(1, T) =:= trace; element(1, T) =:= trace_ts -> atom_to_list(element(3, T));
word({call, {MFA, _}, _, _}) -> called(MFA); % redbug
word({meta, _, _, _}) -> "";
word(T) -> atom_to_list(element(1, T)).

called({M, F, Args}) when is_list(Args) -> io_lib:format("~p:~p(~s)", [M, F, lists:join(",", [io_lib:format("~0p", [A]) || A <- Args])]);
called({M, F, Arity}) -> io_lib:format("~p:~p/~p", [M, F, Arity]).

%% A group leader: with Echo a terminal, as that of a shell, otherwise one that is no terminal.
terminal(Echo, Printed) ->
    receive
        {told, From} ->
            From ! {self(), iolist_to_binary(lists:reverse(Printed))},
            terminal(Echo, Printed);
        {io_request, From, Ref, getopts} ->
            From ! {io_reply, Ref, [{echo, true} || Echo] ++ [{binary, false}, {encoding, unicode}]},
            terminal(Echo, ["(asked)" | Printed]);
        {io_request, From, Ref, {put_chars, unicode, Text}} ->
            From ! {io_reply, Ref, ok},
            terminal(Echo, [Text | Printed]);
        {io_request, From, Ref, {put_chars, unicode, M, F, A}} ->
            From ! {io_reply, Ref, ok},
            terminal(Echo, [apply(M, F, A) | Printed]);
        {io_request, From, Ref, _} ->
            From ! {io_reply, Ref, {error, request}},
            terminal(Echo, Printed)
    end.

%% recon_trace:calls/3 first clears all tracing, of any tool.
recon_calls(MFA, Which, Seen) ->
    recon_clear(),
    Matches = erlang:trace_pattern(MFA, true, [local]),
    erlang:trace(Which, true, [call, {tracer, Seen}]),
    Matches.

%% redbug:start/2 first removes the patterns that exist, except those of meta tracers; it sets flags before its own patterns.
redbug_calls(MFA, Which, Seen) ->
    redbug_patterns(),
    N = erlang:trace(Which, true, [{tracer, Seen}, call, timestamp]),
    {redbug, N, erlang:trace_pattern(MFA, [{'_', [], []}], [local])}.

redbug_stop() ->
    erlang:trace(all, false, [call, timestamp]),
    redbug_patterns().

redbug_patterns() ->
    erlang:trace_pattern({'_', '_', '_'}, false, [local, call_count, call_time]),
    erlang:trace_pattern({'_', '_', '_'}, false, [global]).
