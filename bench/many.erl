%% many - a node with very many functions and processes, and what notices when part of it is kept from running: a process on each scheduler
%% (gaps.c), and processes that ask the agent and the code server again and again, and report how long the longest answer took.
-module(many).
-export([load/1, make/2, crowd/1, watch/1, gap/0, patterns/0, flags/0, purge/0, ask/0, slowest/0, agent/0, gone/0, events/1, turn/1, lap/1, keys/1, key/1, mail/1]).

%% Loads modules of OTP until there are at least N functions. -> [functions, modules]
load(N) ->
    Beams = lists:sort(filelib:wildcard(filename:join([code:lib_dir(), "*", "ebin", "*.beam"]))),
    load(N, count(), [list_to_atom(filename:basename(B, ".beam")) || B <- Beams]).

load(N, {Functions, Modules}, Rest) when Functions >= N; Rest =:= [] ->
    [Functions, Modules];
load(N, _, [M | Rest]) ->
    %% Thirty at a time between two counts.
    {Some, Others} = lists:split(min(30, length(Rest)), Rest),
    _ = [code:ensure_loaded(X) || X <- [M | Some]],
    load(N, count(), Others).

count() ->
    All = [length(M:module_info(functions)) || {M, _} <- code:all_loaded()],
    {lists:sum(All), length(All)}.

%% Makes modules Prefix001 ... with 50 functions each, N functions in all.
make(Prefix, N) ->
    Own = [F || F <- lists:seq(1, 48)], % and two of module_info
    _ = [begin
             M = list_to_atom(Prefix ++ string:right(integer_to_list(I), 3, $0)),
             Forms = [{attribute, 1, module, M}, {attribute, 1, export, [{name(F), 1} || F <- Own]} |
                      [{function, 1, name(F), 1, [{clause, 1, [{var, 1, 'X'}], [], [{tuple, 1, [{integer, 1, F}, {var, 1, 'X'}]}]}]} || F <- Own]],
             {ok, M, Beam} = compile:forms(Forms),
             {module, M} = code:load_binary(M, atom_to_list(M), Beam)
         end || I <- lists:seq(1, N div 50)],
    ok.

name(F) -> list_to_atom("f" ++ integer_to_list(F)).

%% Makes the number of waiting processes N, not counting others. Their heaps are as small as the VM makes one, so that a million fit.
crowd(N) ->
    Have = case get(crowd) of undefined -> []; L -> L end,
    case N - length(Have) of
        More when More >= 0 ->
            put(crowd, [spawn_opt(fun() -> receive stop -> ok end end, [{min_heap_size, 1}]) || _ <- lists:seq(1, More)] ++ Have);
        Less ->
            {Stop, Keep} = lists:split(-Less, Have),
            Refs = [begin P ! stop, monitor(process, P) end || P <- Stop],
            _ = [receive {'DOWN', R, _, _, _} -> ok end || R <- Refs],
            put(crowd, Keep)
    end,
    erlang:garbage_collect(),
    erlang:system_info(process_count).

%% Starts a process on each scheduler that is always ready to run, and that no trace sees. Library: gaps.c, without its ".so".
watch(Library) ->
    ok = erlang:load_nif(Library, 0),
    _ = [spawn_opt(fun() -> process_flag(sensitive, true), look(N) end, [{scheduler, N}])
         || N <- lists:seq(1, erlang:system_info(schedulers))],
    ok.

look(N) ->
    turn(N),
    erlang:yield(),
    look(N).

%% == what is traced ==================================================================================================

%% Calls a function with N different arguments.
keys(N) -> work(fun() -> each_key(N) end).

each_key(0) -> ok;
each_key(N) -> ?MODULE:key(N), each_key(N - 1).

key(N) -> N.

%% N messages of a process to itself.
mail(N) ->
    work(fun() ->
             _ = [self() ! {mail, I} || I <- lists:seq(1, N)],
             _ = [receive {mail, I} -> ok end || I <- lists:seq(1, N)]
         end).

%% Does it in a process that traces see: the one that asks is sensitive.
work(F) ->
    {P, R} = spawn_monitor(F),
    receive {'DOWN', R, _, P, Why} -> Why end.

%% == what the same takes with OTP alone ==============================================================================

%% One pattern on everything, set by OTP itself, like ours (a match specification), and cleared. -> [longest gap of each, us]
patterns() ->
    [begin
         _ = gap(),
         erlang:trace_pattern({'_', '_', '_'}, What, [local]),
         receive after 2 -> gap() end
     end || What <- [[{'_', [], [{message, {caller}}]}], false]].

%% Sets flags on all processes in one call, and clears them: no other tool traces, and no dirty scheduler works. -> [us]
flags() ->
    [element(1, timer:tc(fun() -> erlang:trace(existing, On, [call]) end)) || On <- [true, false]].

%% Purges an empty module after its deletion. -> us
purge() ->
    {ok, M, Beam} = compile:forms([{attribute, 1, module, many_empty}]),
    {module, M} = code:load_binary(M, "many_empty", Beam),
    true = code:delete(M),
    {Us, _} = timer:tc(fun() -> code:purge(M) end),
    Us.

%% == how long answers take ===========================================================================================

%% Asks the agent's server, if there is one, and the code server, every few milliseconds.
ask() ->
    _ = [begin
             Begun = atomics:new(2, []), % when the pending question was asked, or 0; the longest answer, us
             put({asked, Who}, Begun),
             spawn_opt(fun() -> process_flag(sensitive, true), asker(Who, Begun) end, [{priority, high}])
         end || Who <- [agent, code]],
    ok.

asker(Who, A) ->
    Start = erlang:monotonic_time(microsecond),
    atomics:put(A, 1, Start),
    question(Who),
    longer(A, erlang:monotonic_time(microsecond) - Start),
    atomics:put(A, 1, 0),
    receive after 5 -> asker(Who, A) end.

%% A request by a process that is no consumer: the answer says so, and waits for what the server does like any other.
question(agent) ->
    case whereis(erltrace_agent) of
        undefined ->
            ok;
        Pid ->
            R = monitor(process, Pid),
            Pid ! {erltrace, self(), 1, modules},
            receive
                {erltrace, 1, {error, _, _, _}} -> demonitor(R, [flush]);
                {'DOWN', R, _, _, _} -> ok
            end
    end;
question(code) ->
    code:get_path().

longer(A, Us) -> atomics:put(A, 2, max(atomics:get(A, 2), Us)).

%% The longest answers since the last request, including pending ones. -> [us of the agent, us of the code server]
slowest() ->
    [begin
         A = get({asked, Who}),
         case atomics:get(A, 1) of
             0 -> ok;
             Begun -> longer(A, erlang:monotonic_time(microsecond) - Begun)
         end,
         atomics:exchange(A, 2, 0)
     end || Who <- [agent, code]].

%% The agent's modules are remembered;
agent() ->
    put(agent, [M || {M, _} <- code:all_loaded(), lists:prefix("erltrace_agent", atom_to_list(M))]),
    length(get(agent)).

%% waits until nothing of them is left, without the help of the code server.
gone() ->
    Left = [M || M <- get(agent), erlang:module_loaded(M) orelse erlang:check_old_code(M)],
    case Left =:= [] andalso whereis(erltrace_agent_guard) =:= undefined of
        true -> ok;
        false -> receive after 2 -> gone() end
    end.

%% == how long an event takes ==========================================================================================

%% N events of the probe ev with a long text, in the only process that runs on its scheduler. -> [us], the longest first
events(N) ->
    Text = binary:copy(<<"abcdefgh">>, 250000),
    Self = self(),
    Pid = spawn_opt(fun() ->
                            L = [begin
                                     erlang:yield(),
                                     Before = lap(1),
                                     erltrace:probe(ev, Text, 1),
                                     lap(1) - Before
                                 end || _ <- lists:seq(1, N)],
                            Self ! {self(), lists:reverse(lists:sort(L))}
                    end, [{scheduler, 1}]),
    receive {Pid, L} -> L end.

turn(_) -> erlang:nif_error(not_loaded).
%% The longest time in microseconds for which a scheduler did not run its process, since the last request.
gap() -> erlang:nif_error(not_loaded).
%% Microseconds for which scheduler N, which the caller is bound to, has not waited for a CPU.
lap(_) -> erlang:nif_error(not_loaded).
