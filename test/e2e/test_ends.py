"""However a trace ends (by itself, by a signal, because of its output's reader, with its node), the node is as before. Other consumers do
not notice that one ends."""
import contextlib
import itertools
import os
import re
import signal
import subprocess
import time

import erlt
from erlt import PATIENCE, READY, ROOT, TOOL, Failed, Late, aggregation, json_lines, pid, tool, until

FLOOD = READY + """
erlang*:etw:work/1:entry { @calls = count(); self->ts = timestamp; }
erlang*:etw:work/1:return /self->ts/ { @["ns"] = quantize(timestamp - self->ts); }
erlang*:::message-send { @[copyinstr(arg1)] = count(); sent[copyinstr(arg1)] = timestamp; }
erlang*:::process-scheduled /sent[copyinstr(arg0)]/ { @late[0] = quantize(timestamp - sent[copyinstr(arg0)]); sent[copyinstr(arg0)] = 0; }
erlang*:::gc_minor-start, erlang*:::gc_major-end { @gc[probename, erlname] = count(); }
erlang*:::message-send { @names[erlname, erlname(arg1)] = count(); }
"""
FLOOD = FLOOD.replace('@["ns"]', "@ns[0]")
COUNT = READY + 'erlang*:etw:work/1:entry { @["call"] = count(); }'


def flooded(t):
    """Starts a node that is as busy as it can be."""
    node = t.node()
    node("etw:busy(2)")
    node("etw:chatter(1)")
    return node


def exact(t, node, n=10007):
    """Checks that a new trace in this node counts correctly."""
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", COUNT, node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, {n})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"call": n}, "counts of the new trace", trace)


def test_interrupt(t):
    """Ctrl-C: END runs, aggregations are printed, status 0, nothing stays in the node."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", COUNT + ' dtrace:::END { printf("the end\\n"); }', node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, 503)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    text = trace.out.text()
    t.match(text, "^the end$")
    t.equal(aggregation(text), {"call": 503}, "aggregation", trace)
    t.true(text.index("the end") < text.index("503"), "END comes before the aggregations", trace)
    t.clean(node)


def test_terminate(t):
    """SIGTERM ends a trace as Ctrl-C does."""
    node = t.node()
    trace = t.trace("-q", "-n", READY + 'dtrace:::END { printf("the end\\n"); }', node=node)
    trace.ready()
    trace.signal(signal.SIGTERM)
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), "^the end$")
    t.clean(node)


@erlt.alone
def test_kill_under_flood(t):
    """kill -9 in the middle of as many events as there can be: clean within two seconds, a new trace starts at once."""
    node = flooded(t)
    for _ in range(3):
        trace = t.trace("-q", "-n", FLOOD, node=node)
        trace.ready()
        trace.signal(signal.SIGKILL)
        trace.p.wait()
        t.clean(node, 2000)
        again = t.trace("-q", "-n", COUNT, node=node)
        again.ready()
        again.interrupt()
        t.equal(again.end(), 0, "exit status of the next trace", again)
        t.true(aggregation(again.out.text()).get("call", 0) > 0, "the next trace counts", again)
    node("etw:quiet()")
    exact(t, node)


def test_kill_at_any_moment(t):
    """kill -9 while the tool attaches, places probes, traces: no flag, pattern or session stays longer than two seconds. An agent whose
    consumer never arrived may wait for it a little longer."""
    node = t.node()
    for ms in (5, 20, 40, 60, 80, 100, 130, 170, 220, 300):
        trace = t.trace("-q", "-n", FLOOD, node=node)
        time.sleep(ms / 1000)  # not an event that a test could await: any moment will do
        trace.signal(signal.SIGKILL)
        trace.p.wait()
        t.clean(node, 2000, "etw:traced()")
    t.clean(node, 15000)
    exact(t, node)


@erlt.alone
def test_kill_while_names_are_asked(t):
    """A consumer is killed while the agent asks many processes for their names, which takes long: nothing of its probes stays."""
    node = t.node(fresh=True)
    node("[spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 60000)], ok")
    for ms in (150, 250, 350, 450, 600):
        trace = t.trace("-q", "-n", FLOOD, node=node)
        time.sleep(ms / 1000)
        trace.signal(signal.SIGKILL)
        trace.p.wait()
        t.clean(node, 3000, "etw:traced()")
    exact(t, node)


def test_answers_to_the_dead(t):
    """A consumer is killed while it waits for an answer. The next one has the same name, and that answer arrives over its connection: the
    next one does not take it for its own."""
    node = t.node()
    node("erlang:suspend_process(whereis(rex))")
    for asked in (1, 2):
        trace = t.trace("-q", "-n", COUNT, node=node)
        node(f"etw:await(fun() -> {{message_queue_len, {asked}}} =:= process_info(whereis(rex), message_queue_len) end)")
        if asked == 1:
            trace.signal(signal.SIGKILL)
            node("etw:await(fun() -> nodes(hidden) =:= [] end)")
    node("erlang:resume_process(whereis(rex))")
    trace.ready()
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_kill_while_loading(t):
    """A consumer is killed while the node loads the agent's module for it and the code server is suspended. The process that removes an
    older load of the module waits until this load is over: the code server is never asked to delete a module that has old code."""
    node = t.node(fresh=True)
    node('[code:ensure_loaded(list_to_atom(filename:basename(F, ".beam"))) || A <- [kernel, stdlib], '
         'F <- filelib:wildcard(code:lib_dir(A) ++ "/ebin/*.beam")]')  # nothing but the agent is loaded
    node(f'begin {{ok, Code}} = file:read_file("{ROOT}/priv/agent/erltrace_agent.beam"), '
         'code:load_binary(erltrace_agent, "erltrace_agent.beam", Code) end')
    # The process with the agent's name is no agent: the tool loads the module nevertheless, and an attempt to attach by hand has it
    # removed.
    node("begin P = spawn(fun() -> receive stop -> ok end end), true = register(erltrace_agent, P) end")
    queue = "element(2, process_info(whereis(code_server), message_queue_len))"
    node("erlang:suspend_process(whereis(code_server))")
    try:
        trace = t.trace("-q", "-n", COUNT, node=node)
        node(f"etw:await(fun() -> {queue} =:= 1 end)")
        trace.signal(signal.SIGKILL)
        node("etw:await(fun() -> nodes(hidden) =:= [] andalso whereis(erltrace_attach) =:= undefined end)")
        t.equal(node("element(2, erltrace_agent:attach(<<>>, []))"), "AGENT_NAME", "what who attaches by hand is answered")
        # Without the wait the code server would be asked to delete it some 200 ms later.
        node(f"(fun W(0) -> ok; W(N) -> timer:sleep(10), {queue} =:= 1 andalso W(N - 1) end)(100)")
    finally:
        node("erlang:resume_process(whereis(code_server))")
    node("etw:await(fun() -> not erlang:module_loaded(erltrace_agent) end)")
    t.silent(node)
    node("exit(whereis(erltrace_agent), kill)")
    t.clean(node)
    exact(t, node)


@erlt.alone
def test_stopped_consumer(t):
    """A consumer that shows no sign of life (SIGSTOP) loses its trace, and says so when it wakes up."""
    node = flooded(t)
    trace = t.trace("-q", "-n", FLOOD, node=node, env=erlt.SHORT_LEASE)
    trace.ready()
    trace.signal(signal.SIGSTOP)
    t.clean(node, erlt.SHORT_LEASE_MS + 2000)  # the lease, then two seconds
    trace.signal(signal.SIGCONT)
    t.equal(trace.end(), 1, "exit status", trace)
    t.match(trace.err.text(), r"^erltrace: .*\(it waits 1\.5 s\)\n +hint: .*-x lease=", "says why")
    node("etw:quiet()")
    exact(t, node)


def test_machine_without_time(t):
    """A node stands still for two leases, and its consumer with it, as on a machine that is suspended: the trace continues."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    vm = int(node("list_to_integer(os:getpid())"))
    trace = t.trace("-q", "-n", COUNT + ' tick-50ms { printf("tick\\n"); }', node=node, env=erlt.SHORT_LEASE)
    trace.ready()
    for _ in range(3):
        t.equal(trace.p.poll(), None, "the trace goes on", trace)
        for process in (vm, trace.p.pid):
            os.kill(process, signal.SIGSTOP)
        time.sleep(2 * erlt.SHORT_LEASE_MS / 1000)
        os.kill(vm, signal.SIGCONT)
        node("etw:nap(200)")  # the node has its processor back before the consumer has
        trace.signal(signal.SIGCONT)
        node(f"etw:calls({worker}, 1009)")
        trace.wait("tick", start=len(trace.out.lines))  # and so does the consumer
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"call": 3 * 1009}, "counts", trace)


def test_two_consumers(t):
    """Two traces of the same function: one ends, the other continues; both count exactly."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    one = t.trace("-q", "-n", COUNT + ' erlang*:::process-spawn /copyinstr(arg1) == "etw:child/1"/ { @["spawn"] = count(); }',
                  node=node)
    one.ready()
    two = t.trace("-q", "-n", COUNT + ' erlang*:etw:work/1:return { @["return"] = count(); }', node=node)
    two.ready()
    node(f"etw:calls({worker}, 5003)")
    node(f"etw:spawns({worker}, 101)")
    two.interrupt()
    t.equal(two.end(), 0, "exit status of the second", two)
    t.equal(aggregation(two.out.text()), {"call": 5003, "return": 5003}, "the second's counts", two)
    node(f"etw:calls({worker}, 7001)")
    node(f"etw:spawns({worker}, 103)")
    one.interrupt()
    t.equal(one.end(), 0, "exit status of the first", one)
    t.equal(aggregation(one.out.text()), {"call": 5003 + 7001, "spawn": 101 + 103}, "the first's counts", one)
    t.clean(node)


def test_two_consumers_one_killed(t):
    """The same when the other one is killed in the middle of the calls."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    one = t.trace("-q", "-n", COUNT, node=node)
    one.ready()
    two = t.trace("-q", "-n", FLOOD, node=node)
    two.ready()
    two.signal(signal.SIGKILL)
    two.p.wait()
    # Long enough that the agent removes meanwhile what the other one had set.
    for _ in range(20):
        node(f"etw:calls({worker}, 50021)")
    one.interrupt()
    t.equal(one.end(), 0, "exit status", one)
    t.equal(aggregation(one.out.text()), {"call": 20 * 50021}, "counts", one)
    t.clean(node)


def test_reader_goes_away(t):
    """`erltrace ... | head -1`: the trace ends when nobody reads it any more."""
    node = t.node()
    command, env = tool("-q", "-n", 'profile:::tick-20ms { n++; printf("line %d\\n", n); } '
                        "erlang*:etw:work/1:entry { @ = count(); }", node=node)
    reading, writing = os.pipe()
    with subprocess.Popen(command, env=env, stdout=writing, stderr=subprocess.DEVNULL, cwd=ROOT) as p:
        os.close(writing)
        try:
            got = b""
            while b"\n" not in got:
                part = os.read(reading, 100)
                if not part:
                    raise Failed(f"the tool has ended with {p.wait()}, and has printed {got!r}")
                got += part
            os.close(reading)
            p.wait(PATIENCE)
        except subprocess.TimeoutExpired as e:
            raise Late("the tool goes on writing to a closed pipe") from e
        finally:
            p.kill()
    t.true(got.startswith(b"line 1\n"), f"the first line was {got!r}")
    t.clean(node)


def test_node_dies(t):
    """The node terminates during a trace: the tool ends, says so, and prints what it has."""
    node = t.node(fresh=True)
    trace = t.trace("-q", "-n", COUNT, node=node)
    trace.ready()
    worker = pid(node("etw:worker()"))
    node(f"etw:calls({worker}, 1009)")
    node.p.kill()
    t.equal(trace.end(), 1, "exit status", trace)
    t.match(trace.err.text(), "^erltrace: ", "says what happened")
    t.match(trace.err.text(), LOST, "and how much of it is not known")


LOST = r"erltrace: the trace in \S+ ended there: what fired in its last (\d+ ms|\d+\.\d s) is lost\n"


def test_end_of_the_node(t):
    """However a node ends, and however it was named, erltrace prints what it has fetched, and says how much time is missing."""
    for how, by_pid in itertools.product(("halt(0)", "init:stop()", "halt(abort)", None), (False, True)):
        node = t.node(fresh=True)
        script = READY + r'erlang*:etw:work/1:entry { printf("call\n"); @ = count(); }'
        target = ["-p", str(node.pid), "--cookie", node.cookie] if by_pid else []
        trace = t.trace("-q", "-x", "droptags", "-n", script, *target, node=None if by_pid else node)
        trace.ready()
        worker = pid(node("etw:worker()"))
        node(f"etw:calls({worker}, 1)")
        trace.wait("^call$")
        if how is None:
            node.p.kill()
        else:
            with contextlib.suppress(erlt.Gone):  # it may end before it answers
                node(f"spawn(fun() -> timer:sleep(1), {how} end)")
        t.equal(trace.end(), 1, f"exit status of {how}", trace)
        t.match(trace.err.text(), LOST.replace("the trace", r"\[DTRACEDROP_ENDED\] the trace"), how)
        t.true("no probe fired" not in trace.err.text(), how, trace)
    node = t.node(fresh=True)
    trace = t.trace("--json", "-n", READY, node=node)
    trace.ready()
    node.p.kill()
    t.equal(trace.end(), 1, "exit status", trace)
    lost, = [x for x in json_lines(trace.out.text()) if x["type"] == "drop"]
    t.equal((lost["kind"], lost["count"], lost["node"], lost["lost"] > 0), ("ended", 1, node.name, True), "in JSON", trace)


def test_end_of_a_command(t):
    """A command whose node ends before its last call can be fetched. It is never said that nothing fired."""
    for i, how in enumerate(("halt(3)", "halt(abort)", "init:stop()", "os:cmd([107,105,108,108,32,45,57,32]++os:getpid())")):  # the last one: kill -9
        go = os.path.join(t.folder, f"go{i}")
        wait = f'F=fun(F)->(case(filelib:is_file("{go}"))of(true)->ok;(false)->timer:sleep(10),F(F)end)end,F(F)'
        command = f"erl -noshell -sname etcmd{i}x{os.getpid()} -setcookie etcmd -eval {wait},lists:seq(1,3),{how}."
        trace = t.trace("-q", "-n", READY + "erlang*:lists:seq/2:entry { @ = count(); }", "-c", command)
        trace.ready()
        with open(go, "w", encoding="utf-8"):
            pass
        t.equal(trace.end(), 0, f"exit status of {how}", trace)
        t.match(trace.err.text(), LOST, f"what is lost after {how}")
        t.true("no probe fired" not in trace.err.text(), f"never the opposite after {how}", trace)


def test_dead_agent(t):
    """The agent's process is killed: nothing stays behind, and the consumer learns of it."""
    node = t.node()
    trace = t.trace("-q", "-n", FLOOD, node=node)
    trace.ready()
    node("exit(whereis(erltrace_agent), kill)")
    t.equal(trace.end(), 1, "exit status", trace)
    t.clean(node, 3000)
    exact(t, node)


def test_exit_action(t):
    """exit(n): END runs, n is the exit status."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", COUNT + ' erlang*:etw:boom/1:entry { exit(7); } dtrace:::END { printf("the end\\n"); }', node=node)
    trace.ready()
    node(f"etw:calls({worker}, 211)")
    node(f"etw:raises({worker}, 1)")
    t.equal(trace.end(), 7, "exit status", trace)
    t.match(trace.out.text(), "^the end$")
    t.equal(aggregation(trace.out.text()), {"call": 211}, "counts", trace)
    t.clean(node)


def test_for_a_time(t):
    """--for: the trace ends by itself, END runs, status 0."""
    node = t.node()
    start = time.monotonic()
    status, out, err = t.run("--for", "1s", "-q", "-n", 'dtrace:::BEGIN { printf("go\\n"); } dtrace:::END { printf("the end\\n"); }',
                             node=node)
    t.equal(status, 0, "exit status: " + err)
    t.true(time.monotonic() - start >= 1, "not before its time")
    t.equal(out.split(), ["go", "the", "end"], "output")
    t.clean(node)


def test_many_in_a_row(t):
    """Traces leave no process, memory or atom behind that grows with their number: consumers share a few names."""
    node = t.node()

    def some(n):
        for _ in range(n):
            status, _, err = t.run("-q", "-n", 'erlang*:etw:work/1:entry { @ = count(); } erlang*:::message-send { @s = count(); } '
                                   "profile:::tick-10ms { exit(0); }", node=node)
            t.equal(status, 0, "exit status: " + err)
            t.clean(node)

    def held(limits=(0, 0, 0)):
        return dict(node(f"etw:settled({list(limits)})"))

    some(10)
    before = held()
    # The VM's own processes have more or less room.
    limit = {"process count": before["process count"], "system": before["system"] + (256 << 10),
             "processes": before["processes"] + (768 << 10), "atom count": before["atom count"] + 5}
    some(30)
    for what, now in held([limit[w] for w in ("process count", "system", "processes")]).items():
        with t.loose("allocators keep memory for later") if what in ("system", "processes") else contextlib.nullcontext():
            t.true(now <= limit[what], f"{what}: {before[what]} before, {now} after 30 traces")


AGENT = os.path.join(ROOT, "priv", "agent", "erltrace_agent")


def test_old_code_was_left(t):
    """The agent's module is loaded and also has old code, of a consumer that was killed while loading. The next agent can start
    nevertheless, and removes both."""
    node = t.node()
    node(f'begin [{{module, _}} = code:load_abs("{AGENT}") || _ <- [1, 2]], true = erlang:check_old_code(erltrace_agent) end')
    status, out, err = t.run("-qn", 'BEGIN { printf("here\\n"); exit(0); }', node=node)
    t.equal((status, out.strip(), err), (0, "here", ""), "the trace")
    t.clean(node)


KILL = """(fun() ->
    Kill = fun(P) -> R = monitor(process, P), exit(P, kill), receive {'DOWN', R, _, _, _} -> ok end end,
    [Kill(whereis(N)) || N <- [erltrace_agent_guard, erltrace_agent]] end)()"""


def half_dead(t):
    """The agent of a node with a trace is killed together with its guard. Their modules remain, one of them with the library, which stays
    mapped if the dead agent had programs: no process can free those."""
    node = t.node(fresh=True)
    trace = t.trace("-q", "-n", COUNT, node=node)
    trace.ready()
    node(KILL.replace("\n", " "))
    t.equal(trace.end(), 1, "exit status", trace)
    t.true(node("erlang:function_exported(erltrace_agent, vsn, 0)"), "the agent's module is left")
    return node


UNMAPPED = '[D || D <- etw:dirt(), string:prefix(D, "the library is mapped") =:= nomatch]'


def test_dead_agent_and_guard(t):
    """The agent's server and its guard are killed at once: the next agent finds their modules and cleans up."""
    node = half_dead(t)
    exact(t, node)
    t.clean(node, what=UNMAPPED)


def test_dead_agent_and_old_code(t):
    """The same, but one of the modules has old code that a process runs and continues to run. Nothing can be loaded until that process is
    gone, and the code that is there cannot be used, since a module loads a library only once."""
    node = half_dead(t)
    node("begin etw:in_agent(30000), ok end")
    node(f'begin {{module, _}} = code:load_abs("{AGENT}"), true = erlang:check_old_code(erltrace_agent), ok end')
    exact(t, node)
    t.clean(node, what=UNMAPPED)


def test_dead_agent_and_slow_guard(t):
    """The process that runs that old code is the guard of a dead agent (here a process with its name), and it takes its time: it is not
    ended in the middle of its work."""
    node = half_dead(t)
    node("""begin P = etw:in_agent(5000),
            register(erltrace_agent_guard, P),
            spawn(fun() -> R = monitor(process, P), receive {'DOWN', R, _, _, Why} -> persistent_term:put(t_why, Why) end end), ok end""")
    node(f'begin {{module, _}} = code:load_abs("{AGENT}"), true = erlang:check_old_code(erltrace_agent), ok end')
    exact(t, node)
    t.equal(node("persistent_term:get(t_why)"), "normal", "how the guard ended")
    t.clean(node, what=UNMAPPED)


def test_attached_to_the_dead(t):
    """An agent and its guard are killed while another consumer attaches to them. The consumer learns that they are gone, and what they left
    is removed."""
    node = half_dead(t)
    library = os.path.join(ROOT, "priv", "erltrace_agent.so")
    answer = node(f'element(1, (catch erltrace_agent:attach(element(2, file:read_file("{library}")), [])))')
    t.equal(answer, "EXIT", "the answer")
    t.clean(node, what=UNMAPPED)
    exact(t, node)


def test_interrupted_while_writing(t):
    """An interrupt arrives in the middle of a write for which the reader is not ready: nothing is lost, and it is no error."""
    with subprocess.Popen([TOOL, "--local", "-q", "-n", 'tick-1ms { printf("%9998d\\n", ++n); }'],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        def waits():
            with open(f"/proc/{p.pid}/syscall", encoding="ascii") as f:
                return f.read().startswith("1 0x1 ")  # write, standard output

        until(waits, "the tool never waited for its reader")
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=PATIENCE)
        t.equal((p.returncode, err), (0, b""), "exit status and errors")
        lines = out.decode().split()
        t.equal(lines, [str(i + 1) for i in range(len(lines))], "each line, in order")


# In the consumer's node: asks for far more than it reads, and reports at the end what it was sent.
UNREAD = """begin
    Me = self(),
    P = spawn(fun() ->
        A = rpc:call('NODE', erlang, whereis, [erltrace_agent]),
        A ! {erltrace, self(), open, {open, 600000}},
        receive {erltrace, open, {ok, _}} -> Me ! opened end,
        receive {ask, From} -> ok end,
        [A ! {erltrace, self(), I, {functions, [erl_parse, erl_lint, erl_eval, lists, core_parse, beam_ssa_opt]}} || I <- lists:seq(1, 3000)],
        true = is_atom(rpc:call('NODE', erlang, node, [])),
        From ! asked,
        (fun Loop(N) ->
             receive
                 {erltrace, _, {ok, L}} when is_list(L) -> Loop(N + 1);
                 {erltrace, ended, Tag, Text, _} -> receive {result, To} -> To ! {result, N, Tag, Text} end
             end
         end)(0)
    end),
    register(unread, P), receive opened -> ok end end"""


def test_consumer_that_does_not_read(t):
    """A consumer asks for 3000 answers and then stands still. What waits for it is bounded; it is ended and told why, and another consumer
    of the node does not notice."""
    node, consumer = t.node(fresh=True), t.node(fresh=True)
    other = t.trace("-qn", READY, node=node)
    other.ready()
    node("[code:ensure_loaded(M) || M <- [erl_parse, erl_lint, erl_eval, lists, core_parse, beam_ssa_opt]]")
    consumer(UNREAD.replace("NODE", node.name).replace("\n", " "))
    agent = "whereis(erltrace_agent)"
    node(f"erlang:suspend_process({agent})")  # until the consumer stands still
    consumer("begin unread ! {ask, self()}, receive asked -> ok end end")
    consumer.p.send_signal(signal.SIGSTOP)
    try:
        node(f"erlang:resume_process({agent})")
        # The mailbox of requests shrinks; then what is kept can be seen.
        node(f"(fun W() -> case process_info({agent}, message_queue_len) of {{_, N}} when N > 5 -> timer:sleep(20), W(); _ -> ok end end)()")
        memory = node(f"begin erlang:garbage_collect({agent}), element(2, process_info({agent}, memory)) end")
    finally:
        consumer.p.send_signal(signal.SIGCONT)
    got = consumer("begin unread ! {result, self()}, receive {result, N, Tag, Text} -> [N, Tag, Text] end end")
    t.equal(got[1], "AGENT_UNREAD", f"how it ended, after {got[0]} answers")
    t.match(got[2], "^65 answers waited for this consumer, which does not read them$")
    t.true(got[0] < 3000 and memory < 16 << 20, f"{got[0]} answers, {memory} bytes")
    other.interrupt()
    t.equal(other.end(), 0, "the other one's exit status", other)


def test_nothing_came(t):
    """A trace that found nothing says so at its end, with the likeliest reason: no probe fired, or no predicate was true. One that found
    something does not."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    for text, work, note, hint in (
            ("erlang*:etw:work/1:entry { }", "ok", r"^erltrace: no probe fired in \d+\.\d s of watching \S+: 1 function$", "nothing called them"),
            ("erlang*:::gc-max_heap { @ = count(); }", "ok", "no probe fired in", "no such event happened"),
            ("erlang*:etw:work/1:entry /args[0] == \"<0.99999.0>\"/ { @ = count(); }", f"etw:calls({worker}, 7)", "no probe fired in|fired 7 times", "predicate"),
            ("erlang*:etw:work/1:entry /arg0 == timestamp/ { @ = count(); }", f"etw:calls({worker}, 7)",
             r"the probes fired 7 times in \S+, and produced nothing", "no predicate was true"),
            ("erlang*:etw:work/1:entry { @ = count(); }", f"etw:calls({worker}, 7)", None, None),
            ("erlang*:etw:work/1:entry { printf(\"call\\n\"); }", f"etw:calls({worker}, 7)", None, None),
            ("erlang*:etw:work/1:entry { n++; } END { printf(\"%d calls\\n\", n); }", f"etw:calls({worker}, 7)", None, None)):
        for json in (False, True):
            trace = t.trace("-q", *(["--json"] if json else []), "-x", "stats=100ms", "-n", text, node=node)
            if json:
                trace.wait('"type":"stats"')
            else:
                trace.wait_error("^erltrace: stats: ")  # the probes are placed
            node(work)
            trace.interrupt()
            t.equal(trace.end(), 0, text, trace)
            if json:
                said = [x for x in json_lines(trace.out.text()) if x.get("severity") == "note"]
                t.equal(len(said), 1 if note else 0, f"notes of {text}", trace)
                if note:
                    t.match(said[0]["hint"], hint, text)
            else:
                said = re.sub(r"(?m)^erltrace: (stats|total): .*\n", "", trace.err.text())
                if note:
                    t.match(said, note, text)
                    t.match(said, f"^      hint: .*{hint}", text)
                else:
                    t.equal(said, "", text, trace)
    for text in ("BEGIN { exit(0); } erlang*:etw:work/1:entry { }", "tick-1s { exit(0); }"):
        status, out, err = t.run("-qn", text, node=node)
        t.equal((status, out.strip(), err), (0, "", ""), text)


def test_nothing_came_but_a_warning(t):
    """What was warned of is a better reason than those that are likely: here the probes were taken off a loop."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", READY + "erlang*:etw:loop/1:exception { @ = count(); }", node=node)
    trace.ready()
    node(f"etw:tail({worker}, 3000000)", patience=5 * PATIENCE)
    trace.wait_error("^erltrace: warning: exception probes and retval were removed from etw:loop/1")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.err.text(), r"erltrace: no probe fired in .*\n      hint: the warnings above say what could not be seen\n$", "the hint")
