%% The agent through its protocol, in this node. Every test begins without an agent and must end without a trace of it.
-module(agent_tests).
-export([main/1, consumer/2]).

-define(BEGIN_, 1).
-define(END_, 2).
-define(ERROR, 3).
-define(TICK, 4).
-define(SPAWN, 10).
-define(EXIT, 11).
-define(IN, 12).
-define(OUT, 13).
-define(SEND, 14).
-define(QUEUED, 15).
-define(GC_MAJOR_START, 18).
-define(GC_MAJOR_END, 19).
-define(TRACE_SEQ, 35).
-define(USER_TRACE, 121).
-define(ENTRY, 192).
-define(RETURN, 193).
-define(EXCEPTION, 194).
-define(LOCAL_ENTRY, 199).

%% Where the counts of a program have the drops of events in a form that the agent does not know: behind six others, and ten drops.
-define(DROP_SHAPE, 17).

%% Clauses of the image: see mkimage.c.
-define(USE_COUNT, 4096).
-define(COUNT, 0).
-define(TEXTS, 1).
-define(INTS, 2).
-define(TIME, 3).
-define(DO_EXIT, 4).
-define(FAULT, 5).
-define(ARG3, 6).

-define(assert(E), assert(E, ?LINE, ??E)).
-define(equal(A, B), equal(A, B, ?LINE, ??B)).

assert(true, _, _) -> ok;
assert(Value, Line, Text) -> error({failed, Line, Text, Value}).

equal(Same, Same, _, _) -> ok;
equal(Expected, Value, Line, Text) -> error({failed, Line, Text, {expected, Expected}, {got, Value}}).

main(Root) ->
    put(root, Root),
    persistent_term:put(agent_root, Root),
    {module, _} = code:ensure_loaded(agent_work),
    ok = etlog:start(),
    [file(F) || F <- [beam(M) || M <- modules()] ++ [library_file(), "build/test/agent/image.dif",
                      "build/test/agent/image_v.dif", "build/test/agent/image_k.dif", "build/test/agent/image_t.dif"]],
    Tests = etchoice:tests("agent", [{atom_to_list(F), F} || F <- tests()]),
    Results = [one(Name, F) || {Name, F} <- Tests],
    Of = fun(Verdict) -> length([V || V <- Results, V =:= Verdict]) end,
    Failed = Of(failed),
    Of(skipped) =:= 0 orelse io:format("  (~b skipped)~n", [Of(skipped)]),
    io:format("~b passed, ~b failed~n", [Of(ok), Failed]),
    halt(if Failed =:= 0 -> 0; true -> 1 end).

tests() ->
    [life, calls_are_counted, begin_end_tick_exit_error, returns, returns_of_one_function, switched_under_load, tail_calls_return_once, tail_loop_is_flat, body_recursion,
     returns_and_exceptions, exceptions_alone, exception_frames_are_bounded, frames_before_it_runs, frames_while_they_go, spawns_and_exits, messages, scheduling,
     collections, vtimestamp, clocks, arguments, two_consumers, over_its_limit, consumer_killed, lease_runs_out, closed_in_the_middle,
     server_killed, guard_takes_its_name, killed_while_changing, killed_while_loading, gate_first, asked_before_start, asked_when_dead, foreign_process_tracer, foreign_meta_tracer, foreign_pattern, wiped_is_reported, reloaded_is_reported, counted_code_loaded_before, let_go_bit_by_bit,
     whole_module, heard_meanwhile, given_up_and_loaded, given_up_beside, ended_and_loaded, silent_process, bindings_in_pieces, bad_images, bad_requests, other_library, loaded_twice, unloadable_library, refused_by_the_loader, library_folders, library_left, foreign_name, concurrent_attach, attached_to_who_leaves, taken_away, memory_of_ended_programs, purged_once, on_load_meanwhile, builtin_functions, instructions, builtins_and_other_sessions,
     collections_of_others, session_destroyed, begun_in_vain, guard_of_old_code, collections_begun, answers_until, late_answers, suspended_processes, server_crashed, everything,
     ring_keeps_the_newest, fill_ends_when_full, only_one_cpu, too_small_for_end, sizes_are_bounded, sensitive_stays_hidden, shapes, shapes_of_the_vm, messages_of_other_shapes, answers_of_other_shapes, terms_refused, terms_hidden, redact_is_read, redact_unreadable, filters_refused, filters_are_set, many_times, under_churn, taken_away_at_work, guard_killed_too].

%% Tests that do not run where an emulator runs the node (test/agent/run), and why.
not_emulated() ->
    #{exception_frames_are_bounded => "it makes three million traced calls",
      switched_under_load => "patterns are set forty times while three processes call: the emulator translates the code anew each time, for hours"}.

%% Runs a test; returns ok, failed or skipped.
one(Name, F) ->
    Start = erlang:monotonic_time(millisecond),
    {Verdict, Class, Text} = case {os:getenv("AGENT_EMULATED", ""), not_emulated()} of
                                 {[_ | _], #{F := Why}} -> {skip, none, Why};
                                 _ -> result(Name, F)
                             end,
    case Verdict of
        pass -> io:format("ok   ~s~n", [Name]);
        skip -> io:format("  skip ~s: ~ts~n", [Name, Text]);
        fail -> io:format("FAIL ~s~n  ~ts~n", [Name, Text])
    end,
    etreport:write("agent", Name, Verdict, Class, erlang:monotonic_time(millisecond) - Start, Text),
    case Verdict of pass -> ok; fail -> failed; skip -> skipped end.

result(Name, F) ->
    Me = self(),
    Patience = 4 * etreport:patience(),
    {P, M} = spawn_monitor(fun() ->
                               erlang:put(me, Me),
                               put(caused, "^$"),
                               seeded(Name),
                               try
                                   clean(before),
                                   test(F),
                                   clean('after'),
                                   silent()
                               catch
                                   _:Why:Where -> exit({Why, Where}) % an error would be logged
                               end
                           end),
    receive
        {'DOWN', M, process, P, normal} ->
            {pass, none, []};
        {'DOWN', M, process, P, R} ->
            rescue(),
            {fail, class(R), io_lib:format("~p", [R])}
    after Patience ->
            Stack = process_info(P, current_stacktrace),
            exit(P, kill),
            rescue(),
            {fail, timeout, io_lib:format("does not end: ~p", [Stack])}
    end.

%% The class (test/lib/results.py) of what ended a test: a wait that has reached its end, or a wrong value.
class({Why, Stack}) when is_list(Stack) ->
    case lists:member(if is_tuple(Why), Why =/= {} -> element(1, Why); true -> Why end,
                      [not_told, not_told_of, not_open, no_answer, never_drained, failed_to_happen]) of
        true -> timeout;
        false -> assertion
    end;
class(_) ->
    assertion.

%% The decisions of a process follow from the seed (test/seeds) and from what the process is for.
seeded(Of) -> rand:seed(exsss, {list_to_integer(os:getenv("SEED")), erlang:phash2(Of), 1}).

%% This node has logged nothing, in this test or since one before, but for what the test has caused itself.
silent() ->
    ?equal([], [Line || Line <- etlog:logged(), re:run(Line, get(caused)) =:= nomatch]).

%% The VM warns whoever looks on of this.
internal_state(On) ->
    put(caused, "^warning Process \\S+ (enabled|disabled) access to the emulator internal state"),
    erts_debug:set_internal_state(available_internal_state, On).

rescue() ->
    case whereis(erltrace_agent) of
        undefined -> ok;
        A -> exit(A, kill), timer:sleep(500)
    end,
    [begin code:purge(M), code:delete(M), code:purge(M) end || M <- modules()],
    {ok, Left} = file:list_dir(os:getenv("TMPDIR")), % no other test fails for what this one has left
    [file:del_dir_r(filename:join(os:getenv("TMPDIR"), F)) || "erltrace_agent" ++ _ = F <- Left],
    ok.

%% -- help -----------------------------------------------------------------------------------------------------

root() -> persistent_term:get(agent_root).

%% Read once: somebody may be building.
file(Name) ->
    case persistent_term:get({agent_file, Name}, none) of
        none ->
            {ok, B} = file:read_file(filename:join(root(), Name)),
            persistent_term:put({agent_file, Name}, B),
            B;
        B -> B
    end.

beam(M) -> "priv/agent/" ++ atom_to_list(M) ++ ".beam".

%% The agent's library for this node's processor: test/agent/run knows which.
library_file() -> os:getenv("AGENT_LIBRARY", "priv/erltrace_agent.so").

%% What a consumer loads: one module.
modules() -> [erltrace_agent].

otp() -> list_to_integer(erlang:system_info(otp_release)).

is_musl() -> string:find(erlang:system_info(system_architecture), "musl") =/= nomatch.

load() ->
    case catch erltrace_agent:vsn() of
        V when is_binary(V) -> ok;
        _ -> code:atomic_load([{M, atom_to_list(M) ++ ".beam", file(beam(M))} || M <- modules()])
    end.

%% A module of the agent's name with the same functions, and its library, which has not been started (the real one starts it at once).
library() ->
    locked(), % so that what removes a module that is not in use does not find it half replaced, and then removes the new one
    load(),
    Functions = [FA || {F, _} = FA <- erltrace_agent:module_info(functions), lists:prefix("nif_", atom_to_list(F)) orelse F =:= enabled orelse F =:= trace],
    [begin code:purge(M), code:delete(M), code:purge(M) end || M <- modules()],
    Stub = fun({F, N}) -> {function, 1, F, N, [{clause, 1, [{var, 1, '_'} || _ <- lists:seq(1, N)], [], [{atom, 1, none}]}]} end,
    Load = {function, 1, load, 1, [{clause, 1, [{var, 1, 'File'}], [],
                                    [{call, 1, {remote, 1, {atom, 1, erlang}, {atom, 1, load_nif}}, [{var, 1, 'File'}, {integer, 1, 0}]}]}]},
    %% Who loads the agent and does not use it has it removed, some seconds later: this one is in use.
    InUse = {function, 1, vsn, 0, [{clause, 1, [], [], [{bin, 1, [{bin_element, 1, {string, 1, "in use"}, default, default}]}]}]},
    {ok, M, Code} = compile:forms([{attribute, 1, module, erltrace_agent}, {attribute, 1, export, [{load, 1}, {vsn, 0} | Functions]},
                                   Load, InUse | lists:map(Stub, Functions)]),
    {module, M} = code:load_binary(M, "erltrace_agent.beam", Code),
    File = filename:join(os:getenv("TMPDIR"), "erltrace_agent_test"),
    ok = file:write_file(File ++ ".so", file(library_file())),
    true = unregister(erltrace_attach),
    ok = M:load(File),
    ok = file:delete(File ++ ".so"),
    M.

attach() ->
    %% As consumers do: by a process of its own, which may be ended with the code of an agent that is just leaving; one at a time.
    {P, M} = spawn_monitor(fun() -> locked(), load(), exit(erltrace_agent:attach(file(library_file()), [])) end),
    receive
        {'DOWN', M, process, P, {ok, A}} -> A;
        {'DOWN', M, process, P, _} -> timer:sleep(10), attach() % it went away at this moment
    end.

locked() ->
    try true = register(erltrace_attach, self())
    catch error:badarg -> timer:sleep(5), locked()
    end.

call(A, Request) ->
    Id = make_ref(),
    M = erlang:monitor(process, A),
    A ! {erltrace, self(), Id, Request},
    receive
        {erltrace, Id, Reply} -> erlang:demonitor(M, [flush]), Reply;
        {'DOWN', M, process, A, R} ->
            receive {erltrace, Id, Reply} -> Reply
            after 0 -> error({agent_died, R, Request})
            end
    after etreport:patience() -> error({no_answer, Request, process_info(A)})
    end.

open() ->
    A = attach(),
    {ok, Info} = call(A, {open, 600000}),
    ?equal(list_to_integer(os:getpid()), proplists:get_value(pid, Info)),
    A.

%% Bindings from [{Kind, Where, Clause}].
bindings(L) ->
    Sorted = lists:sort(L),
    {_, _, B} = lists:foldl(fun({Kind, Where, Clause}, {Last, Id, Acc}) ->
                                Id1 = case Last of
                                          {Kind, Where} -> Id;
                                          _ -> Id + 1
                                      end,
                                {{Kind, Where}, Id1, [{length(Acc) + 1, Clause, Id1, Kind, Where} | Acc]}
                            end, {none, 0, []}, Sorted),
    lists:reverse(B).

start(A, L) -> start(A, "build/test/agent/image.dif", L).

start(A, Image, L) -> start(A, Image, [{bufsize, 4 bsl 20}, {aggsize, 1 bsl 20}, {dynvarsize, 1 bsl 20}], L).

start(A, Image, Options, L) ->
    case call(A, {enable, file(Image), Options, bindings(L)}) of
        {ok, _, []} -> {ok, Warnings, _} = call(A, go), Warnings;
        Error -> Error
    end.

trace(L) ->
    A = open(),
    ?equal([], start(A, L)),
    A.

%% The most words that the stacks of N processes had that did this.
words_of_stack(Work, N) ->
    Ps = [spawn_monitor(Work) || _ <- lists:seq(1, N)],
    Most = most_words(Ps, 0),
    [receive {'DOWN', M, process, P, Why} -> ?equal(normal, Why) end || {P, M} <- Ps],
    Most.

most_words(Ps, Most) ->
    case [W || {P, _} <- Ps, {stack_size, W} <- [process_info(P, stack_size)]] of
        [] -> Most;
        Words -> most_words(Ps, lists:max([Most | Words]))
    end.

%% Stops, and gives everything that was not read yet: {records, aggregation, counts}. Whatever the test has done, the VM has reported it in
%% shapes that the agent knows.
finish(A) -> finish(A, 0).

finish(A, Unknown) ->
    ok = call(A, stop),
    #{counts := Counts} = R = drain(A),
    ok = call(A, close),
    ?equal({unknown, Unknown}, {unknown, element(?DROP_SHAPE, Counts)}),
    R.

drain(A) -> drain(A, 3, [], 0).

drain(A, What, Acc, N) ->
    N > 1000 andalso error(never_drained),
    {ok, State, Counts, Blocks, More, _, _, _} = call(A, {read, What}),
    Acc1 = [Acc | Blocks],
    case {State, More} of
        {_, true} -> drain(A, 0, Acc1, N + 1);
        {drained, false} -> decode(iolist_to_binary(Acc1), Counts);
        {_, false} -> drain(A, 3, Acc1, N + 1)
    end.

read(A) ->
    {ok, State, Counts, Blocks, More, W, _, _} = call(A, {read, 3}),
    Rest = if More -> more(A); true -> [] end,
    {State, decode(iolist_to_binary([Blocks | Rest]), Counts), W}.

more(A) ->
    {ok, _, _, Blocks, More, _, _, _} = call(A, {read, 0}),
    [Blocks | if More -> more(A); true -> [] end].

%% Reads until what has been counted is enough: {what the reads have taken of that, their records}.
read_until(A, Enough) -> read_until(A, Enough, #{}, []).

read_until(A, Enough, G, R) ->
    {running, #{aggs := G1, records := R1}, _} = read(A),
    Sum = added(G, G1),
    case Enough(Sum) of
        true -> {Sum, R ++ R1};
        false -> timer:sleep(5), read_until(A, Enough, Sum, R ++ R1)
    end.

added(G1, G2) -> maps:fold(fun(K, V, G) -> G#{K => V + maps:get(K, G, 0)} end, G1, G2).

decode(Bin, Counts) ->
    {Recs, Aggs} = blocks(Bin, [], #{}),
    #{records => lists:sort(fun(#{time := T1}, #{time := T2}) -> T1 =< T2 end, Recs), aggs => Aggs, counts => Counts}.

blocks(<<>>, R, G) -> {lists:reverse(R), G};
blocks(<<1, 0, _:16/little, L:32/little, B:L/binary, T/binary>>, R, G) -> blocks(T, records(B, R), G);
blocks(<<2, 0, _:16/little, L:32/little, B:L/binary, T/binary>>, R, G) -> blocks(T, R, aggs(B, G)).

records(<<>>, R) -> R;
records(<<Size:32/little, Epid:32/little, Time:64/little, _Cpu:32/little, N:32/little, Rest/binary>>, R) ->
    Body = Size - 24,
    <<B:Body/binary, T/binary>> = Rest,
    records(T, [#{epid => Epid, time => Time, data => binary:part(B, 0, N)} | R]).

aggs(<<>>, G) -> G;
aggs(<<Size:32/little, _Agg:32/little, N:32/little, _Cpu:32/little, Value:64/little, Rest/binary>>, G) ->
    Body = Size - 24,
    <<B:Body/binary, T/binary>> = Rest,
    Key = list_to_tuple(strings(binary:part(B, 0, N))),
    aggs(T, G#{Key => Value + maps:get(Key, G, 0)}).

strings(<<L:32/little, S:L/binary, T/binary>>) -> [S | strings(T)];
strings(<<>>) -> [].

%% A record of clause TEXTS or INTS.
texts(#{data := <<A:32/little, Name:A/binary, B:32/little, X:B/binary, C:32/little, Y:C/binary, Z:64/little-signed>>}) ->
    {Name, X, Y, Z}.
ints(#{data := <<A:32/little, Name:A/binary, B:32/little, X:B/binary, Y:64/little-signed, Z:64/little-signed>>}) ->
    {Name, X, Y, Z}.

text(X) -> iolist_to_binary(io_lib:format("~w", [X])).

%% Whether a call by name, with arguments that the function refuses, is reported.
reported({M, F, A} = MFA) ->
    Vars = [{var, 1, list_to_atom("V" ++ integer_to_list(N))} || N <- lists:seq(1, A)],
    Call = {call, 1, {remote, 1, {atom, 1, M}, {atom, 1, F}}, Vars},
    {ok, agent_calls, Code} = compile:forms([{attribute, 1, module, agent_calls}, {attribute, 1, export, [{go, A}]},
        {function, 1, go, A, [{clause, 1, Vars, [], [{call, 1, {atom, 1, put}, [{atom, 1, result}, Call]}]}]}], []),
    {module, agent_calls} = code:load_binary(agent_calls, "", Code),
    {P, Ref} = spawn_monitor(fun() -> receive go -> catch apply(agent_calls, go, lists:duplicate(A, {no, argument})) end end),
    1 = erlang:trace_pattern(MFA, true, [local]),
    1 = erlang:trace(P, true, [call]),
    P ! go,
    receive {'DOWN', Ref, _, _, _} -> ok end,
    Told = erlang:trace_delivered(P),
    receive {trace_delivered, P, Told} -> ok end,
    erlang:trace_pattern(MFA, false, [local]),
    code:purge(agent_calls),
    told(P, MFA, false).

told(P, {M, F, A} = MFA, Seen) ->
    receive
        {trace, P, call, {M, F, Args}} when length(Args) =:= A -> told(P, MFA, true);
        {trace, P, _, _} -> told(P, MFA, Seen)
    after 0 -> Seen
    end.

wait(F) -> wait(F, erlang:monotonic_time(millisecond) + etreport:patience()).

wait(F, End) ->
    case F() of
        true ->
            ok;
        Not ->
            erlang:monotonic_time(millisecond) < End orelse error({failed_to_happen, Not}),
            timer:sleep(5),
            wait(F, End)
    end.

%% Bytes of the node's mappings.
address_space() ->
    {ok, Text} = file:read_file("/proc/self/status"),
    {match, [KiB]} = re:run(Text, "VmSize:\\s+([0-9]+)", [{capture, [1], binary}]),
    binary_to_integer(KiB) * 1024.

%% Nothing of the agent anywhere in the node.
clean(When) ->
    try
        wait(fun() -> whereis(erltrace_agent) =:= undefined end),
        wait(fun() -> not lists:any(fun(M) -> code:is_loaded(M) =/= false orelse erlang:check_old_code(M) end, modules()) end),
        persistent_term:get(stays_mapped, false) orelse wait(fun() -> not mapped() end),
        ?equal([], [P || P <- processes(), traced(P)]),
        ?equal({flags, []}, erlang:trace_info(new_processes, flags)),
        ?equal([], [MFA || {M, _} <- code:all_loaded(), {F, A} <- erlang:get_module_info(M, functions),
                           MFA <- [{M, F, A}],
                           erlang:trace_info(MFA, traced) =/= {traced, false} orelse
                               not lists:member(erlang:trace_info(MFA, meta), [{meta, false}, {meta, undefined}])]),
        otp() < 27 orelse (?equal([{legacy, default}], apply(trace, session_info, [all]) -- [])),
        ?equal({ok, []}, file:list_dir(os:getenv("TMPDIR"))) % where the library is placed first
    catch error:E:S -> error({not_clean, When, E, S})
    end.

mapped() ->
    case file:read_file("/proc/self/maps") of
        {ok, B} -> binary:match(B, <<"erltrace_agent.so">>) =/= nomatch;
        {error, _} -> false
    end.

traced(P) ->
    case erlang:trace_info(P, flags) of
        {flags, [_ | _]} -> true;
        _ -> false
    end.

guard() ->
    wait(fun() -> is_pid(whereis(erltrace_agent_guard)) end),
    whereis(erltrace_agent_guard).

%% What is set on a function, in any session.
patterns(MFA) ->
    All = case otp() >= 27 of
              true -> [try apply(trace, info, [S, MFA, all]) catch error:badarg -> gone end || S <- apply(trace, session_info, [all])];
              false -> [erlang:trace_info(MFA, all)]
          end,
    [P || {all, P} <- All, P =/= false].

work(F, N) -> {agent_work, F, N}.

%% -- the tests -----------------------------------------------------------------------------------------------

test(life) ->
    A = open(),
    {ok, Modules} = call(A, modules),
    ?assert(lists:member(lists, Modules)),
    ?assert(not lists:member(erltrace_agent, Modules)),
    ?equal(Modules, lists:sort(Modules)),
    {ok, [{agent_work, Fs, [{4, Private}]}]} = call(A, {functions, [agent_work]}), % PROBE_FN_PRIVATE
    ?equal(lists:sort(agent_work:module_info(functions) -- agent_work:module_info(exports)), lists:sort(Private)),
    ?assert(lists:member({leaf, 1}, Fs)),
    {ok, {none, <<"is not loaded">>}} = call(A, {debug_info, a_module_that_is_not}),
    {ok, {none, <<"was loaded from no file (preloaded)">>}} = call(A, {debug_info, erlang}),
    {error, 'AGENT_REQUEST', _, _} = call(A, {debug_info, "lists"}),
    ?assert(case call(A, {debug_info, lists}) of
                {ok, {found, <<_, _/binary>>, Md5}} -> Md5 =:= lists:module_info(md5);
                {ok, {none, <<_, _/binary>>}} -> true
            end),
    ?equal([], start(A, [])),
    {running, #{records := [], aggs := G}, []} = read(A),
    ?equal(#{}, G),
    ?equal([], [P || P <- processes(), traced(P)]),
    #{counts := Counts} = finish(A),
    [0, [] | Zeros] = lists:reverse(tuple_to_list(Counts)),
    ?equal([0], lists:usort(Zeros));

test(calls_are_counted) ->
    code:ensure_loaded(agent_work),
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}, {?ENTRY, work(calls, 1), ?COUNT}]),
    Ps = [spawn_monitor(agent_work, calls, [1009]) || _ <- lists:seq(1, 7)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    ?equal([], [P || P <- processes(), traced(P)]), % meta tracing needs no flags
    {running, #{aggs := G1}, _} = read(A),
    agent_work:calls(3),
    #{aggs := G2, counts := C} = finish(A),
    ?equal(#{{<<"entry">>, <<"leaf/1">>} => 7 * 1009 + 3, {<<"entry">>, <<"calls/1">>} => 7 * 1010 + 4}, added(G1, G2)),
    ?equal(14 * 1009 + 14, element(1, C)),
    ?equal(0, element(tuple_size(C), C)), % all of the node
    ?equal(element(1, C), element(3, C));

test(begin_end_tick_exit_error) ->
    Begun = erlang:monotonic_time(millisecond),
    A = trace([{?BEGIN_, [], ?COUNT}, {?END_, [], ?COUNT}, {?TICK, {20000000, <<"tick-20ms">>}, ?COUNT}, {?BEGIN_, [], ?FAULT}, {?ERROR, [], ?COUNT}]),
    {G1, R1} = read_until(A, fun(Sum) -> maps:get({<<"tick-20ms">>, <<>>}, Sum, 0) >= 3 end),
    #{aggs := G2, records := R2} = finish(A),
    Took = erlang:monotonic_time(millisecond) - Begun,
    {G, R} = {added(G1, G2), R1 ++ R2},
    ?equal([{<<"BEGIN">>, <<>>}, {<<"END">>, <<>>}, {<<"ERROR">>, <<>>}, {<<"tick-20ms">>, <<>>}], lists:sort(maps:keys(G))),
    #{{<<"BEGIN">>, <<>>} := 1, {<<"END">>, <<>>} := 1, {<<"ERROR">>, <<>>} := 1, {<<"tick-20ms">>, <<>>} := N} = G,
    ?assert(N =< Took div 20 + 1), % late ones are not made up for
    ?equal([16#ffffffff], [E || #{epid := E} <- R]),
    %% exit()
    B = trace([{?ENTRY, work(leaf, 1), ?DO_EXIT}, {?ENTRY, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    agent_work:leaf(1),
    agent_work:outer(1),
    {exiting, #{counts := C}, _} = read(B),
    ?equal(1, element(2, C)),
    wait(fun() -> not lists:any(fun traced/1, processes()) end), % without stop
    finish(B);

test(returns) ->
    A = trace([{K, work(F, 1), ?COUNT} || K <- [?ENTRY, ?RETURN], F <- [leaf, outer]]),
    otp() >= 27 orelse ?assert(traced(whereis(init))), % not a session's flags
    {_, normal} = agent_work:run(fun() -> [agent_work:outer(N) || N <- lists:seq(1, 1013)], ok end),
    #{aggs := G} = finish(A),
    ?equal(lists:sort([{{K, F}, 1013} || K <- [<<"entry">>, <<"return">>], F <- [<<"leaf/1">>, <<"outer/1">>]]),
           lists:sort(maps:to_list(G)));

%% One function is watched without its callers, until another one joins.
test(returns_of_one_function) ->
    C1 = client(), C2 = client(),
    [] = c(C1, [{K, work(body, 1), ?COUNT} || K <- [?ENTRY, ?RETURN]]),
    otp() >= 27 orelse ?equal({match_spec, []}, erlang:trace_info(work(body, 1), match_spec)),
    {_, normal} = agent_work:run(fun() -> 100 = agent_work:body(100), ok end),
    [] = c(C2, [{K, work(F, 1), ?COUNT} || K <- [?ENTRY, ?RETURN], F <- [leaf, outer]]),
    otp() >= 27 orelse ?assert({match_spec, []} =/= erlang:trace_info(work(body, 1), match_spec)),
    {_, normal} = agent_work:run(fun() -> 100 = agent_work:body(100), agent_work:outer(1), ok end),
    #{aggs := G2} = c(C2, finish),
    otp() >= 27 orelse ?equal({match_spec, []}, erlang:trace_info(work(body, 1), match_spec)),
    {_, normal} = agent_work:run(fun() -> 100 = agent_work:body(100), agent_work:outer(1), ok end),
    #{aggs := G1} = c(C1, finish),
    ?equal([{{<<"entry">>, <<"body/1">>}, 303}, {{<<"return">>, <<"body/1">>}, 303}], lists:sort(maps:to_list(G1))),
    ?equal([{{K, F}, 1} || K <- [<<"entry">>, <<"return">>], F <- [<<"leaf/1">>, <<"outer/1">>]],
           lists:sort(maps:to_list(G2)));

%% A function goes to and fro between meta and local pattern while it is called: every call counts once.
test(switched_under_load) ->
    C1 = client(),
    [] = c(C1, [{?ENTRY, work(leaf, 1), ?COUNT}]),
    Me = self(),
    Stop = counters:new(1, []),
    Ps = [spawn_link(fun() -> Me ! {calls, call_until(Stop, 0)} end) || _ <- [1, 2, 3]],
    [begin
         C = client(),
         [] = c(C, [{?RETURN, work(leaf, 1), ?COUNT}]),
         c(C, close)
     end || _ <- lists:seq(1, 40)],
    counters:put(Stop, 1, 1),
    N = lists:sum([receive {calls, X} -> X end || _ <- Ps]),
    #{aggs := G} = c(C1, finish),
    ?equal(#{{<<"entry">>, <<"leaf/1">>} => N}, G);

test(tail_calls_return_once) ->
    A = trace([{K, work(F, 1), ?COUNT} || K <- [?ENTRY, ?RETURN], F <- [leaf, chain]]),
    {_, normal} = agent_work:run(fun() -> 0 = agent_work:chain(5), 0 = agent_work:chain(7), ok end),
    #{aggs := G} = finish(A),
    ?equal([{{<<"entry">>, <<"chain/1">>}, 14}, {{<<"entry">>, <<"leaf/1">>}, 2}, {{<<"return">>, <<"leaf/1">>}, 2}],
           lists:sort(maps:to_list(G)));

test(tail_loop_is_flat) ->
    A = trace([{K, work(tail, 1), ?COUNT} || K <- [?ENTRY, ?RETURN]]),
    N = 1000000,
    Me = self(),
    {_, normal} = agent_work:run(fun() ->
                                     done = agent_work:tail(N),
                                     Me ! process_info(self(), [total_heap_size, stack_size]),
                                     ok
                                 end),
    receive [{total_heap_size, H}, {stack_size, S}] -> ?assert(H < 5000 andalso S < 500) end,
    #{aggs := G} = finish(A),
    ?equal([{{<<"entry">>, <<"tail/1">>}, N + 1}, {{<<"return">>, <<"tail/1">>}, 1}], lists:sort(maps:to_list(G)));

test(body_recursion) ->
    A = trace([{K, work(F, 1), ?COUNT} || K <- [?ENTRY, ?RETURN], F <- [body, even, odd]]),
    {_, normal} = agent_work:run(fun() -> 3001 = agent_work:body(3001), true = agent_work:even(30), ok end),
    #{aggs := G} = finish(A),
    ?equal([{{K, F}, N} || K <- [<<"entry">>, <<"return">>],
                           {F, N} <- [{<<"body/1">>, 3002}, {<<"even/1">>, 16}, {<<"odd/1">>, 15}]],
           lists:sort(maps:to_list(G)));

test(returns_and_exceptions) ->
    A = trace([{K, work(F, 1), ?COUNT} || K <- [?ENTRY, ?RETURN, ?EXCEPTION], F <- [catcher, far, thrower]]),
    {_, normal} = agent_work:run(fun() -> [caught = agent_work:catcher(N) || N <- lists:seq(1, 101)], ok end),
    #{aggs := G} = finish(A),
    ?equal([{{<<"entry">>, F}, 101} || F <- [<<"catcher/1">>, <<"far/1">>, <<"thrower/1">>]] ++
           [{{<<"exception">>, F}, 101} || F <- [<<"far/1">>, <<"thrower/1">>]] ++
           [{{<<"return">>, <<"catcher/1">>}, 101}], lists:sort(maps:to_list(G)));

test(exceptions_alone) ->
    A = trace([{?EXCEPTION, work(far, 1), ?COUNT}, {?EXCEPTION, work(thrower, 1), ?ARG3}]),
    ?equal([], [P || P <- processes(), traced(P)]),
    caught = agent_work:catcher(1),
    #{aggs := G, records := [#{data := D}]} = finish(A),
    ?equal([<<"exception">>, <<"throw">>], strings(D)),
    ?equal(#{{<<"exception">>, <<"far/1">>} => 1}, G);

test(exception_frames_are_bounded) ->
    A = trace([{K, work(F, 1), ?COUNT} || K <- [?ENTRY, ?EXCEPTION], F <- [tail, thrower, far]]),
    N = 3000000,
    Me = self(),
    put(stacks, []),
    {Looped, M} = spawn_monitor(fun() ->
                                    done = agent_work:tail(N),
                                    Me ! process_info(self(), total_heap_size)
                                end),
    Look = fun(Look) ->
               case process_info(Looped, stack_size) of
                   {stack_size, Words} -> put(stacks, [Words | get(stacks)]), Look(Look);
                   undefined -> ok
               end
           end,
    Look(Look),
    receive {'DOWN', M, process, Looped, normal} -> ok end,
    receive {total_heap_size, H} -> ?assert(H < 1000000) end,
    %% The VM walks them all at each traced call: there are few, also before the probe is off.
    ?assert(lists:max(get(stacks)) < 8000),
    wait(fun() -> {_, _, W} = read(A), [] =/= [T || T <- W, binary:match(T, <<"agent_work:tail/1">>) =/= nomatch] end),
    %% the rest works on
    {_, normal} = agent_work:run(fun() -> caught = agent_work:catcher(1), ok end),
    #{aggs := G} = finish(A),
    ?equal(1, maps:get({<<"exception">>, <<"far/1">>}, G)),
    ?equal(1, maps:get({<<"exception">>, <<"thrower/1">>}, G));

%% A program that has been placed does not run yet, but its calls leave frames.
test(frames_before_it_runs) ->
    A = open(),
    {ok, _, []} = call(A, {enable, file("build/test/agent/image.dif"), [], bindings([{?EXCEPTION, work(tail, 1), ?COUNT}])}),
    {ok, [], _} = call(A, place),
    ?assert(words_of_stack(fun() -> done = agent_work:tail(30000) end, 1) < 8000),
    ok = call(A, close);

%% Thirty functions call each other in turn. While their patterns are cleared, one after the other, the others still leave frames.
test(frames_while_they_go) ->
    Names = [list_to_atom("f" ++ integer_to_list(I)) || I <- lists:seq(0, 29)],
    Forms = [{function, 1, F, 1, [{clause, 1, [{integer, 1, 0}], [], [{atom, 1, done}]},
                                  {clause, 1, [{var, 1, 'N'}], [], [{call, 1, {atom, 1, G}, [{op, 1, '-', {var, 1, 'N'}, {integer, 1, 1}}]}]}]}
             || {F, G} <- lists:zip(Names, tl(Names) ++ [hd(Names)])],
    {ok, M, Beam} = compile:forms([{attribute, 1, module, agent_piles}, {attribute, 1, export, [{F, 1} || F <- Names]} | Forms]),
    {module, M} = code:load_binary(M, "agent_piles", Beam),
    A = trace([{?EXCEPTION, {M, F, 1}, ?COUNT} || F <- Names]),
    ?assert(words_of_stack(fun() -> done = M:f0(300000) end, 4) < 8000),
    wait(fun() -> {_, _, W} = read(A), [] =/= [T || T <- W, binary:match(T, <<"pile up">>) =/= nomatch] end),
    finish(A),
    true = code:delete(M),
    true = code:soft_purge(M);

test(spawns_and_exits) ->
    A = trace([{?SPAWN, [], ?TEXTS}, {?EXIT, [], ?TEXTS}]),
    Ps = [spawn_monitor(agent_work, child, []) || _ <- lists:seq(1, 211)],
    [receive {'DOWN', M, process, P, normal} -> ok end || {P, M} <- Ps],
    {F, normal} = agent_work:run(fun() -> ok end),
    {K, M1} = spawn_monitor(fun() -> exit({shutdown, "why", [1, 2.5, <<"x">>, #{a => b}]}) end),
    receive {'DOWN', M1, process, K, _} -> ok end,
    #{records := R, counts := C} = finish(A),
    ?equal(0, element(7, C)),
    T = [texts(X) || X <- R],
    Pids = lists:sort([text(P) || {P, _} <- Ps]),
    ?equal(Pids, lists:sort([P || {<<"process-spawn">>, P, <<"agent_work:child/0">>, 0} <- T])),
    ?equal(Pids, lists:sort([P || {<<"process-exit">>, P, <<"normal">>, 0} <- T, lists:member(P, Pids)])),
    FP = text(F),
    ?assert(lists:member({<<"process-spawn">>, FP, <<"erlang:apply/2">>, 0}, T)),
    KP = text(K),
    [Reason] = [X || {<<"process-exit">>, P, X, _} <- T, P =:= KP],
    ?equal(<<"{shutdown,\"why\",[1,2.5,<<\"x\">>,#{a => b}]}">>, Reason);

test(messages) ->
    A = trace([{?SEND, [], ?TEXTS}, {?QUEUED, [], ?INTS}]),
    Pong = spawn(agent_work, ponger, []),
    register(agent_test_pong, Pong),
    {Ping, normal} = agent_work:run(fun() -> agent_work:pinger(Pong, 997) end),
    {Named, normal} = agent_work:run(fun() ->
                                         agent_test_pong ! {self(), x},
                                         receive {Pong, pong} -> ok end,
                                         catch agent_test_nobody ! x,
                                         erlang:send({agent_test_pong, node()}, [1, 2, 3]),
                                         ok
                                     end),
    Pong ! stop,
    wait(fun() -> not is_process_alive(Pong) end),
    #{records := R, counts := C} = finish(A),
    ?equal(0, element(7, C)),
    [PingT, PongT, NamedT] = [text(P) || P <- [Ping, Pong, Named]],
    Sends = [{F, T, S} || X <- R, {<<"message-send">>, F, T, S} <- [catch texts(X)]],
    ?equal(997, length([x || {F, T, 3} <- Sends, F =:= PingT, T =:= PongT])),
    ?equal(997, length([x || {F, T, 3} <- Sends, F =:= PongT, T =:= PingT])),
    ?equal([{PongT, 3}, {PongT, 6}], [{T, S} || {F, T, S} <- Sends, F =:= NamedT]),
    Queued = [{P, S, L} || X <- R, {<<"message-queued">>, P, S, L} <- [catch ints(X)]],
    ?equal(997, length([x || {P, 3, 16#ffffffff} <- Queued, P =:= PingT])),
    ?equal(1, length([x || {P, 0, 16#ffffffff} <- Queued, P =:= PingT])); % `go`

test(scheduling) ->
    A = trace([{?IN, [], ?TEXTS}, {?OUT, [], ?TEXTS}]),
    P = spawn(agent_work, ponger, []),
    agent_work:pinger(P, 10),
    P ! stop,
    wait(fun() -> not is_process_alive(P) end),
    #{records := R} = finish(A),
    PT = text(P),
    Mine = [{N, M} || X <- R, {N, Q, M, _} <- [catch texts(X)], Q =:= PT],
    In = [M || {<<"process-scheduled">>, M} <- Mine],
    ?assert(length(In) >= 2),
    ?assert(lists:member(hd(In), [<<"agent_work:ponger/0">>, <<"erts_beamasm:process_main/0">>])),
    ?assert(lists:member(<<"agent_work:ponger/0">>, In));

test(collections) ->
    A = open(),
    case start(A, [{?GC_MAJOR_START, [], ?INTS}, {?GC_MAJOR_END, [], ?INTS}]) of
        [] -> ok
    end,
    {P, normal} = agent_work:run(fun() -> agent_work:collect(23) end),
    #{records := R} = finish(A),
    PT = text(P),
    L = [N || X <- R, {N, Q, W, _} <- [ints(X)], Q =:= PT, W >= 0],
    ?equal(23, length([x || <<"gc_major-start">> <- L])),
    ?equal(23, length([x || <<"gc_major-end">> <- L]));

test(vtimestamp) ->
    A = open(),
    ?equal([], start(A, "build/test/agent/image_v.dif", [{?ENTRY, work(noop, 0), ?TIME}])),
    T0 = erlang:monotonic_time(nanosecond),
    {_, normal} = agent_work:run(fun() ->
                                     receive after 5 -> ok end,
                                     agent_work:noop(),
                                     receive after 200 -> ok end,
                                     agent_work:noop(),
                                     burn(erlang:monotonic_time(millisecond) + 30),
                                     agent_work:noop()
                                 end),
    All = erlang:monotonic_time(nanosecond) - T0,
    #{records := R} = finish(A),
    [A1, A2, A3] = [V || #{data := <<5:32/little, "entry", V:64/little>>} <- R],
    ?assert(A2 - A1 < 100000000), % the sleep does not count
    ?assert(A3 - A2 > 5000000),
    ?assert(A3 =< All);

%% What `clock` says is what D's clocks show: before a call is not after it.
test(clocks) ->
    A = trace([{?ENTRY, work(noop, 0), ?TIME}]),
    Wall = os:system_time(nanosecond),
    {ok, {B1, W1, E1}} = call(A, clock),
    {_, normal} = agent_work:run(fun() -> agent_work:noop() end),
    {ok, {B2, W2, E2}} = call(A, clock),
    #{records := R} = finish(A),
    [At] = [V || #{data := <<5:32/little, "entry", V:64/little>>} <- R],
    ?equal([B1, E1, At, B2, E2], lists:sort([B1, E1, At, B2, E2])),
    ?equal([Wall, W1, W2], lists:sort([Wall, W1, W2]));

test(arguments) ->
    A = trace([{?ENTRY, work(leaf, 1), ?TEXTS}, {?RETURN, work(leaf, 1), ?TEXTS}, {?ENTRY, work(outer, 1), ?TEXTS}]),
    {P, normal} = agent_work:run(fun() -> agent_work:outer(1), ok end),
    #{records := R} = finish(A),
    PT = text(P),
    ?equal([{<<"entry">>, PT, <<"agent_work:outer/1">>, -1}, {<<"entry">>, PT, <<"agent_work:leaf/1">>, -1},
            {<<"return">>, PT, <<"agent_work:leaf/1">>, -1}], [texts(X) || X <- R]);

test(two_consumers) ->
    C1 = client(), C2 = client(),
    [] = c(C1, [{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    agent_work:calls(10),
    [] = c(C2, [{?ENTRY, work(leaf, 1), ?COUNT}, {?RETURN, work(leaf, 1), ?COUNT}, {?SEND, [], ?COUNT}]),
    {_, normal} = agent_work:run(fun() -> agent_work:calls(100) end),
    {flags, Fl} = erlang:trace_info(whereis(init), flags),
    otp() >= 27 orelse ?equal(lists:sort([procs, send, call, return_to, arity]), lists:sort(Fl)),
    #{aggs := G2} = c(C2, finish),
    agent_work:calls(1000),
    {flags, Fl1} = erlang:trace_info(whereis(init), flags),
    otp() >= 27 orelse ?equal([procs], Fl1),
    otp() >= 27 orelse ?equal({traced, false}, erlang:trace_info(work(leaf, 1), traced)),
    #{aggs := G1} = c(C1, finish),
    ?equal(100, maps:get({<<"entry">>, <<"leaf/1">>}, G2)),
    ?equal(100, maps:get({<<"return">>, <<"leaf/1">>}, G2)),
    ?equal(1110, maps:get({<<"entry">>, <<"leaf/1">>}, G1));

%% When all programs are over their limits the VM need not make events, before the server knows of it; and when another one comes it does.
test(over_its_limit) ->
    A = open(),
    [] = start(A, "build/test/agent/image.dif", [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {maxload, 1}], [{?ENTRY, work(leaf, 1), ?COUNT}]),
    Gate = fun() -> erltrace_agent:enabled(send, self(), []) end,
    ?equal(trace, Gate()),
    true = erlang:suspend_process(A),
    wait(fun() -> agent_work:calls(10000), Gate() =:= discard end),
    true = erlang:resume_process(A),
    wait(fun() -> {State, _, _} = read(A), State =:= overload end),
    other(fun() ->
              B = trace([{?ENTRY, work(outer, 1), ?COUNT}]),
              ?equal(trace, Gate()),
              agent_work:outer(1),
              #{aggs := #{{<<"entry">>, <<"outer/1">>} := 1}} = finish(B)
          end),
    finish(A);

test(consumer_killed) ->
    C1 = client(), C2 = client(),
    [] = c(C1, [{?RETURN, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    [] = c(C2, [{?ENTRY, work(outer, 1), ?COUNT}]),
    exit(C1, kill),
    wait(fun() -> not lists:any(fun traced/1, processes()) end),
    agent_work:outer(1),
    #{aggs := G} = c(C2, finish),
    ?equal(#{{<<"entry">>, <<"outer/1">>} => 1}, G);

test(lease_runs_out) ->
    A = outlives([1000, 2000, 4000, 8000]),
    wait(fun() -> not is_process_alive(A) end);

test(closed_in_the_middle) ->
    A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    ok = call(A, close);

test(server_killed) ->
    A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    exit(A, kill),
    wait(fun() -> not lists:any(fun traced/1, processes()) end);

%% Code that has just been loaded when the server is killed keeps nothing, though it is called for the first time, and so its patterns
%% change their look, while they are being taken away.
%% A guard that comes while that of an agent before it is still at work has the name, by which consumers wait for it, when that has ended.
test(guard_takes_its_name) ->
    Before = spawn(fun() -> receive stop -> ok end end),
    register(erltrace_agent_guard, Before),
    A = open(),
    _ = start(A, [{?ENTRY, work(leaf, 1), ?COUNT}]),
    ?equal(Before, whereis(erltrace_agent_guard)),
    Before ! stop,
    wait(fun() -> not lists:member(whereis(erltrace_agent_guard), [undefined, Before]) end),
    finish(A);

%% The server is killed when it has told its guard what it is about to set, and has not changed the pattern that a function has. (It is held there
%% by a process that does not run: before OTP 27 processes are asked whose they are, unless it is known that nobody else has any.)
test(killed_while_changing) ->
    Other = spawn(fun() -> receive stop -> ok end end),
    Idle = fun() -> receive stop -> ok end end,
    [P, Free] = [spawn_opt(Idle, [{scheduler, N}]) || N <- [1, 2]],
    1 = erlang:trace(Other, true, [send, {tracer, self()}]),
    A = open(),
    _ = start(A, [{?RETURN, work(leaf, 1), ?COUNT}]),
    C = client(),
    Hog = hog(1),
    C ! {self(), [{?RETURN, work(outer, 1), ?COUNT}, {?SEND, [], ?COUNT}]},
    Last = held(A, Hog),
    exit(A, kill),
    exit(C, kill),
    no_hog(Last),
    wait(fun() -> whereis(erltrace_agent) =:= undefined andalso whereis(erltrace_agent_guard) =:= undefined end),
    ?equal([], patterns(work(leaf, 1))),
    1 = erlang:trace(Other, false, [all]),
    [Q ! stop || Q <- [P, Free, Other]];

test(killed_while_loading) ->
    N = 2000,
    Name = fun(I) -> list_to_atom("f" ++ integer_to_list(I)) end,
    {ok, M, Beam} = compile:forms([{attribute, 1, module, agent_fresh}, {attribute, 1, export, [{Name(I), 0} || I <- lists:seq(1, N)]} |
                                   [{function, 1, Name(I), 0, [{clause, 1, [], [], [{integer, 1, I}]}]} || I <- lists:seq(1, N)]]),
    A = open(),
    [] = start(A, "build/test/agent/image.dif", [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {loads, 1}],
               [{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    {module, M} = code:load_binary(M, "agent_fresh.beam", Beam),
    Gone = erlang:monitor(process, A),
    exit(A, kill),
    receive {'DOWN', Gone, process, A, killed} -> ok end,
    [begin M:F(), agent_work:calls(10000) end || I <- lists:seq(N, 1, -1), F <- [Name(I)]],
    wait(fun() -> whereis(erltrace_agent) =:= undefined andalso code:is_loaded(erltrace_agent) =:= false end),
    ?equal([], [{F, P} || F <- M:module_info(functions), P <- patterns({M, element(1, F), element(2, F)})]),
    code:delete(M),
    code:purge(M);

%% When the server is killed no event reaches a program any more, however long it takes until everything is away: here a scheduler is
%% held, without which no pattern is taken off (before OTP 27; later the session ends by itself).
test(gate_first) ->
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}]),
    ?equal(trace, erltrace_agent:enabled(send, self(), [])),
    Closed = fun() -> erltrace_agent:enabled(send, self(), []) =/= trace end,
    case otp() < 27 of
        true ->
            internal_state(true),
            Asleep = spawn(fun() -> erts_debug:set_internal_state(sleep, 3000) end),
            exit(A, kill),
            wait(Closed),
            Still = patterns(work(leaf, 1)) =/= [],
            ?assert(Still orelse not is_process_alive(Asleep)),
            internal_state(false);
        false ->
            exit(A, kill),
            wait(Closed)
    end;

%% What an earlier agent has left asks for its tracer between the loading of the library and its start: that is nobody's, and not the
%% end of the new one.
test(asked_before_start) ->
    M = library(),
    ?equal(discard, M:enabled(trace_status, self(), [])),
    ok = M:nif_start(otp(), node()),
    ?equal(trace, M:enabled(trace_status, self(), [])),
    code:delete(M), code:purge(M);

%% Before OTP 27 a process that is asked about its tracer asks that tracer among its signals, and when it goes there, the next of them that
%% is a message ends the VM. So the tracer of a dead server stays until it is taken off, and is silent.
test(asked_when_dead) ->
    M = library(),
    Me = self(),
    {Server, Monitor} = spawn_monitor(fun() -> ok = M:nif_start(otp(), node()), Me ! started, receive stop -> ok end end),
    receive started -> ok end,
    P = spawn(fun() -> receive stop -> ok end end),
    1 = erlang:trace(P, true, ['receive', {tracer, M, []}]),
    Server ! stop,
    receive {'DOWN', Monitor, process, Server, _} -> ok end,
    Legacy = otp() < 27,
    ?equal(if Legacy -> discard; true -> remove end, M:enabled(trace_status, Me, [])),
    ?equal([discard], lists:usort([M:enabled(Tag, Me, []) || Tag <- [call, 'receive', send, in, out, exit, gc_minor_start, spawned]])),
    ?equal({tracer, if Legacy -> {M, []}; true -> [] end}, erlang:trace_info(P, tracer)),
    1 = erlang:trace(P, false, [all]),
    P ! stop,
    code:delete(M), code:purge(M);

test(foreign_process_tracer) ->
    Other = spawn(fun() -> receive stop -> ok end end),
    P = spawn(agent_work, server, []),
    1 = erlang:trace(P, true, [send, {tracer, Other}]),
    A = open(),
    W = start(A, [{?SEND, [], ?COUNT}]),
    case otp() of
        N when N < 27 ->
            [T] = W,
            ?assert(binary:match(T, list_to_binary(pid_to_list(Other))) =/= nomatch);
        _ -> ?equal([], W)
    end,
    ?equal({tracer, Other}, erlang:trace_info(P, tracer)),
    finish(A),
    ?equal({flags, [send]}, erlang:trace_info(P, flags)),
    P ! stop, Other ! stop,
    wait(fun() -> not is_process_alive(P) andalso not is_process_alive(Other) end);

test(foreign_meta_tracer) ->
    Other = spawn(fun() -> receive stop -> ok end end),
    1 = erlang:trace_pattern(work(leaf, 1), true, [{meta, Other}]),
    A = open(),
    W = start(A, [{?ENTRY, work(leaf, 1), ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}]),
    agent_work:outer(1),
    #{aggs := G} = finish(A),
    ?equal({meta, Other}, erlang:trace_info(work(leaf, 1), meta)),
    1 = erlang:trace_pattern(work(leaf, 1), false, [meta]),
    case otp() of
        N when N < 27 ->
            [T] = W,
            ?assert(binary:match(T, <<"agent_work:leaf/1">>) =/= nomatch),
            ?equal(#{{<<"entry">>, <<"outer/1">>} => 1}, G);
        _ -> ?equal(2, map_size(G))
    end,
    Other ! stop;

test(foreign_pattern) ->
    1 = erlang:trace_pattern(work(leaf, 1), [{'_', [], [{return_trace}]}], [local]),
    A = open(),
    W = start(A, [{?RETURN, work(leaf, 1), ?COUNT}, {?RETURN, work(outer, 1), ?COUNT}]),
    otp() >= 27 orelse ?equal(1, length(W)),
    {_, normal} = agent_work:run(fun() -> [agent_work:outer(N) || N <- lists:seq(1, 10)], [agent_work:leaf(N) || N <- [1, 2, 3]], ok end),
    #{aggs := G} = finish(A),
    %% The other's pattern tells us of leaf/1, too, in processes that are ours.
    ?equal(#{{<<"return">>, <<"outer/1">>} => 10, {<<"return">>, <<"leaf/1">>} => 13}, G),
    ?equal({match_spec, [{'_', [], [{return_trace}]}]}, erlang:trace_info(work(leaf, 1), match_spec)),
    1 = erlang:trace_pattern(work(leaf, 1), false, [local]);

test(wiped_is_reported) ->
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    otp() < 27 andalso begin
        erlang:trace_pattern(work(leaf, 1), false, [meta]),
        [erlang:trace(P, false, [all]) || P <- processes()],
        erlang:trace(new_processes, false, [all]),
        wait(fun() -> {_, _, W} = read(A), put(w, W ++ case get(w) of undefined -> []; O -> O end), length(get(w)) >= 2 end)
    end,
    finish(A);

test(reloaded_is_reported) ->
    {agent_work, Beam, File} = code:get_object_code(agent_work),
    A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}]),
    code:purge(agent_work),
    {module, agent_work} = code:load_binary(agent_work, File, Beam),
    agent_work:outer(1),
    otp() >= 27 orelse wait(fun() -> {_, _, W} = read(A), W =/= [] end),
    finish(A),
    code:purge(agent_work);

%% Code is loaded between `place` and `go`, and again later, while it is still under watch: a program that counts gets the calls since `go`, each once.
test(counted_code_loaded_before) ->
    {agent_work, Beam, File} = code:get_object_code(agent_work),
    Load = fun() -> code:purge(agent_work), {module, agent_work} = code:load_binary(agent_work, File, Beam) end,
    Calls = fun(N) -> [agent_work:leaf(X) || X <- lists:seq(1, N)] end,
    A = open(),
    {ok, _, []} = call(A, {enable, file("build/test/agent/image.dif"), [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {dynvarsize, 1 bsl 20}, {loads, 1}],
                           [{1, ?COUNT, 1, ?ENTRY + ?USE_COUNT, work(leaf, 1)}]}),
    {ok, [], Placed} = call(A, place),
    ?equal(case otp() >= 27 of true -> 1; false -> 0 end, proplists:get_value(counted, Placed)),
    Load(),
    Calls(101),
    ok = call(A, go),
    Calls(7),
    Load(),
    Calls(31),
    #{aggs := G, counts := C} = finish(A),
    ?equal(#{{<<"entry">>, <<"leaf/1">>} => 38}, G),
    ?equal(0, lists:sum(lists:sublist(tuple_to_list(C), 7, tuple_size(C) - 8))), % drops
    code:purge(agent_work);

%% A module with many functions is loaded, and one of them has a probe: the others are let go one by one, and meanwhile the consumer is
%% heard, and so are others.
test(let_go_bit_by_bit) ->
    N = 1000,
    Name = fun(I) -> list_to_atom("f" ++ integer_to_list(I)) end,
    Function = fun(I) -> {function, 1, Name(I), 0, [{clause, 1, [], [], [{integer, 1, I}]}]} end,
    {ok, M, Beam} = compile:forms([{attribute, 1, module, agent_many}, {attribute, 1, compile, export_all} |
                                   [Function(I) || I <- lists:seq(1, N)]], []),
    Wanted = [{?RETURN, {M, f1, 0}, ?COUNT}, {?RETURN, work(leaf, 1), ?COUNT}],
    Left = fun() -> [FA || {F, A} = FA <- M:module_info(functions), patterns({M, F, A}) =/= []] end,
    {module, M} = code:load_binary(M, "agent_many.beam", Beam),
    Heard = fun Heard(Tries) ->
                A = open(),
                ?equal([], start(A, "build/test/agent/image.dif", [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {loads, 1}], Wanted)),
                code:purge(M),
                {module, M} = code:load_binary(M, "agent_many.beam", Beam),
                Serial = receive {erltrace, loaded, Serial0, [M]} -> Serial0 after etreport:patience() -> error(not_told) end,
                {ok, []} = call(A, {extend, Serial, []}),
                true = erlang:suspend_process(A),
                Midst = Left() =/= [{f1, 0}], % and we have been answered
                true = erlang:resume_process(A),
                wait(fun() -> Left() =:= [{f1, 0}] end),
                agent_work:run(fun() -> M:f1(), M:f2(), M:f1() end),
                #{aggs := G} = finish(A),
                ?equal(#{{<<"return">>, <<"f1/0">>} => 2}, G),
                ?equal([], Left()),
                Midst orelse (Tries > 1 andalso Heard(Tries - 1))
            end,
    ?assert(Heard(5)),
    code:purge(M),
    code:delete(M),
    code:purge(M);

test(whole_module) ->
    Fs = lists:usort(agent_work:module_info(functions)),
    A = trace([{?ENTRY, {agent_work, F, N}, ?COUNT} || {F, N} <- Fs]),
    agent_work:calls(5),
    ok = call(A, stop),
    ?equal([], [F || {F, N} <- Fs, {meta, T} <- [erlang:trace_info({agent_work, F, N}, meta)],
                     T =/= false, T =/= [], T =/= undefined]),
    #{aggs := G} = drain(A),
    ok = call(A, close),
    ?equal([{{<<"entry">>, <<"calls/1">>}, 6}, {{<<"entry">>, <<"leaf/1">>}, 5}], lists:sort(maps:to_list(G)));

%% The server answers while it sets and clears patterns, each of which takes long as schedulers are held; a consumer that is killed
%% meanwhile ends the work for it.
test(heard_meanwhile) ->
    Modules = [list_to_atom("agent_tiny_" ++ integer_to_list(I)) || I <- lists:seq(1, 20)],
    [begin
         {ok, M, Code} = compile:forms([{attribute, 1, module, M}, {attribute, 1, export, [{f, 0}]},
                                        {function, 1, f, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}]),
         {module, M} = code:load_binary(M, "tiny", Code)
     end || M <- Modules],
    Tiny = [{?ENTRY, {M, f, 0}, ?COUNT} || M <- Modules],
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}]),
    C1 = client(),
    internal_state(true),
    Held = [spawn_opt(fun() -> process_flag(sensitive, true), hold_scheduler() end, [{scheduler, N}])
            || N <- lists:seq(1, erlang:system_info(schedulers))],
    C1 ! {self(), Tiny},
    {Setting, []} = heard(A, C1, 0),
    C1 ! {self(), close},
    {Clearing, ok} = heard(A, C1, 0),
    ?assert({Setting > 15, Clearing > 10} =:= {true, true} orelse {Setting, Clearing}),
    C2 = client(),
    C2 ! {self(), Tiny},
    wait(fun() -> patterns({hd(Modules), f, 0}) =/= [] end),
    exit(C2, kill),
    wait(fun() -> [M || M <- Modules, patterns({M, f, 0}) =/= []] =:= [] end),
    [exit(P, kill) || P <- Held],
    agent_work:calls(7),
    #{aggs := G} = finish(A),
    ?equal(#{{<<"entry">>, <<"leaf/1">>} => 7}, G),
    [begin code:delete(M), code:purge(M) end || M <- Modules];

%% A trace is given up while its probes are being placed; what has been loaded since it began keeps nothing of it.
test(given_up_and_loaded) ->
    Modules = [tiny(I) || I <- lists:seq(1, 20)],
    [load_tiny(M) || M <- Modules],
    Options = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {loads, 1}],
    internal_state(true),
    [begin
         Held = held(),
         Consumer = spawn(fun() ->
                              A = open(),
                              start(A, "build/test/agent/image.dif", Options, [{K, {M, f, 0}, ?COUNT} || M <- Modules, K <- Kinds])
                          end),
         wait(fun() -> patterns({hd(Modules), f, 0}) =/= [] end),
         load_tiny(agent_tiny_late),
         exit(Consumer, kill),
         wait(fun() -> whereis(erltrace_agent) =:= undefined end),
         ?equal([], [F || F <- [{f, 0}, {module_info, 0}, {module_info, 1}], {A, B} <- [F], patterns({agent_tiny_late, A, B}) =/= []]),
         [exit(P, kill) || P <- Held]
     end || Kinds <- [[?ENTRY], [?ENTRY, ?RETURN]]],
    [unload_tiny(M) || M <- [agent_tiny_late | Modules]];

%% Likewise while another program goes on, which needs fewer patterns of code to come. What has been loaded keeps those that it needs, and no
%% other; and the other one finds its probes there again, whether the program that was given up had any there or not.
test(given_up_beside) ->
    Modules = [tiny(I) || I <- lists:seq(1, 20)],
    [load_tiny(M) || M <- [agent_tiny_late | Modules]],
    Options = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {loads, 1}],
    Late = {agent_tiny_late, f, 0},
    internal_state(true),
    A = open(),
    [] = start(A, "build/test/agent/image.dif", Options, [{?ENTRY, Late, ?COUNT}]),
    [begin
         Held = held(),
         Consumer = spawn(fun() -> B = open(), start(B, "build/test/agent/image.dif", Options, [{K, MFA, ?COUNT} || MFA <- Of, K <- [?ENTRY, ?RETURN]]) end),
         wait(fun() -> patterns({hd(Modules), f, 0}) =/= [] end),
         load_tiny(agent_tiny_late),
         ?assert(locally(Late)),
         exit(Consumer, kill),
         Serial = loaded(agent_tiny_late),
         ?equal([], [F || {F, N} <- agent_tiny_late:module_info(functions), locally({agent_tiny_late, F, N})]),
         [exit(P, kill) || P <- Held],
         {ok, []} = call(A, {extend, Serial, []}),
         [agent_tiny_late:f() || _ <- lists:seq(1, 7)]
     end || Of <- [[{M, f, 0} || M <- Modules], [{M, F, N} || M <- [agent_tiny_late | Modules], {F, N} <- agent_tiny_late:module_info(functions)]]],
    #{aggs := G} = finish(A),
    ?equal(#{{<<"entry">>, <<"f/0">>} => 14}, G),
    [unload_tiny(M) || M <- [agent_tiny_late | Modules]];

%% A program ends before what was loaded has lost its patterns, and one that goes on does not need that kind of them.
test(ended_and_loaded) ->
    Options = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {loads, 1}],
    A = open(),
    [] = start(A, "build/test/agent/image.dif", Options, [{?ENTRY, work(leaf, 1), ?COUNT}]),
    Test = self(),
    Other = spawn_link(fun() ->
                           B = open(),
                           [] = start(B, "build/test/agent/image.dif", Options, [{?RETURN, work(F, 1), ?COUNT} || F <- [leaf, body]]),
                           Test ! {self(), placed},
                           receive {Test, finish} -> finish(B) end,
                           Test ! {self(), finished}
                       end),
    receive {Other, placed} -> ok end,
    load_tiny(agent_tiny_late),
    _ = loaded(agent_tiny_late),
    ?assert(locally({agent_tiny_late, f, 0})),
    Other ! {self(), finish},
    receive {Other, finished} -> ok end,
    ?assert(not locally({agent_tiny_late, f, 0})),
    finish(A),
    unload_tiny(agent_tiny_late);

%% Before OTP 27 each process is asked whose it is, and one that cannot run does not answer. Consumers are answered all the same, hear
%% how many are done, and one more can come.
test(silent_process) ->
    Idle = fun() -> receive stop -> ok end end,
    Crowd = [spawn(Idle) || _ <- lists:seq(1, 1500)],
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}]),
    C = client(),
    P = spawn_opt(Idle, [{scheduler, 1}]),
    Me = self(),
    Hog = hog(1),
    C ! {self(), [{?SEND, [], ?COUNT}]},
    case otp() of
        N when N < 27 ->
            receive {erltrace, working, false, processes, Done, Total} when Done > 1000, Total > Done -> ok after etreport:patience() -> error(not_told) end,
            [{ok, running, _, _, _, _, _, _} = call(A, {read, 0}) || _ <- lists:seq(1, 10)],
            Comes = spawn(fun() -> _ = open(), Me ! open, receive stop -> ok end end),
            receive open -> ok after etreport:patience() -> error(not_open) end,
            receive {C, _} -> error(done_already) after 0 -> ok end,
            Comes ! stop;
        _ -> ok
    end,
    no_hog(Hog),
    receive {C, Warnings} -> ?equal([], Warnings) end,
    ?equal([], [Q || otp() < 27, Q <- [P | Crowd], erlang:trace_info(Q, flags) =/= {flags, [send]}]),
    ok = c(C, close),
    ?equal([], [Q || Q <- [P | Crowd], traced(Q)]),
    finish(A),
    [Q ! stop || Q <- [P | Crowd]];

%% Bindings that are too many for one message come in several; a request that fails has used them up.
test(bindings_in_pieces) ->
    Image = file("build/test/agent/image.dif"),
    B = bindings([{?ENTRY, {agent_work, F, N}, ?COUNT} || {F, N} <- lists:usort(agent_work:module_info(functions))]),
    {B1, B2} = lists:split(2, B),
    {B3, B4} = lists:split(1, B2),
    A = open(),
    ok = call(A, {bindings, B1}),
    {error, 'AGENT_IMAGE', _, _} = call(A, {enable, <<>>, [], B2}),
    ok = call(A, {bindings, B1}),
    {error, 'AGENT_IMAGE', <<"the bindings are not a list">>, _} = call(A, {enable, Image, [], x}),
    {error, 'AGENT_REQUEST', _, _} = call(A, {bindings, x}),
    ok = call(A, {bindings, B1}),
    ok = call(A, {bindings, B3}),
    {ok, _, []} = call(A, {enable, Image, [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}], B4}),
    {ok, [], Placed} = call(A, go),
    ?equal(length(B), proplists:get_value(meta, Placed)),
    agent_work:calls(5),
    #{aggs := G} = finish(A),
    ?equal([{{<<"entry">>, <<"calls/1">>}, 6}, {{<<"entry">>, <<"leaf/1">>}, 5}], lists:sort(maps:to_list(G)));

test(bad_images) ->
    Image = file("build/test/agent/image.dif"),
    A = open(),
    B = bindings([{?ENTRY, work(leaf, 1), ?COUNT}]),
    [{error, 'AGENT_IMAGE', T, _} | _] = [call(A, {enable, X, [], B}) || X <- [<<>>, <<"D">>, binary:part(Image, 0, 100)]],
    ?assert(is_binary(T)),
    [{error, 'AGENT_IMAGE', _, _} = call(A, {enable, Image, [], X})
     || X <- [[x], [{1, 99, 1, ?ENTRY, work(leaf, 1)}], [{0, 0, 1, ?ENTRY, work(leaf, 1)}], [{1, 0, 1, 9, []}],
              [{1, 0, 1, 5000000, []}], [{1, 0, 1, ?ENTRY, []}], [{1, 0, 1, ?ENTRY, {a, b, 4000}}],
              [{1, 0, 1, ?TICK, 0}], [{1, 0, 2, ?SPAWN, []}, {2, 0, 1, ?EXIT, []}]]],
    %% A program for another tier, whatever is bound.
    {error, 'AGENT_IMAGE', <<"the program image uses caller, which only the kernel tier has">>, _} =
        call(A, {enable, file("build/test/agent/image_k.dif"), [], B}),
    {error, 'AGENT_INTERNAL', _, _} = call(A, {enable, Image, x, B}),
    [{error, 'AGENT_IMAGE', _, _} = call(A, {enable, Image, [{records, L}], B})
     || L <- [[[]], [x], x, [[x]], [["order"]], [[<<"order">>, <<0>>]], [[<<0:(8 * 1100)>>]], lists:duplicate(201, [<<"r">>]),
              [[<<"r">> | lists:duplicate(4001, <<"f">>)]], [[<<"r">> | <<"f">>]]]],
    [{error, '', _, _} = call(A, {enable, Image, [{redact, L}], B}) || L <- [[7], [<<0:(8 * 257)>>], lists:duplicate(33, <<"x">>)]],
    %% Bytes changed at random: refused, or run; but the node lives.
    Clients = [fuzz(A, Image) || _ <- lists:seq(1, 300)],
    ?assert(lists:member(refused, Clients)),
    ?assert(lists:member(ran, Clients)),
    call(A, close);

%% A program that leads to terms is refused by what is in its image, whatever its consumer says and binds.
%% Conditions of calls that are none, or too large: each is refused, and nothing of it is looked at twice.
test(filters_refused) ->
    B = bindings([{?ENTRY, work(leaf, 1), ?COUNT}]),
    Enable = fun(Filters) ->
                 A = open(),
                 Answer = call(A, {enable, file("build/test/agent/image.dif"), [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {filters, Filters}], B}),
                 ok = call(A, close),
                 Answer
             end,
    Is = fun(Test) -> [{0, 1, {is, 1, Test}}] end,
    Nested = fun(N) -> lists:foldl(fun(_, T) -> {hd, T} end, 0, lists:seq(1, N)) end,
    Deep = fun(N) -> lists:foldl(fun(_, C) -> {'and', {is, 1, {is_atom, 0}}, C} end, {is, 1, {is_atom, 0}}, lists:seq(1, N)) end,
    [{ok, _, []} = Enable(F) || F <- [[], Is({is_atom, 0}), Is({int, 15, -(1 bsl 63)}), Is({text, 0, <<"no atom has this name">>}), Is({there, Nested(8)}),
                                      [{0, 64, Deep(100)}], [{0, 1, {number, 5, term_int, 0, (1 bsl 63) - 1}}], [{7, 1, {is, 0, {atom, 0, <<"ok">>}}}]]],
    [{error, 'AGENT_IMAGE', <<"a condition of the program's calls is not valid">>, _} = Enable(F)
     || F <- [none, [none], [none | none], [{0, 1}], [{-1, 1, {is, 1, {is_atom, 0}}}], [{0, 0, {is, 1, {is_atom, 0}}}], [{0, 65, {is, 1, {is_atom, 0}}}],
              [{0, 1, {is, 2, {is_atom, 0}}}], [{0, 1, {'not', {is, 1, {is_atom, 0}}}}], [{0, 1, true}], [{0, 1, {'or', {is, 1, {is_atom, 0}}, none}}],
              Is({is_record, 0}), Is({self, 0}), Is({is_atom, 16}), Is({is_atom, -1}), Is({is_atom, x}), Is({is_atom, {element, 0, 0}}), Is({is_atom, {setelement, 1, 0}}),
              Is({is_atom, {map_get, <<"no atom has this name">>, 0}}), Is({atom, 0, <<"no atom has this name">>}), Is({atom, 0, ok}), Is({int, 0, 1.0}),
              Is({int, 0, 1 bsl 63}), Is({text, 0, <<>>}), Is({text, 0, binary:copy(<<"x">>, 2000)}), Is({there, Nested(9)}), Is({there, Nested(100000)}),
              [{0, 1, {number, 0, term_int, 0, 1}}], [{0, 1, {number, 7, term_int, 0, 1}}], [{0, 1, {number, 1, length, 0, 1}}], [{0, 1, {number, 1, term_int, 0, x}}],
              [{0, 1, Deep(1000)}], [{0, 1, Deep(100000)}], [{I, 1, {is, 1, {is_atom, 0}}} || I <- lists:seq(0, 1000)]]];

%% What a condition becomes: guards from a fixed list, of exactly these calls.
test(filters_are_set) ->
    B = bindings([{?ENTRY, work(leaf, 1), ?COUNT}]),
    A = open(),
    Filters = [{C, 1, {is, 1, {int, 0, 7}}} || {_, C, _, _, _} <- B],
    {ok, _, []} = call(A, {enable, file("build/test/agent/image.dif"), [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {filters, Filters}], B}),
    {ok, [], Placed} = call(A, place),
    {meta, 1} = lists:keyfind(meta, 1, Placed),
    {filtered, 1} = lists:keyfind(filtered, 1, Placed),
    ok = call(A, close);

%% What the VM hands to trace/5 is forged here, in a library that serves this process, with nothing set in the VM: each row of
%% guest/words/shapes.list fires what it should; with an element more, one less, or one of another type it is a drop, and nothing else.
test(shapes) ->
    M = library(),
    ok = M:nif_start(otp(), node()),
    Local = work(calls, 1),
    Kinds = lists:seq(10, 21) ++ lists:seq(25, 36) ++ lists:seq(60, 78) ++ [129, 130],
    {ok, P, _, _, _, _} =
        M:nif_enable(file("build/test/agent/image.dif"), [{threads, 64}, {bufsize, 1 bsl 16}, {aggsize, 1 bsl 20}, {dynvarsize, 1 bsl 16}],
                     bindings([{K, [], ?COUNT} || K <- Kinds] ++
                              [{K, F, ?COUNT} || {K, F} <- [{?ENTRY, work(leaf, 1)}, {?ENTRY, Local}, {?RETURN, Local}, {?EXCEPTION, Local}]]),
                     <<"erlang1">>),
    ok = M:nif_phase(P, running),
    ok = M:nif_publish([P], [], [Local]),
    _ = M:nif_gate(true),
    [] = M:nif_unknown(),
    Port = open_port({spawn, "cat"}, []),
    Of = fun(process) -> self(); (port) -> Port; (Term) -> Term end,
    Rows = shapes(Port, Local),
    ?equal([], listed() -- [{T, case W of process -> process; port -> port; _ -> term end} || {W, T, _, _, _, _, _} <- Rows]),
    Sent = fun(Row, Tag, Who, Msg, Opts) ->
               #{fired := F0, shape := D0, all := A0} = dropped(M, P),
               ok = M:trace(Tag, [], Who, Msg, Opts),
               #{fired := F1, shape := D1, all := A1} = dropped(M, P),
               {Row, F1 - F0, D1 - D0, (A1 - A0) - (D1 - D0)}
           end,
    Lost = [begin
                Opts = opts(Extra),
                ?equal({Row, Fires, 0, 0}, Sent(Row, Tag, Of(Who), Msg, Opts)),
                Odd = [{Of(Who), X, Opts} || X <- odd(InMsg, Msg)] ++
                      [{Of(Who), Msg, opts(X)} || Extra =/= none, X <- odd(InExtra, Extra)] ++
                      [{Of(Who), Msg, X} || Extra =/= none, X <- [#{}, [], {extra, Extra}]] ++
                      [{X, Msg, Opts} || Who =:= process orelse Who =:= port, X <- [{Of(Who)}, [Of(Who)], an_atom, 17, <<"one">>]],
                [?equal({{Row, T}, 0, 1, 0}, Sent({Row, T}, Tag, Who1, Msg1, Opts1)) || {Who1, Msg1, Opts1} = T <- Odd],
                [] =:= Odd orelse ?equal({Tag, true}, {Tag, lists:usort(M:nif_unknown()) -- [Tag, other] =:= []}),
                ?equal({Row, Fires, 0, 0}, Sent(Row, Tag, Of(Who), Msg, Opts)),
                length(Odd)
            end || {Who, Tag, Msg, InMsg, Extra, InExtra, Fires} = Row <- Rows],
    ?assert(lists:sum(Lost) > 300),
    %% Tags that nobody knows, and those of a process with a port; and so many keys more as there may be, which change nothing.
    [?equal({T, 0, 1, 0}, Sent(T, Tag, Who, x, #{})) || {Tag, Who} = T <- [{sent, self()}, {open, self()}, {spawn, Port}, {[], self()}, {<<"send">>, Port}]],
    ?equal([other], M:nif_unknown()),
    ?equal({more, 1, 0, 0}, Sent(more, send, self(), x, #{extra => self(), timestamp => monotonic, new => 1})),
    results(M, Sent, Local),
    %% A program that needs nothing of the kind has lost nothing.
    {ok, Q, _, _, _, _} = M:nif_enable(file("build/test/agent/image.dif"), [{threads, 64}, {bufsize, 1 bsl 16}, {aggsize, 1 bsl 16}, {dynvarsize, 1 bsl 16}],
                                       bindings([{?SPAWN, [], ?COUNT}]), <<"erlang1">>),
    ok = M:nif_phase(Q, running),
    ok = M:nif_publish([P, Q], [], [Local]),
    ?equal({send, 0, 1, 0}, Sent(send, send, self(), x, #{})),
    ?equal(#{fired => 0, shape => 0, all => 0}, dropped(M, Q)),
    ?equal({spawn, 0, 1, 0}, Sent(spawn, spawn, self(), x, #{})),
    ?equal(#{fired => 0, shape => 1, all => 1}, dropped(M, Q)),
    ok = M:nif_phase(P, stopped),
    ?equal({stopped, 0, 0, 0}, Sent(stopped, send, self(), x, #{})),
    true = port_close(Port),
    _ = M:nif_gate(false),
    code:delete(M), code:purge(M);

%% The same for what the VM sends to the server. The node itself has nothing to send, because of the limits.
test(messages_of_other_shapes) ->
    A = open(),
    Kinds = [90, 93, 95, 96, 97, 100, 101, 102] ++ [K || K <- [98, 99], otp() >= 27],
    ?equal([], start(A, "build/test/agent/image.dif",
                     [{bufsize, 1 bsl 16}, {aggsize, 1 bsl 20}, {dynvarsize, 1 bsl 16}, {longgc, 1 bsl 30}, {longschedule, 1 bsl 30},
                      {largeheap, 1 bsl 40}, {longqueue, 1 bsl 40}], [{K, [], ?COUNT} || K <- Kinds])),
    P = spawn(fun() -> receive stop -> ok end end),
    Port = open_port({spawn, "cat"}, []),
    Sent = fun(Row, Message) ->
               #{shape := D0} = lost_by(A),
               A ! Message,
               #{shape := D1, aggs := G} = lost_by(A),
               {Row, lists:sort([K || {K, _} <- maps:keys(G), K =/= <<"port-not_busy">>, K =/= <<"dist-port_not_busy">>]), D1 - D0}
           end,
    Sizes = [{K, 1 bsl 41} || K <- [heap_size, old_heap_size, stack_size, mbuf_size, heap_block_size, old_heap_block_size]],
    Gc = [{timeout, 1 bsl 31} | Sizes],
    Places = [{timeout, 1 bsl 31}, {in, {m, f, 1}}, {out, undefined}],
    Op = [{timeout, 1 bsl 31}, {port_op, input}],
    Without = fun(L) -> [lists:keydelete(K, 1, L) || {K, _} <- L] ++ [lists:keyreplace(K, 1, L, {K, <<"one">>}) || {K, _} <- L] ++
                            [lists:keyreplace(K, 1, L, {K, V, V}) || {K, V} <- L] ++ [17, #{}, [x | L], L ++ x, {L}] end,
    No = [17, <<"one">>, {Port}, [Port], undefined],
    Rows = [{[<<"port-busy">>], {monitor, P, busy_port, Port}, No},
            {[<<"dist-port_busy">>], {monitor, P, busy_dist_port, Port}, No},
            {[<<"gc-long">>], {monitor, P, long_gc, Gc}, Without(Gc)},
            {[<<"heap-large">>], {monitor, P, large_heap, Sizes}, Without(Sizes)},
            {[<<"schedule-long">>], {monitor, P, long_schedule, Places}, Without(Places) ++ [Op]},
            {[<<"schedule-long">>], {monitor, Port, long_schedule, Op}, Without(Op) ++ [Places]}] ++
           [{[Name], {monitor, P, long_message_queue, Long}, No}
            || {Name, Long} <- [{<<"queue-long">>, true}, {<<"queue-normal">>, false}], otp() >= 27],
    [begin
         ?equal({M, Probes, 0}, Sent(M, M)),
         Odd = [setelement(4, M, X) || X <- OddInfo] ++ [setelement(2, M, X) || X <- [17, a, {P}, [P]]] ++
               [setelement(3, M, X) || X <- [a_new_item, {a_new_item}, 17]] ++
               [erlang:append_element(M, x), erlang:delete_element(4, M), erlang:delete_element(2, M)],
         [?equal({X, [], 1}, Sent(X, X)) || X <- Odd],
         ?equal({M, Probes, 0}, Sent(M, M))
     end || {Probes, M, OddInfo} <- Rows],
    Up = {nodeup, 'n@h', #{node_type => visible, connection_id => 7}},
    Down = {nodedown, 'n@h', #{node_type => hidden, connection_id => 7, nodedown_reason => net_tick_timeout}},
    NoNode = [#{}, #{node_type => other}, #{node_type => {visible}}, [], [{node_type, visible}], 17],
    ?equal({up, [<<"dist-monitor">>, <<"node-up">>], 0}, Sent(up, Up)),
    ?equal({down, [<<"dist-monitor">>, <<"node-down">>], 0}, Sent(down, Down)),
    [?equal({X, [], 1}, Sent(X, X)) || M <- [Up, Down], X <- [setelement(3, M, I) || I <- NoNode] ++ [setelement(2, M, "n@h"), erlang:append_element(M, x)]],
    [?equal({X, [], 1}, Sent(X, X)) || X <- [{nodeup, 'n@h'}, {nodeup}, {nodedown, 'n@h', maps:remove(nodedown_reason, element(3, Down))}]],
    ?equal({nobody, [], 0}, Sent(nobody, {nodedown, 'n@h'})), % of monitor_node/2
    ?equal({other, [], 0}, Sent(other, {a_new_message, 1})),
    %% What was lost was told, once each, also what the library has seen.
    ok = erltrace_agent:trace(sent, [], self(), x, #{}),
    Told = told_until(A, fun(W) -> has(W, "reports an event in a form") end, get(warned)),
    [?equal({Text, 1}, {Text, length([W || W <- Told, binary:match(W, Text) =/= nomatch])})
     || Text <- [<<"sends long_gc of the system monitor in a form that this erltrace does not know">>, <<"sends busy_port of">>,
                 <<"sends a_new_item of">>, <<"sends nodeup of net_kernel in">>]],
    ?assert(lists:all(fun(W) -> binary:match(W, <<"use an erltrace that knows this release">>) =/= nomatch end, Told)),
    P ! stop,
    true = port_close(Port),
    #{shape := All} = lost_by(A),
    finish(A, All);

%% What the VM does report, of every kind, has the shapes of the rows: nothing is lost, and each kind of event has come.
test(shapes_of_the_vm) ->
    Kinds = lists:seq(10, 21) ++ lists:seq(25, 35) ++ [37, 38] ++ lists:seq(60, 69) ++ lists:seq(71, 78),
    A = trace([{K, [], ?COUNT} || K <- Kinds] ++ [{?ENTRY, work(leaf, 1), ?COUNT}, {?RETURN, work(leaf, 1), ?COUNT}, {?EXCEPTION, work(thrower, 1), ?COUNT}]),
    {_, normal} = agent_work:run(fun agent_work:everything/0),
    #{aggs := G} = finish(A),
    Seen = lists:usort([Name || {Name, _} <- maps:keys(G)]),
    ?equal([], [N || N <- [<<"process-spawn">>, <<"process-spawned">>, <<"process-exit">>, <<"process-scheduled">>, <<"process-unscheduled">>, <<"message-send">>,
                           <<"message-send_noproc">>, <<"message-queued">>, <<"receive-timeout">>, <<"gc_minor-start">>, <<"gc_minor-end">>,
                           <<"gc_major-start">>, <<"gc_major-end">>, <<"gc-max_heap">>, <<"process-link">>, <<"process-unlink">>,
                           <<"process-getting_linked">>, <<"process-getting_unlinked">>, <<"process-register">>, <<"process-unregister">>, <<"trace_seq">>,
                           <<"port-open">>, <<"port-command">>, <<"port-control">>, <<"port-exit">>, <<"port-connect">>, <<"driver-start">>,
                           <<"driver-stop">>, <<"driver-output">>, <<"driver-outputv">>, <<"driver-control">>, <<"port-link">>, <<"port-unlink">>,
                           <<"port-register">>, <<"port-unregister">>, <<"port-data">>, <<"port-scheduled">>, <<"port-unscheduled">>,
                           <<"entry">>, <<"return">>, <<"exception">>], not lists:member(N, Seen)]);

%% The node's own answers have the shapes that the agent knows, and none with more, less, or something else has.
test(answers_of_other_shapes) ->
    Known = fun erltrace_agent_shapes:known/2,
    Port = open_port({spawn, "cat"}, []),
    _ = erlang:system_flag(scheduler_wall_time, true),
    Answers = [{run_queue_lengths_all, erlang:statistics(run_queue_lengths_all)},
               {port_info, [erlang:port_info(Port, name), erlang:port_info(Port, connected)]},
               {tracer, erlang:trace_info(new_processes, tracer)}, {tracer, erlang:trace_info(self(), tracer)},
               {tracer, {tracer, {erltrace_agent, []}}}, {tracer, {tracer, self()}},
               {process_info, process_info(self(), [initial_call, total_heap_size])},
               {process_state, process_info(self(), [message_queue_len, memory, reductions, current_function])},
               {dist_ctrl, {'n@h', Port}}, {dist_ctrl, {'n@h', self()}}] ++
              [{scheduler_wall_time_all, X} || X <- erlang:statistics(scheduler_wall_time_all)] ++
              [{process_info, process_info(self(), [initial_call, {dictionary, '$initial_call'}, {dictionary, '$process_label'}, {dictionary, process_name}])} || otp() >= 27],
    _ = erlang:system_flag(scheduler_wall_time, false),
    [begin
         ?equal({Row, true}, {Row, Known(Row, X)}),
         [?equal({Row, Y, false}, {Row, Y, Known(Row, Y)}) || Y <- others(X)]
     end || {Row, X} <- Answers],
    ?equal(false, Known(a_new_row, x)),
    ?equal([{'n@h', Port}], erltrace_agent_shapes:part(dist_ctrl, [{'n@h', Port}, {'m@h', Port, x}])),
    ?equal([], erltrace_agent_shapes:part(dist_ctrl, undefined)),
    ?equal(#{dist_ctrl => true}, erase(shapes)),
    true = port_close(Port);

test(terms_refused) ->
    B = bindings([{?ENTRY, work(leaf, 1), ?COUNT}]),
    Options = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}],
    Enable = fun(More) ->
                 A = open(),
                 Answer = call(A, {enable, file("build/test/agent/image_t.dif"), Options ++ More, B}),
                 is_tuple(Answer) andalso element(1, Answer) =:= ok orelse begin {error, 'AGENT_REQUEST', _, _} = call(A, go) end,
                 ok = call(A, close),
                 Answer
             end,
    Text = <<"the program uses message, and terms are hidden from it by ">>,
    By = fun(Who) -> <<Text/binary, Who/binary>> end,
    Operator = fun(Where) -> By(<<"the node's operator: ", Where/binary>>) end,
    {ok, _, []} = Enable([]),
    {ok, _, []} = Enable([{terms, 1}]),
    Own = By(<<"the option terms">>),
    [{error, 'AGENT_TERMS', Own, _} = Enable(O) || O <- [[{terms, 0}], [{terms, 0}, {terms, 1}], [{terms, 1}, {terms, 0}]]],
    Set = Operator(<<"the environment of its application erltrace">>),
    Variable = Operator(<<"ERLTRACE_TERMS in its environment">>),
    try
        [begin
             application:set_env(erltrace, terms, V),
             {error, 'AGENT_TERMS', Set, _} = Enable([{terms, 1}])
         end || V <- [off, false, "off", <<"off">>, {no, sense}, 0]],
        [begin
             application:set_env(erltrace, terms, V),
             {ok, _, []} = Enable([])
         end || V <- [on, true, "on", <<"on">>]],
        os:putenv("ERLTRACE_TERMS", "off"),
        {error, 'AGENT_TERMS', Variable, _} = Enable([]),
        os:putenv("ERLTRACE_TERMS", "")
    after
        os:unsetenv("ERLTRACE_TERMS"),
        application:unset_env(erltrace, terms)
    end,
    {ok, _, []} = Enable([]);

%% Arguments that are texts of terms do not show them to a program from which they are hidden. Others that see the same event get them.
test(terms_hidden) ->
    Shown = client(), Hidden = client(), Redacted = client(), Later = client(),
    Sizes = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}],
    B = [{?EXIT, [], ?TEXTS}],
    [] = c(Shown, {Sizes, B}),
    [] = c(Hidden, {[{terms, 0} | Sizes], B}),
    [] = c(Redacted, {[{redact, [<<"pass*,log*">>, <<"x">>]} | Sizes], B}),
    [] = c(Later, {Sizes, B}),
    Ends = fun(Why) ->
               {P, M} = spawn_monitor(fun() -> exit(Why) end),
               receive {'DOWN', M, process, P, Why} -> text(P) end
           end,
    Secret = Ends({login, <<"password">>}),
    Number = Ends(4711),
    Plain = Ends(shutdown),
    Found = [begin
                 #{records := R} = c(C, finish),
                 Texts = [texts(X) || X <- R],
                 [Why || P <- [Secret, Number, Plain], {<<"process-exit">>, Q, Why, 0} <- Texts, Q =:= P]
             end || C <- [Shown, Hidden, Redacted, Later]],
    All = [<<"{login,<<\"password\">>}">>, <<"4711">>, <<"shutdown">>],
    ?equal([All, [<<"[hidden]">>, <<"[hidden]">>, <<"shutdown">>], [<<"{login,[redacted]}">>, <<"4711">>, <<"shutdown">>], All], Found);

%% However an operator has written the globs, they are those.
test(redact_is_read) ->
    [?equal({V, Globs}, {V, erltrace_agent_terms:globs(V)})
     || {V, Globs} <- [{"token, *password*", [<<"token">>, <<"*password*">>]},
                       {" password,token ,, ", [<<"password">>, <<"token">>]},
                       {"\"password\"", [<<"password">>]},
                       {"\"password, token\"", [<<"password">>, <<"token">>]},
                       {"\"password\" , \"api token\"", [<<"password">>, <<"api token">>]},
                       {"[\"password\",\"token\"]", [<<"password">>, <<"token">>]},
                       {"[<<\"password\">>, <<\"token\"/utf8>>]", [<<"password">>, <<"token">>]},
                       {"'Password'", [<<"Password">>]},
                       {"<<\"password\">>", [<<"password">>]},
                       {"[pP]in,case:To[kK]en", [<<"[pP]in">>, <<"case:To[kK]en">>]},
                       {"[password,token]", [<<"password">>, <<"token">>]},
                       {"[ *password* ]", [<<"*password*">>]},
                       {"[pP]in,tok[eE]", [<<"[pP]in">>, <<"tok[eE]">>]},
                       {"a\\[b,[!x]y", [<<"a\\[b">>, <<"[!x]y">>]},
                       {"l'amour", [<<"l'amour">>]},
                       {<<"password">>, [<<"password">>]},
                       {password, [<<"password">>]},
                       {'*pass*, x', [<<"*pass*">>, <<"x">>]},
                       {["password", <<"token, pin">>, secret], [<<"password">>, <<"token">>, <<"pin">>, <<"secret">>]},
                       {[16#e9, 16#20ac], [<<"\303\251\342\202\254">>]},
                       {[], []}]];

%% What is none of that hides everything, as a mistyped `terms` does; and a consumer's own is refused.
test(redact_unreadable) ->
    B = bindings([{?ENTRY, work(leaf, 1), ?COUNT}]),
    Options = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}],
    Enable = fun(More) ->
                 A = open(),
                 Answer = call(A, {enable, file("build/test/agent/image_t.dif"), Options ++ More, B}),
                 ok = call(A, close),
                 Answer
             end,
    Unreadable = [" , ", "[password, token", "password]", "{password,token}", "\"{password\"", "[]", ["[a", b], "\"password", "a\"b", "pass\"word\"", 7, 1.5, {password}, #{}, [password | token], ["a", 7], [16#110000], <<255>>, no_value],
    Text = <<"the program uses message, and terms are hidden from it by the node's operator: the environment of its application erltrace, which cannot be read">>,
    try
        [begin
             application:set_env(erltrace, redact, V),
             ?equal({V, {error, 'AGENT_TERMS', Text}}, {V, erlang:delete_element(4, Enable([]))})
         end || V <- Unreadable],
        application:set_env(erltrace, redact, "token"),
        {ok, _, []} = Enable([])
    after
        application:unset_env(erltrace, redact)
    end,
    [{error, '', _, _} = Enable([{redact, [V]}]) || V <- [<<" , ">>, <<"\"password">>, 7]];

test(bad_requests) ->
    A = open(),
    [{error, 'AGENT_REQUEST', _, _} = call(A, R) || R <- [go, stop, {read, 1}, nonsense, {open, 100}, {read, 9}, 7, "x"]],
    [A ! M || M <- [nonsense, {'$gen_call', {self(), make_ref()}, nonsense}, {system, {self(), make_ref()}, get_state}, {ask, self(), make_ref(), x}]],
    {error, 'AGENT_CLOSED', _, _} = element(2, {x, other(fun() -> call(A, go) end)}),
    %% what only the server may do is not even to be called
    [?equal(undef, other(fun() -> try apply(erltrace_agent, F, Args) catch error:E -> E end end))
     || {F, Args} <- [{nif_publish, [[], [], []]}, {nif_gate, [true]}, {nif_settled, []}, {nif_status, [make_ref()]},
                      {nif_framed, [[], [], true]}, {nif_overruns, []}, {nif_sweep, [0]}, {nif_stolen, []}, {nif_unknown_ports, [0]}, {nif_alive, [self()]}, {nif_event, [100, self(), {}]},
                      {nif_event_of, [make_ref(), 100, self(), {}]}, {nif_block, [self(), self(), []]}, {nif_unblock, [self()]},
                      {nif_blocked, [self()]}, {nif_forget_blocked, [self()]}]],
    ok = call(A, close);

test(other_library) ->
    A = trace([]),
    {error, 'AGENT_VERSION', _, _} = erltrace_agent:attach(<<"another">>, []),
    finish(A);

%% Two consumers that load the module at the same moment: the second load replaces the code of a running agent.
test(loaded_twice) ->
    A = attach(),
    {module, _} = code:load_binary(erltrace_agent, "erltrace_agent.beam", file("priv/agent/erltrace_agent.beam")),
    {ok, _} = call(A, {open, 600000}),
    ok = other(fun() ->
                   {ok, A} = erltrace_agent:attach(file(library_file()), []),
                   {ok, _} = call(A, {open, 600000}),
                   call(A, close)
               end),
    [] = start(A, [{?ENTRY, work(leaf, 1), ?COUNT}, {?RETURN, work(outer, 1), ?COUNT}]),
    agent_work:leaf(1),
    #{aggs := G} = finish(A),
    ?equal(#{{<<"entry">>, <<"leaf/1">>} => 1}, G),
    clean(between),
    %% ... and of one that is at work: that trace ends, and says so.
    B = trace([{?ENTRY, work(leaf, 1), ?COUNT}, {?RETURN, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    {module, _} = code:load_binary(erltrace_agent, "erltrace_agent.beam", file("priv/agent/erltrace_agent.beam")),
    agent_work:leaf(1),
    {ok, B} = erltrace_agent:attach(file(library_file()), []),
    receive {erltrace, ended, 'AGENT_REPLACED', _, _} -> ok after etreport:patience() -> error(not_told) end,
    ?assert(not lists:any(fun traced/1, processes())),
    {ok, _} = call(B, {open, 600000}),
    [] = start(B, [{?ENTRY, work(leaf, 1), ?COUNT}]),
    agent_work:leaf(1),
    #{aggs := G1} = finish(B),
    ?equal(#{{<<"entry">>, <<"leaf/1">>} => 1}, G1);

test(unloadable_library) ->
    load(),
    %% It would be so in every folder: the first one that can be used is enough.
    {error, 'AGENT_NIF', Text, Hint} = erltrace_agent:attach(<<"not a library">>, ["/nonexistent", "/proc"]),
    ?equal([<<"the node's system does not load the agent's library, erltrace_agent.so: file too short">>], [T || T <- [Text], not is_musl()]),
    ?equal([nomatch, nomatch, nomatch], [binary:match(T, What) || {T, What} <- [{Text, <<"/nonexistent">>}, {Text, <<"/tmp">>}, {Hint, <<"--agent-dir">>}]]);

%% What the node's loader says, and whether another folder could help: one from which nothing may be run.
test(refused_by_the_loader) ->
    F = "/tmp/erltrace-X/erltrace_agent.so",
    [?equal({Whose, Why}, begin {W, T} = erltrace_agent_place:refused(load_failed, "Failed to load NIF library: '" ++ Text ++ "'", F), {W, lists:flatten(T)} end)
     || {Whose, Why, Text} <- [
        {library, "undefined symbol: strtoX", F ++ ": undefined symbol: strtoX"},
        {library, "strtoX: symbol not found", "Error relocating " ++ F ++ ": strtoX: symbol not found"},
        {library, "wrong ELF class: ELFCLASS32", F ++ ": wrong ELF class: ELFCLASS32"},
        {folder, "failed to map segment from shared object", F ++ ": failed to map segment from shared object"},
        {folder, "Operation not permitted", "Error loading shared library " ++ F ++ ": Operation not permitted"}]],
    ?equal({library, "bad_lib: Library version (9.9) not compatible"}, begin {W, T} = erltrace_agent_place:refused(bad_lib, "Library version (9.9) not compatible", F), {W, lists:flatten(T)} end);

%% Only folders that nobody but the node's user and root can change, on any part of the way.
test(library_folders) ->
    load(),
    T = os:getenv("TMPDIR"),
    Is = fun(N) -> filename:join(T, N) end,
    [begin ok = file:make_dir(Is(N)), "" = os:cmd("chmod " ++ Mode ++ " " ++ Is(N)) end
     || {N, Mode} <- [{"mine", "700"}, {"open", "777"}, {"open/below", "755"}, {"group", "775"}, {"sticky", "1777"}]],
    [ok = file:make_symlink(To, Is(N)) || {N, To} <- [{"to_mine", "group/../mine"}, {"to_below", Is("open/below")}, {"loop", "loop"}, {"sticky/to_mine", Is("mine")}]],
    ok = file:write_file(Is("file"), <<>>),
    Root = os:cmd("id -u") =:= "0\n",
    Root andalso begin
        ok = file:make_dir(Is("theirs")),
        ok = file:change_owner(Is("theirs"), 65534),
        "" = os:cmd("chown -h 65534 " ++ Is("sticky/to_mine"))
    end,
    Good = ["mine", "sticky", "mine/../sticky", "mine/."],
    Bad = [{"open", "other users may write to", "open"}, {"open/below", "other users may write to", "open"}, {"group", "other users may write to", "group"},
           {"to_mine", "other users may write to", "group"}, {"to_below", "other users may write to", "open"}, {"loop", "one link too many", ""},
           {"file", "not a directory", ""}] ++
          [{N, "belongs to another user", What} || {N, What} <- [{"theirs", "theirs"}, {"sticky/to_mine", "sticky/to_mine"}], Root],
    try
        [begin
             {ok, File} = erltrace_agent_place:put(Is(N), <<"not a library">>),
             {ok, <<"not a library">>} = file:read_file(File),
             ok = erltrace_agent_place:remove(File)
         end || N <- Good],
        [begin
             {error, Why} = erltrace_agent_place:put(Is(N), <<"not a library">>),
             ?assert(string:find(Why, W) =/= nomatch andalso string:find(Why, What) =/= nomatch)
         end || {N, W, What} <- Bad],
        %% Of those that are given, the first good one is used.
        {error, 'AGENT_NIF', Text, _} = erltrace_agent:attach(<<"not a library">>, [Is(N) || N <- [N || {N, _, _} <- Bad] ++ Good]),
        ?equal(nomatch, binary:match(Text, list_to_binary(T))),
        ?equal([{ok, []} || _ <- Bad], [case file:list_dir(Is(N)) of {ok, L} -> {ok, L -- ["below"]}; _ -> {ok, []} end || {N, _, _} <- Bad])
    after
        os:cmd("rm -rf " ++ T ++ "/*")
    end;

%% What a node that was killed while it loaded has left: gone with the next one. Nothing else is.
test(library_left) ->
    T = os:getenv("TMPDIR"),
    Is = fun(N) -> filename:join(T, N) end,
    Make = fun(N, Mode, Files, Time) ->
               ok = file:make_dir(Is(N)),
               [begin ok = file:write_file(filename:join(Is(N), F), <<"x">>), Time =:= now orelse (ok = file:change_time(filename:join(Is(N), F), Time)) end || F <- Files],
               ok = file:change_mode(Is(N), Mode),
               Time =:= now orelse (ok = file:change_time(Is(N), Time))
           end,
    Old = {{2020, 1, 1}, {0, 0, 0}},
    [Make("erltrace-" ++ N, 8#700, Files, Old) || {N, Files} <- [{"3K1JH0Q8RT5W2MX", []}, {"3K1JH0Q8RT5W2MY", ["erltrace_agent.so"]}]],
    Kept = [{"erltrace-3K1JH0Q8RT5W2M0", 8#700, ["erltrace_agent.so"], now}, {"erltrace-3K1JH0Q8RT5W2M1", 8#755, [], Old},
            {"erltrace-3K1JH0Q8RT5W2M2", 8#700, ["erltrace_agent.so", "notes"], Old}, {"erltrace-notes", 8#700, [], Old},
            {"erltrace-3K1JH0Q8RT5W2M3", 8#700, ["notes"], Old}, {"rltrace-3K1JH0Q8RT5W2M3", 8#700, [], Old}],
    [Make(N, Mode, Files, Time) || {N, Mode, Files, Time} <- Kept],
    try
        A = open(),
        {ok, Left} = file:list_dir(T),
        ?equal(lists:sort([N || {N, _, _, _} <- Kept]), lists:sort(Left)),
        call(A, close)
    after
        os:cmd("rm -rf " ++ T ++ "/*")
    end;

test(foreign_name) ->
    P = spawn(agent_work, ponger, []),
    register(erltrace_agent, P),
    load(),
    ?equal(idle, erltrace_agent:vsn()),
    {error, 'AGENT_NAME', _, _} = erltrace_agent:attach(file(library_file()), []),
    ?equal({message_queue_len, 0}, process_info(P, message_queue_len)),
    P ! stop;

test(concurrent_attach) ->
    Me = self(),
    Ps = [spawn_link(fun() -> A = attach(), {ok, _} = call(A, {open, 600000}), Me ! {self(), A}, receive close -> call(A, close) end end)
          || _ <- lists:seq(1, 20)],
    As = [receive {P, A} -> A end || P <- Ps],
    ?equal(1, length(lists:usort(As))),
    [P ! close || P <- Ps],
    wait(fun() -> not lists:any(fun is_process_alive/1, Ps) end);

%% The modules have just been loaded when the agent that is asked is about to end; and who has loaded them never asks again.
test(attached_to_who_leaves) ->
    load(),
    Leaving = spawn(agent_work, leaving, [self()]),
    receive {Leaving, named} -> ok end,
    ?equal(true, erlang:module_loaded(erltrace_agent)),
    %% Not while somebody else loads them.
    true = register(erltrace_attach, self()),
    other(fun() -> try erltrace_agent:attach(<<>>, []) catch exit:gone -> over end end),
    timer:sleep(700),
    ?assert(erlang:module_loaded(erltrace_agent)),
    true = unregister(erltrace_attach),
    wait(fun() -> not lists:any(fun erlang:module_loaded/1, modules()) end);

%% Who leaves asks for one purge, and not by way of the code server, which answers as long as that takes; here for ever.
test(purged_once) ->
    Purger = whereis(erts_code_purger),
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}]),
    1 = erlang:trace(Purger, true, ['receive']),
    finish(A),
    wait(fun() -> erltrace_agent_idle() end),
    1 = erlang:trace(Purger, false, [all]),
    Ref = erlang:trace_delivered(Purger),
    receive {trace_delivered, Purger, Ref} -> ok end,
    Asked = fun Asked() -> receive {trace, Purger, 'receive', {What, M, _, _}} when What =:= purge; What =:= soft_purge -> [M | Asked()] after 0 -> [] end end,
    ?equal([erltrace_agent], Asked());

%% While it is purged, code is loaded that has an -on_load function: the VM's purger has to do with both.
test(on_load_meanwhile) ->
    Forms = [begin {ok, T, _} = erl_scan:string(L), {ok, F} = erl_parse:parse_form(T), F end
             || L <- ["-module(agent_on_load).", "-on_load(f/0).", "f() -> ok."]],
    {ok, M, Beam} = compile:forms(Forms),
    Many = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 20000)], % so it takes its time
    [begin
         A = trace([{?ENTRY, work(leaf, 1), ?COUNT}]),
         Loader = spawn_monitor(fun() -> load_until_idle(M, Beam) end),
         finish(A),
         receive {'DOWN', R, process, P, normal} when {P, R} =:= Loader -> ok end
     end || _ <- lists:seq(1, 10)],
    [P ! stop || P <- Many],
    _ = code:purge(M), _ = code:delete(M), _ = code:purge(M);

%% The agent's module is taken away under it: it says so, and who comes next loads it anew.
test(taken_away) ->
    A = trace([{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    M = erlang:monitor(process, A),
    true = code:delete(erltrace_agent),
    receive {'DOWN', M, process, A, shutdown} -> ok end,
    receive {erltrace, ended, 'AGENT_INTERNAL', T, _} -> ?assert(binary:match(T, <<"removed">>) =/= nomatch) end,
    wait(fun() -> erltrace_agent_idle() end),
    B = trace([{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    agent_work:leaf(1),
    #{aggs := #{{<<"entry">>, <<"leaf/1">>} := 1}} = finish(B);

%% Likewise while it works all the time: so its code goes in the midst of a message, or when it is about to take the next one. Whichever it is,
%% the VM has nothing to report of it.
test(taken_away_at_work) ->
    persistent_term:put(stays_mapped, true), % nobody is left to free what the library holds
    [begin
         A = trace([{?ENTRY, work(leaf, 1), ?COUNT}]),
         M = erlang:monitor(process, A),
         Consumer = self(),
         Flood = [spawn_link(fun() -> flood(A, Consumer) end) || _ <- lists:seq(1, 3)],
         timer:sleep(rand:uniform(5)),
         true = code:delete(erltrace_agent),
         code:purge(erltrace_agent),
         receive {'DOWN', M, process, A, _} -> ok end,
         [begin unlink(P), exit(P, kill) end || P <- Flood],
         receive {erltrace, ended, _, _, _} -> ok after 0 -> ok end,
         wait(fun() -> erltrace_agent_idle() end)
     end || _ <- lists:seq(1, 20)],
    B = trace([{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    agent_work:leaf(1),
    #{aggs := #{{<<"entry">>, <<"leaf/1">>} := 1}} = finish(B);

%% What programs have held that are over can be had again, however little the server has done since.
test(memory_of_ended_programs) ->
    Keeper = client(),
    [] = c(Keeper, [{?ENTRY, work(outer, 1), ?COUNT}]),
    Image = file("build/test/agent/image.dif"),
    B = bindings([{?ENTRY, work(leaf, 1), ?COUNT}]),
    Before = address_space(),
    [begin
         Granted = other(fun() ->
                             A = open(),
                             {ok, Options, _} = call(A, {enable, Image, [{bufsize, 1 bsl 50}], B}),
                             [{ok, _} = call(A, modules) || _ <- lists:seq(1, 100)], % so it grows old on the server's heap
                             ok = call(A, close),
                             proplists:get_value(bufsize, Options)
                         end),
         wait(fun() -> address_space() < Before + Granted end)
     end || _ <- lists:seq(1, 8)],
    c(Keeper, finish);

test(builtin_functions) ->
    A = trace([{K, MFA, ?COUNT} || K <- [?ENTRY, ?RETURN], MFA <- [{lists, keyfind, 3}, {ets, lookup, 2}]]),
    T = ets:new(x, []),
    {_, normal} = agent_work:run(fun() -> [lists:keyfind(N, 1, [{N, a}]) || N <- lists:seq(1, 41)],
                                          agent_work:calls(10), ok end),
    ets:delete(T),
    #{aggs := G} = finish(A),
    ?assert(maps:get({<<"entry">>, <<"keyfind/3">>}, G) >= 41),
    ?assert(maps:get({<<"return">>, <<"keyfind/3">>}, G) >= 41);

%% The VM is asked, BIF by BIF, whether it reports a call from code that names it; the agent's class says the same. Those that end or
%% change too much, or nobody can call, are left out.
test(instructions) ->
    Strange = [halt, hibernate, load_nif, send, '!', yield, apply, is_record, suspend_process, exit, garbage_collect, call_on_load_function,
               process_flag, system_flag, system_profile, system_monitor, trace, trace_pattern, delete_module, purge_module, finish_loading, crash_dump, display,
               dist_exit, seq_trace, abort_pending_connection, bump_reductions, put, erase],
    Modules = [erlang, maps, lists, binary, math],
    [code:ensure_loaded(M) || M <- Modules],
    Instructions = [{M, F, A} || {M, _, Classes} <- erltrace_agent_lib:functions(Modules), {3, L} <- Classes, {F, A} <- L],
    Bifs = [X || {M, F, _} = X <- lists:usort(erlang:system_info(snifs)), lists:member(M, Modules), not (M =:= erlang andalso lists:member(F, Strange))],
    ?assert(length(Bifs) > 200),
    ?equal([X || X <- Bifs, not reported(X)], [X || X <- Bifs, lists:member(X, Instructions)]),
    ?equal([true, true, true], [lists:member({erlang, F, A}, Instructions) || {F, A} <- [{apply, 3}, {yield, 0}, {'!', 2}]] ),
    ?equal(otp() < 28, lists:member({erlang, hibernate, 3}, Instructions));

%% OTP 27: a session that lets go of a BIF silences it for all others.
test(builtins_and_other_sessions) ->
    otp() >= 27 andalso begin
        A = trace([{?ENTRY, {lists, keyfind, 3}, ?COUNT}]),
        T = spawn(fun() -> receive stop -> ok end end),
        S = apply(trace, session_create, [other, T, []]),
        1 = apply(trace, function, [S, {lists, keyfind, 3}, true, [local]]),
        true = apply(trace, session_destroy, [S]),
        T ! stop,
        wait(fun() ->
                 lists:keyfind(b, 1, [{b, a}]),
                 {_, #{aggs := G}, _} = read(A),
                 maps:get({<<"entry">>, <<"keyfind/3">>}, G, 0) > 0
             end),
        finish(A)
    end;

%% Two sessions that trace collections crash OTP 27 to 29, so the second one is refused.
test(collections_of_others) ->
    T = spawn(fun() -> receive stop -> ok end end),
    P = spawn(agent_work, ponger, []),
    1 = erlang:trace(P, true, [garbage_collection, {tracer, T}]),
    A = open(),
    Gc = [{?GC_MAJOR_START, [], ?INTS}],
    R = start(A, Gc),
    case otp() of
        N when N < 27 -> [_] = R;
        _ ->
            {error, 'AGENT_BUSY', _, _} = R,
            1 = erlang:trace(P, false, [garbage_collection]),
            S = apply(trace, session_create, [other, T, []]),
            1 = apply(trace, process, [S, P, true, [garbage_collection]]),
            {error, 'AGENT_BUSY', _, _} = start(A, Gc),
            true = apply(trace, session_destroy, [S]),
            [] = start(A, Gc)
    end,
    T ! stop, P ! stop,
    ok = call(A, close);

%% Whoever destroys a session of ours ends what was in it, and that is told; what comes next, at once or later, is not in the way of
%% anybody, and counts right.
test(session_destroyed) ->
    otp() >= 27 andalso begin
        Hears = [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {dynvarsize, 1 bsl 20}, {loads, 1}],
        Image = "build/test/agent/image.dif",
        [begin
             A = open(),
             [] = start(A, Image, Hears, [{?RETURN, work(leaf, 1), ?COUNT}, {?LOCAL_ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
             destroy(Name),
             {ok, []} = call(A, {extend, 1, [{100, ?COUNT, 100, ?ENTRY, work(body, 1)}]}),
             G = other(fun() ->
                           B = open(),
                           [] = start(B, Image, Hears, [{?ENTRY, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
                           ?equal({flags, []}, erlang:trace_info(new_processes, flags)),
                           ?equal([], [P || P <- processes(), traced(P)]),
                           {_, normal} = agent_work:run(fun() -> agent_work:calls(7), agent_work:body(3), ok end),
                           maps:get(aggs, finish(B))
                       end),
             ?equal(7, maps:get({<<"entry">>, <<"leaf/1">>}, G, 0)),
             told(A, <<"destroyed the agent's trace session">>),
             ?equal({Name, #{}}, {Name, maps:get(aggs, finish(A))})
         end || Name <- [erltrace_agent, erltrace_loads, erltrace_global]],
        C = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
        destroy(erltrace_agent),
        finish(C)
    end;

%% A program that cannot go after all leaves nothing.
test(begun_in_vain) ->
    A = open(),
    {ok, _, []} = call(A, {enable, file("build/test/agent/image.dif"), [{bufsize, 1 bsl 20}, {aggsize, 1 bsl 20}, {dynvarsize, 1 bsl 20}, {loads, 1}],
                           bindings([{?RETURN, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}, {?TRACE_SEQ, [], ?COUNT}])}),
    seq_trace:set_system_tracer(self()),
    {error, 'AGENT_BUSY', _, _} = call(A, go),
    case otp() >= 27 of
        true -> ?equal([{legacy, default}], apply(trace, session_info, [all]));
        false ->
            ?equal([], [MFA || MFA <- [{erlang, finish_loading, 1}, {erlang, finish_after_on_load, 2}],
                               element(2, erlang:trace_info(MFA, meta)) =/= false])
    end,
    ?equal({{meta, false}, {traced, false}}, {erlang:trace_info(on_load, meta), erlang:trace_info(on_load, traced)}),
    seq_trace:set_system_tracer(false),
    {ok, [], _} = call(A, go),
    agent_work:calls(3),
    #{aggs := #{{<<"return">>, <<"leaf/1">>} := 3}} = finish(A);

%% The guard's own code is old when its server is killed: nothing stays all the same.
test(guard_of_old_code) ->
    A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    true = erlang:suspend_process(A), % it does not notice
    {module, _} = code:load_binary(erltrace_agent, "erltrace_agent.beam", file(beam(erltrace_agent))),
    exit(A, kill);

%% Who begins to trace collections is heard of, in whichever way: ours go.
test(collections_begun) ->
    otp() >= 27 andalso begin
        T = spawn(fun() -> receive stop -> ok end end),
        P = spawn(agent_work, ponger, []),
        S = apply(trace, session_create, [other, T, []]),
        [begin
             A = trace([{?GC_MAJOR_START, [], ?INTS}, {?SPAWN, [], ?COUNT}]),
             ?equal(1, length([N || {N, _} <- apply(trace, session_info, [all]), N =:= erltrace_gc])),
             1 = Begin(),
             Then = erlang:monotonic_time(millisecond),
             told(A, <<"traces garbage collection now">>),
             io:format("     ~b ms~n", [erlang:monotonic_time(millisecond) - Then]),
             ?equal([], [N || {N, _} <- apply(trace, session_info, [all]), N =:= erltrace_gc]),
             1 = End(),
             finish(A)
         end || {Begin, End} <- [{fun() -> erlang:trace(P, true, [garbage_collection, {tracer, T}]) end, fun() -> erlang:trace(P, false, [all]) end},
                                 {fun() -> apply(trace, process, [S, P, true, [garbage_collection]]) end,
                                  fun() -> apply(trace, process, [S, P, false, [garbage_collection]]) end}]],
        true = apply(trace, session_destroy, [S]),
        T ! stop, P ! stop
    end;

%% Questions end at a time that is given: what was asked until then has answers, one may have been asked in vain, and the others are given back.
test(answers_until) ->
    Slow = fun(X) -> timer:sleep(20), X end,
    Xs = lists:seq(1, 1000),
    {Answers, Left} = erltrace_agent_aside:each_until(Slow, Xs, 10000, 2, erltrace_agent_lib:now_ms() + 200),
    Had = [X || {X, X} <- Answers],
    ?assert(Left =/= []), % all of them take 20 s
    ?equal(Xs, Had ++ [length(Had) + 1] ++ Left),
    ?equal({[], []}, erltrace_agent_aside:each_until(Slow, [], 10, 1, infinity)),
    ?equal({[{1, 1}], []}, erltrace_agent_aside:each_until(Slow, [1], 10000, 1, infinity));

%% What the VM does not answer holds nobody up.
test(late_answers) ->
    Each = fun(F, Xs, Late) -> erltrace_agent_aside:each(F, Xs, 1000, Late) end, % the source file, as a module of its own
    ?equal([{0, ok}, {1, ok}], Each(fun timer:sleep/1, [0, infinity, 1, infinity, 2], 2)),
    ?equal([{[a], a}, {[b], b}], Each(fun erlang:hd/1, [[a], [], [b]], 1)),
    ?equal([{I, I} || I <- lists:seq(1, 1000)], Each(fun erlang:abs/1, lists:seq(1, 1000), 1)),
    ?equal([], Each(fun erlang:exit/1, [kill], 1)),
    code:delete(erltrace_agent_aside),
    code:purge(erltrace_agent_aside);

%% A tracer, and the code server, that do not run for a long time: what is asked of us is answered, and names are known all the same.
test(suspended_processes) ->
    Other = spawn(fun() -> receive stop -> ok end end),
    register(foreign_tool, Other),
    P = spawn(agent_work, ponger, []),
    1 = erlang:trace(P, true, [garbage_collection, {tracer, Other}]),
    true = erlang:suspend_process(Other),
    A = open(),
    Text = case start(A, [{?GC_MAJOR_START, [], ?INTS}]) of
               [W] -> W;
               {error, 'AGENT_BUSY', T, _} -> T
           end,
    ?assert(binary:match(Text, <<"foreign_tool">>) =/= nomatch),
    1 = erlang:trace(P, false, [all]),
    true = erlang:resume_process(Other),
    ok = call(A, close),
    clean(between),
    B = open(),
    _ = code:purge(dyntrace), _ = code:delete(dyntrace), _ = code:purge(dyntrace),
    Code = whereis(code_server),
    true = erlang:suspend_process(Code),
    Answer = try start(B, [{?USER_TRACE, [], ?COUNT}])
             after true = erlang:resume_process(Code)
             end,
    ?assert(case Answer of {ok, _, [_]} -> true; _ -> {expected_warning, Answer} end),
    ok = call(B, close),
    Other ! stop, P ! stop;

test(server_crashed) ->
    A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    A ! {timeout, x, {tick, self(), 1000000, x, x}},
    receive {erltrace, ended, 'AGENT_INTERNAL', T, _} -> ?assert(is_binary(T)) after etreport:patience() -> error(not_told) end;

%% Every function of every module, entry, return and exception, and every named probe, for a while.
test(everything) ->
    A = open(),
    {ok, Ms} = call(A, modules),
    {ok, Fs} = call(A, {functions, Ms -- [agent_tests]}),
    All = [{M, F, N} || {M, L, _} <- Fs, {F, N} <- L],
    Named = [{K, [], ?COUNT} || K <- lists:seq(?SPAWN, ?GC_MAJOR_END)],
    {T1, _} = timer:tc(fun() -> start(A, Named ++ [{K, MFA, ?COUNT} || MFA <- All, K <- [?ENTRY, ?RETURN]]) end),
    agent_work:run(fun() -> agent_work:calls(100), agent_work:collect(3), lists:sort([3, 1, 2]), io_lib:format("~p", [x]) end),
    {T2, _} = timer:tc(fun() -> call(A, stop) end),
    #{aggs := G, counts := C} = drain(A),
    {T3, _} = timer:tc(fun() -> call(A, close) end),
    io:format("     ~b functions: on ~b ms, off ~b ms, gone ~b ms, ~b events~n",
              [length(All), T1 div 1000, T2 div 1000, T3 div 1000, element(1, C)]),
    ?assert(maps:get({<<"entry">>, <<"calls/1">>}, G) =:= 101),
    B = open(),
    _ = start(B, [{K, MFA, ?COUNT} || MFA <- All, K <- [?ENTRY, ?EXCEPTION]]),
    agent_work:run(fun() -> agent_work:calls(100), agent_work:catcher(1), io_lib:format("~p", [x]) end),
    ok = call(B, close);

%% A record of an entry takes 24 + 4 + 5 + 8 bytes, which is 48.
test(ring_keeps_the_newest) ->
    A = open(),
    ?equal([], start(A, "build/test/agent/image.dif", [{bufsize, 4096}, {bufpolicy, 2}], [{?ENTRY, work(leaf, 1), ?TIME}, {?END_, [], ?TIME}])),
    {_, normal} = agent_work:run(fun() -> [agent_work:leaf(N) || N <- lists:seq(1, 5000)], ok end),
    {running, #{records := []}, _} = read(A),
    {_, normal} = agent_work:run(fun() -> [agent_work:leaf(N) || N <- lists:seq(1, 1000)], ok end),
    #{records := R, counts := C} = finish(A),
    ?equal(6001, element(2, C)),
    ?equal(6001, length(R) + element(6, C)),
    ?assert(length(R) >= (4096 - 2 * 296) div 48), % a largest record is free at the end of one ring, and before its oldest
    #{data := <<3:32/little, "END", _/binary>>} = lists:last(R);

test(fill_ends_when_full) ->
    A = open(),
    ?equal([], start(A, "build/test/agent/image.dif", [{bufsize, 4096}, {bufpolicy, 1}], [{?ENTRY, work(leaf, 1), ?TIME}, {?END_, [], ?TIME}])),
    [agent_work:leaf(N) || N <- lists:seq(1, 20)],
    {running, #{records := []}, _} = read(A),
    N = erlang:system_info(schedulers) * (4096 div 48) + 1, % one is full then, wherever they ran
    [agent_work:leaf(I) || I <- lists:seq(1, N)],
    {exiting, #{records := []}, _} = read(A),
    #{records := R, counts := C} = finish(A),
    ?equal(length(R), element(2, C)),
    ?assert(element(5, C) >= 1),
    ?equal(element(1, C), element(2, C) + element(5, C)),
    #{data := <<3:32/little, "END", _/binary>>} = lists:last(R);

%% With the node on one CPU, nothing happens on another.
test(only_one_cpu) ->
    Cpu = fun() -> lists:last(string:lexemes(os:cmd("taskset -cp " ++ os:getpid()), " \n")) end,
    Before = Cpu(),
    Fired = fun(Only) ->
                    A = open(),
                    ?equal([], start(A, "build/test/agent/image.dif", [{cpu, Only}], [{K, [], ?COUNT} || K <- [?SEND, ?QUEUED, ?IN, ?OUT]])),
                    [begin P = spawn(fun() -> receive x -> ok end end), P ! x, erlang:yield() end || _ <- lists:seq(1, 100)],
                    #{counts := C} = finish(A),
                    element(1, C)
            end,
    case erlang:system_info(logical_processors) of
        N when is_integer(N), N > 1 ->
            [Ours | _] = string:lexemes(Before, ",-"),
            Other = hd(lists:seq(0, N - 1) -- [list_to_integer(Ours)]),
            _ = os:cmd("taskset -acp " ++ Ours ++ " " ++ os:getpid()),
            ?equal(Ours, Cpu()),
            Seen = {Fired(list_to_integer(Ours)), Fired(Other)},
            _ = os:cmd("taskset -acp " ++ Before ++ " " ++ os:getpid()),
            ?assert(element(1, Seen) >= 100),
            ?equal(0, element(2, Seen));
        _ ->
            ok
    end;

test(too_small_for_end) ->
    A = open(),
    {error, '', Text, _} = start(A, "build/test/agent/image.dif", [{bufsize, 1200}, {bufpolicy, 1}], [{?END_, [], ?TEXTS}, {?END_, [], ?TEXTS}]),
    ?assert(binary:match(Text, <<"END enablings exceed size of principal buffer">>) =/= nomatch),
    ok = call(A, close);

test(sizes_are_bounded) ->
    L = [{?ENTRY, work(leaf, 1), ?COUNT}],
    A = open(),
    {ok, Granted, _} = call(A, {enable, file("build/test/agent/image.dif"), [{bufsize, 1 bsl 50}], bindings(L)}),
    ?assert(proplists:get_value(bufsize, Granted) < 1 bsl 40),
    ?equal(4 bsl 20, proplists:get_value(aggsize, Granted)),
    ok = call(A, close),
    B = open(),
    {error, '', _, _} = call(B, {enable, file("build/test/agent/image.dif"), [{bufsize, 1 bsl 50}, {fixed, 1}], bindings(L)}),
    ok = call(B, close);

test(sensitive_stays_hidden) ->
    A = trace([{?SPAWN, [], ?TEXTS}, {?ENTRY, work(leaf, 1), ?COUNT}, {?EXIT, [], ?TEXTS}]),
    {P, normal} = agent_work:run(fun() -> process_flag(sensitive, true), agent_work:calls(10), ok end),
    #{records := R, aggs := G} = finish(A),
    PT = text(P),
    ?equal([], [x || X <- R, {<<"process-exit">>, Q, _, _} <- [texts(X)], Q =:= PT]),
    ?equal(#{}, G);

test(many_times) ->
    [begin
         A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?SPAWN, [], ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}]),
         agent_work:outer(1),
         #{aggs := G} = finish(A),
         ?equal(1, maps:get({<<"entry">>, <<"outer/1">>}, G)),
         clean(N)
     end || N <- lists:seq(1, 25)];

test(under_churn) ->
    Until = erlang:monotonic_time(millisecond) + 10000,
    Stop = counters:new(1, []),
    Churn = [spawn_link(fun() -> churn(Stop, K) end) || K <- lists:seq(1, 5)] ++
        [spawn_link(fun() -> seeded({dirty, K}), dirty(Stop) end) || K <- [1, 2]],
    Keeper = client(),
    [] = c(Keeper, [{?ENTRY, work(outer, 1), ?COUNT}]),
    [begin
         C = client(),
         L = lists:append([[{?SPAWN, [], ?COUNT}, {?EXIT, [], ?TEXTS}], [{?SEND, [], ?TEXTS}, {?QUEUED, [], ?COUNT}],
                           [{?IN, [], ?TEXTS}, {?OUT, [], ?COUNT}],
                           [{?RETURN, work(leaf, 1), ?COUNT}, {?EXCEPTION, work(thrower, 1), ?COUNT}],
                           [{?EXCEPTION, work(far, 1), ?COUNT}, {?ENTRY, work(calls, 1), ?TEXTS}]]),
         [] = c(C, [X || X <- L, rand:uniform(3) > 1]),
         timer:sleep(rand:uniform(20)),
         case rand:uniform(3) of
             1 -> exit(C, kill);
             2 -> c(C, finish);
             3 -> c(C, close)
         end
     end || _ <- lists:seq(1, 150), erlang:monotonic_time(millisecond) < Until],
    counters:put(Stop, 1, 1),
    wait(fun() -> not lists:any(fun is_process_alive/1, Churn) end),
    c(Keeper, finish);

%% Nobody is left to clean up: the VM does (from OTP 27 on), or the next agent.
test(guard_killed_too) ->
    persistent_term:put(stays_mapped, true),
    A = trace([{?RETURN, work(leaf, 1), ?COUNT}, {?ENTRY, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}]),
    Guard = guard(),
    P = spawn(agent_work, server, []),
    exit(Guard, kill),
    exit(A, kill),
    wait(fun() -> whereis(erltrace_agent) =:= undefined end),
    agent_work:outer(1),
    P ! {self(), 1},
    receive {P, 1} -> ok end,
    otp() < 27 orelse wait(fun() -> not traced(P) end),
    B = trace([{?ENTRY, work(outer, 1), ?COUNT}, {?SPAWN, [], ?COUNT}, {?RETURN, work(body, 1), ?COUNT}]),
    agent_work:outer(1),
    #{aggs := #{{<<"entry">>, <<"outer/1">>} := 1}} = finish(B),
    ?equal([false], lists:usort([element(2, erlang:trace_info(work(F, 1), meta)) || F <- [outer, leaf]])),
    P ! stop,
    erlang:trace_pattern(work(leaf, 1), false, [local]). % nobody knows of this one

%% Whether the modules of the last agent, and its guard, have gone.
erltrace_agent_idle() ->
    whereis(erltrace_agent_guard) =:= undefined andalso not lists:any(fun erlang:module_loaded/1, modules()).

destroy(Name) ->
    [true] = [apply(trace, session_destroy, [W]) || {N, _} = W <- apply(trace, session_info, [all]), N =:= Name].

%% Waits for a warning with that text.
told(A, Text) ->
    wait(fun() -> {_, _, W} = read(A), [] =/= [T || T <- W, binary:match(T, Text) =/= nomatch] end).

%% -- more help -------------------------------------------------------------------------------------------------

%% An agent that has lived for longer than its consumer's lease, by signs of life. On a busy machine there may be none for longer than a
%% short one allows; then a longer one is tried.
outlives([Lease | Longer]) ->
    A = attach(),
    try
        {ok, _} = call(A, {open, Lease}),
        [] = start(A, [{?SPAWN, [], ?COUNT}]),
        [begin A ! {erltrace, self(), alive}, timer:sleep(50) end || _ <- lists:seq(1, Lease * 3 div 2 div 50)],
        true = is_process_alive(A),
        A
    catch
        error:Why when Longer =/= [] ->
            io:format("     a lease of ~b ms was too short: ~0p~n", [Lease, Why]),
            outlives(Longer)
    end.

load_until_idle(M, Beam) ->
    _ = code:purge(M),
    {module, M} = code:load_binary(M, "nowhere", Beam),
    erltrace_agent_idle() orelse load_until_idle(M, Beam).

flood(A, Consumer) ->
    A ! {erltrace, Consumer, alive},
    flood(A, Consumer).

call_until(Stop, N) ->
    case counters:get(Stop, 1) of
        1 -> N;
        0 -> agent_work:leaf(N), call_until(Stop, N + 1)
    end.

burn(Until) ->
    case erlang:monotonic_time(millisecond) < Until of
        true -> burn(Until);
        false -> ok
    end.

other(F) ->
    Me = self(),
    P = spawn(fun() -> Me ! {self(), F()} end),
    receive {P, R} -> R end.

%% A consumer of its own.
%% Asks the agent until another of its consumers has its answer: how often, and that answer.
heard(A, C, N) ->
    receive
        {C, Answer} -> {N, Answer}
    after 0 ->
        {ok, running, _, _, _, _, _, _} = call(A, {read, 0}),
        heard(A, C, N + 1)
    end.

%% Modules of one function.
tiny(I) -> list_to_atom("agent_tiny_" ++ integer_to_list(I)).

load_tiny(M) ->
    {ok, M, Code} = compile:forms([{attribute, 1, module, M}, {attribute, 1, export, [{f, 0}]}, {function, 1, f, 0, [{clause, 1, [], [], [{atom, 1, ok}]}]}]),
    {module, M} = code:load_binary(M, "tiny", Code).

unload_tiny(M) -> code:purge(M), code:delete(M), code:purge(M).

%% Waits for the word that it was loaded, others perhaps beside it.
loaded(M) ->
    receive
        {erltrace, loaded, Serial, Ms} ->
            case lists:member(M, Ms) of
                true -> Serial;
                false -> loaded(M)
            end
    after etreport:patience() -> error({not_told_of, M, process_info(self(), messages), process_info(whereis(erltrace_agent), [messages, current_stacktrace]), patterns({M, module_info, 0})})
    end.

%% Whether a function has a local pattern in any session.
locally(MFA) -> [P || P <- patterns(MFA), lists:keyfind(traced, 1, P) =:= {traced, local}] =/= [].

%% Each call that sets a pattern takes long.
held() ->
    [spawn_opt(fun() -> process_flag(sensitive, true), hold_scheduler() end, [{scheduler, N}]) || N <- lists:seq(1, erlang:system_info(schedulers))].

%% As a NIF that takes long: what waits for all schedulers waits for this one.
hold_scheduler() ->
    erts_debug:set_internal_state(sleep, 5),
    erlang:yield(),
    hold_scheduler().

%% Keeps all that is bound to its scheduler from running.
%% Keeps a scheduler busy, so that processes bound to it do not run, until no_hog/1 or until the test ends.
hog(Scheduler) ->
    Me = self(),
    Hog = spawn_opt(fun() -> process_flag(sensitive, true), Me ! {hog, self()}, busy() end, [link, {scheduler, Scheduler}, {priority, max}]),
    receive {hog, Hog} -> Hog end.

no_hog(Hog) ->
    unlink(Hog),
    exit(Hog, kill).

busy() -> busy().

%% Until the server waits, in setting `send`, for a process that a hog keeps from running. Its own check of what others trace, now and then, waits
%% for the same process, and may have come first: it is let go, and the hog put there again. -> the hog
held(A, Hog) ->
    Checks = fun() -> {_, Where} = process_info(A, current_stacktrace), lists:any(fun({_, F, _, _}) -> F =:= 'others:look' end, Where) end,
    Sets = fun() -> {flags, F} = erlang:trace_info(new_processes, flags), lists:member(send, F) end,
    wait(fun() -> otp() >= 27 orelse Sets() orelse Checks() end),
    case otp() < 27 andalso not Sets() of
        true -> no_hog(Hog), wait(fun() -> not Checks() end), held(A, hog(1));
        false -> Hog
    end.

client() -> spawn(?MODULE, consumer, [self(), none]).

consumer(Owner, none) -> consumer(Owner, open());
consumer(Owner, A) ->
    receive
        {Owner, finish} -> Owner ! {self(), finish(A)};
        {Owner, close} -> Owner ! {self(), call(A, close)};
        {Owner, {Options, L}} -> Owner ! {self(), start(A, "build/test/agent/image.dif", Options, L)}, consumer(Owner, A);
        {Owner, L} -> Owner ! {self(), start(A, L)}, consumer(Owner, A)
    end.

c(C, What) ->
    M = erlang:monitor(process, C),
    C ! {self(), What},
    receive
        {C, R} -> erlang:demonitor(M, [flush]), R;
        {'DOWN', M, process, C, R} -> error({client, R})
    end.

fuzz(_, Image) ->
    P = rand:uniform(byte_size(Image)) - 1,
    New = rand:uniform(256) - 1,
    <<Head:P/binary, _, Tail/binary>> = Image,
    Bad = <<Head/binary, New, Tail/binary>>,
    other(fun() ->
              A = open(),
              B = bindings([{?ENTRY, work(leaf, 1), Cl} || Cl <- [?COUNT, ?TEXTS, ?INTS, ?TIME, ?FAULT, ?ARG3]]),
              R = case call(A, {enable, Bad, [{bufsize, 65536}, {aggsize, 65536}, {dynvarsize, 65536}], B}) of
                      {ok, _, _} -> {ok, _, _} = call(A, go), agent_work:leaf(1), ran;
                      {error, _, _, _} -> refused
                  end,
              ok = call(A, close),
              R
          end).

%% The rows of shapes.list that this release has: {tag, of what}.
listed() ->
    {ok, List} = file:read_file(filename:join(root(), "guest/words/shapes.list")),
    {match, Rows} = re:run(List, "^WORD_SHAPE\\((\\w+), (\\w+),.*, (\\d+), (\\d+)\\)$", [global, multiline, {capture, all_but_first, list}]),
    [{list_to_atom(string:trim(Tag, trailing, "_")), list_to_atom(string:lowercase(Who))}
     || [Who, Tag, First, Last] <- Rows, otp() >= list_to_integer(First), Last =:= "0" orelse otp() =< list_to_integer(Last)].

%% {process, port or the tracee itself, tag, message, terms that are none (`any`: each is one), extra, likewise, firings}
shapes(Port, {M, F, _} = Local) ->
    Words = [{K, 233} || K <- [old_heap_block_size, heap_block_size, mbuf_size, recent_size, stack_size, old_heap_size, heap_size,
                               bin_vheap_size, bin_vheap_block_size, bin_old_vheap_size, bin_old_vheap_block_size]],
    NoWords = fun(L) -> [lists:keydelete(K, 1, L) || {K, _} <- L, K =/= mbuf_size, K =/= recent_size, K =/= bin_vheap_block_size,
                                                     K =/= bin_old_vheap_block_size] ++
                            [lists:keyreplace(heap_size, 1, L, X) || X <- [{heap_size}, {heap_size, 1, 1}, {heap_size, -1}, {heap_size, a}]] ++
                            [[], [heap_size | L], L ++ x, lists:duplicate(40, hd(L)) ++ L] end,
    Collection = [{wordsize, 0} | Words],
    NoMfa = [{M, F, -1}, {M, F, 256}, {M, F, a}, {M, F, [x | y]}, {"m", F, 1}, {M, [F], 1}, 1, a],
    Start = {M, F, [1, 2]},
    NoStart = [{M, F, 2}, {M, F, [1 | 2]}, {M, F, {}}, {"m", F, []}, {1, F, []}, {M, self(), []}],
    NoEnd = [an_atom, 17, make_ref()],
    Seq = {send, {1, 2}, self(), self(), hello},
    NoSeq = [setelement(1, Seq, sent), setelement(1, Seq, {send})] ++ [setelement(2, Seq, X) || X <- [{1}, {1, 2, 3}, {1, a}, {a, 2}, 1]] ++
            [setelement(N, Seq, X) || N <- [3, 4], X <- [17, {a}, {a, 1}, {a, b, c}, [a]]],
    Told = fun(X) -> {self(), X} end,
    NoTold = [Told(X) || X <- [open, {command}, {command, <<>>, x}, {command, 17}, {closed, x}, {control, 17}, {control, {17}}, {control, {a, <<>>}},
                               {control, {1, 17}}, {control, {1, <<>>, x}}, {call, {-1, <<>>}}, {connect, 17}, {connect, x}, {close, x}]] ++
             [{17, close}, {{self()}, close}, connected, 0],
    [{process, send, hello, any, self(), [17], 1}, {process, send, hello, any, {a_name, 'n@h'}, [{a, 1}, {1, 'n@h'}, {a, b, c}], 2},
     {process, send, hello, any, Port, [], 0}, {process, send_to_non_existing_process, hello, any, self(), [17], 1},
     {process, 'receive', hello, any, none, [], 1},
     {process, exit, normal, any, none, [], 1}] ++
    [{process, T, X, [Y || Y <- NoMfa], none, [], 1} || T <- [in, out, in_exiting, out_exiting, out_exited], X <- [{M, F, 1}, 0]] ++
    [{process, return_to, X, [Y || Y <- NoMfa -- [1, a]] ++ [0, 17], none, [], 0} || X <- [{M, F, 1}, undefined]] ++
    [{process, call, {M, leaf, [1]}, [{M, leaf, [x | y]}, {M, leaf, a}, {M, leaf, -1}, {"m", leaf, []}, 0], none, [], 1},
     {process, call, Local, [], none, [], 1},
     {process, call, {erts_internal, prepare_loading, [m, <<"code">>]},
      [], none, [], 1},
     {process, call, {erts_internal, purge_module, [m, prepare]}, [], none, [], 0},
     {process, call, {erts_internal, purge_module, [m, complete]},
      [{erts_internal, purge_module, A} || A <- [[m, completed], [m, {complete}]]], none, [], 1},
     {process, return_from, Local, NoMfa, 7, any, 0},
     {process, exception_from, Local, NoMfa, {error, badarg}, [{17, x}, {[], x}, error], 1}] ++
    [{process, T, Collection, NoWords(Collection), none, [], 1} || T <- [gc_minor_start, gc_minor_end, gc_major_start, gc_major_end]] ++
    [{process, gc_max_heap_size, Words, NoWords(Words), none, [], 1},
     {process, spawn, self(), [Port | NoEnd], Start, NoStart, 1},
     {process, spawned, self(), [17], Start, NoStart, 1}] ++
    [{process, T, X, NoEnd, none, [], 1} || T <- [link, unlink, getting_linked, getting_unlinked], X <- [self(), Port]] ++
    [{Who, T, a_name, [17, self()], none, [], 1} || Who <- [process, port], T <- [register, unregister]] ++
    [{port, 'receive', Told({command, <<"x">>}), NoTold, none, [], 2}, {port, 'receive', Told({command, [<<"x">>]}), [], none, [], 2},
     {port, 'receive', Told(close), [], none, [], 1}, {port, 'receive', Told({connect, self()}), [], none, [], 2},
     {port, 'receive', Told({control, {17, <<>>}}), [], none, [], 2}, {port, 'receive', Told({call, {17, <<>>}}), [], none, [], 1},
     {port, 'receive', timeout, [], none, [], 0},
     {port, send, {Port, {data, <<"x">>}}, any, self(), NoEnd, 1}, {port, send_to_non_existing_process, hello, any, self(), NoEnd, 0},
     {port, closed, normal, any, none, [], 2}, {port, open, self(), [17], cat, [17, self(), "cat"], 2}] ++
    [{port, T, X, [17, self()], none, [], 1} || T <- [in, out], X <- [0, command]] ++
    [{port, T, self(), NoEnd, none, [], 1} || T <- [getting_linked, getting_unlinked]] ++
    [{[label], seq_trace, X, NoSeq, none, [], 1} || X <- [Seq, setelement(1, Seq, 'receive'), setelement(1, Seq, print), setelement(3, Seq, node()),
                                                          setelement(4, Seq, []), setelement(4, Seq, {a, b}), setelement(4, Seq, make_ref())]].

%% What is not such a term.
odd(any, _) -> [];
odd(Given, T) -> Given ++ others(T).

%% Terms with an element more, one less, and of other types.
others(T) ->
    [<<"one">>, 1.5, #{}, [T], {T}, fun() -> ok end] ++
    if is_tuple(T), T =/= {} -> [erlang:append_element(T, x), erlang:delete_element(tuple_size(T), T)];
       is_list(T), T =/= [] -> [[x | T], tl(T), T ++ x];
       true -> []
    end.

opts(none) -> #{};
opts(Extra) -> #{extra => Extra}.

%% Results of match specifications. Before OTP 27 they may be another tool's.
results(M, Sent, Local) ->
    Result = fun(X) -> #{match_spec_result => X} end,
    Odd = case otp() >= 27 of
              true -> {0, 1, 0};
              false -> {1, 0, 0}
          end,
    Is = fun({Fires, Drops, Else}, Row, {_, _, _, _} = Got) -> ?equal({Row, Fires, Drops, Else}, Got) end,
    [Is({1, 0, 0}, X, Sent(X, call, self(), Local, Result(X))) || X <- [undefined, {m, f, 1}, {undefined, [1]}, {{m, f, 1}, [1]}]],
    [Is(Odd, X, Sent(X, call, self(), Local, Result(X)))
     || X <- [{m, f}, {m, f, 1, x}, {m, f, [1]}, {m, f, a}, <<"one">>, 17, [], {undefined, [1], x}, {undefined, x}, {{m, f}, [1]}, {[1]}]],
    Token = {1, label, 5, self(), 3},
    Send = fun(X) -> maps:put(extra, self(), Result(X)) end,
    [Is({1, 0, 0}, X, Sent(X, send, self(), hello, Send(X))) || X <- [[], Token, setelement(4, Token, node()), setelement(2, Token, [7])]],
    [Is(Odd, X, Sent(X, send, self(), hello, Send(X)))
     || X <- [erlang:append_element(Token, x), erlang:delete_element(5, Token), 17, a, <<"one">>, [Token], {Token}] ++
             [setelement(N, Token, X) || N <- [1, 3, 5], X <- [a, [], 1.5]] ++ [setelement(4, Token, X) || X <- [17, [], {self()}]]],
    _ = M:nif_unknown(),
    ok.

%% What a program has counted: firings, drops of unknown shapes, all drops.
dropped(M, P) ->
    Counts = M:nif_counts(P),
    Drops = lists:sublist(tuple_to_list(Counts), 7, tuple_size(Counts) - 8),
    #{fired => element(1, Counts), shape => element(?DROP_SHAPE, Counts), all => lists:sum(Drops)}.

%% The same for a program of the agent's, with what it has added up since the last call; warnings are kept.
lost_by(A) ->
    {running, #{aggs := G, counts := Counts}, W} = read(A),
    put(warned, W ++ case get(warned) of undefined -> []; L -> L end),
    #{shape => element(?DROP_SHAPE, Counts), aggs => G}.

told_until(A, Enough, Had) ->
    {running, _, W} = read(A),
    All = Had ++ W,
    case Enough(All) of
        true -> All;
        false -> timer:sleep(20), told_until(A, Enough, All)
    end.

has(Warnings, Text) -> lists:any(fun(W) -> binary:match(W, list_to_binary(Text)) =/= nomatch end, Warnings).

%% Dirty schedulers: files, and collections of large heaps; and processes that die there.
dirty(Stop) ->
    case counters:get(Stop, 1) of
        1 -> ok;
        0 ->
            {P, M} = spawn_monitor(fun() ->
                                       Big = lists:seq(1, 200000),
                                       [{ok, _} = file:read_file_info(".", [raw]) || _ <- lists:seq(1, 20)],
                                       erlang:garbage_collect(),
                                       length(Big) > 1
                                   end),
            receive after rand:uniform(10) -> ok end,
            rand:uniform(2) =:= 1 andalso exit(P, kill),
            receive {'DOWN', M, process, P, _} -> ok end,
            dirty(Stop)
    end.

churn(Stop, K) ->
    case counters:get(Stop, 1) of
        1 -> ok;
        0 ->
            P = spawn(agent_work, server, []),
            P ! {self(), K},
            receive {P, K} -> ok end,
            Q = spawn(fun() -> agent_work:calls(K * 10), agent_work:catcher(1), erlang:garbage_collect(), agent_work:body(50) end),
            M = erlang:monitor(process, Q),
            exit(P, kill),
            K rem 2 =:= 0 andalso exit(Q, kill),
            _ = binary_to_term(term_to_binary(lists:seq(1, 300))),
            receive {'DOWN', M, process, Q, _} -> ok end,
            churn(Stop, K)
    end.
