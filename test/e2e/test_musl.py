"""Nodes on an emulator that is built with musl, as Alpine's are: the agent's library is the same file as for glibc. `make musl-vm` builds that
emulator; where it was not built, these tests are skipped. It has no JIT, so that what is seen of its code is nothing."""
import re

from erlt import READY, Skipped, aggregation, pid
from test_functions import worked

# musl never unmaps a library.
DIRT = '[L || L <- etw:dirt(), string:find(L, "the library is mapped") =:= nomatch]'


def on_musl(t):
    if t.otp:
        raise Skipped("only the emulator of the host's release is built with musl")
    node = t.node(emulator="musl")
    t.match(node("list_to_binary(erlang:system_info(system_architecture))"), "musl", "the emulator")
    return node


def copies(node):
    """How many copies of the agent's library the node has mapped."""
    return node('length([L || L <- string:lexemes(element(2, file:read_file("/proc/self/maps")), "\\n"), '
                'string:find(L, " r-xp ") =/= nomatch, string:find(L, "/erltrace_agent.so") =/= nomatch])')


def test_calls(t):
    """Entries and returns, what calls were called with and return, and a distribution. Nothing is left but the library's mapping."""
    node = on_musl(t)
    worker = node("etw:worker()")
    trace = worked(t, node, """
        erlang*:etw:work/1:entry { @c["entry"] = count(); @m["most"] = max(term_int(argv[0])); @q = quantize(term_int(argv[0])); }
        erlang*:etw:work/1:return { @c["return"] = count(); @s["sum"] = sum(term_int(retval)); }""", f"etw:calls({pid(worker)}, 1009)")
    out = trace.out.text()
    got = aggregation(out)
    t.equal({k: got.get(k) for k in ("entry", "return", "most", "sum")},
            {"entry": 1009, "return": 1009, "most": 1009, "sum": sum(n & 7 for n in range(1, 1010))}, "counts", trace)
    t.equal(re.findall(r"(?m)^ +512 \|[@ ]*(\d+) *$", out), ["498"], "arguments from 512 to 1009", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)
    t.clean(node, what=DIRT)


def test_without_the_jit(t):
    """profile-N and wall-N are refused by name; ustack() has no frames; and the doctor says so."""
    node = on_musl(t)
    for probe in ("profile-97", "wall-97"):
        status, out, err = t.run("-n", probe + " { @ = count(); }", node=node)
        t.equal(status, 1, out + err)
        t.match(err, rf"\[AGENT_PROFILE\] {probe[:-2]}N is not possible in this node: .*\n.*with the JIT")
    worker = node("etw:worker()")
    trace = worked(t, node, "erlang*:etw:work/1:entry { @[ustack()] = count(); }", f"etw:calls({pid(worker)}, 13)")
    t.equal(trace.out.text().split(), ["ready", "13"], "one stack, without frames", trace)
    status, out, err = t.run("doctor", "--node", node.name, "--cookie", node.cookie)
    t.equal((status, err), (0, ""), out)
    t.match(out, r"(?m)^  note   profile +profile-N and wall-N need a VM with the JIT, without which ustack\(\) has no frames$")
    t.clean(node, what=DIRT)


def test_the_library_stays(t):
    """Each trace by itself leaves a copy of the library, which the doctor counts. After a hundred the node is refused, and goes on."""
    node = on_musl(t)
    own = ("--node", node.name, "--cookie", node.cookie)
    doctors = "copies of the agent's library are in the node's memory, of 100 at most"
    t.true(doctors not in t.run("doctor", *own)[1], "a single copy is as anywhere")
    for n in range(1, 100):
        t.clean(node, what=DIRT)
        t.equal(copies(node), n, "copies")
        status, out, err = t.run("-q", "-n", "BEGIN { exit(0); }", node=node)
        t.equal((status, err), (0, ""), out)
    t.clean(node, what=DIRT)
    status, out, err = t.run("doctor", *own)
    t.equal(status, 1, out)
    t.match(err, r"\[AGENT_COPIES\] the node has 100 copies of the agent's library in its memory")
    t.equal(len(node("[K || K <- lists:seq(1, 3)]")), 3, "the node goes on")
    t.clean(node, what=DIRT)
