%% etw - the workload of the end-to-end tests, and the harness's observer inside a node.
%%
%% The harness starts a node with `-s etw` and writes one line for each order, "Expression.": the expression is evaluated here and its value
%% written back on one line as JSON, after "\1ok " or "\1error ". The process that does this is sensitive, so that no trace sees it; what a
%% test counts runs in processes that it starts. Numbers are exact: a workload of N does what it says exactly N times.
-module(etw).
-export([start/0]).
-compile({nowarn_deprecated_function, [{dbg, stop_clear, 0}]}). % older releases have no other function
-export([worker/0, asks/2, answers/0, as/2, all/1, spawns/2, sends/2, calls/2, tail/2, raises/2, collects/2, stop/1, when_traced/2]).
-export([capturing/1, order/2, answer/0, slow/1, hoard/1, pile/1, reader/0, fill/1, stuck/1, await/1, flush/1]).
-export([sleeper/1, awake/0, woken/1, await_hibernation/1, init/1, handle_info/2, handle_call/3, handle_cast/2]).
-export([busy/1, chatter/1, trickle/2, shove/2, held/1, tiny/2, quiet/0]).
-export([child/1, hops/3, hop/1, nap/1, work/1, boom/1, loop/1, spin/1, sink/1, ping/1]).
-export([set/0, dirt/0, traced/0, timers/0, samplers/0, mapped/0, await_clean/1, await_clean/2, flags/1, hold/1, memory/0, settled/1, atoms/2, release/0, fake_release/1]).
-export([dbg_all/0, dbg_stop/0, in_agent/1]).
-export([load/1, load/2, compiled/1, loads/0, table/1, start_all/1, wait_all/0, turns/2, turn/2, patterns/3]).

start() ->
    process_flag(sensitive, true),
    %% Orders and answers use the standard streams; nothing else may write there.
    ok = etlog:start(),
    io:put_chars("\1ready\n"),
    orders().

orders() ->
    case io:get_line("") of
        Line when is_list(Line) ->
            io:put_chars([1, answer(Line), $\n]),
            orders();
        _ ->
            halt(0, [{flush, false}])
    end.

answer(Line) ->
    try
        {ok, Tokens, _} = erl_scan:string(Line),
        {ok, Exprs} = erl_parse:parse_exprs(Tokens),
        {value, Value, _} = erl_eval:exprs(Exprs, []),
        ["ok ", json(Value)]
    catch
        Class:Reason:Stack ->
            ["error ", [case C of $\n -> $\s; _ -> C end || C <- lists:flatten(io_lib:format("~0p", [{Class, Reason, Stack}]))]]
    end.

json(X) when is_integer(X) -> integer_to_list(X);
json(true) -> "true";
json(false) -> "false";
json(undefined) -> "null";
json(X) when is_atom(X) -> json(atom_to_binary(X));
json(X) when is_binary(X) -> [$", [case C of
                                       $" -> "\\\"";
                                       $\\ -> "\\\\";
                                       _ when C < 32 -> $\s;
                                       _ -> C
                                   end || C <- binary_to_list(X)], $"];
json(X) when is_pid(X) -> json(list_to_binary(pid_to_list(X)));
json(X) when is_list(X) -> [$[, lists:join($,, [json(E) || E <- X]), $]];
json(X) when is_tuple(X) -> json(tuple_to_list(X));
json(X) -> json(iolist_to_binary(io_lib:format("~0p", [X]))).

%%% A workload with known numbers

%% Starts a process that does what `as` tells it, one order at a time. It stays on one scheduler, as what it traces is then printed in the order
%% in which it was done: buffers are read scheduler by scheduler.
worker() ->
    Scheduler = 1 + erlang:unique_integer([positive, monotonic]) rem erlang:system_info(schedulers_online),
    spawn_opt(fun() -> serve() end, [{scheduler, Scheduler}]).

serve() ->
    receive
        {From, Ref, Fun} ->
            Result = try Fun() catch C:R -> {C, R} end,
            From ! {Ref, Result},
            serve()
    end.

as(Worker, Fun) ->
    Ref = monitor(process, Worker),
    Worker ! {self(), Ref, Fun},
    receive
        {Ref, Result} -> demonitor(Ref, [flush]), Result;
        {'DOWN', Ref, _, _, Reason} -> {down, Reason}
    end.

%% The same for several [{Worker, Fun}] at once.
all(Orders) ->
    Me = self(),
    Refs = [begin Ref = make_ref(), W ! {Me, Ref, Fun}, Ref end || {W, Fun} <- Orders],
    [receive {Ref, Result} -> Result end || Ref <- Refs].

%% Worker spawns N processes, each of which runs child/1 and ends; returns when the last one has ended.
spawns(Worker, N) ->
    as(Worker, fun() -> spawn_each(N) end).

spawn_each(0) -> ok;
spawn_each(N) ->
    {Pid, Ref} = spawn_monitor(?MODULE, child, [N]),
    receive {'DOWN', Ref, process, Pid, normal} -> spawn_each(N - 1) end.

child(N) -> N.

%% Worker sends N messages {n, I} to a separate process; returns when all have been received.
sends(Worker, N) ->
    as(Worker, fun() ->
        {Sink, Ref} = spawn_monitor(?MODULE, sink, [N]),
        send_each(Sink, N),
        receive {'DOWN', Ref, process, Sink, normal} -> ok end
    end).

send_each(_, 0) -> ok;
send_each(To, N) -> To ! {n, N}, send_each(To, N - 1).

sink(0) -> ok;
sink(N) -> receive {n, _} -> sink(N - 1) end.

%% Worker calls etw:work/1 N times; each call returns.
calls(Worker, N) -> as(Worker, fun() -> call_each(N) end).

call_each(0) -> ok;
call_each(N) -> _ = ?MODULE:work(N), call_each(N - 1).

work(N) -> N band 7.

%% Worker calls hop/1 N times for each of these schedulers in turn: it moves there before it returns.
hops(Worker, N, Schedulers) ->
    as(Worker, fun() ->
        process_flag(scheduler, lists:last(Schedulers)), % undocumented: binds the process
        erlang:yield(),
        [?MODULE:hop(S) || _ <- lists:seq(1, N), S <- Schedulers],
        process_flag(scheduler, 0),
        ok
    end).

hop(Scheduler) ->
    process_flag(scheduler, Scheduler),
    erlang:yield(),
    Scheduler.

nap(Ms) -> receive after Ms -> ok end.

%% N calls of boom/1, each of which ends by an exception that its caller catches.
raises(Worker, N) -> as(Worker, fun() -> raise_each(N) end).

raise_each(0) -> ok;
raise_each(N) ->
    try ?MODULE:boom(N) catch error:{boom, N} -> ok end,
    raise_each(N - 1).

boom(N) -> error({boom, N}).

%% loop/1 calls itself N times in tail position: N + 1 entries, one return. Returns the words of memory that the process held at the end, so
%% that a test sees whether frames piled up.
tail(Worker, N) ->
    as(Worker, fun() -> ?MODULE:loop(N), {memory, B} = process_info(self(), memory), B end).

loop(0) -> ok;
loop(N) -> loop(N - 1).

%% Worker asks a server N times, as gen_server:call does: the answer goes to an alias. Returns the server's pid.
asks(Worker, N) ->
    Server = spawn(?MODULE, answers, []),
    as(Worker, fun() -> ask_each(Server, N), exit(Server, kill), ok end),
    Server.

answers() ->
    receive
        {'$gen_call', From, Question} -> gen:reply(From, Question), answers()
    end.

ask_each(_, 0) -> ok;
ask_each(Server, N) -> {ok, N} = gen:call(Server, '$gen_call', N, 60000), ask_each(Server, N - 1).

%% N full collections of Worker's garbage.
collects(Worker, N) ->
    as(Worker, fun() -> [garbage_collect() || _ <- lists:seq(1, N)], ok end).

%% Compiles a module's text and loads it, as code:load_binary does; old code that no process runs is purged.
load(Text) ->
    {M, Beam} = compiled(Text),
    load(M, Beam).

load(M, Beam) ->
    code:soft_purge(M),
    {module, M} = code:load_binary(M, atom_to_list(M) ++ ".erl", Beam),
    M.

%% Loads small modules without end, and each of them again only after many others.
loads() ->
    Text = "-module(etw_load_~w). -export([f/1, g/1]). f(X) -> g(X). g(X) -> X. ",
    Beams = [compiled(lists:flatten(io_lib:format(Text, [I]))) || I <- lists:seq(1, 50)],
    Again = fun(Again) -> [load(M, Beam) || {M, Beam} <- Beams], Again(Again) end,
    flood(1, fun() -> Again(Again) end).

compiled(Text) ->
    Forms = [begin {ok, Form} = erl_parse:parse_form(Tokens), Form end || Tokens <- forms(Text, 1)],
    {ok, M, Beam} = compile:forms(Forms, [nowarn_export_all]),
    {M, Beam}.

forms(Text, Line) ->
    case erl_scan:tokens([], Text, Line) of
        {done, {ok, Tokens, Next}, Rest} -> [Tokens | forms(Rest, Next)];
        {more, _} -> []
    end.

%% Several [{Worker, Fun}] at once, which go on until wait_all/0 collects their results.
start_all(Orders) ->
    Me = self(),
    put(orders, [begin Ref = make_ref(), W ! {Me, Ref, Fun}, Ref end || {W, Fun} <- Orders]),
    ok.

wait_all() ->
    [receive {Ref, Result} -> Result end || Ref <- erase(orders)].

%% The number of times that Fun ran until turn(Name, false).
turns(Name, Fun) -> turns(Name, Fun, 0).

turns(Name, Fun, N) ->
    case persistent_term:get(Name) of
        true -> Fun(), turns(Name, Fun, N + 1);
        false -> N
    end.

turn(Name, On) -> persistent_term:put(Name, On), ok.

%% The trace patterns of a function, in all sessions, as texts.
patterns(M, F, A) ->
    Sessions = case erlang:function_exported(trace, session_info, 1) of
                   true -> [X || X <- trace:session_info(all), X =/= {legacy, default}];
                   false -> []
               end,
    [text("~s:~s/~w: ~w", [M, F, A, I]) || I <- [pattern({M, F, A}) | [set(trace:info(X, {M, F, A}, all)) || X <- Sessions]],
                                           I =/= false].

%% A public table that outlives its creator.
table(Name) ->
    ets:info(Name) =/= undefined orelse
        is_atom(spawn(fun() -> ets:new(Name, [named_table, public]), receive stop -> ok end end)) orelse wait_table(Name).

wait_table(Name) ->
    case ets:info(Name) of
        undefined -> receive after 1 -> wait_table(Name) end;
        _ -> ok
    end.

%% For `erltrace -c`: once the file Traced exists, calls lists:zipwith3/4 (a function that nothing calls, of a module that every node has
%% loaded from the start) 1009 times; once the file Seen exists, stops the node.
when_traced(Traced, Seen) ->
    await(fun() -> filelib:is_file(Traced) end),
    [lists:zipwith3(fun(_, _, _) -> ok end, [], [], []) || _ <- lists:seq(1, 1009)],
    await(fun() -> filelib:is_file(Seen) end),
    init:stop().

%% Processes that hibernate on order: by a direct call of erlang:hibernate/3, or as a gen_server.
sleeper(plain) ->
    spawn(?MODULE, awake, []);
sleeper(server) ->
    {ok, P} = gen_server:start(?MODULE, sleeper, []),
    P.

awake() ->
    receive
        {hibernate, From} -> From ! {self(), now}, erlang:hibernate(?MODULE, woken, [x]);
        {ping, From} -> From ! {self(), pong}, awake()
    end.

woken(x) -> awake().

init(sleeper) -> {ok, sleeper}.
handle_info({hibernate, From}, S) -> From ! {self(), now}, {noreply, S, hibernate};
handle_info({ping, From}, S) -> From ! {self(), pong}, {noreply, S};
handle_info(_, S) -> {noreply, S, hibernate}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.

%% Waits until P sleeps, with the small heap of a hibernating process.
await_hibernation(P) ->
    case process_info(P, [status, current_function, message_queue_len]) of
        [{status, waiting}, {current_function, {_, F, _}}, {message_queue_len, 0}]
          when F =:= hibernate; F =:= loop_hibernate; F =:= wake_hib -> ok;
        _ -> erlang:yield(), await_hibernation(P)
    end.

stop(Worker) -> exit(Worker, kill), ok.

%% A fun that has captured these.
capturing([]) -> fun() -> ok end;
capturing([A]) -> fun() -> A end;
capturing([A, B]) -> fun(X) -> {X, A, B} end;
capturing([A, B, C, D]) -> fun(X, Y) -> {X, Y, A, B, C, D} end.

%% The same as `as`, in two steps, for work that takes until the test has done something else.
order(Worker, Fun) ->
    Ref = make_ref(),
    Worker ! {self(), Ref, Fun},
    put(ordered, Ref),
    ok.

answer() ->
    Ref = erase(ordered),
    receive {Ref, Result} -> Result end.

%% N turns on a scheduler of more than 20 ms each.
slow(N) ->
    erts_debug:set_internal_state(available_internal_state, true),
    slow_each(N).

slow_each(0) -> ok;
slow_each(N) ->
    erts_debug:set_internal_state(sleep, 20),
    erlang:yield(),
    slow_each(N - 1).

%% Worker keeps a list of N elements, and has no garbage.
hoard(N) ->
    put(hoard, lists:seq(1, N)),
    garbage_collect(),
    ok.

%% N messages arrive together at a process that then takes them all out and waits for more; returns its pid.
pile(N) ->
    Pid = spawn(fun() -> receive go -> drain() end end),
    [Pid ! {n, I} || I <- lists:seq(1, N)],
    Pid ! go,
    Pid.

drain() -> receive _ -> drain() end.

%% A port to a program that reads its input and ignores it: [port, its process id].
reader() ->
    Port = open_port({spawn, "sh -c 'exec cat >/dev/null'"}, [out, binary]),
    {os_pid, Pid} = erlang:port_info(Port, os_pid),
    put(reader, Port),
    [list_to_binary(erlang:port_to_list(Port)), Pid].

%% Starts a process that sends to a node without end.
fill(Node) ->
    spawn(fun() -> fill_with(Node, binary:copy(<<0>>, 65536)) end).

fill_with(Node, Binary) ->
    {nobody, Node} ! Binary,
    fill_with(Node, Binary).

%% Waits until five checks in a row find that no more is sent to a node: the buffers of the operating system are then full as well.
stuck(Node) ->
    {_, Port} = lists:keyfind(Node, 1, erlang:system_info(dist_ctrl)),
    stuck(Port, none, 0).

stuck(_, _, 5) -> ok;
stuck(Port, Before, Equal) ->
    nap(150),
    case inet:getstat(Port, [send_oct]) of
        Before -> stuck(Port, Before, Equal + 1);
        Now -> stuck(Port, Now, 0)
    end.

await(Fun) ->
    case Fun() of
        true -> ok;
        false -> receive after 5 -> await(Fun) end
    end.

%% Takes all messages of this kind out of the queue.
flush(Message) ->
    receive Message -> flush(Message) after 0 -> ok end.

%%% Floods, until quiet/0

%% N processes that call etw:work/1 without end.
busy(N) ->
    flood(N, fun() -> spin(0) end).

spin(N) -> _ = ?MODULE:work(N), spin(N + 1).

%% Blocks each scheduler again and again for this many milliseconds, as a NIF might, but without using a CPU: an operation that waits for all
%% schedulers takes long.
held(Ms) ->
    erts_debug:set_internal_state(available_internal_state, true),
    [spawn_opt(fun() -> process_flag(sensitive, true), hold_scheduler(Ms) end, [{scheduler, N}])
     || N <- lists:seq(1, erlang:system_info(schedulers))],
    ok.

hold_scheduler(Ms) ->
    erts_debug:set_internal_state(sleep, Ms),
    erlang:yield(),
    hold_scheduler(Ms).

%% Loads N modules etn_1, etn_2, ... with this many functions f0/0, f1/0, ... each, and g/0, g/1, g/2.
tiny(N, Functions) ->
    [begin
         M = list_to_atom("etn_" ++ integer_to_list(I)),
         Names = [{list_to_atom("f" ++ integer_to_list(F)), 0} || F <- lists:seq(0, Functions - 1)] ++ [{g, A} || A <- [0, 1, 2]],
         {ok, M, Code} = compile:forms([{attribute, 1, module, M}, {attribute, 1, export, Names} |
                                        [{function, 1, F, A, [{clause, 1, lists:duplicate(A, {var, 1, '_'}), [], [{atom, 1, ok}]}]} || {F, A} <- Names]]),
         {module, M} = code:load_binary(M, "tiny", Code)
     end || I <- lists:seq(1, N)],
    ok.

%% N pairs of processes that send each other messages without end.
chatter(N) ->
    flood(N, fun() ->
        Me = self(),
        Other = spawn_link(fun() -> ping(Me) end),
        Other ! ping,
        ping(Other)
    end).

ping(Other) -> receive ping -> Other ! ping, ping(Other) end.

%% N pairs of processes that send each other K messages each, and then sleep for a millisecond, without end.
trickle(N, K) ->
    flood(N, fun() ->
        Me = self(),
        Other = spawn_link(fun() -> ping(Me) end),
        trickle_on(Other, K)
    end).

trickle_on(Other, K) ->
    [begin Other ! ping, receive ping -> ok end end || _ <- lists:seq(1, K)],
    nap(1),
    trickle_on(Other, K).

%% Processes that write binaries of this many bytes to a port.
shove(Port, Bytes) ->
    Binary = binary:copy(<<0>>, Bytes),
    flood(3, fun F() -> port_command(Port, [Binary]), F() end).

flood(N, Fun) ->
    put(flood, [spawn(Fun) || _ <- lists:seq(1, N)] ++ case get(flood) of undefined -> []; L -> L end),
    ok.

quiet() ->
    [exit(P, kill) || P <- case erase(flood) of undefined -> []; L -> L end],
    ok.

%%% What a trace has left behind

%% Returns what is left in this node of us or of any tracer, as texts; [] if the node is clean.
dirt() ->
    lists:usort(
        [text("module ~s is loaded", [M]) || {M, _} <- code:all_loaded(), ours(M)] ++
        [text("old code of ~s", [M]) || M <- erlang:loaded(), ours(M), erlang:check_old_code(M)] ++
        [text("process ~s is registered", [N]) || N <- registered(), ours(N)] ++
        [text("folder ~s/~s", [D, F]) || D <- [os:getenv("TMPDIR", "/tmp")], {ok, Fs} <- [file:list_dir(D)], F <- Fs,
                                         re:run(F, "^erltrace-[0-9A-Z]{10,}$") =/= nomatch] ++
        [text("the library is mapped: ~s", [L]) || L <- mapped()] ++
        [text("~s", [L]) || L <- timers() ++ urgent()] ++
        traced()).

%% Starts a process that runs the agent's code for this long: it waits there for an answer from a process that has the agent's name meanwhile.
in_agent(Ms) ->
    Me = self(),
    spawn(fun() ->
              group_leader(self(), self()),
              register(erltrace_agent, self()),
              P = spawn(fun() -> _ = (catch erltrace_agent:attach(<<>>, [])) end),
              receive {ask, From, Tag, _} -> ok end,
              unregister(erltrace_agent),
              Me ! {in_agent, P},
              receive after Ms -> From ! {Tag, ok} end
          end),
    receive {in_agent, P} -> P end.

%% The part of dirt/0 that makes the VM slower: flags, patterns, sessions, of any tracer.
traced() ->
    [text("~p has trace flags ~w", [P, F]) || P <- processes(), F <- [flags(P)], F =/= []] ++
    [text("new ~s have trace flags ~w", [N, F]) || N <- [new_processes, new_ports],
                                                   {flags, F} <- [erlang:trace_info(N, flags)], F =/= []] ++
    [text("the system tracer of seq_trace is ~p", [P]) || P <- [seq_trace:get_system_tracer()], P =/= false] ++
    [text("port ~p is traced", [P]) || P <- erlang:ports(), {tracer, T} <- [catch erlang:trace_info(P, tracer)], T =/= []] ++
    [text("on_load pattern ~w", [A]) || {all, A} <- [erlang:trace_info(on_load, all)], A =/= false, A =/= []] ++
    [text("~s pattern ~w", [E, M]) || E <- [send, 'receive'],
                                      {match_spec, M} <- [erlang:trace_info(E, match_spec)], M =/= true] ++
    [text("~s:~s/~w has a pattern: ~w", [M, F, A, I]) || {M, _} <- code:all_loaded(), {F, A} <- functions(M),
                                                         I <- [pattern({M, F, A})], I =/= false] ++
    %% RabbitMQ has a system monitor of its own.
    [text("the system monitor is ~0p", [M]) || {P, _} = M <- [erlang:system_monitor()],
                                               P =:= whereis(erltrace_agent) orelse not is_process_alive(P)] ++
    [<<"scheduler_wall_time is on">> || erlang:statistics(scheduler_wall_time) =/= undefined] ++
    sessions().

%% Returns what one tracer has set for probes: {flags of processes [{Pid, Flags}], flags of new ones, functions [{Text, meta | local | ...}]}.
%% Processes with the same flags are grouped: [{Flags, [Pid]}].
set() ->
    Session = case [W || {Name, _} = W <- session_handles(), Name =/= erltrace_loads, Name =/= erltrace_global, Name =/= erltrace_counts] of
                  [] -> legacy;
                  [First | _] -> First
              end,
    Flags = lists:foldl(fun(P, Acc) ->
                            case info(Session, P, flags) of
                                F when is_list(F), F =/= [] -> maps:update_with(lists:sort(F), fun(L) -> [P | L] end, [P], Acc);
                                _ -> Acc
                            end
                        end, #{}, processes()),
    New = case info(Session, new_processes, flags) of L when is_list(L) -> lists:sort(L); _ -> [] end,
    {maps:to_list(Flags), New,
     [{text("~ts:~ts/~w", [M, F, A]), How} || {M, _} <- code:all_loaded(), {F, A} <- functions(M), How <- hows(Session, {M, F, A})]}.

hows(Session, MFA) ->
    case info(Session, MFA, all) of
        L when is_list(L) ->
            %% A pattern whose tracer is a process tells the agent that code was loaded.
            [meta || {meta, X} <- L, X =/= false, not is_pid(X)] ++ [X || {traced, X} <- L, X =/= false, X =/= undefined];
        _ -> []
    end.

info(legacy, What, Item) -> info(catch erlang:trace_info(What, Item));
info(Session, What, Item) -> info(catch trace:info(Session, What, Item)).

info({_, Value}) -> Value;
info(_) -> undefined.

session_handles() ->
    case erlang:function_exported(trace, session_info, 1) orelse code:ensure_loaded(trace) =:= {module, trace} of
        true -> [S || S <- trace:session_info(all), S =/= {legacy, default}];
        false -> []
    end.

%% The agent's names, and those by which consumers take turns; not those of the application erltrace, which a node may run.
ours(Name) -> lists:any(fun(Prefix) -> lists:prefix(Prefix, atom_to_list(Name)) end, ["erltrace_agent", "erltrace_attach", "erltrace_loading"]).

flags(P) ->
    case erlang:trace_info(P, flags) of
        {flags, F} -> F;
        undefined -> []
    end.

functions(M) ->
    try M:module_info(functions) catch _:_ -> [] end.

pattern(MFA) ->
    set(erlang:trace_info(MFA, all)).

set({all, false}) -> false;
set({all, undefined}) -> false;
set({all, L}) -> case [I || {_, V} = I <- L, V =/= false, V =/= []] of [] -> false; I -> I end.

sessions() ->
    case erlang:function_exported(trace, session_info, 1) orelse code:ensure_loaded(trace) =:= {module, trace} of
        true ->
            [text("session ~w", [S]) || S <- trace:session_info(all), S =/= {legacy, default}];
        false -> []
    end.

mapped() ->
    case file:open("/proc/self/maps", [read, raw, binary, read_ahead]) of
        {ok, F} ->
            Lines = lines(F),
            file:close(F),
            [L || L <- Lines, binary:match(L, <<"erltrace_agent">>) =/= nomatch];
        _ -> []
    end.

%% The timers and clocks of the system that this node has, and the thread that takes their place; Erlang itself has none. And what it does with the signal
%% that these send.
timers() ->
    {ok, Descriptors} = file:list_dir("/proc/self/fd"),
    [L || F <- Descriptors, {ok, "anon_inode:[perf_event]" = L} <- [file:read_link(filename:join("/proc/self/fd", F))]] ++
        [text("thread ~s", [Tid]) || Tid <- samplers()] ++
        case file:read_file("/proc/self/timers") of
            {ok, Text} -> re:split(Text, "\n(?=ID)", [trim]) -- [<<>>];
            _ -> []
        end.

%% The threads that wake at random times, by their numbers in the system.
samplers() ->
    {ok, Tids} = file:list_dir("/proc/self/task"),
    [Tid || Tid <- Tids, {ok, <<"et_sampler\n">>} <- [file:read_file(filename:join(["/proc/self/task", Tid, "comm"]))]].

urgent() ->
    case file:read_file("/proc/self/status") of
        {ok, Text} ->
            {match, Masks} = re:run(Text, "^(Sig(?:Ign|Cgt)):\\s*(\\w+)$", [global, multiline, {capture, all_but_first, list}]),
            [["SIGURG is in ", Name] || [Name, Mask] <- Masks, list_to_integer(Mask, 16) band (1 bsl 22) =/= 0];
        _ -> []
    end.

lines(F) ->
    case file:read_line(F) of
        {ok, L} -> [L | lines(F)];
        _ -> []
    end.

%% Waits until nothing is left, at most Ms: {clean, milliseconds it took} or {dirty, what is left}.
await_clean(Ms) -> await_clean(Ms, fun dirt/0).

%% The same for what Fun lists.
await_clean(Ms, Fun) ->
    Start = erlang:monotonic_time(millisecond),
    await_clean(Start, Start + Ms, Fun).

await_clean(Start, End, Fun) ->
    Dirt = Fun(),
    Now = erlang:monotonic_time(millisecond),
    if
        Dirt =:= [] -> {clean, Now - Start};
        Now > End -> {dirty, Dirt};
        true -> receive after 20 -> await_clean(Start, End, Fun) end
    end.

text(Format, Args) -> unicode:characters_to_binary(io_lib:format(Format, Args)).

%% Words, processes and atoms that the VM holds.
memory() -> [erlang:memory(total), erlang:system_info(process_count), erlang:system_info(atom_count)].

%% Returns what the VM holds without garbage: the number of processes, the memory of the system and of processes. Each is the least of several
%% checks, which go on for at most some seconds until all are within the limits: what is released without help is no leak. With limits of 0
%% there are only a few checks.
settled(Limits) -> settled(Limits, [1 bsl 60 || _ <- Limits], case lists:max(Limits) of 0 -> 5; _ -> 100 end).

settled(Limits, Least, Left) ->
    [garbage_collect(P) || P <- processes()],
    Now = lists:zipwith(fun erlang:min/2, Least, [erlang:system_info(process_count), erlang:memory(system), erlang:memory(processes)]),
    case Left =:= 0 orelse lists:all(fun({N, Limit}) -> N =< Limit end, lists:zip(Now, Limits)) of
        true -> lists:zip([<<"process count">>, <<"system">>, <<"processes">>], Now) ++ [{<<"atom count">>, erlang:system_info(atom_count)}];
        false -> receive after 100 -> settled(Limits, Now, Left - 1) end
    end.

%% The atoms of these numbers; the VM counts them from 0, in the order in which they came to be. (The external format has a tag for the number of an
%% atom of the same VM, which stands in no message.)
atoms(From, To) -> [binary_to_term(<<131, 75, N:24>>) || N <- lists:seq(From, To - 1)].

release() -> list_to_binary(erlang:system_info(otp_release)).

%%% Situations that a tool has to cope with

%% Another process takes a name that belongs to the agent.
hold(Name) -> register(Name, spawn(fun() -> receive stop -> ok end end)), ok.

%% From here on, this node claims over rpc to be of another release.
fake_release(Release) ->
    Rex = whereis(rex),
    unregister(rex),
    register(rex, spawn(fun() -> lie(Rex, Release) end)),
    ok.

lie(Rex, Release) ->
    receive
        {From, {call, erlang, system_info, [otp_release], _}} when is_pid(From) -> From ! {rex, Release};
        {'$gen_call', From, {call, erlang, system_info, [otp_release], _}} -> gen_server:reply(From, Release);
        Other -> Rex ! Other
    end,
    lie(Rex, Release).

%% dbg as it is usually used: all processes, messages.
dbg_all() ->
    {ok, _} = dbg:tracer(process, {fun(_, N) -> N end, 0}),
    {ok, _} = dbg:p(all, [send]),
    ok.

dbg_stop() ->
    case erlang:function_exported(dbg, stop_clear, 0) of
        true -> dbg:stop_clear();
        false -> dbg:stop()
    end,
    ok.
