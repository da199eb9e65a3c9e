"""profile-N in a node: samples of what its schedulers run. What a sample may show is known from the program that runs; how many there are, is not:
that depends on the processors that the host gives to the node."""
import contextlib
import os
import re
import resource
import signal
import subprocess

import erlt
from erlt import COOKIE, HOST, READY, Skipped, aggregation, library, pid
from erlt import until as until_true
from test_functions import load

# spin/0 calls what uses the processor in known ways: Erlang code below known callers, BIFs, collections, code that puts off collections.
MODULE = """-module(spin). -export([run/1, sum/2, up/1, outer/1, inner/1, gc/0, gc/1, big/0, secret/0, long/0, churn/0, ports/0, pick/0]).
run(Fs) -> lists:foreach(fun(F) -> spin:F(6) end, Fs), run(Fs).
outer(N) -> X = inner(N), X + 1.
inner(N) -> X = sum(40000 * N, 0), X + 1.
sum(0, X) -> X;
sum(N, X) -> sum(N - 1, (X * 31 + N) band 65535).
up(N) -> X = maps(2000 * N, #{}), map_size(X).
maps(0, M) -> M;
maps(N, M) -> maps(N - 1, M#{N rem 40 => {N}}).
gc() -> gc(lists:seq(1, 3000)).
gc(L) -> garbage(L).
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


# Three functions do the same work in turn, for some 0.3 ms each, and a timer wakes the process for the next turn a millisecond or two later.
THIRDS = """-module(thirds). -export([loop/1, a/1, b/1, c/1]).
loop(N) -> a(N), b(N), c(N), receive never -> ok after 1 -> loop(N) end.
a(N) -> X = work(N, 0), X + 1.
b(N) -> X = work(N, 0), X + 1.
c(N) -> X = work(N, 0), X + 1.
work(0, X) -> X;
work(N, X) -> work(N - 1, (X * 31 + N) band 65535).
"""


SAMPLER = "a sampler that wakes at random times"


def has_task_clock():
    """Whether the system lets the nodes of the tests have it: no filter of system calls, and root or a user who may."""
    with open("/proc/self/status", encoding="ascii") as status, open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as paranoid:
        return "\nSeccomp:\t0\n" in status.read() and (os.geteuid() == 0 or int(paranoid.read()) <= 1)


def sampled(t, node, script, *args):
    """What a script printed that ends itself."""
    trace = t.trace("-q", "-n", script, *args, node=node)
    t.equal(trace.end(), 0, "exit status", trace)
    clock = "the task clock" if has_task_clock() else SAMPLER
    t.match(trace.err.text(), rf"sampled on CPU at .* per scheduler, by {clock}: \d+ samples of \d+ due")
    t.true(not any("error" in line or "warning" in line for line in trace.err.text().splitlines()), "no clause failed", trace)
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


@erlt.alone
def test_flags_of_the_emulator(t):
    """Code that is mapped once, as for perf and where the system forbids two mappings, and heaps of which none is small: stacks are there, in samples
    and at events, and remain true when the module is loaded again; so is the size of a heap."""
    flags = [("+JPperf", "true"), ("+hms", "60000"), ("+hms", "60000", "+JPperf", "map")]
    first = MODULE.replace("Fs), run(Fs).", "Fs), spin:run(Fs).")  # it goes on in new code
    again = first.replace("-export([", "-export([added/0, ").replace("outer(N) ->", "added() -> [{X, X} || X <- [1, 2, 3]].\nouter(N) ->")
    for options in [*flags, ("+JMsingle", "true")] if t.otp else flags:  # OTP 25 lacks that one
        node = t.node(options=options)
        node("""[file:delete(F) || F <- filelib:wildcard("/tmp/{perf,jit}-" ++ os:getpid() ++ ".{map,dump}")]""")
        load(node, first)
        worker = node("spawn(fun() -> spin:run([outer, up]) end)")
        for module in (first, again):
            load(node, module)
            trace = sampled(t, node, "profile-499 /erlpid == $$1/ { @[ustack()] = count(); n++; }" + until(100), worker)
            seen = [s for s in stacks(trace.out.text()) if s]
            t.true("spin:sum/2" in {s[0] for s in seen}, f"the functions that use the processor: {seen}", trace)
            t.true(all(s[s.index("spin:inner/1"):][1:2] == ["spin:outer/1"] for s in seen if "spin:inner/1" in s), f"callers: {seen}", trace)
            trace = t.trace("-q", "-n", """erlang*:spin:inner/1:entry /erlpid == $$1/ { @[ustack(2), erlcaller] = count(); n++; }
                erlang*:spin:inner/1:entry /n == 5/ { printf("heap %d\\n", heapsize); exit(0); }""", worker, node=node)
            t.equal(trace.end(), 0, "exit status", trace)
            t.match(trace.out.text(), r"spin:inner/1[^\n]*\n +spin:outer/1 \(spin\.erl:\d+\)")
            t.match(trace.out.text(), r" spin:outer/1 +5$")
            t.match(trace.out.text(), r"^heap [1-9]\d*$")


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


def dirty_library(node):
    """Loads et_dirty into a node, with callers of its NIFs."""
    load(node, f"""-module(et_dirty). -export([load/0, cpu/1, io/1, normal/1, thread/1, stop/0, outer/1, inner/1, turns/0, first/0, second/0]).
        load() -> erlang:load_nif("{library('et_dirty')[:-3]}", 0).
        cpu(_) -> erlang:nif_error(none).
        io(_) -> erlang:nif_error(none).
        normal(_) -> erlang:nif_error(none).
        thread(_) -> erlang:nif_error(none).
        stop() -> erlang:nif_error(none).
        outer(F) -> inner(F), outer(F).
        inner(F) -> ok = et_dirty:F(20), true.
        turns() -> first(), second(), turns().
        first() -> ok = et_dirty:normal(1), true.
        second() -> ok = et_dirty:normal(1), true.
        """)
    node("et_dirty:load()")


def test_threads_that_are_not_sampled(t):
    """A NIF has a thread of its own, which is not sampled: the time that it used is told. So is one that has the name of a dirty scheduler, which is found
    out when it is first signalled."""
    node, (worker,) = started(t, "spin:run([outer])")
    dirty_library(node)
    stranger = "erts_dcpus_99" if t.otp else "99_dirty_cpu_sch"
    node(f'[et_dirty:thread(N) || N <- ["et_busy", "{stranger[:15]}"]]')
    try:
        trace = sampled(t, node, "profile-499 /schedtype != \"normal\"/ { @[sched] = count(); } profile-499 /erlpid == $$1/ { n++; }" + until(300), worker)
    finally:
        node("et_dirty:stop()")
    t.match(trace.err.text(), r"sampled on CPU at .*; not sampled: .*threads called et_busy \d+\.\d\d s.* of processor time$")
    t.match(trace.err.text(), r"not sampled: .*dirty CPU schedulers \d+\.\d\d s")
    t.true("99" not in aggregation(trace.out.text()), "the stranger has no samples", trace)


@erlt.alone
def test_dirty_nifs(t):
    """A NIF on a dirty scheduler is sampled there, in its process, below what called it; two such NIFs that use the same time have half of the samples
    each, and so has one on a normal scheduler, which is on its way to it."""
    node, _ = started(t)
    dirty_library(node)
    workers = {kind: node(f"spawn(et_dirty, outer, [{kind}])") for kind in ("cpu", "io")}
    trace = sampled(t, node, """profile-499 /erlpid == $$1 || erlpid == $$2/ { @[erlfunc, schedtype, erlpid, ustack()] = count(); n++; }""" + until(300), *workers.values())
    text = trace.out.text()
    for kind, worker in workers.items():
        t.match(text, rf"et_dirty:{kind}/1 +dirty-{kind} +{worker}\s+et_dirty:{kind}/1\n\s+et_dirty:inner/1[^\n]*\n\s+et_dirty:outer/1")
    for line in re.findall(r"^ *(et_dirty:(?:cpu|io)/1) +(\S+) +(\S+)$", text, re.M):
        kind = line[1].removeprefix("dirty-")
        t.true(kind == "normal" or line == (f"et_dirty:{kind}/1", f"dirty-{kind}", workers[kind]), f"a sample of another's: {line}", trace)


@contextlib.contextmanager
def told(t, node):
    """Within this it is known what a collection looks like: the agent, which a trace keeps in the node, finds it out while all else goes on, which takes seconds on a
    machine with much other work."""
    keeper = t.trace("-q", "-n", READY + "profile-1 { n++; }", node=node)
    keeper.ready()
    erlt.until(lambda: "collections are not told" not in sampled(t, node, "profile-97 { n++; }" + until(10).replace("499", "97")).err.text(), "collections are told")
    yield
    keeper.interrupt()
    t.equal(keeper.end(), 0, "exit status", keeper)


@erlt.alone
def test_dirty_collections(t):
    """A large heap is collected by a dirty scheduler: it is the process that is shown there, in its own functions."""
    node, (worker,) = started(t, "spin:gc(lists:seq(1, 3000000))")
    with told(t, node):
        trace = sampled(t, node, "profile-499 /schedtype == \"dirty-cpu\" && erlpid == $$1/ { @[erlfunc] = count(); @s[ustack()] = count(); n++; }" + until(200), worker)
    t.true("dirty CPU schedulers" not in trace.err.text(), "they are sampled", trace)
    seen = stacks(trace.out.text())
    t.true(any("spin:garbage/1" in s for s in seen), f"where it is collected: {seen}", trace)
    t.match(trace.out.text(), r"^ +\[collection\]\n +spin:garbage/1")


@erlt.alone
def test_collections(t):
    """A sample has a frame that says so while its process is collected, in front of the function that was to go on; no other work has it: not that of
    Erlang code, nor that of a NIF."""
    node, (collects,) = started(t, "spin:gc()")
    dirty_library(node)
    with told(t, node):
        erlang, nif = node("spawn(spin, run, [[outer]])"), node("spawn(et_dirty, turns, [])")
        trace = sampled(t, node, """profile-499 /erlpid == $$1/ { @["collects", ustack()] = count(); a++; } profile-499 /erlpid == $$2/ { @["erlang", ustack()] = count(); b++; }
            profile-499 /erlpid == $$3/ { @["nif", ustack()] = count(); c++; } profile-499 /a > 50 && b > 50 && c > 50/ { exit(0); }""",
                        collects, erlang, nif, "-x", "stackform=folded")
    t.match(trace.out.text(), r"^collects;spin:garbage/1;(\S+;)?\[collection\] \d+$")
    t.true(not any(line.startswith(("erlang;", "nif;")) and "[collection]" in line for line in trace.out.lines), "no other work", trace)
    t.match(trace.err.text(), r"[1-9]\d* in collections")


@erlt.alone
def test_in_step_with_the_clock(t):
    """A process works in two functions in turn, in each until the CPU clock of its thread has another millisecond: a clock that fires every two of them would find it in the same
    function each time. It is found in both."""
    node, _ = started(t)
    dirty_library(node)
    worker = node("spawn_opt(et_dirty, turns, [], [{scheduler, 1}])")
    trace = sampled(t, node, "profile-500 /erlpid == $$1/ { @[erlfunc] = count(); n++; }" + until(1000).replace("499", "500"), worker)
    found = aggregation(trace.out.text())
    both = [found.get(f"et_dirty:{f}/0", 0) for f in ("first", "second")]
    t.true(min(both) > 200, f"samples of the two: {found}", trace)


def test_dirty_scheduler_that_is_held(t):
    """A NIF holds a dirty scheduler when the trace begins, and goes on when it has ended: it is sampled with its process."""
    node, _ = started(t)
    dirty_library(node)
    worker = node("spawn(fun() -> et_dirty:io(100000) end)")
    erlt.until(lambda: node(f"element(2, process_info({pid(worker)}, status))") == "running", "the NIF runs")
    trace = sampled(t, node, "profile-499 /erlpid == $$1/ { @[erlfunc, schedtype] = count(); n++; }" + until(100), worker)
    t.match(trace.out.text(), r"et_dirty:io/1 +dirty-io +1\d\d")


def test_native_code(t):
    """Whatever runs has a frame: schedulers without a process, sensitive processes, NIFs by their file in front of the function; no stack is empty."""
    node, (secret,) = started(t, "spin:secret()")
    dirty_library(node)
    node("etw:as(etw:worker(), fun() -> ok end), spawn(fun F() -> receive after 1 -> F() end end)")
    worker = node("spawn(et_dirty, outer, [normal])")
    trace = sampled(t, node, """profile-499 { @[ustack()] = count(); } profile-499 /erlpid == ""/ { @f[erlfunc] = count(); none++; }
        profile-499 /erlpid == "" && strstr(erlfunc, "`") != NULL/ { native++; }
        profile-499 /erlpid == $$1/ { @p[erlfunc] = count(); n++; } profile-499 /n > 100 && none > 100 && native >= $2/ { exit(0); }""",
                    worker, "0" if t.otp else "3", "-x", "stackform=folded")
    text = trace.out.text()
    t.true("[no stack]" not in text and "0x" not in text, "each has a frame with a name", trace)
    t.match(text, r"et_dirty:outer/1;et_dirty:inner/1;(et_dirty:normal/1;)?(\[et_dirty\.so\]|et_dirty\.so`\w+) \d+")
    t.match(text, r"^\[sensitive_process\] \d+$")
    t.match(text, r"et_dirty:(normal|inner)/1 +\d+")
    t.true(secret not in text, "a sensitive process is not shown", trace)
    if not t.otp:
        t.match(text, r"(beam\.smp|libc\.so\.6)`\w+ +\d+")


def test_between_slices(t):
    """A process that always uses up its slice is often sampled while its scheduler looks for what to run next: then it is where it goes on, not in
    its caller, of which there were ten for each otherwise. Where a scheduler looks is known once one has rested, as it does here in turn with work:
    the last hundred samples are those that count."""
    node = t.node(fresh=True)
    load(node, """-module(slices). -export([outer/0, inner/1]).
outer() -> inner(1000000), outer().
inner(0) -> 0;
inner(N) when N rem 20000 =:= 0 -> receive after 1 -> inner(N - 1) end;
inner(N) -> erlang:bump_reductions(4000), inner(N - 1).
""")
    worker = node("spawn(slices, outer, [])")
    trace = sampled(t, node, "profile-499 /erlpid == $$1/ { n++; } profile-499 /erlpid == $$1 && n > 300/ { @[erlfunc] = count(); }" + until(400), worker)
    found = aggregation(trace.out.text())
    t.true(3 * found.get("slices:inner/1", 0) > found.get("slices:outer/0", 0), f"functions: {found}", trace)


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


def highest_descriptor(node):
    return max(int(fd) for fd in os.listdir(f"/proc/{node.pid}/fd"))


def few_descriptors(node):
    """Leaves a node so few descriptors that the agent takes none of them for clocks; returns what restores them."""
    limits = resource.prlimit(node.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (highest_descriptor(node) + 5, limits[1]))
    return lambda: resource.prlimit(node.pid, resource.RLIMIT_NOFILE, limits)


def thirds(t, node, *options):
    """The shares of three functions that do the same work in turn, when a timer has just woken them, and what the trace said."""
    load(node, THIRDS)
    turns = node("(fun(F) -> element(1, timer:tc(fun() -> thirds:a(10000) end)) end)(x)")
    worker = node(f"spawn(thirds, loop, [{max(1, 300 * 10000 // turns)}])")
    trace = t.trace("-q", "-n", "profile-997 /erlpid == $$1/ { @[ustack()] = count(); n++; }" + until(600).replace("499", "997"), worker, "-x", "stackform=folded",
                    *options, node=node)
    t.equal(trace.end(), 0, "exit status", trace)
    counts = {name: sum(int(line.split()[-1]) for line in trace.out.lines if f"thirds:{name}/1" in line) for name in "abc"}
    return {name: 100 * n / sum(counts.values()) for name, n in counts.items()}, sum(counts.values()), trace


def test_thirds(t):
    """What a timer has just woken is seen like what runs later: three functions that do the same work in turn have a third of the samples each. (By the CPU
    clock, which looks at the system's ticks, the last one has more than 80 %.)"""
    t.needs_proc()
    if not has_task_clock():
        raise Skipped("this system does not let a node have the task clock")
    shares, n, trace = thirds(t, t.node(fresh=True))
    t.match(trace.err.text(), "by the task clock: ")
    t.true(n >= 500 and all(20 < share < 47 for share in shares.values()), f"shares of {n}: {shares}", trace)


def test_thirds_without_a_clock(t):
    """The same where the system gives no task clock, here for want of descriptors: by the sampler."""
    t.needs_proc()
    node = t.node(fresh=True)
    restore = few_descriptors(node)
    try:
        shares, n, trace = thirds(t, node)
    finally:
        restore()
    t.match(trace.err.text(), f"by {SAMPLER}: ")
    t.true(n >= 500 and all(18 < share < 50 for share in shares.values()), f"shares of {n}: {shares}", trace)


def test_clock_refused(t):
    """Where the system gives no task clock, the sampler takes its place: it is said, there is nothing to warn of, and who rests is not signalled."""
    t.needs_proc()
    node, (worker,) = started(t, "spin:run([outer])")
    restore = few_descriptors(node)
    try:
        trace = t.trace("-q", "-n", "profile-499 /erlpid == $$1/ { @[ustack()] = count(); n++; }" + until(50), worker, node=node)
        t.equal(trace.end(), 0, "exit status", trace)
    finally:
        restore()
    t.match(trace.err.text(), rf"sampled on CPU at 499 Hz per scheduler, by {SAMPLER}: \d+ samples of \d+ due")
    t.true("warning" not in trace.err.text(), "no warning", trace)
    t.true("spin:outer/1" in trace.out.text(), "the function that works", trace)
    t.clean(node)


def test_sampler_ends(t):
    """The sampler's thread is there while a program wants it, and only then: also when the consumer is killed, when the agent and its guard are, and when
    the agent's code is purged."""
    t.needs_proc()
    node, _ = started(t, "spin:run([outer])")
    restore = few_descriptors(node)
    try:
        for end in ("interrupt", "kill", "purge"):
            trace = t.trace("-q", "-n", READY + "profile-499 { n++; } profile-97 { m++; }", node=node)
            trace.ready()
            erlt.until(lambda: node("etw:samplers()") != [], "the thread has its name")
            t.equal(len(node("etw:samplers()")), 1, "one thread for both rates")
            t.equal([line for line in node("etw:timers()") if "thread" not in line], [], "no other clock")
            if end == "interrupt":
                trace.interrupt()
                t.equal(trace.end(), 0, "exit status", trace)
            elif end == "kill":
                trace.kill()
            else:
                node("[exit(whereis(N), kill) || N <- [erltrace_agent_guard, erltrace_agent], is_pid(whereis(N))], code:delete(erltrace_agent),"
                     " code:purge(erltrace_agent), ok")
                trace.kill()
            erlt.until(lambda: node("etw:samplers()") == [], f"the thread has ended after {end}")
            if end != "purge":
                t.clean(node)
    finally:
        restore()
    t.true(node.alive(), "the node lives")


WORK = "(fun F(L) -> lists:foldl(fun(X, A) -> (A * 31 + X) band 65535 end, 0, L), F(L) end)(lists:seq(1, 100000))."


@contextlib.contextmanager
def working_node(t, *begin, work=WORK, **how):
    """A node that works, begun by a command of its own: its process, and what erltrace needs to find it."""
    name = f"begun{os.getpid()}"
    shown = subprocess.Popen([*begin, "erl", "-noinput", "-sname", name, "-setcookie", COOKIE, "-eval", work],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **how)
    where = ["--node", f"{name}@{HOST}", "--cookie", COOKIE]
    try:
        until_true(lambda: shown.poll() is not None or t.run("-l", "-n", "BEGIN", *where)[0] == 0, "the node is there")
        yield shown, where
        t.equal(shown.poll(), None, "the node lives")
    finally:
        shown.kill()
        shown.communicate()


NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"]


def node_of_nobody(t, work=WORK):
    return working_node(t, *NOBODY, work=work, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, cwd="/")


def test_user_of_the_node(t):
    """A node whose user may not sample the kernel (kernel.perf_event_paranoid is 2, as the kernel has it) is sampled outside of it, by the task clock."""
    t.needs_proc()
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        paranoid = int(f.read())
    if os.geteuid() != 0 or t.otp or paranoid != 2 or not has_task_clock():
        raise Skipped("this test needs root, and kernel.perf_event_paranoid at 2")
    with node_of_nobody(t) as (_, where):
        status, out, err = t.run("-q", "-n", "profile-499 { @[erlfunc] = count(); n++; }" + until(200), *where)
        t.equal(status, 0, err)
        t.match(err, r"sampled on CPU at 499 Hz per scheduler, by the task clock outside of the kernel: \d+ samples of \d+ due")
        t.match(out, r"lists:foldl\S*|erl_eval:\S*")


def test_time_in_the_kernel(t):
    """Where the kernel is not sampled, a node that reads a file of the system all the time has samples of it all the same, by its CPU clock."""
    t.needs_proc()
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        paranoid = int(f.read())
    if os.geteuid() != 0 or t.otp or paranoid != 2 or not has_task_clock():
        raise Skipped("this test needs root, and kernel.perf_event_paranoid at 2")
    with node_of_nobody(t, "(fun F() -> {ok, _} = prim_file:read_file(\"/proc/self/maps\"), F() end)().") as (_, where):
        status, out, err = t.run("-q", "-n", "profile-499 { @[schedtype, erlpid, erlfunc] = count(); @s[ustack()] = count(); n++; }" + until(400), "-x", "stackform=folded", *where)
        t.equal(status, 0, err)
        t.match(out, r"dirty-io +\[kernel\] +\d+")
        t.match(out, r"^\[kernel\] \d+$")
        said = re.search(r"(\d+) samples of (\d+) due.* (\d+) in the kernel, as far as", err)
        t.true(said and int(said[3]) >= int(said[1]) / 10, f"reading takes the kernel a part of the time: {err}")
        t.true(int(said[1]) >= 0.8 * int(said[2]) - 20, f"the samples that are due: {err}")


def test_last_resort(t):
    """The system gives the node neither clocks nor a thread, and no timers either: the trace says so, and samples once it can, by the CPU clock; a warning says
    what that cannot show."""
    t.needs_proc()
    if os.geteuid() != 0 or t.otp:
        raise Skipped("this test needs root, to be another user; the host's emulator is as good")
    with node_of_nobody(t) as (shown, where):
        def limit(*limits):
            """Sets limits of the node, which only its user may do."""
            subprocess.run([*NOBODY, "prlimit", f"--pid={shown.pid}", *limits], check=True)

        limit(f"--nofile={highest_descriptor(shown) + 5}:", "--nproc=1:", "--sigpending=0:")
        trace = t.trace("-q", "-n", 'profile-499 /n++ == 50/ { printf("sampled\\n"); exit(0); }', *where)
        trace.wait_error("profile-N does not fire, or not for all schedulers: the system refused a clock")
        limit("--sigpending=100:")
        trace.wait("^sampled$")
        t.equal(trace.end(), 0, "exit status", trace)
        t.match(trace.err.text(), r"sampled on CPU at 499 Hz per scheduler, by the CPU clock: \d+ samples of \d+ due")
        t.match(trace.err.text(), r"warning: this profile is not true for work that begins when a process is woken")


# Runs a command under a filter that ends the process at perf_event_open, and at what is called in order to have a processor sooner, or another one: systemd's set
# @resources, which services are often denied.
FILTERED = """import ctypes, os, struct, sys
libc, no_new_privs, set_seccomp, filter_mode = ctypes.CDLL(None, use_errno=True), 38, 22, 2
numbers = [298, 314, 144, 142, 203, 141]
code = [(0x20, 0, 0, 0)] + [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)] + [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x80000000)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
head = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(program)))
assert libc.prctl(no_new_privs, 1, 0, 0, 0) == 0 and libc.prctl(set_seccomp, filter_mode, head, 0, 0) == 0, ctypes.get_errno()
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_filter_of_system_calls(t):
    """A node that a filter ends when it asks for the task clock, as some do that systemd starts, lives: the sampler does without what they forbid."""
    t.needs_proc()
    if t.otp:
        raise Skipped("the host's emulator is as good")
    begin = ["python3", "-c", FILTERED]
    for number in (298, 314):
        t.equal(subprocess.run([*begin, "python3", "-c", f"import ctypes; ctypes.CDLL(None).syscall({number}, 0, 0, 0, 0, 0)"], check=False).returncode,
                -signal.SIGSYS, "the filter ends who asks")
    with working_node(t, *begin) as (_, where):
        status, _, err = t.run("-q", "-n", "profile-499 { @[erlfunc] = count(); n++; }" + until(50), *where)
        t.equal(status, 0, err)
        t.match(err, rf"sampled on CPU at 499 Hz per scheduler, by {SAMPLER}")


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
    """A profile sets no trace flag and no pattern, and leaves the VM without clocks, timers and signal handlers, also when the consumer is killed."""
    node, _ = started(t, "spin:run([outer])")
    trace = t.trace("-q", "-n", READY + "profile-499 { n++; }", node=node)
    trace.ready()
    t.equal(node("etw:traced()"), [], "traced")
    t.true(node("etw:timers()"), "clocks while it runs")
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


def test_variables_of_other_probes(t):
    """A clause that would read a variable as it is when the clause runs, not as it was at the sample, is refused by name, with the way that works."""
    node = t.node()
    refused = (
        ("erlang*:lists:seq/2:entry { self->in = 1; } profile-97 /self->in/ { @ = count(); }", "self->in", "vtimestamp"),
        ("erlang*:lists:seq/2:entry { self->at[arg0] = timestamp; } profile-97 { @ = max(timestamp - self->at[0]); }", "self->at", "vtimestamp"),
        ("erlang*:::gc_minor-start { on++; } profile-97 { @[on] = count(); }", "on", "tick-N"),
        ("erlang*:::gc_minor-start { m[1] = 5; } profile:::profile-1ms { @[erlpid] = sum(arg1 + m[1]); }", "m", "tick-N"))
    for script, name, way in refused:
        trace = t.trace("-q", "-n", script, node=node)
        t.equal(trace.end(), 1, "exit status", trace)
        t.match(trace.err.text(), rf"profile-N cannot read {re.escape(name)}, which line 1 sets at another probe")
        t.match(trace.err.text(), rf"\^~* .*{way}")
        caret = trace.err.text().splitlines()
        line = next(i for i, x in enumerate(caret) if re.match(r" *\| +\^", x))
        t.true(caret[line - 1][caret[line].index("^"):].startswith(name.removeprefix("self->")), "the caret is at the variable", trace)
    for allowed in ("profile-997 { n++; self->n++; } profile-997 /n > 5/ { exit(0); } erlang*:::gc_minor-start { @ = max(n); samples++; }",
                    "BEGIN { first = 7; } tick-10ms { tick++; } profile-997 /first == 7 && tick > 1/ { exit(0); }"):
        worker = node("spawn(fun F() -> lists:seq(1, 1000), F() end)")
        sampled(t, node, allowed)
        node(f"exit({pid(worker)}, kill)")


def test_variables_of_intervals(t):
    """What tick-N sets is at a sample what it was when the sample was taken."""
    node, _ = started(t, "spin:run([outer])")
    trace = sampled(t, node, """tick-100ms { turn++; printf("turn %d %d\\n", turn, timestamp); } tick-100ms /turn == 15/ { exit(0); }
        profile-997 /turn > 0/ { printf("at %d %d\\n", turn, timestamp); }""")
    turns = {int(n): int(at) for n, at in re.findall(r"^turn (\d+) (\d+)$", trace.out.text(), re.M)}
    # Those of the last 20 ms before a turn. A few may be taken while those before the turn are being read.
    last = [(int(n), int(at)) for n, at in re.findall(r"^at (\d+) (\d+)$", trace.out.text(), re.M) if any(0 < x - int(at) < 20_000_000 for x in turns.values())]
    right = [at for n, at in last if turns[n] < at]
    t.true(len(last) >= 20 and 4 * len(right) >= 3 * len(last), f"{len(right)} of {len(last)} samples have the turn of their time", trace)
