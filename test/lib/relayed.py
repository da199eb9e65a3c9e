"""relayed - a node that owns a port program and runs its relays (test/port/etp.erl).

    node = Relayed(t)                # no name, no epmd, no cookie
    port = node.port()               # the port program that it started, used like a Port
    node.relay(0)                    # relay 0 into the node itself; relay(1, "b@host") into one of its cluster
    node("etw:dirt()")               # evaluates there
"""
import os
import queue
import signal
import struct
import subprocess
import tempfile
import shutil
import threading

import erlt
from erlt import PATIENCE, ROOT, TOOL, Failed, Late, Lines, Skipped
from etf import Atom, decode
from port import Port


class Relayed:
    """Such a node. It has a name only if `name` gives one; then `cookie` is its cookie."""

    def __init__(self, t, name=None, cookie=erlt.COOKIE, env=None):
        self.name = f"{name}@{erlt.HOST}" if name else None
        self.home = tempfile.mkdtemp(prefix="et-home-")
        command = ["erl", "-noinput", "-pa", erlt.workload("test/port/etp"), "-s", "etp"]
        if name:
            erlt.epmd()
            command[1:1] = ["-sname", name, "-setcookie", cookie]
        if t.otp:
            command = [os.path.join(ROOT, "scripts", "dev", "in-otp"), str(t.otp)] + command
        env = dict(os.environ, HOME=self.home, TMPDIR=self.home, ERL_CRASH_DUMP="/dev/null", ERLTRACE_ROOT=ROOT,
                   DTRACE_OPT_MAXLOAD="off", ERL_AFLAGS="", ERL_FLAGS="", ERL_ZFLAGS="", **(env or {}))
        if t.otp:
            env["ERLTRACE_CACHE"] = erlt.cache()
        self.p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=ROOT)
        self.err, self.seen = Lines(self.p.stderr), 0
        self.came = {kind: queue.Queue() for kind in b"OPAEX"}
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()
        self.os_pid = None  # of the port program
        t.nodes.append(self)
        try:
            self("ok")
        except Failed as e:
            if self.p.poll() == 77:
                raise Skipped(self.err.text().strip()) from e
            raise

    def logged(self):
        """Returns what was written to its log and to standard error since the last call (its standard output is its owner's)."""
        lines = [line.decode() for line in self("etlog:logged()")]
        with self.err.change:
            lines += self.err.lines[self.seen:]
            self.seen = len(self.err.lines)
        return erlt.foreign(lines)

    def complaints(self):
        """Returns nothing: what a debug emulator writes goes to standard error, which logged() returns."""
        return []

    def _read(self):
        while True:
            head = self.p.stdout.read(4)
            if len(head) < 4:
                break
            frame = self.p.stdout.read(struct.unpack(">I", head)[0])
            self.came[frame[0]].put(frame[1:])
        for q in self.came.values():
            q.put(None)

    def order(self, data):
        self.p.stdin.write(struct.pack(">I", len(data)) + data)
        self.p.stdin.flush()

    def answer(self, kind, patience=None):
        try:
            frame = self.came[kind].get(timeout=patience or PATIENCE)
        except queue.Empty as e:
            raise Late("no answer from the node\n" + self.err.text()) from e
        if frame is None:
            self.came[kind].put(None)
            raise Failed("the node has ended\n" + self.err.text())
        return frame

    def __call__(self, expression, patience=None):
        self.order(b"E" + (expression + ".").encode())
        what, value = decode(self.answer(ord("E"), patience))
        if what != "ok":
            raise Failed(f"{expression}: {value.decode()}")
        return value

    def relay(self, number, node=""):
        self.order(b"A" + struct.pack(">H", number) + node.encode())
        self.answer(ord("A"))

    def kill_relay(self, number):
        self.order(b"K" + struct.pack(">H", number))

    def close_port(self):
        self.order(b"C")

    def port(self, program=TOOL):
        return RelayedPort(self, program)

    def port_ended(self):
        """Waits for its end; returns its exit status."""
        return int(self.answer(ord("X")))

    def signal_port(self, number):
        os.kill(self.os_pid, number)

    def clean(self, within_ms=60000):
        """Checks that nothing of a trace is left in it."""
        kind, found = self(f"etw:await_clean({within_ms}, fun etw:traced/0)")
        if kind == "clean":
            kind, found = self(f"etw:await_clean({1000 * PATIENCE // 4}, fun etw:dirt/0)")
        if kind != "clean":
            raise Failed(f"left behind in the node: {found}")

    def alive(self):
        return self.p.poll() is None

    def end(self):
        if self.os_pid is not None:
            try:
                os.kill(self.os_pid, signal.SIGCONT)
            except OSError:
                pass
        try:
            self.p.stdin.close()
            self.p.send_signal(signal.SIGCONT)
            self.p.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self.p.kill()
            self.p.wait()
        self.thread.join(PATIENCE)
        self.p.stdout.close()
        shutil.rmtree(self.home, ignore_errors=True)


class RelayedPort(Port):
    """The port program of such a node: requests of Port go through the node."""

    def __init__(self, node, program=TOOL):  # pylint: disable=super-init-not-called
        self.node, self.err = node, node.err
        self.ref, self.answers, self.notes = 0, {}, []
        self.came = node.came[ord("P")]
        node.order(b"O" + program.encode())
        node.os_pid = int(node.answer(ord("O")))

    def frame(self, data):
        self.node.order(b"P" + data)

    def begin(self, text, number=0, name="here", **options):
        """Sends hello, a target by relay, a program, go."""
        self.node.relay(number, "" if name == "here" else name)
        return self.start(text, (Atom("relay"), number, name), **options)

    def wait(self, patience=None):
        return self.node.port_ended()

    def close(self):
        """Returns its exit status. If the node is writing to it as it ends, its last answer and its status are lost."""
        self.send(Atom("close"))
        status = self.wait()
        return 0 if status == -1 else status
