"""Stacks of Erlang processes: ustack() at events of every kind, and names of code that comes and goes while a trace runs."""
import functools
import json
import re

from erlt import READY, Failed, Skipped, json_lines, pid
from test_functions import as_worker, load, worked

MODULE = """-module(pile). -export([a/1, b/1, c/1, d/1, f/0, deep/1]).
a(X) -> {a, b(X)}.
b(X) -> {b, c(X)}.
c(X) -> {c, d(X)}.
d(send) -> self() ! {pile, self()}, receive {pile, _} -> ok end, ok;
d(wait) -> receive {pile, _} -> ok after 20 -> ok end, ok;
d(collect) -> erlang:garbage_collect(), ok;
d(fail) -> try f() catch error:pile -> {failed} end;
d(_) -> {d, f2()}.
f() -> error(pile).
f2() -> ok.
deep(0) -> f2(), 0;
deep(N) -> 1 + deep(N - 1).
"""


def piles(text, lines=False):
    """The stacks of an aggregation by stack alone: {(frame, ...): count}; without their lines unless wanted. A stack occurs once."""
    found, frames = {}, []
    for line in text.splitlines():
        word = line.strip()
        if re.fullmatch(r"\d+", word) and frames:
            found[tuple(frames)] = found.get(tuple(frames), 0) + int(word)
            frames = []
        elif m := re.fullmatch(r"(\S+:\S+/\d+|0x[0-9a-f]+)( \([^()]+:\d+\))?", word):
            frames.append(word if lines else m[1])
        elif word:
            frames = []
    return found


def of(t, node, script, work, lines=False):
    """What a script with one aggregation by stack has seen of a piece of work."""
    trace = worked(t, node, script, work)
    t.true("error" not in trace.err.text() and "drop" not in trace.err.text(), "no clause failed", trace)
    return piles(trace.out.text(), lines)


def again(test):
    """A test of what a node shows of its code: the agent looks at code that was loaded some time later, on a busy host after the first events."""
    @functools.wraps(test)
    def patient(t):
        for left in (2, 1, 0):
            try:
                return test(t)
            except Failed:
                if left == 0:
                    raise
    return patient


CHAIN = ("pile:c/1", "pile:b/1", "pile:a/1")


@again
def test_stacks_of_functions(t):
    """At entry and return the function itself comes first; frames can be limited."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    work = as_worker(worker, "[pile:a(x) || _ <- lists:seq(1, 5)]")
    for probe in ("erlang*:pile:d/1:entry", "erlang*:pile:d/1:return"):
        t.equal(of(t, node, probe + " { @[ustack(4)] = count(); }", work), {("pile:d/1", *CHAIN): 5}, probe)
    t.equal(of(t, node, "erlang*:pile:f2/0:entry { @[ustack(2)] = count(); }", work), {("pile:f2/0", "pile:d/1"): 5}, "two frames")
    t.equal(of(t, node, "erlang*:pile:d/1:return { @[jstack(4)] = count(); this->v = term_text(retval); }", work), {("pile:d/1", *CHAIN): 5}, "beside a value")
    found = of(t, node, "erlang*:pile:f2/0:entry { @[ustack(100)] = count(); }", as_worker(worker, "pile:deep(50)"))
    t.equal([len(s) - s.count("pile:deep/1") < len(s) for s in found], [True], "one stack")
    t.equal(next(iter(found)).count("pile:deep/1"), 51, "frames of a recursion")


@again
def test_stacks_of_other_events(t):
    """At sends, collections, exceptions and when a process stops running, the function that it is in comes first."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    for probe, what, top in (('message-send /term_string(term_element(message, 1)) == "pile"/', "send", ("pile:d/1",)),
                             ("gc_major-start /args[0] == \"" + worker + "\"/", "collect", ("erlang:garbage_collect/0", "pile:d/1")),
                             ("process-unscheduled /args[1] == \"pile:d/1\"/", "wait", ("pile:d/1",)),
                             ("erlang*:pile:f/0:exception", "fail", ("pile:f/0", "pile:d/1"))):
        found = of(t, node, probe + f" {{ @[ustack({3 + len(top) + (what == 'fail')})] = count(); }}", as_worker(worker, f"[pile:a({what}) || _ <- [1, 2, 3]]"))
        t.true((*top, *CHAIN) in found and found[(*top, *CHAIN)] >= 3, f"{probe}: {found}")


def test_stacks_of_loaded_code(t):
    """Code that is loaded while the trace runs gets names, and a module that is loaded anew keeps its own."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + 'erlang*:::message-send /term_string(term_element(message, 1)) == "pile"/ { ustack(4); }', node=node)
    trace.ready()
    load(node, MODULE.replace("(pile)", "(heap)").replace("{pile,", "{pile, heap,"))
    load(node, MODULE.replace("f2() -> ok.", "f2() -> lists:seq(1, 10), ok."))
    for module in ("pile", "heap"):
        for _ in range(1000):  # until the agent has looked at the new code
            seen = len(trace.out.lines)
            node(as_worker(worker, f"{module}:a(send)"))
            frames = []
            while len(frames) < 4:
                seen = trace.wait(r"^ *(0x[0-9a-f]+|\S+:\S+/\d+( \(\S+:\d+\))?)$", start=seen) + 1
                frames.append(trace.out.lines[seen - 1].split()[0])
            t.true(all(f.startswith((module + ":", "0x")) for f in frames), f"no frame has another function's name: {frames}", trace)
            if f"{module}:a/1" in frames:
                break
        t.equal(frames, [f"{module}:{f}/1" for f in "dcba"], "names")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.clean(node)


# Each function has calls on several lines; what the VM itself says of the same stack is in `seen`, without its first frame.
LINES = """-module(rows). -export([run/0, here/1, a/1, id/1]).
run() ->
    A = a(1),
    B = (fun(X) ->
            {x, a(X)}
        end)(2),
    C = [begin
             a(Y)
         end || Y <- [3]],
    D = lists:map(fun(Z) ->
                      [a(Z)] end, [4]),
    E = try
            {e, a(5)}
        catch
            _:_ -> no
        end,
    F = maps:fold(fun(K, V, Acc) ->
        {K, V, Acc, a(6)} end, 0, #{k => v}),
    G = {included(7), bare(8)},
    {A, B, C, D, E, F, G}.
a(X) when X > 3 ->
    R = here(X),
    {r, R};
a(X) ->
    id(X), {s, here(
       X)}.
here(X) -> {current_stacktrace, [_ | S]} = process_info(self(), current_stacktrace), ets:insert(seen, {X, S}), X.
id(X) -> X.
-file("include/rows.hrl", 70).
included(X) ->
    id(X),
    {i, a(X)}.
-file("src/a dir/\xe9\u20ac.erl", 1000).
bare(X) ->
    {i,

     a(X)}.
"""


def told(node):
    """What the VM says of each stack: [frame]."""
    return [tuple(frame.encode("latin-1").decode() for frame in stack) for stack in node("""[[iolist_to_binary([io_lib:format("~w:~w/~w", [M, F, A]),
        case L of [{file, File}, {line, Line}] -> [" (", unicode:characters_to_binary(File), ":", integer_to_list(Line), ")"]; _ -> [] end])
        || {M, F, A, L} <- S] || {_, S} <- lists:sort(ets:tab2list(seen))]""")]


def shown_and_told(t, node, worker, work="rows:run()"):
    shown = of(t, node, "erlang*:rows:here/1:entry { @[ustack(8)] = count(); }", as_worker(worker, work), lines=True)
    return sorted(s[1:8] for s in shown), sorted(told(node)), shown


@again
def test_lines_are_those_of_the_vm(t):
    """File and line of each frame are what the VM shows in stack traces: funs, comprehensions, the library, included files, names that are not ASCII."""
    node = t.node()
    load(node, LINES)
    worker = node("etw:worker()")
    node("etw:table(seen)")
    shown, vm, whole = shown_and_told(t, node, worker)
    t.equal(len(vm), 8, "stacks of the VM")
    t.equal(shown, vm, "frames with lines")
    t.true(all(s[0].endswith("here/1 (rows.erl:27)") for s in whole), f"the probe's own frame is the head of its function: {whole}")
    for text in ("(include/rows.hrl:32)", "(src/a dir/\xe9\u20ac.erl:37)", "lists:map/2 (lists.erl:", "(rows.erl:25)"):
        t.true(any(text in f for s in shown for f in s), f"{text} in {shown}")


@again
def test_lines_of_loaded_code(t):
    """Lines follow the code: after it is loaded again with other lines, and after the old code is purged; code without lines has none."""
    node = t.node()
    load(node, LINES)
    worker = node("etw:worker()")
    node("etw:table(seen)")
    for extra in ("\n" * n for n in (3, 7, 0, 5, 1, 3, 0, 2)):
        load(node, LINES.replace("run() ->", extra + "run() ->"))
        node("code:purge(rows)")
        shown, vm, _ = shown_and_told(t, node, worker)
        t.equal(shown, vm, f"frames with lines, {len(extra)} lines later")


SAME = """-module(alike). -export([line/0, lines/0, leaf/0]).
line() -> {leaf(), leaf()}.
lines() ->
    A = leaf(),
    B = leaf(), {A, B}.
leaf() -> ok.
"""


def rows(t, node, work, *args, script="erlang*:alike:leaf/0:entry { @[ustack(2)] = count(); }"):
    """The rows of an aggregation by stack as they are printed."""
    trace = worked(t, node, script, work, *args)
    return [w.strip() for w in trace.out.lines if w.strip() and w.strip() != "ready"]


@again
def test_stacks_that_look_alike_are_one(t):
    """Keys are merged by what is shown of their stacks: two calls in one line, calls in one function if wanted, code that was loaded again."""
    node = t.node()
    load(node, SAME)
    worker = node("etw:worker()")
    leaf = "alike:leaf/0 (alike.erl:6)"
    line, lines = as_worker(worker, "alike:line()"), as_worker(worker, "alike:lines()")
    t.equal(rows(t, node, line), [leaf, "alike:line/0 (alike.erl:2)", "2"], "one line")
    t.equal(rows(t, node, lines), [leaf, "alike:lines/0 (alike.erl:4)", "1", leaf, "alike:lines/0 (alike.erl:5)", "1"], "two lines")
    t.equal(rows(t, node, lines, "-x", "stackkey=function"), ["alike:leaf/0", "alike:lines/0", "2"], "one function")
    t.equal(rows(t, node, lines, "-x", "stackform=folded"), ["alike:lines/0;alike:leaf/0 2"], "folded")
    t.equal(rows(t, node, lines, "-x", "stackkey=function", script="erlang*:alike:leaf/0:entry { @[ustack(2), 1] = quantize(7); }")[:2],
            ["alike:leaf/0", "alike:lines/0"], "beside another key")


CALLED = """-module(called). -export([plain/0, tail/0, outer/0, leaf/1]).
plain() -> {leaf(p)}.
outer() -> {tail()}.
tail() -> leaf(t).
leaf(X) -> self() ! {called, X}, receive {called, X} -> ok end.
"""


@again
def test_callers(t):
    """erlcaller is the function that the call returns to, in keys and predicates, at entry, return and sends."""
    node = t.node()
    load(node, CALLED)
    worker = node("etw:worker()")
    work = as_worker(worker, "called:plain(), called:outer()")
    both = ["called:outer/0 1", "called:plain/0 1"]
    for script in ("erlang*:called:leaf/1:entry { @[erlcaller] = count(); }", "erlang*:called:leaf/1:return { @[erlcaller] = count(); }",
                   'message-send /term_string(term_element(message, 1)) == "called"/ { @[erlcaller] = count(); }'):
        t.equal(sorted(" ".join(r.split()) for r in rows(t, node, work, script=script)), both, script)
    t.equal([r.split() for r in rows(t, node, work, script='erlang*:called:leaf/1:entry /erlcaller == "called:plain/0"/ { @[erlfunc] = count(); }')],
            [["called:leaf/1", "1"]], "a predicate")
    t.equal([r.split() for r in rows(t, node, work, script='BEGIN { printf("<%s>\\n", erlcaller); }')], [["<>"]], "no process")


@again
def test_stacks_in_json(t):
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    trace = t.trace("--json", "-n", READY + "erlang*:pile:d/1:entry { ustack(2); trace(argv[0]); @[erlname, argv, ustack(2)] = count(); }", node=node)
    trace.ready()
    node(f"catch unregister(pile_worker), register(pile_worker, {pid(worker)})")
    node(as_worker(worker, "pile:a({x, <<\"y\">>})"))
    trace.wait("pile:d/1")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = [row for row in json_lines(trace.out.text()) if "pile:d/1" in json.dumps(row)]
    term = '{x,<<"y">>}'
    texts = ["pile:d/1 (pile.erl:5)", "pile:c/1 (pile.erl:4)"]
    frames = [{"function": f"pile:{f}/1", "file": "pile.erl", "line": line} for f, line in (("d", 5), ("c", 4))]
    t.equal([d["frames"] for row in found if row["type"] == "record" for d in row["data"] if "frames" in d], [frames], "frames")
    t.equal([row["frames"] for row in found if row["type"] == "aggregation"], [[None, None, frames]], "frames of keys")
    t.equal([[d["value"] for d in row["data"]] for row in found if row["type"] == "record"], [[texts, term]], "records")
    t.equal([row["keys"] for row in found if row["type"] == "aggregation"], [["pile_worker", f"[{term}]", texts]], "keys")


# A module of some megabytes of compiled code, which is loaded under several names of one length.
WIDE = """
-module(wide_maker).
-export([make/0, load/1, drop/1, small/1]).
make() ->
    Clause = fun(J, I) -> ["{", integer_to_list(J), ", Y} -> {Y, ", integer_to_list(J * I), ", g(Y) + ", integer_to_list(J), "}; "] end,
    F = fun(I) -> ["f", integer_to_list(I), "(X) -> case X of ", [Clause(J, I) || J <- lists:seq(1, 60)], "_ -> wide_maker:module_info(module), X end.\\n"] end,
    Text = lists:flatten(["-module(wide_00). -compile(export_all). g(X) -> X.\\n", [F(I) || I <- lists:seq(1, 300)]]),
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, _, Beam} = compile:forms(forms(Tokens, [], []), [nowarn_export_all, no_copt, no_bool_opts, no_type_opt, no_ssa_opt]),
    persistent_term:put(wide, Beam).
forms([], [], Acc) -> lists:reverse(Acc);
forms([{dot, _} = D | Ts], Form, Acc) -> {ok, F} = erl_parse:parse_form(lists:reverse([D | Form])), forms(Ts, [], [F | Acc]);
forms([T | Ts], Form, Acc) -> forms(Ts, [T | Form], Acc).
name(I) -> lists:flatten(io_lib:format("wide_~2..0b", [I])).
load(I) -> M = list_to_atom(name(I)), {module, M} = code:load_binary(M, "", binary:replace(persistent_term:get(wide), <<"wide_00">>, list_to_binary(name(I)), [global])), M.
drop(I) -> M = list_to_atom(name(I)), code:delete(M), code:purge(M).
small(I) ->
    M = list_to_atom(name(I)),
    {ok, _, B} = compile:forms([{attribute, 1, module, M}, {attribute, 1, export, [{f1, 1}]}, {function, 1, f1, 1, [{clause, 1, [{var, 1, 'X'}], [],
        [{op, 1, '+', {integer, 1, 1}, {call, 1, {remote, 1, {atom, 1, erlang}, {atom, 1, hd}}, [{cons, 1, {var, 1, 'X'}, {nil, 1}}]}}]}]}]),
    {module, M} = code:load_binary(M, "", B), M.
"""


def mappings(node):
    """Where the VM keeps compiled code."""
    with open(f"/proc/{node.pid}/maps", encoding="utf-8", errors="replace") as f:
        return [line.split()[0] for line in f if " r-xs " in line and "memfd:vmem" in line]


def views(node):
    """Other mappings of that."""
    with open(f"/proc/{node.pid}/maps", encoding="utf-8", errors="replace") as f:
        return [line.split()[0] for line in f if " r--s " in line and "memfd:vmem" in line]


def test_code_whose_memory_is_gone(t):
    """The VM gives memory of code back to the system while functions that were there are traced and sampled; code in memory that the VM takes
    later has names, too."""
    t.needs_proc()
    node = t.node(fresh=True)
    agent = t.trace("-q", "-n", READY, node=node) # its code is there before, and stays
    agent.ready()
    load(node, WIDE)
    node("wide_maker:make()", patience=120)
    there, n, first = mappings(node), 0, [] # the modules with which memory was taken
    while len(first) < 2:
        n += 1
        node(f"wide_maker:load({n})", patience=60)
        if mappings(node) != there:
            there = mappings(node)
            first.append(n)
    worker = node("etw:worker()")
    call = "try {}:f1(1) after timer:sleep(25) end"
    script = READY + "erlang*:wide_*:f1/1:entry { @[ustack(1)] = count(); @c[erlcaller] = count(); } profile-499 { @p[ustack(3)] = count(); }"
    trace = t.trace("-q", "-Z", "-n", script, node=node)
    trace.ready()
    for i in first:
        node(as_worker(worker, call.format(f"wide_{i:02}")))
    before = mappings(node)
    for i in range(n, 0, -1):
        node(f"wide_maker:drop({i})")
    if len(mappings(node)) == len(before):
        raise Skipped(f"this VM has kept its memory of code: {before}")
    for i in first:
        node(f"wide_maker:small({i})")
        for _ in range(20):
            node(as_worker(worker, call.format(f"wide_{i:02}")))
    t.true(node.alive(), "the node lives")
    # Code in memory that the VM did not have when the trace began.
    while set(mappings(node)) <= set(before):
        n += 1
        node(f"wide_maker:load({n})", patience=60)
    t.true(n < 100, "names have two digits")
    for _ in range(200):
        node(as_worker(worker, call.format(f"wide_{n:02}")))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = piles(trace.out.text())
    t.true({(f"wide_{i:02}:f1/1",) for i in (*first, n)} <= set(found), f"the functions are named: {found}", trace)
    agent.interrupt()
    t.equal(agent.end(), 0, "exit status", agent)
    t.clean(node)
    t.equal(views(node), [], "our views of memory of code")
