%% erltrace_agent_flags - trace flags of processes: set one by one before OTP 27, in the agent's trace session from then on.
%%
%% Nothing is set or cleared on `all` or `existing` through erlang:trace/3: that can crash a VM before OTP 27, and strips other tools' flags. A
%% process with another tool's tracer is left alone and reported.
%%
%% Flags are set on all processes and on new ones (#s.flags), or, where a few processes are enough, only on those (#s.some).
-module(erltrace_agent_flags).

-export([add/3, again/1, remove/3, off/3, remove_ours/1, remove_all/1, add_running/2, remove_running/2, add_to/3, may_take/1, is_ours/1, check_gc/2]).

-import(erltrace_agent_lib, [error4/3, text/2, owner/1, plural/1, count/2]).

-include("erltrace_agent.hrl").

%% Adds what is missing: All on all processes, Some[P] on P. -> {warnings, state that knows the other tracers, if all processes were asked}
-spec add([atom()], #{pid() => [atom()]}, #s{}) -> {[binary()], #s{}}.
add(All, Some, #s{flags = Have, some = Had} = S) ->
    {Warnings, S1} = add_flags(All -- Have, S),
    {Warnings ++ lists:append([add_some(P, (F -- All) -- maps:get(P, Had, []), S) || {P, F} <- maps:to_list(Some)]), S1}.

%% Sets what should be set once more, where it no longer is. -> as add/3
again(#s{flags = All, some = Some} = S) ->
    {Warnings, S1} = add(All, Some, S#s{flags = [], some = #{}}),
    {Warnings, S1#s{flags = All, some = Some}}.

%% Removes what is no longer wanted; what is to stay remains set all the time.
-spec remove([atom()], #{pid() => [atom()]}, #s{}) -> ok.
remove(All, Some, #s{flags = Have, some = Had} = S) ->
    remove_flags(Have -- All, All, Some, S),
    maps:foreach(fun(P, F) ->
                     Stay = maps:get(P, Some, []) ++ All,
                     remove_from(P, F -- Stay, Stay, S)
                 end, Had).

%% Removes all that was set.
remove_ours(#s{flags = [], some = Some} = S) ->
    maps:foreach(fun(P, F) -> remove_from(P, F, [], S) end, Some);
remove_ours(#s{session = legacy} = S) ->
    remove_all(S);
remove_ours(#s{flags = Flags, session = Session}) ->
    erltrace_agent_session:process(Session, all, false, Flags),
    ok.

%% ... also what a server set that no longer remembers it; before OTP 27.
remove_all(S) ->
    remove_flags([all], [], #{}, S).

add_some(_, [], _) ->
    [];
add_some(P, Flags, #s{session = legacy}) ->
    [text("process ~p is traced by ~s: it is not seen", [P, Owner]) || {Owner, _} <- maps:to_list(add_to(P, Flags, #{}))];
add_some(P, Flags, #s{session = Session}) ->
    erltrace_agent_session:process(Session, P, true, Flags), % it may be dead
    [].

add_flags([], S) ->
    {[], S};
add_flags(Flags, #s{session = legacy, others = Others} = S) ->
    Alone = alone(S),
    New = case may_take(new_processes) of
              {no, NewOwner} ->
                  [text("new processes are traced by ~s: those are not seen", [NewOwner])];
              true ->
                  case not is_ours(new_processes) andalso erltrace_agent_others:heirs_of(S) of
                      {heirs_of, HeirsOwner} ->
                          [erltrace_agent_others:heirs(HeirsOwner)];
                      _ ->
                          erlang:trace(new_processes, true, [{tracer, ?AGENT, ?STATE} | Flags]),
                          []
                  end
          end,
    Theirs = each(Alone, fun(P, Tracer, Acc) -> add_to_one(P, Tracer, Flags, Acc) end, #{}),
    Counts = maps:fold(fun(_, Owner, Acc) -> count(Owner, Acc) end, #{}, Theirs),
    {New ++ [text("~b process~s traced by ~s: those are not seen", [N, plural(N), Owner]) || {Owner, N} <- maps:to_list(Counts)],
     S#s{alone = map_size(Theirs) =:= 0, others = maps:merge(maps:filter(fun(K, _) -> not is_pid(K) end, Others), Theirs)}};
add_flags(Flags, #s{session = Session} = S) ->
    erltrace_agent_session:process(Session, all, true, Flags),
    {[], S}.

add_to_one(_, undefined, _, Theirs) ->
    Theirs; % dead
add_to_one(P, {tracer, Tracer}, Flags, Theirs) when Tracer =:= []; Tracer =:= ?TRACER ->
    try erlang:trace(P, true, [{tracer, ?AGENT, ?STATE} | Flags]) of
        _ -> Theirs
    catch
        error:badarg -> % it is dead, or another tool was faster
            case may_take(P) of
                {no, Owner} -> Theirs#{P => Owner};
                _ -> Theirs
            end
    end;
add_to_one(P, {tracer, Tracer}, _, Theirs) ->
    Theirs#{P => owner(Tracer)}.

%% Before OTP 27: sets flags on a process or port; if it has another tracer, counts its owner in Foreign.
-spec add_to(pid() | port(), [atom()], #{Owner => pos_integer()}) -> #{Owner => pos_integer()}.
add_to(P, Flags, Foreign) ->
    %% Ask first: trying it on a process with another tracer is an error that the VM writes to the log.
    case P =/= self() andalso may_take(P) of
        true ->
            try erlang:trace(P, true, [{tracer, ?AGENT, ?STATE} | Flags]) of
                _ -> Foreign
            catch
                error:badarg -> % it is dead, or another tool was faster
                    case may_take(P) of
                        {no, Owner} -> count(Owner, Foreign);
                        _ -> Foreign
                    end
            end;
        {no, Owner} ->
            count(Owner, Foreign);
        false ->
            Foreign
    end.

%% Before OTP 27: folds F(P, {tracer, Tracer} | undefined, Acc) over all processes. Alone says that no other tool traces a process: then no
%% process is asked for its tracer, and asking is nearly the whole cost.
each(Alone, F, Acc) ->
    Ps = processes() -- [self()],
    erltrace_agent_meanwhile:expect(processes, length(Ps)),
    Counted = fun(P, Tracer, A) ->
                  erltrace_agent_meanwhile:done(processes, 1),
                  F(P, Tracer, A)
              end,
    case Alone of
        true -> erltrace_agent_lib:fold_list(fun(P, A) -> Counted(P, {tracer, ?TRACER}, A) end, Acc, Ps);
        false -> erltrace_agent_crowd:fold(fun erltrace_agent_lib:tracer/1, Counted, Acc, Ps)
    end.

%% Before OTP 27: whether no other tool traces a process, so that none need be asked. The server asked each process when it set the first flags,
%% and has since been told of every call that sets flags. (Where this is wrong, for example because a sensitive process made such a call, the VM
%% notices: it does nothing with a process whose tracer is not the one that we name.)
alone(#s{flags = [_ | _], alone = true, calls = undefined, others = Others}) ->
    not lists:any(fun(K) -> is_pid(K) orelse K =:= new_processes end, maps:keys(Others)) andalso
        is_ours(new_processes) andalso erltrace_agent_others:is_heard();
alone(_) ->
    false.

%% Whether the legacy tracer of a process or port (or of new ones) is free or ours; false: dead.
may_take(P) ->
    case erltrace_agent_lib:tracer(P) of
        {tracer, []} -> true;
        {tracer, ?TRACER} -> true;
        {tracer, Other} -> {no, owner(Other)};
        undefined -> false
    end.

is_ours(P) ->
    erltrace_agent_lib:tracer(P) =:= {tracer, ?TRACER}.

%% Removes flags from all processes and new ones. Keep has the flags of single processes, which stay; Left stays on all. In a session the VM
%% removes the tracer of new processes with any of their flags; so what is left is set again, also on processes created in between.
remove_flags([], _, _, _) ->
    ok;
remove_flags(Flags, Left, Keep, #s{session = legacy} = S) ->
    take_off(Flags, Left, Keep, S);
remove_flags(Flags, Left, Keep, S) ->
    take_off(Flags, Left, Keep, S),
    _ = add_flags(Left, S),
    ok.

take_off(Flags, Left, Keep, #s{session = legacy} = S) ->
    Alone = alone(S),
    is_ours(new_processes) andalso erlang:trace(new_processes, false, off(Flags, Left, ?TRACER)),
    each(Alone, fun(P, {tracer, ?TRACER}, ok) -> take_off_one(P, Flags, Left, maps:get(P, Keep, []));
                   (_, _, ok) -> ok
                end, ok);
take_off(Flags, Left, Keep, #s{session = Session} = S) ->
    case lists:any(fun(F) -> F -- Flags =/= F end, maps:values(Keep)) of
        false ->
            erltrace_agent_session:process(Session, all, false, Flags);
        true ->
            erltrace_agent_session:process(Session, new_processes, false, Flags),
            lists:foreach(fun(P) -> remove_but(P, Flags, Left, Keep, S) end, processes())
    end.

take_off_one(P, Flags, Left, Keep) ->
    _ = case {Flags -- Keep, Keep ++ Left} of
            {[], _} -> 0;
            {Gone, Stay} -> try erlang:trace(P, false, [{tracer, ?AGENT, ?STATE} | off(Gone, Stay)]) catch error:badarg -> 0 end
        end,
    ok.

remove_but(P, Flags, Left, Keep, S) ->
    Stay = maps:get(P, Keep, []),
    remove_from(P, Flags -- Stay, Stay ++ Left, S).

%% Removes Flags from one process, on which Left stays.
remove_from(_, [], _, _) ->
    ok;
remove_from(P, Flags, Left, #s{session = legacy}) ->
    _ = is_ours(P) andalso (try erlang:trace(P, false, off(Flags, Left)) catch error:badarg -> 0 end),
    ok;
remove_from(P, Flags, _, #s{session = Session}) ->
    erltrace_agent_session:process(Session, P, false, Flags),
    ok.

%% The tracer goes with the last flag.
off(_, []) -> [all];
off(Flags, _) -> Flags.

%% The tracer of new processes, or of new ports, goes with any flag unless it is named.
off(_, [], _) -> [all];
off(Flags, _, {Module, State}) -> [{tracer, Module, State} | Flags];
off(Flags, _, Tracer) -> [{tracer, Tracer} | Flags].

%% Sets the flag `running` of one process, for as long as it is of interest; leaves alone a process that has it anyway or has another tracer.
add_running(P, #s{session = Session} = S) ->
    has(P, running, S) orelse
        try
            case Session of
                legacy -> may_take(P) =:= true andalso erlang:trace(P, true, [{tracer, ?AGENT, ?STATE}, running]);
                _ -> erltrace_agent_session:process(Session, P, true, [running])
            end
        catch
            error:badarg -> 0 % dead
        end.

remove_running(P, #s{session = Session} = S) ->
    has(P, running, S) orelse
        try
            case Session of
                legacy -> is_ours(P) andalso erlang:trace(P, false, [running]);
                _ -> erltrace_agent_session:process(Session, P, false, [running])
            end
        catch
            error:badarg -> 0
        end.

has(P, Flag, #s{flags = Flags, some = Some}) ->
    lists:member(Flag, Flags) orelse lists:member(Flag, maps:get(P, Some, [])).

%% OTP 27 to 29 crash at a collection that two sessions trace (the legacy session counts as one).
check_gc(#s{has = Has}, _) when not ?HAS(Has, ?OTP_GC_TRACED_ONCE) ->
    ok;
check_gc(S, Processes) ->
    case erltrace_agent_others:gc_owners(S, Processes) of
        [] -> ok;
        [Owner | _] ->
            throw(error4('AGENT_BUSY', [Owner, " traces garbage collection on this node, and OTP 27 to 29 crash if two tools do"],
                         "end that trace (dbg:stop() for dbg), or leave out the probes that need it (gc_*, process-heap_*)"))
    end.
