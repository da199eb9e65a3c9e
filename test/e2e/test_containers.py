"""Nodes in containers, named by the process that the host sees: their network is entered for the socket, their files are read as their user reads
them, and a container that is hostile gets nothing."""
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys

from erlt import COOKIE, READY, ROOT, TOOL, Finding, Lacking, Skipped, pid, until
from test_static import FILE

# A root folder of its own, in which the machine's programs are, and nothing else of it.
ROOM = """
hostname box
ip link set lo up
mount -t tmpfs none {at}
cd {at}
for d in bin lib lib64 usr etc dev; do
    if [ -L /$d ]; then cp -P /$d $d; elif [ -d /$d ]; then mkdir $d; mount --rbind /$d $d; fi
done
mkdir -p proc tmp home .{tree}
mount --bind {tree} .{tree}
mount -t proc none proc
export HOME=/home TMPDIR=/tmp
{more}
"""


def container(t, more="", inside="", users=True):
    """A command line that runs another one in namespaces of its own: mounts, processes, users (if wanted), network, host name. more: a shell script
    that the root folder, which is the current one, is prepared with; inside: words before the command."""
    kinds = ["unshare", "-fmnpu", *["-U", "--map-root-user"] * users, "--kill-child"]
    if os.geteuid() != 0 or subprocess.run([*kinds, "ip", "link"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("namespaces cannot be made here")
    at = os.path.join(t.folder, "root")
    os.mkdir(at)
    return [*kinds, "sh", "-ec", ROOM.format(at=at, tree=ROOT, more=more) + f'exec chroot . {inside} "$@"', "sh"]


# Makes a user namespace as that user, who is root in there and has a hundred other users besides, and goes on there with the words behind the number.
# Their numbers are given by root, as newuidmap does.
OF_USER = r"""
import ctypes, os, sys
user, me = int(sys.argv[1]), os.getpid()
made, wrote = os.pipe(), os.pipe()
if os.fork() == 0:
    os.close(made[1])
    os.read(made[0], 1)
    for name in "uid_map", "gid_map":
        with open(f"/proc/{me}/{name}", "w", encoding="ascii") as f:
            f.write(f"0 {user} 1\n1 100000 100\n")
    os.write(wrote[1], b".")
    os._exit(0)
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
if ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0:
    sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
os.close(wrote[1])
os.write(made[1], b".")
os.read(wrote[0], 1) or sys.exit("no map of users")
os.wait()
os.execvp(sys.argv[2], sys.argv[2:])
"""
USER, OTHER_USER = 65534, 65533


def container_of_user(t, more="", inside=""):
    """The same, made by a user without privileges."""
    kinds = [sys.executable, "-c", OF_USER, str(USER), "unshare", "-fmnpu", "--kill-child"]
    if os.geteuid() != 0 or subprocess.run([*kinds, "ip", "link"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skipped("users without privileges cannot make namespaces here")
    if subprocess.run([*as_user(USER, "test"), "-x", TOOL], check=False).returncode:
        raise Skipped("other users cannot run what is built here")
    at = os.path.join(t.folder, "root")
    os.chmod(t.folder, 0o755)
    os.mkdir(at)
    return [*kinds, "sh", "-ec", ROOM.format(at=at, tree=ROOT, more=more) + f'exec chroot . {inside} "$@"', "sh"]


def as_user(user, *command):
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]


WITH_COOKIE = f"printf {COOKIE} >home/.erlang.cookie; chmod 400 home/.erlang.cookie"


def child_of(outer):
    """The process, as the host sees it, that an `unshare -f` has started."""
    def child():
        with open(f"/proc/{outer}/task/{outer}/children", encoding="ascii") as f:
            return f.read().split()
    return int(until(child, "no process in the container", error=Lacking)[0])


def boxed(t, more=WITH_COOKIE, inside=""):
    """A node in a container, and its process."""
    node = t.node(begin=container(t, more, inside))
    return node, child_of(node.p.pid)


def listed(t, of, program=None):
    status, out, err = t.run("nodes", "--json", program=program)
    t.equal(status, 0, err)
    return [n for n in map(json.loads, out.splitlines()) if n.get("pid") == of]


def quiet(t, text):
    """Nothing of what a container says may steer a terminal."""
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
        raise Finding(f"control characters in {text!r}")


def test_traces_into_a_container(t):
    """From the host, by the process alone: nothing of erltrace is in there, its cookie is in a file that only the container has. Exact, and
    nothing is left. The same with the command as one file."""
    node, process = boxed(t)
    worker = node("etw:worker()")
    for program in [None] + [[FILE]] * bool(shutil.which("musl-gcc") and not os.environ.get("SANITIZE")):
        trace = t.trace("-qp", process, "-n", READY + "erlang*:etw:work:entry { @ = count(); }", program=program)
        trace.ready()
        node(f"etw:calls({pid(worker)}, 10007)")
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        t.match(trace.out.text(), r"^ +10007$")
        t.clean(node)
    status, out, err = t.run("doctor", "--json", "-p", process)
    t.equal((status, json.loads(out.splitlines()[0])["node"]), (0, f"{node.short}@box"), err)
    t.clean(node)


def test_of_a_user(t):
    """A container that a user without privileges has made is entered by that user, as by root."""
    node = t.node(begin=container_of_user(t, WITH_COOKIE))
    process = child_of(node.p.pid)
    worker = node("etw:worker()")
    for program in None, as_user(USER, TOOL):
        trace = t.trace("-qp", process, "-n", READY + "erlang*:etw:work:entry { @ = count(); }", program=program)
        trace.ready()
        node(f"etw:calls({pid(worker)}, 10007)")
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        t.match(trace.out.text(), r"^ +10007$")
        t.clean(node)
    status, out, err = t.run("-p", process, "-n", "BEGIN { exit(0); }", program=as_user(OTHER_USER, TOOL))
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[NODE_DOWN\] ")  # it cannot even see that the network is another one
    t.match(err, r"^ +hint: .* Or is it in a container\? To look there, run erltrace as root of this host, or as the user who made the container$")
    t.clean(node)


def test_of_a_user_by_another_one_inside(t):
    """In such a container the node's user is another one than the one who has made it: the system shows its sockets to root alone."""
    node = t.node(begin=container_of_user(t, f"{WITH_COOKIE}; chown -R 7:7 home", inside="setpriv --reuid=7 --regid=7 --clear-groups"))
    words = ["-qp", child_of(node.p.pid), "-n", "BEGIN { exit(0); }"]
    status, _, err = t.run(*words)
    t.equal(status, 0, err)
    status, _, err = t.run(*words, program=as_user(USER, TOOL), env={"ERLTRACE_COOKIE": COOKIE})
    t.equal(status, 1, err)
    t.match(err, r"\[NODE_PERM\] .* runs in another network namespace \(a container\), which this process may not enter$")
    t.clean(node)


def test_is_listed(t):
    """Without its host name, which only the node knows; nothing speaks against a trace."""
    node, process = boxed(t)
    t.equal([(n["name"], n["attachable"], n["why"]) for n in listed(t, process)], [(node.short, None, None)])


def test_several_ports(t):
    """A node that listens at several ports: its own epmd tells which one is meant."""
    node, process = boxed(t)
    t.equal(node('element(1, gen_tcp:listen(0, []))'), "ok")
    t.equal([n["why"] for n in listed(t, process)], [None])
    status, out, err = t.run("-qp", process, "-n", "BEGIN { exit(0); }")
    t.equal(status, 0, err)
    t.clean(node)


def test_is_entered_only_if_named(t):
    """By its name no node of another network is found."""
    node, _ = boxed(t)
    status, out, err = t.run("--node", node.short, "--cookie", COOKIE, "-n", "BEGIN { exit(0); }")
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[NODE_DOWN\] no (node '.*' is registered on|distributed Erlang node runs on)")


def test_privileges_are_named(t):
    """One line says what is missing. (Who has made a user namespace may enter it.)"""
    process = child_of(t.node(begin=container(t, WITH_COOKIE, users=False)).p.pid)
    words = ["-p", process, "-n", "BEGIN { exit(0); }"]
    status, out, err = t.run(*words, program=["setpriv", "--bounding-set", "-sys_admin", TOOL])
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[NODE_PERM\] .* runs in another network namespace \(a container\), which this process may not enter$")
    t.match(err, r"hint: run erltrace as root of this host \(it takes CAP_SYS_ADMIN, and CAP_SYS_PTRACE to look at the process\), as the user who made the "
            r"container, or inside it$")
    t.equal(len(err.splitlines()), 2, err)


# Claims to be a node: its command line has any name, and it answers the handshake with another.
LIAR = r"""
import socket, struct, sys
name = bytes.fromhex(sys.argv[1])
def packet(c):
    n = c.recv(2, socket.MSG_WAITALL)
    return c.recv(int.from_bytes(n, "big"), socket.MSG_WAITALL) if len(n) == 2 else b""
s = socket.create_server((sys.argv[2], 0))
port = s.getsockname()[1]
if sys.argv[3:4] == ["epmd"]:
    epmd = socket.create_server(("127.0.0.1", 4369))
    def answer():
        while True:
            c, _ = epmd.accept()
            with c:
                print("asked", flush=True)
                packet(c)
                c.sendall(bytes(4) + b"name liar at port 1\n")
    import threading
    threading.Thread(target=answer, daemon=True).start()
print("up", port, flush=True)
while True:
    c, _ = s.accept()
    with c:
        packet(c)
        for p in (b"sok", b"N" + struct.pack(">QIIH", 0xd07df7fbd, 1, 1, len(name)) + name):
            c.sendall(len(p).to_bytes(2, "big") + p)
        print("said", flush=True)
        packet(c)
"""


class Liar:
    """A process in a container that only looks like a node."""

    def __init__(self, t, words, says, more=WITH_COOKIE, listens=("127.0.0.1",), **of):
        begin = container(t, f"{more}\ncp {shlex.quote(os.path.realpath(sys.executable))} beam.smp", **of)
        self.p = subprocess.Popen([*begin, "/beam.smp", "-c", LIAR, says.encode().hex(), *listens, "--", "-root", "/", *words],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = self.p.stdout.readline().split()
        if said[:1] != [b"up"]:
            raise Lacking(f"no liar: {said} {self.p.stderr.read(2000)}")
        self.port = int(said[1])
        self.pid = child_of(self.p.pid)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.heard()

    def heard(self):
        """Ends it; returns how often something has talked with it, of what was not read."""
        if not self.p.stdout.closed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)  # the namespace's first process: all of it ends
            out = self.p.communicate()[0]
            self.talks, self.asked = out.count(b"said"), out.count(b"asked")
        return self.talks


def refused(t, more, why, **of):
    """The cookie of such a container is not read, and nothing is said to who listens there."""
    with Liar(t, ["-sname", "liar"], "liar@box", more, **of) as liar:
        status, out, err = t.run("-p", liar.pid, "-n", "BEGIN { exit(0); }")
        t.equal((status, out), (1, ""), err)
        t.match(err, r"\[NODE_(COOKIE|PERM)\] failed to grab pid \d+: no cookie for liar: /\S+/\.erlang\.cookie: " + why)
        t.equal([n["attachable"] for n in listed(t, liar.pid)], [False])
        t.equal(liar.heard(), 0, "connections")


def outside(t):
    """A file of the host, with the node's own cookie, so that whoever reads it gets in."""
    return shlex.quote(t.file("outside", COOKIE))


def test_absolute_link_out(t):
    refused(t, f"ln -s {outside(t)} home/.erlang.cookie", "No such file or directory")


def test_relative_link_out(t):
    refused(t, f"ln -s ../../../../../../../..{outside(t)} home/.erlang.cookie", "No such file or directory")


def test_link_by_proc_out(t):
    """By a link of the kernel's, which leads out of every root folder: to what a process of the container has opened outside."""
    refused(t, f"exec 9<{outside(t)}; ln -s /proc/1/fd/9 home/.erlang.cookie", "it leads out of the process's root folder")


def test_rights_of_its_user(t):
    """What root can read there and the node's user cannot is not read."""
    refused(t, f"mkdir -m 700 tmp/deep; printf {COOKIE} >tmp/deep/.erlang.cookie; chown 65534 tmp/deep/.erlang.cookie; export HOME=/tmp/deep",
            "Permission denied", users=False, inside="setpriv --reuid 65534 --clear-groups")


def test_home_is_a_link_out(t):
    os.mkdir(os.path.join(t.folder, "out"))
    t.file("out/.erlang.cookie", COOKIE)
    refused(t, f"rmdir home; ln -s {shlex.quote(os.path.join(t.folder, 'out'))} home", "No such file or directory")


def test_link_inside(t):
    """An absolute link leads to the container's file, not to the one that the host has there."""
    node, process = boxed(t, f"ln -s /tmp/cookie home/.erlang.cookie; printf {COOKIE} >tmp/cookie; chmod 400 tmp/cookie")
    status, out, err = t.run("-qp", process, "-n", "BEGIN { exit(0); }")
    t.equal(status, 0, err)
    t.clean(node)


def test_pipe_instead_of_a_file(t):
    """It is not waited for."""
    refused(t, "mkfifo home/.erlang.cookie", "it is not a regular file")


def test_device_instead_of_a_file(t):
    refused(t, "ln -s /dev/zero home/.erlang.cookie", "it is not a regular file")


def test_folder_instead_of_a_file(t):
    refused(t, "mkdir home/.erlang.cookie", "it is not a regular file")


def test_huge_file(t):
    """Of 64 GiB of nothing a few bytes are read."""
    refused(t, "truncate -s 64G home/.erlang.cookie", "it is empty")


def test_lies_about_its_name(t):
    """Names with control characters are shown without them, in lists and messages; the name in the handshake is taken for nothing else than a
    name."""
    with Liar(t, ["-sname", "evil\x1b[2J\nroot"], "victim\x1b]0;owned\x07@host") as liar:
        for words in (["-p", liar.pid, "-n", "BEGIN { exit(0); }"], ["nodes"], ["nodes", "--json"], []):
            status, out, err = t.run(*words)
            quiet(t, out + err)
            if words[:1] == ["-p"]:
                t.equal((status, out), (1, ""), err)
                t.match(err, r"\[NODE_\w+\]")


def test_listens_for_somebody_else(t):
    """A port that the process does not have is not connected to, whatever its command line and its epmd say."""
    with Liar(t, ["-sname", "liar", "-erl_epmd_port", "1"], "x@y") as liar:
        status, out, err = t.run("-p", liar.pid, "-n", "BEGIN { exit(0); }")
        t.equal((status, out), (1, ""), err)
        t.match(err, r"\[NODE_DOWN\] .*what listens at port 1, which should be that of liar, is not")


def test_its_epmd_lies(t):
    """A node with several ports, and an epmd that tells one which the node does not have. It is asked only where the process is named."""
    with Liar(t, ["-sname", "liar"], "liar@box", listens=("127.0.0.1", "epmd")) as liar:
        t.true(listed(t, liar.pid), "nodes shows it")
        t.run("--node", "liar", "-n", "BEGIN { exit(0); }")
        status, out, err = t.run("-p", liar.pid, "-n", "BEGIN { exit(0); }")
        t.equal((status, out), (1, ""), err)
        t.match(err, r"\[NODE_DOWN\] .*liar runs \(process \d+\), but epmd does not know it")
        t.equal((liar.heard(), liar.asked), (0, 1), "connections, to the node and to its epmd")


def test_names_another_host(t):
    """The host in its name is looked up nowhere: it is reached in its own network or not at all. What listens at the same port here hears nothing."""
    with Liar(t, ["-name", "x@localhost"], "x@localhost", listens=("127.0.0.2",)) as liar:
        try:
            here = socket.create_server(("127.0.0.1", liar.port))
        except OSError as e:
            raise Skipped("the port is taken here") from e
        with here:
            here.setblocking(False)
            status, out, err = t.run("-p", liar.pid, "-n", "BEGIN { exit(0); }")
            t.equal((status, out), (1, ""), err)
            t.match(err, r"\[NODE_DOWN\] .*cannot connect to x@localhost at port \d+: Connection refused")
            try:
                raise Finding(f"a connection from {here.accept()}")
            except BlockingIOError:
                pass
