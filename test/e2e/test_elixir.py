"""Modules and functions as Elixir writes them, in a node that runs code of Elixir's compiler."""
import fcntl
import json
import os
import re
import shutil
import subprocess

from erlt import BUILD, ROOT, Skipped, aggregation
from test_names import elixir

SOURCE = os.path.join(ROOT, "test", "lib", "my_app.ex")
READY = 'profile:::tick-20ms /!started/ { started = 1; printf("ready\\n"); }\n'


def elixir_node(t):
    """Starts a separate node with the modules of my_app.ex."""
    compiler = shutil.which("elixirc")
    if compiler is None:
        raise Skipped("elixirc is not installed")
    there = os.path.join(BUILD, "test", "elixir")
    os.makedirs(there, exist_ok=True)
    with open(os.path.join(there, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        beam = os.path.join(there, "Elixir.MyApp.Foo.beam")
        if not os.path.exists(beam) or os.path.getmtime(beam) < os.path.getmtime(SOURCE):
            subprocess.run([compiler, "-o", there, SOURCE], check=True, stdout=subprocess.DEVNULL)
    node = t.node(options=("-pa", there))
    node("[{module, _} = code:ensure_loaded(M) || M <- ['Elixir.MyApp.Foo', 'Elixir.MyApp.Foo.Inner', my_app]], ok")
    return node


def calls(t, node, clauses, *words):
    """Returns what a counting program prints about one round of calls."""
    trace = t.trace("-qs", t.file("calls.d", READY + clauses), *words, node=node)
    trace.ready()
    node("etw:as(etw:worker(), fun() -> 'Elixir.MyApp.Foo':run() end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    return trace.out.text()


def test_names(t):
    """Each way to name a function counts its one call."""
    node = elixir_node(t)
    named = ("MyApp.Foo.bar/1", "MyApp.Foo.save!/1", "MyApp.Foo.valid?/1", "MyApp.Foo.<>/2", "MyApp.Foo.+++/2", "MyApp.Foo.sigil_q/2",
             "MyApp.Foo:shout/1", "Elixir.MyApp.Foo.whisper/1", "erlang*:MyApp.Foo.hum/1:entry", "MyApp.Foo.Inner.bar/1:entry", ":my_app.erl/0")
    out = calls(t, node, "".join(f"{name}\n{{\n    @[\"{name}\", copyinstr(arg1)] = count();\n}}\n" for name in named))
    shown = {"MyApp.Foo.bar/1": "MyApp.Foo:bar/1", "MyApp.Foo.save!/1": "MyApp.Foo:'save!'/1", "MyApp.Foo.valid?/1": "MyApp.Foo:'valid?'/1",
             "MyApp.Foo.<>/2": "MyApp.Foo:'<>'/2", "MyApp.Foo.+++/2": "MyApp.Foo:'+++'/2", "MyApp.Foo.sigil_q/2": "MyApp.Foo:sigil_q/2",
             "MyApp.Foo:shout/1": "MyApp.Foo:shout/1", "Elixir.MyApp.Foo.whisper/1": "MyApp.Foo:whisper/1",
             "erlang*:MyApp.Foo.hum/1:entry": "MyApp.Foo:hum/1", "MyApp.Foo.Inner.bar/1:entry": "MyApp.Foo.Inner:bar/1"}
    expected = {(name.replace("Elixir.MyApp", "MyApp"), text): 1 for name, text in shown.items()}
    t.equal(aggregation(out), {**expected, (":my_app.erl/0", "my_app:erl/0"): 1}, "calls")


def test_modules(t):
    """Patterns, -m, and an argument of a script. A module that has exactly this name precedes Elixir's."""
    node = elixir_node(t)
    status, out, err = t.run("-l", "-m", "MyApp.Foo", node=node)
    t.equal((status, err), (0, ""), "-m")
    t.equal(set(re.findall(r"^ *\d+ +erlang\d+ +(\S+) ", out, re.M)), {"MyApp.Foo"}, "-m")
    status, out, _ = t.run("-l", "-x", "elixir=off", "-n", "MyApp.*:bar:entry", node=node)
    t.equal((status, re.findall(r" (\S*MyApp\S*) ", out)), (0, ["Elixir.MyApp.Foo", "Elixir.MyApp.Foo.Inner"]), "elixir=off")
    status, out, _ = t.run("-l", "--json", "-n", "MyApp.Foo.bar/1", node=node)
    t.equal((status, json.loads(out)["module"]), (0, "Elixir.MyApp.Foo"), "JSON")
    out = calls(t, node, "erlang*:$1:bar:entry { @[probemod, probefunc] = count(); }\n", "MyApp.Foo.Inner")
    t.equal(aggregation(out), {("MyApp.Foo.Inner", "bar/1"): 1}, "an argument")
    node("begin 'Elixir.MyApp.Deux':one(), {ok, M, B} = compile:forms([{attribute, 1, module, 'MyApp.Deux'}, {attribute, 1, export, [{f, 0}]}, "
         "{function, 1, f, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}]), {module, _} = code:load_binary(M, \"x\", B), ok end")
    status, out, _ = t.run("-l", "-x", "elixir=off", "-n", "MyApp.Deux::entry", node=node)
    t.equal((status, set(re.findall(r" (\S*MyApp\S*) ", out))), (0, {"MyApp.Deux"}), "a module that is called so")


def test_replaced_functions(t):
    """The tool warns of a function that Elixir's compiler replaces, names the replacement, and says which names are macros."""
    node = elixir(t)
    node("[{module, _} = code:ensure_loaded(M) || M <- ['Elixir.Integer', 'Elixir.Kernel', 'Elixir.Map', 'Elixir.Process', 'Elixir.Tuple']], ok")
    said = {}
    for function in ("Integer.to_string/1", "Kernel.+/2", "Map.keys", "Tuple.to_list/1", "Integer.parse/1"):
        _, _, said[function] = t.run("-q", "-n", f"{function} {{ }}", "-n", "tick-50ms { exit(0); }", node=node)
    t.match(said["Integer.to_string/1"], r"warning: Elixir compiles calls of Integer\.to_string/1 into erlang:integer_to_binary/1: only those by apply are seen\n(.*\n)*.*erlang:integer_to_binary/1 sees")
    t.match(said["Kernel.+/2"], r"warning: .* into erlang:'\+'/2")
    t.match(said["Map.keys"], r"warning: .* into maps:keys/1")
    t.match(said["Tuple.to_list/1"], r"warning: .* into erlang:tuple_to_list/1")
    for function, instead, sees in (("Kernel.+/2", "erlang:'+'/2", False), ("Kernel.self/0", "erlang:self/0", False), ("Map.put/3", "maps:put/3 or an instruction", False),
                                    ("Kernel.elem/2", "erlang:element/2", False), ("Map.fetch/2", "maps:find/2", True), ("Process.monitor/1", "erlang:monitor/2", True)):
        _, _, err = t.run("-q", "-n", f"{function} {{ }}", "-n", "tick-50ms { exit(0); }", node=node)
        name = re.escape(function)
        t.match(err, rf"warning: Elixir compiles calls of {name} into {re.escape(instead)}: only those by apply are seen\n.*\n.*  " +
                (re.escape(instead) + " sees these calls" if sees else "probe the functions that call it"), "the probe that fires")
    t.true("Elixir compiles" not in said["Integer.parse/1"], f"one that is none of these: {said['Integer.parse/1']}")
    _, _, err = t.run("-q", "-n", "Kernel.unless/2 { }", node=node)
    t.match(err, r"Kernel\.unless is a macro, which runs when modules are compiled, as MACRO-unless/3")


def test_replaced_functions_that_are_not_loaded(t):
    """A module whose functions are all replaced is hardly ever loaded: the tool says what its calls are, and not that it is not there."""
    node = elixir_node(t)
    t.equal(node("[M || M <- ['Elixir.Integer', 'Elixir.Bitwise'], erlang:module_loaded(M)]"), [], "modules that are loaded")
    for function, hint in (("Integer.to_string/1", r"Elixir compiles calls of Integer\.to_string/1 into erlang:integer_to_binary/1; erlang:integer_to_binary/1 sees these calls"),
                           ("Elixir.Integer:to_charlist:entry", r"Elixir compiles calls of Integer\.to_charlist/1 into erlang:integer_to_list/1; erlang:integer_to_list/1 sees"),
                           ("Bitwise.band/2", r"Elixir compiles calls of Bitwise\.band/2 into erlang:'band'/2; probe the functions that call it"),
                           ("Integer.parse/1", r"module 'Integer' is not loaded")):
        status, _, err = t.run("-q", "-n", f"{function} {{ }}", node=node)
        t.equal(status, 1, err)
        t.match(err, hint)


def test_later(t):
    """The trace waits for a module that is loaded later."""
    node = elixir_node(t)
    trace = t.trace("-Zqn", READY + 'MyApp.Deux.one/0 { printf("%s|\\n", probemod); exit(0); }',
                    node=node)
    trace.ready()
    while trace.p.poll() is None:  # calls before the patterns are set are missed, and the tool says so
        node("etw:as(etw:worker(), fun() -> 'Elixir.MyApp.Deux':one() end)")
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^MyApp\.Deux\|$")


def test_shown(t):
    """Texts name modules as Elixir does; values, JSON and elixir=off as the VM."""
    node = elixir_node(t)
    clause = 'MyApp.Foo.bar/1 { printf("<%s><%-12s><%.3s>", probemod, probemod, probemod); trace(strjoin("{", strjoin(probemod, "}"))); ' \
             '@[probemod] = count(); @n[strlen(probemod)] = count(); }'
    out = calls(t, node, clause)
    t.match(out, r"^<MyApp\.Foo><MyApp\.Foo   ><MyA>\{MyApp\.Foo\}")
    t.equal(aggregation("\n".join(out.splitlines()[2:])), {"MyApp.Foo": 1, "16": 1}, "the string has its prefix")
    out = calls(t, node, clause, "-x", "elixir=off")
    t.match(out, r"^<Elixir\.MyApp\.Foo><Elixir\.MyApp\.Foo><Eli>\{Elixir\.MyApp\.Foo\}")
    rows = [json.loads(line) for line in calls(t, node, "MyApp.Foo.bar/1 { @[probemod] = count(); }", "--json").splitlines() if "aggregation" in line]
    t.equal([row["keys"] for row in rows], [["Elixir.MyApp.Foo"]], "JSON")


def test_wrong_names(t):
    """Messages repeat names as they were written; a module that is not loaded is never called loaded."""
    node = elixir_node(t)
    for text, hint in (("MyApp.Fo::entry", r"module 'MyApp\.Fo' is not loaded; did you mean 'MyApp\.Foo'\?"),
                       ("MyApp.Foo", r"MyApp\.Foo is a module; MyApp\.Foo::entry matches the calls of its functions"),
                       ("MyApp.*", r"module 'MyApp' is not loaded; MyApp\.\*::entry matches the calls of those below it"),
                       ("Foo.Inner.bar/1", r"module 'Foo\.Inner' is not loaded; did you mean 'MyApp\.Foo\.Inner'\?"),
                       ("lists", r"lists is a module; lists::entry matches the calls of its functions"),
                       ("lists:*", r"lists is a module: lists::\*"),
                       ("MyApp.Foo.baz/1", r"MyApp\.Foo has no function 'baz/1'; did you mean 'bar'\?"),
                       ("MyApp.Foo.valid?/3", r"it has valid\?/1"),
                       ("timer:slep/1", r"timer has no function 'slep/1'; did you mean 'sleep'\?"),
                       ("erltrace_agent::entry", "never traced")):
        status, out, err = t.run("-n", text, node=node)
        t.equal((status, out), (1, ""), text)
        t.match(err, r"\[D_PDESC_ZERO\]")
        t.match(err, hint)


def test_texts_compared(t):
    """The text that a warning offers for a comparison is the text that the argument has."""
    node = elixir_node(t)
    offered = []
    for written in ("MyApp.Foo.bar/1", "MyApp.Foo:valid?/1"):
        status, _, err = t.run("-e", "-n", f'MyApp.Foo::entry /args[1] == "{written}"/ {{ }}', node=node)
        t.equal(status, 0, err)
        offered += re.findall(r"  compare with \"(.*)\"$", err, re.M)
        t.equal(err.count("warning:"), 2, "that, and what the predicate comes to")
        t.match(err, r"args\[1\] is the function itself, as in \"'Elixir\.MyApp\.Foo':")
    t.equal(offered, ["'Elixir.MyApp.Foo':bar/1", "'Elixir.MyApp.Foo':'valid?'/1"], "texts")
    clauses = "".join(f'MyApp.Foo::entry /args[1] == "{text}"/ {{ @["{i}"] = count(); }}\n' for i, text in enumerate(offered))
    t.equal(aggregation(calls(t, node, clauses + 'MyApp.Foo.Inner.* { @["all"] = count(); }')), {"0": 1, "1": 1, "all": 1}, "calls")


def test_nothing_can_be_true(t):
    """If every clause of a trace was left out, the tool says so, and does not say that nothing happened."""
    node = elixir_node(t)
    status, _, err = t.run("--for", "500ms", "-qn", 'MyApp.Foo::entry /probemod == "MyApp.Foo"/ { @ = count(); }', node=node)
    t.equal(status, 0, err)
    t.match(err, "the predicates can never be true on these probes")
