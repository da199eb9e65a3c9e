%% erltrace_agent_patterns - trace patterns of functions: in the legacy session before OTP 27, in a session of ours from then on.
%%
%% A function with somebody else's tracer is left alone and reported. One call of trace_pattern takes as long for a module as for
%% a function, so a module of which all functions are wanted is set at once.
-module(erltrace_agent_patterns).

-export([add_patterns/2, set_again/2, remove_patterns/2, remove_at_once/1, still_ours/3, owner_of/2, is_match_spec/1, globals/2]).
-export([set_loaded/3, set_globals/3, set_mark_off/2, clear_loaded/4]).

-import(erltrace_agent_lib, [text/2, owner/1, names/1, functions_of/1]).

-include("erltrace_agent.hrl").

-define(AT_ONCE, 8).               % modules from which on their patterns are cleared with those of all others

%% Sets what is not set yet. -> {what is set then, warnings}
add_patterns(Patterns, #s{functions = Have} = S) ->
    New = erltrace_agent_lib:filter(fun(MFA, P) ->
                                        case Have of
                                            #{MFA := P} -> false;
                                            #{} -> true
                                        end
                                    end, Patterns),
    {Foreign, Free} = foreign(New, S),
    Missed = maps:fold(fun({M, Pattern}, FAs, Acc) -> set_patterns(M, Pattern, FAs, S) ++ Acc end,
                       [], by_module(Free)),
    Set = maps:without(maps:keys(Foreign), Patterns), % those that are not there may come back
    {Set,
     [text("~b function~s traced by ~s and left alone: ~s",
           [length(Fs), case Fs of [_] -> " is"; _ -> "s are" end, Owner, names(Fs)])
      || {Owner, Fs} <- maps:to_list(by_owner(Foreign))] ++
     [text("~b function~s not there any more: ~s",
           [length(Missed), case Missed of [_] -> " is"; _ -> "s are" end, names(Missed)]) || Missed =/= []]}.

by_owner(Foreign) ->
    maps:fold(fun(MFA, Owner, Acc) ->
                  maps:update_with(Owner, fun(L) -> [MFA | L] end, [MFA], Acc)
              end, #{}, Foreign).

by_module(Patterns) ->
    erltrace_agent_lib:fold(fun({M, F, A}, Pattern, Acc) ->
                                maps:update_with({M, Pattern}, fun(L) -> [{F, A} | L] end, [{F, A}], Acc)
                            end, #{}, Patterns).

%% The functions that somebody else traces in a way that ours would replace: {#{MFA => Owner}, the rest}.
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
%% Likewise of a global pattern of ours; a meta pattern of somebody else would go.
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
    maps:foreach(fun({M, Pattern}, FAs) -> set_patterns(M, Pattern, FAs, S) end, by_module(Patterns)).

%% -> functions that are not there
set_patterns(M, {How, _, _} = Pattern, FAs, S) ->
    MS = match_spec(Pattern),
    Sorted = lists:usort(FAs),
    case length(Sorted) > 1 andalso functions_of(M) =:= Sorted of
        true ->
            pattern({M, '_', '_'}, MS, How, S),
            [];
        false ->
            [{M, F, A} || {F, A} <- Sorted, pattern({M, F, A}, MS, How, S) =:= 0]
    end.

pattern(MFA, MS, meta, #s{session = legacy}) ->
    erlang:trace_pattern(MFA, MS, [{meta, ?AGENT, ?STATE}]);
pattern(MFA, MS, local, #s{session = legacy}) ->
    erlang:trace_pattern(MFA, MS, [local]);
pattern(MFA, MS, global, #s{session = legacy}) ->
    erlang:trace_pattern(MFA, MS, [global]);
pattern(MFA, MS, How, #s{session = Session}) ->
    erltrace_agent_session:function(Session, MFA, MS, [How]).

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
    maps:foreach(fun({M, global}, FAs) -> set_globals(Session, M, FAs, How) end,
                 by_module(maps:map(fun(_, true) -> global end, MFAs))).

set_globals(Session, M, FAs, How) ->
    Sorted = lists:usort(FAs),
    case length(Sorted) > 1 andalso functions_of(M) =:= Sorted of
        true -> erltrace_agent_session:function(Session, {M, '_', '_'}, How, [global]);
        false -> [erltrace_agent_session:function(Session, {M, F, A}, How, [global]) || {F, A} <- Sorted]
    end.

remove_patterns(Gone, S) ->
    maps:foreach(fun({M, Pattern}, FAs) -> clear_patterns(M, Pattern, FAs, S) end, by_module(Gone)).

%% Before OTP 27, when all that is ours is to go: a pattern takes as long to clear as those of all modules, which on a busy node is
%% milliseconds each. So those of a kind go at once if there are many, and no function has one of somebody else. What is left after this
%% has to be cleared in other ways. Functions: what we have set, as it is in #s.functions; all meta patterns that bear our name go in any case.
-spec remove_at_once(#{mfa() => pattern()}) -> ok.
remove_at_once(Functions) when map_size(Functions) >= ?AT_ONCE ->
    [at_once(How, map_size(Modules)) || {How, Modules} <- alone(Functions)],
    ok;
remove_at_once(_) ->
    ok.

at_once(How, N) when N >= ?AT_ONCE ->
    erlang:trace_pattern({'_', '_', '_'}, false, [How]);
at_once(_, _) ->
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
                       #{MFA := {local, _, _} = Pattern} -> still_ours(MFA, Pattern, #s{session = legacy});
                       #{} -> false
                   end,
            if Ours -> Modules#{M => true};
               true -> foreign
            end;
        _ -> Modules
    end.

clear_patterns(M, {How, _, _} = Pattern, FAs, S) ->
    All = functions_of(M),
    Ours = [FA || {F, A} = FA <- lists:usort(FAs), still_ours({M, F, A}, Pattern, S)],
    case length(Ours) > 1 andalso Ours =:= All of
        true -> clear({M, '_', '_'}, How, S);
        false -> [clear({M, F, A}, How, S) || {F, A} <- Ours]
    end,
    ok.

clear(MFA, How, #s{session = legacy}) ->
    erlang:trace_pattern(MFA, false, [How]);
clear(MFA, How, #s{session = Session}) ->
    erltrace_agent_session:function(Session, MFA, false, [How]).

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
%% once: those that are too many are let go with the rest.
set_loaded(Patterns, Many, S) ->
    Groups = by_module(Patterns),
    maps:foreach(fun({M, {How, _, _} = Pattern}, FAs) ->
                     MS = match_spec(Pattern),
                     Others = [x || {Mod, {H, _, _} = P} <- maps:keys(Groups), Mod =:= M, H =:= How, P =/= Pattern],
                     %% Before OTP 27 a local pattern is known to be ours by its look, and the rest must keep that of on_load.
                     Wild = How =:= meta orelse (How =:= local andalso S#s.session =/= legacy),
                     case Wild andalso Others =:= [] andalso length(FAs) >= Many of
                         true -> pattern({M, '_', '_'}, MS, How, S);
                         false -> [pattern({M, F, A}, MS, How, S) || {F, A} <- FAs]
                     end
                 end, Groups).

%% The function keeps a meta pattern that does not look like one of on_load.
set_mark_off(MFA, #s{functions = Functions} = S) ->
    case Functions of
        #{MFA := {global, _, _}} -> 0;
        #{MFA := {meta, _, _} = P} -> pattern(MFA, match_spec(P), meta, S);
        #{} -> pattern(MFA, [], meta, S)
    end.

%% Lets functions of a module go that have patterns of this kind and that nobody wants so: `all` of them at once, if that can be, or one.
%% -> those that are left
clear_loaded(M, all, Kind, S) ->
    All = functions_of(M),
    case [FA || {F, A} = FA <- All, may_go({M, F, A}, Kind, S)] of
        All when All =/= [] -> clear_fresh({M, '_', '_'}, Kind, S), [];
        Some -> Some
    end;
clear_loaded(M, [{F, A} | Left], Kind, S) ->
    may_go({M, F, A}, Kind, S) andalso clear_fresh({M, F, A}, Kind, S),
    Left.

%% Before OTP 27 somebody else may have the function by now.
may_go(MFA, Kind, #s{session = Session} = S) ->
    not erltrace_agent_loads:has(MFA, Kind, S) andalso (Session =/= legacy orelse is_loaded(Kind, MFA)).

%% Not when the module has been loaded anew: that code is not to lose anything.
clear_fresh({M, _, _} = MFA, Kind, #s{global = Global} = S) ->
    case {erltrace_agent_loads:is_fresh(M, S), Kind} of
        {true, _} -> 0;
        {false, global} -> Global =:= undefined orelse erltrace_agent_session:function(Global, MFA, false, [global]);
        {false, _} -> clear(MFA, Kind, S)
    end.

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
