"""The smoke of each system that runs nodes: one file of the agent's library, whichever Debian it was built in, serves them all. The Makefile's
check-everywhere runs it in nodes of each release, and on the emulator that is built with musl."""
import os
import re
import subprocess

from erlt import BUILD, ROOT, Skipped, aggregation, pid
from test_functions import as_worker, load, worked
from test_musl import DIRT
from test_stacks import CHAIN, MODULE, piles

LIBRARY = os.path.join("priv", "erltrace_agent.so")
# The Debian that has this release of OTP also has a compiler (scripts/dev/built).
ELSEWHERE = os.path.join(BUILD, "built", "27", "gcc", LIBRARY)

# Something that uses the processor until it is told to end.
BUSY = "-module(busy). -export([run/1]). run(N) -> receive stop -> ok after 0 -> lists:sum(lists:seq(1, 1000)), run(N + 1) end.\n"


def with_library(t, library):
    """A root folder of erltrace with that library."""
    if not os.path.exists(library):
        raise Skipped(f"{library} is not built: make check-everywhere")
    root = os.path.join(t.folder, "root")
    os.makedirs(os.path.join(root, "priv"))
    for name in ("agent", "lib"):
        os.symlink(os.path.join(ROOT, "priv", name), os.path.join(root, "priv", name))
    os.symlink(library, os.path.join(root, LIBRARY))
    return {"ERLTRACE_ROOT": root}


def smoke(t, library):
    env = with_library(t, library)
    node = t.node(fresh=True)
    musl = "musl" in node("list_to_binary(erlang:system_info(system_architecture))")
    worker = node("etw:worker()")

    def clean():
        t.clean(node, 15000, **({"what": DIRT} if musl else {}))

    # Calls are counted exactly; a distribution; an argument as a term.
    trace = worked(t, node, """
        erlang*:etw:work/1:entry { @c["calls"] = count(); @q = quantize(term_int(argv[0])); }
        erlang*:etw:work/1:return { @c["returns"] = count(); }
        erlang*:etw:work/1:entry /term_int(argv[0]) == 1009/ { printf("last %s\\n", term_text(argv[0])); }""",
                   f"etw:calls({pid(worker)}, 1009)", env=env)
    out = trace.out.text()
    got = aggregation(out)
    t.equal((got.get("calls"), got.get("returns")), (1009, 1009), "counts", trace)
    t.equal(re.findall(r"(?m)^ +512 \|[@ ]*(\d+) *$", out), ["498"], "arguments from 512 to 1009", trace)
    t.match(out, r"^last 1009$", "an argument")
    clean()

    load(node, MODULE)
    trace = worked(t, node, "erlang*:pile:f2/0:entry { @[ustack()] = count(); }", as_worker(worker, "[pile:a(x) || _ <- lists:seq(1, 107)]"), env=env)
    if musl:  # no JIT
        t.match(trace.out.text(), r"^ +107$", "stacks without frames")
    else:
        found = piles(trace.out.text())
        t.equal(sum(found.values()), 107, "stacks", trace)
        for stack in found:
            t.equal(tuple(f for f in stack if f.startswith("pile:") and f not in ("pile:f2/0", "pile:d/1")), CHAIN, "callers", trace)
    clean()

    if musl:
        status, out, err = t.run("-qn", "profile-97 { @ = count(); }", node=node, env=env)
        t.equal(status, 1, out + err)
        t.match(err, r"\[AGENT_PROFILE\] profile-N is not possible in this node: .*\n.*with the JIT")
    else:
        load(node, BUSY)
        node('register(busy, spawn(fun() -> busy:run(0) end)), ok')
        trace = t.trace("-q", "-n", "profile-97 /erlpid == $$1/ { @[ustack()] = count(); n++; } profile-97 /n >= 31/ { exit(0); }",
                        node('list_to_binary(pid_to_list(whereis(busy)))'), node=node, env=env)
        t.equal(trace.end(), 0, "exit status", trace)
        t.match(trace.out.text(), r"^ +busy:run/1\b", "samples of what runs")
        node("busy ! stop, ok")
    clean()


def test_library_of_here(t):
    smoke(t, os.path.join(ROOT, LIBRARY))


def test_library_of_another_debian(t):
    """That of a younger C library and a younger compiler."""
    smoke(t, ELSEWHERE)


def test_they_are_two(t):
    """The two libraries are of two compilers, so that the tests above are not the same."""
    with_library(t, ELSEWHERE)

    def compilers(path):
        out = subprocess.run(["readelf", "-p", ".comment", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        return set(re.findall(r"GCC: \(Debian ([^)]+)\)", out))
    here, there = compilers(os.path.join(ROOT, LIBRARY)), compilers(ELSEWHERE)
    t.true(here and there and not here & there, f"compilers: {here} and {there}")
