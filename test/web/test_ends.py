"""Pages that share a trace, and what is left in the node when they go, in every way in which they can."""
import ctypes
import os
import signal
import socket
import struct
import threading
import time

import client
import erlt

CALLS = "#pragma D option quiet\nerlang*:etw::entry { @[probefunc] = count(); }\nerlang*:::message-send { @m = count(); }"
TICK = "#pragma D option aggrate=100ms\ntick-10ms { @c = count(); @q[\"k\"] = quantize(i++); }"


def traced(t, node):
    t.true(node("etw:traced()"), "something is traced")


def started(s, node, script=CALLS):
    w = s.websocket()
    return w, w.start(script, node=node.name, options={"maxload": "off"})


def test_counts_of_a_node(t, s):
    node = t.node()
    worker = node("etw:worker()")
    w, m = started(s, node)
    t.equal((m["node"], m["aggregations"][0]["keys"]), (node.name, ["string"]), "what runs")
    t.true(m["enabled"]["nodes"][0]["functions"] > 0, "functions are traced")
    node(f"etw:calls({erlt.pid(worker)}, 10007)")
    model = client.Model(m)
    while max([v[0] for v in model.values[0].values()] or [0]) < 10007:
        model.take(w.wait(("state", "results")))
    t.true(10007 in [v[0] for v in model.by_key(0).values()], f"calls are counted, each once: {model.by_key(0)}")
    w.wait("cost")


def test_lower_bounds_of_a_node(t, s):
    """Keys whose values have become lower bounds are told, as is that they are none any more, also to who comes later."""
    node = t.node()
    sink, worker = node("spawn(timer, sleep, [infinity])"), node("etw:worker()")
    a, b = s.websocket(), s.websocket()
    m = a.start("""#pragma D option aggrate=100ms
        erlang*:::message-send /args[0] == $$1 && args[1] == $$2/ { @[arg2 > 1000] = sum(arg2); @n = count(); }""",
                node=node.name, args=[worker, sink], options={"maxload": "off"})

    def send(*messages):
        each = ", ".join(messages)
        node(f"etw:as({erlt.pid(worker)}, fun() -> [{erlt.pid(sink)} ! M || M <- [{each}]], ok end)")

    def sums(w):
        return w.wait("results", lambda m: any(x["id"] == 0 for x in m["aggregations"]))["aggregations"]
    send("{1}")
    t.equal([x.get("at_least") for x in sums(a)], [None, None], "a small one")
    send("lists:seq(1, 5000)")
    t.equal([(x["id"], x.get("at_least"), x["add"]) for x in sums(a)], [(0, [1], [[1, 2000]]), (1, None, [[0, 1]])], "a large one")
    send("lists:seq(1, 5000)")
    t.equal([x.get("at_least") for x in sums(a)], [None, None], "once is enough")
    b.send({"type": "join", "id": 9, "trace": m["trace"]})
    t.equal([x.get("at_least") for x in b.wait("state")["aggregations"]], [[1], None], "who comes later")


def test_pages_share_a_trace(t, s):
    a, b, c = s.websocket(), s.websocket(), s.websocket()
    first = a.start(TICK, name="one")
    a.wait("results", lambda m: m["n"] >= 3)
    second = b.start(TICK, name="two", view={"x": 1})
    t.equal((first["shared"], second["shared"], second["trace"], second["name"]), (False, True, first["trace"], "one"), "the same trace")
    c.send({"type": "join", "id": 9, "trace": first["trace"]})
    t.equal(c.wait("started")["id"], 9, "joined by number")
    a.wait("viewers", lambda m: m["viewers"] == 3)
    # What the one who came late has adds up to what the first has.
    ma, mb = client.Model(first), client.Model(second)
    history = b.wait("history")
    state = b.wait("state")
    mb.take(state)
    t.equal([x["n"] for x in history["columns"]], list(range(1, state["n"] + 1)), "columns of the past")
    target = state["n"] + 4
    a.at = 0
    while ma.n != mb.n or mb.n < target:
        w, model = (a, ma) if ma.n is None or ma.n < max(target, mb.n) else (b, mb)
        model.take(w.wait(("state", "results")))
    t.equal(mb.by_key(0), ma.by_key(0), "counts")
    t.equal(mb.by_key(1), ma.by_key(1), "buckets")
    past = {}
    for column in history["columns"]:
        for agg in column["aggregations"]:
            for row in agg["add"]:
                t.equal(row[0], 0, "with the key")
                if agg["id"] == 0:
                    past[column["n"]] = row[1]
    t.equal(sum(past.values()), state["aggregations"][0]["now"][0][1], "the past adds up to the state")
    # The trace goes on while somebody looks on.
    a.close()
    b.wait("viewers", lambda m: m["viewers"] == 2)
    b.send({"type": "stop"})
    t.equal(b.wait("stopped"), {"type": "stopped", "id": second["id"], "reason": "left"}, "for itself")
    n = c.wait("results")["n"]
    c.wait("results", lambda m: m["n"] > n)
    t.equal(len(s.get("/api/state").json()["traces"]), 1, "it is one trace")
    c.send({"type": "stop", "all": True})
    t.equal(c.wait("stopped")["reason"], "user", "ended")
    c.send({"type": "join", "id": 1, "trace": first["trace"]})
    c.wait("failed")


def test_other_scripts_are_other_traces(t, s):
    sockets = [s.websocket() for _ in range(4)]
    numbers = {sockets[0].start(TICK)["trace"], sockets[1].start(TICK + "\n")["trace"], sockets[2].start(TICK, options={"strsize": "32"})["trace"],
               sockets[3].start(TICK)["trace"]}
    t.equal(len(numbers), 3, "traces")


def test_errors_go_to_all_who_wait(t, s):
    sockets = [s.websocket() for _ in range(3)]
    for i, w in enumerate(sockets):
        w.send({"type": "start", "id": i, "script": "BEGIN { nosuch(); }"})
    for i, w in enumerate(sockets):
        t.equal((w.wait("diagnostics")["id"], w.wait("failed")["id"]), (i, i), "an answer for each")


def leaves(t, s, go):
    """Nothing is left in the node when the last page has gone."""
    node = t.node()
    w, _ = started(s, node)
    traced(t, node)
    go(w)
    client.await_idle(s)
    t.clean(node, 15000)


def test_closing_the_tab(t, s):
    leaves(t, s, lambda w: w.close())


def test_killing_the_browser(t, s):
    leaves(t, s, lambda w: w.drop())


def test_stopping(t, s):
    leaves(t, s, lambda w: w.send({"type": "stop"}))


def test_stopping_twice(t, s):
    """The second time nobody waits for a node that says nothing."""
    node = t.node()
    w, m = started(s, node)
    traced(t, node)
    os.kill(node.pid, signal.SIGSTOP)
    w.send({"type": "stop"})
    w.send({"type": "stop"})
    t.equal(w.wait("stopped"), {"type": "stopped", "id": m["id"], "reason": "left"}, "at once, without the last data")
    os.kill(node.pid, signal.SIGCONT)
    client.await_idle(s)
    t.clean(node, 15000)


def test_stopping_before_it_has_started(t, s):
    """A node that does not answer keeps nobody who has had enough."""
    node = t.node()
    os.kill(node.pid, signal.SIGSTOP)
    w = s.websocket()
    try:
        w.send({"type": "start", "id": 17, "node": node.name, "script": TICK})
        w.send({"type": "stop"})
        t.equal(w.wait("stopped"), {"type": "stopped", "id": 17, "reason": "left"}, "which start")
    finally:
        os.kill(node.pid, signal.SIGCONT)
    client.await_idle(s)
    t.clean(node, 15000)


def placing(w):
    """The next message that says how far the placing of a start is, while it is far from its end."""
    m = w.wait(("progress", "started"), lambda m: m["type"] == "started" or m["total"] > 0)
    if m["type"] == "started":
        raise erlt.Failed("it has started, and nothing was said of how far it is")
    return m


def test_how_far_placing_is(t, s):
    """Pages see how far the placing of probes is, also those that come meanwhile; when the one who has started it goes, it goes on. However long
    it takes, the first column and the times of rows begin with BEGIN."""
    node = t.slow_node()
    w, other, sent = s.websocket(), s.websocket(), time.time() * 1000
    w.send({"type": "start", "id": 4, "node": node.name, "script": 'BEGIN { printf("%d", walltimestamp / 1000000); } ' + erlt.SLOW, "options": {"quiet": True}})
    m = placing(w)
    t.equal((m["id"], m["node"], m["waiting"], m["unit"], m["total"]), (4, node.name, False, "functions", erlt.SLOW_FUNCTIONS), f"progress {m}")
    traces = s.get("/api/state").json()["traces"]
    t.equal([(r["node"], r["viewers"]) for r in traces], [(node.name, 1)], "one that is being placed is among those that run")
    other.send({"type": "join", "id": 9, "trace": traces[0]["trace"]})
    t.equal(placing(other)["id"], 9, "who comes meanwhile is told, too")
    w.close()
    m = other.wait("started")
    t.equal((m["id"], m["shared"]), (9, True), "it runs")
    done = [p["done"] for p in other.seen("progress")]
    t.true(done == sorted(done) and len(set(done)) > 1 and max(done) <= erlt.SLOW_FUNCTIONS, f"it goes on: {done}")

    took, began = m["t"] - sent, m["t"]
    row = other.wait("records")["rows"][0]
    first = (other.seen("results") or [other.wait("results")])[0]
    other.send({"type": "stop"})
    ran, now = other.wait("stopped")["ms"], time.time() * 1000
    with t.loose("clocks of two processes, either of which may have waited for a processor, are compared"):
        t.true(abs(int(row[3]) - began) < took / 2, f"it began at {began}, BEGIN fired at {row[3]}; placing took {took} ms")
        t.true(row[1] < took / 2, f"the row of BEGIN is {row[1]} ms after the beginning")
        t.true(abs(first["t"] - first["dt"] - began) < 100, f"the first column is from {first['t'] - first['dt']} on, the trace from {began}")
        t.true(first["t"] - began - 100 <= ran <= now - began + 100, f"it ran for {ran} ms of {now - began}")


def test_stopping_while_probes_are_placed(t, s):
    """Placing ends when nobody waits for it any more, and when somebody ends it for everybody: then nothing has fired."""
    node = t.slow_node()
    w, other = s.websocket(), s.websocket()
    w.send({"type": "start", "id": 3, "node": node.name, "script": erlt.SLOW})
    placing(w)
    w.send({"type": "stop"})
    t.equal(w.wait("stopped"), {"type": "stopped", "id": 3, "reason": "left"}, "the answer")
    client.await_idle(s)
    t.clean(node, 15000)
    for i, page in enumerate((w, other)):
        page.send({"type": "start", "id": 10 + i, "node": node.name, "script": erlt.SLOW})
        placing(page)
    other.send({"type": "stop", "all": True})
    for i, page in enumerate((w, other)):
        m = page.wait(("stopped", "started", "failed"))
        t.equal((m["type"], m.get("id"), m.get("reason")), ("stopped", 10 + i, "user"), f"told {m}")
    client.await_idle(s)
    t.clean(node, 15000)
    t.equal(w.start(TICK)["shared"], False, "the socket goes on")


def test_another_script_on_the_same_socket(t, s):
    node = t.node()
    w, _ = started(s, node)
    traced(t, node)
    w.start(TICK)
    t.clean(node, 15000)


def cut_off(w):
    """The network is lost: nothing that is sent to this socket arrives, or is acknowledged (SO_ATTACH_FILTER: drop all)."""
    drop_all = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    program = struct.pack("HL", 1, ctypes.addressof(drop_all))
    w.sock.setsockopt(socket.SOL_SOCKET, 26, program)
    w.filter = drop_all


def test_a_lost_network(t, s):
    """Nobody answers a ping: the trace ends."""
    try:
        leaves(t, s, cut_off)
    except OSError as e:
        raise erlt.Skipped(f"no filters on sockets here: {e}") from e


def test_closing_while_it_starts(t, s):
    """A page that goes before its trace runs."""
    node = t.node()
    for _ in range(5):
        w = s.websocket()
        w.send({"type": "start", "id": 1, "script": CALLS, "node": node.name})
        w.drop()
    client.await_idle(s)
    t.clean(node, 15000)


def test_killing_the_server(t, _s):
    """The agent in the node notices by itself."""
    node = t.node()
    other = t.serve()
    started(other, node)
    traced(t, node)
    other.stop(signal.SIGKILL)
    t.clean(node, 15000)


def test_ending_the_server(t, _s):
    node = t.node()
    other = t.serve()
    w, _ = started(other, node)
    traced(t, node)
    t.equal(other.stop(), 0, "exit status")
    t.equal(w.wait("stopped")["reason"], "server", "the page is told")
    t.clean(node, 15000)


def test_the_node_dies(t, s):
    node = t.node(fresh=True)
    w, _ = started(s, node)
    os.kill(node.pid, signal.SIGKILL)
    m = w.wait("stopped")
    t.equal(m["reason"], "lost", f"the page is told: {m}")
    t.match(m["text"], node.short, "which one")
    w.start(TICK)


def test_the_dead_man(t, s):
    """A script that costs too much is stopped, and the page is told why."""
    node = t.node()
    node("etw:busy(3)")
    node("etw:chatter(2)")
    w = s.websocket()
    w.start("#pragma D option quiet\nerlang*:etw::entry, erlang*:etw::return { @f[probefunc, probename] = count(); x[probefunc] = timestamp; }\n"
            "erlang*:::message-send { @m[copyinstr(arg0), copyinstr(arg1)] = count(); }", node=node.name, options={"maxload": "1"})
    m = w.wait("stopped")
    t.equal(m["reason"], "overload", f"why: {m}")
    t.match(m["text"], "of .*scheduler", "in words")
    node("etw:quiet()")
    t.clean(node, 15000)


def test_completion(t, s):
    node, unnamed = t.node(), t.node(fresh=True)
    unnamed("erlang:set_cookie(changed)")  # a proof of any that we have would be in its log, which is looked at when the test has ended
    items = s.get(f"/api/modules?node={node.name}&prefix=list").json()["items"]
    t.true("lists" in items and all(i.startswith("list") for i in items), str(items))
    items = s.get(f"/api/functions?node={node.name}&module=lists&prefix=map").json()["items"]
    t.true("map/2" in items and "mapfoldl/3" in items and items == sorted(items), str(items))
    probes = {i["name"]: i for i in s.get(f"/api/probes?node={node.name}&prefix=&limit=1000").json()["items"]}
    t.equal((probes["entry"].get("function"), probes["process-spawn"]["provider"]), (True, "erlang"), "probes")
    t.true(len(probes["process-spawn"]["args"]) >= 2 and probes["process-spawn"]["text"], "with what is known of them")
    t.equal(s.get(f"/api/functions?node={node.name}&module=lists&limit=3").json()["more"], True, "there are more")
    terms = [f for f in s.get(f"/api/about?node={node.name}").json()["findings"] if f["subject"] == "terms"]
    t.equal(terms, [{"subject": "terms", "level": "ok", "text": "visible to scripts", "help": None}], "what is known of the node")
    names = [n["node"] for n in s.get("/api/nodes").json()["nodes"]]
    t.true(node.name in names and "" in names, f"nodes: {names}")
    for _ in range(2):  # the second time, the answer is one that was kept
        for name in ("nosuch", unnamed.short + "x", unnamed.short[:-1]):
            r = s.get(f"/api/functions?node={name}&module=lists")
            t.equal((r.status, r.json()["error"]["tag"]), (404, "WEB_NODE"), "a node that is not there")
    other = t.serve("--node", "nosuch@127.0.0.1")
    try:
        first, second = (other.get("/api/modules?node=nosuch@127.0.0.1") for _ in range(2))
        t.true(first.status == 503 and first.json()["error"]["text"], f"one that does not answer: {first.body}")
        t.equal(second.body, first.body, "asked again")
    finally:
        t.equal(other.stop(), 0, "exit status")


def matched(w, node, script, **more):
    """What the script's descriptions match, and the diagnostics besides."""
    w.send({"type": "check", "id": 5, "node": node, "script": script, **more})
    m = w.wait("matched")
    return m, [(d["tag"], d["line"], d["column"], d["length"], d["hint"]) for d in m["diagnostics"]]


def test_what_a_script_would_match(t, s):
    """The descriptions of a script that is being written, against the names of the node: nothing is run, and the node is asked once."""
    node, w = t.node(), s.websocket()
    all = {f: a for f, a in (i.split("/") for i in s.get(f"/api/functions?node={node.name}&module=lists&limit=1000").json()["items"] if i.startswith("keys"))}
    m, wrong = matched(w, node.name, "erlang*:lists:map/2:entry { }\nlists:keys*:return { }\nBEGIN { }\nerlang*:::message-send { }")
    t.equal(wrong, [], "nothing is wrong")
    t.equal([(d["line"], d["column"], d["length"], d["name"], d["functions"], d["modules"]) for d in m["matches"]],
            [(1, 1, 25, "entry", 1, 1), (2, 1, 18, "return", len(all), 1), (3, 1, 5, "BEGIN", 0, 0), (4, 1, 22, "message-send", 0, 0)], "counts")
    t.true(m["functions"] > 1000 and m["modules"] > 50 and m["node"] == node.name and m["id"] == 5, str(m))
    m, wrong = matched(w, node.name, "erlang*:lists:mapp/2:entry,\nerlang*:listss::entry { }\nerlang*:::mesage-send { }\nBEGIN { x = ; }")
    t.equal([d[0] for d in wrong], ["D_SYNTAX"], "what does not compile is not matched")
    m, wrong = matched(w, node.name, "erlang*:lists:mapp/2:entry,\nerlang*:listss::entry { }\nerlang*:::mesage-send { }")
    t.equal([d[:4] for d in wrong], [("D_PDESC_ZERO", 1, 1, 26), ("D_PDESC_ZERO", 2, 1, 21), ("D_PDESC_ZERO", 3, 1, 21)], "each at its place")
    t.true(all and "map" in wrong[0][4] and "lists" in wrong[1][4] and "message-send" in wrong[2][4], f"what was meant: {wrong}")
    many = "".join(f"erlang*:::entry /timestamp == {i}/ {{ }} " for i in range(900))
    m, wrong = matched(w, node.name, many)
    t.equal([d[0] for d in wrong], ["MATCH_MANY"], "not counted without end")
    t.equal(matched(w, node.name, "BEGIN { }", options={"strsize": "1x"})[1][0][0], "OPTION", "options are checked as well")
    m, wrong = matched(w, "nosuch", "BEGIN { }")
    t.true("nosuch" in m["error"] and wrong == [] and "matches" not in m, f"a node that is not there: {m}")
    t.clean(node)


def narrow(s):
    """Returns a socket with a small window. Nothing reads from it yet."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # so that a window this small does not make the sender wait
    sock.connect((s.host, s.port))
    s.upgrade(sock)
    return client.Socket(sock, reading=False)


def test_a_page_that_reads_nothing_for_a_while(t, s):
    """Its window is closed, and its system answers probes of it ever more rarely. It is no page that is gone: it finds all that waited."""
    script = "#pragma D option quiet\n#pragma D option aggrate=600ms\nint x;\ntick-200ms { " + " ".join(
        f"@[x + {k}] = quantize(x);" for k in range(300)) + " x = (x + 300) % 6000; }"
    fast = s.websocket()
    fast.start(script)
    slow = narrow(s)
    slow.send({"type": "start", "id": 1, "script": script})
    fast.wait("viewers", lambda m: m["viewers"] == 2)
    fast.wait("results", lambda m: m["n"] >= 15)
    slow.thread.start()
    n = fast.seen("results")[-1]["n"] + 2
    slow.wait("results", lambda m: m["n"] >= n)
    t.equal(fast.seen("viewers")[-1]["viewers"], 2, "both are there")


def test_a_slow_reader_skips(t, s):
    """A page that does not keep up: what waits for it is bounded, others do not notice, and it goes on with a fresh state."""
    script = "#pragma D option quiet\n#pragma D option aggrate=600ms\n#pragma D option aggsize=16m\nint x;\n" + "".join(
        f"tick-20ms {{ {''.join(f'@[x + {k}] = quantize(x); ' for k in range(0, 300))} x = (x + 300) % 6000; }}\n" for _ in range(1))
    fast, slow = s.websocket(), None
    m = fast.start(script)
    slow = narrow(s)
    slow.send({"type": "start", "id": 1, "script": script})
    fast.wait("viewers", lambda m: m["viewers"] == 2)
    model, slow_model = client.Model(m), None
    # It reads a little now and then, so that it is neither gone nor keeping up.
    stop, raw = threading.Event(), []

    def trickle():
        while not stop.is_set():
            try:
                raw.append(slow.sock.recv(32))
            except OSError:
                return
            time.sleep(0.01)
    reader = threading.Thread(target=trickle, daemon=True)
    reader.start()
    fast.wait("results", lambda m: m["n"] >= 30)
    t.equal([m["n"] for m in fast.seen("results")], list(range(1, len(fast.seen("results")) + 1)), "nobody else is kept waiting")
    stop.set()
    reader.join()
    slow.buffer += b"".join(raw)
    slow.thread.start()
    m = slow.wait("state", lambda m: m["skipped"] > 0)
    slow_model = client.Model(slow.seen("started")[0])
    slow_model.take(m)
    target = slow_model.n + 3
    while slow_model.n < target:
        slow_model.take(slow.wait(("state", "results")))
    fast.at = 0
    while model.n is None or model.n < slow_model.n:
        model.take(fast.wait(("state", "results")))
    t.equal(slow_model.by_key(0), model.by_key(0), "the same as who has read all")
