"""The command as one file (`make static`): it needs no other file and no library, and refuses by name what needs one."""
import json
import os
import re
import shutil
import subprocess

from erlt import READY, ROOT, Skipped, pid

FILE = os.path.join(ROOT, "build", "static", "erltrace")


def alone(t):
    """A command line that runs the file where there is nothing but itself."""
    if not shutil.which("musl-gcc"):
        raise Skipped("needs musl-gcc (scripts/dev/deps static)")
    if os.geteuid() != 0:
        raise Skipped("only root can run it in an empty root folder")
    folder = os.path.join(t.folder, "empty")
    os.mkdir(folder)
    shutil.copy(FILE, folder)
    return ["chroot", folder, "/erltrace"]


def test_needs_nothing(t):
    """It names no interpreter and no library."""
    program = alone(t)
    file = os.path.join(program[1], "erltrace")
    said = subprocess.run(["readelf", "-lW", file], stdout=subprocess.PIPE, check=True).stdout.decode()
    t.true("INTERP" not in said and "DYNAMIC" not in said, said)
    t.equal(os.listdir(program[1]), ["erltrace"], "what is there")
    status, out, err = t.run("--version", program=program)
    t.equal((status, err), (0, ""))
    t.match(out, r"^erltrace: erltrace \d")


def test_traces_a_node(t):
    """From an empty root folder, a node outside of it: attach, count, exact, and nothing left behind."""
    program, node = alone(t), t.node()
    worker = node("etw:worker()")
    script = READY + "erlang*:etw:work:entry { @c = count(); } erlang*:etw:work:return { @r = count(); }"
    trace = t.trace("-qn", script, node=node, program=program)
    trace.ready()
    node(f"etw:calls({pid(worker)}, 10007)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +10007$")
    t.equal(len(re.findall(r"^ +10007$", trace.out.text(), re.M)), 2, "calls and returns", trace)
    t.clean(node)


def test_beside_a_container(t):
    """As in a container of this file alone that has the processes and the network of another one (doc/install.md): the node by its process id, without
    its files."""
    folder, node = alone(t)[1], t.node()
    t.needs_proc()
    os.mkdir(folder + "/proc")
    program = ["unshare", "--mount", "sh", "-c", f'mount --bind /proc {folder}/proc && exec chroot {folder} /erltrace "$@"', "erltrace"]
    if subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise Skipped("name spaces cannot be made here")
    env = {"ERLTRACE_COOKIE": node.cookie}
    status, out, err = t.run("nodes", "--json", program=program, env=env)
    t.true(node.pid in [json.loads(line)["pid"] for line in out.splitlines()], f"{status} {out} {err}")
    status, out, err = t.run("-p", str(node.pid), "-qn", 'tick-1ms /++n == 3/ { printf("%d", pid); exit(5); }', program=program, env=env)
    t.equal((status, out), (5, f"{node.pid}\n"), err)
    t.clean(node)


def test_finds_the_node(t):
    """The name without a host is enough, and the cookie may come from the environment: there is no file to read one from."""
    program, node = alone(t), t.node()
    status, out, err = t.run("doctor", "--json", "--node", node.short, program=program, env={"ERLTRACE_COOKIE": node.cookie})
    t.equal((status, json.loads(out.splitlines()[0])["node"]), (0, node.name), err)
    t.clean(node)


def test_has_the_libraries(t):
    """What the D libraries define is there."""
    program, node = alone(t), t.node()
    inline = "BEGIN { x = SIGTERM; printf(\"%d %d\", x, sizeof(struct psinfo) > 0); exit(0); }"
    status, out, err = t.run("-qn", inline, node=node, program=program)
    t.equal((status, out), (0, "15 1\n"), err)
    status, out, err = t.run("-x", "nolibs", "-qn", inline, program=program)
    t.equal((status, out), (1, ""), err)


def test_has_the_scripts(t):
    """All ready scripts, under their names, and one runs."""
    program, node = alone(t), t.node()
    status, out, err = t.run("list", "--json", program=program)
    t.equal((status, err), (0, ""))
    inside = [json.loads(line) for line in out.splitlines()]
    status, out, err = t.run("list", "--json")
    outside = [json.loads(line) for line in out.splitlines()]
    for s in outside:
        s["path"] = s["path"].replace(ROOT, "built-in")
    t.equal(inside, outside, "ready scripts")
    status, out, err = t.run("run", "spawns", "--node", node.name, "--cookie", node.cookie, "--for", "1", program=program)
    t.equal(status, 0, err)
    t.clean(node)
    status, out, err = t.run("run", "spwans", program=program)
    t.equal(status, 2, err)
    t.match(err, "there is no ready script spwans: did you mean spawns")


def test_errors_point_into_a_script(t):
    """A script inside the file is compiled as one in a file is: arguments, and the place of an error."""
    program = alone(t)
    status, out, err = t.run("run", "long", "-x", "nolibs", "-e", "1", "x.y", program=program)
    status2, out2, err2 = t.run("run", "long", "-x", "nolibs", "-e", "1", "x.y")
    t.equal((status, out, err.replace("built-in", ROOT)), (status2, out2, err2))


def test_has_help(t):
    program = alone(t)
    for words in ("--help",), ("help", "options"), ("help", "run"):
        t.equal(t.run(*words, program=program), t.run(*words), " ".join(words))


def test_local_programs(t):
    """Without a node, with threads of its own: a clock for each processor."""
    status, out, err = t.run("-qn", "profile-97 { @ = count(); } tick-1s /++n == 2/ { exit(0); }", program=alone(t))
    t.equal(status, 0, err)
    t.true(int(out.split()[-1]) > 0, out)


def test_kernel_is_refused(t):
    """By name, at once, and with what to use instead."""
    program = alone(t)
    for words in (("-n", "syscall::read:entry { exit(0); }"), ("--kernel", "-n", "BEGIN { exit(0); }"), ("run", "syscalls")):
        status, out, err = t.run(*words, program=program)
        t.equal((status, out.strip()), (1, ""), err)
        t.match(err, r"\[KERNEL_STATIC\] .*the static erltrace traces nodes only: it cannot load libbpf and libelf, which the kernel tier needs")
        t.match(err, r"hint: use an installed one \(make install\)")
    status, out, err = t.run("-p", str(os.getpid()), "-n", "pid$target:libc:malloc:entry { exit(0); }", program=[FILE])
    t.equal((status, out.strip()), (1, ""), err)
    t.match(err, r"\[KERNEL_STATIC\]")
    status, out, err = t.run("doctor", "--kernel", program=program)
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[KERNEL_STATIC\]")


def test_page_is_refused(t):
    status, out, err = t.run("serve", "--port", "0", program=alone(t))
    t.equal((status, out), (1, ""), err)
    t.match(err, r"^erltrace: error: the static erltrace has no page; use an installed one \(make install\)$")


def test_tls_is_refused(t):
    """Each TLS option, before anything is read or sent; and `nodes` does not advise them."""
    program = alone(t)
    for words in (["--tls-from-node"], ["--tls-cacert", "/ca.pem"], ["--tls-verify", "none"]):
        status, out, err = t.run(*words, "--node", "nobody@nowhere", "-n", "BEGIN { exit(0); }", program=program)
        t.equal((status, out), (1, ""), err)
        t.match(err, r"TLS option .*: the static erltrace speaks no TLS; use an installed one \(make install\)")


def test_tls_is_not_advised(t):
    """`nodes` says of a node that speaks TLS what this build says."""
    t.needs_proc()
    alone(t)
    beam = os.path.join(t.folder, "beam.smp")
    shutil.copy(os.path.realpath("/bin/sh"), beam)
    with subprocess.Popen([beam, "-c", "echo up; read x", "--", "-root", "/", "-sname", "tls", "-proto_dist", "inet_tls", "-erl_epmd_port", "1"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        t.equal(p.stdout.readline(), b"up\n")
        status, out, err = t.run("nodes", "--json", program=[FILE])
        p.communicate()
    t.equal(status, 0, err)
    said = [n for n in map(json.loads, out.splitlines()) if n.get("pid") == p.pid]
    t.equal([n["help"] for n in said], ["the static erltrace speaks no TLS; use an installed one (make install)"], out)


def test_preprocessor_is_refused(t):
    """cpp is another program; a script inside the file is no file for it."""
    status, out, err = t.run("run", "spawns", "-C", program=alone(t))
    t.equal((status, out), (1, ""), err)
    t.match(err, "-C takes no ready script of the static erltrace")


def test_its_own_files_can_be_replaced(t):
    """ERLTRACE_ROOT names a folder, as everywhere."""
    node = t.node()
    program = alone(t)
    status, out, err = t.run("-qn", "BEGIN { exit(0); }", node=node, program=["env", "ERLTRACE_ROOT=/nowhere", *program])
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[AGENT_FILES\] cannot read /nowhere/priv/agent/erltrace_agent\.beam")
