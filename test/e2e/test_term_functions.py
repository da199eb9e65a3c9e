"""Functions on terms: each with every kind of term, and texts of random terms against those of the node's own libraries."""
import os
import re
import shutil
import subprocess
import tempfile

from erlt import READY, Skipped, json_lines, pid
from test_functions import as_worker, load

TERMS = 300

# N random terms, the same ones in each run, and the texts that the node makes of them. Not for inspect/1, whose releases differ: lists
# of characters, funs, and structs without a module.
MODULE = r"""-module(etm). -export([send/2, texts/2]).
make(How, N) -> put(how, How), rand:seed(exsss, {1, 2, 3}), [T || T <- edges(), not lists:member(How, [elixir, equals]) orelse not own(T)] ++ [term(0) || _ <- lists:seq(1, N)].
edges() -> [0, -1, 1 bsl 59, -(1 bsl 59) - 1, 1 bsl 63, -(1 bsl 63), -(1 bsl 63) - 1, 1 bsl 64, 1 bsl 199, -(1 bsl 199),
    0.0, 1.0, -1.5, 0.1, 100.0, 1.0e5, 1.0e22, 1.0e-5, 1.0e-4, 123456.789, 5.0e-324, 1.7976931348623157e308, 2.2250738585072014e-308,
    9007199254740992.0, 9007199254740991.0, 5.684341886080802e-14, math:pow(2, -44), math:pow(2, 70), 0.3, 1/3, 1.0e15, 1.0e16, 12345678901234567.0,
    '', a, 'A', 'a b', 'end', 'if', 'fun', 'maybe', 'else', '\x{e5}\x{e4}\x{f6}', '\x{c4}', 'it\'s', 'a@b', '1', '\n', '\t\e\d', '\x{1}', '\x{80}', '\\', true, nil, undefined, 'Elixir.Foo.Bar',
    'Elixir', 'Elixir.foo', '\x{e9}\x{20ac}', '_a', 'a?', 'a!', '+', '==', '{}',
    [], "text", "text\n\t\"q\"\\", [0], "\e\v\f\b", [127], [228, 246], [1076], [$a | b], [1, 2 | 3], [a, "b"], [[[]]], [{a, 1}, {'b c', "x"}], [{a, 1} | b], [{'Elixir.A', 1}],
    <<>>, <<"text">>, <<"te\nxt\"\\">>, <<0>>, <<228, 246>>, <<228, 1>>, <<"\x{e5}\x{e4}"/utf8>>, <<"a\x{20ac}"/utf8>>, <<255, 254, 1>>, <<"#{x}">>, <<"#a">>, <<7>>, <<127>>, <<194, 133>>,
    {}, {a}, {a, {b, {c}}}, \#{}, \#{a => 1}, \#{<<"b">> => [2], a => 1}, \#{1 => 2, 2.5 => x}, \#{[] => {}}, \#{'__struct__' => 'Elixir.Foo', x => 1}, \#{'__struct__' => 1},
    self(), fun lists:map/2, fun erlang:'+'/2, hd(erlang:ports())].
own(T) -> is_function(T) orelse T =:= [a, "b"] orelse T =:= [{a, 1}, {'b c', "x"}] orelse is_map_key('__struct__', if is_map(T) -> T; true -> #{} end) orelse io_lib:printable_list(T).
term(D) when D > 4 -> leaf(rand:uniform(9));
term(D) -> case rand:uniform(14) of
    N when N < 10 -> leaf(N);
    10 -> list_to_tuple(some(D)); 11 -> some(D); 12 -> some(D) ++ leaf(rand:uniform(9));
    13 -> maps:from_list([{leaf(rand:uniform(9)), term(D + 1)} || _ <- lists:seq(1, rand:uniform(5))]);
    14 -> [{atom(), term(D + 1)} || _ <- lists:seq(1, rand:uniform(3))] end.
some(D) -> [-1 || get(how) =:= elixir] ++ [term(D + 1) || _ <- lists:seq(1, rand:uniform(5) - 1)].
leaf(1) -> rand:uniform(256) - 128;
leaf(2) -> (rand:uniform(1 bsl 64) - (1 bsl 63)) bsr (rand:uniform(64) - 1);
leaf(3) -> (rand:uniform(1 bsl 196) - (1 bsl 195)) bsr (rand:uniform(196) - 1);
leaf(4) -> float_of(<<(rand:uniform(1 bsl 64) - 1):64>>);
leaf(5) -> (rand:uniform(2000000) - 1000000) / math:pow(10, rand:uniform(9) - 1);
leaf(6) -> atom();
leaf(7) -> list_to_binary([rand:uniform(256) - 1 || _ <- lists:seq(1, rand:uniform(6) - 1)]);
leaf(8) -> list_to_binary([31 + rand:uniform(96) || _ <- lists:seq(1, rand:uniform(9) - 1)]);
leaf(9) -> [-1 || get(how) =:= elixir] ++ [31 + rand:uniform(97) || _ <- lists:seq(1, rand:uniform(9) - 1)].
float_of(<<F/float>>) -> F;
float_of(_) -> 1.0.
atom() -> list_to_atom([element(rand:uniform(8), {$a, $b, $_, $A, $1, $@, $\s, 228}) || _ <- lists:seq(1, rand:uniform(5))]).
send(How, N) -> [erltrace:probe(any, I, T, binary_to_term(term_to_binary(T)), [x]) || {I, T} <- numbered(How, N)], ok.
numbered(How, N) -> L = make(How, N), lists:zip(lists:seq(1, length(L)), L).
text(erlang, T) -> unicode:characters_to_binary(io_lib:format("~0tp", [T]));
text(kinds, T) -> [integer_to_list(length([x || erlang:F(T)])) || F <- kinds()];
text(sizes, T) -> lists:join(" ", [integer_to_list(try erlang:F(T) catch error:_ -> 0 end) || F <- [length, tuple_size, map_size, byte_size]]);
text(parts, T) -> lists:join(" ", [try text(erlang, F(T)) catch error:_ -> "" end || F <- [fun erlang:hd/1, fun erlang:tl/1, fun(X) -> element(2, X) end,
    fun(X) -> map_get(a, X) end, fun(X) -> map_get(1, X) end, fun(X) -> map_get([], X) end]]);
text(numbers, T) when is_integer(T) -> lists:join(" ", [integer_to_list(max(-(1 bsl 63), min((1 bsl 63) - 1, X))) || X <- [T, max(-(1 bsl 63), min((1 bsl 63) - 1, T)) * 1000]]);
text(numbers, T) when is_float(T) -> ["0 ", integer_to_list(max(-(1 bsl 63), min((1 bsl 63) - 1, scaled(T))))];
text(numbers, _) -> "0 0";
text(equals, T) -> ["1", [integer_to_list(length([x || B])) || B <- [T =:= a, T =:= 0, lists:member(T, ["text", <<"text">>])]], "1"];
text(elixir, T) -> 'Elixir.Kernel':inspect(T, [{limit, infinity}, {printable_limit, infinity}, {width, infinity}]).
kinds() -> [is_atom, is_binary, is_bitstring, is_boolean, is_float, is_function, is_integer, is_list, is_map, is_number, is_pid, is_port, is_reference, is_tuple].
scaled(T) when abs(T) > 1.0e17 -> trunc(T / abs(T)) bsl 63;
scaled(T) -> trunc(T * 1000).
texts(How, N) -> unicode:characters_to_binary([[integer_to_list(I), " ", text(How, T), "\n"] || {I, T} <- numbered(How, N)]).
""".replace("\\#", "#")


def made(t, *options):
    node = t.node(options=options)
    load(node, MODULE)
    return node, node("etw:worker()")


def lines_of(node, worker, expression):
    """Returns the lines of a text that the node makes."""
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "text")
        node(as_worker(worker, f'ok = file:write_file("{name}", {expression})'))
        with open(name, encoding="utf-8") as f:
            return [line for line in f.read().split("\n") if line]


def printed(t, node, worker, script, work, *options):
    """Returns the lines that begin with a digit and that a script prints during a piece of work."""
    trace = t.trace("-q", "-x", "strsize=4096", "-x", "elixir=off", *options, "-n", READY + script, node=node)
    trace.ready()
    node(as_worker(worker, work))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    return [line for line in trace.out.text().split("\n") if line[:1].isdigit()], trace


def agrees(t, node, worker, script, how):
    """Compares what a script prints about each term with what the node makes of it: lines that begin with the term's number."""
    expected = lines_of(node, worker, f"etm:texts({how}, {TERMS})")
    found, trace = printed(t, node, worker, script, f"etm:send({how}, {TERMS})")
    t.true(len(expected) > TERMS // 2, "there are terms", trace)
    t.equal([(e, f) for e, f in zip(sorted(expected), sorted(found)) if e != f], [], "each term", trace)
    t.equal(len(found), len(expected), "all of them", trace)


def any_term(expression):
    return f"erlang*:erltrace:probe:any {{ {expression} }}"


def test_texts_in_erlang(t):
    """%T is the text of io_lib:format("~0tp"), of any term that is not too large."""
    agrees(t, *made(t), any_term('printf("%d %T\\n", term_int(args[2]), args[3]);'), "erlang")


def test_texts_in_elixir(t):
    """%#T is the text of inspect/1."""
    elixir = shutil.which("elixir")
    if elixir is None or t.otp:
        raise Skipped("Elixir is not installed for this release")
    ebin = subprocess.run([elixir, "--no-halt", "-e", "IO.write(:code.lib_dir(:elixir)); System.halt()"], check=True, capture_output=True, text=True).stdout
    agrees(t, *made(t, "-pa", os.path.join(ebin, "ebin")), any_term('printf("%d %#T\\n", term_int(args[2]), args[3]);'), "elixir")


KINDS = ("atom", "binary", "bitstring", "boolean", "float", "function", "integer", "list", "map", "number", "pid", "port", "reference", "tuple")


def test_functions(t):
    """Kinds, sizes, parts, numbers, and comparisons, of all terms: the same as the node's own functions, 0 or no term where those fail."""
    node, worker = made(t)
    kinds = ", ".join(f"is_{kind}(args[3])" for kind in KINDS)
    agrees(t, node, worker, any_term(f'printf("%d {"%d" * len(KINDS)}\\n", term_int(args[2]), {kinds});'), "kinds")
    agrees(t, node, worker, any_term("""printf("%d %d %d %d %d\\n", term_int(args[2]), length(args[3]), tuple_size(args[3]), map_size(args[3]),
        byte_size(args[3]));"""), "sizes")
    agrees(t, node, worker, any_term("""printf("%d %T %T %T %T %T %T\\n", term_int(args[2]), hd(args[3]), tl(args[3]), element(2, args[3]),
        map_get(atom("a"), args[3]), map_get(1, args[3]), map_get(tl(args[5]), args[3]));"""), "parts")
    agrees(t, node, worker, any_term('printf("%d %d %d\\n", term_int(args[2]), term_int(args[3]), term_float(args[3], 1000));'), "numbers")
    agrees(t, node, worker, any_term("""printf("%d %d%d%d%d%d\\n", term_int(args[2]), args[3] == args[4], args[3] == atom("a"), args[3] == 0, !(args[3] != "text"),
        term_hash(args[3]) == term_hash(args[4]));"""), "equals")


def test_large_terms(t):
    """What is too large to examine is different from its copy, not from itself, and is cut where it is shown. A comparison sees a limited part."""
    node, worker = made(t)
    work = """Deep = lists:foldl(fun(_, A) -> [A] end, [], lists:seq(1, 100000)),
        [erltrace:probe(large, I, T, binary_to_term(term_to_binary(T))) || {I, T} <- lists:zip(lists:seq(1, 8), [lists:seq(1, 100000), Deep,
            binary:copy(<<1>>, 10000000), list_to_tuple(lists:seq(1, 10000)), maps:from_list([{I, a} || I <- lists:seq(1, 40)]),
            1 bsl 100000, -(1 bsl 100000), lists:duplicate(10, 1 bsl 1000)])]"""
    found, trace = printed(t, node, worker, r"""erlang*:erltrace:probe:large { printf("%d %d%d %d %d %d %d %.12T %.12#T %d\n", term_int(args[2]),
        args[3] == args[3], args[3] == args[4], term_hash(args[3]) == term_hash(args[4]), length(args[3]), term_int(args[3]), term_words(args[3]),
        args[3], args[3], is_atom(map_get(7, args[3]))); }""".replace("%.12#T", "%#.12T"), work)
    most = 2 ** 63 - 1
    of_map, of_integer, of_integers = (node(f"erts_debug:flat_size({x})") for x in
                                       ("maps:from_list([{I, a} || I <- lists:seq(1, 40)])", "1 bsl 100000", "lists:duplicate(10, 1 bsl 1000)"))
    t.equal(sorted(found), [
        "1 10 1 -1 0 2000 [1,2,3,4,5,6 [1, 2, 3, 4, 0",
        # Nesting is followed 64 deep, of two words each.
        "2 10 1 1 0 130 [[[[[[[[[[[[ [[[[[[[[[[[[ 0",
        "3 10 1 0 0 8 <<1,1,1,1,1, <<1, 1, 1, 1 0" if t.otp else "3 10 1 0 0 6 <<1,1,1,1,1, <<1, 1, 1, 1 0",
        "4 10 1 0 0 10001 {1,2,3,4,5,6 {1, 2, 3, 4, 0",
        f"5 10 1 0 0 {of_map} #{{...}} %{{...}} 1",
        f"6 11 1 0 {most} {of_integer} <bignum> <bignum> 0",
        f"7 11 1 0 {-most - 1} {of_integer} <bignum> <bignum> 0",
        f"8 10 1 10 0 {of_integers} [<bignum>,<b [<bignum>, < 0"], "large terms", trace)


# Maps of more than 32 keys, which are trees, and integers of more than 64 bits.
LARGE = ["maps:from_list([{I, x} || I <- lists:seq(1, 33)])", "maps:from_list([{{a, I}, [I]} || I <- lists:seq(1, 200)])",
         "#{k => maps:from_list([{integer_to_binary(I), []} || I <- lists:seq(1, 600)])}", "maps:from_list([{I, I} || I <- lists:seq(1, 800)])",
         "maps:from_list([{I, maps:from_list([{J, I} || J <- lists:seq(1, 40)])} || I <- lists:seq(1, 9)])",
         "fun lists:seq/2", "etw:capturing([])", "etw:capturing([a])", "etw:capturing([{x, [1, 2, 3]}, 1.5, 1 bsl 80, lists:seq(1, 100)])",
         "etw:capturing([etw:capturing([one, {two}]), maps:from_list([{I, I} || I <- lists:seq(1, 40)])])",
         "1 bsl 64", "-(1 bsl 100)", "1 bsl 5000", "{maps:from_list([{I, 1 bsl (64 + I)} || I <- lists:seq(1, 40)]), 1.5}"]


def test_sizes_of_large_terms(t):
    """The words of large maps, of integers, and of funs with what they have captured are those of erts_debug:flat_size/1."""
    node = t.node()
    sink, worker = node("spawn(timer, sleep, [infinity])"), node("etw:worker()")
    sizes = node(f"[erts_debug:flat_size({{I, T}}) || {{I, T}} <- lists:enumerate([{', '.join(LARGE)}])]")
    trace = t.trace("-q", "-n", READY + r"""erlang*:::message-send /args[0] == $$1 && args[1] == $$2/
        { printf("size %d %d %d\n", term_int(element(1, message)), arg2, term_words(message)); }""", worker, sink, node=node)
    trace.ready()
    node(as_worker(worker, f"[{pid(sink)} ! M || M <- lists:enumerate([{', '.join(LARGE)}])]"))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(sorted(re.findall(r"^size (\d+) (\d+) (\d+)$", trace.out.text(), re.M), key=lambda row: int(row[0])),
            [(str(i), str(n), str(n)) for i, n in enumerate(sizes, 1)], "sizes", trace)


def test_sizes_too_large_to_count(t):
    """Of a size that is too large to count there is a lower bound, and what is made of it is marked as one: in sums and the like, also by
    way of a variable, in what printa() writes, in JSON; other numbers are not marked, and each such message is told."""
    node = t.node()
    sink, worker = node("spawn(timer, sleep, [infinity])"), node("etw:worker()")
    for options in ([], ["--json"]):
        trace = t.trace("-q", *options, "-n", READY + r"""erlang*:::message-send /args[0] == $$1 && args[1] == $$2/ {
            @all = count(); @sum = sum(arg2); @least = min(arg2); @most = max(arg2 + 1); @words = sum(term_words(message)); @time = sum(timestamp ? 7 : 0); }
            erlang*:::message-send /args[0] == $$1 && args[1] == $$2/ { this->n = arg2; }
            erlang*:::message-send /args[0] == $$1 && args[1] == $$2/ { @key[this->n > 1000] = max(this->n); @q = quantize(arg2); @d = stddev(arg2); }
            END { printa("got %@d %@d %@d %@d %@d %@d\n", @all, @sum, @least, @most, @words, @time); printa("width|%-8@d|%8@d|\n", @sum, @sum); }""",
                        worker, sink, node=node)
        trace.ready()
        node(as_worker(worker, f"[{pid(sink)} ! M || M <- [{{1}}, lists:seq(1, 5000), {{1, 2}}, lists:duplicate(3000, {{}}), {{1, 2, 3}}]]"))
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        # 2, 3 and 4 words, and 2000 of each list: its first 1000 cells, whose elements have none.
        if options:
            lines = json_lines(trace.out.text())
            t.equal([(d["kind"], d["count"]) for d in lines if d["type"] == "drop"], [("uncounted", 2), ("lower", 2)], "drops", trace)
            (row,) = [d for line in lines if line["type"] == "record" for d in line["data"] if d["action"] == "printa"][0]["rows"]
            t.equal((row["values"], row["at_least"]), ([5, 4009, 2, 2001, 4009, 35], [False, True, True, True, True, False]), "printa", trace)
            found = {(d["name"], *d["keys"]): d for d in lines if d["type"] == "aggregation"}
            t.equal({k: (d.get("value"), d.get("at_least")) for k, d in found.items()},
                    {("@key", 0): (4, None), ("@key", 1): (2000, True), ("@q",): (None, True), ("@d",): (0, None)}, "aggregations", trace)
        else:
            t.match(trace.out.text(), "^got 5 >=4009 >=2 >=2001 >=4009 35$")
            t.match(trace.out.text(), r"^width\|>=4009  \|  >=4009\|$")
            t.match(trace.out.text(), "^ +1 +>=2000$")
            t.match(trace.out.text(), "^ +0 +4$")
            t.match(trace.out.text(), "^ +>= some of these values were too large to count, and are larger$")
            t.match(trace.err.text(), "^erltrace: 2 sizes too large to count: at least that$")
            t.match(trace.err.text(), "^erltrace: 2 sizes not known, left out of an aggregation$")


def test_terms_as_keys(t):
    """A term as a key is its text, up to strsize; what was cut ends in dots. Names of keys, and of what is recorded, are the same."""
    node, worker = made(t)
    work = """[erltrace:probe(key, T) || T <- [a, "a", <<"a">>, {a}, {a}, [1, 2, 3], lists:seq(1000, 1100)]]"""
    found, trace = printed(t, node, worker, r"""erlang*:erltrace:probe:key { n[args[2]]++; @[args[2]] = count(); printf("1 %d %T|", n[args[2]], args[2]); trace(args[2]);
        printf("\n"); } END { printa("2 %T %@d\n", @); }""", work, "-x", "strsize=20")
    texts = ["a", '"a"', '<<"a">>', "{a}", "[1,2,3]", "[1000,1001,1002,1..."]
    t.equal(sorted(found), sorted([f"1 1 {x}|{x}" for x in texts] + ["1 2 {a}|{a}"] + [f"2 {x} {1 + (x == '{a}')}" for x in texts]), "keys", trace)
