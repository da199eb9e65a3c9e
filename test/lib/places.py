"""places - where the D scripts of test/d run: in the local tier, or inside real nodes.

A place runs one test at a time for each of its workers, and returns what was wrong, as exceptions. A test is a function of the tool's options
for that place; it raises such an exception. `end` returns what was wrong with the place itself, as texts.
"""
import os
import queue
import subprocess
import time

import choice
import erlt


def problems(test, options):
    """What is wrong with a test: a list of one exception, or of none."""
    try:
        test(options)
    except erlt.Failed as e:
        return [e]
    return []


class Local:
    """Runs tests in the local tier."""

    place, otp = ["--local"], ""

    def run(self, test):
        return problems(test, self.place)

    def end(self):
        return []


class Kernel(Local):
    """Runs tests in the kernel."""

    place = ["--kernel"]
    known = None  # (what lacking() has said,)
    # What a machine, or the build that it can make, may lack: the tags of these errors. Every other failure is one of ours.
    LACKS = ("KERNEL_BPF", "KERNEL_BTF", "KERNEL_BUILD", "KERNEL_LACKS", "KERNEL_LIBBPF", "KERNEL_PRIVILEGE", "KERNEL_STATIC")

    @classmethod
    def need(cls):
        """Skips a test of another suite where nothing runs in this machine's kernel."""
        if cls.known is None:
            cls.known = (cls.lacking(),)
        if cls.known[0] is not None:
            raise erlt.Skipped(cls.known[0])

    @staticmethod
    def lacking():
        """Why nothing runs in this machine's kernel; None: it does, or should: the tests will fail."""
        p = subprocess.Popen([erlt.TOOL, "--kernel", "-q", "-n", "BEGIN { exit(0); } syscall:::entry { }"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            _, error = p.communicate(timeout=erlt.PATIENCE)
        except subprocess.TimeoutExpired:  # what waits in the kernel does not end when it is killed
            p.kill()
            return "this kernel does not answer when it is given a program"
        return next((line for line in error.splitlines() if any(f"[{tag}]" in line for tag in Kernel.LACKS)), None) if p.returncode != 0 else None


class Nodes:
    """Runs tests inside nodes, each of which serves one test at a time, and is clean after the last one."""

    # What all tests together may leave in a node. A test loads only the agent, whose atoms are created once.
    ATOMS = 100 # one for each test would be a thousand
    # The same for memory: bytes, and additional bytes for each test. The VM knows exactly what it holds: each load of a library leaves some
    # 100 bytes, and the VM's own processes have more or less room. The library's allocations are in the C library's heap, of which there is
    # only one here (see start). Holes in it take up to 340 KiB, whatever the number of tests, and the dynamic linker leaves something
    # there. The operating system counts large blocks together with all that the VM's allocators keep for later, which varies by 15 MiB.
    MEMORY = {"system": (192 << 10, 192), "processes": (768 << 10, 0), "C heap": (1 << 20, 448), "resident": (64 << 20, 0)}
    # Before OTP 27 the VM loses 150 to 190 KiB whenever modules of the agent's size are loaded and purged, with or without our library.
    LOADING, LOADS_INTO = 224 << 10, ("C heap", "resident")

    def __init__(self, jobs, otp):
        self.otp = otp or choice.HOST_RELEASE
        self.nodes, self.problems, self.free = [], [], queue.Queue()
        os.environ.setdefault("ERLTRACE_ROOT", erlt.ROOT)
        for _ in range(jobs):
            self.start()

    def start(self):
        """Starts one more node and traces it once, because what the first trace adds to a node stays there. So do OTP's module dyntrace,
        which is loaded for its probes, and the names of functions whose calls are probes."""
        node = erlt.Node(otp=None if self.otp == choice.HOST_RELEASE else self.otp, options=["-env", "MALLOC_ARENA_MAX", "1", "-env", "MALLOC_MMAP_THRESHOLD_", "131072"])
        self.nodes.append(node)
        self.warm_up(node)
        self.unclean(node)
        # Asking for the log loads OTP's module sys.
        self.problems += [f"in a node's log, before its first test: {line}" for line in node.logged()]
        node.before = self.held(node, [0, 0, 0])
        node.tests = 0
        self.free.put(node)

    def warm_up(self, node):
        """Runs the first trace of a node. If it fails, as on a busy host, it is repeated: otherwise what it would have added would later
        look like a leak."""
        command = [erlt.TOOL, *self.place(node), "-qn", "BEGIN { exit(0); } erlang*:::user_trace-*, erlang*:::ets-*, erlang*:::code-* { }"]
        end = time.monotonic() + erlt.PATIENCE
        while True:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=erlt.PATIENCE)
            if done.returncode == 0:
                return
            if time.monotonic() > end:
                raise erlt.Late("the first trace of a node fails: " + done.stderr.decode(errors="replace"))

    @staticmethod
    def held(node, limits):
        """Returns what a node holds, once it holds at most these limits (processes, memory of the system, memory of processes) or has
        failed to shrink to them."""
        found = dict(node(f"etw:settled({limits})"))
        if erlt.EMULATOR == "arm64":  # what the system counts is the emulator's
            return found
        return {**found, "C heap": node.heap(), "resident": node.memory()}

    @staticmethod
    def place(node):
        return ["--node", node.name, "--cookie", node.cookie]

    def run(self, test):
        node = self.free.get()
        node.tests += 1
        found = problems(test, self.place(node))
        if node.alive():
            said = node.logged()
            if said:
                found.append(erlt.Failed("\n".join(["in the node's log, in this test or in one before:", *said])))
            self.free.put(node)
            return found
        node.end()
        self.nodes.remove(node)
        self.start()
        return found + [erlt.Gone("the node died: " + node.err.text()[-2000:])]

    def unclean(self, node):
        """Returns what is left of traces in a node after they had time to end, as texts."""
        kind, found = node("etw:await_clean(15000)")
        return found if kind != "clean" else []

    def end(self):
        """Ends the nodes; returns what was wrong with them, as texts."""
        for node in self.nodes:
            limit = {what: node.before[what] + once + each * node.tests for what, (once, each) in self.MEMORY.items()
                     if what in node.before or erlt.EMULATOR != "arm64"}
            if int(node("etw:release()")) < 27:
                limit.update({what: limit[what] + self.LOADING * node.tests for what in self.LOADS_INTO if what in limit})
            limit.update({"process count": node.before["process count"], "atom count": node.before["atom count"] + self.ATOMS})
            found = self.unclean(node) + [f"in its log: {line}" for line in node.logged()]
            for what, now in self.held(node, [limit[what] for what in ("process count", "system", "processes")]).items():
                if now > limit[what]:
                    found.append(f"{what}: {now - node.before[what]} more than before, {limit[what] - node.before[what]} are allowed")
                    if what == "atom count":
                        found.append("the new atoms: " + " ".join(node(f"etw:atoms({node.before[what]}, {now})")))
            self.problems += [f"in a node: {what}" for what in found]
            node.end()
        return self.problems
