#!/bin/sh
# call_time_follows_the_thrower.sh: after an exception, the trace pattern `call_time` charges the time of the function that caught it to the function
# that raised it. Erlang/OTP 25.2.3 (erts 13.1.5), as Debian 12 packs it.
#
# outer/1 calls thrower/1, which throws at once. outer/1 catches that, and then computes for a tenth of a second. Both functions have call_time.
# thrower/1 gets the tenth of a second, and outer/1 next to nothing. Without the exception (thrower/1 returns), outer/1 gets it. So a profile by
# call_time (eprof, and tools made like it) shows the function that raised an exception as slow, not the one that was.
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
-export([main/0, outer/1, thrower/1]).
main() ->
    Thrown = charged(throw),
    Returned = charged(return),
    io:format("OTP ~s, erts ~s~nmicroseconds of {outer, thrower}: ~p when it throws, ~p when it returns~n",
              [erlang:system_info(otp_release), erlang:system_info(version), Thrown, Returned]),
    {ThrownOuter, ThrownThrower} = Thrown,
    {ReturnedOuter, ReturnedThrower} = Returned,
    halt(case ThrownThrower > 10 * ThrownOuter andalso ReturnedOuter > 10 * ReturnedThrower of true -> 0; false -> 1 end).
%% The processor time of each function in a process that calls outer/1 once.
charged(How) ->
    Functions = [{?MODULE, outer, 1}, {?MODULE, thrower, 1}],
    [1 = erlang:trace_pattern(F, true, [call_time]) || F <- Functions],
    Main = self(),
    P = spawn(fun() -> receive go -> ok end, outer(How), Main ! done, receive stop -> ok end end),
    1 = erlang:trace(P, true, [call]),
    P ! go,
    receive done -> ok end,
    Times = [begin {call_time, [{P, 1, S, Us}]} = erlang:trace_info(F, call_time), S * 1000000 + Us end || F <- Functions],
    [erlang:trace_pattern(F, false, [call_time]) || F <- Functions],
    P ! stop,
    list_to_tuple(Times).
outer(How) ->
    try ?MODULE:thrower(How) catch throw:thrown -> ok end,
    compute(erlang:monotonic_time(millisecond) + 100),
    ok.
thrower(throw) -> throw(thrown);
thrower(return) -> ok.
compute(Until) ->
    case erlang:monotonic_time(millisecond) of
        Now when Now < Until -> compute(Until);
        _ -> ok
    end.
ERL
PATH="$root/bin:$PATH"
erl -noshell -eval "{ok, M} = compile:file(finding), M:main()."
