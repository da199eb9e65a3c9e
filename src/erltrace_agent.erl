%% erltrace_agent - the agent in a traced node: the server that consumers talk to, and the stubs of its NIF.
%%
%% doc/agent-protocol.md says how it gets here and what it is asked. One module, so that it can be loaded from memory and
%% taken away again in one piece. It is compiled once, by the oldest OTP, and loaded by all; so it matches no binaries (the
%% newest OTP refuses that code). Sections:
%%   coming          vsn, attach, placing and loading the NIF library
%%   serving         the gen_server: consumers, leases, requests
%%   reading         flip, wait, drain, reply
%%   needs           what all running programs together need of the VM, and the way from one set of needs to the next
%%   process flags   ... set process by process (before OTP 27), or in a trace session (from 27 on)
%%   patterns        ... likewise
%%   keeping watch   is it all still set, functions whose exception frames pile up, dead processes
%%   leaving         undoing, unloading; the guard that does it when the server is killed
%%   nif stubs
%%
%% What always holds:
%%  * The tracer term is {erltrace_agent, ?STATE} everywhere: the VM takes two terms for two tracers.
%%  * Nothing is set or cleared on `all` or `existing` through erlang:trace/3: that can crash a VM before OTP 27, and
%%    strips other tools' flags. A process, or function, with somebody else's tracer is left alone and reported.
%%  * What is set is remembered in #s.flags and #s.functions, and nothing else is ever cleared.
%%  * Needs grow before the snapshot that relies on them is published, and shrink after the one that does without.
-module(erltrace_agent).
-behaviour(gen_server).

-export([vsn/0, attach/2]).
-export([enabled/3, trace/5]).
-export([guard/2, start_library/3, unload_later/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, format_status/1]).

-define(VERSION, "0.1.0").
-define(STATE, []).
-define(TRACER, {?MODULE, ?STATE}).

%% enum probe_kind and enum probe_need of c_src/probe/probe.h.
-define(BEGIN_, 1).
-define(END_, 2).
-define(TICK, 4).
-define(FN_ENTRY, 64).
-define(FN_RETURN, 65).
-define(FN_EXCEPTION, 66).
-define(NEED_SEND, 1).
-define(NEED_RECEIVE, 2).
-define(NEED_PROCS, 4).
-define(NEED_RUNNING, 8).
-define(NEED_GC, 16).

%% What is wanted of a function, as bits.
-define(ENTRY, 1).
-define(RETURN, 2).
-define(EXCEPTION, 4).

-define(REPLY_BYTES, 1048576).     % most bytes of blocks in one read reply
-define(READ_WAIT, 50).            % ms that a read waits for threads inside an event
-define(STOP_WAIT, 2000).          % ms that stop waits for them
-define(RETRY, 20).                % ms until a reply that the connection had no room for is sent again
-define(ATTACHED, 1500).           % ms that an agent without a consumer stays
-define(FAILED, 200).              % ... when its library could not be loaded
-define(WATCH, 1000).              % ms between two looks at what is set
-define(OVERRUN, 50).              % ms between two looks at exception frames
-define(SAMPLE, 50).               % functions and processes that one look samples

-record(c, {
    pid :: pid(),                  % the consumer
    monitor :: reference() | node, % `node`: watched by monitor_node
    lease :: pos_integer(),        % ms
    heard :: integer(),            % ms, monotonic: when its last message came
    phase = open :: open | enabled | running | stopped,
    program :: reference() | undefined,
    needs = 0 :: non_neg_integer(),
    wants = #{} :: #{mfa() => 1..7},
    special = [] :: [{non_neg_integer(), 1..4, non_neg_integer()}], % {index, kind, ns}
    warnings = [] :: [binary()],   % for the next reply, newest first
    unsent = [] :: [term()]        % replies that the connection has no room for, oldest first
}).

-record(s, {
    nif :: binary() | undefined,   % digest of the library, once it is loaded
    otp :: pos_integer(),
    session :: undefined | term(), % OTP 27+: the strong handle. The session lives as long as it is in here
    consumers = #{} :: #{pid() => #c{}},
    flags = [] :: [atom()],        % set on processes
    functions = #{} :: #{mfa() => pattern()}, % set on functions
    lost = {0, 0, 0},              % what nif_lost said last
    watching = false :: boolean(), % the overrun timer runs
    taken = #{} :: #{mfa() => true}, % functions that lost their exception probes
    expected = 0 :: non_neg_integer(), % consumers that have attached and not opened yet
    attached :: reference() | undefined, % by the last attach
    complained = #{},              % what a warning was given for
    guard :: pid() | undefined
}).

-type pattern() :: {local | meta, Exceptions :: boolean(), Caller :: boolean()}.

%% == coming ===================================================================================================

%% `idle` when nobody is served, so that the module may be replaced.
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

%% Starts the agent, or finds it. Nif is the library, Dirs are folders to place it in for the moment of loading.
-spec attach(binary(), [file:filename()]) -> {ok, pid()} | {error, atom(), binary(), binary()}.
attach(Nif, Dirs) when is_binary(Nif), is_list(Dirs) ->
    Pid = case gen_server:start({local, ?MODULE}, ?MODULE, [], []) of
              {ok, P} -> P;
              {error, {already_started, P}} -> P
          end,
    case is_agent(Pid) of
        true ->
            gen_server:call(Pid, {attach, Nif, Dirs}, 30000);
        false ->
            unload_idle(),
            error4('AGENT_NAME', text("a process of the node has the name erltrace_agent: ~p", [Pid]),
                   "the agent needs that name; can the process go by another?")
    end.

%% Not a stranger that has our name. (The agent is a sensitive process: its dictionary looks empty.)
is_agent(Pid) ->
    case {process_info(Pid, initial_call), process_info(Pid, dictionary)} of
        {{initial_call, {proc_lib, init_p, 5}}, {dictionary, D}} ->
            case lists:keyfind('$initial_call', 1, D) of
                {_, {?MODULE, init, 1}} -> true;
                false -> D =:= [];
                _ -> false
            end;
        {undefined, _} -> true; % it has just ended: the call will say so
        {_, undefined} -> true;
        _ -> false
    end.

load_library(Nif, Dirs) ->
    {ok, Cwd} = file:get_cwd(),
    Tmp = case os:getenv("TMPDIR") of
              false -> [];
              "" -> [];
              D -> [D]
          end,
    load_from(unique(Dirs ++ Tmp ++ ["/tmp", "/var/tmp", "/dev/shm", Cwd]), Nif, []).

unique([H | T]) -> [H | unique([X || X <- T, X =/= H])];
unique([]) -> [].

load_from([], _, Tried) ->
    Text = [["; ", D, ": ", Why] || {D, Why} <- lists:reverse(Tried)],
    error4('AGENT_NIF', ["the agent's library cannot be loaded", Text],
           "name a folder on the node's machine that is writable for its user and not mounted noexec");
load_from([Dir | Dirs], Nif, Tried) ->
    case place(Dir, Nif) of
        {ok, Place, File} ->
            Result = erlang:load_nif(filename:rootname(File), 0),
            _ = file:delete(File),
            _ = file:del_dir(Place),
            case Result of
                ok -> ok;
                {error, {old_code, _}} -> old_code;
                {error, {upgrade, _}} -> stale;
                {error, {Reason, Text}} ->
                    Why = io_lib:format("~s: ~s", [Reason, Text]),
                    load_from(Dirs, Nif, [{Dir, Why} | Tried])
            end;
        {error, Why} ->
            load_from(Dirs, Nif, [{Dir, Why} | Tried])
    end.

%% Only the owner can enter the folder from the moment that something is in it: it is new, closed, found empty, and then the
%% file is made in it by a call that fails if anything has that name.
place(Dir, Nif) ->
    Place = filename:join(Dir, "erltrace-" ++ integer_to_list(random_number(), 36)),
    File = filename:join(Place, "erltrace_agent.so"),
    case file:make_dir(Place) of
        ok ->
            Written =
                try
                    ok = file:change_mode(Place, 8#700),
                    {ok, []} = file:list_dir(Place),
                    {ok, Fd} = file:open(File, [write, exclusive, raw, binary]),
                    Wrote = file:write(Fd, Nif),
                    ok = file:close(Fd),
                    Wrote
                catch
                    error:{badmatch, {error, E}} -> {error, E};
                    error:_ -> {error, eacces}
                end,
            case Written of
                ok ->
                    {ok, Place, File};
                {error, Why} ->
                    _ = file:delete(File),
                    _ = file:del_dir(Place),
                    {error, file:format_error(Why)}
            end;
        {error, Why} ->
            {error, file:format_error(Why)}
    end.

%% crypto is not part of every node. (It need not be a secret: see place/2.)
random_number() ->
    Seed = {make_ref(), erlang:monotonic_time(), erlang:unique_integer(), os:getpid(), self()},
    S = rand:seed_s(exsss, erlang:phash2(Seed, 1 bsl 32) bxor erlang:system_time()),
    {A, S1} = rand:uniform_s(1 bsl 40, S),
    {B, _} = rand:uniform_s(1 bsl 40, S1),
    A bsl 40 + B.

%% == serving ==================================================================================================

%% Nothing here may be a fun or belong to this code: the code can be replaced under the server (see current/1).
init([]) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    process_flag(trap_exit, true),
    Otp = list_to_integer(erlang:system_info(otp_release)),
    {ok, #s{otp = Otp}}.

handle_call({attach, Nif, Dirs}, _, S0) ->
    Digest = erlang:md5(Nif),
    case current(S0) of
        #s{nif = undefined} = S ->
            case start_library(Nif, Dirs, S) of
                {ok, S1} -> {reply, {ok, self()}, attached(?ATTACHED, S1)};
                Error -> {reply, Error, attached(?FAILED, S)}
            end;
        #s{nif = Digest} = S ->
            {reply, {ok, self()}, attached(?ATTACHED, S)};
        S ->
            {reply, error4('AGENT_VERSION', "the node is being traced by another version of erltrace, whose agent has "
                           "not the same library",
                           "use the erltrace that is in use there, or wait until it has ended"), S}
    end;
handle_call(_, _, S) ->
    {reply, {error, 'AGENT_REQUEST', <<"not a request that the agent knows">>, <<>>}, S}.

handle_cast(_, S) ->
    {noreply, S}.

handle_info(Info, S) ->
    info(Info, current(S)).

info({erltrace, Pid, Id, Request}, S) when is_pid(Pid) ->
    S1 = heard(Pid, S),
    try request(Request, Pid, S1) of
        {reply, Reply, S2} -> {noreply, reply(Pid, {erltrace, Id, Reply}, S2)};
        {last, Reply, S2} -> last(Pid, Id, Reply, S2)
    catch
        throw:{error, _, _, _} = Error ->
            {noreply, reply(Pid, {erltrace, Id, Error}, S1)};
        Class:Reason:Stack ->
            Text = io_lib:format("~w:~0P at ~0P", [Class, Reason, 10, Stack, 10]),
            {noreply, reply(Pid, {erltrace, Id, error4('AGENT_INTERNAL', Text, "report this")}, S1)}
    end;
info({erltrace, Pid, alive}, S) ->
    {noreply, heard(Pid, S)};
info({timeout, _, {tick, Pid, Index, Due, Ns}}, S) ->
    tick(Pid, Index, Due, Ns, S),
    {noreply, S};
info({lease, Pid, Last}, S) ->
    lease(Pid, Last, S);
info({retry, Pid}, S) ->
    {noreply, flush(Pid, S)};
info({'DOWN', _, process, Pid, _}, S) ->
    gone(Pid, S);
info({'EXIT', Pid, _}, S) -> % a consumer may be linked
    gone(Pid, S);
info({nodedown, Node}, S) ->
    Pids = [P || P <- maps:keys(S#s.consumers), node(P) =:= Node],
    lists:foldl(fun(P, {noreply, S1}) -> gone(P, S1);
                   (_, Stop) -> Stop
                end, {noreply, S}, Pids);
info({lonely, Attached}, #s{consumers = C, attached = Attached} = S) ->
    case map_size(C) of
        0 -> leave(S);
        _ -> {noreply, S#s{expected = 0}}
    end;
info(watch, #s{nif = undefined} = S) ->
    {noreply, S};
info(watch, S) ->
    erlang:send_after(?WATCH, self(), watch),
    {noreply, watch(S)};
info(overrun, S) ->
    {noreply, overrun(S)};
info(_, S) ->
    {noreply, S}.

%% A crash of the server; the guard does the rest. (leave/1 has undone everything.)
terminate(_, #s{nif = undefined}) ->
    ok;
terminate(Reason, #s{consumers = Cs}) ->
    nif_loaded() andalso nif_gate(false),
    [send(Pid, {erltrace, ended, 'AGENT_INTERNAL', text("the agent has crashed: ~0P", [Reason, 12]), <<"report this">>})
     || Pid <- maps:keys(Cs)],
    ok.

%% What a report of a crash shows: not thousands of functions.
format_status(Status) ->
    maps:map(fun(state, _) -> '...';
                (message, _) -> '...';
                (_, V) -> V
             end, Status).

start_library(Nif, Dirs, S) ->
    case load_library(Nif, Dirs) of
        ok ->
            ok = nif_start(S#s.otp),
            Alias = alias(),
            _ = nif_alias(Alias, self(), make_ref()), % false: aliases stay references
            unalias(Alias),
            erlang:send_after(?WATCH, self(), watch),
            {ok, S#s{nif = erlang:md5(Nif), guard = spawn(?MODULE, guard, [self(), {Nif, Dirs}])}};
        old_code -> % just now replaced: once more, from the new code
            ?MODULE:start_library(Nif, Dirs, S);
        stale -> % an agent was here that was killed together with its guard
            code:purge(?MODULE),
            start_library(Nif, Dirs, S);
        Error ->
            Error
    end.

%% Two consumers that come at the same moment may both load the module. The second load takes the place of the code that is
%% at work, library and all. Usually nobody has enabled anything yet: then the library is loaded again and
%% nobody notices. (A function that refuses the load, -on_load, would be better, but an OTP 25 whose on_load has failed
%% aborts when the module is purged.)
current(#s{nif = undefined} = S) ->
    S;
current(S) ->
    case nif_loaded() of
        true -> S;
        false -> replaced(S)
    end.

replaced(#s{consumers = Cs} = S) ->
    remove_patterns(S#s.functions, S),
    remove_flags(S#s.flags, [], S),
    S#s.session =:= undefined orelse trace:session_destroy(S#s.session),
    Library = dismiss_guard(S),
    code:purge(?MODULE), % the library cannot be there twice
    S1 = S#s{nif = undefined, guard = undefined, session = undefined, flags = [], functions = #{}, taken = #{},
             lost = {0, 0, 0}},
    Restarted = case Library of
                    {Nif, Dirs} -> start_library(Nif, Dirs, S1);
                    none -> none
                end,
    %% Programs went with the old library.
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

%% Nobody may stay away for longer than this after attaching.
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

%% The timer of a lease. When it seems to have run out, a message from the consumer may still lie in the mailbox: a
%% message to ourselves comes after all of those, and decides.
lease(Pid, Last, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{heard = Last}} ->
            gone(Pid, S);
        #{Pid := #c{heard = Heard, lease = Lease}} ->
            case Heard + Lease - now_ms() of
                Left when Left > 0 -> erlang:send_after(Left, self(), {lease, Pid, none});
                _ -> self() ! {lease, Pid, Heard}
            end,
            {noreply, S};
        #{} ->
            {noreply, S}
    end.

now_ms() ->
    erlang:monotonic_time(millisecond).

%% A reply never suspends the server: a consumer that does not read would stop all others, and its own lease.
reply(Pid, Message, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{unsent = []} = C} ->
            case send(Pid, Message) of
                ok -> S;
                full ->
                    erlang:send_after(?RETRY, self(), {retry, Pid}),
                    S#s{consumers = Cs#{Pid := C#c{unsent = [Message]}}}
            end;
        #{Pid := #c{unsent = U} = C} ->
            S#s{consumers = Cs#{Pid := C#c{unsent = U ++ [Message]}}};
        #{} ->
            _ = send(Pid, Message),
            S
    end.

flush(Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := #c{unsent = [M | U]} = C} ->
            case send(Pid, M) of
                ok -> flush(Pid, S#s{consumers = Cs#{Pid := C#c{unsent = U}}});
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
        _ -> ok % noconnect: the consumer is gone, and we will hear so
    end.

error4(Tag, Text, Hint) ->
    {error, Tag, unicode:characters_to_binary(Text), unicode:characters_to_binary(Hint)}.

text(Format, Args) ->
    unicode:characters_to_binary(io_lib:format(Format, Args)).

%% -- requests -------------------------------------------------------------------------------------------------

request({open, Lease}, Pid, #s{consumers = Cs, nif = Nif} = S) when is_integer(Lease), Lease > 0, Nif =/= undefined ->
    case Cs of
        #{Pid := _} ->
            throw(error4('AGENT_REQUEST', "this consumer is open already", ""));
        #{} ->
            Heard = now_ms(),
            C = #c{pid = Pid, monitor = monitor_consumer(Pid), lease = Lease, heard = Heard},
            erlang:send_after(Lease, self(), {lease, Pid, none}),
            Info = [{pid, list_to_integer(os:getpid())}, {otp, S#s.otp},
                    {erts, unicode:characters_to_binary(erlang:system_info(version))}, {node, node()},
                    {schedulers, erlang:system_info(schedulers)}, {warnings, []}],
            {reply, {ok, Info}, S#s{consumers = Cs#{Pid => C}, expected = max(0, S#s.expected - 1)}}
    end;
request(Request, Pid, #s{consumers = Cs} = S) ->
    case Cs of
        #{Pid := C} -> request(Request, C, Pid, S);
        #{} -> throw(error4('AGENT_CLOSED', "the agent does not know this consumer (any more): its lease ran out",
                            "was the consumer stopped for a while?"))
    end.

request(modules, _, _, S) ->
    {reply, {ok, lists:sort([M || {M, _} <- code:all_loaded(), M =/= ?MODULE])}, S};
request({functions, Modules}, _, _, S) ->
    {reply, {ok, [{M, functions_of(M)} || M <- Modules, M =/= ?MODULE]}, S};
request({enable, Image, Options, Bindings}, #c{phase = open} = C, Pid, S) ->
    Threads = erlang:system_info(schedulers) + erlang:system_info(dirty_cpu_schedulers) +
        erlang:system_info(dirty_io_schedulers) + 8,
    Provider = unicode:characters_to_binary(["erlang", os:getpid()]),
    case nif_enable(Image, [{threads, Threads} | Options], Bindings, Provider) of
        {ok, Program, Granted, Needs, Special} ->
            Needs band ?NEED_GC =/= 0 andalso check_gc(S),
            C1 = C#c{phase = enabled, program = Program, needs = Needs, special = Special,
                     wants = wants(Bindings, #{})},
            {reply, {ok, Granted, []}, set_consumer(Pid, C1, S)};
        {error, _, _, _} = Error ->
            throw(Error)
    end;
request(go, #c{phase = enabled, program = P} = C, Pid, S) ->
    ok = nif_phase(P, 'begin'),
    fire(?BEGIN_, C),
    ok = nif_phase(P, running),
    case nif_status(P) of
        {true, _} -> % exit() in BEGIN: nothing needs to be set
            {reply, {ok, []}, set_consumer(Pid, C#c{phase = running, needs = 0, wants = #{}}, S)};
        {false, _} ->
            try apply_needs(set_consumer(Pid, C#c{phase = running}, S)) of
                {Warnings, S1} ->
                    start_ticks(C),
                    {reply, {ok, Warnings}, start_watching(S1)}
            catch
                Class:Reason:Stack ->
                    _ = apply_needs(set_consumer(Pid, C#c{phase = enabled}, S)),
                    erlang:raise(Class, Reason, Stack)
            end
    end;
request({read, What}, #c{program = P} = C, Pid, S) when P =/= undefined, What >= 0, What =< 3 ->
    {Reply, C1} = read(What, C),
    {reply, Reply, set_consumer(Pid, C1, S)};
request(stop, #c{phase = running, program = P} = C, Pid, S) ->
    {_, S1} = apply_needs(set_consumer(Pid, C#c{phase = stopped}, S)),
    _ = settled(?STOP_WAIT),
    ok = nif_phase(P, 'end'),
    fire(?END_, C),
    ok = nif_phase(P, stopped),
    {reply, ok, S1};
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
    throw(error4('AGENT_REQUEST', text("~0P cannot be asked of a consumer that is ~p", [Name, 5, Phase]), "")).

set_consumer(Pid, C, #s{consumers = Cs} = S) ->
    S#s{consumers = Cs#{Pid => C}}.

%% A consumer of this node or of another Erlang node is watched as a process. A hidden node may be a C program that knows
%% nothing of monitors; there the connection is what counts (and the lease).
monitor_consumer(Pid) ->
    case lists:member(node(Pid), nodes(hidden)) of
        true ->
            erlang:monitor_node(node(Pid), true),
            node;
        false ->
            erlang:monitor(process, Pid)
    end.

%% After the answer to close there may be nobody left to stay for.
last(Pid, Id, Reply, S) ->
    case needed(S) of
        false ->
            Undone = undo(S),
            _ = send(Pid, {erltrace, Id, Reply}),
            leave(Undone);
        true ->
            {noreply, reply(Pid, {erltrace, Id, Reply}, S)}
    end.

%% Somebody is there, or has just attached and is about to come.
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

%% Drops a consumer and what only it needed.
forget(Pid, C, #s{consumers = Cs} = S) ->
    unwatch(C),
    C#c.program =/= undefined andalso nif_phase(C#c.program, stopped),
    {_, S1} = apply_needs(S#s{consumers = maps:remove(Pid, Cs)}),
    S1.

unwatch(#c{monitor = node, pid = Pid}) -> erlang:monitor_node(node(Pid), false);
unwatch(#c{monitor = Ref}) -> erlang:demonitor(Ref, [flush]).

fire(Kind, #c{program = P, special = Special}) ->
    [nif_fire(P, I) || {I, K, _} <- Special, K =:= Kind],
    ok.

%% -- ticks: absolute due times, so that they do not drift -------------------------------------------------------

start_ticks(#c{pid = Pid, special = Special}) ->
    Now = erlang:monotonic_time(nanosecond),
    [tick_at(Pid, I, Now + Ns, Ns) || {I, ?TICK, Ns} <- Special],
    ok.

tick_at(Pid, Index, Due, Ns) ->
    %% Rounded up; monotonic time is negative on most systems.
    Ms = if Due >= 0 -> (Due + 999999) div 1000000;
            true -> -(-Due div 1000000)
         end,
    erlang:start_timer(Ms, self(), {tick, Pid, Index, Due, Ns}, [{abs, true}]).

tick(Pid, Index, Due, Ns, #s{consumers = Cs}) ->
    case Cs of
        #{Pid := #c{phase = running, program = P}} ->
            Late = max(0, erlang:monotonic_time(nanosecond) - Due),
            %% Timers have milliseconds: faster ticks come in bunches. A slow one that is late is not made up for.
            Times = if Ns < 1000000 -> min(1 + Late div Ns, 10);
                       true -> 1
                    end,
            [nif_fire(P, Index) || _ <- lists:seq(1, Times)],
            tick_at(Pid, Index, Due + Ns * (1 + Late div Ns), Ns);
        #{} ->
            ok
    end.

%% == reading ==================================================================================================

read(What, #c{program = P} = C) ->
    Flipped = What =/= 0 andalso
        try nif_flip(P, What) of ok -> true
        catch error:badarg -> false % the last reading is not finished: go on with that
        end,
    {Block, More} =
        case quiet(P, now_ms() + ?READ_WAIT) of
            true -> nif_drain(P, ?REPLY_BYTES);
            false -> {<<>>, true}
        end,
    {Exiting, Pending} = nif_status(P),
    State = if C#c.phase =:= stopped, not Pending, not More -> drained;
               C#c.phase =:= running, Exiting -> exiting;
               true -> running
            end,
    Blocks = [Block || Block =/= <<>>],
    Again = More orelse (What =/= 0 andalso not Flipped),
    {{ok, State, nif_counts(P), Blocks, Again, lists:reverse(C#c.warnings)}, C#c{warnings = []}}.

quiet(P, Until) ->
    nif_quiet(P) orelse
        (now_ms() < Until andalso begin receive after 1 -> ok end, quiet(P, Until) end).

%% Waits until no event can see what was taken out of the snapshot.
settled(Ms) ->
    settled_until(now_ms() + Ms).

settled_until(Until) ->
    nif_settled() orelse
        (now_ms() < Until andalso begin receive after 1 -> ok end, settled_until(Until) end).

%% == needs ====================================================================================================

wants([{_, _, _, Kind, {M, _, _} = MFA} | T], Acc) when Kind >= ?FN_ENTRY, Kind =< ?FN_EXCEPTION, M =/= ?MODULE ->
    Bit = 1 bsl (Kind - ?FN_ENTRY),
    case Acc of
        #{MFA := Bits} when Bits band Bit =/= 0 -> wants(T, Acc);
        #{MFA := Bits} -> wants(T, Acc#{MFA := Bits bor Bit});
        #{} -> wants(T, Acc#{MFA => Bit})
    end;
wants([_ | T], Acc) ->
    wants(T, Acc);
wants([], Acc) ->
    Acc.

%% Makes the VM deliver what the running programs need, no more and no less, and the events reach them.
%% -> {warnings, state}; throws an error, and then leaves everything as it was.
apply_needs(S) ->
    case [C || #c{phase = running} = C <- maps:values(S#s.consumers)] of
        [] -> {[], no_needs(S)};
        Running -> apply_needs(Running, session(S))
    end.

%% Nobody runs a program. From OTP 27 on all that we set goes with the session, in one step: each pattern by itself waits for
%% all schedulers, which takes seconds on a busy node.
no_needs(S) ->
    nif_publish([], []),
    nif_gate(false),
    case S#s.session of
        undefined ->
            remove_patterns(S#s.functions, S),
            remove_flags(S#s.flags, [], S),
            tell_guard(S, #{});
        Session ->
            trace:session_destroy(Session)
    end,
    S#s{session = undefined, flags = [], functions = #{}, taken = #{}}.

apply_needs(Running, S) ->
    Bits = lists:foldl(fun(#c{needs = N}, A) -> N bor A end, 0, Running),
    Wants = lists:foldl(fun(#c{wants = W}, A) -> merge_wants(W, A) end, #{}, Running),
    {Patterns, Local} = simplify(maps:map(fun(_, B) -> pattern(B) end, without_taken(S#s.taken, Wants))),
    Flags = flags(Bits, Local),
    tell_guard(S, maps:merge(S#s.functions, Patterns)),
    New = Flags -- S#s.flags,
    W1 = add_flags(New, S),
    {Set, W2} = add_patterns(Patterns, S),
    case nif_publish([C#c.program || C <- Running], maps:keys(S#s.taken)) of
        ok ->
            nif_gate(true),
            remove_patterns(no_longer(S#s.functions, Set), S),
            remove_flags(S#s.flags -- Flags, Flags, S),
            tell_guard(S, Set),
            {W1 ++ W2, S#s{flags = Flags, functions = Set}};
        'AGENT_MEMORY' ->
            remove_patterns(no_longer(Set, S#s.functions), S),
            remove_flags(New, S#s.flags, S),
            throw(error4('AGENT_MEMORY', "the node has no memory for the table of probes", "enable fewer probes"))
    end.

merge_wants(W, Acc) ->
    maps:fold(fun(K, V, B) ->
                  case B of
                      #{K := V0} -> B#{K := V0 bor V};
                      #{} -> B#{K => V}
                  end
              end, Acc, W).

without_taken(Taken, Wants) ->
    maps:fold(fun(MFA, true, W) ->
                  case W of
                      #{MFA := ?EXCEPTION} -> maps:remove(MFA, W);
                      #{MFA := Bits} -> W#{MFA := Bits band (bnot ?EXCEPTION)};
                      #{} -> W
                  end
              end, Wants, Taken).

%% What was set one way or the other and is not in the new set that way.
no_longer(Old, New) ->
    maps:filter(fun(MFA, {How, _, _}) ->
                    case New of
                        #{MFA := {How, _, _}} -> false;
                        #{} -> true
                    end
                end, Old).

%% Returns need local patterns, which work only in processes that have the flags; the rest goes without touching processes.
pattern(Bits) ->
    How = if Bits band ?RETURN =/= 0 -> local;
             true -> meta
          end,
    {How, Bits band ?EXCEPTION =/= 0, How =:= local}.

%% When returns of one function only are wanted, its caller need not be known: that saves the VM a fifth of the work.
%% -> {patterns, whether any is local}
simplify(Patterns) ->
    case [MFA || {MFA, {local, _, _}} <- maps:to_list(Patterns)] of
        [] -> {Patterns, false};
        [MFA] ->
            case Patterns of
                #{MFA := {local, false, true}} -> {Patterns#{MFA := {local, false, false}}, true};
                #{} -> {Patterns, true}
            end;
        _ -> {Patterns, true}
    end.

flags(Bits, Local) ->
    lists:append([F || {Bit, F} <- [{?NEED_SEND, [send]}, {?NEED_RECEIVE, ['receive']}, {?NEED_PROCS, [procs]},
                                    {?NEED_RUNNING, [running, exiting]}, {?NEED_GC, [garbage_collection]}],
                       Bits band Bit =/= 0]) ++
        [F || Local, F <- [call, return_to, arity]].

%% {return_trace} is never among these: it leaves a frame for every call.
match_spec({local, false, true}) -> [{'_', [], [{message, {caller}}]}];
match_spec({local, true, true}) -> [{'_', [], [{message, {caller}}, {exception_trace}]}];
match_spec({_, false, false}) -> [];
match_spec({meta, true, false}) -> [{'_', [], [{exception_trace}]}].

%% From OTP 27 on, a trace session of our own.
session(#s{session = undefined, otp = Otp} = S) when Otp >= 27 ->
    S#s{session = trace:session_create(?MODULE, ?TRACER, [])};
session(S) ->
    S.

%% == process flags ============================================================================================

add_flags([], _) ->
    [];
add_flags(Flags, #s{session = undefined}) ->
    New = case may_take(new_processes) of
              true ->
                  erlang:trace(new_processes, true, [{tracer, ?MODULE, ?STATE} | Flags]),
                  [];
              {no, Owner} ->
                  [text("new processes are traced by ~s: those are not seen", [Owner])]
          end,
    Foreign = lists:foldl(fun(P, Acc) -> add_to_process(P, Flags, Acc) end, #{}, processes()),
    New ++ [text("~b process~s traced by ~s: those are not seen", [N, plural(N), Owner])
            || {Owner, N} <- maps:to_list(Foreign)];
add_flags(Flags, #s{session = Session}) ->
    trace:process(Session, all, true, Flags),
    [].

plural(1) -> " is";
plural(_) -> "es are".

add_to_process(P, Flags, Foreign) ->
    case P =/= self() andalso may_take(P) of
        true ->
            try erlang:trace(P, true, [{tracer, ?MODULE, ?STATE} | Flags]) of
                _ -> Foreign
            catch
                error:badarg -> % it is dead, or somebody was faster than we
                    case may_take(P) of
                        {no, Owner} -> count(Owner, Foreign);
                        _ -> Foreign
                    end
            end;
        {no, Owner} ->
            count(Owner, Foreign);
        false ->
            Foreign
    end.

count(Key, Map) ->
    maps:update_with(Key, fun(N) -> N + 1 end, 1, Map).

%% Whether the legacy tracer of a process (or of new ones) is free or ours; false: dead.
may_take(P) ->
    try erlang:trace_info(P, tracer) of
        {tracer, []} -> true;
        {tracer, ?TRACER} -> true;
        {tracer, Other} -> {no, owner(Other)};
        undefined -> false
    catch
        error:badarg -> false
    end.

owner({Module, _}) ->
    text("module ~p", [Module]);
owner(Pid) when is_pid(Pid) ->
    Name = try erlang:process_info(Pid, registered_name) of
               {registered_name, N} -> io_lib:format(" (~p)", [N]);
               _ -> ""
           catch error:badarg -> ""
           end,
    text("~p~s", [Pid, Name]);
owner(Other) ->
    text("~p", [Other]).

is_ours(P) ->
    try erlang:trace_info(P, tracer) =:= {tracer, ?TRACER}
    catch error:badarg -> false
    end.

remove_flags([], _, _) ->
    ok;
remove_flags(Flags, Left, #s{session = undefined}) ->
    Off = case Left of
              [] -> [all];
              _ -> Flags
          end,
    is_ours(new_processes) andalso erlang:trace(new_processes, false, Off),
    [try erlang:trace(P, false, Off) catch error:badarg -> 0 end || P <- processes(), is_ours(P)],
    ok;
remove_flags(Flags, _, #s{session = Session}) ->
    trace:process(Session, all, false, Flags),
    ok.

%% OTP 27 to 29 crash at a collection that two sessions trace (the legacy one counts as one).
check_gc(#s{otp = Otp}) when Otp < 27 ->
    ok;
check_gc(#s{session = Own}) ->
    Others = [W || W <- trace:session_info(all), W =/= {legacy, default}, not own(W, Own)],
    Legacy = [P || P <- [new_processes | processes()], has_gc(fun() -> erlang:trace_info(P, flags) end)],
    Foreign = [W || W <- Others, P <- [new_processes | processes()],
                    has_gc(fun() -> trace:info(W, P, flags) end)],
    case Legacy ++ Foreign of
        [] -> ok;
        _ ->
            throw(error4('AGENT_BUSY', "another tool traces garbage collection on this node, and OTP 27 to 29 crash "
                         "when two do",
                         "end that trace (dbg:stop() for dbg), or leave the gc_* probes out"))
    end.

own(Weak, {_, Weak}) -> true;
own(_, _) -> false.

has_gc(Info) ->
    try Info() of
        {flags, F} when is_list(F) -> lists:member(garbage_collection, F);
        _ -> false
    catch _:_ -> false
    end.

%% == patterns =================================================================================================

functions_of(M) ->
    try lists:usort(M:module_info(functions))
    catch _:_ -> []
    end.

%% Sets what is not set yet. -> {what is set then, warnings}
add_patterns(Patterns, #s{functions = Have} = S) ->
    New = maps:filter(fun(MFA, P) ->
                          case Have of
                              #{MFA := P} -> false;
                              #{} -> true
                          end
                      end, Patterns),
    {Foreign, Free} = foreign(New, S),
    Missed = maps:fold(fun({M, Pattern}, FAs, Acc) -> set_patterns(M, Pattern, FAs, S) ++ Acc end,
                       [], by_module(Free)),
    Set = maps:without(maps:keys(Foreign) ++ Missed, Patterns),
    {Set,
     [text("~b function~s traced by ~s and left alone: ~s",
           [length(Fs), case Fs of [_] -> " is"; _ -> "s are" end, Owner, names(Fs)])
      || {Owner, Fs} <- maps:to_list(by_owner(Foreign))] ++
     [text("~b function~s not there any more: ~s",
           [length(Missed), case Missed of [_] -> " is"; _ -> "s are" end, names(Missed)]) || Missed =/= []]}.

names(MFAs) ->
    {Some, More} = case lists:sort(MFAs) of
                       [A, B, C, _ | _] -> {[A, B, C], ", ..."};
                       L -> {L, ""}
                   end,
    [lists:join(", ", [io_lib:format("~p:~p/~b", [M, F, A]) || {M, F, A} <- Some]), More].

by_owner(Foreign) ->
    maps:fold(fun(MFA, Owner, Acc) ->
                  maps:update_with(Owner, fun(L) -> [MFA | L] end, [MFA], Acc)
              end, #{}, Foreign).

by_module(Patterns) ->
    maps:fold(fun({M, F, A}, Pattern, Acc) ->
                  maps:update_with({M, Pattern}, fun(L) -> [{F, A} | L] end, [{F, A}], Acc)
              end, #{}, Patterns).

%% The functions that somebody else traces in a way that ours would replace: {#{MFA => Owner}, the rest}.
foreign(New, #s{session = undefined, functions = Have}) ->
    maps:fold(fun(MFA, {How, _, _} = P, {F, N}) ->
                  Ours = case Have of
                             #{MFA := {How, _, _}} -> true;
                             #{} -> false
                         end,
                  case Ours orelse owner_of(MFA, How) of
                      true -> {F, N#{MFA => P}};
                      nobody -> {F, N#{MFA => P}};
                      Owner -> {F#{MFA => Owner}, N}
                  end
              end, {#{}, #{}}, New);
foreign(New, _) ->
    {#{}, New}.

%% Two tracers cannot have one function in the legacy session: neither two meta tracers, nor two patterns.
owner_of(MFA, meta) ->
    case erlang:trace_info(MFA, meta) of
        {meta, ?TRACER} -> nobody;
        {meta, {_, _} = Other} -> owner(Other);
        {meta, Pid} when is_pid(Pid) -> owner(Pid);
        {meta, Port} when is_port(Port) -> owner(Port);
        _ -> not_global(MFA)
    end;
owner_of(MFA, local) ->
    case erlang:trace_info(MFA, traced) of
        {traced, local} -> <<"somebody else (a local trace pattern)">>;
        _ -> not_global(MFA)
    end.

%% A global pattern and any other one exclude each other.
not_global(MFA) ->
    case erlang:trace_info(MFA, traced) of
        {traced, global} -> <<"somebody else (a global trace pattern)">>;
        _ -> nobody
    end.

%% -> functions that are not there
set_patterns(M, {How, _, _} = Pattern, FAs, S) ->
    MS = match_spec(Pattern),
    Sorted = lists:usort(FAs),
    case length(Sorted) > 1 andalso functions_of(M) =:= Sorted of
        true ->
            pattern({M, '_', '_'}, MS, How, S),
            [];
        false ->
            [{M, F, A} || {F, A} <- Sorted, pattern({M, F, A}, MS, How, S) =:= 0]
    end.

pattern(MFA, MS, meta, #s{session = undefined}) ->
    erlang:trace_pattern(MFA, MS, [{meta, ?MODULE, ?STATE}]);
pattern(MFA, MS, local, #s{session = undefined}) ->
    erlang:trace_pattern(MFA, MS, [local]);
pattern(MFA, MS, How, #s{session = Session}) ->
    trace:function(Session, MFA, MS, [How]).

remove_patterns(Gone, S) ->
    maps:foreach(fun({M, Pattern}, FAs) -> clear_patterns(M, Pattern, FAs, S) end, by_module(Gone)).

clear_patterns(M, {How, _, _} = Pattern, FAs, S) ->
    All = functions_of(M),
    Ours = [FA || {F, A} = FA <- lists:usort(FAs), still_ours({M, F, A}, Pattern, S)],
    case length(Ours) > 1 andalso Ours =:= All of
        true -> clear({M, '_', '_'}, How, S);
        false -> [clear({M, F, A}, How, S) || {F, A} <- Ours]
    end,
    ok.

clear(MFA, How, #s{session = undefined}) ->
    erlang:trace_pattern(MFA, false, [How]);
clear(MFA, How, #s{session = Session}) ->
    trace:function(Session, MFA, false, [How]).

still_ours(MFA, {meta, _, _}, #s{session = undefined}) ->
    erlang:trace_info(MFA, meta) =:= {meta, ?TRACER};
still_ours(MFA, {local, _, _} = Pattern, #s{session = undefined}) ->
    erlang:trace_info(MFA, traced) =:= {traced, local} andalso
        erlang:trace_info(MFA, match_spec) =:= {match_spec, match_spec(Pattern)};
still_ours(_, _, _) ->
    true.

%% == keeping watch ============================================================================================

watch(S0) ->
    nif_sweep(),
    _ = nif_settled(),
    S1 = drop_exiting(S0),
    S2 = lost(S1),
    S3 = lists:foldl(fun complain/2, S2, wiped(S2)),
    rearm_bifs(S3),
    S3.

%% A program whose exit() has run needs nothing any more, whether its consumer has noticed or not.
drop_exiting(#s{consumers = Cs} = S) ->
    Done = [C || #c{phase = running, program = P, needs = N, wants = W} = C <- maps:values(Cs),
                 N =/= 0 orelse W =/= #{}, element(1, nif_status(P))],
    case Done of
        [] -> S;
        _ ->
            S1 = lists:foldl(fun(#c{pid = Pid} = C, A) -> set_consumer(Pid, C#c{needs = 0, wants = #{}}, A) end,
                             S, Done),
            {_, S2} = apply_needs(S1),
            S2
    end.

%% Says once to every running consumer what has changed for the worse.
complain({Key, Text}, #s{complained = Seen} = S) ->
    case Seen of
        #{Key := _} -> S;
        #{} -> warn(Text, S#s{complained = Seen#{Key => true}})
    end.

warn(Text, #s{consumers = Cs} = S) ->
    S#s{consumers = maps:map(fun(_, #c{phase = running, warnings = W} = C) -> C#c{warnings = [Text | W]};
                                (_, C) -> C
                             end, Cs)}.

lost(#s{lost = {T0, R0, C0}} = S) ->
    case nif_lost() of
        {T0, R0, C0} -> S;
        {T, R, C} = Lost ->
            Texts = [text(F, [N]) || {F, N} <- [{"~b events on threads beyond the limit", T - T0},
                                                {"~b calls whose return could not be followed", R - R0},
                                                {"~b calls of processes with too many exception frames", C - C0}],
                                     N > 0],
            warn(unicode:characters_to_binary(["not seen: " | lists:join(", ", Texts)]), S#s{lost = Lost})
    end.

%% What we set and somebody took away; a sample of it, since this runs every second.
wiped(#s{session = undefined, flags = Flags, functions = Fs} = S) ->
    [{flags, <<"somebody cleared the trace flags that the probes need (recon_trace:clear(), dbg, "
               "erlang:trace(all, false, ...)): events are missing from now on; start the trace again">>}
     || Flags =/= [], not flags_there()] ++
    case [MFA || {MFA, P} <- sample(Fs), not still_ours(MFA, P, S)] of
        [] -> [];
        [{M, _, _} | _] = L ->
            [{{pattern, M}, text("the trace patterns of ~s are gone (the module was loaded anew, or another tool "
                                 "cleared them): those probes fire no more; start the trace again", [names(L)])}]
    end;
wiped(_) ->
    [].

flags_there() ->
    is_ours(new_processes) orelse lists:any(fun is_ours/1, lists:sublist(processes(), ?SAMPLE)).

%% One function of each of the first modules.
sample(Fs) when map_size(Fs) =< ?SAMPLE ->
    maps:to_list(Fs);
sample(Fs) ->
    sample(maps:next(maps:iterator(Fs)), none, ?SAMPLE).

sample(none, _, _) -> [];
sample(_, _, 0) -> [];
sample({{M, _, _}, _, I}, M, N) -> sample(maps:next(I), M, N);
sample({{M, _, _} = MFA, P, I}, _, N) -> [{MFA, P} | sample(maps:next(I), M, N - 1)].

%% OTP 27 and 28: when any session lets go of a BIF, all others stop hearing of it, although their pattern is still there.
rearm_bifs(#s{session = Session, otp = Otp, functions = Fs} = S) when Session =/= undefined, Otp < 29 ->
    Bifs = maps:filter(fun({M, F, A}, _) -> erlang:is_builtin(M, F, A) end, Fs),
    maps:foreach(fun({M, Pattern}, FAs) -> set_patterns(M, Pattern, FAs, S) end, by_module(Bifs));
rearm_bifs(_) ->
    ok.

%% Exception probes leave a frame for each call, so that a loop would grow its stack: a function that does is let go.
start_watching(#s{watching = false, functions = Fs} = S) ->
    case lists:any(fun({_, Exceptions, _}) -> Exceptions end, maps:values(Fs)) of
        true ->
            erlang:send_after(?OVERRUN, self(), overrun),
            S#s{watching = true};
        false ->
            S
    end;
start_watching(S) ->
    S.

overrun(#s{taken = Taken} = S) ->
    S1 = case nif_overruns() of
             [] -> S;
             MFAs ->
                 {_, S2} = apply_needs(S#s{taken = maps:merge(Taken, maps:from_list([{F, true} || F <- MFAs]))}),
                 warn(text("exception probes were taken off ~s: calls that do not return pile up, and each leaves a frame "
                           "on the stack while such a probe is on (a loop, or deep recursion)", [names(MFAs)]), S2)
         end,
    start_watching(S1#s{watching = false}).

%% == leaving ==================================================================================================

%% Nothing of ours is set after this.
undo(S) ->
    {_, S1} = apply_needs(S#s{consumers = #{}}),
    S1.

leave(#s{nif = undefined} = S) ->
    unload(),
    {stop, normal, S};
leave(S) ->
    S1 = undo_once(S),
    _ = settled(?STOP_WAIT),
    %% Programs are freed with the last reference; ours goes with the process.
    _ = dismiss_guard(S1),
    unload(),
    {stop, normal, S1#s{nif = undefined, guard = undefined}}.

undo_once(#s{session = undefined, flags = [], functions = F} = S) when map_size(F) =:= 0 ->
    nif_gate(false),
    nif_publish([], []),
    S;
undo_once(S) ->
    undo(S).

%% Whoever attaches from now on finds no module, and loads it anew. Old code goes from outside of it.
unload() ->
    code:purge(?MODULE), % what a second load has put aside
    code:delete(?MODULE),
    unregister(?MODULE),
    spawn(code, purge, [?MODULE]).

%% A module that will not be used, from a process that runs it: gone some moments later.
unload_idle() ->
    spawn(?MODULE, unload_later, []).

unload_later() ->
    receive after ?FAILED -> ok end,
    code:purge(?MODULE),
    code:delete(?MODULE),
    spawn(code, purge, [?MODULE]).

%% -- the guard: does what the server cannot do any more when it was killed. From OTP 27 on the VM ends the session by
%% itself. It knows the functions that have, or are about to get, a pattern; and it keeps the library, which has no place
%% in the server's state: that is printed when the server crashes.

tell_guard(#s{guard = undefined}, _) -> ok;
tell_guard(#s{session = undefined, guard = Guard}, Functions) -> Guard ! {functions, Functions};
tell_guard(_, _) -> ok.

guard(Server, Library) ->
    process_flag(sensitive, true),
    process_flag(priority, high),
    ok = nif_guard(),
    guard(Server, erlang:monitor(process, Server), Library, #{}).

guard(Server, Monitor, Library, Functions) ->
    receive
        {functions, F} ->
            guard(Server, Monitor, Library, F);
        {leave, Server, Tag} -> % from new code, perhaps: then what belongs to ours ends here
            retire(?STOP_WAIT),
            Server ! {Tag, Library};
        {'DOWN', Monitor, process, Server, _} ->
            S = #s{otp = 0},
            remove_flags([all], [], S),
            remove_patterns(Functions, S),
            retire(?STOP_WAIT),
            guard_unload();
        _ ->
            guard(Server, Monitor, Library, Functions)
    end.

retire(Ms) ->
    nif_retire() orelse
        (Ms > 0 andalso begin receive after 1 -> ok end, retire(Ms - 1) end).

%% -> the library and where it can be placed; `none` if the guard is gone
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

guard_unload() ->
    case whereis(?MODULE) of
        undefined ->
            code:purge(?MODULE),
            code:delete(?MODULE),
            spawn(code, purge, [?MODULE]);
        _ ->
            ok
    end.

%% == nif stubs ================================================================================================

%% The VM asks these before the library is loaded only if somebody names us as a tracer by hand.
enabled(_, _, _) -> remove.
trace(_, _, _, _, _) -> ok.

nif_loaded() -> false.
nif_guard() -> erlang:nif_error(not_loaded).
nif_retire() -> erlang:nif_error(not_loaded).
nif_start(_Otp) -> erlang:nif_error(not_loaded).
nif_alias(_Alias, _Pid, _Reference) -> erlang:nif_error(not_loaded).
nif_gate(_Open) -> erlang:nif_error(not_loaded).
nif_enable(_Image, _Options, _Bindings, _Provider) -> erlang:nif_error(not_loaded).
nif_publish(_Programs, _Off) -> erlang:nif_error(not_loaded).
nif_settled() -> erlang:nif_error(not_loaded).
nif_fire(_Program, _Index) -> erlang:nif_error(not_loaded).
nif_phase(_Program, _Phase) -> erlang:nif_error(not_loaded).
nif_flip(_Program, _What) -> erlang:nif_error(not_loaded).
nif_quiet(_Program) -> erlang:nif_error(not_loaded).
nif_drain(_Program, _Limit) -> erlang:nif_error(not_loaded).
nif_counts(_Program) -> erlang:nif_error(not_loaded).
nif_status(_Program) -> erlang:nif_error(not_loaded).
nif_overruns() -> erlang:nif_error(not_loaded).
nif_lost() -> erlang:nif_error(not_loaded).
nif_sweep() -> erlang:nif_error(not_loaded).
