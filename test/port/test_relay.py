"""Relays: a node that is not distributed, by way of its own processes, and one of its cluster; and that nothing is left in either,
whoever goes away first."""
import os
import signal

import erlt
from erlt import Failed
from etf import Atom
from relayed import Relayed

CALLS = 'erlang*:lists:seq/2:entry { @[probefunc] = count(); trace("called"); } END { trace("over"); }'


def test_own_node(t):
    """A node without a name traces itself."""
    node = Relayed(t)
    t.equal(node("node()"), "nonode@nohost")
    port = node.port()
    went = port.begin(CALLS)
    t.equal((went["targets"], went["programs"][0] > 1), (b"here", True))
    node("lists:foreach(fun(_) -> lists:seq(1, 3) end, lists:duplicate(1000, x))")
    port.ask(Atom("stop"))
    t.true(dict_of(port.walk())[b"seq/2"] >= 1000, port.walk())
    items = port.consume_all()
    t.true(len(items) > 1000 and items[-1][2] == b"over", items[-3:])
    t.equal(port.close(), 0)
    node.clean()


def dict_of(walk):
    return {keys[0]: n for _, keys, n in walk["_"]}


def counted(t, port, least, keys=1):
    """Walks until each of so many keys of @n has been counted so often. (A walk waits a second for a node, and then gives what it has.)"""
    counts = []

    def enough():
        counts[:] = [n for _, _, n in port.walk().get("n", [])]
        return len(counts) >= keys and min(counts) >= least

    erlt.until(enough, lambda: f"never counted {least} of {keys} keys: {counts}")
    t.equal(len(counts), keys, "keys")


def test_much_at_once(t):
    """More than a pipe holds, in both directions, while others ask."""
    node = Relayed(t)
    port = node.port()
    port.begin('erlang*:lists:seq/2:entry { @[i++ % 2000] = quantize(i); printf("%500s", "x"); }', queue=16 << 20)
    node("lists:foreach(fun(_) -> lists:seq(1, 3) end, lists:duplicate(10000, x))", 100)
    port.ask(Atom("stop"), 100)
    entries = port.walk()["_"]
    status = port.status()
    t.equal(len(entries), 2000)
    t.equal(len([i for i in port.consume_all() if i[0] == "printf"]) + status["drops"] + status["queue_drops"], status["fired"] , "records")
    port.close()
    node.clean()


def test_no_traces_of_ourselves(t):
    """Reading makes no events: neither the relay's messages nor the port's data are seen."""
    node = Relayed(t)
    port = node.port()
    port.begin('erlang*:::message-*, erlang*:::port-* { @[probename] = count(); n++; }')
    for _ in range(20):
        port.walk()
    before = sum(n for _, _, n in port.walk().get("_", []))
    for _ in range(50):
        port.walk()
    after = sum(n for _, _, n in port.walk().get("_", []))
    with t.loose("the VM itself sends messages now and then, and the walks may take long"):
        t.true(after - before < 50, f"{after - before} events by 50 walks: {port.walk()}")
    port.close()
    node.clean()


def test_becomes_distributed(t):
    """The node gets a name, and loses it, while it is traced."""
    t.logs.append(r"^info Supervisor: \{local,(net_sup|kernel_sup)\}\. Started")
    node = Relayed(t)
    port = node.port()
    port.begin("erlang*:lists:seq/2:entry { @n = count(); }")
    erlt.epmd()
    node(f"{{ok, _}} = net_kernel:start([etp_becomes_{os.getpid()}, shortnames]), ok")
    t.true(node("node()") != "nonode@nohost", "it has no name")
    node("lists:foreach(fun(_) -> lists:seq(1, 3) end, lists:duplicate(100, x))")
    counted(t, port, 100)
    node("net_kernel:stop()")
    node("lists:foreach(fun(_) -> lists:seq(1, 3) end, lists:duplicate(100, x))")
    port.ask(Atom("stop"))
    t.true(port.walk()["n"][0][2] >= 200, "nothing was seen")
    t.equal(port.status()["state"], "done")
    port.close()
    node.clean()


def ends(t, how, number=0, env=None):
    node = Relayed(t, env=env)
    port = node.port()
    port.begin("erlang*:lists:seq/2:entry, erlang*:::process-spawn { @n = count(); }", number)
    t.equal(port.status()["state"], "running")
    t.true(node("etw:traced()") != [], "nothing is traced")
    how(node, port)
    node.clean()
    t.true(node.alive(), "the node has ended")
    return node, port


def test_port_killed(t):
    def how(node, port):
        node.signal_port(signal.SIGKILL)
        t.true(port.wait() in (128 + signal.SIGKILL, -1), "exit status")
    ends(t, how)


def test_port_stopped(t):
    """It gives no sign of life: the agent's lease runs out. Later it finds the trace ended."""
    node, port = ends(t, lambda node, port: node.signal_port(signal.SIGSTOP), env=erlt.SHORT_LEASE)
    node.signal_port(signal.SIGCONT)
    items = port.consume_all()
    diags = [d for what, d in (i for i in items if i[0] == "diag")]
    t.true(any(d.get("tag") == b"NODE_LEASE" for d in diags), items)
    t.equal(port.close(), 0)


def test_port_closed(t):
    """The owner closes it, or goes."""
    def how(node, port):
        node.close_port()
    ends(t, how)


def test_relay_killed(t):
    def how(node, port):
        node.kill_relay(0)
        items = port.consume_all()
        diags = [d for what, d in (i for i in items if i[0] == "diag")]
        t.true(any(d.get("tag") == b"NODE_LOST" for d in diags), items)
        t.equal(port.close(), 0)
    ends(t, how)


def test_agent_killed(t):
    """The agent is killed by somebody: the program hears so."""
    def how(node, port):
        node("exit(whereis(erltrace_agent), kill)")
        items = port.consume_all()
        t.true(any(i[0] == "diag" and i[1].get("tag") == b"NODE_LOST" for i in items), items)
        t.equal(port.close(), 0)
    ends(t, how)


def test_end_while_attaching(t):
    """The port program is killed at the moment when it has begun to place the agent."""
    node = Relayed(t)
    for i in range(10):
        port = node.port()
        node.relay(i)
        port.hello()
        port.ask((Atom("target"), (Atom("relay"), i, "here")))
        port.compile("erlang*:lists:seq/2:entry {}")
        port.send(Atom("go"))
        node("timer:sleep(%d)" % (i * 7))
        node.signal_port(signal.SIGKILL)
        port.wait()
        node.came[ord("P")].queue.clear()
    node.clean()


def test_cluster(t):
    """A node of the cluster, which the port program has no cookie of; and two nodes together."""
    there = t.node(fresh=True)
    node = Relayed(t, name=there.short + "_owner", cookie=there.cookie)
    port = node.port()
    node.relay(0, there.name)
    node.relay(1)
    port.hello()
    port.ask((Atom("target"), (Atom("relay"), 0, there.name)))
    port.ask((Atom("target"), (Atom("relay"), 1, "here")))
    port.compile("erlang*:lists:seq/2:entry { @n[probeprov] = count(); }")
    port.ask(Atom("go"))
    t.equal(port.status()["targets"].decode(), f"{there.name},here")
    there("""begin {_, M} = spawn_monitor(fun() -> lists:foreach(fun(_) -> lists:seq(1, 3) end, lists:duplicate(100, x)) end),
             receive {'DOWN', M, _, _, _} -> ok end end""")
    node("lists:foreach(fun(_) -> lists:seq(1, 3) end, lists:duplicate(100, x))")
    counted(t, port, 100, keys=2)
    # Their connection is cut: the other node is clean, and the trace goes on here.
    node(f"erlang:disconnect_node('{there.name}')")
    t.clean(there, 15000)
    seen = []

    def told():
        seen.extend(port.consume(100, 1000)["items"])
        return any(i[0] == "diag" for i in seen)

    erlt.until(told, lambda: f"never told that the connection was cut: {seen}", pause=0)
    t.equal((seen[-1][1]["tag"], port.status()["state"], port.status()["lost"]), (b"NODE_LOST", "running", 1))
    port.ask(Atom("stop"))
    t.equal(port.close(), 0)
    node.clean()


def test_dies_with_the_owner(t):
    """The owner's node is killed: the other node of the cluster is clean."""
    there = t.node(fresh=True)
    node = Relayed(t, name=there.short + "_owner", cookie=there.cookie)
    port = node.port()
    port.begin("erlang*:lists:seq/2:entry { @n = count(); }", 0, there.name)
    t.true(there("etw:traced()") != [], "nothing is traced")
    node.p.kill()
    t.clean(there, 15000)
    if not there.alive():
        raise Failed("the other node has ended")


def test_placing_takes_long(t):
    """While probes are placed the program says how far it is, to who has asked for that with `go`, and to nobody else; what ends the trace ends
    it, and other requests wait."""
    there = t.slow_node()
    node = Relayed(t, name=there.short + "_owner", cookie=there.cookie)
    port = node.port()
    port.hello()
    t.equal(port.refused((Atom("go"), Atom("quickly")))[0], "request")
    node.relay(0, there.name)
    port.ask((Atom("target"), (Atom("relay"), 0, there.name)))
    port.compile('BEGIN { trace("began"); } ' + erlt.SLOW)
    go, status, told = port.send((Atom("go"), Atom("progress"))), port.send(Atom("status")), []
    while not told or told[-1]["done"] == 0:
        what, ref, how_far = port.next()
        t.equal((what, ref), ("progress", go), "a frame")
        told.append(how_far)
    t.equal(told[-1], {"node": there.name.encode(), "waiting": False, "unit": Atom("functions"), "done": told[-1]["done"], "total": erlt.SLOW_FUNCTIONS})
    stop = port.send(Atom("stop"))
    while (term := port.next())[0] == "progress":
        told.append(term[2])
    t.equal(term[:3], ("reply", go, ("error", {"code": Atom("abort"), "text": b"ended while probes were being placed: nothing was traced"})))
    t.true(max(p["done"] for p in told) < erlt.SLOW_FUNCTIONS, f"it was ended on the way: {told}")
    t.equal(port.answer(status)[0][1]["state"], "done", "what was asked meanwhile")
    t.equal(port.answer(stop)[0], "ok")
    t.equal((port.walk(), port.consume_all()), ({}, []), "nothing has fired")
    t.clean(there, 15000)
    t.equal(port.close(), 0)

    port = node.port()
    port.hello()
    node.relay(0, there.name)
    port.ask((Atom("target"), (Atom("relay"), 0, there.name)))
    port.compile(erlt.SLOW)
    go, end = port.send(Atom("go")), port.send(Atom("close"))
    replies = [port.next(), port.next()]
    t.equal([r[:2] for r in replies], [("reply", go), ("reply", end)], "nothing is said unasked")
    t.equal((replies[0][2][1]["code"], replies[1][2]), ("abort", "ok"), "closed while it places")
    t.equal(port.wait(), 0)
    t.clean(there, 15000)
