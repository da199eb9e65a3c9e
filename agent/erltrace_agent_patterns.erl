%% erltrace_agent_patterns - trace patterns of functions: in the legacy session before OTP 27, in a session of ours from then on.
%%
%% A function with another tool's tracer is left alone and reported. Each call that sets or clears a pattern waits for all schedulers,
%% which on a busy node takes a tenth of a second, for one function as for all of them: the number of these calls is what counts. So
%% the functions of a module are set and cleared together wherever that comes to the same, and those of all modules, too (set/3, clear/2).
-module(erltrace_agent_patterns).

-export([add_patterns/2, set_again/2, back/4, no_longer/2, remove_patterns/2, remove_all/2, remove_at_once/1, still_ours/3, owner_of/2, is_match_spec/1, globals/2]).
-export([set_loaded/3, set_globals/3, set_mark_off/2, clear_loaded/5, pattern/4, legacy/3]).

-import(erltrace_agent_lib, [text/2, owner/1, names/1, functions_of/1]).

-include("erltrace_agent.hrl").

-define(AT_ONCE, 8).               % modules from which on their patterns are cleared with those of all others (which costs a look at all functions)

%% Sets what is not set yet. -> {what is set then, warnings}; when it fails, nothing has changed.
add_patterns(Patterns, #s{functions = Have} = S) ->
    New = erltrace_agent_lib:filter(fun(MFA, P) ->
                                        case Have of
                                            #{MFA := P} -> false;
                                            #{} -> true
                                        end
                                    end, Patterns),
    {Foreign, Free} = foreign(New, S),
    erltrace_agent_meanwhile:expect(functions, map_size(Free)),
    Before = erltrace_agent_loads:seen(S),
    Missed = try
                 set(Free, maps:without(maps:keys(Foreign), Patterns), S)
             catch
                 Class:Reason:Stack ->
                     back(Free, Have, #{}, S),
                     erltrace_agent_loads:mark_again(Before, S),
                     erlang:raise(Class, Reason, Stack)
             end,
    erltrace_agent_loads:mark_again(Before, S),
    Set = maps:without(maps:keys(Foreign), Patterns), % those that are not there may come back
    {Set,
     [text("~b function~s traced by ~s and left alone: ~s",
           [length(Fs), case Fs of [_] -> " is"; _ -> "s are" end, Owner, names(Fs)])
      || {Owner, Fs} <- maps:to_list(by_owner(Foreign))] ++
     [text("~b function~s not there any more: ~s",
           [length(Missed), case Missed of [_] -> " is"; _ -> "s are" end, names(Missed)]) || Missed =/= []]}.

%% From New, or a part of it, back to what was there before: Have. Those of Hooks stay in any case.
back(New, Have, Hooks, S) ->
    remove_patterns(erltrace_agent_hooks:without(no_longer(New, Have), Hooks), S),
    set_again(erltrace_agent_lib:filter(fun(MFA, {How, _, _} = Was) ->
                                            case New of
                                                #{MFA := {How, _, _} = Is} -> Is =/= Was;
                                                #{} -> false
                                            end
                                        end, Have), S).

%% What was set one way or the other and is not in the new set that way.
no_longer(Old, New) ->
    erltrace_agent_lib:filter(fun(MFA, {How, _, _}) ->
                                  case New of
                                      #{MFA := {How, _, _}} -> false;
                                      #{} -> true
                                  end
                              end, Old).

by_owner(Foreign) ->
    maps:fold(fun(MFA, Owner, Acc) ->
                  maps:update_with(Owner, fun(L) -> [MFA | L] end, [MFA], Acc)
              end, #{}, Foreign).

%% #{{Module, meta | local | global} => [{Pattern, {Function, Arity}}]}
by_module(Patterns) ->
    erltrace_agent_lib:fold(fun({M, F, A}, {How, _, _} = Pattern, Acc) ->
                                Key = {M, How},
                                case Acc of
                                    #{Key := L} -> Acc#{Key := [{Pattern, {F, A}} | L]};
                                    #{} -> Acc#{Key => [{Pattern, {F, A}}]}
                                end
                            end, #{}, Patterns).

%% The functions that another tool traces in a way that ours would replace: {#{MFA => Owner}, the rest}.
foreign(New, #s{session = legacy, functions = Have} = S) ->
    Owner = fun(MFA, {How, _, _}) ->
                Ours = case Have of
                           #{MFA := {How, _, _}} -> true;
                           #{MFA := Was} when How =:= global; element(1, Was) =:= global -> still_ours(MFA, Was, S);
                           #{} -> false
                       end,
                case Ours of
                    true -> nobody; % a global pattern and any other take each other's place
                    false -> owner_of(MFA, How)
                end
            end,
    Foreign = maps:from_list(erltrace_agent_lib:fold(fun(MFA, P, Acc) ->
                                                         case Owner(MFA, P) of
                                                             nobody -> Acc;
                                                             Other -> [{MFA, Other} | Acc]
                                                         end
                                                     end, [], New)),
    {Foreign, maps:without(maps:keys(Foreign), New)};
foreign(New, _) ->
    {#{}, New}.

%% Whose a function is, or `nobody`. Two tracers cannot have one in the legacy session: neither two meta tracers, nor two patterns.
owner_of(MFA, meta) ->
    case erlang:trace_info(MFA, meta) of
        {meta, ?TRACER} -> nobody;
        {meta, {_, _} = Other} -> owner(Other);
        {meta, Pid} when is_pid(Pid) -> owner(Pid);
        {meta, Port} when is_port(Port) -> owner(Port);
        _ -> not_global(MFA)
    end;
owner_of(MFA, local) ->
    case erlang:trace_info(MFA, traced) of
        {traced, local} ->
            {match_spec, MS} = erlang:trace_info(MFA, match_spec),
            case erltrace_agent_loads:is_mark(local, MS) of
                true -> nobody; % loaded a moment ago
                false -> <<"somebody else (a local trace pattern)">>
            end;
        _ -> not_global(MFA)
    end;
%% Likewise of a global pattern of ours; a meta pattern of another tool would go.
owner_of(MFA, global) ->
    case erlang:trace_info(MFA, meta) of
        {meta, {_, _} = Other} when Other =/= ?TRACER -> owner(Other);
        {meta, Pid} when is_pid(Pid) -> owner(Pid);
        _ ->
            case erlang:trace_info(MFA, traced) of
                {traced, How} when How =/= false -> text("somebody else (a ~p trace pattern)", [How]);
                _ -> nobody
            end
    end.

%% A global pattern and any other one exclude each other.
not_global(MFA) ->
    case erlang:trace_info(MFA, traced) of
        {traced, global} -> <<"somebody else (a global trace pattern)">>;
        _ -> nobody
    end.

%% Sets what has been set before.
set_again(Patterns, S) ->
    _ = set(Patterns, Patterns, S),
    ok.

%% == setting, in as few calls as can be ========================================================================

%% Sets New, a part of what is wanted in all. -> functions that are not there
set(New, _, _) when map_size(New) =:= 0 ->
    [];
set(New, All, S) ->
    Modules = by_module(New),
    case everywhere(Modules, All, S) of
        {true, {How, _, _} = Pattern} ->
            _ = pattern({'_', '_', '_'}, match_spec(Pattern), How, S),
            [];
        _ ->
            maps:fold(fun({M, How}, L, Acc) -> set_module(M, How, L, All, S) ++ Acc end, [], Modules)
    end.

%% Whether every function of every module is to have the same pattern. (The agent's own modules get it, too: nobody who can be traced
%% runs them, and it goes with those of the others, or with the modules.)
everywhere(Modules, All, S) ->
    case maps:next(maps:iterator(Modules)) of
        {{_, How}, [{Pattern, _} | _], _} when How =/= global ->
            Loaded = [M || M <- erlang:loaded(), not erltrace_agent_lib:ours(M)],
            {length(Loaded) > 1 andalso length(Loaded) =< map_size(Modules) andalso
                 lists:all(fun(M) ->
                               erltrace_agent_lib:breathe(),
                               wholly(M, How, Pattern, functions_of(M), maps:get({M, How}, Modules, []), All, S)
                           end, Loaded), Pattern};
        _ -> false
    end.

%% Whether all functions of a module are to have this pattern: those of L get it now, others have it.
wholly(M, How, Pattern, Functions, L, All, S) ->
    {Same, Others} = lists:partition(fun({P, _}) -> P =:= Pattern end, L),
    Others =:= [] andalso
        lists:all(fun({F, A}) -> has({M, F, A}, How, Pattern, All, S) end, Functions -- [FA || {_, FA} <- Same]).

%% Whether a function has a pattern that is wanted, and it is still ours: then it can be set once more.
has(MFA, How, Pattern, All, S) ->
    case All of
        #{MFA := Pattern} when element(1, Pattern) =:= How -> still_ours(MFA, Pattern, S);
        #{} -> false
    end.

%% Those of one module and kind: function by function, or all at once and then those that are to be otherwise, whichever has fewer calls.
%% -> functions that are not there
set_module(M, How, L, All, S) ->
    Functions = functions_of(M),
    Known = maps:from_keys(Functions, true),
    {There, Missed} = lists:partition(fun({_, FA}) -> is_map_key(FA, Known) end, L),
    Groups = lists:foldl(fun({P, FA}, Acc) -> maps:update_with(P, fun(FAs) -> [FA | FAs] end, [FA], Acc) end, #{}, There),
    Exact = [{MFA, match_spec(P)} || {P, FAs} <- maps:to_list(Groups), MFA <- spans(M, FAs, Functions)],
    Calls = case length(Exact) > 1 andalso at_once(M, How, Groups, Functions, All, S) of
                [_ | _] = Fewer when length(Fewer) < length(Exact) -> Fewer;
                _ -> Exact
            end,
    [{M, F, A} || {_, {F, A}} <- Missed] ++
        [MFA || {{_, F, A} = MFA, MS} <- Calls, pattern(MFA, MS, How, S) =:= 0, MS =/= false, F =/= '_', A =/= '_'].

%% The same by a pattern on the whole module, and what puts the others right; [] if that would touch what another tool has there.
at_once(_, global, _, _, _, _) ->
    [];
at_once(M, How, Groups, Functions, All, S) ->
    {_, Major, FAs} = lists:max([{length(FAs), P, FAs} || {P, FAs} <- maps:to_list(Groups)]),
    Others = lists:append(maps:values(maps:remove(Major, Groups))),
    Rest = [{F, A} || {F, A} <- (Functions -- FAs) -- Others, not has({M, F, A}, How, Major, All, S)],
    %% A BIF is never cleared without need: other sessions would hear of it no more (OTP 27 and 28).
    case 2 * length(Rest) < length(Functions) andalso
         lists:all(fun({F, A}) -> bare({M, F, A}, How, S) andalso not erlang:is_builtin(M, F, A) end, Rest) of
        true ->
            [{{M, '_', '_'}, match_spec(Major)}] ++
            [{MFA, match_spec(P)} || {P, Some} <- maps:to_list(maps:remove(Major, Groups)), MFA <- spans(M, Some, Functions)] ++
            [{MFA, false} || MFA <- spans(M, Rest, Functions)];
        false ->
            []
    end.

%% What to name in order to have just these functions of a module, in few terms.
spans(M, FAs, Functions) ->
    case lists:usort(FAs) of
        [] -> [];
        [{F, A}] -> [{M, F, A}];
        Functions -> [{M, '_', '_'}];
        Sorted -> by_name(M, Sorted, Functions)
    end.

by_name(M, [{F, _} | _] = Sorted, Functions) ->
    {Same, Others} = lists:splitwith(fun({N, _}) -> N =:= F end, Sorted),
    {Named, Rest} = lists:splitwith(fun({N, _}) -> N =:= F end, lists:dropwhile(fun({N, _}) -> N < F end, Functions)),
    case Same of
        [_, _ | _] when Same =:= Named -> [{M, F, '_'} | by_name(M, Others, Rest)];
        _ -> [{M, F, A} || {_, A} <- Same] ++ by_name(M, Others, Rest)
    end;
by_name(_, [], _) ->
    [].

%% Whether nobody has a pattern of that kind on a function, as far as this session goes.
bare(MFA, meta, #s{session = legacy}) -> is_none(erlang:trace_info(MFA, meta)) andalso erlang:trace_info(MFA, traced) =/= {traced, global};
bare(MFA, _, #s{session = legacy}) -> is_none(erlang:trace_info(MFA, traced));
bare(MFA, meta, #s{session = Session}) -> is_none(erltrace_agent_session:info(Session, MFA, meta));
bare(MFA, _, #s{session = Session}) -> is_none(erltrace_agent_session:info(Session, MFA, traced)).

is_none({_, false}) -> true;
is_none(_) -> false.

%% The one way to a pattern: sets it, or clears it (MS is false). -> how many functions
pattern(MFA, MS, How, S) ->
    N = pattern_of(MFA, MS, How, S),
    erltrace_agent_meanwhile:done(functions, N),
    N.

pattern_of(MFA, false, How, #s{session = legacy}) ->
    legacy(MFA, false, [How]);
pattern_of(MFA, MS, meta, #s{session = legacy}) ->
    legacy(MFA, MS, [{meta, ?AGENT, ?STATE}]);
pattern_of(MFA, MS, How, #s{session = legacy}) ->
    legacy(MFA, MS, [How]);
pattern_of(MFA, MS, How, #s{session = Session}) ->
    erltrace_agent_session:function(Session, MFA, MS, [How]).

%% Every call in the legacy session goes this way, so that it is counted.
legacy(MFA, MS, Flags) ->
    erltrace_agent_lib:pattern_call(),
    erlang:trace_pattern(MFA, MS, Flags).

%% Makes the second session's patterns those of the functions in Want. It never has flags but `call`: two sessions that trace
%% collections crash the VM.
globals(Want, #s{globals = Want} = S) ->
    S;
globals(Want, #s{global = Global} = S) when map_size(Want) =:= 0 ->
    erltrace_agent_session:destroy(Global),
    S#s{global = undefined, globals = #{}};
globals(Want, #s{global = undefined} = S) ->
    Session = erltrace_agent_session:create(erltrace_global, {?AGENT, global}, S),
    erltrace_agent_session:process(Session, all, true, [call, arity]),
    globals(Want, S#s{global = Session});
globals(Want, #s{globals = Have} = S) ->
    set_globals(maps:without(maps:keys(Have), Want), true, S),
    set_globals(maps:without(maps:keys(Want), Have), false, S),
    S#s{globals = Want}.

set_globals(MFAs, How, #s{global = Session}) ->
    maps:foreach(fun({M, global}, L) ->
                     [erltrace_agent_session:function(Session, MFA, How, [global]) || MFA <- spans(M, [FA || {_, FA} <- L], functions_of(M))]
                 end, by_module(maps:map(fun(_, true) -> {global, false, false} end, MFAs))).

%% == clearing ==================================================================================================

remove_patterns(Gone, S) ->
    erltrace_agent_meanwhile:expect(functions, map_size(Gone)),
    maps:foreach(fun({M, How}, L) -> clear_module(M, How, L, S) end, by_module(Gone)).

%% Before OTP 27: all that is ours, in maps as in #s.functions, and what code has got as it came.
remove_all(Maps, S) ->
    remove_at_once(lists:foldl(fun maps:merge/2, #{}, Maps)),
    [remove_patterns(Patterns, S) || Patterns <- Maps],
    _ = erltrace_agent_others:sweep_loaded(erltrace_agent_others:functions()),
    ok.

%% Before OTP 27, when all that is ours is to go: a pattern takes as long to clear as those of all modules, which on a busy node is
%% milliseconds each. So those of a kind go at once if there are many, and no function has one of another tool. What is left after this
%% has to be cleared in other ways. Functions: what we have set, as it is in #s.functions; all meta patterns that bear our name go in any case.
-spec remove_at_once(#{mfa() => pattern()}) -> ok.
remove_at_once(Functions) when map_size(Functions) >= ?AT_ONCE ->
    [cleared(How, map_size(Modules)) || {How, Modules} <- alone(Functions)],
    ok;
remove_at_once(_) ->
    ok.

cleared(How, N) when N >= ?AT_ONCE ->
    legacy({'_', '_', '_'}, false, [How]);
cleared(_, _) ->
    0.

%% [{kind, modules that have patterns of it}] of the kinds that are nobody's but ours.
alone(Functions) ->
    %% Some milliseconds without a breath, so that nobody else comes in between.
    Kinds = lists:foldl(fun(M, Acc) -> lists:foldl(fun({F, A}, A1) -> alone({M, F, A}, Functions, A1) end, Acc, functions_of(M)) end,
                        [{meta, #{}}, {local, #{}}], erlang:loaded()),
    [K || {_, #{}} = K <- Kinds].

alone(MFA, Functions, [{meta, Meta}, {local, Local}]) ->
    [{meta, meta_alone(MFA, Meta)}, {local, local_alone(MFA, Functions, Local)}].

meta_alone(_, foreign) -> foreign;
meta_alone({M, _, _} = MFA, Modules) ->
    case erlang:trace_info(MFA, meta) of
        {meta, ?TRACER} -> Modules#{M => true};
        {meta, Nobody} when Nobody =:= false; Nobody =:= undefined; Nobody =:= [] -> Modules; % [] when its tracer has gone
        _ -> foreign
    end.

local_alone(_, _, foreign) -> foreign;
local_alone({M, _, _} = MFA, Functions, Modules) ->
    case erlang:trace_info(MFA, traced) of
        {traced, local} ->
            Ours = case Functions of
                       #{MFA := {local, _, _} = Pattern} -> still_ours(MFA, Pattern, #s{session = legacy}) orelse is_marked(MFA);
                       #{} -> is_marked(MFA)
                   end,
            if Ours -> Modules#{M => true};
               true -> foreign
            end;
        _ -> Modules
    end.

%% All of a module at once when nobody has another of that kind in it.
clear_module(M, How, L, S) ->
    Functions = functions_of(M),
    case [FA || {Pattern, {F, A} = FA} <- L, still_ours({M, F, A}, Pattern, S)] of
        [] ->
            ok;
        Ours ->
            Single = spans(M, Ours, Functions),
            Wild = length(Single) > 1 andalso How =/= global andalso
                lists:all(fun({F, A}) -> bare({M, F, A}, How, S) end, Functions -- Ours),
            [pattern(MFA, false, How, S) || MFA <- if Wild -> [{M, '_', '_'}]; true -> Single end],
            ok
    end.

%% Whether code has got its local pattern as it was loaded.
is_marked(MFA) ->
    case erlang:trace_info(MFA, match_spec) of
        {match_spec, MS} -> erltrace_agent_loads:is_mark(local, MS);
        _ -> false
    end.

still_ours(MFA, {meta, _, _}, #s{session = legacy}) ->
    lists:member(erlang:trace_info(MFA, meta), [{meta, ?TRACER}, {meta, undefined}]); % or not loaded
still_ours(MFA, {local, _, _} = Pattern, #s{session = legacy}) ->
    case erlang:trace_info(MFA, traced) of
        {traced, local} -> erlang:trace_info(MFA, match_spec) =:= {match_spec, match_spec(Pattern)};
        {traced, undefined} -> true; % not loaded
        _ -> false
    end;
still_ours(MFA, {global, _, _}, #s{session = legacy}) ->
    erlang:trace_info(MFA, traced) =:= {traced, global};
still_ours(_, _, _) ->
    true.

%% Whether nobody but us would use this one.
is_match_spec(MS) ->
    MS =:= match_spec({local, false, true}) orelse MS =:= match_spec({local, true, true}).

%% == code that was loaded: on all its functions are the patterns of erltrace_agent_loads =======================

%% Sets what was set on it before; a function that is not there any more does not matter. From Many functions on a whole module at
%% once: those that are too many go with the rest.
set_loaded(Patterns, Many, S) ->
    maps:foreach(fun({M, How}, [{First, _} | _] = L) ->
                     %% Before OTP 27 a local pattern is known to be ours by its look, and the rest must keep that of on_load.
                     Wild = How =:= meta orelse (How =:= local andalso S#s.session =/= legacy),
                     Same = lists:all(fun({P, _}) -> P =:= First end, L),
                     case Wild andalso Same andalso length(L) >= Many of
                         true ->
                             pattern({M, '_', '_'}, match_spec(First), How, S);
                         false ->
                             Functions = functions_of(M),
                             Groups = lists:foldl(fun({P, FA}, Acc) -> maps:update_with(P, fun(FAs) -> [FA | FAs] end, [FA], Acc) end, #{}, L),
                             [pattern(MFA, match_spec(P), How, S) || {P, FAs} <- maps:to_list(Groups), MFA <- spans(M, FAs, Functions)]
                     end
                 end, by_module(Patterns)).

%% The function keeps a meta pattern that does not look like one of on_load.
set_mark_off(MFA, #s{functions = Functions} = S) ->
    case Functions of
        #{MFA := {global, _, _}} -> 0;
        #{MFA := {meta, _, _} = P} -> pattern(MFA, match_spec(P), meta, S);
        #{} -> pattern(MFA, [], meta, S)
    end.

%% Lets functions of a module go that have patterns of this kind and that nobody wants so: `all` of them at once, if that can be, or one.
%% Code: `fresh` if code to come gets patterns of this kind, else `old`. -> those that are left
clear_loaded(M, all, Kind, Code, S) ->
    All = functions_of(M),
    case [FA || {F, A} = FA <- All, may_go({M, F, A}, Kind, S)] of
        All when All =/= [] -> clear_now({M, '_', '_'}, Kind, Code, S), [];
        Some -> Some
    end;
clear_loaded(M, [{F, A} | Left], Kind, Code, S) ->
    may_go({M, F, A}, Kind, S) andalso clear_now({M, F, A}, Kind, Code, S),
    Left.

clear_now(MFA, Kind, fresh, S) -> clear_fresh(MFA, Kind, S);
clear_now(MFA, Kind, old, S) -> clear_kind(MFA, Kind, S).

%% Before OTP 27 another tool may have the function by now.
may_go(MFA, Kind, #s{session = Session} = S) ->
    not erltrace_agent_loads:has(MFA, Kind, S) andalso (Session =/= legacy orelse is_loaded(Kind, MFA)).

%% Not when the module has been loaded again: that code is not to lose anything. If it is loaded just then it gets its mark back.
clear_fresh({M, _, _} = MFA, Kind, S) ->
    erltrace_agent_lib:breathe(), % here, so that the call comes right after the look
    Told = Kind =:= meta andalso not erltrace_agent_loads:is_new(M, S),
    case erltrace_agent_loads:is_fresh(M, S) of
        true ->
            0;
        false ->
            clear_kind(MFA, Kind, S),
            Told andalso erltrace_agent_loads:is_new(M, S) andalso pattern(MFA, erltrace_agent_loads:mark(meta), meta, S)
    end.

clear_kind(MFA, global, #s{global = Global}) -> Global =:= undefined orelse erltrace_agent_session:function(Global, MFA, false, [global]);
clear_kind(MFA, Kind, S) -> pattern(MFA, false, Kind, S).

is_loaded(meta, MFA) ->
    erlang:trace_info(MFA, meta) =:= {meta, ?TRACER};
is_loaded(local, MFA) ->
    case erlang:trace_info(MFA, match_spec) of
        {match_spec, MS} -> erltrace_agent_loads:is_mark(local, MS);
        undefined -> false
    end.

%% {return_trace} is never among these: it leaves a frame for every call.
match_spec({local, false, true}) -> [{'_', [], [{message, {caller}}]}];
match_spec({local, true, true}) -> [{'_', [], [{message, {caller}}, {exception_trace}]}];
match_spec({_, false, false}) -> [];
match_spec({meta, {first, Arity, Terms}, false}) -> [{[T | lists:duplicate(Arity - 1, '_')], [], []} || T <- Terms];
match_spec({_, true, false}) -> [{'_', [], [{exception_trace}]}].
