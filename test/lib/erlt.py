"""erlt - the base of end-to-end tests: real nodes, the real tool, and waiting without sleeping.

    def test_counts(t):
        node = t.node()                                   # a BEAM, shared between tests, clean when a test gets it
        worker = node("etw:worker()")                     # evaluates there, returns the value
        trace = t.trace("-qn", SCRIPT, node=node)         # bin/erltrace, attached
        trace.ready()                                     # until the script has printed "ready"
        node(f"etw:calls({worker}, 10007)")
        trace.interrupt()
        t.equal(trace.end(), 0)

A test is a function `test_...(t)` in test/e2e/*.py. It fails by an exception; t.equal and the like say what was expected.
What it started is ended after it, whatever happened. The only use of time here is that every wait has an end.
"""
import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import choice
import results

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.environ.get("ERLTRACE") or os.path.join(ROOT, "bin", "erltrace")
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
UNDER = os.environ.get("UNDER", "").split()  # a command line in front of the tool: valgrind
PATIENCE = int(os.environ.get("PATIENCE", 60)) * (5 if UNDER or os.environ.get("SANITIZE") else 1)  # seconds until a wait has failed
COOKIE = "erltrace-test-cookie"
PROC = os.path.exists("/proc/self/status")  # a bare chroot may lack it
HOST = socket.gethostname().split(".")[0]

# Other load on the host may keep a trace's consumer from its CPU for a second or two; tests of what a consumer that stands still loses set
# the lease that users have.
os.environ.setdefault("DTRACE_OPT_LEASE", "30s")
SHORT_LEASE_MS = 1500
SHORT_LEASE = {"DTRACE_OPT_LEASE": f"{SHORT_LEASE_MS}ms"}

# A background process of a shell inherits an ignored interrupt, and would pass that on to what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Test code has plain `catch`, which OTP 29 warns of. Older compilers ignore the option.
ERLC = ["erlc", "+nowarn_deprecated_catch"]

EMULATOR = ""  # nodes run on that emulator of their release (scripts/dev/otp-vm): "debug", "musl"; "arm64": by one of another processor
DEBUG = False  # it is the debug emulator, whose stderr must stay empty
EXCUSED = os.path.join(ROOT, "test", "lib", "debug-vm.list")


def chosen(otp):
    """Returns the release that tests pass on for --otp: that of a Debian folder, or None for the one on the PATH. After
    NN-debug, NN-musl and NN-arm64 all nodes run on that emulator."""
    global DEBUG, EMULATOR, PATIENCE  # pylint: disable=global-statement
    release, _, EMULATOR = (otp or "").partition("-")
    DEBUG = EMULATOR == "debug"
    if EMULATOR in ("debug", "arm64"):  # everything takes many times as long on it
        PATIENCE *= 5
    return release if release not in ("", choice.HOST_RELEASE) else None


def complaints(lines):
    """Returns the lines of a debug emulator's stderr that the list does not excuse."""
    with open(EXCUSED, encoding="utf-8") as f:
        excused = [re.compile(line.rstrip("\n")) for line in f if line.strip() and not line.startswith("#")]
    return [line for line in lines if line.strip() and not any(e.search(line) for e in excused)]


class Failed(Exception):
    """A test failed; the text says what was wrong, `kind` of which class of results.py that is: usually a wrong value."""

    kind = results.ASSERTION


class Finding(Failed):
    """What no test may cause, whatever it expects: a node died, or something is left behind."""

    kind = results.FINDING


class Late(Failed):
    """A wait has reached its end."""

    kind = results.TIMEOUT


class Lacking(Failed):
    """The machine does not give what every program may expect."""

    kind = results.MACHINE


class Gone(Failed):
    """The node no longer exists."""


class Skipped(Exception):
    """A test cannot run here; the text says why."""


@contextlib.contextmanager
def making(*path):
    """Locks the folder of that path below build/test and yields it: suites that run side by side fill it one after another."""
    folder = os.path.join(BUILD, "test", *path)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def workload(*more):
    """Returns the folder of the compiled workload, with the module of erltrace that applications use, and with more modules; they are
    compiled once."""
    with making("ebin") as ebin:
        for module in ("test/lib/etw", "test/lib/etlog", "test/lib/eto", "src/erltrace", *more):
            beam, source = os.path.join(ebin, os.path.basename(module) + ".beam"), os.path.join(ROOT, module + ".erl")
            if not os.path.exists(beam) or os.path.getmtime(beam) < os.path.getmtime(source):
                subprocess.run([*ERLC, "+debug_info", "-o", ebin, source], check=True, stdout=subprocess.DEVNULL)
    return ebin


def library(name):
    """Returns the path of a shared library that is made of test/lib/NAME.c: a driver or a NIF."""
    source = os.path.join(ROOT, "test", "lib", name + ".c")
    with making("drv") as folder:
        made = os.path.join(folder, name + ".so")
        if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
            root = subprocess.run(["erl", "-noshell", "-eval", "io:put_chars(code:root_dir()), halt()."], check=True,
                                  stdout=subprocess.PIPE).stdout.decode()
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-I{root}/usr/include", "-o", made, source], check=True)
    return made


def epmd():
    """Makes sure that this host's epmd runs, so that none is started inside another release's folder."""
    subprocess.run(["epmd", "-daemon"], check=False)
    until(lambda: subprocess.run(["epmd", "-names"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0,
          "epmd does not answer", error=Lacking)


def until(condition, what, patience=None, pause=0.02, error=Late):
    """Asks until `condition` gives something that is true, and returns that. what: the text of the exception when patience has run out, or a
    function that returns it; it says what did not happen. pause: seconds between two questions; 0 where the question itself waits."""
    end = time.monotonic() + (patience or PATIENCE)
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > end:
            raise error(what() if callable(what) else what)
        time.sleep(pause)


class Lines:
    """The lines of a stream, collected by a thread; a test can wait for a line."""

    def __init__(self, stream):
        self.lines, self.ended = [], False
        self.change = threading.Condition()
        self.thread = threading.Thread(target=self._collect, args=(stream,), daemon=True)
        self.thread.start()

    def _collect(self, stream):
        for line in stream:
            with self.change:
                self.lines.append(line.decode(errors="replace").rstrip("\n"))
                self.change.notify_all()
        stream.close()
        with self.change:
            self.ended = True
            self.change.notify_all()

    def text(self):
        with self.change:
            return "".join(line + "\n" for line in self.lines)

    def wait(self, pattern, patience=None, start=0):
        """The index of the first line from `start` on that matches; None if the stream ended or patience ran out."""
        expr, end = re.compile(pattern), time.monotonic() + (patience or PATIENCE)
        with self.change:
            i = start
            while True:
                while i < len(self.lines):
                    if expr.search(self.lines[i]):
                        return i
                    i += 1
                left = end - time.monotonic()
                if self.ended or left <= 0:
                    return None
                self.change.wait(left)


def cores():
    """In a child: allows a core dump."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)


# What the log of a test's node may contain: an operator must never see anything of us in the log, whatever happens to a trace. So each line
# that a node logs, at any level, fails the test in which it appears, except for these, none of which can come from the agent or from a
# connection.
OWN = [
    # Programs that the workload has started and whose port it has closed.
    r"^((cat: )+|)write error: Broken pipe$",
    # Progress, at a level that no system logs by default: the resolver starts with the first name that is looked up.
    r"^(info|debug) Supervisor: \{local,(inet_gethost_native_sup|kernel_safe_sup|kernel_sup)\}\. Started",
]


def foreign(lines, own=()):
    """Returns the lines of a log that match neither OWN nor `own`: a test has to account for these."""
    return [line for line in lines if line and not any(re.search(pattern, line) for pattern in [*OWN, *own])]


class Node:
    """A BEAM with the workload in it, and a channel to it that no trace sees."""

    count = 0

    def __init__(self, otp=None, options=(), cookie=COOKIE, name=None, evidence=None, begin=(), emulator=None):
        """evidence: the folder in which it runs, so that it leaves its core or crash dump there. begin: a command that becomes the node's.
        emulator: the one on which it runs (EMULATOR); a test is skipped where that is not built."""
        emulator = emulator or EMULATOR
        Node.count += 1
        self.otp = otp
        self.short = name or f"et{os.getpid()}_{Node.count}"
        self.name = f"{self.short}@{HOST}"
        self.cookie = cookie
        # A HOME of its own, with the cookie where Erlang looks for it.
        self.home = tempfile.mkdtemp(prefix="et-home-")
        with open(os.path.join(self.home, ".erlang.cookie"), "w", encoding="ascii") as f:
            f.write(cookie)
        os.chmod(os.path.join(self.home, ".erlang.cookie"), 0o400)
        command = ["erl", "-noinput", "-noshell", "-sname", self.short, "-pa", workload(), *options, "-s", "etw"]
        command.remove("-noinput")  # orders come on standard input
        if otp or emulator:
            command = [os.path.join(ROOT, "scripts", "dev", "in-otp"), "-".join(filter(None, (otp or choice.HOST_RELEASE, emulator)))] + command
        # The agent's library is placed in TMPDIR for a moment: a separate folder shows whether this node's copy is gone.
        env = dict(os.environ, HOME=self.home, TMPDIR=self.home, ERL_CRASH_DUMP="/dev/null", ERL_AFLAGS="", ERL_FLAGS="", ERL_ZFLAGS="")
        if otp or emulator:  # the release's folder is found by the HOME of the caller, while the node has its own
            env["ERLTRACE_CACHE"] = cache()
        if evidence:
            env["ERL_CRASH_DUMP"] = os.path.join(evidence, "erl_crash.dump")
        epmd()
        self.p = subprocess.Popen([*begin, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=env, cwd=evidence or ROOT, preexec_fn=cores if evidence else None)
        self.out, self.err = Lines(self.p.stdout), Lines(self.p.stderr)
        self.seen = self.heard = 0
        if self.out.wait("\x01ready") is None:
            ended = self.out.ended  # what has closed its output is about to end
            if (self.p.wait(PATIENCE) if ended else self.p.poll()) == 77:
                raise Skipped(self.err.text().strip())
            raise (Failed if ended else Late)(f"the node did not start: {self.out.text()}{self.err.text()}")
        self.seen = self.out.wait("\x01ready") + 1
        self.printed = self.erred = 0

    @property
    def pid(self):
        return self.p.pid

    def alive(self):
        return self.p.poll() is None

    def complaints(self):
        """Returns what a debug emulator wrote since the last call (assertions, lock orders), as a list of lines."""
        if not DEBUG:
            return []
        with self.err.change:
            new, self.heard = self.err.lines[self.heard:], len(self.err.lines)
        return complaints(new)

    def __call__(self, expression, patience=None):
        """Evaluates an Erlang expression in the node; numbers, texts and lists come back as such. A pid comes back as a text:
        pass it on as pid("<0.1.2>")."""
        try:
            self.p.stdin.write((expression.replace("\n", " ") + ".\n").encode())
            self.p.stdin.flush()
        except OSError as e:
            raise Gone(f"the node is gone: {e}\n{self.err.text()}") from e
        i = self.out.wait("^\x01(ok|error) ", patience, self.seen)
        if i is None:
            raise (Gone if self.out.ended else Late)(f"no answer from the node to {expression}\n{self.err.text()}")
        self.seen = i + 1
        kind, _, value = self.out.lines[i][1:].partition(" ")
        if kind == "error":
            raise Failed(f"{expression}: {value}")
        return json.loads(value)

    def logged(self):
        """Returns what was written to its log since the last call, and to its standard streams besides the answers. Lines that match OWN
        are left out."""
        try:
            lines = self("etlog:logged()")
        except Gone:  # what it has printed counts all the same
            lines = []
        with self.out.change:
            lines += [line for line in self.out.lines[self.printed:] if not line.startswith("\x01")]
            self.printed = len(self.out.lines)
        with self.err.change:
            lines += self.err.lines[self.erred:]
            self.erred = len(self.err.lines)
        return foreign(lines)

    def memory(self):
        """Returns the bytes of memory that the operating system counts for the node; 0 if /proc is not mounted."""
        if not PROC:
            return 0
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", f.read(), re.M)[1]) * 1024

    def heap(self):
        """Returns the part of that which is the C library's main heap: the memory outside the VM's allocators, in a node with
        MALLOC_ARENA_MAX=1."""
        if not PROC:
            return 0
        with open(f"/proc/{self.pid}/smaps", encoding="ascii", errors="replace") as f:
            found = re.search(r" \[heap\]\n(?:\w+: .*\n)*?Rss:\s+(\d+) kB", f.read())
            return int(found[1]) * 1024 if found else 0

    def end(self):
        if self.p.poll() is None:
            try:
                self.p.stdin.close()
                self.p.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                self.p.kill()
                self.p.wait()
        shutil.rmtree(self.home, ignore_errors=True)


def pid(text):
    """The Erlang expression for a pid that came back as a text."""
    return f'list_to_pid("{text}")'


def cache():
    return os.environ.get("ERLTRACE_CACHE") or os.path.join(os.environ.get("HOME", "/root"), ".cache", "erltrace")


def tool(*args, node=None, env=None, home=None, program=None):
    """The command line and the environment of the tool for a node. program: a command line that runs another build of it, which finds its
    files by itself."""
    command = list(program or UNDER + [TOOL])
    if node is not None:
        command += ["--node", node.name, "--cookie", node.cookie]
    environment = dict(os.environ)
    if program:
        environment.pop("ERLTRACE_ROOT", None)
    else:
        environment.setdefault("ERLTRACE_ROOT", ROOT)
    # Tests make floods; those of the dead-man set what it allows.
    environment.setdefault("DTRACE_OPT_MAXLOAD", "off")
    environment.update(env or {})
    if home:
        environment["HOME"] = home
    return command + [str(a) for a in args], environment


# The tool's own waits: it ends a trace when a node has not answered for long, or has not heard from the tool.
TOOL_WAITED = re.compile(r"\b(NODE_TIMEOUT|NODE_LEASE|AGENT_BUSY)\b")


class Trace:
    """bin/erltrace, running."""

    def __init__(self, *args, node=None, env=None, home=None, stdin=None, program=None):
        command, environment = tool(*args, node=node, env=env, home=home, program=program)
        self.command = command
        self.p = subprocess.Popen(command, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment, cwd=ROOT, start_new_session=True)
        self.out, self.err = Lines(self.p.stdout), Lines(self.p.stderr)

    def wait(self, pattern, patience=None, start=0):
        """Waits until a line of the output matches; returns its index."""
        i = self.out.wait(pattern, patience, start)
        if i is None:
            error = self.error()
            self.asked_to_end()
            raise error(f"'{pattern}' was never printed by {' '.join(self.command)}\n{self.said()}")
        return i

    def asked_to_end(self):
        """Lets a trace that has failed a test say what it says at its end."""
        self.interrupt()
        try:
            self.end(5)
        except Late:
            pass

    def wait_error(self, pattern, patience=None, start=0):
        i = self.err.wait(pattern, patience, start)
        if i is None:
            raise self.error()(f"'{pattern}' never came on standard error of {' '.join(self.command)}\n{self.said()}")
        return i

    def error(self):
        """Returns the class of exception for what was never printed: a trace that has ended for another reason than a wait is no matter of
        time."""
        if not (self.out.ended or self.err.ended):
            return Late
        self.err.thread.join(PATIENCE)
        return Late if self.waited() else Failed

    def waited(self):
        """Returns whether it has ended because a wait of its own was over."""
        return TOOL_WAITED.search(self.err.text()) is not None

    def ready(self):
        """Waits until the script prints "ready" as READY does: every probe is placed by then."""
        self.wait("ready")

    def said(self):
        ended = "" if self.p.poll() is None else f"--- ended with {self.p.poll()}\n"
        return f"--- stdout\n{self.out.text()[-4000:]}--- stderr\n{self.err.text()[-4000:]}{ended}"

    def signal(self, number):
        self.p.send_signal(number)

    def interrupt(self):
        self.signal(signal.SIGINT)

    def end(self, patience=None):
        """Waits for the end; returns the exit status."""
        try:
            status = self.p.wait(patience or PATIENCE)
        except subprocess.TimeoutExpired as e:
            raise Late(f"no end of {' '.join(self.command)}\n{self.said()}") from e
        self.out.thread.join(PATIENCE)
        self.err.thread.join(PATIENCE)
        return status

    def kill(self):
        if self.p.poll() is None:
            self.p.send_signal(signal.SIGKILL)
            self.p.send_signal(signal.SIGCONT)
        self.p.wait()


def until_printed(trace, pattern, work, start=0):
    """Calls `work` until a trace has printed a line that matches; returns the line's index."""
    def printed():
        work()
        return trace.out.wait(pattern, 0.1, start) is not None or trace.out.ended
    until(printed, lambda: f"'{pattern}' was never printed by {' '.join(trace.command)}\n{trace.said()}", pause=0)
    return trace.wait(pattern, start=start)


# A clause that shows when tracing has begun: the first tick comes once all probes are placed.
READY = 'profile:::tick-50ms /!started/ { started = 1; printf("ready\\n"); }\n'

# A clause whose functions take long to place in a slow_node.
SLOW, SLOW_FUNCTIONS = "erlang*:etn_*:f0:entry { @ = count(); }", 30


class Test:
    """What a test works with: nodes, traces, and expectations."""

    shared = {}  # node by release

    def __init__(self, otp=None):
        self.otp = otp
        self.traces, self.nodes, self.used = [], [], []
        self.logs = []  # patterns of lines that the test itself makes the node log
        self.why_loose = None
        self.folder = tempfile.mkdtemp(prefix="et-test-")

    def node(self, fresh=False, **more):
        """Returns the node that all tests share, or with fresh=True or options a separate one."""
        if fresh or more:
            node = Node(otp=self.otp, **more)
            self.nodes.append(node)
            return node
        node = Test.shared.get(self.otp)
        if node is None or not node.alive():
            node = Test.shared[self.otp] = Node(otp=self.otp)
        self.used.append(node)
        return node

    def slow_node(self):
        """Returns a node in which each call that sets a pattern takes long, because its schedulers are busy. In it SLOW has SLOW_FUNCTIONS
        functions, each in a separate module."""
        node = self.node(fresh=True)
        node(f"etw:tiny({SLOW_FUNCTIONS}, 1)")
        self.logs.append("enabled access to the emulator internal state")  # from what blocks the schedulers
        node("etw:held(2)")
        return node

    def trace(self, *args, **more):
        trace = Trace(*args, **more)
        self.traces.append(trace)
        return trace

    def run(self, *args, patience=None, **more):
        """Runs the tool to its end; returns (exit status, output, error output)."""
        trace = self.trace(*args, **more)
        status = trace.end(patience)
        return status, trace.out.text(), trace.err.text()

    def needs_proc(self):
        """For tests of what the tool reads from /proc."""
        if not PROC:
            raise Skipped("/proc is not mounted")

    def file(self, name, text=""):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    @contextlib.contextmanager
    def loose(self, reason):
        """A block whose values the machine's load may change, for this reason, which is said with what is wrong in it. Exact values are the
        rule; use this only where no exact statement exists."""
        before, self.why_loose = self.why_loose, reason
        try:
            yield
        finally:
            self.why_loose = before

    def wrong(self, text, trace=None):
        """Returns the exception for a wrong value, perhaps one of a trace."""
        if trace:
            text += "\n" + trace.said()
            if trace.waited():
                return Late(text)
        return Failed(f"{text}\n(load may change it: {self.why_loose})" if self.why_loose else text)

    def equal(self, got, expected, what="value", trace=None):
        if got != expected:
            raise self.wrong(f"{what}: expected {expected!r}, got {got!r}", trace)

    def true(self, condition, what, trace=None):
        if not condition:
            raise self.wrong(what, trace)

    def match(self, text, pattern, what="text"):
        m = re.search(pattern, text, re.M)
        if not m:
            raise self.wrong(f"{what}: nothing matches {pattern!r} in\n{text}")
        return m

    def clean(self, node, within_ms=2000, what="etw:dirt()"):
        """Checks that nothing of a trace is left in the node. what: an expression that lists what is left. After at most within_ms nothing
        is traced any more (with STRICT=1 in the environment; otherwise after ten times that, since the host may be busy: 20 seconds are
        still less than a lease). The memory of unused modules may take longer, if many processes have to be asked about it."""
        within_ms *= 25 if DEBUG else 1 if os.environ.get("STRICT") else 10
        kind, found = node(f"etw:await_clean({within_ms}, fun etw:traced/0)")
        if kind == "clean":
            kind, found = node(f"etw:await_clean({max(within_ms, 1000 * PATIENCE // 4)}, fun() -> {what} end)")
        if kind != "clean":
            raise Finding("left behind in the node: " + "; ".join(found[:20]))
        return found

    def silent(self, node):
        """Checks that the node has logged nothing."""
        logged = node.logged() if node.alive() else []  # a node that was just killed may still seem to be alive
        lines = foreign(logged, self.logs)
        if lines:
            raise Finding("in the node's log: " + "\n".join(lines[:20]))

    def end(self):
        """Ends everything that the test has started. Returns what was wrong with it, as exceptions."""
        problems = []
        for trace in self.traces:
            trace.kill()
        for node in self.used:
            if not node.alive():
                problems.append(Finding(f"the node died: {node.err.text()[-2000:]}"))
                node.end()
                Test.shared.pop(self.otp, None)
                continue
            try:
                node("etw:quiet()")
                self.clean(node, 15000)
                self.silent(node)
            except Failed as e:
                problems.append(e)
                node.end()  # the next test gets a new one
                Test.shared.pop(self.otp, None)
        for node in self.nodes:
            try:
                self.silent(node)
            except Failed as e:
                problems.append(e)
            node.end()
        for node in self.used + self.nodes:
            if not node.alive():
                node.err.thread.join(PATIENCE)
            said = node.complaints()
            if said:
                problems.append(Finding("the emulator says:\n" + "\n".join(said[:40])))
        shutil.rmtree(self.folder, ignore_errors=True)
        return problems


def aggregation(text):
    """The lines `key... value` of a printed aggregation, as {key: value}; several keys form a tuple."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and re.fullmatch(r"-?\d+", words[-1]):
            found[words[0] if len(words) == 2 else tuple(words[:-1])] = int(words[-1])
    return found


def json_lines(text):
    """The objects of --json output."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def below(process):
    """The processes that a process has started, and theirs: {number: the clock ticks of processor time that it, and what it has waited for, used}."""
    parents, used = {}, {}
    for name in os.listdir("/proc") if PROC else []:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):  # it may have ended
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                    fields = f.read().rpartition(")")[2].split()
                parents[int(name)], used[int(name)] = int(fields[1]), sum(map(int, fields[11:15]))
    found = {process}
    while True:
        more = {p for p, parent in parents.items() if parent in found} - found
        if not more:
            break
        found |= more
    return {p: used[p] for p in found - {process}}


def processor_time():
    """Returns the seconds of processor time that this process, those that it has started, and theirs have used so far. What an ended process
    used counts once its parent has waited for it."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    total = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    return total + sum(below(os.getpid()).values()) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Ends a test that takes longer than `seconds`: notes where it is, and kills all processes that it has started, so that what it waits for ends,
    again and again until it does. A context; `text` is None, or what there is to say."""

    def __init__(self, seconds):
        self.seconds, self.text = seconds, None
        self.over, self.test = threading.Event(), threading.get_ident()
        self.thread = threading.Thread(target=self.watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def watch(self):
        wait = self.seconds
        while not self.over.wait(wait):
            if self.text is None:
                frames = sys._current_frames().get(self.test)  # pylint: disable=protected-access
                self.text = f"it had not ended after {self.seconds} s; it was here:\n" + "".join(traceback.format_stack(frames))
            for pid in below(os.getpid()):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            wait = 5


# Seconds until a test is ended: more than one wait of it may take.
LONGEST = 900
# A test of LOOKED_AT seconds or longer may use so many processors beside others.
PROCESSORS, LOOKED_AT = 1.5, 5


def load(node, text):
    """Compiles and loads a module in a node that has etw."""
    quoted = text.replace('"', '\\"').replace("\n", "\\n")
    node(f'etw:load("{quoted}")')


def lower():
    """Becomes a user without privileges: the preexec_fn of a process."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def alone(function):
    """Marks a test that changes how others are scheduled, or uses more than one processor: it runs with nothing beside it."""
    function.stage = choice.ALONE
    return function


def with_nodes(function):
    """Marks a test that starts nodes, in a suite whose tests are otherwise part of stage A."""
    function.stage = choice.NODES
    return function


def run(tests, otp=None, out=sys.stdout, make=Test):
    """Runs (name, function) pairs one after another; the last line printed is `N passed, N failed`. make(otp) makes what a function gets: it
    has `used` and `nodes`, which have names, and end(), as Test has."""
    passed = failed = skipped = 0
    for name, function in tests:
        start, used, problems, classes, skip = time.monotonic(), processor_time(), [], set(), None
        t = make(otp)
        with Watch(LONGEST) as watch:
            try:
                function(t)
            except Skipped as e:
                skip = str(e)
            except Failed as e:
                problems.append(str(e))
                classes.add(results.class_of(e))
            except Exception as e:  # pylint: disable=broad-except
                problems.append("".join(traceback.format_exception(type(e), e, e.__traceback__)))
                classes.add(results.class_of(e))
            nodes = [node.name for node in t.used + t.nodes if node.name]
            left = t.end()
            problems += map(str, left)
            classes |= set(map(results.class_of, left))
        if watch.text:
            problems.insert(0, watch.text)
            classes = {results.TIMEOUT}  # what else is wrong comes of its being ended
        took, used = time.monotonic() - start, processor_time() - used
        if not problems and skip is None and took >= LOOKED_AT and used > PROCESSORS * took and getattr(function, "stage", None) != choice.ALONE:
            problems.append(f"it used {used / took:.1f} processors for {took:.0f} s: a test that needs more than one runs by itself (@alone)")
            classes.add(results.MACHINE)
        if problems:
            failed += 1
            print(f"  FAIL {name} ({took:.1f} s)", file=out)
            for problem in problems:
                print("    | " + problem.rstrip().replace("\n", "\n    | "), file=out)
        elif skip is not None:
            skipped += 1
            print(f"  skip {name}: {skip}", file=out)
        else:
            passed += 1
            print(f"  ok   {name} ({took:.1f} s)", file=out)
        out.flush()
        results.write(name, "fail" if problems else "pass" if skip is None else "skip", results.gravest(classes), otp=otp or choice.HOST_RELEASE,
                      ms=1000 * took, cpu_ms=1000 * used, node=nodes[0] if nodes else None, text="\n".join(problems) or skip)
    for node in Test.shared.values():
        node.end()
    Test.shared.clear()
    if skipped:
        print(f"  ({skipped} skipped)", file=out)
    print(f"{passed} passed, {failed} failed", file=out)
    return 1 if failed else 0
