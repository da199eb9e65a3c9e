"""Built-in variables that tell where an event happens, and what the VM keeps of the process: sched and schedtype; mqlen, reductions, heapsize
and oldheapsize. Each is compared with what the process says of itself (process_info/2), or with what it was made to be."""
import re

from erlt import READY, Late, pid

# Functions whose calls are traced: f/1. They return what the process knew before and after each call.
WORK = """-module(eti). -export([f/1, g/1, queue/1, heaps/1, collected/1, reds/2, saved/1, on/1, sends/2]).
f(X) -> X.
g(X) -> X.
scan() -> receive never -> ok after 0 -> ok end.
send(_, 0) -> ok;
send(To, N) -> To ! {x, N}, send(To, N - 1).
queue(N) -> f(1), send(self(), N), f(2), scan(), f(3), send(self(), N), f(4), process_flag(message_queue_data, off_heap), f(5), send(self(), N), f(6), scan(), f(7), ok.
blocks() -> {_, I} = process_info(self(), garbage_collection_info), [proplists:get_value(K, I) || K <- [heap_block_size, old_heap_block_size]].
heaps(Sizes) -> [heap(N) || N <- Sizes].
heap(N) -> Kept = lists:seq(1, N), erlang:garbage_collect(self(), [{type, minor}]), erlang:garbage_collect(self(), [{type, minor}]),
    Before = blocks(), f(N), case blocks() of Before -> true = length(Kept) =:= N, [N | Before]; _ -> heap(N + 1) end.
collected(N) -> Kept = lists:seq(1, N), [garbage_collect() || _ <- lists:seq(1, 3)], length(Kept).
now_reds() -> {_, N} = process_info(self(), reductions), N.
reds(N, To) -> [begin Before = now_reds(), send(To, I rem 40), f(I), After = now_reds(), next(I), [I, Before, After] end || I <- lists:seq(1, N)].
next(I) when I rem 7 =:= 0 -> erlang:yield();
next(I) when I rem 5 =:= 0 -> erlang:bump_reductions(1700);
next(I) when I rem 3 =:= 0 -> lists:seq(1, 1000);
next(_) -> ok.
saved(N) -> process_flag(save_calls, 10), reds(N, self()).
on(Schedulers) -> [begin process_flag(scheduler, S), erlang:yield(), f(S) end || S <- Schedulers], process_flag(scheduler, 0), ok.
sends(To, N) -> send(To, N).
"""


def load(node):
    quoted = WORK.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    node(f'etw:load("{quoted}")')


def traced(t, node, script, work):
    """The lines of numbers that a script printed of a piece of work of a worker, and the value of the work."""
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + script, worker, node=node)
    trace.ready()
    value = node(work.replace("WORKER", pid(worker)))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(trace.err.text(), "", "neither drops nor errors")
    lines = [line.split()[1:] for line in trace.out.lines if line.startswith("> ")]
    numbers = [[int(w) if re.fullmatch(r"-?\d+", w) else w for w in line] for line in lines]
    if any(-1 in line for line in numbers):
        raise unknown(trace)
    return numbers, value


def unknown(trace):
    """The exception for values that are not known of a process that runs. A VM has to run to show where it keeps them: the agent tries that a
    number of times."""
    return Late("the VM had no time to show where it keeps what it knows of a process\n" + trace.said())


def entry(variables, form):
    return f'erlang*:eti:f/1:entry /copyinstr(arg0) == $$1/ {{ printf("> %d {form}\\n", term_int(argv[0]), {variables}); }}'


def test_queue(t):
    """mqlen: messages that the process has gone through, that have just come, and both, kept on the heap and off it."""
    node = t.node()
    load(node)
    lines, _ = traced(t, node, entry("mqlen", "%d"),
                      "[WORKER ! {x, I} || I <- lists:seq(1, 137)], etw:as(WORKER, fun() -> eti:queue(11) end)")
    t.equal(lines, [[1, 137], [2, 148], [3, 148], [4, 159], [5, 159], [6, 170], [7, 170]], "call and mqlen")


def test_heaps(t):
    """heapsize and oldheapsize are the sizes that process_info/2 tells at that moment, of small heaps and large ones."""
    node = t.node()
    load(node)
    lines, value = traced(t, node, entry("heapsize, oldheapsize", "%d %d"),
                          "etw:as(WORKER, fun() -> eti:heaps([1, 307, 5003, 50021, 500009, 101]) end)")
    told = {line[0]: line[1:] for line in lines}
    t.equal(len(value), 6, "heaps")
    for n, *sizes in value:
        t.equal(told[n], sizes, f"with a list of {n}")
    t.true(len({old for _, _, old in value}) >= 3, f"there were old heaps: {value}")


def test_reductions(t):
    """reductions lies between what the process tells before the call and after it: also after it sent messages, yielded, collected; and while its
    calls are saved."""
    node = t.node()
    load(node)
    for work in ("eti:reds(211, self())", "eti:saved(211)"):
        lines, value = traced(t, node, entry("reductions", "%d"), f"etw:as(WORKER, fun() -> {work} end)")
        told = dict(lines)
        t.equal(len(value), 211, "calls")
        wrong = [(i, before, told.get(i), after) for i, before, after in value if not before <= told.get(i, -1) <= after]
        t.equal(wrong, [], f"{work}: call, before, reductions, after")


def test_scheduler(t):
    """sched is the scheduler to which the process was moved; schedtype tells dirty ones; threads of the agent's server are schedulers, too."""
    node = t.node()
    load(node)
    count = node("erlang:system_info(schedulers_online)")
    wanted = [1 + i * 7 % count for i in range(23)]
    lines, _ = traced(t, node, entry("sched, schedtype", "%d %s"), f"etw:as(WORKER, fun() -> eti:on({wanted}) end)")
    t.equal(sorted(lines), sorted([s, s, "normal"] for s in wanted), "scheduler asked for, sched, schedtype")
    script = """erlang*:::process-scheduled /copyinstr(arg0) == $$1/ { @[schedtype, sched >= 1 && sched <= $schedulers] = count(); }
        tick-50ms /!ticked/ { ticked = 1; printf("> %d %s %d\\n", sched >= 1, schedtype, mqlen); }"""
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", (READY + script).replace("$schedulers", str(max(10, count))), worker, node=node)
    trace.ready()
    node(f"""etw:as({pid(worker)}, fun() -> [{{error, enoent}} = prim_file:read_file("/no/such/file") || _ <- lists:seq(1, 11)], ok end)""")
    trace.wait("^> ")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true(re.search(r"^> 1 normal -1$", trace.out.text(), re.M), "an interval runs on a scheduler, for no process", trace)
    kinds = set(re.findall(r"(normal|dirty-\S+) +(\d)", trace.out.text()))
    t.equal(kinds, {("normal", "1"), ("dirty-io", "1")}, "kinds of schedulers", trace)


def test_events(t):
    """The variables at events of a process other than calls; -1 where the event is about another process than the one that runs."""
    node = t.node()
    load(node)
    script = """
        erlang*:::process-scheduled, erlang*:::process-unscheduled, erlang*:::message-send, erlang*:::gc_major-start, erlang*:::gc_major-end
        /copyinstr(arg0) == $$1/ { @[probename, mqlen, reductions > 0, heapsize > 0, oldheapsize >= 0] = count(); }
        erlang*:::message-queued, erlang*:::process-link, erlang*:::process-exit /copyinstr(arg0) == $$1/ { @[probename, mqlen, reductions, heapsize, oldheapsize] = count(); }"""
    worker = node("etw:worker()")
    other = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + script, worker, node=node)
    trace.ready()
    node(f"[{pid(worker)} ! {{x, I}} || I <- lists:seq(1, 13)]")
    node(f"etw:as({pid(worker)}, fun() -> eti:collected(200003), eti:sends({pid(other)}, 7), spawn_link(fun() -> ok end), ok end)")
    node(f"etw:as({pid(worker)}, fun() -> exit({pid(worker)}, kill) end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = re.findall(r"^\s+(\S+)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+)\s+(-?\d+)\s+(\d+)$", trace.out.text(), re.M)
    of = {}
    for name, *values, count in found:
        of.setdefault(name, []).append((*map(int, values), int(count)))
    t.equal(set(of), {"process-scheduled", "process-unscheduled", "message-send", "message-queued", "gc_major-start", "gc_major-end"} | {"process-link", "process-exit"},
            "probes", trace)
    not_known = {"message-queued", "process-link", "process-exit"}
    if any(v[0] == -1 for v in of["process-scheduled"]):
        raise unknown(trace)
    last = (-1, 0, 0, 0, 1) # of process-unscheduled
    for name in set(of) - not_known: # wherever it runs: large heaps are collected on dirty schedulers
        may = range(15) if name in ("process-scheduled", "process-unscheduled") else (13, 14) # it may also run while the messages come
        t.true(all(v[0] in may and v[1:4] == (1, 1, 1) for v in of[name] if v != last), f"{name} with its 13 messages, and an order: {of[name]}", trace)
        t.true(any(v[0] in (13, 14) for v in of[name]), f"{name} with its 13 messages, and an order: {of[name]}", trace)
    for name in not_known:
        t.true(all(v[:4] == (-1, -1, -1, -1) for v in of[name]), f"{name}: no process is known to run", trace)


def test_other_settings(t):
    """The offsets are found whatever the VM was started with, and with several schedulers busy."""
    node = t.node(options=("+P", "4000000", "+JPperf", "true", "+S", "3:3", "+zdbbl", "4096"))
    load(node)
    lines, value = traced(t, node, entry("mqlen, heapsize, oldheapsize", "%d %d %d"),
                          "[WORKER ! {x, I} || I <- lists:seq(1, 41)], etw:as(WORKER, fun() -> eti:heaps([307, 50021]) end)")
    told = {line[0]: line[1:] for line in lines}
    t.equal([told[n] for n, *_ in value], [[41, *sizes] for _, *sizes in value], "mqlen, heapsize, oldheapsize")
    t.equal(node("erlang:system_info(process_limit)") >= 4000000, True, "the option took effect")


def test_doctor(t):
    """doctor tells that these variables exist, and leaves no process."""
    node = t.node()
    status, out, err = t.run("doctor", "--node", node.name, "--cookie", node.cookie)
    t.equal((status, err), (0, ""), "status and errors")
    t.match(out, r"^  ok     process            what the VM keeps of a process can be read: mqlen, reductions, heapsize, oldheapsize$")
    t.clean(node, 15000)
