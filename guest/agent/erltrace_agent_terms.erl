%% erltrace_agent_terms - what programs may see of terms in this node.
%%
%% A node's operator has three places for settings: ERLTRACE_TERMS and ERLTRACE_REDACT in the VM's environment, `-erltrace terms off redact Globs`
%% among its arguments, and `terms` and `redact` in the environment of the application erltrace. Each hides terms, or values of keys, and none
%% brings back what another one hides. A value of `terms` that means neither on nor off hides terms as well, and so does an answer that does not
%% come. The library decides whether a program may run. This part collects the settings, and explains a refusal.
-module(erltrace_agent_terms).

-export([arguments/0, hidden/1, redacted/1, options/3, refused/2]).

-include("erltrace_agent.hrl").

-define(ANSWER, 1000).             % ms

%% Returns the settings among the VM's arguments. They do not change, and the process init, which has them, can be busy.
-spec arguments() -> [{Name :: string(), Value :: string()}].
arguments() ->
    case erltrace_agent_aside:each(fun init:get_argument/1, [erltrace], ?ANSWER, 1) of
        [{_, {ok, Groups}}] -> lists:append([pairs(G) || G <- Groups]);
        [{_, error}] -> [];
        [] -> [{"terms", "unknown"}]
    end.

pairs([Name, Value | More]) -> [{Name, Value} | pairs(More)];
pairs([Name]) -> [{Name, ""}];
pairs([]) -> [].

%% Returns the values of a setting, each with the words for its place.
settings(Name, Atom, Variable, #s{terms = Arguments}) ->
    [{Variable ++ " in its environment", V} || V <- [os:getenv(Variable)], V =/= false, V =/= ""] ++
    [{"its argument -erltrace " ++ Name, V} || {N, V} <- Arguments, N =:= Name] ++
    [{"the environment of its application erltrace", V} || {ok, V} <- [application:get_env(erltrace, Atom)]].

%% Returns which setting hides terms at present, if one does.
-spec hidden(#s{}) -> false | {true, binary()}.
hidden(S) ->
    case [Where || {Where, V} <- settings("terms", terms, "ERLTRACE_TERMS", S), not shows(V)] of
        [Where | _] -> {true, unicode:characters_to_binary(Where)};
        [] -> false
    end.

shows(Value) ->
    lists:member(Value, [on, true, "on", "true", "yes", "1", <<"on">>]).

%% Returns the patterns of keys whose values are hidden at present. (One that is no text makes the library refuse the program.)
-spec redacted(#s{}) -> [term()].
redacted(S) ->
    lists:append([globs(V) || {_, V} <- settings("redact", redact, "ERLTRACE_REDACT", S)]).

globs(V) when is_atom(V) -> globs(atom_to_list(V));
globs(V) ->
    try unicode:characters_to_binary(V) of
        Text when is_binary(Text) -> [G || G <- binary:split(Text, <<",">>, [global]), G =/= <<>>];
        _ -> [V]
    catch
        error:badarg -> [V]
    end.

%% Returns the options for nif_enable, with what the node's operator has set.
options(Options, Hidden, S) ->
    {Own, Rest} = case lists:keytake(redact, 1, Options) of
                      {value, {redact, L}, Others} when is_list(L) -> {lists:append([globs(V) || V <- L]), Others};
                      _ -> {[], Options}
                  end,
    [{redact, redacted(S) ++ Own}] ++ [{terms, 0} || Hidden =/= false] ++ Rest.

%% The error for a program that the library has refused.
refused(Text, {true, Where}) ->
    erltrace_agent_lib:error4('AGENT_TERMS', [Text, " by the node's operator: ", Where],
                              "leave it out: pids, names, sizes and times are shown; or ask the operator");
refused(Text, false) ->
    erltrace_agent_lib:error4('AGENT_TERMS', [Text, " by the option terms"], "leave it out").
