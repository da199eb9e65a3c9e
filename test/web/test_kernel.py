"""Scripts of the kernel, and of a node and the kernel, on a server whose pages may run them. Where this process may not trace the kernel, the tests that
do are skipped.

A script finds what a test does by a path that nothing else names: the processes of a test may have other numbers in the kernel.
"""
import functools
import os
import subprocess

import client
import erlt
import places

NOWHERE = "/nonexistent/et-web"
AT_LINK = f'syscall::readlink:entry /copyinstr(arg0) == "{NOWHERE}"/'
LINKS = f"""-module(et_web_links). -export([look/0, links/1]).
look() -> prim_file:read_link("{NOWHERE}").
links(N) -> [et_web_links:look() || _ <- lists:seq(1, N)].
"""

def served(*args, **how):
    """A server of its own."""
    return client.Server(erlt.UNDER + [erlt.TOOL], ["--listen", "127.0.0.1:0", "--cookie", erlt.COOKIE, *args],
                         env=dict(os.environ, ERLTRACE_ROOT=os.environ.get("ERLTRACE_ROOT", erlt.ROOT)), log=os.path.join(erlt.BUILD, "test", "web-kernel.log"), **how)


def links(n):
    for _ in range(n):
        try:
            os.readlink(NOWHERE)
        except OSError:
            pass


def counted(w, started, names, n):
    """Waits until the aggregations of these names have come to n each; returns all that has come: {name: {key: number}}."""
    model = client.Model(started)
    number = {a["name"]: a["id"] for a in started["aggregations"]}

    def found(name):
        return {key: sum(v.values()) for key, v in model.by_key(number[name], totals=True).items()}

    while any(sum(found(name).values()) < n for name in names):
        model.take(w.wait(("state", "results")))
    return {name: found(name) for name in number}


def asked(server, node, what, **of):
    return server.get(f"/api/{what}?node={node}" + "".join(f"&{name}={value}" for name, value in of.items())).json()


def problem(w, **start):
    """What a start is refused with: (tag, text, hint)."""
    w.send({"type": "start", "id": 9, **start})
    m = w.wait("failed", lambda m: m["id"] == 9)
    return m["tag"], m["text"], m["hint"]


def test_not_without_the_option(t, s):
    """A server shows the kernel, and with it everything on its host, only if it was started for that; and says how."""
    t.equal(s.get("/api/state").json()["kernel"], False, "state")
    t.true(not any(script["kernel"] for script in s.get("/api/scripts").json()["scripts"]), "ready scripts")
    t.true("syscall" not in s.get("/api/providers?node=").json()["items"], "providers")
    node, w = t.node(), s.websocket()
    t.equal(w.seen("hello")[0]["kernel"], False, "hello")
    for where in ("", node.name):
        for script in ("syscall:::entry { @ = count(); }", "pid1:libc::entry { }", "sched:::on-cpu, erlang*:lists:seq:entry { @ = count(); }"):
            tag, _, hint = problem(w, node=where, script=script)
            t.equal((tag, "(--kernel)" in (hint or "")), ("D_PDESC_ZERO", True), f"{script} on '{where}': {hint}")
    tag, text, _ = problem(w, node=node.name, script="erlang*:lists:seq:entry { stack(); }")
    t.match(text, r"stack\(\) needs the kernel tier \(--kernel\)")
    t.clean(node)


def test_the_kernel(t, s):
    """A script of the kernel alone, with no node and beside one: stacks, histograms, records."""
    places.Kernel.need()
    node, server = t.node(), served("--kernel")
    try:
        w = server.websocket()
        t.equal((w.seen("hello")[0]["kernel"], server.get("/api/state").json()["kernel"]), (True, True), "what the server says of itself")
        for where in ("", node.name):
            earlier = len(w.seen("records"))
            started = w.start('BEGIN { printf("target %d\\n", $target); } ' + AT_LINK + ' { @c[probefunc] = count(); @s[ustack(3)] = count(); @q = quantize(7);'
                              ' printf("%s\\n", copyinstr(arg0)); }', node=where, options={"quiet": True})
            t.equal([(a["name"], a["function"], a["keys"]) for a in started["aggregations"]],
                    [("@c", "count", ["string"]), ("@s", "count", ["stack"]), ("@q", "quantize", [])], "aggregations")
            links(97)
            found = counted(w, started, ("@c", "@s", "@q"), 97)
            t.equal((found["@c"], sum(found["@s"].values())), ({("readlink",): 97}, 97), "counts")
            t.true(all(len(frames) <= 3 and all(isinstance(f, str) for f in frames) for (frames,) in found["@s"]), found["@s"])
            t.equal(node("etw:dirt()"), [], "what is in the node")
            w.send({"type": "stop"})
            w.wait("stopped", lambda m: m["trace"] == started["trace"])  # pylint: disable=cell-var-from-loop
            rows = [row[3].strip() for m in w.seen("records")[earlier:] for row in m["rows"]]
            target = 0 if where == "" else node("list_to_integer(os:getpid())")
            t.equal((rows.count(NOWHERE), f"target {target}" in rows), (97, True), f"records: {rows[:3]}")
        t.clean(node)
    finally:
        t.equal(server.stop(), 0, "exit status")


def test_a_node_and_the_kernel(t, s):
    """One script of both: what the node passes on and what the kernel sees come together; nothing is left in the node."""
    places.Kernel.need()
    node, server = t.node(), served("--kernel")
    try:
        erlt.load(node, LINKS)
        w = server.websocket()
        started = w.start("erlang*:et_web_links:look:entry { seen = 1; @c[probefunc] = count(); @at[ustack(2)] = count(); }"
                          + AT_LINK.replace("/copy", "/seen && copy", 1) + " { @c[probefunc] = count(); }", node=node.name, options={"quiet": True})
        t.equal([n["node"] for n in started["enabled"]["nodes"]], ["", node.name], "where it is placed")
        node("{_, M} = spawn_monitor(et_web_links, links, [97]), receive {'DOWN', M, _, _, _} -> ok end")
        found = counted(w, started, ("@c",), 194)
        t.equal(found["@c"], {("look/0",): 97, ("readlink",): 97}, "counts")
        t.equal(sum(found["@at"].values()), 97, "stacks")
        w.send({"type": "stop"})
        w.wait("stopped")
        t.clean(node)
        t.silent(node)
    finally:
        t.equal(server.stop(), 0, "exit status")


def test_lists(t, s):
    """Probes for completion, and what a script matches, with the kernel's beside those of a node; ready scripts."""
    places.Kernel.need()
    node, server = t.node(), served("--kernel")
    try:
        for where in ("", node.name):
            ask = functools.partial(asked, server, where)
            providers = set(ask("providers")["items"])
            t.true({"syscall", "sched", "io", "sdt", "profile"} < providers and ("erlang" in providers) == (where != ""), f"{providers}")
            items = ask("probes", limit=1000)["items"]
            by = {(i["provider"], i["name"]) for i in items}
            t.true({("sched", "on-cpu"), ("syscall", "entry"), ("io", "start")} < by, "probes")
            t.true(not any(provider == "sdt" for provider, _ in by), "of those with hundreds only when they are named")
            t.equal([i["name"] for i in ask("probes", provider="sdt", prefix="sched_switch")["items"]], ["sched_switch"], "a tracepoint")
            switch, = ask("probes", provider="sdt", prefix="sched_switch")["items"]
            t.true(any("task_struct" in a["type"] for a in switch["args"]), f"its arguments: {switch}")
            t.equal(ask("functions", provider="syscall", prefix="readl")["items"], ["readlink", "readlinkat"], "system calls")
            t.equal(ask("modules", provider="syscall")["items"], ["vmlinux"], "modules")
            t.equal("map/2" in ask("functions", module="lists", prefix="map")["items"], where != "", "functions of the node")
        w = server.websocket()
        pid = node("list_to_integer(os:getpid())")
        for script, probes in (("syscall::readlink*:entry { }", [2]), ("erlang*:lists:map/2:entry { } syscall::readlink:entry { }", [1, 1]),
                               ("erlang$target:lists:map/2:entry { } syscall::readlink:entry /pid == $target/ { }", [1, 1])):
            w.send({"type": "check", "id": 5, "node": node.name, "script": script})
            m = w.wait("matched", lambda m: len(m["matches"]) == len(probes))  # pylint: disable=cell-var-from-loop
            t.equal(([d["probes"] for d in m["matches"]], m["diagnostics"]), (probes, []), f"{script}, process {pid}")
        scripts = {script["name"]: script for script in server.get("/api/scripts").json()["scripts"] if script["kernel"]}
        t.true({"erlsys.d", "erlfiles.d", "syscalls.d"} <= set(scripts), f"{set(scripts)}")
        for name, script in scripts.items():
            t.true(all(a["default"] is not None for a in script["args"]), f"{name} runs as it is")
            w.send({"type": "check", "id": 5, "node": node.name, "script": script["script"], "args": [a["default"] for a in script["args"]]})
            m = w.wait("matched")
            t.true(m["matches"] and all(d["probes"] for d in m["matches"]) and not m["diagnostics"], f"{name}: {m}")
        w.start(scripts["erlfiles.d"]["script"], node=node.name, name="erlfiles.d")  # of $target
        w.send({"type": "stop"})
        w.wait("stopped")
        t.clean(node)
    finally:
        t.equal(server.stop(), 0, "exit status")


def test_only_to_trace(t, s):
    """Pages do nothing else with the kernel: what is destructive is refused, as everywhere; a node that may be on another host has no kernel here."""
    places.Kernel.need()
    server = served("--kernel", "--node", f"nobody@elsewhere.invalid,{t.node().name}")
    try:
        w = server.websocket()
        for script, tag in (("syscall::getppid:entry { stop(); }", "WEB_DESTRUCTIVE"), ("syscall::getppid:entry { chill(1); }", "WEB_DESTRUCTIVE"),
                            ("syscall::getppid:entry { raise(9); }", "ACTION_RESTRICTED"), ("syscall::getppid:entry { system(\"true\"); }", "ACTION_RESTRICTED"),
                            ("syscall::getppid:entry { copyout(alloca(4), arg1, 4); }", "WEB_DESTRUCTIVE")):
            t.equal(problem(w, node="", script=script)[0], tag, script)
        tag, _, hint = problem(w, node="nobody@elsewhere.invalid", script="syscall:::entry { @ = count(); }")
        t.true(tag != "" and hint, f"a node elsewhere: {tag} {hint}")
    finally:
        t.equal(server.stop(), 0, "exit status")


def test_ends_with_the_node(t, s):
    """A trace of the kernel beside a node ends with the node's process, and says so."""
    places.Kernel.need()
    node, server = erlt.Node(), served("--kernel")
    try:
        w = server.websocket()
        w.start("syscall::getppid:entry /pid == $target/ { @ = count(); }", node=node.name)
        node.end()
        stopped = w.wait("stopped")
        t.equal((stopped["reason"], stopped["text"]), ("lost", "the node's process has ended"), "reason")
    finally:
        node.end()
        t.equal(server.stop(), 0, "exit status")


def test_whose_process(t, s):
    """A node's process is that of the node which the name means here: not of a VM that says another host, nor one of several that bear the name."""
    places.Kernel.need()
    here = t.node()
    elsewhere, alike = f"{here.short}x@elsewhere.invalid", f"{here.short}y"
    # They need not be reached: each only says its name. They end with their standard input.
    others = [subprocess.Popen(["erl", "-noshell", *names, "-kernel", "start_distribution", "false", "-eval",
                                'io:get_line(""), io:put_chars("named\n"), io:get_line(""), halt().'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
              for names in (["-name", elsewhere], ["-sname", alike], ["-sname", alike])]
    server = served("--kernel", "--node", ",".join((elsewhere, alike, here.name)))
    try:
        for p in others:
            p.stdin.write("\n")
            p.stdin.flush()
            t.equal(p.stdout.readline(), "named\n", "it runs")
        w = server.websocket()
        script = 'BEGIN { printf("target %d\\n", $target); } syscall::getppid:entry /pid == $target/ { @ = count(); }'
        w.start(script, node=here.name, options={"quiet": True})
        pid = here("list_to_integer(os:getpid())")
        w.wait("records", lambda m: any(f"target {pid}" in row[3] for row in m["rows"]))
        for name in (elsewhere, alike):
            tag, text, _ = problem(w, node=name, script=script)
            t.true(tag != "", f"{name}: {text}")
    finally:
        t.equal(server.stop(), 0, "exit status")
        for p in others:
            p.communicate("\n")


def test_recorded(t, s):
    """A script of the kernel is recorded from the beginning, without a node."""
    places.Kernel.need()
    server = served("--kernel", "--record", "readsizes.d", "0")
    try:
        traces = erlt.until(lambda: server.get("/api/state").json()["traces"], "nothing is recorded")
        t.equal([(trace["node"], trace["name"], trace["args"], trace["recorded"]) for trace in traces], [("", "readsizes.d", ["0"], True)], "traces")
        w = server.websocket()
        w.send({"type": "join", "id": 1, "trace": traces[0]["trace"]})
        w.wait("started")
        w.wait("results", lambda m: m["n"] > 1)
    finally:
        t.equal(server.stop(), 0, "exit status")


def test_without_privilege(t, s):
    """A server that may not trace the kernel says so to whoever tries, and serves as before."""
    places.Kernel.need()
    server = served("--kernel", preexec_fn=erlt.lower)
    try:
        w = server.websocket()
        tag, text, hint = problem(w, node="", script="syscall:::entry { @ = count(); }")
        t.equal(tag, "KERNEL_PRIVILEGE", text)
        t.match(hint, "CAP_BPF and CAP_PERFMON")
        started = w.start("tick-10ms { @ = count(); }", node="")
        counted(w, started, ("@",), 1)
        t.equal(server.get("/api/providers?node=").status, 200, "lists")
    finally:
        t.equal(server.stop(), 0, "exit status")
