%% Scripts of the kernel, and of a node and the kernel. Where the kernel cannot be traced they are skipped (erltrace_test).
%%
%% A script finds what a test does by a path that nothing else names: the processes of a test may have other numbers in the kernel.
-module(erltrace_kernel_tests).
-include_lib("eunit/include/eunit.hrl").

-export([link/0]).

-import(erltrace_test, [trace/1, trace/2, await/1, clean/0, clean/1]).

-define(NOWHERE, "/nonexistent/et-erlang").
-define(AT_LINK, "syscall::readlink:entry /copyinstr(arg0) == \"" ?NOWHERE "\"/ ").

link() -> prim_file:read_link(?NOWHERE).

links(N) -> [{error, enoent} = ?MODULE:link() || _ <- lists:seq(1, N)].

%% What is left after the end: all aggregations by name, and all records.
results(H) ->
    ok = erltrace:stop(H),
    {ok, Named} = erltrace:walk(H, [keep, named]),
    {maps:from_list(Named), records(H, [])}.

records(H, Found) ->
    case erltrace:consume(H) of
        {ok, Items} -> records(H, Found ++ Items);
        ok -> records(H, Found);
        {error, stopped} -> Found
    end.

%% The default: the handle of this node, which a script of the kernel leaves alone.
own_node_test() ->
    H = trace(?AT_LINK "{ @calls[probefunc] = count(); @stacks[ustack(2)] = count(); printf(\"link %s\", copyinstr(arg0)); } BEGIN { trace($target); }"),
    ?assertMatch({ok, #{state := running}}, erltrace:status(H)),
    clean(node()), % nothing is set in it
    links(97),
    {Found, Items} = results(H),
    ?assertMatch(#{"calls" := [{count, ["readlink"], 97}]}, Found),
    [?assertMatch({count, [[[_ | _] | _]], _}, E) || E <- maps:get("stacks", Found)],
    ?assertEqual(97, lists:sum([N || {count, _, N} <- maps:get("stacks", Found)])),
    ?assertEqual([{printf, "link " ?NOWHERE}], lists:usort([{printf, Text} || {printf, {syscall, _, readlink, entry}, Text} <- Items])),
    Pid = list_to_integer(os:getpid()),
    ?assertMatch([{probe, {dtrace, '', '', 'BEGIN'}, Pid}], [I || {probe, _, _} = I <- Items]),
    ok = erltrace:close(H).

%% No node at all, results as binaries.
kernel_test() ->
    H = trace(?AT_LINK "{ @[probefunc] = quantize(arg1 * 0 + 7); }", #{node => kernel, strings => binary}),
    links(97),
    ?assertMatch({#{<<"_">> := [{quantize, [<<"readlink">>], [{{4, 7}, 97}]}]}, []}, results(H)),
    ok = erltrace:close(H).

%% All at once.
run_test() ->
    Worker = spawn_link(fun F() -> links(1), F() end),
    {ok, #{aggregations := [{"_", [{count, [], 97}]}], status := #{state := done, exited := true}}} =
        erltrace:run("BEGIN { n = 0; } syscall::readlink:entry /n < 97 && copyinstr(arg0) == \"" ?NOWHERE "\"/ { n++; @ = count(); }"
                     "syscall:::entry /n == 97/ { exit(0); }", infinity),
    unlink(Worker),
    exit(Worker, kill).

%% Variables and aggregations are those of both.
both_worlds_test() ->
    H = trace("BEGIN { calls = 0; trace(\"began\"); }"
              "erlang*:erltrace_kernel_tests:link:entry { calls++; @[probefunc, erlpid] = count(); @at[ustack(2)] = count(); }"
              "syscall::readlink:entry /calls && pid == $target/ { @[probefunc, \"\"] = count(); }"),
    {ok, [{probe, _, "began"} | _]} = await(fun() -> erltrace:consume(H, 1000) end),
    links(97),
    {#{"_" := Calls, "at" := At}, _} = results(H),
    ?assertEqual([{count, ["link/0", pid_to_list(self())], 97}, {count, ["readlink", ""], 97}], lists:sort(Calls)),
    ?assertEqual(97, lists:sum([N || {count, _, N} <- At])),
    ok = erltrace:close(H),
    clean().

%% Another node may be on another host, whose kernel this one is not.
other_node_test() ->
    {Peer, Node} = erltrace_test:peer(),
    {ok, H} = erltrace:open([{node, Node}]),
    ok = erltrace:compile(H, "syscall:::entry { @ = count(); }"),
    {error, {noprobe, [#{tag := <<"D_PDESC_ZERO">>, hint := Hint}]}} = erltrace_test:go(H),
    ?assertMatch({match, _}, re:run(Hint, "of the host that the node runs on")),
    ok = erltrace:close(H),
    erltrace_test:stop(Peer, Node).

%% One term, whatever the script names; other scripts run.
without_privilege_test() ->
    {ok, Program} = application:get_env(erltrace, program),
    Lower = os:getenv("TMPDIR") ++ "/lower",
    ok = file:write_file(Lower, ["#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups ", Program, " \"$@\"\n"]),
    ok = file:change_mode(Lower, 8#755),
    ok = application:set_env(erltrace, program, Lower),
    try
        [begin
             {ok, H} = erltrace:script(Probes ++ " { @[execname] = count(); }"),
             {error, {unsup, [#{tag := <<"KERNEL_PRIVILEGE">>, severity := error, hint := _} | _]} = Reason} = erltrace_test:go(H),
             ?assertMatch({match, _}, re:run(erltrace:format_error(Reason), "CAP_BPF")),
             ok = erltrace:close(H)
         end || Probes <- ["syscall::read:entry", "erlang*:lists:seq:entry, syscall::read:entry"]],
        {ok, #{records := [{probe, _, 5}]}} = erltrace:run("BEGIN { trace(5); exit(0); }", infinity, #{node => local})
    after
        ok = application:set_env(erltrace, program, Program)
    end,
    clean().
