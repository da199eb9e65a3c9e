%% etr - load for a RabbitMQ broker: its own Erlang client, a few publishers and consumers, a bounded number of pending
%% messages. Compiled and run with the broker's libraries on the code path (ERL_LIBS).
-module(etr).
-export([start/2, consumed/0, visit/2, stop/0, invoices/2, slow/2, slowly/2, on/1]).
-export([pair/3]).
-include_lib("amqp_client/include/amqp_client.hrl").

-define(WINDOW, 50).

%% Starts pairs of a publisher and a consumer, each with a separate connection and queue, on this TCP port.
start(Port, Pairs) ->
    {ok, _} = application:ensure_all_started(amqp_client),
    Counter = counters:new(1, [atomics]),
    persistent_term:put(?MODULE, Counter),
    Me = self(),
    Pids = [spawn(?MODULE, pair, [Me, Port, Counter]) || _ <- lists:seq(1, Pairs)],
    put(pairs, Pids),
    [receive {P, up} -> ok after 60000 -> exit(no_connection) end || P <- Pids],
    ok.

%% The number of messages that have arrived.
consumed() -> counters:get(persistent_term:get(?MODULE), 1).

stop() ->
    [exit(P, kill) || P <- get(pairs)],
    ok.

connect(Port) ->
    {ok, Connection} = amqp_connection:start(#amqp_params_network{host = "127.0.0.1", port = Port}),
    {ok, Channel} = amqp_connection:open_channel(Connection),
    {Connection, Channel}.

pair(Parent, Port, Counter) ->
    {_, Channel} = connect(Port),
    #'queue.declare_ok'{queue = Queue} = amqp_channel:call(Channel, #'queue.declare'{exclusive = true}),
    #'basic.consume_ok'{} = amqp_channel:subscribe(Channel, #'basic.consume'{queue = Queue, no_ack = true}, self()),
    [publish(Channel, Queue) || _ <- lists:seq(1, ?WINDOW)],
    Parent ! {self(), up},
    turn(Channel, Queue, Counter).

%% Each message that arrives sends the next one.
turn(Channel, Queue, Counter) ->
    receive
        {#'basic.deliver'{}, _} ->
            counters:add(Counter, 1, 1),
            publish(Channel, Queue);
        _ -> ok
    end,
    turn(Channel, Queue, Counter).

publish(Channel, Queue) ->
    amqp_channel:cast(Channel, #'basic.publish'{routing_key = Queue}, #amqp_msg{payload = <<"a message of some length">>}).

%% A queue with the name slowq.
slow(Port, Broker) ->
    {Connection, Channel} = connect(Port),
    #'queue.declare_ok'{} = amqp_channel:call(Channel, #'queue.declare'{queue = <<"slowq">>}),
    {ok, Q} = rpc:call(Broker, rabbit_amqqueue, lookup, [{resource, <<"/">>, queue, <<"slowq">>}]),
    persistent_term:put(slowq, {Connection, Channel, rpc:call(Broker, amqqueue, get_pid, [Q])}),
    ok.

%% It stands still while N messages come, and as many calls that do not wait for long.
slowly(Broker, N) ->
    {_, Channel, Queue} = persistent_term:get(slowq),
    ok = rpc:call(Broker, sys, suspend, [Queue]),
    [publish(Channel, <<"slowq">>) || _ <- lists:seq(1, N)],
    [{badrpc, {'EXIT', {timeout, _}}} = rpc:call(Broker, gen_server2, call, [Queue, info, 20]) || _ <- lists:seq(1, N)],
    ok.

%% It goes on, and answers.
on(Broker) ->
    {Connection, Channel, Queue} = persistent_term:get(slowq),
    ok = rpc:call(Broker, sys, resume, [Queue]),
    {ok, [_ | _]} = rpc:call(Broker, gen_server2, call, [Queue, info, infinity]),
    #'queue.delete_ok'{} = amqp_channel:call(Channel, #'queue.delete'{queue = <<"slowq">>}),
    ok = amqp_connection:close(Connection).

%% N connections that open, wait a little, and close again.
visit(_, 0) -> ok;
visit(Port, N) ->
    {Connection, Channel} = connect(Port),
    #'queue.declare_ok'{} = amqp_channel:call(Channel, #'queue.declare'{exclusive = true}),
    ok = amqp_connection:close(Connection),
    visit(Port, N - 1).

%% An exchange of type headers with N bindings, and a publisher whose messages match none of them: each is compared with all.
invoices(Port, N) ->
    {ok, _} = application:ensure_all_started(amqp_client),
    Me = self(),
    {P, M} = spawn_monitor(fun() ->
        {_, Channel} = connect(Port),
        #'exchange.declare_ok'{} = amqp_channel:call(Channel, #'exchange.declare'{exchange = <<"invoices">>, type = <<"headers">>}),
        #'queue.declare_ok'{queue = Queue} = amqp_channel:call(Channel, #'queue.declare'{exclusive = true}),
        [#'queue.bind_ok'{} = amqp_channel:call(Channel, #'queue.bind'{queue = Queue, exchange = <<"invoices">>,
            arguments = [{<<"customer">>, longstr, integer_to_binary(I)}]}) || I <- lists:seq(1, N)],
        Me ! {self(), up},
        bill(Channel)
    end),
    receive
        {P, up} -> ok;
        {'DOWN', M, process, P, Why} -> exit(Why)
    end.

bill(Channel) ->
    amqp_channel:cast(Channel, #'basic.publish'{exchange = <<"invoices">>, routing_key = <<"eu.paid">>},
        #amqp_msg{props = #'P_basic'{headers = [{<<"customer">>, longstr, <<"none">>}]}, payload = <<"an invoice">>}),
    receive after 5 -> bill(Channel) end.
