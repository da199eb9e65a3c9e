%% erltrace_agent_meanwhile - the server answers while it does something that takes long.
%%
%% Each call that sets a pattern waits for all schedulers, a tenth of a second on a busy node, and thousands of processes are asked one
%% by one. So such work goes on in during/3, and whatever takes long calls erltrace_agent_lib:breathe/0 between its steps. There the server
%% takes from its mailbox what can be answered at once (signs of life, readings, questions, who comes), fires ticks that are due, and
%% tells consumers how far it is. All else waits in the mailbox, in its order, until the work is done.
%%
%% What always holds:
%%  * What is answered meanwhile changes nothing that is set in the VM, and of the server's state only the consumers and who is expected.
%%    No consumer is forgotten meanwhile. The word that one has gone may lie before the request of another to come, from a node of the same
%%    name: each such word means one consumer (their pids differ), or if it is that of the node, none to which we are linked.
%%  * A program is checked against who else traces: not before it is known which sessions are ours, and the first work makes them.
%%  * The work sees none of that: when it is done, latest/1 puts these together with its result.
%%  * A consumer that ends while its own probes are being placed ends the work: breathe/0 throws, once, and what undoes the work is
%%    not disturbed any more. The message that says so is handled after it.
-module(erltrace_agent_meanwhile).

-export([during/3, latest/1, serve/1, expect/2, done/2]).

-import(erltrace_agent_lib, [error4/3, now_ms/0]).

-include("erltrace_agent.hrl").

-define(KEY, meanwhile).
-define(TOLD, 200).                % ms between two messages that tell how far it is
-define(SOME, 100).                % messages that are taken between two steps

-record(w, {
    s :: #s{},                     % with what has changed since the work began
    own :: pid() | undefined,      % the consumer whose probes are being placed
    told :: integer(),             % ms: when consumers were last told
    unit = functions :: functions | processes, % what is counted
    total = 0 :: non_neg_integer(),
    done = 0 :: non_neg_integer()
}).

%% Does Work, which gives {Result, State}, and serves meanwhile. Own: the consumer for which it is done, if it can be given up.
-spec during(pid() | undefined, #s{}, fun(() -> {R, #s{}})) -> {R, #s{}}.
during(Own, S, Work) ->
    put(?KEY, #w{s = S, own = Own, told = now_ms()}),
    try Work() of
        {Result, S1} -> {Result, latest(S1)}
    catch
        Class:Reason:Stack ->
            #w{s = S1} = get(?KEY),
            erase(?KEY),
            put(meanwhile_left, S1), % for who catches this
            erlang:raise(Class, Reason, Stack)
    end.

%% A state that knows nothing of what has been answered meanwhile, with that.
-spec latest(#s{}) -> #s{}.
latest(S) ->
    case {erase(?KEY), erase(meanwhile_left)} of
        {#w{s = Now}, _} -> latest(S, Now);
        {_, #s{} = Now} -> latest(S, Now);
        _ -> S
    end.

latest(S, #s{consumers = Cs, expected = Expected, attached = Attached}) ->
    S#s{consumers = Cs, expected = Expected, attached = Attached}.

%% So many more functions (or processes) are to be done; so many are.
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

%% Between two steps: waits for a moment, so that other processes run, and answers what has come.
serve(Ms) ->
    case get(?KEY) of
        #w{} = W ->
            case erlang:function_exported(?AGENT, nif_loaded, 0) andalso apply(?AGENT, nif_loaded, []) of
                true ->
                    put(?KEY, serving), % what is answered may breathe, too
                    W1 = messages(W, Ms, ?SOME),
                    put(?KEY, tell(W1#w{s = leases(W1)})),
                    given_up();
                false ->
                    wait(Ms) % our code has been replaced, or taken away: that comes first
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
                true -> wait(Ms), W; % of one before it: it comes again, in another round
                false -> given_up(W)
            end;
        {erltrace, _, _, modules} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, examine} = M -> messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, {What, _}} = M when What =:= read; What =:= open; What =:= functions; What =:= bindings ->
            messages(answer(M, W), 0, N - 1);
        {erltrace, _, _, {enable, _, _, _}} = M when Session =/= undefined -> messages(answer(M, W), 0, N - 1);
        {timeout, _, {tick, _, _, _, _}} = M -> messages(answer(M, W), 0, N - 1);
        {retry, _} = M -> messages(answer(M, W), 0, N - 1);
        {ask, _, _, {attach, _, _}} = M -> messages(answer(M, W), 0, N - 1)
    after Ms ->
        W
    end.

%% As if it had come at another time: none of these does more than change a consumer.
answer(Message, #w{s = S} = W) ->
    {noreply, S1} = ?AGENT:info(Message, S),
    W#w{s = S1}.

%% The consumer for which all this is done has gone, or wants to: that is for later, and there is no need to go on.
ends(Message, W) ->
    self() ! Message,
    given_up(W).

given_up(W) ->
    put(given_up, true),
    W#w{own = undefined}.

%% Its lease may have run out as well; the message that says so waits behind others.
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

%% Every consumer hears how far it is, so that who waits for an answer knows why, and that one will come.
tell(#w{told = Told, s = #s{consumers = Cs}, own = Own, unit = Unit, done = Done, total = Total} = W) ->
    case now_ms() of
        Now when Now - Told >= ?TOLD ->
            [erlang:send(Pid, {erltrace, working, case Pid of Own -> true; _ -> false end, Unit, min(Done, Total), Total}, [nosuspend, noconnect])
             || #c{pid = Pid, unsent = []} <- maps:values(Cs)],
            W#w{told = Now};
        _ ->
            W
    end.
