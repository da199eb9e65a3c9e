%% shop_store - the room behind the shop. Who fetches something from it waits until somebody has walked there and back; once a
%% minute the stock is counted for some seconds, and then everybody waits longer and longer.
-module(shop_store).
-behaviour(gen_server).
-export([start_link/0, fetch/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(EVERY_S, 60).
-define(FOR_S, 10).

start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

fetch(Thing) -> gen_server:call(?MODULE, {fetch, Thing}).

%% The first count begins half a minute after the shop has opened.
init([]) -> {ok, now_s() - ?EVERY_S div 2}.

handle_call({fetch, Thing}, From, Opened) ->
    _ = erlang:send_after(walk(now_s() - Opened), self(), {back, From, Thing}),
    {noreply, Opened}.

handle_cast(_, Opened) -> {noreply, Opened}.

handle_info({back, From, Thing}, Opened) ->
    gen_server:reply(From, {fetched, Thing}),
    {noreply, Opened};
handle_info(_, Opened) -> {noreply, Opened}.

walk(Open) ->
    case Open rem ?EVERY_S of
        Second when Second < ?FOR_S, Open >= ?EVERY_S -> 8 + 14 * Second + rand:uniform(20);
        _ -> 2 + rand:uniform(3)
    end.

now_s() -> erlang:monotonic_time(second).
