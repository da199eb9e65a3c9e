"""The D scripts that OTP ships (runtime_tools/examples) compile unchanged, and run where their probes exist.

They are taken from the OTP release under test, never from here. Debian has them in runtime_tools, or in erlang-examples.
"""
import glob
import gzip
import os
import re

import erlt
from erlt import READY, Skipped, cache, pid, until_printed

PID, PORT = r"<[0-9.]+>", r"#Port<[0-9.]+>"
# What must be printed while a node does known things (WORK below): for each script, (probe, pattern). A pattern is not required where its
# probe does not exist.
PRINTED = {
    "dist.d": [("dist-monitor", r"^monitor: pid \d+, who NODE, what nodeup, node OTHER, type visible, reason undefined$"),
               ("dist-monitor", r"^monitor: pid \d+, who NODE, what nodedown, node OTHER, type visible, reason disconnect$")],
    "driver1.d": [("driver-start", rf"^driver start pid {PID} driver name cat port {PORT}$"),
                  ("driver-output", rf"^driver output(v?) pid {PID} port {PORT} port name cat bytes 5$"),
                  ("driver-start", rf"^driver start pid {PID} driver name tcp_inet port {PORT}$"),
                  ("driver-control", rf"^driver control pid {PID} port {PORT} port name tcp_inet command \d+ bytes \d+$"),
                  ("driver-stop", rf"^driver stop pid {PID} driver name tcp_inet port {PORT}$")],
    "function-calls.d": [("", rf"^pid {PID} enter \((local|global)\) +etw:work/1 depth (\d+|-1)$"), ("", rf"^pid {PID} return etw:work/1 depth \d+$")],
    "garbage-collection.d": [("gc_major-start", rf"^GC major start pid {PID} need 0 words$"),
                             ("gc_major-end", rf"^GC major end pid {PID} reclaimed \d+ words$")],
    "memory1.d": [("process-heap_grow", rf"^proc heap grow pid {PID} \d+ -> \d+ bytes$"),
                  ("process-heap_shrink", rf"^proc heap shrink pid {PID} \d+ -> \d+ bytes$")],
    "messages.d": [("message-send", r"^NOTE: message-queue"), ("message-send", rf"^send:   {PID} -> {PID}: 3 words$"),
                   ("message-queued", rf"^queued: {PID}: 3 words, queue len 4294967295$")],
    "port1.d": [("port-open", rf"^port open pid {PID} port name cat port {PORT}$"),
                ("port-command", rf"^port command pid {PID} port {PORT} port name cat command type command$"),
                ("port-control", rf"^port control pid {PID} port {PORT} port name tcp_inet command \d+ \S+$"),
                ("port-connect", rf"^port connect pid {PID} port {PORT} port name cat new pid {PID}$"),
                ("port-exit", rf"^port exit pid {PID} port {PORT} port name cat reason normal$")],
    "process-scheduling.d": [("process-scheduled", rf"^  Schedule pid {PID} mfa etw:sink/1$"),
                             ("process-unscheduled", rf"^Unschedule pid {PID}$")],
    "spawn-exit.d": [("process-spawn", rf"^pid {PID} mfa etw:child/1$"), ("process-exit", rf"^pid {PID} reason normal$")],
    "user-probe.d": [("user_trace-i4s4", rf"^{PID}  11 12 0 0 'one' 'two' '' ''$")],
    "user-probe-n.d": [("user_trace-n0", rf"^probe n0: {PID}  13 0 0 0 'zero' '' '' ''$"),
                       ("user_trace-n1", rf"^probe n1: {PID}  14 0 0 0 '' '' '' ''$")],
}
# In one process: a program behind a port, a port that changes its owner, a socket, user probes, a heap that grows and shrinks.
WORK = """fun() ->
    P = open_port({spawn, "cat"}, [binary]), port_command(P, "hello"), receive {P, {data, _}} -> ok end,
    O = spawn(fun() -> receive close -> port_close(P) end end), port_connect(P, O), unlink(P), O ! close,
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}, {active, false}]), {ok, {_, At}} = inet:sockname(L),
    {ok, C} = gen_tcp:connect({127, 0, 0, 1}, At, []), {ok, S} = gen_tcp:accept(L), gen_tcp:send(C, "hello"),
    gen_tcp:recv(S, 5), [gen_tcp:close(X) || X <- [C, S, L]],
    dyntrace:p(11, 12, "one", "two"), dyntrace:pn(0, 13, "zero"), dyntrace:pn(1, 14),
    length(lists:seq(1, 100000)), garbage_collect(), garbage_collect(), ok
end"""
EXPECTED = ["dist.d", "driver1.d", "function-calls.d", "garbage-collection.d", "memory1.d", "messages.d", "port1.d",
            "process-scheduling.d", "spawn-exit.d", "user-probe-n.d", "user-probe.d"]


def examples(t, node):
    """Returns {name: path} of the release's scripts; compressed ones are unpacked in the test's folder."""
    root = os.path.join(cache(), f"otp-{t.otp}") if t.otp else ""
    lib = root + node("list_to_binary(code:lib_dir(runtime_tools))")
    found = {}
    for path in (glob.glob(lib + "/examples/*.d") +
                 glob.glob(root + "/usr/share/doc/erlang-examples/lib/runtime_tools-*/doc/examples/*.d*")):
        name = os.path.basename(path)
        if name.endswith(".gz"):
            name = name[:-3]
            with gzip.open(path, "rt", encoding="utf-8") as f:
                path = t.file(name, f.read())
        found.setdefault(name, path)
    if not found:
        raise Skipped("no examples of runtime_tools are installed")
    t.equal([n for n in EXPECTED if n not in found], [], "scripts that OTP has always shipped and that are not there")
    return found


def but_known(name, err):
    """Returns the errors without one warning, which OTP's own driver1.d deserves: it shows an argument of driver-finish that OTP's probe
    does not have."""
    if name != "driver1.d":
        return err
    return re.sub(r".*: warning: no probe of erlang\*:::driver-finish passes an arg1; it is 0\n.*\n.*it has only arg0\n", "", err)


def test_compile_unchanged(t):
    """erltrace -e: no error, nothing printed."""
    node = t.node()
    for name, path in examples(t, node).items():
        status, out, err = t.run("-e", "-s", path, node=node)
        t.equal((status, out, but_known(name, err)), (0, "", ""), name)


def test_named_what_is_lacking(t):
    """Without -Z, a script with probes that do not exist is refused; the error names them and gives the reasons."""
    node = t.node()
    refused = 0
    for name, path in examples(t, node).items():
        if name in ("function-calls.d", "garbage-collection.d", "user-probe.d", "user-probe-n.d"):  # all of their probes exist
            continue
        status, out, err = t.run("--for", "500ms", "-s", path, node=node)
        if status == 0:
            continue  # no probe is missing
        refused += 1
        t.equal((status, out), (1, ""), name)
        missing = re.findall(r"\[D_PDESC_ZERO\] probe description (\S+) does not match any probes\n.*\n +\| \^~+  (.*)", err)
        t.true(missing, f"{name}: no description is named in\n{err}")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for description, why in missing:
            t.true(description in text, f"{name} does not describe {description}")
            t.match(why, "the VM has no event|OTP has not had it since|never fires it", name)
    t.true(refused > 0, "something is lacking")


@erlt.alone
def test_run(t):
    """With -Z each script runs, prints what it should where its probes exist, and says which do not."""
    node = t.node()
    node("code:ensure_loaded(dyntrace)")  # a trace does not wait long for it to load
    other = t.node(fresh=True)
    worker = pid(node("etw:worker()"))
    listed = set(re.findall(r" (\S+)$", t.run("-ln", "erlang*:::", node=node)[1], re.M))
    for name, path in examples(t, node).items():
        trace = t.trace("-qZ", "-x", "bufsize=16m", "-n", READY, "-s", path, node=node)  # large enough for a consumer that has to wait for a processor
        trace.ready()
        for work in ("calls", "spawns", "sends"):
            node(f"etw:{work}({worker}, 20)")
        node(f"etw:collects({worker}, 3)")
        if name != "function-calls.d":  # each call there prints two lines
            t.equal(node(f"etw:as({worker}, {WORK})"), "ok", "work")
        if name == "dist.d":
            node(f"net_kernel:connect_node('{other.name}'), erlang:disconnect_node('{other.name}')")
        expected = [p.replace("NODE", node.name).replace("OTHER", other.name) for probe, p in PRINTED[name] if not probe or probe in listed]
        for pattern in expected:
            # Some arrive by message, after the event; some are dropped when every function is traced.
            until_printed(trace, pattern, lambda: node(f"etw:calls({worker}, 20)"))
        trace.interrupt()
        t.equal(trace.end(), 0, name, trace)
        if name != "function-calls.d":  # it prints more than there is room for
            skipped = r".*: note: no probe matches erlang\*:::(\S+) as yet: it is skipped\n.*\n.*\n"
            t.equal(re.sub(skipped, "", but_known(name, trace.err.text())), "", name, trace)
            t.true(listed.isdisjoint(re.findall(skipped, trace.err.text())), f"{name}: what is skipped is not there", trace)


def test_list_says_why(t):
    """-l of probes that are known but do not exist."""
    node = t.node()
    status, out, err = t.run("-ln", "erlang*:::message-receive", "-n", "erlang*:::aio_pool-add", "-n", "erlang*:::nope", node=node)
    t.equal((status, len(out.splitlines())), (0, 1), "status and lines")
    t.equal(re.sub(r"; a kernel tier could.*", "", err).splitlines(), [
        "erltrace: failed to match erlang*:::message-receive: the VM has no event for taking a message out of the queue; "
        "message-queued fires when it is put in",
        "erltrace: failed to match erlang*:::aio_pool-add: OTP has not had it since release 23",
        "erltrace: failed to match erlang*:::nope: No probe matches description"], "error output")
