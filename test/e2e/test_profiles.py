"""Profiles: stackform=folded, format=pprof and format=speedscope, of stacks that are known."""
import json
import os
import tempfile

from erlt import READY, pid
from test_functions import as_worker, load
from test_stacks import MODULE

CHAIN = ["pile:d/1", "pile:c/1", "pile:b/1", "pile:a/1"]
SCRIPT = """erlang*:pile:d/1:entry { @[erlname, ustack(4)] = count(); @ns[ustack(4), 7, 0] = sum(10); @sizes[ustack(1)] = quantize(3);
    @not_a_profile[probefunc] = count(); }"""


def workers(t):
    """A node with a process pile_worker; what makes its five calls."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    node(f"catch unregister(pile_worker), register(pile_worker, {pid(worker)})")
    return node, as_worker(worker, "[pile:a(x) || _ <- lists:seq(1, 5)]")


def written(t, form):
    """The file of -o that a trace of the calls writes. It held something else before."""
    node, calls = workers(t)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "profile")
        with open(path, "w", encoding="utf-8") as f:
            f.write("what was there before\n" * 1000)
        trace = t.trace("-v", "-x", f"format={form}", "-o", path, "-n", SCRIPT, node=node)
        trace.wait_error("^erltrace: set on ")
        node(calls)
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        with open(path, "rb") as f:
            return f.read()


def folded(t, script):
    """What stackform=folded prints of the calls."""
    node, calls = workers(t)
    trace = t.trace("-q", "-x", "stackform=folded", "-n", READY + script, node=node)
    trace.ready()
    node(calls)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    return trace.out.text().replace("ready\n", "")


def test_folded(t):
    t.equal(folded(t, "erlang*:pile:d/1:entry { @[erlname, ustack(4)] = count(); }"), f"pile_worker;{';'.join(reversed(CHAIN))} 5\n",
            "one line a stack, and no other line")


def test_folded_records(t):
    t.equal(folded(t, "erlang*:pile:d/1:entry { ustack(2); printf(\"%d\\n\", 1); } erlang*:pile:b/1:entry { @[ustack(1)] = count(); } "
                   "END { printa(\"%k: %@d\\n\", @); printa(@); }"),
            "pile:c/1;pile:d/1\n1\n" * 5 + "pile:b/1: 5\npile:b/1 5\n", "records, and a format")


def fields(data):
    """The fields of a message of protocol buffers: (number, an integer or bytes)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 2:
            size = varint()
            assert at + size <= len(data), "a field ends beyond the message"
            at += size
            yield tag >> 3, data[at - size:at]
        else:
            raise AssertionError(f"type {tag & 7} at {at}")


def packed(data):
    """The signed integers of a packed field."""
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value - (1 << 64) if value >> 63 else value)
            value = shift = 0
    return values


def pprof(data):
    """What profile.proto says is in a profile: ([(type, unit)], [(frames, values, labels)], {field: integer})."""
    top = list(fields(data))
    texts = [v.decode() for n, v in top if n == 6]
    assert texts[0] == "", "the first string is empty"
    functions, locations, samples = {}, {}, []
    for n, v in top:
        if n == 5:
            m = dict(fields(v))
            functions[m[1]] = texts[m[2]]
    for n, v in top:
        if n == 4:
            m = dict(fields(v))
            locations[m[1]] = functions[dict(fields(m[4]))[1]]
    types = [(texts[m[1]], texts[m.get(2, 0)]) for m in (dict(fields(v)) for n, v in top if n == 1)]
    for n, v in top:
        if n == 2:
            parts = list(fields(v))
            labels = [dict(fields(p)) for k, p in parts if k == 3]
            assert all(m.get(2, 0) != 0 or m.get(3, 0) != 0 for m in labels), "readers drop a label without a text and with the number 0"
            samples.append(([locations[i] for k, p in parts if k == 1 for i in packed(p)], [i for k, p in parts if k == 2 for i in packed(p)],
                            {texts[m[1]]: texts[m[2]] if 2 in m else m.get(3, 0) for m in labels}))
    return types, samples, {n: v for n, v in top if isinstance(v, int)}


def test_pprof(t):
    types, samples, numbers = pprof(written(t, "pprof"))
    t.equal(types, [("samples", "count"), ("ns", "nanoseconds"), ("sizes", "count")], "sample types")
    t.equal(samples, [(CHAIN, [5, 0, 0], {"erlname": "pile_worker"}), (CHAIN, [0, 50, 0], {"7": 7, "0": "0"}), (CHAIN[:1], [0, 0, 5], {})], "samples")
    t.true(numbers[9] > 1 << 60 and 0 < numbers[10] < 1 << 40, f"time and duration in ns: {numbers}")


LINED = """-module(lined). -export([three/0, leaf/0]).
three() ->
    A = lined:leaf(),
    B = lined:leaf(),
    C = lined:leaf(),
    {A, B, C}.
leaf() -> ok.
"""


def test_a_caller_of_three_lines(t):
    """Stacks that differ by the line of a call; speedscope has a row for each frame, and one for the caller."""
    node = t.node()
    load(node, LINED)
    worker = node("etw:worker()")
    for how, frames, samples in (("stackkey=line", 1, 3), ("stackkey=function", 1, 1)):
        path = os.path.join(t.folder, "lined")
        trace = t.trace("-v", "-x", "format=speedscope", "-x", how, "-o", path, "-n", "erlang*:lined:leaf/0:entry { @[ustack(2)] = count(); }", node=node)
        trace.wait_error("^erltrace: set on ")
        node(as_worker(worker, "lined:three()"))
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        with open(path, encoding="utf-8") as f:
            found = json.load(f)
        t.equal([f["name"] for f in found["shared"]["frames"]].count("lined:three/0"), frames, how)
        t.equal((len(found["profiles"][0]["samples"]), sum(found["profiles"][0]["weights"])), (samples, 3), how)


def test_speedscope(t):
    """The facts of its schema: frames by number, a weight for each sample, values that fit."""
    found = json.loads(written(t, "speedscope"))
    names = [f["name"] for f in found["shared"]["frames"]]
    t.equal(found["$schema"], "https://www.speedscope.app/file-format-schema.json", "schema")
    t.equal(len(names), len({json.dumps(f) for f in found["shared"]["frames"]}), "each frame once")
    for p in found["profiles"]:
        t.equal((p["type"], len(p["samples"]), p["startValue"], p["endValue"]), ("sampled", len(p["weights"]), 0, sum(p["weights"])), p["name"])
    root_first = CHAIN[::-1]
    t.equal([(p["name"], p["unit"], [[names[i] for i in s] for s in p["samples"]], p["weights"]) for p in found["profiles"]],
            [("samples", "none", [["pile_worker", *root_first]], [5]), ("@ns", "nanoseconds", [["7", "0", *root_first]], [50]),
             ("@sizes", "none", [CHAIN[:1]], [5])], "profiles")


def test_what_makes_no_profile(t):
    """Refused before anything is placed: no stack, two formats at once, a terminal."""
    for options, script, why, hint in (
            (("-x", "format=pprof"), "BEGIN { @[1] = count(); }", r"\[D_FORMAT_STACK\] no aggregation has a stack", r"@\[ustack\(\)\] = count\(\);"),
            (("--json", "-x", "format=speedscope"), "BEGIN { @[ustack()] = count(); }", "JSON lines and format=speedscope", "leave one")):
        status, out, err = t.run(*options, "-n", script, node=t.node())
        t.equal(status, 1, "exit status")
        t.match(out + err, why)
        t.match(out + err, hint)
