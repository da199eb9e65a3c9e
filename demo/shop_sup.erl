%% shop_sup - the demo's workload: a shop, a street full of customers, and what keeps both going.
%%
%%   shop_sup ---- shop            the gen_server with the stock
%%            \--- shop_store      the room behind it
%%            \--- shop_street     a simple_one_for_one supervisor: one process for each customer inside
%%            \--- shop_door       lets customers in, a few hundred a second
-module(shop_sup).
-behaviour(supervisor).
-export([start/0, start_link/1, init/1]).

%% Starts everything under a process of its own, as `erl -s shop_sup` wants it.
start() ->
    Self = self(),
    spawn(fun() ->
        {ok, _} = start_link(all),
        Self ! open,
        receive closed -> ok end
    end),
    receive open -> ok end.

start_link(all) -> supervisor:start_link({local, ?MODULE}, ?MODULE, all);
start_link(street) -> supervisor:start_link({local, shop_street}, ?MODULE, street).

init(all) ->
    {ok, {#{strategy => one_for_one, intensity => 1000, period => 1},
          [#{id => shop, start => {shop, start_link, []}},
           #{id => shop_store, start => {shop_store, start_link, []}},
           #{id => shop_street, start => {?MODULE, start_link, [street]}, type => supervisor},
           #{id => shop_door, start => {shop_customer, start_door, []}}]}};
init(street) ->
    {ok, {#{strategy => simple_one_for_one, intensity => 1000, period => 1},
          [#{id => customer, start => {shop_customer, start_link, []}, restart => temporary}]}}.
