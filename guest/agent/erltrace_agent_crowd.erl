%% erltrace_agent_crowd - the same question to very many processes.
%%
%% A process itself answers what the VM reports of it (erlang:trace_info/2), among its other signals: in some 2 us on an idle node. On a
%% busy node it waits for its turn, and so does whoever asks, for a time slice of a working process each time: 0.1 to 0.5 ms. So several
%% helper processes ask side by side, and the server collects their answers and hears its consumers meanwhile.
%%
%% What always holds:
%%  * Helpers change nothing. The server itself acts on the answers; so nothing is changed after its end.
%%  * Helpers end with the server, or when it says so (dismiss/0).
%%  * A question that a helper cannot ask because it was killed is asked by the server.
-module(erltrace_agent_crowd).

-export([fold/4, fold/5, dismiss/0]).

-include("erltrace_agent.hrl").

-define(FEW, 500).                 % processes that the server asks itself
-define(AT_A_TIME, 32).            % processes that a helper asks per answer
-define(ASKERS, 64).
-define(ROOM, 10000).              % free places for processes that a node must have before we start helpers
-define(PAUSE, 5).                 % ms between two breaths when no answer comes

%% Calls F(P, Ask(P), Acc) for each process of the list, in no order; Ask(P) counts as `undefined` if it fails.
-spec fold(fun((P) -> A), fun((P, A, Acc) -> Acc), Acc, [P]) -> Acc.
fold(Ask, F, Acc, Ps) ->
    fold(Ask, F, Acc, Ps, infinity).

%% As fold/4, but leaves out the processes that have not answered within Ms milliseconds of the last answer.
fold(Ask, F, Acc, Ps, Ms) ->
    case length(Ps) > ?FEW andalso askers() of
        [_ | _] = Askers -> share(Ask, F, Acc, Ps, Ms, Askers);
        _ -> erltrace_agent_lib:fold_list(fun(P, A) -> F(P, answer(Ask, P), A) end, Acc, Ps)
    end.

%% Ends the helpers, which are not needed for now.
dismiss() ->
    case erase(askers) of
        undefined -> ok;
        Askers -> lists:foreach(fun(P) -> exit(P, kill) end, Askers)
    end.

askers() ->
    Have = case get(askers) of
               undefined -> [];
               Askers -> lists:filter(fun erltrace_agent_lib:alive/1, Askers)
           end,
    case Have =:= [] andalso erlang:system_info(process_limit) - erlang:system_info(process_count) > ?ROOM of
        true ->
            Server = self(),
            New = [erltrace_agent_lib:start(fun() -> asker(Server) end, [{priority, high}]) || _ <- lists:seq(1, ?ASKERS)],
            put(askers, New),
            New;
        false -> Have
    end.

share(Ask, F, Acc, Ps, Ms, Askers) ->
    Tag = make_ref(),
    Monitors = [{P, erlang:monitor(process, P)} || P <- Askers],
    {Out, Left} = lists:foldl(fun({P, _}, {Out, Left}) -> next(P, Tag, Ask, Left, Out) end, {#{}, Ps}, Monitors),
    try
        take({Tag, Ask, F, Ms}, Acc, Left, Out, erltrace_agent_lib:now_ms())
    of
        {Acc1, Silent} ->
            Silent =:= #{} orelse dismiss(),
            Acc1
    catch
        Class:Reason:Stack ->
            dismiss(),
            erlang:raise(Class, Reason, Stack)
    after
        [erlang:demonitor(M, [flush]) || {_, M} <- Monitors],
        forget(Tag)
    end.

%% Sends a helper its next part.
next(_, _, _, [], Out) ->
    {Out, []};
next(P, Tag, Ask, Left, Out) ->
    {Part, Rest} = part(Left, ?AT_A_TIME, []),
    P ! {self(), Tag, Ask, Part},
    {Out#{P => Part}, Rest}.

part([P | Ps], N, Acc) when N > 0 -> part(Ps, N - 1, [P | Acc]);
part(Ps, _, Acc) -> {Acc, Ps}.

%% Out: which helper is asking which processes. -> {Acc, what is still out}
take({_, Ask, F, _}, Acc, Left, Out, _) when map_size(Out) =:= 0 ->
    {erltrace_agent_lib:fold_list(fun(P, A) -> F(P, answer(Ask, P), A) end, Acc, Left), #{}}; % no helper is left
take({Tag, Ask, F, Ms} = How, Acc, Left, Out, Since) ->
    receive
        {Tag, P, Answers} ->
            {Out1, Left1} = next(P, Tag, Ask, Left, maps:remove(P, Out)),
            Acc1 = lists:foldl(fun({Q, Answer}, A) -> F(Q, Answer, A) end, Acc, Answers),
            erltrace_agent_lib:breathe(),
            take(How, Acc1, Left1, Out1, erltrace_agent_lib:now_ms());
        {'DOWN', _, process, P, _} when is_map_key(P, Out) ->
            {Part, Out1} = maps:take(P, Out),
            take(How, Acc, Part ++ Left, Out1, Since)
    after ?PAUSE ->
        case Ms =/= infinity andalso erltrace_agent_lib:now_ms() - Since >= Ms of
            true -> {Acc, Out};
            false ->
                erltrace_agent_lib:breathe(),
                take(How, Acc, Left, Out, Since)
        end
    end.

forget(Tag) ->
    receive {Tag, _, _} -> forget(Tag)
    after 0 -> ok
    end.

asker(Server) ->
    process_flag(sensitive, true),
    asker(Server, erlang:monitor(process, Server)).

asker(Server, Monitor) ->
    receive
        {Server, Tag, Ask, Ps} ->
            Server ! {Tag, self(), [{P, answer(Ask, P)} || P <- Ps]},
            asker(Server, Monitor);
        {'DOWN', Monitor, process, Server, _} ->
            ok;
        _ ->
            asker(Server, Monitor)
    end.

answer(Ask, P) ->
    try Ask(P)
    catch _:_ -> undefined
    end.
