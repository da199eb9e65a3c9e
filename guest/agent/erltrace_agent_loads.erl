%% erltrace_agent_loads - code that is loaded while it is traced: it gets its probes, and no call of it is lost without being counted.
%%
%% A pattern goes with the code that it was set on. So, while a program runs that can have probes in code to come:
%%  * Patterns of the kind on_load put all functions of every loaded module under watch, in the step that loads it. Calls of functions that have
%%    probes already fire them; the library counts the others (missed.h).
%%  * A pattern on the BIFs with which loading ends, whose tracer is this process, reports at once that something was loaded (return_only/0).
%%    What was loaded is seen by the patterns: those of on_load look different from all others that we set (?MARK). The meta pattern shows it; so
%%    it is the first to be set and the last to be cleared, and no module that is loaded just then has only other patterns, which would never be
%%    found.
%%  * What was set before is set again. Consumers are told, and answer with the probes that they want there: `extend`. A program counts the calls
%%    that were missed until then. When all have answered, or after ?PATIENCE, the other functions lose their patterns: their calls go unseen
%%    until a late consumer answers after all.
%%
%% Before OTP 27 there is one on_load slot for the whole node, and one meta tracer for each function. Where another tool has the slot we are
%% blind: then we find loaded code by comparing what is loaded now with what was, and calls in between are not counted; a warning says so.
%%
%% Known gap: the VM applies a pattern to the code that is there when the call is carried out. A module that is loaded between is_fresh/2 and the
%% call that removes a meta mark (erltrace_agent_patterns:clear_fresh/3) loses that mark. Nothing waits between the two, and where the loss can
%% be seen (is_new/2) the next call restores the mark; until then, or until look/2 sets the module's patterns again, calls of a function that has
%% to wait for a local pattern are neither seen nor counted. One call cannot do both: it either sets patterns or clears them, whatever their
%% kinds, and it names the module but not which code of it.
-module(erltrace_agent_loads).

-export([seen/1, mark_again/2, arm/3, back/3, session/1, poll/1, disarm/1, forget/1, loaded/1, look/1, answered/3, missed_by/3, missed/2, clean/2, later/1, left_behind/1, is_mark/2, is_fresh/2, is_new/2, is_settled/2, has/3, mark/1]).

-import(erltrace_agent_lib, [functions_of/1, ours/1, now_ms/0]).

-include("erltrace_agent.hrl").

-define(MARK, [{'_', [true], []}]).
-define(MARK_LOCAL, [{'_', [true], [{message, {caller}}]}]).
-define(NOTICE, [{erlang, finish_loading, 1}, {erlang, finish_after_on_load, 2}]).
-define(POLL, 100).                % ms between two looks where loads are not reported to us
-define(PATIENCE, 10000).          % ms that consumers have to answer
-define(SLICE, 5).                 % ms for which functions lose their patterns before the server goes on
-define(BY_WILDCARD, 8).           % a module with at least this many functions to set is set as a whole

%% Whether a match specification of the legacy session's local patterns is our on_load one.
is_mark(local, MS) -> MS =:= ?MARK_LOCAL.

%% Makes code to come have the patterns of these kinds. Kinds: the on_load patterns that are needed, [] for none. Patterns: those of functions.
-spec arm([meta | local | global], #{mfa() => pattern()}, #s{}) -> {[binary()], #s{}}.
arm([], _, S) ->
    {[], disarm(S)};
arm(Kinds, Patterns, S) ->
    {Warnings, S1} = arm(Kinds, S),
    {Warnings, legacy_notice(Patterns, S1)}.

arm(Kinds, #s{loads = undefined} = S) ->
    Notice = notice(S),
    ?AGENT:nif_loading(true),
    arm(Kinds, S#s{loads = #loads{notice = Notice}});
arm(Kinds, #s{loads = #loads{kinds = Kinds}} = S) ->
    {[], S};
arm(Kinds, #s{loads = #loads{kinds = Have} = L} = S) ->
    [on_load(Kind, false, S) || Kind <- Have -- Kinds],
    unmark([M || Have -- Kinds =/= [], L#loads.known =:= undefined, M <- erlang:loaded(), is_map_key(M, L#loads.fresh) orelse is_fresh(M, S), not ours(M)],
           Have -- Kinds, S),
    Armed = [Kind || Kind <- Kinds, lists:member(Kind, Have) orelse on_load(Kind, true, S)],
    Blind = Armed =/= Kinds,
    [on_load(Kind, false, S) || Kind <- Armed, Blind],
    {[<<"another tool has trace patterns for newly loaded code: calls of code loaded from now on are neither seen nor counted "
        "until its probes are placed">> || Blind, L#loads.known =:= undefined],
     S#s{loads = L#loads{kinds = Kinds, known = if Blind -> known(); true -> undefined end}}}.

%% Undoes what arm/3 has set of these kinds, or was about to set, since the server was in state S, together with all patterns that are not those
%% of S. Before: what seen/1 returned in that state.
back(#s{loads = undefined, session = Session} = S, Kinds, none) ->
    case Session of
        legacy -> left_behind(self());
        _ -> [on_load(Kind, false, S) || Kind <- lists:reverse(Kinds)]
    end,
    Armed = S#s{loads = #loads{}},
    Ms = [M || Kinds =/= [], M <- erlang:loaded(), is_fresh(M, Armed), not ours(M)],
    [erltrace_agent_patterns:set_mark_off({M, module_info, 0}, Armed) || M <- Ms],
    unmark(Ms, Kinds, Armed),
    ?AGENT:nif_loading(false);
back(#s{loads = #loads{kinds = Have}} = S, Kinds, Before) ->
    [on_load(Kind, false, S) || Kind <- Kinds -- Have],
    unmark([M || Before =/= none, Kinds -- Have =/= [], M <- loaded_since(Before, S)], Kinds -- Have, S),
    mark_again(Before, S). % undoing may have removed the mark of code that must not lose it

%% Modules loaded since then, and earlier ones that look/2 has not seen.
loaded_since(Before, S) ->
    [M || {M, Code} <- maps:to_list(known()), maps:get(M, Before, none) =/= Code orelse is_fresh(M, S), not ours(M)].

%% Removes from modules the patterns that they got when they were loaded, of kinds that code to come no longer gets.
unmark(Ms, Kinds, S) ->
    [unmark(M, all, Kind, S) || M <- Ms, Kind <- Kinds],
    ok.

unmark(_, [], _, _) -> ok;
unmark(M, What, Kind, S) -> unmark(M, erltrace_agent_patterns:clear_loaded(M, What, Kind, old, S), Kind, S).

disarm(#s{loads = undefined} = S) ->
    S;
disarm(#s{loads = #loads{kinds = Kinds, notice = Notice, serial = Serial}, session = Session} = S) ->
    case Session of
        legacy ->
            left_behind(self()),
            %% Not when our code was replaced: the library is gone with it.
            ?AGENT:nif_loaded() andalso all_of_it(up_to(Serial + 1, look(S)));
        _ -> there(S) andalso [on_load(Kind, false, S) || Kind <- lists:reverse(Kinds)]
    end,
    Notice =:= undefined orelse erltrace_agent_session:destroy(Notice),
    ?AGENT:nif_loaded() andalso ?AGENT:nif_loading(false),
    S#s{loads = undefined}.

%% As disarm/1, when nothing stays set: the patterns that code got when it was loaded go with all others, before OTP 27 by
%% erltrace_agent_patterns:remove_all/2.
forget(#s{loads = undefined} = S) ->
    S;
forget(#s{loads = #loads{notice = Notice}, session = Session} = S) ->
    Session =:= legacy andalso left_behind(self()),
    Notice =:= undefined orelse erltrace_agent_session:destroy(Notice),
    ?AGENT:nif_loading(false),
    S#s{loads = undefined}.

%% Removes what a server has set in the legacy session; `dead` stands for any server that is dead.
left_behind(Server) ->
    Heard = [?SETS_FLAGS || Server =/= self()],
    [erltrace_agent_patterns:legacy(MFA, false, [meta]) || MFA <- Heard ++ ?NOTICE, is_left(erlang:trace_info(MFA, meta), Server)],
    [on_load(Kind, false, #s{otp = 0, has = 0, session = legacy}) || Kind <- [local, meta], slot(Kind) =:= ours],
    ok.

%% (The VM keeps a pattern whose tracer has died, and may or may not have noticed the death.)
is_left({meta, Server}, Server) -> true;
is_left({meta, []}, _) -> true;
is_left({meta, Pid}, dead) when is_pid(Pid), node(Pid) =:= node() -> not erltrace_agent_lib:alive(Pid);
is_left(_, _) -> false.

%% Returns the session that reports loads, if there is one.
session(#s{loads = #loads{notice = Notice}}) -> Notice;
session(_) -> undefined.

%% Creates the trace session that reports loads (from OTP 27 on). It traces nothing but these calls.
notice(#s{session = legacy}) ->
    undefined;
notice(S) ->
    Session = erltrace_agent_session:create(erltrace_loads, self(), S),
    [erltrace_agent_session:function(Session, MFA, return_only(), [meta]) || MFA <- ?NOTICE],
    Session.

%% Before OTP 27 a function has one meta tracer. Where probes, or another tool, need that of these functions, we look at intervals instead.
legacy_notice(Patterns, #s{session = legacy, loads = L} = S) ->
    lists:foreach(fun(MFA) ->
                      case {Patterns, erlang:trace_info(MFA, meta)} of
                          {#{MFA := {meta, _, _}}, {meta, Pid}} when Pid =:= self() -> erltrace_agent_patterns:legacy(MFA, false, [meta]);
                          {#{MFA := {meta, _, _}}, _} -> 0;
                          {_, {meta, false}} -> erltrace_agent_patterns:legacy(MFA, return_only(), [{meta, self()}]);
                          _ -> 0
                      end
                  end, ?NOTICE),
    case {is_told(), L#loads.polling} of
        {false, false} ->
            erlang:send_after(?POLL, self(), {loads, look}),
            S#s{loads = L#loads{polling = true}};
        _ -> S
    end;
legacy_notice(_, S) ->
    S.

is_told() ->
    lists:all(fun(MFA) -> erlang:trace_info(MFA, meta) =:= {meta, self()} end, ?NOTICE).

poll(#s{session = legacy, loads = #loads{}} = S) ->
    #s{loads = L} = S1 = look(S),
    case is_told() of
        true -> S1#s{loads = L#loads{polling = false}};
        false -> erlang:send_after(?POLL, self(), {loads, look}), S1
    end;
poll(S) ->
    S.

return_only() ->
    [{'_', [], [{message, false}, {return_trace}]}].

%% Sets or clears a pattern for code to come; false: another tool has the slot.
on_load(Kind, On, #s{session = legacy}) ->
    MS = On andalso mark(Kind),
    case slot(Kind) of
        foreign -> false;
        free when not On -> true;
        _ when Kind =:= meta, On -> erltrace_agent_patterns:legacy(on_load, MS, [{meta, ?AGENT, ?STATE}]), true;
        _ -> erltrace_agent_patterns:legacy(on_load, MS, [Kind]), true
    end;
on_load(global, On, #s{global = Session}) ->
    Session =:= undefined orelse erltrace_agent_session:function(Session, on_load, On andalso mark(global), [global]),
    true;
on_load(Kind, On, #s{session = Session}) ->
    erltrace_agent_session:function(Session, on_load, On andalso mark(Kind), [Kind]),
    true.

mark(local) -> ?MARK_LOCAL;
mark(_) -> ?MARK.

slot(meta) ->
    case erlang:trace_info(on_load, meta) of
        {meta, ?TRACER} -> ours;
        {meta, No} when No =:= false; No =:= [] -> free;
        _ -> foreign
    end;
slot(local) ->
    case {erlang:trace_info(on_load, traced), erlang:trace_info(on_load, match_spec)} of
        {{traced, local}, {match_spec, ?MARK_LOCAL}} -> ours;
        {{traced, false}, _} -> free;
        _ -> foreign
    end.

%% == something was loaded =====================================================================================

%% Handles one or several reports of a load.
loaded(S) ->
    receive
        {trace_ts, _, return_from, {erlang, F, _}, _, _} when F =/= trace -> loaded(S)
    after 0 ->
        look(S, cleaned(S))
    end.

cleaned(#s{loads = undefined}) -> [];
cleaned(#s{loads = #loads{cleaned = Ms}}) -> Ms.

%% Finds what has been loaded since the last look.
look(S) ->
    look(S, []).

look(#s{loads = undefined} = S, _) ->
    S;
look(S, Cleaned) ->
    case there(S) of
        true -> look_there(S, Cleaned);
        false -> S
    end.

%% From OTP 27 on another process may have destroyed our session; then code that is loaded has no patterns of ours.
there(#s{session = legacy}) -> true;
there(#s{session = Session}) -> erltrace_agent_session:there(Session).

look_there(#s{loads = #loads{known = Known, serial = Serial, fresh = Fresh, doing = Doing} = L0} = S0, Cleaned) ->
    L = L0#loads{cleaned = [M || {M, _, _} <- [Doing]]},
    S = S0#s{loads = L},
    Now = if Known =:= undefined -> undefined;
             true -> known()
          end,
    %% A module that lost its marks just as it was loaded again would not show up otherwise.
    case [M || M <- erlang:loaded(), is_fresh(M, Now, S) orelse lists:member(M, Cleaned), not ours(M)] of
        [] ->
            S;
        Ms ->
            erltrace_agent_records:loaded(Ms, S),
            erltrace_agent_counts:look(S),
            set_again(maps:from_list([{M, true} || M <- Ms]), S),
            erlang:send_after(?PATIENCE, self(), {loads, clean, Serial + 1}),
            tell(Ms, S#s{loads = L#loads{serial = Serial + 1, known = Now,
                                         fresh = maps:merge(Fresh, maps:from_list([{M, Serial + 1} || M <- Ms]))}})
    end.

%% Whether a module has been loaded and we have not looked yet (never, when we are blind).
is_fresh(M, #s{loads = #loads{known = undefined}} = S) -> is_fresh(M, undefined, S);
is_fresh(_, _) -> false.

%% Every module has this function, and the mark is on it once, until we have seen it.
is_fresh(M, undefined, #s{session = legacy}) ->
    erlang:trace_info({M, module_info, 0}, meta_match_spec) =:= {meta_match_spec, ?MARK};
is_fresh(M, undefined, #s{session = Session}) ->
    erltrace_agent_session:info(Session, {M, module_info, 0}, meta_match_spec) =:= {meta_match_spec, ?MARK};
is_fresh(M, Now, #s{loads = #loads{known = Known}}) ->
    maps:get(M, Known, none) =/= maps:get(M, Now, none).

%% Whether no other consumer still has to place its probes on a module's code.
is_settled(M, #s{loads = #loads{fresh = Fresh}} = S) ->
    not is_map_key(M, Fresh) andalso not is_fresh(M, S);
is_settled(_, _) ->
    true.

%% Whether a module that we have looked at was loaded again while marks were removed from it: it lacks a pattern that it was given.
is_new(M, #s{functions = Functions} = S) ->
    is_fresh(M, S) orelse
        case lists:search(fun({F, A}) -> is_local(Functions, {M, F, A}) end, functions_of(M)) of
            {value, {F, A}} -> is_bare({M, F, A}, S);
            false -> false
        end.

is_local(Functions, MFA) ->
    case Functions of
        #{MFA := {local, _, _}} -> true;
        #{} -> false
    end.

is_bare(MFA, #s{session = legacy}) -> erlang:trace_info(MFA, traced) =:= {traced, false};
is_bare(MFA, #s{session = Session}) -> erltrace_agent_session:info(Session, MFA, traced) =:= {traced, false}.

%% What is loaded, before patterns are set on whole modules; `none` when marks are not looked for.
seen(#s{loads = #loads{known = undefined}}) -> known();
seen(_) -> none.

%% After they are set: code that was loaded meanwhile may have lost its mark to them, and gets it back, so that it is noticed.
mark_again(none, _) ->
    ok;
mark_again(Before, S) ->
    Mark = fun(M, Code) -> not ours(M) andalso maps:get(M, Before, none) =/= Code andalso erltrace_agent_patterns:pattern({M, module_info, 0}, ?MARK, meta, S) end,
    maps:foreach(Mark, known()).

%% What tells one code of a module from another, as far as possible: the same code loaded again has lost its patterns.
known() ->
    maps:from_list(lists:append([known(M) || M <- erlang:loaded()])).

%% A module that is deleted meanwhile is left out.
known(M) ->
    try [{M, {erlang:get_module_info(M, md5), erlang:check_old_code(M)}}]
    catch error:badarg -> []
    end.

set_again(Ms, #s{functions = Functions, globals = Globals} = S) ->
    %% First: what is loaded from here on counts as fresh again.
    [erltrace_agent_patterns:set_mark_off({M, module_info, 0}, S) || M <- maps:keys(Ms), (S#s.loads)#loads.known =:= undefined],
    In = fun({M, _, _}, _) -> is_map_key(M, Ms) end,
    erltrace_agent_patterns:set_loaded(maps:filter(In, Functions), ?BY_WILDCARD, S),
    erltrace_agent_patterns:set_loaded(maps:filter(In, S#s.hooks), infinity, S),
    erltrace_agent_patterns:set_globals(maps:filter(In, Globals), true, S),
    ?AGENT:nif_loading(true),
    count_local([MFA || {{M, _, _} = MFA, {local, _, _}} <- maps:to_list(Functions), is_map_key(M, Ms)], S),
    ok.

%% Counts the calls of functions that had to wait for a local pattern.
count_local([], _) ->
    ok;
count_local(MFAs, #s{consumers = Cs}) ->
    {Beyond, Calls} = ?AGENT:nif_missed(MFAs),
    [?AGENT:nif_count_missed(P, lists:sum([Beyond | [N || {MFA, N} <- Calls, is_map_key(MFA, W)]]))
     || #c{phase = running, program = P, wants = W} <- maps:values(Cs)],
    ok.

%% Counts, for a program that has got probes on these functions, the earlier calls as missed. Another program may get probes there as well.
missed_by(P, MFAs, S) ->
    {Beyond, Missed, S1} = missed(MFAs, S),
    ok = ?AGENT:nif_count_missed(P, lists:sum([Beyond | maps:values(Missed)])),
    S1.

%% -> {calls that may be of these functions, #{function => calls that nobody was told of since its code was loaded}, state}
missed(MFAs, #s{loads = #loads{missed = Missed} = L} = S) ->
    {Beyond, Calls} = ?AGENT:nif_missed(MFAs),
    All = lists:foldl(fun({MFA, N}, Acc) -> maps:update_with(MFA, fun(Had) -> Had + N end, N, Acc) end, Missed, Calls),
    {Beyond, maps:with(MFAs, All), S#s{loads = L#loads{missed = All}}};
missed(_, S) ->
    {0, #{}, S}.

tell(Ms, #s{consumers = Cs, loads = #loads{serial = Serial}} = S) ->
    maps:fold(fun(Pid, #c{phase = Phase, hears = true}, A) when ?is_placed(Phase) -> ?AGENT:tell(Pid, {erltrace, loaded, Serial, Ms}, A);
                 (_, _, A) -> A
              end, S, Cs).

%% Notes that a consumer has placed its probes on everything loaded up to Serial.
answered(Pid, Serial, #s{consumers = Cs} = S) ->
    #{Pid := C} = Cs,
    let_go(S#s{consumers = Cs#{Pid := C#c{answered = Serial}}}).

let_go(#s{consumers = Cs, loads = #loads{serial = Last}} = S) ->
    clean(lists:min([Last | [C#c.answered || #c{phase = Phase, hears = true} = C <- maps:values(Cs), ?is_placed(Phase)]]), S);
let_go(S) ->
    S.

%% == releasing modules ========================================================================================

%% Removes the patterns of functions that no program wants, in modules loaded up to Serial: some now, the rest later. Each removal waits for all
%% schedulers, so thousands of them take seconds on a busy node, and consumers must be heard meanwhile.
clean(Serial, #s{loads = #loads{}} = S) ->
    go_on(up_to(Serial, S));
clean(_, S) ->
    S.

up_to(Serial, #s{loads = #loads{upto = Upto} = L} = S) ->
    S#s{loads = L#loads{upto = max(Serial, Upto)}}.

%% Continues that work, unless a message that will is on its way.
go_on(#s{loads = #loads{later = true}} = S) ->
    S;
go_on(S) ->
    slice(now_ms() + ?SLICE, S).

%% That message has come.
later(#s{loads = #loads{} = L} = S) ->
    slice(now_ms() + ?SLICE, S#s{loads = L#loads{later = false}});
later(S) ->
    S.

slice(Until, S) ->
    case step(S) of
        done ->
            S;
        #s{loads = L} = S1 ->
            case now_ms() < Until of
                true -> slice(Until, S1);
                false -> self() ! {loads, later}, S1#s{loads = L#loads{later = true}}
            end
    end.

all_of_it(S) ->
    case step(S) of
        done -> S;
        S1 -> all_of_it(S1)
    end.

%% Does a bit of the work: begins a module, removes the patterns of a few of its functions, or finishes it.
step(#s{loads = #loads{doing = none, upto = Upto, fresh = Fresh, cleaned = Cleaned} = L} = S) ->
    case next(maps:next(maps:iterator(Fresh)), Upto) of
        none -> done;
        {M, Serial} -> S#s{loads = L#loads{doing = {M, Serial, [{Kind, all} || Kind <- kinds(S)]}, cleaned = [M | Cleaned]}}
    end;
step(#s{loads = #loads{doing = {M, Serial, Work}, fresh = Fresh} = L} = S) ->
    case {Fresh, Work} of
        {#{M := Serial}, [{Kind, What} | More]} ->
            Left = case there(S) of
                       true -> erltrace_agent_patterns:clear_loaded(M, What, Kind, fresh, S);
                       false -> []
                   end,
            S#s{loads = L#loads{doing = {M, Serial, [{Kind, Left} || Left =/= []] ++ More}}};
        {#{M := Serial}, []} ->
            _ = ?AGENT:nif_missed([{M, F, A} || {F, A} <- functions_of(M), not is_wanted({M, F, A}, S)]),
            Others = maps:remove(M, Fresh),
            S#s{loads = L#loads{doing = none, fresh = Others, missed = maps:filter(fun({N, _, _}, _) -> N =/= M end, L#loads.missed)}};
        _ -> % it has been loaded again, which is dealt with later
            S#s{loads = L#loads{doing = none}}
    end.

next(none, _) -> none;
next({M, Serial, _}, Upto) when Serial =< Upto -> {M, Serial};
next({_, _, I}, Upto) -> next(maps:next(I), Upto).

is_wanted(MFA, #s{functions = Functions, hooks = Hooks}) ->
    is_map_key(MFA, Functions) orelse is_map_key(MFA, Hooks).

%% Kinds of the patterns that code got when it was loaded.
kinds(#s{loads = #loads{kinds = Kinds, known = undefined}}) -> Kinds;
kinds(_) -> [].

%% Whether the function should have a pattern of that kind.
has(MFA, global, #s{globals = Globals}) ->
    is_map_key(MFA, Globals);
has(MFA, Kind, #s{functions = Functions, hooks = Hooks}) ->
    lists:member(Kind, [How || #{MFA := {How, _, _}} <- [Functions, Hooks]]).
