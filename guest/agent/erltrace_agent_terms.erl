%% erltrace_agent_terms - what programs may see of terms in this node.
%%
%% A node's operator has three places for settings: ERLTRACE_TERMS and ERLTRACE_REDACT in the VM's environment, `-erltrace terms off redact Globs`
%% among its arguments, and `terms` and `redact` in the environment of the application erltrace. Each hides terms, or values of keys, and none
%% brings back what another one hides. A value of `terms` that means neither on nor off hides terms as well, and so does an answer that does not
%% come. The library decides whether a program may run. This part collects the settings, and explains a refusal.
-module(erltrace_agent_terms).

-export([arguments/0, hidden/1, redacted/1, globs/1, options/3, refused/2]).

-include("erltrace_agent.hrl").

-define(ANSWER, 1000).             % ms

%% Returns the settings among the VM's arguments. They do not change, and the process init, which has them, can be busy.
-spec arguments() -> [{Name :: string(), Value :: string() | no_value}].
arguments() ->
    case erltrace_agent_aside:each(fun init:get_argument/1, [erltrace], ?ANSWER, 1) of
        [{_, {ok, Groups}}] -> lists:append([pairs(G) || G <- Groups]);
        [{_, error}] -> [];
        [] -> [{"terms", "unknown"}]
    end.

pairs([Name, Value | More]) -> [{Name, Value} | pairs(More)];
pairs([Name]) -> [{Name, no_value}];
pairs([]) -> [].

%% Returns the values of a setting, each with the words for its place.
settings(Name, Atom, Variable, #s{terms = Arguments}) ->
    [{Variable ++ " in its environment", V} || V <- [os:getenv(Variable)], V =/= false, V =/= ""] ++
    [{"its argument -erltrace " ++ Name, V} || {N, V} <- Arguments, N =:= Name] ++
    [{"the environment of its application erltrace", V} || {ok, V} <- [application:get_env(erltrace, Atom)]].

%% Returns which setting hides terms at present, if one does.
-spec hidden(#s{}) -> false | {true, binary()}.
hidden(S) ->
    case [Where || {Where, V} <- settings("terms", terms, "ERLTRACE_TERMS", S), not shows(V)] ++
         [Where ++ ", which cannot be read" || {Where, V} <- redact(S), globs(V) =:= unreadable]
    of
        [Where | _] -> {true, unicode:characters_to_binary(Where)};
        [] -> false
    end.

shows(Value) ->
    lists:member(Value, [on, true, "on", "true", "yes", "1", <<"on">>]).

redact(S) -> settings("redact", redact, "ERLTRACE_REDACT", S).

%% Returns the patterns of keys whose values are hidden at present. A setting that cannot be read hides all terms: hidden/1.
-spec redacted(#s{}) -> [binary()].
redacted(S) ->
    lists:append([L || {_, V} <- redact(S), L <- [globs(V)], L =/= unreadable]).

%% Reads globs: a text of them with commas between, each or all of them in quotes or not, as OTP wants texts among its arguments; a list of such
%% texts, also written as one. Blanks around a glob are not part of it.
-spec globs(term()) -> [binary()] | unreadable.
globs(V) when is_atom(V), V =/= no_value -> globs(atom_to_binary(V));
globs([]) -> [];
globs(V) when is_binary(V) ->
    case unicode:characters_to_binary(V) of
        V -> text_globs(string:trim(V));
        _ -> unreadable
    end;
globs([C | _] = V) when is_integer(C) ->
    try unicode:characters_to_binary(V) of
        Text when is_binary(Text) -> globs(Text);
        _ -> unreadable
    catch
        error:badarg -> unreadable
    end;
globs(V) when is_list(V) ->
    try lists:append([case globs(One) of unreadable -> throw(unreadable); L -> L end || One <- V])
    catch
        throw:unreadable -> unreadable;
        error:_ -> unreadable % the list has no proper end
    end;
globs(_) -> unreadable.

%% What stands in brackets as a whole is a list, also of words without quotes, and not a set of characters.
text_globs(Text) ->
    case re:run(Text, <<"^\\[\\s*([\"'<].*|[^][]*)\\]$">>, [{capture, [1], binary}, dotall]) of
        {match, [Inner]} -> written(Inner);
        nomatch -> written(Text)
    end.

%% Reads globs from a text: it is made of commas, blanks, quoted texts and words without quotes.
written(Text) ->
    Quoted = <<"<<\\s*\"([^\"]*)\"\\s*(?:/utf8\\s*)?>>|\"([^\"]*)\"|'([^']*)'|([^\\s,\"'](?:[^,\"]*[^\\s,\"])?)">>,
    Word = <<"\\s*(?:", Quoted/binary, ")?\\s*">>,
    case re:run(Text, <<"^", Word/binary, "(?:,", Word/binary, ")*$">>, [{capture, none}, dotall]) of
        match ->
            Found = case re:run(Text, Quoted, [global, dotall, {capture, all_but_first, binary}]) of {match, Words} -> Words; nomatch -> [] end,
            case [G || Groups <- Found, One <- Groups, Part <- binary:split(One, <<",">>, [global]), G <- [string:trim(Part)], G =/= <<>>] of
                [] -> unreadable;
                L -> case lists:all(fun is_glob/1, L) of true -> L; false -> unreadable end
            end;
        nomatch -> unreadable
    end.

%% A text with half a set in it, or with braces, was meant to be something else: [a,b or {a}. As a glob it would match no key.
is_glob(Text) ->
    re:run(Text, <<"^(?:\\\\.|\\[!?\\]?[^]]+\\]|[^][{}\\\\])*$">>, [{capture, none}, dotall]) =:= match.

%% Returns the options for nif_enable, with what the node's operator has set. (The library refuses a pattern that is no text.)
options(Options, Hidden, S) ->
    {Own, Rest} = case lists:keytake(redact, 1, Options) of
                      {value, {redact, L}, Others} when is_list(L) -> {lists:append([own(globs(V)) || V <- L]), Others};
                      _ -> {[], Options}
                  end,
    [{redact, redacted(S) ++ Own}] ++ [{terms, 0} || Hidden =/= false] ++ Rest.

own(unreadable) -> [unreadable];
own(Globs) -> Globs.

%% The error for a program that the library has refused.
refused(Text, {true, Where}) ->
    erltrace_agent_lib:error4('AGENT_TERMS', [Text, " by the node's operator: ", Where],
                              "leave it out: pids, names, sizes and times are shown; or ask the operator");
refused(Text, false) ->
    erltrace_agent_lib:error4('AGENT_TERMS', [Text, " by the option terms"], "leave it out").
