"""Requests that are followed by tokens of seq_trace: follow(), trace_seq, and the scripts follow and msglat."""
import os
import re

import erlt
from erlt import READY, ROOT, pid
from test_functions import as_worker, load

# order/2 is a request: chain_front asks chain_mid, which asks chain_back, on whatever node that is. Each works a number of milliseconds.
MODULE = """-module(chain).
-export([start/1, back/0, order/2, spent/1, fail/0, box/0, fill/1, filled/1, busy/2, quick/1]).
start(Back) -> up(chain_mid, {chain_back, Back}, 20), up(chain_front, chain_mid, 10).
back() -> up(chain_back, none, 40).
up(Name, To, Ms) ->
    Me = self(),
    spawn(fun() -> register(Name, self()), Me ! up, loop(To, Ms) end),
    receive up -> ok end.
loop(To, Ms) ->
    receive
        {From, Ref, What} ->
            mill(Ms),
            From ! {Ref, case To of none -> {made, What}; _ -> ask(To, What) end},
            loop(To, Ms)
    end.
ask(To, What) -> Ref = make_ref(), To ! {self(), Ref, What}, receive {Ref, Answer} -> Answer end.
order(N, _) -> {made, N} = ask(chain_front, N).
spent(N) -> T = now_us(), order(N, x), now_us() - T.
fail() -> _ = self() ! lost, receive lost -> exit(failed) end.
%% Takes b first and a last, a while after each has come.
box() ->
    receive {fill, From} -> ok end,
    mill(30), receive b -> ok end, B = now_us(),
    mill(30), receive a -> ok end,
    From ! {box, B, now_us()}, box().
fill(Box) -> _ = [Box ! M || M <- [{fill, self()}, a, b]], self() ! own, receive own -> ok end, receive {box, B, A} -> {B, A} end.
filled(Box) -> T = now_us(), {B, A} = fill(Box), {B - T, A - T}.
now_us() -> erlang:convert_time_unit(proplists:get_value(time, erlang:system_info(os_monotonic_time_source)), native, microsecond).
mill(Ms) -> till(now_us() + 1000 * Ms).
till(End) -> case now_us() >= End of true -> ok; false -> till(End) end.
%% N calls of quick/1 in each of P processes; each keeps its heap busy and answers what it got.
busy(P, N) ->
    Each = [spawn_monitor(fun() -> [I = quick(I) || I <- lists:seq(1, N)], exit({did, N}) end) || _ <- lists:seq(1, P)],
    [receive {'DOWN', M, _, _, R} -> R end || {_, M} <- Each].
quick(I) -> L = lists:duplicate(I rem 50, I), self() ! {L, I}, receive {L, I} -> I end.
"""


def begin(t, node, *args, also=None):
    """A trace that may do destructive things, in a node or in two."""
    where = ["--node", f"{node.name},{also.name}", "--cookie", node.cookie] if also else []
    trace = t.trace("-q", "-w", "-x", "argref", "-n", READY, *where, *args, node=None if also else node)
    trace.wait("ready", start=trace.wait("ready") + 1 if also else 0)
    return trace


def finish(t, trace):
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("drop" not in trace.err.text() and "error" not in trace.err.text(), "nothing was dropped, and no clause failed", trace)
    return trace.out.text()


def two(t):
    """Two nodes that are connected, with the chain between them; the second is of another release where the first is OTP 27."""
    one = t.node()
    other = erlt.Node(otp=None if t.otp == "27" else t.otp)
    t.nodes.append(other)
    for node in (one, other):
        load(node, MODULE)
    other("chain:back()")
    t.equal(one(f"net_adm:ping('{other.name}')"), "pong", "the nodes are connected")
    one(f"chain:start('{other.name}')")
    return one, other


def stop(node, *names):
    for name in names:
        node(f"M = monitor(process, {name}), exit(whereis({name}), kill), receive {{'DOWN', M, _, _, _}} -> ok end")


def test_a_request_on_two_nodes(t):
    """follow shows each message of a request through three processes on two nodes. The work of all of them, which is known, makes up its total, and the
    program's own time encloses that."""
    one, other = two(t)
    worker = one("etw:worker()")
    one("ets:new(chain_times, [named_table, public])")
    trace = begin(t, one, "-s", os.path.join(ROOT, "scripts", "follow.d"), "chain", "order/2", also=other)
    for n in (1, 2):
        one(as_worker(worker, f"ets:insert(chain_times, {{{n}, chain:spent({n})}}), seq_trace:set_token([])"))
    text = finish(t, trace)
    own = [one(f"ets:lookup_element(chain_times, {n}, 2)") for n in (1, 2)]
    lines = [line.split() for line in text.splitlines() if re.match(r"<\d+\.\d+> ", line)]
    ends = [line for line in lines if line[1] == "end"]
    hops = sorted((int(line[1]), line[2], *line[3:]) for line in lines if line[1] != "end")
    t.equal(len({line[0] for line in lines}), 1, "both have the number of the process that asked", trace)
    totals = [int(re.search(r"TOTAL (\d+) us", " ".join(line))[1]) for line in ends]
    t.equal(len(totals), 2, "requests", trace)
    a, b, there, pid_of = one.name, other.name, f"{{chain_back,{other.name}}}", r"<\d+\.\d+\.\d+>"
    # Between the requests the process goes on with its token, which counts its messages.
    firsts = [h[0] - 1 for h in hops if h[3] == "chain_front" and h[2] != "chain_mid"]
    t.equal(len(firsts), 2, "messages that begin a request", trace)
    # A message to another node has a line of each node.
    want = [(1, a, ".*", "chain_front"), (2, a, "chain_front", "chain_mid"), (3, a, "chain_mid", re.escape(there)), (3, b, pid_of, "chain_back"),
            (4, a, pid_of, "chain_mid"), (4, b, "chain_back", pid_of), (5, a, "chain_mid", "chain_front"), (6, a, "chain_front", ".*")]
    t.equal(len(hops), 2 * len(want), "lines", trace)
    for first, total, by_program in zip(firsts, totals, own):
        mine = {(h[0] - first, h[1]): h[2:] for h in hops if first < h[0] <= first + 6}
        t.equal(set(mine), {(step, node) for step, node, _, _ in want}, "steps and nodes", trace)
        for step, node, sender, receiver in want:
            t.match(mine[step, node][0], rf"^{sender}$", f"sender of step {step}")
            t.match(mine[step, node][1], rf"^{receiver}$", f"receiver of step {step}")
        work = {key: int(h[2]) for key, h in mine.items() if h[2] != "-"}
        parts = sum(int(x) for h in mine.values() for x in h[2:4] if x != "-")
        t.true(work[2, a] >= 9999 and work[3, a] >= 19999 and work[4, b] >= 39999, f"each worked what it did: {work}", trace)
        t.true(69990 <= parts <= total <= by_program + 1, f"parts {parts}, total {total}, by the program's clock {by_program}", trace)
    for node in (one, other):
        t.clean(node)
    stop(one, "chain_front", "chain_mid")


def test_time_in_the_mailbox(t):
    """msglat: messages are measured one by one, in whatever order they are taken; its own message of a process counts as well."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    node(f"register(chain_filler, {pid(worker)})")
    node("ets:new(chain_box, [named_table, public])")
    node("register(chain_box, spawn(chain, box, []))")
    trace = begin(t, node, "-s", os.path.join(ROOT, "scripts", "msglat.d"), "chain", "fill/1")
    node(as_worker(worker, "ets:insert(chain_box, {times, chain:filled(whereis(chain_box))}), seq_trace:set_token([])"))
    text = finish(t, trace)
    b, a = node("element(1, ets:lookup_element(chain_box, times, 2))"), node("element(2, ets:lookup_element(chain_box, times, 2))")
    row = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in text.splitlines() if re.match(r"chain_\w+ +\d", line)}
    count, mean, longest = row["chain_box"]
    t.equal((count, row["chain_filler"][0]), (3, 2), text)
    t.true(60000 <= longest <= a, f"a waited {longest} us; by the program's clock at most {a}")
    t.true(90000 <= 3 * (mean + 1) and 3 * mean <= 2 * a + b, f"{mean} us on average of a, b, and what began it; a at most {a}, b {b}")
    node("unregister(chain_filler)")
    stop(node, "chain_box")


def test_tokens_of_others(t):
    """follow() gives no token to a process that has one, and none is given after the trace; without -w it is refused."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    node("ets:new(chain_own, [named_table, public])")
    script = ("erlang*:chain:quick/1:entry { follow(); } erlang*:::trace_seq /copyinstr(arg3) == \"send\"/ { @[copyinstr(arg1)] = count(); }"
              " erlang*:chain:quick/1:entry { @[\"calls\"] = count(); }")
    trace = begin(t, node, "-n", script)
    node(as_worker(worker, "seq_trace:set_token(label, 17), seq_trace:set_token(send, true), [I = chain:quick(I) || I <- [1, 2, 3]], "
                           "ets:insert(chain_own, {label, seq_trace:get_token(label)}), seq_trace:set_token([])"))
    text = finish(t, trace)
    found = erlt.aggregation(text)
    t.equal((found["17"], found["calls"]), (3, 3), text)
    t.equal(node("ets:lookup_element(chain_own, label, 2)"), ["label", 17], "its label")
    t.clean(node)
    node(as_worker(worker, "seq_trace:set_token([]), chain:quick(1), ets:insert(chain_own, {token, seq_trace:get_token()})"))
    t.equal(node("ets:lookup_element(chain_own, token, 2)"), [], "a token after the trace")
    status, _, error = t.run("-n", script, node=node)
    t.equal(status, 1, error)
    t.match(error, "Destructive actions not allowed")
    for probe in ("erlang*:::message-send", "tick-1s", "erlang*:chain:quick/1:return"):
        status, _, error = t.run("-w", "-n", probe + " { follow(); }", node=node)
        t.equal(status, 1, error)
        t.match(error, r"\[FOLLOW_PROBE\] follow\(\) cannot be used at")


def test_many_requests_at_once(t):
    """Tokens are set in many processes at once, while their heaps grow and shrink: each call is counted once, the node lives, and each process
    has a label of its own."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    trace = begin(t, node, "-n", "erlang*:chain:quick/1:entry { follow(); @[\"calls\"] = count(); } erlang*:chain:quick/1:return { @[\"returns\"] = count(); }"
                  " erlang*:::trace_seq /copyinstr(arg3) == \"receive\" && copyinstr(arg1) == erlpid/ { @[\"received\"] = count(); }")
    node(as_worker(worker, "chain:busy(97, 211)"))
    found = erlt.aggregation(finish(t, trace))
    t.equal(found, {"calls": 97 * 211, "returns": 97 * 211, "received": 97 * 211})


def test_a_request_that_fails(t):
    """A call that ends by an exception ends the request."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    trace = begin(t, node, "-s", os.path.join(ROOT, "scripts", "follow.d"), "chain", "fail/0")
    node(as_worker(worker, "catch chain:fail(), catch chain:fail(), seq_trace:set_token([])"))
    text = finish(t, trace)
    t.equal(len(re.findall(r"^<\d+\.\d+> +end +exception of chain:fail/0, TOTAL \d+ us", text, re.M)), 2, text)


# Messages, and which tests of lib/erlang.d accept them; the texts of their parts.
MESSAGES = [
    ("{'$gen_call', {Me, R}, {get, 1}}", "is_gen_call", ["{get,1}"]),
    ("{'$gen_call', {Me, [alias | R]}, stop}", "is_gen_call", ["stop"]),
    ("{Me, {Me, R}, {call, h, q}}", "is_gen_call", ["{call,h,q}"]),
    ("{'$gen_call', {Me, R}}", "", []),
    ("{'$gen_call', [Me | R], x}", "", []),
    ("{'$gen_call', {R, R}, x}", "", []),
    ("{x, {Me, R}, y}", "", []),
    ("{'$gen_cast', {put, 2}}", "is_gen_cast", ["{put,2}"]),
    ("{'$gen_cast', {put, 2}, 3}", "", []),
    ("{notify, event}", "is_gen_notify", ["event"]),
    ("{R, {ok, 3}}", "is_gen_reply", ["{ok,3}"]),
    ("{[alias | R], reply}", "is_gen_reply", ["reply"]),
    ("{[alias], reply, x}", "", []), ("{\"alias\", reply}", "", []), ("{Me, reply}", "", []), ("{[], reply}", "", []),
    ("{'DOWN', R, process, Me, {shutdown, x}}", "is_monitor_down", ["{shutdown,x}"]),
    ("{'DOWN', x, process, Me, noproc}", "", []),
    ("{'EXIT', Me, normal}", "is_exit_message", ["normal"]),
    ("{'EXIT', x, normal}", "", []),
    ("{timeout, R, tick}", "is_timer_message", []), ("{timeout, x, tick}", "", []),
    ("{system, {Me, R}, get_state}", "is_system_message", []), ("{system, Me, get_state}", "", []),
    ("{}", "", []), ("[]", "", []), ("#{a => 1}", "", []), ("<<1, 2>>", "", []), ("{{}, {}, {}}", "", []), ("[a | b]", "", []), ("1.5", "", []), ("Me", "", []),
    ("{1 bsl 200, {Me, 2}, 3}", "", []), ("fun lists:map/2", "", []),
]
TESTS = ("is_gen_call", "is_gen_cast", "is_gen_notify", "is_gen_reply", "is_monitor_down", "is_exit_message", "is_timer_message", "is_system_message")
PARTS = {"is_gen_call": ("gen_call_request",), "is_gen_cast": ("gen_cast_request",), "is_gen_notify": ("gen_cast_request",), "is_gen_reply": ("gen_reply_value",),
         "is_monitor_down": ("monitor_down_reason",), "is_exit_message": ("exit_message_reason",)}


def test_the_library_for_erlang(t):
    """lib/erlang.d: each test accepts its messages and no other term, and the functions give their parts; a request and its reply have one id."""
    node = t.node()
    worker = node("etw:worker()")
    script = "".join(f"erlang*:erltrace:probe:chain_message /{test}[args[3]]/ {{ printf(\"%d {test}\\n\", (int)term_int(args[2])); }}\n" for test in TESTS)
    script += "".join(f"erlang*:erltrace:probe:chain_message /{test}[args[3]]/ {{ printf(\"%d = %T\\n\", (int)term_int(args[2]), {part}[args[3]]); }}\n"
                      for test, parts in PARTS.items() for part in parts)
    script += """erlang*:erltrace:probe:chain_message /is_gen_call[args[3]]/ { printf("%d from %d tag %d id %d\\n", (int)term_int(args[2]),
        gen_call_from[args[3]] == args[4], gen_call_tag[args[3]] == args[5] || tl(gen_call_tag[args[3]]) == args[5],
        gen_call_id[args[3]] == gen_from_id[element(2, args[3])]); }
        erlang*:erltrace:probe:chain_message /is_gen_reply[args[3]]/ { printf("%d tag %d id %d\\n", (int)term_int(args[2]),
        gen_reply_tag[args[3]] == args[5] || tl(gen_reply_tag[args[3]]) == args[5], gen_reply_id[args[3]] == term_text(gen_reply_tag[args[3]])); }
        erlang*:erltrace:probe:chain_message /is_monitor_down[args[3]]/ { printf("%d ref %d object %d\\n", (int)term_int(args[2]),
        monitor_down_ref[args[3]] == args[5], monitor_down_object[args[3]] == args[4]); }
        erlang*:erltrace:probe:chain_message /is_exit_message[args[3]]/ { printf("%d from %d\\n", (int)term_int(args[2]), exit_message_from[args[3]] == args[4]); }"""
    trace = begin(t, node, "-n", script)
    for n, (term, _, _) in enumerate(MESSAGES):
        node(as_worker(worker, f"Me = self(), R = make_ref(), erltrace:probe(chain_message, {n}, {term}, Me, R)"))
    text = finish(t, trace)
    want = []
    for n, (_, test, parts) in enumerate(MESSAGES):
        want += [f"{n} {test}"] if test else []
        want += [f"{n} = {part}" for part in parts]
        want += {"is_gen_call": [f"{n} from 1 tag 1 id 1"], "is_gen_reply": [f"{n} tag 1 id 1"], "is_monitor_down": [f"{n} ref 1 object 1"],
                 "is_exit_message": [f"{n} from 1"]}.get(test, [])
    t.equal(sorted(line for line in text.splitlines() if line[:1].isdigit()), sorted(want), "messages")


def test_killed_while_it_follows(t):
    """Neither a tool that is killed nor an agent that is killed leaves a pattern that sets tokens."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    for end in ("tool", "agent"):
        # The second function gets a local pattern, whose tracer is no sign of whose it is.
        trace = begin(t, node, "-n", "erlang*:chain:quick/1:entry,erlang*:chain:fill/1:entry { follow(); } erlang*:chain:fill/1:return { @ = count(); }")
        if end == "tool":
            trace.kill()
        else:
            node("exit(whereis(erltrace_agent), kill)")
            trace.end()
        t.clean(node)
        node(as_worker(worker, "seq_trace:set_token([]), chain:quick(1), [] = seq_trace:get_token()"))
        for call in ("quick, 1", "fill, 1"):
            found = node(f"[V || K <- [traced, match_spec, meta], {{K, V}} <- [erlang:trace_info({{chain, {call}}}, K)], V =/= false, V =/= undefined]")
            t.equal(found, [], f"patterns after the {end} was killed")


def test_beside_another_trace(t):
    """A function that another trace counts: no call of it is lost while follow() comes and goes, and none is given a token once it has gone."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    # It may have come with a token of an earlier test: tokens stay in processes that go on talking to each other.
    call = as_worker(worker, "seq_trace:set_token([]), [I = chain:quick(I) || I <- lists:seq(1, 101)], {now, seq_trace:get_token()} =:= {now, []} orelse ets:update_counter(chain_token, given, 1), "
                             "seq_trace:set_token([])")
    node("ets:new(chain_token, [named_table, public]), ets:insert(chain_token, {given, 0})")
    for probes in ("chain:quick/1:entry", "chain:quick/1:entry,erlang*:chain:quick/1:return"):
        counts = begin(t, node, "-n", f"erlang*:{probes} {{ @[probename] = count(); }}")
        node(call)
        follows = begin(t, node, "-n", "erlang*:chain:quick/1:entry { follow(); }")
        node(call)
        follows.interrupt()
        t.equal(follows.end(), 0, "exit status", follows)
        node(call)
        found = erlt.aggregation(finish(t, counts))
        t.equal(set(found.values()), {303}, f"calls: {found}")
    t.equal(node("ets:lookup_element(chain_token, given, 2)"), 2, "times a token was given: once in each round")
    t.clean(node)


def test_with_a_filter(t):
    """A clause with a predicate that the VM decides takes no call from follow(), of the same program or of another one."""
    node = t.node()
    load(node, MODULE)
    worker = node("etw:worker()")
    call = as_worker(worker, "[begin seq_trace:set_token([]), I = chain:quick(I) end || I <- lists:seq(1, 7)], seq_trace:set_token([])")
    some = "erlang*:chain:quick/1:entry /argv[0] == 4/ { @[\"some\"] = count(); }"
    sends = "erlang*:chain:quick/1:entry { follow(); } erlang*:::trace_seq /copyinstr(arg3) == \"send\" && copyinstr(arg1) == erlpid/ { @[\"sends\"] = count(); }"
    trace = begin(t, node, "-n", some + sends)
    node(call)
    t.equal(erlt.aggregation(finish(t, trace)), {"some": 1, "sends": 7}, "in one program")
    one = begin(t, node, "-n", some)
    other = begin(t, node, "-n", sends)
    node(call)
    t.equal(erlt.aggregation(finish(t, other)), {"sends": 7}, "in another program")
    node(call)
    t.equal(erlt.aggregation(finish(t, one)), {"some": 2}, "beside it")
