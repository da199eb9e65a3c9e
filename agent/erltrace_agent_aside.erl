%% erltrace_agent_aside - questions that the VM may take long to answer, or for ever: of ports (they wait until its driver is done), of the
%% code server, of all schedulers. A process of ours asks them, and the server waits for it no longer than it is told to: it has
%% consumers to hear.
%%
%% What always holds: the server waits at most for Ms milliseconds and Late answers that do not come; nothing of it is left when it
%% goes on, but a process that has been told to end.
-module(erltrace_agent_aside).

-export([each/4]).

%% [{X, F(X)} || X <- Xs], without those that have failed or not come within Ms. When Late of them have not come, the rest is
%% not asked any more.
-spec each(fun((X) -> term()), [X], pos_integer(), non_neg_integer()) -> [{X, term()}].
each(_, [], _, _) ->
    [];
each(_, _, _, 0) ->
    [];
each(F, Xs, Ms, Late) ->
    Tag = make_ref(),
    Server = self(),
    {Pid, Monitor} = erltrace_agent_lib:start(fun() -> ask(Server, Tag, F, Xs) end, [monitor, {priority, high}]),
    {Answers, Left} = answers(Xs, Tag, Monitor, Ms, []),
    erlang:demonitor(Monitor, [flush]),
    exit(Pid, kill),
    forget(Tag),
    case Left of
        [] -> Answers;
        [_ | Others] -> Answers ++ each(F, Others, Ms, Late - 1)
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

%% (One may still come; the server does not know it, and drops it.)
forget(Tag) ->
    receive
        {Tag, _} -> forget(Tag);
        {Tag, failed, _} -> forget(Tag)
    after 0 -> ok
    end.

ask(Server, Tag, F, Xs) ->
    process_flag(sensitive, true),
    [Server ! try {Tag, F(X)} catch Class:_ -> {Tag, failed, Class} end || X <- Xs].
