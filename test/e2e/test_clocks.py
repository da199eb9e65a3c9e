"""Clocks of several nodes: how far they are ahead of this host's, with a bound on the error."""
import os
import re
import subprocess

from erlt import READY, Skipped, json_lines

AHEAD = 3600  # s, for the monotonic clock of a time namespace


def shifted(t):
    """A node whose monotonic clock is AHEAD."""
    apart = ["unshare", "-T", "--monotonic", str(AHEAD), "--fork", "--kill-child"]
    if os.geteuid() != 0 or subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("no time namespace can be made here")
    return t.node(begin=apart)


def check(t, row, ahead):
    """Both clocks are known, and the truth is within the error."""
    t.true(abs(row["offset"] - ahead) <= row["error"], f"timestamp is {ahead} ns ahead: {row}")
    t.true(abs(row["wall_offset"]) <= row["wall_error"], f"walltimestamp is the same: {row}")


def test_a_shifted_clock(t):
    """Of two nodes one has a monotonic clock that is an hour ahead: -v says so of each, in the beginning and at the end, and so does doctor. The
    timestamps of the trace are those of the node."""
    here, ahead = t.node(), shifted(t)
    both = ("--node", f"{here.name},{ahead.name}", "--cookie", here.cookie)
    status, out, err = t.run("-v", "--json", "-n", "BEGIN { trace(1); } profile:::tick-300ms { exit(0); }", *both)
    t.equal(status, 0, out + err)
    rows = json_lines(out)
    clocks = [r for r in rows if r["type"] == "clock"]
    t.equal([r["node"] for r in clocks], [here.name, ahead.name] * 2, "rows")
    for row in clocks:
        check(t, row, 0 if row["node"] == here.name else AHEAD * 10**9)
    begun = {r["node"]: r["timestamp"] for r in rows if r["type"] == "record" and r["probe"]["name"] == "BEGIN"}
    t.true(begun[ahead.name] - begun[here.name] > (AHEAD - 60) * 10**9, f"timestamps: {begun}")
    status, out, err = t.run("doctor", "--json", *both)
    t.equal(status, 0, out + err)
    said = {f["node"]: f["text"] for f in json_lines(out) if f.get("subject") == "clock"}
    t.equal(sorted(said), sorted([here.name, ahead.name]), "rows of doctor")
    t.match(said[ahead.name], r"^timestamp is (3600|3599)(\.\d+)? s ahead of this host's, within \d+ .?s, walltimestamp is ")
    t.clean(here)
    t.clean(ahead)


def test_one_node_has_no_row(t):
    """With a single node nothing is said of its clock, and it is not asked for it."""
    node = t.node()
    log = t.file("talk", "")
    trace = t.trace("-v", "-q", "-n", READY, node=node, env={"ERLTRACE_LOG": log})
    trace.ready()
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    with open(log, encoding="utf-8") as f:
        talk = f.read()
    t.match(talk, "read")
    t.true(not re.search(r"\bclock\b", talk), talk)
    t.true("clock of" not in trace.err.text(), "what -v says", trace)
    t.clean(node)
