"""A broker that has nothing to do with erltrace, under load from its own client: Debian's RabbitMQ.

Runs if `scripts/dev/deps rabbit` has been run (`make soak` and CI do that). Each trace takes a few seconds; SOAK=60 in the environment
makes it a minute."""
import glob
import os
import re
import socket
import subprocess
import time

import erlt
from erlt import COOKIE, HOST, ROOT, Failed, Lacking, Late, Lines, Node, Skipped, cache, epmd, workload

SECONDS = int(os.environ.get("SOAK", "5"))
# How long the tests wait for a node to be clean, in ms: the time that we promise, on a machine of our own; more on a machine that is busy
# with other things.
CLEAN_MS = 2000 if SECONDS > 10 else 30000


# What the broker's log may have at these levels: connections of its client that end without a farewell. Lower levels describe its own work.
# A line that names us is ours at any level.
GRAVE = re.compile(r"\[(warning|error|critical|alert|emergency)\]|erltrace|^\s*\*\*|crash")
OWN = [r"closing AMQP connection", r"client unexpectedly closed TCP connection",
       # A channel that was busy when its client was gone: a report of several lines.
       r"supervisor: \{<[\d.]+>,rabbit_channel_sup_sup\}$", r"errorContext: shutdown_error$", r"> +reason: shutdown$",
       r"> +(offender: \[)?\{(nb_children,\d+|id,channel_sup|mfargs,\{rabbit_channel_sup,start_link,\[\]\}|restart_type,temporary|shutdown,infinity|child_type,supervisor)\}[],]+$"]


def free_ports():
    """Returns the first of two free ports in a row, below those that the kernel gives to connections."""
    for i in range(1000):
        port = 20000 + 2 * ((os.getpid() + i) % 6000)
        try:
            with socket.create_server(("127.0.0.1", port)), socket.create_server(("", port + 1)):
                return port
        except OSError:
            pass
    raise Lacking("no free port")


def clean_inside(ask):
    """Checks that nothing of the trace is left, by the module that does so for the other tests. ask: calls a function inside the node."""
    file = os.path.join(workload(), "etw")
    ask("code", "load_abs", f'"{file}"')
    kind, found = ask("etw", "await_clean", str(CLEAN_MS), patience=CLEAN_MS / 1000 + erlt.PATIENCE)
    ask("code", "delete", "etw")
    ask("code", "purge", "etw")
    if kind != "clean":
        raise Failed("left in the node: " + "; ".join(found[:20]))


class Broker:
    """RabbitMQ in a separate folder, and a node with its client, which gives it work."""

    def __init__(self, t):
        # Each release uses the RabbitMQ of its own Debian; `inside` is its folder as the node sees it.
        inside = os.path.join(cache(), f"otp-{t.otp}") if t.otp else ""
        lib = os.path.join(inside + "/opt" if inside else cache(), "rabbitmq", "usr", "lib", "rabbitmq", "lib")
        servers = glob.glob(os.path.join(lib, "rabbitmq_server-*"))
        if not servers:
            raise Skipped("no RabbitMQ here: " + (f"scripts/dev/otp {t.otp} rabbit" if t.otp else "scripts/dev/deps rabbit"))
        server, home = servers[0][len(inside):], os.path.join(t.folder, "rabbit")
        within = [os.path.join(ROOT, "scripts", "dev", "in-otp"), t.otp] if t.otp else []
        os.makedirs(home)
        with open(os.path.join(home, ".erlang.cookie"), "w", encoding="ascii") as f:
            f.write(COOKIE)
        os.chmod(os.path.join(home, ".erlang.cookie"), 0o400)
        self.home, self.port = home, free_ports()
        self.name = f"rabbit{os.getpid()}@{HOST}"
        with open(os.path.join(home, "rabbitmq.conf"), "w", encoding="ascii") as f:
            f.write(f"listeners.tcp.default = 127.0.0.1:{self.port}\nlog.file.level = debug\n")
        with open(os.path.join(home, "enabled_plugins"), "w", encoding="ascii") as f:
            f.write("[].\n")
        env = dict(os.environ, HOME=home, TMPDIR=home, RABBITMQ_HOME=server, RABBITMQ_NODENAME=self.name.split("@")[0],
                   RABBITMQ_MNESIA_BASE=home + "/mnesia", RABBITMQ_LOG_BASE=home + "/log",
                   RABBITMQ_CONFIG_FILE=home + "/rabbitmq.conf", RABBITMQ_ENABLED_PLUGINS_FILE=home + "/enabled_plugins",
                   RABBITMQ_CONF_ENV_FILE="/dev/null", RABBITMQ_PID_FILE=home + "/pid",
                   RABBITMQ_DIST_PORT=str(self.port + 1), ERLTRACE_CACHE=cache())
        epmd()
        self.p = subprocess.Popen(within + [server + "/sbin/rabbitmq-server"], env=env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=home, start_new_session=True)
        self.client = None
        try:
            self.out = Lines(self.p.stdout)
            if self.out.wait("completed with", 3 * erlt.PATIENCE) is None:
                taken = "eaddrinuse" in self.out.text()  # by somebody who came between free_ports() and the broker
                raise (Lacking if taken else Failed if self.out.ended else Late)("RabbitMQ did not start:\n" + self.out.text())
            with open(home + "/pid", encoding="ascii") as f:
                self.pid = int(f.read())
            libs = server + "/plugins"
            ebin = os.path.join(home, "ebin")
            os.makedirs(ebin)
            subprocess.run(within + ["erlc", "-o", ebin, os.path.join(ROOT, "test", "lib", "etr.erl")], check=True,
                           env=dict(os.environ, ERL_LIBS=libs))
            paths = glob.glob(f"{inside}{libs}/*/ebin")
            self.client = Node(otp=t.otp, options=["-pa", ebin] + [p[len(inside):] for p in paths])
            self.client(f"etr:start({self.port}, 3)")
            with open(os.path.join(workload(), "etw.beam"), "rb") as f:
                self.beam = f.read()
            self.before = set(self.log())  # what it logged while it started
        except BaseException:
            self.end()
            raise

    def ask(self, module, function, *args, patience=None):
        """Calls a function inside the broker."""
        return self.client(f"rpc:call('{self.name}', {module}, {function}, [{', '.join(args)}])", patience)

    def memory(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", f.read(), re.M)[1]) * 1024

    def consumed(self):
        return self.client("etr:consumed()")

    def log(self):
        """Returns the lines of its own log, and of its standard streams."""
        lines = []
        for name in sorted(glob.glob(os.path.join(self.home, "log", "*"))):
            with open(name, encoding="utf-8", errors="replace") as f:
                lines += f.read().splitlines()
        return self.out.text().splitlines() + lines

    def silent(self):
        """Checks that its log has nothing of us, and no errors since it was started."""
        wrong = erlt.foreign([line for line in self.log() if line not in self.before and GRAVE.search(line)], OWN)
        if wrong:
            raise Failed("in the broker's log: " + "\n".join(wrong[:20]))

    def clean(self):
        clean_inside(self.ask)

    def end(self):
        if self.client:
            self.client.end()
        for p in (getattr(self, "pid", None), self.p.pid):
            try:
                os.kill(p, 9)
            except (OSError, TypeError):
                pass
        self.p.wait()


def behind(trace, pattern, times, start=0):
    """Waits for this number of matching lines; returns the index of the line after them."""
    for _ in range(times):
        start = trace.wait(pattern, start=start) + 1
    return start


def watched(t, broker, *args, line=None):
    """Runs the tool for SECONDS while the broker works; checks that messages go through all the time, with bounded memory. line: what the
    script prints each second."""
    before = broker.memory()
    trace = t.trace("-p", broker.pid, *args, home=broker.home)
    if line:
        trace.wait(line)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and trace.p.poll() is None:
        mark = broker.consumed()
        broker.client(f"etr:visit({broker.port}, 2)")
        erlt.until(lambda: broker.consumed() > mark, lambda: f"no messages go through any more, after {mark}\n{trace.said()}")  # pylint: disable=cell-var-from-loop
    if line:
        behind(trace, line, SECONDS - 2)
        behind(trace, line, 2, start=len(trace.out.lines))  # the second of these lines includes the last events
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    grown = broker.memory() - before
    with t.loose("what the broker itself holds depends on how its processes get on"):
        t.true(grown < 200_000_000, f"the broker grew by {grown} bytes")
    text = trace.err.text()
    lost = sum(int(n) for n in re.findall(r"(\d+) dynamic variable drops?", text))
    t.true(text.count("drop") == text.count("dynamic variable drop"), "no records were dropped", trace)
    # A few among millions are no leak.
    with t.loose("a slot of the store that a thread changes which has lost its processor also counts as a drop"):
        t.true(lost <= 200, "nothing was dropped", trace)
    broker.clean()
    return trace


@erlt.alone
def test_broker(t):
    t.needs_proc()
    broker = Broker(t)
    try:
        births_and_deaths(t, broker)
        message_latency(t, broker)
        functions(t, broker)
        names(t, broker)
        slow_queue(t, broker)
        lines_of_the_page(t, broker)
        killed(t, broker)
        broker.silent()
    finally:
        broker.end()


def births_and_deaths(t, broker):
    count = broker.ask("erlang", "system_info", "process_count")
    trace = watched(t, broker, "-qn", """
        erlang*:::process-spawn { born++; @b = count(); }
        erlang*:::process-exit { died++; @d = count(); }
        tick-1sec { printf("%d born %d died\\n", born, died); born = 0; died = 0; }
        END { printa("total born %@d\\n", @b); printa("total died %@d\\n", @d); }""", line=r"^\d+ born \d+ died$")
    now = broker.ask("erlang", "system_info", "process_count")
    text = trace.out.text()
    seconds = re.findall(r"^(\d+) born (\d+) died$", text, re.M)
    born = int(t.match(text, r"total born (\d+)")[1])
    died = int(t.match(text, r"total died (\d+)")[1])
    t.true(born >= 10 and died >= 10, "connections come and go", trace)
    # Processes that were born and did not die exist now, except those that came or went before and after the trace: a connection or two, of
    # some thirty processes each.
    with t.loose("connections that came before the trace may be gone when it ends, and the broker has processes of its own"):
        t.true(abs((born - died) - (now - count)) <= 80, f"{born} born, {died} died, {count} processes before, {now} now", trace)
    shown = sum(int(b) for b, _ in seconds)
    t.true(shown > 0, f"{shown} of {born} births were shown", trace)
    # The last part of a second is in no line; with few seconds, one connection more or less in it matters.
    with t.loose("counters to which several threads add are racy in D, and what the last part of a second has depends on the load"):
        t.true((0.8 if SECONDS > 10 else 0.5) * born <= shown <= born, f"{shown} of {born} births were shown", trace)


def message_latency(t, broker):
    trace = watched(t, broker, "-qn", """
        erlang*:::message-send { sent[copyinstr(arg1)] = timestamp; @sends = count(); }
        erlang*:::process-scheduled /sent[copyinstr(arg0)]/ {
            @["send to scheduled, ns"] = quantize(timestamp - sent[copyinstr(arg0)]); sent[copyinstr(arg0)] = 0; }""")
    rows = {int(a): int(b) for a, b in re.findall(r"^ +(-?\d+) \|@* +(\d+) *$", trace.out.text(), re.M)}
    t.true(sum(rows.values()) > 0, "there are latencies", trace)
    t.true(all(n == 0 for v, n in rows.items() if v < 0), "none is negative", trace)
    with t.loose("how long messages wait depends on the machine"):  # less than a tenth of a second, or a second on a busy one
        t.true(sum(n for v, n in rows.items() if v < 2 ** (27 if SECONDS > 10 else 30)) > 0.9 * sum(rows.values()), "most wait not long", trace)


def functions(t, broker):
    trace = watched(t, broker, "-qn", """
        erlang*:rabbit_channel::entry { @["entry"] = count(); self->ts[probefunc] = timestamp; }
        erlang*:rabbit_channel::return /self->ts[probefunc]/ { @["return"] = count();
            @t[probefunc] = quantize(timestamp - self->ts[probefunc]); self->ts[probefunc] = 0; }""")
    t.match(trace.out.text(), r"^  entry +[1-9]\d*$")
    t.match(trace.out.text(), r"^  return +[1-9]\d*$")
    t.match(trace.out.text(), r"^  handle_cast/2")


def names(t, broker):
    """Queues and channels are called by what RabbitMQ calls them."""
    trace = t.trace("-p", broker.pid, "-x", "switchrate=50ms", "-qn", r"""
        erlang*:::message-send { this->to = erlname(arg1); }
        erlang*:::message-send /strstr(this->to, "queue ") == this->to && !queue/ { queue = 1; printf("queue: %s\n", this->to); }
        erlang*:::message-send /strstr(this->to, "rabbit_channel ") == this->to && !channel/ { channel = 1; printf("channel: %s\n", this->to); }""",
                    home=broker.home)
    for pattern in (r"^queue: queue \S+ in /$", r"^channel: rabbit_channel 127\.0\.0\.1:\d+ -> 127\.0\.0\.1:\d+ \(\d+\)$"):
        erlt.until_printed(trace, pattern, lambda: broker.client(f"etr:visit({broker.port}, 2)"))
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    broker.clean()


def of_the_page():
    """The three commands of doc/products.md for RabbitMQ, each by the ready script that it runs."""
    with open(os.path.join(ROOT, "doc", "products.md"), encoding="utf-8") as f:
        part = f.read().partition("\n## RabbitMQ\n")[2].partition("\n## ")[0]
    return {line.split()[2]: line for line in re.findall(r"^    \$ (erltrace run .*)$", part, re.M)}


def slow_queue(t, broker):
    """A queue that stands still: the ready scripts call it by its name."""
    times, name = 7, re.escape("queue slowq in /")
    broker.client(f"etr:slow({broker.port}, '{broker.name}')")
    traces = {}
    for script in ("calllat", *of_the_page()):
        traces[script] = t.trace("-q", "-n", erlt.READY, "-p", broker.pid, "-s", os.path.join(ROOT, "scripts", script + ".d"), home=broker.home)
        traces[script].ready()
    broker.client(f"etr:slowly('{broker.name}', {times})")
    traces["mboxtop"].wait(rf"^{name} +<[\d.]+> +\d+ +\d+$")
    broker.client(f"etr:on('{broker.name}')")
    for trace in traces.values():
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
    failed = [line for line in traces["calltimeouts"].out.lines if re.search(rf" timeout +{name} +info, 20 ms$", line)]
    t.equal(len(failed), times, "calls that have failed", traces["calltimeouts"])
    t.match(traces["calllat"].out.text(), rf"(?m)^{name} +<[\d.]+>( +\d+){{5}}$")
    t.match(traces["who"].out.text(), rf"(?m)^{name} +\S.*( +\d+){{3}}$")
    t.equal(len(traces), 4, "commands of the page")
    broker.clean()


def lines_of_the_page(t, broker):
    """The same, by the commands as they stand on the page, but for PID."""
    shows = {"mboxtop": r"^queue slowq in / +<[\d.]+> +\d+ +\d+$", "who": r"^queue slowq in / +\S.*( +\d+){3}$",
             "calltimeouts": r" timeout +queue slowq in / +info, 20 ms$"}
    lines = of_the_page()
    t.equal(set(lines), set(shows), "scripts of the page")
    env = dict(os.environ, HOME=broker.home, PATH=os.path.dirname(erlt.TOOL) + ":" + os.environ["PATH"], ERLTRACE_ROOT=ROOT, DTRACE_OPT_MAXLOAD="off")
    broker.client(f"etr:slow({broker.port}, '{broker.name}')")
    running = {script: subprocess.Popen(["bash", "-c", line.replace(" PID", f" {broker.pid}")], env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for script, line in lines.items()}
    try:
        erlt.until(lambda: broker.client(f"etr:slowly('{broker.name}', 1)") and all(p.poll() is not None for p in running.values()),
                   "the commands of the page do not end")
        for script, p in running.items():
            said = p.communicate()[0]
            t.equal(p.returncode, 0, f"{lines[script]}: {said}")
            t.match(said, "(?m)" + shows[script])
    finally:
        for p in running.values():
            p.kill()
    broker.client(f"etr:on('{broker.name}')")
    broker.clean()


def killed(t, broker):
    trace = t.trace("-p", broker.pid, "-qn", """
        profile:::tick-50ms { printf("on\\n"); }
        erlang*:rabbit_*::entry { @[probefunc] = count(); } erlang*:::message-send, erlang*:::message-queued { @s = count(); }""",
                    home=broker.home)
    trace.wait("on")
    trace.kill()
    broker.clean()
    before = broker.consumed()
    broker.client(f"etr:visit({broker.port}, 1)")
    t.true(broker.consumed() > before, "the broker serves")
