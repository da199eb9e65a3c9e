#!/bin/sh
# call_count_counts_hidden_processes.sh: `process_flag(sensitive, true)` hides a process's calls from tracers, not from the trace pattern `call_count`.
# Erlang/OTP 25.2.3 (erts 13.1.5), as Debian 12 packs it.
#
# A process makes itself sensitive and calls a function 1,000 times. The function has a meta trace pattern, which sees the calls of all processes, and
# call_count. The meta tracer gets no message, and call_count is 1,000. So the numbers of a call counter and of a tracer of the same function differ, and
# a tracer that hides its own processes in this way still counts itself.
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
-export([main/0, called/0]).
main() ->
    Open = counted(false),
    Hidden = counted(true),
    io:format("OTP ~s, erts ~s~n{events, call_count}: ~p of a process, ~p of a sensitive one~n",
              [erlang:system_info(otp_release), erlang:system_info(version), Open, Hidden]),
    halt(case {Open, Hidden} of {{1000, 1000}, {0, 1000}} -> 0; _ -> 1 end).
counted(Sensitive) ->
    Function = {?MODULE, called, 0},
    Main = self(),
    1 = erlang:trace_pattern(Function, true, [{meta, Main}]),
    1 = erlang:trace_pattern(Function, true, [call_count]),
    {P, Monitor} = spawn_monitor(fun() -> process_flag(sensitive, Sensitive), [?MODULE:called() || _ <- lists:seq(1, 1000)] end),
    receive {'DOWN', Monitor, process, P, normal} -> ok end,
    Delivered = erlang:trace_delivered(all), receive {trace_delivered, all, Delivered} -> ok end,
    {call_count, N} = erlang:trace_info(Function, call_count),
    erlang:trace_pattern(Function, false, [meta, call_count]),
    {events(P), N}.
events(P) -> receive {trace_ts, P, call, _, _} -> 1 + events(P) after 0 -> 0 end.
called() -> ok.
ERL
PATH="$root/bin:$PATH"
erl -noshell -eval "{ok, M} = compile:file(finding), M:main()."
