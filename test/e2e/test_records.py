"""Fields of records and keys of maps by name, on terms of every kind."""

import os
import re
import shutil
import subprocess
import tempfile

from erlt import READY, Skipped, pid, until_printed

TERM = '{order, 7, {money, 1250, eur}, [<<"a">>]}'


def seen(t, node, worker, script, *terms, options=()):
    """What a script prints when a program fires `login` with each of these terms; and the faults that are reported."""
    node(f"etw:as({pid(worker)}, fun() -> etw:hop(1) end)")  # records arrive scheduler by scheduler
    trace = t.trace("-q", "-x", "strsize=512", *options, "-n", READY + script, node=node)
    trace.ready()
    for term in terms:
        node(f"etw:as({pid(worker)}, fun() -> erltrace:probe(login, {term}) end)")
    trace.interrupt()
    trace.end()
    return [line for line in trace.out.lines if ":" in line], trace.err.text()


def test_defined(t):
    """By definitions in D: nested, as a key, in a predicate, compared, converted; in Erlang's own form as well."""
    node = t.node()
    worker = node("etw:worker()")
    records = "record order { id, price, items }; record money { cents, currency }; "
    lines, err = seen(t, node, worker, records + r"""erlang*:erltrace:probe:login /args[2].#order.price.#money.currency == "eur"/ {
        this->p = args[2].#order.price;
        printf("price: %d %T %s\n", term_int(this->p.#money.cents), this->p, term_string(this->p#money.currency));
        printf("text: %T\n", args[2]); printf("elixir: %#T\n", args[2]);
        printf("same: %d %d\n", args[2].#order.id == 7, args[2].#order.id == atom("x"));
        @[args[2].#order.items] = count(); @s["cents:"] = sum(term_int(args[2].#order.price.#money.cents)); }""",
                      TERM, TERM, TERM.replace("eur", "usd"))
    t.equal(err, "", "no fault")
    t.equal(lines[:4], ["price: 1250 #money{cents = 1250,currency = eur} eur",
                        'text: #order{id = 7,price = #money{cents = 1250,currency = eur},items = [<<"a">>]}',
                        'elixir: {:order, 7, {:money, 1250, :eur}, ["a"]}', "same: 1 0"], "values")
    t.match("\n".join(lines), r"cents: +2500")
    t.clean(node, 15000)


def test_of_another_kind(t):
    """A term that is not the record is a counted fault; no term is none, as elsewhere."""
    node = t.node()
    worker = node("etw:worker()")
    script = r"""record order { id, price, items }; erlang*:erltrace:probe:login { printf("id: %T\n", args[2].#order.id); }
        erlang*:erltrace:probe:login { printf("none: [%T]\n", term_element(args[2], 99).#order.id); }"""
    lines, err = seen(t, node, worker, script, "{order, 1, 2}", "{order, 1, 2, 3, 4}", "{orders, 1, 2, 3}", "order", "17", "[order, 1, 2, 3]",
                      "#{order => 1}", "{}", TERM)
    t.equal(lines.count("none: []"), 9, "\n".join(lines))
    t.equal([line for line in lines if line.startswith("id")], ["id: 7"], err)
    t.match(err, "the term is not this record")


def test_maps(t):
    """A key of a map is the atom of that name: in maps of any size, in structs, and in quotes. What has no such key has no value."""
    node = t.node()
    worker = node("etw:worker()")
    script = r"""erlang*:erltrace:probe:login { printf("a: [%T] [%T] [%T]\n", args[2].price, args[2].'b c', args[2].at.'Elixir.Foo'); }"""
    lines, err = seen(t, node, worker, script, "#{price => 5, 'b c' => x, at => #{'Elixir.Foo' => \"y\"}}", '#{<<"price">> => 5}',
                      "maps:from_list([{price, big} | [{I, I} || I <- lists:seq(1, 1000)]])", "#{'__struct__' => 'Elixir.Order', price => 12}", "[{price, 1}]", "{price, 1}", "price")
    t.equal(err, "", "no fault")
    t.equal(lines, ['a: [5] [x] ["y"]', "a: [] [] []", "a: [big] [] []", "a: [12] [] []", "a: [] [] []", "a: [] [] []", "a: [] [] []"], "values")


def test_redacted(t):
    """A field that matches a pattern cannot be read, by its name or place, and is in no text once the program knows the record."""
    node = t.node(options=["-env", "ERLTRACE_REDACT", "pin"])
    worker = node("etw:worker()")
    script = r"""record user { name, password, pin, token }; erlang*:erltrace:probe:login {
        printf("name: %T\n", args[2].#user.name); printf("fields: %T %T %T\n", args[2].#user.password, args[2].#user.pin, args[2].#user.token);
        printf("places: %T %T\n", element(3, args[2]), term_element(args[2], 4)); printf("text: %T\n", args[2]); printf("elixir: %#T\n", args[2]); }"""
    user = '{user, joe, <<"secret">>, 4711, abc}'
    lines, err = seen(t, node, worker, script, user, options=["-x", "redact=*pass*"])
    t.equal(err, "", "no fault")
    t.equal(lines, ["name: joe", "fields: '[redacted]' '[redacted]' abc", "places: '[redacted]' '[redacted]'",
                    "text: #user{name = joe,password = [redacted],pin = [redacted],token = abc}", "elixir: {:user, :joe, [redacted], [redacted], :abc}"], "with both")
    text = r"""erlang*:erltrace:probe:login { printf("text: %T\n", args[2]); }"""
    lines, _ = seen(t, node, worker, "record user { name, password, pin, token }; " + text, user, options=["-x", "redact=*pass*"])
    t.true("secret" not in lines[0] and "4711" not in lines[0], lines[0])
    lines, _ = seen(t, node, worker, text, user, options=["-x", "redact=*pass*"])
    t.equal(lines, ["text: " + user.replace(", ", ",")], "without a definition it is a tuple")
    t.clean(node, 15000)


# Records with defaults and types, a nested one, and a process that is called with them.
SHOP = r"""-module(shop). -export([new/1, price/1, total/2]).
-record(money, {cents = 0 :: integer(), currency = eur :: atom()}).
-record(order, {id :: integer(), price = #money{} :: #money{}, 'delivered at' = never, items = [] :: [binary()]}).
-record(empty, {}).
new(Id) -> {empty} = #empty{}, #order{id = Id, price = #money{cents = 100 * Id}, items = [<<"a">>]}.
price(#order{price = P}) -> P.
total(#order{price = #money{cents = C}}, N) -> C * N.
"""


class Shop:
    """A node with modules that are compiled from these texts, in a folder of their own."""

    def __init__(self, t, *texts, options="debug_info"):
        self.t = t
        self.node = t.node(fresh=True)
        self.folder = tempfile.mkdtemp(dir=t.folder)
        os.chmod(self.folder, 0o755)
        for text in texts:
            self.load(text, options)
        self.worker = self.node("etw:worker()")

    def load(self, text, options="debug_info", load=True):
        name = re.search(r"-module\((\w+)\)", text).group(1)
        path = os.path.join(self.folder, name)
        with open(path + ".erl", "w", encoding="utf-8") as f:
            f.write(text)
        self.node(f'{{ok, _}} = compile:file("{path}", [{options}, {{outdir, "{self.folder}"}}])')
        if load:
            self.node(f'code:purge({name}), {{module, _}} = code:load_abs("{path}")')

    def call(self, expression):
        self.node(f"etw:as({pid(self.worker)}, fun() -> {expression} end)")

    def trace(self, script, *calls, options=()):
        trace = self.t.trace("-q", "-x", "strsize=512", *options, "-n", READY + script, node=self.node)
        trace.ready()
        for call in calls:
            self.call(call)
        trace.interrupt()
        trace.end()
        return [line for line in trace.out.lines if ":" in line], trace.err.text()

    def refused(self, script, *words):
        status, _, err = self.t.run(*words, "-n", script, "--node", self.node.name, "--cookie", self.node.cookie)
        self.t.equal(status, 1, err)
        return err


def test_asked(t):
    """What D does not define, the debug information of the probe's module does: nested, of arguments, results and messages."""
    shop = Shop(t, SHOP)
    lines, err = shop.trace(r"""erlang*:shop:total:entry { printf("in: %d %T %T\n", term_int(argv[0].#order.price.#money.cents), argv[0].#order.'delivered at', argv[0]); }
        erlang*:shop:new:return { printf("out: %T\n", retval.#order.id); }
        erlang*:shop:price:entry /argv[0].#order.id == 4/ { @[argv[0]#order.price.#money.currency] = count(); printf("price: %d\n", 1); }""",
                            "shop:total(shop:new(3), 2)", "shop:price(shop:new(4))", "shop:price(shop:new(5))")
    t.equal(err, "", "no fault")
    t.equal(sorted(lines), sorted(["out: 3", "in: 300 never #order{id = 3,price = #money{cents = 300,currency = eur},'delivered at' = never,items = [<<\"a\">>]}",
                                   "out: 4", "price: 1", "out: 5"]), "values")
    lines, err = shop.trace(r'erlang*:shop:price:entry { printf("redacted: %T %T\n", argv[0].#order.id, argv[0]); }', "shop:price(shop:new(4))", options=["-x", "redact=pr*"])
    t.equal((lines, err), (["redacted: 4 #order{id = 4,price = [redacted],'delivered at' = never,items = [<<\"a\">>]}"], ""), "redacted")
    t.clean(shop.node, 15000)


def test_loaded_again(t):
    """A module that is loaded again: with the same records they are read as before; with others they are a fault, and with `redact` nothing of them is seen."""
    moved = SHOP.replace("{id :: integer(), price = #money{} :: #money{},", "{price = #money{} :: #money{}, id :: integer(),")
    larger = SHOP.replace("{id ::", "{card, id ::")
    for text in (moved, larger):
        t.true(text != SHOP, "another definition")
    for redact in ([], ["-x", "redact=price"]):
        shop = Shop(t, SHOP)
        trace = t.trace("-q", "-x", "strsize=512", *redact, "-n", READY + r"""erlang*:shop:price:entry { printf("seen %T\n", argv[0]); }
            erlang*:shop:price:entry { printf("id %d\n", term_int(argv[0].#order.id)); }
            erlang*:shop:price:return { printf("cents %d\n", term_int(retval.#money.cents)); }
            ERROR { printf("fault %d\n", arg4); }""", node=shop.node)
        trace.ready()
        hidden = "[redacted]" if redact else "#money{cents = 300,currency = eur}"
        shop.call("shop:price(shop:new(3))")
        trace.wait("^id 3$")
        t.match(trace.out.text(), re.escape(f"seen #order{{id = 3,price = {hidden},'delivered at' = never"))
        at = len(trace.out.lines)
        shop.load(SHOP.replace("[new/1", "[more/0, new/1") + "more() -> 1.\n")
        until_printed(trace, "^id 4$", lambda: shop.call("shop:price(shop:new(4))"), at)
        t.true("warning" not in trace.err.text(), "the same records")
        for text in (moved, larger):
            said = len(trace.err.lines)
            shop.load(text)
            trace.wait_error(r"warning: the module shop was loaded again with another record order, whose fields cannot be read any more", start=said)
            at = len(trace.out.lines)
            shop.call("shop:price(shop:new(5))")
            trace.wait("^fault 102$", start=at)
            # Calls of the code before, which until_printed may have made more often than it took, are printed late.
            seen = [line for line in trace.out.lines[at:] if line.startswith("seen") and not re.search(r"\bid = [46]\b", line)]
            t.equal(len(seen), 1, "texts")
            t.true("#order" not in seen[0], "not shown with the names of other fields: " + seen[0])
            t.equal("money" in seen[0], not redact, seen[0])
            # The module's other record is what it was, and is read again; that does not bring back the one that has changed.
            until_printed(trace, "^cents 500$", lambda: shop.call("shop:price(shop:new(5))"), at)
            at = len(trace.out.lines)
            shop.call("shop:price(shop:new(7))")
            trace.wait("^cents 700$", start=at)
            t.equal([line for line in trace.out.lines[at:] if line.startswith(("id", "fault"))][:1], ["fault 102"], "what has changed", trace)
            at = len(trace.out.lines)
            shop.load(SHOP)  # the code that told it
            until_printed(trace, "^id 6$", lambda: shop.call("shop:price(shop:new(6))"), at)
        trace.interrupt()
        trace.end()
        t.clean(shop.node, 15000)


def test_unknown(t):
    """Errors say who was asked, and what to write."""
    shop = Shop(t, SHOP)
    err = shop.refused("erlang*:shop:price:entry { trace(argv[0].#order.prize); }")
    t.match(err, re.escape("[D_RECORD_FIELD] 'prize' is not a field of the record order, which has id, price, delivered at, items"))
    t.match(err, r"did you mean 'price'\?")
    err = shop.refused("erlang*:shop:price:entry { trace(argv[0].#orders.id); }")
    t.match(err, re.escape("[D_RECORD_UNDEF] the record orders is not defined, and unknown to the module shop, which has money, order, empty"))
    t.match(err, r"did you mean 'order'\?")
    err = shop.refused("erlang*:nowhere:price:entry { trace(argv[0].#order.id); }")
    t.match(err, re.escape(f"the record order is not defined, and {shop.node.name} has no module nowhere"))
    t.match(err, re.escape("define it: record order { id, ... };"))
    err = shop.refused("erlang*:::message-send { trace(message.#order.id); }")
    t.match(err, r"\[D_RECORD_UNDEF\] the record order is not defined\n")
    err = shop.refused("erlang*:*:*:entry { trace(argv[0].#order.id); }")
    t.match(err, r"the probe names too many modules to look for it: \d+, where 32 are examined")
    err = shop.refused("erlang*:lists:map:entry { trace(argv[0].#order.id); } erlang*:erlang:self:entry { trace(argv[0].#order.id); }")
    t.match(err, r"the module erlang was loaded from no file \(preloaded\)")
    t.clean(shop.node, 15000)


def test_without_debug_information(t):
    """A module that was compiled without it, one whose file has changed or is gone, and one that keeps it secret."""
    shop = Shop(t, SHOP, options="no_debug_info")
    script = "erlang*:shop:price:entry { trace(argv[0].#order.id); }"
    t.match(shop.refused(script), "the module shop has no debug information")
    status, out, err = t.run("-n", "record order { id, a, b, c }; " + script.replace("trace", "exit(0); trace"), "-e", "--node", shop.node.name, "--cookie", shop.node.cookie)
    t.equal(status, 0, err)
    shop.load(SHOP)
    shop.load(SHOP.replace("{id ::", "{new_field, id ::"), load=False)
    t.match(shop.refused(script), "the module shop is not what its file .*shop.beam holds: it was compiled again since it was loaded")
    os.remove(os.path.join(shop.folder, "shop.beam"))
    t.match(shop.refused(script), r"the module shop has the file .*shop.beam, which cannot be read \(enoent\)")
    shop.load(SHOP)
    os.remove(os.path.join(shop.folder, "shop.beam"))
    os.mkfifo(os.path.join(shop.folder, "shop.beam"))
    t.match(shop.refused(script), r"which cannot be read \(other\)")
    os.remove(os.path.join(shop.folder, "shop.beam"))
    for chunk, text in (("<<0, 7, \"aes_cbc\", 1, 2, 3, 4>>", "has debug information that is encrypted"),
                        ("<<131, 80, 0, 0, 9, 9, 1, 2, 3, 4>>", "has a file that cannot be examined"),
                        ("term_to_binary({debug_info_v1, lists, [{a, b}]})", "has no debug information that erltrace knows"),
                        ("term_to_binary({debug_info_v1, elixir_erl, {elixir_v1, x, y}})", "is written in Elixir, which keeps no definitions of records"),
                        ("term_to_binary({debug_info_v1, erl_abstract_code, {none, []}})", "has no debug information"),
                        ("term_to_binary({debug_info_v1, erl_abstract_code, {lists:duplicate(20000000, 0), []}}, [compressed])", "has more debug information than is examined"),
                        ("term_to_binary({debug_info_v1, erl_abstract_code, {lists:duplicate(2000000, {a, 256}), []}}, [compressed])", "has more debug information than is examined")):
        shop.load(SHOP)
        shop.node(f'B = "{os.path.join(shop.folder, "shop.beam")}", {{ok, _, Chunks}} = beam_lib:all_chunks(B), '
                  f'{{ok, Beam}} = beam_lib:build_module([{{"Dbgi", {chunk}}} | lists:keydelete("Dbgi", 1, Chunks)]), ok = file:write_file(B, Beam), erlang:garbage_collect()')
        t.match(shop.refused(script), f"the module shop {text}\n")
    t.clean(shop.node, 15000)


def test_modules_that_differ(t):
    """Each clause has the record of its own module; a clause of several needs them to agree."""
    shop = Shop(t, SHOP, SHOP.replace("(shop)", "(shop_b)").replace("{id ::", "{new_field, id ::"), SHOP.replace("(shop)", "(shop_c)"),
                "-module(shop_d). -export([price/1]). price(X) -> X.\n")
    lines, err = shop.trace(r"""erlang*:shop:price:entry { printf("a: %T\n", argv[0].#order.id); } erlang*:shop_b:price:entry { printf("b: %T\n", argv[0].#order.id); }
        erlang*:shop_c:price:entry,erlang*:shop_d:price:entry { printf("c: %T\n", argv[0].#order.id); }""",
                            "shop:price(shop:new(4))", "shop_b:price(shop_b:new(5))", "shop_c:price(shop_c:new(6))", "shop_d:price(shop_c:new(7))")
    t.equal((lines, err), (["a: 4", "b: 5", "c: 6", "c: 7"], ""), "values")
    err = shop.refused("erlang*:shop*:price:entry { trace(argv[0].#order.id); }")
    t.match(err, re.escape("[D_RECORD_DIFFERS] the record order is not the same in the modules shop and shop_b"))
    t.match(err, re.escape("name one module in the probe, or define it: record order { new_field, id, price, delivered at, items };"))
    t.clean(shop.node, 15000)


def test_nothing_enters_the_node(t):
    """Reading debug information makes no atoms of what is in it, and loads no code."""
    shop = Shop(t, SHOP.replace("total(#order", "unheard_of(An_unheard_of_variable) -> An_unheard_of_variable.\ntotal(#order"
                                ).replace("new/1", "new/1, unheard_of/1"))
    shop.node = t.node(fresh=True) # the compiler has made the atoms of the other one
    shop.node(f'{{module, _}} = code:load_abs("{os.path.join(shop.folder, "shop")}")')
    shop.refused("erlang*:nowhere:price:entry { trace(argv[0].#orders.id); }") # the agent itself has been there
    before = set(shop.node('list_to_binary([atom_to_list(M) ++ " " || {M, _} <- code:all_loaded()])').split())
    t.match(shop.refused("erlang*:shop:price:entry { trace(argv[0].#orders.id); }"), "unknown to the module shop, which has money, order, empty")
    exists = 'try list_to_existing_atom("An_unheard_of_" ++ "variable") of _ -> yes catch error:badarg -> no end'
    t.equal(shop.node(exists), "no", "atom")
    t.equal(shop.node(exists.replace("An_unheard_of_", "unheard_").replace("variable", "of")), "yes", "an atom that there is")
    loaded = set(shop.node('list_to_binary([atom_to_list(M) ++ " " || {M, _} <- code:all_loaded()])').split())
    t.equal(loaded - before - {"beam_lib", "zlib"}, set(), "modules")
    t.clean(shop.node, 15000)


def test_several_nodes(t):
    """All nodes must agree on a record; one that lacks the module is no hindrance."""
    shops = [Shop(t, SHOP), Shop(t, SHOP.replace("items =", "things ="))]
    bare = t.node(fresh=True)
    script = "erlang*:shop:price:entry { trace(argv[0].#order.id); }"
    status, _, err = t.run("-n", script, "--node", ",".join(s.node.name for s in shops), "--cookie", bare.cookie)
    t.equal(status, 1, err)
    t.match(err, re.escape(f"the record order is not the same in the modules shop of {shops[0].node.name} and shop of {shops[1].node.name}"))
    status, _, err = t.run("-e", "-n", script, "--node", f"{bare.name},{shops[0].node.name}", "--cookie", bare.cookie)
    t.equal(status, 0, err)
    for node in (bare, *(s.node for s in shops)):
        t.clean(node, 15000)


STRUCT = """defmodule Cart do
  defstruct [:owner, total: 0, valid?: true]
  def new(n), do: %Cart{owner: %{name: "joe"}, total: n}
  def check(c), do: c.total
end
"""


def test_struct_of_elixir(t):
    """Keys of a struct, nested and in quotes. Its module says why it knows no records."""
    compiler = shutil.which("elixirc")
    if compiler is None:
        raise Skipped("elixirc is not installed")
    with open(os.path.join(t.folder, "cart.ex"), "w", encoding="utf-8") as f:
        f.write(STRUCT)
    subprocess.run([compiler, "-o", t.folder, os.path.join(t.folder, "cart.ex")], check=True, stdout=subprocess.DEVNULL)
    node = t.node(options=("-pa", t.folder))
    node("{module, _} = code:ensure_loaded('Elixir.Cart'), ok")
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", READY + r"""Cart.check/1 { printf("cart: %d %s %T %#T\n", term_int(argv[0].total), term_string(argv[0].owner.name), argv[0].'valid?', argv[0]); }""", node=node)
    trace.ready()
    node(f"etw:as({pid(worker)}, fun() -> 'Elixir.Cart':check('Elixir.Cart':new(12)) end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), re.escape('cart: 12 joe true %Cart{') + ".*total: 12")
    status, _, err = t.run("-n", "Cart.check/1 { trace(argv[0].#cart.total); }", "--node", node.name, "--cookie", node.cookie)
    t.equal(status, 1, err)
    t.match(err, "the module Elixir.Cart is written in Elixir, which keeps no definitions of records")
    t.clean(node, 15000)
