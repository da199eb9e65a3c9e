"""Workloads with known numbers: what erltrace counts is exactly what happened, on every OTP release.

The numbers are primes, so that no sum or multiple of something else can pass for them."""
import re

from erlt import PATIENCE, READY, aggregation, pid

SPAWNS, SENDS, CALLS, RAISES = 1009, 10007, 100003, 2003

# Counts of what one worker does. $$1 is the worker, $$2 the process that gives it its orders.
SCRIPT = READY + r"""
erlang*:::process-spawn /copyinstr(arg1) == "etw:child/1"/ { @["spawn"] = count(); mine[copyinstr(arg0)] = 1; }
erlang*:::process-exit /mine[copyinstr(arg0)]/ { @["exit"] = count(); @why[copyinstr(arg1)] = count(); mine[copyinstr(arg0)] = 0; }
erlang*:::process-spawn /copyinstr(arg1) == "etw:sink/1"/ { sink[copyinstr(arg0)] = 1; }
erlang*:::message-send /copyinstr(arg0) == $$1 && copyinstr(arg1) != $$2/ { @["send"] = count(); @words = sum(arg2); }
erlang*:::message-queued /sink[copyinstr(arg0)]/ { @["queued"] = count(); }
erlang*:etw:work/1:entry { @["call"] = count(); }
erlang*:etw:work/1:return { @["return"] = count(); }
erlang*:etw:boom/1:entry { @["boom"] = count(); }
erlang*:etw:boom/1:exception { @["exception"] = count(); }
"""


def test_everything_at_once(t):
    """Spawns, exits, sends, queued messages, calls, returns and exceptions of one worker, counted by one program."""
    node = t.node()
    worker, control = node("etw:worker()"), node("self()")
    trace = t.trace("-q", "-n", SCRIPT, worker, control, node=node)
    trace.ready()
    w = pid(worker)
    for order in (f"spawns({w}, {SPAWNS})", f"sends({w}, {SENDS})", f"calls({w}, {CALLS})", f"raises({w}, {RAISES})"):
        t.equal(node("etw:" + order), "ok", order)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    expected = {"spawn": SPAWNS, "exit": SPAWNS, "normal": SPAWNS, "send": SENDS, "queued": SENDS,
                "call": CALLS, "return": CALLS, "boom": RAISES, "exception": RAISES}
    t.equal({k: found.get(k) for k in expected}, expected, "counts", trace)
    # Each message is {n, Integer}: a tuple of two is three words.
    t.match(trace.out.text(), rf"^ +{3 * SENDS}$", "sum of message sizes")
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)


def test_two_workers_at_once(t):
    """Two schedulers in the same function: each counts for itself, nothing is lost in the sum."""
    node = t.node()
    workers = [node("etw:worker()") for _ in range(2)]
    trace = t.trace("-q", "-n", READY + "erlang*:etw:work/1:entry { @[copyinstr(arg0)] = count(); }", node=node)
    trace.ready()
    fun = f"fun() -> [etw:work(I) || I <- lists:seq(1, {CALLS})], ok end"
    node(f"etw:all([{{{pid(workers[0])}, {fun}}}, {{{pid(workers[1])}, {fun}}}])")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {workers[0]: CALLS, workers[1]: CALLS}, "calls by process", trace)


def test_answers_to_an_alias(t):
    """The answers of gen_server:call go to an alias. The probe's receiver is the process behind it, so that scripts with receivers as keys
    do not fill their memory with names that never occur again."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:::message-send /copyinstr(arg1) == $$1/ { @["to the asker"] = count(); }
        erlang*:::message-send { sent[copyinstr(arg1)] = timestamp; }
        erlang*:::process-scheduled /sent[copyinstr(arg0)]/ { @["waited"] = count(); sent[copyinstr(arg0)] = 0; }""",
                    worker, node=node)
    trace.ready()
    node(f"etw:asks({pid(worker)}, {5 * SENDS})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)
    found = aggregation(trace.out.text().replace("to the asker", "asker"))
    t.equal(found.get("asker"), 5 * SENDS, "answers", trace)
    t.true(found.get("waited", 0) >= 5 * SENDS, "each question or answer waits for somebody", trace)


def test_speculation_of_two_workers(t):
    """Two schedulers record speculatively. When one commits, everything arrives. Branches count both ways."""
    node = t.node()
    workers = [node("etw:worker()") for _ in range(2)]
    trace = t.trace("-q", "-n", READY + """
        self int n;
        BEGIN { sid = speculation(); }
        erlang*:etw:work/1:entry {
            if (self->n & 1)
                @["odd"] = count();
            else
                @["even"] = count();
            self->n++;
        }
        erlang*:etw:work/1:entry { speculate(sid); printf("held %s\\n", substr(probefunc, 0, 4)); }
        erlang*:etw:boom/1:entry { commit(sid); }""", node=node)
    trace.ready()
    each = 1010
    fun = f"fun() -> [etw:work(I) || I <- lists:seq(1, {each})], ok end"
    node(f"etw:all([{{{pid(workers[0])}, {fun}}}, {{{pid(workers[1])}, {fun}}}])")
    t.true("held" not in trace.out.text(), "nothing is shown before the commit", trace)
    node(f"etw:raises({pid(workers[0])}, 1)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(len(re.findall("^held work$", trace.out.text(), re.M)), 2 * each, "committed records", trace)
    t.equal(aggregation(trace.out.text()), {"odd": each, "even": each}, "branches", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)


def test_collections(t):
    """Each forced collection is seen, and so is its end."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:::gc_major-start /copyinstr(arg0) == $$1/ { @["start"] = count(); }
        erlang*:::gc_major-end /copyinstr(arg0) == $$1/ { @["end"] = count(); }""", worker, node=node)
    trace.ready()
    node(f"etw:collects({pid(worker)}, 101)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.true(found.get("start", 0) >= 101, "each of 101 collections starts", trace)
    t.equal(found.get("end"), found.get("start"), "ends of collections", trace)


def test_scheduling(t):
    """Each process that is scheduled is also unscheduled."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:::process-scheduled /copyinstr(arg0) == $$1/ { ins++; @["in"] = count(); }
        erlang*:::process-unscheduled /copyinstr(arg0) == $$1/ { outs++; @["out"] = count(); }
        erlang*:etw:work/1:entry { calls++; }
        profile:::tick-50ms /calls == 31 * 7 && ins == outs/ { printf("even\\n"); }""", worker, node=node)
    trace.ready()
    for _ in range(31):
        node(f"etw:calls({pid(worker)}, 7)")
    trace.wait("even", start=len(trace.out.lines))  # the worker is unscheduled after it has answered
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.true(found.get("in", 0) >= 31, "31 orders need 31 turns", trace)
    t.equal(found.get("out"), found.get("in"), "turns ended", trace)


def test_records_and_drops(t):
    """Records that find no room count as drops: records and drops together are what fired."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-x", "bufsize=16k", "-x", "switchrate=2s", "-n",
                    READY + 'erlang*:etw:work/1:entry { printf("call\\n"); }', node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, {CALLS})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    recorded = trace.out.lines.count("call")
    dropped = sum(int(n) for n in re.findall(r"(\d+) drops?\b(?! on aggregation)", trace.err.text()))
    t.true(recorded > 0 and dropped > 0, f"some of both: {recorded} recorded, {dropped} dropped", trace)
    t.equal(recorded + dropped, CALLS, "recorded + dropped", trace)


def test_records_all(t):
    """With room and a reader that keeps up, every record arrives, and in order."""
    node = t.node()
    worker = node("etw:worker()")
    node(f"etw:as({pid(worker)}, fun() -> etw:hop(1) end)")  # records arrive scheduler by scheduler
    trace = t.trace("-q", "-n", READY + 'erlang*:etw:work/1:entry { n++; printf("call %d\\n", n); }', node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, {SENDS})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    got = [line for line in trace.out.lines if line.startswith("call ")]
    t.equal(got, [f"call {i}" for i in range(1, SENDS + 1)], "records", trace)


def test_aggregation_drops(t):
    """A full aggregation table: the updates that found a place and the drops together are what fired."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-x", "aggsize=64k", "-x", "aggrate=2s", "-n",
                    READY + "erlang*:etw:work/1:entry { n++; @[n] = count(); }", node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, {SENDS})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    counted = sum(aggregation(trace.out.text()).values())
    dropped = sum(int(n) for n in re.findall(r"(\d+) aggregation drops?", trace.err.text()))
    t.true(counted > 0 and dropped > 0, f"some of both: {counted} counted, {dropped} dropped", trace)
    t.equal(counted + dropped, SENDS, "counted + dropped", trace)


def test_tail_recursion(t):
    """A loop of ten million turns with probes on entry and return: every entry counts, the loop still runs in constant memory, and its one
    return counts once."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:etw:loop/1:entry { @["entry"] = count(); }
        erlang*:etw:loop/1:return { @["return"] = count(); }""", node=node)
    trace.ready()
    before = node.memory()
    size = node(f"etw:tail({pid(worker)}, 10000000)", patience=5 * PATIENCE)
    grown = node.memory() - before
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    # If each turn left a frame, that would be at least 80 MB, and the time would grow with the square of the turns.
    t.true(size < 2_000_000, f"the loop's process holds {size} bytes")
    t.true(grown < 50_000_000, f"the node grew by {grown} bytes")
    t.equal(aggregation(trace.out.text()), {"entry": 10000001, "return": 1}, "counts", trace)


def test_function_time_is_sane(t):
    """The time from entry to return of a function that waits is never shorter than its wait."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:etw:nap/1:entry { self->ts = timestamp; }
        erlang*:etw:nap/1:return /self->ts/ { @ = min(timestamp - self->ts); @n = count(); self->ts = 0; }""", node=node)
    trace.ready()
    node(f"etw:as({pid(worker)}, fun() -> [etw:nap(30) || _ <- lists:seq(1, 7)], ok end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    numbers = [int(n) for n in re.findall(r"^ +(\d+)$", trace.out.text(), re.M)]
    t.equal(len(numbers), 2, "two numbers", trace)
    t.true(numbers[0] >= 29_000_000, f"the shortest of the naps took {numbers[0]} ns", trace)
    t.equal(numbers[1], 7, "naps", trace)
