%% erltrace_agent_load - what programs cost: the dead-man, and the reports for consumers.
%%
%% The library measures, and ends a program that takes too much of a scheduler from inside the event that detects it (guest/beam/deadman/load.h).
%% This module notices it moments later and removes everything that only that program needed. Its consumer is told with its next reading,
%% and then stops the program as usual: END runs, and what was collected is read.
-module(erltrace_agent_load).

-export([start/1, look/1, last/1]).

-include("erltrace_agent.hrl").

-define(LOOK, 100).                % ms between two checks whether a program was ended
-define(MARK, 1000).               % ms for which a mark is good: a report covers the last seconds
-define(TOP, 10).                  % probes in a report

%% enum load_from of guest/beam/deadman/load.h.
-define(BEFORE, 0).
-define(SINCE_MARK, 1).
-define(SINCE_START, 2).

%% A consumer's program begins to run.
start(#s{looking = true} = S) -> S;
start(S) -> again(S).

again(S) ->
    erlang:send_after(?LOOK, self(), load),
    S#s{looking = true}.

look(#s{consumers = Cs} = S) ->
    Now = erltrace_agent_lib:now_ms(),
    ok = ?AGENT:nif_stolen(),
    case [look(erltrace_agent_counts:read(always, C, S), Now) || #c{phase = running, over = false} = C <- maps:values(Cs)] of
        [] ->
            S#s{looking = false};
        Looked ->
            S1 = S#s{consumers = maps:merge(Cs, maps:from_list([{C#c.pid, C} || C <- Looked]))},
            again(case [C || #c{over = true} = C <- Looked] of
                      [] -> S1;
                      _ ->
                          {_, S2} = erltrace_agent_needs:apply_needs(S1),
                          S2
                  end)
    end.

look(#c{program = P, stats = Stats, marked = Marked, loads = Loads} = C, Now) ->
    Period = if Stats > 0 -> Stats;
                true -> ?MARK
             end,
    case ?AGENT:nif_status(P) of
        {overload, _} ->
            report(overload, ?BEFORE, C#c{over = true, needs = 0, wants = #{}, hooks = []});
        {false, _} when Marked =:= undefined ->
            C#c{marked = Now + Period};
        {false, _} when Now >= Marked, Stats > 0, Loads =:= [] ->
            report(stats, ?SINCE_MARK, C#c{marked = max(Marked + Period, Now)});
        {false, _} when Now >= Marked, Stats =:= 0 ->
            _ = ?AGENT:nif_load(P, 0, ?SINCE_MARK),
            C#c{marked = Now + Period};
        _ ->
            C
    end.

%% The program no longer fires: reports its total cost.
last(C) ->
    report(total, ?SINCE_START, C).

report(Why, From, #c{program = P, loads = Loads} = C) ->
    C#c{loads = Loads ++ [{Why, ?AGENT:nif_load(P, ?TOP, From)}]}.
