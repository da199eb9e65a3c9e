%% erltrace_agent_needs - what all running programs together need of the VM, and the way from one set of needs to the next; and regular
%% checks: whether everything is still set, functions whose exception frames pile up, dead processes.
%%
%% What always holds:
%%  * What is set is remembered in #s.flags, #s.some, #s.port_flags and #s.functions, and nothing else is ever cleared.
%%  * Needs grow before the snapshot that relies on them is published, and shrink after the snapshot that no longer does. A program that has
%%    been placed has all that it needs; it is in no snapshot before it runs.
%%  * The server hears its consumers meanwhile (erltrace_agent_meanwhile).
-module(erltrace_agent_needs).

-export([wants/2, apply_needs/1, apply_needs/2, publish/1]).
-export([watch/1, flags_set/2, present/1, complain/2, start_watching/1, overrun/1]).

-import(erltrace_agent_lib, [error4/3, text/2, names/1, ours/1]).

-include("erltrace_agent.hrl").

%% Of those that want something of a function: what leaves a frame for each call, and whether only global calls are wanted.
-define(FRAMES, (?EXCEPTION bor ?VALUE)).
-define(is_global(Bits), ((Bits) band (bnot ?ARGS) =:= ?GLOBAL)).

%% Tells a time-out from a message `timeout` that a process has sent: the VM names clock_service as the node of a time-out. The message gets a
%% result, which guest/beam/probe/tracer_message.c looks for.
-define(RECEIVED, [{[clock_service, '_', timeout], [], []}, {['_', '_', timeout], [], [{message, sent}]}, {'_', [], []}]).
-define(OVERRUN, 50).              % ms between two checks of exception frames

%% Adds what bindings want of functions to Acc.
wants(Bindings, Acc) ->
    erltrace_agent_lib:fold_list(fun want/2, Acc, Bindings).

want({_, _, _, Kind, {M, _, _} = MFA}, Acc) when Kind >= ?PROBE_FN_ENTRY ->
    New = bits(Kind),
    case Acc of
        #{MFA := Bits} when Bits bor New =:= Bits -> Acc;
        #{MFA := Bits} -> Acc#{MFA := one_way(Bits bor New)};
        #{} ->
            case ours(M) of
                true -> Acc;
                false -> Acc#{MFA => New}
            end
    end;
want(_, Acc) ->
    Acc.

%% If a program reads the value of some returns of a function, it gets all of them in that way.
one_way(Bits) when Bits band ?VALUE =/= 0 -> Bits band (bnot ?RETURN);
one_way(Bits) -> Bits.

bits(Kind) when Kind =:= ?PROBE_FN_ENTRY + ?USE_COUNT -> ?COUNT;
bits(Kind) when Kind band ?USE_COUNT =/= 0 -> bits(Kind - ?USE_COUNT);
bits(Kind) when Kind band ?USE_FOLLOW =/= 0 -> bits(Kind - ?USE_FOLLOW) bor ?FOLLOW bor ?ENTRY;
bits(Kind) when Kind band ?USE_ARGS =/= 0 -> bits(Kind - ?USE_ARGS) bor ?ARGS;
bits(Kind) when Kind band ?USE_VALUE =/= 0 -> ?VALUE;
bits(Kind) -> bit(Kind band (bnot ?USES)).

bit(?PROBE_FN_RETURN) -> ?RETURN;
bit(?PROBE_FN_BIF_RETURN) -> ?RETURN;
bit(?PROBE_FN_NIF_RETURN) -> ?RETURN;
bit(?PROBE_FN_EXCEPTION) -> ?EXCEPTION;
bit(?PROBE_FN_LOCAL_ENTRY) -> ?LOCAL;
bit(?PROBE_FN_GLOBAL_ENTRY) -> ?GLOBAL;
bit(_) -> ?ENTRY.

%% Makes the VM deliver what the running programs need, no more and no less, and routes the events to them.
%% -> {warnings, state}; throws an error, and then leaves everything as it was.
apply_needs(S) ->
    apply_needs(undefined, S).

%% The same for one consumer, which can cancel it.
-spec apply_needs(pid() | undefined, #s{}) -> {[binary()], #s{}}.
apply_needs(Own, S) ->
    erltrace_agent_meanwhile:during(Own, S, fun() ->
                                                case placed(S) of
                                                    [] -> {[], no_needs(S)};
                                                    Placed -> apply_all(Placed, S)
                                                end
                                            end).

%% Returns the consumers that need something.
placed(#s{consumers = Cs}) ->
    [C || #c{phase = Phase, over = false} = C <- maps:values(Cs), ?is_placed(Phase), needs(C)].

%% False for a program that has only ticks, or that is over: its bindings must not decide how the functions of others are traced.
needs(#c{needs = N, wants = W, counted = Counted, hooks = H, hears = Hears}) ->
    N =/= 0 orelse W =/= #{} orelse Counted =/= #{} orelse H =/= [] orelse Hears.

%% Removes everything, as no program needs anything. From OTP 27 on all that we set goes with the session, in one step: clearing each
%% pattern by itself would wait for all schedulers, which takes seconds on a busy node.
no_needs(S0) ->
    ?AGENT:nif_gate(false), % first: the other call waits for a dirty scheduler
    ?AGENT:nif_publish([], [], []),
    S = erltrace_agent_others:deaf(erltrace_agent_loads:forget(erltrace_agent_monitor:undo(erltrace_agent_poll:undo(erltrace_agent_counts:undo(S0))))),
    case S#s.session of
        legacy ->
            %% Flags first: without them calls through local patterns cost next to nothing, and patterns take long to clear.
            erltrace_agent_flags:remove_ours(S),
            Any = S0#s.loads =/= undefined orelse map_size(S#s.functions) + map_size(S#s.hooks) > 0,
            Any andalso erltrace_agent_patterns:remove_all([S#s.functions, S#s.hooks], S),
            erltrace_agent_ports:remove_flags(S#s.port_flags, [], S),
            erltrace_agent_seq:remove(S#s.seq, S),
            tell_guard(S, [#{}]);
        Session ->
            erltrace_agent_seq:remove(S#s.seq band ?NEED_SEQ_TRACE, S),
            Session =:= undefined orelse erltrace_agent_session:destroy(Session)
    end,
    ok = ?AGENT:nif_framed([], [], true),
    erltrace_agent_crowd:dismiss(),
    (erltrace_agent_patterns:globals(#{}, S))#s{names = erltrace_agent_names:stop(0, S#s.names), session = erltrace_agent_session:none(S#s.has), flags = [], some = #{}, port_flags = [], seq = 0, functions = #{}, hooks = #{}, taken = #{},
                                                bifs = [], given = #{}, calls = undefined}.

%% If it fails, sessions that were created for it are destroyed.
apply_all(Running, S00) ->
    or_back(
        fun() ->
            S0 = erltrace_agent_counts:add(Running, session(S00)),
            or_back(
                fun() ->
                    S = erltrace_agent_monitor:apply_needs(Running, S0),
                    or_back(
                        fun() ->
                            {Warnings, S1} = apply_traces(Running, S),
                            {Warnings, erltrace_agent_counts:trim(Running, erltrace_agent_poll:apply_needs(Running, S1))}
                        end,
                        fun() -> erltrace_agent_monitor:back(S0, S) end)
                end,
                fun() -> erltrace_agent_counts:back(S00, S0) end)
        end,
        fun() -> sessions_back(S00) end).

sessions_back(#s{session = legacy}) ->
    ok;
sessions_back(#s{session = Session, global = Global} = S) ->
    erltrace_agent_session:sweep([Session, Global, S#s.gc, erltrace_agent_loads:session(S), erltrace_agent_monitor:session(S),
                                  erltrace_agent_counts:session(S)]).

apply_traces(Running, S00) ->
    Bits = lists:foldl(fun(#c{needs = N}, A) -> N bor A end, 0, Running),
    [First | Others] = [W || #c{wants = W} <- Running],
    Wants = lists:foldl(fun merge_wants/2, First, Others),
    {Taken, W7, S01} = erltrace_agent_others:spare(without_taken(S00#s.taken, Wants), Running, S00),
    {Globals, All} = globals(Taken, S01),
    Few = erltrace_agent_only:functions(Running, S01),
    {Unfiltered, Flagged} = simplify(erltrace_agent_lib:map(fun(MFA, B) -> pattern(B, is_map_key(MFA, Few)) end, All), All),
    Patterns = filter(Running, Unfiltered, Wants),
    {Flags, Some} = erltrace_agent_only:flags(Running, Bits, Flagged),
    PortFlags = erltrace_agent_ports:flags(Bits),
    S0 = erltrace_agent_others:make_room(Patterns, Flags, PortFlags, S01),
    %% Those that were checked when the program came may not have traced collections then.
    New = lists:append([Flags -- S0#s.flags | [F -- maps:get(P, S0#s.some, []) || {P, F} <- maps:to_list(Some)]]),
    lists:member(garbage_collection, New) andalso erltrace_agent_flags:check_gc(S0, processes()),
    Kinds = kinds(Running, Patterns, Globals),
    NewPort = PortFlags -- S0#s.port_flags,
    Before = erltrace_agent_loads:seen(S0),
    or_back(
        fun() ->
            %% Before the rest, so that code that is loaded from now on is noticed.
            {W6, S} = erltrace_agent_loads:arm(grown(Kinds, S0), maps:merge(S0#s.functions, Patterns), S0),
            {Seq, W0} = erltrace_agent_seq:add(Bits, S),
            %% Separate maps: a function may be getting another pattern than it has.
            tell_guard(S, [S#s.functions, Patterns, erltrace_agent_hooks:guarded(Running, S)]),
            Names = erltrace_agent_names:begin_learning(Bits, S),
            {W1, Known} = erltrace_agent_flags:add(Flags, Some, S),
            W3 = erltrace_agent_ports:add_flags(NewPort, S#s{port_flags = PortFlags}),
            S1 = Known#s{flags = Flags, some = Some, port_flags = PortFlags, seq = Seq},
            erltrace_agent_names:fill(Names, S), % takes long, and may be given up: nothing below it may be
            {Warnings, S2} = apply_patterns(Running, Patterns, Globals, locally(Few, S0), S, S1),
            erltrace_agent_flags:remove(Flags, Some, S),
            erltrace_agent_ports:remove_flags(S#s.port_flags -- PortFlags, PortFlags, S),
            erltrace_agent_seq:remove(Seq band (bnot Bits), S),
            #s{functions = Set, hooks = Hooks} = S2,
            tell_guard(S, [Set, Hooks]),
            S3 = erltrace_agent_patterns:globals(Globals, S2#s{seq = Seq band Bits}),
            {W5, S4} = erltrace_agent_loads:arm(Kinds, maps:merge(Set, Hooks), S3#s{names = erltrace_agent_names:stop(Bits, Names)}),
            erltrace_agent_hooks:restore(Hooks, Set, S),
            {W7 ++ W6 ++ W0 ++ W1 ++ W3 ++ Warnings ++ W5 ++ all_local(Wants, S), erltrace_agent_others:hear(erltrace_agent_others:remember(S4))}
        end,
        fun() ->
            erltrace_agent_loads:back(S0, grown(Kinds, S0), Before),
            erltrace_agent_flags:remove(S0#s.flags, S0#s.some, S0#s{flags = Flags, some = Some}),
            erltrace_agent_ports:remove_flags(NewPort, S0#s.port_flags, S0),
            erltrace_agent_seq:remove(Bits band (bnot S0#s.seq), S0),
            S0#s.names orelse ?AGENT:nif_names(false)
        end).

%% Goes from the patterns of state S to these, and routes the events to the programs. S1: S with what has been set meanwhile.
apply_patterns(Running, Patterns, Globals, Locally, S, S1) ->
    Were = framed(S#s.functions),
    Are = framed(Patterns),
    Some = Were =/= Are, % others from now on
    Some andalso framed(maps:merge_with(fun(_, A, B) -> A ++ B end, Were, Are), false),
    {Set, W2} = or_back(fun() -> erltrace_agent_patterns:add_patterns(Patterns, S) end, fun() -> Some andalso framed(Were, true) end),
    or_back(
        fun() ->
            {Hooks, W4} = erltrace_agent_hooks:add(Running, Set, S),
            or_back(
                fun() ->
                    S2 = erltrace_agent_patterns:globals(maps:merge(S#s.globals, Globals), S1),
                    publish(Running, Locally, S),
                    erltrace_agent_patterns:remove_patterns(erltrace_agent_hooks:without(erltrace_agent_patterns:no_longer(S#s.functions, Set), Hooks), S),
                    erltrace_agent_hooks:remove(Hooks, Set, S),
                    Some andalso framed(framed(Set), true),
                    {W2 ++ W4, S2#s{functions = Set, hooks = Hooks}}
                end,
                fun() ->
                    _ = S#s.global =:= undefined orelse
                        erltrace_agent_patterns:globals(S#s.globals, S#s{globals = maps:merge(S#s.globals, Globals)}),
                    erltrace_agent_hooks:remove(S#s.hooks, S#s.functions, S#s{hooks = Hooks})
                end)
        end,
        fun() ->
            erltrace_agent_patterns:back(Set, S#s.functions, S#s.hooks, S),
            Some andalso framed(Were, true)
        end).

%% #{MFA => which of its patterns leave a frame for each call}, as frames.h counts them.
framed(Functions) ->
    erltrace_agent_lib:fold(fun(MFA, {How, true, _}, Acc) -> Acc#{MFA => [How]};
                               (_, _, Acc) -> Acc
                            end, #{}, Functions).

framed(Framed, Forget) ->
    All = maps:to_list(Framed),
    ?AGENT:nif_framed([MFA || {MFA, Hows} <- All, lists:member(local, Hows)], [MFA || {MFA, Hows} <- All, lists:member(meta, Hows)], Forget) =:= ok orelse
        throw(error4('AGENT_MEMORY', "the node has no memory for the table of functions", "enable fewer probes")).

%% Routes events to the programs that run.
publish(S) ->
    case placed(S) of
        [] -> true;
        Placed -> publish(Placed, locally(erltrace_agent_only:functions(Placed, S), S), S)
    end.

%% Functions of which few calls are wanted have a local pattern even if no program wants their returns; or `meta`: all calls are seen by
%% meta patterns.
locally(Few, #s{calls = undefined}) -> maps:keys(Few);
locally(_, _) -> meta.

%% A function has a local pattern as well if its returns are wanted only by a program that does not run yet.
publish(Placed, Locally, #s{taken = Taken}) ->
    {Running, Waiting} = lists:partition(fun(#c{phase = Phase}) -> Phase =:= running end, Placed),
    Local = case Locally of
                meta -> meta;
                _ -> Locally ++ [MFA || Running =/= [], #c{wants = W} <- Waiting, {MFA, Bits} <- maps:to_list(W), Bits band ?RETURN =/= 0]
            end,
    ?AGENT:nif_publish([P || #c{program = P} <- Running], maps:keys(Taken), Local) =:= ok orelse
        throw(error4('AGENT_MEMORY', "the node has no memory for the table of probes", "enable fewer probes")),
    ?AGENT:nif_gate(true).

%% Runs Do; if that fails, runs Back before it raises the error again.
or_back(Do, Back) ->
    try Do()
    catch
        Class:Reason:Stack ->
            Back(),
            erlang:raise(Class, Reason, Stack)
    end.

%% Tells the guard which functions have, or are about to get, a pattern, in one map or several: what the server cannot undo if it is killed.
tell_guard(#s{guard = undefined}, _) -> ok;
tell_guard(#s{session = legacy, guard = Guard}, Functions) -> Guard ! {functions, Functions};
tell_guard(_, _) -> ok.

merge_wants(W, Acc) ->
    erltrace_agent_lib:fold(fun(K, V, B) ->
                                case B of
                                    #{K := V0} -> B#{K := V0 bor V};
                                    #{} -> B#{K => V}
                                end
                            end, Acc, W).

without_taken(Taken, Wants) ->
    maps:fold(fun(MFA, true, W) ->
                  case W of
                      #{MFA := Bits} when Bits band (bnot ?FRAMES) =:= 0 -> maps:remove(MFA, W);
                      #{MFA := Bits} -> W#{MFA := Bits band (bnot ?FRAMES)};
                      #{} -> W
                  end
              end, Wants, Taken).

%% From OTP 27 on: which functions need a global pattern in a session of its own, to tell local calls from global ones, and what else is
%% wanted of which function. Before OTP 27, local and global patterns exclude each other (see all_local).
globals(Wants, #s{session = legacy}) ->
    {#{}, Wants};
globals(Wants, _) ->
    erltrace_agent_lib:fold(fun(MFA, B, {G, W}) when ?is_global(B) -> {G#{MFA => args(B)}, maps:remove(MFA, W)};
                               (MFA, B, {G, W}) when B band (?LOCAL bor ?GLOBAL) =/= 0 -> {G#{MFA => args(B)}, W};
                               (_, _, Acc) -> Acc
                            end, {#{}, Wants}, Wants).

args(Bits) when Bits band ?ARGS =/= 0 -> args;
args(_) -> false.

%% Before OTP 27 a function has one pattern, which tells local calls from global ones only if it is a global pattern.
all_local(_, #s{session = Session}) when Session =/= legacy ->
    [];
all_local(Wants, _) ->
    Locals = [MFA || {MFA, B} <- maps:to_list(Wants), B band ?LOCAL =/= 0],
    Globals = [MFA || {MFA, B} <- maps:to_list(Wants), B band ?GLOBAL =/= 0, not ?is_global(B)],
    [text("before OTP 27 local calls cannot be told from global ones: every call of ~s counts as local", [names(Locals)])
     || Locals =/= []] ++
    [text("before OTP 27 global-function-entry does not fire for functions with any other probe: ~s", [names(Globals)])
     || Globals =/= []].

%% The kinds of patterns that code to come needs. A meta pattern shows each call, local ones let returns be followed; but when the returns
%% of only one function are followed, those of others would be taken for its own (see simplify).
kinds(Running, Patterns, Globals) ->
    case lists:any(fun(#c{hears = Hears}) -> Hears end, Running) of
        true ->
            [meta] ++ [local || erltrace_agent_lib:fold(fun(_, {How, _, Caller}, Any) -> Any orelse (How =:= local andalso Caller =/= false) end,
                                                        false, Patterns)] ++
                [global || map_size(Globals) > 0];
        false ->
            []
    end.

%% These kinds and those that are set.
grown(Kinds, #s{loads = undefined}) -> Kinds -- [global];
grown(Kinds, #s{loads = #loads{kinds = Have}}) -> [K || K <- [meta, local, global], lists:member(K, Have ++ (Kinds -- [global]))].

%% Returns need local patterns, which work only in processes that have the flags, and so do global ones; for the rest processes are left
%% untouched. But a meta pattern costs every process, so calls of a few processes use local patterns as well.
pattern(Bits, Few) when Bits band ?FOLLOW =/= 0 ->
    {How, Exceptions, Caller} = pattern(Bits band (bnot ?FOLLOW), Few),
    {How, Exceptions, {follow, Caller}};
pattern(Bits, _) when ?is_global(Bits) ->
    {global, false, args(Bits)};
pattern(Bits, Few) when Bits band ?RETURN =/= 0; Few ->
    {local, Bits band ?FRAMES =/= 0, args(Bits) =:= false orelse args};
pattern(Bits, _) ->
    {meta, Bits band ?FRAMES =/= 0, false}.

%% Of a function of which only calls are wanted, the VM reports only those that the programs ask for. Returns and exceptions need
%% the call that they belong to, and two events tell a local call from a global one: there the VM reports all calls.
filter(Running, Patterns, Wants) ->
    case lists:any(fun(#c{filtered = Filtered}) -> map_size(Filtered) > 0 end, Running) of
        false -> Patterns;
        true ->
            Hooked = erltrace_agent_filters:hooked(Running),
            erltrace_agent_lib:map(fun(MFA, {meta, false, false} = P) when not is_map_key(MFA, Hooked) ->
                                           case map_get(MFA, Wants) band (bnot ?ARGS) =:= ?ENTRY andalso
                                               erltrace_agent_filters:conditions(MFA, Running) of
                                               [_ | _] = Conds -> {meta, {filter, Conds}, false};
                                               _ -> P
                                           end;
                                      (_, P) -> P
                                   end, Patterns)
    end.

%% When returns of at most one function are wanted, its caller need not be known: that saves the VM a fifth of the work.
%% -> {patterns, #{function whose pattern works only in processes with flags => what is wanted of it}}
simplify(Patterns, Wants) ->
    {Flagged, Returns} = erltrace_agent_lib:fold(fun(_, {meta, _, _}, Acc) -> Acc;
                                                    (MFA, _, {F, R}) ->
                                                        Bits = map_get(MFA, Wants),
                                                        {F#{MFA => Bits}, R orelse Bits band ?RETURN =/= 0}
                                                 end, {#{}, false}, Patterns),
    {case maps:next(maps:iterator(Flagged)) of
         _ when not Returns -> erltrace_agent_lib:map(fun(_, {local, Exceptions, true}) -> {local, Exceptions, false};
                                                         (_, {local, Exceptions, {follow, true}}) -> {local, Exceptions, {follow, false}};
                                                         (_, P) -> P
                                                      end, Patterns);
         {MFA, _, _} when map_size(Flagged) =:= 1 ->
             case Patterns of
                 #{MFA := {local, false, true}} -> Patterns#{MFA := {local, false, false}};
                 #{} -> Patterns
             end;
         _ -> Patterns
     end, Flagged}.

%% Creates the agent's trace session, from OTP 27 on.
session(#s{session = undefined} = S) ->
    Session = erltrace_agent_session:create(?AGENT, ?TRACER, S),
    erltrace_agent_session:recv(Session, ?RECEIVED, []),
    S#s{session = Session};
session(S) ->
    S.

%% == regular checks ===========================================================================================

watch(S00) ->
    _ = erltrace_agent_lib:new_look(),
    S0 = present(S00),
    [?AGENT:nif_sweep(Part) || Part <- ?PARTS],
    _ = ?AGENT:nif_settled(),
    erltrace_agent_code:rebuild(S0),
    Failed = erltrace_agent_profile:apply(S0),
    S0#s.port_flags =/= [] andalso erltrace_agent_ports:look(),
    erltrace_agent_names:look(S0),
    S1 = drop_exiting(erltrace_agent_loads:look(S0)),
    S2 = erltrace_agent_shapes:watch(lost(S1)),
    {Told, S3} = erltrace_agent_monitor:watch(S2),
    {S4, Complaints, Again} = erltrace_agent_others:look(S3),
    {Gone, S5} = erltrace_agent_hooks:watch(S4),
    once_more(Again, Failed ++ Told ++ Complaints ++ Gone ++ erltrace_agent_seq:wiped(S5), S5).

%% Another process has set trace flags, perhaps ones that conflict with ours.
flags_set(Message, S) ->
    {S1, Told, Again} = erltrace_agent_others:flags_set(Message, S),
    once_more(Again, Told, S1).

%% Tells the consumers what has changed. Where what is wanted has to be set again, that is done first: consumers are answered meanwhile, and
%% whoever reads that a probe fires again relies on it.
once_more(true, Told, S) ->
    {Warnings, S1} = apply_needs(S),
    lists:foldl(fun warn/2, once_more(false, Told, S1), Warnings);
once_more(false, Told, S) ->
    lists:foldl(fun complain/2, S, Told).

%% A user who destroys a session of ours wants no more events: the programs that were running are over, and their consumers are told. The
%% next program begins with a new session.
present(S) ->
    _ = erase(session_lost),
    case erltrace_agent_others:is_present(S) of
        true -> S;
        false ->
            #s{consumers = Cs} = S1 =
                complain({{session, S#s.session}, <<"another process destroyed the agent's trace session: no probe fires any more; start the trace again">>}, S),
            {_, S2} = apply_needs(S1#s{consumers = maps:map(fun(_, #c{phase = Phase} = C) when ?is_placed(Phase) -> idle(C); (_, C) -> C end, Cs)}),
            S2
    end.

%% Makes a program need nothing any more.
idle(C) ->
    C#c{needs = 0, wants = #{}, counted = #{}, hooks = [], hears = false}.

%% A program whose exit() has run needs nothing any more, whether its consumer has noticed or not.
drop_exiting(#s{consumers = Cs} = S) ->
    Done = [C || #c{phase = running, over = false, program = P} = C <- maps:values(Cs), needs(C), element(1, ?AGENT:nif_status(P)) =/= false],
    case Done of
        [] -> S;
        _ ->
            Idle = maps:from_list([{Pid, idle(C)} || #c{pid = Pid} = C <- Done]),
            S1 = S#s{consumers = maps:merge(Cs, Idle)},
            {_, S2} = apply_needs(S1),
            S2
    end.

%% Tells every running consumer, once, what has changed for the worse.
complain({Key, Text}, #s{complained = Seen} = S) ->
    case Seen of
        #{Key := _} -> S;
        #{} -> warn(Text, S#s{complained = Seen#{Key => true}})
    end.

warn(Text, #s{consumers = Cs} = S) ->
    S#s{consumers = maps:map(fun(_, #c{phase = Phase, warnings = W} = C) when ?is_placed(Phase) -> C#c{warnings = [Text | W]};
                                (_, C) -> C
                             end, Cs)}.

lost(#s{lost = {T0, R0, C0, N0, H0}} = S) ->
    case ?AGENT:nif_lost() of
        {T0, R0, C0, N0, H0} -> S;
        {T, R, C, Names, Held} = Lost ->
            Texts = [text(F, [N]) || {F, N} <- [{"~b events on threads beyond the limit", T - T0},
                                                {"~b calls whose return could not be followed", R - R0},
                                                {"~b calls of processes with too many exception frames", C - C0},
                                                {"~b names of processes, for which there is no room", Names - N0},
                                                {"~b times that a process left its scheduler as it sent a message in parts, for which there is no room", Held - H0}],
                                     N > 0],
            warn(unicode:characters_to_binary(["not seen: " | lists:join(", ", Texts)]), S#s{lost = Lost})
    end.

%% Exception probes leave a frame for each call, so that a loop would make its stack grow: exception probes are removed from such a
%% function.
start_watching(#s{watching = false, functions = Fs} = S) ->
    case lists:any(fun({_, Exceptions, _}) -> Exceptions =:= true end, maps:values(Fs)) of
        true ->
            erlang:send_after(?OVERRUN, self(), overrun),
            S#s{watching = true};
        false ->
            S
    end;
start_watching(S) ->
    S.

overrun(#s{taken = Taken} = S) ->
    S1 = case ?AGENT:nif_overruns() of
             [] -> S;
             MFAs ->
                 {_, S2} = apply_needs(S#s{taken = maps:merge(Taken, maps:from_list([{F, true} || F <- MFAs]))}),
                 warn(text("exception probes and retval were removed from ~s: calls that do not return pile up, and each leaves a frame "
                           "on the stack while such a probe is on (a loop, or deep recursion)", [names(MFAs)]), S2)
         end,
    start_watching(S1#s{watching = false}).
