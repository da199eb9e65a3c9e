%% The shapes of what walk and consume give: every function of aggregations, every kind of item, text as strings and as binaries.
-module(erltrace_result_tests).
-include_lib("eunit/include/eunit.hrl").

-import(erltrace_test, [trace/1, trace/2, calls/1, await/1, clean/0]).

-define(LEAST, -(1 bsl 63)).
-define(MOST, (1 bsl 63) - 1).

%% What a script has gathered when it has ended by itself.
walked(Script, Options) ->
    H = trace(Script ++ " END { }", Options),
    Result = await(fun() -> erltrace:walk(H) end),
    ok = erltrace:close(H),
    Result.

walk_test_() ->
    Entries =
        [{"@ = count()", {count, [], 1}},
         {"@ = sum(-3)", {sum, [], -3}},
         {"@ = min(-5)", {min, [], -5}},
         {"@ = max(1 << 62)", {max, [], 1 bsl 62}},
         {"@ = avg(3)", {avg, [], 3.0}},
         {"@ = stddev(3)", {stddev, [], 0.0}},
         {"@ = quantize(700)", {quantize, [], [{{512, 1023}, 1}]}},
         {"@ = quantize(0)", {quantize, [], [{{0, 0}, 1}]}},
         {"@ = quantize(-700)", {quantize, [], [{{-1023, -512}, 1}]}},
         {"@ = lquantize(7, 0, 63, 2)", {lquantize, [], [{{6, 7}, 1}]}},
         {"@ = lquantize(-7, 0, 63, 2)", {lquantize, [], [{{?LEAST, -1}, 1}]}},
         {"@ = lquantize(700, 0, 10, 2)", {lquantize, [], [{{10, ?MOST}, 1}]}},
         {"@ = llquantize(42, 10, 0, 3, 10)", {llquantize, [], [{{40, 49}, 1}]}},
         {"@[\"key\"] = count()", {count, ["key"], 1}},
         {"@[1, \"two\", -3] = sum(4)", {sum, [1, "two", -3], 4}},
         {"@[\"\\303\\244\"] = count()", {count, [[228]], 1}},
         {"@[\"\\377\"] = count()", {count, [[255]], 1}}],
    [{Action, fun() -> ?assertEqual({ok, [Entry]}, walked("BEGIN { " ++ Action ++ "; exit(0); }", [{node, local}])) end}
     || {Action, Entry} <- Entries].

walk_binaries_test() ->
    ?assertEqual({ok, [{count, [<<"key">>, 1], 1}]}, walked("BEGIN { @[\"key\", 1] = count(); exit(0); }", [{node, local}, {strings, binary}])).

%% Terms and names are text, a stack is a list of texts.
terms_names_stacks_test_() ->
    [{lists:concat([Strings]), fun() -> terms_names_stacks(Strings) end} || Strings <- [list, binary]].

terms_names_stacks(Strings) ->
    H = trace("erlang*:erltrace_test:call/1:entry { @[erlname, argv[0], ustack(1)] = count(); trace(argv[0]); printf(\"%T\", argv); }", [{strings, Strings}]),
    {Pid, Monitor} = spawn_monitor(fun() -> register(erltrace_named, self()), erltrace_test:call({a, "b", <<"c">>}) end),
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end,
    Text = fun(T) -> case Strings of list -> T; binary -> list_to_binary(T) end end,
    Term = "{a,\"b\",<<\"c\">>}",
    {ok, [{count, [Name, Argument, [Frame]], 1}]} = await(fun() -> erltrace:walk(H, [keep]) end),
    ?assertEqual({Text("erltrace_named"), Text(Term)}, {Name, Argument}),
    ?assertEqual(is_binary(Name), is_binary(Frame)),
    ?assertMatch({match, _}, re:run(Frame, "^erltrace_test:call/1 \\(.*erltrace_test\\.erl:[1-9][0-9]*\\)$")),
    {ok, [{probe, _, Traced}, {printf, _, Printed}]} =
        await(fun() -> case erltrace:consume(H) of {ok, [_, _]} = Both -> Both; ok -> false end end),
    ?assertEqual({Text(Term), Text("[" ++ Term ++ "]")}, {Traced, Printed}),
    ok = erltrace:close(H).

walk_float_test() ->
    {ok, [{avg, [], Avg}, {stddev, [], Dev}]} =
        walked("BEGIN { @a = avg(1); @a = avg(2); @d = stddev(10); @d = stddev(20); exit(0); }", [{node, local}]),
    ?assertEqual(1.5, Avg),
    ?assert(abs(Dev - 5.0) < 0.51).

%% Each walk has what came since the last one; keep leaves it there; named sorts it by aggregation.
walk_takes_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { @ = count(); @named[\"k\"] = count(); }"),
    ?assertEqual(ok, erltrace:walk(H)),
    calls(3),
    complete(H, {ok, [{"_", [{count, [], 3}]}, {"named", [{count, ["k"], 3}]}]}),
    ?assertEqual({ok, [{count, [], 3}, {count, ["k"], 3}]}, erltrace:walk(H, [keep])),
    ?assertEqual({ok, [{count, [], 3}, {count, ["k"], 3}]}, erltrace:walk(H)),
    ?assertEqual(ok, erltrace:walk(H)),
    calls(2),
    complete(H, {ok, [{"_", [{count, [], 2}]}, {"named", [{count, ["k"], 2}]}]}),
    ?assertEqual({ok, [{"_", [{count, [], 2}]}, {"named", [{count, ["k"], 2}]}]}, erltrace:walk(H, [named])),
    ?assertEqual(ok, erltrace:walk(H, [named])),
    ok = erltrace:close(H).

%% Walks that keep what they find, until all has come.
complete(H, All) -> await(fun() -> erltrace:walk(H, [keep, named]) =:= All end).

%% Everything that a script has recorded when it has ended by itself.
consumed(Script, Options) ->
    H = trace(Script, [{options, #{quiet => true}} | Options]),
    Items = all(H),
    ok = erltrace:close(H),
    Items.

all(H) ->
    case erltrace:consume(H, 10000) of
        {ok, Items} -> Items ++ all(H);
        ok -> all(H);
        {error, exited} -> []
    end.

-define(BEGIN, {dtrace, '', '', 'BEGIN'}).

consume_test_() ->
    Items =
        [{"trace(42)", {probe, ?BEGIN, 42}},
         {"trace(-42)", {probe, ?BEGIN, -42}},
         {"trace((uint64_t)-1)", {probe, ?BEGIN, (1 bsl 64) - 1}},
         {"trace(\"text\")", {probe, ?BEGIN, "text"}},
         {"printf(\"%s is %d\", \"x\", 1)", {printf, ?BEGIN, "x is 1"}},
         {"printf(\"\\303\\244\")", {printf, ?BEGIN, [228]}},
         {"print(&g[0])", {print, ?BEGIN, await}},
         {"@a = count(); printa(\"%@d\", @a)", {printa, ?BEGIN, "1"}}],
    [{Action, fun() ->
                      [Item] = consumed("int g[2]; BEGIN { " ++ Action ++ "; exit(0); }", [{node, local}]),
                      case Expected of
                          {Kind, Desc, await} -> ?assertMatch({Kind, Desc, [_ | _]}, Item);
                          _ -> ?assertEqual(Expected, Item)
                      end
              end} || {Action, Expected} <- Items].

consume_binaries_test() ->
    ?assertEqual([{probe, {<<"dtrace">>, <<>>, <<>>, <<"BEGIN">>}, <<"text">>}, {printf, {<<"dtrace">>, <<>>, <<>>, <<"BEGIN">>}, <<"1">>}],
                 consumed("BEGIN { trace(\"text\"); printf(\"%d\", 1); exit(0); }", [{node, local}, {strings, binary}])).

%% A probe of a function is described by provider, module, function with arity, name: atoms, as of old.
desc_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { trace(copyinstr(arg1)); exit(0); }"),
    calls(1),
    {ok, [{probe, Desc, "erltrace_test:call/0"} | _]} = await(fun() -> erltrace:consume(H) end),
    ?assertEqual({list_to_atom("erlang" ++ os:getpid()), erltrace_test, 'call/0', entry}, Desc),
    ok = erltrace:close(H).

%% Records come in order, and none is lost, also when there are more than in one answer.
order_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { trace(++n); }"),
    calls(25000),
    ok = erltrace:stop(H),
    Items = rest(H),
    ?assertEqual(lists:seq(1, 25000), [N || {probe, _, N} <- Items]),
    ok = erltrace:close(H).

rest(H) ->
    case erltrace:consume(H) of
        {ok, Items} -> Items ++ rest(H);
        ok -> rest(H);
        {error, stopped} -> []
    end.

%% Waiting for the first record.
wait_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { trace(1); }"),
    ?assertEqual(ok, erltrace:consume(H, 10)),
    spawn_link(fun() -> receive after 100 -> calls(1) end end),
    ?assertMatch({ok, [{probe, _, 1}]}, erltrace:consume(H, 60000)),
    ok = erltrace:close(H).

%% A fault of a clause is an item with what is known of it.
fault_test() ->
    [{error, Fault}, {probe, _, 1}] = consumed("int x; BEGIN { trace(1 / x); } BEGIN { trace(1); exit(0); }", [{node, local}]),
    ?assertMatch(#{name := <<"DIVZERO">>, code := _, epid := 1, probe := ?BEGIN, action := _, text := <<_/binary>>}, Fault).

%% What does not fit into the buffer is an item that says how much it was.
drop_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { trace(1); }", [{options, #{bufsize => 4096, switchrate => "10s", bufresize => "manual"}}]),
    calls(100000),
    ok = erltrace:stop(H),
    Items = rest(H),
    Dropped = lists:sum([N || {drop, #{kind := <<"PRINCIPAL">>, count := N}} <- Items]),
    ?assertMatch([#{total := _, node := <<_/binary>>, cpu := _, text := <<_/binary>>} | _], [D || {drop, D} <- Items]),
    ?assertEqual(100000, Dropped + length([1 || {probe, _, 1} <- Items])),
    ok = erltrace:close(H).

%% So is what nobody consumes.
queue_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { trace(\"some text to fill the queue with\"); }", [{queue, 65536}]),
    calls(20000),
    ok = erltrace:stop(H),
    Items = rest(H),
    Dropped = lists:sum([N || {drop, #{kind := <<"QUEUE">>, count := N}} <- Items]),
    ?assert(Dropped > 0),
    ?assertEqual(20000, Dropped + length([1 || {probe, _, _} <- Items])),
    ok = erltrace:close(H).

%% What the probes cost, when the option asks for it.
stats_test() ->
    H = trace("erlang*:erltrace_test:call/0:entry { @ = count(); }", [{options, #{stats => "100ms"}}]),
    calls(1000),
    ?assertMatch(#{kind := period, node := _, interval := _, fired := _, events := _, ns := _, text := <<_/binary>>},
                 await(fun() ->
                               case erltrace:consume(H, 1000) of
                                   {ok, Items} -> proplists:get_value(stats, Items, false);
                                   ok -> false
                               end
                       end)),
    ok = erltrace:close(H).

%% The node's atoms are not used up by what is traced.
atoms_test() ->
    H = trace("erlang*:erltrace:probe: { trace(1); }"),
    Before = erlang:system_info(atom_count),
    [erltrace:probe(some_probe_of_the_test) || _ <- lists:seq(1, 100)],
    100 = length(first(H, 100)),
    ?assert(erlang:system_info(atom_count) - Before < 100),
    ok = erltrace:close(H).

first(_, 0) -> [];
first(H, N) ->
    {ok, Items} = await(fun() -> erltrace:consume(H, 1000) end),
    Items ++ first(H, N - length(Items)).
