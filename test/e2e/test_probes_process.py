"""Probes of processes, messages and memory: each fires a known number of times, and every argument is checked."""
import os
import re
import signal
import time

from erlt import READY, Skipped, aggregation, pid


def traced(t, node, script, *words):
    """Starts a worker and a trace of it; returns when the trace is ready. $$1 is the worker, $$2 the process that gives it its orders. The
    script's output comes from several CPUs' buffers: each line gets its time, for lines()."""
    worker, control = node("etw:worker()"), node("self()")
    script = re.sub(r'printf\("(.*?)\\n"', r'printf("%d \1\\n", timestamp', script)
    trace = t.trace("-q", "-x", "argref", "-n", READY + script, worker, control, *words, node=node)
    trace.ready()
    return worker, control, trace


def does(node, worker, body):
    """Returns what the worker returns for these expressions."""
    return node(f"etw:as({pid(worker)}, fun() -> {body} end)")


def blocks(node, process, key):
    """Returns what the VM reports about the heaps of a process that waits."""
    return node(f"begin {{_, I}} = process_info({pid(process)}, garbage_collection_info), proplists:get_value({key}, I) end")


def lines(t, trace):
    """Returns what was printed, in the order in which it happened."""
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)
    timed = [line.split(" ", 1) for line in trace.out.lines if re.match(r"\d+ ", line)]
    return [line for _, line in sorted(timed, key=lambda w: int(w[0]))]


SENDS = """
erlang*:::message-send /args[0] == $$1 && args[1] != $$2/ { printf("send %s %d %d %d %d\\n", args[1], args[2], args[3], args[4], args[5]); }
erlang*:::message-send-remote /args[0] == $$1/ { printf("remote %s %s %d %d %d %d\\n", args[1], args[2], args[3], args[4], args[5], args[6]); }
erlang*:::message-send_noproc /args[0] == $$1/ { printf("noproc %s %d\\n", args[1], args[2]); }
"""


def test_timeouts(t):
    """A receive that times out is no message. One that is the atom timeout is the same event in the VM; from OTP 27 on a session tells who sent it."""
    node = t.node()
    worker, _, trace = traced(t, node, """
        erlang*:::receive-timeout /args[0] == $$1/ { @[probename, erlpid] = count(); }
        erlang*:::message-queued /args[0] == $$1 && is_tuple(message) && element(1, message) == atom("m")/ { @[probename, ""] = count(); }
        erlang*:::message-queued /args[0] == $$1 && term_text(message) == "timeout"/ { @["a timeout", ""] = count(); }""")
    for real in (0, 3):
        does(node, worker, f"[timer:sleep(1) || _ <- lists:seq(1, 37)], [self() ! {{m, I, x}} || I <- lists:seq(1, 11)], [self() ! timeout || _ <- lists:seq(1, {real})], "
             f"[receive {{m, _, x}} -> ok end || _ <- lists:seq(1, 11)], [receive timeout -> ok end || _ <- lists:seq(1, {real})], ok")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = dict(re.findall(r"^ +([a-z-]+(?: [a-z]+)?) +\S* +(\d+)$", trace.out.text(), re.M))
    told = node("list_to_integer(erlang:system_info(otp_release))") >= 27
    t.equal(found, {"receive-timeout": str(2 * 37 + (0 if told else 3)), "message-queued": str(2 * 11)} | ({"a timeout": "3"} if told else {}), "events", trace)


def test_sends(t):
    """Messages to a pid, a name, an alias, a dead process, another node: each kind is reported as what it is."""
    node, other = t.node(), t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    sink = node("register(t_sink, P = spawn(fun() -> receive never -> ok end end)), P")
    dead = node("P = spawn(fun() -> ok end), (fun W() -> case is_process_alive(P) of true -> W(); false -> P end end)()")
    far = node(f"P = spawn('{other.name}', erlang, hibernate, [erlang, apply, [fun() -> ok end, []]]), P")
    worker, _, trace = traced(t, node, SENDS)
    does(node, worker, f"""
        S = {pid(sink)}, S ! {{a, 1}}, t_sink ! "ab", {{t_sink, node()}} ! a, erlang:send(S, [1]),
        {pid(dead)} ! {{x}}, {{t_nobody, node()}} ! {{x, y}},
        (catch t_nobody ! z),
        {pid(far)} ! {{n, 1, 2}}, {{t_far, '{other.name}'}} ! {{n, 1, 2, 3}}, ok""")
    A = does(node, worker, "A = alias(), self() ! me, A ! {to, alias}, unalias(A), ok")
    t.equal(A, "ok")
    expected = [f"send {sink} 3 0 0 0", f"send {sink} 4 0 0 0", f"send {sink} 0 0 0 0", f"send {sink} 2 0 0 0",
                f"noproc {dead} 2", f"noproc {{t_nobody,{in_term(node)}}} 3",
                f"send {far} 4 0 0 0", f"remote {node_text(other)} {far} 4 0 0 0",
                f"send {{t_far,{in_term(other)}}} 5 0 0 0", f"remote {node_text(other)} {{t_far,{in_term(other)}}} 5 0 0 0",
                f"send {worker} 0 0 0 0", f"send {worker} 3 0 0 0"]
    t.equal(lines(t, trace), expected, "sends", trace)
    node("unregister(t_sink)")


PARTS = """
erlang*:::send-in_parts /args[0] == $$1 || args[0] == $$3/ { printf("parts %d %d %d\\n", erlpid == args[0] ? args[0] == $$1 ? 1 : 3 : 0, args[1], args[2]); }
erlang*:::process-unscheduled /(args[0] == $$1 || args[0] == $$3) && args[1] == "erts_internal:dsend_continue_trap/1"/ { printf("out\\n"); }
erlang*:::process-unscheduled /(args[0] == $$1 || args[0] == $$3) && args[1] == "erlang:bif_return_trap/2"/ { printf("wait\\n"); }
"""


def test_sent_in_parts(t):
    """Large messages to another node, which the VM does not report: told apart by messages that it reports if these are traced, else by the sender's
    leaving elsewhere. Of one that is held up, how long; of a sender that is killed meanwhile, the same."""
    node, other = t.node(), t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    far, process = node(f"spawn('{other.name}', timer, sleep, [infinity])"), other("list_to_integer(os:getpid())")
    large = f"{pid(far)} ! lists:seq(1, 600000)"
    for small, script in ((f"{pid(far)} ! {{small, I}}", PARTS + 'erlang*:::message-send-remote /args[0] == $$1/ { printf("sent %s\\n", args[2]); }'),
                          ("timer:sleep(1)", PARTS)):
        doomed = node("etw:worker()")
        worker, _, trace = traced(t, node, script, doomed)
        does(node, worker, f"[begin {large}, {small} end || I <- lists:seq(1, 5)], ok")
        os.kill(process, signal.SIGSTOP)
        try:
            for p in (worker, doomed):  # more than the system takes from one node for the other
                node(f"{pid(p)} ! {{self(), r, fun() -> {pid(far)} ! binary:copy(<<1>>, 40000000), ok end}}, ok")
                while node(f"element(2, process_info({pid(p)}, status))") != "suspended":
                    time.sleep(0.01)
            time.sleep(0.3)
            node(f"exit({pid(doomed)}, kill)")
            while node(f"is_process_alive({pid(doomed)})"):
                time.sleep(0.01)
        finally:
            os.kill(process, signal.SIGCONT)
        node("receive {r, ok} -> ok end")
        got = [line.split() for line in lines(t, trace)]
        parts = [[int(w) for w in line[1:]] for line in got if line[0] == "parts"]
        t.equal(sorted(line[0] for line in parts), [1] * 6 + [3], "senders", trace)
        t.true(all(times > 0 and ns > 0 for _, times, ns in parts), "times", trace)
        out, wait = (len([line for line in got if line[0] == what]) for what in ("out", "wait"))
        t.true(out <= sum(line[1] for line in parts) <= out + wait, "each time that a sender left", trace)
        t.true(all(max(ns for who, _, ns in parts if who == one) > 300000000 for one in (1, 3)), "how long", trace)
        if "sent" in script:
            t.equal([line[0] for line in got if line[0] in ("parts", "sent")][:10], ["parts", "sent"] * 5, "in this order", trace)


def in_term(node):
    """The node's name as Erlang writes it: in quotes only where they are needed."""
    return node.name if re.fullmatch(r"[a-z][A-Za-z0-9_@]*", node.name) else node_text(node)


def node_text(node):
    """The node's name as the VM prints an atom that has an @ in it."""
    return f"'{node.name}'"


def test_queued(t):
    """Messages are queued, from a process and from a timer."""
    node = t.node()
    worker, _, trace = traced(t, node, """
        erlang*:::message-queued /args[0] == $$3/ { printf("queued %d %d %d %d %d\\n", args[1], args[2], args[3], args[4], args[5]); }
        """, node("register(t_queue, P = spawn(fun W() -> receive {stop, Q} -> Q ! stopped; {timeout, _, F} -> F ! went, W(); _ -> W() end end)), P"))
    does(node, worker, """
        Q = whereis(t_queue), R = make_ref(), Q ! {n, 1}, erlang:send(Q, "abc"), t_queue ! a,
        erlang:start_timer(0, Q, self()), receive went -> ok end, exit(Q, normal), Q ! {stop, self()}, receive stopped -> ok end""")
    got = lines(t, trace)
    nothing = "4294967295 0 0 0"
    # {timeout, Ref, Pid}: four words, and three of the reference. An exit signal that does nothing is no message.
    t.equal(got, [f"queued {n} {nothing}" for n in (3, 6, 0, 7, 3)], "messages", trace)


TOKENS = """
erlang*:::message-send /args[0] == $$1 && args[1] != $$2/ { printf("send %d %d %d\\n", arg3, arg4, arg5); }
erlang*:::trace_seq /strstr(args[2], "t_say") != NULL/ { printf("seq %s %s %s\\n", args[0], args[1], args[2]); }
"""


def test_tokens(t):
    """The token of a message: its label and serials, as a system tracer of seq_trace sees them."""
    node = t.node()
    echo = node("spawn(fun W() -> receive {t_ask, F} -> F ! t_answer; _ -> ok end, W() end)")
    worker, _, trace = traced(t, node, TOKENS)
    does(node, worker, f"""
        E = {pid(echo)}, E ! untraced,
        seq_trace:set_token(label, 17), seq_trace:set_token(send, true), seq_trace:set_token('receive', true),
        seq_trace:set_token(print, true),
        E ! {{t_say, 1}}, E ! {{t_ask, self()}}, receive t_answer -> ok end,
        E ! {{t_say, 2}}, seq_trace:print(17, t_say), E ! {{t_say, 3}},
        seq_trace:set_token(label, a), E ! no_number,
        seq_trace:set_token(serial, {{5000000000, 5000000001}}), E ! large,
        seq_trace:set_token([]), E ! {{t_ask, self()}}, receive t_answer -> ok end, ok""")  # E has taken all of them by then
    got = lines(t, trace)
    i32 = -2147483648
    t.equal([line for line in got if line.startswith("send")],
            ["send 0 0 0", "send 17 0 1", "send 17 0 2", "send 17 3 4", "send 17 3 6", f"send {i32} 3 7", f"send {i32} 5000000000 5000000002", "send 0 0 0"],
            "tokens", trace)
    say = f"{worker},{echo},{{t_say,"
    print_to = "[]" if f"seq [] 17 {{print,{{3,5}},{worker},[],t_say}}" in got else None
    want = []
    for previous, current, n in ((0, 1, 1), (3, 4, 2), (3, 6, 3)):
        want += [f"seq [] 17 {{{what},{{{previous},{current}}},{say}{n}}}}}" for what in ("send", "'receive'")]
    want.append(f"seq [] 17 {{print,{{3,5}},{worker},{print_to},t_say}}")
    t.equal(sorted(line for line in got if line.startswith("seq")), sorted(want), "events of seq_trace", trace)
    t.equal(node("seq_trace:get_system_tracer()"), False, "the system tracer is free again")


def test_tokens_are_not_asked_for_in_vain(t):
    """For a program that does not use tokens, nothing is set on send."""
    node = t.node()
    _, _, trace = traced(t, node, "erlang*:::message-send /args[0] == $$1/ { @ = sum(args[2]); }")
    t.equal(node("element(2, erlang:trace_info(send, match_spec))"), True, "match specification of send")
    lines(t, trace)


def test_tokens_of_a_node_where_send_is_taken(t):
    """Before OTP 27 there is one match specification for send: another tool's stays, and the token is reported as none."""
    node = t.node()
    if node("erlang:system_info(otp_release) >= \"27\""):
        raise Skipped("from OTP 27 on a session has a match specification of its own")
    node("erlang:trace_pattern(send, [{['$1', '$2'], [], []}], [])")
    worker, _, trace = traced(t, node, 'erlang*:::message-send /args[0] == $$1 && args[1] != $$2/ { printf("%d %d\\n", args[3], args[5]); }')
    trace.wait_error("another tool has set the match specification of send")
    does(node, worker, "seq_trace:set_token(label, 17), self() ! x, seq_trace:set_token([]), ok")
    t.equal(lines(t, trace), ["0 0"], "token", trace)
    t.equal(node("length(element(2, erlang:trace_info(send, match_spec)))"), 1, "his match specification is there")
    node("erlang:trace_pattern(send, true, [])")


def test_system_tracer_is_left_alone(t):
    """Another tool's system tracer of seq_trace stays; a program that needs it is told whose it is."""
    node = t.node()
    node("seq_trace:set_system_tracer(P = spawn(fun() -> receive never -> ok end end)), register(t_seq, P)")
    status, _, said = t.run("-qn", "erlang*:::trace_seq { trace(1); }", node=node)
    t.equal(status, 1, "exit status")
    t.match(said, r"<0\.\d+\.\d+> \(t_seq\) is the system tracer of seq_trace", "the reason")
    t.true(node("seq_trace:get_system_tracer() =:= whereis(t_seq)"), "it is still his")
    node("seq_trace:set_system_tracer(false), exit(whereis(t_seq), kill)")


def test_killed_agent_leaves_no_tracer(t):
    """The system tracer of seq_trace and the match specification of send are also removed when the agent is killed."""
    node = t.node()
    _, _, trace = traced(t, node, "erlang*:::trace_seq { @ = count(); } erlang*:::message-send { @t = max(arg3); }")
    t.true(node("etw:traced() =/= []"), "something is set")
    node("exit(whereis(erltrace_agent), kill)")
    t.equal(trace.end(), 1, "exit status", trace)
    t.clean(node)


LIVES = """
erlang*:::process-spawn /args[1] == "etw:child/1"/ { printf("spawn %s %s\\n", args[0], args[1]); }
erlang*:::process-spawned /args[2] == "etw:child/1"/ { printf("spawned %s %s %s\\n", args[0], args[1], args[2]); }
erlang*:::process-exit /args[1] == "{t_end,[1,2|a]}"/ { printf("exit %s %s\\n", args[0], args[1]); }
erlang*:::process-link /args[0] == $$1/ { printf("link %s\\n", args[1]); }
erlang*:::process-unlink /args[0] == $$1/ { printf("unlink %s\\n", args[1]); }
erlang*:::process-getting_linked /args[1] == $$1/ { printf("getting_linked %s\\n", args[0]); }
erlang*:::process-getting_unlinked /args[1] == $$1 || args[0] == $$1/ { printf("getting_unlinked %s %s\\n", args[0], args[1]); }
erlang*:::process-register { printf("register %s %s\\n", args[0], args[1]); }
erlang*:::process-unregister { printf("unregister %s %s\\n", args[0], args[1]); }
"""


def test_life(t):
    """Spawns and exits, links and names, each reported from both sides."""
    node = t.node()
    other = node("spawn(fun() -> receive never -> ok end end)")
    worker, _, trace = traced(t, node, LIVES)
    children = does(node, worker, "[begin {P, R} = spawn_monitor(etw, child, [N]), receive {'DOWN', R, _, _, _} -> P end end "
                                  "|| N <- lists:seq(1, 7)]")
    dead = does(node, worker, f"""
        O = {pid(other)}, link(O), unlink(O), {{links, _}} = process_info(O, links), register(t_name, O), unregister(t_name),
        process_flag(trap_exit, true),
        P = spawn_link(fun() -> register('t other name', self()), receive go -> exit({{t_end, [1, 2 | a]}}) end end),
        P ! go, receive {{'EXIT', P, _}} -> ok end, process_flag(trap_exit, false), P""")
    got = lines(t, trace)
    t.equal(sorted(line for line in got if line.startswith("spawn ")), sorted(f"spawn {c} etw:child/1" for c in children), "births", trace)
    t.equal(sorted(line for line in got if line.startswith("spawned ")),
            sorted(f"spawned {c} {worker} etw:child/1" for c in children), "births, as the children see them", trace)
    rest = [line for line in got if not line.startswith("spawn")]
    want = [f"link {other}", f"getting_linked {other}", f"unlink {other}", f"getting_unlinked {other} {worker}",
            f"register {other} t_name", f"unregister {other} t_name",
            f"link {dead}", f"getting_linked {dead}", f"register {dead} 't other name'",
            f"exit {dead} {{t_end,[1,2|a]}}", f"unregister {dead} 't other name'", f"getting_unlinked {worker} {dead}"]
    t.equal(sorted(rest), sorted(want), "links and names", trace)
    t.true(rest.index(want[9]) < rest.index(want[10]), "a name goes after its process", trace)


def test_variables_of_a_process(t):
    """self-> belongs to the process that a probe is about: the child of a spawn, the sender of a signal, the receiver of a message."""
    node = t.node()
    worker, _, trace = traced(t, node, """
        self int spawn, born, sent, got;
        erlang*:::process-spawn /args[1] == "etw:child/1"/ { self->spawn = 1; }
        erlang*:::process-spawned /self->spawn/ { self->born = 1; }
        erlang*:::process-link /args[0] == $$1/ { self->sent++; }
        erlang*:::process-exit_signal /args[0] == $$1/ { printf("links %d\\n", self->sent); }
        erlang*:::process-exit /self->born && self->spawn/ { printf("lived\\n"); }
        erlang*:::process-exit /strlen(args[1]) > 200/ { printf("a reason of %d bytes\\n", strlen(args[1])); }""")
    does(node, worker, """
        P = spawn_link(fun() -> receive never -> ok end end), unlink(P), link(P), unlink(P),
        M = monitor(process, P), exit(P, lists:duplicate(300, a)), receive {'DOWN', M, _, _, _} -> ok end,
        [begin {C, R} = spawn_monitor(etw, child, [N]), receive {'DOWN', R, _, C, _} -> ok end end || N <- [1, 2, 3]], ok""")
    t.equal(sorted(lines(t, trace)), ["a reason of 255 bytes", "links 2"] + 3 * ["lived"], "what was remembered", trace)


def test_spawned_by_another_node(t):
    """A process that another node spawns begins with the function that it was asked for; its arguments are not told."""
    node, other = t.node(), t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    _, _, trace = traced(t, node, """
        erlang*:::process-spawn /args[1] == "lists:reverse/1" || args[1] == "erlang:apply/2" || args[1] == "erpc:execute_call/4"/
        { self->far = 1; printf("spawn %s %d\\n", args[1], is_list(argv)); }
        erlang*:::process-spawned /self->far/ { printf("spawned %s %d\\n", args[2], is_list(argv)); }
        erlang*:::process-exit /self->far/ { printf("exit %s\\n", erlname == erlpid ? "a pid" : erlname); }""")
    for call in ("spawn_monitor('{0}', lists, reverse, [[1, 2]])", "spawn_monitor('{0}', fun() -> ok end)",
                 "{{erpc:call('{0}', lists, sort, [[2, 1]]), element(2, spawn_monitor(fun() -> ok end))}}"):
        other(f"element(1, begin {{_, M}} = {call.format(node.name)}, receive {{'DOWN', M, _, _, _}} -> {{ok}} end end)")
    t.equal(lines(t, trace), ["spawn lists:reverse/1 0", "spawned lists:reverse/1 0", "exit lists:reverse/1",
                              "spawn erlang:apply/2 0", "spawned erlang:apply/2 0", "exit a pid",
                              "spawn erpc:execute_call/4 0", "spawned erpc:execute_call/4 0", "exit erpc:execute_call/4"], "births and deaths", trace)


def test_scheduling_tells_functions(t):
    """A process is unscheduled where it waits, and scheduled there again; a process that exits is reported as exiting."""
    node = t.node()
    worker, _, trace = traced(t, node, """
        erlang*:::process-scheduled /args[0] == $$3/ { printf("in %s\\n", args[1]); }
        erlang*:::process-unscheduled /args[0] == $$3/ { printf("out %s\\n", args[1]); }
        """, node("register(t_sleeper, P = spawn(etw, sink, [3])), P"))
    for _ in range(3):
        does(node, worker, """P = whereis(t_sleeper), R = monitor(process, P), P ! {n, 1},
            (fun W() -> case process_info(P, [status, message_queue_len]) of
                            [{status, waiting}, {message_queue_len, 0}] -> demonitor(R, [flush]);
                            undefined -> receive {'DOWN', R, _, _, _} -> ok end;
                            _ -> erlang:yield(), W() end end)(), ok""")
    got = lines(t, trace)
    ins, outs = [line for line in got if line.startswith("in")], [line for line in got if line.startswith("out")]
    t.true(len(ins) >= 3 and abs(len(ins) - len(outs)) <= 1, "as many in as out", trace)
    t.true(set(ins) <= {"in etw:sink/1", "in <exiting>"}, f"where it comes in: {set(ins)}", trace)
    t.true("out etw:sink/1" in outs and set(outs) <= {"out etw:sink/1", "out <exiting>"}, f"where it goes out: {set(outs)}", trace)


def test_collections_tell_words(t):
    """Collections and their effect on the heap: reclaimed words, and a chain of sizes that ends with the size that the VM reports."""
    node = t.node()
    worker, _, trace = traced(t, node, """
        erlang*:::gc_major-start /args[0] == $$1/ { @c["start"] = count(); @n["need"] = min(args[1]); }
        erlang*:::gc_major-end /args[0] == $$1/ { @c["end"] = count(); printf("reclaimed %d\\n", args[1]); }
        erlang*:::gc_minor-start /args[0] == $$1/ { @m["minor"] = count(); @n["needed"] = min(args[1]); }
        erlang*:::gc_minor-end /args[0] == $$1/ { @m["ended"] = count(); }
        erlang*:::process-heap_grow /args[0] == $$1/ { printf("grow %d %d\\n", args[1], args[2]); }
        erlang*:::process-heap_shrink /args[0] == $$1/ { printf("shrink %d %d\\n", args[1], args[2]); }
        erlang*:::gc_major-end, erlang*:::gc_minor-end /args[0] == $$1/
            { printf("now %d %d %d %d %d\\n", args[2], args[3], args[4] > 0, args[5], probename == "gc_major-end"); }""")
    does(node, worker, """
        garbage_collect(), garbage_collect(),
        100000 = (fun() -> L = lists:seq(1, 100000), garbage_collect(), length(L) end)(), garbage_collect(), garbage_collect(),
        B = binary:copy(<<1>>, 8000000), garbage_collect(), byte_size(B)""")
    size = blocks(node, worker, "heap_block_size") + blocks(node, worker, "old_heap_block_size")
    got = lines(t, trace)
    found = aggregation(trace.out.text())
    t.equal(found["start"], found["end"], "major collections end", trace)
    t.true(found["start"] >= 5, "five were asked for", trace)
    t.equal(found.get("minor", 0), found.get("ended"), "minor collections end", trace)
    for need in ("need", "needed"):
        t.true(found.get(need, -1) >= 0, f"the least of {need} is there, and no negative number", trace)
    reclaimed = [int(line.split()[1]) for line in got if line.startswith("reclaimed")]
    t.true(max(reclaimed) >= 200000, f"the list's 200000 words come free: {reclaimed}", trace)
    now = [[int(word) for word in line.split()[1:]] for line in got if line.startswith("now")]
    t.true(max(heap for heap, *_ in now) >= 200000, f"words of the young heap that the list takes: {now}", trace)
    t.true(all(old == 0 for _, old, _, _, major in now if major), f"nothing is old after a major collection: {now}", trace)
    t.true(all(stack for _, _, stack, _, _ in now), f"words of the stack: {now}", trace)
    t.true(max(words for _, _, _, words, _ in now) >= 1000000, f"words of the binary: {now}", trace)
    chain = [(line.split()[0], int(line.split()[1]), int(line.split()[2])) for line in got if re.match("grow|shrink", line)]
    t.true(any(c[0] == "grow" for c in chain) and any(c[0] == "shrink" for c in chain), "both happen", trace)
    for (kind, old, new), after in zip(chain, chain[1:] + [(None, size, 0)]):
        t.true((new > old) == (kind == "grow") and old != new, f"{kind} from {old} to {new}", trace)
        t.equal(new, after[1], "what one leaves, the next one finds", trace)


def test_old_heap_that_grows(t):
    """A process keeps all that it makes, without any major collection: its young heap keeps its size, and the growth of the old one is
    seen."""
    node = t.node()
    worker, _, trace = traced(t, node, """
        erlang*:::process-heap_grow /args[0] == $$1/ { printf("%d %d %d\\n", args[1], args[2], args[3]); }
        erlang*:::gc_minor-end /args[0] == $$1/ { @old = max(args[3]); }""")
    does(node, worker, """
        process_flag(fullsweep_after, 65535), put(kept, []),
        [begin put(kept, [lists:seq(1, 100) | get(kept)]), erlang:garbage_collect(self(), [{type, minor}]) end || _ <- lists:seq(1, 500)]""")
    left = blocks(node, worker, "old_heap_block_size")
    grown = [[int(word) for word in line.split()] for line in lines(t, trace) if re.fullmatch(r"\d+ \d+ \d+", line)]
    t.true(len([old for _, _, old in grown if old > 0]) >= 3, f"growth of the old heap is seen: {grown}", trace)
    t.equal(grown[-1][2], left, "the old heap's block at last", trace)
    t.true(int(trace.out.text().split()[-1]) >= 90000, "words in use of it", trace)


def test_max_heap(t):
    """A process with a maximal heap size reaches it once, and is killed for it."""
    node = t.node()
    worker, _, trace = traced(t, node, 'erlang*:::gc-max_heap { printf("max %s %d %d\\n", args[0], args[1], args[2]); }')
    eater = does(node, worker, """
        {P, R} = spawn_opt(fun() -> lists:seq(1, 1000000) end,
                           [monitor, {fullsweep_after, 0}, {max_heap_size, #{size => 10000, kill => true, error_logger => false}}]),
        receive {'DOWN', R, _, _, killed} -> P end""")
    got = lines(t, trace)
    t.equal(len(got), 1, "once", trace)
    words = t.match(got[0], rf"^max {re.escape(eater)} (\d+) (\d+)$")
    t.true(0 < int(words[1]) < 100000, "words of its heap", trace)
    t.equal(int(words[2]), 0, "words of its old heap, which there is none of after major collections", trace)


def test_exit_signals(t):
    """exit/2 to a process, to the caller itself, to a dead process, to a port, to another node."""
    node, other = t.node(), t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    far = node(f"P = spawn('{other.name}', erlang, hibernate, [erlang, apply, [fun() -> ok end, []]]), P")
    sleepers = node("[spawn(fun() -> receive never -> ok end end) || _ <- [1, 2, 3]]")
    dead = node("P = spawn(fun() -> ok end), (fun W() -> case is_process_alive(P) of true -> W(); false -> P end end)()")
    worker, _, trace = traced(t, node, """
        erlang*:::process-exit_signal { printf("exit %s %s %s\\n", args[0], args[1], args[2]); }
        erlang*:::process-exit_signal-remote { printf("remote %s %s %s %s %d %d %d\\n", args[0], args[1], args[2], args[3], args[4], args[5], args[6]); }""")
    a, b, c = sleepers
    does(node, worker, f"""
        exit({pid(a)}, kill), exit({pid(b)}, normal), exit({pid(b)}, {{why, "so"}}), exit({pid(dead)}, late),
        apply(erlang, exit, [{pid(c)}, shutdown]), exit({pid(far)}, {{far, away}}), (catch exit(self(), normal)),
        Port = open_port({{spawn, "cat"}}, []), unlink(Port), exit(Port, bye), (catch exit(no_pid, x)), ok""")
    t.equal(lines(t, trace),
            [f"exit {worker} {a} killed", f"exit {worker} {b} normal", f'exit {worker} {b} {{why,"so"}}', f"exit {worker} {c} shutdown",
             f"remote {worker} {node_text(other)} {far} {{far,away}} 0 0 0", f"exit {worker} {worker} normal"], "signals", trace)


HIBERNATES = """
erlang*:::process-hibernate /args[0] == $$1/ { printf("itself %s\\n", args[1]); }
erlang*:::process-hibernate /args[0] == $$3/ { printf("plain %s\\n", args[1]); }
erlang*:::process-hibernate /args[0] == $$4/ { printf("server %s\\n", args[1]); }
"""


def test_hibernation(t):
    """The probe fires once each time that a process hibernates, and not again when a signal has woken it for a moment."""
    node = t.node()
    otp = int(node("etw:release()"))
    plain, server = node("etw:sleeper(plain)"), node("etw:sleeper(server)")
    worker, _, trace = traced(t, node, HIBERNATES, plain, server)
    does(node, worker, f"""
        [begin
             P ! {{hibernate, self()}}, receive {{P, now}} -> ok end,
             etw:await_hibernation(P), garbage_collect(P), process_info(P, messages), exit(P, normal), etw:await_hibernation(P),
             P ! {{ping, self()}}, receive {{P, pong}} -> ok end
         end || P <- [{pid(plain)}, {pid(server)}], _ <- [1, 2, 3]], ok""")
    does(node, worker, "etw:nap(0)")
    got = lines(t, trace)
    if otp >= 28:
        t.equal(got, 3 * ["plain etw:woken/1"] + 3 * ["server gen_server:loop_hibernate/4"], "hibernations", trace)
    else:
        t.equal(got, 3 * ["plain erlang:hibernate/3"] + 3 * ["server proc_lib:wake_up/3"], "hibernations", trace)


def test_list(t):
    """-l -v shows what is known about each probe: those of the node with their ids, those that it lacks with the reason."""
    status, said, _ = t.run("-lv", node=t.node())
    t.equal(status, 0, "exit status")
    t.match(said, r"^ +10 +erlang\d+ +process-spawn\n(.*\n)*?\tWhen\n\t\ta process is spawned, in the spawner\n\tArguments\n"
                  r"\t\targ0: char \*p: the new process as text, <0.N.S>\n(.*\n)*?\t\tOTP 25, 27, 29: vm tier\n")
    t.match(said, r"^ +- +erlang +copy-struct\n(.*\n)*?\t\tOTP 25, 27, 29: kernel tier\n\t\t\(the VM has no event for it\)\n")
    status, alone, _ = t.run("--local", "-lv")
    t.equal(status, 0, "exit status without a node")
    t.match(alone, r"^ +- +erlang +process-spawn\n")
    t.match(alone, r"^ +- +erlang +user_trace-n0...950\n")
