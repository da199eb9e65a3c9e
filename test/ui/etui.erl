%% etui - servers whose numbers are known, for the tests of the browser page.
%%
%% Of 20 calls of a sleeper 14 take 1 ms, 5 take 10 ms, 1 takes 100 ms; in time order they are spread. A busy machine makes sleeps longer,
%% so each call is measured here, too.
-module(etui).
-export([sleepers/2, told/1, rounds/2, one/1, ten/1, hundred/1, paced/1, walk/2, step/1, burners/2, burnt/1, short/1, long/1]).

%% So many workers begin so many rounds of 20 calls each; told/1 waits until they are through.
sleepers(Workers, Rounds) ->
    Counts = counters:new(9, []),
    {Counts, [spawn_monitor(?MODULE, rounds, [Rounds, Counts]) || _ <- lists:seq(1, Workers)]}.

%% How many calls of one/1, ten/1 and hundred/1 took less than 2^23 ns, less than 2^26, and longer: three lists of three. This clock may run
%% slower than another one, by at most a hundredth, so what is near to a limit counts as longer.
told({Counts, Workers}) ->
    [receive {'DOWN', Ref, _, _, normal} -> ok end || {_, Ref} <- Workers],
    [[counters:get(Counts, 3 * F + Band) || Band <- [1, 2, 3]] || F <- [0, 1, 2]].

rounds(0, _) -> ok;
rounds(N, Counts) ->
    [turn(F, Counts) || F <- [one, one, one, ten, one, one, one, ten, one, one, ten, one, one, one, ten, hundred, one, one, ten, one]],
    ?MODULE:rounds(N - 1, Counts).

turn(F, Counts) ->
    Began = erlang:monotonic_time(nanosecond),
    Which = case F of
                one -> ok = ?MODULE:one(1), 0;
                ten -> ok = ?MODULE:ten(10), 3;
                hundred -> ok = ?MODULE:hundred(100), 6
            end,
    counters:add(Counts, Which + class(erlang:monotonic_time(nanosecond) - Began), 1).

class(Ns) when Ns < (1 bsl 23) * 0.98 -> 1;
class(Ns) when Ns < (1 bsl 26) * 0.98 -> 2;
class(_) -> 3.

one(Ms) -> receive after Ms -> ok end.
ten(Ms) -> receive after Ms -> ok end.
hundred(Ms) -> receive after Ms -> ok end.

%% N calls of step/1 in a process of their own, three in 5 ms at the most, so that they are spread over some seconds.
paced(N) -> spawn(?MODULE, walk, [0, N]).

walk(N, N) -> ok;
walk(I, N) ->
    _ = ?MODULE:step(I),
    receive after (case I rem 3 of 0 -> 5; _ -> 0 end) -> ok end,
    ?MODULE:walk(I + 1, N).

step(I) -> I band 7.

%% A process that calls short/1 and long/1 N times in turn, the second with three times the work, which is done in another module.
burners(N, Work) ->
    Spent = counters:new(2, []),
    {spawn(fun() -> register(etui_burner, self()), [[burn(F, Work, Spent) || F <- [short, long]] || _ <- lists:seq(1, N)] end), Spent}.

burn(F, Work, Spent) ->
    Began = erlang:monotonic_time(nanosecond),
    {ok, Which} = case F of
                      short -> {?MODULE:short(Work), 1};
                      long -> {?MODULE:long(Work), 2}
                  end,
    counters:add(Spent, Which, erlang:monotonic_time(nanosecond) - Began).

%% How long it was in each, in ns, when it has ended.
burnt({Pid, Spent}) ->
    Ref = monitor(process, Pid),
    receive {'DOWN', Ref, process, _, _} -> ok end,
    [counters:get(Spent, 1), counters:get(Spent, 2)].

short(Work) -> true = lists:sum(lists:seq(1, Work)) > 0, ok.

long(Work) ->
    [true = lists:sum(lists:seq(1, Work)) > 0 || _ <- [1, 2, 3]],
    ok.
