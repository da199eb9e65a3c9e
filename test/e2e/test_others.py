"""Other tracing tools in the same node: they work, we work, or within a check (a second) the tool says which one prevents the other.

Before OTP 27 a process has one tracer and a function one pattern of each sort; from OTP 27 on each tool can have a session. The tools are
stand-ins (test/lib/eto.erl) that do to the VM what dbg, recon and redbug do, and the tools themselves."""
import glob
import os

from erlt import READY, Skipped, aggregation, cache, pid, until, until_printed

SENDS, CALLS = 1009, 2003
BOTH = READY + """
erlang*:::message-send /copyinstr(arg0) == $$1/ { @["send"] = count(); }
erlang*:etw:work/1:entry { @["entry"] = count(); }
erlang*:etw:work/1:return { @["return"] = count(); }"""
ENTRY = READY + 'erlang*:etw:work/1:entry { @["entry"] = count(); }'


def sessions(node):
    """Returns whether tools have separate trace sessions there."""
    return int(node("etw:release()")) >= 27


def started(t, node, script):
    """Starts the script; returns (trace, worker)."""
    worker = node("etw:worker()")
    trace = t.trace("-q", "-n", script, worker, "-x", "argref", node=node)
    trace.ready()
    return trace, pid(worker)


def ended(t, trace):
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    return aggregation(trace.out.text())


def tool(node, expression):
    node(f"eto:kept(eto:{expression})")


def stop(node):
    node("eto:stop(get(eto))")


def saw(t, node, what):
    """Checks that the other tool got exactly these calls. Messages of a tracer's own session may still be on their way."""
    until(lambda: node("eto:seen(get(eto))") >= CALLS, f"{what} are fewer than {CALLS}")
    t.equal(node("eto:seen(get(eto))"), CALLS, what)


def test_recon_clear(t):
    """recon_trace:clear() clears the legacy session: before OTP 27 that includes our trace, which then sees nothing and says why; from OTP
    27 on it does not affect us."""
    node = t.node()
    trace, worker = started(t, node, BOTH)
    node(f"etw:calls({worker}, {CALLS})")
    node("eto:recon_clear()")
    if sessions(node):
        node(f"etw:calls({worker}, {CALLS})")
        t.equal(ended(t, trace).get("entry"), 2 * CALLS, "calls, before and after", trace)
        t.equal(trace.err.text(), "", "nothing to complain of")
    else:
        trace.wait_error("another tool cleared the trace flags")
        trace.wait_error("the trace patterns of etw:work/1 are gone")
        node(f"etw:calls({worker}, {CALLS})")
        t.equal({k: v for k, v in ended(t, trace).items() if k != "send"}, {"entry": CALLS, "return": CALLS}, "before the clear", trace)
    t.clean(node, 15000)


def test_patterns_of_others_stay(t):
    """A trace of all functions ends, by itself or by the death of its agent: the patterns of either kind that other tools have set remain
    as before, and ours are removed from among them. (Before OTP 27 all of ours are removed at once where no other tool has any.)"""
    node = t.node()
    mine = "[{meta, spawn(timer, sleep, [infinity])}]"
    pattern = "[erlang:trace_info(MFA, I) || MFA <- [{maps, fold, 3}, {lists, keyfind, 3}], I <- [traced, meta, match_spec, meta_match_spec]]"
    texts = f"[iolist_to_binary(io_lib:format(\"~0p\", [I])) || I <- {pattern}]"
    for what, flags, probes in (("{maps, fold, 3}", mine, "erlang*:::entry"), ("{lists, keyfind, 3}", "[local]", "erlang*:::return")):
        everything = READY + probes + " { @ = count(); }"
        node(f"erlang:trace_pattern({what}, [], {flags})")
        before = node(texts)
        for how in ("interrupt", "kill"):
            trace = t.trace("-q", "-n", everything, node=node)
            trace.ready()
            if how == "interrupt":
                trace.interrupt()
            else:
                node("exit(whereis(erltrace_agent), kill)")
            t.equal(trace.end(), 0 if how == "interrupt" else 1, "exit status", trace)
            kind, left = node(f"etw:await_clean(60000, fun() -> etw:dirt() -- lists:append([[D || D <- etw:traced(), string:prefix(D, P) =/= nomatch] "
                              f"|| P <- [\"maps:fold/3 \", \"lists:keyfind/3 \"]]) end)")
            t.equal((kind, node(texts)), ("clean", before), f"{what} after {how}: {left}", trace)
        node(f"[erlang:trace_pattern({what}, false, [F]) || F <- [meta, local]]")


def test_recon_of_the_same_function(t):
    """recon traces a function whose entries we count: both see every call (a local pattern and a meta pattern)."""
    node = t.node()
    trace, worker = started(t, node, ENTRY)
    tool(node, f"recon({{etw, work, 1}}, {worker})")
    node(f"etw:calls({worker}, {CALLS})")
    saw(t, node, "calls that recon saw")
    counted = CALLS
    if sessions(node):
        stop(node)
        node(f"etw:calls({worker}, {CALLS})")
        counted += CALLS
    else:
        stop(node)  # which clears all patterns there are, ours too
        trace.wait_error("the trace patterns of etw:work/1 are gone")
    t.equal(ended(t, trace), {"entry": counted}, "ours", trace)
    t.clean(node, 15000)


def test_recon_of_the_same_function_of_one_process(t):
    """The same with a predicate that names a process: before OTP 27 the function then has a local pattern, which recon's replaces."""
    node = t.node()
    worker, other = node("etw:worker()"), node("etw:worker()")
    trace = t.trace("-q", "-n", READY + 'erlang*:etw:work/1:entry /args[0] == $$1/ { @["entry"] = count(); }', worker, node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, {CALLS})")
    tool(node, f"recon({{etw, work, 1}}, {pid(other)})")
    if not sessions(node):
        until_meta(node, trace)
    for process in (worker, other):
        node(f"etw:calls({pid(process)}, {CALLS})")
    saw(t, node, "calls that recon saw")
    stop(node)
    if not sessions(node):
        trace.wait_error("the trace patterns of etw:work/1 are gone")
    t.equal(ended(t, trace), {"entry": 2 * CALLS}, "ours", trace)
    t.clean(node, 15000)


def until_meta(node, trace):
    """Waits until the function has a meta pattern of ours. Before OTP 27 that is soon after another tool has begun to trace calls."""
    until(lambda: node("erlang:trace_info({etw, work, 1}, meta)") != ["meta", False], lambda: "no meta pattern is set\n" + trace.said())


def test_fires_again_when_it_says_so(t):
    """Before OTP 27 return probes are silent while another tool traces calls. Thousands of them take long to be placed again: whoever has
    read that they fire again misses none."""
    node = t.node()
    if sessions(node):
        raise Skipped("other tools silence no return probe from OTP 27 on")
    worker, other = pid(node("etw:worker()")), pid(node("etw:worker()"))
    tool(node, f"process({other}, [call])")
    trace = t.trace("-q", "-n", READY + """erlang*:etw:work/1:return { @["return"] = count(); }
erlang*:a*::return, erlang*:e*::return, erlang*:k*::return { others++; }""", node=node)
    trace.ready()
    trace.wait_error(YIELDS)
    stop(node)
    trace.wait_error(BACK)
    node(f"etw:calls({worker}, {CALLS})")
    t.equal(ended(t, trace), {"return": CALLS}, "returns", trace)
    t.clean(node, 60000)


def test_redbug_of_the_same_function(t):
    """Before OTP 27 a global pattern replaces every other one: the trace notices, names the function, leaves it to the other tool, and sets
    its pattern again when that tool has ended. From OTP 27 on both see every call."""
    node = t.node()
    trace, worker = started(t, node, ENTRY)
    node(f"etw:calls({worker}, {CALLS})")
    tool(node, f"redbug({{etw, work, 1}}, {worker})")
    if not sessions(node):
        trace.wait_error("another tool .a global trace pattern. traces etw:work/1 now")
    node(f"etw:calls({worker}, {CALLS})")
    saw(t, node, "calls that redbug saw")
    stop(node)
    if not sessions(node):
        trace.wait_error("etw:work/1: no other tool traces this any more")
    node(f"etw:calls({worker}, {CALLS})")
    t.equal(ended(t, trace), {"entry": (3 if sessions(node) else 2) * CALLS}, "ours", trace)
    t.clean(node, 15000)


def test_dbg_of_the_same_function(t):
    """dbg:tp, which also sets a global pattern; from OTP 27 on in dbg's own session."""
    node = t.node()
    trace, worker = started(t, node, ENTRY)
    node(f"eto:kept(eto:dbg({{etw, work, 1}}, {worker}))")
    if not sessions(node):
        trace.wait_error("traces etw:work/1 now")
    node(f"etw:calls({worker}, {CALLS})")
    saw(t, node, "calls that dbg saw")
    node("eto:dbg_stop()")
    if not sessions(node):
        trace.wait_error("etw:work/1: no other tool traces this any more")
    node(f"etw:calls({worker}, {CALLS})")
    t.equal(ended(t, trace), {"entry": (2 if sessions(node) else 1) * CALLS}, "ours", trace)
    t.clean(node, 15000)


# == the tools themselves: what they see, what we see, and which messages appear (the table of doc/safety.md) ==

EVERYTHING = READY + """
erlang*:etw:work/1:entry { @["entry"] = count(); }
erlang*:etw:work/1:return { @["return"] = count(); }
erlang*:::process-spawn, erlang*:::process-exit, erlang*:::message-send, erlang*:::gc_minor-start { @["others"] = count(); }"""
ALL, NEW = ["etw:child(1)", "etw:child(2)"], ["etw:child(2)"]
REFUSED, YIELDS, CLEARED = "asked to trace .* the VM refused", "traces calls: before OTP 27", "another tool cleared the trace flags"
BACK = "no longer traces calls: return probes fire again"
# Before OTP 27, for a tool that starts before us and for one that starts after us: what it sees of an older process and of its child, what
# our trace reports, and whether the tool's terminal shows why it sees less than it asked for.
BEFORE_27 = {
    "dbg": [(ALL, [YIELDS], False), (NEW, [REFUSED, YIELDS], True)],
    "recon": [(ALL, [YIELDS], False), (ALL, [YIELDS], False)],
    "redbug": [(ALL, [YIELDS], False), (NEW, [REFUSED, YIELDS], True)],
    "eprof": [(["2 calls"], [YIELDS, "pass their tracer to"], False), (["0 calls"], [REFUSED], True)],
    "fprof": [(["2 calls"], [YIELDS, "pass their tracer to"], False), (["2 calls"], [CLEARED, YIELDS], False)],
}
FROM_27 = {"dbg": ALL, "recon": ALL, "redbug": ALL, "eprof": ["2 calls"], "fprof": ["2 calls"], "tprof": ["2 calls"]}


def beams(t, tool):
    """Returns folders of what is not part of OTP, as the node sees them."""
    inside = os.path.join(cache(), f"otp-{t.otp}") if t.otp else ""
    unpacked = glob.glob(f"{inside + '/opt' if inside else cache()}/rabbitmq/usr/lib/rabbitmq/lib/*/plugins/{tool}-*/ebin")
    given = os.environ.get(tool.upper())
    return [given] if given else [path[len(inside):] for path in unpacked]


def read(t, node, text):
    """Waits until the tool's terminal shows this text."""
    until(lambda: text in node("eto:told(get(eto))"),
          lambda: "\n".join([f"'{text}' never came in the tool's terminal: {node('eto:told(get(eto))')}", *(trace.said() for trace in t.traces[-1:])]))


def beside(t, tool, first):
    """Runs one tool, started before us or after us. There are two calls of etw:work/1 while it runs, and two after it has ended."""
    node = t.node()
    w = pid(node("etw:worker()"))
    paths = ", ".join(f'"{path}"' for path in beams(t, tool))
    which = "all" if tool in ("dbg", "recon", "redbug") else w

    def begin():
        node(f"eto:kept(eto:tool({tool}, {which}, [{paths}]))")

    def trace():
        # Two tracers of garbage collection crash the VM from OTP 27 on, which is why ours is refused there (collections_of_somebody_else).
        script = EVERYTHING.replace(", erlang*:::gc_minor-start", "") if sessions(node) else EVERYTHING
        trace = t.trace("-q", "-n", script, node=node)
        trace.ready()
        return trace

    if first:
        begin()
        ours = trace()
    else:
        ours = trace()
        begin()
    seen, warned, told = (FROM_27[tool], [], False) if sessions(node) else BEFORE_27[tool][0 if first else 1]
    for line in warned:
        ours.wait_error(line)
    node(f"eto:family({w})")
    if told:
        read(t, node, "the VM has refused")
    else:
        t.true("erltrace" not in node("eto:told(get(eto))"), "it need not be told anything", ours)
    t.equal(node("eto:result(get(eto))"), seen, f"{tool} {'before' if first else 'after'} us", ours)
    if YIELDS in warned:
        ours.wait_error(BACK)
    node(f"eto:family({w})")
    found = ended(t, ours)
    t.equal((found.get("entry"), found.get("return")), (4, 2 if YIELDS in warned else 4), "our entries and returns", ours)
    if sessions(node):
        t.equal(ours.err.text(), "", "nothing to complain of", ours)
    t.clean(node, 15000)


# What the VM logs when a tool wants to trace a process that carries our flags (before OTP 27): the tool caused it, and is refused.
ONE_TRACER = r"^error \*\* can only have one tracer per process$"


# How recon's formatter ends if it still has a line to write to a process of the test that has ended.
FORMATTER = r"^error Error in process (?!.*erltrace).*\{terminated,.*\brecon_trace\b"


def both(t, tool):
    t.logs = [ONE_TRACER] + [FORMATTER] * (tool == "recon")
    for first in (True, False):
        beside(t, tool, first)


def test_dbg(t):
    both(t, "dbg")


def test_recon(t):
    both(t, "recon")


def test_redbug(t):
    both(t, "redbug")


def test_eprof(t):
    both(t, "eprof")


def test_fprof(t):
    both(t, "fprof")


def test_no_terminal(t):
    """Messages for a tool's owner go to a terminal; the group leader of a program, whose output may be a log, gets nothing."""
    t.logs = [ONE_TRACER]
    node = t.node()
    if sessions(node):
        raise Skipped("from OTP 27 on nobody is refused anything")
    t.logs = [ONE_TRACER]
    for echo in ("true", "false"):
        trace, worker = started(t, node, BOTH)
        node("put(terminal, spawn(eto, terminal, [" + echo + ", []])), ok")
        node(f"""etw:as({pid(node("etw:worker()"))}, (fun(Terminal, Worker) -> fun() ->
            group_leader(Terminal, self()),
            try erlang:trace(Worker, true, [send]) catch error:badarg -> refused end
        end end)(get(terminal), {worker}))""")
        trace.wait_error(REFUSED)
        said = "begin get(terminal) ! {told, self()}, receive {_, Text} -> Text end end"
        # It is asked whether it is a terminal before it gets a message, and the questions are counted.
        until(lambda: any(word in node(said) for word in ["refused"] + ["asked"] * (echo == "false")), "the terminal is told nothing")
        text = node(said)
        t.equal("refused" in text, echo == "true", f"told: {text}", trace)
        ended(t, trace)
    t.clean(node, 15000)


def test_new_processes_shared(t):
    """A tool that becomes the tracer of new processes keeps the flags that it asked for; it is told that they were mixed with ours for a
    moment, and processes born after that send it nothing else. (In a separate node: fprof starts dbg's server, which keeps that terminal.)"""
    node = t.node(fresh=True)
    if sessions(node):
        raise Skipped("from OTP 27 on flags are not shared")
    t.logs = [ONE_TRACER]
    trace, worker = started(t, node, EVERYTHING)
    node("eto:kept(eto:tool(dbg, new))")
    trace.wait_error(YIELDS)
    t.equal(node("element(2, erlang:trace_info(new_processes, flags))"), ["call"], "flags of new processes", trace)
    node(f"eto:family({worker})")
    read(t, node, "before OTP 27 tools share the flags of new processes")
    t.equal(node("eto:result(get(eto))"), NEW, "what dbg sees", trace)
    trace.wait_error(BACK)
    ended(t, trace)
    t.clean(node, 15000)


def test_new_ports_taken(t):
    """Before OTP 27 the flags of new ports are shared as well: a tool that takes them keeps the flags that it asked for."""
    node = t.node()
    trace, worker = started(t, node, READY + "erlang*:::port-open, erlang*:::port-command, erlang*:::port-exit { @ = count(); }")
    node(f"etw:as({worker}, fun() -> erlang:trace(new_ports, true, [send]) end)")
    flags = "[iolist_to_binary(io_lib:format(\"~0p\", [erlang:trace_info(new_ports, I)])) || I <- [flags]]"
    until(lambda: node(flags) == ["{flags,[send]}"], lambda: f"the other tool's flags never came back: {node(flags)}\n{trace.said()}")
    node("erlang:trace(new_ports, false, [all])")
    ended(t, trace)
    t.clean(node, 15000)


def test_tprof(t):
    if not sessions(t.node()):
        raise Skipped("before OTP 27 there is no tprof")
    both(t, "tprof")


def test_meta_tracer_of_the_same_function(t):
    """Another tool's meta pattern is there first: before OTP 27 the function is left alone, and its tracer named, until that tool ends."""
    node = t.node()
    tool(node, "meta({etw, work, 1})")
    trace, worker = started(t, node, ENTRY)
    if not sessions(node):
        trace.wait_error(r"1 function is traced by <[\d.]+> .eto_tracer. and left alone: etw:work/1")
    node(f"etw:calls({worker}, {CALLS})")
    saw(t, node, "calls that the other saw")
    stop(node)
    if not sessions(node):
        trace.wait_error("etw:work/1: no other tool traces this any more")
    node(f"etw:calls({worker}, {CALLS})")
    t.equal(ended(t, trace), {"entry": (2 if sessions(node) else 1) * CALLS}, "ours", trace)
    t.clean(node, 15000)


def test_traced_process(t):
    """Before OTP 27 a process that another tool traces is seen only after that tool has ended; from OTP 27 on both trace it."""
    node = t.node()
    worker = node("etw:worker()")
    tool(node, f"process({pid(worker)}, [send])")
    trace = t.trace("-q", "-n", BOTH, worker, "-x", "argref", node=node)
    trace.ready()
    w = pid(worker)
    if not sessions(node):
        trace.wait_error(r"1 process is traced by <[\d.]+> .eto_tracer.: those are not seen")
    node(f"etw:sends({w}, {SENDS})")
    t.true(node("eto:seen(get(eto))") >= SENDS, "messages that the other saw")
    stop(node)
    if not sessions(node):
        trace.wait_error(r"processes that <[\d.]+> .eto_tracer. had traced are seen from now on")
    node(f"etw:sends({w}, {SENDS})")
    node(f"etw:calls({w}, {CALLS})")
    found = ended(t, trace)
    extra = found.get("send", 0) - (2 if sessions(node) else 1) * SENDS
    t.true(0 <= extra <= 3, f"sends beyond ours, an answer to each of three orders: {extra}", trace)
    t.equal((found.get("entry"), found.get("return")), (CALLS, CALLS), "calls", trace)
    t.clean(node, 15000)


def test_new_processes_taken(t):
    """Another tool makes itself the tracer of new processes, which before OTP 27 replaces us without a question."""
    node = t.node()
    trace, worker = started(t, node, READY + 'erlang*:::process-spawn /copyinstr(arg1) == "etw:child/1"/ { @["spawn"] = count(); }'
                            'erlang*:::process-exit /copyinstr(arg1) == "normal"/ { exits++; }')
    tool(node, "new([procs])")
    if not sessions(node):
        trace.wait_error(r"new processes are traced by <[\d.]+> .eto_tracer. from now on")
    node(f"etw:spawns({worker}, 101)")
    t.true(node("eto:seen(get(eto))") >= 101, "what the other saw of new processes")
    stop(node)
    if not sessions(node):
        trace.wait_error(r"processes that <[\d.]+> .eto_tracer. had traced are seen from now on")
    late = pid(node("etw:worker()"))
    node(f"etw:spawns({late}, 103)")
    t.equal(ended(t, trace), {"spawn": 204}, "spawns by an old process and by one that was born later", trace)
    t.clean(node, 15000)


def test_cleared_process(t):
    """Before OTP 27 erlang:trace(Pid, false, [all]) by another process removes our flags from that process."""
    node = t.node()
    trace, worker = started(t, node, BOTH)
    node(f"erlang:trace({worker}, false, [all])")
    if sessions(node):
        node(f"etw:sends({worker}, {SENDS})")
        found = ended(t, trace)
        t.true(found.get("send", 0) >= SENDS, f"sends: {found}", trace)
    else:
        trace.wait_error(r"another tool cleared the trace flags of <")
        t.equal(trace.err.text().count("cleared"), 1, "said once")
        ended(t, trace)
    t.clean(node, 15000)


def test_session_of_the_same_function(t):
    """From OTP 27 on, another session and the legacy one see the same events as ours."""
    node = t.node()
    if not sessions(node):
        raise Skipped("before OTP 27 there are no trace sessions")
    trace, worker = started(t, node, BOTH)
    tool(node, f"session({worker}, [call, send], {{etw, work, 1}})")
    node(f"etw:calls({worker}, {CALLS})")
    t.true(node("eto:seen(get(eto))") >= CALLS, "what the other saw")
    stop(node)
    node(f"etw:calls({worker}, {CALLS})")
    found = ended(t, trace)
    t.equal((found.get("entry"), found.get("return")), (2 * CALLS, 2 * CALLS), "ours", trace)
    t.clean(node, 15000)


def test_session_destroyed(t):
    """Any process of the node can destroy our session. The tool notices that, and the next trace counts correctly."""
    node = t.node()
    if not sessions(node):
        raise Skipped("before OTP 27 there are no trace sessions")
    trace, worker = started(t, node, BOTH)
    node("[trace:session_destroy(S) || {erltrace_agent, _} = S <- trace:session_info(all)]")
    trace.wait_error("another process destroyed the agent's trace session")
    again = t.trace("-q", "-n", ENTRY, node=node)
    again.ready()
    node(f"etw:calls({worker}, {CALLS})")
    t.equal(ended(t, again), {"entry": CALLS}, "the next trace", again)
    ended(t, trace)
    t.clean(node, 15000)


def test_collections_of_somebody_else(t):
    """From OTP 27 on, two tracers of garbage collection crash the VM. Our gc probes are refused while another tool traces collections, and
    removed when one begins to. (The process here does not collect while both trace it.)"""
    node = t.node()
    idle = pid(node("etw:worker()"))
    gc = READY + "erlang*:::gc_major-start { @gc = count(); } erlang*:::process-spawn { spawned++; }"
    for how in ("process", "session"):
        if how == "session" and not sessions(node):
            break
        more = ", none" if how == "session" else ""
        tool(node, f"{how}({idle}, [garbage_collection]{more})")
        trace = t.trace("-q", "-n", gc, node=node)
        if sessions(node):
            t.equal(trace.end(), 1, "exit status", trace)
            t.match(trace.err.text(), r"\[AGENT_BUSY\] .*eto.* traces garbage collection on this node")
        else:
            trace.ready()
            t.match(trace.err.text(), "1 process is traced by")
            ended(t, trace)
        stop(node)
        trace = t.trace("-q", "-n", gc, node=node)
        trace.ready()
        if sessions(node):
            tool(node, f"{how}({idle}, [garbage_collection]{more})")
            trace.wait_error("eto.* traces garbage collection now")
            worker = pid(node("etw:worker()"))
            node(f"etw:collects({worker}, 3)")
            node(f"etw:collects({idle}, 3)")
            t.true(node("eto:seen(get(eto))") >= 6, "the other goes on")
            stop(node)
        ended(t, trace)
    t.clean(node, 15000)


def test_bif_let_go_by_somebody_else(t):
    """On OTP 27 and 28 a session that removes its pattern from a BIF silences the BIF for all others: ours is set again within a check."""
    node = t.node()
    if not sessions(node):
        raise Skipped("before OTP 27 there are no trace sessions")
    trace, worker = started(t, node, READY + 'erlang*:lists:keyfind/3:entry { @["keyfind"] = count(); n++; }'
                            'profile:::tick-20ms /n/ { printf("heard\\n"); n = 0; }')
    tool(node, f"session({worker}, [call], {{lists, keyfind, 3}})")
    stop(node)
    heard = len(trace.out.lines)
    until_printed(trace, "heard", lambda: node(f"etw:as({worker}, fun() -> lists:keyfind(1, 1, []) end)"), start=heard)
    ended(t, trace)
    t.clean(node, 15000)
