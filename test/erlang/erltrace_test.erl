%% erltrace_test - what the test modules need: running them, something to trace, waiting for what is to happen.
-module(erltrace_test).

-export([main/0]).
-export([trace/1, trace/2, go/1, calls/1, call/0, call/1, counted/2, await/1, await/2, clean/0, clean/1, receives/1, closed/1, fake/1, dead/1]).
-export([peer/0, peer/1, stop/2, silent/1, foreign/1]).
%% EUnit's listener.
-export([start/1, init/1, handle_begin/3, handle_end/3, handle_cancel/3, terminate/2]).

-behaviour(eunit_listener).

-define(PATIENCE, (etreport:patience())). % ms until what is awaited has failed to come

-define(MODULES, [erltrace_api_tests, erltrace_result_tests, erltrace_subscribe_tests, erltrace_end_tests, erltrace_placing_tests, erltrace_script_tests,
                  erltrace_cluster_tests, erltrace_log_tests, erltrace_leak_tests, erltrace_kernel_tests]).

main() ->
    ok = etlog:start(),
    {ok, _} = application:ensure_all_started(erltrace),
    Self = self(),
    Tests = possible(etchoice:tests("erlang", lists:append([tests(M) || M <- ?MODULES]))),
    _ = eunit:test([patient(T) || T <- Tests], [no_tty, {report, {?MODULE, [{tell, Self}]}}]),
    receive
        {tests, Passed, NotPassed} ->
            Failed = NotPassed + try silent(node()), 0 catch error:Why -> failed("silent", finding, 0, io_lib:format("~p", [Why])), 1 end,
            io:format("~b passed, ~b failed~n", [Passed, Failed]),
            halt(min(Failed, 1))
    end.

%% Without those that the machine cannot run, which are skipped by name.
possible(Tests) ->
    {Kernel, Others} = lists:partition(fun({Name, _}) -> lists:prefix("erltrace_kernel_tests:", Name) end, Tests),
    case Kernel =/= [] andalso lacking() of
        false -> Tests;
        Why ->
            [begin
                 io:format("  skip ~s: ~ts~n", [Name, Why]),
                 etreport:write("erlang", Name, skip, none, 0, Why)
             end || {Name, _} <- Kernel],
            Others
    end.

%% Why this machine's kernel cannot be traced, by the tags of what it may lack (places.py); false: it can be, or the tests fail.
lacking() ->
    {ok, Program} = application:get_env(erltrace, program),
    Port = open_port({spawn_executable, Program}, [{args, ["--kernel", "-q", "-n", "BEGIN { exit(0); } syscall:::entry { }"]}, exit_status, stderr_to_stdout, hide]),
    fun Read(Said) ->
            receive
                {Port, {data, More}} -> Read(Said ++ More);
                {Port, {exit_status, 0}} -> false;
                {Port, {exit_status, _}} ->
                    case re:run(Said, "^.*\\[KERNEL_(BPF|BTF|BUILD|LACKS|LIBBPF|PRIVILEGE|STATIC)\\].*", [multiline, {capture, first, list}]) of
                        {match, [Why]} -> Why;
                        nomatch -> false
                    end
            end
    end([]).

tests(M) ->
    Exports = M:module_info(exports),
    [{name(M, F, []), fun M:F/0} || {F, 0} <- Exports, lists:suffix("_test", atom_to_list(F))] ++
        [{name(M, F, ": " ++ Name), Test} || {F, 0} <- Exports, lists:suffix("_test_", atom_to_list(F)), {Name, Test} <- M:F()].

name(M, F, More) -> lists:concat([M, ":", F, More]).

%% EUnit gives each test five seconds, where nobody says otherwise; that is nothing on a busy machine. Each runs in a process of its own,
%% which takes its handles along; what this node logs fails it.
patient({Name, Test}) -> {spawn, {timeout, 1800, {Name, fun() -> Test(), silent(node()) end}}}.

%% == EUnit's listener ==========================================================================================

start(Options) -> eunit_listener:start(?MODULE, Options).

init(Options) -> {proplists:get_value(tell, Options), 0}.

handle_begin(_, _, S) -> S.

handle_end(test, Data, {Tell, Failed}) ->
    Name = proplists:get_value(desc, Data),
    Ms = proplists:get_value(time, Data),
    case proplists:get_value(status, Data) of
        ok ->
            io:format("  ok   ~s (~.1f s)~n", [Name, Ms / 1000]),
            etreport:write("erlang", Name, pass, none, Ms, []),
            {Tell, Failed};
        {error, {Class, Reason, Stack}} ->
            failed(Name, class(Reason), Ms, io_lib:format("~p:~p~n~p", [Class, Reason, Stack])),
            {Tell, Failed + 1};
        Other ->
            failed(Name, assertion, Ms, io_lib:format("~p", [Other])),
            {Tell, Failed + 1}
    end;
handle_end(group, _, S) -> S.

handle_cancel(_, Data, {Tell, Failed}) ->
    case proplists:get_value(reason, Data) of
        undefined ->
            {Tell, Failed};
        Reason ->
            Name = proplists:get_value(desc, Data, io_lib:format("~0p", [proplists:get_value(id, Data)])),
            failed(Name, class(Reason), 0, io_lib:format("~p", [Reason])),
            {Tell, Failed + 1}
    end.

failed(Name, Class, Ms, Text) ->
    io:format("  FAIL ~ts (~.1f s)~n    | ~ts~n", [Name, Ms / 1000, lists:join("\n    | ", string:split(Text, "\n", all))]),
    etreport:write("erlang", Name, fail, Class, Ms, Text).

%% The class (test/lib/results.py) of what ended a test: a wait that has reached its end, or a wrong value.
class(timeout) -> timeout; % EUnit's own
class(Reason) when is_tuple(Reason), element(1, Reason) =:= never -> timeout;
class(_) -> assertion.

terminate({ok, Data}, {Tell, Failed}) ->
    Tell ! {tests, proplists:get_value(pass, Data), max(Failed, proplists:get_value(fail, Data) + proplists:get_value(cancel, Data))};
terminate({error, Reason}, {Tell, Failed}) ->
    failed("eunit", finding, 0, io_lib:format("~p", [Reason])),
    Tell ! {tests, 0, Failed + 1}.

%% == something to trace ========================================================================================

%% A running trace of this node.
trace(Script) -> trace(Script, []).

trace(Script, Options) ->
    {ok, H} = erltrace:open(Options),
    ok = erltrace:compile(H, Script),
    ok = go(H),
    H.

%% On a machine that has much else to do an agent may be leaving for longer than one that comes waits for it, a node may take too long for an
%% answer, and the program for a sign of life. Then that is said, and go may be tried again.
go(H) -> go(H, now_ms() + ?PATIENCE).

go(H, Until) ->
    case erltrace:go(H) of
        {error, {_, [#{tag := Tag} | _]}} = Error
          when Tag =:= <<"AGENT_BUSY">>; Tag =:= <<"AGENT_CLOSED">>; Tag =:= <<"NODE_TIMEOUT">>; Tag =:= <<"NODE_LEASE">> ->
            now_ms() < Until orelse error({never, Error}),
            go(H, Until);
        Result ->
            Result
    end.

%% So many calls of call/0, by a process of their own.
calls(N) ->
    {Pid, Monitor} = spawn_monitor(fun() -> [?MODULE:call() || _ <- lists:seq(1, N)] end),
    receive {'DOWN', Monitor, process, Pid, normal} -> Pid end.

call() -> ok.

call(X) -> X.

%% What walks give until the only aggregation, a count without keys, has come to N, and no further: N. A walk waits a second for a node, and
%% then gives what it has.
counted(H, 0) ->
    ok = erltrace:walk(H),
    0;
counted(H, N) when N > 0 ->
    {ok, [{count, [], M}]} = await(fun() -> erltrace:walk(H) end),
    M + counted(H, N - M).

%% == waiting ===================================================================================================

%% What Fun gives when it is neither false nor ok; it is asked until then.
await(Fun) -> await(Fun, now_ms() + ?PATIENCE).

await(Fun, Until) ->
    case Fun() of
        Not when Not =:= false; Not =:= ok ->
            now_ms() < Until orelse error({never, Fun}),
            receive after 10 -> ok end,
            await(Fun, Until);
        Value ->
            Value
    end.

now_ms() -> erlang:monotonic_time(millisecond).

receives(Pattern) ->
    receive
        Message when element(1, Message) =:= Pattern -> Message
    after ?PATIENCE -> error({never, Pattern, process_info(self(), messages)})
    end.

%% Nothing of a trace is left in this node, and no handle.
clean() ->
    await(fun() -> erltrace_handles:count() =:= 0 end),
    clean(node()).

clean(Node) ->
    case erpc:call(Node, etw, await_clean, [?PATIENCE]) of
        {clean, _} -> true;
        Dirty -> error(Dirty)
    end.

%% A handle that is no more.
closed(H) ->
    await(fun() -> not is_process_alive(H) end).

%% The operating system's process is gone.
dead(OsPid) ->
    await(fun() ->
                  case file:read_file("/proc/" ++ integer_to_list(OsPid) ++ "/stat") of
                      {ok, Stat} -> re:run(Stat, "\\) Z ") =/= nomatch;
                      {error, _} -> true
                  end
          end).

%% Runs Fun with a shell script in the place of the port program.
fake(Script) ->
    Path = filename:join(os:getenv("TMPDIR"), "fake" ++ integer_to_list(erlang:unique_integer([positive]))),
    ok = file:write_file(Path, ["#!/bin/sh\n", Script, "\n"]),
    ok = file:change_mode(Path, 8#755),
    Path.

%% == other nodes ===============================================================================================

%% A node of the cluster, which ends with the caller. This one is made distributed first if it is not.
peer() -> peer([]).

peer(Args) when is_list(Args) -> peer(#{args => Args});
peer(#{args := Args} = Options) ->
    case is_alive() of
        true -> ok;
        false -> {ok, _} = net_kernel:start([list_to_atom("erltrace_test_" ++ os:getpid()), shortnames])
    end,
    {ok, Peer, Node} = peer:start_link(Options#{name => peer:random_name("et"), args => ["-pa" | code:get_path()] ++ Args, wait_boot => ?PATIENCE}),
    true = net_kernel:connect_node(Node),
    {module, _} = erpc:call(Node, code, ensure_loaded, [?MODULE]),
    ok = erpc:call(Node, etlog, start, []),
    {Peer, Node}.

%% Stops it; it must have logged nothing.
stop(Peer, Node) ->
    silent(Node),
    peer:stop(Peer).

%% == what is logged ============================================================================================

%% The node has logged nothing since it was asked last, but for what OTP says of itself, and of what the tests ask it for: distribution that
%% is begun and ended, the application that is started and stopped.
silent(Node) ->
    case foreign(erpc:call(Node, etlog, logged, [])) of
        [] -> ok;
        Lines -> error({logged, Node, Lines})
    end.

%% Those of a log's lines that are not OTP's own. (When a node ends, those that were connected to it hear of it one after the other, and tell
%% each other so.)
foreign(Lines) -> [Line || Line <- Lines, re:run(Line, own()) =:= nomatch].

own() ->
    "^(info|debug) (Supervisor: \\{local,(net_sup|kernel_sup|kernel_safe_sup|inet_gethost_native_sup|logger_sup|erltrace_sup)\\}\\. Started"
        "|Application: erltrace\\. Started)|^notice Application: erltrace\\. Exited: stopped\\."
        "|^warning 'global' at node \\S+ requested disconnect from node \\S+ in order to prevent overlapping partitions$"
        "|^warning 'global' at \\S+ failed to connect to \\S+$"
        "|^warning Process \\S+ on node \\S+ enabled access to the emulator internal state\\.".
