#!/bin/sh
# receive_timeouts_are_messages.sh: a `receive ... after` whose time is over is reported by the trace flag `receive` as a message. Erlang/OTP 25.2.3
# (erts 13.1.5), as Debian 12 packs it.
#
# A process lets three receives time out, and then sends itself the atom timeout twice. The tracer gets five events, `{trace, Pid, 'receive',
# timeout}`, which are all alike. So whoever counts received messages counts time-outs, too. What tells them apart is a match specification of
# trace_pattern('receive', ...): it sees the atom clock_service as the node of a time-out, and undefined as its sender. (The manual describes the node
# and the sender of messages only.)
#
# Prints what it saw. Exit status: 0, as above; 1, it has changed; 75, the package cannot be had.
set -eu
version=1:25.2.3+dfsg-1+deb12u4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download "erlang-base=$version" >/dev/null 2>&1 || { echo "erlang-base $version cannot be downloaded"; exit 75; }
dpkg-deb -x erlang-base_*.deb .
root="$work/usr/lib/erlang"
sed -i "s|/usr/lib/erlang|$root|g" "$root/bin/erl"
export HOME="$work"
cat >finding.erl <<'ERL'
-module(finding).
-export([main/0]).
main() ->
    Plain = traced(true),
    Told = traced([{['$1', '$2', '_'], [], [{message, {{'$1', '$2'}}}]}]),
    Alike = lists:usort([erlang:delete_element(2, E) || E <- Plain]),
    From = [case element(5, E) of {Node, P} when is_pid(P) -> {Node, a_process}; Other -> Other end || E <- Told],
    io:format("OTP ~s, erts ~s~nevents: ~p, different ones: ~p~nnodes and senders: ~p~n",
              [erlang:system_info(otp_release), erlang:system_info(version), length(Plain), Alike, From]),
    Out = {clock_service, undefined},
    Sent = {node(), a_process},
    halt(case {length(Plain), Alike, From} of {5, [{trace, 'receive', timeout}], [Out, Out, Out, Sent, Sent]} -> 0; _ -> 1 end).
traced(Pattern) ->
    erlang:trace_pattern('receive', Pattern, []),
    {P, Monitor} = spawn_monitor(fun() ->
                                     receive go -> ok end,
                                     [receive never -> ok after 1 -> ok end || _ <- [1, 2, 3]],
                                     [self() ! timeout || _ <- [1, 2]],
                                     [receive timeout -> ok end || _ <- [1, 2]]
                                 end),
    1 = erlang:trace(P, true, ['receive', {tracer, self()}]),
    P ! go,
    receive {'DOWN', Monitor, process, P, _} -> ok end,
    Delivered = erlang:trace_delivered(all), receive {trace_delivered, all, Delivered} -> ok end,
    [E || E <- events(), element(4, E) =:= timeout].
events() -> receive E when element(1, E) =:= trace -> [E | events()] after 0 -> [] end.
ERL
PATH="$root/bin:$PATH"
erl -noshell -eval "{ok, M} = compile:file(finding), M:main()."
