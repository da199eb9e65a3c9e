"""ERLTRACE_LOG: the conversation with a node, for developers of erltrace."""
import os
import re

from erlt import COOKIE, READY, pid

LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z (->|<-|--) (\S+)(?: (.*))?"


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def test_conversation(t):
    """The log has what is sent and received, in order, as terms, with time and node; it has no cookie and no large binary."""
    node, path = t.node(), os.path.join(t.folder, "log")
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", READY + 'erlang*:etw:work/1:entry { @ = count(); }', node=node, env={"ERLTRACE_LOG": path})
    trace.ready()
    node(f"etw:calls({worker}, 101)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    text = read(path)
    lines = [re.fullmatch(LINE, line) for line in text.splitlines()]
    t.true(lines and all(lines), f"lines of another form in\n{text[:2000]}")
    t.equal({m[2] for m in lines}, {node.name}, "nodes")
    said = [f"{m[1]} {m[3]}" for m in lines]
    wanted = [r"-- connected", r"-> call \w+:\w+ \[", r"<- result ", r"-> <\S+> \{erltrace,<\S+>,\d+,\{open,\d+\}\}", r"<- \{erltrace,\d+,\{ok,",
              r"-> <\S+> \{erltrace,<\S+>,\d+,\{enable,<<.*bytes>>,", r"-> <\S+> \{erltrace,<\S+>,\d+,go\}", r"<- \{erltrace,\d+,",
              r"-> <\S+> \{erltrace,<\S+>,\d+,stop\}", r"-> <\S+> \{erltrace,<\S+>,\d+,close\}", r"-- closed"]
    rest = iter(said)
    for pattern in wanted:
        t.true(any(re.match(pattern, line) for line in rest), f"{pattern} in its place in\n{text[:4000]}")
    t.true(COOKIE not in text, "the cookie is not told")
    t.true("malformed" not in text, "every message can be printed")
    t.true(max(map(len, text.splitlines())) < 3000, "lines are bounded")
    t.equal(os.stat(path).st_mode & 0o777, 0o600, "who may read it")
    t.clean(node, 15000)


def test_to_the_error_stream_and_on_to_the_end(t):
    """`-` is the standard error stream; a file keeps its earlier content."""
    node, path = t.node(), t.file("log", "before\n")
    words = ("-q", "-n", "BEGIN { exit(0); }", "--node", node.name, "--cookie", COOKIE)
    status, _, err = t.run(*words, env={"ERLTRACE_LOG": "-"})
    t.equal(status, 0, err)
    t.match(err, rf"^\S+Z -- {re.escape(node.name)} connected$")
    t.equal(t.run(*words, env={"ERLTRACE_LOG": path})[0], 0)
    t.match(read(path), rf"\Abefore\n\S+Z -- {re.escape(node.name)} connected\n")
    t.equal(t.run(*words, env={"ERLTRACE_LOG": ""})[2], "", "nothing when it is empty")


def test_a_file_that_cannot_be_opened(t):
    node = t.node()
    status, out, err = t.run("-q", "-n", "BEGIN { exit(0); }", "--node", node.name, "--cookie", COOKIE, env={"ERLTRACE_LOG": t.folder})
    t.equal((status, out), (1, ""))
    t.match(err, rf"^erltrace: error: \[NODE_LOG\] cannot open the log {re.escape(t.folder)}: Is a directory$")
    t.clean(node)
