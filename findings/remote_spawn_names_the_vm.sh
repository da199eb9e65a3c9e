#!/bin/sh
# remote_spawn_names_the_vm.sh: for a process that another node spawns, the trace event `spawned` names a function of the VM, not the one that was
# asked for. Erlang/OTP 25.2.3 (erts 13.1.5), as Debian 12 packs it.
#
# {trace, Pid, spawned, Parent, MFA} is described as having the function that the process begins with, {M, F, Args}. Of spawn(Node, lists, reverse,
# [[1, 2]]) the node in which the process lives reports {erts_internal, dist_spawn_init, [{lists, reverse, 1}]}: the function stands, with its arity
# and without its arguments, in the list of arguments. process_info(Pid, initial_call) of the same process has {lists, reverse, 1}. Of a fun it is
# {erlang, apply, 2}, and of erpc:call/4 {erpc, execute_call, 4}, whatever is called.
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
-export([main/0, watch/1]).
watch(To) -> erlang:trace(new_processes, true, [procs]), To ! {watching, self()}, tell(To).
tell(To) -> receive {trace, P, spawned, _, MFA} -> To ! {born, MFA, process_info(P, initial_call)}, tell(To); _ -> tell(To) end.
main() ->
    {ok, _, Node} = peer:start(#{name => other, args => ["-pa", "."]}),
    W = spawn(Node, finding, watch, [self()]),
    receive {watching, W} -> ok end,
    Born = fun(F) -> F(), receive {born, MFA, Initial} -> {MFA, Initial} end end,
    Seen = [Born(fun() -> spawn(Node, timer, sleep, [2000]) end), Born(fun() -> spawn(Node, fun() -> timer:sleep(2000) end) end),
            Born(fun() -> erpc:send_request(Node, timer, sleep, [2000]) end)],
    io:format("OTP ~s, erts ~s~n", [erlang:system_info(otp_release), erlang:system_info(version)]),
    [io:format("spawned: ~p, process_info: ~p~n", [MFA, Initial]) || {MFA, Initial} <- Seen],
    Expected = [{{erts_internal, dist_spawn_init, [F]}, {initial_call, F}} || F <- [{timer, sleep, 1}, {erlang, apply, 2}, {erpc, execute_call, 4}]],
    halt(case Seen of Expected -> 0; _ -> 1 end).
ERL
PATH="$root/bin:$PATH"
erl -noshell -sname finding -eval "{ok, M} = compile:file(finding), M:main()."
