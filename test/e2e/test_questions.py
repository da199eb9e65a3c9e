"""What operators ask, answered by a ready script or by one line, in a node that knows the answer: its own account is what is compared.

The scripts are those of scripts/; doc/start.md has the lines."""
import os
import re
import signal

from erlt import HOST, READY, ROOT, pid
from test_functions import as_worker, counted, load
from test_names import elixir

MODULE = """-module(ward). -behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, start/0, ask/2, asks/2, slow/2, talk/2, sink/0, hoard/2, keep/2, work/1, toil/1, pile/0, family/0,
         collect/1, tables/2, reds/2]).
start() -> case gen_server:start({local, ward}, ward, [], []) of {ok, P} -> P; {error, {_, P}} -> gen_server:call(P, spent), P end.
init([]) -> {ok, []}.
handle_call({work, Ms}, _, Spent) ->
    T = now_us(), timer:sleep(Ms), till(T + 1000 * Ms), {reply, {done, Ms}, [now_us() - T | Spent]};
handle_call(spent, _, Spent) -> {reply, Spent, []}.
handle_cast(_, S) -> {noreply, S}.
now_us() -> erlang:convert_time_unit(proplists:get_value(time, erlang:system_info(os_monotonic_time_source)), native, microsecond).
till(End) -> case now_us() >= End of true -> ok; false -> till(End) end.
%% How long the calls took, in microseconds, as the callers see it.
asks(Server, Works) -> [begin T = now_us(), {done, Ms} = gen_server:call(Server, {work, Ms}, infinity), now_us() - T end || Ms <- Works].
ask(Request, Timeout) -> catch gen_server:call(ward, Request, Timeout).
slow(Ms, _) -> timer:sleep(Ms), {slept, Ms}.
talk(To, N) -> [To ! {news, lists:seq(1, 10)} || _ <- lists:seq(1, N)], ok.
sink() -> receive stop -> ok; _ -> sink() end.
%% A process whose heap, or whose binaries, grow: N steps, each with a collection.
hoard(0, L) -> L;
hoard(N, L) -> erlang:garbage_collect(), hoard(N - 1, [lists:seq(1, 1000) | L]).
%% Takes nothing out of its queue. (Compiled: evaluated code must not wait with a time, doc/safety.md.)
pile() -> receive stop -> ok after 20 -> pile() end.
%% Work of a process that waits nowhere.
work(N) -> {worked, toil(N)}.
toil(0) -> 0;
toil(N) -> toil(N - 1).
%% A process that lives on while its children end: one that had been born before, told to do so, and three that it spawns now.
family() -> process_flag(trap_exit, true), Old = spawn_link(fun() -> receive stop -> exit(old_age) end end), family(Old).
family(Old) ->
    receive
        {now, From} ->
            Old ! stop,
            [spawn_link(F) || F <- [fun() -> exit({shutdown, planned}) end, fun() -> exit({{bad, thing}, [{ward, doomed, 0, []}]}) end, fun() -> exit(bored) end, fun() -> ok end]],
            [receive {'EXIT', _, _} -> ok end || _ <- lists:seq(1, 5)],
            From ! done,
            family(Old)
    end.
%% N cells that live through a collection.
collect(N) -> L = lists:seq(1, N), erlang:garbage_collect(), length(L).
%% Uses of three tables: one with a name, one without that is older, one without that is made now.
tables(Named, Old) ->
    New = ets:new(ward_new, []),
    [ets:insert(Named, {I, I}) || I <- lists:seq(1, 7)], [ets:lookup(Named, I) || I <- lists:seq(1, 11)], [ets:member(ets:whereis(Named), I) || I <- lists:seq(1, 13)],
    [ets:lookup(Old, I) || I <- lists:seq(1, 5)], [ets:insert(New, {I, I}) || I <- lists:seq(1, 3)],
    {Old, New}.
%% What the process itself has counted of its reductions for work of N steps.
reds(To, N) -> {_, A} = process_info(self(), reductions), toil(N), {_, B} = process_info(self(), reductions), ets:insert(To, {reds, B - A}).
keep(0, L) -> L;
keep(N, L) -> erlang:garbage_collect(), keep(N - 1, [binary:copy(<<0>>, 100000) | L]).
"""


def ward(t):
    """A node with the module, and a process with the name ward_one."""
    node = t.node()
    load(node, MODULE)
    return node, named(node, node("etw:worker()"), "ward_one")


def named(node, process, name):
    node(f"catch unregister({name}), register({name}, {pid(process)})")
    return process


def script(t, node, name, work, *args):
    """What a ready script prints of a piece of work."""
    trace = t.trace("-q", "-x", "argref", "-n", READY, "-s", os.path.join(ROOT, "scripts", name), *args, node=node)
    trace.ready()
    for w in work if isinstance(work, list) else [work]:
        node(w)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("drop" not in trace.err.text() and "error" not in trace.err.text(), "nothing was dropped, and no clause failed", trace)
    return trace.out.text()


def numbers(text, first):
    """The numbers of the line that begins with this word."""
    line = next(line for line in text.splitlines() if line.startswith(first))
    return [int(word) for word in line[len(first):].split() if not word.startswith("<")]


def test_call_latency(t):
    """calllat tells queue and service time apart: of calls one after another, and of calls that find the server busy."""
    node, worker = ward(t)
    node("ward:start()")
    node("ets:new(ward_times, [named_table, public])")
    one = as_worker(worker, "ets:insert(ward_times, {one, ward:asks(ward, [1, 10, 100])})")
    text = script(t, node, "calllat.d", one)
    waited, spent = sum(node("ets:lookup_element(ward_times, one, 2)")), sum(node("gen_server:call(ward, spent)"))
    calls, queue, longest, service, slowest = numbers(text, "ward ")
    t.equal(calls, 3, "calls")
    t.match(text, rf"(?m)^ward +{re.escape(node('list_to_atom(pid_to_list(whereis(ward)))'))} +3 ", "the server's process")
    t.true(spent <= 3 * (service + 1) <= waited + 3, f"service {service} us on average; the server took {spent} in all, the callers waited {waited}")
    t.true(3 * (queue + service) <= waited, f"queue {queue} and service {service} us make up what callers waited, {waited}")
    t.true(slowest >= 100000 and longest <= waited, f"longest {longest}, slowest {slowest}")
    # Three that have come when the server takes the first: the second waits for that one, the third for both.
    node("ets:insert(ward_times, {all, [spawn(fun() -> receive go -> ets:insert(ward_times, {self(), ward:asks(ward, [100])}) end end) || _ <- [1, 2, 3]]})")
    text = script(t, node, "calllat.d", "sys:suspend(ward, infinity), Down = [begin M = monitor(process, P), P ! go, M end || P <- ets:lookup_element(ward_times, all, 2)], "
                                        "etw:await(fun() -> process_info(whereis(ward), message_queue_len) =:= {message_queue_len, 3} end), sys:resume(ward, infinity), "
                                        "[receive {'DOWN', M, _, _, _} -> ok end || M <- Down], ok")
    calls, queue, longest, service, slowest = numbers(text, "ward ")
    t.equal(calls, 3, "calls at once")
    t.true(100000 <= service + 1 and 200000 <= longest and 300000 <= 3 * (queue + 1), f"queue {queue} us on average, at most {longest}; service {service}")


YARD = """-module(yard).
-export([start/0, work/0, stop/0, init/1, handle_call/3, handle_cast/2, callback_mode/0, handle_event/4, handle_event/2, handle_call/2]).
start() ->
    {ok, _} = gen_server:start({local, yard_server}, yard, server, []),
    {ok, _} = gen_statem:start({local, yard_statem}, yard, statem, []),
    {ok, _} = gen_event:start({local, yard_event}), ok = gen_event:add_handler(yard_event, yard, event).
stop() -> [gen_server:stop(yard_server), gen_statem:stop(yard_statem), gen_event:stop(yard_event)].
init(server) -> {ok, []};
init(statem) -> {ok, one, []};
init(event) -> {ok, []}.
callback_mode() -> handle_event_function.
handle_call({work, Ms}, _, S) -> {reply, mill(Ms), S};
handle_call({later, Ms}, From, S) -> spawn(fun() -> mill(Ms), gen_server:reply(From, later) end), {noreply, S}.
handle_cast({work, Ms}, S) -> mill(Ms), {noreply, S}.
handle_event({call, From}, {work, Ms}, _, _) -> {keep_state_and_data, [{reply, From, mill(Ms)}]};
handle_event(cast, {work, Ms}, _, _) -> mill(Ms), keep_state_and_data.
handle_event({work, Ms}, S) -> mill(Ms), {ok, S}.
handle_call({work, Ms}, S) -> {ok, mill(Ms), S}.
mill(Ms) -> till(now_us() + 1000 * Ms).
till(End) -> case now_us() >= End of true -> milled; false -> till(End) end.
now_us() -> erlang:convert_time_unit(proplists:get_value(time, erlang:system_info(os_monotonic_time_source)), native, microsecond).
%% Calls of each, and three equal casts to each while it is suspended. The times that the calls of each took, and the casts from first to last.
work() ->
    Cast = fun(S, F) -> sys:suspend(S, infinity), T = now_us(), [F() || _ <- [1, 2, 3]], mill(50), sys:resume(S, infinity), sys:get_state(S, infinity), now_us() - T end,
    Time = fun(F) -> T = now_us(), F(), now_us() - T end,
    [{Time(fun() -> milled = gen_server:call(yard_server, {work, 11}, infinity), later = gen_server:call(yard_server, {later, 7}, infinity) end),
      Cast(yard_server, fun() -> gen_server:cast(yard_server, {work, 5}) end)},
     {Time(fun() -> milled = gen_statem:call(yard_statem, {work, 13}), milled = gen_statem:call(yard_statem, {work, 1}) end),
      Cast(yard_statem, fun() -> gen_statem:cast(yard_statem, {work, 5}) end)},
     {Time(fun() -> milled = gen_event:call(yard_event, yard, {work, 17}, infinity), ok = gen_event:sync_notify(yard_event, {work, 1}) end),
      Cast(yard_event, fun() -> gen_event:notify(yard_event, {work, 5}) end)}].
"""


def test_calls_and_casts_of_all_behaviours(t):
    """calllat: gen_server, gen_statem and gen_event; replies of another process; casts, equal ones among them; callers; calls longer than MS."""
    node = t.node()
    load(node, YARD)
    worker = named(node, node("etw:worker()"), "yard_one")
    node("yard:start()")
    node("ets:new(yard_times, [named_table, public])")
    text = script(t, node, "calllat.d", as_worker(worker, "ets:insert(yard_times, {times, yard:work()})"), "10")
    tables = {"SERVER": {}, "CALLER": {}, "CASTS": {}}
    for line in text.splitlines():
        words = line.split()
        if words[:1] and words[0] in ("SERVER", "CALLER"):
            table = tables["CASTS" if "CASTS" in words else words[0]]
        elif words[:1] and words[0].startswith("yard_") and words[-1].isdigit():
            names = [w for w in words if not w.isdigit() and w[0] != "<"]
            table[names[-1]] = (names[0], [int(w) for w in words if w.isdigit()])
    own = dict(zip(("yard_server", "yard_statem", "yard_event"), node("ets:lookup_element(yard_times, times, 2)")))
    for server, least, most in (("yard_server", 18000, 11000), ("yard_statem", 14000, 13000), ("yard_event", 18000, 17000)):
        called, cast = own[server]
        calls, queue, _, service, slowest = tables["SERVER"][server][1]
        # The calls that sys:suspend and the like make are no calls of the behaviour.
        t.equal(calls, 2, text)
        t.true(least <= 2 * (service + 1) and 2 * (queue + service) <= called and slowest >= most, f"{server}: queue {queue}, service {service}, slowest {slowest}; by its account {called}")
        casts, queue, longest = tables["CASTS"][server][1]
        t.equal(casts, 3, text)
        t.true(50000 + 55000 + 60000 <= 3 * (queue + 1) and 60000 <= longest <= cast, f"{server}: casts waited {queue} on average, at most {longest}; in all {cast}")
        who, (calls, waited, _) = tables["CALLER"][server]
        t.equal((who, calls), ("yard_one", 2), text)
        t.true(least <= 2 * (waited + 1) <= called + 2, f"{server}: a call took {waited} on average, both {called}")
    asked = re.findall(r"^\d{4} .*#Ref<[\d.]+>\]? yard_one asked (\w+) for (.*): queue \d+ us, service \d+ us$", text, re.M)
    t.true({("yard_server", "{work,11}"), ("yard_statem", "{work,13}"), ("yard_event", "{call,yard,{work,17}}")} <= set(asked), f"calls longer than 10 ms: {asked}")
    node("yard:stop()")


def failed(text):
    """The lines of calltimeouts: [caller, why, server, request]"""
    time = len("2026 Dec  1 04:02:06")
    return [re.split(r"  +", line[time:])[1:] for line in text.splitlines() if re.match(r"\d{4} ", line)]


def test_calls_that_time_out(t):
    """calltimeouts tells who asked whom for what, and why the call failed; a call that is answered has no line."""
    node, worker = ward(t)
    node("ward:start()")
    load(node, YARD)
    node("yard:start()")
    away = f"'nobody@{HOST}'"
    text = script(t, node, "calltimeouts.d", as_worker(worker, f"""ward:ask({{work, 300}}, 50), ward:ask({{work, 1}}, infinity),
        catch gen_server:call(nobody_here, hello),
        catch gen_statem:call(yard_statem, {{work, 9000}}, 30), catch gen_statem:call(yard_statem, {{work, 1}}, {{clean_timeout, 31}}),
        catch gen_event:call(yard_event, yard, {{work, 9000}}, 32), catch sys:get_state(yard_statem, 33),
        [begin M = monitor(process, S), exit(whereis(S), kill), receive {{'DOWN', M, _, _, _}} -> ok end end || S <- [yard_statem, yard_event]],
        catch erpc:call({away}, ward, gone, [1]), {{badrpc, nodedown}} = rpc:call({away}, ward, gone, [2]),
        {{'EXIT', {{boom, _}}}} = (catch erpc:call(node(), erlang, error, [boom]))"""))
    me, why = "ward_one", "timeout"
    node_text = f"nobody@{HOST}" if re.fullmatch(r"\w+", HOST) else away
    t.equal(sorted(failed(text)), sorted([[me, why, "ward", "{work,300}, 50 ms"], [me, "noproc", "nobody_here", "hello, 5000 ms"],
                           [me, why, "yard_statem", "{work,9000}, 30 ms"], [me, why, "yard_statem", "{work,1}, {clean_timeout,31} ms"],
                           [me, why, "yard_event", "{call,yard,{work,9000}}, 32 ms"], [me, why, "yard_statem", "get_state, 33 ms"],
                           [me, "noconnection", node_text, "ward:gone [1], infinity ms"],
                                          [me, "noconnection", node_text, "ward:gone [2], infinity ms"]]), text)


def test_calls_of_elixir_that_time_out(t):
    """calltimeouts: GenServer, Agent and Task, which do not go through gen_server:call."""
    node = elixir(t)
    node("[{module, _} = code:ensure_loaded(M) || M <- ['Elixir.GenServer', 'Elixir.Agent', 'Elixir.Task']], ok")
    load(node, MODULE)
    worker = named(node, node("etw:worker()"), "ward_one")
    node("ward:start()")
    text = script(t, node, "calltimeouts.d", as_worker(worker, """catch 'Elixir.GenServer':call(ward, {work, 300}, 50), catch 'Elixir.GenServer':call(nobody_here, hello),
        {ok, A} = 'Elixir.Agent':start(fun() -> 1 end, [{name, ward_agent}]), 1 = 'Elixir.Agent':get(A, fun(N) -> N end),
        catch 'Elixir.Agent':get(ward_agent, fun(_) -> timer:sleep(300) end, 40),
        catch 'Elixir.Task':await('Elixir.Task':async(ward, slow, [300, x]), 30)"""))
    found = {server: (caller, why, request) for caller, why, server, request in failed(text)}
    t.equal((found["ward"], found["nobody_here"], len(found)), (("ward_one", "timeout", "{work,300}, 50 ms"), ("ward_one", "noproc", "hello, 5000 ms"), 4), text)
    t.match(" ".join(found["ward_agent"]), r"^ward_one timeout \{get,#Fun<.*>\}, 40 ms$")
    task = next(server for server in found if server.startswith("Task.Supervised:reply/"))
    t.equal(found[task], ("ward_one", "timeout", "await {ward,slow,2}, 30 ms"), text)


def test_callers_that_give_up(t):
    """calllat: a caller that gives up has waited until then, and not until the late answer, which its server needs all the same."""
    node, worker = ward(t)
    node("ward:start()")
    text = script(t, node, "calllat.d", as_worker(worker, "ward:ask({work, 400}, 20), ward:ask({work, 1}, infinity)"), "10")
    tables = re.split(r"\n(?=SERVER|CALLER)", text)
    calls, *_, slowest = numbers(next(table for table in tables if table.startswith("SERVER") and "CALLS" in table), "ward ")
    t.true(calls == 2 and slowest >= 400000, f"the server: {calls} calls, at most {slowest} us; {text}")
    answered, gave_up = ([line.split() for table in tables for line in table.splitlines() if word in table.splitlines()[0] and line.startswith("ward_one ")]
                         for word in ("WAITED", "GAVE UP"))
    t.equal([row[:3] for row in answered + gave_up], [["ward_one", "ward", "1"], ["ward_one", "ward", "1"]], text)
    t.true(int(gave_up[0][3]) >= 20000, f"{gave_up}: not before its time; {text}")
    t.match(text, r"ward_one asked ward for \{work,400\}: gave up after \d+ us$")
    t.match(text, r"ward_one asked ward for \{work,400\}: queue \d+ us, service \d+ us, too late$")
    t.equal(gave_up[0][5:], ["1"], "answers that came too late")


def test_slow_calls_with_arguments(t):
    """slowargs: only the slow call, with its arguments and its result."""
    node, worker = ward(t)
    text = script(t, node, "slowargs.d", as_worker(worker, "[ward:slow(0, quick) || _ <- [1, 2, 3]], ward:slow(1200, <<\"SELECT 1\">>)"), "ward", "slow", "1000")
    lines = [line.split(None, 2) for line in text.splitlines() if line.startswith("ward_one ")]
    t.equal([(line[0], line[2]) for line in lines], [("ward_one", 'ward:slow/2 [1200,<<"SELECT 1">>] -> {slept,1200}')], text)


def test_who_sends(t):
    node, worker = ward(t)
    other = named(node, node("etw:worker()"), "ward_two")
    named(node, node("spawn(fun ward:sink/0)"), "ward_sink")
    text = script(t, node, "who.d", [as_worker(worker, "ward:talk(ward_sink, 100)"), as_worker(other, "ward:talk(ward_sink, 50)")])
    rows = {tuple(w[:2]): w[2:] for w in (line.split() for line in text.splitlines()) if len(w) == 5 and w[0] == "ward_sink"}
    each = node("erts_debug:flat_size({news, lists:seq(1, 10)})") * 8
    t.equal(rows, {("ward_sink", p): [str(n), str(n * each), str(each)] for p, n in (("ward_one", 100), ("ward_two", 50))}, text)


def test_rows_are_whole(t):
    """who: of more pairs than it shows, those with most bytes, each with its own numbers in all columns."""
    node, worker = ward(t)
    node("[register(list_to_atom(\"ward_sink_\" ++ integer_to_list(I)), spawn(fun ward:sink/0)) || I <- lists:seq(1, 40)], ok")
    text = script(t, node, "who.d", as_worker(worker, "[ward:talk(list_to_existing_atom(\"ward_sink_\" ++ integer_to_list(I)), I) || I <- lists:seq(1, 40)]"))
    rows = [line.split() for line in text.splitlines() if len(line.split()) == 5 and not line.startswith("RECEIVER")]
    each = node("erts_debug:flat_size({news, lists:seq(1, 10)})") * 8
    found = [int(row[0].rsplit("_", 1)[1]) for row in rows if row[0].startswith("ward_sink_")]
    t.true(len(rows) == 30 and len(found) > 20 and found == list(range(40, 40 - len(found), -1)), f"the largest first: {text}")
    t.equal([row[2:] for row in rows if row[0].startswith("ward_sink_")], [[str(i), str(i * each), str(each)] for i in found], text)


def test_messages_to_other_nodes(t):
    """distsends: the small messages with their bytes, and the large ones, of which the VM makes no event."""
    node, worker = ward(t)
    other = t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    far = node(f"spawn('{other.name}', timer, sleep, [infinity])")
    text = script(t, node, "distsends.d", as_worker(worker, f"Far = {pid(far)}, [begin Far ! lists:seq(1, 600000), Far ! {{small, I}} end || I <- lists:seq(1, 5)]"))
    sent, parts, _ = (table for table in re.split(r"\n(?=SENDER|BUSY)", text) if "SENDER" in table)
    t.equal([line.split()[2:] for line in sent.splitlines() if line.startswith("ward_one ")], [["5", str(5 * 8 * 3)]], text)
    count, slices, longest = numbers(parts, "ward_one ")
    t.true(count == 5 and slices >= 5 and longest > 0, text)


def test_messages_elsewhere(t):
    """who and messages: those that went to other nodes are counted, and it is said that there may be more."""
    node, worker = ward(t)
    told = r"^(\d+) of all messages went to other nodes; distsends"
    connected = node("nodes() =/= []")
    alone = {name: script(t, node, name, as_worker(worker, "[self() ! I || I <- lists:seq(1, 5)]")) for name in ("who.d", "messages.d")}
    other = t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    far = node(f"spawn('{other.name}', timer, sleep, [infinity])")
    for name, text in alone.items():
        t.true(connected or re.findall(told, text, re.M) == [], text)
        text = script(t, node, name, as_worker(worker, f"[{pid(far)} ! I || I <- lists:seq(1, 97)]"))
        found = re.findall(told, text, re.M)
        t.true(len(found) == 1 and int(found[0]) >= 97, text)  # OTP's own are among them


def test_messages_that_are_held_up(t):
    """distsends: of 1 kB, 1 MB and 10 MB, over an idle connection and to a node that has stopped, what is seen and what is told are all that was sent, if
    another message lies between two that are held up."""
    node, one = ward(t)
    two = named(node, node("etw:worker()"), "ward_two")
    other = t.node(fresh=True)
    node(f"net_kernel:connect_node('{other.name}')")
    far, process = node(f"spawn('{other.name}', timer, sleep, [infinity])"), other("list_to_integer(os:getpid())")
    send = " ".join(f"""Far = {pid(far)}, [begin [Far ! binary:copy(<<1>>, Size) || Size <- [1000, 1000000]], Far ! {{small, I}}, Far ! binary:copy(<<1>>, 10000000),
        Far ! {{small, I}} end || I <- lists:seq(1, 5)]""".split())
    for stopped in (False, True):
        trace = t.trace("-q", "-n", READY, "-s", os.path.join(ROOT, "scripts", "distsends.d"), node=node)
        trace.ready()
        if stopped:
            os.kill(process, signal.SIGSTOP)
            try:
                node(f"etw:order({pid(one)}, fun() -> {send} end)")
                suspended(node, one)
                node(f"{pid(two)} ! {{self(), r, fun() -> [begin {pid(far)} ! {{small, I}}, self() ! I end || I <- [1, 2, 3]] end}}, ok")
                suspended(node, two)
            finally:
                os.kill(process, signal.SIGCONT)
            node("etw:answer()")
            node("receive {r, L} -> L end")
        else:
            node(as_worker(one, send))
        trace.interrupt()
        t.equal(trace.end(), 0, "exit status", trace)
        sent, parts, busy = (table for table in re.split(r"\n(?=SENDER|BUSY)", trace.out.text()) if "SENDER" in table)
        said = {name: sum(int(line.split()[column]) for table, column in ((sent, 2), (parts, 1)) for line in table.splitlines() if line.startswith(name + " "))
                for name in ("ward_one", "ward_two")}
        t.equal(said["ward_one"], 25, "messages", trace)
        t.true(numbers(parts, "ward_one ")[0] >= 5, "in parts", trace)
        if stopped:
            waits = dict(re.findall(rf"^{re.escape(other.name)} +(ward_\w+) +(\d+)$", busy, re.M))
            t.equal(sorted(waits), ["ward_one", "ward_two"], "who waits", trace)
            t.true(said["ward_two"] <= 3 <= said["ward_two"] + int(waits["ward_two"]), "each of the small ones is seen, or its sender's wait is", trace)


def suspended(node, process):
    """Waits until a process is held up."""
    while node(f"element(2, process_info({pid(process)}, status))") != "suspended":
        pass


def test_what_grows(t):
    """leak: the process whose heap grows, and the one whose binaries grow."""
    node, heap = ward(t)
    binaries = named(node, node("etw:worker()"), "ward_two")
    text = script(t, node, "leak.d", [as_worker(heap, "ward:hoard(20, [])"), as_worker(binaries, "ward:keep(20, [])")])
    tables = re.split(r"\n(?=\S+ +GROWTH)", text)
    grown = {re.match(r"\s*(\S+)", table)[1]: [line.split()[0] for line in table.splitlines()[1:] if line.startswith("ward_")] for table in tables}
    t.equal((grown["HEAP"][0], grown["BINARIES"][0]), ("ward_one", "ward_two"), text)


def test_state_at_each_call(t):
    node, worker = ward(t)
    node("ward:start()")
    found = counted(t, node, "erlang*:ward:handle_call/3:entry { @[term_text(argv[0]), term_size(argv[2])] = count(); }",
                    as_worker(worker, "ward:asks(ward, [1, 1, 2])"))
    t.equal(found, {("{work,1}", "0"): 1, ("{work,1}", "1"): 1, ("{work,2}", "2"): 1}, "requests, and how long the state was")


def test_slow_query_by_its_text(t):
    node, worker = ward(t)
    found = counted(t, node, "erlang*:ward:slow/2:entry { self->q = term_string(argv[1]); } erlang*:ward:slow/2:return { @[self->q] = count(); }",
                    as_worker(worker, "[ward:slow(1, Q) || Q <- [<<\"INSERT\">>, <<\"UPDATE\">>, <<\"INSERT\">>]]"))
    t.equal(found, {"INSERT": 2, "UPDATE": 1}, "queries")


def test_whose_queue_grows(t):
    """mboxtop: a process that takes nothing out of its queue, while others do."""
    node, worker = ward(t)
    named(node, node("spawn(fun ward:pile/0)"), "ward_pile")
    trace = t.trace("-q", "-n", READY, "-s", os.path.join(ROOT, "scripts", "mboxtop.d"), node=node)
    trace.ready()
    seen = 0
    for n in (500, 1000, 1500):
        node(as_worker(worker, f"[ward_pile ! I || I <- lists:seq(1, 500)], ward:asks(ward:start(), [1, 1])"))
        seen = trace.wait(rf"^ward_pile +<[\d.]+> +{n} +\d+$", start=seen)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_which_processes_make_schedulers_uneven(t):
    """uneven: the reductions of the process that works are those that it counts itself, over all schedulers; they are most of one's."""
    node, worker = ward(t)
    node("ets:new(ward_reds, [named_table, public])")
    text = script(t, node, "uneven.d", as_worker(worker, "ward:reds(ward_reds, 3000000)"))
    counted_itself = node("ets:lookup_element(ward_reds, reds, 2)")
    busy, by_time, by_work = (table.splitlines() for table in re.split(r"\n(?=SCHEDULER)", text.strip())[1:])
    t.true(len(busy) > 1 and all(re.fullmatch(r"[a-z-]+ +\d+ +\d+", line) for line in busy[1:]), f"schedulers: {busy}")
    t.true(any(line.split()[2] == "ward_one" for line in by_time[1:]), f"by time: {by_time}")
    reds = sum(int(line.split()[3]) for line in by_work[1:] if line.split()[2] == "ward_one")
    t.true(counted_itself > 3000000 and counted_itself <= reds <= counted_itself + 10000, f"{reds} reductions; it has counted {counted_itself}")


def test_hot_tables(t):
    """tables: uses by table and process; the names and owners of tables that are known by a reference, whether they are older or made meanwhile."""
    node, worker = ward(t)
    # Large ones: only the twenty largest are shown.
    node("spawn(fun() -> Old = ets:new(ward_old, [public]), ets:new(ward_named, [named_table, public]), ets:insert(ward_named, {old, Old}), "
         "[ets:insert(T, {large, lists:seq(1, 5000)}) || T <- [Old, ward_named]], register(ward_keeper, self()), receive stop -> ok end end)")
    while node("whereis(ward_keeper)") is None:
        pass
    text = script(t, node, "tables.d", as_worker(worker, "put(tables, ward:tables(ward_named, ets:lookup_element(ward_named, old, 2)))"))
    old, new = node(f"begin {{_, D}} = process_info({pid(worker)}, dictionary), {{A, B}} = proplists:get_value(tables, D), "
                    "{list_to_atom(ref_to_list(A)), list_to_atom(ref_to_list(B))} end")
    rows = [tuple(re.split(r" {2,}", line.strip())) for line in text.splitlines()]
    for row in (("ward_named", "lookup/2", "11"), ("ward_named", "insert/2", "7"), ("ward_named", "member/2", "13"), ("ward_named", "ward_one", "32"),
                ("ward_old " + old, "lookup/2", "5"), ("ward_new " + new, "insert/2", "3"), ("ward_named", "21"), ("ward_new " + new, "9")):
        t.true(row in rows, f"{row} in\n{text}")
    owned = {row[0]: row[1] for row in rows[rows.index(("TABLE", "OWNED BY", "WORDS", "OBJECTS")):] if len(row) == 4}
    t.equal([owned.get(name) for name in ("ward_named", "ward_old " + old)], ["ward_keeper"] * 2, text)


def test_queues_of_the_idle(t):
    """mboxtop: a process that does nothing, with what is in its queue; none of those that ask for it."""
    node, _ = ward(t)
    idle = node("spawn(timer, sleep, [infinity])")
    node(f"[{pid(idle)} ! I || I <- lists:seq(1, 503)], ok")
    trace = t.trace("-q", "-n", READY, "-s", os.path.join(ROOT, "scripts", "mboxtop.d"), node=node)
    for _ in range(3):
        at = trace.wait("^PROCESS +MESSAGES +GROWTH$", start=len(trace.out.lines))
        trace.wait(rf"{re.escape(idle)} +503 +0$", start=at)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    t.true("erl_eval:exprs" not in trace.out.text(), "the helpers of the agent", trace)
    node(f"exit({pid(idle)}, kill)")


def test_beside_another(t):
    """A trace that begins sends its messages past the node's own servers: another one does not count theirs."""
    node, _ = ward(t)
    trace = t.trace("-q", "-n", READY + 'erlang*:::message-send /erlname(arg1) == "erltrace_agent"/ { @[erlname] = count(); } END { printa("%s %@d\\n", @); }',
                    node=node)
    trace.ready()
    status, _, err = t.run("-q", "-n", "erlang*:lists:*:entry { @ = count(); } tick-50ms { exit(0); }", "--node", node.name, "--cookie", node.cookie)
    t.equal(status, 0, err)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)
    senders = {line.split()[0] for line in trace.out.lines if line and line != "ready"}
    t.true(senders and "code_server" not in senders, f"senders to the agent: {senders}", trace)


def test_crashes(t):
    """crashes: who ended abnormally, why, whose child it was, and who was linked to it."""
    node, _ = ward(t)
    named(node, node("spawn(fun ward:family/0)"), "ward_family")
    text = script(t, node, "crashes.d", "ward_family ! {now, self()}, receive done -> ok end")
    rows = [tuple(re.split(r" {2,}", line.strip())) for line in text.splitlines()]
    mine = sorted(row[1:] for row in rows if row[0].startswith("ward:"))
    t.equal(mine, [("bored", "ward_family", "1"), ("old_age", "-", "1"), ("{bad,thing}", "ward_family", "1")], text)
    t.equal(sorted(row[2] for row in rows if row[0] == "ward_family"), ["1", "1", "1"], text)


def test_long_collections(t):
    """long: whose collection it was. Two million live cells take longer than a millisecond to copy."""
    node, worker = ward(t)
    trace = t.trace("-q", "-x", "longgc=1ms", "-n", READY, "-s", os.path.join(ROOT, "scripts", "long.d"), node=node)
    trace.ready()
    node(as_worker(worker, "ward:collect(2000000)"))
    trace.wait(rf"{re.escape(worker)} +ward_one +collected for \d+ ms, (\d{{8,}}|[4-9]\d{{6}}) words are left")
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_message_sizes(t):
    node, worker = ward(t)
    named(node, node("spawn(fun ward:sink/0)"), "ward_sink")
    found = counted(t, node, "erlang*:::message-send /erlname(arg1) == \"ward_sink\"/ { @[erlname, arg2] = count(); }",
                    as_worker(worker, "ward_sink ! lists:seq(1, 100), ward_sink ! {small}, ward:talk(ward_sink, 3), ward_sink ! atom"))
    sizes = [node(f"erts_debug:flat_size({m})") for m in ("lists:seq(1, 100)", "{small}", "{news, lists:seq(1, 10)}", "atom")]
    t.equal(found, {("ward_one", str(size)): n for size, n in zip(sizes, (1, 1, 3, 1))}, "messages by size in words")


def test_the_stack_of_the_slow_process(t):
    """stacks: where a process is that works for long, by its name."""
    node, worker = ward(t)
    text = script(t, node, "stacks.d", as_worker(worker, "ward:work(20000000)"))
    t.match(text, r"ward_one +\n *ward:toil/1\n *ward:work/1 \(ward\.erl:\d+\)\n(.*\n)*? +\d+\n")
