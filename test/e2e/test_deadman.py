"""The dead-man ends a trace that takes too much of a scheduler, and prints what it had collected. Cheap traces continue. The cost of probes
is reported."""
import json
import os
import re
import subprocess
import sys

import erlt
from erlt import PATIENCE, READY, ROOT, Skipped, aggregation, json_lines, pid, workload

LIMITED = {"DTRACE_OPT_MAXLOAD": "40"}  # the default, which the other tests do without
LOW = {"DTRACE_OPT_MAXLOAD": "2"}
OVERLOAD = 3  # exit status
CALLS = 10007

# All there is to trace, with statements to match.
EVERYTHING = """
erlang*:::entry, erlang*:::return { @f[probefunc, probename] = count(); self->n++; x[probefunc] = timestamp; }
erlang*:::message-send { @m[copyinstr(arg0), copyinstr(arg1)] = count(); }
erlang*:::message-queued { @q[copyinstr(arg0)] = quantize(arg1); }
erlang*:::process-scheduled, erlang*:::process-unscheduled { @s[copyinstr(arg0), copyinstr(arg1)] = count(); }
erlang*:::process-spawn, erlang*:::process-exit { @p[copyinstr(arg1)] = count(); }
erlang*:::gc_minor-start, erlang*:::gc_minor-end, erlang*:::gc_major-start, erlang*:::gc_major-end { @g[copyinstr(arg0)] = sum(arg1); }
END { printf("the end\\n"); }
"""


def flood(node):
    """More work than the node can do."""
    node("etw:busy(3)")
    node("etw:chatter(2)")


def serves(t, node):
    """Checks that the node still does its work: a server answers."""
    worker = node("etw:worker()")
    server = node(f"etw:asks({pid(worker)}, 1000)")
    t.true(server.startswith("<0."), "a server has answered")


def stopped(t, trace, end="the end"):
    """Checks that the trace ended itself, gave the reason, and printed what it had collected."""
    t.equal(trace.end(), OVERLOAD, "exit status", trace)
    with_others = "with what other traces of the node took it was above the limit,"
    said = t.match(trace.err.text(), r"error: \[TRACE_OVERLOAD\] the trace of \S+ was stopped: its probes took ([\d.]+) % of the ([\d.]+) s that "
                   rf"(?:dirty \S+ )?scheduler \d+ could run in 2 s, with (\d+) events/s in all; (?:the limit is|{with_others}) (\d+) %", "why")
    t.true(float(said[1]) >= int(said[4]) or with_others in said[0], "more than the limit", trace)
    t.match(trace.err.text(), r"^ +hint: .*maxload", "what helps")
    # The costs listed are of the same period, and are parts of the total that was too much.
    parts = t.match(trace.err.text(), rf"^erltrace: what cost most, in percent of the same {said[2]} s: (\S+ [\d.]+ % at \d+/s(; |$).*)", "what cost most")
    shares = [float(share) for share in re.findall(r"([\d.]+) %", parts[1])]
    t.match(parts[1], r"; [\d.]+ % the emulator", "the emulator's own part")
    t.true(sum(shares) <= float(said[1]) + 0.1 * len(shares), f"no more than the whole: {shares}", trace)
    t.match(trace.out.text(), end, "the END clause")
    return said


@erlt.alone
def test_everything_is_stopped(t):
    """A trace of all functions, messages, scheduling and collections, in a node that has more work than it can do, is stopped."""
    node = t.node()
    flood(node)
    before = node.memory()
    trace = t.trace("-q", "-x", "maxload=10", "-n", EVERYTHING, node=node)
    trace.wait_error("TRACE_OVERLOAD", 3 * PATIENCE)  # placing all those probes has to share the processor with the load that the node already has
    kind, found = node(f"etw:await_clean({1000 * PATIENCE}, fun etw:traced/0)", patience=2 * PATIENCE)
    t.equal(kind, "clean", f"no flag, pattern or session is left: {found}", trace)
    serves(t, node)
    stopped(t, trace)
    # It may be stopped before all probes are placed: those on the calls that make up the flood are placed.
    t.true(len(aggregation(trace.out.text())) >= 3, "what had been counted is printed", trace)
    grown = node.memory() - before
    with t.loose("how much the messages of the flood hold depends on how its schedulers get on"):
        t.true(grown < 400_000_000, f"the node grew by {grown} bytes")
    serves(t, node)


@erlt.alone
def test_only_the_guilty_one(t):
    """Of two consumers the one that costs too much is stopped; the other continues to count, undisturbed."""
    node = t.node()
    worker = node("etw:worker()")
    cheap = t.trace("-q", "-n", READY + "erlang*:etw:work/1:entry /copyinstr(arg0) == $$1/ { @ = count(); }", worker, node=node,
                    env=LIMITED)
    cheap.ready()
    node("etw:chatter(2)")
    # It takes between 30 and 50 % of a scheduler, and far less on a machine that is busy with other things.
    dear = t.trace("-q", "-x", "maxload=2", "-n", 'erlang*:::message-send { @[copyinstr(arg1)] = count(); } END { printf("the end\\n"); }',
                   node=node)
    stopped(t, dear)
    node(f"etw:calls({pid(worker)}, {CALLS})")
    cheap.interrupt()
    t.equal(cheap.end(), 0, "exit status", cheap)
    t.equal(cheap.err.text(), "", "nothing is said of it")
    t.match(cheap.out.text(), rf"^ +{CALLS}$", "calls")


@erlt.alone
def test_policies(t):
    """Each buffer policy: the records present at the end are shown. Several consumers are ended one after another."""
    node = t.node()
    node("etw:chatter(2)")
    script = 'erlang*:::message-send { @[copyinstr(arg1)] = count(); @x[copyinstr(arg0)] = count(); } ' \
        'erlang*:::message-send /n++ % 65536 == 0/ { trace(n); } END { printf("the end\\n"); }'
    traces = [t.trace("-q", "-x", "maxload=1", "-x", f"bufpolicy={policy}", "-n", script, node=node)
              for policy in ("switch", "fill", "ring")]
    for trace in traces:
        stopped(t, trace)
        t.true(len(aggregation(trace.out.text())) >= 4, "what had been counted is printed", trace)
    serves(t, node)


def test_no_limit(t):
    """Without a limit a trace may take all there is. With a low limit it is stopped early, at that limit; the tool says so at once, however
    seldom it reads data."""
    node = t.node()
    node("etw:chatter(1)")
    script = "erlang*:::message-send { @[copyinstr(arg1)] = count(); } END { printf(\"the end\\n\"); }"
    free = t.trace("-q", "-x", "maxload=off", "--for", "3s", "-n", script, node=node)
    strict = t.trace("-q", "-x", "maxload=1", "-x", "switchrate=1h", "-x", "aggrate=1h", "-n", script, node=node)
    t.equal(stopped(t, strict)[4], "1", "the limit", strict)
    t.equal(free.end(), 0, "exit status", free)
    t.equal(free.err.text(), "", "nothing is said")


def test_json(t):
    """The same in JSON: the reports, and why the trace ended."""
    node = t.node()
    trace = t.trace("--json", "-x", "maxload=1", "-x", "stats=500ms", "-n", "erlang*:::message-send { @ = count(); }", node=node)
    trace.wait('"why": ?"period"')
    node("etw:chatter(1)")
    t.equal(trace.end(), OVERLOAD, "exit status", trace)
    objects = json_lines(trace.out.text())
    t.true(any(o["type"] == "error" and o["tag"] == "TRACE_OVERLOAD" and o["hint"] for o in objects), "why", trace)
    t.true(any(o["type"] == "aggregation" and o["value"] > 0 for o in objects), "what had been counted", trace)
    stats = [o for o in objects if o["type"] == "stats"]
    t.equal(sorted({o["why"] for o in stats}), ["overload", "period", "total"], "reports", trace)
    t.equal(trace.err.text(), "", "standard error")
    for o in stats:
        t.true({"node", "interval", "fired", "events", "ns", "threads", "kinds", "probes", "emulator", "drops"} <= set(o), json.dumps(o))
    over = [o for o in stats if o["why"] == "overload"][0]
    t.equal([k["name"] for k in over["kinds"]], ["message-send"], "kinds")
    t.equal([(p["name"], p["module"]) for p in over["probes"]], [("message-send", "")], "probes")
    t.equal(over["threads"][0]["kind"], "scheduler", "the busiest thread")
    t.true(over["threads"][0]["share"] >= 0.01, "its share")
    t.equal((over["over"]["kind"], over["over"]["limit"]), ("scheduler", 0.01), "what was over the limit")
    t.true(over["over"]["share"] >= 0.01 and 0 < over["over"]["time"] <= 2_000_000_000, "its share and time")
    t.true(0 < over["emulator"] < over["ns"], "the emulator's part")
    total = [o for o in stats if o["why"] == "total"][0]
    t.true(total["fired"] >= sum(o["fired"] for o in stats if o["why"] == "period"), "the total is of all")


def test_stats(t):
    """The option stats reports each second and at the end; with `end`, and with -v, only at the end."""
    node = t.node()
    worker = node("etw:worker()")
    script = READY + "erlang*:etw:work/1:entry { @e = count(); } erlang*:etw:work/1:return { @r = count(); }"
    line = r"^erltrace: {}, \d+ ns each, [\d.]+ % of scheduler \d+.*, no drops$"
    period = t.trace("-q", "-x", "stats=200ms", "-n", script, node=node)
    end = t.trace("-q", "-x", "stats=end", "-n", script, node=node)
    verbose = t.trace("-q", "-v", "-n", script, node=node)
    silent = t.trace("-q", "-n", script, node=node)
    traces = (period, end, verbose, silent)
    for trace in traces:
        trace.ready()
    node(f"etw:calls({pid(worker)}, {CALLS})")
    period.wait_error(line.format(r"stats: [1-9]\d* events/s on \S+"))
    for trace in traces:
        trace.interrupt()
    for trace in traces:
        t.equal(trace.end(), 0, "exit status", trace)
    t.match(period.err.text(), r"^erltrace: stats:   [\d.]+ %, \d+/s, \d+ ns each: etw:work/1:(entry|return)$", "a probe's line")
    t.match(period.err.text(), r"^erltrace: stats:   [\d.]+ %, \d+ ns each: the emulator .*\(an estimate\)$", "the emulator's line")
    for trace in (period, end, verbose):
        found = t.match(trace.err.text(), line.format(r"total: (\d+) events in [\d.]+ s on \S+"), "the last line")
        # and the tick that said ready
        t.true(int(found[1]) >= 2 * CALLS, "events", trace)
    t.true("stats:" not in end.err.text() + verbose.err.text(), "no report before the end", end)
    t.equal(silent.err.text(), "", "standard error")


class Neighbour:
    """Real-time loops that take each processor for `on` ms and leave it for `off` ms, in turn, until the end of the block or for 20 s."""

    LOOP = """
import os, sys, time
on, off, end = float(sys.argv[1]) / 1000, float(sys.argv[2]) / 1000, time.monotonic() + 20
for cpu in os.sched_getaffinity(0):
    if os.fork() == 0:
        os.sched_setaffinity(0, {cpu})
        break
else:
    sys.stdin.read()
    os.killpg(0, 9)
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
while time.monotonic() < end:
    spin = time.monotonic() + on
    while time.monotonic() < spin:
        pass
    time.sleep(off)
"""

    def __init__(self, on, off):
        self.times = (str(on), str(off))

    def __enter__(self):
        self.p = subprocess.Popen([sys.executable, "-c", self.LOOP, *self.times], stdin=subprocess.PIPE, start_new_session=True)

    def __exit__(self, *_):
        self.p.stdin.close()
        self.p.wait()


def needs_real_time():
    """Skips the test where real-time scheduling is not permitted."""
    try:
        allowed = subprocess.run([sys.executable, "-c", "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"],
                                 stderr=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        allowed = False
    if not allowed:
        raise Skipped("real-time scheduling is not allowed here: it needs CAP_SYS_NICE, or a limit (ulimit -r) above 0")


def cheap_enough(t, trace):
    """Checks that the trace runs to its end. A scheduler that gets next to nothing of the processor can really need 40 % of that for cheap
    events. If the trace is stopped for that, the cost reported for an event must be one that an event can have."""
    if trace.end() == OVERLOAD:
        said = t.match(trace.err.text(), r"took ([\d.]+) % of the ([\d.]+) s that scheduler \d+ could run in ([\d.]+) s, with (\d+) events/s", "why")
        share, ran, period, rate = (float(x) for x in said.groups())
        one = share / 100 * ran / (rate * period / 2)  # a busy scheduler has at least half of them
        with t.loose("the time of an event depends on the machine"):
            t.true(one < 10e-6, f"it takes an event for {one * 1e6:.1f} us long", trace)
    else:
        t.equal(trace.end(), 0, "exit status", trace)


@erlt.alone
def test_neighbour_in_real_time(t):
    """Others take half of each processor; the cost of a trace is relative to what the node gets. Cheap traces continue, and a trace that
    takes all of a scheduler is stopped, at the same limit as everywhere."""
    needs_real_time()
    node = t.node(fresh=True, options=("-pa", workload(*(f"demo/{m}" for m in ("shop", "shop_customer", "shop_store", "shop_sup")))))
    t.logs = [r"shop_customer|shop_street|shop_sup"]  # one customer in fifty loses its temper
    node("shop_sup:start()")
    node("etw:trickle(10, 4)")
    with Neighbour(5, 5):
        cheap = [t.trace("--for", "4s", "-s", os.path.join(ROOT, "scripts", "latency.d"), node=node, env=LIMITED),
                 t.trace("--for", "4s", "-qn", "erlang*:shop:[op]r*:entry { self->ts[probefunc] = timestamp; } "
                         "erlang*:shop:[op]r*:return /self->ts[probefunc]/ { @[probefunc] = quantize(timestamp - self->ts[probefunc]); "
                         "self->ts[probefunc] = 0; }", node=node, env=LIMITED)]
        for trace, shows in zip(cheap, ("send to scheduled", r"order/2")):
            cheap_enough(t, trace)
            t.match(trace.out.text(), shows, "what it saw")
        node("etw:chatter(2)")
        # A debug emulator checks its assertions between two messages: the messages that remain do not take 40 % of a scheduler.
        dear = t.trace("-q", "-s", os.path.join(ROOT, "scripts", "latency.d"), node=node, env=LOW if erlt.DEBUG else LIMITED)
        t.equal(dear.end(), OVERLOAD, "exit status", dear)
    t.match(dear.err.text(), r"TRACE_OVERLOAD", "why")
    serves(t, node)


@erlt.alone
def test_neighbour_that_interrupts(t):
    """Others take nearly all of each processor, in parts of less than a millisecond. Many of them interrupt an event while it is timed;
    their time does not count as the event's."""
    needs_real_time()
    node = t.node()
    node("etw:trickle(40, 8)")
    with Neighbour(0.7, 0.1):
        trace = t.trace("--for", "3500ms", "-qn", "erlang*:::message-send { @ = count(); }", node=node, env=LIMITED)
        cheap_enough(t, trace)
    t.match(trace.out.text(), r"^ +\d+$", "what it counted")


def test_bad_values(t):
    """A value that is no limit, or no period, is refused; the message shows the form that a value has."""
    for option, hint in (("maxload=101", "percent"), ("maxload", "percent"), ("stats=1ms", "100ms")):
        status, _, err = t.run("--local", "-x", option, "-n", "BEGIN { exit(0); }")
        t.equal(status, 1, option)
        t.true(re.search(f"hint: .*{hint}", err), err)
