%% erltrace_agent_meanwhile - the server answers consumers while it does something that takes long.
%%
%% Each call that sets a pattern waits for all schedulers, a tenth of a second on a busy node, and thousands of processes are asked one by
%% one. So such work runs inside during/3, and whatever takes long calls erltrace_agent_lib:breathe/0 between its steps. There the server
%% takes from its mailbox what can be answered at once (signs of life, readings, questions, new consumers), fires ticks that are due, and
%% reports its progress to consumers. Everything else waits in the mailbox, in order, until the work is done.
%%
%% What always holds:
%%  * What is answered meanwhile changes nothing that is set in the VM, and of the server's state only the consumers and how many are
%%    expected. No consumer is forgotten meanwhile. The message that one has gone may lie before the request of another one from a node of
%%    the same name: each such message is about one consumer (their pids differ) or, if it is about the node, about none that we are linked
%%    to.
%%  * A program is checked against other tracers only once it is known which sessions are ours; the first work creates them.
%%  * The work sees none of these changes: when it is done, latest/1 merges them into its result.
%%  * A consumer that ends while its own probes are being placed ends the work: breathe/0 throws, once, and what undoes the work is not
%%    disturbed again. The message about its end is handled after that.
-module(erltrace_agent_meanwhile).

-export([during/3, latest/1, serve/1, expect/2, done/2]).

-import(erltrace_agent_lib, [error4/3, now_ms/0]).

-include("erltrace_agent.hrl").

-define(KEY, meanwhile).
-define(TOLD, 200).                % ms between two reports of progress
-define(SOME, 100).                % most messages that are taken between two steps

-record(w, {
    s :: #s{},                     % with what has changed since the work began
    own :: pid() | undefined,      % the consumer whose probes are being placed
    told :: integer(),             % ms: when consumers were last told
    unit = functions :: functions | processes, % what is counted
    total = 0 :: non_neg_integer(),
    done = 0 :: non_neg_integer()
}).

%% Runs Work, which returns {Result, State}, and serves consumers meanwhile. Own: the consumer it is done for, if the work can be given up.
-spec during(pid() | undefined, #s{}, fun(() -> {R, #s{}})) -> {R, #s{}}.
during(Own, S, Work) ->
    put(?KEY, #w{s = S, own = Own, told = now_ms()}),
    try Work() of
        {Result, S1} -> {Result, latest(S1)}
    catch
        Class:Reason:Stack ->
            #w{s = S1} = get(?KEY),
            erase(?KEY),
            put(meanwhile_left, S1), % for whoever catches this
            erlang:raise(Class, Reason, Stack)
    end.

%% Returns a state that lacks what was changed meanwhile, with those changes.
-spec latest(#s{}) -> #s{}.
latest(S) ->
    case {erase(?KEY), erase(meanwhile_left)} of
        {#w{s = Now}, _} -> latest(S, Now);
        {_, #s{} = Now} -> latest(S, Now);
        _ -> S
    end.

latest(S, #s{consumers = Cs, expected = Expected, attached = Attached}) ->
    S#s{consumers = Cs, expected = Expected, attached = Attached}.

%% expect/2 adds to the number of functions (or processes) that are to be done, done/2 to the number that are done.
expect(Unit, N) ->
    count(fun(#w{unit = U, total = T} = W) when U =:= Unit -> W#w{total = T + N};
             (W) -> W#w{unit = Unit, total = N, done = 0}
          end).

done(Unit, N) ->
    count(fun(#w{unit = U, done = D} = W) when U =:= Unit -> W#w{done = D + N};
             (W) -> W
          end).

count(Add) ->
    case get(?KEY) of
        #w{} = W -> put(?KEY, Add(W)), ok;
        _ -> ok
    end.

%% Called between two steps: waits for a moment, so that other processes run, and answers messages that have come.
serve(Ms) ->
    case get(?KEY) of
        #w{} = W ->
            case erlang:function_exported(?AGENT, nif_loaded, 0) andalso apply(?AGENT, nif_loaded, []) of
                true ->
                    put(?KEY, serving), % answering may breathe as well
                    W1 = messages(W, Ms, ?SOME),
                    put(?KEY, tell(W1#w{s = leases(W1)})),
                    given_up();
                false ->
                    wait(Ms) % our code has been replaced or removed: that has to be handled first
            end;
        _ ->
            wait(Ms)
    end.

wait(Ms) ->
    receive after Ms -> ok end.

messages(W, _, 0) ->
    W;
messages(#w{own = Own, s = #s{session = Session}} = W, Ms, N) ->
    receive
        {erltrace, _, alive} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, Own, _, R} = M when R =:= stop; R =:= close -> ends(M, W);
        {'EXIT', Own, _} = M -> ends(M, W);
        {'DOWN', _, process, Own, _} = M -> ends(M, W);
        {nodedown, Node} = M when Own =/= undefined, node(Own) =:= Node ->
            self() ! M,
            case erltrace_agent_lib:linked(Own) of
                true -> wait(Ms), W; % about an earlier connection: it is taken again in another round
                false -> given_up(W)
            end;
        {erltrace, _, _, modules} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, members} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, examine} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, clock} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, {What, _}} = M when What =:= read; What =:= open; What =:= functions; What =:= bindings ->
            messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, {enable, _, _, _}} = M when Session =/= undefined -> messages(answer(M, W), 0, N - 1);
        {timeout, _, {tick, _, _, _, _}} = M -> messages(answer(M, W), 0, N - 1);
        {profile, _} = M -> messages(answer(M, W), 0, N - 1);
        {retry, _} = M -> messages(answer(M, W), 0, N - 1);
        {ask, _, _, {attach, _, _}} = M -> messages(answer(M, W), 0, N - 1)
    after Ms ->
        W
    end.

%% Handles a message as at any other time: none of these changes more than a consumer.
answer(Message, #w{s = S} = W) ->
    {noreply, S1} = ?AGENT:info(Message, S),
    W#w{s = S1}.

%% The consumer for which all this is done has gone, or wants to: its message is handled later, and the work need not go on.
ends(Message, W) ->
    self() ! Message,
    given_up(W).

given_up(W) ->
    put(given_up, true),
    W#w{own = undefined}.

%% Its lease may have run out as well; the message about that waits behind others.
leases(#w{s = S, own = undefined}) ->
    S;
leases(#w{s = #s{consumers = Cs} = S, own = Own}) ->
    case Cs of
        #{Own := #c{heard = Heard, lease = Lease}} ->
            Heard + 2 * Lease < now_ms() andalso put(given_up, true),
            S;
        #{} -> S
    end.

given_up() ->
    erase(given_up) =:= true andalso
        begin
            W = get(?KEY),
            put(?KEY, W#w{own = undefined}),
            throw(error4('AGENT_GIVEN_UP', "the trace was ended while its probes were being placed", ""))
        end.

%% Reports the progress to every consumer, so that one that waits for an answer knows why, and that the answer will come.
tell(#w{told = Told, s = #s{consumers = Cs}, own = Own, unit = Unit, done = Done, total = Total} = W) ->
    case now_ms() of
        Now when Now - Told >= ?TOLD ->
            [erlang:send(Pid, {erltrace, working, case Pid of Own -> true; _ -> false end, Unit, min(Done, Total), Total}, [nosuspend, noconnect])
             || #c{pid = Pid, unsent = []} <- maps:values(Cs)],
            W#w{told = Now};
        _ ->
            W
    end.
