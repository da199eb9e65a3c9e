"""Scripts of the kernel, and of a node and the kernel. Where this process may not trace the kernel, those that do are skipped.

A script finds what a test does by a path that nothing else names: the processes of a test may have other numbers in the kernel.
"""
import os
import threading

import erlt
import places
from erlt import TOOL
from etf import Atom
from port import Port
from relayed import Relayed

LINKS = """-module(et_links). -export([links/2, look/1]).
links(N, Path) -> [look(Path) || _ <- lists:seq(1, N)].
look(Path) -> prim_file:read_link(Path).
"""
NOWHERE = "/nonexistent/et-port"
AT_LINK = f'syscall::readlink:entry /copyinstr(arg0) == "{NOWHERE}"/'


def opened(t, **how):
    port = Port(**how)
    t.traces.append(port)
    return port


def links(n):
    for _ in range(n):
        try:
            os.readlink(NOWHERE)
        except OSError:
            pass


def relayed(t):
    node = Relayed(t)
    erlt.load(node, LINKS)
    return node, node("list_to_integer(os:getpid())")


def test_kernel(t):
    """Records, aggregations, stacks and histograms of a script of the kernel; there is no node."""
    places.Kernel.need()
    port = opened(t)
    port.start(AT_LINK + """ {
        @calls[execname, probefunc, tid == $1] = count(); @stacks[ustack(2)] = count(); @sizes = quantize(7);
        printf("link %s", copyinstr(arg0)); }
        BEGIN { trace("began"); } END { trace("over"); }""".replace("$1", str(threading.get_native_id())), "kernel")
    links(97)
    port.ask(Atom("stop"))
    walk = port.walk()
    with open("/proc/self/comm", "rb") as f:
        comm = f.read().strip()
    t.equal([(kind, keys[:2], n) for kind, keys, n in walk["calls"]], [("count", [comm, b"readlink"], 97)], "calls")
    t.equal([(kind, n) for kind, _, n in walk["stacks"]], [("count", 97)], "stacks")
    t.true(all(isinstance(frame, bytes) and frame for frame in walk["stacks"][0][1][0]) and len(walk["stacks"][0][1][0]) == 2, walk["stacks"])
    t.equal(walk["sizes"], [("quantize", [], [((4, 7), 97)])], "sizes")
    items = [i for i in port.consume_all() if i[0] in ("probe", "printf")]
    t.equal((items[0][2], items[-1][2], len(items)), (b"began", b"over", 99), "records")
    kind, (provider, _, function, name), text = items[1]
    t.equal((kind, provider, function, name, text), ("printf", b"syscall", b"readlink", b"entry", b"link " + NOWHERE.encode()), "a record")
    status = port.status()
    t.equal((status["state"], status["targets"], status["fired"] >= 99), ("done", b"", True), status)
    t.equal(port.close(), 0)


def test_a_full_buffer(t):
    """What a buffer in the kernel had no room for is counted, as everywhere."""
    places.Kernel.need()
    port = opened(t)
    port.hello()
    port.setopt("bufsize", "4k")
    port.setopt("bufresize", "manual")
    port.setopt("switchrate", "1h")
    port.ask((Atom("target"), Atom("kernel")))
    port.compile(AT_LINK + ' { printf("%300s", copyinstr(arg0)); }')
    port.ask(Atom("go"))
    links(997)
    port.ask(Atom("stop"))
    items = port.consume_all()
    records, drops = ([i for i in items if i[0] == kind] for kind in ("printf", "drop"))
    t.true(len(records) < 997, f"{len(records)} records")
    t.equal(len(records) + sum(d["count"] for _, d in drops), 997, "records and drops")
    port.close()


def test_beside_a_relay(t):
    """A script of the kernel alone leaves the node alone that the handle has; $target is its process, where the owner has told it."""
    places.Kernel.need()
    node, pid = relayed(t)
    port = node.port()
    node.relay(0)
    port.start(f'BEGIN {{ trace($target); }} syscall::readlink*:entry /copyinstr(arg0) == "{NOWHERE}"/ {{ @[erlpid != 0] = count(); }}',
               (Atom("relay"), 0, "here", pid))
    t.equal(node("etw:dirt()"), [], "what is in the node")
    node(f'et_links:links(97, "{NOWHERE}")')
    port.ask(Atom("stop"))
    t.equal([n for _, _, n in port.walk()["_"]], [97], "calls")
    t.equal([i[2] for i in port.consume_all() if i[0] == "probe"], [pid], "$target")
    t.equal(port.close(), 0)


def test_unknown_host(t):
    """A node may be on another host, whose kernel this one is not: a script of the kernel alone is refused, unless its process is known here."""
    places.Kernel.need()
    node, _ = relayed(t)
    port = node.port()
    port.hello()
    node.relay(0)
    port.ask((Atom("target"), (Atom("relay"), 0, "here")))
    port.compile("syscall::readlink:entry { @ = count(); }")
    t.equal(port.refused(Atom("go"))[0], "noprobe")
    t.equal(port.notes[0]["tag"], b"D_PDESC_ZERO")
    t.match(port.notes[0]["hint"].decode(), "need the kernel tier")
    port.close()
    node.clean()


def test_both_worlds(t):
    """A node by its relay, and the kernel, in one script: variables and aggregations are shared."""
    places.Kernel.need()
    node, pid = relayed(t)
    port = node.port()
    node.relay(0)
    went = port.start("""
        erlang*:et_links:look:entry { began = timestamp; @calls[probefunc, erlpid] = count(); @at[ustack(3)] = count(); }
        syscall::readlink:entry /began && copyinstr(arg0) == "NOWHERE"/ { @calls[probefunc, "-"] = count(); trace(copyinstr(arg0)); self->call = 1; }
        syscall::readlink:return /self->call/ { @errors[errno == ENOENT] = count(); self->call = 0; }
        erlang*:et_links:look:return { @times = quantize(timestamp > began); }
        BEGIN { began = 0; trace($target); }""".replace("NOWHERE", NOWHERE), (Atom("relay"), 0, "here", pid))
    t.equal(went["targets"], b"here", "targets")
    texts = []
    node(f'et_links:links(97, "{NOWHERE}")')
    port.ask(Atom("stop"))
    walk = port.walk()
    t.equal(sorted((keys[0], keys[1][:1], n) for _, keys, n in walk["calls"]), [(b"look/1", b"<", 97), (b"readlink", b"-", 97)], "calls")
    t.equal([(keys, n) for _, keys, n in walk["errors"]], [([1], 97)], "errors")
    t.equal(sum(n for _, _, n in walk["at"]), 97, "stacks")
    t.equal(walk["times"], [("quantize", [], [((1, 1), 97)])], "times")
    texts += [i[2] for i in port.consume_all() if i[0] == "probe"]
    t.equal((texts.count(NOWHERE.encode()), texts.count(pid)), (97, 1), "records")
    t.equal(port.close(), 0)
    node.clean()


def test_on_another_host(t):
    """A node that the program does not find among the processes of its host is refused by name, and nothing is left in it."""
    places.Kernel.need()
    node, pid = relayed(t)
    elsewhere = t.file("elsewhere", f'#!/bin/sh\nexec unshare --pid --fork --mount-proc --kill-child {TOOL} "$@"\n')
    os.chmod(elsewhere, 0o755)
    port = node.port(elsewhere)
    port.hello()
    node.relay(0)
    port.ask((Atom("target"), (Atom("relay"), 0, "here")))
    port.compile("erlang*:et_links:look:entry, syscall::readlink:entry { @ = count(); }")
    t.equal(port.refused(Atom("go"))[0], "unsup")
    t.equal([d["tag"] for d in port.notes if d["severity"] == "error"], [b"KERNEL_PASS"], port.notes)
    t.match(port.notes[-1]["text"].decode(), rf"the agent of the node with pid {pid} is not found among the processes of this host")
    port.close()
    node.clean()


def test_without_privilege(t):
    """One error with its tag and what helps; other scripts run."""
    places.Kernel.need()
    port = opened(t, preexec_fn=erlt.lower)
    port.hello()
    port.ask((Atom("target"), Atom("kernel")))
    port.compile("syscall:::entry { @ = count(); }")
    t.equal(port.refused(Atom("go"))[0], "unsup")
    errors = [d for d in port.notes if d["severity"] == "error"]
    t.equal([d["tag"] for d in errors], [b"KERNEL_PRIVILEGE"], port.notes)
    t.match(errors[0]["hint"].decode(), "CAP_BPF and CAP_PERFMON")
    port.close()
    port = opened(t, preexec_fn=erlt.lower)
    port.start('BEGIN { trace("here"); exit(0); }')
    t.equal([i[2] for i in port.consume_all()], [b"here"], "the local tier")
    port.close()
    for target in (None, (Atom("node"), "nosuch@localhost", Atom("none")), Atom("kernel")):  # what no privilege would help is not said to lack one
        port = opened(t, preexec_fn=erlt.lower)
        port.hello()
        if target is not None:
            port.ask((Atom("target"), target))
        t.equal(port.refused((Atom("compile"), "test.d", Atom("script"), "BEGIN { trace(nosuch); }", []))[0], "compile", str(target))
        t.equal([d["tag"] for d in port.notes], [b"D_IDENT_UNDEF"], str(target))
        port.close()


def test_targets_that_are_none(t):
    port = opened(t)
    port.hello()
    for target in (Atom("kernels"), (Atom("kernel"), 1), (Atom("relay"), 0, "here", 0), (Atom("relay"), 0, "here", Atom("pid")),
                   (Atom("relay"), 0, "here", 1 << 40), (Atom("relay"), 0, "here", 1, 2)):
        t.equal(port.refused((Atom("target"), target))[0], "request", str(target))
    port.close()
