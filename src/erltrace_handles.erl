%% @private
%% erltrace_handles - starts the handles, and ends them when the application stops.
%%
%% It takes the place of a supervisor, because a supervisor logs each child that is killed, and tracing must leave nothing in an operator's
%% log.
%%
%% What always holds:
%%  * Every handle is linked to this process. No handle is restarted: its owner has to know that its trace is gone.
-module(erltrace_handles).
-behaviour(gen_server).

-export([start_link/0, start_handle/2, count/0, reap/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2]).

-define(SHUTDOWN, 5000). % ms for the handles to end their traces when the application stops

-type handles() :: #{pid() => []}.

-spec start_link() -> {ok, pid()} | {error, term()}.
start_link() ->
    case gen_server:start_link({local, ?MODULE}, ?MODULE, [], []) of
        {ok, Pid} -> {ok, Pid};
        ignore -> {error, ignore};
        {error, _} = Error -> Error
    end.

-spec start_handle(pid(), erltrace_handle:options()) -> {ok, pid()} | {error, term()}.
start_handle(Owner, Options) ->
    gen_server:call(?MODULE, {start, Owner, Options}, infinity).

%% Returns the number of handles.
-spec count() -> non_neg_integer().
count() ->
    length(living()).

living() ->
    [P || P <- gen_server:call(?MODULE, handles, infinity), is_process_alive(P)].

%% Ends this owner's handles whose trace is over. (Programs for the first erltrace did not close handles: those were collected as garbage.)
-spec reap(pid()) -> ok.
reap(Owner) ->
    Monitors = [{erlang:monitor(process, H), erltrace_handle:call(H, {reap, Owner})} || H <- living()],
    lists:foreach(fun({Monitor, over}) -> receive {'DOWN', Monitor, process, _, _} -> ok end;
                     ({Monitor, _}) -> erlang:demonitor(Monitor, [flush])
                  end, Monitors).

-spec init([]) -> {ok, handles()}.
init([]) ->
    process_flag(trap_exit, true),
    {ok, #{}}.

-spec handle_call(term(), gen_server:from(), handles()) -> {reply, term(), handles()}.
handle_call({start, Owner, Options}, _, Handles) ->
    case erltrace_handle:start(Owner, Options) of
        {ok, Pid} = Ok -> {reply, Ok, Handles#{Pid => []}};
        {error, _} = Error -> {reply, Error, Handles}
    end;
handle_call(handles, _, Handles) ->
    {reply, maps:keys(Handles), Handles};
handle_call(_, _, Handles) ->
    {reply, {error, request}, Handles}.

-spec handle_cast(term(), handles()) -> {noreply, handles()}.
handle_cast(_, Handles) ->
    {noreply, Handles}.

-spec handle_info(term(), handles()) -> {noreply, handles()}.
handle_info({'EXIT', Pid, _}, Handles) ->
    {noreply, maps:remove(Pid, Handles)};
handle_info(_, Handles) ->
    {noreply, Handles}.

-spec terminate(term(), handles()) -> ok.
terminate(_, Handles) ->
    Monitors = [{P, erlang:monitor(process, P)} || P <- maps:keys(Handles)],
    lists:foreach(fun({P, _}) -> exit(P, shutdown) end, Monitors),
    Late = erlang:start_timer(?SHUTDOWN, self(), shutdown),
    lists:foreach(fun(M) -> ended(M, Late) end, Monitors).

ended({Pid, Monitor}, Late) ->
    receive
        {'DOWN', Monitor, process, _, _} -> ok;
        {timeout, Late, shutdown} ->
            self() ! {timeout, Late, shutdown}, % for those after it as well
            exit(Pid, kill),
            ok
    end.
