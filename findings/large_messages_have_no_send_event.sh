#!/bin/sh
# large_messages_have_no_send_event.sh: the trace flag `send` does not report every message. Erlang/OTP 25.2.3 (erts 13.1.5), as Debian 12 packs it.
#
# A process that is traced with `send` and `running` sends four messages to a process of another node: a small one, a list of 600,000 integers, a
# small one, and the list again. All four arrive. The events name the two small ones only. For a message that is too large to be encoded in one slice
# of the scheduler, the VM makes no `send` event at all; what shows it is that the sender is scheduled out and in at
# erts_internal:dsend_continue_trap/1, some ten times a message. (The flag's description has no such exception.)
#
# Prints what it saw. Exit status: 0, as above; 1, it has changed; 75, the package cannot be had.
set -eu
version=1:25.2.3+dfsg-1+deb12u4
work=$(mktemp -d)
trap '"$work"/epmd -kill >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
cd "$work"
apt-get download "erlang-base=$version" >/dev/null 2>&1 || { echo "erlang-base $version cannot be downloaded"; exit 75; }
dpkg-deb -x erlang-base_*.deb .
root="$work/usr/lib/erlang"
sed -i "s|/usr/lib/erlang|$root|g" "$root/bin/erl"
export HOME="$work" ERL_EPMD_RELAXED_COMMAND_CHECK=1 ERL_EPMD_PORT=$((20000 + $$ % 9000))
ln -s "$root"/erts-*/bin/epmd epmd
cat >finding.erl <<'ERL'
-module(finding).
-export([main/0, sink/1]).
sink(To) -> receive {stop, T} -> T ! stopped; M -> To ! {arrived, element(1, M)}, sink(To) end.
main() ->
    {ok, _, Node} = peer:start(#{name => other, args => ["-pa", "."]}),
    Sink = spawn(Node, finding, sink, [self()]),
    Tracer = spawn(fun() -> collect([]) end),
    Large = lists:seq(1, 600000),
    Sender = spawn(fun() -> receive go -> [Sink ! M || M <- [{one, 1}, {two, Large}, {three, 3}, {four, Large}]] end end),
    1 = erlang:trace(Sender, true, [send, running, {tracer, Tracer}]),
    Sender ! go,
    Arrived = [receive {arrived, M} -> M end || _ <- [1, 2, 3, 4]],
    Delivered = erlang:trace_delivered(all), receive {trace_delivered, all, Delivered} -> ok end,
    Tracer ! {get, self()},
    Events = receive {events, L} -> L end,
    Sent = [element(1, M) || {trace, _, send, M, _} <- Events],
    Slices = length([x || {trace, _, out, {erts_internal, dsend_continue_trap, 1}} <- Events]),
    io:format("OTP ~s, erts ~s~narrived: ~p~nsend events: ~p~nscheduled out in dsend_continue_trap/1: ~p times~n",
              [erlang:system_info(otp_release), erlang:system_info(version), Arrived, Sent, Slices]),
    halt(case {Arrived, Sent, Slices > 2} of {[one, two, three, four], [one, three], true} -> 0; _ -> 1 end).
collect(L) -> receive {get, To} -> To ! {events, lists:reverse(L)}; E -> collect([E | L]) end.
ERL
PATH="$root/bin:$PATH"
erl -noshell -sname finding -eval "{ok, M} = compile:file(finding), M:main()."
