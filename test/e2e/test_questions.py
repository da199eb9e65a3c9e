"""What operators ask, answered by a ready script or by one line, in a node that knows the answer: its own account is what is compared.

The scripts are those of scripts/; doc/start.md has the lines."""
import os
import re

from erlt import READY, ROOT, pid
from test_functions import as_worker, counted, load

MODULE = """-module(ward). -behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, start/0, ask/2, asks/2, slow/2, talk/2, sink/0, hoard/2, keep/2, work/1, toil/1, pile/0]).
start() -> case gen_server:start({local, ward}, ward, [], []) of {ok, P} -> P; {error, {_, P}} -> gen_server:call(P, spent), P end.
init([]) -> {ok, []}.
handle_call({work, Ms}, _, Spent) ->
    T = now_us(), timer:sleep(Ms), {reply, {done, Ms}, [now_us() - T | Spent]};
handle_call(spent, _, Spent) -> {reply, Spent, []}.
handle_cast(_, S) -> {noreply, S}.
now_us() -> erlang:monotonic_time(microsecond).
%% How long the calls took, in microseconds, as the callers see it.
asks(Server, Works) -> [begin T = now_us(), {done, Ms} = gen_server:call(Server, {work, Ms}), now_us() - T end || Ms <- Works].
ask(Request, Timeout) -> catch gen_server:call(ward, Request, Timeout).
slow(Ms, _) -> timer:sleep(Ms), {slept, Ms}.
talk(To, N) -> [To ! {news, lists:seq(1, 10)} || _ <- lists:seq(1, N)], ok.
sink() -> receive stop -> ok; _ -> sink() end.
%% A process whose heap, or whose binaries, grow: N steps, each with a collection.
hoard(0, L) -> L;
hoard(N, L) -> erlang:garbage_collect(), hoard(N - 1, [lists:seq(1, 1000) | L]).
%% Takes nothing out of its queue. (Compiled: from OTP 27 on the VM crashes when it tells that a process runs that waits in erl_eval's receive.)
pile() -> receive stop -> ok after 20 -> pile() end.
%% Work of a process that waits nowhere.
work(N) -> {worked, toil(N)}.
toil(0) -> 0;
toil(N) -> toil(N - 1).
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
    return [int(word) for word in line[len(first):].split()]


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
    t.true(spent <= 3 * (service + 1) <= waited + 3, f"service {service} us on average; the server took {spent} in all, the callers waited {waited}")
    t.true(3 * (queue + service) <= waited, f"queue {queue} and service {service} us make up what callers waited, {waited}")
    t.true(slowest >= 100000 and longest <= waited, f"longest {longest}, slowest {slowest}")
    # Three at once: the second waits for the first, the third for both.
    node("ets:insert(ward_times, {all, [spawn(fun() -> receive go -> ets:insert(ward_times, {self(), ward:asks(ward, [100])}) end end) || _ <- [1, 2, 3]]})")
    text = script(t, node, "calllat.d", "Down = [begin M = monitor(process, P), P ! go, M end || P <- ets:lookup_element(ward_times, all, 2)], "
                                        "[receive {'DOWN', M, _, _, _} -> ok end || M <- Down], ok")
    calls, queue, longest, service, slowest = numbers(text, "ward ")
    t.equal(calls, 3, "calls at once")
    t.true(100000 <= service and 100000 <= longest and queue >= 33000, f"queue {queue} us on average, at most {longest}; service {service}")


def test_calls_that_time_out(t):
    """calltimeouts tells who asked whom for what, and why the call failed."""
    node, worker = ward(t)
    node("ward:start()")
    text = script(t, node, "calltimeouts.d", as_worker(worker, "ward:ask({work, 300}, 50), ward:ask({work, 1}, infinity), catch gen_server:call(nobody_here, hello)"))
    failed = [line.split(None, 4)[4].split() for line in text.splitlines() if re.match(r"\d{4} ", line)]
    me = "ward_one"
    t.equal(failed, [[me, "timeout", "[ward,{work,300},50]"], [me, "noproc", "[nobody_here,hello]"]], text)


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
        seen = trace.wait(rf"^ward_pile +{n} +\d+$", start=seen)
    trace.interrupt()
    t.equal(trace.end(), 0, "exit status", trace)


def test_who_makes_schedulers_busy(t):
    node, worker = ward(t)
    idle = node("etw:worker()")
    found = counted(t, node, """erlang*:::process-scheduled { self->t = timestamp; }
        erlang*:::process-unscheduled /self->t/ { @[args[0]] = sum(timestamp - self->t); self->t = 0; }""",
                    [as_worker(worker, "lists:sum(lists:seq(1, 3000000))"), as_worker(idle, "ok")])
    t.true(found[worker] > 0 < found[idle], f"{found[worker]} ns of work, {found[idle]} ns of next to none")


def test_the_stack_of_the_slow_process(t):
    """stacks: where a process is that works for long, by its name."""
    node, worker = ward(t)
    text = script(t, node, "stacks.d", as_worker(worker, "ward:work(20000000)"))
    t.match(text, r"ward_one +\n *ward:toil/1\n *ward:work/1\n(.*\n)*? +\d+\n")
