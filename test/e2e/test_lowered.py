"""Calls that the VM counts, in place of reporting each: results are those of a trace that is told of each call."""
import random

import choice
from erlt import READY, json_lines
from test_functions import as_worker, load

ROUNDS = 24
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
    trace = t.trace("--json", "-v", "-x", f"lower={lower}", *more, "-n", READY + "dtrace:::BEGIN { n = 0; m = (int64_t)0; }\n" + script, node=node)
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
