%% agent_state - what a test asks of the server's state, whose record shares names with what tests have of their own.
-module(agent_state).
-export([lets_go/1]).

-include("erltrace_agent.hrl").

%% Whether the server has something left to do of letting functions go, and hears others meanwhile.
lets_go(Server) ->
    #s{loads = #loads{doing = Doing}} = sys:get_state(Server),
    Doing =/= none.
