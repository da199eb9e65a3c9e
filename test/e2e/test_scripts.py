"""The ready scripts and the demo's one-liners give plausible results in a node that does known things."""
import glob
import os
import re
import signal
import subprocess
import time

import erlt
from erlt import PATIENCE, READY, ROOT, TOOL, Late, Skipped, pid
from test_functions import load


def histogram(text):
    """Returns {bucket: count} of the first histogram in the text."""
    return {int(m[1]): int(m[2]) for m in re.finditer(r"^ +(-?\d+) \|@* +(\d+) *$", text, re.M)}


def test_births_and_deaths(t):
    """Counters that are printed and reset each second: their sums are about the numbers of processes that were born and that died, which
    aggregations have exactly. A death is not counted if there was no room to note its birth; that is reported as a drop."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-qn", """
        erlang*:::process-spawn /copyinstr(arg1) == "etw:child/1"/ { born++; @born = count(); mine[copyinstr(arg0)] = 1; }
        erlang*:::process-exit /mine[copyinstr(arg0)]/ { died++; @died = count(); mine[copyinstr(arg0)] = 0; }
        END { printa("all born %@d\\n", @born); printa("all died %@d\\n", @died); }
        tick-1sec { printf("%d born %d died\\n", born, died); born = 0; died = 0; }""", node=node)
    line = trace.wait("^0 born 0 died$")
    for _ in range(3):
        node(f"etw:spawns({worker}, 1009)")
        line = trace.wait("born", start=line + 1)
    trace.wait("born", start=trace.wait("born", start=len(trace.out.lines)) + 1)  # the second of these lines has the last of them
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(int(t.match(trace.out.text(), r"^all born (\d+)$")[1]), 3027, "born", trace)
    died = int(t.match(trace.out.text(), r"^all died (\d+)$")[1])
    t.true(3027 - dropped(trace) <= died <= 3027, f"{died} of 3027 died, {dropped(trace)} drops", trace)
    for what, kind in enumerate(("born", "died")):
        shown = sum(int(counts[what]) for counts in re.findall(r"^(\d+) born (\d+) died$", trace.out.text(), re.M))
        with t.loose("counters to which several threads add are racy in D: a reset may lose an addition, or be lost"):
            t.true(0.99 * 3027 - dropped(trace) <= shown <= 3027, f"{shown} of 3027 {kind}", trace)


def dropped(trace):
    """The values for which there was no room, as the tool reports them at the end."""
    return sum(int(n) for n in re.findall(r"(\d+) dynamic variable drops?", trace.err.text()))


def test_message_latency(t):
    """From send to scheduled: a latency for each message that wakes a process, but for those that are reported as dropped; none is negative, or
    longer than the test."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    node("""begin Sinks = [spawn(etw, sink, [1]) || _ <- lists:seq(1, 53)],
            etw:await(fun() -> lists:all(fun(P) -> process_info(P, status) =:= {status, waiting} end, Sinks) end), put(sinks, Sinks), ok end""")
    start = time.monotonic()
    trace = t.trace("-qn", READY + """
        erlang*:::message-send { sent[copyinstr(arg1)] = timestamp; }
        erlang*:::process-scheduled /sent[copyinstr(arg0)]/ {
            @["send to scheduled, ns"] = quantize(timestamp - sent[copyinstr(arg0)]); sent[copyinstr(arg0)] = 0; }""", node=node)
    trace.ready()
    node(f"Sinks = get(sinks), etw:as({worker}, fun() -> [P ! {{n, 1}} || P <- Sinks], ok end), etw:await(fun() -> not lists:any(fun erlang:is_process_alive/1, Sinks) end), ok")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = histogram(trace.out.text())
    count = sum(found.values())
    t.true(count + dropped(trace) >= 53, f"{count} latencies and {dropped(trace)} drops of at least 53 messages", trace)
    t.true(min(b for b, n in found.items() if n) >= 0, "no negative latency", trace)
    t.true(max(b for b, n in found.items() if n) < 1e9 * (time.monotonic() - start), "no latency longer than the test", trace)


def test_typed_arguments(t):
    """args[N] are strings and numbers with the same values as arg0 ...; -lv shows their types."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-qn", READY + """
        erlang*:::process-spawn /args[1] == "etw:child/1"/ { @born[args[1], args[0] == copyinstr(arg0)] = count(); }
        erlang*:::message-send /args[0] == "%s"/ { @sent[args[2] == arg2, sizeof (args[2])] = count(); }"""
        % re.search("<[0-9.]+>", worker)[0], node=node)
    trace.ready()
    node(f"etw:spawns({worker}, 19)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"etw:child/1 +1 +19\n", "spawned")
    t.match(trace.out.text(), r" 1 +4 +\d+\n", "sent")
    listing = t.trace("-lvn", "erlang*:::message-send", node=node)
    t.equal(listing.end(), 0, "exit status", listing)
    t.match(listing.out.text(), r"Argument Types\n\t\targs\[0\]: string\n\t\targs\[1\]: string\n\t\targs\[2\]: uint32_t\n"
              r"\t\targs\[3\]: int\n\t\targs\[4\]: int\n\t\targs\[5\]: int\n\n", "types")


def test_function_latency(t):
    """From entry to return, by function, for a whole module."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-x", "argref", "-n", READY, "-s", os.path.join(ROOT, "scripts", "functions.d"), "etw", node=node)
    trace.ready()
    node(f"etw:calls({worker}, 1013)")
    node(f"etw:as({worker}, fun() -> lists:foreach(fun(N) -> etw:loop(N) end, [3, 5, 7]) end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    text = trace.out.text()
    t.match(text, r"^etw:work/1 +1013 +\d+ +\d+$", "calls of work/1")
    # loop(N) has N + 1 entries.
    t.match(text, r"^etw:loop/1 +18 +\d+ +\d+$", "calls of loop/1")
    parts = re.split(r"\n(?=  ns +\S+)", text)
    work = [p for p in parts if re.match(r"  ns +etw:work/1", p)]
    t.equal(len(work), 1, "histograms of work/1", trace)
    t.equal(sum(histogram(work[0]).values()), 1013, "returns of work/1", trace)


NESTED = """-module(nested). -export([go/0, down/1, leaf/1]).
go() -> X = down(5), Y = leaf(20), {X, Y}.
down(0) -> leaf(10), zero;
down(N) -> {down(N - 1)}.
leaf(Ms) -> timer:sleep(Ms), ends(Ms).
ends(Ms) -> timer:sleep(Ms), done.
"""


def test_time_of_recursion(t):
    """functions: of calls within calls of the same function the outermost is the total; what is each function's own adds up to the whole."""
    node = t.node()
    load(node, NESTED)
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-x", "argref", "-n", READY, "-s", os.path.join(ROOT, "scripts", "functions.d"), "nested", node=node)
    trace.ready()
    node(f"etw:as({worker}, fun() -> nested:go() end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = {m[1]: tuple(map(int, m.groups()[1:])) for m in re.finditer(r"^nested:(\w+)/\d +(\d+) +(\d+) +(\d+)$", trace.out.text(), re.M)}
    t.equal({name: row[0] for name, row in found.items()}, {"go": 1, "down": 6, "leaf": 2, "ends": 2}, "calls", trace)
    ms = 1000000
    total, own = ({name: row[i] for name, row in found.items()} for i in (1, 2))
    t.true(total["go"] >= 60 * ms and 20 * ms <= total["down"] <= total["go"] - 40 * ms, f"in all: {total}", trace)
    t.true(total["leaf"] >= 30 * ms and total["ends"] >= 30 * ms, f"leaf ends with a tail call of ends: {total}", trace)
    t.equal(sum(own.values()), total["go"], "their own", trace)
    t.equal((own["leaf"], own["ends"]), (total["leaf"], total["ends"]), "of those that call nothing", trace)


def test_functions_of_one_name_in_two_modules(t):
    """With a pattern of modules, a function belongs to its module: functions of the same name in two modules are two lines, each with its
    own numbers."""
    node = t.node()
    for module in ("twin_a", "twin_b"):
        node(f"""begin {{ok, M, B}} = compile:forms([{{attribute, 1, module, {module}}}, {{attribute, 1, export, [{{same, 1}}]}},
            {{function, 1, same, 1, [{{clause, 1, [{{var, 1, 'X'}}], [], [{{call, 1, {{atom, 1, hd}}, [{{var, 1, 'X'}}]}}]}}]}}]),
            {{module, M}} = code:load_binary(M, "", B), ok end""")
    worker = pid(node("etw:worker()"))
    for script, counts in (("functions.d", (7, 12)), ("calls.d", (7, 12)), ("exceptions.d", (2, 3))):
        trace = t.trace("-q", "-x", "argref", "-n", READY, "-s", os.path.join(ROOT, "scripts", script), "twin_*", node=node)
        trace.ready()
        node(f"""etw:as({worker}, fun() -> [twin_a:same([1]) || _ <- lists:seq(1, 5)], [catch twin_a:same(0) || _ <- lists:seq(1, 2)],
            [twin_b:same([1]) || _ <- lists:seq(1, 9)], [catch twin_b:same(0) || _ <- lists:seq(1, 3)] end)""")
        if script == "calls.d":     # prints each second
            trace.wait("^twin_b:same/1 ")
        trace.interrupt()
        t.equal(trace.end(), 0, f"exit status of {script}", trace)
        found = {m[1]: int(m[2]) for m in re.finditer(r"^twin_(.):same/1 +([1-9]\d*)(?: +\d+ +\d+)?$", trace.out.text(), re.M)}
        t.equal(found, dict(zip("ab", counts)), script, trace)
        if script == "functions.d":
            times = re.findall(r"^  ns +twin_(.):same/1 *$", trace.out.text(), re.M)
            t.equal(sorted(times), ["a", "b"], "times", trace)


def test_calls_that_move(t):
    """migrations.d counts the calls that return on another CPU than the one they entered on, with both CPUs."""
    node = t.node(options=["+sct", "L0-1c0-1", "+sbt", "db", "+S", "2:2"])
    bound = node("tuple_to_list(erlang:system_info(scheduler_bindings))")
    if None in bound or "unbound" in bound:
        raise Skipped("schedulers cannot be bound to two CPUs here")
    worker = pid(node("etw:worker()"))
    trace = t.trace("-x", "argref", "-n", READY, "-s", os.path.join(ROOT, "scripts", "migrations.d"), "etw", node=node)
    trace.ready()
    node(f"etw:calls({worker}, 1013)")
    node(f"etw:hops({worker}, 53, [1, 2])")     # each call moves to the other scheduler
    node(f"etw:hops({worker}, 59, [2, 2])")     # the worker moves there before the first call
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    text, (one, two) = trace.out.text(), bound
    t.match(text, r"^calls +etw:work/1 +1013$", "calls of work/1")
    t.match(text, rf"^calls +etw:hop/1 +{2 * 53 + 2 * 59}$", "calls of hop/1")
    moved = {(int(m[2]), int(m[3])): int(m[4]) for m in re.finditer(r"^moved +(\S+) +from CPU +(\d+) to +(\d+) +(\d+)$", text, re.M)
             if m[1] == "etw:hop/1"}
    t.equal(moved, {(one, two): 53, (two, one): 53}, "calls of hop/1 that moved", trace)


@erlt.alone
def test_ready_scripts(t):
    """Each script of scripts/ compiles, runs in a busy node, and prints something."""
    node = t.node()
    node("etw:chatter(1)")
    worker = pid(node("etw:worker()"))
    arguments = {"functions.d": ["etw"], "calls.d": ["etw"], "exceptions.d": ["etw"], "migrations.d": ["etw"], "profile.d": ["etw"], "flame.d": ["etw"],
                 "slowargs.d": ["etw", "spawn_each", "0"], "follow.d": ["etw", "spawn_each"], "msglat.d": ["gen", "call"]}
    scripts = sorted(glob.glob(os.path.join(ROOT, "scripts", "*.d")))
    t.true(len(scripts) >= 8, f"{len(scripts)} scripts")
    for script in scripts:
        name = os.path.basename(script)
        with open(script, encoding="utf-8") as f:
            text = f.read()
        trace = t.trace("-q", "-w", "-x", "argref", "-n", READY, "-s", script, *arguments.get(name, []), node=node)
        trace.ready()
        for _ in range(10):
            node(f"etw:spawns({worker}, 7)")
            node(f"etw:calls({worker}, 101)")
            node(f"etw:raises({worker}, 3)")
            node(f"etw:collects({worker}, 1)")
            node(f"etw:as({worker}, fun() -> supervisor:which_children(kernel_sup), catch gen_server:call(no_such_server, hello), spawn(erlang, exit, [crashed]), ets:lookup(ac_tab, x), {{nobody, 'nobody@{erlt.HOST}'}} ! hello, ok end)")
        if re.search(r"(tick-|scheduler-)[^{}]*\{[^}]*print", text):  # prints each second; the others print at the end
            trace.wait("[1-9]")
        trace.interrupt()
        t.equal(trace.end(), 0, f"exit status of {name}", trace)
        printed = [line for line in trace.out.lines if re.search(r"[1-9]", line)]
        t.true(printed, f"{name} prints results", trace)
        t.true("error" not in trace.err.text(), f"{name} runs without faults", trace)
        t.match(text, rf"\A#!/usr/bin/env -S erltrace -s\n/\*\n \* {re.escape(name)}\b.* - ", f"header of {name}")


def test_the_shop(t):
    """`make shop` leaves a shop running, and each command that it prints works as printed. Run again, it prints the same commands for the
    same shop."""
    t.needs_proc()
    env = dict(os.environ, DEMO_WORK=os.path.join(t.folder, "shop"), ERLTRACE_ROOT=ROOT, DTRACE_OPT_MAXLOAD="off")
    first, again = (subprocess.run([os.path.join(ROOT, "demo", "shop")], env=env, check=True, capture_output=True, text=True).stdout for _ in range(2))
    shop = re.search(r"^To close the shop: kill (\d+)$", first, re.M)[1]
    try:
        t.match(first, r"^A shop is open: node shop\d+@\S+, OS process \d+,")
        t.match(again, rf"^The shop is open already: node shop\d+@\S+, OS process {shop}\.$")
        commands = re.findall(r"^  bin/erltrace (.*)$", first, re.M)
        t.equal(len(commands), 3, first)
        t.equal(commands, re.findall(r"^  bin/erltrace (.*)$", again, re.M), "the same commands")
        for command in commands:
            for seconds in (2, 10, PATIENCE):  # on a busy host the shop runs for some moments of a second only
                done = subprocess.run([TOOL, *command.replace("--for 5", f"--for {seconds}").split()], cwd=ROOT, env=env, check=False, capture_output=True, text=True)
                if re.search("[1-9]", done.stdout):
                    break
            else:
                raise Late(f"{command} shows nothing in {PATIENCE} s: {done}")
            t.equal((done.returncode, done.stderr), (0, ""), command)
    finally:
        os.kill(int(shop), signal.SIGTERM)
