"""port - the port program, as its owner sees it.

    port = Port()
    port.hello()
    port.ask((Atom("compile"), "x.d", Atom("script"), "BEGIN { exit(0); }", []))     # the term of {ok, Term}; None: ok
    port.refused(Atom("go"))                                                         # the error's map
    port.consume(), port.walk()
"""
import os
import queue
import signal
import struct
import subprocess
import threading

from erlt import PATIENCE, ROOT, TOOL, UNDER, Failed, Late, Lines
from etf import Atom, decode, encode

FATAL = "fatal"


class Port:
    """bin/erltrace port, running. Frames of relays go to `relays[N](bytes)`, in the thread that reads."""

    def __init__(self, env=None, **how):
        environment = dict(os.environ)
        environment.setdefault("ERLTRACE_ROOT", ROOT)
        environment.setdefault("DTRACE_OPT_MAXLOAD", "off")
        environment.update(env or {})
        self.p = subprocess.Popen(UNDER + [TOOL, "port"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=environment, cwd=ROOT, **how)
        self.err = Lines(self.p.stderr)
        self.ref, self.relays, self.answers, self.notes = 0, {}, {}, []
        self.came = queue.Queue()
        self.writing = threading.Lock()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    # -- frames

    def _read(self):
        stream = self.p.stdout
        while True:
            head = stream.read(4)
            if len(head) < 4:
                break
            frame = stream.read(struct.unpack(">I", head)[0])
            if frame[:1] == b"R":
                number = struct.unpack(">H", frame[1:3])[0]
                if number in self.relays:
                    self.relays[number](frame[3:])
            else:
                self.came.put(frame)
        self.came.put(None)

    def write(self, data):
        """Sends bytes as they are; False if the program no longer reads."""
        with self.writing:
            try:
                self.p.stdin.write(data)
                self.p.stdin.flush()
                return True
            except (OSError, ValueError):
                return False

    def frame(self, data):
        return self.write(struct.pack(">I", len(data)) + data)

    def to_relay(self, number, data):
        return self.frame(b"R" + struct.pack(">H", number) + data)

    def next(self, patience=None):
        """Returns the next term that arrived; None at the end."""
        try:
            frame = self.came.get(timeout=patience or PATIENCE)
        except queue.Empty as e:
            raise Late("no answer from the port program\n" + self.err.text()) from e
        return None if frame is None else decode(frame)

    # -- requests

    def send(self, request):
        """Sends a request; returns its reference."""
        self.ref += 1
        self.frame(encode((Atom("request"), self.ref, request)))
        return self.ref

    def answer(self, ref, patience=None):
        """Returns (result, diagnostics) of a request."""
        while ref not in self.answers:
            term = self.next(patience)
            if term is None or term[0] == FATAL:
                raise Failed(f"the port program ended: {term}\n{self.err.text()}")
            if term[0] != "reply" or len(term) != 4:
                raise Failed(f"no answer: {term}")
            self.answers[term[1]] = (term[2], term[3])
        return self.answers.pop(ref)

    def request(self, request, patience=None):
        return self.answer(self.send(request), patience)

    def ask(self, request, patience=None):
        """Returns the result of a request that must succeed."""
        result, self.notes = self.request(request, patience)
        if result == "ok":
            return None
        if result[0] != "ok":
            raise Failed(f"{request}: {result} {self.notes}")
        return result[1]

    def refused(self, request):
        """Returns the error of a request that must fail: (its code, its text)."""
        result, self.notes = self.request(request)
        if not isinstance(result, tuple) or result[0] != "error":
            raise Failed(f"{request} was not refused: {result}")
        return result[1]["code"], result[1]["text"].decode()

    # -- frequent requests

    def hello(self, **options):
        return self.ask((Atom("hello"), 1, [(Atom(k), v) for k, v in options.items()]))

    def compile(self, text, name="test.d", spec="script", args=()):
        return self.ask((Atom("compile"), name, Atom(spec), text, list(args)))

    def setopt(self, name, value="none"):
        return self.ask((Atom("setopt"), name, Atom("none") if value == "none" else value))

    def start(self, text, target="local", **options):
        """Sends hello, a target, a program, go."""
        self.hello(**options)
        self.ask((Atom("target"), Atom(target) if isinstance(target, str) else target))
        self.compile(text)
        return self.ask(Atom("go"))

    def consume(self, most=1000, wait_ms=0):
        return self.ask((Atom("consume"), most, wait_ms))

    def consume_all(self):
        """Returns everything until the trace has ended."""
        items = []
        while True:
            got = self.consume(1000, 1000)
            items += got["items"]
            if got["state"] in ("done", "failed") and not got["more"]:
                return items

    def walk(self, mode="keep"):
        """Returns {name: entries}."""
        return {name.decode(): entries for name, entries in self.ask((Atom("walk"), Atom(mode)))["aggregations"]}

    def status(self):
        return self.ask(Atom("status"))

    # -- the end

    def hang_up(self):
        """Closes its input."""
        with self.writing:
            self.p.stdin.close()

    def wait(self, patience=None):
        """Returns its exit status; everything that it wrote to its standard error has been read by then."""
        try:
            status = self.p.wait(patience or PATIENCE)
        except subprocess.TimeoutExpired as e:
            raise Late("the port program does not end\n" + self.err.text()) from e
        self.err.thread.join(PATIENCE)
        return status

    def close(self):
        self.ask(Atom("close"))
        return self.wait()

    def kill(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGKILL)
            self.p.send_signal(signal.SIGCONT)
        self.p.wait()
        self.thread.join(PATIENCE)
        for stream in (self.p.stdin, self.p.stdout):
            try:
                stream.close()
            except OSError:
                pass
