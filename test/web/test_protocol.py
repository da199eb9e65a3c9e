"""What is said on the WebSocket: that it is exact, and that it is what doc/web-protocol.md promises. Scripts run in the server's own
process, where what they count is known."""
import os
import time

import client
import erlt

COUNTED = 40  # ticks that scripts count before they stop adding


def follow(w, started, until):
    """Takes messages into a model until the predicate holds for it. Of what was skipped a model has no totals: where those matter readings
    are half a second apart, and the server skips none before it has had no time for four."""
    model, end = client.Model(started), time.monotonic() + 2 * erlt.PATIENCE
    while True:
        if time.monotonic() > end:
            raise erlt.Late(f"readings go on, but what is waited for is not among them: {model.values} {model.totals}")
        m = w.wait(("state", "results", "stopped"))
        if m["type"] == "stopped":
            raise erlt.Failed(f"it has stopped: {m}")
        model.take(m)
        if model.n is not None and until(model):
            return model


def test_compile_errors_have_their_place(t, s):
    w = s.websocket()
    w.send({"type": "start", "id": 7, "name": "x.d", "script": "BEGIN\n{\n  x = timestmp;\n}"})
    d = w.wait("diagnostics")
    t.equal(d["id"], 7, "id")
    e = d["diagnostics"][0]
    t.equal((e["severity"], e["tag"], e["file"], e["line"], e["column"], e["length"], e["source"]),
            ("error", "D_IDENT_UNDEF", "x.d", 3, 7, 8, "  x = timestmp;"), "where it is")
    t.match(e["hint"], "timestamp", "hint")
    t.match(e["rendered"], r"x\.d:3:7: error", "as the command prints it")
    f = w.wait("failed")
    t.equal((f["id"], f["tag"], f["text"]), (7, "D_IDENT_UNDEF", e["text"]), "failed")
    t.equal(w.start("BEGIN { i = 1; }")["shared"], False, "the socket goes on")


def test_check(t, s):
    w = s.websocket()
    w.send({"type": "check", "id": 1, "script": "erlang*:lists:map/2:entry { @[copyinstr(arg0)] = count(); }"})
    t.equal(w.wait("checked"), {"type": "checked", "id": 1, "diagnostics": []}, "a good one, without a node")
    w.send({"type": "check", "id": 2, "script": "BEGIN { system(\"id\"); }\nEND { nosuch(); }"})
    m = w.wait("checked")
    t.equal((m["id"], [d["tag"] for d in m["diagnostics"]]), (2, ["D_FUNC_UNDEF"]), "a bad one")
    w.send({"type": "check", "id": 3, "script": "BEGIN { trace($1); trace($$2); }", "args": ["12", "b"]})
    t.equal(w.wait("checked")["diagnostics"], [], "with arguments")


def test_started(t, s):
    w = s.websocket()
    m = w.start("""#pragma D option aggrate=200ms
        tick-10ms { @q["a", (char)1, 2ull] = quantize(1); @ = lquantize(1, -10, 10, 10); @ll = llquantize(1, 10, 0, 1, 10); @m[1] = max(5); printf("%d %s", i++, "x"); }""",
                name="n.d", args=["1"], view={"kind": "heatmap", "é": 1}, options={"strsize": "64", "zdefs": True, "argref": True})
    t.equal((m["shared"], m["name"], m["args"], m["view"], m["options"], m["interval"], m["prints"], m["destructive"]),
            (False, "n.d", ["1"], {"kind": "heatmap", "é": 1}, {"argref": True, "strsize": "64", "zdefs": True}, 200, True, False), "what was asked for")
    t.equal(m["enabled"]["probes"], 1, "probes")
    q, l, ll, top = m["aggregations"]
    t.equal([(a["id"], a["name"], a["function"], a["keys"], a["normal"]) for a in (q, l, ll, top)],
            [(0, "@q", "quantize", ["string", "int", "uint"], 1), (1, "@", "lquantize", [], 1), (2, "@ll", "llquantize", [], 1),
             (3, "@m", "max", ["int"], 1)], "aggregations")
    bounds = list(zip(q["buckets"]["from"], q["buckets"]["to"]))
    t.equal(len(bounds), 127, "buckets of quantize")
    t.equal(bounds[60:68], [(-7, -4), (-3, -2), (-1, -1), (0, 0), (1, 1), (2, 3), (4, 7), (8, 15)], "about zero")
    t.equal(bounds[-1], ("4611686018427387904", "9223372036854775807"), "large numbers are text")
    t.equal(l["buckets"], {"parameters": [-10, 10, 10], "from": [None, -10, 0, 10], "to": [-11, -1, 9, None]}, "lquantize")
    t.equal(ll["buckets"]["parameters"], [10, 0, 1, 10], "llquantize")
    t.equal(top["buckets"], None, "max has none")


def test_values_of_every_function(t, s):
    """Each function, added up over readings, is what the script has made."""
    w = s.websocket()
    m = w.start("""#pragma D option aggrate=100ms
        tick-5ms /i < %d/ { i++; @c[i %% 3, "k"] = count(); @s = sum(-2); @min = min(100 - i); @max = max(i); @avg = avg(i); @sd = stddev(i);
            @q = quantize(i); @l = lquantize(i, 0, 100, 10); @big = sum(0x7fffffffffffff); @neg["x"] = quantize(i, -1); }""" % COUNTED)
    model = follow(w, m, lambda model: model.values[0] and sum(v[0] for v in model.values[0].values()) == COUNTED and model.n > 3)
    n = COUNTED
    total = n * (n + 1) // 2
    t.equal(model.by_key(0), {(1, "k"): {0: 14}, (2, "k"): {0: 13}, (0, "k"): {0: 13}}, "count")
    t.equal(model.by_key(1), {(): {0: -2 * n}}, "sum")
    t.equal(model.by_key(2), {(): {0: 100 - n}}, "min")
    t.equal(model.by_key(3), {(): {0: n}}, "max")
    t.equal(model.by_key(4), {(): {0: n, 1: total}}, "avg")
    t.equal(model.by_key(5), {(): {0: n, 1: total, 2: sum(i * i for i in range(1, n + 1))}}, "stddev")
    t.equal(model.by_key(6), {(): {64: 1, 65: 2, 66: 4, 67: 8, 68: 16, 69: 9}}, "quantize")
    t.equal(model.by_key(7), {(): {1: 9, 2: 10, 3: 10, 4: 10, 5: 1}}, "lquantize")
    t.equal(model.by_key(8), {(): {0: n * 0x7fffffffffffff}}, "numbers beyond 2^53")
    t.equal(model.by_key(9), {("x",): {64: -1, 65: -2, 66: -4, 67: -8, 68: -16, 69: -9}}, "negative increments")


def test_clear_loses_nothing(t, s):
    """What is added is told exactly, whatever the script clears meanwhile; and what it has itself is right."""
    w = s.websocket()
    m = w.start("""#pragma D option quiet
        #pragma D option aggrate=500ms
        tick-2ms /i < 1000/ { i++; @q[i % 2] = quantize(i); @sd = stddev(i); @min = min(i); @n = count(); }
        tick-7ms /i < 1000/ { clear(@q); clear(@sd); clear(@min); }
        tick-100ms /i == 1000 && !done/ { done = 1; printf("done\\n"); }""")
    model = follow(w, m, lambda model: model.totals[3].get(0, {}).get(0) == 1000)
    even = model.by_key(0, totals=True)
    want = {0: {}, 1: {}}
    for i in range(1, 1001):
        b = 63 + i.bit_length()
        want[i % 2][b] = want[i % 2].get(b, 0) + 1
    t.equal(even, {(k,): v for k, v in want.items()}, "all that was ever added")
    t.equal(model.by_key(1, totals=True), {(): {0: 1000, 1: 500500, 2: sum(i * i for i in range(1, 1001))}}, "stddev")
    t.equal(model.by_key(3), {(): {0: 1000}}, "what was never cleared")
    left = sum(sum(v.values()) for v in model.by_key(0).values())
    t.true(left < 1000, f"the script itself has what came since the last clear: {left}")


def test_trunc_and_keys_that_come_back(t, s):
    w = s.websocket()
    m = w.start("""#pragma D option quiet
        #pragma D option aggrate=500ms
        BEGIN { @["stays"] = sum(1000000); }
        tick-2ms /i < 300/ { i++; @[i % 10 ? "often" : "seldom"] = count(); @all = count(); }
        tick-10ms /i < 300/ { trunc(@, 1); }""".replace('@["stays"] = sum(1000000); ', ""))
    model = follow(w, m, lambda model: model.totals[1].get(0, {}).get(0) == 300)
    per_name = {}
    for key, value in model.totals[0].items():
        per_name[key] = value[0]
    t.equal(sum(per_name.values()), 300, "nothing is lost by trunc")
    t.true(len(model.by_key(0)) <= 2, "keys that are gone are gone")


def test_normalize(t, s):
    w = s.websocket()
    w.start("#pragma D option aggrate=100ms\ntick-5ms { @ = sum(1000); } tick-50ms { normalize(@, 1000); }")
    m = w.wait("results", lambda m: any(a.get("normal") == 1000 for a in m["aggregations"]))
    m = w.wait("results", lambda m: client.added(m))
    t.equal(client.added(m)[0][0] % 1000, 0, "numbers are not divided")
    second = s.websocket()
    second.start("#pragma D option aggrate=100ms\ntick-5ms { @ = sum(1000); } tick-50ms { normalize(@, 1000); }")
    t.equal(second.wait("state")["aggregations"][0]["normal"], 1000, "who comes late is told")


def test_too_many_keys(t, s):
    """Beyond the limit all is one; totals stay right, and memory bounded."""
    w = s.websocket()
    limit = w.hello["limits"]["keys"]
    body = "".join(f"@[x + {k}] = count(); " for k in range(400))
    m = w.start(f"""#pragma D option quiet
        #pragma D option aggsize=8m
        #pragma D option aggrate=500ms
        int n, x;
        tick-10ms /n < {limit // 400 + 10}/ {{ x = n * 400; {body} n++; @total = sum(400); }}""")
    want = (limit // 400 + 10) * 400
    model = follow(w, m, lambda model: model.totals[1].get(0, {}).get(0) == want and sum(v[0] for v in model.totals[0].values()) == want)
    t.equal(len(model.keys[0]), limit, "keys with names")
    t.equal(model.totals[0][-1][0], want - limit, "others")


def test_records(t, s):
    w = s.websocket()
    w.start('#pragma D option quiet\ntick-20ms /i < 3/ { i++; printf("%d %s\\n", i, "é"); trace(i * 2); }\nBEGIN { printf("begin\\n"); }')
    rows = []
    while len(rows) < 4:
        m = w.wait("records")
        probes = {p[0]: p[1:] for p in m["probes"]} if not rows else probes | {p[0]: p[1:] for p in m["probes"]}
        rows += m["rows"]
        t.equal(m["skipped"], 0, "none is left out")
    t.equal([r[3] for r in rows], ["begin\n", "1 é\n2", "2 é\n4", "3 é\n6"], "texts, as the command prints them")
    t.equal([r[4] for r in rows], [[], [1, "é", 2], [2, "é", 4], [3, "é", 6]], "values")
    t.equal([probes[r[0]][0].split(":")[-1] for r in rows], ["BEGIN", "tick-20ms", "tick-20ms", "tick-20ms"], "probes")
    times = [r[1] for r in rows]
    t.true(times == sorted(times) and 0 <= times[0] <= times[3], f"times: {times}")


def test_a_flood_of_records_is_cut(t, s):
    w = s.websocket()
    many = 'printf("%d\\n", i++); ' * 1
    w.start("#pragma D option quiet\n" + "".join(f"tick-1ms {{ {many} }}\n" for _ in range(8)))
    m = w.wait("records", lambda m: m["skipped"] > 0)
    shown = sum(len(r["rows"]) for r in w.seen("records"))
    t.true(shown > 0 and m["skipped"] > 0, "some are shown, others counted")


def to_the_end(w, m):
    """What the trace that has been started adds up to, and its last message."""
    model = client.Model(m)
    while True:
        m = w.wait(("state", "results", "stopped"))
        if m["type"] == "stopped":
            return model, m
        model.take(m)


def printed(w):
    return "".join(r[3] for m in w.seen("records") for r in m["rows"])


def test_the_end(t, s):
    w = s.websocket()
    m = w.start('tick-50ms { @a = count(); @b["x"] = sum(5); exit(3); } END { @a = count(); printf("bye\\n"); printa("%@d\\n", @a); }')
    model, last = to_the_end(w, m)
    t.equal((last["reason"], last["status"], last["text"]), ("exit", 3, "exit(3)"), "why")
    t.equal(model.by_key(0), {(): {0: 2}}, "END's additions came before")
    t.match(printed(w), "bye\n", "and its records")
    t.match(last["output"], r"x +5", "what the command prints at the end")
    t.true("2" not in last["output"], "but not what printa has shown")


def test_stop(t, s):
    w = s.websocket()
    w.start("tick-10ms { @ = count(); } END { printf(\"end\"); }")
    w.send({"type": "stop", "all": True})
    m = w.wait("stopped")
    t.equal(m["reason"], "user", "for everybody")
    t.match(printed(w), "end", "END has run")
    client.await_idle(s)


def test_the_only_viewer_stops(t, s):
    """Nothing that was counted since the last results is lost, nor what END says."""
    w = s.websocket()
    m = w.start('#pragma D option quiet\ntick-10ms /n < 5/ { n++; @ = count(); } tick-10ms /n == 5/ { printf("five\\n"); n++; } END { printf("end\\n"); }', options={"aggrate": "60s"})
    w.wait("records")
    w.send({"type": "stop"})
    w.at = 0
    model, last = to_the_end(w, m)
    t.equal((last["reason"], last["text"], last["trace"]), ("left", "", m["trace"]), "why")
    t.equal(model.by_key(0), {(): {0: 5}}, "what it counted")
    t.equal(printed(w), "five\nend\n", "what it printed")
    client.await_idle(s)


def test_faults_and_drops(t, s):
    w = s.websocket()
    w.start("int y;\ntick-10ms { x = 1 / y; }")
    m = w.wait("errors")
    t.equal((m["errors"][0]["name"], len(m["errors"])), ("DIVZERO", 1), "equal faults are one")
    w.wait("errors", lambda m: m["errors"][0]["count"] > 1)  # with their number
    w.start("#pragma D option dynvarsize=8k\ntick-1ms { a[i++] = timestamp; }")
    d = w.wait("drops")["drops"][0]
    t.true(d["count"] > 0 and d["total"] >= d["count"] and d["text"], f"drops: {d}")


def test_what_pages_may_not(t, s):
    """Files and commands of the server's host are out of reach; what -w would allow is refused with a word about -w."""
    w, made = s.websocket(), os.path.join(t.folder, "made")
    cases = (
        ("#pragma D option cpp\nBEGIN {}", {}, "D_PRAGMA_OPTSET"), ("#pragma D option destructive\nBEGIN {}", {}, "D_PRAGMA_OPTSET"),
        ("#pragma D option libdir=/tmp\nBEGIN {}", {}, "D_PRAGMA_OPTSET"), ("#pragma D option syslibdir=/tmp\nBEGIN {}", {}, "D_PRAGMA_OPTSET"),
        ("BEGIN {}", {"cpp": True}, "OPTION"), ("BEGIN {}", {"cpppath": "/bin/sh"}, "OPTION"), ("BEGIN {}", {"incdir": "/etc"}, "OPTION"),
        ("BEGIN {}", {"define": "A"}, "OPTION"), ("BEGIN {}", {"libdir": "/etc"}, "OPTION"), ("BEGIN {}", {"destructive": True}, "OPTION"),
        ("BEGIN {}", {"nosuch": "1"}, "OPTION"), ("BEGIN {}", {"bufsize": "many"}, "OPTION"),
        ('BEGIN { system("touch %s"); }' % made, {}, "ACTION_RESTRICTED"), ('BEGIN { freopen("%s"); }' % made, {}, "ACTION_RESTRICTED"),
        ("BEGIN { ftruncate(); }", {}, "ACTION_RESTRICTED"), ("BEGIN { raise(9); }", {}, "ACTION_RESTRICTED"),
        ("BEGIN { stop(); }", {}, "WEB_DESTRUCTIVE"),
    )
    for script, options, tag in cases:
        w.send({"type": "start", "id": 1, "script": script, "options": options})
        m = w.wait("failed")
        t.equal(m["tag"], tag, f"{script} {options}")
        t.equal("`erltrace serve -w`" in str(m["hint"]), tag in ("ACTION_RESTRICTED", "WEB_DESTRUCTIVE") or "destructive" in script + str(options),
                f"it names -w: {m}")
    t.true(not os.path.exists(made), "no command was run")
    w.send({"type": "start", "id": 1, "script": '#include "/etc/passwd"\nBEGIN {}'})
    t.true("root:" not in str(w.wait("failed")) + str(w.seen("diagnostics")[-1]), "an #include reads nothing")
    w.start('BEGIN { setopt("destructive"); setopt("cpppath", "/bin/sh"); }\ntick-10ms { @ = count(); }')
    m = w.wait("errors")
    t.equal(len(m["errors"]), 2, f"setopt() is refused: {m}")
    for node in ("nosuch", "nosuch@elsewhere.example", "a@b@c", "\x01", "-x"):
        w.send({"type": "start", "id": 1, "node": node, "script": "BEGIN {}"})
        t.equal(w.wait("failed")["tag"], "WEB_NODE", node)


def test_destructive(t, s):
    """With -w, actions on the server's host do what they do on the command line; options that name its files are refused all the same."""
    other = t.serve("-w")
    try:
        ran, out = t.file("ran"), t.file("out")
        w = other.websocket()
        t.equal(w.hello["destructive"], True, "-w")
        m = w.start('#pragma D option destructive\n#pragma D option quiet\nBEGIN { system("echo %%s > %s", "yes"); printf("page\\n"); '
                    'freopen("%s"); printf("lost\\n"); ftruncate(); printf("file\\n"); freopen(""); printf("again\\n"); '
                    'freopen("/nosuch/x"); @["sum"] = sum(7); exit(0); }' % (ran, out), options={"destructive": True})
        t.equal(m["destructive"], True, "it is said to be destructive")
        end = w.wait("stopped")
        t.equal((end["reason"], end["status"], end["output"].split()), ("exit", 0, ["sum", "7"]), "the end")
        with open(ran, encoding="ascii") as f:
            t.equal(f.read(), "yes\n", "system()")
        with open(out, encoding="ascii") as f:
            t.equal(f.read(), "file\n", "freopen() and ftruncate()")
        t.equal("".join(row[3] for m in w.seen("records") for row in m["rows"]), "page\nagain\n", "what went to the page")
        t.true("/nosuch/x" in str(w.seen("errors")), f"a file that cannot be opened: {w.seen('errors')}")
        for script, options, tag in (("#pragma D option cpp\nBEGIN {}", {}, "D_PRAGMA_OPTSET"), ("BEGIN {}", {"cpppath": "/bin/sh"}, "OPTION"),
                                     ("BEGIN {}", {"libdir": "/etc"}, "OPTION"), ("#pragma D option syslibdir=/\nBEGIN {}", {}, "D_PRAGMA_OPTSET")):
            w.send({"type": "start", "id": 1, "script": script, "options": options})
            t.equal(w.wait("failed")["tag"], tag, f"{script} {options}")
        w.send({"type": "start", "id": 1, "script": '#include "/etc/passwd"\nBEGIN {}'})
        t.true("root:" not in str(w.wait("failed")) + str(w.seen("diagnostics")[-1]), "an #include reads nothing")
        client.await_idle(other)
        w.send({"type": "start", "id": 1, "script": "BEGIN { raise(15); }"})  # the process at the probe is the server
        t.equal(w.wait_closed()[0], 1001, "raise() has ended the server")
        t.equal(other.process.wait(client.PATIENCE), 0, "its exit status")
    finally:
        other.stop()


def console(w, until):
    """What the page's console shows, once it has the text."""
    while True:
        text = "".join(row[3] for m in w.seen("records") for row in m["rows"])
        if until in text:
            return text
        w.wait("records")


def test_only_the_nodes_that_were_given(t, s):
    """A page's word for a node is that node, or none: the cookie goes nowhere else."""
    node = t.node()
    for given, asked, tag in ((node.name + ".example", node.short, None), (node.short, node.short + "@nosuch.example", "WEB_NODE"),
                              (node.short, "other", "WEB_NODE"), (node.name, node.short + "@nosuch.example", "WEB_NODE")):
        other = t.serve("--node", given)
        try:
            w = other.websocket()
            w.send({"type": "start", "id": 1, "node": asked, "script": "BEGIN { i = 1; }"})
            m = w.wait(("started", "failed"))
            t.equal(m["type"], "failed", f"--node {given}, asked for {asked}: {m}")
            t.true(tag is None or m["tag"] == tag, f"--node {given}, asked for {asked}: {m}")
            if tag is None:
                t.match(m["text"], r"\.example", "it is the one that was given, and that is not there")
        finally:
            t.equal(other.stop(), 0, "exit status")
    other = t.serve("--node", node.short)
    try:
        for name in (node.short, node.name):
            t.equal(other.websocket().start("BEGIN { i = 1; }", node=name)["node"], name, "what was given")
    finally:
        t.equal(other.stop(), 0, "exit status")


def test_commands(t, s):
    """What system() runs prints on the page, as it comes; it ends with its trace, and nothing of it is seen where the server prints."""
    other = t.serve("-w")
    try:
        out, gate = t.file("out"), os.path.join(t.folder, "gate")
        os.mkfifo(gate)
        w = other.websocket()
        w.start('#pragma D option quiet\nBEGIN { printf("before\\n"); system("echo out %%d; echo err >&2; cat; echo é", 7); printf("after\\n"); '
                'system("seq 3000"); freopen("%s"); system("echo file"); freopen(""); system("exit 3"); system("no-such-command"); exit(0); } '
                'END { system("echo ended"); }' % out)
        w.wait("stopped")
        text = "".join(row[3] for m in w.seen("records") for row in m["rows"])
        head = "before\nout 7\nerr\né\nafter\n" + "".join(f"{i}\n" for i in range(1, 3001))
        t.equal(text[:len(head)], head, "what was printed, in its order")
        t.match(text[len(head):], "^.*no-such-command.*not found\nended\n$", "an error of the shell, and what END runs")
        with open(out, encoding="ascii") as f:
            t.equal(f.read(), "file\n", "after freopen()")
        # While a command runs, what it has printed is there, and other pages may come.
        script = '#pragma D option quiet\nBEGIN { system("echo first; cat %s; echo last; sleep 1000"); }\nEND { printf("end\\n"); }' % gate
        w.start(script)
        console(w, "first\n")
        second = other.websocket()
        t.equal(second.start(script)["shared"], True, "another page looks on")
        with open(gate, "w", encoding="ascii") as f:
            f.write("middle\n")
        console(w, "middle\nlast\n")
        w.send({"type": "stop", "all": True})
        t.equal(w.wait("stopped")["reason"], "user", "what would run on is ended")
        console(w, "last\nend\n")
        # What is too much is cut, and counted; what comes later is seen.
        w.start('#pragma D option quiet\nBEGIN { system("seq 1000000; while read x; do echo $x; done < %s"); exit(0); }' % gate)
        w.wait("records", lambda m: m["skipped"] > 0)
        with open(gate, "w", encoding="ascii") as f:
            def seen():
                f.write("later\n")
                f.flush()
                return any("later" in row[3] for m in w.seen("records") for row in m["rows"])

            erlt.until(seen, "what comes later is never seen", pause=0.05)
        w.wait("stopped")
        # The page goes, and with it what it has started.
        w.start('#pragma D option quiet\nBEGIN { system("trap : TERM; echo pid $$ x; while :; do sleep 1000; done"); }')
        pid = int(t.match(console(w, " x\n"), r"pid (\d+) x")[1])
        w.drop()
        erlt.until(lambda: not os.path.exists(f"/proc/{pid}"), "the command runs on")
        # A server that is to end does not wait for commands.
        w = other.websocket()
        w.start('#pragma D option quiet\nBEGIN { system("echo go; sleep 1000"); }')
        console(w, "go\n")
        other.process.terminate()
        t.equal(other.process.stdout.read(), b"", "nothing came where the server prints")
        t.equal(w.wait("stopped")["reason"], "server", "the page is told")
    finally:
        t.equal(other.stop(), 0, "exit status")


def test_options_of_the_server(t, s):
    other = t.serve("-x", "aggrate=300ms", "-x", "quiet", "-w")
    try:
        t.equal(other.get("/api/state").json()["destructive"], True, "-w")
        w = other.websocket()
        t.equal(w.start("tick-10ms { @ = count(); }")["interval"], 300, "an option of every script")
        t.equal(w.start("tick-10ms { @ = count(); }", options={"aggrate": "400ms"})["interval"], 400, "unless it says otherwise")
        w.start("tick-10ms { @ = count(); }")
    finally:
        t.equal(other.stop(), 0, "exit status")
    t.equal(w.wait("stopped")["reason"], "server", "who looked on is told")
    t.equal(w.wait_closed()[0], 1001, "close code")
    other = t.serve("-x", "aggrate=300ms", DTRACE_OPT_AGGRATE="500ms", DTRACE_OPT_STRSIZE="3", DTRACE_OPT_DESTRUCTIVE="1")
    try:
        w = other.websocket()
        m = w.start('tick-10ms { @["truncated"] = count(); }')
        t.equal(m["interval"], 300, "-x wins over the environment")
        t.equal(list(follow(w, m, lambda model: model.by_key(0)).by_key(0)), [("tru",)], "which has more to say")
        w = other.websocket()
        w.send({"type": "start", "id": 1, "script": 'tick-10ms { system("true"); }'})
        t.equal(w.wait(("started", "failed"))["type"], "failed", "destructive actions need -w")
    finally:
        t.equal(other.stop(), 0, "exit status")


def test_lists(t, s):
    scripts = {e["name"]: e for e in s.get("/api/scripts").json()["scripts"]}
    e = scripts["latency.d"]
    t.equal((e["title"], e["view"], e["place"]), ("time from the sending of a message until its receiver runs, by receiver", "heatmap", "heatmap"), "a script")
    t.match(e["script"], "quantize", "its text")
    t.equal([e["name"] for e in scripts.values() if e["place"] == "list"], ["functions.d"], "what /list opens with")
    t.equal(scripts["calls.d"]["args"], [{"name": "MODULE", "default": "ets"}], "arguments")
    probes = s.get("/api/probes?node=&prefix=tick-1").json()
    t.true(all(i["name"].startswith("tick-1") and i["provider"] == "profile" for i in probes["items"]) and probes["items"], str(probes))
    t.equal(s.get("/api/probes?node=&prefix=&limit=1").json()["more"], True, "there are others")
    t.equal(s.get("/api/modules?node=").json(), {"items": [], "more": False}, "no modules without a node")
    t.equal(s.get("/api/probes?limit=0").status, 400, "limit")
    t.equal(s.get("/api/probes?prefix=" + "a" * 900).status, 400, "too long")
    t.equal(s.get("/api/modules?node=nosuch").status, 404, "no such node")
    t.equal(s.get("/api/nothing").status, 404, "no such list")
