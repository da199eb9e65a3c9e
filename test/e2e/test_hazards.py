"""Hazards of tracing a VM that no other test covers: each is a line of doc/safety.md, and its test fails without the guard."""
import glob
import os
import re
import subprocess

import erlt
from erlt import READY, ROOT, Skipped, aggregation, making, pid, workload

ALL = READY + """
erlang*:::message-send, erlang*:::process-spawn, erlang*:::process-scheduled { @n[probename] = count(); }
erlang*:etw:work/1:entry, erlang*:etw:work/1:return, erlang*:etw:boom/1:exception { @f[probefunc, probename] = count(); }"""
ENTRY = READY + 'erlang*:etw:work/1:entry { @["call"] = count(); }'
AGENTS = """[exit(whereis(N), kill) || N <- [erltrace_agent_guard, erltrace_agent]]"""
CODE = """[begin code:purge(M), code:delete(M), code:purge(M) end || M <- [erltrace_agent]]"""


def test_agent_taken_away(t):
    """Under load, the agent's server and guard are killed at once, or its modules are deleted and purged. The node lives, our flags and
    meta patterns dissolve, the next consumer removes what is left and counts correctly. Then only the memory of the old library is left: it
    has programs that no process can free any more."""
    node = t.node(fresh=True)
    for how in (AGENTS, CODE):
        node("etw:busy(1)")
        node("etw:chatter(1)")
        trace = t.trace("-q", "-n", ALL, node=node)
        trace.ready()
        node(f"begin {how}, ok end")
        if how is AGENTS:
            t.equal(trace.end(), 1, "exit status", trace)
        else:  # the server waits outside of its code and survives the purge; it answers no one until a consumer loads new code
            trace.kill()
        node("etw:quiet()")
        worker = pid(node("etw:worker()"))
        again = t.trace("-q", "-n", ENTRY, node=node)
        again.ready()
        node(f"etw:calls({worker}, 1009)")
        again.interrupt()
        t.equal(again.end(), 0, "exit status of the next", again)
        t.equal(aggregation(again.out.text()), {"call": 1009}, "counts of the next", again)
        t.clean(node, 15000, "[X || X <- etw:dirt(), re:run(X, <<\"^the library\">>) =:= nomatch]")


def test_libraries_left_behind(t):
    """An agent that is killed leaves its library in the node, where a program keeps it, temporarily or for ever. Libraries with
    thread-local variables would soon run out of room, and so would other libraries; ours has no such variables, and can be loaded without
    limit."""
    mapped = """(fun() -> {ok, B} = file:read_file("/proc/self/maps"),
                length([x || L <- binary:split(B, <<"\\n">>, [global]), binary:match(L, <<" r-xp ">>) =/= nomatch,
                             binary:match(L, <<"erltrace">>) =/= nomatch]) end)()"""
    node = t.node(fresh=True)
    for _ in range(10):
        trace = t.trace("-q", "-n", ENTRY, node=node)
        trace.ready()
        node(f"begin {AGENTS}, ok end")
        t.equal(trace.end(), 1, "exit status", trace)
    left = int(node(mapped))
    t.true(left >= 2, f"{left} libraries are left: killed agents have kept theirs, unless the VM has come to drop them")
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", ENTRY, node=node)
    trace.ready()
    node(f"etw:calls({worker}, 1013)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status of the last", trace)
    t.equal(aggregation(trace.out.text()), {"call": 1013}, "counts of the last", trace)


def test_never_all(t):
    """Before OTP 27, setting or clearing the flags of `all` and the like can crash the VM while dirty schedulers work: the agent never does
    so. (The agent is a sensitive process, whose calls cannot be traced; the test searches its text.)"""
    for path in glob.glob(os.path.join(ROOT, "guest", "agent", "*.erl")):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"%.*|<<\".*?\">>|\"[^\"]*\"", "", f.read(), flags=re.M)
        t.equal(re.findall(r"erlang:trace\(\s*(?:all|existing\w*|processes|ports)\b", text), [], path)


def test_callbacks(t):
    """The library exports no trace_call/5: with it, meta patterns would be handed garbage."""
    node = t.node()
    trace = t.trace("-q", "-n", ENTRY, node=node)
    trace.ready()
    found = node("[F || {F, _} <- erltrace_agent:module_info(nifs)]")
    t.true("trace" in found and "enabled" in found, f"the tracer's callbacks are there: {found}")
    t.true("trace_call" not in found, f"trace_call/5 is among them: {found}")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


EVERY_TEXT = READY + """
erlang*:::port-open, erlang*:::port-command, erlang*:::port-control, erlang*:::port-connect, erlang*:::port-exit, erlang*:::port-data,
erlang*:::port-link, erlang*:::port-unlink, erlang*:::driver-start, erlang*:::driver-stop, erlang*:::driver-control, erlang*:::driver-call,
erlang*:::driver-output, erlang*:::driver-outputv, erlang*:::driver-ready_input
    { @n[probename, strlen(copyinstr(arg0)) + strlen(copyinstr(arg1)) + strlen(copyinstr(arg2)) > 0] = count(); self->n++; }
erlang*:::process-spawn, erlang*:::process-spawned, erlang*:::process-exit, erlang*:::process-link, erlang*:::process-getting_linked,
erlang*:::process-scheduled, erlang*:::process-unscheduled, erlang*:::process-hibernate, erlang*:::process-exit_signal,
erlang*:::process-exit_signal-remote, erlang*:::message-send, erlang*:::message-send-remote, erlang*:::message-send_noproc,
erlang*:::trace_seq, erlang*:::code-load, erlang*:::ets-write
    { @n[probename, strlen(copyinstr(arg0)) + strlen(copyinstr(arg1)) > 0] = count(); self->n += vtimestamp; }
erlang*:::gc_minor-start, erlang*:::gc_minor-end, erlang*:::process-heap_grow, erlang*:::message-queued, erlang*:::send-in_parts { @g = sum(arg1); }
erlang*:erltrace:probe:ev { @t[term_text(args[2])] = count(); }
erlang*:::user_trace-i4s4 { @n[copyinstr(arg6), arg2] = count(); }
erlang*:etw:work/1:entry, erlang*:etw:work/1:return, erlang*:etw:work/1:exception { @n[copyinstr(arg1), strlen(copyinstr(arg0)) > 0] = count(); }
erlang*:etw:child/1:entry { @["child"] = count(); }"""


def open_agent(t):
    """Makes an agent whose module exports its NIFs; returns the environment with its root."""
    root = os.path.join(t.folder, "open")
    os.makedirs(os.path.join(root, "priv", "agent"))
    for name in ("erltrace_agent.so", "lib"):
        os.symlink(os.path.join(ROOT, "priv", name), os.path.join(root, "priv", name))
    sources = sorted(glob.glob(os.path.join(ROOT, "guest", "agent", "erltrace_agent_*.erl")))
    subprocess.run([os.path.join(ROOT, "scripts", "dev", "pack-agent"), "--open", os.path.join(root, "priv", "agent", "erltrace_agent.beam"),
                    os.path.join(ROOT, "guest", "agent", "erltrace_agent.erl"), *sources], check=True)
    return {"ERLTRACE_ROOT": root}


def test_called_by_hand(t):
    """Any code in the node can call what the agent's module exports, which here includes its NIFs, with any terms. The library keeps no
    term that a heap could take away, spends bounded work on each, and changes nothing for a caller that is not the agent's server."""
    node, env = t.node(fresh=True, options=("-pa", workload("test/lib/eth"))), open_agent(t)
    trace = t.trace("-q", "-x", "aggsize=256k", "-x", "dynvarsize=64k", "-n", EVERY_TEXT, node=node, env=env)
    trace.ready()
    node("eth:ports(20)")
    t.equal(node("eth:calls(20000)"), "normal", "how the caller ends", trace)
    worker = pid(node("etw:worker()"))
    node(f"etw:spawns({worker}, 101)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +child +101$", "calls of another function")
    # The same by the server, to which the library permits everything: the trace may end by that, the node may not.
    trace = t.trace("-q", "-n", EVERY_TEXT, node=node, env=env)
    trace.ready()
    node("eth:server(10000)")
    trace.interrupt()
    trace.end()
    t.true(node.alive(), "the node lives")
    t.clean(node, 15000)


def test_killed_in_dirty_nifs(t):
    """Traced processes are killed inside dirty NIFs, which gives an `in` without an `out`: the node lives, and counts stay right."""
    node = t.node()
    if node("[list_to_integer(N) || N <- string:lexemes(erlang:system_info(version), [$.])]") < [13, 2, 2, 8]:
        raise Skipped("before ERTS 13.2.2.8 that can crash the VM, whoever traces (OTP-19043)")
    with making("chaos") as folder:
        if not os.path.exists(os.path.join(folder, "etx_nif.so")):
            import importlib.machinery
            import importlib.util
            loader = importlib.machinery.SourceFileLoader("chaos", os.path.join(os.path.dirname(__file__), "..", "chaos", "run"))
            module = importlib.util.module_from_spec(importlib.util.spec_from_loader("chaos", loader))
            loader.exec_module(module)
            module.build(t.otp)
    node(f'begin code:add_patha("{folder}"), etx_nif:load("{folder}/etx_nif"), ok end')
    trace = t.trace("-q", "-n", ALL + 'erlang*:etx_nif:: { @nif[probename] = count(); }'
                    'erlang*:::process-exit /copyinstr(arg1) == "killed"/ { @["killed"] = count(); }', node=node)
    trace.ready()
    node("""lists:foreach(fun(_) ->
                Ps = [spawn_monitor(fun() -> etx_nif:cpu(5) end) || _ <- lists:seq(1, 4)],
                etw:nap(2),
                [exit(P, kill) || {P, _} <- Ps],
                [receive {'DOWN', R, _, _, _} -> ok end || {_, R} <- Ps]
            end, lists:seq(1, 25))""")
    worker = pid(node("etw:worker()"))
    node(f"etw:calls({worker}, 1009)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.match(trace.out.text(), r"^ +work/1 +entry +1009$", "calls")
    t.match(trace.out.text(), r"^ +killed +\d+$", "deaths")
    node(f'begin code:delete(etx_nif), code:purge(etx_nif), code:del_path("{folder}"), ok end')
    t.clean(node, 15000)


@erlt.alone
def test_floods_while_unloading(t):
    """The agent's code is removed by a process that evaluates an expression, and waits, but not with a time, which evaluated code must not
    (doc/safety.md). It is flooded here for as long as it waits."""
    node = t.node(fresh=True)
    trace = t.trace("-q", "-n", ENTRY, node=node)
    trace.ready()
    node("""begin
                persistent_term:put(etw_attaching, spawn(fun() -> register(erltrace_attach, self()), timer:sleep(infinity) end)),
                ok
            end""")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    unloader = """(fun Find(0) -> none;
                       Find(N) -> case [P || P <- processes(), process_info(P, initial_call) =:= {initial_call, {erl_eval, exprs, 2}}] of
                                      [P] -> P;
                                      _ -> etw:nap(20), Find(N - 1)
                                  end
                   end)(500)"""
    waits = node(f"begin Waits = {unloader}, persistent_term:put(etw_waits, Waits), is_pid(Waits) end")
    t.equal(waits, True, "a process waits for the name under which the code is removed")
    node("""begin
                Waits = persistent_term:get(etw_waits),
                Floods = [spawn_monitor(fun() -> [Waits ! {I, J} || I <- lists:seq(1, 20), J <- lists:seq(1, 20000)] end) || _ <- [1, 2]],
                [receive {'DOWN', R, _, _, _} -> ok end || {_, R} <- Floods],
                persistent_term:erase(etw_waits)
            end""")
    node("begin exit(persistent_term:get(etw_attaching), kill), persistent_term:erase(etw_attaching), ok end")
    t.clean(node, 60000)


def test_long_terms(t):
    """The reason of an exit, and a message, is a list of a hundred thousand tuples: the text shown is short, and the work is bounded, so
    that this takes no longer than without the trace."""
    node = t.node()
    worker = pid(node("etw:worker()"))
    trace = t.trace("-q", "-n", READY + """
        erlang*:::process-exit /strlen(copyinstr(arg1)) > 200/ { printf("%d %s\\n", strlen(copyinstr(arg1)), copyinstr(arg1)); }
        erlang*:::message-send /arg2 >= 2000/ { @["large"] = count(); }
        erlang*:::message-send { @most["words"] = max(args[2]); @all["words, too"] = sum(arg2 * 8); @known["not known"] = count(); }
        erlang*:::code-load /strlen(copyinstr(arg1)) > 200/ { printf("name %s\\n", copyinstr(arg1)); }""", node=node)
    trace.ready()
    node(f"""etw:as({worker}, fun() ->
        L = [{{I, a}} || I <- lists:seq(1, 100000)],
        {{P, R}} = spawn_monitor(fun() -> receive T -> exit(T) end end),
        P ! L,
        receive {{'DOWN', R, _, _, _}} -> ok end end)""")
    trace.wait(r"^25\d \[{1,a},{2,a}")
    # A term where the VM has a name: the VM does not print it, because it would walk all of it.
    node(f"etw:as({worker}, fun() -> catch erts_internal:prepare_loading(lists:seq(1, 1000000), <<>>) end)")
    trace.wait(r"^name \[1,2,3,.*\.\.\.$")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    line = [x for x in trace.out.lines if re.match(r"25\d ", x)][0]
    t.true(len(line) < 270, f"{len(line)} bytes")
    t.match(trace.out.text(), r"large +\d+", "sizes that are too large to count")
    for name in ("words", "words, too"):
        t.true(2000 <= int(re.search(rf"^ +{name} +>=(\d+)$", trace.out.text(), re.M)[1]) < 4294967295, f"{name}: a lower bound", trace)


SIZES = {b: 1024 ** i for i, b in enumerate(("", "k", "m", "g", "t"))}


def test_memory_of_three_programs(t):
    """Three programs that each ask for all memory get less than half of the machine together: each gets a share of what the others have
    left."""
    node = t.node(fresh=True)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    threads = node("erlang:system_info(schedulers) + erlang:system_info(dirty_cpu_schedulers) + erlang:system_info(dirty_io_schedulers) + 8")
    traces, granted = [], []
    for _ in range(3):
        trace = t.trace("-q", "-x", "bufsize=64t", "-n", ENTRY, node=node)
        trace.ready()
        size = re.search(r"buffer size lowered to (\d+)([kmgt]?)", trace.err.text())
        t.true(size, "buffers are lowered", trace)
        traces.append(trace)
        granted.append(int(size[1]) * SIZES[size[2]])
    t.true(sum(granted) * 2 * threads <= memory // 2, f"{granted} for each half of {threads} threads, of {memory}")
    for trace in traces:
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)


def test_no_room_for_atoms(t):
    """A VM ends when its table of atoms is full, and a program names atoms: where little room is left, none is placed."""
    room = 9000
    count = t.node(fresh=True)("erlang:system_info(atom_count)")
    node = t.node(options=["+t", str(count + room)])
    status, out, err = t.run("-qn", 'BEGIN { trace(1); exit(0); }', node=node)
    t.equal((status, out), (1, ""), err)
    t.match(err, r"\[AGENT_ATOMS\] the node has room for \d+ more atoms, and ends when there is none")
    t.clean(node, 15000)
