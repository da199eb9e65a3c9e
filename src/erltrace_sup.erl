%% @private
%% erltrace_sup - the supervision tree:
%%
%%   erltrace_sup (one_for_one)
%%     erltrace_handles
%%       a handle each, linked: its port program, linked; its relays, linked
-module(erltrace_sup).
-behaviour(supervisor).

-export([start_link/0, init/1]).

-define(SHUTDOWN, 10000). % ms: more than erltrace_handles gives the handles

-spec start_link() -> supervisor:startlink_ret().
start_link() ->
    supervisor:start_link({local, ?MODULE}, ?MODULE, []).

-spec init([]) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init([]) ->
    {ok, {#{strategy => one_for_one},
          [#{id => erltrace_handles, start => {erltrace_handles, start_link, []}, shutdown => ?SHUTDOWN}]}}.
