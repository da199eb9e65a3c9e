%% erltrace_agent_others - coexistence with other tracers: checks every second whether what we set is still there, and which other tools
%% trace.
%%
%% What always holds:
%%  * What another tool has is not taken. When that tool releases it, we set what we wanted, and say so.
%%  * Before OTP 27 tools share what the VM has only one of, and no tool is sent events that it has not asked for. The flags of new
%%    processes are one set: when another tool becomes their tracer, ours are removed from the set (mend/3); and while another tool's
%%    processes pass their tracer to processes that they spawn, which would get our flags with it, we set none there (heirs_of/1). Local and
%%    global patterns are seen by every tool that traces calls: while another one does, we set none, which costs us the returns (spare/3).
%%  * A user to whom the VM refuses a process because we trace it can read so in the terminal, if there is one; we write nothing to the
%%    node's log (tell_owner/5).
%%  * What another tool has cleared stays cleared: a user who calls recon_trace:clear() wants no more events. The consumers are told.
%%  * From OTP 27 on tools do not get in each other's way, except that two that trace garbage collection crash the VM: when another tool
%%    begins to, our gc probes are switched off at once, as calls that set trace flags are reported to us (hear/1). And when any session
%%    removes its pattern from a BIF, OTP 27 and 28 stop reporting that BIF to all other sessions: those patterns are set again in turn.
%%
%% A check costs about a microsecond a process and less for a function; if there are very many processes, each check takes some of them.
-module(erltrace_agent_others).

-export([sweep_loaded/1, functions/0, look/1, hear/1, deaf/1, flags_set/2, is_present/1, is_heard/0, sweep/1, remember/1, gc_owners/2]).
-export([make_room/4, heirs_of/1, heirs/1, spare/3, many/1]).

-import(erltrace_agent_lib, [text/2, names/1, owner/1, now_ms/0]).

-include("erltrace_agent.hrl").

-define(SOME, 2000).  % processes that one check takes
-define(ALL, 20000).  % ... that are all checked when trace flags have been set
-define(PAUSE, 100).  % ms between two such checks
-define(QUIET, 300).  % ms without a tracer of calls after which that tool counts as ended
-define(LATE, 300).   % ms that processes have to answer, in such a check
-define(READ, 5000).  % ms that a terminal has to answer
-define(SHARED, (?RETURN bor ?GLOBAL)). % what needs a pattern on a function that other tools see, before OTP 27
-define(BUDGET, 50).  % ms for setting BIFs again, in one check

%% -> {state, [{Key, Text}] of which consumers are told once, whether what is wanted has to be set again}
look(#s{session = undefined} = S) ->
    {S, [], false};
look(#s{session = legacy} = S) ->
    {S1, C1, A1} = legacy_processes(S),
    {S2, C2, A2} = legacy_functions(S1),
    {S3, C3, A3} = legacy_calls(S2),
    {S3#s{looks = S3#s.looks + 1}, C1 ++ C2 ++ C3 ++ legacy_ports(S), A1 orelse A2 orelse A3};
look(S) ->
    {S1, C, A} = collections(S),
    {bifs(S1#s{looks = S1#s.looks + 1}), C, A}.

%% What has just been set may have left out what other tools have: remembers that, so that a check notices when they release it. For all
%% processes this is known since our flags were set there (erltrace_agent_flags:add/3).
remember(#s{has = Has} = S) when ?HAS(Has, ?OTP_TRACE_SESSIONS) ->
    S;
remember(#s{flags = Flags, some = Some, others = Others} = S) ->
    Theirs = case Flags of
                 [] -> maps:from_list([{P, Owner} || P <- maps:keys(Some), {theirs, Owner} <- [tracer(P)]]);
                 _ -> maps:filter(fun(K, _) -> is_pid(K) end, Others)
             end,
    New = [{new_processes, Owner} || Flags =/= [], Owner <- case tracer(new_processes) of
                                                                {theirs, O} -> [O];
                                                                free -> [O || {heirs_of, O} <- [heirs_of(maps:keys(Theirs))]];
                                                                _ -> []
                                                            end],
    S#s{others = maps:merge(owners(missing(S)), maps:merge(Theirs, maps:from_list(New)))}.

%% Removes what was left by an agent that was killed together with its guard, or whose code was purged: flags and meta patterns bear our
%% name, local patterns do not. Takes some ten milliseconds, when an agent starts.
sweep(#s{has = Has} = S) when ?HAS(Has, ?OTP_TRACE_SESSIONS) ->
    erltrace_agent_seq:remove(?NEED_SEQ_TRACE, S),
    erltrace_agent_session:sweep([]);
sweep(S) ->
    erltrace_agent_loads:left_behind(dead), % first: code that is loaded from now on need not be looked at
    erltrace_agent_seq:remove(?NEED_SEQ_TRACE bor ?NEED_TOKENS, S),
    New = [P || P <- [new_processes, new_ports | erlang:ports()], tracer(P) =:= ours],
    _ = [cleared(P) || P <- New],
    Flagged = erltrace_agent_crowd:fold(fun erltrace_agent_lib:tracer/1, fun(P, {tracer, ?TRACER}, Acc) -> [cleared(P) | Acc];
                                                                            (_, _, Acc) -> Acc
                                                                         end, New, processes() -- [self()]),
    erltrace_agent_crowd:dismiss(),
    All = functions(),
    Meta = sweep_loaded(All),
    Local = [{MFA, MS} || MFA <- All, erlang:trace_info(MFA, traced) =:= {traced, local}, {match_spec, MS} <- [erlang:trace_info(MFA, match_spec)]],
    Ours = [MFA || {MFA, MS} <- Local, erltrace_agent_patterns:is_match_spec(MS)],
    %% An empty one is ours when others are, and no tool traces calls.
    Plain = [MFA || {MFA, []} <- Local, Flagged =/= [] orelse Meta =/= [] orelse Ours =/= [], not calls_traced()],
    [erlang:trace_pattern(MFA, false, [local]) || MFA <- Ours ++ Plain],
    ok.

cleared(P) ->
    _ = try erlang:trace(P, false, [all]) catch error:badarg -> 0 end,
    P.

functions() ->
    [{M, F, A} || M <- erlang:loaded(), not erltrace_agent_lib:ours(M), {F, A} <- erltrace_agent_lib:functions_of(M)].

%% Removes what can be recognized as ours, as on code that was loaded while we traced. -> those of these functions that had a meta pattern
%% of ours. (A pattern whose tracer the VM has found dead does nothing, and belongs to no tool; a call can turn ours into such a one at any
%% time.)
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

%% == before OTP 27: one tracer a process, one pattern of each kind a function ==================================

legacy_ports(#s{port_flags = Flags}) ->
    [{ports, <<"another tool cleared the trace flags of ports (erlang:trace(ports, false, ...)), or took over the tracing of new "
               "ports: events are missing from now on; start the trace again">>}
     || Flags =/= [], not erltrace_agent_ports:are_ours()].

legacy_processes(#s{flags = [], some = Some, others = Others} = S) ->
    some_processes(S#s{others = maps:filter(fun(K, _) -> is_tuple(K) orelse is_map_key(K, Some) end, Others)}, maps:keys(Some), []);
legacy_processes(#s{others = Others} = S) ->
    case {tracer(new_processes), Others, heirs_of(theirs(S))} of
        {free, #{new_processes := _}, {heirs_of, Owner}} ->
            some_processes(S#s{others = Others#{new_processes := Owner}}, processes(), []);
        {ours, _, {heirs_of, Owner}} ->
            erlang:trace(new_processes, false, [all]),
            some_processes(S#s{others = Others#{new_processes => Owner}}, processes(), [{{heirs, Owner}, heirs(Owner)}]);
        {free, #{new_processes := Owner}, none} ->
            let_go(Owner, S#s{others = maps:without([P || P <- maps:keys(Others), not is_tuple(P)], Others)});
        {free, _, _} ->
            {S, cleared(), false};
        {{theirs, Owner}, #{new_processes := _}, _} ->
            some_processes(S#s{others = Others#{new_processes := Owner}}, processes(), []);
        {{theirs, Owner}, _, _} ->
            some_processes(S#s{others = Others#{new_processes => Owner}}, processes(),
                           [{{new, Owner}, text("new processes are traced by ~s from now on: those are not seen", [Owner])}]);
        {ours, _, none} ->
            some_processes(S#s{others = maps:remove(new_processes, Others)}, processes(), [])
    end.

cleared() ->
    [{flags, <<"another tool cleared the trace flags that the probes need (recon_trace:clear(), fprof, erlang:trace(all, false, ...)): events are "
               "missing from now on; start the trace again">>}].

%% A check takes a part of very many processes, and all those that another tool has.
some_processes(#s{others = Others, guard = Guard, looks = Looks} = S, Processes, Complaints) ->
    Looked = lists:usort(some(Processes, Looks) ++ some(theirs(S), Looks)) -- [self(), Guard],
    {Theirs, Freed, Cleared, Gone} =
        erltrace_agent_crowd:fold(fun tracer/1,
                                  fun(P, {theirs, Owner}, {T, F, C, G}) -> {T#{P => Owner}, F, C, G};
                                     (P, free, {T, F, C, G}) when is_map_key(P, Others) -> {T, [P | F], C, [P | G]};
                                     (P, free, {T, F, C, G}) when not is_map_key(new_processes, Others) -> {T, F, [P | C], G};
                                     (P, Is, {T, F, C, G}) when Is =/= undefined -> {T, F, C, [P | G]}; % or was created while that tool was the tracer, and then released
                                     (_, _, Acc) -> Acc
                                  end, {#{}, [], [], []}, Looked, ?LATE),
    S1 = S#s{others = maps:merge(maps:without(Gone, Others), Theirs)},
    Told = [{processes, text("another tool cleared the trace flags of ~p (erlang:trace(Pid, false, ...)): it is no longer seen, and "
                             "other processes may not be either", [hd(Cleared)])} || Cleared =/= []] ++ Complaints,
    case Freed of
        [] -> {S1, Told, false};
        [P | _] ->
            {S2, Again, Set} = let_go(maps:get(P, Others), S1),
            {S2, Again ++ Told, Set}
    end.

%% The other tool has ended: sets flags on what it had, which is free now.
let_go(Owner, S0) ->
    S1 = given(S0#s.flags, S0#s.port_flags, S0),
    {Warnings, S} = erltrace_agent_meanwhile:during(undefined, S1, fun() -> erltrace_agent_flags:again(S1) end),
    {S, [{{let_go, S#s.looks}, text("processes that ~s had traced are seen from now on", [Owner])} |
         [{{flags, W}, W} || W <- Warnings]], false}.

%% Whether the tracer of a process, or of new ones, is ours, another tool's, or none.
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
    %% Functions that another tool had, and that no tool has now.
    Freed = [MFA || {{_, _, _} = MFA, _} <- maps:to_list(Others), is_map_key(MFA, Wanted), not is_map_key(MFA, Fs),
                    erltrace_agent_patterns:owner_of(MFA, meta) =:= nobody,
                    erltrace_agent_patterns:owner_of(MFA, local) =:= nobody],
    Others1 = maps:merge(maps:filter(fun(K, _) -> not is_tuple(K) end, Others),
                         maps:merge(owners(missing(S) -- Freed), Theirs)),
    Told = [{{pattern, element(1, hd(Gone))},
             text("the trace patterns of ~s are gone (another tool cleared them, or the module was reloaded): those probes no longer "
                  "fire; start the trace again", [names(Gone)])} || Gone =/= []] ++
           [{{theirs, MFAs}, text("~s traces ~s now: those probes do not fire until it has ended", [Owner, names(MFAs)])}
            || {Owner, MFAs} <- maps:to_list(by_owner(Theirs))] ++
           [{{freed, S#s.looks}, text("~s: no other tool traces this any more: its probes fire again", [names(Freed)])} || Freed =/= []],
    {S#s{functions = maps:without(maps:keys(Theirs), Fs), others = Others1}, Told, Freed =/= []}.

%% Functions that are wanted and not set.
missing(#s{functions = Fs, taken = Taken} = S) ->
    [MFA || MFA <- maps:keys(wanted(S)), not is_map_key(MFA, Fs), not is_map_key(MFA, Taken)].

%% {mfa => bits} of all programs that run.
wanted(#s{consumers = Cs}) ->
    maps:fold(fun(_, #c{phase = Phase, wants = W}, Acc) when ?is_placed(Phase) -> maps:merge(Acc, W);
                 (_, _, Acc) -> Acc
              end, #{}, Cs).

owners(MFAs) ->
    maps:from_list([{MFA, Owner} || MFA <- MFAs, Owner <- [erltrace_agent_patterns:owner_of(MFA, local),
                                                          erltrace_agent_patterns:owner_of(MFA, meta)], Owner =/= nobody]).

by_owner(Theirs) ->
    maps:fold(fun(MFA, Owner, Acc) -> maps:update_with(Owner, fun(L) -> [MFA | L] end, [MFA], Acc) end, #{}, Theirs).

%% At most ?SOME of them; each check takes others.
some(L, Looks) ->
    case length(L) of
        N when N =< ?SOME -> L;
        N -> lists:sublist(lists:nthtail(Looks * ?SOME rem N, L), ?SOME)
    end.

%% == from OTP 27 on: sessions ==================================================================================

%% Whether all our sessions are still there.
is_present(#s{session = legacy}) ->
    true;
is_present(#s{session = Session, global = Global} = S) ->
    lists:all(fun erltrace_agent_session:there/1, [X || X <- [Session, Global, erltrace_agent_loads:session(S), erltrace_agent_counts:session(S)], X =/= undefined]).

%% == reports of calls that set trace flags =====================================================================

%% Makes the VM tell the server when another process has set trace flags (when the function that does so has returned): from OTP 27 on while
%% we trace collections, before that while we trace anything (make_room/4).
hear(#s{session = legacy} = S) ->
    S;
hear(#s{gc = Session} = S) ->
    case {has_collections(S), Session} of
        {true, undefined} ->
            New = erltrace_agent_session:create(erltrace_gc, self(), S),
            Set = fun(Args) -> [{Args, [], [{message, false}, {return_trace}]}] end,
            erltrace_agent_session:function(New, {erlang, trace, 3}, Set(['_', true, '_']), [meta]),
            erltrace_agent_session:function(New, {trace, process, 4}, Set(['_', '_', true, '_']), [meta]),
            self() ! flags_set, % a call may have come before this
            S#s{gc = New};
        {false, _} -> deaf(S);
        _ -> S
    end.

deaf(#s{session = legacy} = S) ->
    is_heard() andalso erlang:trace_pattern(?SETS_FLAGS, false, [meta]),
    S#s{asked = #{}};
deaf(#s{gc = undefined} = S) -> S;
deaf(#s{gc = Session} = S) ->
    erltrace_agent_session:destroy(Session),
    S#s{gc = undefined}.

has_collections(#s{flags = Flags, some = Some}) ->
    lists:any(fun(F) -> lists:member(garbage_collection, F) end, [Flags | maps:values(Some)]).

%% Handles a report that a call has begun or has returned, or that a check is due. A tool that sets the flags of many processes one by one
%% causes as many reports: one check serves them all, with at most one in ?PAUSE.
flags_set(Message, #s{session = legacy} = S) ->
    {Set, S1} = heard(Message, [], S),
    S2 = mend(new_ports, Set, mend(new_processes, Set, S1)),
    Theirs = maps:from_list([{P, Owner} || {_, P, _, false} <- Set, is_pid(P), {theirs, Owner} <- [tracer(P)]]),
    {S3, Refused} = refused(Set, mixed(Set, S1, S2#s{others = maps:merge(S2#s.others, Theirs)})),
    case begin_to_call(S3) of
        true -> % that first: the next check sees the rest
            Cleared = S3#s.flags =/= [] andalso tracer(new_processes) =:= free andalso not is_map_key(new_processes, S3#s.others),
            {S3, [C || Cleared, C <- cleared()] ++ Refused, true};
        false -> {S4, Told, Again} = not_too_often(S3, fun look/1), {S4, Refused ++ Told, Again}
    end;
flags_set(Message, S) ->
    {_, S1} = heard(Message, [], S),
    not_too_often(S1, fun(S2) -> collections(S2, many(S2)) end).

not_too_often(S, Look) ->
    Now = now_ms(),
    case get(flags_set) of
        Until when is_integer(Until), Now < Until ->
            erlang:send_after(Until - Now, self(), flags_set),
            {S, [], false};
        _ ->
            put(flags_set, Now + ?PAUSE),
            Look(S)
    end.

many(S) ->
    case erlang:system_info(process_count) of
        N when N =< ?ALL -> processes();
        _ -> some(processes(), S#s.looks)
    end.

%% Handles this message and those of its kind in the mailbox. -> [{Caller, What, Flags, whether the VM has refused}] of the calls that are
%% over
heard(Message, Set, S0) ->
    {Over, S} = heard(Message, S0),
    receive
        {trace_ts, _, call, {_, trace, _}, _} = M -> heard(M, Over ++ Set, S);
        {trace_ts, _, _, {_, Name, _}, _, _} = M when Name =:= trace; Name =:= process -> heard(M, Over ++ Set, S);
        flags_set -> heard(flags_set, Over ++ Set, S)
    after 0 ->
        {Over ++ Set, S}
    end.

heard({trace_ts, Caller, call, {_, _, [What, _, Flags]}, _}, #s{asked = Asked} = S) when is_list(Flags) ->
    {[], S#s{asked = Asked#{Caller => {What, Flags}}}};
heard({trace_ts, Caller, How, _, _, _}, #s{asked = Asked} = S) when is_map_key(Caller, Asked) ->
    {{What, Flags}, Left} = maps:take(Caller, Asked),
    {[{Caller, What, Flags, How =:= exception_from}], S#s{asked = Left}};
heard(_, S) ->
    {[], S}.

is_heard() ->
    erlang:trace_info(?SETS_FLAGS, meta) =:= {meta, self()}.

%% Before OTP 27, when a function has one meta tracer: asks for reports of calls that set trace flags, unless one of these patterns is to be
%% there.
make_room(Patterns, Flags, PortFlags, #s{session = legacy} = S) ->
    _ = case {is_map_key(?SETS_FLAGS, Patterns), erlang:trace_info(?SETS_FLAGS, meta)} of
            {true, {meta, Pid}} when Pid =:= self() -> erlang:trace_pattern(?SETS_FLAGS, false, [meta]);
            {false, {meta, false}} -> erlang:trace_pattern(?SETS_FLAGS, [{['_', true, '_'], [], [{exception_trace}]}], [{meta, self()}]);
            _ -> 0
        end,
    given(Flags, PortFlags, S);
make_room(_, _, _, S) ->
    S.

%% == before OTP 27: what tools share ===========================================================================

%% Another tool has become the tracer of new processes (or ports), and the VM has added its flags to ours. Removes our flags, except those
%% that the tool has asked for itself, also from processes created meanwhile. That tool stays the tracer, as the call names it.
mend(New, Set, #s{given = Given} = S) ->
    Flags = [F || {_, What, F, false} <- Set, is_new(New, What)],
    case Flags =/= [] andalso is_map_key(New, Given) andalso erltrace_agent_lib:tracer(New) of
        {tracer, Theirs} when Theirs =/= [], Theirs =/= ?TRACER ->
            {_, S1} = erltrace_agent_meanwhile:during(undefined, S, fun() -> {take_out(New, Theirs, not_asked(map_get(New, Given), lists:append(Flags))), S} end),
            S1#s{given = maps:remove(New, Given)};
        _ -> S
    end.

%% Processes created just before that may have sent events that the tool had not asked for; its user is told so.
mixed(Set, #s{given = #{new_processes := _}}, #s{given = Given} = S) when not is_map_key(new_processes, Given) ->
    lists:foldl(fun({Caller, _, Flags, _}, S1) ->
                    Theirs = tracer_of(Flags, Caller),
                    tell_owner({mixed, Theirs}, Theirs, Caller,
                               text("erltrace: this node is being traced by erltrace, and before OTP 27 tools share the flags of new processes. "
                                    "erltrace's flags are removed again, but processes created just after ~s began may have sent events "
                                    "that it did not ask for, or arities instead of arguments.", [owner(Theirs)]), S1)
                end, S, [C || {_, What, _, false} = C <- Set, is_new(new_processes, What)]);
mixed(_, _, S) ->
    S.

%% Notes the flags that new processes and ports have from us, or are about to get.
given(Flags, PortFlags, #s{given = Given} = S) ->
    S#s{given = maps:merge(Given, maps:from_list([{New, F} || {New, F} <- [{new_processes, Flags}, {new_ports, PortFlags}],
                                                              F =/= [], erltrace_agent_flags:may_take(New) =:= true]))}.

is_new(new_processes, What) -> lists:member(What, [all, new, processes, new_processes]);
is_new(new_ports, What) -> lists:member(What, [all, new, ports, new_ports]).

not_asked(Ours, Asked) ->
    case lists:member(all, Asked) of
        true -> [];
        false -> Ours -- Asked
    end.

take_out(_, _, []) ->
    ok;
take_out(New, Theirs, Excess) ->
    {flags, Now} = erlang:trace_info(New, flags),
    _ = Excess -- Now =:= Excess orelse erlang:trace(New, false, erltrace_agent_flags:off(Excess, Now -- Excess, Theirs)),
    erltrace_agent_crowd:fold(fun erltrace_agent_lib:tracer/1,
                              fun(P, {tracer, Tracer}, ok) when Tracer =:= Theirs ->
                                      _ = try erlang:trace(P, false, Excess) catch error:badarg -> 0 end,
                                      ok;
                                 (_, _, ok) -> ok
                              end, ok, case New of
                                           new_processes -> processes();
                                           new_ports -> erlang:ports()
                                       end).

%% The owner of processes that pass on their tracer, or `none`. Before OTP 27 processes that they spawn get that tracer, and the flags of
%% new processes as well.
heirs_of(#s{} = S) ->
    heirs_of(many(S));
heirs_of(Ps) ->
    case first([set_on_spawn, set_on_first_spawn, set_on_link, set_on_first_link], Ps) of
        {_, Owner} -> {heirs_of, Owner};
        none -> none
    end.

heirs(Owner) ->
    text("~s has processes that pass their tracer to those that they spawn: before OTP 27 it would be sent our events of those, so "
         "new processes are not seen until it has ended", [Owner]).

%% The processes that are known to have another tool's tracer.
theirs(#s{others = Others}) ->
    [P || P <- maps:keys(Others), is_pid(P)].

%% Returns what is wanted, without what needs a pattern that other tools would see: a tool that traces calls is sent those of every function
%% with a local or a global pattern, whichever tool has set it.
spare(Wants, Running, #s{session = legacy} = S) ->
    case shares(Wants, Running, S) andalso still_call(S) of
        No when No =:= false; No =:= none ->
            _ = erase(calls_ended),
            {Wants, [], S#s{calls = undefined}};
        {P, Owner} ->
            Losers = [Pid || #c{pid = Pid, wants = W} <- Running, shares(W)],
            Knows = case S#s.calls of
                        {_, _, Pids} -> Pids;
                        undefined -> []
                    end,
            {erltrace_agent_lib:fold(fun(MFA, Bits, Acc) ->
                                         case Bits band (bnot ?SHARED) of
                                             0 -> Acc;
                                             Left -> Acc#{MFA => Left}
                                         end
                                     end, #{}, Wants),
             [text("~s traces calls: before OTP 27 it would be sent every call of a function whose returns are traced, so "
                   "return (and global-function-entry) probes do not fire until it has ended", [Owner]) || Losers -- Knows =/= []],
             S#s{calls = {P, Owner, Losers}}}
    end;
spare(Wants, _, S) ->
    {Wants, [], S}.

shares(Wants) ->
    lists:any(fun(Bits) -> Bits band ?SHARED =/= 0 end, maps:values(Wants)).

%% ... or would use such a pattern because a few processes are enough. A meta pattern serves instead, and misses nothing.
shares(Wants, Running, S) ->
    shares(Wants) orelse map_size(erltrace_agent_only:functions(Running, S#s{calls = undefined})) > 0.

%% The processes that may have another tool's tracer: once our patterns are set, those that were seen with one.
may_call(#s{calls = {P, _, _}} = S) ->
    [P, new_processes | many(S)];
may_call(#s{flags = Flags} = S) ->
    [new_processes | case lists:member(call, Flags) of
                         true -> theirs(S); % all were asked
                         false -> many(S)
                     end].

%% Finds one of these processes with one of these flags and another tool's tracer. -> {process, owner} | none
first(Flags, Ps) ->
    erltrace_agent_crowd:fold(fun foreign/1,
                              fun(P, {Owner, Theirs}, none) ->
                                      case Theirs -- Flags of
                                          Theirs -> none;
                                          _ -> {P, Owner}
                                      end;
                                 (_, _, Found) -> Found
                              end, none, Ps, ?LATE).

%% The owner of another tool's tracer of a process, or of new ones, and its flags.
foreign(P) ->
    case tracer(P) of
        {theirs, Owner} ->
            try erlang:trace_info(P, flags) of
                {flags, Flags} when is_list(Flags) -> {Owner, Flags};
                _ -> none
            catch error:badarg -> none
            end;
        _ -> none
    end.

%% Notices that another tool has begun to trace calls, or has ended.
legacy_calls(#s{calls = undefined} = S) ->
    {S, [], begin_to_call(S)};
legacy_calls(#s{calls = {_, Owner, Knows}} = S) ->
    case still_call(S) of
        none ->
            {S, [{{calls, S#s.looks}, text("~s no longer traces calls: return probes fire again", [Owner])} || Knows =/= []], true};
        {P, Name} -> {S#s{calls = {P, Name, Knows}}, [], false}
    end.

%% The tool that traces calls, or did a moment ago: a tool that ends clears its flags first and then all patterns of the node, and ours must
%% not be set again before that.
still_call(#s{calls = Calls} = S) ->
    case {first([call], may_call(S)), Calls} of
        {none, {P, Owner, _}} ->
            case have_ended() of
                true -> none;
                false -> {P, Owner}
            end;
        {Found, _} ->
            _ = erase(calls_ended),
            Found
    end.

have_ended() ->
    Now = now_ms(),
    case get(calls_ended) of
        undefined ->
            put(calls_ended, Now),
            erlang:send_after(?QUIET, self(), flags_set),
            false;
        Since ->
            Now - Since >= ?QUIET
    end.

begin_to_call(#s{calls = undefined, consumers = Cs} = S) ->
    Placed = [C || #c{phase = Phase} = C <- maps:values(Cs), ?is_placed(Phase)],
    shares(wanted(S), Placed, S) andalso first([call], may_call(S)) =/= none;
begin_to_call(_) ->
    false.

%% Handles calls that asked for processes that are ours: the caller sees processes created from now on, or nothing. Its user can read why,
%% and our consumers are told.
refused(Set, S) ->
    lists:foldl(fun({Caller, What, Flags, Failed}, {S1, Told}) ->
                    case refusal(What, Failed, S1) of
                        none -> {S1, Told};
                        {Text, Left} ->
                            Theirs = tracer_of(Flags, Caller),
                            Owner = owner(Theirs),
                            {tell_owner({refused, Theirs}, Theirs, Caller,
                                        text("erltrace: the VM has refused ~s to ~s, which ~s: this node is being traced by erltrace, and "
                                             "before OTP 27 a process has one tracer. To see the rest, end that trace first.",
                                             [Text, Owner, Left]), S1),
                             [{{refused, Owner}, text("~s asked to trace ~s, which this trace has: the VM refused (before OTP 27 a process has "
                                                      "one tracer), and ~s ~s", [Owner, Text, Owner, Left])} | Told]}
                    end
                end, {S, []}, Set).

refusal(P, true, _) when is_pid(P) ->
    case tracer(P) of
        ours -> {text("process ~p", [P]), "got badarg"};
        _ -> none
    end;
refusal(What, false, #s{flags = [_ | _]}) when What =:= all; What =:= processes ->
    {"the processes that existed", "sees those that are created from now on"};
refusal(What, false, #s{flags = [_ | _]}) when What =:= existing; What =:= existing_processes ->
    {"the processes that existed", "sees none of them"};
refusal(_, _, _) ->
    none.

tracer_of([{tracer, Tracer} | _], _) -> Tracer;
tracer_of([{tracer, Module, State} | _], _) -> {Module, State};
tracer_of([_ | Flags], Caller) -> tracer_of(Flags, Caller);
tracer_of(_, Caller) -> Caller.

%% Tells a user who has started a tool at a terminal, on that terminal; says nothing where there is no terminal, because what a program
%% prints goes to a log. A group leader says itself whether it is a terminal: it is if it has the option `echo` (see io:getopts/1).
tell_owner(Key, Tracer, Caller, Text, #s{complained = Seen} = S) ->
    case Seen of
        #{{terminal, Key} := _} -> S;
        #{} ->
            Server = self(),
            _ = erltrace_agent_lib:start(fun() -> teller(Server, [P || P <- [Tracer, Caller], is_pid(P), node(P) =:= node()], Text) end, []),
            S#s{complained = Seen#{{terminal, Key} => true}}
    end.

%% A process of its own, as all processes that it asks may be slow. It ends with the server.
teller(Server, Pids, Text) ->
    process_flag(sensitive, true),
    Monitor = erlang:monitor(process, Server),
    case [L || P <- Pids, {group_leader, L} <- [process_info(P, group_leader)]] of
        [Leader | _] ->
            case request(Leader, getopts, Monitor) of
                Options when is_list(Options) ->
                    lists:keymember(echo, 1, Options) andalso request(Leader, {put_chars, unicode, [$\n, Text, $\n]}, Monitor);
                _ -> false
            end;
        [] -> false
    end.

request(Leader, Request, Monitor) ->
    Ref = make_ref(),
    _ = erlang:send(Leader, {io_request, self(), Ref, Request}, [nosuspend, noconnect]),
    receive
        {io_reply, Ref, Reply} -> Reply;
        {'DOWN', Monitor, process, _, _} -> ended
    after ?READ -> late
    end.

%% Switches our gc probes off when another tool traces collections.
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
             [{{gc, S#s.looks}, text("~s traces garbage collection now, and OTP 27 to 29 crash if two tools do: the probes that need it are "
                                     "off from now on", [Owner])}], true};
        _ ->
            {S, [], false}
    end.

%% Owners of tracers of the collections of these processes, or of new ones, other than our session.
gc_owners(#s{session = Own}, Processes) ->
    Ps = [new_processes | Processes],
    Sessions = [W || W <- trace:session_info(all), W =/= {legacy, default}, not erltrace_agent_session:own(W, Own)],
    [case tracer(P) of {theirs, O} -> O; _ -> <<"another tool">> end || {found, P} <- [with_gc(fun(P) -> erlang:trace_info(P, flags) end, Ps)]] ++
    [text("trace session ~p", [Name]) || {Name, _} = W <- Sessions, with_gc(fun(P) -> trace:info(W, P, flags) end, Ps) =/= none].

%% Finds one of these processes with the flag.
with_gc(Ask, Ps) ->
    erltrace_agent_crowd:fold(Ask, fun(P, {flags, F}, none) when is_list(F) ->
                                           case lists:member(garbage_collection, F) of
                                               true -> {found, P};
                                               false -> none
                                           end;
                                      (_, _, Found) -> Found
                                   end, none, Ps).

%% Sets as many again as there is time for; the next check goes on with the rest.
bifs(#s{has = Has, functions = Fs, bifs = Left} = S) when ?HAS(Has, ?OTP_BIFS_LOST) ->
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

%% -> the steps that it consists of
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
