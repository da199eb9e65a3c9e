%% erltrace_agent_hooks - functions whose calls are named probes (guest/beam/probe/hooks.h): dyntrace:user_trace_i4s4/9, ets:insert/2 and so on.
%%
%% Each has a meta pattern, which carries the arguments and needs no process flags. If the function already has a meta pattern for its entry
%% or exception probes, that one serves; a local pattern, for returns, does not, and then both are set.
%%
%% What always holds: #s.hooks are the patterns that this module has set. A function that does not exist (yet) is tried again at each check
%% of the server, as code may be loaded at any time.
-module(erltrace_agent_hooks).

-export([prepare/1, add/3, remove/3, restore/3, without/2, guarded/2, watch/1]).

-import(erltrace_agent_lib, [text/2, names/1]).

-include("erltrace_agent.hrl").

-define(LOADED, 500).              % ms that the code server has to load a module

%% Prepares the probes of a program and their functions, before they are set. -> warnings
%% Behaviours are not loaded for a probe: a node that uses one loads it, and watch/1 notices that.
prepare(Probes) ->
    Modules = lists:usort([M || {_, Fs, _} <- Probes, {M, _, _} <- Fs, M =/= gen_server, M =/= gen_statem]),
    Asked = erltrace_agent_aside:each(fun code:ensure_loaded/1, [M || M <- Modules, not erlang:module_loaded(M)], ?LOADED, 1),
    [text("~s ~p~s: ~s will fire when that is loaded",
          [What, M, why(M), lists:join(", ", lists:sort([Name || {Name, Fs, _} <- Probes, lists:keymember(M, 1, Fs)]))])
     || M <- Modules, not erlang:module_loaded(M),
        What <- case lists:keyfind(M, 1, Asked) of
                    {_, {module, _}} -> [];
                    {_, {error, _}} -> ["this node has no module"];
                    false -> ["the code server does not answer, and has not loaded"]
                end].

why(dyntrace) -> " (its release has no runtime_tools)";
why(_) -> "".

wanted(Consumers) ->
    First = lists:foldl(fun({MFA, F}, Acc) -> maps:update_with(MFA, fun(G) -> either(F, G) end, F, Acc) end, #{},
                        [{MFA, F} || #c{hooks = Probes} <- Consumers, {_, Fs, F} <- Probes, MFA <- Fs]),
    maps:map(fun(_, any) -> {meta, false, false};
                ({_, _, A}, Terms) -> {meta, {first, A, lists:usort(Terms)}, false}
             end, First).

either(any, _) -> any;
either(_, any) -> any;
either(F, G) -> F ++ G.

%% Sets what these consumers want and what Functions, the patterns of function probes, do not provide.
%% -> {hooks that are then set, warnings}
add(Consumers, Functions, #s{hooks = Have} = S) ->
    Wanted = maps:filter(fun(MFA, _) -> exists(MFA) end, without(wanted(Consumers), Functions)),
    erltrace_agent_patterns:add_patterns(Wanted, S#s{functions = Have}).

%% Clears what was set and is no longer in Hooks or is served by Functions.
remove(Hooks, Functions, #s{hooks = Have} = S) ->
    erltrace_agent_patterns:remove_patterns(maps:without(maps:keys(Hooks), without(Have, Functions)), S).

%% When a BIF loses one of two patterns, the VM (before OTP 29) also forgets the other: sets that one again.
restore(Hooks, Functions, #s{hooks = HadHooks, functions = Had} = S) ->
    erltrace_agent_patterns:set_again(lost(HadHooks, Hooks, Functions), S),
    erltrace_agent_patterns:set_again(lost(Had, Functions, Hooks), S).

%% The patterns in Others of BIFs that were in Old but are not in New.
lost(Old, New, Others) ->
    maps:filter(fun(MFA, _) -> is_map_key(MFA, Old) andalso not is_map_key(MFA, New) andalso is_bif(MFA) end, Others).

%% The patterns that are set or about to be set.
guarded(Consumers, #s{hooks = Have}) ->
    maps:merge(Have, wanted(Consumers)).

%% The patterns that do not conflict with a meta pattern in Others.
without(Patterns, Others) ->
    maps:filter(fun(MFA, {How, _, _}) ->
                    case Others of
                        #{MFA := {meta, _, _}} -> How =/= meta;
                        #{} -> true
                    end
                end, Patterns).

exists(MFA) ->
    erlang:trace_info(MFA, meta) =/= {meta, undefined}.

%% After code was loaded: sets what could not be set before, and from OTP 27 on what went with old code. Before OTP 27, another tool may
%% have cleared it: then it stays cleared. -> {what to complain of, state}
watch(#s{session = undefined} = S) -> % no program runs, or the session was destroyed
    {[], S#s{hooks = #{}}};
watch(#s{hooks = Have, functions = Functions, consumers = Cs, session = Session} = S) ->
    Wanted = without(wanted([C || #c{phase = running} = C <- maps:values(Cs)]), Functions),
    Missing = maps:filter(fun(MFA, _) -> exists(MFA) andalso not is_set(MFA, S) end, Wanted),
    {New, Gone} = case Session of
                      legacy -> {maps:without(maps:keys(Have), Missing), maps:with(maps:keys(Have), Missing)};
                      _ -> {Missing, #{}}
                  end,
    {[{{hooks, Gone}, text("the trace patterns of ~s are gone (another tool cleared them, or the module was reloaded): their probes "
                           "no longer fire; start the trace again", [names(maps:keys(Gone))])} || map_size(Gone) > 0],
     case map_size(New) of
         0 -> S;
         _ ->
             {Set, _} = erltrace_agent_patterns:add_patterns(New, S#s{functions = #{}}),
             S#s{hooks = maps:merge(Have, Set)}
     end}.

is_set(MFA, #s{session = legacy}) ->
    erlang:trace_info(MFA, meta) =:= {meta, ?TRACER};
is_set(MFA, #s{session = Session, has = Has}) ->
    {meta, M} = erltrace_agent_session:info(Session, MFA, meta),
    M =/= false andalso M =/= undefined andalso not (?HAS(Has, ?OTP_BIFS_LOST) andalso is_bif(MFA)).

%% OTP 27 and 28: when any session removes its pattern from a BIF, all other sessions stop getting its calls, although their patterns are
%% still set.
is_bif({M, F, A}) ->
    erlang:is_builtin(M, F, A).
