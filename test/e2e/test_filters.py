"""Filters: calls that the VM leaves out itself, for what the predicates ask of their arguments. Answers and errors are those of a trace without them."""
import random

import choice
from erlt import READY, json_lines, pid
from test_functions import as_worker, load

CALLS = 24  # functions, each with a predicate of its own
ROUNDS = 12
BEGIN = "dtrace:::BEGIN { seen = (int64_t)0; self->seen = (int64_t)0; } "
ERRORS = "dtrace:::ERROR { @errors[arg1, arg4] = count(); }\n"

# Every kind of term, and the edges of what D and Erlang count and compare differently.
TERMS = """[get, put, '', 'two words', true, false, -1, 0, 1, 2, 97, 100, 101, 1 bsl 62, (1 bsl 63) - 1, 1 bsl 63, -(1 bsl 63), -(1 bsl 63) - 1, 1 bsl 200,
    -(1 bsl 200), 1.0, 0.0, -0.5, 100.0, <<>>, <<"get">>, <<"foo">>, <<0>>, <<"\\\\0">>, <<5:3>>, <<"ge", 3:2>>, [], "get", [1], [get], [get | put], [$g, <<"et">>], [["g"], [], "et"],
    [[] | <<"get">>], lists:seq(1, 40), {}, {get}, {get, foo}, {1, 2, 3}, {get, {100, [get]}, #{a => 1}}, #{}, #{a => get}, #{1 => get, a => 100}, #{1.0 => get, "a" => 1},
    maps:from_list([{I, get} || I <- lists:seq(1, 40)]), self(), make_ref(), fun lists:map/2, fun() -> ok end, hd(erlang:ports()), [{a, 1}], {a, 1}, [<<"foo">>, 100], [[get], 1]]"""
MODULE = ("-module(etfi). -export([run/2, " + ", ".join(f"p{i}/3" for i in range(CALLS)) + "]).\n" +
          "\n".join(f"p{i}(A, B, C) -> {{A, B, C}}." for i in range(CALLS)) +
          "\nrun(Seed, N) -> rand:seed(exsss, {Seed, 2, 3}), All = list_to_tuple(terms()), run1(All, N).\n"
          "run1(_, 0) -> ok;\nrun1(All, N) -> A = one(All), B = one(All), C = one(All), "
          + ", ".join(f"p{i}(A, B, C)" for i in range(CALLS)) + ", run1(All, N - 1).\n"
          "one(All) -> element(rand:uniform(tuple_size(All)), All).\n"
          "terms() -> " + TERMS.replace("\n", " ") + ".\n")


def term(r, depth=0):
    kind = r.randrange(9 if depth < 3 else 4)
    if kind < 5:
        return f"argv[{r.choice((0, 0, 0, 1, 1, 2, 3))}]"
    inner = term(r, depth + 1)
    return (f"element({r.randrange(1, 4)}, {inner})", f"hd({inner})", f"tl({inner})", f'map_get({r.choice(("1", "atom(" + chr(34) + "a" + chr(34) + ")"))}, {inner})')[kind - 5]


def question(r):
    t = term(r)
    number = r.choice((-9223372036854775807, -1, 0, 0, 1, 1, 2, 3, 97, 100, 4611686018427387904, 9223372036854775807))
    text = r.choice(("get", "get", "foo", "two words", "nosuchatom", "\\\\0", ""))
    kind = r.randrange(14)
    if kind < 3:
        return f"{r.choice(KINDS)}({t})"
    if kind < 5:
        return f'{t} {r.choice(("==", "!="))} atom("{r.choice(("get", "put", "true", "two words", "foo"))}")'
    if kind < 8:
        what = r.choice(("term_int", "term_int", "tuple_size", "map_size", "byte_size", "length", "term_size"))
        sides = [f"{what}({t})", f"(int64_t){number}"]
        if r.random() < 0.3:
            sides.reverse()
        return f'{sides[0]} {r.choice(("<", "<=", "==", "!=", ">=", ">"))} {sides[1]}'
    return (f'{t} {r.choice(("==", "!="))} "{text}"', f'{t} {r.choice(("==", "!="))} {number}', f'{t} {r.choice(("==", "!="))} {r.choice(("NULL", term(r)))}',
            f"1000 / term_int({t}) > 3", r.choice((f"!!{t}", "seen", "self->seen", "timestamp == 0", 'probefunc != "p1/3"', "erlname == NULL")),
            f'term_string({t}) == "{text}"')[kind - 8]


KINDS = ("is_atom", "is_binary", "is_bitstring", "is_boolean", "is_float", "is_function", "is_integer", "is_list", "is_map", "is_number", "is_pid", "is_port",
         "is_reference", "is_tuple")


def predicate(r, depth=0):
    kind = r.randrange(8) if depth < 3 else 0
    if kind < 3 and depth > 0 or depth == 3:
        return question(r)
    a, b = predicate(r, depth + 1), predicate(r, depth + 1)
    if kind == 7:
        return f"(({a}) ? ({b}) : ({predicate(r, depth + 1)}))"
    return (f"(({a}) && ({b}))", f"(({a}) || ({b}))", f"!({a})", f"(({a}) && !({b}))", f"(({a}) ^^ ({b}))")[r.choice((0, 0, 0, 1, 1, 2, 3, 4))]


def answers(t, node, script, filters, work):
    """What a script counts, {key: count}, by clause and by fault; and how many events it saw."""
    trace = t.trace("--json", "-v", "-x", f"filters={filters}", "-n", READY + BEGIN + ERRORS + script, node=node)
    trace.ready()
    node(work)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    lines = json_lines(trace.out.text())
    found = {(*o["keys"], *([] if o["name"] == "@" else [o["name"]])): o["value"] for o in lines if o["type"] == "aggregation"}
    placed, = [o for o in lines if o["type"] == "enabled"]
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)
    return found, placed["filtered"]


def same_answers(t, scripts, rounds):
    """A script whose clauses are on functions of their own, and then on one, with and without filters."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    filtered = 0
    for i in range(rounds):
        script = scripts(i)
        work = as_worker(worker, f"etfi:run({i}, 150)")
        plain, none = answers(t, node, script, "off", work)
        t.equal(none, 0, "no filters")
        found, some = answers(t, node, script, "on", work)
        t.equal(found, plain, f"answers of {script}")
        filtered += some
    return filtered


def clause(i, where, text):
    return f'erlang*:etfi:p{where}/3:entry /{text}/ {{ @[{i}] = count(); self->seen = seen = term_int(argv[0]); }}\n'




def test_random_predicates(t):
    """Random predicates over random terms: each on a function of its own, so that each is a filter by itself."""
    seed = choice.seed("e2e/filters")

    def script(i):
        r = random.Random(seed + i)
        return "".join(clause(k, k, predicate(r)) for k in range(CALLS))
    filtered = same_answers(t, script, ROUNDS)
    t.true(filtered > ROUNDS * CALLS // 8, f"functions that were filtered: {filtered} of {ROUNDS * CALLS}")


def test_random_predicates_of_one_function(t):
    """The same with several clauses on a function, whose calls are seen if one of them asks for them, and with patterns of whole modules."""
    seed = choice.seed("e2e/filters")

    def script(i):
        r = random.Random(seed + 1000 + i)
        few = [f"({question(r)}) && ({question(r)})" for _ in range(2)]
        return "".join(clause(k, where, p) for k, p in enumerate(few) for where in ("?", "1?"))
    t.true(same_answers(t, script, ROUNDS // 2) > 0, "some functions were filtered")


SHOP = """-module(etsh). -export([go/0, sell/2, sell/3, sum/1]).
sell(What, N) -> {What, N}.
sell(What, N, To) -> {What, N, To}.
sum(L) -> lists:sum(L).
go() -> [begin sell(W, N), sell(W, N, x), sum([W || is_integer(W)]) end || W <- [get, put, put, put, 7], N <- lists:seq(91, 110)], ok.
"""
GET = 'erlang*:etsh:sell/2:entry /argv[0] == atom("get") && term_int(argv[1]) > 100/ { @["get"] = count(); } '


def shop(t):
    node = t.node()
    load(node, SHOP)
    worker = node("etw:worker()")
    return node, as_worker(worker, "etsh:go()")


def test_what_is_said(t):
    """-v says how many functions are filtered, and by what."""
    node, work = shop(t)
    trace = t.trace("-v", "-n", READY + GET, node=node)
    trace.ready()
    node(work)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.err.text(), r"^erltrace: filtered in the VM: 1 of these functions, by what predicates ask of the arguments of a call$")
    t.match(trace.err.text(), r'^erltrace:   -n:2: argv\[0\] == atom\("get"\) && term_int\(argv\[1\]\) > 100$')


def test_nothing_is_asked_for(t):
    """A trace that sees no call because of its predicate says that."""
    node, work = shop(t)
    trace = t.trace("-n", READY + 'erlang*:etsh:sell/2:entry /argv[0] == atom("nobody")/ { @ = count(); }', node=node)
    trace.ready()
    node(work)
    trace.interrupt()
    trace.end()
    t.match(trace.err.text(), "no probe fired in .*\n +hint: no call had arguments for which a predicate is true")


def test_calls_that_are_left_out_count_as_load(t):
    """The VM takes time for them, so a trace that takes too much of a scheduler ends, although its probe never fires."""
    node = t.node()
    load(node, "-module(etl). -export([forever/1, f/1]).\nf(X) -> X.\nforever(X) -> etl:f(X), etl:forever(X).\n")
    trace = t.trace("-q", "-x", "maxload=1", "-n", READY + 'erlang*:etl:f/1:entry /argv[0] == atom("get")/ { @ = count(); }', node=node)
    trace.ready()
    worker = node("spawn(etl, forever, [put])")
    t.equal(trace.end(), 3, "exit status", trace)
    t.match(trace.err.text(), "TRACE_OVERLOAD")
    node(f"exit({pid(worker)}, kill)")
    t.clean(node)


def test_whom_a_filter_concerns(t):
    """A clause that wants all calls, of the same program or of another one, gets all; so does one on returns, and a named probe."""
    node, work = shop(t)
    def filtered(script, expected, count):
        found, some = answers(t, node, script, "on", work)
        t.equal((found, some), (expected, count), script)
    filtered(GET, {("get",): 10}, 1)
    filtered(GET + 'erlang*:etsh:sell/2:entry { @["all"] = count(); }', {("get",): 10, ("all",): 100}, 0)
    filtered(GET + 'erlang*:etsh:sell/2:entry /argv[0] == 7/ { @["seven"] = count(); }', {("get",): 10, ("seven",): 20}, 1)
    filtered(GET + 'erlang*:etsh:sell/2:entry /timestamp != 0/ { @["all"] = count(); }', {("get",): 10, ("all",): 100}, 0)
    filtered(GET + 'erlang*:etsh:sell/2:return { @["back"] = count(); }', {("get",): 10, ("back",): 100}, 0)
    filtered(GET + 'erlang*:etsh:sell/2:return /retval != NULL/ { @["back"] = count(); }', {("get",): 10, ("back",): 100}, 0)
    filtered(GET + 'erlang*:etsh:sell/2:exception { @["no"] = count(); }', {("get",): 10}, 0)
    filtered(GET + 'erlang*:etsh:sell/2:local-function-entry { @["local"] = count(); }', {("get",): 10, ("local",): 100}, 0)
    filtered(GET + 'erlang*:etsh:sell/3:return { @["back"] = count(); }', {("get",): 10, ("back",): 100}, 1)
    found, some = answers(t, node, 'erlang*:etsh::entry /argv[0] == 7/ { @[probefunc] = count(); }', "on", work)
    t.equal(found, {("sell/2",): 20, ("sell/3",): 20}, "a module")
    t.true(some >= 6, f"functions of the module, those that the compiler made included: {some}")
    filtered('erlang*:etsh:sell*:entry /argv[2] == atom("x")/ { @[probefunc] = count(); }', {("sell/3",): 100}, 2)
    filtered('erlang*:etsh:sell*:entry /argv[2] == NULL/ { @[probefunc] = count(); }', {("sell/2",): 100}, 2)


def test_two_programs(t):
    """What one program does not ask for comes as long as another one wants it, and does not change the answer of the first."""
    node, work = shop(t)
    first = t.trace("-q", "-n", READY + GET, node=node)
    first.ready()
    node(work)
    second = t.trace("-q", "-n", READY + 'erlang*:etsh:sell/2:entry { @["all"] = count(); }', node=node)
    second.ready()
    node(work)
    second.interrupt()
    t.equal(second.end(), 0, "exit status", second)
    node(work)
    first.interrupt()
    t.equal(first.end(), 0, "exit status", first)
    t.match(second.out.text(), r"^ +all +100$")
    t.match(first.out.text(), r"^ +get +30$")
    t.clean(node)


def test_hooks(t):
    """The calls of a function that are a named probe's as well."""
    node, work = shop(t)
    node("etw:table(ett_filter)")
    script = """erlang*:ets:insert/2:bif-entry /argv[1] == atom("no") || is_tuple(argv[1]) && element(1, argv[1]) == 3/ { @["entry"] = count(); }
                erlang*:::ets-write /term_string(argv[0]) == "ett_filter"/ { @["write"] = count(); }"""
    found, _ = answers(t, node, script, "on", as_worker(node("etw:worker()"), "[ets:insert(ett_filter, {I, x}) || I <- lists:seq(1, 8)]"))
    t.equal(found, {("entry",): 1, ("write",): 8}, "counts")


def test_code_that_is_loaded_again(t):
    """The new code has the filter, too, and none of its calls is lost."""
    node, work = shop(t)
    trace = t.trace("-q", "-n", READY + GET, node=node)
    trace.ready()
    node(work)
    load(node, SHOP + "other() -> ok.\n")
    node(work)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +get +20$")


def test_values_that_are_hidden(t):
    """With redact= a program sees other values than the VM would compare."""
    node, work = shop(t)
    trace = t.trace("--json", "-v", "-x", "redact=password", "-n", READY + GET, node=node)
    trace.ready()
    node(work)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    lines = json_lines(trace.out.text())
    t.equal([o["filtered"] for o in lines if o["type"] == "enabled"], [0], "filters")
    t.equal([o["value"] for o in lines if o["type"] == "aggregation"], [10], "answer")
