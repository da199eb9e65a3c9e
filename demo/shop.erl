%% shop - a gen_server with a stock of things and their prices. It sells, restocks and writes invoices.
-module(shop).
-behaviour(gen_server).
-export([start_link/0, price/1, order/2, carry/1, pay/1, bring/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(THINGS, [{apples, 2}, {bread, 4}, {candles, 7}, {dates, 5}, {elderberries, 11}]).

start_link() -> gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

%% What one of these costs, `unknown` if the shop never had any.
price(Thing) -> gen_server:call(?MODULE, {price, Thing}).

%% Buys: {ok, Invoice} or {sorry, HowManyAreLeft}.
order(Thing, Count) -> gen_server:call(?MODULE, {order, Thing, Count}).

%% What is large has to be fetched from the store.
carry(Thing) when Thing =:= candles; Thing =:= dates ->
    {fetched, Thing} = shop_store:fetch(Thing),
    Thing;
carry(Thing) -> Thing.

%% Most have a card, which is quick; some look for coins.
pay(Count) ->
    receive after case rand:uniform(8) of 1 -> 60 + 4 * Count; _ -> 1 end -> ok end.

%% A delivery.
bring(Thing, Count) -> gen_server:cast(?MODULE, {bring, Thing, Count}).

init([]) ->
    {ok, #{stock => maps:from_list([{T, 1000} || {T, _} <- ?THINGS]), sold => 0}}.

handle_call({price, Thing}, _From, State) ->
    {reply, look_up(Thing), State};
handle_call({order, Thing, Count}, {Customer, _}, State) ->
    {Answer, Next} = sell(Thing, Count, Customer, State),
    {reply, Answer, Next}.

handle_cast({bring, Thing, Count}, State) ->
    {noreply, stock(Thing, Count, State)}.

handle_info(_, State) -> {noreply, State}.

look_up(Thing) ->
    proplists:get_value(Thing, ?THINGS, unknown).

sell(Thing, Count, Customer, #{stock := Stock, sold := Sold} = State) ->
    case Stock of
        #{Thing := Left} when Left >= Count ->
            Invoice = invoice(Thing, Count, Customer, Sold),
            {{ok, Invoice}, stock(Thing, -Count, State#{sold := Sold + 1})};
        #{Thing := Left} ->
            %% Sold out: the next delivery is ordered at once.
            bring(Thing, 1000),
            {{sorry, Left}, State}
    end.

stock(Thing, Count, #{stock := Stock} = State) ->
    State#{stock := maps:update_with(Thing, fun(N) -> N + Count end, Stock)}.

%% One line for each piece: the long orders are the slow ones.
invoice(Thing, Count, Customer, Number) ->
    Lines = [line(N, Thing) || N <- lists:seq(1, Count)],
    iolist_to_binary([io_lib:format("invoice ~b for ~p~n", [Number, Customer]) | Lines]).

line(N, Thing) ->
    io_lib:format("~3b  ~s ~b~n", [N, Thing, look_up(Thing)]).
