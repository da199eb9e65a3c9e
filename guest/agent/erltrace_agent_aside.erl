%% erltrace_agent_aside - questions that the VM may take long to answer, or never answer: to ports (they wait until the driver is done), to
%% the code server, to all schedulers. A helper process asks them, and the server waits for it no longer than a limit, because it has
%% consumers to hear.
%%
%% A helper that asks a driver causes events of its port. The library knows the helper, and leaves out what it has asked for (nif_asker).
%%
%% What always holds: the server waits at most Ms milliseconds for each answer and for at most Late answers that do not come, and no longer than until
%% a time that is given. When it goes on, nothing is left of the question but a helper that has been told to end.
-module(erltrace_agent_aside).

-export([each/4, each_until/5]).

-include("erltrace_agent.hrl").

%% Returns [{X, F(X)} || X <- Xs], without those that failed or did not come within Ms milliseconds. Once Late of them have not come, the
%% rest are not asked.
-spec each(fun((X) -> term()), [X], pos_integer(), non_neg_integer()) -> [{X, term()}].
each(F, Xs, Ms, Late) ->
    element(1, each_until(F, Xs, Ms, Late, infinity)).

%% The same until a time (erltrace_agent_lib:now_ms/0), with those that were not asked then, or because Late of them had not come.
-spec each_until(fun((X) -> term()), [X], pos_integer(), non_neg_integer(), integer() | infinity) -> {[{X, term()}], [X]}.
each_until(_, [], _, _, _) ->
    {[], []};
each_until(_, Xs, _, 0, _) ->
    {[], Xs};
each_until(F, Xs, Ms, Late, Until) ->
    Tag = make_ref(),
    Server = self(),
    {Pid, Monitor} = erltrace_agent_lib:start(fun() -> ask(Server, Tag, F, Xs) end, [monitor, {priority, high}]),
    {Answers, Left} = case hidden(Tag, Monitor, within(Ms, Until)) of
                          true ->
                              asks(Pid),
                              Pid ! Tag,
                              answers(Xs, Tag, Monitor, Ms, Until, []);
                          false ->
                              {[], Xs}
                      end,
    erlang:demonitor(Monitor, [flush]),
    exit(Pid, kill),
    forget(Tag),
    case Left of
        [] -> {Answers, []};
        [_ | Others] ->
            {More, Unasked} = each_until(F, Others, Ms, case within(Ms, Until) of 0 -> 0; _ -> Late - 1 end, Until),
            {Answers ++ More, Unasked}
    end.

within(Ms, infinity) -> Ms;
within(Ms, Until) -> max(0, min(Ms, Until - erltrace_agent_lib:now_ms())).

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

answers([], _, _, _, _, Acc) ->
    {lists:reverse(Acc), []};
answers([X | Xs] = Left, Tag, Monitor, Ms, Until, Acc) ->
    receive
        {Tag, Answer} -> answers(Xs, Tag, Monitor, Ms, Until, [{X, Answer} | Acc]);
        {Tag, failed, _} -> answers(Xs, Tag, Monitor, Ms, Until, Acc);
        {'DOWN', Monitor, process, _, _} -> {lists:reverse(Acc), Left}
    after within(Ms, Until) ->
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
