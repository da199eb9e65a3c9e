"""sampled - what bench/profile-truth and bench/profile-systems share: the programs of truth.erl in nodes, other load, clocks, and what a trace says
of its samples."""
import math
import os
import re
import shlex
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "test", "lib"), os.path.join(ROOT, "test", "e2e")]
import erlt  # noqa: E402  pylint: disable=wrong-import-position
import test_profile  # noqa: E402  pylint: disable=wrong-import-position

CLOCKS = {"the task clock": "task", "the task clock outside of the kernel": "user", "a sampler that wakes at random times": "sampler",
          "the CPU clock": "cpu"}


def build():
    """Compiles the programs and their NIF, once; returns the folder."""
    out, here = os.path.join(ROOT, "build", "bench"), os.path.join(ROOT, "bench")
    os.makedirs(out, exist_ok=True)
    if is_older(out + "/truth.beam", here + "/truth.erl"):
        subprocess.run([*erlt.ERLC, "-o", out, here + "/truth.erl"], check=True)
    if is_older(out + "/truth.so", here + "/truth.c"):
        root = subprocess.run(["erl", "-noshell", "-eval", "io:put_chars(code:root_dir()), halt()."], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC", "-I", root + "/usr/include", "-o", out + "/truth.so.new",
                        here + "/truth.c"], check=True)
        os.rename(out + "/truth.so.new", out + "/truth.so")
    return out


def is_older(made, source):
    return not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source)


def node(otp, *options, begin=()):
    """A node that has the programs. begin: as erlt.Node has it."""
    out = build()
    made = erlt.Node(otp=otp, options=("-pa", out, *options), begin=begin)
    made(f'truth:load("{out}/truth")')
    return made


# How to begin a node that has no task clock because there is a filter of system calls, or has it outside of the kernel only (root, but for the
# capabilities that kernel.perf_event_paranoid 2 asks for).
BEGIN = {"filter": [sys.executable, "-c", test_profile.FILTERED], "user": ["setpriv", "--bounding-set=-perfmon,-sys_admin"]}


class Load:
    """Other programs that use all the processor time they get: a context."""

    def __init__(self, programs):
        self.programs, self.running = programs, []

    def __enter__(self):
        self.running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.programs)]
        return self

    def __exit__(self, *_):
        for p in self.running:
            p.kill()
            p.wait()


def used(pid):
    """Processor time that a process has used, in s."""
    return time.clock_gettime(~pid << 3 | 2)


class Readings:
    """Reads a clock all the time, so that it can be asked later what it was at some time of the system's clock. A context."""

    def __init__(self, read, pause=0.02):
        self.read, self.pause, self.rows, self.over = read, pause, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.over.is_set():
            self.rows.append((time.time_ns(), self.read()))
            self.over.wait(self.pause)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def at(self, when):
        """The clock at that time, between the readings before and after it."""
        for (t0, v0), (t1, v1) in zip(self.rows, self.rows[1:]):
            if t0 <= when <= t1:
                return v0 + (v1 - v0) * (when - t0) / max(t1 - t0, 1)
        return self.rows[0 if when < self.rows[0][0] else -1][1]


class Said:
    """What a trace said of its samples: clock, rates, samples, due, and the seconds of what it did not sample."""

    def __init__(self, text):
        found = re.search(r"sampled on CPU at (.*?) per scheduler(?:, by (.*?))?: (\d+) samples(?: of (\d+) due)?(.*)", text)
        if not found:
            raise erlt.Failed(f"the trace does not say how it sampled: {text}")
        self.clock = CLOCKS.get(found[2], "not said")
        self.samples, self.due = int(found[3]), int(found[4] or 0)
        self.others = {name: float(s) for name, s in re.findall(r"(?:not sampled: |, )([a-zA-Z][^,;:]*?) (\d+\.\d\d) s(?= of|,)", found[5])}
        hidden = re.search(r"(\d+) of sensitive processes", found[5])
        self.hidden = int(hidden[1]) if hidden else 0
        self.text = found[0]


def error(p, n):
    """The standard error of a share p of n samples, in points."""
    return 100 * math.sqrt(max(p * (1 - p), 0) / max(n, 1))


def machine():
    """Kernel and processors, in words."""
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        return f"Linux {os.uname().release}, {os.cpu_count()} processors, perf_event_paranoid {f.read().strip()}"
