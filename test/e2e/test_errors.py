"""What goes wrong is said: what, where, what to do; with exit status 1, or 2 for a wrong use of the command line.

Each message is looked at for three things: it names what was asked for, it carries its tag, and it has a hint."""
import os
import shutil
import socket
import subprocess
import threading

from erlt import COOKIE, HOST, READY, ROOT, TOOL, Failed, aggregation, pid


def complaint(t, status, expected, out, err, *patterns):
    """The run failed with this status, printed nothing, and its error output matches each pattern."""
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


def test_wrong_module(t):
    status, out, err = t.run("-n", "erlang*:listss:map:entry { n++; }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_PDESC_ZERO\]", "listss")


def test_wrong_arity(t):
    status, out, err = t.run("-n", "erlang*:lists:map/7:entry { n++; }", node=t.node())
    complaint(t, status, 1, out, err, r"\[D_PDESC_ZERO\]", "map/7")


def test_kernel_is_refused(t):
    """What needs the kernel: an error at its position that says so, not silence."""
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
    """No node of this name: says which name, and which nodes there are."""
    there = t.node()
    status, out, err = t.run("--node", f"nobody{os.getpid()}@{HOST}", "--cookie", "x", "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, r"\[NODE_DOWN\]", f"nobody{os.getpid()}", there.short)


def test_node_without_epmd(t):
    """A host that cannot be resolved."""
    status, out, err = t.run("--node", "a@no-such-host.invalid", "--cookie", "x", "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, r"\[NODE_(HOST|DOWN)\]", "no-such-host.invalid")


def test_wrong_cookie(t):
    """The node tells its log, which nobody can prevent; but the tool tries once."""
    node = t.node(fresh=True)
    t.logs = ["Invalid challenge reply"]
    status, out, err = t.run("--node", node.name, "--cookie", "wrong", "-n", "BEGIN { exit(0); }")
    complaint(t, status, 1, out, err, r"\[NODE_COOKIE\]", node.short, "--cookie")
    logged = node.logged()
    t.equal([len(logged), bool(logged) and t.logs[0] in logged[0]], [1, True], f"the log: {logged}")
    t.run("nodes")
    t.equal(len(node.logged()), 0, "lines of the log when the nodes are listed")


def test_unnamed_nodes_hear_nothing(t):
    """No proof of a cookie goes to a node that nobody has named: one that is wrong would be in that node's log."""
    named, other = t.node(), t.node(fresh=True)
    other("erlang:set_cookie(list_to_atom(\"changed\"))")
    for cookie in ((), ("--cookie", "wrong"), ("--cookie", COOKIE)):
        status, out, _ = t.run("nodes", *cookie)
        t.equal([status, other.short in out], [0, True], f"nodes {cookie}")
        for args in (["doctor"], ["-l", "-m", "lists"], ["doctor", "--node", other.short + "x"], ["-l", "--node", other.short + "x"],
                     ["doctor", "-p", named.pid], ["-l", "-p", named.pid, "-m", "lists"]):
            t.run(*args, *cookie)
            t.silent(other)
    t.logs = ["Invalid challenge reply"]  # of the node that was named, with a cookie that is wrong


def test_port_is_no_node(t):
    """Something else listens where epmd says the node is: it hangs up, or says nothing. Neither may hang the tool."""
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
    """A BEAM without a node name: says that, and how it would get one."""
    t.needs_proc()
    with subprocess.Popen(["erl", "-noinput", "-eval", 'io:format("up~n").'], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as p:
        try:
            p.stdout.readline()
            status, out, err = t.run("-p", p.pid, "-n", "BEGIN { exit(0); }")
        finally:
            p.kill()
    complaint(t, status, 1, out, err, r"\[NODE_NOTDIST\]", "-s?name")


def test_otp_too_old(t):
    """A node that says it is OTP 24."""
    node = t.node(fresh=True)
    node('etw:fake_release("24")')
    status, out, err = t.run("-n", "BEGIN { exit(0); }", node=node)
    complaint(t, status, 1, out, err, r"\[OTP_OLD\]", "24", "25")


def agent_root(t, nif):
    """A folder like the checkout's own, with another NIF library."""
    root = os.path.join(t.folder, "root")
    shutil.copytree(os.path.join(ROOT, "priv", "agent"), os.path.join(root, "priv", "agent"))
    with open(os.path.join(root, "priv", "erltrace_agent.so"), "wb") as f:
        f.write(nif)
    return root


def test_nif_not_loadable(t):
    """A library that the node cannot load: the dynamic loader's own words are shown, nothing stays in the node."""
    node = t.node()
    with open(os.path.join(ROOT, "priv", "erltrace_agent.so"), "rb") as f:
        good = f.read()
    for bad in (b"this is no library\n", b"", good[:4096], good[:18] + b"\xb7\0" + good[20:]):
        status, out, err = t.run("-n", "BEGIN { exit(0); }", node=node, env={"ERLTRACE_ROOT": agent_root(t, bad)})
        complaint(t, status, 1, out, err, r"\[(AGENT_NIF|AGENT_FILES|OTP_ARCH)\]", r"erltrace_agent\.so")
        t.clean(node)
        shutil.rmtree(os.path.join(t.folder, "root"))


def test_agent_missing(t):
    """An incomplete installation."""
    os.makedirs(os.path.join(t.folder, "empty"))
    status, out, err = t.run("-n", "BEGIN { exit(0); }", node=t.node(), env={"ERLTRACE_ROOT": os.path.join(t.folder, "empty")})
    complaint(t, status, 1, out, err, "erltrace_agent", r"\[AGENT_\w+\]")


def test_no_writable_folder(t):
    """A folder that cannot be used is named, or the usual ones serve."""
    node = t.node()
    status, out, err = t.run("--agent-dir", "/proc/nonexistent", "-n", "BEGIN { exit(0); }", node=node)
    if status != 0:
        complaint(t, status, 1, out, err, "/proc/nonexistent")
    t.clean(node)


def test_other_tracer(t):
    """dbg holds every process (one tracer a process before OTP 27): says who is in the way, leaves it alone. On 27 and
    later both work side by side."""
    node = t.node(fresh=True)
    node("etw:dbg_all()")
    worker = node("etw:worker()")  # born after dbg came: nobody traces it
    flags = "[[P, etw:flags(P)] || P <- processes()]"
    before = dict(node(flags))
    trace = t.trace("-q", "-n", READY + """
        erlang*:::message-send /copyinstr(arg0) == $$1/ { @["send"] = count(); }
        erlang*:etw:work/1:entry { @["call"] = count(); }""", worker, node=node)
    if trace.out.wait("ready") is None:
        # Refusing is one of two right answers.
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
    """Somebody in the node has registered our name."""
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
