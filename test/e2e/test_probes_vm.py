"""Probes of what the VM tells the agent's server: the system monitor, nodes, busy ports and connections, schedulers.

Each fires a known number of times, and every argument is checked."""
import os
import re
import signal

import erlt
from erlt import READY, ROOT, Failed, Skipped, pid


def clause(probe, kinds, predicate=""):
    """Returns a clause that prints the probe's name and arguments on a line; kinds has a letter for each argument, s or d."""
    form = " ".join("%s" if k == "s" else "%d" for k in kinds)
    args = ", ".join(f"copyinstr(arg{i})" if k == "s" else f"arg{i}" for i, k in enumerate(kinds))
    return f'erlang*:::{probe} {predicate} {{ printf("> %s {form}\\n", probename, {args}); }}\n'


def events(trace):
    """Returns what the clauses printed: [[probe, argument, ...], ...]."""
    return [line[2:].split(" ") for line in trace.out.lines if line.startswith("> ")]


def of(trace, probe):
    return [e[1:] for e in events(trace) if e[0] == probe]


def seen(trace, pattern, times):
    """Waits for this number of matching lines; returns the index of the line after them."""
    at = 0
    for _ in range(times):
        at = trace.wait(pattern, start=at) + 1
    return at


def suspended(node, process):
    """Waits until the process is suspended on a port. (While it handles a signal it runs for a moment.)"""
    node(f"etw:await(fun() -> process_info({pid(process)}, status) =:= {{status, suspended}} end)")


def finish(t, trace):
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("drop" not in trace.err.text(), "nothing was dropped", trace)


NODES = clause("dist-monitor", "sssss") + clause("node-up", "ss") + clause("node-down", "sss")


def test_nodes_come_and_go(t):
    """A hidden node that is connected and disconnected several times, and a visible node that dies. An erltrace that connects meanwhile is
    no node."""
    node, visible, hidden = t.node(), t.node(fresh=True), t.node(options=("-hidden",))
    trace = t.trace("-qn", READY + NODES, node=node)
    trace.ready()
    expected, rounds = [], 3
    for times in range(1, rounds + 1):
        t.equal(node(f"net_kernel:connect_node('{hidden.name}')"), True, "connected")
        expected += [["dist-monitor", node.name, "nodeup", hidden.name, "hidden", "undefined"], ["node-up", hidden.name, "hidden"]]
        seen(trace, f"> node-up {hidden.name} ", times)
        t.equal(t.run("-qn", "BEGIN { exit(0); }", node=node)[0] if times == 1 else 0, 0, "another erltrace")
        t.equal(node(f"erlang:disconnect_node('{hidden.name}')"), True, "cut")
        expected += [["dist-monitor", node.name, "nodedown", hidden.name, "hidden", "disconnect"],
                     ["node-down", hidden.name, "hidden", "disconnect"]]
        seen(trace, f"> node-down {hidden.name} ", times)
    t.equal(node(f"net_kernel:connect_node('{visible.name}')"), True, "connected")
    seen(trace, f"> node-up {visible.name} ", 1)
    os.kill(visible.pid, signal.SIGKILL)
    seen(trace, f"> node-down {visible.name} ", 1)
    expected += [["dist-monitor", node.name, "nodeup", visible.name, "visible", "undefined"], ["node-up", visible.name, "visible"],
                 ["dist-monitor", node.name, "nodedown", visible.name, "visible", "connection_closed"],
                 ["node-down", visible.name, "visible", "connection_closed"]]
    finish(t, trace)
    t.equal(events(trace), expected, "events", trace)


def test_busy_port(t):
    """A process writes to a port whose reader has stopped. Meanwhile others monitor the process and ask what it does. The VM schedules it
    for that, which must not look as if it had continued."""
    node = t.node()
    worker = node("etw:worker()")
    port, reader = node("etw:reader()")
    trace = t.trace("-qn", READY + clause("port-busy", "ss") + clause("port-not_busy", "ssd") +
                    clause("process-port_unblocked", "ssd") +
                    'erlang*:::port-*busy { @[probename, self->n++] = count(); }', node=node)
    trace.ready()
    rounds = 5
    for i in range(rounds):
        os.kill(reader, signal.SIGSTOP)
        node(f"Port = get(reader), etw:order({pid(worker)}, fun() -> port_command(Port, binary:copy(<<0>>, 500000)), "
             "port_command(Port, <<1>>), ok end)")
        last = trace.wait("> port-busy ", start=0 if i == 0 else last)
        for _ in range(3):
            node(f"W = {pid(worker)}, W ! hello, demonitor(monitor(process, W)), link(W), unlink(W), "
                 "process_info(W, [message_queue_len, current_stacktrace])")
        node("etw:nap(60)")  # the agent's second check sees that it still waits
        suspended(node, worker)
        t.equal(len(of(trace, "port-not_busy")), i, "went on", trace)
        os.kill(reader, signal.SIGCONT)
        t.equal(node("etw:answer()"), "ok", "answer")
        last = trace.wait("> process-port_unblocked ", start=last)
        node(f"etw:as({pid(worker)}, fun() -> etw:flush(hello) end)")
    finish(t, trace)
    t.equal(of(trace, "port-busy"), [[port, worker]] * rounds, "busy", trace)
    t.equal([e[:2] for e in of(trace, "port-not_busy")], [[port, worker]] * rounds, "not busy", trace)
    t.equal([e[:2] for e in of(trace, "process-port_unblocked")], [[worker, port]] * rounds, "unblocked", trace)
    waits = [int(e[2]) for e in of(trace, "port-not_busy")]
    t.equal([int(e[2]) for e in of(trace, "process-port_unblocked")], waits, "the same wait", trace)
    # Each wait was longer than the time until the check that found the process suspended.
    t.true(min(waits) > 60_000_000, f"waits of {waits} ns", trace)
    for i in range(2 * rounds):  # self-> belongs to the process that waited
        name = "port-not_busy" if i % 2 else "port-busy"
        t.match(trace.out.text(), rf"^ +{name} +{i} +1$", "variables of the process")
    node("port_close(get(reader))")



def test_script_of_busy_ports(t):
    """scripts/busy.d adds up the waits of each port."""
    node = t.node()
    worker = node("etw:worker()")
    port, reader = node("etw:reader()")
    trace = t.trace("-n", READY + 'erlang*:::port-busy { printf("busy\\n"); } erlang*:::port-not_busy { printf("free\\n"); }',
                    "-s", os.path.join(ROOT, "scripts", "busy.d"), node=node)
    trace.ready()
    for i in range(1, 4):
        os.kill(reader, signal.SIGSTOP)
        node(f"Port = get(reader), etw:order({pid(worker)}, fun() -> port_command(Port, binary:copy(<<0>>, 500000)), "
             "port_command(Port, <<1>>), ok end)")
        seen(trace, "^busy$", i)
        node("etw:nap(30)")
        os.kill(reader, signal.SIGCONT)
        t.equal(node("etw:answer()"), "ok", "answer")
        seen(trace, "^free$", i)
    finish(t, trace)
    t.equal(sum(int(n) for n in re.findall(r"\|@* +(\d+) *$", trace.out.text(), re.M)), 3, "waits", trace)
    total = int(t.match(trace.out.text(), rf"^{port} +(\d+)$", "the port")[1])
    t.true(total > 3 * 29_000, f"{total} us", trace)  # a timer of 30 ms may end a little before
    node("port_close(get(reader))")


def test_busy_connection(t):
    """A process sends to a node that has stopped, until the connection is full."""
    node, other = t.node(), t.node(fresh=True)
    worker = node("etw:worker()")
    t.equal(node(f"net_kernel:connect_node('{other.name}')"), True, "connected")
    port = node(f"{{_, P}} = lists:keyfind('{other.name}', 1, erlang:system_info(dist_ctrl)), list_to_binary(port_to_list(P))")
    trace = t.trace("-qn", READY + clause("dist-port_busy", "ssss") + clause("dist-port_not_busy", "ssssd"), node=node)
    trace.ready()
    rounds = 3
    for i in range(rounds):
        os.kill(other.pid, signal.SIGSTOP)
        try:
            filler = node(f"etw:fill('{other.name}')")
            trace.wait(f"> dist-port_busy .* {filler}$")
            node(f"etw:stuck('{other.name}')")
            node(f"etw:order({pid(worker)}, fun() -> {{nobody, '{other.name}'}} ! {{n, {i}}}, ok end)")
            start = 0 if i == 0 else last
            last = trace.wait(f"> dist-port_busy .* {worker}$", start=start) + 1
            node(f"W = {pid(worker)}, W ! hello, demonitor(monitor(process, W)), process_info(W, message_queue_len)")
            node("etw:nap(60)")
            suspended(node, worker)
            node(f"exit({pid(filler)}, kill)")
        finally:
            os.kill(other.pid, signal.SIGCONT)
        t.equal(node("etw:answer()"), "ok", "answer")
        last = trace.wait(f"> dist-port_not_busy .* {worker} ", start=last) + 1
        node(f"etw:as({pid(worker)}, fun() -> receive hello -> ok end end)")
    finish(t, trace)
    mine = [e for e in events(trace) if worker in e]
    t.equal([e[:5] for e in mine], [["dist-port_busy", node.name, port, other.name, worker],
                                    ["dist-port_not_busy", node.name, port, other.name, worker]] * rounds, "events", trace)
    waits = [int(e[5]) for e in mine if len(e) == 6]
    t.true(min(waits) > 60_000_000, f"waits of {waits} ns", trace)


SIZES = "dddddd"  # heap, old heap, stack, messages, heap block, old heap block


def test_long_collections_and_large_heaps(t):
    """Forced collections of a large heap: each is long, each leaves a large heap, and the sizes are those of the process."""
    node = t.node()
    worker, small = node("etw:worker()"), node("etw:worker()")
    node(f"etw:as({pid(worker)}, fun() -> etw:hoard(3000000) end)")
    only = "/copyinstr(arg0) == $$1 || copyinstr(arg0) == $$2/"
    trace = t.trace("-q", "-x", "longgc=1ms", "-x", "largeheap=5m", "-n", READY + clause("gc-long", "sd" + SIZES, only) +
                    clause("heap-large", "sd" + SIZES, only), worker, small, node=node)
    trace.ready()
    collections = 7
    node(f"etw:collects({pid(small)}, {collections})")
    node(f"etw:collects({pid(worker)}, {collections})")
    seen(trace, "> heap-large ", collections)
    words = node(f"process_info({pid(worker)}, total_heap_size)")[1]
    finish(t, trace)
    long, large = of(trace, "gc-long"), of(trace, "heap-large")
    # The time is wall-clock time: on a busy machine, the collection of a small heap may also be long.
    mine = [e for e in long if e[0] == worker]
    t.equal(len(mine), collections, "long collections", trace)
    t.true({e[0] for e in long} <= {worker, small}, "of other processes", trace)
    t.equal([e[0] for e in large], [worker] * collections, "large heaps", trace)
    t.equal(sorted(e[2:] for e in mine), sorted(e[2:] for e in large), "sizes in both", trace)
    t.true(all(int(e[1]) >= 1 for e in long), "ms of collections", trace)
    for heap in large:
        young, old, stack, messages, block, old_block = [int(n) for n in heap[2:]]
        t.equal(int(heap[1]), block + old_block, "size of a heap", trace)
        t.true(6_000_000 <= young + old <= 6_010_000, f"two words an element, and a little: {young} + {old}", trace)
        t.true(0 < stack < 100 and messages < 100, f"stack {stack}, messages {messages}", trace)
    t.true(str(words) in [e[1] for e in large], f"process_info says {words}", trace)


def test_limits_of_two_traces(t):
    """Each trace gets only the events that reach its own limit, although the VM has a single limit."""
    node = t.node()
    worker = node("etw:worker()")
    node(f"etw:as({pid(worker)}, fun() -> etw:hoard(1000000) end)")
    script = READY + clause("heap-large", "sd", "/copyinstr(arg0) == $$1/") + "tick-1s { }"
    high = t.trace("-q", "-x", "largeheap=1g", "-n", script, worker, node=node)
    low = t.trace("-q", "-x", "largeheap=1m", "-n", script, worker, node=node)
    high.ready()
    low.ready()
    node(f"etw:collects({pid(worker)}, 3)")
    seen(low, "> heap-large ", 3)
    finish(t, low)
    node(f"etw:collects({pid(worker)}, 2)")
    finish(t, high)
    t.equal(len(events(low)), 3, "of the low limit", low)
    t.equal(events(high), [], "of the high limit", high)


def test_long_schedules(t):
    """Turns of 20 ms on a scheduler: each is reported, with the functions where it began and ended."""
    node = t.node()
    t.logs = ["enabled access to the emulator internal state"]  # by the workload, which blocks a scheduler
    worker = node("etw:worker()")
    trace = t.trace("-q", "-x", "longschedule=15ms", "-n",
                    READY + clause("schedule-long", "sdss", "/copyinstr(arg0) == $$1/"), worker, node=node)
    trace.ready()
    turns = 5
    node(f"etw:as({pid(worker)}, fun() -> etw:slow({turns}) end)")
    seen(trace, "> schedule-long .* etw:slow_each/1$", turns)
    finish(t, trace)
    # On a busy machine any other turn of the worker may also be long; those end elsewhere.
    found = [e for e in of(trace, "schedule-long") if e[3] == "etw:slow_each/1"]
    t.equal(len(found), turns, "long turns", trace)
    for process, ms, _, _ in found:
        t.equal(process, worker, "process", trace)
        t.true(int(ms) >= 15, f"{ms} ms", trace)
    # The agent may fire the probes on several schedulers, whose records are in no order.
    t.equal(sorted(e[2] for e in found), ["etw:serve/0"] + ["etw:slow_each/1"] * (turns - 1), "where turns began", trace)


def test_long_turns_of_ports(t):
    """A port's driver copies much while others also write to the port: it then does so in a separate turn."""
    node = t.node()
    port = node("etw:reader()")[0]
    trace = t.trace("-q", "-x", "longschedule=1ms", "-n", READY + clause("schedule-long", "sdss", '/copyinstr(arg0) == $$1/'),
                    port, node=node)
    trace.ready()
    node("etw:shove(get(reader), 20000000)")
    trace.wait("> schedule-long ")
    node("etw:quiet()")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    name, ms, operation, rest = of(trace, "schedule-long")[0]
    t.equal((name, rest), (port, ""), "port", trace)
    t.true(operation in ("output", "proc_sig"), f"operation {operation}", trace)  # what it does, or the request that it serves
    t.true(int(ms) >= 1, f"{ms} ms", trace)
    node("port_close(get(reader))")


def test_long_queues(t):
    """Queues that fill up and are emptied. OTP 25 cannot report them, and the error says so."""
    node = t.node()
    script = READY + clause("queue-long", "sd") + clause("queue-normal", "sd")
    if int(node("etw:release()")) < 27:
        status, _, err = t.run("-qn", script, node=node)
        t.equal(status, 1, "exit status")
        for probe in ("queue-long", "queue-normal"):
            t.match(err, rf"{probe} does not match any probes\n.*\n.*the VM reports long message queues only from OTP 27 on", "error")
        return
    trace = t.trace("-q", "-x", "longqueue=50", "-n", script, node=node)
    trace.ready()
    piles = [node("etw:pile(60)") for _ in range(4)]
    node("etw:pile(40)")
    seen(trace, "> queue-normal ", len(piles))
    finish(t, trace)
    t.equal(sorted(of(trace, "queue-long")), sorted([p, "50"] for p in piles), "long", trace)
    t.equal(sorted(of(trace, "queue-normal")), sorted([p, "25"] for p in piles), "short again", trace)
    for p in piles:
        node(f"exit({pid(p)}, kill)")


def test_tables(t):
    """Each table, named or not, with its owner and what is in it: at once when the trace begins, and again in each period, also one that was made meanwhile."""
    node = t.node()
    owner = node("begin P = spawn(fun() -> T = ets:new(et_plain, []), ets:insert(T, [{I} || I <- lists:seq(1, 7)]), ets:new(et_named, [named_table]), "
                 "put(t, T), receive {more, From} -> ets:new(et_later, [bag]), From ! done, receive stop -> ok end end end), "
                 "etw:await(fun() -> ets:whereis(et_named) =/= undefined end), P end")
    plain, named, words = node(f"begin {{_, D}} = process_info({pid(owner)}, dictionary), T = proplists:get_value(t, D), "
                               "{list_to_atom(ref_to_list(T)), list_to_atom(ref_to_list(ets:whereis(et_named))), ets:info(T, memory)} end")
    trace = t.trace("-q", "-x", "pollrate=30s", "-n", READY + clause("table", "sssdddd"), node=node)
    trace.ready()
    finish(t, trace)
    rows = of(trace, "table")
    tables = {row[2]: row for row in rows}
    t.equal(tables["et_plain"][:6], [owner, plain, "et_plain", "0", "7", str(words)], "one without a name", trace)
    t.equal(tables["et_named"][:5], [owner, named, "et_named", "1", "0"], "one with a name", trace)
    t.equal([int(row[6]) for row in rows], list(range(len(rows) - 1, -1, -1)), "how many are left", trace)
    trace = t.trace("-q", "-x", "pollrate=50ms", "-n", READY + clause("table", "sssdddd"), node=node)
    trace.ready()
    at = len(trace.out.lines)
    node(f"(fun(P) -> P ! {{more, self()}}, receive done -> ok end end)({pid(owner)})")
    trace.wait(f"^> table {re.escape(owner)} \\S+ et_later 0 0 ", start=at)
    node(f"exit({pid(owner)}, kill)")
    finish(t, trace)


def test_processes(t):
    """Each process that exists, with what process_info/2 says of it: at once when the trace begins, and again in each period, also a new one."""
    node = t.node()
    idle = node("spawn(timer, sleep, [infinity])")
    node(f"[{pid(idle)} ! I || I <- lists:seq(1, 7)], ok")
    trace = t.trace("-q", "-x", "pollrate=30s", "-n", READY + clause("process", "sddds"), node=node)
    trace.ready()
    said = node(f"tuple_to_list(list_to_tuple([V || {{_, V}} <- process_info({pid(idle)}, [message_queue_len, memory, reductions])]))")
    all_there = node("[list_to_atom(pid_to_list(P)) || P <- [whereis(init), whereis(code_server), whereis(kernel_sup)]]")
    finish(t, trace)
    rows = {row[0]: row[1:] for row in of(trace, "process")}
    messages, memory, work = said
    t.equal([*rows[idle][:2], rows[idle][3]], [str(messages), str(memory), "timer:sleep/1"], "of the idle one", trace)
    t.true(0 < int(rows[idle][2]) <= work, f"each answer is work, too: {work} now", trace)
    t.equal([p for p in all_there if p not in rows], [], "others", trace)
    t.true(not any("erltrace" in row[3] for row in rows.values()), "none of the agent's", trace)
    trace = t.trace("-q", "-x", "pollrate=50ms", "-n", READY + clause("process", "sddds"), node=node)
    trace.ready()
    at = len(trace.out.lines)
    later = node("spawn(timer, sleep, [infinity])")
    trace.wait(f"^> process {re.escape(later)} 0 ", start=at)
    finish(t, trace)
    node(f"[exit(P, kill) || P <- [{pid(idle)}, {pid(later)}]]")


@erlt.alone
def test_schedulers(t):
    """Each scheduler and each run queue in each period, with a scheduler that is always busy and one that is idle."""
    node = t.node()
    normal, cpu, io = node("[erlang:system_info(K) || K <- [schedulers, dirty_cpu_schedulers, dirty_io_schedulers]]")
    node(f"etw:busy({normal * 3})")
    trace = t.trace("-q", "-x", "pollrate=200ms", "-n", READY + clause("scheduler-utilization", "dsd") +
                    clause("scheduler-run_queue", "dsd"), node=node)
    types = ["normal"] * normal + ["dirty_cpu"] * cpu + ["dirty_io"] * io
    queues = ["normal"] * normal + ["dirty_cpu", "dirty_io"]
    periods = 4
    # If a scheduler does not answer in time, this period and the next one have no utilization, but they have queues.
    seen(trace, f"> scheduler-utilization {len(types)} ", periods)
    seen(trace, f"> scheduler-run_queue {len(queues)} ", periods)
    # Now and then a scheduler may have to wait for a period: for work that is moved to it, or for code that is loaded.
    for n in range(normal):
        trace.wait(rf"> scheduler-utilization {n + 1} normal (9\d\d|1000)$")
    trace.wait(rf"> scheduler-utilization {len(types)} dirty_io \d\d?$")
    finish(t, trace)
    used, waiting = of(trace, "scheduler-utilization"), of(trace, "scheduler-run_queue")
    for i in range(len(used) // len(types)):
        part = used[i * len(types):(i + 1) * len(types)]
        t.equal([e[:2] for e in part], [[str(n + 1), k] for n, k in enumerate(types)], "schedulers", trace)
        for _, kind, permille in part:
            t.true(0 <= int(permille) <= 1000, f"{permille} per mille", trace)
    for i in range(len(waiting) // len(queues)):
        part = waiting[i * len(queues):(i + 1) * len(queues)]
        t.equal([e[:2] for e in part], [[str(n + 1), k] for n, k in enumerate(queues)], "queues", trace)
        # Three processes for each scheduler that never wait: one runs, the others are ready. (The VM decides in which queue they are.)
        ready = sum(int(e[2]) for e in part if e[1] == "normal")
        t.true(normal <= ready <= 3 * normal + 10, f"{ready} processes are ready", trace)


def test_traffic(t):
    """The traffic of each connection except the trace's own; over all periods together nothing is missing. (A port that does not answer in
    time has no numbers for two periods; then it is measured again.)"""
    node, other = t.node(), t.node(fresh=True)
    worker = node("etw:worker()")
    t.equal(node(f"net_kernel:connect_node('{other.name}')"), True, "connected")
    counters = f"""{{_, P}} = lists:keyfind('{other.name}', 1, erlang:system_info(dist_ctrl)),
                   {{ok, L}} = inet:getstat(P, [recv_oct, send_oct, recv_cnt, send_cnt]), [list_to_binary(port_to_list(P)) |
                   [proplists:get_value(K, L) || K <- [recv_oct, send_oct, recv_cnt, send_cnt]]]"""
    for _ in range(20):
        if traffic(t, node, other, worker, counters):
            return
    raise Failed("some numbers were never known")


def traffic(t, node, other, worker, counters):
    """Returns whether all numbers were known."""
    before = node(counters)
    trace = t.trace("-q", "-x", "pollrate=50ms", "-n", READY + clause("dist-traffic", "sssddddd"), node=node)
    trace.ready()
    between = node(counters)
    messages, size = 7, 10007
    node(f"etw:as({pid(worker)}, fun() -> [begin {{nobody, '{other.name}'}} ! binary:copy(<<0>>, {size}), "
         f"etw:nap(20) end || _ <- lists:seq(1, {messages})], ok end)")
    after = node(counters)
    columns = {"bytes received": (0, 1), "bytes sent": (1, 2), "packets received": (3, 3), "packets sent": (4, 4)}  # our column, and that of counters

    def numbers():
        return [[int(n) for n in e[3:]] for e in of(trace, "dist-traffic")]

    def total(column):
        return sum(n[column] for n in numbers())

    def unknown():
        return any(-1 in n for n in numbers())

    for _ in range(200):
        if unknown() or all(total(c) >= after[i] - between[i] for c, i in columns.values()):
            break
        trace.wait("> dist-traffic ", start=len(trace.out.lines))
    finish(t, trace)
    t.equal({tuple(e[:3]) for e in of(trace, "dist-traffic")}, {(node.name, before[0], other.name)}, "connections", trace)
    if unknown():
        return False
    for what, (c, i) in columns.items():  # there may be more before our first look and after our last one
        t.true(after[i] - between[i] <= total(c) <= node(counters)[i] - before[i], f"{what}: {total(c)}", trace)
    t.true(total(1) > messages * size, "bytes sent", trace)
    t.true(all(n[2] < 1 << 20 for n in numbers()), "bytes that wait", trace)
    return True


HOLD = "spawn(fun() -> erlang:system_monitor(self(), [busy_port]), register(other_tool, self()), receive stop -> ok end end)"
SLOT = "case erlang:system_monitor() of undefined -> undefined; {P, O} -> [P, O] end"


def test_monitor_of_another_tool(t):
    """Before OTP 28 there is one system monitor: another tool's is left alone, and the probes are refused. From OTP 28 on the two are
    independent."""
    node = t.node()
    release = int(node("etw:release()"))
    # A monitor that has died but that the VM still names does not count.
    node("{P, R} = spawn_monitor(fun() -> erlang:system_monitor(self(), [busy_port]) end), receive {'DOWN', R, _, _, _} -> ok end")
    t.equal(t.run("-qn", READY + clause("gc-long", "sd") + "tick-100ms { exit(0); }", node=node)[0], 0, "exit status")
    other = node(HOLD)
    node("etw:await(fun() -> whereis(other_tool) =/= undefined end)")
    script = READY + clause("gc-long", "sd")
    try:
        if release < 28:
            status, _, err = t.run("-qn", script, node=node)
            t.equal(status, 1, "exit status")
            t.match(err, rf"system monitor of this node belongs to {other} \(other_tool\)", "error")
            # Probes that do not need the system monitor run.
            t.equal(t.run("-qn", READY + NODES + "tick-100ms { exit(0); }", node=node)[0], 0, "exit status of other probes")
        else:
            trace = t.trace("-qn", script, node=node)
            trace.ready()
            finish(t, trace)
        t.equal(node(SLOT), [other, ["busy_port"]], "the other tool's")
    finally:
        node(f"exit({pid(other)}, kill), erlang:system_monitor(undefined)")


def test_monitor_taken(t):
    """Another tool that takes the system monitor from a trace keeps it, and the trace says so."""
    node = t.node()
    if int(node("etw:release()")) >= 28:
        raise Skipped("from OTP 28 on each has a system monitor of its own")
    trace = t.trace("-qn", READY + clause("gc-long", "sd"), node=node)
    trace.ready()
    other = node(HOLD)
    try:
        trace.wait_error(rf"{other}.* has taken the system monitor")
        finish(t, trace)
        t.equal(node(SLOT), [other, ["busy_port"]], "the other tool's")
    finally:
        node(f"exit({pid(other)}, kill), erlang:system_monitor(undefined)")


def test_more_than_the_agent_can_take(t):
    """Messages of the system monitor arrive faster than the agent can process them: the monitor is switched off, and the trace says so and
    continues."""
    node = t.node()
    trace = t.trace("-q", "-n", READY + """
        erlang*:::heap-large { @ = count(); }
        profile:::tick-100ms { printf("tick\\n"); }""", node=node)
    trace.ready()
    # As the VM would send them; they may take up to a second to arrive.
    node("""Sizes = [{K, 10000000} || K <- [old_heap_block_size, heap_block_size, mbuf_size, stack_size, old_heap_size, heap_size]],
            [erltrace_agent ! {monitor, self(), large_heap, Sizes} || _ <- lists:seq(1, 70000)], ok""")
    trace.wait_error(r"more than 20000 messages of the system monitor came in a second")
    trace.wait("tick", start=len(trace.out.lines))
    t.equal(node("erlang:system_monitor()"), None, "system monitor")
    status, _, err = t.run("-qn", READY + clause("gc-long", "sd"), node=node)
    t.equal(status, 1, "exit status")
    t.match(err, "the system monitor is switched off", "another trace")
    finish(t, trace)
    counted = int(t.match(trace.out.text(), r"^ +(\d+)$", "some were counted")[1])
    t.true(20000 <= counted <= 70000, f"{counted} were counted", trace)


def test_polls_of_two_traces(t):
    """Two traces have different periods. The end of one stops neither the other nor the measuring."""
    node = t.node()
    script = READY + clause("scheduler-utilization", "dsd", "/arg0 == 1/")
    one = t.trace("-q", "-x", "pollrate=30ms", "-n", script, node=node)
    one.ready()
    other = t.trace("-q", "-x", "pollrate=1h", "-n", script, node=node)
    other.ready()
    seen(one, "> scheduler-utilization 1 normal ", 3)
    finish(t, other)
    seen(one, "> scheduler-utilization 1 normal ", len(events(one)) + 3)
    finish(t, one)
    t.equal(events(other), [], "of the one with the long period", other)


EVERYTHING = ("port-*busy,process-port_unblocked,dist-port*,dist-monitor,dist-traffic,gc-long,heap-large,schedule-long,node-*,scheduler-*"
              .replace(",", ",erlang*:::"))


def test_nothing_is_left(t):
    """However the trace, its consumer or its agent ends, the system monitor and the measuring of schedulers end with it."""
    node = t.node()
    reader = node("etw:reader()")[1]
    worker = node("etw:worker()")
    script = READY + f'erlang*:::{EVERYTHING} {{ @[probename] = count(); }}\nerlang*:::port-busy {{ printf("busy\\n"); }}'
    for end in ("interrupt", "consumer killed", "agent killed"):
        trace = t.trace("-qn", script, node=node)
        trace.ready()
        os.kill(reader, signal.SIGSTOP)
        node(f"Port = get(reader), etw:order({pid(worker)}, fun() -> port_command(Port, binary:copy(<<0>>, 500000)), "
             "port_command(Port, <<1>>), ok end)")
        trace.wait("^busy")  # a process has a flag of its own then
        if end == "interrupt":
            finish(t, trace)
        elif end == "consumer killed":
            trace.kill()
        else:
            node("exit(whereis(erltrace_agent), kill)")
            t.equal(trace.end(), 1, "exit status", trace)
        t.clean(node, 10000)
        os.kill(reader, signal.SIGCONT)
        t.equal(node("etw:answer()"), "ok", "answer")
    node("port_close(get(reader))")
