%% truth - programs that know what a profile of them has to show, for bench/profile-truth and bench/profile-systems.
%%
%% thirds   one process that a timer wakes each millisecond or two, and that works in a, b and c for the same processor time each.
%% kinds    five kinds of work in turn, which measure how long each takes.
%% points   two functions in turn: one calls itself without end, so it reaches a safe point often; the other seldom does.
%% timers, bursts, collecting, dirty, saturated   nodes of which it is asked how much of their processor time processes use.
-module(truth).
-export([load/1, clock/0, burn/1]).
-export([enabled/3, trace/5, traced/1, scheduled/0]).
-export([thirds/1, thirds_during/2, a/1, b/1, c/1]).
-export([kinds/0, took/0, plain/1, maps/1, lists/1, bifs/1, binaries/1, sum/2]).
-export([points/1, pair/2, often/1, seldom/1, during/2, by_process_info/3]).
-export([timers/1, timed/2, bursts/1, burst/2, collecting/0, dirty/1, saturated/1, accounted/1]).

-define(STEP(X), (((X) * 31 + 7) band 65535)).
-define(STEP4(X), ?STEP(?STEP(?STEP(?STEP(X))))).
-define(STEP16(X), ?STEP4(?STEP4(?STEP4(?STEP4(X))))).
-define(STEP64(X), ?STEP16(?STEP16(?STEP16(?STEP16(X))))).

%% Loads the library, path without its ".so".
load(Path) -> erlang:load_nif(Path, 0).

clock() -> erlang:nif_error(not_loaded).
burn(_) -> erlang:nif_error(not_loaded).
enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
scheduled() -> erlang:nif_error(not_loaded).

%% Whether scheduled/0 counts.
traced(How) -> is_integer(erlang:trace(all, How, [running, exiting, {tracer, ?MODULE, []}])).

%%% thirds

%% Starts the process, on the first scheduler, so that the clock of its thread is one clock. Us: processor time of each stage.
thirds(Us) ->
    ets:new(?MODULE, [named_table, public, ordered_set]),
    spawn_opt(fun() -> turns(Us * 1000, {0, 0, 0}) end, [{scheduler, 1}]).

turns(Ns, {A, B, C}) ->
    T0 = clock(), a(Ns),
    T1 = clock(), b(Ns),
    T2 = clock(), c(Ns),
    T3 = clock(),
    Sums = {A + T1 - T0, B + T2 - T1, C + T3 - T2},
    ets:insert(?MODULE, {os:system_time(nanosecond), T3, Sums}),
    receive never -> ok after 1 -> turns(Ns, Sums) end.

a(Ns) -> work(clock() + Ns), seen(a).
b(Ns) -> work(clock() + Ns), seen(b).
c(Ns) -> work(clock() + Ns), seen(c).

work(End) -> sum(200, 0), case clock() of Now when Now >= End -> ok; _ -> work(End) end.

%% (What is called before it keeps the frame of its caller.)
seen(X) -> put(seen, X).

%% Returns what the stages measured between two times of the system's clock, in ns: [A, B, C, of the thread].
thirds_during(From, To) ->
    Rows = ets:select(?MODULE, [{{'$1', '$2', '$3'}, [{'>=', '$1', From}, {'=<', '$1', To}], ['$_']}]),
    {_, Before, {A, B, C}} = hd(Rows),
    {_, After, {A1, B1, C1}} = lists:last(Rows),
    [A1 - A, B1 - B, C1 - C, After - Before].

%%% kinds

kinds() ->
    ets:new(?MODULE, [named_table, public]),
    [spawn(fun() -> kinds(I) end) || I <- lists:seq(1, erlang:system_info(schedulers_online))],
    ok.

kinds(I) ->
    [begin
         {Us, _} = timer:tc(?MODULE, F, [I]),
         ets:update_counter(?MODULE, F, Us, {F, 0})
     end || F <- [plain, maps, lists, bifs, binaries]],
    kinds(I).

%% Returns [[Kind, Us]].
took() -> [[F, Us] || {F, Us} <- ets:tab2list(?MODULE)].

plain(I) -> A = sum(60000, I), A + 1.

sum(0, X) -> X;
sum(N, X) -> sum(N - 1, (X * 31 + N) band 65535).

maps(I) -> M = fill(3000, #{}), map_size(M) + I.

fill(0, M) -> M;
fill(N, M) -> fill(N - 1, M#{N rem 30 => N}).

lists(I) -> L = short(60, lists:seq(1, 40), I), L + 1.

short(0, _, S) -> S;
short(N, L, S) -> short(N - 1, L, S + lists:sum(lists:map(fun(X) -> X + N end, L))).

bifs(I) -> hash(200, lists:seq(1, 300), 0) + I.

hash(0, _, S) -> S;
hash(N, L, S) -> hash(N - 1, L, S + erlang:phash2({N, L}) band 1).

binaries(I) -> B = build(2000, <<>>), byte_size(B) + I.

build(0, B) -> B;
build(N, B) -> build(N - 1, <<B/binary, N:32>>).

%%% points

%% Starts the process that works in often/1 for Share % of its processor time.
points(Share) ->
    ets:new(?MODULE, [named_table, public, ordered_set]),
    spawn_opt(fun() -> pair(Share, {0, 0}) end, [{scheduler, 1}]).

%% Each turn begins with what has more time to catch up, in pieces that take some microseconds.
pair(Share, {Often, Seldom}) ->
    T0 = clock(),
    case Often * (100 - Share) =< Seldom * Share of
        true -> often(20000), next(Share, {Often + clock() - T0, Seldom});
        false -> seldom(300), next(Share, {Often, Seldom + clock() - T0})
    end.

next(Share, {Often, Seldom} = Sums) ->
    Now = os:system_time(nanosecond),
    case get(last) of
        Last when is_integer(Last), Now - Last < 10000000 -> ok;
        _ -> put(last, Now), ets:insert(?MODULE, {Now, Often, Seldom})
    end,
    ?MODULE:pair(Share, Sums).

%% The same small step again and again: here each is a call, so that the process may stop at each of them ...
often(N) -> X = steps(N, 7), X + 1.

steps(0, X) -> X;
steps(N, X) -> steps(N - 1, ?STEP(X)).

%% ... and here only each 64th.
seldom(N) -> X = long_steps(N, 7), X + 1.

long_steps(0, X) -> X;
long_steps(N, X) -> long_steps(N - 1, ?STEP64(X)).

%% Returns [Often, Seldom] between two times of the system's clock, in ns.
during(From, To) ->
    Rows = ets:select(?MODULE, [{{'$1', '$2', '$3'}, [{'>=', '$1', From}, {'=<', '$1', To}], ['$_']}]),
    {_, O, S} = hd(Rows),
    {_, O1, S1} = lists:last(Rows),
    [O1 - O, S1 - S].

%% Samples a process N times, a millisecond apart, as profilers written in Erlang do. What: current_function or current_stacktrace.
%% Returns [From, To, often, seldom, elsewhere].
by_process_info(P, What, N) ->
    From = os:system_time(nanosecond),
    Found = by_process_info(P, What, N, []),
    To = os:system_time(nanosecond),
    Often = length([F || F <- Found, F =:= often]),
    Seldom = length([F || F <- Found, F =:= seldom]),
    [From, To, Often, Seldom, N - Often - Seldom].

by_process_info(_, _, 0, Found) -> Found;
by_process_info(P, What, N, Found) ->
    receive after 1 -> ok end,
    F = case process_info(P, What) of
            {_, MFA} when is_tuple(MFA) -> which([MFA]);
            {_, Stack} -> which(Stack)
        end,
    by_process_info(P, What, N - 1, [F | Found]).

which([]) -> other;
which([F | More]) ->
    case element(2, F) of
        X when X =:= often; X =:= steps -> often;
        X when X =:= seldom; X =:= long_steps -> seldom;
        _ -> which(More)
    end.

%%% nodes

%% N processes that a timer wakes, each with work of its own kind and length.
timers(N) ->
    [spawn(fun() -> timed(I rem 10, I) end) || I <- lists:seq(1, N)],
    ok.

timed(Kind, I) ->
    receive after 1 + I rem 5 -> ok end,
    task(Kind),
    ?MODULE:timed(Kind, I).

%% The same with more work at a time, and longer pauses.
bursts(N) ->
    [spawn(fun() -> burst(I rem 10, I) end) || I <- lists:seq(1, N)],
    ok.

burst(Kind, I) ->
    receive after 10 + I rem 40 -> ok end,
    many(20, Kind),
    ?MODULE:burst(Kind, I).

many(0, _) -> ok;
many(N, Kind) -> task(Kind), many(N - 1, Kind).

task(0) -> t0(400, 0);
task(1) -> t1(800, 0);
task(2) -> t2(1200, 0);
task(3) -> t3(1600, 0);
task(4) -> t4(2000, 0);
task(5) -> fill(60, #{});
task(6) -> lists:sum(lists:map(fun(X) -> X * 2 end, lists:seq(1, 300)));
task(7) -> lists:sort([N * 7919 rem 1009 || N <- lists:seq(1, 150)]);
task(8) -> lists:foldl(fun(X, A) -> (A * 31 + X) band 65535 end, 0, lists:seq(1, 500));
task(9) -> maps:fold(fun(_, V, A) -> V + A end, 0, maps:from_list([{N, N} || N <- lists:seq(1, 100)])).

t0(0, X) -> X; t0(N, X) -> t0(N - 1, (X * 31 + N) band 65535).
t1(0, X) -> X; t1(N, X) -> t1(N - 1, (X * 31 + N) band 65535).
t2(0, X) -> X; t2(N, X) -> t2(N - 1, (X * 31 + N) band 65535).
t3(0, X) -> X; t3(N, X) -> t3(N - 1, (X * 31 + N) band 65535).
t4(0, X) -> X; t4(N, X) -> t4(N - 1, (X * 31 + N) band 65535).

%% One large heap that is collected, with pauses: a dirty scheduler does that.
collecting() ->
    spawn(fun() -> collect(lists:seq(1, 2000000)) end),
    ok.

collect(L) ->
    erlang:garbage_collect(),
    receive after 20 -> ok end,
    collect(L).

%% A process that is in a dirty NIF for Us out of 20 ms more.
dirty(Us) ->
    spawn(fun F() -> burn(Us), receive after 20 -> ok end, F() end),
    ok.

saturated(N) ->
    [spawn(fun F() -> sum(10000, 0), F() end) || _ <- lists:seq(1, N)],
    ok.

%% What erlang:statistics(microstate_accounting) has, in ns, for each type of thread: [[Type, State, Ns]].
accounted(Threads) ->
    Sum = lists:foldl(fun(#{type := T, counters := C}, A) ->
                          maps:fold(fun(S, N, B) -> maps:update_with({T, S}, fun(O) -> O + N end, N, B) end, A, C)
                      end, #{}, Threads),
    [[T, S, erlang:convert_time_unit(N, perf_counter, nanosecond)] || {{T, S}, N} <- maps:to_list(Sum)].
