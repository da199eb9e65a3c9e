%% erltrace_agent_profile - profile-N and wall-N: lets scheduler threads be sampled while programs want it, and fires the probes for the samples
%% (guest/beam/probe/oncpu.h, onwall.h).
%%
%% What always holds:
%%  * A scheduler is added by a process that runs on it. One that is held by a NIF is added later: its process waits for that.
%%  * A dirty scheduler is added by the server, whatever it runs. Until a process of the agent has run on one of them, no process of theirs is known.
%%  * Clocks exist only while a program with profile-N or wall-N runs. What is left of them ends in steps of some milliseconds, which need no consumer.
%%  * The server's state has nothing of this, since samples are also taken while the server does long work (erltrace_agent_meanwhile).
-module(erltrace_agent_profile).

-export([wanted/1, machine/0, offered/0, clocks/1, check/2, apply/1, turn/2, before/1, finish/2, close/1]).

-import(erltrace_agent_lib, [error4/3, text/2]).

-include("erltrace_agent.hrl").

-define(RATES, 8).                 % ONCPU_RATES of oncpu.h
-define(PROGRAMS, 64).             % PROGRAMS of oncpu_fire.c
-define(PERIOD, 50).               % ms between two times that samples are taken
-define(STEP, 5).                  % ms between two steps of the end
-define(ENTER, 1000).              % ms for all schedulers to be added, and for the proof on a dirty one
-define(COLLECTS, 300).            % ms of the process that collects itself, at most
-define(COLLECTORS, 20).           % such processes, one after another: each adds to what was seen
-define(KEEPS, 20000).             % elements that it keeps: with as many of before, few enough that no dirty scheduler collects them
-define(ROOM, 100000).             % words of its heap, in which nothing has to be collected meanwhile
-define(TAKEN, 64).                % samples that are taken in one step
-define(STEPS, 64).                % ... and steps of one turn
-define(WALL, 16#8000000000000000). % ONWALL_RATE of onwall.h

%% Whether a program has profile-N or wall-N.
wanted(Special) ->
    periods(Special) =/= [].

%% The rates that a program wants, as nif_profile_rates takes them.
periods(Special) ->
    on_cpu(Special) ++ [?WALL + Ns || Ns <- by_wall(Special)].

on_cpu(Special) ->
    [min(Ns, ?WALL - 1) || {_, ?PROBE_PROFILE, Ns} <- Special].

by_wall(Special) ->
    [min(Ns, ?WALL - 1) || {_, ?PROBE_WALL, Ns} <- Special].

%% The clocks by which a program's samples are taken, as the system offers them now.
-spec clocks([tuple()]) -> [task_clock | user_clock | sampler].
clocks(Special) ->
    ByClock = [case offered() of task -> task_clock; user -> user_clock; sampler -> sampler end || on_cpu(Special) =/= []],
    lists:usort(ByClock ++ [sampler || by_wall(Special) =/= []]).

%% The processor for which the VM was built.
machine() ->
    hd(string:lexemes(erlang:system_info(system_architecture), "-")).

%% The kind of clock that all schedulers would have; processor: none, on a processor on which they are not sampled.
-spec offered() -> task | user | sampler | processor.
offered() ->
    ?AGENT:nif_profile_offered(lists:sum([erlang:system_info(K) || K <- [schedulers, dirty_cpu_schedulers, dirty_io_schedulers]])).

%% How a program's probes are called.
named(Special) ->
    case {on_cpu(Special), by_wall(Special)} of
        {[], _} -> "wall-N";
        {_, []} -> "profile-N";
        _ -> "profile-N and wall-N"
    end.

%% A program is being enabled. Throws an error if it wants what this VM does not have; returns warnings.
check(Special, S) ->
    case periods(Special) of
        [] -> [];
        Periods ->
            Others = lists:append([periods(X) || #c{special = X, phase = Phase} <- maps:values(S#s.consumers), Phase =/= stopped]),
            length([C || #c{special = X, phase = Phase} = C <- maps:values(S#s.consumers), wanted(X), Phase =/= stopped]) < ?PROGRAMS orelse
                refuse(Special, text("a node samples for no more than ~b programs at once, those of other traces included", [?PROGRAMS]),
                       "end some of the traces that have a profile probe"),
            length(lists:usort(Periods ++ Others)) =< ?RATES orelse
                refuse(Special, text("a node samples at no more than ~b different rates at once, those of other traces included", [?RATES]),
                       "use one rate for all profile probes, such as profile-97"),
            case ?AGENT:nif_profile_able() of
                ok -> ok;
                processor -> refuse(Special, text("the agent cannot sample schedulers on ~s", [machine()]),
                                    "it can on x86_64; tick-N fires in any VM, and stack() in probes of functions shows where calls come from");
                code -> refuse(Special, "this VM does not show where its compiled code lies",
                               "the VM must be OTP 25 or later with the JIT (erlang:system_info(emu_flavor) is jit); tick-N fires in any VM");
                facts -> refuse(Special, text("the agent could not find out where this VM keeps its processes' stacks (what it found: ~s)", [found()]),
                                "try again when the node is less busy; if that does not help, this build of the VM is not known to the agent")
            end,
            Said = enter(Special),
            Said ++ dirty()
    end.

found() ->
    case ?AGENT:nif_inside_known() of
        [] -> "nothing";
        Known -> lists:join(", ", [atom_to_list(K) || K <- Known])
    end.

-spec refuse([tuple()], iodata(), string()) -> no_return().
refuse(Special, Text, Hint) ->
    throw(error4('AGENT_PROFILE', [named(Special), " is not possible in this node: ", Text], Hint)).

%% Adds the schedulers that are missing. Returns warnings.
enter(Special) ->
    case missing() of
        [] -> [];
        Missing ->
            Alias = make_ref(),
            Server = self(),
            [erltrace_agent_lib:start(fun() ->
                                          process_flag(sensitive, true),
                                          Server ! {Alias, I, ?AGENT:nif_profile_enter()}
                                      end, [{scheduler, I}, {priority, high}]) || I <- Missing],
            Until = erltrace_agent_lib:now_ms() + ?ENTER,
            said(Special, entered(Alias, Missing, Until, []))
    end.

missing() ->
    lists:seq(1, erlang:system_info(schedulers_online)) -- ?AGENT:nif_profile_entered().

entered(_, [], _, Failed) ->
    {[], Failed};
entered(Alias, Missing, Until, Failed) ->
    receive
        {Alias, I, I} -> entered(Alias, Missing -- [I], Until, Failed);
        {Alias, I, Why} -> entered(Alias, Missing -- [I], Until, [{I, Why} | Failed])
    after max(0, Until - erltrace_agent_lib:now_ms()) ->
        {Missing, Failed}
    end.

said(_, {[], []}) ->
    [];
said(Special, {Held, Failed}) ->
    case ?AGENT:nif_profile_entered() of
        [] ->
            Why = [W || {_, W} <- Failed],
            case lists:member(signal_stack, Why) of
                true -> refuse(Special, "its schedulers have no alternate stack on which signals could be handled", "only a VM with the JIT has these");
                false when Held =/= [] -> refuse(Special, "no scheduler answered within a second", "try again when the node is less busy");
                false -> refuse(Special, text("its schedulers could not be recognized (~p)", [lists:usort(Why)]), "report this")
            end;
        _ ->
            [text("not sampled: scheduler~s ~s; ~s", [if length(L) > 1 -> "s"; true -> "" end, lists:join(", ", [integer_to_list(I) || I <- lists:sort(L)]), Text])
             || {L, Text} <- [{Held, "held by a NIF or a driver for more than a second; added as soon as it is free"},
                              {[I || {I, _} <- Failed], "it could not be recognized"}], L =/= []]
    end.

%% Adds the dirty schedulers, and begins to prove what they run, and what a collection looks like. Returns warnings.
dirty() ->
    add_dirty(),
    Now = erltrace_agent_lib:now_ms(),
    proven(Now + ?ENTER, Now + ?COLLECTS).

%% A walk over all threads of the process, in parts: only while none is added, since all are there from the beginning.
add_dirty() ->
    N = erlang:system_info(schedulers),
    [?AGENT:nif_profile_add(N, Tid) || {Tid, _, _} <- threads(?AGENT:nif_profile_others(true), [])].

proven(Until, Soon) ->
    prove(),
    Now = erltrace_agent_lib:now_ms(),
    Dirty = ?AGENT:nif_profile_proven(),
    case (Now < Until andalso not Dirty) orelse (Now < Soon andalso not ?AGENT:nif_collecting_proven()) of
        true -> receive after ?STEP -> proven(Until, Soon) end;
        false -> [<<"not known so far: which processes the dirty schedulers run; all of these are busy, or do not show it">> || not Dirty]
    end.

%% Lets a process of each kind of dirty scheduler look, unless that has been done, or waits for one; and one that collects itself, while a dirty
%% scheduler watches it.
prove() ->
    ?AGENT:nif_collecting_proven() orelse put({profile, collects}, collects(get({profile, collects}))),
    ?AGENT:nif_profile_proven() orelse
        [looks(F, Look) || {F, Look} <- [{nif_profile_dirty, fun() -> ?AGENT:nif_profile_dirty({?AGENT, nif_profile_dirty, 1}) end},
                                         {nif_profile_dirty_io, fun() -> ?AGENT:nif_profile_dirty_io({?AGENT, nif_profile_dirty_io, 1}) end}]].

%% No two of them at once (collecting.h).
collects(undefined) -> collects(1);
collects({N, Looker, Watcher} = Had) ->
    case N =:= ?COLLECTORS orelse erltrace_agent_lib:alive(Looker) orelse erltrace_agent_lib:alive(Watcher) of
        true -> Had;
        false -> collects(N + 1)
    end;
collects(N) ->
    Looker = erltrace_agent_lib:start(fun() -> process_flag(sensitive, true), receive look -> collected() after ?ENTER -> ok end end,
                                      [{priority, high}, {min_heap_size, ?ROOM}, {fullsweep_after, 65535}]),
    ok = ?AGENT:nif_collecting_ask(Looker),
    Watcher = erltrace_agent_lib:start(fun() -> process_flag(sensitive, true), Looker ! look, ?AGENT:nif_collecting_watch() end, [{priority, high}]),
    {N, Looker, Watcher}.

%% In turn it collects itself, and calls a function that goes through the list of what it keeps, and collects nothing.
collected() ->
    collected(erltrace_agent_lib:now_ms() + ?COLLECTS, false).

collected(Until, Control) ->
    Kept = lists:seq(1, ?KEEPS),
    receive after 1 -> ok end, % others run; what follows is done in one slice
    _ = ?AGENT:nif_collecting_begin(Control) andalso
        case Control of
            true -> [lists:member(0, Kept) || _ <- [1, 2, 3]];
            false -> erlang:garbage_collect(self(), [{type, minor}])
        end,
    case ?AGENT:nif_collecting_end() orelse erltrace_agent_lib:now_ms() > Until of
        true -> ?AGENT:nif_collecting_prove();
        false -> collected(Until, not Control)
    end,
    length(Kept).

looks(F, Look) ->
    Had = get({profile, F}),
    (is_pid(Had) andalso erltrace_agent_lib:alive(Had)) orelse
        put({profile, F}, erltrace_agent_lib:start(fun() -> process_flag(sensitive, true), Look() end, [{priority, high}])).

%% Sets the clocks that the running programs want. Called when one begins to run, and every second. -> what consumers are to be told
-spec apply(#s{}) -> [{term(), binary()}].
apply(#s{nif = undefined}) ->
    [];
apply(S) ->
    case {running(S), get(profile)} of
        {[], _} ->
            ?AGENT:nif_profile_rates([]),
            _ = lists:any(fun(#c{special = X, phase = Phase}) -> wanted(X) andalso Phase =/= stopped end, maps:values(S#s.consumers)) orelse begin forget(), ending() end,
            []; % otherwise one is about to run
        {Running, Before} ->
            [put({profile_others, P}, used()) || #c{program = P} <- Running, get({profile_others, P}) =:= undefined],
            missing() =:= [] orelse [later(I) || I <- missing()],
            prove(),
            Why = ?AGENT:nif_profile_rates(lists:usort(lists:append([periods(C#c.special) || C <- Running]))),
            Before =:= taking orelse again(taking, ?PERIOD),
            [{{profile, Why}, text("~s does not fire, or not for all schedulers: ~s; tried again every second", [named(lists:append([C#c.special || C <- Running])), failed(Why)])}
             || Why =/= ok]
    end.

failed(timer) -> "the system refused a clock (perf_event_open, and timers: ulimit -i limits these for all processes of a user; for wall-N a thread)";
failed(signal) -> "no signal is free in this VM";
failed('AGENT_MEMORY') -> "no memory".

forget() ->
    [erase(K) || {{profile_others, _} = K, _} <- get()].

ending() ->
    case ?AGENT:nif_profile_close() of
        true -> put(profile, undefined);
        false -> again(ending, ?STEP)
    end.

%% A scheduler has come online, or was held: it adds itself.
later(I) ->
    case get({profile, I}) of
        Pid when is_pid(Pid) ->
            case erltrace_agent_lib:alive(Pid) of
                true -> ok;
                false -> begin_later(I)
            end;
        undefined -> begin_later(I)
    end.

begin_later(I) ->
    put({profile, I}, erltrace_agent_lib:start(fun() -> process_flag(sensitive, true), ?AGENT:nif_profile_enter() end, [{scheduler, I}])).

running(#s{consumers = Cs}) ->
    [C || #c{phase = running, over = false, special = X, program = P} = C <- maps:values(Cs), wanted(X), element(1, ?AGENT:nif_status(P)) =:= false].

again(What, Ms) ->
    put(profile, What),
    erlang:send_after(Ms, self(), {profile, What}),
    ok.

%% A message that the server sends itself.
turn(_, #s{nif = undefined}) ->
    ok;
turn(What, S) ->
    case get(profile) of
        What when What =:= taking ->
            take(S),
            case running(S) of
                [] -> apply(S), get(profile) =:= taking andalso again(taking, ?PERIOD);
                _ -> again(taking, ?PERIOD)
            end,
            ok;
        What when What =:= ending -> apply(S);
        _ -> ok
    end.

%% An interval's clauses are about to run: those of the samples before it run first, so that these find variables as they were.
before(S) ->
    _ = get(profile) =:= taking andalso take(S),
    ok.

take(S) ->
    take([P || #c{program = P} <- running(S)], ?STEPS).

take(Programs, N) ->
    ?AGENT:nif_profile_take(Programs, ?TAKEN) andalso N > 0 andalso take(Programs, N - 1).

%% A program is about to stop: fires the samples that are left, and says what the profile consists of.
finish(#c{special = Special, program = P, warnings = W} = C, S) ->
    case wanted(Special) of
        true ->
            take(S),
            Others = others(erase({profile_others, P}), element(7, ?AGENT:nif_profile_counts(P))),
            C#c{warnings = on_cpu(on_cpu(Special), P, Others) ++ by_wall(by_wall(Special), P) ++ W};
        false ->
            C
    end.

on_cpu([], _, _) ->
    [];
on_cpu(Periods, P, Others) ->
    Counts = ?AGENT:nif_profile_counts(P),
    untrue(Counts) ++ [summary(Periods, Counts, Others)].

by_wall([], _) ->
    [];
by_wall(Periods, P) ->
    {Called, Doing, Idle, Hidden, Unknown, Lost, Dropped, Unlooked, Late} = ?AGENT:nif_wall_counts(P),
    Of = lists:join(", ", [text("~b ~s", [N, What]) || {N, What} <- lists:zip(Doing, ["running", "runnable", "asleep"])]),
    Parts = counted([{Idle, "~b without a process"}, {Hidden, "~b of sensitive processes, which are not shown"},
                     {Unknown, "~b in an unknown function"}, {Lost, "~b that went on while they were read"}, {Dropped, "~b dropped"}]),
    Missed = counted([{?AGENT:nif_profile_unlearned(), "~b dirty schedulers that do not show what they run are not sampled"},
                      {Unlooked, "~b schedulers that were not looked at, since there were many others"}, {Late, "~b times at which to look that went by"}]),
    [{note, unicode:characters_to_binary(["sampled by the wall clock at ", rates(Periods), " per scheduler that is not idle: ",
                                          integer_to_binary(lists:sum(Doing)), " samples of ", integer_to_binary(Called), " called for: ", Of,
                                          [[", ", T] || T <- Parts], [["; ", T] || T <- Missed]])}].

counted(Counts) ->
    [text(F, [N]) || {N, F} <- Counts, N > 0].

rates(Periods) ->
    lists:join(", ", [rate(Ns) || Ns <- lists:usort(Periods)]).

%% What is to be said of the clock that samples were taken by.
untrue(Counts) when element(8, Counts) =:= cpu ->
    [<<"this profile is not true for work that begins when a process is woken, or that takes less than some milliseconds: the node cannot have "
       "the task clock (kernel.perf_event_paranoid is above 2, there is a filter of system calls as Docker and systemd have them, or few descriptors are left), "
       "nor a thread for the sampler (a limit of processes), and the CPU clock looks only at the system's ticks">>];
untrue(_) ->
    [].

summary(Periods, {Samples, Idle, Hidden, Unknown, Late, Dropped, Used, Clock, Waited, Kernel, Collecting}, Others) ->
    Parts = counted([{Idle, "~b without a process"}, {Collecting, "~b in collections"}, {Hidden, "~b of sensitive processes, which are not shown"}, {Unknown, "~b in an unknown function"},
                     {Kernel, "~b in the kernel, as far as the CPU clock has more than was sampled"}, {Dropped, "~b dropped"}]),
    Missed = counted([{Late, late(Clock)}, {Waited, "; ~b more were left out: the scheduler waited for a processor"}]),
    Due = lists:sum([Used div Ns || Ns <- lists:usort(Periods)]),
    {note, unicode:characters_to_binary(["sampled on CPU at ", rates(Periods), " per scheduler, by ", clock(Clock), ": ", integer_to_binary(Samples), " samples of ",
                                         integer_to_binary(Due), " due",
                                         [[", ", T] || T <- Parts], Missed, untold(), Others])}.

untold() ->
    case ?AGENT:nif_collecting_proven() of
        true -> "";
        false -> "; collections are not told from what else is done for a process"
    end.

%% What the process has used, and each of its threads that is not sampled.
used() ->
    {?AGENT:nif_profile_process(), threads(?AGENT:nif_profile_others(true), [])}.

threads({true, More}, Had) -> threads(?AGENT:nif_profile_others(false), [More | Had]);
threads({false, Last}, Had) -> lists:append([Last | Had]).

%% What to say of the time of other threads: of each kind that used more than a hundredth of what the sampled schedulers did, and 10 ms.
others({Process, Before}, Schedulers) ->
    {Now, After} = used(),
    Had = maps:from_list([{Tid, Ns} || {Tid, _, Ns} <- Before]),
    Kinds = lists:foldl(fun({Tid, Name, Ns}, K) ->
                            More = max(0, Ns - maps:get(Tid, Had, 0)),
                            maps:update_with(kind(Name), fun(N) -> N + More end, More, K)
                        end, #{}, After),
    Ended = max(0, Now - Process - Schedulers - lists:sum(maps:values(Kinds))),
    Least = max(10000000, Schedulers div 100),
    case lists:reverse(lists:keysort(2, [{K, Ns} || {K, Ns} <- [{"threads that have ended", Ended} | maps:to_list(Kinds)], Ns >= Least])) of
        [] -> [];
        Told ->
            ["; not sampled: ", lists:join(", ", [[K, io_lib:format(" ~.2f s", [Ns / 1.0e9])] || {K, Ns} <- Told]), " of processor time"]
    end;
others(undefined, _) ->
    [].

%% Returns what a thread is, by its name: 1_dirty_cpu_scheduler, cut at 15 characters.
kind(Name) ->
    case string:trim([C || C <- binary_to_list(Name), C > $\s, C < 127], both, "0123456789_") of
        "dirty_cpu" ++ _ -> "dirty CPU schedulers";
        "erts_dcpus" -> "dirty CPU schedulers";
        "dirty_io" ++ _ -> "dirty I/O schedulers";
        "erts_dios" -> "dirty I/O schedulers";
        "scheduler" -> "schedulers that were not sampled";
        "erts_sched" -> "schedulers that were not sampled";
        "" -> "threads without a name";
        Other -> "threads called " ++ Other
    end.

late(sampler) -> "; ~b more were due while a scheduler was in the system";
late(_) -> "; the system's timer was late for ~b more".

clock(task) -> "the task clock";
clock(user) -> "the task clock outside of the kernel";
clock(sampler) -> "a sampler that wakes at random times";
clock(cpu) -> "the CPU clock";
clock(undefined) -> "no clock".

rate(Ns) when Ns rem 1000000 =:= 0, Ns >= 1000000 -> io_lib:format("every ~b ms", [Ns div 1000000]);
rate(Ns) -> io_lib:format("~b Hz", [(1000000000 + Ns div 2) div Ns]).

%% The agent is about to leave: waits for the end, at most so long.
close(Ms) ->
    ?AGENT:nif_profile_rates([]),
    closed(erltrace_agent_lib:now_ms() + Ms).

closed(Until) ->
    ?AGENT:nif_profile_close() orelse
        (erltrace_agent_lib:now_ms() < Until andalso begin receive after ?STEP -> ok end, closed(Until) end).
