"""Stacks of Erlang processes: ustack() at events of every kind, and names of code that comes and goes while a trace runs."""
import re

from erlt import READY
from test_functions import as_worker, load

MODULE = """-module(pile). -export([a/1, b/1, c/1, d/1, f/0, deep/1]).
a(X) -> {a, b(X)}.
b(X) -> {b, c(X)}.
c(X) -> {c, d(X)}.
d(send) -> self() ! {pile, self()}, receive {pile, _} -> ok end, ok;
d(wait) -> receive {pile, _} -> ok after 20 -> ok end, ok;
d(collect) -> erlang:garbage_collect(), ok;
d(fail) -> try f() catch error:pile -> {failed} end;
d(_) -> {d, f2()}.
f() -> error(pile).
f2() -> ok.
deep(0) -> f2(), 0;
deep(N) -> 1 + deep(N - 1).
"""


def piles(text):
    """The stacks of an aggregation by stack alone: {(frame, ...): count}."""
    found, frames = {}, []
    for line in text.splitlines():
        word = line.strip()
        if re.fullmatch(r"\d+", word) and frames:
            found[tuple(frames)] = int(word)
            frames = []
        elif re.fullmatch(r"\S+:\S+/\d+|0x[0-9a-f]+", word):
            frames.append(word)
        elif word:
            frames = []
    return found


def of(t, node, script, work):
    """What a script with one aggregation by stack has seen of a piece of work."""
    trace = t.trace("-q", "-n", READY + script, node=node)
    trace.ready()
    node(work)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("error" not in trace.err.text() and "drop" not in trace.err.text(), "no clause failed", trace)
    return piles(trace.out.text())


CHAIN = ("pile:c/1", "pile:b/1", "pile:a/1")


def test_stacks_of_functions(t):
    """At entry and return the function itself comes first; frames can be limited."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    work = as_worker(worker, "[pile:a(x) || _ <- lists:seq(1, 5)]")
    for probe in ("erlang*:pile:d/1:entry", "erlang*:pile:d/1:return"):
        t.equal(of(t, node, probe + " { @[ustack(4)] = count(); }", work), {("pile:d/1", *CHAIN): 5}, probe)
    t.equal(of(t, node, "erlang*:pile:f2/0:entry { @[ustack(2)] = count(); }", work), {("pile:f2/0", "pile:d/1"): 5}, "two frames")
    t.equal(of(t, node, "erlang*:pile:d/1:return { @[jstack(4)] = count(); this->v = term_text(retval); }", work), {("pile:d/1", *CHAIN): 5}, "beside a value")
    found = of(t, node, "erlang*:pile:f2/0:entry { @[ustack(100)] = count(); }", as_worker(worker, "pile:deep(50)"))
    t.equal([len(s) - s.count("pile:deep/1") < len(s) for s in found], [True], "one stack")
    t.equal(next(iter(found)).count("pile:deep/1"), 51, "frames of a recursion")


def test_stacks_of_other_events(t):
    """At sends, collections, exceptions and when a process stops running, the function that it is in comes first."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    for probe, what, top in (('message-send /term_string(term_element(message, 1)) == "pile"/', "send", ("pile:d/1",)),
                             ("gc_major-start /args[0] == \"" + worker + "\"/", "collect", ("erlang:garbage_collect/0", "pile:d/1")),
                             ("process-unscheduled /args[1] == \"pile:d/1\"/", "wait", ("pile:d/1",)),
                             ("erlang*:pile:f/0:exception", "fail", ("pile:f/0", "pile:d/1"))):
        found = of(t, node, probe + f" {{ @[ustack({3 + len(top) + (what == 'fail')})] = count(); }}", as_worker(worker, f"[pile:a({what}) || _ <- [1, 2, 3]]"))
        t.true((*top, *CHAIN) in found and found[(*top, *CHAIN)] >= 3, f"{probe}: {found}")


def test_stacks_of_loaded_code(t):
    """Code that is loaded while the trace runs gets names, and a module that is loaded anew keeps its own."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + 'erlang*:::message-send /term_string(term_element(message, 1)) == "pile"/ { ustack(4); }', node=node)
    trace.ready()
    load(node, MODULE.replace("(pile)", "(heap)").replace("{pile,", "{pile, heap,"))
    load(node, MODULE.replace("f2() -> ok.", "f2() -> lists:seq(1, 10), ok."))
    for module in ("pile", "heap"):
        for _ in range(1000):  # until the agent has looked at the new code
            seen = len(trace.out.lines)
            node(as_worker(worker, f"{module}:a(send)"))
            frames = []
            while len(frames) < 4:
                seen = trace.wait(r"^ *(0x[0-9a-f]+|\S+:\S+/\d+)$", start=seen) + 1
                frames.append(trace.out.lines[seen - 1].strip())
            t.true(all(f.startswith((module + ":", "0x")) for f in frames), f"no frame has another function's name: {frames}", trace)
            if f"{module}:a/1" in frames:
                break
        t.equal(frames, [f"{module}:{f}/1" for f in "dcba"], "names")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.clean(node)


def test_stacks_in_json(t):
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    trace = t.trace("--json", "-n", READY + "erlang*:pile:d/1:entry { ustack(2); }", node=node)
    trace.ready()
    node(as_worker(worker, "pile:a(x)"))
    trace.wait("pile:d/1")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r'"pile:d/1","pile:c/1"\]')
