%% Every function of the API: what it takes, what it answers, and every error of it.
-module(erltrace_api_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [trace/1, trace/2, calls/1, await/1, clean/0, fake/1]).

-define(CALLS, "erlang*:erltrace_test:call/0:entry ").

%% == open, script, close =======================================================================================

open_test() ->
    {ok, H} = erltrace:open(),
    ?assertEqual(ok, erltrace:close(H)),
    ?assertEqual(ok, erltrace:close(H)),
    [?assertEqual({error, closed}, F())
     || F <- [fun() -> erltrace:compile(H, "BEGIN { }") end, fun() -> erltrace:setopt(H, "quiet", "") end, fun() -> erltrace:go(H) end,
              fun() -> erltrace:walk(H) end, fun() -> erltrace:consume(H) end, fun() -> erltrace:stop(H) end,
              fun() -> erltrace:status(H) end, fun() -> erltrace:subscribe(H, 1) end, fun() -> erltrace:demand(H, 1) end,
              fun() -> erltrace:unsubscribe(H) end]].

options_test() ->
    [begin
         {ok, H} = erltrace:open(Options),
         ok = erltrace:close(H)
     end || Options <- [[], #{}, [{node, node()}], #{node => local}, [{nodes, [node()]}], [{node, {cluster, node()}}], [{strings, binary}], [{strings, list}],
                        #{queue => 65536, timeout => 30000}, [{options, #{bufsize => "1m", quiet => true}}],
                        [{options, [quiet, {"aggsize", <<"1m">>}, {maxload, 10}]}], [{owner, self()}], [{agent_dir, "/tmp"}],
                        [{options, []}], [{options, #{}}]]],
    [?assertMatch({error, {option, Name, <<_/binary>>}}, erltrace:open(Options))
     || {Name, Options} <- [{node, [{node, "a"}]}, {node, [{node, {os_pid, 0}}]}, {node, [{node, {cluster, "a"}}]}, {nodes, [{nodes, []}]}, {nodes, [{nodes, node()}]},
                            {strings, [{strings, atom}]}, {timeout, #{timeout => 0}}, {timeout, [timeout]}, {queue, [{queue, 1}]},
                            {owner, [{owner, me}]}, {options, [{options, 1}]}, {options, [{options, #{{} => 1}}]}, {agent_dir, [{agent_dir, 1}]},
                            {nothing, [nothing]}, {[a | b], [a | b]}, {7, 7}]],
    ?assertMatch({error, {optname, [#{text := _}]}}, erltrace:open([{options, #{bufsise => 1}}])),
    ?assertMatch({error, {optval, [#{text := _}]}}, erltrace:open([{options, #{bufsize => "many"}}])).

%% What is no handle is the caller's mistake.
no_handle_test() ->
    [?assertError(badarg, F(No)) || No <- [undefined, {ok, self()}, "H"],
                                    F <- [fun erltrace:go/1, fun erltrace:walk/1, fun erltrace:stop/1, fun erltrace:close/1,
                                          fun(H) -> erltrace:compile(H, "BEGIN { }") end]].

%% A handle that is killed while somebody waits for its answer.
killed_test() ->
    H = trace("tick-1h { }"),
    {ok, #{state := running}} = erltrace:status(H),
    Self = self(),
    Waits = spawn_link(fun() -> Self ! {answer, erltrace:consume(H, 1 bsl 30)} end),
    await(fun() -> process_info(Waits, status) =:= {status, waiting} end),
    exit(H, kill),
    ?assertEqual({answer, {error, closed}}, erltrace_test:receives(answer)),
    ?assertEqual(true, clean()).

script_test() ->
    {ok, H} = erltrace:script("BEGIN { exit(0); }"),
    ok = erltrace_test:go(H),
    ok = erltrace:close(H),
    ?assertMatch({error, {compile, [_]}}, erltrace:script("BEGIN { x; }")),
    ?assertEqual(true, clean()).

limit_test() ->
    await(fun() -> erltrace_handles:count() =:= 0 end),
    {ok, Max} = application:get_env(erltrace, max_handles),
    ok = application:set_env(erltrace, max_handles, 2),
    try
        {ok, A} = erltrace:open(),
        {ok, B} = erltrace:open(),
        ?assertEqual({error, {limit, handles}}, erltrace:open()),
        ?assertEqual({error, {limit, handles}}, erltrace:run("BEGIN { }", 0)),
        ok = erltrace:close(A),
        {ok, C} = erltrace:script("BEGIN { }"),
        ?assertEqual({error, {limit, handles}}, erltrace:open()),
        %% One whose trace is over makes room, for its owner alone.
        ok = erltrace:go(C),
        ok = erltrace:stop(C),
        ?assertEqual({error, {limit, handles}}, erltrace:open([{owner, whereis(init)}])),
        {ok, D} = erltrace:open(),
        ?assertEqual({error, closed}, erltrace:walk(C)),
        ok = erltrace:close(D),
        ok = erltrace:close(B),
        ok = erltrace:close(C)
    after
        application:set_env(erltrace, max_handles, Max)
    end.

%% The application is started by the first who opens a handle.
not_started_test() ->
    ok = application:stop(erltrace),
    {ok, H} = erltrace:open(),
    ok = erltrace:close(H).

%% Port programs that are not there, or not ours.
program_test_() ->
    [{Name, fun() ->
                    {ok, Program} = application:get_env(erltrace, program),
                    ok = application:set_env(erltrace, program, Fake),
                    try Expected(erltrace:open(Options))
                    after application:set_env(erltrace, program, Program)
                    end
            end}
     || {Name, Fake, Options, Expected} <-
            [{"missing", "/nowhere/erltrace", [], fun({error, {program, <<"cannot start /nowhere/erltrace: it is not there">>}}) -> ok end},
             {"no program", "/etc/hosts", [], fun({error, {program, <<_/binary>>}}) -> ok; ({error, {port_died, _}}) -> ok end},
             {"ends", fake("dd bs=1 count=1 >/dev/null 2>&1; exit 3"), [], fun({error, {port_died, 3}}) -> ok end},
             {"nonsense", fake("exec cat"), [], fun({error, {protocol, [#{text := _, hint := _}]}}) -> ok end},
             {"says nothing", fake("exec sleep 1000"), [{timeout, 500}], fun({error, timeout}) -> ok end}]].

%% == setopt ====================================================================================================

setopt_test() ->
    {ok, H} = erltrace:open(),
    [?assertEqual(ok, erltrace:setopt(H, Name, Value))
     || {Name, Value} <- [{"bufsize", "4m"}, {<<"aggsize">>, <<"4m">>}, {strsize, 512}, {quiet, true}, {"quiet", ""}, {'aggsortrev', false},
                          {["agg", <<"rate">>], ["1", $s]}]],
    ?assertMatch({error, {optname, [#{severity := error, text := <<_/binary>>, hint := <<_/binary>>}]}}, erltrace:setopt(H, "bufsise", "1m")),
    ?assertMatch({error, {optval, [#{text := <<_/binary>>}]}}, erltrace:setopt(H, "bufsize", "lots")),
    ?assertError(badarg, erltrace:setopt(H, {}, 1)),
    ?assertError(badarg, erltrace:setopt(H, "quiet", #{})),
    ?assertError(badarg, erltrace:setopt(H, "", 1)),
    ok = erltrace:compile(H, "tick-1s { }"),
    ok = erltrace_test:go(H),
    ?assertEqual(ok, erltrace:setopt(H, "aggrate", "100ms")),
    ?assertMatch({error, {_, [#{text := _}]}}, erltrace:setopt(H, "bufsize", "1m")),
    ok = erltrace:close(H).

%% == compile ===================================================================================================

compile_test() ->
    Texts = ["BEGIN { trace(\"x\"); exit(0); }", <<"BEGIN { trace(\"x\"); exit(0); }">>,
             ["BEGIN ", [<<"{ trace(">>, $", "x", [["\")"] | <<"; exit(0);">>]], "}"]],
    [begin
         {ok, H} = erltrace:script(T),
         ok = erltrace_test:go(H),
         {ok, [{probe, _, "x"}]} = await(fun() -> erltrace:consume(H) end),
         ok = erltrace:close(H)
     end || T <- Texts],
    {ok, H} = erltrace:open([{node, local}]),
    ?assertError(badarg, erltrace:compile(H, no_text)),
    ?assertError(badarg, erltrace:compile(H, ["BEGIN", {}])),
    ok = erltrace:close(H).

%% Errors have tag, text, position and the line; then another script may be tried, also one with fewer mistakes.
compile_error_test() ->
    {ok, H} = erltrace:open([{node, local}, {options, #{quiet => true}}]),
    {error, {compile, [D]} = Reason} = erltrace:compile(H, "BEGIN\n{\n    x = timestmp;\n}"),
    ?assertMatch(#{severity := error, tag := <<"D_IDENT_UNDEF">>, line := 3, column := 9, length := 8, source := <<"    x = timestmp;">>,
                   text := <<_/binary>>, rendered := <<_/binary>>, file := <<_/binary>>, hint := <<"did you mean 'timestamp'?">>}, D),
    ?assertMatch({match, _}, re:run(erltrace:format_error(Reason), "3:9: error: .*timestmp")),
    ?assertEqual(erltrace:format_error(Reason), erltrace:format_error({error, Reason})),
    ?assertMatch({error, {compile, [#{line := 1}]}}, erltrace:compile(H, "BEGIN {")),
    ok = erltrace:compile(H, "BEGIN { trace(1); }"),
    ?assertMatch({error, {compile, [_]}}, erltrace:compile(H, "!")),
    ok = erltrace:compile(H, "END { trace(2); }"),
    ok = erltrace_test:go(H),
    ok = erltrace:stop(H),
    {ok, [{probe, _, 1}, {probe, _, 2}]} = erltrace:consume(H),
    ok = erltrace:close(H).

%% Several scripts are one program; each has its arguments.
compile_several_test() ->
    {ok, H} = erltrace:open([{node, local}, {options, #{quiet => true}}]),
    ok = erltrace:compile(H, "int x; BEGIN { x = $1; }", ["42"]),
    ok = erltrace:compile(H, <<"BEGIN { printf(\"%d %s\", x, $$1); exit(0); }">>, [<<"a b">>]),
    ok = erltrace_test:go(H),
    ?assertMatch({ok, [{printf, {dtrace, '', '', 'BEGIN'}, "42 a b"}]}, await(fun() -> erltrace:consume(H) end)),
    ?assertEqual({error, already_running}, erltrace:compile(H, "END { }")),
    ok = erltrace:close(H).

%% == go, walk, consume, stop: too early, too late ==============================================================

order_test() ->
    {ok, H} = erltrace:open(),
    [?assertEqual({error, no_prog}, F(H)) || F <- [fun erltrace:go/1, fun erltrace:walk/1, fun erltrace:consume/1, fun erltrace:stop/1]],
    ?assertMatch({ok, #{state := none}}, erltrace:status(H)),
    ok = erltrace:compile(H, ?CALLS "{ @ = count(); trace(1); }"),
    [?assertEqual({error, not_running}, F(H)) || F <- [fun erltrace:walk/1, fun erltrace:consume/1]],
    ?assertEqual(ok, erltrace:stop(H)),
    ok = erltrace_test:go(H),
    ?assertEqual({error, already_running}, erltrace:go(H)),
    ?assertEqual(ok, erltrace:walk(H)),
    ?assertMatch({ok, #{state := running, probes := 1}}, erltrace:status(H)),
    calls(3),
    ?assertEqual(ok, erltrace:stop(H)),
    ?assertEqual(ok, erltrace:stop(H)),
    calls(3),
    ?assertEqual({ok, [{count, [], 3}]}, erltrace:walk(H)),
    ?assertEqual({error, stopped}, erltrace:walk(H)),
    ?assertMatch({ok, [{probe, _, 1}, {probe, _, 1}, {probe, _, 1}]}, erltrace:consume(H)),
    ?assertEqual({error, stopped}, erltrace:consume(H)),
    ?assertMatch({ok, #{state := done, fired := 3}}, erltrace:status(H)),
    ok = erltrace:close(H),
    ?assertError(badarg, erltrace:walk(H, [neither])),
    ?assertError(function_clause, erltrace:consume(H, -1)).

exited_test() ->
    H = trace("BEGIN { @ = sum(7); trace(1); exit(3); }"),
    ?assertMatch({ok, [{probe, {dtrace, '', '', 'BEGIN'}, 1}]}, await(fun() -> erltrace:consume(H) end)),
    ?assertEqual({error, exited}, await(fun() -> erltrace:consume(H) end)),
    ?assertEqual({ok, [{sum, [], 7}]}, erltrace:walk(H)),
    ?assertEqual({error, exited}, erltrace:walk(H)),
    ?assertMatch({ok, #{state := done, exited := true, status := 3}}, erltrace:status(H)),
    ?assertEqual(ok, erltrace:stop(H)),
    ok = erltrace:close(H).

%% A go that fails leaves nothing behind, and may be tried again.
go_error_test() ->
    {ok, H} = erltrace:script("erlang*:erltrace_no_such_module::entry { @ = count(); }"),
    ?assertMatch({error, {noprobe, [#{text := <<_/binary>>, line := 1}]}}, erltrace_test:go(H)),
    {module, _} = code:load_binary(erltrace_no_such_module, "", module(erltrace_no_such_module)),
    ?assertEqual(ok, erltrace_test:go(H)),
    1 = erltrace_no_such_module:f(),
    ?assertEqual({ok, [{count, [], 1}]}, await(fun() -> erltrace:walk(H) end)),
    ok = erltrace:close(H),
    true = code:delete(erltrace_no_such_module),
    code:purge(erltrace_no_such_module),
    ?assertEqual(true, clean()).

module(M) ->
    {ok, M, Beam} = compile:forms([{attribute, 1, module, M}, {attribute, 1, export, [{f, 0}]},
                                   {function, 1, f, 0, [{clause, 1, [], [], [{integer, 1, 1}]}]}]),
    Beam.

destructive_test() ->
    {ok, H} = erltrace:script("BEGIN { system(\"true\"); exit(0); }"),
    ?assertMatch({error, {destructive, [#{text := _}]}}, erltrace_test:go(H)),
    ok = erltrace:close(H).

%% == run =======================================================================================================

run_test() ->
    {Caller, Monitor} = spawn_monitor(fun F() -> erltrace_test:call(), receive stop -> ok after 1 -> F() end end),
    Result = erltrace:run("BEGIN { printf(\"begin\"); } " ?CALLS "{ @calls = count(); @who[copyinstr(arg0)] = count(); } END { trace(9); } "
                          ?CALLS "/++n == 10/ { exit(0); }", infinity),
    Caller ! stop,
    receive {'DOWN', Monitor, process, Caller, normal} -> ok end,
    {ok, Found} = Result,
    #{aggregations := [{"calls", [{count, [], N}]}, {"who", [{count, [Who], N}]}], events := [], status := #{state := done},
      records := [{printf, _, "begin"}, {probe, {dtrace, '', '', 'END'}, 9}]} = Found,
    ?assert(N >= 10),
    ?assertEqual(pid_to_list(Caller), Who),
    ?assertEqual(true, clean()).

%% The time of a run is up.
run_time_test() ->
    {ok, #{records := [{probe, {dtrace, '', '', 'END'}, 9}], aggregations := [], events := [], status := #{exited := false}}} =
        erltrace:run("END { trace(9); }", 100).

run_exit_test() ->
    {ok, #{status := #{exited := true, status := 2}, records := [], aggregations := [{<<"_">>, [{min, [<<"k">>], -4}]}]}} =
        erltrace:run(<<"BEGIN { @[\"k\"] = min(-4); exit(2); }">>, infinity, [{strings, binary}, {node, local}]),
    {ok, #{aggregations := [], records := []}} = erltrace:run("BEGIN { }", 0, #{node => local}).

run_error_test() ->
    ?assertMatch({error, {compile, [#{line := 1}]}}, erltrace:run("BEGIN { x; }", 10)),
    ?assertMatch({error, {noprobe, _}}, erltrace:run("erlang*:no_such_module_here::entry { }", 10)),
    ?assertMatch({error, {option, owners, _}}, erltrace:run("BEGIN { }", 10, [owners])),
    ?assertError(function_clause, erltrace:run("BEGIN { }", forever)),
    ?assertEqual(true, clean()).

%% == words =====================================================================================================

format_error_test() ->
    [begin
         Words = erltrace:format_error(Reason),
         ?assert(io_lib:printable_unicode_list(Words)),
         ?assertEqual(nomatch, re:run(Words, "^\\{"))
     end || Reason <- [no_prog, already_running, not_running, stopped, exited, overload, lost, closed, timeout, subscribed, not_subscribed,
                       not_started, {limit, handles}, {option, node, <<"a node">>}, {program, <<"cannot start x">>}, {port_died, 1},
                       {port_died, 137}, {port_died, closed}, {io, [#{severity => error, text => <<"a">>, hint => <<"b">>}]}, {error, closed}]],
    ?assertEqual("{what,more}", erltrace:format_error({what, more})).

%% What was built by the oldest OTP is loaded by all: an installed erltrace meets any.
built_test() ->
    Beams = filelib:wildcard("ebin/erltrace*.beam"),
    ?assertMatch([_ | _], Beams),
    Modules = [{list_to_atom(filename:basename(B, ".beam")), B, element(2, file:read_file(B))} || B <- Beams],
    ?assertMatch({ok, _}, code:prepare_loading(Modules)).
