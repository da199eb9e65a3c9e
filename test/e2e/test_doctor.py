"""erltrace doctor: what can be traced in a node, what cannot, why, and what would help."""
import os
import re
import signal

from erlt import READY, ROOT, json_lines, pid
from test_errors import agent_root
from test_profile import few_descriptors, has_task_clock


def doctor(t, node):
    status, out, err = t.run("doctor", "--json", "--node", node.name, "--cookie", node.cookie)
    findings = [f for f in json_lines(out) if f["type"] == "finding"]
    limits = len([f for f in findings if f["level"] == "limit"])
    t.equal(json_lines(out)[0], {"type": "verdict", "node": node.name, "traceable": True, "limits": limits}, "it begins with the verdict")
    return status, findings, out + err


def of(findings, subject, level=None):
    return [f for f in findings if f["subject"] == subject and level in (None, f["level"])]


def test_healthy_node(t):
    """Nothing prevents tracing: status 0. The release, the tracers, the probes and what the release lacks are reported. Nothing is left
    behind."""
    node = t.node()
    release = node("etw:release()")
    status, findings, said = doctor(t, node)
    t.equal(status, 0, said)
    t.match(of(findings, "vm", "ok")[0]["text"], rf"^OTP {release}, ERTS [\d.]+, with the JIT, \d+ of \d+ schedulers online")
    t.equal({f["node"] for f in findings}, {node.name}, "nodes")
    for subject in ("consumers", "tracers", "system_monitor", "probes") + (("gc", "sessions") if int(release) >= 27 else ()):
        t.true(of(findings, subject, "ok"), f"{subject} is ok in {said}")
    t.true(int(re.match(r"(\d+) named probes", of(findings, "probes", "ok")[0]["text"])[1]) >= 10, "probes")
    shared = [f["text"] for f in of(findings, "tracers", "note")]
    t.equal([("left alone" in s, "agent's own processes" in s) for s in shared], [(True, True)] if int(release) < 27 else [],
            "what tracers are to each other")
    lacking = [f["text"] for f in of(findings, "probes", "note")]
    t.true(any("copy-object" in text and "no event" in text for text in lacking), f"what no tier has: {lacking}")
    known = [f["text"] for f in of(findings, "known_fault")]
    t.equal(any("OTP-19840" in k for k in known), release == "27", f"a fault of OTP 27: {known}")
    t.clean(node, 15000)


def test_in_words(t):
    """The same as text, one line for each finding."""
    node = t.node()
    status, out, err = t.run("doctor", "--node", node.name, "--cookie", node.cookie)
    t.equal((status, err), (0, ""), "status and errors")
    t.match(out, rf"\A{re.escape(node.name)} can be traced without limits\.\n  ok     found              process {node.pid} of user ")
    t.match(out, r"^  ok     vm                 OTP \d+, ERTS ")
    t.match(out, r"^  ok     probes             \d+ named probes, and those of every function$")


def test_the_second_is_not_there(t):
    """A node that can be traced has all its rows, though another one that was named cannot; so has that one, if it is a process of this host."""
    node = t.node()
    status, out, err = t.run("doctor", "--json", "--node", node.name, "--node", "nobody" + node.name, "--cookie", node.cookie)
    t.equal(status, 1, out + err)
    said = json_lines(out)
    t.equal([e["tag"] for e in said if e["type"] == "error"], ["NODE_DOWN"], "errors")
    t.equal([(v["node"], v["traceable"]) for v in said if v["type"] == "verdict"], [(node.name, True)], "verdicts")
    for subject in ("found", "distribution", "vm", "probes"):
        t.true(of([f for f in said if f["type"] == "finding"], subject, "ok"), f"{subject} in {out}")
    other = t.node(fresh=True)
    os.kill(other.pid, signal.SIGSTOP)
    try:
        status, out, err = t.run("doctor", "--json", "--node", node.name, "--node", other.name, "--cookie", node.cookie)
    finally:
        os.kill(other.pid, signal.SIGCONT)
    t.equal(status, 1, out + err)
    t.equal([(v["node"], v["traceable"]) for v in json_lines(out) if v["type"] == "verdict"], [(node.name, True), (other.name, False)], out + err)


def test_clock_of_profiles(t):
    """It says by which clock profile-N samples: the task clock where the system lets the node have it, otherwise the sampler. Nothing is left."""
    t.needs_proc()
    node = t.node(fresh=True)
    if has_task_clock():
        t.match(of(doctor(t, node)[1], "profile", "ok")[0]["text"], "^profile-N samples by the task clock, wall-N by a sampler that wakes at random times$")
    restore = few_descriptors(node)
    status, findings, said = doctor(t, node)
    t.equal(status, 0, said)
    t.match(of(findings, "profile", "note")[0]["text"], "^profile-N samples by a sampler that wakes at random times: the system refuses the task clock")
    restore()
    t.equal(node("etw:timers()"), [], "clocks")
    t.clean(node, 15000)


def test_somebody_traces(t):
    """Other tracers are named. Before OTP 27 they prevent tracing; from OTP 27 on only those that trace collections do: status 3."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    node(f"eto:kept(eto:process({worker}, [garbage_collection]))")
    status, findings, said = doctor(t, node)
    t.equal(status, 3, said)
    if int(node("etw:release()")) >= 27:
        t.match(of(findings, "gc", "limit")[0]["text"], "eto_tracer.* traces garbage collection")
        t.match(of(findings, "tracers", "note")[0]["text"], r"^1 process is traced by <[\d.]+> .eto_tracer., alongside us")
    else:
        found = of(findings, "tracers", "limit")[0]
        t.match(found["text"], r"^1 process is traced by <[\d.]+> .eto_tracer.: a process has one tracer before OTP 27")
        t.match(found["help"], "dbg:stop")
    node("eto:stop(get(eto))")
    t.equal(doctor(t, node)[0], 0, "when they have ended")


def test_others_there(t):
    """A session, another consumer and, from OTP 28 on, a system monitor are reported and prevent nothing. Before OTP 28 a system monitor
    does: status 3."""
    node = t.node()
    release = int(node("etw:release()"))
    trace = t.trace("-qn", READY + "erlang*:::process-spawn { n++; }", node=node)
    node("begin erlang:system_monitor(self(), [{long_gc, 100000}]), ok end")
    session = release >= 27
    if session:
        node(f"eto:kept(eto:session({pid(node('etw:worker()'))}, [send], none))")
    trace.ready()
    status, findings, said = doctor(t, node)
    t.equal(status, 0 if release >= 28 else 3, said)
    t.match(of(findings, "consumers")[0]["text"], "^1 other consumer of erltrace$")
    if release >= 28:
        t.match(of(findings, "system_monitor", "note")[0]["text"], "has the system monitor .*long_gc")
    else:
        found = of(findings, "system_monitor", "limit")[0]
        t.match(found["text"], "has the system monitor .*long_gc.* gc-long.* are refused")
        t.match(found["help"], "end that tool")
    if session:
        t.match(of(findings, "sessions", "note")[0]["text"], "trace session eto of another tool")
        node("eto:stop(get(eto))")
    node("begin erlang:system_monitor(undefined), ok end")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_system_tracer(t):
    """A system tracer of seq_trace prevents trace_seq, on every release: status 3, and the tracer is named."""
    node = t.node()
    node("seq_trace:set_system_tracer(P = spawn(fun() -> receive never -> ok end end)), register(t_seq, P)")
    status, findings, said = doctor(t, node)
    t.equal(status, 3, said)
    found = of(findings, "seq_trace", "limit")[0]
    t.match(found["text"], r"<0\.\d+\.\d+> \(t_seq\) is the system tracer of seq_trace.* trace_seq is refused")
    t.match(found["help"], "set_system_tracer")
    node("seq_trace:set_system_tracer(false), exit(whereis(t_seq), kill)")
    t.equal(doctor(t, node)[0], 0, "when it has gone")


def test_cannot_be_traced(t):
    """What makes tracing impossible is named, with what would help: status 1."""
    node = t.node()
    t.logs = ["Invalid challenge reply"]
    status, out, err = t.run("doctor", "--node", node.name, "--cookie", "not-the-cookie")
    t.equal(status, 1, "wrong cookie")
    t.match(err, r"\[NODE_COOKIE\] .*\n +hint: ")
    status, out, err = t.run("doctor", "--node", "et_no_such_node")
    t.equal(status, 1, "no such node")
    t.match(err, r"\[NODE_\w+\] .*\n +hint: ")


# What may be in the way, in the order in which it is told.
WAY = ["found", "permitted", "c_library", "processor", "jit", "release", "folders", "distribution"]


def test_way(t):
    """What is on the way to a node is told in its order, before what the node reports, also what comes after the thing that is in the way."""
    node = t.node()
    release = node("etw:release()")
    findings = doctor(t, node)[1]
    t.equal([f["subject"] for f in findings[:len(WAY)]], WAY)
    t.equal({f["level"] for f in findings[:len(WAY)]}, {"ok"}, findings)
    for subject, text in (("found", rf"^process {node.pid} of user \w+$"), ("c_library", "^(glibc|musl) "), ("release", f"^OTP {release}$"),
                          ("folders", "^the agent's library was loaded in the node$"), ("distribution", r"^over TCP, at port \d+$")):
        t.match(of(findings, subject)[0]["text"], text)
    t.logs = ["Invalid challenge reply"]
    own = ("--node", node.name)
    with open(os.path.join(ROOT, "priv", "erltrace_agent.so"), "rb") as f:
        refused = agent_root(t, f.read().replace(b"\0strtod\0", b"\0strtoX\0"))
    for args, env, subject, text, levels in (
            (("--cookie", "not-the-cookie"), {}, "distribution", "refused the cookie", {"folders": "note", "distribution": "limit"}),
            (("--cookie", node.cookie), {"ERLTRACE_ROOT": refused}, "c_library", "strtoX", {"c_library": "limit", "folders": "note"})):
        status, out, err = t.run("doctor", "--json", *own, *args, env=env)
        verdict, *said = [line for line in json_lines(out) if line["type"] != "error"]
        t.equal((status, verdict), (1, {"type": "verdict", "node": node.name, "traceable": False, "limits": 1}), out + err)
        t.equal([f["subject"] for f in said], WAY)
        t.equal({f["subject"]: f["level"] for f in said if f["level"] != "ok"}, levels, out)
        t.match(of(said, subject)[0]["text"], text)
        t.true(of(said, subject)[0]["help"], "what helps is said")
    t.clean(node, 15000)


def test_usage(t):
    """Words and options that have no meaning for doctor and nodes are refused."""
    no_use = (["-n", "BEGIN"], ["what"], ["-c", "erl"], ["--local"], ["-l"], ["-q"], ["-x", "bufsize=1m"], ["-v"], ["-e"], ["-S"],
              ["-B"], ["--for", "1s"])
    for command, words in [("doctor", w) for w in no_use] + [("nodes", w) for w in no_use + (["-p", "1"], ["--node", "a"])]:
        status, out, err = t.run(command, *words)
        t.equal((status, out), (2, ""), f"{command} {words}")
        t.match(err, f"{command} takes --")
