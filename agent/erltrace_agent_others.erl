%% erltrace_agent_others - living with other tracers: every second, whether what we set is still there, and who else is.
%%
%% What always holds:
%%  * What somebody else has is not taken. When they let go of it, we set what we wanted, and say so.
%%  * What somebody has cleared stays cleared: who calls recon_trace:clear() wants silence. The consumers are told.
%%  * From OTP 27 on nobody is in the other's way, but two who trace garbage collection crash the VM: when somebody begins to, our gc
%%    probes go at once: calls that set trace flags are heard of (hear/1). And when any session lets go of a BIF, OTP 27 and 28 stop telling all others of it: those patterns are
%%    set again in turn.
%%
%% A look costs about a microsecond a process and less for a function; of very many processes it takes some at a time.
-module(erltrace_agent_others).

-export([sweep_loaded/1, functions/0, look/1, hear/1, deaf/1, flags_set/1, is_present/1, sweep/1, remember/1, gc_owners/2]).

-import(erltrace_agent_lib, [text/2, names/1, owner/1, now_ms/0]).

-include("erltrace_agent.hrl").

-define(SOME, 2000).  % processes that one look takes
-define(ALL, 20000).  % ... that are all looked at when somebody has set trace flags
-define(PAUSE, 100).  % ms between two such looks
-define(BUDGET, 50).  % ms for setting BIFs again, in one look

%% -> {state, [{Key, Text}] that consumers are told once, whether what is wanted has to be set again}
look(#s{session = undefined} = S) ->
    {S, [], false};
look(#s{session = legacy} = S) ->
    {S1, C1, A1} = legacy_processes(S),
    {S2, C2, A2} = legacy_functions(S1),
    {S2#s{looks = S2#s.looks + 1}, C1 ++ C2 ++ legacy_ports(S), A1 orelse A2};
look(S) ->
    {S1, C, A} = collections(S),
    {bifs(S1#s{looks = S1#s.looks + 1}), C, A}.

%% What has just been set may have left out what others have: they are remembered, so that a look sees them let go.
remember(#s{otp = Otp} = S) when Otp >= 27 ->
    S;
remember(#s{flags = Flags, some = Some} = S) ->
    Processes = case Flags of
                    [] -> maps:keys(Some);
                    _ -> [new_processes | processes()]
                end,
    Theirs = [{P, Owner} || P <- Processes, {theirs, Owner} <- [tracer(P)]],
    S#s{others = maps:merge(owners(missing(S)), maps:from_list(Theirs))}.

%% What an agent has left that was killed together with its guard, or whose code was purged: flags and meta patterns bear our
%% name, local patterns do not. Some ten milliseconds, when an agent starts.
sweep(#s{otp = Otp} = S) when Otp >= 27 ->
    erltrace_agent_seq:remove(?NEED_SEQ_TRACE, S),
    erltrace_agent_session:sweep([]);
sweep(S) ->
    erltrace_agent_loads:left_behind(dead), % first: code that is loaded from now on is nothing to look for
    erltrace_agent_seq:remove(?NEED_SEQ_TRACE bor ?NEED_TOKENS, S),
    Flagged = [P || P <- [new_processes, new_ports | processes() ++ erlang:ports()], tracer(P) =:= ours],
    [try erlang:trace(P, false, [all]) catch error:badarg -> 0 end || P <- Flagged],
    All = functions(),
    Meta = sweep_loaded(All),
    Local = [{MFA, MS} || MFA <- All, erlang:trace_info(MFA, traced) =:= {traced, local}, {match_spec, MS} <- [erlang:trace_info(MFA, match_spec)]],
    Ours = [MFA || {MFA, MS} <- Local, erltrace_agent_patterns:is_match_spec(MS)],
    %% A plain one is ours when others are, and nobody traces calls.
    Plain = [MFA || {MFA, []} <- Local, Flagged =/= [] orelse Meta =/= [] orelse Ours =/= [], not calls_traced()],
    [erlang:trace_pattern(MFA, false, [local]) || MFA <- Ours ++ Plain],
    ok.

functions() ->
    [{M, F, A} || M <- erlang:loaded(), not erltrace_agent_lib:ours(M), {F, A} <- erltrace_agent_lib:functions_of(M)].

%% Takes away what tells by its look that it is ours, as code has that was loaded while we traced. -> those of these functions that had a
%% meta pattern of ours. (One that the VM has found without its tracer does nothing, and is nobody's; a call can make ours such a one
%% at any time.)
sweep_loaded(All) ->
    Left = [{MFA, Tracer} || MFA <- All, Tracer <- ours_or_nobodys(MFA)],
    Meta = [MFA || {MFA, ?TRACER} <- Left],
    erltrace_agent_patterns:remove_at_once(maps:from_list([{MFA, {meta, false, false}} || {MFA, _} <- Left])),
    [erlang:trace_pattern(MFA, false, [meta]) || {MFA, _} <- Left, ours_or_nobodys(MFA) =/= []],
    [erlang:trace_pattern(MFA, false, [local])
     || MFA <- All, erlang:trace_info(MFA, traced) =:= {traced, local}, {match_spec, MS} <- [erlang:trace_info(MFA, match_spec)],
        erltrace_agent_loads:is_mark(local, MS)],
    Meta.

ours_or_nobodys(MFA) ->
    case erlang:trace_info(MFA, meta) of
        {meta, ?TRACER} -> [?TRACER];
        {meta, []} -> [[]];
        _ -> []
    end.

calls_traced() ->
    lists:any(fun(F) -> lists:member(call, F) end,
              [F || P <- processes(), {theirs, _} <- [tracer(P)], {flags, F} <- [erlang:trace_info(P, flags)]]).

%% == before OTP 27: one tracer a process, one pattern of each sort a function ==================================

legacy_ports(#s{port_flags = Flags}) ->
    [{ports, <<"somebody cleared the trace flags of ports (erlang:trace(ports, false, ...), or tracing of new ports is somebody "
               "else's): events are missing from now on; start the trace again">>}
     || Flags =/= [], not erltrace_agent_ports:are_ours()].

legacy_processes(#s{flags = [], some = Some, others = Others} = S) ->
    some_processes(S#s{others = maps:filter(fun(K, _) -> is_tuple(K) orelse is_map_key(K, Some) end, Others)}, maps:keys(Some), []);
legacy_processes(#s{others = Others} = S) ->
    case {tracer(new_processes), Others} of
        {free, #{new_processes := Owner}} ->
            let_go(Owner, S#s{others = maps:without([P || P <- maps:keys(Others), not is_tuple(P)], Others)});
        {free, _} ->
            {S, [{flags, <<"somebody cleared the trace flags that the probes need (recon_trace:clear(), dbg, "
                           "erlang:trace(all, false, ...)): events are missing from now on; start the trace again">>}], false};
        {{theirs, Owner}, #{new_processes := _}} ->
            some_processes(S#s{others = Others#{new_processes := Owner}}, processes(), []);
        {{theirs, Owner}, _} ->
            some_processes(S#s{others = Others#{new_processes => Owner}}, processes(),
                           [{{new, Owner}, text("new processes are traced by ~s from now on: those are not seen", [Owner])}]);
        {ours, _} ->
            some_processes(S#s{others = maps:remove(new_processes, Others)}, processes(), [])
    end.

some_processes(#s{others = Others, guard = Guard} = S, Processes, Complaints) ->
    {Theirs, Freed, Cleared} =
        lists:foldl(fun(P, {T, F, C} = Acc) ->
                        case tracer(P) of
                            {theirs, Owner} -> {T#{P => Owner}, F, C};
                            free when is_map_key(P, Others) -> {T, [P | F], C};
                            free when is_map_key(new_processes, Others) -> Acc; % born while they were the tracer, and let go
                            free -> {T, F, [P | C]};
                            _ -> Acc
                        end
                    end, {#{}, [], []}, some(Processes, S#s.looks) -- [self(), Guard]),
    S1 = S#s{others = maps:merge(maps:filter(fun(K, _) -> is_tuple(K) orelse K =:= new_processes end, Others), Theirs)},
    Told = [{processes, text("somebody cleared the trace flags of ~p (erlang:trace(Pid, false, ...)): it is not seen any more, and "
                             "others may not be", [hd(Cleared)])} || Cleared =/= []] ++ Complaints,
    case Freed of
        [] -> {S1, Told, false};
        [P | _] ->
            {S2, Again, Set} = let_go(maps:get(P, Others), S1),
            {S2, Again ++ Told, Set}
    end.

%% They have ended: what they had is free.
let_go(Owner, S) ->
    Warnings = erltrace_agent_flags:again(S),
    {S, [{{let_go, S#s.looks}, text("processes that ~s had traced are seen from now on", [Owner])} |
         [{{flags, W}, W} || W <- Warnings]], false}.

%% Whose tracer a process, or the one of new ones, has.
tracer(P) ->
    case erltrace_agent_lib:tracer(P) of
        {tracer, []} -> free;
        {tracer, ?TRACER} -> ours;
        {tracer, Other} -> {theirs, owner(Other)};
        undefined -> dead
    end.

legacy_functions(#s{functions = Fs, others = Others} = S) ->
    {Theirs, Gone} =
        maps:fold(fun(MFA, {How, _, _} = P, {T, G} = Acc) ->
                      case erltrace_agent_patterns:still_ours(MFA, P, S) of
                          true -> Acc;
                          false ->
                              case erltrace_agent_patterns:owner_of(MFA, How) of
                                  nobody -> {T, [MFA | G]};
                                  Owner -> {T#{MFA => Owner}, G}
                              end
                      end
                  end, {#{}, []}, Fs),
    Wanted = wanted(S),
    %% Those that were somebody's, and now are nobody's.
    Freed = [MFA || {{_, _, _} = MFA, _} <- maps:to_list(Others), is_map_key(MFA, Wanted), not is_map_key(MFA, Fs),
                    erltrace_agent_patterns:owner_of(MFA, meta) =:= nobody,
                    erltrace_agent_patterns:owner_of(MFA, local) =:= nobody],
    Others1 = maps:merge(maps:filter(fun(K, _) -> not is_tuple(K) end, Others),
                         maps:merge(owners(missing(S) -- Freed), Theirs)),
    Told = [{{pattern, element(1, hd(Gone))},
             text("the trace patterns of ~s are gone (another tool cleared them, or the module was loaded anew): those probes fire no "
                  "more; start the trace again", [names(Gone)])} || Gone =/= []] ++
           [{{theirs, MFAs}, text("~s traces ~s now: those probes fire no more until it has ended", [Owner, names(MFAs)])}
            || {Owner, MFAs} <- maps:to_list(by_owner(Theirs))] ++
           [{{freed, S#s.looks}, text("~s: nobody else traces that any more, its probes fire again", [names(Freed)])} || Freed =/= []],
    {S#s{functions = maps:without(maps:keys(Theirs), Fs), others = Others1}, Told, Freed =/= []}.

%% Functions that are wanted and not set.
missing(#s{functions = Fs, taken = Taken} = S) ->
    [MFA || MFA <- maps:keys(wanted(S)), not is_map_key(MFA, Fs), not is_map_key(MFA, Taken)].

%% {mfa => bits} of all that runs.
wanted(#s{consumers = Cs}) ->
    maps:fold(fun(_, #c{phase = running, wants = W}, Acc) -> maps:merge(Acc, W);
                 (_, _, Acc) -> Acc
              end, #{}, Cs).

owners(MFAs) ->
    maps:from_list([{MFA, Owner} || MFA <- MFAs, Owner <- [erltrace_agent_patterns:owner_of(MFA, local),
                                                          erltrace_agent_patterns:owner_of(MFA, meta)], Owner =/= nobody]).

by_owner(Theirs) ->
    maps:fold(fun(MFA, Owner, Acc) -> maps:update_with(Owner, fun(L) -> [MFA | L] end, [MFA], Acc) end, #{}, Theirs).

%% At most ?SOME of them, others at each look.
some(L, Looks) ->
    case length(L) of
        N when N =< ?SOME -> L;
        N -> lists:sublist(lists:nthtail(Looks * ?SOME rem N, L), ?SOME)
    end.

%% == from OTP 27 on: sessions ==================================================================================

%% Whether nobody has destroyed a session of ours.
is_present(#s{session = legacy}) ->
    true;
is_present(#s{session = Session, global = Global} = S) ->
    lists:all(fun erltrace_agent_session:there/1, [X || X <- [Session, Global, erltrace_agent_loads:session(S)], X =/= undefined]).

%% The server gets a message when somebody has set trace flags (a function that does has returned), while we trace collections.
hear(#s{session = legacy} = S) ->
    S;
hear(#s{gc = Session} = S) ->
    case {has_collections(S), Session} of
        {true, undefined} ->
            New = erltrace_agent_session:create(erltrace_gc, self(), S),
            Set = fun(Args) -> [{Args, [], [{message, false}, {return_trace}]}] end,
            erltrace_agent_session:function(New, {erlang, trace, 3}, Set(['_', true, '_']), [meta]),
            erltrace_agent_session:function(New, {trace, process, 4}, Set(['_', '_', true, '_']), [meta]),
            self() ! flags_set, % somebody may have been faster
            S#s{gc = New};
        {false, _} -> deaf(S);
        _ -> S
    end.

deaf(#s{gc = undefined} = S) -> S;
deaf(#s{gc = Session} = S) ->
    erltrace_agent_session:destroy(Session),
    S#s{gc = undefined}.

has_collections(#s{flags = Flags, some = Some}) ->
    lists:any(fun(F) -> lists:member(garbage_collection, F) end, [Flags | maps:values(Some)]).

%% Who sets the flags of many processes one by one is heard as often: one look for all of them, and not more than one in ?PAUSE.
flags_set(S) ->
    receive
        {trace_ts, _, return_from, {_, Name, _}, _, _} when Name =:= trace; Name =:= process -> flags_set(S);
        flags_set -> flags_set(S)
    after 0 ->
        Now = now_ms(),
        case get(flags_set) of
            Until when is_integer(Until), Now < Until ->
                erlang:send_after(Until - Now, self(), flags_set),
                {S, [], false};
            _ ->
                put(flags_set, Now + ?PAUSE),
                collections(S, case erlang:system_info(process_count) of
                                   N when N =< ?ALL -> processes();
                                   _ -> some(processes(), S#s.looks)
                               end)
        end
    end.

%% Our gc probes go when somebody else traces collections.
collections(S) ->
    collections(S, some(processes(), S#s.looks)).

collections(#s{session = undefined} = S, _) ->
    {S, [], false};
collections(#s{flags = Flags, some = Some, consumers = Cs} = S, Processes) ->
    case has_collections(S) andalso gc_owners(S, Processes) of
        [Owner | _] ->
            %% The flag first, then the rest.
            erltrace_agent_session:process(S#s.session, all, false, [garbage_collection]),
            {S#s{flags = Flags -- [garbage_collection],
                 some = maps:map(fun(_, F) -> F -- [garbage_collection] end, Some),
                 consumers = maps:map(fun(_, #c{needs = N} = C) -> C#c{needs = N band bnot ?NEED_GC} end, Cs)},
             [{{gc, S#s.looks}, text("~s traces garbage collection now, and OTP 27 to 29 crash when two do: the probes that need it are "
                                     "off from now on", [Owner])}], true};
        _ ->
            {S, [], false}
    end.

%% Who traces the collections of these processes, or of new ones, beside our session.
gc_owners(#s{session = Own}, Processes) ->
    Ps = [new_processes | Processes],
    Sessions = [W || W <- trace:session_info(all), W =/= {legacy, default}, not erltrace_agent_session:own(W, Own)],
    first_owner([fun() -> case tracer(P) of {theirs, O} -> O; _ -> <<"somebody">> end end
                 || P <- Ps, has_gc(fun() -> erlang:trace_info(P, flags) end)]) ++
    [text("trace session ~p", [Name]) || {Name, _} = W <- Sessions,
                                         lists:any(fun(P) -> has_gc(fun() -> trace:info(W, P, flags) end) end, Ps)].

first_owner([F | _]) -> [F()];
first_owner([]) -> [].

has_gc(Info) ->
    try Info() of
        {flags, F} when is_list(F) -> lists:member(garbage_collection, F);
        _ -> false
    catch _:_ -> false
    end.

%% As many as there is time for; the next look goes on with the rest.
bifs(#s{otp = Otp, functions = Fs, bifs = Left} = S) when Otp < 29 ->
    case Left of
        [] ->
            Modules = lists:usort([M || {M, F, A} <- maps:keys(Fs), erlang:is_builtin(M, F, A)]),
            set_bifs([{module, M} || M <- Modules], S, now_ms() + ?BUDGET);
        _ ->
            set_bifs(Left, S, now_ms() + ?BUDGET)
    end;
bifs(S) ->
    S.

set_bifs([], S, _) ->
    S#s{bifs = []};
set_bifs([Step | Rest] = Left, S, Until) ->
    case now_ms() < Until of
        true -> set_bifs(set_bif(Step, S) ++ Rest, S, Until);
        false -> S#s{bifs = Left} % on a busy node a single call can take longer than that
    end.

%% -> steps that it is made of
set_bif({module, M}, #s{functions = Fs} = S) ->
    %% All functions of a module that have one pattern are one step.
    All = erltrace_agent_lib:functions_of(M),
    Ours = maps:with([{M, F, A} || {F, A} <- All], Fs),
    case map_size(Ours) =:= length(All) andalso length(lists:usort(maps:values(Ours))) of
        1 ->
            erltrace_agent_patterns:set_again(Ours, S),
            [];
        _ ->
            [MFA || {_, F, A} = MFA <- maps:keys(Ours), erlang:is_builtin(M, F, A)]
    end;
set_bif(MFA, #s{functions = Fs} = S) ->
    case Fs of
        #{MFA := Pattern} -> erltrace_agent_patterns:set_again(#{MFA => Pattern}, S);
        #{} -> ok
    end,
    [].
