%% @private
%% erltrace_port - the port program, `erltrace port', as described in doc/port-protocol.md: its path, starting and killing it, and
%% its frames. erltrace_handle keeps what waits to be sent.
-module(erltrace_port).

-export([open/0, send/2, kill/1, close/1, request/2, to_relay/2, decode/1]).
-export_type([frame/0]).

-type frame() :: {progress, integer(), map()}
               | {reply, integer(), ok | {ok, term()} | {error, #{code := atom(), text := binary()}}, [map()]}
               | {fatal, map()}
               | {relay, 0..255, term()}
               | {relay_end, 0..255}
               | nonsense.

-define(RELAY, $R).

%% Starts the program. The caller owns the port and receives `{Port, {data, Frame}}' and `{Port, {exit_status, N}}'.
-spec open() -> {ok, port()} | {error, {program, binary()}}.
open() ->
    Path = program(),
    try
        %% The folder of another erltrace in the environment must not be used.
        {ok, open_port({spawn_executable, Path}, [{args, ["port"]}, {packet, 4}, binary, exit_status, use_stdio, hide,
                                                  {env, [{"ERLTRACE_ROOT", false}]}])}
    catch
        error:Reason ->
            Text = case Reason of
                       enoent -> "it is not there";
                       eacces -> "it cannot be executed";
                       _ -> io_lib:format("~p", [Reason])
                   end,
            {error, {program, unicode:characters_to_binary(["cannot start ", Path, ": ", Text])}}
    end.

%% The application's own program, unless the application's environment names another.
program() ->
    case application:get_env(erltrace, program) of
        {ok, Path} ->
            unicode:characters_to_list(Path);
        undefined ->
            Priv = case code:priv_dir(erltrace) of
                       {error, bad_name} -> filename:join([filename:dirname(code:which(?MODULE)), "..", "priv"]);
                       Dir -> Dir
                   end,
            filename:join([Priv, "bin", "erltrace"])
    end.

%% Sends a frame without waiting. Returns `false' if the program does not read; then the frame has not been sent.
-spec send(port(), iodata()) -> boolean().
send(Port, Frame) ->
    try
        port_command(Port, Frame, [nosuspend])
    catch
        error:badarg -> true % it has ended, and a message will say so
    end.

%% Kills a program that neither reads nor ends. (While the port is open, the process id is that of the program.)
-spec kill(port()) -> ok.
kill(Port) ->
    case erlang:port_info(Port, os_pid) of
        {os_pid, Pid} -> _ = os:cmd("kill -KILL " ++ integer_to_list(Pid)), ok;
        undefined -> ok
    end.

%% Closes the program's input: the program undoes what it has set, and ends.
-spec close(port()) -> ok.
close(Port) ->
    try port_close(Port) of true -> ok catch error:badarg -> ok end.

-spec request(integer(), term()) -> binary().
request(Ref, Request) ->
    term_to_binary({request, Ref, Request}).

%% `done': the relay has ended.
-spec to_relay(0..255, {term, term()} | done) -> iolist().
to_relay(N, {term, Term}) -> [?RELAY, <<N:16>>, term_to_binary(Term)];
to_relay(N, done) -> [?RELAY, <<N:16>>].

-spec decode(binary()) -> frame().
decode(Frame) ->
    try binary:first(Frame) of
        ?RELAY when byte_size(Frame) =:= 3 -> {relay_end, relay(Frame)};
        ?RELAY -> {relay, relay(Frame), binary_to_term(binary:part(Frame, 3, byte_size(Frame) - 3))};
        _ ->
            case binary_to_term(Frame) of
                {reply, Ref, _, Diags} = Reply when is_integer(Ref), is_list(Diags) -> Reply;
                {progress, Ref, #{}} = Progress when is_integer(Ref) -> Progress;
                {fatal, #{}} = Fatal -> Fatal;
                _ -> nonsense
            end
    catch
        error:badarg -> nonsense
    end.

%% (No matching of binaries: the newest OTP refuses such code from an old OTP, and an installed module may run on any release.)
relay(Frame) -> binary:decode_unsigned(binary:part(Frame, 1, 2)).
