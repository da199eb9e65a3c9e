"""Probes that are calls of certain functions: in programs (dyntrace, erltrace:probe), of ETS, of code loading."""
from erlt import READY, aggregation, pid

LOADS = 13


def bound(node):
    """Returns a worker that stays on one scheduler: records arrive scheduler by scheduler."""
    worker = node("etw:worker()")
    node(f"etw:as({pid(worker)}, fun() -> etw:hop(1) end)")
    return worker


# A worker reloads a module that no process uses, deletes and purges it, N times.
CODE = """etw:as({w}, fun() ->
    {{M, Beam, _}} = code:get_object_code(digraph_utils),
    [begin {{module, M}} = erlang:load_module(M, Beam), true = erlang:delete_module(M), true = erlang:purge_module(M) end
     || _ <- lists:seq(1, {n})],
    byte_size(Beam) end)"""


def lines(trace, first):
    """Returns the lines that begin with this word, without the word."""
    return [line[len(first) + 1:] for line in trace.out.lines if line.startswith(first + " ")]


def test_code(t):
    """Modules are loaded and purged, with their names. The functions behind these probes also have entry, return and exception probes at
    the same time, each of which fires once for each call."""
    node = t.node()
    worker, purger = node("etw:worker()"), node("whereis(erts_code_purger)")
    trace = t.trace("-q", "-n", READY + """
        erlang*:::code-load /copyinstr(arg1) == "digraph_utils"/ { @["load"] = count(); printf("load %s %d\\n", copyinstr(arg0), arg2); }
        erlang*:::code-purge /args[1] == "digraph_utils"/ { @["purge"] = count(); printf("purge %s\\n", args[0]); }
        erlang*:erts_internal:prepare_loading/2:entry { @["entry"] = count(); }
        erlang*:erts_internal:prepare_loading/2:return { @["return"] = count(); }
        erlang*:erts_internal:prepare_loading/2:exception { @["exception"] = count(); }
        erlang*:erts_internal:purge_module/2:entry { @["phase"] = count(); }""", node=node)
    trace.ready()
    size = node(CODE.format(w=pid(worker), n=LOADS))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.equal({k: found.get(k) for k in ("load", "purge", "entry", "return")},
            {"load": LOADS, "purge": LOADS, "entry": LOADS, "return": LOADS}, "counts", trace)
    t.equal(set(lines(trace, "load")), {f"{worker} {size}"}, "who loads, and how much", trace)
    t.equal(set(lines(trace, "purge")), {purger}, "who purges", trace)
    t.true(found.get("exception") is None, "no exception", trace)
    t.true(found["phase"] > LOADS, "a purge is more than one call", trace)


def test_hooks_of_two_programs(t):
    """One program wants the named probe, another the function's returns: each gets what it wants, even if the other starts later or ends
    earlier."""
    node = t.node()
    worker = node("etw:worker()")
    named = READY + 'erlang*:::code-load /args[1] == "digraph_utils"/ { @["load"] = count(); }'
    returns = READY + """erlang*:erts_internal:prepare_loading/2:return { @["return"] = count(); }
        erlang*:erts_internal:prepare_loading/2:entry { @["entry"] = count(); }"""
    first = t.trace("-q", "-n", named, node=node)
    first.ready()
    node(CODE.format(w=pid(worker), n=3))
    second = t.trace("-q", "-n", returns, node=node)
    second.ready()
    node(CODE.format(w=pid(worker), n=5))
    first.interrupt()
    t.equal(first.end(), 0, "exit status", first)
    node(CODE.format(w=pid(worker), n=7))
    third = t.trace("-q", "-n", named, node=node)
    third.ready()
    node(CODE.format(w=pid(worker), n=11))
    second.interrupt()
    t.equal(second.end(), 0, "exit status", second)
    node(CODE.format(w=pid(worker), n=17))
    third.interrupt()
    t.equal(third.end(), 0, "exit status", third)
    t.equal(aggregation(first.out.text()), {"load": 3 + 5}, "first", first)
    t.equal(aggregation(second.out.text()), {"entry": 5 + 7 + 11, "return": 5 + 7 + 11}, "second", second)
    t.equal(aggregation(third.out.text()), {"load": 11 + 17}, "third", third)


def test_dyntrace(t):
    """Each way of calling dyntrace, with every argument as OTP's own probe has it."""
    node = t.node()
    worker = bound(node)
    node("code:ensure_loaded(dyntrace)")  # a trace does not wait long for it to load
    show = 'printf("%s %s %d %d %d %d [%s] [%s] [%s] [%s]\\n", probename, args[0], arg2, arg3, arg4, arg5,' + \
        ", ".join(f'arg{n} ? copyinstr(arg{n}) : "NULL"' for n in (6, 7, 8, 9)) + ");"
    trace = t.trace("-q", "-x", "strsize=1100", "-n", READY + """
        erlang*:::user_trace-i4s4, erlang*:::user_trace-n1, erlang*:::user_trace-n95? { """ + show + """ }
        erlang*:::user_trace-i4s4 /arg1/ { printf("tag %s\\n", args[1]); }
        erlang*:::user_trace-s1 { printf("s1 [%s]\\n", args[0]); }
        erlang*:::user_trace-n* { @[probename] = count(); }""", node=node)
    trace.ready()
    big = 1 << 63
    node(f"""etw:as({pid(worker)}, fun() ->
        dyntrace:p(),
        dyntrace:p(1), dyntrace:p(1, 2), dyntrace:p(-1, 2, 3, 4), dyntrace:p({big - 1}, {-big}, {big}, {-big - 1}),
        dyntrace:p("a"), dyntrace:p(7, "a", <<"b">>, [$c, [<<"d">>, [[], "e"]] | <<"f">>]), dyntrace:p(1, 2, 3, 4, "a", "b", "c", "d"),
        dyntrace:user_trace_i4s4(<<"tag">>, 1.5, atom, [], {{}}, [256], [[[-1]]], {{}}, [$a | $b]),
        dyntrace:user_trace_i4s4(undefined, 0, 0, 0, 0, lists:duplicate(1024, $x), lists:duplicate(1025, $x), <<1:1>>,
                                 lists:foldl(fun(_, L) -> [L] end, "deep", lists:seq(1, 65))),
        dyntrace:pn(1), dyntrace:pn(1, 5, "s"), dyntrace:pn(0), dyntrace:pn(950, 1, 2, 3, 4, "a", "b", "c", "d"), dyntrace:pn(951), dyntrace:pn(-1),
        dyntrace:user_trace_s1("message"), dyntrace:user_trace_s1([<<"mess">>, "age"]),
        catch dyntrace:user_trace_s1(atom), catch dyntrace:user_trace_s1(lists:duplicate(1025, $x)),
        dyntrace:put_tag(<<"mine">>), dyntrace:p(9), dyntrace:spread_tag(true), dyntrace:p(10), dyntrace:restore_tag(dyntrace:get_tag_data()),
        ok end)""")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    none = "[NULL] [NULL] [NULL] [NULL]"
    shown = [line for line in trace.out.lines if line.startswith("user_trace-") and "[" in line]
    t.equal(shown, [f"user_trace-{name} {worker} {rest}" for name, rest in (
        ("i4s4", "0 0 0 0 " + none), ("i4s4", "1 0 0 0 " + none), ("i4s4", "1 2 0 0 " + none), ("i4s4", "-1 2 3 4 " + none),
        ("i4s4", f"{big - 1} {-big} 0 0 " + none),
        ("i4s4", "0 0 0 0 [a] [NULL] [NULL] [NULL]"), ("i4s4", "7 0 0 0 [a] [b] [cdef] [NULL]"), ("i4s4", "1 2 3 4 [a] [b] [c] [d]"),
        ("i4s4", "0 0 0 0 " + none), ("i4s4", f"0 0 0 0 [{'x' * 1024}] [NULL] [NULL] [NULL]"),
        ("n1", "0 0 0 0 " + none), ("n1", "5 0 0 0 [s] [NULL] [NULL] [NULL]"), ("n950", "1 2 3 4 [a] [b] [c] [d]"),
        ("i4s4", "9 0 0 0 " + none), ("i4s4", "10 0 0 0 " + none))], "calls", trace)
    t.equal(lines(trace, "tag"), ["tag"], "tags", trace)
    t.equal(lines(trace, "s1"), ["[message]", "[message]"], "messages", trace)
    t.equal(aggregation(trace.out.text()), {"user_trace-n0": 1, "user_trace-n1": 2, "user_trace-n950": 1}, "labels", trace)


CALLS = 20011


def test_dyntrace_in_a_loop(t):
    """An application calls dyntrace:p in a loop: each call is seen, with its number."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + """erlang*:::user_trace-i4s4 { @n[copyinstr(arg6)] = count(); @s[copyinstr(arg0)] = sum(arg2); }
        erlang*:::user_trace-n7 { @["seven"] = count(); }""", node=node)
    trace.ready()
    node(f"""etw:as({pid(worker)}, fun() -> F = fun G(0) -> ok; G(N) -> dyntrace:p(N, "loop"), dyntrace:pn(N rem 8, N), G(N - 1) end, F({CALLS}) end)""")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(trace.out.text()), {"loop": CALLS, worker: CALLS * (CALLS + 1) // 2, "seven": (CALLS + 1) // 8}, "counts", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)


def test_dyntrace_comes_later(t):
    """Without runtime_tools the trace says so, and sees the calls from a moment after the module was loaded."""
    node = t.node(fresh=True)
    worker = node("etw:worker()")
    node("begin put(lib, code:lib_dir(runtime_tools)), true = code:del_path(runtime_tools), ok end")
    trace = t.trace("-q", "-n", READY + 'erlang*:::user_trace-[si]* { printf("seen %d\\n", arg2); exit(0); }', node=node)
    trace.ready()
    trace.wait_error("no module dyntrace .*no runtime_tools.*: user_trace-i4s4, user_trace-s1 will fire when")
    node(f"""begin true = code:add_patha(filename:join(get(lib), "ebin")),
        {pid(worker)} ! {{self(), none, fun() -> F = fun G() -> dyntrace:p(42), etw:nap(10), G() end, F() end}}, ok end""")
    trace.wait("^seen 42$")
    t.equal(trace.end(), 0, "exit status", trace)


def test_program_probes(t):
    """erltrace:probe with names, patterns for names, and terms: every subroutine on terms, and values that are no terms."""
    node = t.node()
    worker = bound(node)
    trace = t.trace("-q", "-n", READY + r"""
        erlang*:erltrace:probe:order { printf("order %s %s\n", args[0], args[1]);
            printf("kinds %s %s %s %s [%s]\n", term_kind(args[2]), term_kind(args[3]), term_kind(args[4]), term_kind(args[5]), term_kind(args[6])); }
        erlang*:erltrace:probe:order { this->item = term_get(args[2], "item"); this->pair = args[4];
            printf("values %s %d %d %s\n", term_string(this->item), term_int(args[3]), term_size(args[2]), term_text(this->pair)); }
        erlang*:erltrace:probe:order { printf("parts %s %d %d %s [%s] %d\n", term_text(term_element(args[4], 1)), term_int(term_element(args[4], 2)),
            term_size(args[5]), term_text(term_element(args[5], 3)), term_text(term_element(args[5], 4)), term_element(args[4], 3) == NULL); }
        erlang*:erltrace:probe:kinds { printf("%s=%s\n", term_text(args[2]), term_kind(args[2])); }
        erlang*:erltrace:probe:text { printf("text [%s] %d\n", term_string(args[2]), term_size(args[2])); }
        erlang*:erltrace:probe:get { printf("got %s %s %s %s [%s]\n", term_text(term_get(args[2], "a")), term_text(term_get(args[2], "b")),
            term_text(term_element(args[2], 7)), term_text(term_get(args[3], "key")), term_text(term_get(args[3], "none"))); }
        erlang*:erltrace:probe:entry { @["a name that functions have"] = count(); }
        erlang*:erltrace:probe:[a-z]* { @[probename] = count(); @where[probemod, probefunc] = count(); }
        erlang*:erltrace:probe:nine { printf("nine %d %d\n", term_int(args[2]) + 10 * term_int(args[9]), args[9] != NULL); }""", node=node)
    trace.ready()
    node(f"""etw:as({pid(worker)}, fun() ->
        erltrace:probe(order, \#{{item => <<"tea">>, n => 3}}, -17, {{a, 42}}, [1, 2, three]),
        [erltrace:probe(kinds, X) || X <- [a, 1, 1.5, <<"b">>, <<1:3>>, [], [1], {{}}, \#{{}}]],
        [erltrace:probe(kinds2, X) || X <- [self(), make_ref(), fun() -> ok end]],
        [erltrace:probe(text, X) || X <- [atom, <<"bin">>, ["io", <<"list">>, $!], [1076, $x], {{no, text}}, lists:duplicate(300, $y), 5, <<"ab", 0, "c">>, <<"ab", 0, "d">>]],
        erltrace:probe(get, \#{{a => 1, <<"b">> => two, 7 => seven}}, [x, {{key, v}}]),
        [erltrace:probe(plain) || _ <- lists:seq(1, 5)], erltrace:probe(entry, 1), erltrace:probe('Other'), erltrace:probe("no atom"),
        erltrace:probe(nine, 1, 2, 3, 4, 5, 6, 7, 8), ok end)""".replace("\#", "#"))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(lines(trace, "order"), [f"{worker} order"], "order", trace)
    t.equal(lines(trace, "kinds"), ["map integer tuple list []"], "kinds", trace)
    t.equal(lines(trace, "values"), ["tea -17 2 {a,42}"], "values", trace)
    t.equal(lines(trace, "parts"), ["a 42 3 three [] 1"], "parts", trace)
    t.equal([line for line in trace.out.lines if "=" in line],
            ["a=atom", "1=integer", "1.5=float", '<<"b">>=binary', "<<...>>=bitstring", "[]=list", "[1]=list", "{}=tuple", "#{}=map"], "kinds", trace)
    t.equal(lines(trace, "text"), ["[atom] 0", "[bin] 3", "[iolist!] 3", "[\u0434x] 2", "[] 2", f"[{'y' * 256}] 300", "[] 0", r"[ab\0c] 4", r"[ab\0d] 4"], "texts", trace)
    t.equal(lines(trace, "got"), ["1 two seven v []"], "keys", trace)
    t.equal(lines(trace, "nine"), ["81 1"], "nine arguments", trace)
    found = aggregation(trace.out.text().replace("a name that functions have", "function"))
    expected = {"order": 1, "kinds": 9, "kinds2": 3, "text": 9, "get": 1, "plain": 5, "entry": 1, "nine": 1, "function": 1}
    t.equal({k: found.get(k) for k in expected}, expected, "names", trace)
    t.equal(found.get(("erltrace", "probe")), sum(expected.values()) - 1, "module and function", trace)
    t.true("Other" not in found, "a name that the pattern does not match", trace)


def test_names_of_two_programs(t):
    """The VM is asked for exactly the names that scripts describe, and for all names if one describes all, while programs start and end."""
    node = t.node()
    worker = node("etw:worker()")

    def calls(n):
        node(f"""etw:as({pid(worker)}, fun() -> [begin erltrace:probe(a, I), erltrace:probe(b, I), erltrace:probe(c), dyntrace:pn(1), dyntrace:pn(2), dyntrace:pn(3) end
            || I <- lists:seq(1, {n})], ok end)""")

    count = "{ @[probename] = count(); }"
    first = t.trace("-q", "-n", READY + f"erlang*:erltrace:probe:a, erlang*:::user_trace-n1 {count}", node=node)
    first.ready()
    calls(3)
    second = t.trace("-q", "-n", READY + f"erlang*:erltrace:probe:b, erlang*:::user_trace-n2 {count} erlang*:erltrace:probe:a {{ @[\"also a\"] = count(); }}", node=node)
    second.ready()
    calls(5)
    first.interrupt()
    t.equal(first.end(), 0, "exit status", first)
    calls(7)
    third = t.trace("-q", "-n", READY + f"erlang*:erltrace:probe:[a-c] {count} erlang*:erltrace:probe:[a-c] /probename == \"b\"/ {{ @[\"only_b\"] = count(); }}", node=node)
    third.ready()
    calls(11)
    for trace in (second, third):
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
    t.equal(aggregation(first.out.text()), {"a": 8, "user_trace-n1": 8}, "first", first)
    t.equal(aggregation(second.out.text().replace("also a", "also_a")), {"b": 23, "also_a": 23, "user_trace-n2": 23}, "second", second)
    t.equal(aggregation(third.out.text()), {"a": 11, "b": 11, "c": 11, "only_b": 11}, "third", third)


def test_listing(t):
    """Numbered probes have fixed ids; probes of programs get an id when a description names them."""
    node = t.node()
    status, out, err = t.run("-l", "-n", "erlang*:erltrace:probe:order", "-n", "erlang*:erltrace:probe:[a-f]*", "-n", "erlang*:::user_trace-n95?",
                             "-n", "erlang*:erl[t]*:probe:entry", "-n", "erlang*:erltrace:probe:", "-n", "erlang*:::user_trace-n951", node=node)
    t.equal(status, 0, "exit status")
    t.equal([line.split()[0:1] + line.split()[2:] for line in out.splitlines()[1:]],
            [["4000", "erltrace", "probe", "order"], ["4001", "erltrace", "probe", "[a-f]*"], ["3950", "user_trace-n950"],
             ["4002", "erltrace", "probe", "*"]], "list")
    t.equal(len(err.splitlines()), 2, "two that match nothing: " + err)


def test_program_probes_in_a_loop(t):
    """Each call is one event, with its term."""
    node = t.node()
    workers = [node("etw:worker()") for _ in range(2)]
    trace = t.trace("-q", "-n", READY + "erlang*:erltrace:probe:step { @n[args[0]] = count(); @sum = sum(term_int(term_element(args[2], 2))); }", node=node)
    trace.ready()
    fun = f"fun() -> F = fun G(0) -> ok; G(N) -> erltrace:probe(step, {{step, N}}), G(N - 1) end, F({CALLS}) end"
    node(f"etw:all([{{{pid(workers[0])}, {fun}}}, {{{pid(workers[1])}, {fun}}}])")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.equal(found, {workers[0]: CALLS, workers[1]: CALLS}, "calls", trace)
    t.match(trace.out.text(), rf"^ +{CALLS * (CALLS + 1)}$", "sum of both")
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)


def test_forged_terms(t):
    """Numbers that are no handles, handles of another event, and more parts than an event has room for are faults of the program; the node
    continues."""
    node = t.node()
    worker = node("etw:worker()")
    deep = "term_element(" * 70 + "args[2]" + ", 1)" * 70
    trace = t.trace("-q", "-n", READY + r"""
        erlang*:erltrace:probe:forged { @["forged"] = count(); trace(term_text((term_t)(arg2 + 64))); }
        erlang*:erltrace:probe:random { trace(term_text((term_t)(rand() | 1))); }
        erlang*:erltrace:probe:small { trace(term_int((term_t)1)); }
        erlang*:erltrace:probe:keep { kept = args[2]; @s["kept"] = sum(term_int(kept)); }
        erlang*:erltrace:probe:stale { trace(term_int(kept)); }
        erlang*:erltrace:probe:deep { @["deep"] = count(); trace(term_int(""" + deep + r""")); }
        erlang*:erltrace:probe:none { @s["none"] = sum(1 + term_int(args[2]) + term_size(NULL)); }
        erlang*:etw:work/1:entry { trace(term_int((term_t)arg0)); }
        dtrace:::ERROR { @faults[arg4] = count(); }""", node=node)
    trace.ready()
    node(f"""etw:as({pid(worker)}, fun() ->
        L = lists:foldl(fun(_, A) -> [A] end, 1, lists:seq(1, 80)),
        [erltrace:probe(forged, X) || X <- [1, two, [3]]], [erltrace:probe(random) || _ <- lists:seq(1, 100)], erltrace:probe(small, 1),
        erltrace:probe(keep, 7), erltrace:probe(stale, 8), erltrace:probe(deep, L), erltrace:probe(none), etw:work(1), ok end)""")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    t.equal({k: found.get(k) for k in ("forged", "kept", "deep", "none")}, {"forged": 3, "kept": 7, "deep": 1, "none": 1}, "counts", trace)
    t.equal({k: v for k, v in found.items() if k.isdigit()}, {"1": 3 + 100 + 1 + 1 + 1, "5": 1}, "faults by kind", trace)
    t.equal(node("1 + 1"), 2, "the node lives")


def test_shortest_texts(t):
    """Texts of large terms in strings of two bytes: no other memory of the node changes."""
    node = t.node()
    worker = node("etw:worker()")
    trace = t.trace("-q", "-x", "strsize=2", "-n", READY + r"""
        erlang*:erltrace:probe:short { printf("short %s %s\n", term_text(args[2]), term_string(args[2])); }""", node=node)
    trace.ready()
    node(f"""etw:as({pid(worker)}, fun() ->
        [erltrace:probe(short, X) || X <- [binary:copy(<<"abcdefgh">>, 1000000), lists:duplicate(100000, $a), 42, abc, <<"x">>]], ok end)""")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(lines(trace, "short"), [".. ab", ".. aa", "42 ", ".. ab", ".. x"], "texts", trace)
    t.equal(node("1 + 1"), 2, "the node lives")


ETS = [  # (operation, probe, call)
    ("new/2", "new", "T = ets:new(et_table, [named_table, public, ordered_set])"),
    ("insert/2", "write", "ets:insert(T, {a, 1})"), ("insert/2", "write", "ets:insert(T, [{b, 2}, {c, 3}])"),
    ("insert_new/2", "write", "ets:insert_new(T, {d, 4})"), ("update_counter/3", "write", "ets:update_counter(T, a, 1)"),
    ("update_counter/4", "write", "ets:update_counter(T, z, 1, {z, 0})"), ("update_element/3", "write", "ets:update_element(T, a, {2, 9})"),
    ("lookup/2", "read", "ets:lookup(T, a)"), ("lookup_element/3", "read", "ets:lookup_element(T, a, 2)"), ("member/2", "read", "ets:member(T, a)"),
    ("first/1", "read", "ets:first(T)"), ("last/1", "read", "ets:last(T)"), ("next/2", "read", "ets:next(T, a)"), ("prev/2", "read", "ets:prev(T, b)"),
    ("slot/2", "read", "ets:slot(T, 0)"),
    ("match/2", "scan", "ets:match(T, {'$1', '_'})"), ("match_object/2", "scan", "{_, K} = ets:match_object(T, {'_', '_'}, 1)"),
    ("select/2", "scan", "ets:select(T, [{'_', [], ['$_']}])"), ("select/3", "scan", "{_, C} = ets:select(T, [{'_', [], ['$_']}], 1)"),
    ("select/1", "scan", "ets:select(C)"), ("match_object/1", "scan", "ets:match_object(K)"),
    ("select_reverse/2", "scan", "ets:select_reverse(T, [{'_', [], ['$_']}])"), ("select_count/2", "scan", "ets:select_count(T, [{'_', [], [true]}])"),
    ("select_replace/2", "scan", "ets:select_replace(T, [{{x, '_'}, [], [{{x, 1}}]}])"), ("select_delete/2", "scan", "ets:select_delete(T, [{{x, '_'}, [], [true]}])"),
    ("select_delete/2", "scan", "ets:match_delete(T, {x, '_'})"), ("match_object/2", "scan", "ets:tab2list(T)"),
    ("delete/2", "delete", "ets:delete(T, b)"), ("delete_object/2", "delete", "ets:delete_object(T, {c, 3})"), ("take/2", "delete", "ets:take(T, d)"),
    ("delete_all_objects/1", "delete", "ets:delete_all_objects(T)"), ("delete/1", "delete", "ets:delete(T)"),
]


def test_ets(t):
    """Every operation on a table, once each: which operation, which table, how much was inserted."""
    node = t.node()
    worker = bound(node)
    trace = t.trace("-q", "-n", READY + r"""
        erlang*:::ets-* /args[0] == $$1/ { printf("op %s %s %s %d\n", probename, args[1], args[2], args[3]); }""", worker, node=node)
    trace.ready()
    table = node(f"etw:as({pid(worker)}, fun() -> " + ", ".join(call for _, _, call in ETS).replace("match_object(T, {'_', '_'}, 1)", "match_object(T, {'_', '_'}, 1)")
                 + ", U = ets:new(unnamed, []), ets:insert(U, {x}), ets:lookup(U, x), ets:delete(U), list_to_binary(ref_to_list(U)) end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    unknown, words = 4294967295, iter((3, 3 + 3 + 2 + 2, 3))
    expected = []
    for op, probe, call in ETS:
        op = "match_object/3" if "'_'}, 1)" in call and "match_object" in call else op
        expected.append(f"ets-{probe} et_table {op} {next(words) if op.startswith('insert') else unknown}")
    expected += [f"ets-new unnamed new/2 {unknown}", f"ets-write {table} insert/2 2", f"ets-read {table} lookup/2 {unknown}",
                 f"ets-delete {table} delete/1 {unknown}"]
    t.equal(lines(trace, "op"), expected, "operations", trace)


def test_agent_is_killed(t):
    """Patterns on those functions are removed even if the agent cannot do so itself."""
    node = t.node()
    trace = t.trace("-q", "-n", READY + """erlang*:::ets-*, erlang*:erltrace:probe:x, erlang*:::user_trace-n5 { @ = count(); }
        erlang*:ets:lookup/2:return { @ = count(); }""", node=node)
    trace.ready()
    t.true(node("length(etw:traced())") > 0, "something is traced")
    node("exit(whereis(erltrace_agent), kill)")
    t.true(trace.end() != 0, "the tool says so", trace)
    t.clean(node)


def test_one_event_has_a_budget(t):
    """Hundreds of searches in long texts, and long examinations of terms, are given up when the event has exceeded its budget: the message
    names the option, ERROR fires, and the next event has a budget of its own. If the option permits it, all of the work is done."""
    node = t.node()
    worker = node("etw:worker()")
    # 40 times the same list, whose end makes it no text: each time it is examined in vain
    terms = "L = lists:duplicate(100000, $a) ++ [x], T = lists:duplicate(40, {x, L}), B = binary:copy(<<\"abcdefgh\">>, 4000)"
    looks = " ".join(f'this->n += rindex(this->s, "zq{i}");' for i in range(100))
    script = READY + r"""
        erlang*:erltrace:probe:long { this->s = term_text(args[2]); this->n = 0; """ + looks + r""" printf("long %d\n", this->n); }
        erlang*:erltrace:probe:terms { @n["looks"] = count(); """ + " ".join(
            f"x = strlen(term_text(args[2])) + {i};" for i in range(20)) + r""" printf("terms\n"); }
        erlang*:erltrace:probe:short { printf("short %d\n", strlen(term_text(args[2]))); }
        dtrace:::ERROR { printf("error %d %d\n", arg4 == 100, arg5); }"""
    fire = f"""etw:as({pid(worker)}, fun() -> {terms},
        erltrace:probe(long, B), erltrace:probe(short, abc), erltrace:probe(terms, T), erltrace:probe(short, B), ok end)"""
    trace = t.trace("-q", "-x", "nolibs", "-x", "strsize=64k", "-n", script, node=node)
    trace.ready()
    node(fire)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(sorted(lines(trace, "short")), ["3", "32006"], "other events", trace)
    t.equal(lines(trace, "long"), [], "what was not finished", trace)
    t.equal(lines(trace, "error")[:1], ["1 196608"], "ERROR", trace)
    t.true("event exceeds its eventbudget (196608) in action #" in trace.err.text(), "the budget is named", trace)
    trace = t.trace("-q", "-x", "nolibs", "-x", "strsize=64k", "-x", "eventbudget=64m", "-n", script, node=node)
    trace.ready()
    node(fire)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(lines(trace, "long"), ["-100"], "what was finished", trace)
    t.equal(lines(trace, "error"), [], "no error", trace)


def test_text_that_others_write(t):
    """A program reads a text while another process writes it: what the program takes for the text does not change meanwhile."""
    node = t.node()
    workers = [node("etw:worker()") for _ in range(2)]
    reads = " ".join('this->r = json(copyinstr((uintptr_t)&g[0]), "[0]"); n += (this->r == "1");' for _ in range(20))
    writes = " ".join("g[1] = '\"'; g[1] = '1';" for _ in range(50))
    trace = t.trace("-q", "-x", "maxload=off", "-n", "char g[64]; BEGIN { n = 0; g[0] = '['; g[1] = '1'; g[2] = ']'; g[3] = 0; }" + READY +
                    "erlang*:erltrace:probe:a { " + reads + " } erlang*:erltrace:probe:b { " + writes + " }", node=node)
    trace.ready()
    writer, reader = (f"fun() -> [erltrace:probe({name}) || _ <- lists:seq(1, 20000)], ok end" for name in "ba")
    node(f"{pid(workers[0])} ! {{self(), make_ref(), {writer}}}, etw:as({pid(workers[1])}, {reader})")
    node(f"etw:as({pid(workers[0])}, fun() -> ok end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(node("1 + 1"), 2, "the node lives")
