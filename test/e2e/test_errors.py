"""Errors are reported: what failed, where, and what to do; with exit status 1, or 2 for a wrong use of the command line.

Each message is checked for three things: it names what was asked for, it carries its tag, and it has a hint."""
import os
import re
import shutil
import socket
import subprocess
import threading

import erlt
from erlt import COOKIE, HOST, READY, ROOT, TOOL, Failed, aggregation, pid


def complaint(t, status, expected, out, err, *patterns):
    """Checks that the run failed with this status and printed nothing, and that its error output matches each pattern."""
    t.equal(status, expected, f"exit status; standard error was:\n{err}")
    t.equal(out.strip(), "", "standard output")
    for pattern in patterns:
        t.match(err, pattern, "standard error")


def test_syntax(t):
    status, out, err = t.run("-n", "erlang*:::process-spawn { @[arg0 = count(); }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_SYNTAX\]", r":1:\d+: error:", r"\^")


def test_syntax_in_file(t):
    path = t.file("broken.d", "/* a script */\nerlang*:::process-spawn\n{\n    n = = 1;\n}\n")
    status, out, err = t.run("-s", path, node=t.node())
    complaint(t, status, 1, out, err, r"broken\.d:4:\d+: error: \[D_SYNTAX\]", r"n = = 1;")


def test_undefined_variable(t):
    status, out, err = t.run("-n", "erlang*:::process-spawn { @ = sum(timestmp); }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_(IDENT|VAR)_UNDEF\].*timestmp", r"did you mean 'timestamp'")


def test_wrong_probe(t):
    status, out, err = t.run("-n", "erlang*:::process-spwan { n++; }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_PDESC_ZERO\]", "process-spwan", "process-spawn")


def test_wrong_dash(t):
    """A name that differs in a dash is suggested rather than one that shares a part."""
    status, out, err = t.run("-n", "erlang*:::process_exit { n++; }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_PDESC_ZERO\]", "no probe 'process_exit'; did you mean 'process-exit'")


def test_wrong_module(t):
    status, out, err = t.run("-n", "erlang*:listss:map:entry { n++; }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_PDESC_ZERO\]", "listss")


def test_wrong_arity(t):
    status, out, err = t.run("-n", "erlang*:lists:map/7:entry { n++; }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_PDESC_ZERO\]", "map/7")


def test_kernel_is_refused(t):
    """What needs the kernel is an error at its position, which says so."""
    for clause, word in (("stop();", "stop"), ("stack();", "stack"), ("x = caller;", "caller"), ("raise(2);", "raise")):
        status, out, err = t.run("-w", "-n", "dtrace:::BEGIN { " + clause + " }", node=t.node())
        complaint(t, status, 1, out, err, word, "needs the (kernel|local) tier", r":1:\d+: error:")


def test_unknown_option(t):
    status, out, err = t.run("-x", "nosuchoption=1", "-n", "BEGIN { exit(0); }", node=t.node())
    t.true(status in (1, 2), f"exit status {status}")
    t.match(err, "nosuchoption")


def test_usage(t):
    status, out, err = t.run("--no-such-flag")
    complaint(t, status, 2, out, err, "no-such-flag")
    status, out, err = t.run()
    t.equal(status, 2, "exit status without any argument")
    t.match(err, "(?i)usage")


def test_missing_script(t):
    status, out, err = t.run("-s", "/nonexistent/x.d", node=t.node())
    complaint(t, status, 1, out, err, "/nonexistent/x.d", "No such file")


def test_node_down(t):
    """No node has this name: the error says which name, and which nodes there are."""
    there = t.node()
    status, out, err = t.run("--node", f"nobody{os.getpid()}@{HOST}", "--cookie", "x", "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, r"\[NODE_DOWN\]", f"nobody{os.getpid()}", there.short)


def test_node_without_epmd(t):
    """A host that cannot be resolved."""
    status, out, err = t.run("--node", "a@no-such-host.invalid", "--cookie", "x", "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, r"\[NODE_(HOST|DOWN)\]", "no-such-host.invalid")


def test_wrong_cookie(t):
    """The node logs a wrong cookie, which the tool cannot prevent; but the tool tries only once."""
    node = t.node(fresh=True)
    t.logs = ["Invalid challenge reply"]
    status, out, err = t.run("--node", node.name, "--cookie", "wrong", "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, r"\[NODE_COOKIE\]", node.short, "--cookie")
    logged = node.logged()
    t.equal([len(logged), bool(logged) and t.logs[0] in logged[0]], [1, True], f"the log: {logged}")
    t.run("nodes")
    t.equal(len(node.logged()), 0, "lines of the log when the nodes are listed")


def test_unnamed_nodes_hear_nothing(t):
    """No proof of a cookie goes to a node that the user did not name: a wrong one would appear in that node's log."""
    named, other = t.node(), t.node(fresh=True)
    other("erlang:set_cookie(list_to_atom(\"changed\"))")
    for cookie in ((), ("--cookie", "wrong"), ("--cookie", COOKIE)):
        status, out, _ = t.run("nodes", *cookie)
        t.equal([status, other.short in out], [0, True], f"nodes {cookie}")
        for args in (["doctor"], ["-l", "-m", "lists"], ["doctor", "--node", other.short + "x"], ["-l", "--node", other.short + "x"],
                     ["doctor", "-p", named.pid], ["-l", "-p", named.pid, "-m", "lists"]):
            t.run(*args, *cookie)
            t.silent(other)
    t.logs = ["Invalid challenge reply"]  # of the named node, which gets a wrong cookie


def test_port_is_no_node(t):
    """Another program listens where epmd says the node is: it hangs up, or says nothing. Neither may hang the tool."""
    for silent in (False, True):
        server = socket.create_server(("", 0))
        name = f"fake{os.getpid()}{int(silent)}"
        epmd = socket.create_connection(("127.0.0.1", int(os.environ.get("ERL_EPMD_PORT", "4369"))))
        port = server.getsockname()[1]
        body = (b"x" + port.to_bytes(2, "big") + b"M\0\0\6\0\5" + len(name).to_bytes(2, "big") + name.encode() + b"\0\0")
        epmd.sendall(len(body).to_bytes(2, "big") + body)
        epmd.recv(16)
        kept = []

        def accept(server=server, kept=kept, silent=silent):
            while True:
                try:
                    c, _ = server.accept()
                except OSError:
                    return
                if silent:
                    kept.append(c)
                else:
                    c.close()

        threading.Thread(target=accept, daemon=True).start()
        try:
            status, out, err = t.run("--node", f"{name}@{HOST}", "--cookie", "x", "-n", "BEGIN { exit(0); }")
        finally:
            server.close()
            epmd.close()
            for c in kept:
                c.close()
        complaint(t, status, 1, out, err, r"\[NODE_\w+\]", name)


def test_wrong_pid(t):
    t.needs_proc()
    status, out, err = t.run("-p", os.getpid(), "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, f"failed to grab pid {os.getpid()}: ", r"\[NODE_\w+\]")
    status, out, err = t.run("-p", "x7", "-n", "BEGIN { exit(0); }")
    t.true(status in (1, 2), f"exit status {status}")
    t.match(err, "x7")


def test_not_distributed(t):
    """A BEAM without a node name: the error says so, and how to give it one."""
    t.needs_proc()
    with subprocess.Popen(["erl", "-noinput", "-eval", 'io:format("up~n").'], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as p:
        try:
            p.stdout.readline()
            status, out, err = t.run("-p", p.pid, "-n", "BEGIN { exit(0); }")
        finally:
            p.kill()
    complaint(t, status, 1, out, err, r"\[NODE_NOTDIST\]", "-s?name", "RELEASE_DISTRIBUTION", r"erltrace:run/2 \(doc/erlang-api\.md\)")


def test_accepts_no_connections(t):
    """A node that was told not to listen: the error says so, and what can trace it."""
    t.needs_proc()
    erlt.epmd()
    with subprocess.Popen(["erl", "-noinput", "-sname", f"deaf{os.getpid()}", "-dist_listen", "false", "-eval", 'io:format("up~n").'],
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as p:
        try:
            p.stdout.readline()
            status, out, err = t.run("-p", p.pid, "-n", "BEGIN { exit(0); }")
        finally:
            p.kill()
    complaint(t, status, 1, out, err, r"\[NODE_DOWN\]", "accepts no connections: it was started with -dist_listen false", "erltrace:run/2")


def test_faults_repeat(t):
    """A fault that repeats is reported once and then counted; each one is in the counts, in text and in JSON."""
    node, n = t.node(), 3001
    clause = READY + "erlang*:etw:work:entry { trace(1 / (arg0 - arg0)); } erlang*:etw:work:entry { @ = count(); } END { printa(@); }"
    for options, lines in (((), lambda trace: [line for line in trace.err.lines if "divide-by-zero" in line]),
                           (("--json",), lambda trace: [line for line in trace.out.lines if "DTRACEFLT_DIVZERO" in line])):
        worker = node("etw:worker()")
        trace = t.trace(*options, "-qn", clause, node=node)
        trace.ready()
        node(f"etw:calls({pid(worker)}, {n})")
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        told = lines(trace)
        count = [int(c[1] or c[2]) if (c := re.search(r"\((\d+) more like this\)$|\"count\":(\d+)\}$", line)) else 1 for line in told]
        t.equal(sum(count), n, "faults", trace)
        t.true(count[0] == 1 and len(told) < n // 10, f"{len(told)} lines for {n} faults", trace)


def test_what_was_meant(t):
    """For a name that every node refuses, the hint is what does the job in a node; the position is that of the call."""
    node = t.node()
    for text, column, hint in (("erlang*:etw::entry { @[stack()] = count(); }", 24, r"ustack\(\) is the stack of the Erlang process"),
                               ("erlang*:etw::entry { n++; stack(); }", 27, r"ustack\(\) is the stack of the Erlang process"),
                               ("erlang*:etw::entry { trace(ucaller); }", 28, r"erlcaller is the Erlang function that called")):
        status, out, err = t.run("-qn", text, node=node)
        complaint(t, status, 1, out, err, rf"^erltrace: -n:1:{column}: error", hint)
    for option, meant in (("--nodes", "erltrace nodes"), ("--pid", "-p PID"), ("--jsn", "--json"), ("--setcookie", "--cookie COOKIE")):
        status, out, err = t.run(option)
        complaint(t, status, 2, out, err, rf"unknown option {option}; did you mean '{meant}'\?")
    status, out, err = t.run("-x", "foo", "-n", "BEGIN")
    complaint(t, status, 1, out, err, "failed to set -x foo: Invalid option name", "doc/command.md lists the options")


def test_otp_too_old(t):
    """A node that claims to be OTP 24."""
    node = t.node(fresh=True)
    node('etw:fake_release("24")')
    status, out, err = t.run("-n", "BEGIN { exit(0); }", node=node)
    complaint(t, status, 1, out, err, r"\[OTP_OLD\]", "24", "25")


def agent_root(t, nif):
    """Returns a folder like the checkout's own, with another NIF library."""
    root = os.path.join(t.folder, "root")
    shutil.copytree(os.path.join(ROOT, "priv", "agent"), os.path.join(root, "priv", "agent"))
    with open(os.path.join(root, "priv", "erltrace_agent.so"), "wb") as f:
        f.write(nif)
    return root


def test_nif_not_loadable(t):
    """A library that the node cannot load: the dynamic loader's own message is shown, and nothing stays in the node."""
    node = t.node()
    with open(os.path.join(ROOT, "priv", "erltrace_agent.so"), "rb") as f:
        good = f.read()
    for bad in (b"this is no library\n", b"", good[:4096], good[:18] + b"\xb7\0" + good[20:]):
        status, out, err = t.run("-n", "BEGIN { exit(0); }", node=node, env={"ERLTRACE_ROOT": agent_root(t, bad)})
        complaint(t, status, 1, out, err, r"\[(AGENT_NIF|AGENT_FILES|OTP_ARCH)\]", r"erltrace_agent\.so")
        t.clean(node)
        shutil.rmtree(os.path.join(t.folder, "root"))


def test_nif_of_a_name_that_nobody_has(t):
    """What the node's loader refuses in each folder is said once, by its own words, with what helps: by the doctor, too. Nothing stays in the node."""
    node = t.node()
    with open(os.path.join(ROOT, "priv", "erltrace_agent.so"), "rb") as f:
        root = agent_root(t, f.read().replace(b"\0strtod\0", b"\0strtoX\0"))
    own = ("--node", node.name, "--cookie", node.cookie)
    for command in ((*own, "-n", "BEGIN { exit(0); }"), ("doctor", *own)):
        status, out, err = t.run(*command, env={"ERLTRACE_ROOT": root})
        complaint(t, status, 1, "" if command[0] == "doctor" else out, err, r"\[AGENT_NIF\] the node's system does not load the agent's library, erltrace_agent\.so: .*strtoX")
        t.equal((err.count("strtoX"), "--agent-dir" in err), (1, False), err)
        t.match(err, "build or install erltrace again")
        t.clean(node)


def test_agent_missing(t):
    """An incomplete installation."""
    os.makedirs(os.path.join(t.folder, "empty"))
    status, out, err = t.run("-n", "BEGIN { exit(0); }", node=t.node(), env={"ERLTRACE_ROOT": os.path.join(t.folder, "empty")})
    complaint(t, status, 1, out, err, "erltrace_agent", r"\[AGENT_\w+\]")


def test_no_writable_folder(t):
    """A folder that cannot be used is named in an error, or the usual ones are used."""
    node = t.node()
    status, out, err = t.run("--agent-dir", "/proc/nonexistent", "-n", "BEGIN { exit(0); }", node=node)
    if status != 0:
        complaint(t, status, 1, out, err, "/proc/nonexistent")
    t.clean(node)


def test_other_tracer(t):
    """dbg traces every process (before OTP 27 a process has one tracer): the tool says which tracer prevents it and leaves it alone. From
    OTP 27 on both work side by side."""
    node = t.node(fresh=True)
    node("etw:dbg_all()")
    worker = node("etw:worker()")  # spawned after dbg started: it has no tracer
    flags = "[[P, etw:flags(P)] || P <- processes()]"
    before = dict(node(flags))
    trace = t.trace("-q", "-n", READY + """
        erlang*:::message-send /copyinstr(arg0) == $$1/ { @["send"] = count(); }
        erlang*:etw:work/1:entry { @["call"] = count(); }""", worker, node=node)
    if trace.out.wait("ready") is None:
        # Refusal is one of two correct results.
        t.equal(trace.end(), 1, "exit status", trace)
        t.match(trace.err.text(), r"\[AGENT_BUSY\]")
    else:
        node(f"etw:sends({pid(worker)}, 997)")
        node(f"etw:calls({pid(worker)}, 1009)")
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        t.equal(aggregation(trace.out.text()).get("call"), 1009, "calls", trace)
        if int(node("etw:release()")) < 27:
            t.match(trace.err.text(), r"(?i)tracer|dbg|traced by", "says that somebody else traces")
        else:
            t.true(aggregation(trace.out.text()).get("send", 0) >= 997, "sends beside dbg", trace)
    now = dict(node(flags))
    t.equal(now, {**now, **{p: f for p, f in before.items() if p in now}}, "dbg's flags")
    node("etw:dbg_stop()")


def test_foreign_name(t):
    """A process in the node has registered our name."""
    node = t.node(fresh=True)
    node("etw:hold(erltrace_agent)")
    status, _, err = t.run("-q", "-n", "profile:::tick-10ms { exit(0); }", node=node)
    t.true(status in (0, 1), f"exit status {status}: {err}")
    if status == 1:
        t.match(err, r"\[AGENT_\w+\]")
    t.equal(node("is_pid(whereis(erltrace_agent))"), True, "the other's process lives")


def test_fault(t):
    """A division by zero at run time is reported with its probe; the trace goes on."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        dtrace:::BEGIN { zero = 0; }
        erlang*:etw:work/1:entry { @["n"] = count(); x = 1 / zero; @["never"] = count(); }
        dtrace:::ERROR { @["error"] = count(); }""", node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, 13)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.err.text(), "error on enabled probe ID .*etw:work/1:entry.*divide-by-zero")
    found = aggregation(trace.out.text())
    t.equal(found, {"n": 13, "error": 13}, "counts", trace)


def test_tool_is_there(_):
    """The binary under test exists and runs without a node."""
    p = subprocess.run([TOOL, "--version"], stdout=subprocess.PIPE, check=False, text=True)
    if p.returncode != 0 or "erltrace" not in p.stdout:
        raise Failed(f"--version: {p.returncode} {p.stdout}")


def test_what_never_comes(t):
    """Once the probes are known, the tool warns of a program that is valid but from which nothing can come; a program from which something
    can come gets no warning."""
    node = t.node()
    process = node.pid
    for text, patterns in (
            ("erlang*:etw:work:entry /pid == 87/ { }", [r":1:1: warning: the predicate is never true on the probe that it is for", f"here {process}; .*args\\[0\\] == \"<0.87.0>\""]),
            ("erlang*:::message-send /pid == 87 || pid == 88/ { }", [r"never true on the probe"]),
            ("erlang*:etw::entry /probefunc == \"work\"/ { }", [r"never true on any of the \d+ probes that it is for", r"probefunc has the arity, as in \"\w+/\d+\""]),
            ("erlang*:etw:work:entry /probemod == \"lists\"/ { }", [r"never true", r"as in \"etw\""]),
            ("erlang*:erlang:length/1:entry { }", [r":1:1: warning: calls of erlang:length/1 by its name are instructions.*apply or through a fun", "probe the functions that call it"]),
            ("erlang*:erlang:self:return { }", [r"calls of erlang:self/0 by its name are instructions"]),
            ("erlang*:erlang:is_*:entry /probefunc != \"is_record/2\"/ { }", []),
            ("erlang*:erlang:is_[abi]*:entry { }", []),
            ("erlang*:maps:is_key:entry { }", [r"calls of maps:is_key/2 by its name are instructions"]),
            ("erlang*:erlang:is_bi*:entry { }", [r"calls of these functions by their names are instructions"]),
            ("erlang*:etw:work:entry /pid == %d && probefunc == \"work/1\"/ { }" % process, []),
            ("erlang*:lists:member:entry /arg0 != 87 && timestamp == 5/ { }", [r"this is always true: arg0 is the address"]),
            ("BEGIN /0/ { }", [])):
        status, out, err = t.run("-e", "-n", text, node=node)
        t.equal((status, out), (0, ""), text)
        err = "\n".join(x for x in err.splitlines() if not re.match(r"erltrace: description .* matched", x))
        t.equal(len(re.findall("warning: ", err)), 1 if patterns else 0, f"warnings of {text}: {err}")
        for pattern in patterns:
            t.match(err, pattern, text)


def test_calls_that_are_instructions(t):
    """The warning is true: calls by name are not seen, calls by apply and through funs are."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", READY + "erlang*:erlang:tuple_size/1:entry /args[0] == $$1/ { @ = count(); }", re.search("<[0-9.]+>", worker)[0], node=node)
    trace.ready()
    t.match(trace.err.text(), "warning: calls of erlang:tuple_size/1 by its name are instructions")
    # etw has no such call compiled in; erl_eval would apply the function.
    node("""begin {ok, _, B} = compile:forms([{attribute, 1, module, sizes}, {attribute, 1, export, [{by_name, 1}, {by_fun, 2}]},
        {function, 1, by_name, 1, [{clause, 1, [{var, 1, 'T'}], [], [{call, 1, {remote, 1, {atom, 1, erlang}, {atom, 1, tuple_size}}, [{var, 1, 'T'}]}]}]},
        {function, 1, by_fun, 2, [{clause, 1, [{var, 1, 'F'}, {var, 1, 'T'}], [], [{call, 1, {var, 1, 'F'}, [{var, 1, 'T'}]}]}]}]),
        {module, sizes} = code:load_binary(sizes, "", B), ok end""")
    node(f"""etw:as({worker}, fun() -> [2 = sizes:by_name({{a, b}}) || _ <- lists:seq(1, 11)],
        [2 = sizes:by_fun(fun erlang:tuple_size/1, {{a, b}}) || _ <- lists:seq(1, 5)], [2 = apply(erlang, tuple_size, [{{a, b}}]) || _ <- lists:seq(1, 3)], ok end)""")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal([int(x) for x in trace.out.lines if x.strip().isdigit()], [8], "calls seen", trace)
