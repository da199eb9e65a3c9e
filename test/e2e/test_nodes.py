"""Nodes of this host are found and named, however they were started."""
import os
import re
import shutil
import subprocess

import erlt
from erlt import COOKIE, HOST, PATIENCE, json_lines

HELLO = "BEGIN { printf(\"hello from %d\\n\", pid); exit(0); }"


def found(t, os_pid, name, *access, seen=True):
    """The node is in the list under its name (without its host part where that is not `seen`), and can be traced by its process and by its name."""
    status, out, err = t.run("nodes", "--json", *access)
    t.equal(status, 0, out + err)
    row, = [n for n in json_lines(out) if n.get("pid") == os_pid]
    t.equal((row["name"], row["attachable"]), (name if seen else name.split("@")[0], None), "its name in the list")
    for target in (["-p", str(os_pid)], ["--node", name]):
        status, out, err = t.run("-qn", HELLO, *target, *access)
        t.equal((status, out.strip(), err), (0, f"hello from {os_pid}", ""), " ".join(target))


def cookie_found(t, os_pid, name):
    """The node is traced with the cookie that its command line has, whatever the user's own is."""
    home = os.path.join(t.folder, "home")
    os.makedirs(home, exist_ok=True)
    path = os.path.join(home, ".erlang.cookie")
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as f:
            f.write("another")
        os.chmod(path, 0o400)
    for target in (["-p", str(os_pid)], ["--node", name]):
        status, out, err = t.run("-qn", HELLO, *target, home=home)
        t.equal((status, out.strip(), err), (0, f"hello from {os_pid}", ""), " ".join(target) + " without a cookie")


class Started:
    """A command that starts a node in the foreground, as start scripts do; its output is the node's log."""

    def __init__(self, command, **env):
        erlt.epmd()
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env={**os.environ, "ERL_AFLAGS": "", "ERL_FLAGS": "", "ERL_ZFLAGS": "", "ERL_CRASH_DUMP": "/dev/null", **env})
        self.out = erlt.Lines(self.p.stdout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.wait()

    def pid(self, t):
        """The process of the emulator, as the node itself says it once it is up."""
        i = self.out.wait(r"(^|> )up (\d+)\s*$", PATIENCE)  # perhaps behind a shell's prompt
        t.true(i is not None, f"the node did not start: {self.out.text()}")
        return int(re.search(r"up (\d+)", self.out.lines[i])[1])

    def log(self):
        """What it has written since."""
        return [line for line in self.out.lines if not line.startswith("up ")]


UP = 'io:format("up ~s~n", [os:getpid()])'
ACCESS = ("--cookie", COOKIE)


def short(kind):
    return f"et{kind}{os.getpid()}"


def test_release(t):
    """A release's start script sets ESCRIPT_NAME, so that the emulator's command line begins with the script."""
    name = short("rel")
    root = subprocess.run(["erl", "-noshell", "-eval", "io:format(\"~s ~s\", [code:root_dir(), erlang:system_info(version)]), halt()."],
                          check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    vm_args = t.file("vm.args", f"-sname {name}\n-setcookie {COOKIE}\n+P 262144\n")
    script = t.file("app", f"""#!/bin/sh
ROOTDIR={root[0]} BINDIR={root[0]}/erts-{root[1]}/bin EMU=beam PROGNAME=app ESCRIPT_NAME="$0"
export ROOTDIR BINDIR EMU PROGNAME ESCRIPT_NAME
exec "$BINDIR/erlexec" -noshell -noinput -args_file {vm_args} -eval '{UP}.' -- foreground
""")
    os.chmod(script, 0o755)
    with Started([script]) as node:
        pid = node.pid(t)
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            t.equal(f.read().split(b"\0")[0].decode(), script, "what its command line begins with")
        found(t, pid, f"{name}@{HOST}", *ACCESS)
        cookie_found(t, pid, f"{name}@{HOST}")
        t.equal(node.log(), [], "the node's log")


def test_escripts(t):
    """One that has a name from its first lines, and one that makes itself a node at run time, after -extra."""
    name, later = short("esc"), short("lat")
    wait = "receive stop -> ok end"
    for text, called in ((f"%%! -sname {name} -setcookie {COOKIE}\nmain(_) -> {UP}, {wait}.\n", name),
                         (f"main(_) -> {{ok, _}} = net_kernel:start([{later}, shortnames]), erlang:set_cookie('{COOKIE}'), {UP}, {wait}.\n", later)):
        script = t.file("script", "#!/usr/bin/env escript\n" + text)
        with Started(["escript", script]) as node:
            found(t, node.pid(t), f"{called}@{HOST}", *ACCESS, seen=called == name)
            if called == name:
                cookie_found(t, node.pid(t), f"{called}@{HOST}")
            t.equal(node.log(), [], "the node's log")


def installed(program):
    if shutil.which(program) is None:
        raise erlt.Skipped(f"{program} is not installed")


def test_rebar3_shell(t):
    installed("rebar3")
    name = short("reb")
    t.file("rebar.config", "{erl_opts, []}.\n")
    os.makedirs(os.path.join(t.folder, "src"))
    t.file("src/app.app.src", "{application, app, [{vsn, \"1\"}, {applications, [kernel, stdlib]}]}.\n")
    t.file("up", f"#!/usr/bin/env escript\nmain(_) -> {UP}.\n")
    with Started(["sh", "-c", f"cd {t.folder} && exec rebar3 shell --sname {name} --setcookie {COOKIE} --script up"], HOME=t.folder, TERM="dumb") as node:
        found(t, node.pid(t), f"{name}@{HOST}", *ACCESS, seen=False)
        t.equal([line for line in node.log() if "rror" in line or "arning" in line], [], "the node's log")


def test_named_by_elixir_later(t):
    """A node that gets its name when it runs, as Livebook does it."""
    installed("elixir")
    name = short("liv")
    code = (f"{{:ok, _}} = Node.start(:{name}, :shortnames); Node.set_cookie(:\"{COOKIE}\"); IO.puts(\"up #{{System.pid()}}\"); receive do :stop -> :ok end")
    with Started(["elixir", "-e", code]) as node:
        found(t, node.pid(t), f"{name}@{HOST}", *ACCESS, seen=False)
        t.equal(node.log(), [], "the node's log")


@erlt.alone
def test_mix_release(t):
    """A release as mix makes it, which runs a compiler."""
    installed("mix")
    name = short("mix")
    os.makedirs(os.path.join(t.folder, "lib"))
    t.file("mix.exs", """defmodule Rel.MixProject do
      use Mix.Project
      def project, do: [app: :rel, version: "1.0.0", elixir: "~> 1.10", deps: []]
      def application, do: [mod: {Rel, []}]
    end
    """)
    t.file("lib/rel.ex", """defmodule Rel do
      use Application
      def start(_, _) do
        IO.puts("up #{System.pid()}")
        Supervisor.start_link([], strategy: :one_for_one)
      end
    end
    """)
    env = {**os.environ, "MIX_ENV": "prod", "HOME": t.folder, "LC_ALL": "C.UTF-8"}
    made = subprocess.run(["mix", "release", "--quiet"], cwd=t.folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    t.equal(made.returncode, 0, made.stdout)
    with Started([os.path.join(t.folder, "_build/prod/rel/rel/bin/rel"), "start"], RELEASE_NODE=name, RELEASE_COOKIE=COOKIE, RELEASE_DISTRIBUTION="sname", HOME=t.folder) as node:
        found(t, node.pid(t), f"{name}@{HOST}", *ACCESS)
        t.equal(node.log(), [], "the node's log")


def test_admits_certain_names(t):
    """A node that admits only certain others has no line in its log from the list, and can be traced under one of these names."""
    node = t.node(fresh=True)
    node(f"net_kernel:allow(['ops@{HOST}'])")
    status, out, err = t.run("nodes", "--json", *ACCESS)
    row, = [n for n in json_lines(out) if n.get("pid") == node.pid]
    t.equal((status, row["attachable"]), (0, None), out + err)
    t.silent(node)
    for name in (f"ops@{HOST}", "ops"):
        status, out, err = t.run("-qn", HELLO, "--node", node.name, "--as", name, *ACCESS)
        t.equal((status, out.strip(), err), (0, f"hello from {node.pid}", ""), name)
        t.silent(node)
    status, _, err = t.run("-qn", HELLO, "--node", node.name, *ACCESS)
    t.equal(status, 1, err)
    t.match(err, r"refused the connection: not_allowed\n +hint: does it admit only certain nodes \(net_kernel:allow/1\)\? Come as one of them: --as NAME@HOST")
    t.logs = ["Connection attempt from disallowed node"]  # of the one that it did not admit
    for name in ("a b@c", "@host", "a@", "a@b@c", ""):
        status, _, err = t.run("-qn", HELLO, "--node", node.name, "--as", name, *ACCESS)
        t.equal(status, 1, err)
        t.match(err, "cannot be the name of a node: NAME@HOST", name)


def test_without_a_name(t):
    """It is listed, with what can be done about it, and never taken for another program."""
    with Started(["erl", "-noshell", "-eval", UP + "."], ESCRIPT_NAME="/opt/app/bin/app") as node:
        pid = node.pid(t)
        status, out, err = t.run("nodes", "--json", *ACCESS)
        row, = [n for n in json_lines(out) if n.get("pid") == pid]
        t.equal((status, row["attachable"]), (0, False), out + err)
        t.match(row["why"], "is not distributed", "why")
        status, _, err = t.run("-n", HELLO, "-p", str(pid), *ACCESS)
        t.equal(status, 1, err)
        t.match(err, rf"the Erlang VM of process {pid} is not distributed", "-p")
