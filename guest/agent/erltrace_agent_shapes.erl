%% erltrace_agent_shapes - what the agent takes for granted of the messages that the VM sends to the server, and of its answers: one row for each.
%% (guest/words/shapes.list has those of trace/5, which the library looks at itself.)
%%
%% What always holds:
%%  * A message with another shape is dropped: it fires nothing and changes nothing. It is counted (SHAPE in drops.list) for each program that
%%    needs what it is about, and the consumers are told once what it was.
%%  * An answer with another shape counts as no answer, and the consumers are told once what it was.
%%  * The server never ends for a shape.
-module(erltrace_agent_shapes).

-export([known/2, lost/3, heard/2, part/2, connections/0, note/1, watch/1]).

-import(erltrace_agent_lib, [text/2]).

-include("erltrace_agent.hrl").

-define(is_count(N), (is_integer(N) andalso (N) >= 0)).

%% The rows: in OTP 25.2.3, 27.3.4.1 and 29.1.1 there is none that differs, but for long_message_queue, which OTP 25 and 26 do not have
%% (?OTP_LONG_QUEUES). All are of a module that the VM's own sources have (erl_trace.c, net_kernel, bif.c, erl_bif_info.c).
-spec known(atom() | {system, atom()}, term()) -> boolean().
%% -- the system monitor: {monitor, P, What, Info}
known({system, busy_port}, {P, Port}) -> is_pid(P) andalso is_port(Port);
known({system, busy_dist_port}, {P, Port}) -> is_pid(P) andalso (is_port(Port) orelse is_pid(Port));
known({system, long_gc}, {P, Info}) -> is_pid(P) andalso counts([timeout | ?HEAP_SIZES], Info);
known({system, large_heap}, {P, Info}) -> is_pid(P) andalso counts(?HEAP_SIZES, Info);
known({system, long_schedule}, {P, Info}) when is_pid(P) ->
    counts([timeout], Info) andalso lists:all(fun(K) -> is_place(lists:keyfind(K, 1, Info)) end, [in, out]);
known({system, long_schedule}, {P, Info}) when is_port(P) ->
    counts([timeout], Info) andalso case lists:keyfind(port_op, 1, Info) of {_, Op} -> is_atom(Op); _ -> false end;
known({system, long_message_queue}, {P, Long}) -> is_pid(P) andalso is_boolean(Long);
%% -- net_kernel:monitor_nodes/2: {nodeup | nodedown, Node, Info}
known(nodeup, {Node, Info}) -> is_atom(Node) andalso is_node(Info);
known(nodedown, {Node, Info}) -> is_atom(Node) andalso is_node(Info) andalso is_map_key(nodedown_reason, Info);
%% -- answers
known(dist_ctrl, {Node, Controller}) -> is_atom(Node) andalso (is_port(Controller) orelse is_pid(Controller));
known(scheduler_wall_time_all, {I, Active, Total}) -> ?is_count(I) andalso ?is_count(Active) andalso ?is_count(Total);
known(run_queue_lengths_all, L) -> is_counts(L) andalso length(L) =:= erlang:system_info(schedulers) + 2;
known(port_info, [{name, Name}, {connected, Owner}]) -> io_lib:char_list(Name) andalso is_pid(Owner) andalso node(Owner) =:= node();
known(tracer, {tracer, Tracer}) -> is_pid(Tracer) orelse is_port(Tracer) orelse is_list(Tracer) orelse (is_tuple(Tracer) andalso tuple_size(Tracer) =:= 2);
known(ets_info, Info) ->
    counts([size, memory], Info) andalso is_pid(proplists:get_value(owner, Info)) andalso is_reference(proplists:get_value(id, Info)) andalso
        is_atom(proplists:get_value(name, Info)) andalso is_boolean(proplists:get_value(named_table, Info));
%% of process_info/2, with and without ?OTP_LABELS
known(process_info, [{initial_call, Call}, {{dictionary, '$initial_call'}, _}, {{dictionary, '$process_label'}, _}, {{dictionary, process_name}, _}]) ->
    known(mfa, Call);
known(process_info, [{initial_call, Call}, {total_heap_size, Words}]) -> known(mfa, Call) andalso ?is_count(Words);
known(process_state, [{message_queue_len, Messages}, {memory, Bytes}, {reductions, Work}, {current_function, F}]) ->
    ?is_count(Messages) andalso ?is_count(Bytes) andalso ?is_count(Work) andalso (F =:= undefined orelse known(mfa, F));
known(mfa, {M, F, A}) -> is_atom(M) andalso is_atom(F) andalso ?is_count(A);
known(_, _) -> false.

%% Whether a list of pairs has these keys with numbers that are not negative. Other pairs say by their keys what they are.
counts(Keys, Info) ->
    is_pairs(Info) andalso lists:all(fun(K) -> case lists:keyfind(K, 1, Info) of {_, N} -> ?is_count(N); false -> false end end, Keys).

is_pairs([{K, _} | More]) -> is_atom(K) andalso is_pairs(More);
is_pairs(End) -> End =:= [].

is_counts([N | More]) -> ?is_count(N) andalso is_counts(More);
is_counts(End) -> End =:= [].

is_place({_, undefined}) -> true;
is_place({_, MFA}) -> known(mfa, MFA);
is_place(false) -> false.

is_node(#{node_type := Type}) -> Type =:= visible orelse Type =:= hidden;
is_node(_) -> false.

%% The part of an answer that has the shape; that there is another one is told at the next check.
part(Row, L) ->
    {Known, Other} = split(Row, L, []),
    Other andalso note(Row),
    Known.

split(Row, [X | Xs], Acc) ->
    case known(Row, X) of
        true -> split(Row, Xs, [X | Acc]);
        false -> {lists:reverse(Acc), true}
    end;
split(_, End, Acc) ->
    {lists:reverse(Acc), End =/= []}.

%% The connections to other nodes, {Node, Port or Pid}.
connections() ->
    part(dist_ctrl, erlang:system_info(dist_ctrl)).

%% == what is lost =============================================================================================

%% Counts a message for the programs that have one of these needs, and tells the consumers of it once.
-spec lost(non_neg_integer(), term(), #s{}) -> #s{}.
lost(Needs, Row, #s{consumers = Cs} = S) ->
    [?AGENT:nif_count_unknown(P, 1) || #c{phase = running, needs = N, program = P} <- maps:values(Cs), N band Needs =/= 0],
    tell(Row, S).

%% A message to the server that no clause knows: perhaps one of the VM with more or fewer elements than those that we know. Only what the VM
%% sends because we have asked for it counts; any process may send anything.
heard(M, S) when is_tuple(M), tuple_size(M) > 0 ->
    case element(1, M) of
        monitor -> lost(?NEED_MONITOR, {system, any}, S);
        Node when Node =:= nodeup; Node =:= nodedown -> lost(?NEED_NODES, Node, S);
        trace_ts -> tell(trace_ts, S);
        _ -> S
    end;
heard(_, S) ->
    S.

%% Remembers an answer, where there is no state at hand.
note(Row) ->
    put(shapes, (noted())#{Row => true}),
    ok.

noted() ->
    case get(shapes) of
        #{} = M -> M;
        undefined -> #{}
    end.

%% -> the state in which the consumers are told of what the library, and the server, have met since the last check
watch(S) ->
    Rows = [{event, Tag} || Tag <- ?AGENT:nif_unknown()] ++ maps:keys(noted()),
    _ = erase(shapes),
    lists:foldl(fun tell/2, S, Rows).

tell(Row, #s{otp = Otp} = S) ->
    erltrace_agent_needs:complain({{shape, Row}, text("OTP ~b ~s in a form that this erltrace does not know: ~s; use an erltrace that knows this release",
                                                      [Otp, said(Row), left_out(Row)])}, S).

said({event, other}) -> "reports an event";
said({event, Tag}) -> io_lib:format("reports the trace event ~s", [Tag]);
said({system, any}) -> "sends a message of the system monitor";
said({system, What}) -> io_lib:format("sends ~0P of the system monitor", [What, 5]);
said(Node) when Node =:= nodeup; Node =:= nodedown -> io_lib:format("sends ~s of net_kernel", [Node]);
said(trace_ts) -> "reports a call, that loads code or sets trace flags,";
said(Row) -> io_lib:format("answers for ~s", [Row]).

left_out({event, _}) -> "such events are left out and counted as drops";
left_out({system, _}) -> "such messages are left out and counted as drops";
left_out(Node) when Node =:= nodeup; Node =:= nodedown -> "such messages are left out and counted as drops";
left_out(trace_ts) -> "code that is loaded, or what other tools trace, may be noticed late";
left_out(process_info) -> "such processes have no names";
left_out(port_info) -> "such ports have no names";
left_out(_) -> "what it says is left out".
