%% etchoice - which of its tests a suite in Erlang runs: applies what choice.sh read from the command line to the names of the tests.
-module(etchoice).
-export([tests/2]).

%% Returns those of {Name, Test} pairs whose name contains one of the patterns. Ends the node after --list, and if a pattern matches
%% nothing.
tests(Suite, Found) ->
    Patterns = string:lexemes(os:getenv("TEST_PATTERNS", ""), "\n"),
    [nothing(Suite, P) || P <- Patterns, matches(P, Found) =:= []],
    Names = lists:append([matches(P, Found) || P <- Patterns]),
    Kept = [{Name, Test} || {Name, Test} <- Found, Patterns =:= [] orelse lists:member(Name, Names)],
    case os:getenv("TEST_LIST", "") of
        "" ->
            Kept;
        _ ->
            [io:format("~ts~n", [Name]) || {Name, _} <- Kept],
            halt(0)
    end.

%% A pattern that is the whole name of a test chooses no other test.
matches(Pattern, Found) ->
    case lists:keymember(Pattern, 1, Found) of
        true -> [Pattern];
        false -> [Name || {Name, _} <- Found, string:find(Name, Pattern) =/= nomatch]
    end.

nothing(Suite, Pattern) ->
    io:format(standard_error, "~s: no test has '~ts' in its name; test/run ~s --list prints the names~n", [Suite, Pattern, Suite]),
    halt(2).
