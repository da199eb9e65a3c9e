"""Traces that are recorded: they go on when no page views them, and keep their last ten minutes with keys."""
import os
import subprocess

import client
import erlt
from test_survive import COUNT, away


def running(s):
    return s.get("/api/state").json()["traces"]


def test_a_recorded_trace_goes_on_without_a_page(t, s):
    """The page that began it is gone; who comes later gets all readings, with their keys."""
    w = s.websocket()
    trace = w.start(COUNT)["trace"]
    w.wait("viewers", lambda m: m["recorded"] is False)
    w.send({"type": "record", "id": 5, "on": True})
    w.wait("viewers", lambda m: m["recorded"] is True)
    w.drop()
    away(s, trace, 8)
    listed = running(s)
    t.equal([(x["trace"], x["viewers"], x["recorded"]) for x in listed], [(trace, 0, True)], "it is listed")
    t.true(listed[0]["since"] > 0 and listed[0]["share"] >= 0, "since when, and its cost")
    w = s.websocket()
    w.send({"type": "join", "id": 6, "trace": trace})
    history = w.wait("history")["columns"]
    t.equal([c["n"] for c in history], list(range(1, len(history) + 1)), "every reading")
    keys = {row[0] for c in history for a in c["aggregations"] for row in a.get("add", [])}
    t.true(len(keys) > 1 and min(keys) >= 0, f"with its keys: {sorted(keys)}")
    w.wait("viewers", lambda m: m["recorded"] is True)
    # a stop leaves it, all ends it
    w.send({"type": "stop"})
    t.equal(w.wait("stopped")["reason"], "left", "the page has left")
    away(s, trace, 2)
    w.send({"type": "join", "id": 7, "trace": trace})
    w.wait("started")
    w.send({"type": "stop", "all": True})
    t.equal(w.wait("stopped")["reason"], "user", "it was ended")


def test_a_trace_that_is_recorded_no_longer_ends_with_its_page(t, s):
    w = s.websocket()
    w.start(COUNT)
    for on in (True, False):
        w.send({"type": "record", "id": 5, "on": on})
        w.wait("viewers", lambda m: m["recorded"] is on)
    w.drop()
    client.await_idle(s)


def test_few_traces_are_recorded(t, s):
    """Eight; a ninth page is refused, and its trace goes on as it was. Without a trace there is nothing to record."""
    all = []
    for i in range(9):
        w = s.websocket()
        w.start(f"tick-1s {{ @[{i}] = count(); }}")
        w.send({"type": "record", "id": 100 + i, "on": True})
        m = w.wait(("viewers", "failed"), lambda m: m["type"] == "failed" or m["recorded"])
        t.equal(m["type"], "failed" if i == 8 else "viewers", f"trace {i}")
        all.append(w)
    t.equal((m["id"], m["tag"]), (108, "WEB_LIMIT"), "why")
    t.equal(len(running(s)), 9, "all go on")
    for w in all:
        w.send({"type": "stop", "all": True})
        w.wait("stopped")
    w = s.websocket()
    w.send({"type": "record", "id": 1, "on": True})
    t.equal(w.wait("failed")["id"], 1, "no trace")
    w.close()


def test_recorded_from_the_beginning(t, s):
    """--record runs a ready script, or a file, on the node that is given; without a node it says what it needs."""
    node = t.node()
    other = t.serve("--node", node.name, "--record", "calls.d", "lists")
    try:
        w = other.websocket()
        trace = running(other)[0]
        t.equal((trace["name"], trace["node"], trace["args"], trace["recorded"]), ("calls.d", node.name, ["lists"], True), "it runs")
        w.send({"type": "join", "id": 1, "trace": trace["trace"]})
        w.wait("results", lambda m: m["n"] >= 2)
        w.drop()
    finally:
        t.equal(other.stop(), 0, "it ends")
    for words, why in ((["--record", "calls.d"], "--node or -p must say which node"),
                       (["--node", node.name, "--record", "nosuch.d"], "no ready script of that name")):
        run = subprocess.run([erlt.TOOL, "serve", "--listen", "127.0.0.1:0", *words], capture_output=True, text=True,
                             timeout=client.PATIENCE, env=dict(os.environ, ERLTRACE_ROOT=erlt.ROOT))
        t.equal(run.returncode, 1, "it does not serve")
        t.true(why in run.stderr, run.stderr)
