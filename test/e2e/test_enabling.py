"""What a program sets in the VM: only what it needs, only where it needs it, and with the same counts as if it were set everywhere; and how
long setting it takes."""
import os
import pty
import re
import select
import signal
import subprocess
import time

from erlt import PATIENCE, READY, ROOT, SLOW, Late, Skipped, aggregation, json_lines, pid, tool, until


def what_is_set(node):
    """Returns (flags of processes {flags: [pid]}, flags of new processes, functions {name: pattern})."""
    flags, new, functions = node("etw:set()")
    return {tuple(f): sorted(p) for f, p in flags}, new, dict(functions)


def test_functions_by_predicate(t):
    """Of all functions that a description matches, only those get a pattern whose predicate can be true; the others cost nothing. Probes
    are matched and counted as before."""
    node = t.node()
    worker = node("etw:worker()")
    predicates = ('probemod == "etw" && probefunc == "work/1"', 'copyinstr(arg1) == "etw:work/1"', 'args[1] == "etw:work/1"',
                  'strstr(probefunc, "work/") == "work/1" && substr(probemod, 0, 2) == "et" && probemod != "lists"',
                  'timestamp > 0 && index(args[1], "etw:work/") == 0 && cpu >= 0')
    clauses = "".join(f"erlang*:::entry /{p}/ {{ @[probefunc, {i}] = count(); }}\n" for i, p in enumerate(predicates))
    trace = t.trace("-n", READY + clauses, node=node)
    trace.ready()
    t.equal(what_is_set(node), ({}, [], {"etw:work/1": "meta"}), "what is set", trace)
    node(f"etw:calls({pid(worker)}, 1009)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {("work/1", str(i)): 1009 for i in range(len(predicates))}, "calls", trace)
    matched = int(t.match(trace.err.text(), r"matched (\d+) probes")[1])
    t.true(matched > 5000 * len(predicates), f"every function is matched: {matched}", trace)


def test_quoted_names(t):
    """Argument 1 is the same text before anything fires as when it fires, whatever has to be quoted in it."""
    node = t.node(fresh=True)
    names = (("Elixir.Etq.A", "b!"), ("etq b", "Cd"), ("etq_1@x", "_d"), ("etq", "-f/0-g-1-"), ("etq2", "it\\'s"))
    for module, function in names:  # a module of one function, as its abstract form
        node(f"begin {{ok, M, B}} = compile:forms([{{attribute, 1, module, '{module}'}}, {{attribute, 1, export, [{{'{function}', 0}}]}},"
             f"{{function, 1, '{function}', 0, [{{clause, 1, [], [], [{{atom, 1, ok}}]}}]}}]), {{module, _}} = code:load_binary(M, \"x\", B), ok end")
    calls = "as(etw:worker(), fun() -> " + ", ".join(f"'{m}':'{f}'()" for m, f in names) + " end)"
    trace = t.trace("-q", "-x", "elixir=off", "-n", READY + 'erlang*:etq*::entry, erlang*:Elixir.Etq*::entry { printf("<%s>\\n", copyinstr(arg1)); }', node=node)
    trace.ready()
    node("etw:" + calls)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    texts = re.findall("^<(.*)>$", trace.out.text(), re.M)
    t.equal(len(texts), len(names), "calls", trace)
    quoted = [text.replace("\\", "\\\\") for text in texts]
    clauses = "".join(f'erlang*:::entry /args[1] == "{q}"/ {{ @[{i}] = count(); }}\n' for i, q in enumerate(quoted))
    trace = t.trace("-q", "-n", READY + clauses, node=node)
    trace.ready()
    node("etw:" + calls)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {str(i): 1 for i in range(len(names))}, f"calls of {texts}", trace)


def test_left_out_everywhere(t):
    """A program whose Erlang clauses were all left out still runs BEGIN, END and its ticks. A description that matches no probe remains an
    error."""
    node = t.node()
    trace = t.trace("-n", READY + 'erlang*:lists::entry, erlang*:::process-spawn /probefunc == "nosuch"/ { trace(1); } END { printf("end"); }',
                    node=node)
    trace.ready()
    t.equal(what_is_set(node), ({}, [], {}), "what is set", trace)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("end" in trace.out.text(), "END ran", trace)
    status, _, err = t.run("-n", 'erlang*:lists:nosuch:entry /probefunc == "x"/ { }', node=node)
    t.equal(status, 1, "exit status")
    t.match(err, "does not match any probes")


def test_predicates_that_fault(t):
    """A predicate that would fault is not decided early: ERROR fires as often as before."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:etw:work/1:entry /1 / (epid - epid) && probefunc == "x"/ { }
        erlang*:etw:work/1:entry /probefunc == "x" && copyinstr(1) == ""/ { @["never"] = count(); }
        ERROR { @["error"] = count(); }""", node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, 101)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"error": 101}, "faults", trace)


ONE = """
erlang*:::message-send /copyinstr(arg0) == $$1/ { @["send"] = count(); }
erlang*:::message-queued /args[0] == $$1 && arg1 > 0/ { @["queued"] = count(); }
erlang*:::gc_major-start /args[0] == $$1 || args[0] == $$2/ { @["gc"] = count(); }
erlang*:etw:work/1:return /copyinstr(arg0) == $$1/ { @["return"] = count(); }
"""


def work(node, worker):
    for order in ("sends({}, 1009)", "calls({}, 2003)", "collects({}, 101)"):
        node("etw:" + order.format(pid(worker)))


def test_one_process(t):
    """Predicates on one process: only that process gets flags, new ones get none, and the counts are the same as with flags everywhere."""
    node = t.node()
    worker, other = node("etw:worker()"), node("etw:worker()")
    counts = []
    unclear = re.sub(r"(copyinstr\(arg0\)|args\[0\]) == (\$\$\d)", r"strstr(\1, \2) != NULL", ONE)  # the same condition, in a form that cannot be decided
    for script in (ONE, unclear):
        trace = t.trace("-q", "-n", READY + script, worker, other, node=node)
        trace.ready()
        flags, new, _ = what_is_set(node)
        if script == ONE:
            everything = tuple(sorted(["send", "receive", "garbage_collection", "call", "return_to", "arity"]))
            t.equal(flags, {everything: [worker], ("garbage_collection",): [other]}, "flags", trace)
            t.equal(new, [], "flags of new processes", trace)
        else:
            t.true(len(new) == 6 and max(len(p) for p in flags.values()) > 20, "flags are everywhere", trace)
        work(node, worker)
        work(node, other)
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        t.true("not seen" not in trace.err.text(), "nothing is missing", trace)
        counts.append(aggregation(trace.out.text()))
    t.equal(counts[0].get("return"), 2003, "returns")
    t.true(counts[0]["send"] >= 1009, f"what the worker sent: {counts[0]}")
    t.true(all(c.pop("gc") >= 202 for c in counts), "collections")  # including collections that were not forced
    t.equal(counts[0], counts[1], "counts with flags on one process, and on all")


def test_spawns_are_of_others(t):
    """process-spawn has the child as its process, but the flag is on the parent: there is no restriction. Nor is there one for a process
    that does not exist."""
    node = t.node()
    worker = node("etw:worker()")
    for clause in ("process-spawn /args[0] == $$1/", "process-exit /args[0] == $$1 || args[0] == \"<0.9999999.0>\"/",
                   "process-exit /args[0] == $$1 || timestamp == 1/", "process-exit /args[0] == $$1/ { } erlang*:::process-exit",
                   "process-exit /args[0] == $$1/ { } erlang*:::process-spawn"):
        trace = t.trace("-q", "-n", READY + f"erlang*:::{clause} {{ }}", worker, node=node)
        trace.ready()
        _, new, _ = what_is_set(node)
        t.equal(new, ["procs"], f"flags of new processes, {clause}", trace)
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)


def test_vtimestamp_of_one(t):
    """vtimestamp needs to know when every process runs, whatever the predicates say."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + "erlang*:::process-scheduled /args[0] == $$1/ { @[vtimestamp > 0] = count(); }", worker, node=node)
    trace.ready()
    t.equal(what_is_set(node)[1], ["exiting", "running"], "flags of new processes", trace)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_needs_union_and_shrink(t):
    """What is set is the union of what two programs need. When one ends, what only it needed is removed, also from processes that both
    traced; the other one continues to count."""
    node = t.node()
    worker, other = node("etw:worker()"), node("etw:worker()")
    call = ["arity", "call", "return_to"]

    def expect(flags, new, functions, when):
        got_flags, got_new, got_functions = what_is_set(node)
        t.equal(got_new, new, f"flags of new processes {when}")
        for process, names in flags.items():
            t.equal([f for f, ps in got_flags.items() if process in ps], [tuple(sorted(names))] if names else [], f"flags of {process} {when}")
        t.equal(got_functions, functions, f"functions {when}")

    one = t.trace("-q", "-n", READY + "erlang*:::message-send /args[0] == $$1/ { @ = count(); }"
                  "erlang*:etw:work/1:return /args[0] == $$1/ { @r = count(); }", worker, node=node)
    one.ready()
    expect({worker: ["send"] + call, other: []}, [], {"etw:work/1": "local"}, "for one program")
    node(f"etw:sends({pid(worker)}, 101)")
    two = t.trace("-q", "-n", READY + "erlang*:::message-send /args[0] == $$1/ { @ = count(); } erlang*:etw:boom/1:entry { }", other, node=node)
    two.ready()
    expect({worker: ["send"] + call, other: ["send"]}, [], {"etw:work/1": "local", "etw:boom/1": "meta"}, "for two of one process each")
    all_of = t.trace("-q", "-n", READY + "erlang*:::message-send,erlang*:::gc_minor-start { } erlang*:etw:work/1:entry { }", node=node)
    all_of.ready()
    everywhere = ["send", "garbage_collection"] + call
    expect({worker: everywhere, other: everywhere}, sorted(everywhere), {"etw:work/1": "local", "etw:boom/1": "meta"}, "with one of all")
    node(f"etw:sends({pid(worker)}, 101)")
    all_of.interrupt()
    t.equal(all_of.end(), 0, "exit status", all_of)
    expect({worker: ["send"] + call, other: ["send"]}, [], {"etw:work/1": "local", "etw:boom/1": "meta"}, "when that has gone")
    node(f"etw:sends({pid(worker)}, 101)")
    two.interrupt()
    t.equal(two.end(), 0, "exit status", two)
    expect({worker: ["send"] + call, other: []}, [], {"etw:work/1": "local"}, "when the second has gone")
    node(f"etw:sends({pid(worker)}, 101)")
    node(f"etw:calls({pid(worker)}, 103)")
    one.interrupt()
    t.equal(one.end(), 0, "exit status", one)
    # The worker answers each order by a message, and it looks for its sink: 4 * (101 + 1), 1, and none of its monitors.
    t.equal(re.findall(r"^ +(\d+)$", one.out.text(), re.M), ["409", "103"], "messages and returns of the first", one)


def test_minimal(t):
    """A program that needs nothing sets nothing."""
    node = t.node()
    for script, functions in (("profile:::tick-1 { @ = count(); }", {}), ("erlang*:etw:work/1:entry { }", {"etw:work/1": "meta"}),
                              ("erlang*:etw:boom/1:exception { }", {"etw:boom/1": "meta"})):
        trace = t.trace("-q", "-n", READY + script, node=node)
        trace.ready()
        t.equal(what_is_set(node), ({}, [], functions), f"what is set for {script}", trace)
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)


def test_verbose(t):
    """-v reports what was set, as text and as JSON, also for a program that exits in BEGIN; -l and -e show probes as before."""
    node = t.node()
    worker = node("etw:worker()")
    script = ('erlang*:::entry /probefunc == "boom/1"/ { } erlang*:etw:work/1:return { } erlang*:::process-exit /args[0] == $$1/ { }'
              "BEGIN { exit(0); }")
    running = script.replace("BEGIN { exit(0); }", READY)
    trace = t.trace("-v", "-n", running, worker, node=node)
    trace.ready()
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    said = trace.err.text()
    t.match(said, rf"^erltrace: set on {node.name}: 1 function by a meta pattern, 1 function by a local pattern, "
            r"flags arity call return_to on \d{2,} processes and new ones, flags procs on 1 process; in \d+\.\d ms$")
    t.match(said, r"^erltrace: \d{4,} clauses of \d{4,} left out where the predicate can never be true$")
    trace = t.trace("-v", "--json", "-n", running, worker, node=node)
    trace.wait("ready")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    set_there = [o for o in json_lines(trace.out.text()) if o["type"] == "enabled"]
    t.equal(len(set_there), 1, "objects", trace)
    o = set_there[0]
    t.equal({k: o[k] for k in ("node", "clauses", "functions", "ports", "monitors")},
            {"node": node.name, "clauses": 4, "functions": {"meta": 1, "local": 1, "global": 0, "counted": 0},
             "ports": 0, "monitors": []}, "what was set", trace)
    t.true(o["left_out"] > 4000 and o["flags"][0].pop("processes") > 20 and o["ns"] > 0, f"numbers: {o}")
    t.equal(o["flags"], [{"names": ["arity", "call", "return_to"], "new_processes": True}, {"names": ["procs"], "processes": 1, "new_processes": False}],
            "flags", trace)
    t.equal(o["clocks"], [], "no profile", trace)
    # The clock of a profile.
    trace = t.trace("-v", "-n", READY + "profile-97 { }", node=node)
    trace.ready()
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.err.text(), rf"^erltrace: set on {node.name}: samples by (task_clock|user_clock|sampler); in ")
    # One process; then nothing. Without -v nothing is reported.
    trace = t.trace("-v", "-n", READY + "erlang*:::process-exit /args[0] == $$1/ { }", worker, node=node)
    trace.ready()
    trace.interrupt()
    trace.end()
    t.match(trace.err.text(), rf"^erltrace: set on {node.name}: flags procs on 1 process; in \d+\.\d ms$")
    trace = t.trace("-v", "-n", READY + "erlang*:::ets-new { } erlang*:::node-up { } erlang*:::port-open { }", node=node)
    trace.ready()
    trace.interrupt()
    trace.end()
    t.match(trace.err.text(), rf"^erltrace: set on {node.name}: \d functions? by (a )?meta patterns?, \d+ ports, monitoring of nodes; in ")
    status, _, err = t.run("-v", "-n", script, worker, node=node)
    t.equal((status, "error" in err), (0, False), f"exit status; {err}")
    t.match(err, rf"^erltrace: set on {node.name}: 1 function by a meta pattern, ")
    status, _, err = t.run("-v", "-n", "profile:::tick-1ms { exit(0); }", node=node)
    t.equal((status, "error" in err), (0, False), f"exit status; {err}")
    t.match(err, rf"^erltrace: set on {node.name}: nothing$")
    for options in (("-l",), ("-e", "-v"), ("-l", "-v"), ()):
        status, out, err = t.run(*options, "-n", "BEGIN { exit(0); } erlang*:::process-exit /0/ { }", node=node)
        t.equal(status, 0, f"exit status with {options}; {err}")
        t.true("set on" not in out + err and "left out" not in out + err, f"nothing of it with {options}")


def test_vtimestamp_is_not_of_what_we_do(t):
    """The time of clauses is not part of the process's vtimestamp: between two calls the process has done next to nothing, however long the
    clauses take."""
    node = t.node()
    worker = node("etw:worker()")
    long = 'this->n = rindex(this->text, "zz");\n' * 400
    trace = t.trace("-q", "-n", READY + f"""self uint64_t began, ran;
        erlang*:etw:work/1:entry /self->began/ {{ @["all"] = sum(timestamp - self->began); @["its own"] = sum(vtimestamp - self->ran); }}
        erlang*:etw:work/1:entry {{ self->began = timestamp; self->ran = vtimestamp; this->text = strjoin(args[1], "{'a' * 200}"); {long} }}""",
                    node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, 5003)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    ns = {key: int(n) for key, n in re.findall(r"^ +(all|its own) +(\d+)$", trace.out.text(), re.M)}
    with t.loose("a processor that is taken away between two clauses counts as the process's own time"):
        t.true(0 < ns["its own"] < ns["all"] * 3 / 4, f"{ns}", trace)


def test_calls_of_one_process(t):
    """Calls and exceptions of one process use a local pattern and flags on that process, so that the calls of others cost next to nothing.
    While another program wants all calls, all are seen, and each counts once."""
    node = t.node()
    worker, other = node("etw:worker()"), node("etw:worker()")
    how, flags = "local", {("arity", "call"): [worker]}
    one = t.trace("-q", "-n", READY + """erlang*:etw:work/1:entry /args[0] == $$1/ { @["call"] = count(); }
                  erlang*:etw:boom/1:exception /copyinstr(arg0) == $$1/ { @["exception"] = count(); }""", worker, node=node)
    one.ready()
    t.equal(what_is_set(node), (flags, [], {"etw:work/1": how, "etw:boom/1": how}), "what is set for one process", one)

    def work():
        for process in (worker, other):
            node(f"etw:calls({pid(process)}, 1009)")
            node(f"etw:raises({pid(process)}, 101)")

    work()
    two = t.trace("-q", "-x", "lower=no", "-n", READY + """erlang*:etw:work/1:entry { @["calls"] = count(); }""", node=node)
    two.ready()
    t.equal(what_is_set(node)[2], {"etw:work/1": "meta", "etw:boom/1": how}, "functions with another program", two)
    work()
    three = t.trace("-q", "-n", READY + """erlang*:etw:work/1:return /args[0] == $$1/ { @["return"] = count(); }""", worker, node=node)
    three.ready()
    t.equal(what_is_set(node)[2], {"etw:work/1": "local", "etw:boom/1": how}, "functions with returns", three)
    work()
    for trace, expected in ((two, {"calls": 4 * 1009}), (three, {"return": 1009})):
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        t.equal(aggregation(trace.out.text()), expected, "counts of another program", trace)
    t.equal(what_is_set(node), (flags, [], {"etw:work/1": how, "etw:boom/1": how}), "what is set again", one)
    work()
    one.interrupt()
    t.equal(one.end(), 0, "exit status", one)
    t.equal(aggregation(one.out.text()), {"call": 4 * 1009, "exception": 4 * 101}, "counts of one process", one)
    t.true("not seen" not in one.err.text(), "nothing is missing", one)


def test_one_process_and_a_program_that_ends(t):
    """A program with other flags on all processes ends: the flags that another program has on a single process stay."""
    node = t.node()
    worker = node("etw:worker()")
    one = t.trace("-q", "-n", READY + """erlang*:etw:work/1:return /args[0] == $$1/ { @ = count(); }""", worker, node=node)
    one.ready()
    all_of_them = t.trace("-q", "-n", READY + "erlang*:::message-send { }", node=node)
    all_of_them.ready()
    all_of_them.interrupt()
    t.equal(all_of_them.end(), 0, "exit status", all_of_them)
    t.equal(what_is_set(node)[:2], ({("arity", "call", "return_to"): [worker]}, []), "flags", one)
    node(f"etw:calls({pid(worker)}, 1009)")
    one.interrupt()
    t.equal((one.end(), one.err.text()), (0, ""), "exit status, errors", one)
    t.match(one.out.text(), r"^ +1009$")


def test_calls_of_one_process_and_a_tracer_of_calls(t):
    """Before OTP 27 any tracer of calls also gets the calls of functions with a local pattern. While there is such a tracer, no local
    pattern is used: it gets nothing, the tool reports nothing, and all calls are counted."""
    node = t.node()
    if int(node("etw:release()")) >= 27:
        raise Skipped("from OTP 27 on patterns are not shared")
    worker, other = node("etw:worker()"), node("etw:worker()")
    trace = t.trace("-q", "-n", READY + 'erlang*:etw:work/1:entry /args[0] == $$1/ { @["call"] = count(); }', worker, node=node)
    trace.ready()

    def until_set(how):
        until(lambda: what_is_set(node)[2].get("etw:work/1") == how, lambda: f"the pattern never becomes {how}\n{trace.said()}")

    def work():
        for process in (worker, other):
            node(f"etw:calls({pid(process)}, 1009)")

    until_set("local")
    work()
    node(f"eto:kept(eto:process({pid(other)}, [call]))")
    until_set("meta")
    work()
    t.equal(node("eto:seen(get(eto))"), 0, "what the other tool was handed", trace)
    node("eto:stop(get(eto))")
    until_set("local")
    work()
    # The other tracer was there first.
    node(f"eto:kept(eto:process({pid(other)}, [call]))")
    two = t.trace("-q", "-n", READY + 'erlang*:etw:boom/1:entry /args[0] == $$1/ { }', worker, node=node)
    two.ready()
    t.equal(what_is_set(node)[2], {"etw:work/1": "meta", "etw:boom/1": "meta"}, "functions", trace)
    node("eto:stop(get(eto))")
    for each in (two, trace):
        each.interrupt()
        t.equal(each.end(), 0, "exit status", each)
    t.equal(trace.err.text(), "", "errors")
    t.match(two.err.text(), "^erltrace: no probe fired", "boom/1")
    t.equal(aggregation(trace.out.text()), {"call": 3 * 1009}, "counts of one process", trace)
    t.clean(node, 15000)


def test_one_process_and_other_tracers(t):
    """The one process that has flags is checked like any other: another tracer has it, releases it, or clears its flags. From OTP 27 on our
    gc probes are removed when another tracer begins to trace its collections."""
    node = t.node()
    worker = node("etw:worker()")
    sessions = int(node("etw:release()")) >= 27
    w = pid(worker)
    node(f"eto:kept(eto:process({w}, [send]))")
    trace = t.trace("-q", "-n", READY + """erlang*:::message-send /args[0] == $$1/ { @["send"] = count(); }
                    erlang*:::gc_major-start /args[0] == $$1/ { @["gc"] = count(); }""", worker, node=node)
    trace.ready()
    if not sessions:
        trace.wait_error(rf"process {worker} is traced by <[\d.]+> .eto_tracer.: it is not seen")
    node(f"etw:sends({w}, 1009)")
    node("eto:stop(get(eto))")
    if not sessions:
        trace.wait_error("had traced are seen from now on")
    t.equal(what_is_set(node)[:2], ({("garbage_collection", "send"): [worker]}, []), "flags", trace)
    node(f"etw:sends({w}, 1009)")
    if sessions:
        node(f"eto:kept(eto:process({w}, [garbage_collection]))")
        trace.wait_error("eto.* traces garbage collection now")
        node(f"etw:collects({w}, 3)")
        t.equal(what_is_set(node)[:2], ({("send",): [worker]}, []), "flags", trace)
        node("eto:stop(get(eto))")
    else:
        node(f"erlang:trace({w}, false, [all])")
        trace.wait_error("another tool cleared the trace flags of <")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    sent = aggregation(trace.out.text()).get("send", 0) - (2 if sessions else 1) * 1009
    t.true(0 <= sent <= 3, f"messages beyond ours, an answer to each of at most three orders: {sent}", trace)
    t.clean(node, 15000)


def test_code_to_come(t):
    """A restriction must also hold for functions that are loaded later: a clause that may match such functions in any process ends it."""
    node = t.node()
    worker = node("etw:worker()")
    for clause in ("erlang*:nosuch*::entry { }", 'erlang*:::entry /probemod == "nosuch" || args[0] == $$1/ { }'):
        trace = t.trace("-q", "-Z", "-n", READY + f"erlang*:etw:work/1:entry /args[0] == $$1/ {{ @ = count(); }} {clause}", worker, node=node)
        trace.ready()
        flags, new, functions = what_is_set(node)
        t.equal((flags, new, functions["etw:work/1"]), ({}, [], "meta"), f"what is set with {clause}", trace)
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)


def test_life_of_one_process(t):
    """With flags on one process only, the trace sees when that process runs and when it ends."""
    node = t.node()
    worker, other = node("etw:worker()"), node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """
        erlang*:::process-exit /args[0] == $$1/ { dead = 1; @[copyinstr(arg1)] = count(); }
        erlang*:::process-scheduled /args[0] == $$1/ { ins++; @["in"] = count(); }
        erlang*:::process-unscheduled /args[0] == $$1/ { outs++; @["out"] = count(); }
        profile:::tick-50ms /dead && ins == outs/ { printf("even\\n"); }""", worker, node=node)
    trace.ready()
    t.equal(what_is_set(node), ({("exiting", "procs", "running"): [worker]}, [], {}), "what is set", trace)
    for process in (worker, other):
        for _ in range(7):
            node(f"etw:calls({pid(process)}, 11)")
        node(f"etw:stop({pid(process)})")
    trace.wait("even")  # etw:stop does not wait until the process is dead
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.equal(found.get("killed"), 1, "ends", trace)
    t.true(found.get("in", 0) >= 8 and found["in"] == found["out"], f"it runs as often as it stops running: {found}", trace)


def test_links_and_names_of_one_process(t):
    """What else a process does, and what is done to it, with flags on this process only."""
    node = t.node()
    worker, other = node("etw:worker()"), node("etw:worker()")
    names = ("link", "unlink", "getting_linked", "getting_unlinked", "register", "unregister")
    trace = t.trace("-q", "-n", READY + "".join(f"erlang*:::process-{n} /args[0] == $$1/ {{ @[probename] = count(); }}\n" for n in names) +
                    "erlang*:::message-send_noproc /args[0] == $$1/ { @[probename] = count(); }", worker, node=node)
    trace.ready()
    t.equal(what_is_set(node), ({("procs", "send"): [worker]}, [], {}), "what is set", trace)
    w, o = pid(worker), pid(other)
    for one, two in ((w, o), (o, w)):
        node(f"etw:as({one}, fun() -> link({two}), unlink({two}), register(etw_name, self()), unregister(etw_name), "
             f"{{P, R}} = spawn_monitor(fun() -> ok end), receive {{_, R, _, _, _}} -> P ! gone end, ok end)")
    node(f"etw:calls({w}, 1)")  # the trace has seen what was done to it by then
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    expected = {"process-" + n: 1 for n in names}
    t.equal(aggregation(trace.out.text()), dict(expected, **{"message-send_noproc": 1}), "events", trace)


def test_what_stays_when_a_trace_ends(t):
    """When a trace ends, what only it needed is removed. Another trace continues to see processes and ports that are created later."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    stays = t.trace("-q", "-n", READY + """
        erlang*:::process-exit /copyinstr(arg1) == "normal"/ { @["exits"] = count(); }
        erlang*:::port-open /copyinstr(arg1) == "cat -u"/ { self->opened = 1; @["opened"] = count(); }
        erlang*:::port-exit { @["closed"] = count(); }
        END { printa("%s %@d\\n", @); }""", node=node)
    stays.ready()
    new = node("etw:set()")[1]
    goes = t.trace("-q", "-n", READY + "erlang*:etw:work/1:return { @ = sum(vtimestamp); } erlang*:::port-command { @p = count(); }", node=node)
    goes.ready()
    goes.interrupt()
    t.equal(goes.end(), 0, "exit status", goes)
    t.equal(node("etw:set()")[1], new, "flags of new processes are those of before", stays)
    node(f"etw:spawns({worker}, 17)")
    node(f'etw:as({worker}, fun() -> P = open_port({{spawn, "cat -u"}}, []), port_close(P), ok end)')
    stays.interrupt()
    t.equal(stays.end(), 0, "exit status", stays)
    seen = dict(line.split() for line in stays.out.lines if line.startswith(("exits", "opened", "closed")))
    t.true(int(seen.get("exits", 0)) >= 17, f"exits of processes born later: {seen}", stays)
    t.equal(seen.get("opened"), "1", "a port that was opened later", stays)
    t.true("somebody cleared" not in stays.err.text(), "nobody is accused", stays)


def pattern_calls(t, node, script):
    """Returns the number of calls that set patterns for a script, and the functions that have a pattern afterwards."""
    trace = t.trace("-v", "--json", "-x", "lower=no", "-n", READY + script, node=node)
    trace.wait("ready")
    there = {f: how for f, how in what_is_set(node)[2].items() if not f.startswith("erltrace_agent")}
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    o = [o for o in json_lines(trace.out.text()) if o["type"] == "enabled"][0]
    t.equal(len(there), o["functions"]["meta"] + o["functions"]["local"], "functions", trace)
    return o["pattern_calls"], there


def test_few_pattern_calls(t):
    """Each call that sets a pattern waits for all schedulers. One call covers everything, or a module, or a name in a module."""
    node = t.node(fresh=True)
    modules, per_module = 40, 5
    node(f"etw:tiny({modules}, {per_module})")  # each: f0/0 ... and g/0, g/1, g/2, module_info/0,1
    least, _ = pattern_calls(t, node, "erlang*:etw:work/1:entry { }")  # code that is loaded later is also watched
    t.true(least <= 6, f"for one function: {least}")
    for script, expected, kinds in (
            ("erlang*:etn_*::entry { n++; }", modules, {"meta": modules * (per_module + 5)}),
            ("erlang*:etn_*::entry, erlang*:etn_*::return { n++; }", modules + 1, {"local": modules * (per_module + 5)}),
            # One name with all its arities; then all functions but one.
            ("erlang*:etn_*:g:entry { n++; }", modules, {"meta": modules * 3}),
            ('erlang*:etn_*::entry /probefunc != "f1/0"/ { n++; }', 2 * modules, {"meta": modules * (per_module + 4)})):
        calls, there = pattern_calls(t, node, script)
        t.equal({k: sum(1 for how in there.values() if how == k) for k in set(there.values())}, kinds, f"functions of {script}")
        t.true(calls <= least + expected, f"calls for {script}: {calls}, {least} for one function")
    calls, there = pattern_calls(t, node, "erlang*:::entry { n++; }")
    t.true(calls <= least and len(there) > 5000, f"calls for all {len(there)} functions: {calls}")
    # Some functions have patterns already: the others still take one call for each module.
    one = t.trace("-q", "-n", READY + "erlang*:etn_*:f1:entry { }", node=node)
    one.ready()
    calls, _ = pattern_calls(t, node, "erlang*:etn_*::entry { n++; }")
    t.true(calls <= modules, f"calls beside another program: {calls}")
    t.equal(len(what_is_set(node)[2]), modules, "what the other program has set")
    one.interrupt()
    t.equal(one.end(), 0, "exit status", one)
    t.clean(node)


def test_begin_when_everything_is_placed(t):
    """BEGIN fires when all probes are placed, also in a node where that takes long; time counts from then on."""
    node = t.slow_node()
    trace = t.trace("-v", "-x", "quiet", "-n", 'BEGIN { began = timestamp; printf("began\\n"); } ' + SLOW +
                    'profile:::tick-100ms { printf("%d\\n", (timestamp - began) / 1000000); } END { printf("ended\\n%d\\n", (timestamp - began) / 1000000); }', "--for", "1s", node=node)
    trace.wait("began")
    t.equal(trace.end(), 0, "exit status", trace)
    lines = re.findall(r"\b(began|ended|\d+)$", trace.out.text(), re.M)
    t.true("placing" not in trace.err.text(), "how far it is, is nothing for a pipe", trace)
    took = float(t.match(trace.err.text(), r"set on .*; in (\d+\.\d) ms$")[1])
    t.equal((lines[0], lines[-2], lines.count("ended")), ("began", "ended", 1), "BEGIN is the first and END the last", trace)
    ticks, end = list(map(int, lines[1:-2])), int(lines[-1])
    t.true(all(ms > 50 for ms in ticks) and end >= 1000, f"times since BEGIN: ticks at {ticks} ms, the end at {end} ms", trace)
    with t.loose("the VM may be kept from its processor at the first tick"):
        t.true(ticks and ticks[0] < took / 2, f"the first tick comes at {ticks} ms after BEGIN; placing took {took} ms", trace)


def test_progress_and_interrupt(t):
    """While probes are being placed, a terminal shows the progress. A signal ends that: what was set is removed, and the tool does not
    claim that anything was traced. Another consumer continues all the time."""
    node = t.slow_node()
    other = t.trace("-q", "-n", READY + "profile:::tick-20ms { @ = count(); n++; } profile:::tick-100ms { printf(\"%d\\n\", n); }", node=node)
    other.ready()
    for number in (signal.SIGINT, signal.SIGTERM):
        command, env = tool("-n", 'BEGIN { printf("began\\n"); } END { printf("ended\\n"); }' + SLOW, node=node)
        try:
            main, terminal = pty.openpty()
        except OSError as e:
            raise Skipped(f"no terminal: {e}") from e
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, stdin=subprocess.DEVNULL, env=dict(env, TERM="xterm"), cwd=ROOT,
                              start_new_session=True) as p:
            os.close(terminal)
            shown, asked, end = b"", False, time.monotonic() + PATIENCE
            while True:
                if time.monotonic() > end:
                    p.kill()
                    raise Late(f"no end when asked to ({asked}): {shown}")
                if select.select([main], [], [], 0.2)[0]:
                    try:
                        shown += os.read(main, 4096)
                    except OSError:
                        break
                if not asked and re.search(rb"placing probes: \d+ of 30 functions", shown):
                    p.send_signal(number)
                    asked = True
            out = p.stdout.read().decode()
            t.equal(p.wait(), 0, f"exit status; {shown}")
        os.close(main)
        t.true(asked, f"progress was shown: {shown}")
        t.match(shown.decode(), "ended while probes were being placed: nothing was traced")
        t.equal(out.strip(), "", "the output")
        seen = len(other.out.lines)
        other.wait("^[0-9]+$", start=seen)  # its ticks fire and it is read
    other.interrupt()
    t.equal(other.end(), 0, "exit status", other)
    t.clean(node, 10000)
