"""What is known of a call at its end: argv and elapsed at return and exception.

What a function was called with is a copy, which the agent takes at the call. Its text is compared with the one at entry, or with what the
workload did."""
import re

from erlt import READY
from test_functions import as_worker, counted, load, worked

MODULE = """-module(etk).
-export([f/1, g/2, none/0, sum/1, down/2, tail/2, last/2, thrower/2, caught/1, dies/1, waits/2, late/1, begins/2, begun/1, each_dies/1, sleeps/1, woken/1, outer/1, inner/1, random/2, args/3]).
f(X) -> {was, X}.
g(X, Y) -> Z = f(X), {Z, Y}.
none() -> ok.
sum([]) -> 0;
sum([H | T]) -> S = sum(T), _ = erlang:garbage_collect(), H + S.
down(0, _) -> 0;
down(N, X) -> 1 + down(N - 1, X).
tail(X, Y) -> last(Y, X).
last(X, Y) -> _ = erlang:garbage_collect(), {X, Y}.
thrower(0, X) -> throw({thrown, X});
thrower(N, X) -> [N | thrower(N - 1, X)].
caught(N) -> try thrower(N, {with, N}) catch throw:R -> R end.
dies(X) -> exit({died, X}).
each_dies(N) -> [begin {P, R} = spawn_monitor(etk, dies, [I]), receive {'DOWN', R, process, P, _} -> ok end end || I <- lists:seq(1, N)], ok.
waits(X, Ms) -> receive never -> X after Ms -> X end.
begins(Name, X) -> register(Name, spawn(etk, begun, [X])), ok.
begun(X) -> receive {begin_, From} -> From ! {at, late}, late(X) end.
late(X) -> receive {go, From} -> From ! {went, X} end.
sleeps(X) -> erlang:hibernate(etk, woken, [X]).
woken(X) -> receive {again, 0, From} -> From ! {done, X};
                    {again, N, From} -> From ! {slept, f({N})}, sleeps(N) end.
outer(X) -> Y = inner(X + 1), Y - 1.
inner(X) -> waits(X, 20), X.
args(A, B, C) -> _ = [lists:seq(1, 50) || _ <- lists:seq(1, 20)], _ = erlang:garbage_collect(), {A, B, C}.
random(0, _) -> ok;
random(N, S0) ->
    {A, S1} = small(S0), {B, S2} = small(S1), {C, S3} = small(S2),
    _ = args(A, B, C), random(N - 1, S3).
small(S0) -> {A, S} = term(4, S0), case erts_debug:flat_size(A) =< 60 of true -> {A, S}; false -> small(S) end.
pick(N, S) -> rand:uniform_s(N, S).
term(0, S) -> leaf(S);
term(D, S0) ->
    {K, S} = pick(12, S0),
    case K of
        1 -> some(D, 4, S);
        2 -> {L, S1} = some(D, 4, S), {list_to_tuple(L), S1};
        3 -> {L, S1} = some(D, 3, S), {M, S2} = some(D, 3, S1), {maps:from_list(lists:zip(lists:sublist(L, min(length(L), length(M))), lists:sublist(M, min(length(L), length(M))))), S2};
        4 -> {A, S1} = term(D - 1, S), {B, S2} = term(D - 1, S1), {[A | B], S2};
        5 -> {A, S1} = term(D - 1, S), {#{key => A, "list" => 1, <<"bin">> => [A]}, S1};
        6 -> {A, S1} = term(D - 1, S), {[{name, A}, {<<"x">>, 1.5}], S1};
        _ -> leaf(S)
    end.
some(D, Most, S0) ->
    {N, S} = pick(Most, S0),
    lists:mapfoldl(fun(_, A) -> term(D - 1, A) end, S, lists:seq(1, N)).
leaf(S0) ->
    {K, S} = pick(24, S0),
    {V, S1} = pick(1 bsl 58, S),
    {case K of
         1 -> V; 2 -> -V; 3 -> V bsl 3; 4 -> V bsl 6; 5 -> -(V bsl 70); 6 -> V bsl 120; 7 -> V / 7; 8 -> -0.0; 9 -> atom;
         10 -> 'an atom \\n'; 11 -> []; 12 -> {}; 13 -> #{}; 14 -> <<>>; 15 -> <<"text", (V rem 100):8>>; 16 -> binary:copy(<<"0123456789">>, 1 + V rem 30);
         17 -> <<V:61>>; 18 -> "characters"; 19 -> self(); 20 -> make_ref(); 21 -> fun lists:map/2; 22 -> fun() -> V end;
         23 -> maps:from_list([{I, I} || I <- lists:seq(1, 40)]); 24 -> hd(erlang:ports())
     end, S1}.
"""

OTHER = MODULE.replace("f(X) -> {was, X}.", "f(X) -> {is, X}.")


def made(t):
    node = t.node()
    load(node, MODULE)
    return node, node("etw:worker()")


def lines(t, node, script, work, *args, drops=False):
    """What a script prints during a piece of work."""
    trace = worked(t, node, script, work, *args)
    if not drops:
        t.true("drop" not in trace.err.text() and "not kept" not in trace.err.text(), "nothing was dropped", trace)
    said = [line for line in trace.out.text().splitlines() if line and line != "ready"]
    return (said, trace.err.text()) if drops else said


def test_arguments(t):
    """Of no, one and two arguments, beside a value and alone, and element by element."""
    node, worker = made(t)
    work = as_worker(worker, "[etk:g(I rem 2, [I rem 3, {x, <<\"y\">>}]) || I <- lists:seq(1, 60)], etk:f({a, 1}), etk:none()")
    found = counted(t, node, """erlang*:etk:g/2:return { @[probefunc, term_text(argv), term_size(argv[2])] = count(); }
        erlang*:etk:f/1:return /is_tuple(argv[0])/ { @[probefunc, term_text(element(1, argv[0])), term_int(element(2, argv[0]))] = count(); }
        erlang*:etk:f/1:return /argv[0] == 1/ { @[probefunc, term_text(retval), term_int(hd(argv))] = count(); }
        erlang*:etk:none/0:return { @[probefunc, term_text(argv), length(argv)] = count(); }""", work)
    t.equal(found, {**{("g/2", f'[{a},[{b},{{x,<<"y">>}}]]', "0"): 10 for a in (0, 1) for b in (0, 1, 2)}, ("f/1", "a", "1"): 1,
                    ("f/1", "{was,1}", "1"): 30, ("none/0", "[]", "0"): 1}, "arguments")


def test_recursion_and_tail_calls(t):
    """Each call of a recursion has its own arguments, also after collections; so has each of a chain of tail calls."""
    node, worker = made(t)
    said = lines(t, node, 'erlang*:etk:sum/1:return, erlang*:etk:tail/2:return, erlang*:etk:last/2:return { printf("%s %T %T\\n", probefunc, argv, retval); }',
                 as_worker(worker, "etk:sum([{1}, {2}, 3] -- [{1}, {2}]), etk:sum([1000, 2000, 4000]), etk:tail({t}, <<\"two\">>)"))
    t.equal(said, ["sum/1 [[]] 0", "sum/1 [[3]] 3", "sum/1 [[]] 0", "sum/1 [[4000]] 4000", "sum/1 [[2000,4000]] 6000", "sum/1 [[1000,2000,4000]] 7000",
                   'last/2 [<<"two">>,{t}] {<<"two">>,{t}}', 'tail/2 [{t},<<"two">>] {<<"two">>,{t}}'], "in the order of the returns")


def test_exceptions(t):
    """Of every function that an exception leaves; the function that catches it returns with its own."""
    node, worker = made(t)
    said = lines(t, node, """erlang*:etk:thrower/2:exception { printf("%s %T %T\\n", class, argv, reason); }
        erlang*:etk:caught/1:return { printf("returns %T %T\\n", argv, retval); }""", as_worker(worker, "etk:caught(2)"))
    t.equal(said, ["throw [0,{with,2}] {thrown,{with,2}}", "throw [1,{with,2}] {thrown,{with,2}}", "throw [2,{with,2}] {thrown,{with,2}}",
                   "returns [2] {thrown,{with,2}}"], "exceptions")
    said = lines(t, node, 'erlang*:etk:dies/1:return, erlang*:etk:f/1:return { printf("%T\\n", argv); }', ["etk:each_dies(499)", as_worker(worker, "etk:f(alive)")])
    t.equal(said, ["[alive]"], "beside processes that died in a call")


def test_texts_at_return_are_those_at_entry(t):
    """Random terms of every kind: the copy has the same text as what the function was called with, as Erlang and as Elixir write it."""
    node, worker = made(t)
    calls = 499
    said = lines(t, node, """erlang*:etk:args/3:entry { self->n++; printf("%d %T %T %T %#T\\n", self->n, argv, argv[0], argv[1], argv); }
        erlang*:etk:args/3:return { printf("%d %T %T %T %#T\\n", self->n, argv, argv[0], argv[1], argv); }
        erlang*:etk:args/3:entry { printf("%d words %d hash %d %s %d\\n", self->n, term_words(argv), term_hash(argv), term_kind(argv[2]), term_size(argv[0])); }
        erlang*:etk:args/3:return { printf("%d words %d hash %d %s %d\\n", self->n, term_words(argv), term_hash(argv), term_kind(argv[2]), term_size(argv[0])); }""",
                 as_worker(worker, f"etk:random({calls}, rand:seed_s(exsss, {{1, 2, 3}}))"), "-x", "argsize=4k", "-x", "strsize=1k", "-x", "bufsize=32m", "-x", "eventbudget=16m")
    t.equal(len(said), 4 * calls, "lines")
    wrong = [(a, b) for i in range(0, len(said), 4) for a, b in ((said[i], said[i + 2]), (said[i + 1], said[i + 3])) if a != b]
    for a, b in wrong:
        i = next(i for i in range(len(a)) if a[:i + 1] != b[:i + 1])
        t.equal(b[max(0, i - 40):i + 60], a[max(0, i - 40):i + 60], f"the copy's text from character {i} on")


def test_compared_with_results(t):
    """A copy equals a term of the process, part by part; a large map and a fun only if they are the same in memory."""
    node, worker = made(t)
    found = counted(t, node, """erlang*:etk:f/1:return { this->same = argv[0] == element(2, retval); this->hash = term_hash(argv[0]) == term_hash(element(2, retval));
        @[term_kind(argv[0]), this->same, this->hash] = count(); }""",
                    as_worker(worker, "[etk:f(X) || X <- [a, 1, 1 bsl 80, 2.5, <<\"bin\">>, binary:copy(<<1>>, 1000), [1, {2}], {x, \"text\"}, #{k => [1]}, self(), make_ref(), fun() -> 1 end]]"))
    kinds = ["atom", "binary", "float", "list", "map", "pid", "reference", "tuple"]
    expected = {(kind, "1", "1"): 2 if kind == "binary" else 1 for kind in kinds}
    t.equal(found, {**expected, ("integer", "1", "1"): 2, ("fun", "0", "1"): 1}, "comparisons")


def test_large_arguments_are_cut(t):
    """Within argsize; the others are whole, and the size of a binary is that of the binary."""
    node, worker = made(t)
    said = lines(t, node, """erlang*:etk:args/3:return { printf("%T|%d|%T|%d %d %d\\n", argv[0], length(argv[0]), argv[1], byte_size(argv[2]), term_size(argv[1]), argv[2] == argv[2]); }""",
                 as_worker(worker, "etk:args(lists:seq(1, 1000), {whole, [1, 2]}, binary:copy(<<\"a\">>, 100000))"), "-x", "argsize=512", "-x", "strsize=100")
    t.equal(len(said), 1, f"lines: {said}")
    first, length, second, rest = said[0].split("|")
    t.true(re.fullmatch(r"\[1,2,3(,\d+)*,\.\.\.", first) and len(first) < 100, f"a list that is cut: {first}")
    t.equal((length, second, rest), ("-1", "{whole,[1,2]}", "100000 2 1"), "the rest")


def test_deep_recursion(t):
    """Of more calls than a process keeps the oldest are not known: argv is no term, elapsed -1, and they are counted."""
    node, worker = made(t)
    found, said = lines(t, node, 'erlang*:etk:down/2:return { printf("%T %d\\n", argv, elapsed > 0); }', as_worker(worker, "etk:down(99, {x})"), drops=True)
    t.equal(found[:64], [f"[{n},{{x}}] 1" for n in range(64)], "the innermost")
    t.equal(found[64:], [" 0"] * 36, "the others")
    t.match(said, r"36 calls whose beginning was not kept")


def test_elapsed(t):
    """From the call to the end of it: at least what it waited, and an outer call at least as long as the inner one."""
    node, worker = made(t)
    said = lines(t, node, """erlang*:etk:inner/1:return, erlang*:etk:outer/1:return { printf("%s %d\\n", probefunc, elapsed); }
        erlang*:etk:outer/1:entry { printf("entry %d\\n", elapsed); }
        erlang*:etk:thrower/2:exception { printf("thrown %d %d\\n", elapsed > 0, elapsed == elapsed); }
        erlang*:etk:f/1:return { printf("f %d\\n", elapsed > 0); }
        dtrace:::END { printf("end %d\\n", elapsed); }""", as_worker(worker, "etk:outer(1), etk:caught(0), etk:f(1)"))
    names = [line.split()[0] for line in said]
    t.equal(names, ["entry", "inner/1", "outer/1", "thrown", "f", "end"], "events")
    inner, outer = (int(line.split()[1]) for line in said[1:3])
    t.true(20_000_000 <= inner <= outer, f"inner {inner}, outer {outer}")
    t.equal([said[0], *said[3:]], ["entry -1", "thrown 1 1", "f 1", "end -1"], "others")


def test_one_clause(t):
    """Arguments of the calls that took more than ten milliseconds."""
    node, worker = made(t)
    said = lines(t, node, 'erlang*:etk:waits/2:return /elapsed > 10000000/ { printf("%T %T\\n", argv, retval); }',
                 as_worker(worker, "etk:waits({fast}, 0), etk:waits({slow, [1]}, 30)"))
    t.true("[{slow,[1]},30] {slow,[1]}" in said, f"the slow call: {said}")


def test_in_flight_and_asleep(t):
    """A call made before the trace has no return; one that hibernated leaves nothing that another is taken for."""
    node, worker = made(t)
    node("register(etk_late, spawn(etk, late, [early])), ok")
    node("register(etk_sleeper, spawn(etk, sleeps, [first])), ok")
    again = "[begin etk_sleeper ! {again, N, self()}, receive {slept, _} -> ok end end || N <- lists:seq(1, 100)], etk_sleeper ! {again, 0, self()}, receive {done, _} -> ok end"
    said = lines(t, node, 'erlang*:etk:late/1:return, erlang*:etk:f/1:return, erlang*:etk:sleeps/1:return { printf("%s %T\\n", probefunc, argv); }',
                 ["etk_late ! {go, self()}, receive {went, early} -> ok end", again, as_worker(worker, "etk:f(x)")])
    t.equal(sorted(said), sorted([f"f/1 [{{{n}}}]" for n in range(1, 101)] + ["f/1 [x]"]), "returns")


def test_reloaded(t):
    """Code that is loaded while a call is under way: that call and later ones have their arguments."""
    node, worker = made(t)
    node("etk:begins(etk_old, old)")
    trace = t.trace("-q", "-n", READY + 'erlang*:etk:late/1:return, erlang*:etk:f/1:return { printf("%s %T %T\\n", probefunc, argv, retval); }', node=node)
    trace.ready()
    node("etk_old ! {begin_, self()}, receive {at, _} -> ok end")
    load(node, OTHER)
    node("etk_old ! {go, self()}, receive {went, old} -> ok end")
    trace.wait(r"late/1 \[old\] \{went,old\}")
    node(as_worker(worker, "etk:f(1)"))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_beside_another_trace(t):
    """A trace that begins and ends leaves what another one keeps alone."""
    node, worker = made(t)
    node("etk:begins(etk_long, {long})")
    trace = t.trace("-q", "-n", READY + 'erlang*:etk:late/1:return { printf("%T\\n", argv); }', node=node)
    trace.ready()
    node("etk_long ! {begin_, self()}, receive {at, _} -> ok end")
    t.equal(lines(t, node, 'erlang*:etk:f/1:return { printf("%T\\n", argv); }', as_worker(worker, "etk:f(beside)")), ["[beside]"], "the other")
    node("etk_long ! {go, self()}, receive {went, _} -> ok end")
    trace.wait(r"\[\{long\}\]")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.clean(node)


def test_secrets(t):
    """What a program may not see at entry it does not see at return."""
    node, worker = made(t)
    said = lines(t, node, 'erlang*:etk:f/1:return { printf("%T %T %T\\n", argv, map_get("password", argv[0]), map_get("user", argv[0])); }',
                 as_worker(worker, "etk:f(#{password => \"hunter2\", user => joe}), etk:f([{\"password\", hunter2}, {<<\"password\">>, hunter2}, {password, {hunter2}}])"),
                 "-x", "redact=*pass*")
    t.equal(len(said), 2, f"lines: {said}")
    t.true("hunter2" not in " ".join(said) and said[0].count("[redacted]") == 2 and said[1].count("[redacted]") == 3, f"redacted: {said}")
    t.true(said[0].endswith(" joe"), f"the rest: {said[0]}")
    said = lines(t, node, 'erlang*:etk:f/1:return { printf("%T\\n", argv); }', as_worker(worker, "etk:f({lists:duplicate(120, $k) ++ \"password\", 17})"),
                 "-x", "redact=*pass*", "-x", "argsize=512", "-x", "strsize=1k")
    t.true("17" not in said[0], f"the value of a key that was cut: {said}")
    trace = t.trace("-q", "-x", "terms=off", "-n", 'erlang*:etk:f/1:return { printf("%T", argv); }', node=node)
    t.equal(trace.end(), 1, "exit status", trace)
    t.match(trace.err.text(), "terms are hidden|D_TERMS_OFF|terms=off")
