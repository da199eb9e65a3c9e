"""The command line: each letter means what it means to dtrace, and our own additions do what their descriptions say."""
import json
import glob
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

from erlt import PATIENCE, READY, ROOT, TOOL, UNDER, Failed, Late, Skipped, aggregation, json_lines, pid, tool, workload

ROW = re.compile(r"^ *(\d+) +(\S+) +(?:(\S+) +(\S+) +)?(\S+)$", re.M)
NOW = "BEGIN { exit(0); }"


def rows(text):
    """Returns (provider, module, function, name) of each line that -l prints."""
    return [m.groups()[1:] for m in ROW.finditer(text) if m[2] != "PROVIDER"]


def test_version(t):
    """-V is one line, as dtrace's; --version, or -Vv, says also what was built from what, and what is brought into nodes."""
    status, out, err = t.run("-V")
    t.equal((status, err), (0, ""), "-V")
    t.match(out, r"^erltrace: erltrace \d+\.\d+\.\d+\n\Z")
    status, long, err = t.run("--version")
    t.equal((status, err), (0, ""), "--version")
    t.equal(t.run("-Vv"), (0, long, ""), "-Vv")
    t.true(long.startswith(out), "it begins with that line")
    t.match(long, r"^build: ([0-9a-f]{12}\+?|unknown)$")
    t.match(long, r"^interface of the library: version \d+$")
    t.match(long, r"^program images: version \d+$")
    released = [subprocess.run([os.path.join(ROOT, "scripts", "dev", "releases"), which], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
                for which in ("--host", "--others")]
    tried = [n for which in released for n in which]
    t.match(long, rf"^OTP: {tried[0]} to {tried[-1]}, tried on {', '.join(tried)}$")
    said = json_lines(t.run("--version", "--json")[1])
    t.equal(len(said), 1, "objects")
    found = said[0]
    t.equal([str(n) for n in found["tried"]], tried)
    t.equal(f"build: {found['build']}" in long.splitlines(), True, long)
    t.equal(re.findall(r"^agent: (\w+), ([0-9a-f]{16})$", long, re.M), [(a["processor"], a["hash"]) for a in found["agents"]])
    t.true(os.uname().machine in [a["processor"] for a in found["agents"]], f"{found}")
    t.equal(sorted(os.path.realpath(a["path"]) for a in found["agents"]), sorted(glob.glob(os.path.join(os.path.realpath(ROOT), "priv", "erltrace_agent*.so"))))


def test_agents_at_hand(t):
    """A library is known by its bytes; what is no library is left out, and without any that is said."""
    root = os.path.join(t.folder, "there")
    os.makedirs(os.path.join(root, "priv"))
    env = {"ERLTRACE_ROOT": root}
    t.match(t.run("--version", env=env)[1], r"^agent: none is here$")
    with open(os.path.join(ROOT, "priv", "erltrace_agent.so"), "rb") as f:
        library = f.read()
    for name, data in (("", library), ("-same", library), ("-other", library + b"\0"), ("-aarch64", library[:18] + b"\xb7\0" + library[20:]), ("-none", b"text")):
        with open(os.path.join(root, "priv", f"erltrace_agent{name}.so"), "wb") as f:
            f.write(data)
    agents = {os.path.basename(a["path"]): a for a in json_lines(t.run("--version", "--json", env=env)[1])[0]["agents"]}
    one, same, other, arm = (agents[f"erltrace_agent{name}.so"] for name in ("", "-same", "-other", "-aarch64"))
    t.equal(len(agents), 4, f"{agents}")
    t.equal(one["hash"], same["hash"])
    t.true(one["hash"] != other["hash"], "of other bytes")
    t.equal(arm["processor"], "aarch64")


def test_help(t):
    status, out, _ = t.run("--help")
    t.equal(status, 0, "exit status")
    for word in ("-n", "-s", "-p", "-c", "-l", "-x", "-o", "--node", "--cookie", "--for", "--json", "nodes"):
        t.true(word in out, f"--help speaks of {word}")


def test_help_of_commands(t):
    for command in set(commands(t)) - {"port", "help"}:
        said = [t.run(*words) for words in (("help", command), (command, "--help"))]
        t.equal(said[0], said[1], f"help {command} and {command} --help")
        t.equal(said[0][0], 0, "exit status")
        t.match(said[0][1], rf"^usage: erltrace {command}\b")
    status, out, err = t.run("help", "nothing")
    t.equal((status, out), (2, ""), "no such command")
    t.match(err, "no command nothing: they are run, list, nodes, doctor, serve")
    with open(os.path.join(ROOT, "scripts", "completion", "erltrace"), encoding="utf-8") as f:
        t.true("doctor" not in f.read(), "completion has no list of its own")


def commands(t):
    """The subcommands, from the list that completion takes them from."""
    status, out, err = t.run("help", "commands")
    t.equal((status, err), (0, ""), "help commands")
    found = re.findall(r"^  (\w+) +\S", out, re.M)
    t.equal(len(found), len(out.splitlines()), out)
    return found


def test_help_of_options(t):
    status, out, err = t.run("help", "options")
    t.equal((status, err), (0, ""), "help options")
    t.match(out, r"^  bufsize         4m        bytes of the buffer", "a size")
    t.match(out, r"^  switchrate\*     0         time between readings", "one that setopt() can change")
    t.match(out, r"^  libdir  +-L: an additional folder", "one without a default")
    t.true("linkmode" not in out, "what has no meaning here is left out")


# What follows a line, for every shell: the line, all that is offered (or, as a set, some of it), what.
COMPLETIONS = (
    ("erltrace -x format=", ["json", "pprof", "speedscope", "text"], "values"),
    ("erltrace -q -x stackform=fo", ["folded"], "a value of an option that setopt() can change"),
    ("erltrace -x bufp", ["bufpolicy"], "options of -x"),
    ("erltrace run cra", ["crashes"], "ready scripts"),
    ("erltrace d", ["doctor"], "subcommands"),
    ("erltrace help opt", ["options"], "what there is help for"),
    ("erltrace --", {"--node", "--json", "--for"}, "long options"),
    ("erltrace serve --l", ["--listen"], "those of a subcommand"),
    ("erltrace doctor --ag", ["--agent-dir"], "one that only the usage of a subcommand has"),
)


def completes(t, offered):
    """offered(line): what a shell offers."""
    for line, expected, what in COMPLETIONS:
        found = offered(line)
        if isinstance(expected, set):
            t.true(expected <= set(found), f"{what}: {found}")
        else:
            t.equal(sorted(found), expected, what)


def test_completion(t):
    """What bash offers behind a line; the words are the command's own."""
    def offered(line):
        script = ('source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; read -ra COMP_WORDS <<< "$2"; COMP_WORDS[0]=$3; [[ $2 == *" " ]] && COMP_WORDS+=(""); '
                  'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _erltrace; printf "%s\\n" "${COMPREPLY[@]}"')
        path = os.path.join(ROOT, "scripts", "completion", "erltrace")
        return subprocess.run(["bash", "-c", script, "bash", path, line, TOOL], check=True, capture_output=True, text=True).stdout.split()
    completes(t, offered)
    t.equal(sorted(offered("erltrace ")), sorted(commands(t)), "all subcommands")


def test_completion_of_fish(t):
    if shutil.which("fish") is None:
        raise Skipped("needs fish (scripts/dev/deps test)")
    path = os.path.join(ROOT, "scripts", "completion", "erltrace.fish")

    def offered(line):
        # By its whole path, so that it is this erltrace.
        p = subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line.replace('erltrace', TOOL, 1)}'"], check=True, capture_output=True, text=True,
                           env=dict(os.environ, HOME=t.folder))
        t.equal(p.stderr, "", line)
        return [row.split("\t")[0].split("=")[-1] for row in p.stdout.splitlines()]
    completes(t, offered)
    t.equal(sorted(w for w in offered("erltrace ") if w in commands(t)), sorted(commands(t)), "all subcommands")
    t.match(subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{TOOL} d'"], check=True, capture_output=True, text=True,
                           env=dict(os.environ, HOME=t.folder)).stdout, r"^doctor\t\w+", "with its meaning")


def test_completion_of_zsh(t):
    """In a zsh at a terminal, which lists what it would complete."""
    if shutil.which("zsh") is None:
        raise Skipped("needs zsh (scripts/dev/deps test)")
    master, slave = pty.openpty()
    env = {"PATH": os.path.dirname(TOOL) + ":" + os.environ["PATH"], "HOME": t.folder, "TERM": "dumb", "COLUMNS": "400", "LC_ALL": "C"}
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True, close_fds=True)
    os.close(slave)
    said, turn = "", 0

    def until(mark):
        nonlocal said
        end = time.monotonic() + PATIENCE
        while mark not in said:
            ready, _, _ = select.select([master], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Late(f"no {mark} from zsh: {said[-2000:]}")
            said += os.read(master, 65536).decode(errors="replace")
        before, _, said = said.partition(mark)
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|[\r\b]", "", before)

    def send(text):
        """Types something that ends with a turn of the shell, and returns what is seen until that turn. No key of it means anything to a terminal in
        which no line is edited yet."""
        nonlocal turn
        turn += 1
        os.write(master, text.encode())
        return until(f"\nend{turn}.")

    try:
        send(f"unsetopt zle_bracketed_paste prompt_sp; PS1=; RPS1=; LISTMAX=100000; stty cols 400 rows 200; fpath=({ROOT}/scripts/completion $fpath);"
             "turn() { print end$((++turns)). }; turn\n")
        send("autoload -Uz compinit && compinit -D -u; zstyle ':completion:*' verbose no; zstyle ':completion:*' list-colors '';"
             "offer() { zle list-choices; zle -U $'\\C-uturn\\n' }; zle -N offer; bindkey '^T' offer; turn\n")

        def offered(line):
            seen = send(line + "\x14")
            return seen.partition(line)[2].partition("\n")[2].rpartition("\n")[0].split()
        completes(t, offered)
        send("zstyle ':completion:*' verbose yes; turn\n")
        t.match(send("erltrace d\x14"), r"doctor +-- \w+", "with its meaning")
    finally:
        shell.kill()
        shell.wait()
        os.close(master)


def test_no_words(t):
    """Without words the tool shows in ten lines what can be done here and now: which nodes there are, and commands that work as printed."""
    t.needs_proc()
    node = t.node(fresh=True)
    status, out, err = t.run()
    t.equal((status, out), (2, ""), "status and output")
    t.true(len(err.splitlines()) <= 12, err)
    t.match(err, r"^Nothing seems to prevent a trace of \d+ of the \d+ Erlang VMs of this host:$")
    t.match(err, r"^  erltrace run births -p \d+ ")
    if f"-p {node.pid} " not in err:
        t.match(err, r"(?s)(  -p \d+ .*){3}")  # there are other nodes on this host


def test_scripts_by_name(t):
    """`list` shows the ready scripts and what they do; `run` runs one, wherever it is."""
    status, out, err = t.run("list", "--json")
    t.equal((status, err), (0, ""), "list")
    here = {s["name"]: s for s in json_lines(out)}
    t.equal(set(here), {os.path.basename(f)[:-2] for part in ("", "kernel") for f in glob.glob(os.path.join(ROOT, "scripts", part, "*.d"))}, "names")
    t.true(all(s["what"] and os.path.isfile(s["path"]) for s in here.values()), f"{here}")
    t.equal(here["functions"]["arguments"], "MODULE", "arguments")
    t.match(t.run("list")[1], r"^births +process births and deaths, each second\.$")
    mine = t.file("mine.d", "/*\n * mine.d A B - what mine shows.\n */\n#pragma D option quiet\n"
                            'BEGIN { printf("%s %s %d\\n", $$1, $$2, $#); exit(0); }\n'.replace(" %d", "").replace(", $#", ""))
    t.file("births.d", "BEGIN { exit(7); }\n")
    env = {"ERLTRACE_SCRIPTS": f"/nonexistent:{os.path.dirname(mine)}"}
    t.match(t.run("list", env=env)[1], r"^mine A B +what mine shows\.$")
    t.equal(t.run("run", "mine", "--local", "one", "two", env=env), (0, "one two\n\n", ""), "run mine")
    t.equal(t.run("run", "mine.d", "one", "two", "--local", env=env)[1], "one two\n\n", "with its ending")
    t.equal(t.run("run", mine, "one", "two", "--local")[1], "one two\n\n", "a file")
    t.file("may.d", "/*\n * may.d A [B] - what may shows.\n */\n#pragma D option quiet\n#pragma D option defaultargs\n"
                    'BEGIN { printf("%s %s", $$1, $$2); exit(0); }\n')
    t.equal([t.run("run", "may", *words, "--local", env=env) for words in (("one",), ("one", "two"))], [(0, "one \n", ""), (0, "one two\n", "")], "one that may be left out")
    t.equal(t.run("run", "births", "--local", env=env)[0], 7, "the earlier folder counts")
    t.equal(t.run("run", "births", "any", "--local", "-x", "argref", env=env)[0], 7, "one that does not say what it takes")
    for words, status, text in ((("mine", "one"), 2, "mine needs A B: erltrace run mine A B"), (("min",), 2, "did you mean mine"),
                                (("mine", "one", "two", "three"), 2, "mine takes A B, not three: erltrace run mine A B"),
                                (("may",), 2, "may needs A [B]: erltrace run may A [B]"), (("may", "1", "2", "3"), 2, "may takes A [B], not 3: erltrace run may A [B]"),
                                (("latency", "shop"), 2, "latency takes no arguments, not shop: erltrace run latency"), ((), 2, "the name of a script"),
                                (("mine", "-n", "BEGIN"), 2, "no other program"), (("/no/such.d",), 1, "No such file")):
        got, out, err = t.run("run", *words, "--local", env=env)
        t.equal((got, out), (status, ""), f"{words}: {err}")
        t.match(err, re.escape(text))


def test_seconds(t):
    """A time without a unit is in seconds."""
    status, out, err = t.run("--local", "--for", "1", "-qn", 'BEGIN { began = timestamp; } END { printf("%d\\n", (timestamp - began) / 1000000); }')
    t.equal((status, err), (0, ""), "status")
    t.true(int(out) >= 900, f"a second: {out} ms")
    t.match(t.run("--for", "1parsec", "-n", "BEGIN")[2], "--for 1parsec: not a time; write it like 10 ")


def test_cookie_is_not_shown(t):
    """The cookie is never visible: not on the tool's command line or in its environment, nor in those of the programs that it starts."""
    def shown(process):
        return b"".join(open(f"/proc/{process}/{name}", "rb").read() for name in ("cmdline", "environ"))
    node = t.node()
    for how in ("words", "one word", "environment"):
        command, env = tool("-wqn", READY + 'tick-50ms /started && !n++/ { system("tr \'\\\\0\' \' \' </proc/self/environ; echo; echo said"); printf("over\\n"); }')
        env = dict(env, ERLTRACE_COOKIE=node.cookie if how == "environment" else "wrong")
        command[len(UNDER) + 1:len(UNDER) + 1] = {"words": ["--cookie", node.cookie], "one word": ["--cookie=" + node.cookie],
                                                  "environment": []}[how] + ["--node", node.name]
        # Unbuffered, since communicate() does not see what a buffer has read beyond the first line.
        p = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        t.equal(p.stdout.readline(), b"ready\n", how)
        out = line = b""
        while line != b"over\n" and (line := p.stdout.readline()):
            out += line
        there = shown(p.pid) if line else b""
        p.send_signal(signal.SIGINT)  # not before: who runs a program by system() ignores it until that has ended
        rest, err = p.communicate()
        out += rest
        t.equal((p.returncode, err), (0, b""), how)
        t.equal(node.cookie.encode() in there, False, f"{how}: seen in /proc")
        t.match(out.decode(), "said")
        t.equal(node.cookie in out.decode() or "ERLTRACE_COOKIE" in out.decode(), False, f"{how}: seen in a child")


def test_list_all(t):
    """-l shows what the node really has: the named probes, and each function of each module."""
    node = t.node()
    status, out, err = t.run("-l", node=node)
    t.equal(status, 0, "exit status: " + err)
    t.match(out, r"^   ID   PROVIDER            MODULE                          FUNCTION NAME$", "header")
    found = rows(out)
    provider = f"erlang{node.pid}"
    for name in ("process-spawn", "process-exit", "process-scheduled", "process-unscheduled", "message-send",
                 "message-queued", "gc_minor-start", "gc_minor-end", "gc_major-start", "gc_major-end"):
        t.true((provider, None, None, name) in found, f"{provider}:::{name}")
    for name in ("entry", "return", "exception"):
        t.true((provider, "etw", "work/1", name) in found, f"{provider}:etw:work/1:{name}")
        t.true((provider, "lists", "map/2", name) in found, f"{provider}:lists:map/2:{name}")
    for name in ("BEGIN", "END", "ERROR"):
        t.true(("dtrace", None, None, name) in found, f"dtrace:::{name}")
    functions = node('[[M, length([x || {F, _} <- M:module_info(functions), F =/= module_info])] || M <- [etw, lists, maps]]')
    for module, n in functions:
        shown = {f[2] for f in found if f[1] == module and not f[2].startswith("module_info/")}
        t.true(abs(len(shown) - n) <= 12, f"{module} has {n} functions, {len(shown)} are listed")
    t.true(not [f for f in found if f[1] and f[1].startswith("erltrace_agent")], "our own modules are not listed")


def test_list_narrowed(t):
    node = t.node()
    provider = f"erlang{node.pid}"
    for args, expected in (
            (["-n", "erlang*:etw:work/1:entry"], [(provider, "etw", "work/1", "entry")]),
            (["-n", "erlang*:etw:work:"], [(provider, "etw", "work/1", n) for n in ("entry", "return", "exception")]),
            (["-n", "gc_m*-start"], [(provider, None, None, n) for n in ("gc_minor-start", "gc_major-start")]),
            (["-f", "etw:work/1"], [(provider, "etw", "work/1", n) for n in ("entry", "return", "exception")]),
            (["-P", "dtrace"], [("dtrace", None, None, n) for n in ("BEGIN", "END", "ERROR")]),
            (["-i", "1"], [("dtrace", None, None, "BEGIN")]),
            (["-n", "BEGIN", "-n", "END"], [("dtrace", None, None, "BEGIN"), ("dtrace", None, None, "END")])):
        status, out, err = t.run("-l", *args, node=node)
        t.equal(status, 0, f"exit status of -l {args}: {err}")
        t.equal(sorted(map(str, rows(out))), sorted(map(str, expected)), f"-l {' '.join(args)}")
    status, out, _ = t.run("-l", "-m", "etw", node=node)
    t.equal(status, 0, "exit status of -l -m")
    t.true(rows(out) and all(r[1] == "etw" for r in rows(out)), "-m etw lists etw alone")


def test_list_ids_can_be_used(t):
    """An id that -l shows selects that probe with -i."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    _, out, _ = t.run("-l", "-n", "erlang*:etw:work/1:entry", node=node)
    number = ROW.search(out.split("NAME\n", 1)[1])[1]
    trace = t.trace("-q", "-n", READY, "-i", number + " { @ = count(); }", node=node)
    trace.ready()
    node(f"etw:calls({worker}, 307)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +307$")


def test_list_without_match(t):
    status, out, err = t.run("-l", "-n", "erlang*:etw:nosuch:entry", node=t.node())
    t.equal(status, 0, "exit status, as dtrace has it")
    t.equal(rows(out), [], "rows")
    t.match(err, "nosuch")


def test_several_programs(t):
    """-n, -s, -P, -m, -f together share their variables and run in the order of the command line."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    path = t.file("two.d", 'erlang*:etw:work/1:entry\n{\n    @["two", n] = count();\n}\n')
    trace = t.trace("-q", "-n", READY + "erlang*:etw:work/1:entry { n++; }", "-s", path,
                    "-f", 'etw:boom/1 { @["boom", 0] = count(); }', node=node)
    trace.ready()
    node(f"etw:calls({worker}, 3)")
    node(f"etw:raises({worker}, 5)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    # boom/1: entry and exception of five calls.
    t.equal(found, {("two", "1"): 1, ("two", "2"): 1, ("two", "3"): 1, ("boom", "0"): 10}, "counts", trace)


def test_matched(t):
    """Without -q: how many probes matched, and a header and a line for each record."""
    node = t.node()
    status, out, err = t.run("-n", "BEGIN { exit(0); }", node=node)
    t.equal(status, 0, "exit status")
    t.match(err, r"description 'BEGIN ' matched 1 probe$")
    t.match(out, r"^CPU     ID                    FUNCTION:NAME$")
    t.match(out, r"^ +\d+ +1 +:BEGIN")


def test_script_arguments(t):
    status, out, err = t.run("-q", "-n", 'BEGIN { printf("%d %s %s %d\\n", $1, $$2, $3, $1 + 1); exit($4); }',
                             "41", "two words", '"quoted"', "3", node=t.node())
    t.equal(out.splitlines()[:1], ["41 two words quoted 42"], f"output ({err})")
    t.equal(status, 3, "exit status")


def test_missing_argument(t):
    status, _, err = t.run("-q", "-n", 'BEGIN { trace($1); exit(0); }', node=t.node())
    t.equal(status, 1, "exit status")
    t.match(err, r"\[D_MACRO_UNDEF\].*\$1")


def test_output_file(t):
    """-o appends; only output goes to the file."""
    path = t.file("out.txt", "before\n")
    status, out, err = t.run("-o", path, "-q", "-n", 'BEGIN { printf("inside\\n"); exit(0); }', node=t.node())
    t.equal(status, 0, "exit status: " + err)
    t.equal(out, "", "standard output")
    with open(path, encoding="utf-8") as f:
        t.equal(f.read().split(), ["before", "inside"], "the file")


def test_json(t):
    """--json: one object for each line, including numbers and histograms."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("--json", "-n", """
        profile:::tick-50ms /!started/ { started = 1; printf("ready"); trace("x"); }
        erlang*:etw:work/1:entry { @c[copyinstr(arg1)] = count(); n++; @q = quantize(n); @z["a", 1] = sum(-2); }""", node=node)
    trace.wait('"ready"')
    node(f"etw:calls({worker}, 11)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = json_lines(trace.out.text())
    records = [o for o in found if o["type"] == "record"]
    t.equal(len(records), 1, "records", trace)
    t.equal([d["action"] for d in records[0]["data"]], ["printf", "trace"], "actions", trace)
    t.equal(records[0]["node"], node.name, "node")
    t.equal(records[0]["probe"]["name"], "tick-50ms", "probe")
    aggs = {o["name"]: o for o in found if o["type"] == "aggregation"}
    t.equal((aggs["@c"]["keys"], aggs["@c"]["value"]), (["etw:work/1"], 11), "@c", trace)
    t.equal((aggs["@z"]["keys"], aggs["@z"]["value"]), (["a", 1], -22), "@z", trace)
    t.equal({b["from"]: b["count"] for b in aggs["@q"]["buckets"]}, {1: 1, 2: 2, 4: 4, 8: 4}, "@q", trace)


def test_format(t):
    """-x format=json prints records, aggregations and faults as --json does; messages stay text."""
    script = "BEGIN { trace(1); @[2] = count(); trace(1 / (this->zero = 0)); } BEGIN { exit(0); }"
    want, got = t.run("--json", "-q", "-n", script), t.run("-x", "format=json", "-q", "-n", script)

    def timeless(out):
        return [{k: v for k, v in line.items() if k not in ("timestamp", "cpu")} for line in json_lines(out)]
    if want[0] != 0 or got[0] != 0 or timeless(got[1]) != timeless(want[1]) or {line["type"] for line in json_lines(got[1])} != {"record", "error", "aggregation"}:
        raise Failed(f"--json: {want}\nformat=json: {got}")
    status, out, err = t.run("-x", "format=json", "-n", "BEGIN { nosuch(); }")
    if status != 1 or out != "" or "[D_PROTO" in err or not err.startswith("erltrace: "):
        raise Failed(f"an error with format=json: {(status, out, err)}")
    status, out, err = t.run("-x", "format=yaml", "-n", "BEGIN { exit(0); }")
    if status != 1 or "text, json, pprof or speedscope" not in err:
        raise Failed(f"format=yaml: {(status, out, err)}")


def test_json_errors(t):
    """With --json errors are objects as well, and the run still fails."""
    status, out, err = t.run("--json", "-n", "BEGIN { x = ; }", node=t.node())
    t.equal(status, 1, "exit status")
    objects = [json.loads(line) for line in (out + err).splitlines() if line.startswith("{")]
    found = [o for o in objects if o.get("type") == "error" and o.get("tag") == "D_SYNTAX"]
    t.equal(len(found), 1, f"one error object in\n{out}{err}")
    t.true(found[0]["line"] == 1 and found[0]["column"] > 1, f"its place: {found[0]}")


def test_zero_matches_allowed(t):
    """With -Z a description that matches nothing is skipped, and each is said; a script that sets the option says nothing."""
    node = t.node()
    clauses = "erlang*:nosuchmodule::entry { n++; }\nnonsense:::x, erlang*:lists:seq/2:entry { n++; }\nerlang*:::message-sned { }\n" + NOW
    status, _, err = t.run("-Z", "-q", "-n", clauses, node=node)
    t.equal(status, 0, "exit status: " + err)
    t.equal(re.findall(r"^erltrace: -n:(\d+):(\d+): note: no probe matches (.*)$", err, re.M),
            [("1", "1", "erlang*:nosuchmodule::entry as yet: it is skipped"), ("2", "1", "nonsense:::x as yet: it is skipped"),
             ("3", "1", "erlang*:::message-sned as yet: it is skipped")], err)
    t.match(err, "no provider 'nonsense'")
    status, _, err = t.run("-q", "-n", "#pragma D option zdefs\n" + clauses, node=node)
    t.equal((status, err), (0, ""), "a program that sets the option")


def test_nothing_matches_as_yet(t):
    """With -Z, and no description that matches anything, the tool says so, and waits."""
    status, _, err = t.run("-Z", "-q", "--for", "100ms", "-n", "nonsense:::x { }", node=t.node())
    t.equal(status, 0, err)
    t.match(err, r"(?m)^erltrace: no description matches a probe as yet\n +hint: with -Z")


def test_compile_only(t):
    """-e: compiles, enables nothing."""
    status, out, err = t.run("-e", "-q", "-n", 'BEGIN { printf("never\\n"); exit(5); }', node=t.node())
    t.equal(status, 0, "exit status: " + err)
    t.true("never" not in out, "nothing ran")


def test_show_code(t):
    """-S shows the code that was made."""
    status, _, err = t.run("-S", "-e", "-n", "BEGIN { n = timestamp + 1; }", node=t.node())
    t.equal(status, 0, "exit status")
    t.match(err, r"(?i)\badd\b")


def test_pid(t):
    """-p PID finds a node's name and cookie: from the cookie file in its HOME, and from its command line."""
    t.needs_proc()
    for node in (t.node(), t.node(options=("-setcookie", "another"), cookie="another")):
        for home in (None, node.home):
            trace = t.trace("-q", "-p", node.pid, "-n", 'BEGIN { printf("%d\\n", $target); exit(0); }', home=home)
            status = trace.end()
            if status == 0:
                t.match(trace.out.text(), rf"^{node.pid}$")
                break
        else:
            raise Failed("not attached\n" + trace.said())


def test_nodes(t):
    """`erltrace nodes` lists the BEAMs of this host: pid, name, release, and whether the tool can attach to them."""
    t.needs_proc()
    node = t.node()
    status, out, err = t.run("nodes", "--cookie", node.cookie)
    t.equal(status, 0, "exit status: " + err)
    line = t.match(out, rf"^.*\b{node.pid}\b.*$", "the node's line")[0]
    t.true(node.name in line, f"the node's name in: {line}")
    t.match(line, rf"\b{node('etw:release()')}\b", "the release")
    with subprocess.Popen(["erl", "-noinput", "-eval", 'io:format("up~n").'], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as p:
        p.stdout.readline()
        _, out, _ = t.run("nodes")
        p.kill()
    i = next((i for i, line in enumerate(out.splitlines()) if re.search(rf"\b{p.pid}\b", line)), None)
    t.true(i is not None, "a BEAM without a name is listed too")
    t.match("\n".join(out.splitlines()[i:i + 3]), "name", "says that it has no name")


def test_command(t):
    """-c starts a node, traces it as soon as it can be reached, and ends with it."""
    t.needs_proc()
    fires, seen = os.path.join(t.folder, "fires"), os.path.join(t.folder, "seen")
    trace = t.trace("-qw", "-n", f"""
        profile:::tick-50ms /!told/ {{ told = 1; system("echo > {fires}"); }}  /* a tick means that all probes fire */
        erlang*:lists:zipwith3/4:entry {{ n++; @ = count(); }}
        profile:::tick-50ms /n == 1009 && !seen/ {{ seen = 1; printa(@); system("echo > {seen}"); }}""", "-c",
                    f'erl -noinput -pa {workload()} -eval etw:when_traced("{fires}","{seen}").')
    status = trace.end()
    t.equal(status, 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +1009$")


def test_local_without_node(t):
    """With a node given, a program of only dtrace and profile probes also runs, and its ticks fire."""
    status, out, err = t.run("-q", "-n", 'tick-10ms { n++; } tick-10ms /n == 5/ { printf("%d\\n", n); exit(0); }', node=t.node())
    t.equal(status, 0, "exit status: " + err)
    t.equal(out.split(), ["5"], "output")


def test_pragma_and_shebang(t):
    """A script that is run by its #! line, with options in the text."""
    node = t.node()
    path = t.file("x.d", "#!/usr/bin/env -S erltrace -s\n#pragma D option quiet\n"
                  'BEGIN\n{\n    printf("%s", $$1);\n    exit(0);\n}\n')
    status, out, err = t.run("-s", path, "hello", node=node)
    t.equal(status, 0, "exit status: " + err)
    t.equal(out.strip(), "hello", "output")


def test_status_line(t):
    """On a terminal there is one status line, on standard error; the output has none of it."""
    node = t.node()
    command, env = tool("-q", "-n", 'profile:::tick-100ms { printf("line\\n"); } erlang*:etw:work/1:entry { @ = count(); }', node=node)
    try:
        main, terminal = pty.openpty()
    except OSError as e:
        raise Skipped(f"no terminal: {e}") from e
    env["TERM"] = "xterm"
    node("etw:busy(1)")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, stdin=subprocess.DEVNULL, env=env, cwd=ROOT) as p:
        os.close(terminal)
        shown, asked, end = b"", False, time.monotonic() + PATIENCE
        while True:
            if time.monotonic() > end:
                p.kill()
                raise Late(f"no end; the terminal shows {shown!r}")
            if select.select([main], [], [], 0.2)[0]:
                try:
                    shown += os.read(main, 4096)
                except OSError:
                    break
            if not asked and node.short.encode() in shown and (b"\r" in shown or b"\x1b[" in shown):
                p.send_signal(signal.SIGINT)
                asked = True
        out = p.stdout.read().decode()
        t.equal(p.wait(), 0, "exit status")
    os.close(main)
    shown = shown.decode(errors="replace")
    t.match(shown, re.escape(node.short), "the node's name in the status line")
    t.true("\r" in shown or "\x1b[" in shown, "the line is written over itself")
    t.true(all(line in ("line", "") or line.strip().isdigit() for line in out.splitlines()), f"output: {out!r}")


def test_no_status_line_in_a_pipe(t):
    status, _, err = t.run("-q", "-n", "profile:::tick-1s { exit(0); }", node=t.node())
    t.equal(status, 0, "exit status")
    if not UNDER:
        t.equal(err, "", "standard error")


def test_two_nodes(t):
    """--node A,B: one program in both nodes; the results are merged."""
    one, two = t.node(), t.node(fresh=True)
    workers = [pid(n("etw:worker()")) for n in (one, two)]
    trace = t.trace("-q", "--node", f"{one.name},{two.name}", "--cookie", one.cookie, "-n",
                    'profile:::tick-50ms /!started/ { started = 1; printf("ready\\n"); } '
                    "erlang*:etw:work/1:entry { @ = count(); }")
    trace.ready()
    trace.wait("ready", start=trace.wait("ready") + 1)
    one(f"etw:calls({workers[0]}, 101)")
    two(f"etw:calls({workers[1]}, 211)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +312$")
    t.clean(one)
    t.clean(two)


def test_node_named_twice(t):
    """One node is named twice, and then also by its process: it is traced once, with a warning."""
    t.needs_proc()
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "--node", f"{node.name},{node.name}", "-p", str(node.pid), "--cookie", node.cookie, "-n",
                    'profile:::tick-50ms /!started/ { started = 1; printf("ready\\n"); } '
                    "erlang*:etw:work/1:entry { @ = count(); }")
    trace.ready()
    node(f"etw:calls({worker}, 101)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +101$")
    t.equal(trace.err.text().count(" is named twice; it is traced once"), 2, "warnings", trace)
    t.clean(node)


def test_only_node(t):
    """Without a target, the only node of this host is traced, also for what has no probe of a node's and still needs one; if there are several,
    the error names them."""
    t.needs_proc()
    node = t.node()
    for script in ('erlang*:::process-exit {} BEGIN { printf("here\\n"); exit(0); }', 'BEGIN { printf("here%s\\n", erlname); exit(0); }'):
        status, out, err = t.run("--cookie", node.cookie, "-q", "-n", script)
        if status == 0:
            t.equal(out.split(), ["here"], "output")
        else:  # other nodes may run on this host
            t.equal(status, 1, "exit status")
            t.match(err, r"\[NODE_MANY\]")
            t.match(err, re.escape(node.short), "the nodes are named")


def test_command_without_a_node(t):
    """A command that is no Erlang node: it is said, with the way that works for it."""
    t.needs_proc()
    status, out, err = t.run("-qn", "BEGIN { exit(0); }", "-c", "true")
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[NODE_SPAWN\] failed to execute true: it ended with status 0 before its node could be reached; no Erlang VM was seen in it\n"
                 r" +hint: .*--local -c 'COMMAND'\n")


def test_list_without_a_target(t):
    """Where no list can be made, nothing of it is printed."""
    status, out, err = t.run("-l", "--node", f"nosuch{os.getpid()}@localhost")
    t.equal((status, out), (1, ""), err)
    t.match(err, "NODE_", "the error")


def test_target(t):
    """$target is the process of -p, also beside a node that only its name tells of; of that it is not known."""
    a, b = t.node(), t.node(options=("-hidden",))
    by_name, by_pid = ["--node", a.name], ["-p", str(b.pid)]
    for targets, wanted in ((by_name + by_pid, b.pid), (by_pid + by_name, b.pid), (by_name, 0)):
        status, out, err = t.run("-q", *targets, "-n", 'BEGIN { printf("<%d>", $target); } tick-10ms { exit(0); }')
        t.equal((status, set(out.replace("\n", "").strip("<>").split("><"))), (0, {str(wanted)}), err)
