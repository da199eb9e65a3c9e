"""Native records (OTP 29): each way on which a term is looked at, where it is one, or has one in it.

The texts that are expected are those that the node itself makes.
"""
import glob
import os
import re

from erlt import READY, ROOT, Skipped, pid

SOURCE = """
-module(etnr).
-export([order/1, odd/0, all/0, same/1, start/0, loop/1, f/1, g/1, h/1, die/1, serve/1]).
-record #order{id = 0, price = 1.5, tags = [a], at = {1, 2}}.
-record #'Odd One'{zed = "text", 'a b' = <<"bytes">>, a = nil, list = [1, 1000]}.
-record #empty{}.
order(Id) -> #order{id = Id}.
odd() -> #'Odd One'{}.
all() -> [order(7), odd(), #empty{}, [order(1), {order(2)}], #{order(3) => order(4)}, #order{id = order(5), tags = #empty{}}, [x | order(6)],
          #'Odd One'{a = whereis(init)}, #'Odd One'{zed = fun erlang:self/0}].
same(Id) -> #order{id = Id, tags = lists:append([], [list_to_atom("a")])}.
start() -> register(etnr, spawn(fun() -> proc_lib:set_label(order(99)), loop(0) end)).
loop(N) -> receive {From, F} -> From ! {self(), F(N)}, loop(N + 1) end.
f(X) -> {ok, X}.
g(X) -> {order(X), X}.
h(X) -> try g(X) catch _:_ -> no end.
die(Id) -> exit({bad, order(Id)}).
serve(N) ->
    {P, M} = spawn_monitor(fun() -> put(order(1), 1), exit(order(N)) end),
    receive {'DOWN', M, process, P, _} -> ok end,
    self() ! {m, order(N)},
    receive {m, _} -> ok end,
    self() ! order(N),
    receive X -> f(X) end,
    f([{k, #{order(N rem 3) => odd()}}]),
    catch die_here(N),
    g(N).
die_here(N) -> error(order(N)).
"""


def natives(t):
    """A node in which the module is loaded, from a file."""
    node = t.node(fresh=True)
    if node("list_to_integer(erlang:system_info(otp_release)) < 29"):
        raise Skipped("this release has no native records")
    source = t.file("etnr.erl", SOURCE)
    os.chmod(os.path.dirname(source), 0o755)
    beam = source[:-len(".erl")]
    node(f'begin {{ok, etnr}} = compile:file("{source}", [debug_info, {{outdir, "{os.path.dirname(source)}"}}]), '
         f'{{module, etnr}} = code:load_abs("{beam}"), ok end')
    return node


def printed(t, node, script, *work, options=()):
    """The lines that a script prints while the node does this, and what is said of faults."""
    worker = node("etw:worker()")
    trace = t.trace("-q", "-x", "strsize=1k", *options, "-n", READY + script, node=node)
    trace.ready()
    for expression in work:
        node(f"etw:as({pid(worker)}, fun() -> {expression}, ok end)")
    trace.interrupt()
    trace.end()
    t.equal(node.logged(), [], "the node's log")
    return [line for line in trace.out.lines if line.strip() and line != "ready"], trace.err.text()


def test_texts(t):
    """As ~tw has them, and as Elixir's inspect has them; the arguments of a call, alive and kept for its return."""
    node = natives(t)
    expected = node("[lists:flatten(io_lib:format(\"~0tp\", [X])) || X <- etnr:all()]")
    expected = ["".join(map(chr, e)) if isinstance(e, list) else e for e in expected]
    lines, err = printed(t, node, r"""erlang*:etnr:f/1:entry { printf("in %T\n", argv[0]); printf("ex %#T\n", argv[0]); }
        erlang*:etnr:f/1:return { printf("out %T\n", argv[0]); printf("res %T\n", retval); @[term_text(argv[0])] = count(); }""",
                         "[etnr:f(X) || X <- etnr:all()]")
    t.equal(err, "", "no fault")
    t.equal([line[3:] for line in lines if line.startswith("in ")], expected, "at the call")
    t.equal([line[4:] for line in lines if line.startswith("out ")], expected, "kept for the return")
    t.equal([line[4:] for line in lines if line.startswith("res ")], ["{ok," + e + "}" for e in expected], "results")
    t.equal(sum(any(line.strip().startswith(e + " ") for e in expected) for line in lines), len(expected), "keys\n" + "\n".join(lines))
    has = node('filelib:is_dir("/usr/lib/elixir/lib/elixir/ebin")')
    t.true(has, "this release's folder has Elixir")
    inspected = node("""begin code:add_path("/usr/lib/elixir/lib/elixir/ebin"), {ok, _} = application:ensure_all_started(elixir),
        Texts = [binary_to_list('Elixir.Kernel':inspect(X, [{width, infinity}])) || X <- etnr:all()],
        ok = io:setopts([list, {encoding, latin1}]), Texts end""")  # Elixir has made binaries of what is read

    inspected = [re.sub(r"\n +", "", "".join(map(chr, e)) if isinstance(e, list) else e) for e in inspected]  # Erlang's lines have 80 columns
    t.equal([line[3:] for line in lines if line.startswith("ex ")], inspected, "in Elixir")
    node.logged()  # that applications have started
    t.clean(node, 15000)


def test_numbers_and_kinds(t):
    """Sizes are those of erts_debug:flat_size/1; the kinds; equality with one that has other memory; hashes."""
    node = natives(t)
    sizes = node("[erts_debug:flat_size(X) || X <- lists:sublist(etnr:all(), 7)]")
    lines, err = printed(t, node, r"""erlang*:etnr:f/1:entry { printf("n %d\n", term_words(argv[0])); @k[term_kind(argv[0])] = count();
            @h[term_hash(argv[0])] = count(); }
        erlang*:etnr:f/1:entry /is_record(argv[0], atom("order"))/ { @r["records"] = count(); }
        erlang*:etnr:f/1:entry /is_tuple(argv[0])/ { @r["tuples"] = count(); }""",
                         "[etnr:f(X) || X <- lists:sublist(etnr:all(), 7)]", "[etnr:f(etnr:same(7)) || _ <- [1, 2]]", "etnr:f({order, 1})")
    text = "\n".join(lines)
    t.equal(err, "", "no fault")
    t.equal([int(line[2:]) for line in lines if line.startswith("n ")][:7], sizes, "words")
    t.match(text, r"(?m)^ *record +6$")
    t.match(text, r"(?m)^ *records +5$")
    t.match(text, r"(?m)^ *tuples +1$")
    t.match(text, r"(?m)^ *-?[0-9]+ +3$")  # one hash for the three that are equal


def test_fields(t):
    """By name from the term: of any record, and of a named one, by its module's debug information or a definition in D; in predicates, which
    the VM decides where it can."""
    node = natives(t)
    work = ["[etnr:f(etnr:order(N)) || N <- [7, 8, 7]]", "etnr:f(etnr:odd())", "etnr:f({order, 7, 1.5, [a], {1, 2}})", "etnr:f(#{id => 7})", "etnr:f(7)"]
    for script in (r"""etnr:f/1:entry /argv[0].id == 7/ { printf("hit %T %T\n", argv[0].price, argv[0].at); }""",
                   r"""etnr:f/1:entry { printf("%s %T %T\n", argv[0].id == 7 ? "hit" : "miss", argv[0].price, argv[0].at); }"""):
        lines, err = printed(t, node, script, *work)
        t.equal(err, "", "no fault")
        t.equal([line for line in lines if line.startswith("hit")], ["hit 1.5 {1,2}", "hit 1.5 {1,2}", "hit  "], "fields by name")
    for definition in ("", "record order { id, price, tags, at }; "):
        lines, err = printed(t, node, definition + r"""etnr:f/1:entry /is_record(argv[0], atom("order"))/ {
            printf("id %T at %T\n", argv[0].#order.id, element(2, argv[0].#order.at)); }""", *work)
        t.equal(err, "", "no fault")
        t.equal(lines, ["id 7 at 2", "id 8 at 2", "id 7 at 2", "id 7 at 2"], "of a named record")
    lines, err = printed(t, node, r"""etnr:f/1:entry { printf("id %T\n", argv[0].#order.id); }""", "etnr:f(etnr:odd())", "etnr:f(etnr:order(1))")
    t.match(err, "the term is not this record")
    t.equal(lines, ["id 1"], "the other one is a fault")


def test_redacted(t):
    """A field whose name matches cannot be read, and is in no text."""
    node = natives(t)
    lines, err = printed(t, node, r"""etnr:f/1:entry { printf("t %T\n", argv[0]); printf("f %T %T\n", argv[0].id, argv[0].#order.price); }
        etnr:f/1:return { printf("r %T\n", argv[0]); }""", "etnr:f(etnr:order(4711))", options=["-x", "redact=i*"])
    t.equal(err, "", "no fault")
    text = "#etnr:order{id = [redacted],price = 1.5,tags = [a],at = {1,2}}"
    t.equal(lines, ["t " + text, "f '[redacted]' 1.5", "r " + text], "values")


# How often each script of the last test sees each of its probes, at least: more, to see whether a node lives.
ROUNDS = int(os.environ.get("NATIVES", "100"))
SCRIPTS = {
    "processes": r"""process-exit { @[args[1]] = count(); } message-send { @n = sum(arg2); } message-queued { @m[term_text(message)] = count(); }
        process-unscheduled { @u[erlname] = count(); } process-scheduled { @s[erlname] = count(); }
        message-send { @e[execname, erlname(copyinstr(arg0))] = count(); }""",
    "functions": r"""etnr::entry { @a[probefunc, term_text(argv), term_hash(argv), term_words(argv)] = count(); }
        etnr::return { @b[probefunc, term_text(retval), term_kind(retval)] = max(elapsed); }
        etnr::exception { @c[probefunc, term_text(reason)] = count(); } etnr:f/1:entry { @all["calls of f"] = count(); }"""}


def test_every_probe(t):
    """Messages, reasons, names, keys, arguments and results of every kind, under scripts that show them, and under the ready ones."""
    node = natives(t)
    node("begin etnr:start(), ok end")
    worker = node("etw:worker()")
    ready = sorted(glob.glob(os.path.join(ROOT, "scripts", "*.d")))
    words = {"slowargs.d": ["etnr", "f", "0"], "follow.d": ["etnr", "f"], "msglat.d": ["gen", "call"],
             **{name + ".d": ["etnr"] for name in ("functions", "calls", "exceptions", "migrations", "profile", "flame")}}
    for what in (*SCRIPTS, *ready):
        script = ["-n", SCRIPTS[what]] if what in SCRIPTS else ["-s", what, *words.get(os.path.basename(what), [])]
        trace = t.trace("-q", "-w", "-x", "argref", "-x", "maxload=off", "-n", READY, *script, node=node)
        trace.ready()
        counts = node(f"etw:as({pid(worker)}, fun() -> [begin etnr:serve(N), etnr ! {{self(), fun etnr:order/1}}, "
                      f"receive {{_, _}} -> ok end end || N <- lists:seq(1, {ROUNDS})], {ROUNDS} end)", patience=120 + ROUNDS)
        trace.interrupt()
        t.equal(trace.end(), 0, f"exit status of {what}", trace)
        t.true("error" not in trace.err.text(), f"{what} runs without faults", trace)
        if what in SCRIPTS:
            t.match(trace.out.text(), r"#etnr:order\{id = 7,price = 1.5", what)
        if what == "functions":
            t.match(trace.out.text(), rf"(?m)^ *calls of f +{2 * counts}$", "by its own account")
        t.equal(node.logged(), [], "the node's log")
    t.clean(node, 15000)
