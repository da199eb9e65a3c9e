#!/bin/sh
# escript_name_is_argv_0.sh: an Erlang VM does not have to look like one in a list of processes. Erlang/OTP 25.2.3 (erts 13.1.5), as Debian 12
# packs it.
#
# Programs that look for VMs by the first word of /proc/PID/cmdline look for beam.smp. erlexec, through which `erl` and release scripts start the
# emulator, uses the environment variable ESCRIPT_NAME, which the start scripts of rebar3's releases set, as that word in its place: the words behind
# it are the emulator's usual ones. /proc/PID/exe and /proc/PID/comm still name beam.smp.
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
ask='{ok, F} = file:read_file("/proc/self/cmdline"), [First, Second | _] = binary:split(F, <<0>>, [global]),
    {ok, Exe} = file:read_link("/proc/" ++ os:getpid() ++ "/exe"), {ok, Comm} = file:read_file("/proc/" ++ os:getpid() ++ "/comm"),
    io:format("~s | ~s | ~s | ~s", [First, Second, filename:basename(Exe), string:trim(Comm)]), halt().'
erl="$root/bin/erl"
usual=$("$erl" -noshell -eval "$ask")
named=$(ESCRIPT_NAME=/opt/shop/bin/shop "$erl" -noshell -eval "$ask")
echo "first word | second word | exe | comm"
echo "without ESCRIPT_NAME: $usual"
echo "with it:              $named"
case "$usual" in */beam.smp' | -- | beam.smp | beam.smp') ;; *) exit 1 ;; esac
[ "$named" = '/opt/shop/bin/shop | -- | beam.smp | beam.smp' ]
