"""Who may look into terms: the option `terms` of a trace, and the settings of a node's operator."""
import re

from erlt import READY, json_lines, pid

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
