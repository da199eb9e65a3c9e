"""profile-N in a node: samples of what its schedulers run. What a sample may show is known from the program that runs; how many there are, is not:
that depends on the processors that the host gives to the node."""
import re
import resource

import erlt
from erlt import READY, aggregation, library
from test_functions import load

# spin/0 calls what uses the processor in known ways: Erlang code below known callers, BIFs, collections, code that puts off collections.
MODULE = """-module(spin). -export([run/1, sum/2, up/1, outer/1, inner/1, gc/0, big/0, secret/0, long/0, churn/0, ports/0, pick/0]).
run(Fs) -> lists:foreach(fun(F) -> spin:F(6) end, Fs), run(Fs).
outer(N) -> X = inner(N), X + 1.
inner(N) -> X = sum(40000 * N, 0), X + 1.
sum(0, X) -> X;
sum(N, X) -> sum(N - 1, (X * 31 + N) band 65535).
up(N) -> X = maps(2000 * N, #{}), map_size(X).
maps(0, M) -> M;
maps(N, M) -> maps(N - 1, M#{N rem 40 => {N}}).
gc() -> garbage(lists:seq(1, 3000)).
garbage(L) -> erlang:garbage_collect(), garbage(L).
big() -> X = [erlang:phash2(lists:duplicate(2000, N)) || N <- lists:seq(1, 50)], length(X), big().
secret() -> process_flag(sensitive, true), secret(0).
secret(N) -> secret(sum(1000, N)).
long() -> T = ets:new(t, [public]), ets:insert(T, [{I, {I}} || I <- lists:seq(1, 2000)]), scan(T).
churn() -> [spawn(fun() -> lists:sum(lists:seq(1, N)) end) || N <- lists:seq(1, 100)], receive after 1 -> ok end, churn().
ports() -> os:cmd("true"), crypto(), ports().
crypto() -> erlang:md5(binary:copy(<<7>>, 100000)), zlib:compress(binary:copy(<<9, 1>>, 10000)).
scan(T) -> ets:foldl(fun({I, _}, A) -> A + I end, 0, T), scan(T).
pick() -> T = ets:new(t, []), ets:insert(T, [{I, I} || I <- lists:seq(1, 20000)]), pick(T).
pick(T) -> X = ets:select(T, [{{'_', '$1'}, [{'<', {'*', '$1', '$1'}, 0}], ['$1']}]), length(X), pick(T).
"""


def started(t, *calls):
    """A node of its own that runs processes of spin, and their pids: they use the processors until it ends."""
    t.needs_proc()
    node = t.node(fresh=True)
    load(node, MODULE)
    return node, [node(f"spawn(fun() -> {call} end)") for call in calls]


def sampled(t, node, script, *args):
    """What a script printed that ends itself."""
    trace = t.trace("-q", "-n", script, *args, node=node)
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.err.text(), r"sampled on CPU at .* per scheduler: \d+ samples")
    t.true("error" not in trace.err.text() and "warning" not in trace.err.text(), "no clause failed", trace)
    return trace


def stacks(text):
    """The stacks of an aggregation by stack: [[frame, ...]], the innermost first."""
    return [re.findall(r"^\s+(\S+:\S+/\d+)", s, re.M) for s in re.split(r"\n\s+\d+\n", text)]


def until(n):
    """A clause that ends the trace once n samples have been counted."""
    return f" profile-499 /n >= {n}/ {{ exit(0); }}"


def test_stacks_are_true(t):
    """Each sample of a process shows functions that it runs, each below its caller: while Erlang code runs, in BIFs, while C code builds maps."""
    node, (worker,) = started(t, "spin:run([outer, up])")
    trace = sampled(t, node, "profile-499 /erlpid == $$1/ { @[ustack()] = count(); n++; }" + until(300), worker)
    seen = [s for s in stacks(trace.out.text()) if s]
    below = {"spin:sum/2": ["spin:inner/1", "spin:outer/1"], "spin:inner/1": ["spin:outer/1"], "spin:maps/2": ["spin:up/1"]}
    for stack in seen:
        for i, frame in enumerate(stack):
            if frame in below:
                t.equal(stack[i + 1:i + 1 + len(below[frame])], below[frame], f"below {frame}", trace)
    t.true({"spin:sum/2", "spin:maps/2"} <= {s[0] for s in seen}, f"the functions that use the processor: {seen}", trace)
    lines = set(re.findall(r"spin:sum/2 \(spin\.erl:(\d+)\)", trace.out.text()))
    t.true(lines and lines <= {"5", "6"}, f"the lines of sum/2: {lines}", trace)


def test_what_a_sample_says(t):
    """Process, function, scheduler, arguments; times are those of the samples, which are taken later."""
    node, (worker,) = started(t, "spin:run([outer])")
    trace = sampled(t, node, """BEGIN { last = timestamp; } profile-97 /erlpid == $$1/ { printf("> %s %s %d %s %d %d %d %d %d\\n", erlname, erlfunc, sched, schedtype, arg0, arg1 != 0,
                                    mqlen, timestamp - last, walltimestamp - timestamp); last = timestamp; n++; }""" + until(50).replace("499", "97"), worker)
    lines = [line.split()[1:] for line in trace.out.lines if line.startswith("> ")]
    t.true(len(lines) >= 50, f"{len(lines)} samples", trace)
    for name, function, sched, kind, arg0, arg1, mqlen, since, _ in lines:
        t.match(name, r"spin|proc_lib|erl_eval|<")
        t.true(":" in function or function == "", function)
        t.equal([kind, arg0, mqlen], ["normal", "0", "-1"], "type of scheduler, arg0, mqlen", trace)
        t.true(int(sched) >= 1 and int(since) > 0, f"scheduler {sched}, {since} ns since the last", trace)
    with t.loose("what of the VM runs when a sample is taken is chance"):
        t.true(sum(int(line[5]) for line in lines) > len(lines) / 2, "most have a program counter", trace)


@erlt.alone
def test_sensitive_processes_are_hidden(t):
    """A process that is sensitive uses a processor, and is not shown; its samples are counted."""
    node, (secret, other) = started(t, "spin:secret()", "spin:run([outer])")
    trace = sampled(t, node, "profile-499 { @[erlpid] = count(); } profile-499 /erlpid == $$1/ { n++; }" + until(200), other)
    found = aggregation(trace.out.text())
    t.true(secret not in found and other in found, f"processes: {found}", trace)
    t.match(trace.err.text(), r"[1-9]\d* of sensitive processes")


def test_match_programs(t):
    """While a match program runs, the scheduler shows another process of the VM's, which is no one's: the sample is of the one that selects."""
    node, (worker,) = started(t, "spin:pick()")
    trace = sampled(t, node, "profile-499 { @[erlpid, erlfunc] = count(); } profile-499 /erlpid == $$1/ { @s[ustack()] = count(); n++; }" + until(200), worker)
    text = trace.out.text()
    t.true(worker in text and "<0.32767.8191>" not in text, text, trace)
    t.true(any("spin:pick/1" in s for s in stacks(text)), "the function that selects", trace)


def test_rates(t):
    """Several programs sample at several rates at once; one rate too many is refused, and nothing changes for the others."""
    node, (worker,) = started(t, "spin:run([outer])")
    trace = t.trace("-q", "-n", READY + "profile-97, profile-499 { @[probename] = count(); n++; }", node=node)
    trace.ready()
    other = sampled(t, node, "profile-499 { n++; } profile-11ms, profile-97 { @[probename] = count(); }" + until(200))
    t.true(set(aggregation(other.out.text())) <= {"profile-11ms", "profile-97"}, other.out.text(), other)
    many = ", ".join(f"profile-{n}ms" for n in range(20, 27))
    status, _, err = t.run("-n", many + " { n++; }", node=node)
    t.equal(status, 1, "exit status")
    t.match(err, r"\[AGENT_PROFILE\].* at no more than 8 different rates")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(set(aggregation(trace.out.text())), {"profile-97", "profile-499"}, "rates", trace)
    t.clean(node)


def test_timers_refused(t):
    """The system gives the node no timers: the trace says so, and samples once it can."""
    t.needs_proc()
    node, _ = started(t, "spin:run([outer])")
    before = resource.prlimit(node.pid, resource.RLIMIT_SIGPENDING, (0, resource.prlimit(node.pid, resource.RLIMIT_SIGPENDING)[1]))
    trace = t.trace("-q", "-n", READY + 'profile-499 /n++ == 0/ { printf("sampled\\n"); }', node=node)
    trace.ready()
    trace.wait_error("profile-N does not fire, or not for all schedulers: the system refused a timer")
    resource.prlimit(node.pid, resource.RLIMIT_SIGPENDING, before)
    trace.wait("^sampled$")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.clean(node)


def test_handler_of_another_library(t):
    """Another library handles the signal while a profile runs, and passes it on to ours for ever: then ours stays in the VM."""
    node, _ = started(t, "spin:run([outer])")
    load(node, f"""-module(et_sig). -export([load/0, install/0, send/0]).
        load() -> erlang:load_nif("{library('et_sig')[:-3]}", 0).
        install() -> erlang:nif_error(none).
        send() -> erlang:nif_error(none).
        """)
    t.equal(node("et_sig:load()"), "ok", "loading")
    trace = t.trace("-q", "-n", READY + "profile-499 { n++; }", node=node)
    trace.ready()
    t.true(node("et_sig:install()"), "the profile handles the signal")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    erlt.until(lambda: not node("lists:member(erltrace_agent, erlang:loaded())"), "the agent's module is left")
    t.true(node("length(etw:mapped())") > 0, "the library stays")
    had = node("et_sig:send()")
    erlt.until(lambda: node("et_sig:send()") > had, "signals never come")
    again = t.trace("-q", "-n", READY + "profile-499 /n++ > 10/ { exit(0); }", node=node)
    t.equal(again.end(), 0, "another profile", again)


def test_traces_nothing(t):
    """A profile sets no trace flag and no pattern, and leaves the VM without timers and signal handlers, also when the consumer is killed."""
    node, _ = started(t, "spin:run([outer])")
    trace = t.trace("-q", "-n", READY + "profile-499 { n++; }", node=node)
    trace.ready()
    t.equal(node("etw:traced()"), [], "traced")
    t.true(node("etw:timers()"), "timers while it runs")
    trace.kill()
    t.clean(node)


@erlt.alone
def test_quick_changes_under_load(t):
    """Profiles begin and end while code is loaded and purged, processes die, collections run, BIFs put off collections, ports and NIFs work."""
    node, _ = started(t, "spin:run([outer, up])", "spin:gc()", "spin:big()", "spin:long()", "spin:churn()", "spin:ports()")
    node("etw:loads()")
    for i in range(6):
        trace = t.trace("-q", "-n", READY + f"profile-{(97, 499, 997, 4999)[i % 4]} {{ @[ustack(), erlname] = count(); }}", node=node)
        trace.ready()
        if i % 3 == 0:
            trace.kill()
        else:
            trace.interrupt()
            t.equal(trace.end(), 0, "exit status", trace)
    t.clean(node, within_ms=10000)
    t.true(node.alive(), "the node lives")
