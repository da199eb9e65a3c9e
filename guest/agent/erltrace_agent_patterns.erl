%% erltrace_agent_patterns - trace patterns of functions: in the legacy session before OTP 27, in a session of the agent's from then on.
%%
%% A function with another tool's tracer is left alone and reported. Each call that sets or clears a pattern waits for all schedulers, which
%% takes a tenth of a second on a busy node, for one function as for all of them: only the number of these calls matters. So the functions of a
%% module, and those of all modules, are set and cleared together wherever the result is the same (set/3, clear_module/4, remove_at_once/1).
-module(erltrace_agent_patterns).

-export([add_patterns/2, set_again/2, back/4, no_longer/2, remove_patterns/2, remove_all/2, remove_at_once/1, still_ours/3, owner_of/2, is_match_spec/1, globals/2]).
-export([set_loaded/3, set_globals/3, set_mark_off/2, clear_loaded/5, pattern/4, legacy/3, spans/3]).

-import(erltrace_agent_lib, [text/2, owner/1, names/1, functions_of/1]).

-include("erltrace_agent.hrl").

-define(AT_ONCE, 8).               % at least this many modules have their patterns cleared with those of all others (which costs a look at all functions)

%% Sets what is not set yet. -> {what is then set, warnings}; if it fails, nothing has changed.
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
    Set = maps:without(maps:keys(Foreign), Patterns), % functions that are not there may come back
    {Set,
     [text("~b function~s traced by ~s and left alone: ~s",
           [length(Fs), case Fs of [_] -> " is"; _ -> "s are" end, Owner, names(Fs)])
      || {Owner, Fs} <- maps:to_list(by_owner(Foreign))] ++
     [text("~b function~s no longer there: ~s",
           [length(Missed), case Missed of [_] -> " is"; _ -> "s are" end, names(Missed)]) || Missed =/= []]}.

%% Goes back from New, or a part of it, to what was set before: Have. The patterns of Hooks stay in any case.
back(New, Have, Hooks, S) ->
    remove_patterns(erltrace_agent_hooks:without(no_longer(New, Have), Hooks), S),
    set_again(erltrace_agent_lib:filter(fun(MFA, {How, _, _} = Was) ->
                                            case New of
                                                #{MFA := {How, _, _} = Is} -> Is =/= Was;
                                                #{} -> false
                                            end
                                        end, Have), S).

%% The patterns of Old that are not in New, or are there of another kind.
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

%% The functions that another tool traces in a way that our pattern would replace: {#{MFA => Owner}, the rest}.
foreign(New, #s{session = legacy, functions = Have} = S) ->
    Owner = fun(MFA, {How, _, _}) ->
                Ours = case Have of
                           #{MFA := {How, _, _}} -> true;
                           #{MFA := Was} when How =:= global; element(1, Was) =:= global -> still_ours(MFA, Was, S);
                           #{} -> false
                       end,
                case Ours of
                    true -> nobody; % a global pattern and any other one replace each other
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

%% The owner of a function, or `nobody`. Two tools cannot share a function in the legacy session: neither two meta tracers, nor two patterns.
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
                true -> nobody; % just loaded
                false -> <<"another tool (a local trace pattern)">>
            end;
        _ -> not_global(MFA)
    end;
%% The same for a global pattern of ours, which would replace a meta pattern of another tool.
owner_of(MFA, global) ->
    case erlang:trace_info(MFA, meta) of
        {meta, {_, _} = Other} when Other =/= ?TRACER -> owner(Other);
        {meta, Pid} when is_pid(Pid) -> owner(Pid);
        _ ->
            case erlang:trace_info(MFA, traced) of
                {traced, How} when How =/= false -> text("another tool (a ~p trace pattern)", [How]);
                _ -> nobody
            end
    end.

%% A global pattern and any other one exclude each other.
not_global(MFA) ->
    case erlang:trace_info(MFA, traced) of
        {traced, global} -> <<"another tool (a global trace pattern)">>;
        _ -> nobody
    end.

%% Sets patterns that were set before.
set_again(Patterns, S) ->
    _ = set(Patterns, Patterns, S),
    ok.

%% == setting, in as few calls as possible ======================================================================

%% Sets New, which is part of all that is wanted. -> functions that do not exist
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

%% Whether every function of every module is to have the same pattern. (The agent's own module gets it as well: no process that can be traced
%% runs it, and the pattern goes with those of the others, or with the module.)
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

%% Whether all functions of a module are to have this pattern: those of L get it now, the others have it.
wholly(M, How, Pattern, Functions, L, All, S) ->
    {Same, Others} = lists:partition(fun({P, _}) -> P =:= Pattern end, L),
    Others =:= [] andalso
        lists:all(fun({F, A}) -> has({M, F, A}, How, Pattern, All, S) end, Functions -- [FA || {_, FA} <- Same]).

%% Whether a function has a pattern that is wanted, and the pattern is still ours: then it can be set again.
has(MFA, How, Pattern, All, S) ->
    case All of
        #{MFA := Pattern} when element(1, Pattern) =:= How -> still_ours(MFA, Pattern, S);
        #{} -> false
    end.

%% Sets the patterns of one module and kind: function by function, or all at once and then the exceptions, whichever takes fewer calls.
%% -> functions that do not exist
set_module(M, How, L, All, S) ->
    Functions = functions_of(M),
    Known = maps:from_keys(Functions, true),
    {There, Missed} = lists:partition(fun({_, FA}) -> is_map_key(FA, Known) end, L),
    Groups = lists:foldl(fun({P, FA}, Acc) -> maps:update_with(P, fun(FAs) -> [FA | FAs] end, [FA], Acc) end, #{}, There),
    Exact = [{MFA, match_spec(P, MFA)} || {P, FAs} <- maps:to_list(Groups), MFA <- spans(M, FAs, Functions)],
    Calls = case length(Exact) > 1 andalso at_once(M, How, Groups, Functions, All, S) of
                [_ | _] = Fewer when length(Fewer) < length(Exact) -> Fewer;
                _ -> Exact
            end,
    [{M, F, A} || {_, {F, A}} <- Missed] ++
        [MFA || {{_, F, A} = MFA, MS} <- Calls, pattern(MFA, MS, How, S) =:= 0, MS =/= false, F =/= '_', A =/= '_'].

%% The calls that set a pattern on the whole module and then correct the exceptions; [] if that would touch what another tool has there.
at_once(_, global, _, _, _, _) ->
    [];
at_once(M, How, Groups, Functions, All, S) ->
    {_, Major, FAs} = lists:max([{length(FAs), P, FAs} || {P, FAs} <- maps:to_list(Groups)]),
    Others = lists:append(maps:values(maps:remove(Major, Groups))),
    Rest = [{F, A} || {F, A} <- (Functions -- FAs) -- Others, not has({M, F, A}, How, Major, All, S)],
    %% A BIF is never cleared without need: other sessions would stop getting its calls (OTP 27 and 28).
    case 2 * length(Rest) < length(Functions) andalso
         lists:all(fun({F, A}) -> bare({M, F, A}, How, S) andalso not erlang:is_builtin(M, F, A) end, Rest) of
        true ->
            [{{M, '_', '_'}, match_spec(Major)}] ++
            [{MFA, match_spec(P, MFA)} || {P, Some} <- maps:to_list(maps:remove(Major, Groups)), MFA <- spans(M, Some, Functions)] ++
            [{MFA, false} || MFA <- spans(M, Rest, Functions)];
        false ->
            []
    end.

%% A short list of terms that name just these functions of a module.
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

%% Whether a function has no pattern of that kind, in this session.
bare(MFA, meta, #s{session = legacy}) -> is_none(erlang:trace_info(MFA, meta)) andalso erlang:trace_info(MFA, traced) =/= {traced, global};
bare(MFA, _, #s{session = legacy}) -> is_none(erlang:trace_info(MFA, traced));
bare(MFA, meta, #s{session = Session}) -> is_none(erltrace_agent_session:info(Session, MFA, meta));
bare(MFA, _, #s{session = Session}) -> is_none(erltrace_agent_session:info(Session, MFA, traced)).

is_none({_, false}) -> true;
is_none(_) -> false.

%% Sets a pattern, or clears it (MS is false); all calls go through here. -> number of functions
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

%% Every call in the legacy session goes through here, so that it is counted.
legacy(MFA, MS, Flags) ->
    erltrace_agent_lib:pattern_call(),
    erlang:trace_pattern(MFA, MS, Flags).

%% Makes the patterns of the second session those of the functions in Want. It never has other flags than `call` and `arity`: two sessions that
%% trace collections crash the VM.
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
    set_globals(maps:filter(fun(MFA, Args) -> maps:get(MFA, Have, none) =/= Args end, Want), true, S),
    set_globals(maps:without(maps:keys(Want), Have), false, S),
    S#s{globals = Want}.

%% Sets (true) or clears the patterns of these functions.
set_globals(MFAs, On, #s{global = Session}) ->
    {With, Without} = lists:partition(fun({_, Args}) -> Args =:= args end, maps:to_list(MFAs)),
    [maps:foreach(fun({M, global}, L) ->
                      [erltrace_agent_session:function(Session, MFA, On andalso match_spec({global, false, Args}), [global])
                       || MFA <- spans(M, [FA || {_, FA} <- L], functions_of(M))]
                  end, by_module(maps:from_list([{MFA, {global, false, Args}} || {MFA, _} <- Some])))
     || {Args, Some} <- [{args, With}, {false, Without}], Some =/= []],
    ok.

%% == clearing ==================================================================================================

remove_patterns(Gone, S) ->
    erltrace_agent_meanwhile:expect(functions, map_size(Gone)),
    maps:foreach(fun({M, How}, L) -> clear_module(M, How, L, S) end, by_module(Gone)).

%% Before OTP 27: clears all that is ours, in maps like #s.functions, and what code got when it was loaded.
remove_all(Maps, S) ->
    remove_at_once(lists:foldl(fun maps:merge/2, #{}, Maps)),
    [remove_patterns(Patterns, S) || Patterns <- Maps],
    _ = erltrace_agent_others:sweep_loaded(erltrace_agent_others:functions()),
    ok.

%% Before OTP 27, when all that is ours is to be cleared: clearing one pattern takes as long as clearing those of all modules, which on a busy
%% node is milliseconds each. So the patterns of a kind are cleared at once if there are many and no function has one of another tool. What is
%% left after this has to be cleared in other ways. Functions: what we have set, in the form of #s.functions; all meta patterns that bear our
%% name are cleared in any case.
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

%% [{kind, modules that have patterns of it}] for the kinds of which no other tool has a pattern.
alone(Functions) ->
    %% Takes some milliseconds without a breath, so that nothing else comes in between.
    Kinds = lists:foldl(fun(M, Acc) -> lists:foldl(fun({F, A}, A1) -> alone({M, F, A}, Functions, A1) end, Acc, functions_of(M)) end,
                        [{meta, #{}}, {local, #{}}], erlang:loaded()),
    [K || {_, #{}} = K <- Kinds].

alone(MFA, Functions, [{meta, Meta}, {local, Local}]) ->
    [{meta, meta_alone(MFA, Meta)}, {local, local_alone(MFA, Functions, Local)}].

meta_alone(_, foreign) -> foreign;
meta_alone({M, _, _} = MFA, Modules) ->
    case erlang:trace_info(MFA, meta) of
        {meta, ?TRACER} -> Modules#{M => true};
        {meta, Nobody} when Nobody =:= false; Nobody =:= undefined; Nobody =:= [] -> Modules; % [] when its tracer is gone
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

%% Clears the patterns of a module, all at once if no other tool has one of that kind there.
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

%% Whether code got its local pattern when it was loaded.
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

%% Whether no other tool would use this match specification.
is_match_spec(MS) ->
    lists:any(fun(P) -> MS =:= match_spec(P) end, [{local, E, C} || E <- [false, true], C <- [true, args]] ++ [{global, false, args}] ++
                                                  [{local, E, {follow, C}} || E <- [false, true], C <- [false, true, args]]).

%% == code that was loaded: all its functions have the patterns of erltrace_agent_loads ==========================

%% Sets the patterns that its functions had before; functions that no longer exist do not matter. If a module has at least Many of them, it is
%% set as a whole: patterns of functions that should have none are cleared with the rest.
set_loaded(Patterns, Many, S) ->
    maps:foreach(fun({M, How}, [{First, _} | _] = L) ->
                     %% Before OTP 27 a local pattern is recognized as ours by its match specification, and the other functions must keep that of
                     %% on_load.
                     Wild = How =:= meta orelse (How =:= local andalso S#s.session =/= legacy),
                     Same = lists:all(fun({P, _}) -> P =:= First end, L),
                     case Wild andalso Same andalso length(L) >= Many of
                         true ->
                             pattern({M, '_', '_'}, match_spec(First), How, S);
                         false ->
                             Functions = functions_of(M),
                             Groups = lists:foldl(fun({P, FA}, Acc) -> maps:update_with(P, fun(FAs) -> [FA | FAs] end, [FA], Acc) end, #{}, L),
                             [pattern(MFA, match_spec(P, MFA), How, S) || {P, FAs} <- maps:to_list(Groups), MFA <- spans(M, FAs, Functions)]
                     end
                 end, by_module(Patterns)).

%% Gives the function a meta pattern that differs from that of on_load.
set_mark_off(MFA, #s{functions = Functions} = S) ->
    case Functions of
        #{MFA := {global, _, _}} -> 0;
        #{MFA := {meta, _, _} = P} -> pattern(MFA, match_spec(P, MFA), meta, S);
        #{} -> pattern(MFA, [], meta, S)
    end.

%% Clears patterns of this kind on functions of a module that no program wants: `all` of them at once, if possible, or one. Code: `fresh` if code
%% to come gets patterns of this kind, else `old`. -> functions that are left
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

%% Does nothing if the module has been loaded again: that code must keep its patterns. If it is loaded at that very moment, it gets its mark
%% back.
clear_fresh({M, _, _} = MFA, Kind, S) ->
    erltrace_agent_lib:breathe(), % here, so that the call comes right after the check
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

%% The same for the functions that a term names: filters depend on their arities.
match_spec({meta, {filter, Conds}, false}, MFA) -> erltrace_agent_filters:match_spec(Conds, arities(MFA));
match_spec(Pattern, _) -> match_spec(Pattern).

arities({'_', _, _}) -> any;
arities({M, '_', '_'}) -> lists:usort([A || {_, A} <- functions_of(M)]);
arities({M, F, '_'}) -> lists:usort([A || {N, A} <- functions_of(M), N =:= F]);
arities({_, _, A}) -> [A].

%% {return_trace} is never used: it leaves a frame for every call.
%%
%% follow(): the VM gives the caller a token of seq_trace unless it has one. The label is a pid of this node, which is in its word: the VM
%% copies no part of a label that a match specification makes.
match_spec({How, Exceptions, {follow, Caller}}) ->
    Body = case match_spec({How, Exceptions, Caller}) of
               [] -> [];
               [{'_', [], B}] -> B
           end,
    [{'_', [{'not', {is_seq_trace}}], [{set_seq_token, label, {self}}, {set_seq_token, send, true}, {set_seq_token, 'receive', true} | Body]},
     {'_', [], Body}];
match_spec({local, false, true}) -> [{'_', [], [{message, {caller}}]}];
match_spec({local, true, true}) -> [{'_', [], [{message, {caller}}, {exception_trace}]}];
match_spec({_, false, args}) -> [{'_', [], [{message, {{{caller}, '$_'}}}]}];
match_spec({_, true, args}) -> [{'_', [], [{message, {{{caller}, '$_'}}}, {exception_trace}]}];
match_spec({_, false, false}) -> [];
match_spec({meta, {first, Arity, Terms}, false}) -> [{[T | lists:duplicate(Arity - 1, '_')], [], []} || T <- Terms];
match_spec({meta, {filter, _}, false} = Pattern) -> match_spec(Pattern, {'_', '_', '_'});
match_spec({_, true, false}) -> [{'_', [], [{exception_trace}]}].
