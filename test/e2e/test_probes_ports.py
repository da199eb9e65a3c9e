"""Probes of ports and drivers: each fires a known number of times, and every argument is checked.

What a port does is printed as one line for each firing, "probe|arg0|arg1|...", and compared port by port. The lines of one port come from
several threads, so their order is not checked. (No expression for a node has a receive with a timeout: evaluated rather than compiled, that
can crash OTP 25 and 27, traced or not.)"""
import os

import erlt
from erlt import READY, library, pid, until_printed

# Every probe, all arguments.
ALL = r"""
erlang*:::port-open, erlang*:::driver-start, erlang*:::driver-stop, erlang*:::port-link, erlang*:::port-unlink,
erlang*:::driver-ready_input
    { printf("%s|%s|%s|%s\n", probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)); }
erlang*:::port-command, erlang*:::port-exit, erlang*:::port-connect, erlang*:::port-register, erlang*:::port-unregister
    { printf("%s|%s|%s|%s|%s\n", probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), copyinstr(arg3)); }
erlang*:::port-control, erlang*:::driver-output, erlang*:::driver-outputv, erlang*:::port-data
    { printf("%s|%s|%s|%s|%d\n", probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), (int)arg3); }
erlang*:::driver-control, erlang*:::driver-call
    { printf("%s|%s|%s|%s|%d|%d\n", probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2), (int)arg3, (int)arg4); }
"""
TURNS = r"""
erlang*:::port-scheduled, erlang*:::port-unscheduled
    { printf("%s|%s|%s|%s\n", probename, copyinstr(arg0), copyinstr(arg1), copyinstr(arg2)); }
"""

# What the VM and the inet drivers call their operations (inet_drv.c, INET_REQ_GETOPTS).
GETOPTS = 0x03F1A300 + 8


def lines_of(trace, port):
    """Returns what was printed about a port, sorted."""
    return sorted(line for line in trace.out.lines if port in line.split("|")[1:4])


def expect(t, trace, port, lines, once_a_turn=None):
    """Checks that these lines, and no others, were printed about a port. once_a_turn: a line that stands for all that happens in one turn."""
    got, expected = lines_of(trace, port), sorted(lines)
    if once_a_turn is not None:
        t.true(1 <= got.count(once_a_turn) <= expected.count(once_a_turn), f"{once_a_turn}: {got.count(once_a_turn)}", trace)
        got, expected = ([line for line in of if line != once_a_turn] for of in (got, expected))
    t.equal({"missing": [x for x in expected if x not in got], "more": [x for x in got if x not in expected], "lines": len(got)},
            {"missing": [], "more": [], "lines": len(expected)}, f"lines of {port}", trace)


def of(otp):
    return int(otp or 25)


def driver(node):
    """Loads et_drv into a node."""
    folder = os.path.dirname(library("et_drv"))
    # Each node has its own copy; the worker that loads it stays.
    node(f"""etw:as(etw:worker(), fun() -> case erl_ddll:load_driver("{folder}", "et_drv") of ok -> ok; {{error, E}} ->
             erl_ddll:format_error(E) end end)""")


def start(t, script, *args):
    """Starts a trace; returns (node, trace, two workers)."""
    node = t.node()
    driver(node)
    workers = [node("etw:worker()") for _ in range(2)]
    trace = t.trace("-q", "-x", "strsize=512", "-n", READY + script, *args, node=node)
    trace.ready()
    return node, trace, workers


def finish(t, trace):
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("drop" not in trace.err.text() and "rror" not in trace.err.text(), "nothing was dropped, and no errors", trace)


def test_program(t):
    """A port for a program: both forms of commands, data, names, links, owners, the ways in which it ends."""
    node, trace, (a, b) = start(t, ALL + r"""
        erlang*:::port-open /copyinstr(arg1) == "cat -u"/ { self->opened = 4711; }
        erlang*:::port-exit /copyinstr(arg2) == "cat -u"/ { printf("self|%s|%d\n", copyinstr(arg0), self->opened); }
        erlang*:::message-send /substr(copyinstr(arg0), 0, 5) == "#Port"/ { printf("a port sent a message as a process\n"); }""")
    wa, wb = pid(a), pid(b)
    p = node(f"""etw:as({wa}, fun() ->
        P = open_port({{spawn, "cat -u"}}, [binary]), put(port, P),
        [begin port_command(P, binary:copy(<<"x">>, N)), receive {{P, {{data, _}}}} -> ok end end || N <- [1, 10, 100]],
        P ! {{self(), {{command, ["ab", <<"cde">>]}}}}, receive {{P, {{data, _}}}} -> ok end,
        register(etp_one, P), unregister(etp_one),
        list_to_binary(erlang:port_to_list(P)) end)""")
    port = f'list_to_port("{p}")'
    node(f"""etw:as({wb}, fun() -> P = {port}, link(P), unlink(P), erlang:port_info(P, id), ok end)""")
    node(f"""etw:as({wa}, fun() -> port_connect({port}, {wb}), ok end)""")
    node(f"""etw:as({wb}, fun() -> {port} ! {{self(), {{connect, {wa}}}}}, receive {{_, connected}} -> ok end end)""")
    node(f"""etw:as({wa}, fun() -> {port} ! {{self(), close}}, receive {{_, closed}} -> ok end end)""")
    q = node(f"""etw:as({wa}, fun() -> P = open_port({{spawn, "cat -u"}}, []), register(etp_two, P), port_close(P),
        list_to_binary(erlang:port_to_list(P)) end)""")
    r = node(f"""etw:as({wa}, fun() -> P = open_port({{spawn, "cat -u"}}, []), unlink(P), put(port, P),
        list_to_binary(erlang:port_to_list(P)) end)""")
    node(f"""etw:as({wb}, fun() -> P = list_to_port("{r}"), M = monitor(port, P), exit(P, {{because, 7}}),
        receive {{'DOWN', M, _, _, _}} -> ok end end)""")
    c, s = node("""begin {C, M} = spawn_monitor(fun() -> P = open_port({spawn, "cat -u"}, []),
        exit({done, list_to_binary(erlang:port_to_list(P))}) end), receive {'DOWN', M, _, _, {done, S}} -> [C, S] end end""")
    trace.wait(f"driver-stop.*{s}")
    finish(t, trace)
    name = "cat -u"

    def opened(who, port):
        return [f"port-open|{who}|{name}|{port}", f"driver-start|{who}|{name}|{port}", f"port-link|{who}|{port}|{name}"]

    def closed(who, owner, port, reason):
        return [f"port-command|{who}|{port}|{name}|close", f"port-exit|{owner}|{port}|{name}|{reason}", f"driver-stop|{owner}|{name}|{port}"]

    expect(t, trace, p, opened(a, p) + closed(a, a, p, "normal") +
           4 * [f"port-command|{a}|{p}|{name}|command", f"driver-ready_input|{a}|{p}|{name}"] +
           [f"{what}|{a}|{p}|{name}|{n}" for n in (1, 10, 100, 5) for what in ("driver-output", "port-data")] +
           [f"port-register|{a}|{p}|{name}|etp_one", f"port-unregister|{a}|{p}|{name}|etp_one",
            f"port-link|{b}|{p}|{name}", f"port-unlink|{b}|{p}|{name}",
            f"port-command|{a}|{p}|{name}|connect", f"port-connect|{a}|{p}|{name}|{b}", f"port-link|{b}|{p}|{name}",
            f"port-command|{b}|{p}|{name}|connect", f"port-connect|{b}|{p}|{name}|{a}"], f"driver-ready_input|{a}|{p}|{name}")
    expect(t, trace, q, opened(a, q) + closed(a, a, q, "normal") +
           [f"port-register|{a}|{q}|{name}|etp_two", f"port-unregister|{a}|{q}|{name}|etp_two"])
    expect(t, trace, r, opened(a, r) + [f"port-unlink|{a}|{r}|{name}"] + closed(b, a, r, "{because,7}"))
    expect(t, trace, s, opened(c, s) + closed(c, c, s, '{done,<<"%s">>}' % s))
    t.equal(sorted(line for line in trace.out.lines if line.startswith("self|")),
            sorted(3 * [f"self|{a}|4711"] + [f"self|{c}|4711"]), "self-> is the process that arg0 names", trace)
    t.true("as a process" not in trace.out.text(), "message-send is for processes", trace)


def test_sockets(t):
    """TCP: what is sent and what arrives, in active and in passive mode; the accepted socket has a name and an owner. UDP."""
    node, trace, (a, b) = start(t, ALL)
    sizes = [1, 100, 1000, 10000]
    listener, client, accepted, udp = node(f"""etw:as({pid(a)}, fun() ->
        Opts = [binary, {{active, false}}, {{ip, {{127, 0, 0, 1}}}}],
        {{ok, L}} = gen_tcp:listen(0, Opts), {{ok, N}} = inet:port(L),
        {{ok, C}} = gen_tcp:connect({{127, 0, 0, 1}}, N, Opts), {{ok, A}} = gen_tcp:accept(L),
        [begin ok = gen_tcp:send(A, binary:copy(<<0>>, S)), {{ok, _}} = gen_tcp:recv(C, S) end || S <- {sizes}],
        ok = inet:setopts(A, [{{active, true}}]),
        ok = gen_tcp:send(C, "list"), receive {{tcp, A, _}} -> ok end,
        ok = gen_tcp:controlling_process(A, {pid(b)}),
        {{ok, U}} = gen_udp:open(0, [{{ip, {{127, 0, 0, 1}}}}]), {{ok, M}} = inet:port(U),
        [{{ok, _}} = inet:getopts(U, [sndbuf]) || _ <- lists:seq(1, 13)],
        ok = gen_udp:send(U, {{127, 0, 0, 1}}, M, "datagram"), receive {{udp, U, _, _, "datagram"}} -> ok end,
        gen_tcp:close(C), gen_udp:close(U), put(l, L),
        [list_to_binary(erlang:port_to_list(P)) || P <- [L, C, A, U]] end)""")
    trace.wait(f"driver-stop.*{accepted}")
    finish(t, trace)
    ref = 28 if of(t.otp) >= 27 else 0  # before the data, since OTP 26
    tcp = "tcp_inet"
    found = lines_of(trace, accepted)

    def some(port, *probes):
        return sorted(line for line in lines_of(trace, port) if line.split("|")[0] in probes)

    t.equal(some(accepted, "driver-outputv"), sorted(f"driver-outputv|{a}|{accepted}|{tcp}|{n + ref}" for n in sizes), "sent", trace)
    t.equal(some(accepted, "port-command"), sorted(4 * [f"port-command|{a}|{accepted}|{tcp}|command"] +
                                                   [f"port-command|{a}|{accepted}|{tcp}|connect"]), "commands", trace)
    t.equal(some(accepted, "port-data", "port-connect", "port-exit", "driver-stop", "driver-ready_input"), sorted(
        [f"port-data|{a}|{accepted}|{tcp}|4", f"driver-ready_input|{a}|{accepted}|{tcp}", f"port-connect|{a}|{accepted}|{tcp}|{b}",
         f"port-exit|{b}|{accepted}|{tcp}|normal", f"driver-stop|{b}|{tcp}|{accepted}"]), "the accepted socket", trace)
    t.true(not [line for line in found if "<unknown>" in line], "the accepted socket has a name and an owner", trace)
    t.equal(some(client, "port-data"), sorted(f"port-data|{a}|{client}|{tcp}|{n}" for n in sizes), "arrived", trace)
    t.equal(some(client, "driver-outputv"), [f"driver-outputv|{a}|{client}|{tcp}|{4 + ref}"], "sent back", trace)
    t.equal(some(client, "port-open", "driver-start"), sorted(f"{x}|{a}|{tcp}|{client}" for x in ("port-open", "driver-start")), "opened", trace)
    t.equal(some(listener, "port-open", "port-data", "port-exit"), [f"port-open|{a}|{tcp}|{listener}"], "the listener", trace)
    # A datagram has its address in front: 11 bytes.
    t.equal(some(udp, "driver-output", "port-data"),
            [f"driver-output|{a}|{udp}|udp_inet|{8 + 11 + ref}", f"port-data|{a}|{udp}|udp_inet|8"], "datagram", trace)
    options = [line for line in lines_of(trace, udp) if f"|{GETOPTS}" in line]
    # gen_udp:close asks once more.
    t.equal(sorted(options), sorted(14 * [f"port-control|{a}|{udp}|udp_inet|{GETOPTS}", f"driver-control|{a}|{udp}|udp_inet|{GETOPTS}|1"]),
            "operations", trace)


def test_driver(t):
    """A linked-in driver: output, control, call, turns. A port that a driver makes gets its name somewhat later."""
    node, trace, (a, _) = start(t, ALL + TURNS)
    p = node(f"""etw:as({pid(a)}, fun() ->
        P = open_port({{spawn_driver, "et_drv"}}, [binary]),
        ["12345" = port_control(P, 1, "12345") || _ <- lists:seq(1, 5)],
        [{{some, [term]}} = erlang:port_call(P, 77, {{some, [term]}}) || _ <- lists:seq(1, 3)],
        [begin port_command(P, "1234567"), receive {{P, {{data, _}}}} -> ok end end || _ <- lists:seq(1, 17)],
        port_close(P), list_to_binary(erlang:port_to_list(P)) end)""")
    bytes_ = node("byte_size(term_to_binary({some, [term]}))")
    made = node(f"""etw:as({pid(a)}, fun() -> P = open_port({{spawn_driver, "et_drv"}}, [binary]), port_control(P, 2, ""),
        receive {{et_child, C}} -> put(child, C) end, list_to_binary(erlang:port_to_list(C)) end)""")
    until_printed(trace, rf"driver-output\|.*{made}\|et_child\|3", lambda: node(
        f"""etw:as({pid(a)}, fun() -> C = get(child), port_command(C, "abc"), receive {{C, {{data, _}}}} -> ok end end)"""))
    node(f"etw:as({pid(a)}, fun() -> port_close(get(child)), ok end)")
    trace.wait(f"driver-stop.*{made}")
    finish(t, trace)
    name = "et_drv"
    lines = lines_of(trace, p)
    turns = ("port-scheduled", "port-unscheduled", "driver-ready_input")
    expected = ([f"port-open|{a}|{name}|{p}", f"driver-start|{a}|{name}|{p}", f"port-link|{a}|{p}|{name}"] +
                5 * [f"port-control|{a}|{p}|{name}|1", f"driver-control|{a}|{p}|{name}|1|5"] +
                3 * [f"driver-call|{a}|{p}|{name}|77|{bytes_}"] +
                17 * [f"port-command|{a}|{p}|{name}|command", f"driver-output|{a}|{p}|{name}|7", f"port-data|{a}|{p}|{name}|7"] +
                [f"port-command|{a}|{p}|{name}|close", f"port-exit|{a}|{p}|{name}|normal", f"driver-stop|{a}|{name}|{p}"])
    t.equal([line for line in lines if not line.startswith(turns)], sorted(expected), "lines", trace)
    # A port does what it is told on the caller's thread if its lock is free, otherwise in a turn for I/O. The lock checker of a debug
    # emulator makes each try for that lock fail in every second millisecond (erts_lc_trylock_force_busy).
    operations = {"open": 1, "control": 5, "call": 3, "command": 17, "close": 1}
    at_once = {what: lines.count(f"port-scheduled|{p}|{name}|{what}") for what in operations}
    waited = {what: n - at_once[what] for what, n in operations.items()}
    io = lines.count(f"port-scheduled|{p}|{name}|io")
    t.true(all(0 <= n and (n == 0 or erlt.DEBUG and io > 0) for n in waited.values()), f"turns that did not come: {waited}, {io} for I/O", trace)
    for what in ("open", "control", "call", "command"):
        t.equal(lines.count(f"port-unscheduled|{p}|{name}|{what}"), at_once[what], f"ends of turns: {what}", trace)
    read = lines.count(f"driver-ready_input|{a}|{p}|{name}")
    t.true(min(1, waited["command"]) <= read <= waited["command"], f"{read} turns for I/O with data, {waited} waited", trace)
    t.equal([line for line in lines_of(trace, made) if line.startswith(("port-exit", "driver-stop", "port-open"))],
            [f"driver-stop|{a}|et_child|{made}", f"port-exit|{a}|{made}|et_child|normal"], "the driver's own port", trace)


def test_commands_that_wait(t):
    """A linked-in driver that answers a command that had to wait for a turn for I/O: the answers count as reading, once for each turn."""
    node, trace, (a, _) = start(t, ALL + TURNS)
    p = node(f"""etw:as({pid(a)}, fun() -> P = open_port({{spawn_driver, "et_drv"}}, [binary, {{parallelism, true}}]),
        [begin P ! {{self(), {{command, "123"}}}}, receive {{P, {{data, _}}}} -> ok end end || _ <- lists:seq(1, 9)],
        port_close(P), list_to_binary(erlang:port_to_list(P)) end)""")
    trace.wait(f"driver-stop.*{p}")
    finish(t, trace)
    lines, name = lines_of(trace, p), "et_drv"
    for line in (f"port-command|{a}|{p}|{name}|command", f"driver-output|{a}|{p}|{name}|3", f"port-data|{a}|{p}|{name}|3"):
        t.equal(lines.count(line), 9, line, trace)
    t.equal([line for line in lines if line.startswith("port-scheduled") and line.endswith("|command")], [], "none was done at once", trace)
    read = lines.count(f"driver-ready_input|{a}|{p}|{name}")
    t.true(1 <= read <= min(9, lines.count(f"port-scheduled|{p}|{name}|io")), f"{read} turns with data", trace)


def test_ports_from_before(t):
    """Ports that existed when the trace began: their names and owners are known. The consumer's own connection causes no events."""
    node = t.node()
    a, b = node("etw:worker()"), node("etw:worker()")
    p = node(f"""etw:as({pid(a)}, fun() -> P = open_port({{spawn, "cat -n"}}, [binary]), port_connect(P, {pid(b)}), unlink(P),
        list_to_binary(erlang:port_to_list(P)) end)""")
    trace = t.trace("-q", "-n", READY + ALL + TURNS, node=node)
    trace.ready()
    # A port that does not give its name at once is asked again within a second.
    until_printed(trace, rf"port-link\|{a}\|{p}\|cat -n", lambda: node(f"""etw:as({pid(a)}, fun() -> P = list_to_port("{p}"), link(P), unlink(P), ok end)"""))
    own = node("[list_to_binary(erlang:port_to_list(P)) || {_, P} <- erlang:system_info(dist_ctrl), is_port(P)]")
    node(f"""etw:as({pid(b)}, fun() -> P = list_to_port("{p}"), P ! {{self(), {{command, "z"}}}}, receive {{P, {{data, _}}}} -> ok end,
        exit(P, over), ok end)""")
    trace.wait(rf"port-exit\|.*{p}")
    finish(t, trace)
    got = [line for line in lines_of(trace, p) if not line.startswith(("port-sch", "port-unsch", "port-link", "port-unlink"))]
    t.equal(got, sorted([f"port-command|{b}|{p}|cat -n|command", f"driver-output|{b}|{p}|cat -n|1",
                         f"driver-ready_input|{b}|{p}|cat -n", f"port-data|{b}|{p}|cat -n|{len('     1') + 2}",
                         f"port-command|{b}|{p}|cat -n|close", f"port-exit|{b}|{p}|cat -n|over", f"driver-stop|{b}|cat -n|{p}"]), "lines", trace)
    t.true(own != [] and not any(lines_of(trace, o) for o in own), f"nothing of the connection {own}", trace)


def test_churn(t):
    """Hundreds of ports open and close in several processes: each is counted, each has its name, and nothing stays."""
    node = t.node()
    driver(node)
    workers = [node("etw:worker()") for _ in range(4)]
    trace = t.trace("-q", "-n", READY + """
        erlang*:::port-open /copyinstr(arg1) == "et_drv"/ { @["open", copyinstr(arg0)] = count(); }
        erlang*:::driver-start /copyinstr(arg1) == "et_drv"/ { @["start", copyinstr(arg0)] = count(); }
        erlang*:::port-command /copyinstr(arg2) == "et_drv"/ { @[copyinstr(arg3), copyinstr(arg0)] = count(); }
        erlang*:::driver-output /copyinstr(arg2) == "et_drv"/ { @bytes["bytes", copyinstr(arg0)] = sum(arg3); }
        erlang*:::port-exit /copyinstr(arg2) == "et_drv"/ { @["exit", copyinstr(arg0)] = count(); }
        erlang*:::driver-stop /copyinstr(arg1) == "et_drv"/ { @["stop", copyinstr(arg0)] = count(); }
        erlang*:::port-exit /copyinstr(arg2) == "<unknown>" || copyinstr(arg0) == "<unknown>"/ { @["unknown", "exit"] = count(); }""", node=node)
    trace.ready()
    each = 211
    fun = f"""fun() -> [begin P = open_port({{spawn_driver, "et_drv"}}, []), port_command(P, "123"), port_close(P) end
        || _ <- lists:seq(1, {each})], ok end"""
    node("etw:all([" + ", ".join(f"{{{pid(w)}, {fun}}}" for w in workers) + "])")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = {}
    for line in trace.out.lines:
        words = line.split()
        if len(words) == 3:
            found[words[0], words[1]] = int(words[2])
    expected = {(what, w): each * (3 if what == "bytes" else 1) for w in workers
                for what in ("open", "start", "command", "bytes", "close", "exit", "stop")}
    t.equal(found, expected, "counts by process", trace)
    t.clean(node, 5000)
    for w in workers:  # they keep what the driver has answered, and a process that looks through their messages would find long queues
        node(f"etw:stop({pid(w)})")


def test_somebody_elses_ports(t):
    """Before OTP 27 a port that another tool traces is left alone, and the tracer named; from OTP 27 on both trace it."""
    node = t.node()
    driver(node)
    a = node("etw:worker()")
    p = node(f"""etw:as({pid(a)}, fun() -> P = open_port({{spawn_driver, "et_drv"}}, [binary]), put(port, P),
        put(other, spawn(fun() -> receive stop -> ok end end)), erlang:trace(P, true, [ports, {{tracer, get(other)}}]),
        list_to_binary(erlang:port_to_list(P)) end)""")
    trace = t.trace("-q", "-n", READY + ALL, node=node)
    trace.ready()
    node(f"""etw:as({pid(a)}, fun() -> port_command(get(port), "abc"), receive {{_, {{data, _}}}} -> ok end end)""")
    if of(t.otp) < 27:
        trace.wait_error("1 port is traced by <.*>: those are not seen")
    else:
        trace.wait(f"driver-output.*{p}.*3")
    finish(t, trace)
    lines = [line for line in lines_of(trace, p) if not line.startswith("driver-ready_input")]  # this one may occur: test_commands_that_wait
    t.equal(len(lines), 0 if of(t.otp) < 27 else 3, "lines of the port", trace)
    kept = node(f"etw:as({pid(a)}, fun() -> {{tracer, T}} = erlang:trace_info(get(port), tracer), T =:= get(other) end)")
    t.equal(kept, True, "the other tool's tracer")
    node(f"etw:as({pid(a)}, fun() -> get(other) ! stop, port_close(get(port)), ok end)")


def test_flags_taken_away(t):
    """Before OTP 27 any process can clear our flags of ports: the trace notices and says so."""
    node = t.node()
    trace = t.trace("-q", "-n", READY + "erlang*:::port-open { @ = count(); }", node=node)
    trace.ready()
    node("begin erlang:trace(new_ports, false, [all]), [erlang:trace(P, false, [all]) || P <- erlang:ports()], ok end")
    if of(t.otp) < 27:
        trace.wait_error("another tool cleared the trace flags")
    else:
        node("begin P = open_port({spawn, \"true\"}, []), catch port_close(P), ok end")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    if of(t.otp) >= 27:
        t.match(trace.out.text(), r"^ +1$", "the session is not touched")
