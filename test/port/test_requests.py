"""What each request does, and how results look. All in the local tier: no node is needed for that."""
import struct

from etf import Atom
from port import Port

BEGIN = (b"dtrace", b"", b"", b"BEGIN")


def opened(t, text=None, **options):
    port = Port()
    t.traces.append(port)
    if text is not None:
        port.start(text, **options)
    return port


def test_hello(t):
    port = opened(t)
    hello = port.hello(queue=100000, cookie="monster")
    t.equal((hello["protocol"], hello["pid"]), (1, port.p.pid))
    t.match(hello["version"].decode(), r"^\d+\.\d+\.\d+$")
    t.equal(port.refused((Atom("hello"), 1, []))[0], "state")
    t.equal(port.close(), 0)
    port = opened(t)
    t.equal(port.refused((Atom("hello"), 1, [(Atom("colour"), "red")]))[0], "request")
    t.equal(port.hello()["protocol"], 1)


def test_other_version(t):
    port = opened(t)
    code, text = port.refused((Atom("hello"), 2, [Atom("whatever"), {1: 2}]))
    t.equal(code, "version")
    t.match(text, "version 1 of the port protocol")
    t.equal((port.next(), port.wait()), (None, 2))


def test_options_of_the_environment(t):
    port = Port(env={"DTRACE_OPT_BUFSIZE": "64k"})
    t.traces.append(port)
    port.hello()
    t.equal(port.ask((Atom("getopt"), "bufsize")), 65536)
    t.equal(port.close(), 0)
    port = Port(env={"DTRACE_OPT_BUFSIZE": "much"})
    t.traces.append(port)
    t.equal(port.wait(), 1)
    t.match(port.err.text(), "failed to set option bufsize from the environment: Invalid value")


def test_options(t):
    port = opened(t)
    port.hello()
    port.setopt("bufsize", "1m")
    port.setopt(Atom("aggsize"), 65536)
    port.setopt("quiet")
    port.setopt([ord(c) for c in "strsize"], [ord(c) for c in "100"])
    get = [port.ask((Atom("getopt"), o)) for o in ("bufsize", "aggsize", "strsize", "stackframes")]
    t.equal(get[:3], [1 << 20, 65536, 100])
    t.equal(port.ask((Atom("getopt"), "cpu")), "unset")
    t.equal(port.refused((Atom("setopt"), "bufsiz", "1m")), ("optname", "Invalid option name"))
    t.equal(port.notes[0]["hint"], b"did you mean 'bufsize'?")
    t.equal(port.refused((Atom("setopt"), "bufsize", "much"))[0], "optval")
    t.equal(port.refused((Atom("setopt"), "buf\0size", "1m"))[0], "request")
    t.equal(port.refused((Atom("setopt"), 5, "1m"))[0], "request")


def test_compile_errors(t):
    port = opened(t)
    port.hello()
    text = "BEGIN\n{\n\ttrace(timestmp);\n}\n"
    code, _ = port.refused((Atom("compile"), "lat.d", Atom("script"), text, []))
    t.equal(code, "compile")
    d = port.notes[0]
    t.equal((d["severity"], d["tag"], d["file"], d["line"], d["column"], d["length"]), ("error", b"D_IDENT_UNDEF", b"lat.d", 3, 8, 8))
    t.equal((d["source"], d["hint"]), (b"\ttrace(timestmp);", b"did you mean 'timestamp'?"))
    t.match(d["rendered"].decode(), r"^erltrace: lat\.d:3:8: error: \[D_IDENT_UNDEF\]")
    # Others may still be compiled, for their errors; with those none is run.
    port.refused((Atom("compile"), "b.d", Atom("script"), "BEGIN { x = ; }", []))
    t.equal(port.notes[0]["tag"], b"D_SYNTAX")
    t.equal(port.refused(Atom("go"))[0], "compile")
    for wrong in (("x", Atom("script"), "BEGIN {}\0", []), ("x", Atom("poem"), "BEGIN", []), ("x", Atom("script"), 7, []),
                  ("x", Atom("script"), "BEGIN {}", [1]), ("x", Atom("script"), "BEGIN {}", "ab"), ("x", Atom("script"), "BEGIN {}")):
        t.equal(port.refused((Atom("compile"), *wrong))[0], "request")


def test_programs(t):
    """Several of them, with arguments, of every kind, and from a file."""
    port = opened(t)
    port.hello()
    port.ask((Atom("target"), Atom("local")))
    t.equal(port.compile("int n; BEGIN { n = $1; trace($$2); }", args=["42", "größer"]), {"program": 1})
    t.equal(port.compile("BEGIN { trace(n); }", name="two", spec="name"), {"program": 2})
    path = t.file("three.d", 'BEGIN { trace("three"); } tick-1ms { exit(0); }')
    t.equal(port.ask((Atom("compile_file"), path, [])), {"program": 3})
    t.equal(port.refused((Atom("compile_file"), path + "x", []))[0], "open")


def test_runs(t):
    port = opened(t)
    port.hello()
    port.ask((Atom("target"), Atom("local")))
    port.compile("int n; BEGIN { n = $1; trace($$2); }", args=["42", "größer"])
    port.compile("BEGIN { trace(n); } END { trace(n + 1); }", name="two", spec="name")
    port.compile("tick-1ms { exit(7); }")
    t.equal(port.ask(Atom("go")), {"targets": b"", "probes": 4, "programs": [1, 2, 1]})
    items = port.consume_all()
    t.equal(items, [("probe", BEGIN, "größer".encode()), ("probe", BEGIN, 42), ("probe", (b"dtrace", b"", b"", b"END"), 43)])
    status = port.status()
    t.equal((status["state"], status["exited"], status["status"], status["probes"], status["queued"]), ("done", True, 7, 4, 0))
    port.ask(Atom("stop"))
    t.equal(port.close(), 0)


def test_order_of_requests(t):
    port = opened(t)
    port.hello()
    port.ask((Atom("target"), Atom("local")))
    for early in ((Atom("walk"), Atom("keep")), (Atom("consume"), 1, 0), Atom("stop"), Atom("go")):
        t.equal(port.refused(early)[0], "state", early)
    t.equal(port.status()["state"], "none")
    port.close()
    port = opened(t)
    port.hello()
    port.ask((Atom("target"), Atom("local")))
    t.equal(port.refused((Atom("target"), (Atom("node"), "a@b", Atom("none"))))[0], "state")
    t.equal(port.refused((Atom("target"), (Atom("relay"), 0, "a@b")))[0], "state")
    port.compile("tick-10ms { @ = count(); }")
    port.ask(Atom("go"))
    t.equal(port.refused(Atom("go"))[0], "state")
    t.equal(port.refused((Atom("target"), Atom("local")))[0], "state")
    t.equal(port.refused((Atom("setopt"), "bufsize", "1m"))[0], "state")
    t.equal(port.status()["state"], "running")
    port.ask(Atom("stop"))
    t.equal(port.status()["state"], "done")
    t.equal(port.close(), 0)


VALUES = r"""
struct s { int a; char b; };
struct s x;
BEGIN
{
    trace(-1); trace((char)200); trace((uint8_t)200); trace(0xffffffffffffffffULL); trace(1LL << 62);
    trace("déjà"); trace("");
    x.a = 5; x.b = 'z'; trace(x);
    p = (struct s *)alloca(sizeof (struct s)); p->a = 5; p->b = 'z'; tracemem(p, 8); tracemem(p, 8, 3);
    printf("%d-%s\n", 5, "x"); print(p);
    exit(0);
}
"""


def test_values(t):
    """Every kind of value, as record and as key."""
    port = opened(t, VALUES)
    items = port.consume_all()
    struct_ = struct.pack("=ibxxx", 5, ord("z"))
    t.equal([v for what, desc, v in items if what == "probe" and desc == BEGIN],
            [-1, -56, 200, (1 << 64) - 1, 1 << 62, "déjà".encode(), b"", struct_, struct_, struct_[:3]])
    t.equal([i for i in items if i[0] == "printf"], [("printf", BEGIN, b"5-x\n")])
    t.equal([i[0] for i in items][-1], "print")
    port.close()


KEYS = r"""
struct s { int a; int b; };
struct s x;
BEGIN
{
    x.a = 1; x.b = 2;
    @c["k", -1, 0xffffffffffffffffULL] = count();
    @s[x] = sum(3); @s[x] = sum(-5);
    @m = min(-9223372036854775807LL); @x = max(7);
    @a = avg(3); @a = avg(4);
    @d = stddev(5); @d = stddev(9);
    @q["q"] = quantize(0); @q["q"] = quantize(-3); @q["q"] = quantize(1000); @q["q"] = quantize(1000, 4);
    @l = lquantize(-1, 0, 100, 10); @l = lquantize(15, 0, 100, 10); @l = lquantize(1000, 0, 100, 10);
    @ll = llquantize(55, 10, 0, 3, 10); @ll = llquantize(100000, 10, 0, 3, 10);
    @n = sum(1000); normalize(@n, 10);
    @ = count();
}
"""


def test_aggregations(t):
    port = opened(t, KEYS)
    low, high = -(1 << 63), (1 << 63) - 1
    expected = {
        "c": [("count", [b"k", -1, (1 << 64) - 1], 1)],
        "s": [("sum", [struct.pack("=ii", 1, 2)], -2)],
        "m": [("min", [], -9223372036854775807)],
        "x": [("max", [], 7)],
        "a": [("avg", [], 3.5)],
        "d": [("stddev", [], 2.0)],
        "q": [("quantize", [b"q"], [((-3, -2), 1), ((0, 0), 1), ((512, 1023), 5)])],
        "l": [("lquantize", [], [((low, -1), 1), ((10, 19), 1), ((100, high), 1)])],
        "ll": [("llquantize", [], [((50, 59), 1), ((10000, high), 1)])],
        "n": [("sum", [], 100)],
        "_": [("count", [], 1)],
    }
    t.equal(port.walk(), expected)
    t.equal(list(port.walk()), list(expected), "order")
    port.ask(Atom("stop"))
    t.equal(port.walk("take"), expected)
    t.equal(port.walk(), {})
    t.equal(port.refused((Atom("walk"), Atom("away")))[0], "request")
    port.close()


def test_walk_takes(t):
    """What a walk takes is not there in the next one; the sum of all is what was counted."""
    port = opened(t, "tick-1ms { @n = count(); n++; } tick-1ms /n == 50/ { exit(0); }")
    seen, state = 0, "running"
    while state not in ("done", "failed"):
        got = port.ask((Atom("walk"), Atom("take")))
        seen += sum(n for _, entries in got["aggregations"] for _, _, n in entries)
        state = got["state"]
        port.consume(1, 5)
    seen += sum(n for _, _, n in port.walk("take").get("n", []))
    t.equal(seen, port.status()["updates"])
    t.true(seen >= 50, f"{seen} ticks")


def test_large_walk(t):
    """2000 keys with 62 buckets each: some MB."""
    clauses = ["tick-1ms /i < 100/ { i++; }"]
    for k in range(20):
        clauses.append(f"tick-1ms {{ " + " ".join(f"@[i * 20 + {k}] = quantize(1LL << {b});" for b in range(62)) + " }")
    port = opened(t)
    port.hello()
    port.setopt("aggsize", "64m")
    port.setopt("eventbudget", "16m")  # all of a round is one event
    port.ask((Atom("target"), Atom("local")))
    port.compile("int i; " + "\n".join(clauses) + "\ntick-1ms /i == 100/ { exit(0); }")
    port.ask(Atom("go"))
    while port.consume(1, 1000)["state"] != "done":
        pass
    entries = port.walk()["_"]
    t.equal(len(entries), 2000)
    t.equal(sum(len(buckets) for _, _, buckets in entries), 2000 * 62)


def test_consume(t):
    port = opened(t, "BEGIN { trace(1); trace(2); trace(3); } tick-20ms { trace(++n); } END { trace(-1); }")
    got = port.consume(2)
    t.equal(([v for _, _, v in got["items"]], got["more"]), ([1, 2], True))
    t.equal([v for _, _, v in port.consume(1)["items"]], [3])
    # One that waits is answered by what comes; another request comes in between.
    ref = port.send((Atom("consume"), 1, 60000))
    t.equal(port.status()["state"], "running")
    t.equal([v for _, _, v in port.answer(ref)[0][1]["items"]], [1])
    # A second one sends the first one home; stop ends the wait.
    first, second = port.send((Atom("consume"), 100, 60000)), port.send((Atom("consume"), 100, 60000))
    t.equal(port.answer(first)[0][0], "ok")
    port.ask(Atom("stop"))
    items = port.answer(second)[0][1]["items"] + port.consume_all()
    t.equal(items[-1], ("probe", (b"dtrace", b"", b"", b"END"), -1))
    for wrong in ((0, 0), (1, -1), ("1", 0), (Atom("all"), 0)):
        t.equal(port.refused((Atom("consume"), *wrong))[0], "request")
    # A consume that would wait is answered before the end.
    port = opened(t, "tick-1h { trace(1); }")
    ref = port.send((Atom("consume"), 1, 60000))
    closing = port.send(Atom("close"))
    t.equal(port.answer(ref)[0][1]["items"], [])
    t.equal(port.answer(closing)[0], "ok")
    t.equal(port.wait(), 0)


def test_nobody_consumes(t):
    """What is not consumed is bounded, and the rest is counted."""
    port = opened(t, "tick-1ms { n++; " + 'printf("%1000s", "x"); ' * 20 + "} tick-1ms /n == 40/ { exit(0); }", queue=65536)
    while port.status()["state"] != "done":
        port.walk()
    status = port.status()
    t.true(status["queued"] * 1000 < 65536 + 65536, f"{status['queued']} items wait")
    items = port.consume_all()
    drops = [d for what, d in (i for i in items if i[0] == "drop")]
    t.equal([(d["kind"], d["count"], d["total"], d["cpu"]) for d in drops],
            [(b"QUEUE", status["queue_drops"], status["queue_drops"], -1)])
    t.equal(len(items) - 1 + drops[0]["count"], 20 * (status["recorded"] - 1), "items and drops")
    t.equal(items[-1][0], "drop")


def test_faults_and_drops(t):
    port = opened(t)
    port.hello()
    port.setopt("dynvarsize", "1k")
    port.ask((Atom("target"), Atom("local")))
    port.compile("int n, i; BEGIN { trace(1 / n); } BEGIN { " + "a[i++] = i; " * 100 + "} tick-1ms { exit(0); }")
    port.ask(Atom("go"))
    items = port.consume_all()
    fault = next(f for what, f in (i for i in items if i[0] == "error"))
    t.equal((fault["name"], fault["probe"], fault["action"], fault["value"]), (b"DIVZERO", BEGIN, 1, 0))
    t.match(fault["text"].decode(), "^error on enabled probe ID .*divide-by-zero.*[^\n]$")
    drop = [d for what, d in (i for i in items if i[0] == "drop")]
    t.true(drop and all(d["kind"] == b"DYNAMIC" for d in drop), drop)
    status = port.status()
    t.equal((status["errors"], status["drops"]), (1, drop[-1]["total"]))


def test_output_of_commands(t):
    """What system() prints goes to standard error, and not between the frames."""
    port = opened(t)
    port.hello()
    port.setopt("destructive")
    port.ask((Atom("target"), Atom("local")))
    port.compile('BEGIN { system("echo between the frames; cat"); exit(0); }')
    port.ask(Atom("go"))
    t.equal(port.consume_all(), [])
    t.true(port.err.wait("between the frames") is not None, port.err.text())
    t.equal(port.close(), 0)


def test_no_node(t):
    """A target that is not there is an error with its diagnostic, and the program goes on answering."""
    port = opened(t)
    port.hello(cookie="c")
    port.ask((Atom("target"), (Atom("node"), "nobody_has_this_name", Atom("none"))))
    port.compile("BEGIN {}")
    code, text = port.refused(Atom("go"))
    t.equal(code, "node")
    t.true(any(d["severity"] == "error" and d["text"].decode() == text and "tag" in d for d in port.notes), port.notes)
    t.equal(port.status()["state"], "failed")
    t.equal(port.status()["error"], {"code": Atom("node"), "text": text.encode()})
    t.equal(port.close(), 0)


def test_cluster(t):
    """It goes with no other target, and is reached by any of its nodes."""
    port = opened(t)
    port.hello(cookie="c")
    port.ask((Atom("target"), (Atom("cluster"), "nobody_has_this_name", Atom("none"))))
    t.equal(port.refused((Atom("target"), Atom("local")))[0], "state")
    t.equal(port.refused((Atom("target"), (Atom("cluster"), 7, Atom("none"))))[0], "request")
    port.compile("BEGIN {}")
    t.equal(port.refused(Atom("go"))[0], "node")
    t.equal(port.close(), 0)


def test_used_from_a_shell(t):
    status, out, err = t.run("port", "-n", "BEGIN")
    t.equal((status, out), (2, ""))
    t.match(err, "port takes no options")
