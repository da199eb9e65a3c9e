"""Who may look into terms: the option `terms` of a trace, and the settings of a node's operator."""
import glob
import os
import random as random_module
import re
import subprocess
import sys

import choice
from erlt import COOKIE, ERLC, READY, ROOT, TOOL, UNDER, json_lines, pid

sys.path.append(os.path.join(ROOT, "test", "web"))
import client  # noqa: E402

ENTRY = "erlang*:lists:reverse/1:entry { trace(term_size(argv[0])); exit(0); }"


def reasons(t, node, *options):
    """The reasons with which two processes exit, as a trace shows them."""
    dying = [node(f"spawn(fun() -> receive go -> exit({reason}) end end)") for reason in ('{login, <<"password">>}', "shutdown")]
    trace = t.trace("-q", *options, "-n", READY + r'erlang*:::process-exit /args[0] == $$1 || args[0] == $$2/ { printf("why %s\n", args[1]); }',
                    *dying, node=node)
    trace.ready()
    for process in dying:
        node(f"(fun(P) -> M = monitor(process, P), P ! go, receive {{'DOWN', M, _, _, _}} -> ok end end)({pid(process)})")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    return sorted(line[4:] for line in trace.out.lines if line.startswith("why "))


def finding(t, node):
    t.clean(node, 15000)  # what another trace leaves to do is a limit, too
    status, out, err = t.run("doctor", "--json", "--node", node.name, "--cookie", node.cookie)
    t.equal(status, 0, "exit status of doctor\n" + out + err)
    return [(f["level"], f["text"]) for f in json_lines(out) if f.get("subject") == "terms"]


def refused(t, node, where):
    """A script that looks into terms is refused by name, before anything is set; and one that does not is traced, without terms."""
    hidden = f"by the node's operator: {where}"
    status, _, err = t.run("-n", ENTRY, "--node", node.name, "--cookie", node.cookie)
    t.equal(status, 1, err)
    t.match(err, re.escape(f"error: [AGENT_TERMS] the program uses argv[], and terms are hidden from it {hidden}"))
    t.match(err, "hint: leave it out")
    t.equal(reasons(t, node), ["[hidden]", "shutdown"], "reasons")
    (level, text), = finding(t, node)
    t.equal(level, "note", text)
    t.match(text, re.escape(f"hidden by {where}: "))
    t.clean(node, 15000)


def test_visible(t):
    """Without a setting scripts see terms, and doctor says so."""
    node = t.node()
    t.equal(finding(t, node), [("ok", "visible to scripts")], "finding")
    t.equal(reasons(t, node), ["shutdown", '{login,<<"password">>}'], "reasons")


def test_hidden_by_the_option(t):
    """The trace's own option: the script is refused before a node is asked, and arguments of another show no terms."""
    node = t.node()
    status, _, err = t.run("-x", "terms=off", "-n", ENTRY, "--node", node.name, "--cookie", node.cookie)
    t.equal(status, 1, err)
    t.match(err, r"-n:1:\d+: error: \[D_TERMS_OFF\] argv\[\] looks into terms")
    t.equal(reasons(t, node, "-x", "terms=off"), ["[hidden]", "shutdown"], "reasons")


LOGIN = """#{user => <<"joe">>, password => <<"pw">>, <<"api_token">> => 17, roles => [{secret, {deep, 1}}, {name, admin}]}"""
SEEN = READY + r"""erlang*:erltrace:probe:login { this->m = args[2];
    printf("text %s\n", term_text(this->m)); printf("elixir %s\n", term_inspect(this->m));
    printf("get %s %s %s\n", term_text(term_get(this->m, "password")), term_text(term_get(this->m, "user")), term_text(term_get(this->m, "api_token")));
    this->r = term_element(term_get(this->m, "roles"), 1);
    printf("pair %s %s %s\n", term_text(this->r), term_text(term_element(this->r, 2)), term_text(term_element(this->r, 1))); }"""


def seen(t, node, *options):
    """What a script sees of LOGIN, by word."""
    worker = node("etw:worker()")
    trace = t.trace("-q", "-x", "strsize=512", *options, "-n", SEEN, node=node)
    trace.ready()
    node(f"etw:as({pid(worker)}, fun() -> erltrace:probe(login, {LOGIN}) end)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    return dict(line.split(" ", 1) for line in trace.out.lines if " " in line)


def test_redacted(t):
    """Values of keys that match a pattern of the trace or of the node are in no text, and cannot be taken out. Other values are as ever."""
    node = t.node(options=["-env", "ERLTRACE_REDACT", "secret,nothing*"])
    t.equal(finding(t, node), [("note", "visible to scripts, but for values of keys secret, nothing*")], "finding")
    _, out, _ = t.run("doctor", "--node", node.name, "--cookie", node.cookie)
    t.match(out, r"but for values of keys secret, nothing\*\n +try: not hidden: texts that hold key and value, values before their key, fields of records", "what is not covered")
    got = seen(t, node, "-x", "redact=*pass*,other", "--redact", "*token")
    for word in ("text", "elixir", "get", "pair"):
        t.true("[redacted]" in got[word] and not re.search("pw|17|deep", got[word]), f"{word}: {got[word]}")
    t.equal(got["get"], """'[redacted]' <<"joe">> '[redacted]'""", "by key")
    t.equal(got["pair"], "{secret,[redacted]} '[redacted]' secret", "by place")
    got = seen(t, node)
    t.equal(got["get"], '<<"pw">> <<"joe">> 17', "without the trace's patterns")
    t.equal(got["pair"], "{secret,[redacted]} '[redacted]' secret", "with those of the node")
    t.clean(node, 15000)


def test_redacted_arguments(t):
    """The reason of an exit is such a text."""
    node = t.node()
    t.equal(reasons(t, node, "-x", "redact=log*"), ["shutdown", "{login,[redacted]}"], "reasons")


MODULE = """
-module(etsec).
-export([f/1, f/2, f/3, f/4, g/1, run/1]).
f(A) -> {A}.
f(A, B) -> [A, B].
f(A, B, C) -> {ok, [A, B, C]}.
f(A, B, C, D) -> #{got => [A, B, C, D]}.
g(none) -> ok.
run(Args) ->
    {P, M} = spawn_monitor(fun() ->
                               self() ! {m, Args},
                               receive {m, _} -> ok end,
                               R = apply(etsec, f, Args),
                               catch g(R),
                               exit({bad, Args, [{m, f, Args, []}]})
                           end),
    receive {'DOWN', M, process, P, _} -> ok end.
"""
SECRET = "zq7"  # is in each secret, and nowhere else
EACH = """
this->t = %s; printf("text %%s\\n", term_text(this->t)); printf("elixir %%s\\n", term_inspect(this->t)); printf("string %%s\\n", term_string(this->t));
@[term_text(this->t)] = count();"""
PLACES = READY + "".join(probe + " { " + EACH % term + " } " for probe, term in (
    ("erlang*:etsec:f:entry", "argv"), ("erlang*:etsec:f:entry", "argv[0]"), ("erlang*:etsec:f:return", "retval"), ("erlang*:etsec:f:return", "argv"),
    ("erlang*:etsec:g/1:exception", "reason"), ("erlang*:::message-send /term_string(term_element(message, 1)) == \"m\"/", "message"), ("erlang*:::process-exit", "reason"))) + """
erlang*:etsec:f/2:entry, erlang*:etsec:f/3:entry, erlang*:etsec:f/4:entry { printf("second %T\\n", argv[1]); printf("tail %T\\n", tl(argv)); }
erlang*:etsec:f/3:entry, erlang*:etsec:f/4:entry { printf("third %T\\n", argv[2]); printf("place %T\\n", term_element(argv, 3)); }
erlang*:etsec:f/4:entry { printf("fourth %T\\n", argv[3]); }
erlang*:etsec:f/1:entry /term_kind(argv[0]) == "tuple" && term_size(argv[0]) > 1/ { printf("element %T\\n", term_element(argv[0], 2)); }
erlang*:etsec:f/1:entry /term_kind(argv[0]) == "tuple" && term_size(argv[0]) > 2/ { printf("element %T\\n", term_element(argv[0], 3)); }
erlang*:etsec:f/1:entry /term_kind(argv[0]) == "list" && term_size(argv[0]) > 1/ { printf("tail %T\\n", tl(argv[0])); }
erlang*:::process-exit { printf("why %s\\n", args[1]); }"""
KEYS = ("password", "'Password'", "db_PASSWORD", '<<"user-password">>', '"password"', "[$P | \"assword\"]", "'contrase\\x{f1}a'", '<<"CONTRASE\\x{d1}A"/utf8>>')


def secrets(seed):
    """Argument lists, of one to four, with secrets behind keys of every shape in every place of doc/safety.md."""
    random = random_module.Random(seed)
    key = lambda: random.choice(KEYS)
    plain = lambda: random.choice(("1", "x", "<<1,2>>", '"text"', "[]", "#{}", "-1.5", "{a,b}"))

    def secret():
        text = f"{SECRET}{random.randrange(1000)}"
        return random.choice((f'<<"{text}">>', f'"{text}"', text, f'{{deep,[<<"{text}">>]}}', f"#{{{text} => 1}}", f'[<<"{text}">>,2]', f"{{{text},{text}}}"))

    def place(depth):
        if depth > 0 and random.random() < 0.5:
            inner = place(depth - 1)
            return random.choice((f"{{a,{inner}}}", f"[{inner},b]", f"#{{k => {inner}}}", f"#{{{inner} => v}}", f"{{{inner},c,d}}", f"[1|{inner}]"))
        k, s = key(), secret()
        return random.choice((f"#{{{k} => {s}, other => {plain()}}}", f"{{{k},{s}}}", f"{{{k},{plain()},{s}}}", f"{{{k},{s},{s}}}", f"{{x,{k},{s}}}",
                              f"{{x,y,{k},{s},z}}", f"[{{{k},{s}}},{{other,1}}]", f"[x,{k},{s}]", f"[{k},{s},{plain()}]", f"[{k}|{s}]", f"[x,{k}|{s}]"))

    for _ in range(150):
        yield random.choice((lambda: [place(3)], lambda: [key(), secret()], lambda: [plain(), key(), secret()], lambda: [key(), secret(), place(2)],
                             lambda: [plain(), plain(), key(), secret()], lambda: [place(1), place(2)]))()


def secret_node(t):
    node = t.node()
    text = MODULE.replace("\\", "\\\\").replace('"', '\\"')
    node(f'(fun({{M, Beam}}) -> etw:load(M, Beam) end)(etw:compiled("{text}"))')
    return node


def test_nothing_secret(t):
    """Whatever the place and the shape: no secret is in anything that comes out, as text and as JSON."""
    node = secret_node(t)
    rows = list(secrets(choice.seed("e2e/secrets")))
    for options in ([], ["--json"]):
        trace = t.trace("-q", *options, "-x", "strsize=2k", "-x", "redact=*password*, contrase\u00f1a", "-n", PLACES, node=node)
        trace.ready()
        for row in rows:
            node(f"etsec:run([{','.join(row)}])")
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        out = trace.out.text()
        t.true(out.count("[redacted]") > 10 * len(rows), f"{out.count('[redacted]')} places", trace)
        shown = [line for line in out.splitlines() if SECRET in line]
        t.equal(shown, [], "what is shown of secrets", trace)


def all_hidden(t, node, out):
    """Runs all that has secrets; `out` returns what has come out, as a text."""
    for row in secrets(choice.seed("e2e/secrets")):
        node(f"etsec:run([{','.join(row)}])")
    text = out()
    t.true(text.count("[redacted]") > 500, f"{text.count('[redacted]')} places")
    t.equal(re.findall(f".{{0,100}}{SECRET}.{{0,20}}", text), [], "what is shown of secrets")


def test_nothing_secret_on_the_page(t):
    """The same, with the node's own setting: nothing that the server sends to a page has a secret."""
    node = secret_node(t)
    node('application:set_env(erltrace, redact, "*password*, contrase\\x{f1}a")')
    server = client.Server(UNDER + [TOOL], ["--listen", "127.0.0.1:0", "--cookie", COOKIE, "--node", node.name], env=dict(os.environ, ERLTRACE_ROOT=ROOT))
    try:
        page = server.websocket()
        page.start("#pragma D option quiet\n#pragma D option strsize=2k\n#pragma D option aggrate=100ms\n" + PLACES, node=node.name)

        def out():
            node("etsec:run([the_end])")
            left = {"results", "records"}
            while left:
                left.remove(page.wait(tuple(left), lambda m: "the_end" in str(m))["type"])
            return "\n".join(str(m) for m in page.messages)

        all_hidden(t, node, out)
        page.close()
    finally:
        server.stop()
    node("application:unset_env(erltrace, redact)")


def test_nothing_secret_in_the_api(t):
    """The same for the results of the Erlang API, as terms."""
    node = secret_node(t)
    ebin = os.path.join(t.folder, "api")
    os.makedirs(ebin)
    subprocess.run([*ERLC, "-I", os.path.join(ROOT, "include"), "-o", ebin, *glob.glob(os.path.join(ROOT, "src", "*.erl"))], check=True, stdout=subprocess.DEVNULL)
    node(f'logger:set_module_level([supervisor, application_controller], warning), code:add_patha("{ebin}"), {{ok, [App]}} = file:consult("{ROOT}/src/erltrace.app.src"), application:load(App), '
         f'application:set_env(erltrace, program, "{TOOL}"), {{ok, _}} = application:ensure_all_started(erltrace)')
    script = t.file("places.d", PLACES)
    node('application:set_env(erltrace, redact, "*password*, contrase\\x{f1}a"), '
         '{ok, H} = erltrace:open([{strings, binary}, {queue, 64000000}, {options, [{strsize, "2k"}, {quiet, "1"}]}]), '
         f'persistent_term:put(etsec, H), {{ok, Script}} = file:read_file("{script}"), ok = erltrace:compile(H, Script), ok = erltrace:go(H)')

    def out():
        path = os.path.join(t.folder, "found")
        node('H = persistent_term:get(etsec), ok = erltrace:stop(H), '
             'All = (fun F(Acc) -> case erltrace:consume(H, 1000) of {ok, [_ | _] = Items} -> F([Items | Acc]); _ -> Acc end end)([]), '
             f'{{ok, Named}} = erltrace:walk(H, [named]), ok = file:write_file("{path}", io_lib:format("~0tp~n~0tp~n", [All, Named])), erltrace:close(H)', 60)
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read()

    all_hidden(t, node, out)
    node("application:stop(erltrace), application:unload(erltrace)")


def test_not_covered(t):
    """What the manual says is not covered, is not; and nothing else of its kind."""
    node = secret_node(t)
    with open(os.path.join(ROOT, "doc", "safety.md"), encoding="utf-8") as f:
        manual = f.read()
    trace = t.trace("-q", "-x", "redact=*password*", "-n", READY + r'erlang*:etsec:f/1:entry { printf("text %T\n", argv[0]); }', node=node)
    trace.ready()
    rows = ('<<"password=S">>', '{"S", password}', '[password, 1, "S"]', '#{{joe, password} => "S"}', '{user, "joe", "S"}')
    covered = ('{password, "S"}', '{password, sha256, "S"}', '{set, password, "S"}', '["--password", "S"]')
    for row in rows + covered:
        t.true(f"`{row}`" in manual, f"the manual has no {row}")
        node(f"etsec:run([{row}])")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    lines = [line for line in trace.out.lines if line.startswith("text ")]
    t.equal([bool(re.search(r"\bS\b", line)) for line in lines], [True] * len(rows) + [False] * len(covered), "what is shown", trace)


def test_hidden_by_the_environment(t):
    refused(t, t.node(options=["-env", "ERLTRACE_TERMS", "off"]), "ERLTRACE_TERMS in its environment")


def test_hidden_by_an_argument(t):
    refused(t, t.node(options=["-erltrace", "other", "1", "terms", "off"]), "its argument -erltrace terms")


def test_hidden_by_the_application(t):
    """The setting can be changed at run time: it is read whenever a program comes. None brings back what another one hides."""
    node = t.node(fresh=True)
    t.equal(finding(t, node), [("ok", "visible to scripts")], "at first")
    node("application:set_env(erltrace, terms, off)")
    refused(t, node, "the environment of its application erltrace")
    node("application:set_env(erltrace, terms, on)")
    t.equal(reasons(t, node), ["shutdown", '{login,<<"password">>}'], "reasons")
    node('os:putenv("ERLTRACE_TERMS", "off")')
    refused(t, node, "ERLTRACE_TERMS in its environment")
