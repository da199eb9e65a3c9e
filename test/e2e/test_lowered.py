"""Calls that the VM counts, in place of reporting each: results are those of a trace that is told of each call."""
import random
import re
import signal

import choice
from erlt import READY, SHORT_LEASE, SHORT_LEASE_MS, Skipped, aggregation, json_lines, until_printed
from test_functions import as_worker, load

ROUNDS = 12
# Each kind of call: from the module and from outside, by name, through a fun, as the first of a process, at its end, again and again, in vain.
MODULE = """-module(etco).
-export([run/2, leaf/1, deep/1, down/1, born/0, held/1, asked/1, thrown/1, woken/1]).
leaf(X) -> X.
deep(0) -> 0;
deep(N) -> 1 + deep(N - 1).
down(0) -> ok;
down(N) -> down(N - 1).
born() -> ok.
held(X) -> mine(X) + 1.
mine(X) -> X band 7.
asked(X) -> leaf(X).
thrown(X) -> throw(X).
woken(P) -> P ! awake.
run(Seed, N) -> rand:seed(exsss, {Seed, 2, 3}), turns(N).
turns(0) -> ok;
turns(N) -> turn(rand:uniform(10)), turns(N - 1).
turn(1) -> leaf(1);
turn(2) -> etco:leaf(2);
turn(3) -> apply(etco, leaf, [3]);
turn(4) -> lists:foreach(fun etco:asked/1, [1, 2, 3]);
turn(5) -> deep(rand:uniform(50));
turn(6) -> down(rand:uniform(50));
turn(7) -> {P, R} = spawn_monitor(etco, born, []), receive {'DOWN', R, _, P, _} -> ok end;
turn(8) -> held(8);
turn(9) -> try thrown(9) catch throw:_ -> ok end;
turn(10) -> Me = self(), {P, R} = spawn_monitor(fun() -> erlang:hibernate(etco, woken, [Me]) end), P ! go,
            receive {'DOWN', R, _, P, _} -> ok end, receive awake -> ok end.
"""


def key(r):
    return r.choice(('probefunc', 'copyinstr(arg1)', 'probemod', '"all"', '7', 'probename', 'strjoin(probefunc, "!")', 'probefunc, probename, (int64_t)-1', 'strlen(probefunc)',
                     'id - id'))


def clause(r, i):
    """A clause that only counts."""
    where = r.choice(("", "leaf", "*", "d*", "?eld", "*n", "leaf, erlang*:etco:deep", "leaf/1, erlang*:etco:down"))
    predicate = r.choice(("", "", "", ' /probefunc != "leaf/1"/', " /strlen(probefunc) > 6/", ' /copyinstr(arg1) == "etco:deep/1"/', " /pid == $pid || pid != 0/"))
    does = "; ".join(r.choice((f"@a{i}{k}[{key(r)}] = count()", "@ = count()", f"@s{i}{k}[{key(r)}] = sum({r.randrange(-3, 9)})", "n++", f"m += {r.randrange(-3, 9)}",
                               "--n", f"@t = sum({r.randrange(9)})"))
                     for k in range(r.randrange(1, 4)))
    return f"erlang*:etco:{where}:entry{predicate} {{ {does}; }}\n".replace(", erlang*:etco:deep:entry", ":entry, erlang*:etco:deep:entry").replace(
        "/1, erlang*:etco:down:entry", "/1:entry, erlang*:etco:down:entry")


def program(r):
    """A random program whose clauses on functions only count, with whatever may look at what they count."""
    own = 'dtrace:::END { printf("n %d m %d", n, m); }\n' + r.choice((
        "", 'dtrace:::END { printa("%@d", @); }\n', "dtrace:::END { clear(@); }\n", "dtrace:::END { trunc(@); }\n", "dtrace:::END { normalize(@, 3); }\n",
        "profile:::tick-1hz { ticks = n - n; }\n"))
    return "".join(clause(r, i) for i in range(r.randrange(1, 5))) + "dtrace:::END { @ = count(); @t = sum(0); }\n" + own


def found(t, node, script, lower, *works, more=()):
    """What a script prints and counts, how many functions were counted, and what was said."""
    trace = t.trace("--json", "-v", "-x", f"lower={lower}", *more, "-n", READY + "dtrace:::BEGIN { n = m = (int64_t)0; }\n" + script, node=node)
    trace.ready()
    for work in works:
        node(work)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    lines = json_lines(trace.out.text())
    placed, = [o for o in lines if o["type"] == "enabled"]
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)
    seen = [{k: v for k, v in o.items() if k not in ("cpu", "timestamp", "time", "node")} for o in lines if o["type"] in ("aggregation", "printf", "printa", "record", "output")]
    return seen, placed["functions"]["counted"], trace


def test_random_programs(t):
    """Random programs that only count, lowered and not, on the same work: what they print is the same."""
    seed = choice.seed("e2e/lowered")
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    lowered = 0
    for i in range(ROUNDS):
        script = program(random.Random(seed + i))
        work = as_worker(worker, f"etco:run({i}, 211)")
        plain, none, _ = found(t, node, script, "no", work)
        t.equal(none, 0, "functions counted with lower=no")
        t.true(sum(o["type"] == "aggregation" for o in plain) > 0, "it counts")
        some, n, trace = found(t, node, script, "yes", work)
        t.equal(some, plain, f"results of {script}", trace)
        lowered += n
    if node("list_to_integer(erlang:system_info(otp_release))") >= 27:
        t.true(lowered > ROUNDS, f"functions that were counted: {lowered}")
    else:
        t.equal(lowered, 0, "functions that were counted before OTP 27")
    t.clean(node)


COUNT = "erlang*:etco:leaf/1:entry { @[probefunc] = count(); n++; }\n"
WIDE = "dtrace:::BEGIN { n = m = (int64_t)0; } "
SHOWN = 'profile:::tick-500ms { printf("n is %d\\n", n); }\n'  # after a reading of the counters
LEAVES = "lists:foreach(fun etco:leaf/1, lists:seq(1, {}))"


def ready(t, *, what=COUNT + SHOWN, more=(), before="ok", **places):
    """A node with a worker, in which a trace counts; None for the trace before OTP 27."""
    node = t.node(**places)
    if node("list_to_integer(erlang:system_info(otp_release))") < 27:
        raise Skipped("before OTP 27 nothing is counted")
    load(node, MODULE)
    node(before)
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + what, *more, node=node)
    trace.ready()
    return node, trace, lambda n: node(as_worker(worker, LEAVES.format(n)))


def ended(t, trace):
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    found.pop(("n", "is"), None)  # SHOWN
    return found


def test_what_is_counted(t):
    """Which functions of a program are counted."""
    node, none, _ = ready(t)
    ended(t, none)

    def counted(script, expected, *more):
        trace = t.trace("--json", "-v", "-w", *more, "-n", script + "\ndtrace:::BEGIN { exit(0); }", node=node)
        t.equal(trace.end(), 0, "exit status", trace)
        placed, = [o for o in json_lines(trace.out.text()) if o["type"] == "enabled"]
        t.equal(placed["functions"]["counted"], expected, f"functions counted of {script} {more}", trace)
    leaf = "erlang*:etco:leaf/1:entry "
    counted(COUNT, 1)
    counted("erlang*:etco::entry { @[probefunc] = count(); }", 15)
    counted(COUNT + "erlang*:etco:d*:entry /arg2 == 0/ { @d = count(); }", 1)
    for option in ("lower=no", "cpu=0", "aggpercpu", "bufpolicy=ring", "bufpolicy=fill", "aggrate=99ms", "eventbudget=2k"):
        counted(COUNT, 0, "-x", option)
    for option in ("aggrate=1h", "aggrate=100ms", "eventbudget=1m", "bufsize=64k"):
        counted(COUNT, 1, "-x", option)
    for does in ("@[copyinstr(arg0)] = count()", "@[arg2] = count()", "@[cpu] = count()", "@[tid] = count()", "@[timestamp] = count()", "@ = max(1)", "@ = quantize(1)", "@ = sum(n)",
                 "@ = sum(arg2)", "x[1]++", "self->n++", "this->n = 1; n++", "n = n + 1", "n = 1", "m = n++", "@[n++] = count()", 'printf("leaf\\n")', "@ = count(); trace(1)", "@[ustack()] = count()",
                 "@[execname] = count()", "@[erlpid] = count()", "@[vtimestamp] = count()", "@ = count(); exit(0)", "@ = count(); clear(@)", '@[arg2 ? "a" : "b"] = count()', "n += arg2", "@ = sum(1 / n)",
                 "@[argv[0] == 1] = count()", "@[id / (id - id)] = count()", "@ = count(); usdt()"):
        counted(WIDE + leaf + f"{{ {does}; }}", 0)
    for predicate in ("arg2 > 0", "n == 0", 'copyinstr(arg0) != "x"', "timestamp != 0", "self->x++ == 0", "n++ == 0"):
        counted(WIDE + leaf + f"/{predicate}/ {{ @ = count(); }}", 0)
    for event in ("return", "exception", "local-function-entry"):
        counted(COUNT + f"erlang*:etco:leaf/1:{event} {{ @e = count(); }}", 0)
    # What may look at a variable, or end the program, before a reading.
    for other in ("erlang*:::process-exit { @x[n] = count(); }", "profile:::tick-100ms { @x[n] = count(); }", "profile:::tick-499ms { n = (int64_t)0; }", "erlang*:::process-exit { n = (int64_t)1; }",
                  "erlang*:::process-exit { exit(0); }", "profile:::tick-10ms /timestamp == 0/ { exit(0); }", "erlang*:etco:down/1:entry { @y[arg2] = count(); n++; }",
                  "dtrace:::ERROR { n = (int64_t)1; }",
                  # In code that is still to be loaded.
                  'erlang*:::entry /probemod == "later"/ { @x[n] = count(); }', 'erlang*:::entry /probemod == "later"/ { n = (int64_t)1; }',
                  'erlang*:::entry /probemod == "later"/ { exit(0); }', 'erlang*:::entry /probemod == "etco" || n > 5/ { @y = count(); }'):
        counted(WIDE + COUNT + other, 0)
    for other in ("erlang*:::process-exit { @x = count(); }", "profile:::tick-500ms { @x[n] = count(); }", "profile:::tick-1hz { exit(0); }", "dtrace:::END { printa(@); n = (int64_t)0; }",
                  "profile:::tick-1ms { @x = count(); }", "erlang*:etco:down/1:entry { n++; @[probefunc] = count(); }"):
        counted(WIDE + COUNT + other, 1 + ("down" in other))
    counted("dtrace:::BEGIN { n = 0; } " + COUNT, 0)  # an int, which is not added to in one step
    # Records make aggregations be read, and with them all counters.
    often = 'profile:::tick-100ms { printf("x"); } dtrace:::END { printa(@); }'
    counted("erlang*:::entry { @ = count(); } " + often, 0)
    counted("erlang*:etco:leaf/1:entry { @ = count(); } " + often, 1)
    counted("erlang*:lists:member/2:bif-entry { @ = count(); }", 0)
    t.clean(node)


def test_loaded_meanwhile(t):
    """Code is loaded while its functions are counted: what was read stays, what the new code does is counted to the last call, and the user hears it."""
    node, trace, leaves = ready(t)
    leaves(1009)
    trace.wait("n is 1009")
    load(node, MODULE)
    leaves(101)
    trace.wait_error(r"of 1 function are gone.* etco:leaf/1")
    leaves(10007)
    load(node, MODULE)
    leaves(31)
    t.equal(ended(t, trace), {"leaf/1": 1009 + 101 + 10007 + 31}, "calls", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)
    t.clean(node)


def test_code_to_come(t):
    """Functions of code that is loaded later are reported, to a trace of all processes and to one of a single process."""
    node = t.node()
    workers = [node("etw:worker()") for _ in range(2)]
    every = t.trace("-q", "-Z", "-n", READY + 'erlang*:etcl::entry { @[probefunc] = count(); }\ndtrace:::END, profile:::tick-50ms { printa("here %s %@d\\n", @); }', node=node)
    one = t.trace("-q", "-Z", "-n", READY + 'erlang*:etcl::entry /args[0] == $$1/ { @[probefunc] = count(); }\ndtrace:::END, profile:::tick-50ms { printa("here %s %@d\\n", @); }',
                  workers[0], node=node)
    every.ready()
    one.ready()
    load(node, "-module(etcl).\n-export([f/1, g/1]).\nf(X) -> X.\ng(X) -> X.\n")
    for trace in (every, one):
        until_printed(trace, "here g/1", lambda: node(as_worker(workers[0], "etcl:g(1)")))
    for w in workers:
        node(as_worker(w, "lists:foreach(fun etcl:f/1, lists:seq(1, 1009))"))
    for trace, n in ((every, 2018), (one, 1009)):
        ended(t, trace)
        t.equal([int(v) for v in re.findall(r"^here f/1 (\d+)$", trace.out.text(), re.M)][-1:], [n], "calls", trace)
    node("code:purge(etcl), code:delete(etcl), code:purge(etcl)")
    t.clean(node)


def test_counters_taken(t):
    """Somebody takes a counter away, or sets it to 0: the function is traced from there on, and that is a drop."""
    for what in ("true", "false"):
        node, trace, leaves = ready(t, more=("-x", "droptags"))
        leaves(1009)
        trace.wait("n is 1009")
        node(f"[trace:function(S, {{etco, leaf, 1}}, {what}, [call_count]) || {{erltrace_counts, _}} = S <- trace:session_info(all)]")
        trace.wait_error(r"of 1 function are gone.* etco:leaf/1")
        leaves(10007)
        t.equal(ended(t, trace), {"leaf/1": 1009 + 10007}, f"calls, with {what}", trace)
        t.true("[DTRACEDROP_COUNTER] 1 counter of calls gone" in trace.err.text(), "the drop is told", trace)
        t.clean(node)


def test_counters_taken_in_json(t):
    """The same in JSON: the kind of the drop, its number, and the node."""
    node, trace, leaves = ready(t, more=("--json",))
    leaves(1009)
    trace.wait("n is 1009")
    node("[trace:function(S, {etco, leaf, 1}, false, [call_count]) || {erltrace_counts, _} = S <- trace:session_info(all)]")
    trace.wait(r"of 1 function are gone.* etco:leaf/1")  # a line of JSON as well
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    drops = [o for o in json_lines(trace.out.text()) if o["type"] == "drop"]
    t.equal([(o["kind"], o["count"], o["node"]) for o in drops], [("counter", 1, node.name)], "drops", trace)
    t.clean(node)


def test_read_whatever_the_rate(t):
    """A program that asks for aggregations once an hour: counters are read all the same, so that a load of code takes away next to nothing."""
    node, trace, leaves = ready(t, what=COUNT + 'dtrace:::BEGIN { setopt("aggrate", "1h"); }\n', more=("--json", "-x", "stats=100ms"))
    leaves(1009)
    trace.wait(r'"counted":.*"function":"leaf/1","calls":1009')
    load(node, MODULE)
    trace.wait(r"of 1 function are gone.* etco:leaf/1")
    leaves(101)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal([o["value"] for o in json_lines(trace.out.text()) if o["type"] == "aggregation"], [1009 + 101], "calls", trace)
    t.clean(node)


def test_stats(t):
    """The option stats lists the functions that are counted, those that are called most first."""
    node, trace, leaves = ready(t, what="erlang*:etco::entry { @ = count(); }\n", more=("-x", "stats=end"))
    leaves(1009)
    ended(t, trace)
    t.match(trace.err.text(), r"^erltrace: total:   15 functions counted by the VM: etco:leaf/1 \d+/s(, etco:\S+ 0/s){4} \.\.\.$", "functions")
    t.clean(node)


def test_session_destroyed(t):
    """Somebody destroys the session that counts: the program is over, as with all other sessions, and the next one counts."""
    node, trace, leaves = ready(t)
    leaves(1009)
    trace.wait("n is 1009")
    node("[trace:session_destroy(S) || {erltrace_counts, _} = S <- trace:session_info(all)]")
    trace.wait_error("another process destroyed the agent's trace session")
    t.equal(node("length([S || {erltrace_agent, _} = S <- trace:session_info(all)])"), 0, "sessions that trace")
    leaves(101)
    t.equal(ended(t, trace), {"leaf/1": 1009}, "calls", trace)
    again = t.trace("-q", "-n", READY + COUNT, node=node)
    again.ready()
    leaves(211)
    t.equal(ended(t, again), {"leaf/1": 211}, "calls that the next one counts", again)
    t.clean(node)


def totals(trace):
    return [o for o in json_lines(trace.out.text()) if o["type"] == "stats" and o["why"] == "total"]


def test_cost_of_reading(t):
    """What reading counters takes is the program's cost; and however often it asks for aggregations, they are not read in a row."""
    node, none, _ = ready(t)
    ended(t, none)
    worker = node("etw:worker()")
    trace = t.trace("--json", "-x", "stats=200ms", "-n", READY + COUNT + 'dtrace:::BEGIN { setopt("aggrate", "1ms"); setopt("switchrate", "1ms"); }\n'
                    'profile:::tick-10ms { printf("turn %d\\n", i++); }', node=node)
    trace.ready()
    for i in (40, 80, 160):
        node(as_worker(worker, LEAVES.format(101)))
        trace.wait(f"turn {i}")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    o, = totals(trace)
    t.true(o["events"] >= 2, f"readings are in the account: {o}", trace)
    t.true(o["events"] <= o["interval"] / 80e6 + 5, f"readings are apart: {o}", trace)
    t.clean(node)


def test_watched_code(t):
    """Code that another trace still has to place its probes on: a trace that comes later is given no calls from before it began."""
    node, first, leaves = ready(t, what="erlang*:etco:leaf/1:return { @r = count(); }\n", more=("-Z",))
    first.signal(signal.SIGSTOP)
    load(node, MODULE)
    leaves(1009)
    trace = t.trace("-q", "-Z", "-n", READY + COUNT, node=node)
    trace.ready()
    leaves(31)
    load(node, MODULE)
    leaves(7)
    found = ended(t, trace)
    missed = sum(int(n) for n in re.findall(r"(\d+) calls? missed", trace.err.text()))
    t.equal(found.get("leaf/1", 0) + missed, 38, f"calls: {found}, missed: {missed}", trace)
    first.kill()
    t.clean(node)


def test_other_counters(t):
    """Another tool counts the same functions, sets its counters to 0, and clears those of everybody."""
    node, trace, leaves = ready(t)
    leaves(1009)
    for what in ("{'_', '_', '_'}, true, [call_count]", "{etco, leaf, 1}, restart, [call_count]", "{etco, '_', '_'}, true, [call_time]", "{'_', '_', '_'}, false, [call_count]",
                 "{'_', '_', '_'}, false, [call_time]", "{'_', '_', '_'}, true, [local]", "{'_', '_', '_'}, false, []", "{'_', '_', '_'}, true, [global]", "{'_', '_', '_'}, false, [global]"):
        node(f"erlang:trace_pattern({what})")
        leaves(101)
    t.equal(ended(t, trace), {"leaf/1": 1009 + 9 * 101}, "calls", trace)
    t.equal(trace.err.text(), "", "messages")
    t.clean(node)


def test_two_consumers(t):
    """A second trace wants the events of a function that is counted for the first, a third one counts it: each is right, whoever comes and goes."""
    node, first, leaves = ready(t)
    leaves(1009)
    second = t.trace("-q", "-n", READY + "erlang*:etco:leaf/1:entry { @[probefunc, arg2 > 5 ? 1 : 0] = count(); }\nerlang*:etco:leaf/1:return { @r = count(); }", node=node)
    second.ready()
    leaves(101)
    third = t.trace("-q", "-n", READY + COUNT, node=node)
    third.ready()
    leaves(211)
    found = ended(t, second)
    t.equal(sum(v for k, v in found.items() if k[0] == "leaf/1"), 312, "calls that the second saw", second)
    leaves(10007)
    t.equal(ended(t, first), {"leaf/1": 1009 + 101 + 211 + 10007}, "calls that the first counted", first)
    leaves(31)
    t.equal(ended(t, third), {"leaf/1": 211 + 10007 + 31}, "calls that the third counted", third)
    t.clean(node)


def test_ends(t):
    """A trace that counts is killed, or stands still for longer than its lease: nothing is left in the node."""
    for env, end in ((None, signal.SIGKILL), (SHORT_LEASE, signal.SIGSTOP)):
        node, none, _ = ready(t)
        ended(t, none)
        trace = t.trace("-q", "-n", READY + "erlang*:::entry { @[probemod, probefunc] = count(); }", node=node, env=env)
        trace.ready()
        trace.signal(end)
        t.clean(node, SHORT_LEASE_MS + 5000)
        trace.kill()


def test_exit(t):
    """What was called before exit() is counted."""
    node, trace, leaves = ready(t, what=COUNT + "profile:::tick-500ms /n == 10007/ { exit(3); }\n")
    leaves(10007)
    t.equal(trace.end(), 3, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"leaf/1": 10007}, "calls", trace)
    t.clean(node)


def test_many_functions(t):
    """All functions of many modules, and of all, are counted by few calls; a trace that comes later takes no counts from one that is there, and leaves none."""
    modules, per_module = 40, 5
    node, first, leaves = ready(t, fresh=True, before=f"etw:tiny({modules}, {per_module})")
    leaves(1009)
    for script, least, calls in (("erlang*:etn_*::entry { @[probefunc] = count(); }", modules * (per_module + 5), modules + 9), ("erlang*:::entry { @[probefunc] = count(); }", 5000, node("length(erlang:loaded())") + 99),
                                 ("erlang*:et*::entry { @[probefunc] = count(); }", modules * (per_module + 5), modules + 99)):
        trace = t.trace("-v", "--json", "-n", READY + script, node=node)
        trace.ready()
        leaves(101)
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        lines = json_lines(trace.out.text())
        o, = [o for o in lines if o["type"] == "enabled"]
        t.true(o["functions"]["counted"] >= least and o["pattern_calls"] <= calls, f"{o} of {script}")
        t.equal([o["value"] for o in lines if o["type"] == "aggregation" and o["keys"] == ["leaf/1"]], [101] if "etn" not in script else [], "calls", trace)
    t.equal(ended(t, first), {"leaf/1": 1009 + 3 * 101}, "calls of the first", first)
    t.clean(node)


def test_everything(t):
    """All functions of a node, among them those that the agent itself calls: of a node that rests, only what its own processes do is counted."""
    node, trace, leaves = ready(t, what="erlang*:::entry { @[strjoin(probemod, strjoin(\":\", probefunc))] = count(); }\n")
    leaves(1009)
    found = ended(t, trace)
    t.equal(found.get("etco:leaf/1"), 1009, "calls", trace)
    t.equal([f for f in found if f.startswith("erltrace_agent:")], [], "calls of the agent", trace)
    t.clean(node)
