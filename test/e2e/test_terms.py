"""Terms that the VM hands over with an event: arguments and results of functions, exceptions, messages, reasons of exits.

What a program reads of them is compared with what the workload did."""
from erlt import READY, pid
from test_functions import as_worker, counted, load

MODULE = """-module(ett). -export([f/1, g/2, h/1, t/1, b/1, c/1, calls/2, forever/1]).
calls(0, _) -> ok; calls(N, F) -> F(N), calls(N - 1, F).
f(X) -> {was, X}.
g(X, Y) -> Z = h(X), {Z, Y}.
h(X) -> X + 1.
t(X) -> tail(X).
tail(X) -> {tail, X}.
b(0) -> 0;
b(N) -> 1 + b(N - 1).
c(X) -> try e(X) catch Class:Reason -> {Class, Reason} end.
e(1) -> error({bad, 1});
e(2) -> exit({gone, 2});
e(3) -> throw([three]);
e(X) -> X.
forever(0) -> done;
forever(N) -> forever(N - 1).
"""


def made(t):
    """A node with the module, and a process in which it works."""
    node = t.node()
    load(node, MODULE)
    return node, node("etw:worker()")


def test_arguments(t):
    """argv[] at entry: of a meta pattern, of a local one (the function has a return probe), and for few processes. Past the last there is none."""
    node, worker = made(t)
    work = as_worker(worker, "[ett:g(I rem 2, [I rem 3, {x}]) || I <- lists:seq(1, 60)], ett:f({a, 1})")
    for also, what in (("", "meta pattern"), ("erlang*:ett:g/2:return { } erlang*:ett:f/1:return { }", "with returns"),
                       ("erlang*:ett:h/1:return { } erlang*:ett:g/2:return { }", "one has no return probe")):
        found = counted(t, node, also + """
            erlang*:ett:g/2:entry { @[probefunc, term_text(argv[0]), term_text(argv[1]), term_size(argv[2])] = count(); @all[term_text(argv)] = count(); }
            erlang*:ett:f/1:entry { @[probefunc, term_text(argv[0]), "-", -1] = count(); }""", work)
        pairs = [(a, f"[{b},{{x}}]") for a in (0, 1) for b in (0, 1, 2)]
        t.equal(found, {**{("g/2", str(a), b, "0"): 10 for a, b in pairs}, **{f"[{a},{b}]": 10 for a, b in pairs},
                        ("f/1", "{a,1}", "-", "-1"): 1}, what)
    found = counted(t, node, """erlang*:ett:f/1:entry /copyinstr(arg0) == $$1/ { @[term_text(argv[0])] = count(); }""",
                    [work, "ett:f(elsewhere)"], worker)
    t.equal(found, {"{a,1}": 1}, "few processes")


def test_arguments_are_no_text(t):
    """The list of all arguments is never taken for a text, at entry and at return; an argument that is one still is."""
    node, worker = made(t)
    found = counted(t, node, "erlang*:ett:f/1:entry, erlang*:ett:f/1:return { @[probename, term_text(argv), term_text(argv[0])] = count(); }",
                    as_worker(worker, "ett:f(97), ett:f([97, 98])"))
    t.equal(found, {(at, *texts): 1 for at in ("entry", "return") for texts in (("[97]", "97"), ('["ab"]', '"ab"'))}, "texts")


def test_arguments_of_local_and_global_calls(t):
    node, worker = made(t)
    script = """erlang*:ett:h/1:local-function-entry { @[probename, term_int(argv[0])] = count(); }
                erlang*:ett:f/1:global-function-entry { @[probename, term_int(argv[0])] = count(); }"""
    t.equal(counted(t, node, script, as_worker(worker, "ett:g(4, 0), ett:g(4, 0), ett:f(9)")),
            {("local-function-entry", "4"): 2, ("global-function-entry", "9"): 1}, "both kinds")
    script = """erlang*:ett:f/1:global-function-entry { @[probename, term_int(argv[0])] = count(); }
                erlang*:ett:f/1:return { @[probename, term_int(term_element(retval, 2))] = count(); }"""
    if t.otp:
        t.equal(counted(t, node, script, as_worker(worker, "ett:f(9)")), {("global-function-entry", "9"): 1, ("return", "9"): 1}, "beside a return")


def test_arguments_of_bifs_and_hooks(t):
    node, worker = made(t)
    node("etw:table(ett_table)")
    script = """erlang*:ets:insert/2:bif-entry /term_string(argv[0]) == "ett_table"/ { @[probename, term_text(argv[1])] = count(); }
                erlang*:::ets-write /term_string(argv[0]) == "ett_table"/ { @[probename, term_text(argv[1])] = count(); }"""
    t.equal(counted(t, node, script, as_worker(worker, "[ets:insert(ett_table, {k, I rem 2}) || I <- lists:seq(1, 8)]")),
            {(p, f"{{k,{i}}}"): 4 for p in ("bif-entry", "ets-write") for i in (0, 1)}, "BIF and ETS")


def test_results(t):
    """retval at return: of a function alone, of a chain of tail calls, of body recursion, and beside returns without values."""
    node, worker = made(t)
    work = as_worker(worker, "[ett:f(I rem 3) || I <- lists:seq(1, 30)], ett:t(5), ett:b(3), ett:g(7, y)")
    expected = {**{("f/1", f"{{was,{i}}}"): 10 for i in range(3)}, ("t/1", "{tail,5}"): 1, ("tail/1", "{tail,5}"): 1,
                **{("b/1", str(i)): 1 for i in range(4)}}
    values = "".join(f"erlang*:ett:{f}:return {{ @[probefunc, term_text(retval)] = count(); }} " for f in ("f/1", "t/1", "tail/1", "b/1"))
    t.equal(counted(t, node, values, work), expected, "alone")
    others = "erlang*:ett:g/2:return, erlang*:ett:h/1:return, erlang*:ett:f/1:return { @[probefunc, probename] = count(); }"
    t.equal(counted(t, node, values + others, work), {**expected, ("f/1", "return"): 30, ("g/2", "return"): 1, ("h/1", "return"): 1}, "beside others")
    found = counted(t, node, "erlang*:ett:b/1:entry { self->n++; } erlang*:ett:b/1:return { @[self->n, term_int(retval)] = count(); self->n--; }", work)
    t.equal(found, {(str(4 - i), str(i)): 1 for i in range(4)}, "entries and returns pair up")
    script = """erlang*:ett:h/1:entry { self->n = term_int(argv[0]); } erlang*:ett:h/1:return { @[probename, self->n, term_int(retval)] = count(); }
                erlang*:ett:h/1:return, erlang*:ett:h/1:exception { @[probename, self->n, 0] = count(); }"""
    t.equal(counted(t, node, script, work), {("return", "7", "8"): 1, ("return", "7", "0"): 1}, "only one of the clauses reads the value")


def test_results_of_few_processes(t):
    node, worker = made(t)
    found = counted(t, node, "erlang*:ett:f/1:return /copyinstr(arg0) == $$1/ { @[term_text(retval)] = count(); }",
                    [as_worker(worker, "ett:f(here)"), "ett:f(elsewhere)"], worker)
    t.equal(found, {"{was,here}": 1}, "one process")


def test_exceptions(t):
    """class and reason; a function that an exception leaves does not return."""
    node, worker = made(t)
    found = counted(t, node, """erlang*:ett:e/1:exception { @[probename, class, term_text(reason)] = count(); }
                                erlang*:ett:e/1:return { @[probename, strjoin(class, "-"), term_text(retval)] = count(); }
                                erlang*:ett:c/1:return { @["caught", "-", term_text(retval)] = count(); }""",
                    as_worker(worker, "[ett:c(I) || I <- [1, 2, 2, 3, 4]]"))
    raised = {("error", "{bad,1}"): 1, ("exit", "{gone,2}"): 2, ("throw", "[three]"): 1}
    t.equal(found, {**{("exception", *k): n for k, n in raised.items()}, ("return", "-", "4"): 1, ("caught", "-", "4"): 1,
                    **{("caught", "-", f"{{{c},{r}}}"): n for (c, r), n in raised.items()}}, "exceptions")


def test_results_of_a_loop_are_given_up(t):
    """Each call leaves a frame: a loop of tail calls would fill memory, so its returns are no longer seen, and that is said."""
    node, worker = made(t)
    trace = t.trace("-q", "-n", 'dtrace:::BEGIN { printf("ready\\n"); } erlang*:ett:forever/1:return { @[term_text(retval)] = count(); } ' +
                    "erlang*:ett:f/1:return { @[term_text(retval)] = count(); }", node=node)
    trace.ready()
    node(as_worker(worker, "ett:forever(1000000)"))
    trace.wait_error("retval were removed from ett:forever/1")
    node(as_worker(worker, "ett:forever(1000), ett:f(1)"))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"\{was,1\} +1\n")
    t.clean(node)


def test_messages(t):
    """message, as the sender sent it and as the receiver got it; also to a process that does not exist."""
    node, worker = made(t)
    script = """erlang*:::message-send, erlang*:::message-queued, erlang*:::message-send_noproc
                /term_string(term_element(message, 1)) == "ett"/ { @[probename, term_text(message)] = count(); }"""
    found = counted(t, node, script, as_worker(worker, """S = self(), [S ! {ett, I rem 2} || I <- lists:seq(1, 10)],
        [receive {ett, _} -> ok end || _ <- lists:seq(1, 10)],
        {P, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, _, _} -> P ! {ett, lost} end"""))
    t.equal(found, {**{(p, f"{{ett,{i}}}"): 5 for p in ("message-send", "message-queued") for i in (0, 1)},
                    ("message-send_noproc", "{ett,lost}"): 1}, "messages")


def test_exits_and_spawns(t):
    """reason of exits and exit signals, and argv[] of the function that a new process begins with."""
    node, worker = made(t)
    script = """erlang*:::process-exit /term_string(term_element(reason, 1)) == "ett"/ { @[probename, term_text(reason)] = count(); }
                erlang*:::process-exit_signal /term_string(term_element(reason, 1)) == "ett"/ { @[probename, term_text(reason)] = count(); }
                erlang*:::process-spawn /args[1] == "erlang:exit/1"/ { @[probename, term_text(argv[0])] = count(); }
                erlang*:::process-spawned /args[2] == "erlang:exit/1"/ { @[probename, term_text(argv[0])] = count(); }"""
    work = as_worker(worker, "[begin {P, M} = spawn_monitor(erlang, exit, [{ett, I rem 2}]), receive {'DOWN', M, _, P, _} -> ok end end || I <- lists:seq(1, 6)], "
                             "{Q, N} = spawn_monitor(fun() -> receive stop -> ok end end), exit(Q, {ett, signal}), receive {'DOWN', N, _, Q, _} -> ok end")
    t.equal(counted(t, node, script, work),
            {**{(p, f"{{ett,{i}}}"): 3 for p in ("process-exit", "process-spawn", "process-spawned") for i in (0, 1)},
             ("process-exit", "{ett,signal}"): 1, ("process-exit_signal", "{ett,signal}"): 1}, "exits and spawns")


def test_shifted_binaries(t):
    """Bytes that begin within a byte: the VM would copy a large binary of such bytes whole, so none of them are shown."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-qn", READY + r"""erlang*:erltrace:probe:cut { printf("is %s %d %s\n", term_kind(args[2]), byte_size(args[2]), term_text(args[2])); }""", node=node)
    trace.ready()
    for size in (3, 65536, 65537):
        node(f"etw:as({pid(worker)}, fun() -> <<_:1, B:{size}/binary, _/bits>> = binary:copy(<<1>>, {size} + 1), erltrace:probe(cut, B) end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    lines = {int(line.split()[2]): line for line in trace.out.lines if line.startswith("is ")}  # each processor has its own order
    t.equal(list(sorted(lines)), [3, 65536, 65537], "sizes", trace)
    t.equal(lines[3], "is binary 3 <<2,2,2>>", "a small one", trace)
    t.match(lines[65536], r"^is binary 65536 <<2,2,2,2")
    t.equal(lines[65537], "is binary 65537 <<...", "a large one", trace)
