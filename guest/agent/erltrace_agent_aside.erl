%% erltrace_agent_aside - questions that the VM may take long to answer, or never answer: to ports (they wait until the driver is done), to
%% the code server, to all schedulers. A helper process asks them, and the server waits for it no longer than a limit, because it has
%% consumers to hear.
%%
%% A helper that asks a driver causes events of its port. The library knows the helper, and leaves out what it has asked for (nif_asker).
%%
%% What always holds: the server waits at most Ms milliseconds for each answer and for at most Late answers that do not come. When it goes
%% on, nothing is left of the question but a helper that has been told to end.
-module(erltrace_agent_aside).

-export([each/4]).

-include("erltrace_agent.hrl").

%% Returns [{X, F(X)} || X <- Xs], without those that failed or did not come within Ms milliseconds. Once Late of them have not come, the
%% rest are not asked.
-spec each(fun((X) -> term()), [X], pos_integer(), non_neg_integer()) -> [{X, term()}].
each(_, [], _, _) ->
    [];
each(_, _, _, 0) ->
    [];
each(F, Xs, Ms, Late) ->
    Tag = make_ref(),
    Server = self(),
    {Pid, Monitor} = erltrace_agent_lib:start(fun() -> ask(Server, Tag, F, Xs) end, [monitor, {priority, high}]),
    {Answers, Left} = case hidden(Tag, Monitor, Ms) of
                          true ->
                              asks(Pid),
                              Pid ! Tag,
                              answers(Xs, Tag, Monitor, Ms, []);
                          false ->
                              {[], Xs}
                      end,
    erlang:demonitor(Monitor, [flush]),
    exit(Pid, kill),
    forget(Tag),
    case Left of
        [] -> Answers;
        [_ | Others] -> Answers ++ each(F, Others, Ms, Late - 1)
    end.

%% Waits until programs do not see the helper any more. It gets no message before.
hidden(Tag, Monitor, Ms) ->
    receive
        {Tag, hidden} -> true;
        {'DOWN', Monitor, process, _, _} -> false
    after Ms -> false
    end.

asks(Pid) ->
    try ?AGENT:nif_asker(Pid)
    catch error:_ -> ok % the library is not there, and nothing is seen
    end.

answers([], _, _, _, Acc) ->
    {lists:reverse(Acc), []};
answers([X | Xs] = Left, Tag, Monitor, Ms, Acc) ->
    receive
        {Tag, Answer} -> answers(Xs, Tag, Monitor, Ms, [{X, Answer} | Acc]);
        {Tag, failed, _} -> answers(Xs, Tag, Monitor, Ms, Acc);
        {'DOWN', Monitor, process, _, _} -> {lists:reverse(Acc), Left}
    after Ms ->
        {lists:reverse(Acc), Left}
    end.

%% (Another answer may still come; the server does not know it, and drops it.)
forget(Tag) ->
    receive
        {Tag, _} -> forget(Tag);
        {Tag, failed, _} -> forget(Tag)
    after 0 -> ok
    end.

ask(Server, Tag, F, Xs) ->
    process_flag(sensitive, true),
    Server ! {Tag, hidden},
    receive Tag -> ok end,
    [Server ! try {Tag, F(X)} catch Class:_ -> {Tag, failed, Class} end || X <- Xs].
