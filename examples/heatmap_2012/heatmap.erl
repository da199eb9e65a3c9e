%% heatmap - a program as it was written for the first erltrace: open, compile, go; then, each second, walk, and turn what that second has
%% added into a new column of a heat map; stop. It uses nothing that erltrace has gained since.
%%
%%   erlc heatmap.erl && ERL_LIBS=... erl -noshell -s heatmap main SCRIPT.d SECONDS
%%
%% A script has one aggregation, an lquantize() with a string as its key; the distributions of all keys are added up. The newest column is
%% on the right, the lowest row at the bottom; higher counts have darker characters.
-module(heatmap).

-export([main/1, start/2, work/0]).

-define(ROWS, 16).

main([Script, Seconds]) ->
    {ok, Text} = file:read_file(atom_to_list(Script)),
    Columns = start(binary_to_list(Text), list_to_integer(atom_to_list(Seconds))),
    [io:format("|~s|~n", [[shade(element(Row, C)) || C <- Columns]]) || Row <- lists:seq(?ROWS, 1, -1)],
    halt(case [C || C <- Columns, lists:sum(tuple_to_list(C)) > 0] of [] -> 1; _ -> 0 end).

start(Script, Seconds) ->
    spawn(?MODULE, work, []),
    {ok, Handle} = erltrace:open(),
    ok = erltrace:compile(Handle, Script),
    ok = erltrace:go(Handle),
    {ok, Timer} = timer:send_interval(1000, tick),
    Columns = loop(Handle, Seconds, []),
    {ok, cancel} = timer:cancel(Timer),
    ok = erltrace:stop(Handle),
    Columns.

loop(_, 0, Columns) ->
    lists:reverse(Columns);
loop(Handle, Seconds, Columns) ->
    receive
        tick ->
            case erltrace:walk(Handle) of
                {ok, Result} ->
                    Bands = [{list_to_binary(Call), [[S, E, N] || {{S, E}, N} <- Buckets]} || {_, [Call], Buckets} <- Result],
                    loop(Handle, Seconds - 1, [column(Bands) | Columns]);
                ok ->
                    loop(Handle, Seconds - 1, [column([]) | Columns]);
                Other ->
                    io:format("Error: ~p~n", [Other]),
                    erltrace:stop(Handle),
                    lists:reverse(Columns)
            end
    end.

column(Bands) ->
    lists:foldl(fun([From, _, N], Column) ->
                        Row = max(1, min(?ROWS, From div 4 + 1)),
                        setelement(Row, Column, element(Row, Column) + N)
                end, erlang:make_tuple(?ROWS, 0), lists:append([B || {_, B} <- Bands])).

shade(0) -> $\s;
shade(N) when N < 10 -> $.;
shade(N) when N < 100 -> $o;
shade(_) -> $#.

%% Work for the script to measure.
work() ->
    _ = lists:map(fun(X) -> X * X end, lists:seq(1, rand:uniform(2000))),
    _ = ets:info(ets:new(heatmap, [])),
    receive after 2 -> ok end,
    work().
