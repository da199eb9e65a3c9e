%% erltrace_agent - the agent in a traced node: the server that consumers talk to, and the stubs of its NIF.
%%
%% doc/agent-protocol.md describes how it gets into the node and what consumers ask of it; erltrace_agent.hrl lists its parts. The parts become
%% one module, compiled once, by the oldest OTP, and loaded by every release; so they match no binaries (the newest OTP refuses that code).
%% Sections:
%%   coming          vsn, attach, placing and loading the NIF library
%%   serving         the server: consumers, leases, requests
%%   reading         flip, wait, drain, reply
%%   leaving         undoing, unloading; the guard, which does both if the server is killed
%%   nif stubs
%%
%% What always holds:
%%  * The tracer term is {erltrace_agent, ?STATE} everywhere: the VM takes two different terms for two tracers.
%%  * The agent clears everything that it has set, and nothing else.
%%  * The agent never causes an entry in the node's log. So none of its processes is an OTP behaviour (a gen_server that fails logs that), and
%%    none ends with an error (which the VM would report): each runs below a catch that is not the agent's code, because that code may be removed
%%    from the node just as a process starts or makes a call (erltrace_agent_lib:start/2).
-module(erltrace_agent).

%% For consumers, for the VM, and for processes that run older code of the agent: all that the module exports in a node.
-outside([vsn/0, attach/2, enabled/3, trace/5, turn/2, nif_loaded/0]).
-export([vsn/0, attach/2]).
-export([enabled/3, trace/5]).
-export([turn/2]).
%% For the agent's other parts; the library refuses any caller but the server.
-export([nif_event/3, nif_event_of/4, nif_block/3, nif_unblock/1, nif_blocked/1, nif_forget_blocked/1]).
-export([settled/0, nif_loaded/0, nif_loading/1, nif_records_old/2, nif_counted/3, nif_reading/2, nif_missed/1, nif_count_missed/2, nif_count_unknown/2, nif_unknown/0, tell/3, info/2]).
-export([nif_publish/3, nif_framed/3, nif_gate/1, nif_settled/0, nif_status/1, nif_lost/0, nif_overruns/0, nif_sweep/1,
         nif_ports/1, nif_unknown_ports/1, nif_names/1, nif_asked/0, nif_small/0, nif_asker/1, nif_load/3, nif_stolen/0, nif_alive/1,
         nif_code_begin/1, nif_code_add/2, nif_code_scan/0, nif_code_end/0, nif_code_stale/0, nif_code_rest/0, nif_code_names/1,
         nif_profile_able/0, nif_profile_offered/1, nif_profile_enter/0, nif_profile_entered/0, nif_profile_add/2, nif_profile_rates/1, nif_profile_close/0, nif_profile_take/2, nif_profile_counts/1,
         nif_collecting_ask/1, nif_collecting_begin/1, nif_collecting_end/0, nif_collecting_prove/0, nif_collecting_watch/0, nif_collecting_proven/0,
         nif_profile_others/1, nif_profile_process/0, nif_profile_dirty/1, nif_profile_dirty_io/1, nif_profile_proven/0, nif_profile_unlearned/0, nif_wall_counts/1,
         nif_inside_known/0, nif_inside_begin/2, nif_inside_look/0, nif_inside_keep/1, nif_inside_rest/0, nif_inside_prove/0]).

-import(erltrace_agent_lib, [error4/3, text/2, ours/1, now_ms/0]).
-import(erltrace_agent_needs, [apply_needs/1, apply_needs/2]).

-include("erltrace_agent.hrl").

-define(VERSION, "0.1.0").
-define(ATOMS_LEFT, 10000). % of the atom table, at least: twice what a program may name, and its functions

-define(AGGREGATIONS, 2).          % a bit of what is read: RECORD_AGGS
-define(REPLY_BYTES, 1048576).     % most bytes of blocks in one reply to read
-define(SLOW, 500000000).          % ns: before each tick of this period or a longer one what the VM has counted is read (c_src/tier/counts.h)
-define(READ_WAIT, 50).            % ms that a read waits for threads that are inside an event
-define(STOP_WAIT, 2000).          % ms that stop waits for such threads
-define(RETRY, 20).                % ms until a reply that did not fit into the connection is sent again
-define(UNSENT, 64).               % most replies that wait for a consumer, not counting the oldest
-define(UNSENT_BYTES, 67108864).   % ... and most bytes of them
-define(ATTACHED, 5000).           % ms that an agent stays for a consumer that has attached: a slow host may need seconds to send `open`
-define(ATTACHING, erltrace_attach). % name of a process that holds back others while a consumer loads the modules
-define(LOADING, erltrace_loading). % ... and of the process that loads them, which can outlive that consumer
-define(TRIES, 150).               % attempts to take ?ATTACHING while no process is ?LOADING
-define(GUARD, erltrace_agent_guard). % while there is no server, consumers wait for the process of this name
-define(FAILED, 200).              % ... when the library could not be loaded
-define(ATTACH, 30000).            % ms that attaching may take: the agent may be removing what another consumer had set
-define(MEMBERS, 4096).            % most nodes in an answer: MEMBERS_MOST
-define(WATCH, 1000).              % ms between two checks of what is set

%% == coming ===================================================================================================

%% Returns `idle` when the agent serves no consumer, so that the module may be replaced.
-spec vsn() -> idle | binary().
vsn() ->
    case whereis(?MODULE) of
        undefined -> idle;
        Pid ->
            case is_agent(Pid) of
                true -> <<?VERSION>>;
                false -> idle
            end
    end.

%% Starts the agent, or finds it. Nif is the library; Dirs are folders in which it may lie while it is loaded.
-spec attach(binary(), [file:filename()]) -> {ok, pid()} | {error, atom(), binary(), binary()}.
attach(Nif, Dirs) when is_binary(Nif), is_list(Dirs) ->
    case start() of
        Pid when is_pid(Pid) ->
            case is_agent(Pid) of
                true ->
                    case ask(Pid, {attach, Nif, Dirs}, ?ATTACH) of
                        {answer, Answer} ->
                            Answer;
                        gone -> % the agent was just leaving, and its consumer may be gone by now: no other process knows of what was loaded meanwhile
                            unload_idle(),
                            exit(gone)
                    end;
                false ->
                    unload_idle(),
                    error4('AGENT_NAME', text("a process of the node is registered as erltrace_agent: ~p", [Pid]),
                           "the agent needs that name: register the process under another one")
            end;
        undefined ->
            unload_idle(),
            exit(gone)
    end.

%% The server's loop is an expression rather than code of the agent: each message is handled by the newest code, since the code can be replaced
%% under the server (see current/1), and once there is no code left the server ends silently. A loop in the agent's own code, however written,
%% would end in an error then, or be killed. So nothing in the state may be a fun or refer to this code.
-define(SERVER,
    "Serve = fun Serve(State) ->
                 receive
                     Message ->
                         case catch Agent:turn(Message, State) of
                             {noreply, Next} ->
                                 Serve(Next);
                             stop ->
                                 ok;
                             _ -> % the next consumer loads the module again, once this is over; the guard does the rest
                                 [erlang:send(Consumer, Taken, [nosuspend, noconnect]) || Consumer <- maps:keys(element(Consumers, State))],
                                 exit(shutdown)
                         end
                 end
             end,
     case catch Init() of
         {ok, First} -> Serve(First);
         _ -> ok
     end.").

%% Returns the process that has our name: the server that this starts, unless the name is already taken.
start() ->
    case whereis(?MODULE) of
        undefined ->
            Parent = self(),
            Tag = make_ref(),
            Bindings = [{'Agent', ?MODULE}, {'Consumers', #s.consumers}, {'Init', fun() -> init(Parent, Tag) end},
                        {'Taken', {erltrace, ended, 'AGENT_INTERNAL', <<"the agent's module was removed from the node">>,
                                   <<"do not load or delete a module named erltrace_agent in the node">>}}],
            {Pid, Monitor} = erltrace_agent_lib:evaluate(?SERVER, Bindings, [monitor]),
            receive
                {Tag, Who} ->
                    erlang:demonitor(Monitor, [flush]),
                    Who;
                {'DOWN', Monitor, process, Pid, _} ->
                    undefined
            end;
        Pid ->
            Pid
    end.

%% -> {answer, Answer} | gone
ask(Pid, Request, Ms) ->
    Monitor = erlang:monitor(process, Pid),
    Pid ! {ask, self(), Monitor, Request},
    receive
        {Monitor, Answer} ->
            erlang:demonitor(Monitor, [flush]),
            {answer, Answer};
        {'DOWN', Monitor, process, Pid, _} ->
            gone
    after Ms ->
        erlang:demonitor(Monitor, [flush]),
        gone
    end.

%% Tells the agent from another process that has its name. The agent is its own group leader (init/2), which no other process is.
is_agent(Pid) ->
    case process_info(Pid, group_leader) of
        {group_leader, Leader} -> Leader =:= Pid;
        undefined -> true % it has just ended: the caller's request to it will show that
    end.

load_library(Nif, Dirs) ->
    case erltrace_agent_place:mapped() of
        N when N >= ?COPIES ->
            error4('AGENT_COPIES', text("the node has ~b copies of the agent's library in its memory: its C library never unmaps one", [N]),
                   "each trace that begins while no other one runs takes half a megabyte there. Restart the node when that can be; until then it "
                   "cannot be traced");
        _ ->
            load_from(erltrace_agent_place:folders(Dirs), Nif, [])
    end.

load_from([], _, Tried) ->
    Text = [["; ", D, ": ", Why] || {D, Why} <- lists:reverse(Tried)],
    error4('AGENT_NIF', ["the agent's library cannot be loaded", Text],
           "name a folder on the node's host with --agent-dir: the node's user must be able to write to it, other users must not be able to "
           "write to it or to a folder above it (unless that is sticky), and it must not be mounted noexec. If none is suitable, root can "
           "make one: "
           "mkdir /run/erltrace && mount -t tmpfs -o exec,mode=1777 erltrace /run/erltrace");
load_from([Dir | Dirs], Nif, Tried) ->
    case erltrace_agent_place:put(Dir, Nif) of
        {ok, File} ->
            Result = erlang:load_nif(filename:rootname(File), 0),
            erltrace_agent_place:remove(File),
            case Result of
                ok -> ok;
                {error, {old_code, _}} -> old_code;
                {error, {upgrade, _}} -> stale;
                {error, {reload, _}} -> left;
                {error, {Reason, Text}} ->
                    case erltrace_agent_place:refused(Reason, Text, File) of
                        {folder, Why} ->
                            load_from(Dirs, Nif, [{Dir, Why} | Tried]);
                        {library, Why} -> % it would be the same in any folder
                            error4('AGENT_NIF', ["the node's system does not load the agent's library, erltrace_agent.so: ", Why],
                                   "erltrace's own library is loaded with musl, and with glibc from 2.17 on, by a node for whose processor it was built: "
                                   "build or install erltrace again")
                    end
            end;
        {error, Why} ->
            load_from(Dirs, Nif, [{Dir, Why} | Tried])
    end.

%% == serving ==================================================================================================

init(Parent, Tag) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    process_flag(trap_exit, true),
    %% Otherwise it would be that of the process that attached, which may live on another node.
    group_leader(self(), self()),
    Otp = erltrace_agent_lib:release(),
    Has = erltrace_agent_lib:features(Otp),
    try register(?MODULE, self()) of
        true ->
            Parent ! {Tag, self()},
            {ok, #s{otp = Otp, has = Has, session = erltrace_agent_session:none(Has)}}
    catch
        error:badarg ->
            Parent ! {Tag, whereis(?MODULE)},
            none
    end.

%% Handles one message for the server. An error must not reach the node's log.
-spec turn(term(), #s{}) -> {noreply, #s{}} | stop.
turn(Message, S) ->
    try info(Message, current(S)) of
        {noreply, S1} -> {noreply, S1};
        {stop, _} -> stop
    catch
        Class:Reason:Stack -> failed(text("the agent has crashed: ~w:~0P at ~0P", [Class, Reason, 12, Stack, 12]), S)
    end.

%% Ends the server after an error; the guard does the rest.
failed(Text, #s{consumers = Cs}) ->
    try nif_loaded() andalso nif_gate(false)
    catch error:_ -> false
    end,
    [send(Pid, {erltrace, ended, 'AGENT_INTERNAL', Text, <<"report this">>}) || Pid <- maps:keys(Cs)],
    stop.

info({ask, From, Tag, {attach, Nif, Dirs}}, S) ->
    attach(From, Tag, Nif, Dirs, S);
info({erltrace, Pid, Id, Request}, S) when is_pid(Pid) ->
    S1 = heard(Pid, S),
    try request(Request, Pid, S1) of
        {reply, Reply, S2} -> {noreply, reply(Pid, {erltrace, Id, Reply}, S2)};
        {last, Reply, S2} -> last(Pid, Id, Reply, S2)
    catch
        Class:Reason:Stack ->
            {noreply, reply(Pid, {erltrace, Id, failure(Class, Reason, Stack)}, no_bindings(Pid, erltrace_agent_meanwhile:latest(S1)))}
    end;
info({erltrace, Pid, alive}, S) ->
    {noreply, heard(Pid, S)};
info({timeout, _, {tick, Pid, Index, Due, Ns}}, S) ->
    {noreply, tick(Pid, Index, Due, Ns, S)};
info({profile, What}, S) ->
    erltrace_agent_profile:turn(What, S),
    {noreply, S};
info({lease, Pid, At}, S) ->
    lease(Pid, At, S);
info({unread, Pid}, S) ->
    {noreply, unread_by(Pid, S)};
info({retry, Pid}, S) ->
    {noreply, flush(Pid, S)};
info({'DOWN', _, process, Pid, _}, S) ->
    gone(Pid, S);
info({'EXIT', Pid, _}, S) -> % consumers may be linked to the server
    gone(Pid, S);
info({nodedown, Node}, S) -> % another node of that name may have connected since; its consumers link themselves to the server first
    Pids = [P || P <- maps:keys(S#s.consumers), node(P) =:= Node, not erltrace_agent_lib:linked(P)],
    lists:foldl(fun(P, {noreply, S1}) -> gone(P, S1);
                   (_, Stop) -> Stop
                end, {noreply, S}, Pids);
info({trace_ts, _, call, {_, trace, _}, _} = Message, S) ->
    {noreply, erltrace_agent_needs:flags_set(Message, S)};
info({trace_ts, _, _, {_, Name, _}, _, _} = Message, S) when Name =:= trace; Name =:= process ->
    {noreply, erltrace_agent_needs:flags_set(Message, S)};
info(flags_set, S) ->
    {noreply, erltrace_agent_needs:flags_set(flags_set, S)};
info({trace_ts, _, return_from, {erlang, _, _}, _, _}, S) ->
    {noreply, erltrace_agent_loads:loaded(S)};
info({counts, lost}, S) ->
    {noreply, erltrace_agent_counts:lost(S)};
info({loads, look}, S) ->
    {noreply, erltrace_agent_loads:poll(S)};
info({loads, later}, S) ->
    {noreply, erltrace_agent_loads:later(S)};
info({loads, clean, Serial}, S) ->
    {noreply, erltrace_agent_loads:clean(Serial, S)};
info({lonely, Attached}, #s{consumers = C, attached = Attached} = S) ->
    case map_size(C) of
        0 -> leave(S#s{expected = 0});
        _ -> {noreply, S#s{expected = 0}}
    end;
info(watch, #s{nif = undefined} = S) ->
    {noreply, S};
info(watch, S) ->
    erlang:send_after(?WATCH, self(), watch),
    _ = free(),
    {noreply, erltrace_agent_needs:watch(S)};
info(load, #s{nif = undefined} = S) ->
    {noreply, S#s{looking = false}};
info(load, S) ->
    {noreply, erltrace_agent_load:look(S)};
info({monitor, _, _, _} = Message, S) ->
    {noreply, erltrace_agent_monitor:event(Message, S)};
info({nodeup, _, _} = Message, S) ->
    {noreply, erltrace_agent_monitor:event(Message, S)};
info({nodedown, _, _} = Message, S) ->
    {noreply, erltrace_agent_monitor:event(Message, S)};
info(look, S) ->
    {noreply, erltrace_agent_monitor:event(look, S)};
info({looked, _} = Message, S) ->
    {noreply, erltrace_agent_monitor:event(Message, S)};
info({poll, Pid, Round}, S) ->
    {noreply, erltrace_agent_poll:poll(Pid, Round, S)};
info(session_lost, #s{nif = undefined} = S) ->
    {noreply, S};
info(session_lost, S) ->
    {noreply, erltrace_agent_needs:present(S)};
info(overrun, S) ->
    {noreply, erltrace_agent_needs:overrun(S)};
info(Other, S) ->
    other(Other, S),
    {noreply, erltrace_agent_shapes:heard(Other, S)}.

-ifdef(OPEN). % for tests
other({open, From, F}, S) -> From ! {opened, F(S)};
other(_, _) -> ok.
-else.
other(_, _) -> ok.
-endif.

attach(From, Tag, Nif, Dirs, S) ->
    Digest = erlang:md5(Nif),
    case S of
        #s{nif = undefined} ->
            case start_library(Nif, Dirs, S) of
                {ok, S1} ->
                    From ! {Tag, {ok, self()}},
                    {noreply, attached(?ATTACHED, S1)};
                left -> % the consumer will find no agent, and load it again
                    erltrace_agent_others:sweep(S),
                    leave(S);
                {error, _, _, _} = Error ->
                    From ! {Tag, Error},
                    {noreply, attached(?FAILED, S)}
            end;
        #s{nif = Digest} ->
            From ! {Tag, {ok, self()}},
            {noreply, attached(?ATTACHED, S)};
        _ ->
            From ! {Tag, error4('AGENT_VERSION', "the node is being traced by another version of erltrace, whose agent has "
                                "a different library",
                                "use that version of erltrace, or wait until it has ended")},
            {noreply, S}
    end.

%% Funs of different arities, each with what it has captured.
funs(A, B, C, D, E) ->
    [[fun() -> A end, A], [fun(X) -> [X, A, B, C] end, A, B, C], [fun(_, _) -> [D, E] end, D, E],
     [fun(X, _, _) -> [X, A, B, C, D, E] end, A, B, C, D, E], [fun(X, _, _, _) -> X end]].

%% The error that a consumer gets for an exception.
failure(throw, {error, _, _, _} = Error, _) ->
    Error;
failure(Class, Reason, Stack) ->
    error4('AGENT_INTERNAL', io_lib:format("~w:~0P at ~0P", [Class, Reason, 10, Stack, 10]), "report this").


start_library(Nif, Dirs, S) ->
    case load_library(Nif, Dirs) of
        ok ->
            ok = nif_start(S#s.otp, S#s.node),
            _ = nif_funs(funs(101, 102, 103, 104, 105)), % if false, sizes of what has a fun in it are not known
            erltrace_agent_others:sweep(S),
            Alias = alias(),
            _ = nif_alias(Alias, self(), make_ref()), % if false, aliases stay references
            unalias(Alias),
            erlang:send_after(?WATCH, self(), watch),
            Server = self(),
            {ok, S#s{nif = erlang:md5(Nif), terms = erltrace_agent_terms:arguments(), guard = erltrace_agent_lib:start(fun() -> guard(Server, {Nif, Dirs}) end, [])}};
        old_code -> % just replaced: the consumer tries again, with the new code
            left;
        stale -> % an agent was here that was killed together with its guard
            purge(),
            start_library(Nif, Dirs, S);
        left -> % likewise, but this is still its module: a module loads a library only once
            left;
        Error ->
            Error
    end.

%% Two consumers that come at the same moment may both load the module. The second load replaces the code that is at work, library and all.
%% Usually nothing has been enabled yet: then the library is loaded again and no consumer notices. (An -on_load function that refuses the load
%% would be better, but an OTP 25 whose on_load has failed aborts when the module is purged.)
current(#s{nif = undefined} = S) ->
    S;
current(S) ->
    case nif_loaded() of
        true -> S;
        false -> replaced(S)
    end.

replaced(#s{consumers = Cs} = S) ->
    erltrace_agent_patterns:remove_patterns(S#s.functions, S),
    erltrace_agent_hooks:remove(#{}, #{}, S),
    erltrace_agent_flags:remove_ours(S),
    erltrace_agent_ports:remove_flags(S#s.port_flags, [], S),
    erltrace_agent_seq:remove(S#s.seq, S),
    S0 = erltrace_agent_others:deaf(erltrace_agent_loads:disarm(erltrace_agent_monitor:undo(erltrace_agent_poll:undo(S)))),
    [erltrace_agent_session:destroy(Session) || Session <- [S#s.session, S#s.global, erltrace_agent_counts:session(S)], Session =/= undefined, Session =/= legacy],
    Library = dismiss_guard(S),
    purge(), % the library cannot be loaded twice
    S1 = S0#s{nif = undefined, guard = undefined, session = erltrace_agent_session:none(S0#s.has), global = undefined, counts = undefined, gc = undefined, flags = [], some = #{}, port_flags = [], seq = 0,
              functions = #{}, hooks = #{}, globals = #{}, taken = #{},
             names = false, lost = {0, 0, 0, 0, 0}},
    Restarted = case Library of
                    {Nif, Dirs} -> start_library(Nif, Dirs, S1);
                    none -> none
                end,
    %% Programs are gone with the old library.
    Ended = [C || #c{program = P} = C <- maps:values(Cs), P =/= undefined orelse not is_tuple(Restarted)],
    [begin
         unwatch(C),
         send(C#c.pid, {erltrace, ended, 'AGENT_REPLACED', <<"another copy of the agent was loaded into the node">>,
                        <<"start the trace again">>})
     end || C <- Ended],
    Left = maps:without([C#c.pid || C <- Ended], Cs),
    case Restarted of
        {ok, S2} -> lonely(?ATTACHED, S2#s{consumers = Left});
        _ -> lonely(?FAILED, S1#s{consumers = #{}})
    end.

%% A consumer must open within this time after attaching.
attached(Ms, S) ->
    lonely(Ms, S#s{expected = S#s.expected + 1}).

lonely(Ms, S) ->
    Attached = make_ref(),
    erlang:send_after(Ms, self(), {lonely, Attached}),
    S#s{attached = Attached}.

heard(Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := C} -> S#s{consumers = Cs#{Pid := C#c{heard = now_ms()}}};
        #{} -> S
    end.

%% Handles the timer of a lease, which was due at At. When the lease seems to have run out, a message from the consumer may still be in the
%% mailbox: a message that the server sends itself is queued behind all of those, and decides. A timer that comes late shows that the node itself
%% stood still (its host gave it no time, or slept): messages of the consumer may not even have been read yet, so the consumer gets its lease
%% once more.
lease(Pid, At, #s{consumers = Cs} = S) ->
    Now = now_ms(),
    case Cs of
        #{Pid := #c{heard = Heard}} when At =:= {last, Heard} ->
            gone(Pid, S);
        #{Pid := #c{heard = Heard, lease = Lease}} when Heard + Lease > Now; is_tuple(At) ->
            lease_until(Heard + Lease, Pid),
            {noreply, S};
        #{Pid := #c{heard = Heard, lease = Lease, spared = Spared} = C} when Now - At > Lease div 4, Spared =/= Heard ->
            lease_until(Now + Lease, Pid),
            {noreply, S#s{consumers = Cs#{Pid := C#c{spared = Heard}}}};
        #{Pid := #c{heard = Heard}} ->
            self() ! {lease, Pid, {last, Heard}},
            {noreply, S};
        #{} ->
            {noreply, S}
    end.

lease_until(At, Pid) ->
    erlang:send_after(At, self(), {lease, Pid, At}, [{abs, true}]).

%% A reply never suspends the server: a consumer that does not read would block all others, and the end of its own lease.
reply(Pid, Message, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{unsent = []} = C} ->
            case send(Pid, Message) of
                ok -> S;
                full ->
                    erlang:send_after(?RETRY, self(), {retry, Pid}),
                    S#s{consumers = Cs#{Pid := C#c{unsent = [{0, Message}]}}}
            end;
        #{Pid := #c{unsent = [_ | More], unread = Bytes} = C} when length(More) >= ?UNSENT; Bytes > ?UNSENT_BYTES ->
            %% (By message, as the server may be setting what that consumer needs just now: that is undone afterwards.)
            self() ! {unread, Pid},
            S#s{consumers = Cs#{Pid := C#c{unsent = [{0, unread(1 + length(More))}], unread = 0}}};
        #{Pid := #c{unsent = U, unread = Bytes} = C} ->
            Size = erlang:external_size(Message),
            S#s{consumers = Cs#{Pid := C#c{unsent = U ++ [{Size, Message}], unread = Bytes + Size}}};
        #{} ->
            _ = send(Pid, Message),
            S
    end.

%% Sends a consumer something that it has not asked for.
tell(Pid, Message, S) ->
    reply(Pid, Message, S).

%% The message for a consumer that let so many replies pile up, for when it reads again. Everything else that waited for it is dropped.
unread(N) ->
    {erltrace, ended, 'AGENT_UNREAD', text("~b answers waited for this consumer, which does not read them", [N]),
     <<"was it stopped, or is its connection too slow for what it requests?">>}.

%% Ends the consumer's program and treats the consumer as if it had just opened: that one message can still be sent, and its lease decides when
%% it is gone.
unread_by(Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := C} ->
            C#c.program =/= undefined andalso nif_phase(C#c.program, stopped),
            {_, S1} = apply_needs(set_consumer(Pid, #c{pid = Pid, monitor = C#c.monitor, lease = C#c.lease, heard = C#c.heard, spared = C#c.spared,
                                                       unsent = C#c.unsent}, S)),
            put(ended_programs, true),
            S1;
        #{} ->
            S
    end.

flush(Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{unsent = [{Size, M} | U], unread = Bytes} = C} ->
            case send(Pid, M) of
                ok -> flush(Pid, S#s{consumers = Cs#{Pid := C#c{unsent = U, unread = Bytes - Size}}});
                full ->
                    erlang:send_after(?RETRY, self(), {retry, Pid}),
                    S
            end;
        #{} ->
            S
    end.

send(Pid, Message) ->
    case erlang:send(Pid, Message, [nosuspend, noconnect]) of
        nosuspend -> full;
        _ -> ok % noconnect: the consumer is gone, and a message will say so
    end.

%% -- requests -------------------------------------------------------------------------------------------------

%% A program names atoms, which the VM keeps for ever; it ends when its table has no room left.
room_for_atoms() ->
    case erlang:system_info(atom_limit) - erlang:system_info(atom_count) of
        Left when Left < ?ATOMS_LEFT ->
            throw(error4('AGENT_ATOMS', text("the node has room for ~b more atoms, and ends when there is none", [Left]),
                         "erltrace makes none there; something in the node makes them all the time, or its limit (+t) is too low"));
        _ -> ok
    end.

request({open, Lease}, Pid, #s{consumers = Cs, nif = Nif} = S) when is_integer(Lease), Lease > 0, Nif =/= undefined ->
    case Cs of
        #{Pid := _} ->
            throw(error4('AGENT_REQUEST', "this consumer is already open", ""));
        #{} ->
            Heard = now_ms(),
            C = #c{pid = Pid, monitor = monitor_consumer(Pid), lease = Lease, heard = Heard},
            lease_until(Heard + Lease, Pid),
            Info = [{pid, list_to_integer(os:getpid())}, {otp, S#s.otp},
                    {erts, unicode:characters_to_binary(erlang:system_info(version))}, {node, S#s.node},
                    {schedulers, erlang:system_info(schedulers)}, {cpus, cpus()}, {passes, nif_passes()},
                    {warnings, []}],
            {reply, {ok, Info}, S#s{consumers = Cs#{Pid => C}, expected = max(0, S#s.expected - 1)}}
    end;
request(Request, Pid, S0) ->
    #s{consumers = Cs} = S = case Request of
                                 place -> erltrace_agent_needs:present(S0);
                                 go -> erltrace_agent_needs:present(S0);
                                 {extend, _, _} -> erltrace_agent_needs:present(S0);
                                 _ -> S0
                             end,
    case Cs of
        #{Pid := C} -> request(Request, C, Pid, S);
        #{} -> throw(error4('AGENT_CLOSED', "the agent no longer knows this consumer: its lease ran out",
                            "was the consumer stopped for a while?"))
    end.

request(modules, _, _, S) -> % not from the code server, which may be busy, and whose answer other traces see
    {reply, {ok, lists:sort([M || M <- erlang:loaded(), erlang:module_loaded(M), not ours(M)])}, S};
request(clock, _, _, S) ->
    {reply, {ok, nif_clock()}, S};
request(members, _, _, S) -> % visible nodes alone: our consumers are hidden ones
    {reply, {ok, [node() | lists:sublist(nodes(), ?MEMBERS)]}, S};
request(examine, _, _, S) ->
    {reply, {ok, erltrace_agent_doctor:examine(S)}, S};
request({debug_info, Module}, _, _, S) when is_atom(Module) ->
    {Answer, S1} = erltrace_agent_debug:read(Module, S),
    {reply, {ok, Answer}, S1};
request({records, Told}, #c{program = P} = C, Pid, S) when P =/= undefined ->
    {reply, ok, set_consumer(Pid, erltrace_agent_records:compared(Told, C), S)};
request({functions, Modules}, _, _, S) ->
    {reply, {ok, erltrace_agent_lib:functions(Modules)}, S};
request({bindings, Some}, #c{bindings = Before} = C, Pid, S) when is_list(Some) ->
    erltrace_agent_lib:breathe(),
    {reply, ok, set_consumer(Pid, C#c{bindings = [Some | Before]}, S)};
request({enable, Image, Options, Last}, #c{bindings = [_ | _]} = C, Pid, S) ->
    request({enable, Image, Options, all_bindings(Last, C)}, C#c{bindings = []}, Pid, S);
request({extend, Serial, Last}, #c{bindings = [_ | _]} = C, Pid, S) ->
    request({extend, Serial, all_bindings(Last, C)}, C#c{bindings = []}, Pid, set_consumer(Pid, C#c{bindings = []}, S));
request({enable, Image, Options, Bindings}, #c{phase = open} = C, Pid, S) ->
    Threads = erlang:system_info(schedulers) + erlang:system_info(dirty_cpu_schedulers) +
        erlang:system_info(dirty_io_schedulers) + 8,
    Provider = unicode:characters_to_binary(["erlang", os:getpid()]),
    {Only, Others0} = erltrace_agent_only:take(Options),
    {Records, Others} = erltrace_agent_records:take(Others0),
    {Filters, Sizes} = erltrace_agent_filters:take(Others),
    _ = free(),
    room_for_atoms(),
    Hidden = erltrace_agent_terms:hidden(S),
    Taken = erltrace_agent_terms:options(Sizes, Hidden, S),
    case nif_enable(Image, [{threads, Threads} | Taken], Bindings, Provider) of
        {ok, Program, Granted, Needs, Special, Hooks} ->
            nif_inside(Program) andalso erltrace_agent_inside:prove(erltrace_agent_profile:wanted(Special)),
            Stacks = nif_stacks(Program),
            Stacks andalso erltrace_agent_code:build(),
            Cannot = erltrace_agent_profile:check(Special, S),
            Needs band ?NEED_GC =/= 0 andalso erltrace_agent_flags:check_gc(S, erltrace_agent_others:many(S)), % all processes are checked by `place`
            erltrace_agent_seq:check(Needs),
            erltrace_agent_monitor:check(Needs, S),
            Allowed = erltrace_agent_filters:allowed(Filters, Taken, S#s.has),
            {Counted, Wants} = erltrace_agent_counts:split(Bindings, erltrace_agent_needs:wants(Bindings, #{}), S),
            C1 = C#c{phase = enabled, program = Program, needs = Needs, special = Special, only = Only, records = Records,
                     stacks = if Stacks -> 0; true -> none end, wants = Wants, counted = Counted,
                     filters = Allowed, filtered = erltrace_agent_filters:functions(Bindings, Allowed, #{}), told = erltrace_agent_monitor:told(Options, Bindings),
                     hears = lists:member({loads, 1}, Options), hooks = Hooks, stats = proplists:get_value(stats, Options, 0),
                     warnings = Cannot},
            erltrace_agent_records:check(C1),
            {reply, {ok, Granted, erltrace_agent_hooks:prepare(Hooks)}, set_consumer(Pid, C1, S)};
        {error, 'AGENT_TERMS', Text, _} ->
            throw(erltrace_agent_terms:refused(Text, Hidden));
        {error, _, _, _} = Error ->
            throw(Error)
    end;
request(place, #c{phase = enabled} = C, Pid, S) ->
    Start = erlang:monotonic_time(nanosecond),
    Calls = erltrace_agent_lib:pattern_calls(),
    try apply_needs(Pid, set_consumer(Pid, C#c{phase = placed}, S)) of
        {Warnings, S1} ->
            Took = [{ns, erlang:monotonic_time(nanosecond) - Start}, {calls, erltrace_agent_lib:pattern_calls() - Calls}],
            {reply, {ok, Warnings, erltrace_agent_placed:placed(C, S1) ++ Took}, erltrace_agent_needs:start_watching(S1)}
    catch
        Class:Reason:Stack ->
            #s{consumers = #{Pid := C1}} = S1 = erltrace_agent_meanwhile:latest(S),
            {_, S2} = apply_needs(set_consumer(Pid, C1#c{phase = enabled}, S1)),
            {reply, failure(Class, Reason, Stack), S2}
    end;
request(go, #c{phase = enabled} = C, Pid, S) ->
    case request(place, C, Pid, S) of
        {reply, {ok, _, _} = Placed, #s{consumers = #{Pid := C1}} = S1} ->
            {reply, ok, S2} = request(go, C1, Pid, S1),
            {reply, Placed, S2};
        Failed ->
            Failed
    end;
request(go, #c{phase = placed} = C, Pid, S) ->
    case erltrace_agent_counts:settled(C, S) of
        C -> {reply, ok, go(C, Pid, S)};
        Fewer -> % code was loaded since: what is traced is placed again
            case request(place, Fewer#c{phase = enabled}, Pid, S) of
                {reply, {ok, Warnings, _}, #s{consumers = #{Pid := C1}} = S1} ->
                    request(go, C1#c{warnings = lists:reverse(Warnings, C1#c.warnings)}, Pid, S1);
                Failed -> Failed
            end
    end;
request({read, What}, #c{program = P} = C, Pid, S) when P =/= undefined, What >= 0, What =< 3 ->
    Counted = case What band ?AGGREGATIONS of
                  0 -> C;
                  _ -> erltrace_agent_counts:read(aggregations, C, S)
              end,
    {Reply, C1} = read(What, Counted),
    {reply, Reply, set_consumer(Pid, C1, S)};
request({extend, Serial, Bindings}, #c{phase = running, program = P, wants = Had, filters = Filters, filtered = Filtered} = C, Pid, S) when is_integer(Serial) ->
    {Warnings, S1} =
        case Bindings =:= [] orelse not C#c.hears orelse element(1, nif_status(P)) of
            true -> {[], S};
            false ->
                case nif_extend(P, Bindings) of
                    ok -> ok;
                    {error, _, _, _} = Error -> throw(Error)
                end,
                Wants = erltrace_agent_counts:entries(erltrace_agent_needs:wants(Bindings, Had)),
                C1 = C#c{wants = Wants, filtered = erltrace_agent_filters:functions(Bindings, Filters, Filtered)},
                {W, Extended} = apply_needs(set_consumer(Pid, C1, S)),
                _ = settled(?READ_WAIT),
                Counted = erltrace_agent_loads:missed_by(P, maps:keys(maps:without(maps:keys(Had), Wants)), Extended),
                {W, erltrace_agent_needs:start_watching(Counted)}
        end,
    {reply, {ok, Warnings}, erltrace_agent_loads:answered(Pid, Serial, S1)};
request({extend, _, _}, _, _, S) -> % the program has ended meanwhile
    {reply, {ok, []}, S};
request(stop, #c{phase = placed, program = P} = C, Pid, S) ->
    {_, S1} = apply_needs(set_consumer(Pid, C#c{phase = stopped}, S)),
    ok = nif_phase(P, stopped),
    {reply, ok, S1};
request(stop, #c{phase = running, program = P} = C0, Pid, S) ->
    C = erltrace_agent_profile:finish(erltrace_agent_counts:last(C0, S), S),
    {_, S0} = apply_needs(set_consumer(Pid, C#c{phase = stopped}, S)),
    {_, S1} = erltrace_agent_meanwhile:during(undefined, S0, fun() -> {settled(?STOP_WAIT), S0} end),
    ok = nif_phase(P, 'end'),
    fire(?PROBE_END, C),
    ok = nif_phase(P, stopped),
    #{Pid := Stopped} = S1#s.consumers,
    {reply, ok, set_consumer(Pid, erltrace_agent_load:last(Stopped), S1)};
request(stop, #c{phase = enabled, program = P} = C, Pid, S) ->
    ok = nif_phase(P, stopped),
    {reply, ok, set_consumer(Pid, C#c{phase = stopped}, S)};
request(stop, #c{phase = stopped}, _, S) ->
    {reply, ok, S};
request(close, C, Pid, S) ->
    {last, ok, forget(Pid, C, S)};
request(Request, #c{phase = Phase}, _, _) ->
    Name = if is_tuple(Request), tuple_size(Request) > 0 -> element(1, Request);
              true -> Request
           end,
    throw(error4('AGENT_REQUEST', text("the request ~0P is not allowed while the consumer is ~p", [Name, 5, Phase]), "")).

%% Begins a program whose patterns and flags are set: nothing here takes long.
go(#c{program = P} = C, Pid, S) ->
    ok = nif_phase(P, 'begin'),
    fire(?PROBE_BEGIN, C),
    ok = nif_phase(P, running),
    S1 = set_consumer(Pid, C#c{phase = running}, S),
    Kinds = maps:get(kinds, C#c.told, []),
    Tables = erltrace_agent_poll:tables(Kinds), % asked before anything else fires, so that their names come first
    {C1, S2} = erltrace_agent_counts:begun(C#c{phase = running}, S1),
    Begun = set_consumer(Pid, C1, S2),
    element(1, nif_status(P)) =:= false andalso erltrace_agent_needs:publish(Begun), % otherwise it has ended itself
    erltrace_agent_poll:fire_tables(P, Tables),
    erltrace_agent_poll:fire_processes(P, Kinds),
    start_ticks(C),
    S3 = lists:foldl(fun erltrace_agent_needs:complain/2, Begun, erltrace_agent_profile:apply(Begun)),
    erltrace_agent_load:start(S3).

all_bindings(Last, #c{bindings = Before}) when is_list(Last) ->
    lists:append(lists:reverse(Before, [Last]));
all_bindings(Last, _) ->
    Last. % not a list: it will be refused

%% After a request that failed, the bindings that came before it must not be used for the next one.
no_bindings(Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{bindings = [_ | _]} = C} -> set_consumer(Pid, C#c{bindings = []}, S);
        #{} -> S
    end.

cpus() ->
    case erlang:system_info(logical_processors) of
        N when is_integer(N) -> N;
        unknown -> 1
    end.

set_consumer(Pid, C, #s{consumers = Cs} = S) ->
    S#s{consumers = Cs#{Pid => C}}.

%% A consumer of this node or of another Erlang node is watched as a process. A hidden node may be a C program that knows nothing of monitors;
%% there the connection is watched (and the lease).
monitor_consumer(Pid) ->
    case lists:member(node(Pid), nodes(hidden)) of
        true ->
            erlang:monitor_node(node(Pid), true),
            node;
        false ->
            erlang:monitor(process, Pid)
    end.

%% After the answer to close, there may be no consumer left to stay for.
last(Pid, Id, Reply, S) ->
    case needed(S) of
        false ->
            Undone = undo(S),
            _ = send(Pid, {erltrace, Id, Reply}),
            leave(Undone);
        true ->
            {noreply, reply(Pid, {erltrace, Id, Reply}, S)}
    end.

%% Whether there is a consumer, or one has just attached and is about to open.
needed(#s{consumers = Cs, expected = N}) ->
    map_size(Cs) > 0 orelse N > 0.

gone(Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := C} ->
            S1 = forget(Pid, C, S),
            case needed(S1) of
                false -> leave(S1);
                true -> {noreply, S1}
            end;
        #{} ->
            {noreply, S}
    end.

%% Drops a consumer and what only that consumer needed.
forget(Pid, C, #s{consumers = Cs} = S) ->
    unwatch(C),
    C#c.program =/= undefined andalso nif_phase(C#c.program, stopped),
    {_, S1} = apply_needs(S#s{consumers = maps:remove(Pid, Cs)}),
    C#c.program =/= undefined andalso put(ended_programs, true),
    S1.

%% A program holds its buffers until no event can see it and nothing on the server's heap refers to it. A heap that hardly grows would keep the
%% buffers of very many consumers, and later programs would be refused for lack of memory.
free() ->
    case erase(ended_programs) of
        true ->
            _ = settled(?READ_WAIT),
            erlang:garbage_collect();
        undefined ->
            false
    end.

unwatch(#c{monitor = node, pid = Pid}) -> erlang:monitor_node(node(Pid), false);
unwatch(#c{monitor = Ref}) -> erlang:demonitor(Ref, [flush]).

fire(Kind, #c{program = P, special = Special}) ->
    [nif_fire(P, I) || {I, K, _} <- Special, K =:= Kind],
    ok.

%% -- ticks: due times are absolute, so that they do not drift ----------------------------------------------------

start_ticks(#c{pid = Pid, special = Special}) ->
    Now = erlang:monotonic_time(nanosecond),
    [tick_at(Pid, I, Now + Ns, Ns) || {I, ?PROBE_TICK, Ns} <- Special],
    ok.

tick_at(Pid, Index, Due, Ns) ->
    %% Rounded up; monotonic time is negative on most systems.
    Ms = if Due >= 0 -> (Due + 999999) div 1000000;
            true -> -(-Due div 1000000)
         end,
    erlang:start_timer(Ms, self(), {tick, Pid, Index, Due, Ns}, [{abs, true}]).

tick(Pid, Index, Due, Ns, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{phase = running, program = P} = C} ->
            Counted = if Ns >= ?SLOW -> erltrace_agent_counts:read(tick, C, S);
                         true -> C
                      end,
            Late = max(0, erlang:monotonic_time(nanosecond) - Due),
            %% Timers have a resolution of milliseconds: faster ticks fire in bunches. Slower ticks that were missed are not made up for.
            Times = if Ns < 1000000 -> min(1 + Late div Ns, 10);
                       true -> 1
                    end,
            erltrace_agent_profile:before(S),
            [nif_fire(P, Index) || _ <- lists:seq(1, Times)],
            tick_at(Pid, Index, Due + Ns * (1 + Late div Ns), Ns),
            set_consumer(Pid, Counted, S);
        #{} ->
            S
    end.

%% == reading ==================================================================================================

read(What, #c{program = P} = C) ->
    Flipped = What =/= 0 andalso
        try nif_flip(P, What) of ok -> true
        catch error:badarg -> false % the last reading is not finished: go on with that one
        end,
    {Block, More} =
        case quiet(P, now_ms() + ?READ_WAIT) of
            true -> nif_drain(P, ?REPLY_BYTES);
            false -> {<<>>, true}
        end,
    {Exiting, Pending} = nif_status(P),
    State = if C#c.phase =:= stopped, not Pending, not More -> drained;
               C#c.phase =:= running, C#c.over -> overload;
               C#c.phase =:= running, Exiting =:= true -> exiting;
               true -> running
            end,
    Blocks = [Block || Block =/= <<>>],
    Again = More orelse (What =/= 0 andalso not Flipped),
    {Names, C1} = erltrace_agent_code:names(C), % after the blocks: they have no frame that is not among these, or was before
    {{ok, State, nif_counts(P), Blocks, Again, lists:reverse(C#c.warnings), C#c.loads, Names}, C1#c{warnings = [], loads = []}}.

quiet(P, Until) ->
    nif_quiet(P) orelse
        (now_ms() < Until andalso begin receive after 1 -> ok end, quiet(P, Until) end).

%% Waits until no event can see what was removed from the snapshot.
settled() ->
    settled(?READ_WAIT).

settled(Ms) ->
    settled_until(now_ms() + Ms).

settled_until(Until) ->
    nif_settled() orelse
        (now_ms() < Until andalso begin erltrace_agent_meanwhile:serve(1), settled_until(Until) end).

%% == leaving ==================================================================================================

%% Removes everything that the agent has set.
undo(S) ->
    {_, S1} = apply_needs(S#s{consumers = #{}}),
    S1.

leave(#s{nif = undefined} = S) ->
    _ = unload(),
    {stop, S};
leave(S) ->
    S1 = undo_once(S),
    case needed(S1) of
        true -> % a consumer has come while the needs of the last one were undone
            {noreply, S1};
        false ->
            _ = settled(?STOP_WAIT),
            erltrace_agent_profile:close(?STOP_WAIT),
            %% Programs are freed with their last reference; the server's own ends with its process.
            _ = dismiss_guard(S1),
            _ = unload(),
            {stop, S1#s{nif = undefined, guard = undefined}}
    end.

undo_once(#s{session = Session, flags = [], some = Some, port_flags = [], seq = 0, functions = F, hooks = H} = S)
  when Session =:= legacy orelse Session =:= undefined, map_size(Some) =:= 0, map_size(F) + map_size(H) =:= 0 ->
    nif_gate(false),
    nif_publish([], [], []),
    S;
undo_once(S) ->
    undo(S).

%% The module is removed by an expression, which a separate process evaluates, so that no code of the module runs. That process registers the
%% name that consumers hold while they load the module. So the module is not removed halfway through another consumer's load, and no consumer
%% loads the module between the purge and the deletion: deleting a module of which there is old code is an error that the VM writes to the log.
%% The name of a consumer that is killed or cut off is free at once, but the code that it asked for may be loaded later. So the process that
%% loads it has a name as well (?LOADING); once it has that name, it loads only if its consumer still holds the other name. It is therefore
%% enough to check, while holding the first name, whether a ?LOADING process exists. (A user who deletes or loads the module by hand does not
%% take these names.)
%%   Server, a pid: it is about to end, and is sent Tag with whether this process has the name and has handled the deletion; the rest is removed
%%   when the server has ended.
%%   Server, none: the module is not in use, and is removed a few moments later unless an agent is there by then.
%% No expression here waits in a `receive ... after` of its own: a time that runs out while erl_eval looks at messages can crash the VM
%% (doc/safety.md).
-define(UNLOAD,
    "Purge = fun() -> erlang:check_old_code(Agent) andalso code:purge(Agent) end,
     Delete = fun() -> not erlang:check_old_code(Agent) andalso code:delete(Agent) end,
     Named = fun() -> (catch register(Name, self())) =:= true andalso (whereis(Loading) =:= undefined orelse not unregister(Name)) end,
     Idle = fun Idle(0) ->
                    ok;
                Idle(N) ->
                    timer:sleep(Ms),
                    case Named() of
                        true ->
                            case catch Agent:vsn() of
                                InUse when is_binary(InUse) -> ok;
                                _ -> Purge(), Delete(), Purge()
                            end;
                        false ->
                            Idle(N - 1)
                    end
            end,
     catch case is_pid(Server) andalso Named() of
               true ->
                   Monitor = monitor(process, Server),
                   Purge(),
                   Deleted = Delete(),
                   Server ! {Tag, true},
                   receive {'DOWN', Monitor, _, _, _} -> ok end,
                   Purge(),
                   Deleted orelse begin Delete(), Purge() end;
               false when is_pid(Server) ->
                   Server ! {Tag, false};
               false ->
                   Idle(Tries)
           end.").

%% Removes the module: from now on, consumers that attach find none, and load it again.
unload() ->
    Tag = make_ref(),
    {Pid, Monitor} = unloader(self(), Tag, [monitor]),
    receive
        {Tag, true} -> unregister(?MODULE);
        {Tag, false} -> unregister(?MODULE), unload_idle(); % the consumer that is about to load it finds no agent in use
        {'DOWN', Monitor, process, Pid, _} -> unregister(?MODULE)
    end.

%% (The agent that was just leaving has done so.)
unload_idle() ->
    _ = (erlang:module_loaded(?MODULE) orelse erlang:check_old_code(?MODULE)) andalso unloader(none, none, []),
    ok.

unloader(Server, Tag, Options) ->
    erltrace_agent_lib:evaluate(?UNLOAD, [{'Agent', ?MODULE}, {'Name', ?ATTACHING}, {'Loading', ?LOADING}, {'Server', Server}, {'Tag', Tag},
                                          {'Tries', ?TRIES}, {'Ms', ?FAILED}], Options).

%% The code server purges, and serves no other process meanwhile. The VM's purger must not be asked directly: while it purges, it drops the
%% request with which the code server finishes loading code that has an -on_load function, and the code server then waits for ever.
purge() ->
    _ = erlang:check_old_code(?MODULE) andalso code:purge(?MODULE),
    ok.

%% -- the guard: undoes what the server can no longer undo when it was killed. From OTP 27 on the VM ends the session by itself. The guard knows
%% the functions that have a pattern or are about to get one; and it keeps the library, which must not be in the server's state because that is
%% printed when the server crashes.

guard(Server, Library) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    try ok = nif_guard()
    catch error:_ -> exit(shutdown)
    end,
    guard_name(),
    guard(Server, erlang:monitor(process, Server), Library, [], []).

%% Consumers wait for the process of this name. The guard of an agent that was killed may hold it until its work is done; then this guard takes
%% it.
guard_name() ->
    try register(?GUARD, self())
    catch error:badarg -> is_pid(whereis(?GUARD)) andalso whereis(?GUARD) =/= self() andalso erlang:monitor(process, ?GUARD)
    end.

guard(Server, Monitor, Library, Functions, Sessions) ->
    receive
        {functions, F} ->
            guard(Server, Monitor, Library, F, Sessions);
        {session, Session} -> % the sessions of earlier traces are gone
            guard(Server, Monitor, Library, Functions, lists:keystore(element(1, Session), 1, Sessions, Session)); % one of each kind
        {leave, Server, Tag} -> % perhaps from new code: then what belongs to this code ends here
            retire(?STOP_WAIT),
            Server ! {Tag, Library};
        {'DOWN', Monitor, process, Server, _} ->
            _ = nif_retire(), % the gate first, as what follows can take long
            [erltrace_agent_session:destroy(Session) || Session <- Sessions],
            Otp = erltrace_agent_lib:release(),
            Has = erltrace_agent_lib:features(Otp),
            left_behind(Server, Functions, #s{otp = Otp, has = Has, session = erltrace_agent_session:none(Has)}),
            retire(?STOP_WAIT),
            whereis(?MODULE) =:= undefined andalso unload_idle();
        {'DOWN', _, process, {?GUARD, _}, _} ->
            guard_name(),
            guard(Server, Monitor, Library, Functions, Sessions);
        _ ->
            guard(Server, Monitor, Library, Functions, Sessions)
    end.

%% Clears what the server had set and no session takes with it. A step that fails does not prevent the others.
left_behind(Server, Functions, S) ->
    [try Step() catch _:_ -> ok end || Step <- steps(Server, Functions, S)],
    ok.

steps(Server, _, #s{session = undefined} = S) ->
    [fun() -> erltrace_agent_seq:remove(?NEED_SEQ_TRACE, S) end,
     fun() -> erltrace_agent_monitor:dead(Server) end];
steps(Server, Functions, S) ->
    [fun() -> erltrace_agent_flags:remove_all(S) end,
     fun() -> erltrace_agent_ports:remove_flags([all], [], S) end,
     fun() -> erltrace_agent_seq:remove(?NEED_SEQ_TRACE bor ?NEED_TOKENS, S) end,
     fun() -> erltrace_agent_loads:left_behind(Server) end,
     fun() -> erltrace_agent_patterns:remove_all(Functions, S) end,
     fun() -> erltrace_agent_monitor:dead(Server) end].

retire(Ms) ->
    nif_retire() orelse
        (Ms > 0 andalso begin receive after 1 -> ok end, retire(Ms - 1) end).

%% -> the library and the folders where it can be placed; `none` if the guard is gone
dismiss_guard(#s{guard = Guard}) ->
    Monitor = erlang:monitor(process, Guard),
    Guard ! {leave, self(), Monitor},
    receive
        {Monitor, Library} ->
            receive {'DOWN', Monitor, process, Guard, _} -> ok after 1000 -> ok end,
            Library;
        {'DOWN', Monitor, process, Guard, _} -> none
    after 2 * ?STOP_WAIT -> none
    end.

%% == nif stubs ================================================================================================

%% Before the library is loaded, the VM calls these only if another program names the agent as a tracer by hand.
enabled(_, _, _) -> remove.
trace(_, _, _, _, _) -> ok.

nif_loaded() -> false.
nif_guard() -> erlang:nif_error(not_loaded).
nif_passes() -> erlang:nif_error(not_loaded).
nif_clock() -> erlang:nif_error(not_loaded).
nif_retire() -> erlang:nif_error(not_loaded).
nif_funs(_Funs) -> erlang:nif_error(not_loaded).
nif_start(_Otp, _Node) -> erlang:nif_error(not_loaded).
nif_alias(_Alias, _Pid, _Reference) -> erlang:nif_error(not_loaded).
nif_gate(_Open) -> erlang:nif_error(not_loaded).
nif_enable(_Image, _Options, _Bindings, _Provider) -> erlang:nif_error(not_loaded).
nif_publish(_Programs, _Off, _Local) -> erlang:nif_error(not_loaded).
nif_settled() -> erlang:nif_error(not_loaded).
nif_fire(_Program, _Index) -> erlang:nif_error(not_loaded).
nif_phase(_Program, _Phase) -> erlang:nif_error(not_loaded).
nif_flip(_Program, _What) -> erlang:nif_error(not_loaded).
nif_stolen() -> erlang:nif_error(not_loaded).
nif_load(_Program, _Top, _From) -> erlang:nif_error(not_loaded).
nif_quiet(_Program) -> erlang:nif_error(not_loaded).
nif_drain(_Program, _Limit) -> erlang:nif_error(not_loaded).
nif_counts(_Program) -> erlang:nif_error(not_loaded).
nif_status(_Program) -> erlang:nif_error(not_loaded).
nif_framed(_Local, _Meta, _Forget) -> erlang:nif_error(not_loaded).
nif_overruns() -> erlang:nif_error(not_loaded).
nif_event(_Kind, _Pid, _Arguments) -> erlang:nif_error(not_loaded).
nif_event_of(_Program, _Kind, _Pid, _Arguments) -> erlang:nif_error(not_loaded).
nif_block(_Pid, _Port, _Nodes) -> erlang:nif_error(not_loaded).
nif_unblock(_Pid) -> erlang:nif_error(not_loaded).
nif_blocked(_Pid) -> erlang:nif_error(not_loaded).
nif_forget_blocked(_Pid) -> erlang:nif_error(not_loaded).
nif_extend(_Program, _Bindings) -> erlang:nif_error(not_loaded).
nif_loading(_On) -> erlang:nif_error(not_loaded).
nif_records_old(_Program, _Indices) -> erlang:nif_error(not_loaded).
nif_missed(_Functions) -> erlang:nif_error(not_loaded).
nif_counted(_Program, _How, _Values) -> erlang:nif_error(not_loaded).
nif_reading(_Program, _Begins) -> erlang:nif_error(not_loaded).
nif_count_missed(_Program, _Calls) -> erlang:nif_error(not_loaded).
nif_count_unknown(_Program, _Messages) -> erlang:nif_error(not_loaded).
nif_unknown() -> erlang:nif_error(not_loaded).
nif_lost() -> erlang:nif_error(not_loaded).
nif_sweep(_Part) -> erlang:nif_error(not_loaded).
nif_ports(_Ports) -> erlang:nif_error(not_loaded).
nif_unknown_ports(_Part) -> erlang:nif_error(not_loaded).
nif_names(_Names) -> erlang:nif_error(not_loaded).
nif_asked() -> erlang:nif_error(not_loaded).
nif_small() -> erlang:nif_error(not_loaded).
nif_asker(_Pid) -> erlang:nif_error(not_loaded).
nif_alive(_Pid) -> erlang:nif_error(not_loaded).
nif_inside(_Program) -> erlang:nif_error(not_loaded).
nif_stacks(_Program) -> erlang:nif_error(not_loaded).
nif_code_begin(_Functions) -> erlang:nif_error(not_loaded).
nif_code_add(_Module, _Functions) -> erlang:nif_error(not_loaded).
nif_code_scan() -> erlang:nif_error(not_loaded).
nif_code_end() -> erlang:nif_error(not_loaded).
nif_code_stale() -> erlang:nif_error(not_loaded).
nif_code_rest() -> erlang:nif_error(not_loaded).
nif_code_names(_From) -> erlang:nif_error(not_loaded).
nif_collecting_ask(_Pid) -> erlang:nif_error(not_loaded).
nif_collecting_begin(_Control) -> erlang:nif_error(not_loaded).
nif_collecting_end() -> erlang:nif_error(not_loaded).
nif_collecting_prove() -> erlang:nif_error(not_loaded).
nif_collecting_watch() -> erlang:nif_error(not_loaded).
nif_collecting_proven() -> erlang:nif_error(not_loaded).
nif_profile_able() -> erlang:nif_error(not_loaded).
nif_profile_offered(_Schedulers) -> erlang:nif_error(not_loaded).
nif_profile_enter() -> erlang:nif_error(not_loaded).
nif_profile_entered() -> erlang:nif_error(not_loaded).
nif_profile_add(_Schedulers, _Tid) -> erlang:nif_error(not_loaded).
nif_profile_dirty(_MFA) -> erlang:nif_error(not_loaded).
nif_profile_dirty_io(_MFA) -> erlang:nif_error(not_loaded).
nif_profile_proven() -> erlang:nif_error(not_loaded).
nif_profile_unlearned() -> erlang:nif_error(not_loaded).
nif_profile_rates(_Periods) -> erlang:nif_error(not_loaded).
nif_profile_close() -> erlang:nif_error(not_loaded).
nif_profile_take(_Programs, _Most) -> erlang:nif_error(not_loaded).
nif_profile_counts(_Program) -> erlang:nif_error(not_loaded).
nif_wall_counts(_Program) -> erlang:nif_error(not_loaded).
nif_profile_others(_First) -> erlang:nif_error(not_loaded).
nif_profile_process() -> erlang:nif_error(not_loaded).
nif_inside_known() -> erlang:nif_error(not_loaded).
nif_inside_begin(_Pid, _First) -> erlang:nif_error(not_loaded).
nif_inside_look() -> erlang:nif_error(not_loaded).
nif_inside_keep(_Said) -> erlang:nif_error(not_loaded).
nif_inside_rest() -> erlang:nif_error(not_loaded).
nif_inside_prove() -> erlang:nif_error(not_loaded).
