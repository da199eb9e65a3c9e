%% @private
%% erltrace_relay - the end of a relay in this node: an agent, here or in another node of the cluster, sees it as its consumer; it passes
%% messages between the agent and the port program (doc/port-protocol.md, "The relay").
%%
%% What always holds:
%%  * It is linked to its handle, and monitors the port; when one of them ends, it ends as well, and the agent, which watches it, undoes
%%    everything. (From that monitor the agent knows which port must not be traced.)
%%  * However it ends, nothing is logged (erltrace_handle says why the handle is not its parent).
%%  * It sends no sign of life by itself: if the program falls silent, the agent hears nothing.
%%  * It never blocks. Calls are made by processes that are not linked to it, and are not interrupted.
-module(erltrace_relay).
-behaviour(gen_server).

-export([start/4, frame/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-record(s, {
    handle :: pid(),
    number :: 0..255,
    node :: node(),
    own :: boolean(), % Node is the node of this relay
    unsent = [] :: [{pid(), term()}] % messages for the agent, oldest first
}).

-define(RETRY, 10). % ms until a message that did not fit into a connection is sent again

-spec start(pid(), port(), 0..255, node()) -> {ok, pid()} | {error, term()}.
start(Handle, Port, Number, Node) ->
    case gen_server:start(?MODULE, {Handle, Port, Number, Node}, []) of
        {ok, Pid} -> {ok, Pid};
        ignore -> {error, ignore};
        {error, _} = Error -> Error
    end.

%% Passes on what the program has sent to this relay; `done': the program has closed the relay.
-spec frame(pid(), {term, term()} | done) -> ok.
frame(Relay, Frame) ->
    gen_server:cast(Relay, {frame, Frame}).

-spec init({pid(), port(), 0..255, node()}) -> {ok, #s{}}.
init({Handle, Port, Number, Node}) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    process_flag(trap_exit, true),
    link(Handle), % if it is gone already, it exits with noproc
    _ = erlang:monitor(port, Port),
    {ok, #s{handle = Handle, number = Number, node = Node, own = Node =:= node()}}.

-spec handle_call(term(), gen_server:from(), #s{}) -> {reply, {error, request}, #s{}}.
handle_call(_, _, S) ->
    {reply, {error, request}, S}.

-spec handle_cast(term(), #s{}) -> {noreply, #s{}} | {stop, shutdown, #s{}}.
handle_cast({frame, done}, S) ->
    {stop, shutdown, S};
handle_cast({frame, {term, {call, Ref, Module, Function, Args}}}, S) ->
    call(Ref, Module, Function, Args, S),
    {noreply, S};
handle_cast({frame, {term, {link, Pid}}}, S) when is_pid(Pid) ->
    link(here(Pid, S)), % trapping exits: never an error, a process that is gone exits with noproc
    {noreply, S};
handle_cast({frame, {term, {send, Pid, Message}}}, #s{unsent = Unsent} = S) when is_pid(Pid) ->
    S1 = S#s{unsent = Unsent ++ [{here(Pid, S), signed(Message)}]},
    {noreply, case Unsent of [] -> flush(S1); _ -> S1 end};
handle_cast(_, S) ->
    {noreply, S}.

-spec handle_info(term(), #s{}) -> {noreply, #s{}} | {stop, shutdown, #s{}}.
handle_info(Message, S) when element(1, Message) =:= erltrace -> % anything that an agent sends
    {noreply, up({message, Message}, S)};
handle_info({called, _, {badrpc, {nodedown, _}}}, S) -> % there was no connection, and none can be made
    {noreply, up({lost, not_connected(S)}, S)};
handle_info({called, Ref, Result}, S) ->
    {noreply, up({reply, Ref, Result}, S)};
handle_info(flush, S) ->
    {noreply, flush(S)};
handle_info({'DOWN', _, port, _, _}, S) ->
    {stop, shutdown, S};
handle_info({'EXIT', Handle, _}, #s{handle = Handle} = S) ->
    {stop, shutdown, S};
handle_info({'EXIT', Pid, noconnection}, #s{node = Node} = S) when is_pid(Pid) ->
    {noreply, up({lost, unicode:characters_to_binary(io_lib:format("the connection of ~s to ~s is down", [node(), Node]))}, S)};
handle_info({'EXIT', Pid, _}, S) when is_pid(Pid) ->
    {noreply, up({down, Pid}, S)};
handle_info(_, S) ->
    {noreply, S}.

not_connected(#s{node = Node}) ->
    Why = case is_alive() of
              true -> "~s cannot connect to ~s";
              false -> "~s, which is not distributed, cannot connect to ~s"
          end,
    unicode:characters_to_binary(io_lib:format(Why, [node(), Node])).

%% The handle does the writing, so that only one process waits for the program.
up(Term, #s{handle = Handle, number = N} = S) ->
    Handle ! {relay, N, self(), Term},
    S.

%% Does not wait for a slow connection.
flush(#s{unsent = [{Pid, Message} | Rest]} = S) ->
    case erlang:send(Pid, Message, [noconnect, nosuspend]) of
        nosuspend ->
            erlang:send_after(?RETRY, self(), flush),
            S;
        _ -> % noconnect: the exit signal of the link reports it
            flush(S#s{unsent = Rest})
    end;
flush(S) ->
    S.

signed(Message) when element(1, Message) =:= erltrace, element(2, Message) =:= self ->
    setelement(2, Message, self());
signed(Message) ->
    Message.

%% A pid of our own node may carry another name than the node has now: the name from before it was made distributed, or from after.
here(Pid, #s{own = true}) when node(Pid) =/= node() ->
    [_ | Rest] = string:lexemes(pid_to_list(Pid), "."),
    list_to_pid("<0." ++ lists:append(lists:join(".", Rest)));
here(Pid, _) ->
    Pid.

call(Ref, Module, Function, Args, S) ->
    Relay = self(),
    Node = case S#s.own of
               true -> node();
               false -> S#s.node
           end,
    _ = spawn(fun() ->
                  process_flag(sensitive, true),
                  Relay ! {called, Ref, rex(Node, Module, Function, Args)}
          end),
    ok.

%% Calls as other C nodes do, through the server rex of that node. What is started in this way belongs to that node alone; with rpc:call/4
%% it would have our group leader, and end with the application.
rex(Node, Module, Function, Args) ->
    try
        gen_server:call({rex, Node}, {call, Module, Function, Args, user}, infinity)
    catch
        exit:{Reason, _} -> {badrpc, Reason};
        _:Reason -> {badrpc, Reason}
    end.
