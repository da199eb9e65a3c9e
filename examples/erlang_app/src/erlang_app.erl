%% erlang_app - works, and asks erltrace how long the work takes: for two seconds a script watches every call of work/1 in this node, and
%% the resulting quantize() is printed as bars. Then the node ends.
-module(erlang_app).
-behaviour(application).

-export([start/0, start/2, stop/1, worker/0, work/1, ask/0]).

-define(SCRIPT, "
erlang*:erlang_app:work/1:entry  { self->began = timestamp; }
erlang*:erlang_app:work/1:return /self->began/
{
    @took[\"work/1, ns\"] = quantize(timestamp - self->began);
    self->began = 0;
}").

start() ->
    {ok, _} = application:ensure_all_started(?MODULE),
    ok.

start(_, _) ->
    _ = spawn_link(fun ask/0),
    {ok, spawn_link(fun worker/0)}.

stop(_) ->
    ok.

worker() ->
    _ = work(rand:uniform(300)),
    receive after 1 -> worker() end.

work(N) ->
    Sum = lists:sum([X * X || X <- lists:seq(1, N)]),
    Sum rem 7.

ask() ->
    case erltrace:run(?SCRIPT, 2000) of
        {ok, #{aggregations := [{"took", [{quantize, [Name], Buckets}]}]}} ->
            io:format("~s~n", [Name]),
            [io:format("~10b .. ~-10b ~6b ~s~n", [From, To, N, bar(N, Buckets)]) || {{From, To}, N} <- Buckets],
            erlang:halt(0);
        Other ->
            io:format("~ts~n", [erltrace:format_error(Other)]),
            erlang:halt(1)
    end.

bar(N, Buckets) ->
    lists:duplicate(40 * N div lists:sum([C || {_, C} <- Buckets]), $@).
