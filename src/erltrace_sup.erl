%% @private
%% erltrace_sup - the supervision tree:
%%
%%   erltrace_sup (one_for_one)
%%     erltrace_handle_sup (simple_one_for_one)
%%       a handle each, temporary: its port program, linked; its relays, linked
%%
%% A handle that dies is not started again: its owner has to know that its trace is gone.
-module(erltrace_sup).
-behaviour(supervisor).

-export([start_link/0, start_handle/2, handles/0, reap/1]).
-export([start_handles/0, init/1]).

-define(HANDLES, erltrace_handle_sup).
-define(SHUTDOWN, 5000). % ms for a handle to end its trace when the application stops

-spec start_link() -> supervisor:startlink_ret().
start_link() ->
    supervisor:start_link({local, ?MODULE}, ?MODULE, top).

-spec start_handles() -> supervisor:startlink_ret().
start_handles() ->
    supervisor:start_link({local, ?HANDLES}, ?MODULE, handles).

-spec start_handle(pid(), erltrace_handle:options()) -> {ok, pid()} | {error, term()}.
start_handle(Owner, Options) ->
    case supervisor:start_child(?HANDLES, [Owner, Options]) of
        {ok, Pid} when is_pid(Pid) -> {ok, Pid};
        {error, Reason} -> {error, Reason}
    end.

%% How many handles there are; of those that have just ended the supervisor may not have heard.
-spec handles() -> non_neg_integer().
handles() ->
    length([P || P <- children(), is_process_alive(P)]).

children() ->
    [P || {_, P, _, _} <- supervisor:which_children(?HANDLES), is_pid(P)].

%% Ends this owner's handles whose trace is over. (Programs for the first erltrace did not close handles: those were collected as garbage.)
-spec reap(pid()) -> ok.
reap(Owner) ->
    Monitors = [{erlang:monitor(process, H), erltrace_handle:call(H, {reap, Owner})} || H <- children()],
    lists:foreach(fun({Monitor, over}) -> receive {'DOWN', Monitor, process, _, _} -> ok end;
                     ({Monitor, _}) -> erlang:demonitor(Monitor, [flush])
                  end, Monitors).

-spec init(top | handles) -> {ok, {supervisor:sup_flags(), [supervisor:child_spec()]}}.
init(top) ->
    {ok, {#{strategy => one_for_one}, [#{id => ?HANDLES, start => {?MODULE, start_handles, []}, type => supervisor}]}};
init(handles) ->
    {ok, {#{strategy => simple_one_for_one},
          [#{id => handle, start => {erltrace_handle, start_link, []}, restart => temporary, shutdown => ?SHUTDOWN}]}}.
