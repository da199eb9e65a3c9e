%% erltrace_agent_terms - whether programs may look into terms in this node.
%%
%% Each of three settings of the node's operator hides terms, and none brings back what another one hides: ERLTRACE_TERMS in the VM's
%% environment, `-erltrace terms off` among its arguments, and `terms` in the environment of the application erltrace. A value that means
%% neither on nor off hides them as well, and so does an answer that does not come. The library refuses the program; this only says why.
-module(erltrace_agent_terms).

-export([arguments/0, hidden/1, option/1, refused/2]).

-include("erltrace_agent.hrl").

-define(ANSWER, 1000).             % ms

%% Returns the settings among the VM's arguments. They do not change, and the process init, which has them, can be busy.
-spec arguments() -> [string()].
arguments() ->
    case erltrace_agent_aside:each(fun init:get_argument/1, [erltrace], ?ANSWER, 1) of
        [{_, {ok, Groups}}] -> lists:append([values(G) || G <- Groups]);
        [{_, error}] -> [];
        [] -> ["unknown"]
    end.

%% "-erltrace a 1 terms off" has pairs of a name and a value.
values(["terms", Value | More]) -> [Value | values(More)];
values(["terms"]) -> [""];
values([_, _ | More]) -> values(More);
values(_) -> [].

%% Returns which setting hides terms at present, if one does.
-spec hidden(#s{}) -> false | {true, binary()}.
hidden(#s{terms = Arguments}) ->
    Environment = [V || V <- [os:getenv("ERLTRACE_TERMS")], V =/= false, V =/= ""],
    Application = [V || {ok, V} <- [application:get_env(erltrace, terms)]],
    case [Where || {Where, Values} <- [{"ERLTRACE_TERMS in its environment", Environment},
                                       {"its argument -erltrace terms", Arguments},
                                       {"the environment of its application erltrace", Application}],
                   not lists:all(fun shows/1, Values)] of
        [Where | _] -> {true, unicode:characters_to_binary(Where)};
        [] -> false
    end.

shows(Value) ->
    lists:member(Value, [on, true, "on", "true", "yes", "1", <<"on">>]).

%% The option for nif_enable.
option(false) -> [];
option({true, _}) -> [{terms, 0}].

%% The error for a program that the library has refused.
refused(Text, {true, Where}) ->
    erltrace_agent_lib:error4('AGENT_TERMS', text(Text, "by the node's operator: ", Where),
                              "leave it out: pids, names, sizes and times are shown; or ask the operator");
refused(Text, false) ->
    erltrace_agent_lib:error4('AGENT_TERMS', text(Text, "by the option terms", ""), "leave it out").

text(Text, Who, Where) -> [Text, " ", Who, Where].
