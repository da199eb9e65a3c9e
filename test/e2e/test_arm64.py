"""Nodes on arm64, traced by the tool of this machine: the agent's library for that processor is chosen by the node's. An emulator runs the
nodes (scripts/dev/otp-arm64). Only with --otp 27-arm64."""
import os
import re
import shutil
import subprocess

import erlt
from erlt import ROOT, Skipped
from test_functions import as_worker, counted, load, worked
from test_stacks import CHAIN, MODULE, of

LIBRARY = os.path.join("priv", "erltrace_agent-aarch64.so")


def needs(t):
    if erlt.EMULATOR != "arm64":
        raise Skipped("only with --otp 27-arm64")
    if not os.path.exists(os.path.join(ROOT, LIBRARY)):
        raise Skipped(f"{LIBRARY} is not built: make arm64")
    return t.node()


def test_counts(t):
    """Entries and returns of a function are counted exactly, and nothing is left when the trace ends; twice, the agent having been purged."""
    node = needs(t)
    worker = node("etw:worker()")
    for n in (10007, 5003):
        script = "erlang*:etw:work/1:entry { @[probename] = count(); } erlang*:etw:work/1:return { @[probename] = count(); }"
        t.equal(counted(t, node, script, f"etw:calls({erlt.pid(worker)}, {n})"), {"entry": n, "return": n}, "calls")
        t.clean(node)
        t.equal(node("code:is_loaded(erltrace_agent)"), False, "the agent's module is loaded")


def test_values(t):
    """Arguments as terms and integers; aggregations of each kind; associative arrays and thread-local variables."""
    node = needs(t)
    worker = node("etw:worker()")
    load(node, "-module(armv). -export([f/2, g/1]). f(A, B) -> {A, B}. g(N) -> N.\n")
    script = """erlang*:armv:f/2:entry { printf("%s %s\\n", copyinstr(arg1), term_text(argv[0])); self->n = ++calls[1]; }
        erlang*:armv:g/1:entry { @q = quantize(term_int(argv[0])); @s = sum(term_int(argv[0])); @m = max(term_int(argv[0])); last = self->n; }
        dtrace:::END { printf("last %d of %d\\n", last, calls[1]); printa("%@d\\n", @s); printa("%@d\\n", @m); printa(@q); }"""
    work = as_worker(worker, "[armv:f({x, [1.5, <<1, 2>>], I}, b) || I <- lists:seq(1, 3)], [armv:g(I) || I <- lists:seq(1, 1021)]")
    out = worked(t, node, script, work).out.text()
    for i in (1, 2, 3):
        t.match(out, rf"armv:f/2 \{{x,\[1\.5,<<1,2>>\],{i}\}}", "argument")
    t.match(out, r"^last 3 of 3\n521731\n1021\n", "variables and sums")
    t.equal({int(b): int(n) for b, n in re.findall(r"^\s*(\d+) \|@* *(\d+) *$", out, re.M) if n != "0"},
            {**{2**i: 2**i for i in range(9)}, 512: 510}, "buckets")


def test_order(t):
    """Events of a process come in its order: message probes around calls, with times that never decrease."""
    node = needs(t)
    worker = node("etw:worker()")
    load(node, "-module(armo). -export([f/0, g/0]). f() -> g(), self() ! armo, receive armo -> ok end, ok. g() -> ok.\n")
    script = """erlang*:armo::entry /copyinstr(arg0) == $$1/ { printf("%s %d\\n", probefunc, timestamp); }
        erlang*:armo::return /copyinstr(arg0) == $$1/ { printf("-%s %d\\n", probefunc, timestamp); }
        erlang*:::message-send /copyinstr(arg0) == $$1 && copyinstr(arg1) == $$1/ { printf("send %d\\n", timestamp); }"""
    got = re.findall(r"^(f/0|g/0|-f/0|-g/0|send) (\d+)$", worked(t, node, script, as_worker(worker, "armo:f()"), worker).out.text(), re.M)
    t.equal([what for what, _ in got], ["f/0", "g/0", "-g/0", "send", "-f/0"], "events")
    t.true([int(at) for _, at in got] == sorted(int(at) for _, at in got), f"times increase: {got}")


def test_stacks(t):
    """A stack in a probe of a function is that of its callers."""
    node = needs(t)
    worker = node("etw:worker()")
    load(node, MODULE)
    found = of(t, node, "erlang*:pile:f2/0:entry { @[ustack()] = count(); }", as_worker(worker, "[pile:a(x) || _ <- lists:seq(1, 107)]"))
    t.equal(sum(found.values()), 107, "calls")
    for stack in found:
        t.equal(tuple(frame for frame in stack if frame.startswith("pile:") and frame not in ("pile:f2/0", "pile:d/1")), CHAIN, "callers")


def test_refused(t):
    """profile-N and wall-N are refused by name, and doctor says so."""
    node = needs(t)
    for probe in ("profile-97", "wall-97"):
        status, _, err = t.run("-qn", f"{probe} {{ @ = count(); }}", node=node)
        t.equal(status, 1, "exit status")
        t.match(err, rf"\[AGENT_PROFILE\] {probe.split('-')[0]}-N is not possible in this node: the agent cannot sample schedulers on aarch64")
    t.match(t.run("doctor", "--node", node.name, "--cookie", node.cookie)[1], r"profile .* this agent has no profile-N and wall-N on aarch64")
    t.clean(node)


def test_library(t):
    """Without the library for the node's processor, or with that of another, a trace is refused, with what helps; so it is by doctor."""
    node = needs(t)
    root = os.path.join(t.folder, "root")
    os.makedirs(os.path.join(root, "priv"))
    for name in ("agent", "lib", "erltrace_agent.so"):
        os.symlink(os.path.join(ROOT, "priv", name), os.path.join(root, "priv", name))
    to = ("--node", node.name, "--cookie", node.cookie)
    for args in (("-qn", "BEGIN { exit(0); }", *to), ("doctor", *to)):
        status, _, err = t.run(*args, env={"ERLTRACE_ROOT": root})
        t.equal(status, 1, "exit status")
        t.match(err, r"\[OTP_ARCH\] \S+ runs on aarch64; the agent's library for that processor is missing: .*/priv/erltrace_agent-aarch64\.so")
        t.match(err, r"hint: .*make arm64")
    shutil.copy(os.path.join(ROOT, "priv", "erltrace_agent.so"), os.path.join(root, LIBRARY))
    status, _, err = t.run("-qn", "BEGIN { exit(0); }", node=node, env={"ERLTRACE_ROOT": root})
    t.equal(status, 1, "exit status")
    t.match(err, r"\[AGENT_FILES\] .*/priv/erltrace_agent-aarch64\.so: it was built for another processor")
    t.clean(node)


def test_pages(t):
    """The library can be loaded where a page is 64 KiB."""
    needs(t)
    out = subprocess.run(["readelf", "-lW", os.path.join(ROOT, LIBRARY)], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.findall(r"^ *LOAD .* (0x[0-9a-f]+)$", out, re.M)
    t.true(found and all(int(a, 16) % 0x10000 == 0 for a in found), f"alignment of its parts: {found}")
