"""wall-N in a node: where its schedulers are, whether they run or sleep. How many samples there are in a second is not known, nor how long a thread waits for
its processor: that depends on the host. What a sample may show is known."""
import os
import re
import subprocess

import erlt
from erlt import READY, aggregation, library, until
from test_functions import load

# Processes of which each does one thing: it uses a processor, or sleeps in a NIF on a normal scheduler, without a turn in between.
MODULE = """-module(et_sleep). -export([load/0, nap/3, nap_cpu/3, nap_io/3, dirty/2, busy/0, work/2, outer/2, sleepy/2, often/3]).
load() -> erlang:load_nif("{path}", 0).
nap(_, _, _) -> erlang:nif_error(not_loaded).
nap_cpu(_, _, _) -> erlang:nif_error(not_loaded).
nap_io(_, _, _) -> erlang:nif_error(not_loaded).
dirty(F, Us) -> {{I, _}} = et_sleep:F(0, 1, Us), [I].
busy() -> work(100000, 0), busy().
work(0, X) -> X;
work(N, X) -> work(N - 1, (X * 31 + N) band 65535).
outer(How, Us) -> X = sleepy(How, Us), {{ok, X}}.
sleepy(How, Us) -> {{I, _}} = nap(How, 1, Us), I.
often(F, How, Us) -> {{I, T}} = et_sleep:F(How, 10, Us), [I, T].
"""


def sleeping(t, **how):
    """A node with the NIF."""
    t.needs_proc()
    node = t.node(fresh=True, **how)
    load(node, MODULE.format(path=library("et_sleep")[:-3]))
    t.equal(node("et_sleep:load()"), "ok", "loading")
    return node


def ends(n):
    return f" wall-499 /n >= {n}/ {{ exit(0); }}"


def sampled(t, node, script, *args):
    """What a script printed that ends itself."""
    trace = t.trace("-q", "-n", script, *args, node=node)
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.err.text(), r"sampled by the wall clock at .* per scheduler that is not idle: \d+ samples of \d+ called for: "
                              r"\d+ running, \d+ runnable, \d+ asleep")
    t.true(not any("error" in line or "warning" in line for line in trace.err.text().splitlines()), "no clause failed", trace)
    return trace


def napper(node, how, us=50000):
    """A process that sleeps again and again. It gives its scheduler to others in between: the VM takes a NIF for short."""
    return node(f"spawn(fun F() -> et_sleep:outer({how}, {us}), receive after 1 -> F() end end)")


def test_asleep_in_a_nif(t):
    """A NIF that sleeps on a normal scheduler is seen in the function that called it, below its callers, whatever call it sleeps in; by processor time it is not. A busy
    process is seen by both, and never asleep."""
    node = sleeping(t)
    for how in range(3):
        p = napper(node, how)
        trace = sampled(t, node, """wall-499 /erlpid == $$1 && args[2] == "asleep"/ { @[args[2], ustack()] = count(); n++; }
            profile-499 /erlpid == $$1/ { @cpu[erlfunc] = count(); busy++; } END { printf("> %d by the clock\\n", busy); }""" + ends(150), p)
        text = trace.out.text()
        shown = re.findall(r"^\s+(et_sleep:\S+) \(", text, re.M)
        t.equal([f.split(" ")[0] for f in shown[:2]], ["et_sleep:sleepy/2", "et_sleep:outer/2"], "stack", trace)
        t.true(int(re.search(r"> (\d+) by", text).group(1)) < 50, "it takes no processor time", trace)
        node(f"exit(list_to_pid(\"{p}\"), kill)")
    busy = node("spawn(et_sleep, busy, [])")
    trace = sampled(t, node, """wall-499 /erlpid == $$1/ { @[args[2]] = count(); @f[erlfunc] = count(); n++; }
        profile-499 /erlpid == $$1/ { @cpu["cpu"] = count(); }""" + ends(150), busy)
    found = aggregation(trace.out.text())
    t.true("asleep" not in found and found.get("running", 0) > 0, f"what it does: {found}", trace)
    t.true("et_sleep:work/2" in trace.out.text() and found.get("cpu", 0) > 0, "where", trace)


def test_what_a_sample_says(t):
    node = sleeping(t)
    p = napper(node, 0)
    trace = sampled(t, node, """BEGIN { last = timestamp; } wall-97 /erlpid == $$1/ { printf("> %s %s %d %s %d %d %d %d %s\\n", erlname, erlfunc, sched, schedtype, arg0,
        arg1 != 0, mqlen, timestamp - last, copyinstr(arg2)); last = timestamp; n++; }""" + ends(30).replace("499", "97"), p)
    lines = [line.split()[1:] for line in trace.out.lines if line.startswith("> ")]
    t.true(len(lines) >= 30, f"{len(lines)} samples", trace)
    t.true(all(len(line) == 9 for line in lines), f"{[line for line in lines if len(line) != 9]}", trace)
    for _, function, sched, kind, arg0, arg1, mqlen, since, doing in lines:
        t.equal([kind, arg0, mqlen], ["normal", "0", "-1"], "type of scheduler, arg0, mqlen", trace)
        t.true(int(sched) >= 1 and int(since) > 0, f"scheduler {sched}, {since} ns since the last", trace)
        if doing == "asleep":
            t.equal([function, arg1], ["et_sleep:sleepy/2", "1"], "where it sleeps", trace)
    t.true("asleep" in [line[8] for line in lines], "it sleeps", trace)


def test_an_idle_node(t):
    """Schedulers that wait for work are no samples, but for those moments in which the node does something; the agent works now and then, and may wait for a
    lock then. If those that wait for work were samples, there would be some 2,000 of each."""
    node = sleeping(t, options=("+sbwt", "none"))
    trace = t.trace("-q", "-n", 'wall-997 /erlfunc != "[sensitive process]"/ { @[args[2]] = count(); } tick-10ms { n++; } tick-10ms /n == 200/ { exit(0); }', node=node)
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.true(found.get("asleep", 0) < 200, "asleep", trace)


def test_never_interrupted(t):
    """The sampler does not signal a NIF that sleeps, on any scheduler: nanosleep, poll and epoll_wait take as long as they should, while a busy process is signalled.
    A signal for what the NIF did just before may arrive when it has begun to sleep. If sleepers were signalled, every call would end early."""
    node = sleeping(t)
    node("spawn(et_sleep, busy, [])")
    trace = t.trace("-q", "-n", READY + 'wall-997 /args[2] == "asleep"/ { @[erlfunc] = count(); }', node=node)
    trace.ready()
    for how, function in [*((how, "nap") for how in range(3)), (0, "nap_io"), (1, "nap_cpu")]:
        interrupted, took = node(f"""begin S = self(), spawn(fun() -> S ! {{nap, et_sleep:often({function}, {how}, 200000)}} end),
            receive {{nap, X}} -> X end end""")
        t.true(interrupted <= 3, f"{interrupted} of 10 calls that a signal has ended, {how}, {function}")
        t.true(took >= (10 - interrupted) * 200_000_000 - 10_000_000, f"{took} ns of 2 s")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    for function in ("often/3", "nap_io/3", "nap_cpu/3"):
        t.true(found.get(f"et_sleep:{function}", 0) > 100, f"{function} is seen: {found}", trace)


def test_asleep_in_a_driver(t):
    """A driver that sleeps when its timer expires does so without a process: the scheduler is not idle."""
    node = sleeping(t)
    folder = library("et_drv")[:-len("/et_drv.so")]
    node(f"""etw:as(etw:worker(), fun() -> erl_ddll:load_driver("{folder}", "et_drv"), [port_control(open_port({{spawn_driver, "et_drv"}}, []), 3, "") || _ <- [1]], ok end)""")
    sampled(t, node, 'wall-499 /erlpid == "" && args[2] == "asleep"/ { n++; }' + ends(50))


def test_asleep_on_a_dirty_scheduler(t):
    """A NIF that sleeps on a dirty scheduler is seen there, in its process and function; those that have nothing to do are no samples."""
    node = sleeping(t)
    for kind, function in (("dirty-io", "nap_io"), ("dirty-cpu", "nap_cpu")):
        p = node(f"spawn(fun F() -> et_sleep:dirty({function}, 50000), F() end)")
        trace = sampled(t, node, """wall-499 /erlpid == $$1 && args[2] == "asleep"/ { @[schedtype, erlfunc, ustack()] = count(); n++; }
            wall-499 /schedtype != "normal" && erlpid == "" && erlfunc != "[sensitive process]"/ { @others[args[2], schedtype] = count(); }""" + ends(150), p)
        text = trace.out.text()
        t.match(text, rf"^ +{kind} +et_sleep:{function}/3 *$")
        shown = re.findall(r"^\s+(et_sleep:\S+)", text, re.M)
        t.equal([f.split(" ")[0] for f in shown if "nap" not in f][:1], ["et_sleep:dirty/2"], "stack", trace)
        t.true(not re.search(r"^ +asleep +dirty", text, re.M), "those that have nothing to do", trace)
        node(f"exit(list_to_pid(\"{p}\"), kill)")


def test_refused(t):
    """Outside of a node there is no such probe; what a clause would read too late is refused, as at profile-N; rates are those of both."""
    node = t.node()
    status, _, err = t.run("--local", "-n", "wall-97 { @ = count(); }")
    t.equal(status, 1, "exit status")
    t.match(err, "wall-N looks at the schedulers of a node")
    trace = t.trace("-q", "-n", "erlang*:lists:seq/2:entry { self->in = 1; } wall-97 /self->in/ { @ = count(); }", node=node)
    t.equal(trace.end(), 1, "exit status", trace)
    t.match(trace.err.text(), r"wall-N cannot read self->in, which line 1 sets at another probe")
    status, out, _ = t.run("-l", "-n", "profile:::wall-*", node=node)
    t.equal(status, 0, "exit status")
    t.match(out, r"profile +wall-97$")
    many = ", ".join([f"wall-{n}ms" for n in range(20, 25)] + [f"profile-{n}ms" for n in range(20, 25)])
    status, _, err = t.run("-n", many + " { n++; }", node=node)
    t.equal(status, 1, "exit status")
    t.match(err, r"\[AGENT_PROFILE\].*profile-N and wall-N is not possible.* at no more than 8 different rates")


def test_ends(t):
    """The sampler's thread is there while a program wants it, beside profile-N's clocks, and only then: also when the consumer is killed, and when the agent
    and its guard are."""
    node = sleeping(t)
    node("spawn(et_sleep, busy, [])")
    for end in ("interrupt", "kill", "purge"):
        p = napper(node, 0)
        trace = t.trace("-q", "-n", READY + "wall-499 { n++; } wall-97 { m++; } profile-97 { @ = count(); }", node=node)
        trace.ready()
        until(lambda: len(node("etw:samplers()")) == 1, "one thread for both rates")
        if end == "interrupt":
            trace.interrupt()
            t.equal(trace.end(), 0, "exit status", trace)
        elif end == "kill":
            trace.kill()
        else:
            node("[exit(whereis(N), kill) || N <- [erltrace_agent_guard, erltrace_agent], is_pid(whereis(N))], code:delete(erltrace_agent),"
                 " code:purge(erltrace_agent), ok")
            trace.kill()
        until(lambda: node("etw:samplers()") == [], f"the thread has ended after {end}")
        node(f"exit(list_to_pid(\"{p}\"), kill)")
        if end != "purge":
            t.clean(node)
    t.true(node.alive(), "the node lives")


@erlt.alone
def test_waiting_for_a_processor(t):
    """A thread that waits for its processor, where many want one, is found again and again before it has it: each time is a sample, which can be read."""
    node = sleeping(t)
    busy = node("spawn(et_sleep, busy, [])")
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * os.cpu_count())]
    try:
        trace = sampled(t, node, """wall-4999 /erlpid == $$1 && args[2] == "runnable"/ { @[args[2], copyinstr(arg2), erlfunc, erlname, ustack()] = count(); n++; }
            wall-4999 /n >= 300/ { exit(0); }""", busy)
    finally:
        for other in others:
            other.kill()
            other.wait()
    t.match(trace.out.text(), r"^ +runnable +runnable +et_sleep:(work|busy)/")
    called, samples = (int(re.search(pattern, trace.err.text())[1]) for pattern in (r"samples of (\d+) called for", r"idle: (\d+) samples"))
    t.true(samples > called / 2, f"{samples} samples of {called}", trace)
