"""The tool under valgrind, if UNDER is set (make check-valgrind): a few programs, short and long, right and wrong. Valgrind's own exit
status (99) is what would fail."""
from erlt import READY, aggregation, pid


def test_trace(t):
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", READY + """
        erlang*:etw:work/1:entry { @[copyinstr(arg1), copyinstr(arg0)] = count(); self->ts = timestamp; n++; }
        erlang*:etw:work/1:return /self->ts/ { @q = quantize(timestamp - self->ts); @l = lquantize(n, 0, 1000, 100); self->ts = 0; }
        erlang*:::message-send { printf("%s %s %d\\n", copyinstr(arg0), copyinstr(arg1), arg2); }
        END { printa("%s %s %@d\\n", @); trunc(@q); }""", node=node)
    trace.ready()
    node(f"etw:calls({worker}, 1009)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^etw:work/1 <[0-9.]+> 1009$")


def test_json_and_list(t):
    node = t.node()
    status, _, err = t.run("-l", node=node)
    t.equal(status, 0, "exit status of -l: " + err)
    status, _, err = t.run("--json", "-n", 'BEGIN { @["a"] = avg(3); printf("%s", "x"); } tick-10ms { exit(0); }', node=node)
    t.equal(status, 0, "exit status of --json: " + err)


def test_wrong_programs(t):
    node = t.node()
    for program in ("BEGIN { x = ; }", "BEGIN { @a = count(); @a = sum(1); }", "erlang*:nosuch::entry { n++; }",
                    'BEGIN { printf("%d", "x"); }', "BEGIN { self->x[1, \"a\"] = nosuch; }", "BEGIN /* {"):
        status, _, err = t.run("-n", program, node=node)
        t.equal(status, 1, f"exit status of {program}: {err}")


def test_no_node(t):
    status, _, err = t.run("--node", "nobody@localhost", "--cookie", "x", "-n", "BEGIN { exit(0); }")
    t.equal(status, 1, "exit status: " + err)
    status, _, err = t.run("nodes")
    t.equal(status, 0, "exit status of nodes: " + err)


def test_recorded(t):
    """The counts stay right, however slow the tool is."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", READY + 'erlang*:etw:work/1:entry { @["call"] = count(); }', node=node)
    trace.ready()
    node(f"etw:calls({worker}, 503)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"call": 503}, "counts", trace)
