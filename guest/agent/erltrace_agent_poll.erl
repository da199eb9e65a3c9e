%% erltrace_agent_poll - what the agent asks the VM at intervals: the utilization of the schedulers, the lengths of their queues,
%% the traffic on connections to other nodes, the tables, the processes. Each program has its own period, and gets numbers since its own last poll.
%%
%% What always holds:
%%  * A poll of a consumer that has gone, or has begun again, does nothing: its round is not that of #s.polls.
%%  * The VM counts the flag scheduler_wall_time by process: the server holds it while a program needs it, and no longer.
-module(erltrace_agent_poll).

-export([apply_needs/2, undo/1, poll/3, tables/1, fire_tables/2, fire_processes/2]).

-include("erltrace_agent.hrl").

-define(KINDS, [?PROBE_DIST_TRAFFIC, ?PROBE_SCHEDULER_UTILIZATION, ?PROBE_SCHEDULER_RUN_QUEUE, ?PROBE_TABLE, ?PROBE_PROCESS_STATE]).

-define(LEAST, 10).                % ms of the shortest period
-define(ANSWER, 100).              % ms that a port, or all schedulers, have to answer
-define(MOST, 10000).              % most tables, and most processes, that are asked about at a time
-define(PIECE, 100).               % ... in one go
-define(LOOK, 200).                % ms after which no more are asked about
-define(SILENT, 2).                % processes that may not answer, in one go; then the others of it are left out
-define(UNKNOWN, 16#ffffffffffffffff).

-record(p, {
    round :: reference(),
    due :: integer(),              % ms, monotonic: when the next poll is due, however long this one takes
    period :: pos_integer(),       % ms
    program :: reference(),
    kinds :: [pos_integer()],
    left = [] :: [pid()],          % processes that have not been asked since the last time that all were
    walls = [] :: [{pos_integer(), integer(), integer()}], % scheduler_wall_time_all of the last poll
    links = #{} :: #{node() => {term(), [non_neg_integer()]}} % counters of the last poll
}).

%% Polls for the running programs that want it, and for no others.
apply_needs(Running, #s{polls = Old} = S) ->
    Want = maps:from_list([{Pid, C} || #c{pid = Pid, needs = N, told = #{kinds := Kinds}} = C <- Running, N =/= 0, polls(Kinds) =/= []]),
    Measure = lists:any(fun(#c{told = #{kinds := Kinds}}) -> lists:member(?PROBE_SCHEDULER_UTILIZATION, Kinds) end, maps:values(Want)),
    measured(Old) =:= Measure orelse erlang:system_flag(scheduler_wall_time, Measure),
    S#s{polls = maps:map(fun(Pid, C) ->
                             case Old of
                                 #{Pid := P} -> P;
                                 #{} -> start(Pid, C)
                             end
                         end, Want)}.

undo(S) ->
    apply_needs([], S).

polls(Kinds) ->
    [K || K <- Kinds, lists:member(K, ?KINDS)].

measured(Polls) ->
    lists:any(fun(#p{kinds = Kinds}) -> lists:member(?PROBE_SCHEDULER_UTILIZATION, Kinds) end, maps:values(Polls)).

start(Pid, #c{program = Program, told = #{kinds := Kinds, pollrate := Period0}}) ->
    Period = max(?LEAST, Period0),
    later(Pid, look(#p{round = make_ref(), due = erlang:monotonic_time(millisecond), period = Period, program = Program,
                       kinds = polls(Kinds)})).

later(Pid, #p{due = Due, period = Period, round = Round} = P) ->
    Now = erlang:monotonic_time(millisecond),
    Next = Due + Period * max(1, (Now - Due + Period - 1) div Period), % missed polls are not made up for
    erlang:send_after(Next, self(), {poll, Pid, Round}, [{abs, true}]),
    P#p{due = Next}.

poll(Pid, Round, #s{polls = Polls} = S) ->
    case Polls of
        #{Pid := #p{round = Round} = P} -> S#s{polls = Polls#{Pid := later(Pid, fire(P))}};
        #{} -> S
    end.

%% Takes the numbers that those of the next poll are compared with.
look(#p{kinds = Kinds} = P) ->
    P#p{walls = [X || lists:member(?PROBE_SCHEDULER_UTILIZATION, Kinds), X <- walls()],
        links = maps:from_list([X || lists:member(?PROBE_DIST_TRAFFIC, Kinds), X <- links()])}.

fire(#p{program = Program, kinds = Kinds, left = Left} = P0) ->
    P = case lists:member(?PROBE_PROCESS_STATE, Kinds) of
            true -> P0#p{left = asked(Program, Left)};
            false -> P0
        end,
    New = look(P),
    fire_tables(Program, tables(Kinds)),
    lists:member(?PROBE_SCHEDULER_UTILIZATION, Kinds) andalso
        [event(Program, ?PROBE_SCHEDULER_UTILIZATION, {I, type(I), permille(Active - Active0, Total - Total0)})
         || {{I, Active, Total}, {I, Active0, Total0}} <- both(New#p.walls, P#p.walls)],
    lists:member(?PROBE_SCHEDULER_RUN_QUEUE, Kinds) andalso run_queues(Program),
    maps:foreach(fun(Node, {Port, Now}) ->
                     {In, Out, Pending, InN, OutN} = since(Port, Now, maps:get(Node, P#p.links, none)),
                     event(Program, ?PROBE_DIST_TRAFFIC, {node(), Port, Node, In, Out, Pending, InN, OutN})
                 end, New#p.links),
    New.

event(Program, Kind, Args) ->
    ?AGENT:nif_event_of(Program, Kind, self(), Args).

%% -- schedulers

walls() ->
    case erltrace_agent_aside:each(fun erlang:statistics/1, [scheduler_wall_time_all], ?ANSWER, 1) of
        [{_, [_ | _] = L}] -> lists:sort(erltrace_agent_shapes:part(scheduler_wall_time_all, L));
        _ -> [] % a scheduler does not answer because a NIF holds it
    end.

both([{I, _, _} = A | As], [{I, _, _} = B | Bs]) -> [{A, B} | both(As, Bs)];
both(_, _) -> []. % there was no answer

permille(_, 0) -> 0;
permille(Active, Total) -> max(0, min(1000, (1000 * Active + Total div 2) div Total)).

type(I) ->
    Normal = erlang:system_info(schedulers),
    Dirty = Normal + erlang:system_info(dirty_cpu_schedulers),
    if I =< Normal -> normal;
       I =< Dirty -> dirty_cpu;
       true -> dirty_io
    end.

%% Fires with one number for each normal scheduler, then with one for all dirty ones of each type.
run_queues(Program) ->
    Lengths = erlang:statistics(run_queue_lengths_all),
    case erltrace_agent_shapes:known(run_queue_lengths_all, Lengths) of
        true -> run_queues(Program, Lengths);
        false -> erltrace_agent_shapes:note(run_queue_lengths_all)
    end.

run_queues(Program, Lengths) ->
    Normal = erlang:system_info(schedulers),
    lists:foldl(fun(Length, I) ->
                    Type = if I =< Normal -> normal;
                              I =:= Normal + 1 -> dirty_cpu;
                              true -> dirty_io
                           end,
                    event(Program, ?PROBE_SCHEDULER_RUN_QUEUE, {I, Type, Length}),
                    I + 1
                end, 1, Lengths).

%% -- tables

%% What ets:info/1 says of the tables, if these kinds of probes ask for it. (For a table whose counters are spread over the schedulers all of them
%% have to answer.)
tables(Kinds) ->
    case lists:member(?PROBE_TABLE, Kinds) andalso erltrace_agent_aside:each(fun(all) -> ets:all() end, [all], ?ANSWER, 1) of
        [{_, All}] when is_list(All) ->
            {Infos, _} = looked(fun ets:info/1, All, 1),
            erltrace_agent_shapes:part(ets_info, [Info || {_, Info} <- Infos, Info =/= undefined]);
        _ ->
            []
    end.

%% Asks F of each, as long as one look takes, and goes on after at most Late that do not answer, of ?PIECE. -> {answers, those that are left}
looked(F, Xs, Late) ->
    looked(F, Xs, Late, ?MOST div ?PIECE, erltrace_agent_lib:now_ms() + ?LOOK, []).

looked(F, [_ | _] = Xs, Late, N, Until, Acc) when N > 0 ->
    {Some, Others} = piece(Xs, ?PIECE, []),
    {Answers, Unasked} = erltrace_agent_aside:each_until(F, Some, ?ANSWER, Late, Until),
    case erltrace_agent_lib:now_ms() < Until of
        true -> looked(F, Others, Late, N - 1, Until, [Answers | Acc]);
        false -> {lists:append([Answers | Acc]), Unasked ++ Others}
    end;
looked(_, Xs, _, _, _, Acc) ->
    {lists:append(Acc), Xs}.

piece([X | Xs], N, Acc) when N > 0 -> piece(Xs, N - 1, [X | Acc]);
piece(Xs, _, Acc) -> {Acc, Xs}.

fire_tables(Program, Tables) ->
    lists:foldl(fun(Info, Left) ->
                    [Owner, Id, Name, Named, Objects, Words] = [proplists:get_value(K, Info) || K <- [owner, id, name, named_table, size, memory]],
                    event(Program, ?PROBE_TABLE, {Owner, Id, Name, if Named -> 1; true -> 0 end, Objects, Words, Left}),
                    Left - 1
                end, length(Tables) - 1, Tables).

%% -- processes

%% Fires for those that can be asked at once, if these kinds of probes ask for it.
fire_processes(Program, Kinds) ->
    lists:member(?PROBE_PROCESS_STATE, Kinds) andalso asked(Program, []).

%% Goes on with the processes that are left. -> those that are left then
asked(Program, []) ->
    asked(Program, processes());
asked(Program, Ps) ->
    {States, Left} = looked(fun state/1, Ps, ?SILENT),
    [state(Program, P, State) || {P, State} <- States, State =/= undefined],
    Left.

state(P) ->
    process_info(P, [message_queue_len, memory, reductions, current_function]).

state(Program, P, State) ->
    case erltrace_agent_shapes:known(process_state, State) of
        true ->
            [Messages, Bytes, Work, In] = [Value || {_, Value} <- State],
            is_ours(P, In) orelse ?AGENT:nif_event_of(Program, ?PROBE_PROCESS_STATE, P, {P, Messages, Bytes, Work, In});
        false ->
            erltrace_agent_shapes:note(process_state)
    end.

is_ours(P, {M, _, _}) -> P =:= self() orelse erltrace_agent_lib:ours(M);
is_ours(P, undefined) -> P =:= self().

%% -- connections

links() ->
    All = [L || {Node, _} = L <- erltrace_agent_shapes:connections(), not erltrace_agent_monitor:ours(Node)],
    Asked = maps:from_list(erltrace_agent_aside:each(fun counters/1, [P || {_, P} <- All, is_port(P)], ?ANSWER, 2)),
    %% If a process carries a connection, only that process knows the counters.
    [{Node, {P, maps:get(P, Asked, unknown)}} || {Node, P} <- All].

counters(Port) ->
    {ok, L} = inet:getstat(Port, [recv_oct, send_oct, send_pend, recv_cnt, send_cnt]), % or it is closed
    [begin {_, N} = lists:keyfind(K, 1, L), true = is_integer(N), N end || K <- [recv_oct, send_oct, recv_cnt, send_cnt, send_pend]].

%% What has been counted since the last poll; all of it for a new connection.
since(_, unknown, _) ->
    {?UNKNOWN, ?UNKNOWN, ?UNKNOWN, ?UNKNOWN, ?UNKNOWN};
since(Port, _, {Port, unknown}) -> % it did not answer at the last poll
    {?UNKNOWN, ?UNKNOWN, ?UNKNOWN, ?UNKNOWN, ?UNKNOWN};
since(Port, [In, Out, InN, OutN, Pending], {Port, [In0, Out0, InN0, OutN0, _]}) ->
    {In - In0, Out - Out0, Pending, InN - InN0, OutN - OutN0};
since(_, [In, Out, InN, OutN, Pending], _) ->
    {In, Out, Pending, InN, OutN}.
