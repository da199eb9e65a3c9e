%% erltrace_agent_counts - functions whose calls the VM counts (call_count), in place of reporting each: 8 ns a call instead of some hundred.
%%
%% The consumer says of a clause that all it needs of a function is that it was called (?USE_COUNT). If that holds for all clauses that a
%% program has there, the function is counted for this program, from `go` on and for as long as its counter lasts; other programs may have
%% its events meanwhile. The library runs the clauses once for all calls since the last reading (guest/beam/counted.c).
%%
%% What always holds:
%%  * Counters are in a session of their own (OTP 27+), where nobody else clears them, and which counts no sensitive process, so not the
%%    agent's. Before OTP 27 all tools share one counter a function, and nothing is counted: such functions are traced.
%%  * They are only read, never set to 0; a second `true` would do that, so none is set that is set already (#s.counts). What a reading finds is
%%    given to the library before anything else can read.
%%  * A counter that is gone (its code was loaded again) or went back is not trusted again: the function is traced from there on, and the consumer
%%    is told. If the session was destroyed, the programs are over, as with all sessions of ours.
%%  * Functions of code that was loaded just now, and is still under watch (erltrace_agent_loads), are not counted, whether that was seen when the
%%    program was enabled or when it begins: what the library counts as missed there may be calls from before that.
%%  * Counters are read at least about once a second, however seldom the consumer asks for aggregations, since a load of code takes away what
%%    was counted since the last reading.
%%  * BIFs are never counted: sessions share what clears them (OTP 27 and 28). NIFs have other probes, of which no clause only counts. A module with many of them is traced as a whole if a
%%    program wants them, since each would need a pattern by its name.
-module(erltrace_agent_counts).

-export([split/3, entries/1, last/2, add/2, back/2, trim/2, settled/2, begun/2, read/3, look/1, lost/1, session/1, undo/1]).

-import(erltrace_agent_lib, [text/2, names/1]).

-include("erltrace_agent.hrl").

-define(BUILTINS, 16).             % BIFs and NIFs of a module that are traced beside functions that are counted
-define(MODULES, 8).               % all modules are set at once if more than this many, and most of them, are counted
-define(STEP, 16).                 % functions that are read between two looks at the clock
-define(PIECE, 1000).              % us of reading, after which other processes run
-define(REST, 20).                 % no reading comes sooner than this many times what the last one took
-define(MOST, 1100000).            % us after which they are read in any case: later than consumers usually ask
-define(LEAST, 80000).             % us between readings for aggregations, however often they are asked for (c_src/tier/counts.c: AGGRATE_MS)

%% Splits what a program's bindings want into the functions that are counted for it, with their probes, and what is wanted of the others.
-spec split([tuple()], #{mfa() => pos_integer()}, #s{}) -> {#{mfa() => non_neg_integer()}, #{mfa() => 1..255}}.
split(Bindings, Wants, #s{session = Session} = S) ->
    Counted = erltrace_agent_lib:fold_list(fun({_, _, Id, Kind, {M, _, _} = MFA}, Acc) when Kind band ?USE_COUNT =/= 0, Session =/= legacy ->
                                                   case Wants of
                                                       #{MFA := ?COUNT} ->
                                                           case erltrace_agent_loads:is_settled(M, S) of
                                                               true -> Acc#{MFA => Id};
                                                               false -> Acc
                                                           end;
                                                       #{} -> Acc
                                                   end;
                                              (_, Acc) -> Acc
                                           end, #{}, Bindings),
    {Builtins, Plain} = parted(Counted),
    Many = maps:filter(fun(_, L) -> length(L) > ?BUILTINS end, by_module(Builtins)),
    Taken = erltrace_agent_lib:filter(fun({M, _, _}, _) -> not is_map_key(M, Many) end, Plain),
    {Taken, maps:without(maps:keys(Taken), entries(Wants))}.

%% The same wants, of functions that are not counted.
entries(Wants) ->
    erltrace_agent_lib:map(fun(_, Bits) -> as_entry(Bits) end, Wants).

%% -> {BIFs and NIFs, the others}
parted(MFAs) ->
    Builtins = erltrace_agent_lib:filter(fun({M, F, A}, _) -> erlang:is_builtin(M, F, A) end, MFAs),
    {Builtins, maps:without(maps:keys(Builtins), MFAs)}.

by_module(MFAs) ->
    erltrace_agent_lib:fold(fun({M, F, A}, _, Acc) ->
                                case Acc of
                                    #{M := L} -> Acc#{M := [{F, A} | L]};
                                    #{} -> Acc#{M => [{F, A}]}
                                end
                            end, #{}, MFAs).

as_entry(Bits) when Bits band ?COUNT =/= 0 -> (Bits band (bnot ?COUNT)) bor ?ENTRY;
as_entry(Bits) -> Bits.

%% == what is set ===============================================================================================

wanted(Placed) ->
    lists:foldl(fun(#c{counted = Counted}, Acc) -> maps:merge(Acc, Counted) end, #{}, Placed).

%% Sets the counters that these consumers need and that are not set.
-spec add([#c{}], #s{}) -> #s{}.
add(Placed, #s{counts = Have} = S) ->
    case wanted(Placed) of
        Wanted when map_size(Wanted) =:= 0 -> S;
        Wanted ->
            {Session, Set} = case Have of
                                 undefined -> {erltrace_agent_session:create(erltrace_counts, {?AGENT, counts}, S), #{}};
                                 _ -> Have
                             end,
            New = maps:without(maps:keys(Set), Wanted),
            erltrace_agent_meanwhile:expect(functions, map_size(New)),
            S1 = S#s{counts = {Session, maps:merge(Set, New)}},
            try set(New, true, Placed, S1)
            catch
                Class:Reason:Stack ->
                    back(S, S1),
                    erlang:raise(Class, Reason, Stack)
            end,
            S1
    end.

%% Clears what was set since the server was in state S.
back(#s{counts = Counts}, #s{counts = Counts}) -> ok;
back(#s{counts = undefined}, S1) -> gone(S1), ok;
back(#s{counts = {_, Set}}, #s{counts = {_, Now}} = S1) -> set(maps:without(maps:keys(Set), Now), false, [], S1).

%% Clears the counters that none of these consumers needs.
trim(_, #s{counts = undefined} = S) ->
    S;
trim(Placed, #s{counts = {Session, Set}} = S) ->
    case wanted(Placed) of
        Wanted when map_size(Wanted) =:= 0 -> gone(S);
        Wanted ->
            set(maps:without(maps:keys(Wanted), Set), false, Placed, S),
            S#s{counts = {Session, maps:with(maps:keys(Wanted), Set)}}
    end.

%% Ends the session while other patterns stay. BIFs that had a counter there, and have a pattern of ours, may have lost that as well.
gone(#s{has = Has, functions = Functions} = S) ->
    S1 = undo(S),
    ?HAS(Has, ?OTP_BIFS_LOST) andalso erltrace_agent_patterns:set_again(element(1, parted(Functions)), S1),
    S1.

undo(#s{counts = undefined} = S) ->
    S;
undo(#s{counts = {Session, _}} = S) ->
    erltrace_agent_session:destroy(Session),
    S#s{counts = undefined}.

session(#s{counts = {Session, _}}) -> Session;
session(_) -> undefined.

%% Sets (true) or clears counters, in as few calls as possible: each waits for all schedulers. Counters that nobody reads do no harm, so modules are
%% set as a whole where that is allowed.
set(MFAs, On, Placed, #s{counts = {Session, All}} = S) ->
    Modules = by_module(MFAs),
    {Whole, Others} = lists:partition(fun({M, L}) -> whole(M, L, On, Placed, S) end, maps:to_list(Modules)),
    Loaded = [M || M <- erlang:loaded(), not erltrace_agent_lib:ours(M)],
    %% Not if some are set already, which would be at 0 then.
    Calls = case On andalso map_size(MFAs) =:= map_size(All) andalso length(Whole) > ?MODULES andalso 4 * length(Whole) > 3 * length(Loaded) andalso
                 lists:all(fun(M) -> erltrace_agent_lib:breathe(), free(M, On, Placed, S) end, Loaded) of
                true -> [{'_', '_', '_'}];
                false ->
                    [{M, '_', '_'} || {M, _} <- Whole] ++
                        lists:append([erltrace_agent_patterns:spans(M, L, erltrace_agent_lib:functions_of(M)) || {M, L} <- Others])
            end,
    [erltrace_agent_meanwhile:done(functions, erltrace_agent_session:function(Session, MFA, On, [call_count])) || MFA <- Calls],
    ok.

whole(M, L, On, Placed, S) ->
    Functions = [FA || {F, A} = FA <- erltrace_agent_lib:functions_of(M), not erlang:is_builtin(M, F, A)],
    Functions -- L =:= [] andalso free(M, On, Placed, S).

%% Whether the BIFs and NIFs of a module may get a counter, or lose it. Where sessions share what clears them, only if these programs
%% trace them anyway.
free(_, true, _, #s{has = Has}) when not ?HAS(Has, ?OTP_BIFS_LOST) -> true;
free(M, On, Placed, _) ->
    case [{M, F, A} || {F, A} <- erltrace_agent_lib:functions_of(M), erlang:is_builtin(M, F, A)] of
        [] -> true;
        Builtins -> On andalso lists:all(fun(MFA) -> lists:any(fun(#c{wants = Wants}) -> is_map_key(MFA, Wants) end, Placed) end, Builtins)
    end.

%% == reading ===================================================================================================

%% Returns a placed program that is about to begin without counters of code that was loaded since it was enabled: those functions are traced for it.
-spec settled(#c{}, #s{}) -> #c{}.
settled(#c{counted = Counted} = C, S) ->
    Watched = erltrace_agent_lib:filter(fun(M, _) -> not erltrace_agent_loads:is_settled(M, S) end, by_module(Counted)),
    case erltrace_agent_lib:filter(fun({M, _, _}, _) -> is_map_key(M, Watched) end, Counted) of
        None when map_size(None) =:= 0 -> C;
        Fresh -> trace(C, maps:keys(Fresh))
    end.

%% The calls that were missed since so many had been. Fewer than those: they are of code that was loaded again.
since(N, Before) when N >= Before -> N - Before;
since(N, _) -> N.

%% Begins to count for a program, before anything can see its probes. Of code that was loaded in the last moment, the calls before this one are
%% not the program's.
-spec begun(#c{}, #s{}) -> {#c{}, #s{}}.
begun(C, S) ->
    case take('begin', C, S) of
        {[], C1} -> {C1, S};
        {Lost, C1} ->
            again(Lost),
            {_, Missed, S1} = erltrace_agent_loads:missed(Lost, S),
            {C1#c{before = Missed}, S1}
    end.

%% Gives a program what was counted for it since the last reading, unless that was just now: a consumer may ask as often as it likes.
-spec read(tick | aggregations | always, #c{}, #s{}) -> #c{}.
read(For, #c{phase = running, over = false, rests = {At, Rest}} = C, S) ->
    Least = case For of
                tick -> Rest;
                aggregations -> max(Rest, ?LEAST);
                always -> max(Rest, ?MOST)
            end,
    case erlang:monotonic_time(microsecond) - At < Least of
        true -> C;
        false ->
            {Lost, C1} = take(call, C, S),
            again(Lost),
            C1
    end;
read(_, C, _) ->
    C.

%% The same for the last time: what is lost, nobody looks at any more.
last(#c{over = false} = C, S) ->
    case take(call, C, S) of
        {[], C1} -> C1;
        {MFAs, #c{warnings = Warnings} = C1} -> C1#c{warnings = [told(MFAs) | Warnings]}
    end;
last(C, _) ->
    C.

%% (Needs change by a message: the caller may be answering amid other work.)
again([]) -> ok;
again(_) -> self() ! {counts, lost}, ok.

%% -> {the functions whose counters are lost, the consumer}. What reading takes is the program's cost (guest/beam/deadman/load.h).
take(_, #c{counted = Counted} = C, S) when map_size(Counted) =:= 0; S#s.counts =:= undefined ->
    {[], C};
take(How, #c{program = P, counted = Counted} = C, #s{counts = {Session, _}}) ->
    {Ids, Ns} = pieces(How, P, Session, maps:next(maps:iterator(Counted)), [], 0),
    Lost = maps:from_keys(Ids, true),
    {[MFA || Ids =/= [], {MFA, Id} <- maps:to_list(Counted), is_map_key(Id, Lost)],
     C#c{rests = {erlang:monotonic_time(microsecond), ?REST * Ns div 1000}}}.

pieces(How, P, Session, Next, Lost, Ns) ->
    ?AGENT:nif_reading(P, true),
    {More, Left} = steps(How, P, Session, Next, ?STEP, [], Lost, erlang:monotonic_time(microsecond) + ?PIECE),
    Spent = Ns + ?AGENT:nif_reading(P, false),
    case Left of
        none -> {More, Spent};
        _ ->
            erltrace_agent_meanwhile:serve(1),
            pieces(How, P, Session, Left, More, Spent)
    end.

%% -> {lost, what is left to be read}
steps(How, P, Session, {MFA, Id, Next}, N, Values, Lost, Until) when N > 0 ->
    steps(How, P, Session, maps:next(Next), N - 1, [{Id, erltrace_agent_session:calls(Session, MFA)} | Values], Lost, Until);
steps(How, P, Session, Next, _, Values, Lost, Until) ->
    More = ?AGENT:nif_counted(P, How, Values) ++ Lost,
    case Next =:= none orelse erlang:monotonic_time(microsecond) >= Until of
        true -> {More, Next};
        false -> steps(How, P, Session, Next, ?STEP, [], More, Until)
    end.

%% == lost counters =============================================================================================

%% Code was loaded: looks at the counters soon.
look(#s{counts = undefined}) -> ok;
look(_) -> self() ! {counts, lost}, ok.

%% Traces the functions whose counters are gone.
lost(#s{consumers = Cs} = S) ->
    receive {counts, lost} -> lost(S)
    after 0 ->
        Lost = [{C, MFAs} || #c{phase = running, over = false} = C <- maps:values(Cs), {[_ | _] = MFAs, _} <- [take(call, C, S)]],
        case Lost =:= [] orelse erltrace_agent_session:there(session(S)) of
            true when Lost =:= [] -> S;
            true -> traced(Lost, S);
            false -> erltrace_agent_needs:present(S)
        end
    end.

traced(Lost, #s{consumers = Cs, counts = {Session, Set}} = S) ->
    Traced = maps:from_list([{C#c.pid, trace(C, MFAs)} || {C, MFAs} <- Lost]),
    Gone = lists:append([MFAs || {_, MFAs} <- Lost]),
    {Warnings, S1} = erltrace_agent_needs:apply_needs(S#s{consumers = maps:merge(Cs, Traced), counts = {Session, maps:without(Gone, Set)}}),
    ?AGENT:settled(),
    {Beyond, Missed, S2} = erltrace_agent_loads:missed(Gone, S1),
    lists:foldl(fun({#c{pid = Pid, program = P, counted = Counted, before = Before}, MFAs}, #s{consumers = Now} = S3) ->
                    %% Calls of the new code that came before its patterns: their number is enough.
                    [] = ?AGENT:nif_counted(P, add, [{map_get(MFA, Counted), since(N, maps:get(MFA, Before, 0))} || MFA <- MFAs, #{MFA := N} <- [Missed]]),
                    ok = ?AGENT:nif_count_missed(P, Beyond),
                    case Now of
                        #{Pid := #c{warnings = W} = C} -> S3#s{consumers = Now#{Pid := C#c{warnings = [told(MFAs) | Warnings ++ W]}}};
                        #{} -> S3
                    end
                end, S2, Lost).

%% What a program needs once these functions are traced for it.
trace(#c{program = P, counted = Counted, wants = Wants} = C, MFAs) ->
    [] = ?AGENT:nif_counted(P, 'end', [{map_get(MFA, Counted), gone} || MFA <- MFAs]),
    C#c{counted = maps:without(MFAs, Counted), wants = maps:merge_with(fun(_, A, B) -> A bor B end, Wants, maps:from_keys(MFAs, ?ENTRY))}.

told(MFAs) ->
    text("the VM's counters of ~b function~s are gone, as their code was loaded again or somebody took them away: calls since the last reading "
         "are not counted, and from here on each call is reported: ~s",
         [length(MFAs), case MFAs of [_] -> ""; _ -> "s" end, names(MFAs)]).
