"""Names of processes (erlname, erlpid, erlfunc): of processes older than the trace and born during it, while names come and go."""
import re
import shutil
import subprocess

from erlt import READY, Skipped, aggregation, pid, until

# Processes of each kind of name. The module is also a registry: {via, etn, {Registry, Key}}.
MODULE = """
-module(etn).
-export([all/1, start/2, init/1, handle_call/3, handle_cast/2, handle_info/2, sink/0, labelled/1, keeps/2,
         bulky/3, register_name/2, unregister_name/1, whereis_name/1, send/2]).
init(sup) -> {ok, {#{}, []}};
init(_) -> {ok, 0}.
handle_call(_, _, S) -> {reply, ok, S}.
handle_cast(_, S) -> {noreply, S}.
handle_info(_, S) -> {noreply, S}.
register_name(_, _) -> yes.
unregister_name(_) -> ok.
whereis_name(_) -> undefined.
send(_, _) -> ok.
sink() -> receive stop -> ok; _ -> sink() end.
labelled(Label) -> _ = [proc_lib:set_label(Label) || erlang:function_exported(proc_lib, set_label, 1)], sink().
keeps(Kept, To) -> [put(K, V) || {K, V} <- Kept], To ! {keeps, self()}, sink().
bulky(Kept, To, N) ->
    [put(K, V) || {K, V} <- Kept], Bulk = lists:seq(1, N), garbage_collect(), To ! {keeps, self()}, grown(Bulk).
grown(Bulk) -> receive {put, K, V} -> put(K, V), grown(Bulk); {length, P} -> P ! length(Bulk); _ -> grown(Bulk) end.
start(local, T) -> {ok, P} = gen_server:start({local, T}, etn, [], []), P;
start(global, T) -> {ok, P} = gen_server:start({global, {T, 1}}, etn, [], []), P;
start(via, T) -> {ok, P} = gen_server:start({via, etn, {etn_registry, {T, <<"k">>}}}, etn, [], []), P;
start(via_name, T) -> {ok, P} = gen_server:start({via, etn, T}, etn, [], []), P;
start(server, _) -> {ok, P} = gen_server:start(etn, [], []), P;
start(supervisor, _) -> {ok, P} = supervisor:start_link(etn, sup), unlink(P), P;
start(event, _) -> {ok, P} = gen_event:start(), P;
start(proc_lib, _) -> proc_lib:spawn(etn, sink, []);
start(proc_lib_fun, _) -> proc_lib:spawn(fun() -> sink() end);
start('fun', _) -> spawn(fun() -> sink() end);
start(spawn, _) -> spawn(etn, sink, []);
start(label, T) -> spawn(etn, labelled, [{T, label}]);
start(long, T) -> P = spawn(etn, sink, []), register(list_to_atom(lists:flatten([atom_to_list(T) | lists:duplicate(200, $x)])), P), P.
all(T) -> [start(K, T) || K <- [local, global, via, via_name, server, supervisor, event, proc_lib, proc_lib_fun, 'fun', spawn, label, long]].
"""
SENDS = READY + "erlang*:::message-send /args[0] == $$1 && args[1] != $$2/ { @[erlname(args[1])] = count(); }"
NAMED = READY + 'erlang*:::message-send /args[0] == $$1 && args[1] != $$2/ { printf("to %s.\\n", erlname(args[1])); }'


def workload(t):
    node = t.node()
    node(f"etw:load({quoted(MODULE)})")
    return node, node("etw:worker()")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def has_labels(node):
    return node("erlang:function_exported(proc_lib, set_label, 1)")


def sends(node, worker, pids):
    node(f"etw:as({pid(worker)}, fun() -> [P ! x || P <- [{', '.join(pid(p) for p in pids)}]], ok end)")


def ends(t, trace):
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.equal(trace.err.text(), "", "warnings", trace)
    return aggregation(trace.out.text())


def kill(node, pids):
    node(f"[exit(P, kill) || P <- [{', '.join(pid(p) for p in pids)}]]")


def expected(tag, labels):
    """The names of etn:all(tag), with those that only a trace which saw the birth knows."""
    new = tag == "new"
    return {tag: 1, f"global({{{tag},1}})": 1,
            ** ({f'etn_registry({{{tag},<<"k">>}})': 1, f"etn({tag})": 1, "etn:init/1": 1} if new else {"etn:init/1": 3}),
            "supervisor:etn/1": 1, "gen_event:init_it/6": 1,
            ** ({"etn:sink/0": 2} if new else {"etn:sink/0": 3, "etn:'-start/2-fun-0-'/0": 1}),
            ** ({"{old,label}": 1} if labels and not new else {"etn:labelled/1": 1}),
            tag + 74 * "x" + "..": 1}


def test_before_the_trace(t):
    """The name of each kind of process that is there when the trace comes."""
    node, worker = workload(t)
    t.logs.append("unexpected message: x")
    pids = node("etn:all(old)")
    trace = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    trace.ready()
    sends(node, worker, pids)
    t.equal(ends(t, trace), expected("old", has_labels(node)), "names", trace)
    kill(node, pids)
    t.clean(node)


def test_during_the_trace(t):
    """The same for processes that are born during it, at once."""
    node, worker = workload(t)
    t.logs.append("unexpected message: x")
    trace = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    trace.ready()
    pids = node("etn:all(new)")
    sends(node, worker, pids)
    found = ends(t, trace)
    funs = [found.pop(name) for name in list(found) if name.startswith("etn:fun-")]
    t.equal(funs, [1, 1], "funs", trace)
    t.equal(found, expected("new", False), "names", trace)
    kill(node, pids)
    t.clean(node)


def saying(node, worker, trace):
    """A function that returns what the trace prints when the worker sends a process a message."""
    def said(process):
        sends(node, worker, [process])
        at = said.at = trace.wait("^to ", start=said.at) + 1
        return trace.out.lines[at - 1]
    said.at = 0
    return said


def test_as_they_change(t):
    """A name that comes and goes; a label, which is seen at the next look."""
    node, worker = workload(t)
    one, two = [node("etn:start(spawn, x)") for _ in range(2)]
    trace = t.trace("-q", "-x", "switchrate=20ms", "-n", NAMED, worker, node("self()"), node=node)
    trace.ready()
    said = saying(node, worker, trace)
    t.equal(said(one), "to etn:sink/0.", "not registered", trace)
    node(f"register(etn_one, {pid(one)})")
    t.equal(said(one), "to etn_one.", "registered", trace)
    node("unregister(etn_one)")
    t.equal(said(one), "to etn:sink/0.", "no longer", trace)
    node(f"register(etn_one, {pid(two)})")
    t.equal(said(two), "to etn_one.", "another has the name", trace)
    t.equal(said(one), "to etn:sink/0.", "the first has not", trace)
    if has_labels(node):
        label = node("etn:start(label, z)")
        until(lambda: said(label) == "to {z,label}.", lambda: "the label is never known\n" + trace.said(), pause=0.05)
        kill(node, [label])
    ends(t, trace)
    kill(node, [one, two])
    t.clean(node)


def test_more_than_are_asked_at_once(t):
    """Processes that are always named in the same order, and more than a look asks: each has its turn."""
    node, worker = workload(t)
    sink = node("etn:start(spawn, x)")
    trace = t.trace("-q", "-x", "switchrate=20ms", "-n", READY + 'erlang*:::message-send /args[0] == $$1 && args[1] != $$2/ { @[erlname(args[1])] = count(); }'
                    "tick-50ms { printa(@); trunc(@); }", worker, node("self()"), node=node)
    trace.ready()
    many = 300  # there are 256 places
    node(f"""persistent_term:put(etn_many, [begin P = proc_lib:spawn(etn, keeps, [[{{process_name, {{turn, integer_to_binary(N)}}}}], self()]),
        receive {{keeps, P}} -> P end end || N <- lists:seq(1, {many})])""")

    def seen():
        node(f"etw:as({pid(worker)}, fun() -> [P ! x || P <- persistent_term:get(etn_many)], ok end)")
        return set(re.findall(r"(?m)^ *turn (\d+) +1$", trace.out.text()))

    until(lambda: len(seen()) == many, lambda: f"only {len(seen())} are asked\n" + trace.said()[-2000:], pause=0.05)
    ends(t, trace)
    node("[exit(P, kill) || P <- persistent_term:get(etn_many)], persistent_term:erase(etn_many)")
    kill(node, [sink])
    t.clean(node)


def test_of_the_current_process(t):
    """erlname, erlpid and erlfunc at births, ends, calls and turns; where no process is concerned they are empty."""
    node, worker = workload(t)
    node(f"register(etn_worker, {pid(worker)})")
    trace = t.trace("-q", "-n", READY + """
        BEGIN { printf("[%s%s%s]\\n", erlname, erlpid, erlfunc); }
        tick-50ms /!told/ { told = 1; printf("[%s%s%s]\\n", erlname, erlpid, erlname("none")); }
        erlang*:::process-spawn /args[1] == "etw:child/1"/ { @["spawn", erlname] = count(); }
        erlang*:::process-exit /erlname == "etw:child/1"/ { @["exit", erlpid == args[0] ? erlfunc : "?"] = count(); }
        erlang*:etw:work/1:entry { @[erlname, erlfunc] = count(); @[erlname(args[0]), erlname(erlpid)] = count(); }
        erlang*:::process-scheduled /erlname == "etn_worker"/ { @[erlfunc == args[1] && erlfunc != "" ? "in" : "?", erlname] = count(); }
        erlang*:::process-spawn { @[erlname("text"), erlname(argv[0])] = count(); }
        """, node=node)
    trace.ready()
    node(f"etw:calls({pid(worker)}, 503)")
    node(f"etw:spawns({pid(worker)}, 307)")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    text = trace.out.text()
    found = aggregation("\n".join(line for line in text.splitlines() if "etn_worker" in line or "etw:" in line))
    turns = found.pop(("in", "etn_worker"))
    t.true(turns > 0, "turns", trace)
    t.equal(found, {("spawn", "etw:child/1"): 307, ("etn_worker", "etw:work/1"): 503, ("etn_worker", "etn_worker"): 503}, "names", trace)
    t.equal(text.splitlines().count("[]") + text.splitlines().count("[none]"), 2, "outside processes", trace)
    t.true("?" not in text, "what should be equal", trace)
    t.equal(aggregation(text).get(("text", "1")), 1, "what is no process", trace)
    t.equal(sum(n for key, n in aggregation(text).items() if key == "exit"), 307, "ends", trace)
    node("unregister(etn_worker)")


def test_of_many_that_live_shortly(t):
    """Very many processes, each gone at once: all are named, and none is called what another was."""
    node, worker = workload(t)
    trace = t.trace("-q", "-n", READY + """
        erlang*:::process-spawned /args[1] == $$1/ { @[erlname] = count(); }
        erlang*:::process-exit /erlname == "etw:child/1"/ { @["exit"] = count(); }""", worker, node=node)
    trace.ready()
    node(f"etw:spawns({pid(worker)}, 200003)", patience=120)
    t.equal(ends(t, trace), {"etw:child/1": 200003, "exit": 200003}, "names", trace)
    t.clean(node)


def test_of_one_that_is_suspended(t):
    """A process is suspended when names are asked for: nothing waits for it, and the others have theirs."""
    node, worker = workload(t)
    pids = [node("etn:start(spawn, x)"), node("etn:start(local, etn_local)")]
    node(f"erlang:suspend_process({pid(pids[0])})")
    trace = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    trace.ready()
    sends(node, worker, pids)
    node(f"erlang:resume_process({pid(pids[0])})")
    found = ends(t, trace)
    t.equal((found.pop("etn_local"), sum(found.values())), (1, 1), "names", trace)
    kill(node, pids)


def test_two_programs(t):
    """Names are learned for as long as a program uses them, and anew for the next one."""
    node, worker = workload(t)
    one = node("etn:start(spawn, x)")
    first = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    first.ready()
    second = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    second.ready()
    sends(node, worker, [one])
    t.equal(ends(t, first), {"etn:sink/0": 1}, "learned for the first", first)
    node(f"register(etn_late, {pid(one)})")
    sends(node, worker, [one])
    t.equal(ends(t, second), {"etn:sink/0": 1, "etn_late": 1}, "learned for the second", second)
    node("unregister(etn_late)")
    third = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    third.ready()
    sends(node, worker, [one])
    t.equal(ends(t, third), {"etn:sink/0": 1}, "nothing old is left", third)
    kill(node, [one])
    t.clean(node)


def test_hidden(t):
    """While terms are hidden from a program, a name that contains one is not shown to it; another program sees it, at the same events."""
    node, worker = workload(t)
    blind, sees = [t.trace("-q", *off, "-n", SENDS, worker, node("self()"), node=node) for off in (["-x", "terms=off"], [])]
    blind.ready()
    sees.ready()
    pids = [node(f"etn:start({kind}, hid)") for kind in ("local", "global", "via", "via_name")]
    sends(node, worker, pids)
    t.equal(ends(t, blind), {"hid": 1, pids[1]: 1, pids[2]: 1, "etn(hid)": 1}, "hidden", blind)
    t.equal(ends(t, sees), {"hid": 1, "global({hid,1})": 1, 'etn_registry({hid,<<"k">>})': 1, "etn(hid)": 1}, "not hidden", sees)
    kill(node, pids)
    t.clean(node)


# What a dictionary has, and what its process is called then: as RabbitMQ, Elixir and others have it.
KEPT = [('[{process_name, {rabbit_amqqueue_process, {resource, <<"/">>, queue, <<"slow one">>}}}]', "queue slow one in /"),
        ('[{process_name, {rabbit_mirror, {resource, <<"v">>, queue, <<"q">>}}}]', "rabbit_mirror queue q in v"),
        ('[{process_name, {rabbit_channel, {<<"127.0.0.1:1 -> 127.0.0.1:2">>, 3}}}]', "rabbit_channel 127.0.0.1:1 -> 127.0.0.1:2 (3)"),
        ('[{process_name, {rabbit_reader, <<"10.0.0.1:1 -> 10.0.0.2:2">>}}]', "rabbit_reader 10.0.0.1:1 -> 10.0.0.2:2"),
        ("[{process_name, [of_its, own]}]", "[of_its,own]"),
        ('[{process_name, {a, {<<"b">>, 1 bsl 66}}}]', '{a,{<<"b">>,73786976294838206464}}'),
        ("[{'$process_label', {shop, 7}}]", "{shop,7}"),
        ("[{'$process_label', <<\"shop eight\">>}, {process_name, unseen}]", "shop eight"),
        ("[{another, x}]", "etn:keeps/2")]


def test_in_the_dictionary(t):
    """Processes that are called by what their dictionaries have, older than the trace and born during it; hidden, where terms are."""
    node, worker = workload(t)

    def born():
        return [node(f"begin P = proc_lib:spawn(etn, keeps, [{kept}, self()]), receive {{keeps, P}} -> P end end") for kept, _ in KEPT]
    pids = born()
    trace = t.trace("-q", "-x", "switchrate=20ms", "-n", NAMED, worker, node("self()"), node=node)
    trace.ready()
    said = saying(node, worker, trace)
    t.equal([said(p) for p in pids], [f"to {name}." for _, name in KEPT], "older", trace)
    young = born()
    for p, (_, name) in zip(young, KEPT):
        until(lambda: said(p) == f"to {name}.", lambda: f"{name} is never known\n" + trace.said(), pause=0.05)  # pylint: disable=cell-var-from-loop
    ends(t, trace)
    blind = t.trace("-q", "-x", "terms=off", "-n", SENDS, worker, node("self()"), node=node)
    blind.ready()
    sends(node, worker, pids)
    t.equal(ends(t, blind), {**{p: 1 for p in pids[:-1]}, "etn:keeps/2": 1}, "hidden", blind)
    kill(node, pids + young)
    t.clean(node)


def bulky(node, kept):
    """A process with a heap far above 1 MiB, and with this in its dictionary."""
    process = node(f"begin P = proc_lib:spawn(etn, bulky, [{kept}, self(), 300007]), receive {{keeps, P}} -> P end end")
    t = f"element(2, process_info({pid(process)}, total_heap_size))"
    assert node(t) > 2 * 131072, "the heap is large"
    return process


# A dictionary with more terms than are counted.
MANY = "{many, lists:seq(1, 3001)}"


def test_with_a_large_heap(t):
    """A process with a large heap is called by what its dictionary has if that is small: where a single key cannot be asked for, it is counted
    first. One with a large dictionary is not asked there, until it has become small. The trace is about no event of these processes."""
    node, worker = workload(t)
    single = has_labels(node)
    label, many = "[{'$process_label', {shop, 7}}]", f"[{MANY}, {KEPT[0][0][1:-1]}]"
    old = [bulky(node, kept) for kept in (many, KEPT[0][0], label, "[]")]
    trace = t.trace("-q", "-x", "switchrate=20ms", "-n", NAMED, worker, node("self()"), node=node)
    trace.ready()
    said = saying(node, worker, trace)

    def becomes(process, name):
        until(lambda: said(process) == f"to {name}.", lambda: f"{name} is never known\n" + trace.said(), pause=0.05)
    young = [bulky(node, kept) for kept in (many, KEPT[0][0], label)]
    for some, otherwise in ((old, old[0]), (young, "etn:bulky/3")):
        said(some[0]) # it is looked at before the next one, or with it
        becomes(some[1], "queue slow one in /")
        becomes(some[2], "{shop,7}")
        if single:
            becomes(some[0], "queue slow one in /")
        else:
            t.equal(said(some[0]), f"to {otherwise}.", "its dictionary is large", trace)
    becomes(old[3], "etn:bulky/3")
    node(f"{pid(old[3])} ! {{put, process_name, late}}")
    becomes(old[3], "late")
    node(f"[P ! {{put, many, few}} || P <- [{pid(old[0])}, {pid(young[0])}]]")
    for process in (old[0], young[0]):
        becomes(process, "queue slow one in /")
    ends(t, trace)
    t.equal([node(f"{pid(p)} ! {{length, self()}}, receive N -> N end") for p in old + young], 7 * [300007], "what they keep")
    kill(node, old + young)
    t.clean(node)


def test_beside_another_tracer(t):
    """A process that another tool traces: before OTP 27 its name is that of the beginning, and the other tool is not disturbed."""
    node, worker = workload(t)
    one = node("etn:start(spawn, x)")
    node(f"register(etn_other, T = spawn(fun R() -> receive {{n, Q}} -> Q ! {{messages, element(2, process_info(self(), message_queue_len))}}, R() end end)), "
         f"erlang:trace({pid(one)}, true, [procs, {{tracer, T}}])")
    trace = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    trace.ready()
    sends(node, worker, [one])
    node(f"register(etn_seen, {pid(one)})")
    sends(node, worker, [one])
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    seen = "etn_seen" if node("erlang:system_info(otp_release)") >= [50, 55] else "etn:sink/0"
    t.true(found.get("etn:sink/0", 0) >= 1 and sum(found.values()) == 2 and found.get(seen, 0) >= 1, f"names: {found}", trace)
    t.equal(node("etn_other ! {n, self()}, receive {messages, N} -> N end"), 1, "what the other tool saw")
    node("exit(whereis(etn_other), kill)")
    kill(node, [one])


# Ports of each kind, held by a process, and what they are called: the node's own account. Their programs write nothing, and end with the ports.
PORTS = """
-module(etp).
-export([start/1, texts/1, say/2]).
start(Tag) ->
    Asker = self(),
    P = spawn(fun() -> process_flag(trap_exit, true), Asker ! {ports, open(Tag)}, receive stop -> ok end end),
    receive {ports, Ports} -> persistent_term:put({etp, Tag}, {P, Ports}), [unicode:characters_to_binary(N) || {_, N} <- Ports] end.
texts(Tag) -> {_, Ports} = persistent_term:get({etp, Tag}), [list_to_binary(erlang:port_to_list(P)) || {P, _} <- Ports].
say(Tag, To) -> {_, Ports} = persistent_term:get({etp, Tag}), [To ! P || {P, _} <- Ports], ok.
address(Ip, S) -> {ok, N} = inet:port(S), [Ip, $:, integer_to_list(N)].
open(Tag) ->
    {ok, Listen} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, N} = inet:port(Listen),
    {ok, There} = gen_tcp:connect({127, 0, 0, 1}, N, []),
    {ok, Here} = gen_tcp:accept(Listen),
    {ok, Udp} = gen_udp:open(0, [{ip, {127, 0, 0, 1}}]),
    Path = "/tmp/etp-" ++ os:getpid() ++ atom_to_list(Tag),
    {ok, Local} = gen_tcp:listen(0, [local, {ifaddr, {local, Path}}]),
    {ok, Client} = gen_tcp:connect({local, Path}, 0, [local]),
    {ok, Server} = gen_tcp:accept(Local),
    ok = file:delete(Path),
    Quiet = "while read x; do :; done",
    register(Tag, Named = open_port({spawn, "sh -c '" ++ Quiet ++ "'"}, [])),
    [A, B] = [address("127.0.0.1", S) || S <- [Listen, There]],
    [{Listen, ["tcp ", A]}, {There, ["tcp ", B, " -> ", A]}, {Here, ["tcp ", A, " -> ", B]}, {Udp, ["udp ", address("127.0.0.1", Udp)]},
     {Local, ["unix ", Path]}, {Client, ["unix -> ", Path]}, {Server, ["unix ", Path]}, {open_port({spawn, "sh -c '" ++ Quiet ++ "'"}, []), "program sh"},
     {open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Quiet]}]), "program sh"}, {Named, atom_to_list(Tag)}] ++ six().
six() ->
    try gen_tcp:listen(0, [inet6, {ip, {0, 0, 0, 0, 0, 0, 0, 1}}]) of
        {ok, S} -> [{S, ["tcp ", address("[::1]", S)]}];
        {error, _} -> []
    catch _:_ -> []
    end.
"""


def test_of_ports(t):
    """A socket is called by its addresses, a program by its name, a port that is registered by that one; and asking for that is no event."""
    node, worker = workload(t)
    node(f"etw:load({quoted(PORTS)})")
    names = node("etp:start(etp_old)")
    sink = node("etn:start(spawn, x)")
    trace = t.trace("-q", "-x", "switchrate=20ms", "-n", READY + """
        erlang*:::message-send /args[0] == $$1 && args[1] == $$2/ { printf("is %s.\\n", erlname(message)); }
        erlang*:::port-scheduled /erlname == "etp_old" && erlname(args[0]) == erlname/ { @turns["turns"] = count(); }
        erlang*:::port-control { @["asked", args[1]] = count(); }""", worker, sink, node=node)
    trace.ready()
    at = 0

    def said(tag, many):
        nonlocal at
        node(f"etw:as({pid(worker)}, fun() -> etp:say({tag}, {pid(sink)}) end)")
        lines = []
        while len(lines) < many:
            at = trace.wait("^is ", start=at) + 1
            lines.append(trace.out.lines[at - 1][3:-1])
        return lines

    t.equal(said("etp_old", len(names)), names, "older than the trace", trace)
    node('etp_old ! {element(1, persistent_term:get({etp, etp_old})), {command, "x"}}')
    new = node("etp:start(etp_new)")
    texts = node("etp:texts(etp_new)")
    first = said("etp_new", len(new))
    t.equal(first[new.index("etp_new")], "etp_new", "what events tell is known at once", trace)
    until(lambda: said("etp_new", len(new)) == new, lambda: f"the names of what was opened during the trace are never {new}\n{trace.said()}", pause=0.05)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    found = aggregation(trace.out.text())
    asked = {key[1] for key in found if key[0] == "asked"}
    t.true(found["turns"] > 0, "turns of the port", trace)
    t.equal(asked & set(node("etp:texts(etp_old)")), set(), "ports that only the agent has asked", trace)
    t.true(len(asked & set(texts)) >= 4, "sockets that have been opened were asked by whoever did that", trace)
    node("[element(1, persistent_term:get({etp, Tag})) ! stop || Tag <- [etp_old, etp_new]], [persistent_term:erase({etp, Tag}) || Tag <- [etp_old, etp_new]]")
    kill(node, [sink])
    t.clean(node)


def elixir(t):
    """A node of its own that can load Elixir's modules."""
    if shutil.which("elixir") is None:
        raise Skipped("elixir is not installed")
    ebin = subprocess.run(["elixir", "-e", "IO.puts(:code.lib_dir(:elixir))"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip() + "/ebin"
    node = t.node(options=("-pa", ebin))
    if not node("element(1, code:ensure_loaded('Elixir.Registry')) =:= module"):
        raise Skipped("this node cannot load Elixir")
    return node


def test_in_a_registry_of_elixir(t):
    """Of processes that are older than the trace, those in a Registry with unique keys have their keys as names, also with partitions."""
    node = elixir(t)
    t.logs.append("Started: id=")
    node(f"etw:load({quoted(MODULE)})")
    worker = node("etw:worker()")
    pids = node("""begin
        [{ok, _} = 'Elixir.Registry':start_link([{keys, Keys}, {name, Name}, {partitions, N}])
         || {Keys, Name, N} <- [{unique, 'Elixir.Etn.One', 1}, {unique, etn_more, 3}, {duplicate, etn_dup, 1}]],
        [element(2, {ok, _} = gen_server:start({via, 'Elixir.Registry', Name}, etn, [], []))
         || Name <- [{'Elixir.Etn.One', <<"key">>}, {etn_more, 7, value}]] end""")
    trace = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    trace.ready()
    new = node("element(2, gen_server:start({via, 'Elixir.Registry', {etn_more, new, value}}, etn, [], []))")
    sends(node, worker, [*pids, new])
    t.equal(ends(t, trace), {'Etn.One(<<"key">>)': 1, "etn_more(7)": 1, "etn_more(new)": 1}, "names", trace)


def test_dead_agent(t):
    """The agent's process is killed while it knows names: nothing stays behind, and the next trace has them."""
    node, worker = workload(t)
    trace = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    trace.ready()
    node("exit(whereis(erltrace_agent), kill)")
    t.equal(trace.end(), 1, "exit status", trace)
    t.clean(node, 3000)
    one = node("etn:start(spawn, x)")
    again = t.trace("-q", "-n", SENDS, worker, node("self()"), node=node)
    again.ready()
    sends(node, worker, [one])
    t.equal(ends(t, again), {"etn:sink/0": 1}, "names", again)
    kill(node, [one])
    t.clean(node)
