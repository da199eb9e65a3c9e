%% shop_customer - people: each is a process that asks for prices, orders, fetches what is in the store, pays, and goes home. One in fifty loses
%% its temper (crashes), since the shop is a real one.
-module(shop_customer).
-export([start_link/0, start_door/0, visit/0, door/1]).

start_link() -> {ok, proc_lib:spawn_link(?MODULE, visit, [])}.

%% The door lets in eight customers every 20 ms.
start_door() -> {ok, proc_lib:spawn_link(?MODULE, door, [20])}.

door(EveryMs) ->
    [{ok, _} = supervisor:start_child(shop_street, []) || _ <- lists:seq(1, 8)],
    receive after EveryMs -> ?MODULE:door(EveryMs) end.

visit() ->
    Wishes = [wish() || _ <- lists:seq(1, rand:uniform(4))],
    Invoices = [buy(Thing, Count) || {Thing, Count} <- Wishes, shop:price(Thing) < 10],
    go_home(Invoices, rand:uniform(50)).

wish() ->
    {lists:nth(rand:uniform(5), [apples, bread, candles, dates, elderberries]), rand:uniform(30)}.

buy(Thing, Count) ->
    case shop:order(Thing, Count) of
        {ok, Invoice} ->
            shop:carry(Thing),
            shop:pay(Count),
            Invoice;
        {sorry, _} -> <<>>
    end.

%% Reads the invoices aloud, which takes memory, and leaves one way or the other.
go_home(Invoices, 1) -> exit({too_expensive, length(Invoices)});
go_home(Invoices, _) -> length(binary:split(iolist_to_binary(Invoices), <<"\n">>, [global])).
