%% @private
%% erltrace_handle - a handle: the process that owns one port program, and with it one tracing session.
%%
%% States:
%%   starting   the program is given the options of the handle, step by step; calls wait
%%   ready      calls become requests of doc/port-protocol.md; any number may be pending
%%   dead       the program is gone: every call is answered with the reason
%%
%% What always holds:
%%  * The handle ends with its owner. Its end closes the port and takes its relays along, and those two undo the trace.
%%  * No way of dying is logged. So the links between keeper, handle and relays are made by hand, and none has another as its parent in
%%    OTP's sense: a behaviour whose parent was killed logs its own end as an error.
%%  * The handle never blocks: calls are answered when the program has answered, it does not wait for a program that does not read, and
%%    results are requested only when they are wanted. Waiting data stays in the program, which bounds it.
%%  * A program that places probes is alive as long as it reports progress; requests are answered in order, so those behind `go' wait as
%%    well.
%%  * The program allows one attempt only: a compile or go that failed cannot be repaired there. So the next attempt uses a new program,
%%    which is first given what succeeded in the old one (`history').
-module(erltrace_handle).
-behaviour(gen_statem).

-export([options/1, setopt/2, open/2, start/2, call/2]).
-export([init/1, callback_mode/0, handle_event/4, terminate/3]).
-export_type([options/0]).

-define(TIMEOUT, 60000).      % ms for the program to answer a request
-define(CLOSE_TIMEOUT, 5000). % ... to undo everything and end
-define(BUSY, 5).             % ms until a write to a program that did not read is tried again
-define(WAIT, 10000).         % ms that a request for records waits for the first one
-define(MAX, 10000).          % most records in an answer to consume
-define(NOTES, 100).          % most warnings that are kept until the next consume

-type target() :: local | kernel | node() | {os_pid, pos_integer()} | {cluster, node()}.
-type options() :: #{targets := [target(), ...], strings := erltrace_term:strings(), timeout := pos_integer(),
                     hello := [{atom(), term()}], setopts := [{setopt, binary(), binary() | integer() | none}]}.

%% A request that waits for the program's answer.
-record(req, {
    kind :: term(),                       % what is done with the answer: answer/5
    from :: gen_statem:from() | undefined,
    timer :: reference(),
    ms :: pos_integer()                   % time that the program has for it
}).

%% What was requested for a subscriber.
-type results() :: {records, [term()]} | {walk, [{binary(), [term()]}]}.

-record(sub, {
    ref :: reference(),
    pid :: pid(),
    monitor :: reference(),
    demand :: non_neg_integer(),          % messages that it still accepts
    max :: pos_integer(),                 % most records in one of them
    every :: pos_integer() | undefined,   % ms between two walks; undefined: no walks
    records :: boolean(),                 % it wants records
    progress :: boolean(),                % it wants the progress of go
    strings :: erltrace_term:strings(),
    held = [] :: [results()],             % came when there was no demand; at most three, oldest first
    consuming = false :: boolean(),       % a request is pending
    walking = false :: boolean(),
    due = false :: boolean(),             % a walk is due
    left :: [records | walk]              % kinds that are not yet delivered completely
}).

-record(s, {
    keeper :: pid(),                      % erltrace_handles
    owner :: pid(),
    options :: options(),
    port :: port() | undefined,
    steps = [] :: [term()],               % starting: requests still to be made, the first one is pending
    history = [] :: [term()],             % what succeeded and has to be given to a new program, newest first
    again = false :: boolean(),           % an attempt has failed: begin with a new program
    phase = open :: open | compiled | running,
    stopped = false :: boolean(),
    heard :: integer() | undefined,       % ms: when the program last reported the progress of go
    ended :: undefined | term(),          % why the trace is over
    next = 1 :: pos_integer(),
    pending = #{} :: #{pos_integer() => #req{}},
    out = [] :: [iodata()],               % frames that the program did not take, oldest first
    relays = #{} :: #{0..255 => pid()},
    notes = [] :: [map()],                % warnings for the next consume, newest first
    sub :: undefined | #sub{},
    left = [] :: [results()],             % of a subscriber that is gone: for the next reader, oldest first
    reason :: term()                      % dead: why
}).

%% == opening ===================================================================================================

%% Options of erltrace:open/1, checked.
-spec options([{atom(), term()} | atom()] | map()) -> {ok, pid(), options()} | {error, {option, term(), binary()}}.
options(List) when is_list(List) ->
    try options(maps:from_list(proplists:unfold(List)))
    catch error:_ -> {error, {option, List, <<"a list of {Name, Value}, or a map">>}}
    end;
options(#{} = Map) ->
    Default = #{targets => [node()], strings => list, timeout => ?TIMEOUT, hello => [], setopts => []},
    try maps:fold(fun option/3, {self(), Default}, Map) of
        {Owner, Options} -> {ok, Owner, Options}
    catch
        throw:{Name, Expected} -> {error, {option, Name, Expected}}
    end;
options(Other) ->
    {error, {option, Other, <<"a list of {Name, Value}, or a map">>}}.

option(owner, Pid, {_, O}) when is_pid(Pid), node(Pid) =:= node() -> {Pid, O};
option(owner, _, _) -> throw({owner, <<"a process of this node">>});
option(node, Target, {P, O}) -> {P, O#{targets := [target(Target)]}};
option(nodes, [_ | _] = Nodes, {P, O}) when length(Nodes) =< 256 ->
    Targets = lists:usort([target(T) || T <- Nodes]),
    lists:keymember(cluster, 1, Targets) andalso length(Targets) > 1 andalso throw({nodes, <<"a cluster alone: it has all of its nodes">>}),
    {P, O#{targets := Targets}};
option(nodes, _, _) -> throw({nodes, <<"a list of 1 to 256 nodes">>});
option(strings, S, {P, O}) when S =:= list; S =:= binary -> {P, O#{strings := S}};
option(strings, _, _) -> throw({strings, <<"list or binary">>});
option(timeout, Ms, {P, O}) when is_integer(Ms), Ms > 0, Ms < 1 bsl 31 -> {P, O#{timeout := Ms}};
option(timeout, _, _) -> throw({timeout, <<"a number of milliseconds">>});
option(queue, N, {P, #{hello := H} = O}) when is_integer(N), N >= 65536, N =< 1 bsl 40 -> {P, O#{hello := [{queue, N} | H]}};
option(queue, _, _) -> throw({queue, <<"a number of bytes, at least 65536">>});
option(agent_dir, Dir, {P, #{hello := H} = O}) ->
    case erltrace_term:text(Dir) of
        {ok, Text} -> {P, O#{hello := [{agent_dir, Text} | H]}};
        error -> throw({agent_dir, <<"the name of a folder">>})
    end;
option(options, Options, {P, O}) ->
    List = if is_map(Options) -> maps:to_list(Options);
              is_list(Options) -> proplists:unfold(Options);
              true -> []
           end,
    Setopts = [case setopt(Name, Value) of
                   {ok, Setopt} -> Setopt;
                   error -> throw({options, <<"a map, or a list, of D's options and their values">>})
               end || {Name, Value} <- List],
    length(Setopts) > 0 orelse Options =:= [] orelse Options =:= #{} orelse
        throw({options, <<"a map, or a list, of D's options and their values">>}),
    {P, O#{setopts := Setopts}};
option(Name, _, _) -> throw({Name, <<"one of node, nodes, options, strings, queue, timeout, owner, agent_dir">>}).

target(Own) when Own =:= local; Own =:= kernel -> Own;
target(Node) when is_atom(Node) -> Node;
target({os_pid, Pid}) when is_integer(Pid), Pid > 0 -> {os_pid, Pid};
target({cluster, Node}) when is_atom(Node) -> {cluster, Node};
target(_) -> throw({node, <<"a node, {cluster, Node}, local, kernel, or {os_pid, Pid}">>}).

%% An option of D, by name. A flag has the value `none', and so does an option given the empty text.
-spec setopt(term(), term()) -> {ok, {setopt, binary(), binary() | integer() | none}} | error.
setopt(Name, Value) ->
    case {setopt_text(Name), Value} of
        {{ok, <<>>}, _} -> error;
        {{ok, Text}, N} when is_integer(N) -> {ok, {setopt, Text, N}};
        {{ok, Text}, _} ->
            case setopt_text(Value) of
                {ok, <<>>} -> {ok, {setopt, Text, none}};
                {ok, Value1} -> {ok, {setopt, Text, Value1}};
                error -> error
            end;
        {error, _} -> error
    end.

setopt_text(Atom) when is_atom(Atom) -> {ok, atom_to_binary(Atom, utf8)};
setopt_text(Text) -> erltrace_term:text(Text).

-spec open(pid(), options()) -> {ok, pid()} | {error, term()}.
open(Owner, Options) ->
    case erltrace_handles:start_handle(Owner, Options) of
        {ok, Handle} ->
            case call(Handle, ready) of
                ok -> {ok, Handle};
                {error, _} = Error -> Error
            end;
        {error, _} = Error ->
            Error
    end.

%% The caller becomes the handle's keeper and is linked to it.
-spec start(pid(), options()) -> {ok, pid()} | {error, term()}.
start(Owner, Options) ->
    case gen_statem:start(?MODULE, {self(), Owner, Options}, []) of
        {ok, Pid} -> {ok, Pid};
        ignore -> {error, ignore};
        {error, _} = Error -> Error
    end.

%% Calls a handle; one that no longer exists counts as closed. (The handle itself makes sure that there is an answer.)
-spec call(pid(), term()) -> term().
call(Handle, Request) when is_pid(Handle) ->
    try
        gen_statem:call(Handle, Request, infinity)
    catch
        exit:{Reason, {gen_statem, call, _}} when Reason =:= noproc; Reason =:= normal; Reason =:= shutdown; Reason =:= killed -> {error, closed};
        exit:{{shutdown, _}, {gen_statem, call, _}} -> {error, closed};
        exit:{{nodedown, _}, {gen_statem, call, _}} -> {error, closed}
    end;
call(_, _) ->
    error(badarg).

-spec callback_mode() -> handle_event_function.
callback_mode() -> handle_event_function.

-spec init({pid(), pid(), options()}) -> gen_statem:init_result(starting | dead).
init({Keeper, Owner, Options}) ->
    process_flag(sensitive, true), % not part of what is traced
    process_flag(trap_exit, true),
    link(Keeper), % if it is gone already, it exits with noproc
    _ = erlang:monitor(process, Owner),
    {State, S} = start(#s{keeper = Keeper, owner = Owner, options = Options}),
    {ok, State, S}.

%% Starts a new program, and makes the list of what it is given before anything else.
start(#s{options = #{targets := Targets, hello := Hello, setopts := Setopts}, history = History} = S) ->
    case erltrace_port:open() of
        {ok, Port} ->
            Numbered = lists:zip(lists:seq(0, length(Targets) - 1), Targets),
            Steps = [{hello, 1, Hello}] ++ [{target, target(N, T)} || {N, T} <- Numbered] ++ Setopts ++ lists:reverse(History),
            Relays = maps:from_list([{N, relay(Port, N, T)} || {N, T} <- Numbered, is_atom(T), T =/= local, T =/= kernel]),
            {starting, step(S#s{port = Port, steps = Steps, relays = Relays, again = false, out = []})};
        {error, Reason} ->
            {dead, S#s{reason = Reason}}
    end.

%% The program, which runs on this host, is told the process of this node: scripts of the kernel have it as $target.
target(_, Own) when Own =:= local; Own =:= kernel -> Own;
target(_, {os_pid, Pid}) -> {pid, Pid};
target(_, {cluster, _} = Cluster) -> Cluster;
target(N, Node) when Node =:= node() -> {relay, N, atom_to_binary(Node, utf8), list_to_integer(os:getpid())};
target(N, Node) -> {relay, N, atom_to_binary(Node, utf8)}.

relay(Port, N, Node) ->
    case erltrace_relay:start(self(), Port, N, Node) of
        {ok, Pid} -> Pid;
        {error, _} -> spawn_link(fun() -> ok end) % killed as it began: its end is handled like that of any other
    end.

step(#s{steps = [Step | _]} = S) -> request(secret(Step), step, undefined, S).

%% A step as the program is told it: the handle's state, which a crash report shows, has no cookie.
secret({target, {cluster, Node}}) -> {target, {cluster, atom_to_binary(Node, utf8), atom_to_binary(erlang:get_cookie(Node), utf8)}};
secret(Step) -> Step.

%% Leaves the program, which undoes by itself what it has set.
leave(#s{port = Port, relays = Relays, pending = Pending} = S) ->
    lists:foreach(fun(R) -> unlink(R), exit(R, shutdown) end, maps:values(Relays)),
    lists:foreach(fun(#req{timer = T}) -> erlang:cancel_timer(T) end, maps:values(Pending)),
    Port =:= undefined orelse erltrace_port:close(Port),
    S#s{port = undefined, relays = #{}, pending = #{}, out = [], steps = []}.

%% == events ====================================================================================================

%% If it was told to close, its end is the answer, whether or not it could give one.
port_ended(Status, S) ->
    case [From || #req{kind = close, from = From} <- maps:values(S#s.pending)] of
        [] -> die({port_died, Status}, S);
        Froms -> {stop_and_reply, normal, [{reply, F, ok} || F <- Froms]}
    end.

-spec handle_event(gen_statem:event_type(), term(), starting | ready | dead, #s{}) ->
          gen_statem:event_handler_result(starting | ready | dead).
handle_event(info, {Port, {data, Frame}}, State, #s{port = Port} = S) ->
    frame(erltrace_port:decode(Frame), State, S);
handle_event(info, {Port, {exit_status, Status}}, _, #s{port = Port} = S) ->
    port_ended(Status, S);
%% Something was being written to the program as it ended: then its last output and its status are lost.
handle_event(info, {'EXIT', Port, _}, _, #s{port = Port} = S) ->
    port_ended(closed, S);
handle_event(info, {relay, N, Relay, Term}, _, #s{relays = Relays} = S) ->
    case Relays of
        #{N := Relay} -> {keep_state, send(erltrace_port:to_relay(N, {term, Term}), S)};
        #{} -> keep_state_and_data
    end;
handle_event(info, {'EXIT', Keeper, _}, _, #s{keeper = Keeper}) ->
    {stop, shutdown};
handle_event(info, {'EXIT', Pid, _}, _, #s{relays = Relays} = S) when is_pid(Pid) ->
    case [N || {N, R} <- maps:to_list(Relays), R =:= Pid] of
        [N] -> {keep_state, send(erltrace_port:to_relay(N, done), S#s{relays = maps:remove(N, Relays)})};
        [] -> keep_state_and_data
    end;
handle_event(info, {'DOWN', _, process, Owner, _}, _, #s{owner = Owner}) ->
    {stop, normal};
handle_event(info, {'DOWN', Monitor, process, _, _}, _, #s{sub = #sub{monitor = Monitor}} = S) ->
    {keep_state, leaves(S)};
handle_event(info, {timeout, _, {request, Ref}}, _, #s{pending = Pending} = S) ->
    case Pending of
        #{Ref := Req} ->
            case left(Req, S) of
                Ms when Ms > 0 ->
                    Timer = erlang:start_timer(Ms, self(), {request, Ref}),
                    {keep_state, S#s{pending = Pending#{Ref := Req#req{timer = Timer}}}};
                _ ->
                    erltrace_port:kill(S#s.port),
                    die(timeout, S)
            end;
        #{} ->
            keep_state_and_data
    end;
handle_event(info, {timeout, _, write}, _, S) ->
    {keep_state, write(S)};
handle_event(info, {timeout, _, {walk, Ref}}, _, #s{sub = #sub{ref = Ref} = Sub} = S) ->
    {keep_state, pump(S#s{sub = again(Sub#sub{due = true})})};
handle_event(info, _, _, _) ->
    keep_state_and_data;
handle_event({call, From}, {reap, Owner}, State, #s{owner = Owner, stopped = Stopped, ended = Ended})
  when State =:= dead; Stopped; Ended =/= undefined ->
    {stop_and_reply, normal, [{reply, From, over}]};
handle_event({call, From}, {reap, _}, _, _) ->
    {keep_state_and_data, [{reply, From, ok}]};
handle_event({call, {Pid, _}} = Call, close, State, #s{sub = #sub{pid = Pid}} = S) -> % a process that closes the handle needs no message
    case handle_event(Call, close, State, S#s{sub = undefined}) of
        {stop_and_reply, Reason, Replies} -> {stop_and_reply, Reason, Replies, S#s{sub = undefined}};
        Result -> Result
    end;
handle_event({call, From}, close, _, #s{port = undefined}) ->
    {stop_and_reply, normal, [{reply, From, ok}]};
handle_event({call, From}, close, _, S) ->
    {keep_state, request(close, close, From, ?CLOSE_TIMEOUT, S)};
handle_event({call, _}, _, starting, _) ->
    {keep_state_and_data, [postpone]};
handle_event({call, From}, ready, dead, #s{reason = Reason}) ->
    {stop_and_reply, normal, [{reply, From, {error, Reason}}]};
handle_event({call, From}, _, dead, #s{reason = Reason}) ->
    {keep_state_and_data, [{reply, From, {error, Reason}}]};
handle_event({call, From}, Call, ready, S) ->
    call(Call, From, S);
handle_event(_, _, _, _) ->
    keep_state_and_data.

-spec terminate(term(), term(), #s{}) -> ok.
terminate(_, _, #s{sub = Sub} = S) ->
    Sub =:= undefined orelse (Sub#sub.pid ! {erltrace, Sub#sub.ref, {done, closed}}),
    _ = leave(S),
    ok.

%% == calls =====================================================================================================

call(ready, From, S) ->
    reply(From, ok, S);
call({compile, _, _}, From, #s{phase = running} = S) ->
    reply(From, {error, already_running}, S);
call(go, From, #s{phase = running} = S) ->
    reply(From, {error, already_running}, S);
call(go, From, #s{phase = open} = S) ->
    reply(From, {error, no_prog}, S);
call(Call, _, #s{again = true} = S) when Call =:= go; element(1, Call) =:= compile; element(1, Call) =:= setopt ->
    {State, S1} = start(leave(S)),
    {next_state, State, S1, [postpone]};
call({setopt, _, _} = Setopt, From, S) ->
    {keep_state, request(Setopt, {setopt, Setopt}, From, S)};
call({compile, Text, Args}, From, S) ->
    Compile = {compile, <<"script">>, script, Text, Args},
    {keep_state, request(Compile, {compile, Compile}, From, S)};
call(go, From, S) ->
    {keep_state, request({go, progress}, go, From, S#s{stopped = false})};
call(status, From, S) ->
    {keep_state, request(status, status, From, S)};
call({subscribe, Pid, Options}, From, S) ->
    subscribe(Pid, Options, From, S);
call(unsubscribe, From, #s{sub = Sub} = S) ->
    Sub =:= undefined orelse erlang:demonitor(Sub#sub.monitor, [flush]),
    reply(From, ok, leaves(S));
call({demand, _}, From, #s{sub = undefined} = S) ->
    reply(From, {error, not_subscribed}, S);
call({demand, N}, From, #s{sub = Sub} = S) ->
    reply(From, ok, over(pump(S#s{sub = release(Sub#sub{demand = Sub#sub.demand + N})})));
call(Call, From, #s{phase = open} = S) when Call =:= stop; element(1, Call) =:= walk; element(1, Call) =:= consume ->
    reply(From, {error, no_prog}, S);
call(stop, From, #s{phase = compiled} = S) ->
    case lists:keymember(go, #req.kind, maps:values(S#s.pending)) of
        true -> {keep_state, request(stop, stop, From, S)};
        false -> reply(From, ok, S)
    end;
call(stop, From, S) ->
    {keep_state, request(stop, stop, From, S)};
call(_, From, #s{phase = compiled} = S) -> % walk, consume
    reply(From, {error, not_running}, S);
call({walk, Mode, Names}, From, S) ->
    {keep_state, request({walk, Mode}, {walk, Mode, Names}, From, S)};
call({consume, _}, From, #s{sub = #sub{records = true}} = S) ->
    reply(From, {error, subscribed}, S);
call({consume, Ms}, From, #s{left = Left} = S) ->
    Wait = case lists:keymember(records, 1, Left) of true -> 0; false -> Ms end,
    {keep_state, request({consume, ?MAX, Wait}, consume, From, Wait + maps:get(timeout, S#s.options), S)}.

reply(From, Reply, S) ->
    gen_statem:reply(From, Reply),
    {keep_state, S}.

%% == the program ===============================================================================================

request(Request, Kind, From, #s{options = #{timeout := Timeout}} = S) ->
    request(Request, Kind, From, Timeout, S).

request(Request, Kind, From, Timeout, #s{next = Ref, pending = Pending} = S) ->
    Timer = erlang:start_timer(Timeout, self(), {request, Ref}),
    send(erltrace_port:request(Ref, Request),
         S#s{next = Ref + 1, pending = Pending#{Ref => #req{kind = Kind, from = From, timer = Timer, ms = Timeout}}}).

%% ms that the program still has for a request. A close does not wait for probes that are being placed.
left(#req{kind = close}, _) -> 0;
left(_, #s{heard = undefined}) -> 0;
left(#req{ms = Ms}, #s{heard = Heard}) -> Heard + Ms - now_ms().

now_ms() -> erlang:monotonic_time(millisecond).

send(_, #s{port = undefined} = S) -> S;
send(Frame, #s{out = []} = S) -> write(S#s{out = [Frame]});
send(Frame, #s{out = Out} = S) -> S#s{out = Out ++ [Frame]}.

write(#s{out = [Frame | Out], port = Port} = S) when Port =/= undefined ->
    case erltrace_port:send(Port, Frame) of
        true ->
            write(S#s{out = Out});
        false ->
            _ = erlang:start_timer(?BUSY, self(), write),
            S
    end;
write(S) ->
    S.

frame({reply, Ref, Result, Diags}, State, #s{pending = Pending} = S) ->
    case maps:take(Ref, Pending) of
        {#req{kind = Kind, from = From, timer = Timer}, Rest} ->
            _ = erlang:cancel_timer(Timer),
            answer(Kind, From, Result, Diags, State, note(Result, Diags, S#s{pending = Rest}));
        error ->
            keep_state_and_data
    end;
frame({progress, _, Progress}, _, #s{sub = Sub} = S) ->
    {keep_state, S#s{heard = now_ms(), sub = progress(Progress, Sub)}};
frame({relay, N, Term}, _, S) ->
    to_relay(N, {term, Term}, S);
frame({relay_end, N}, _, S) ->
    to_relay(N, done, S);
frame({fatal, Error}, _, S) ->
    die(erltrace_term:reason(Error, []), S);
frame(nonsense, _, S) ->
    erltrace_port:kill(S#s.port),
    die(erltrace_term:reason(protocol, "the port program sent something that makes no sense",
                            "is it of the same version as the application?"), S).

to_relay(N, Frame, #s{relays = Relays}) ->
    case Relays of
        #{N := Relay} -> erltrace_relay:frame(Relay, Frame);
        #{} -> ok
    end,
    keep_state_and_data.

%% Warnings of a request that succeeded wait for the next consume; those of one that failed are part of the error.
note({error, _}, _, S) -> S;
note(_, Diags, #s{notes = Notes} = S) -> S#s{notes = lists:sublist(lists:reverse(Diags) ++ Notes, ?NOTES)}.

%% Deals with an answer, by the kind of its request.
answer(step, _, {error, Error}, Diags, starting, S) ->
    die(erltrace_term:reason(Error, Diags), S);
answer(step, _, _, _, starting, #s{steps = [_, _ | _] = Steps} = S) ->
    {keep_state, step(S#s{steps = tl(Steps)})};
answer(step, _, _, _, starting, S) ->
    {next_state, ready, S#s{steps = []}};
answer(close, From, _, _, _, _) ->
    {stop_and_reply, normal, [{reply, From, ok}]};
answer({why, Continue}, _, Result, _, _, S) ->
    {keep_state, Continue(S#s{ended = why(Result, S)})};
answer(Kind, _, Result, _, _, #s{sub = Sub} = S) when element(1, Kind) =:= sub ->
    case Sub of
        #sub{ref = Ref} when Ref =:= element(3, Kind) -> {keep_state, subscribed(element(2, Kind), Result, S)};
        _ -> {keep_state, inherited(element(2, Kind), Result, S)}
    end;
answer(go, From, {error, #{code := abort}}, _, _, S) ->
    reply(From, {error, stopped}, S#s{again = true});
answer(Kind, From, {error, Error}, Diags, _, S) ->
    Failed = Kind =:= go orelse (is_tuple(Kind) andalso element(1, Kind) =:= compile),
    reply(From, {error, erltrace_term:reason(Error, Diags)}, S#s{again = S#s.again orelse Failed});
answer({setopt, Setopt}, From, _, _, _, #s{history = History} = S) ->
    reply(From, ok, S#s{history = [Setopt | History]});
answer({compile, Compile}, From, _, _, _, #s{history = History} = S) ->
    reply(From, ok, S#s{history = [Compile | History], phase = compiled});
answer(go, From, _, _, _, S) ->
    reply(From, ok, pump(begins(S#s{phase = running, history = []})));
answer(stop, From, _, _, _, S) ->
    reply(From, ok, S#s{stopped = true});
answer(status, From, {ok, #{} = Status}, _, _, S) ->
    reply(From, {ok, Status}, S);
answer({walk, keep, Names}, From, {ok, #{state := State, aggregations := Aggregations}}, _, _, S) ->
    walked(some(Aggregations), State, Names, From, S);
answer({walk, take, Names}, From, {ok, #{state := State, aggregations := Aggregations}}, _, _, #s{left = Left} = S) ->
    case lists:keytake(walk, 1, came({walk, some(Aggregations)}, Left)) of
        {value, {walk, First}, Rest} -> walked(First, State, Names, From, S#s{left = Rest});
        false -> walked([], State, Names, From, S)
    end;
answer(consume, From, {ok, #{state := State, items := Items, more := More}}, _, _, #s{notes = Notes, left = Left} = S) ->
    Before = [I || {records, L} <- Left, I <- L],
    case Before ++ [{diag, D} || D <- lists:reverse(Notes)] ++ erltrace_term:items(strings(S), Items) of
        [] when More -> reply(From, ok, S);
        [] -> empty(State, From, S);
        All -> reply(From, {ok, All}, S#s{notes = [], left = [L || {walk, _} = L <- Left]})
    end.

walked([], State, _, From, S) -> empty(State, From, S);
walked(Some, _, true, From, S) -> reply(From, {ok, erltrace_term:named(strings(S), Some)}, S);
walked(Some, _, false, From, S) -> reply(From, {ok, erltrace_term:entries(strings(S), Some)}, S).

%% Those that are not empty.
some(Aggregations) -> [A || {_, [_ | _]} = A <- Aggregations].

came({_, []}, Left) -> Left;
came(Results, Left) -> Left ++ [Results].

strings(#s{options = #{strings := Strings}}) -> Strings.

%% == the end ===================================================================================================

%% Answers that there is nothing; if there never will be, gives the reason.
empty(State, From, S) when State =:= done; State =:= failed ->
    {keep_state, ended(fun(#s{ended = Why} = S1) -> gen_statem:reply(From, {error, Why}), S1 end, S)};
empty(_, From, S) ->
    reply(From, ok, S).

%% Continues once the reason for the end of the trace is known.
ended(Continue, #s{ended = undefined} = S) -> request(status, {why, Continue}, undefined, S);
ended(Continue, S) -> Continue(S).

why({ok, #{state := failed, error := Error}}, _) -> erltrace_term:reason(Error, []);
why(_, #s{stopped = true}) -> stopped;
why({ok, #{overloaded := N}}, _) when N > 0 -> overload;
why({ok, #{exited := false, lost := N}}, _) when N > 0 -> lost;
why(_, _) -> exited.

%% Handles the end of the program, or ends it.
die(Reason, #s{pending = Pending, sub = Sub} = S) ->
    Replies = [{reply, From, case Kind of close -> ok; _ -> {error, Reason} end}
               || #req{kind = Kind, from = From} <- maps:values(Pending), From =/= undefined],
    Waiting = [C || #req{kind = {why, C}} <- maps:values(Pending)],
    Left = leave(S#s{reason = Reason}),
    Done = lists:foldl(fun(Continue, S1) -> Continue(S1) end, Left#s{ended = Reason}, Waiting),
    Closed = lists:keymember(close, #req.kind, maps:values(Pending)),
    Why = case Closed of true -> closed; false -> Reason end,
    Sub =:= undefined orelse Done#s.sub =:= undefined orelse (Sub#sub.pid ! {erltrace, Sub#sub.ref, {done, Why}}),
    case Closed of
        false -> {next_state, dead, Done#s{sub = undefined}, Replies};
        true -> {stop_and_reply, normal, Replies, Done#s{sub = undefined}}
    end.

%% == subscribers ===============================================================================================

subscribe(_, _, From, #s{sub = #sub{}} = S) ->
    reply(From, {error, subscribed}, S);
subscribe(Pid, #{demand := Demand, max := Max, every := Every, records := Records, progress := Progress}, From, #s{left = Left} = S) ->
    Ref = make_ref(),
    Kinds = [records || Records] ++ [walk || Every =/= undefined],
    {Mine, Others} = lists:partition(fun({Kind, _}) -> lists:member(Kind, Kinds) end, Left),
    Sub = #sub{ref = Ref, pid = Pid, monitor = erlang:monitor(process, Pid), demand = Demand, max = Max, every = Every,
               records = Records, progress = Progress, strings = strings(S), held = Mine, left = Kinds},
    reply(From, {ok, Ref}, pump(begins(S#s{sub = release(Sub), left = Others}))).

%% Walks count from the beginning of the trace, or of the subscription if that is later.
begins(#s{phase = running, sub = #sub{} = Sub} = S) -> S#s{sub = again(Sub)};
begins(S) -> S.

%% Keeps what it has not been sent for the next reader.
leaves(#s{sub = undefined} = S) -> S;
leaves(#s{sub = #sub{held = Held}, left = Left} = S) -> S#s{sub = undefined, left = Left ++ Held}.

again(#sub{every = undefined} = Sub) ->
    Sub;
again(#sub{every = Every, ref = Ref} = Sub) ->
    _ = erlang:start_timer(Every, self(), {walk, Ref}),
    Sub.

%% Requests what the subscriber has demanded.
pump(#s{phase = running, sub = #sub{demand = N, held = [], ref = Ref} = Sub} = S) when N > 0 ->
    S1 = case Sub of
             #sub{due = true, walking = false} ->
                 request({walk, take}, {sub, walk, Ref}, undefined, S#s{sub = Sub#sub{due = false, walking = true}});
             _ ->
                 S
         end,
    case S1#s.sub of
        #sub{consuming = false, left = [records | _], max = Max} = Sub1 ->
            request({consume, Max, ?WAIT}, {sub, consume, Ref}, undefined, ?WAIT + maps:get(timeout, S#s.options),
                    S1#s{sub = Sub1#sub{consuming = true}});
        _ ->
            S1
    end;
pump(S) ->
    S.

subscribed(What, {error, Error}, #s{sub = Sub} = S) ->
    over(S#s{ended = erltrace_term:reason(Error, []), sub = (idle(What, Sub))#sub{left = [], held = []}});
subscribed(consume, {ok, #{state := State, items := Items, more := More}}, #s{sub = Sub, notes = Notes} = S) ->
    Sub1 = case [{diag, D} || D <- lists:reverse(Notes)] ++ erltrace_term:items(strings(S), Items) of
               [] when not More, State =:= done; not More, State =:= failed ->
                   %% What was gathered since the last walk is sent as well.
                   #sub{left = Left} = idle(consume, Sub),
                   Sub#sub{consuming = false, left = Left -- [records], due = true};
               [] -> idle(consume, Sub);
               All -> deliver({records, All}, idle(consume, Sub))
           end,
    over(pump(S#s{sub = Sub1, notes = []}));
subscribed(walk, {ok, #{state := State, aggregations := Aggregations}}, #s{sub = Sub} = S) ->
    Over = State =:= done orelse State =:= failed,
    Sub1 = case some(Aggregations) of
               [] when Over, Sub#sub.left =:= [walk] -> (idle(walk, Sub))#sub{left = []};
               [] -> idle(walk, Sub);
               Some -> deliver({walk, Some}, (idle(walk, Sub))#sub{due = Over})
           end,
    over(pump(S#s{sub = Sub1})).

%% What was requested for a subscriber that is gone may come when there is none, or another one.
inherited(consume, {ok, #{items := Items}}, S) -> inherit({records, erltrace_term:items(strings(S), Items)}, S);
inherited(walk, {ok, #{aggregations := Aggregations}}, S) -> inherit({walk, some(Aggregations)}, S);
inherited(_, _, S) -> S.

inherit({_, []}, S) -> S;
inherit({records, _} = What, #s{sub = #sub{records = true} = Sub} = S) -> S#s{sub = deliver(What, Sub)};
inherit({walk, _} = What, #s{sub = #sub{every = Every} = Sub} = S) when Every =/= undefined -> S#s{sub = deliver(What, Sub)};
inherit(What, #s{left = Left} = S) -> S#s{left = came(What, Left)}.

idle(consume, Sub) -> Sub#sub{consuming = false};
idle(walk, Sub) -> Sub#sub{walking = false}.

%% Sends a message if there is demand; otherwise keeps it until there is.
deliver(What, #sub{demand = 0, held = Held} = Sub) ->
    Sub#sub{held = Held ++ [What]};
deliver(What, #sub{demand = N, pid = Pid, ref = Ref, strings = Strings} = Sub) ->
    Pid ! {erltrace, Ref, case What of
                              {records, _} -> What;
                              {walk, Some} -> {walk, erltrace_term:entries(Strings, Some)}
                          end},
    Sub#sub{demand = N - 1}.

%% Sends the progress of go now or never.
progress(Progress, #sub{progress = true, demand = N, pid = Pid, ref = Ref} = Sub) when N > 0 ->
    Pid ! {erltrace, Ref, {progress, Progress}},
    Sub#sub{demand = N - 1};
progress(_, Sub) ->
    Sub.

release(#sub{demand = N, held = [What | Held]} = Sub) when N > 0 -> release(deliver(What, Sub#sub{held = Held}));
release(Sub) -> Sub.

%% Once everything has been delivered, sends the reason for the end.
over(#s{sub = #sub{left = [], held = [], ref = Ref}} = S) ->
    ended(fun(#s{sub = #sub{pid = Pid, ref = R, monitor = Monitor}, ended = Why} = S1) when R =:= Ref ->
                  erlang:demonitor(Monitor, [flush]),
                  Pid ! {erltrace, Ref, {done, Why}},
                  S1#s{sub = undefined};
             (S1) -> % the subscriber has left meanwhile
                  S1
          end, S);
over(S) ->
    S.
