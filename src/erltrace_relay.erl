%% @private
%% erltrace_relay - the end of a relay in this node: for an agent, here or in another node of the cluster, it is the consumer, and passes
%% on between it and the port program (doc/port-protocol.md, "The relay").
%%
%% What always holds:
%%  * It is linked to its handle, and monitors the port; when one of them ends, so does it, and the agent, which watches it, undoes everything.
%%    (By that monitor the agent knows which port is no part of what is traced.)
%%  * However it ends, nothing is logged (erltrace_handle says why the handle is not its parent).
%%  * It makes no sign of life by itself: when the program falls silent, the agent hears nothing.
%%  * It does nothing that waits. Calls are made by processes that are not linked to it, and are not cut off.
-module(erltrace_relay).
-behaviour(gen_server).

-export([start/4, frame/2]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-record(s, {
    handle :: pid(),
    number :: 0..255,
    node :: node(),
    own :: boolean(), % the node that we are in
    unsent = [] :: [{pid(), term()}] % oldest first
}).

-define(RETRY, 10). % ms until a connection that had no room is tried again

-spec start(pid(), port(), 0..255, node()) -> {ok, pid()} | {error, term()}.
start(Handle, Port, Number, Node) ->
    case gen_server:start(?MODULE, {Handle, Port, Number, Node}, []) of
        {ok, Pid} -> {ok, Pid};
        ignore -> {error, ignore};
        {error, _} = Error -> Error
    end.

%% What the program has sent for this relay; `done': it has let go of it.
-spec frame(pid(), {term, term()} | done) -> ok.
frame(Relay, Frame) ->
    gen_server:cast(Relay, {frame, Frame}).

-spec init({pid(), port(), 0..255, node()}) -> {ok, #s{}}.
init({Handle, Port, Number, Node}) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    process_flag(trap_exit, true),
    link(Handle), % gone already: it exits with noproc
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
    link(here(Pid, S)), % trapping exits: never an error, one that is gone exits with noproc
    {noreply, S};
handle_cast({frame, {term, {send, Pid, Message}}}, #s{unsent = Unsent} = S) when is_pid(Pid) ->
    S1 = S#s{unsent = Unsent ++ [{here(Pid, S), signed(Message)}]},
    {noreply, case Unsent of [] -> flush(S1); _ -> S1 end};
handle_cast(_, S) ->
    {noreply, S}.

-spec handle_info(term(), #s{}) -> {noreply, #s{}} | {stop, shutdown, #s{}}.
handle_info(Message, S) when element(1, Message) =:= erltrace -> % all that an agent says, whatever it is
    {noreply, up({message, Message}, S)};
handle_info({called, _, {badrpc, {nodedown, _}}}, S) -> % there was no connection, and there is no making one
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

%% The handle writes, so that there is one process that waits for the program.
up(Term, #s{handle = Handle, number = N} = S) ->
    Handle ! {relay, N, self(), Term},
    S.

%% A connection that is slow is not waited for here.
flush(#s{unsent = [{Pid, Message} | Rest]} = S) ->
    case erlang:send(Pid, Message, [noconnect, nosuspend]) of
        nosuspend ->
            erlang:send_after(?RETRY, self(), flush),
            S;
        _ -> % noconnect: the link says so
            flush(S#s{unsent = Rest})
    end;
flush(S) ->
    S.

signed(Message) when element(1, Message) =:= erltrace, element(2, Message) =:= self ->
    setelement(2, Message, self());
signed(Message) ->
    Message.

%% A pid of our own node can bear another name than the node has now: that from before it was made distributed, or after.
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

%% As other C nodes call, by the server rex there. What is started so is a process of that node alone; with rpc:call/4 it would have our
%% group leader, and end with the application.
rex(Node, Module, Function, Args) ->
    try
        gen_server:call({rex, Node}, {call, Module, Function, Args, user}, infinity)
    catch
        exit:{Reason, _} -> {badrpc, Reason};
        _:Reason -> {badrpc, Reason}
    end.
