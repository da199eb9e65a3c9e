%% etp - a node that owns a port program and has its relays, for the tests of test/port.
%%
%% Orders come as frames on standard input, {packet, 4}, their first byte saying what they are, and answers go back likewise:
%%
%%   O Program          starts the port program: O, with its process id as text
%%   P Frame            to the port program; what it says that is no relay's comes as P Frame
%%   A N:16 Node        starts relay N into this node; "" is this one
%%   K N:16             kills relay N
%%   C                  closes the port
%%   E Text             evaluates: E, with {ok, Value} or {error, Reason} as a term
%%   X                  (from here) the port program has ended: its exit status as text; -1: not known
%%
%% It does what doc/port-protocol.md asks of handle process and relay process, in the fewest words.
-module(etp).
-export([start/0, call/3]).

start() ->
    process_flag(trap_exit, true),
    process_flag(sensitive, true),
    ok = etlog:start(),
    orders(open_port({fd, 0, 1}, [{packet, 4}, binary, eof]), none, #{}).

orders(Io, Port, Relays) ->
    receive
        {Io, {data, <<$O, Program/binary>>}} ->
            P = open_port({spawn_executable, Program}, [{args, ["port"]}, {packet, 4}, binary, exit_status, use_stdio, hide]),
            {os_pid, Pid} = erlang:port_info(P, os_pid),
            say(Io, [$O, integer_to_list(Pid)]),
            orders(Io, P, Relays);
        {Io, {data, <<$P, Frame/binary>>}} ->
            to_port(Port, Frame),
            orders(Io, Port, Relays);
        {Io, {data, <<$A, N:16, Name/binary>>}} ->
            Node = case Name of <<>> -> local; _ -> binary_to_atom(Name) end,
            Self = self(),
            Relay = spawn_link(fun() -> relay(Self, Port, N, Node, Io) end),
            say(Io, [$A, pid_to_list(Relay)]),
            orders(Io, Port, Relays#{N => Relay, Relay => {N, Port}});
        {Io, {data, <<$K, N:16>>}} ->
            exit(maps:get(N, Relays), kill),
            orders(Io, Port, Relays);
        {Io, {data, <<$C>>}} ->
            port_close(Port),
            orders(Io, Port, Relays);
        {Io, {data, <<$E, Text/binary>>}} ->
            spawn(fun() -> say(Io, [$E, term_to_binary(evaluate(Text))]) end),
            orders(Io, Port, Relays);
        {Io, eof} ->
            halt(0, [{flush, false}]);
        {Port, {data, <<$R, N:16>>}} when is_map_key(N, Relays) -> % the program has let go of it
            Relay = maps:get(N, Relays),
            Relay ! {frame, <<>>},
            orders(Io, Port, maps:without([N, Relay], Relays));
        {Port, {data, <<$R, N:16, Term/binary>>}} ->
            case Relays of
                #{N := Relay} -> Relay ! {frame, Term};
                #{} -> ok
            end,
            orders(Io, Port, Relays);
        {Port, {data, Frame}} ->
            say(Io, [$P, Frame]),
            orders(Io, Port, Relays);
        {Port, {exit_status, Status}} ->
            say(Io, [$X, integer_to_list(Status)]),
            orders(Io, Port, Relays);
        {'EXIT', Port, Reason} when is_port(Port), Reason =/= normal -> % a write met its end before its exit status was told
            say(Io, "X-1"),
            orders(Io, Port, Relays);
        {'EXIT', Relay, _} when is_map_key(Relay, Relays) -> % perhaps one of an earlier port program, whose number is another's now
            {N, Its} = maps:get(Relay, Relays),
            to_port(Its, <<$R, N:16>>),
            orders(Io, Port, maps:without([Relay | [N || maps:get(N, Relays, none) =:= Relay]], Relays));
        {up, Its, N, Term} ->
            to_port(Its, [<<$R, N:16>>, term_to_binary(Term)]),
            orders(Io, Port, Relays);
        _ ->
            orders(Io, Port, Relays)
    end.

say(Io, Data) ->
    try port_command(Io, Data) catch error:badarg -> false end.

to_port(Port, Data) ->
    try port_command(Port, Data) catch error:badarg -> false end.

evaluate(Text) ->
    try
        {ok, Tokens, _} = erl_scan:string(unicode:characters_to_list(Text)),
        {ok, Exprs} = erl_parse:parse_exprs(Tokens),
        {value, Value, _} = erl_eval:exprs(Exprs, []),
        {ok, Value}
    catch
        Class:Reason:Stack -> {error, iolist_to_binary(io_lib:format("~0p", [{Class, Reason, Stack}]))}
    end.

%% (It watches the standard streams, too, so that they are left out of traces: what the harness says is not what is tested.)
relay(Owner, Port, N, Node, Io) ->
    process_flag(trap_exit, true),
    process_flag(sensitive, true),
    erlang:monitor(port, Port),
    erlang:monitor(port, Io),
    relay_loop(Owner, Port, N, Node).

relay_loop(Owner, Port, N, Node) ->
    Up = fun(Term) -> Owner ! {up, Port, N, Term} end,
    receive
        {frame, <<>>} -> exit(shutdown);
        {frame, Frame} -> do(binary_to_term(Frame), Node, Up);
        {'EXIT', Owner, _} -> exit(shutdown);
        {'DOWN', _, port, Port, _} -> exit(shutdown);
        {'EXIT', _, noconnection} -> Up({lost, <<"the connection to it is down">>});
        {'EXIT', Pid, _} -> Up({down, Pid});
        Message when element(1, Message) =:= erltrace -> Up({message, Message});
        {called, Ref, Result} -> Up({reply, Ref, Result})
    end,
    relay_loop(Owner, Port, N, Node).

do({call, Ref, M, F, A}, Node, _) ->
    Self = self(),
    spawn(fun() -> Self ! {called, Ref, ?MODULE:call(Node, {M, F}, A)} end);
do({link, Pid}, Node, _) ->
    link(here(Pid, Node));
do({send, Pid, Message}, Node, _) ->
    here(Pid, Node) ! setelement(2, Message, self()).

call(local, {M, F}, A) -> rpc:call(node(), M, F, A);
call(Node, {M, F}, A) -> rpc:call(Node, M, F, A).

here(Pid, local) when node(Pid) =/= node() ->
    [_ | Rest] = string:lexemes(pid_to_list(Pid), "."),
    list_to_pid("<0." ++ lists:append(lists:join(".", Rest)));
here(Pid, _) ->
    Pid.
