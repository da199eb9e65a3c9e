%% erltrace_agent_inside - lets the library find what the VM keeps of a process and offers to no NIF (guest/beam/probe/inside.h): processes of ours
%% bring themselves into states that they know, and the library compares.
%%
%% What always holds: the server waits a bounded time, once, when the first program that needs it is enabled, or the first process with a large heap
%% is met by a program that uses names. A process that looks ends by itself, and at the latest with that time. It stays on the scheduler on which
%% the server runs, which is held by no NIF.
-module(erltrace_agent_inside).

-export([prove/1, prove_dictionary/0]).

-include("erltrace_agent.hrl").

-define(VALUES, [mqlen, heapsize, oldheapsize, reductions, stack]).
-define(ROUNDS, 3).                % attempts: a process may be disturbed, by a signal or a collection, or not be run in time
-define(WAIT, 1000).               % ms for one process
-define(RESTS, 20).                % ms for the last one to have been scheduled out
-define(LIFE, 5 * ?WAIT).          % ... after which it ends by itself
-define(KEPT, {5, 0, 31, 1, 0, 70, 12, 0, 3}). % elements of the dictionary, look by look
-define(ROOM, 17000).              % words of a heap in which nothing has to be collected meanwhile
-define(ROOM_MOST, 1000000).       % ... more are not tried

%% Returns the facts that are known, after an attempt to prove those that are missing. Sensitive: also which processes are sensitive. Only for
%% that our processes are not sensitive at some of their looks, so that a trace can see them.
-spec prove(boolean()) -> [atom()].
prove(Sensitive) ->
    Known = prove(?ROUNDS, ?AGENT:nif_inside_known(), ?VALUES),
    case Sensitive of
        false -> Known;
        true -> prove(?ROUNDS, Known, [sensitive])
    end.

%% The same for where a process has its dictionary.
-spec prove_dictionary() -> [atom()].
prove_dictionary() ->
    prove(?ROUNDS, ?AGENT:nif_inside_known(), [dictionary]).

prove(N, Known, Wanted) ->
    case Wanted -- Known of
        [_ | _] when N > 0 -> try_to(N, Wanted);
        _ -> Known
    end.

try_to(N, Wanted) ->
    Sensitive = lists:member(sensitive, Wanted),
    %% All of them exist before the first one looks: so no two have the same address. The last number has a bit for each look at which the
    %% process is sensitive.
    %% A node may have been told that no heap is smaller (+hms). The heaps must differ, though, and grow.
    {min_heap_size, Least} = erlang:system_info(min_heap_size),
    Room = max(?ROOM, min(Least, ?ROOM_MOST)),
    Started = [start(Queue, Words, Live * Room div ?ROOM, if Sensitive -> Bits; true -> -1 end)
               || {Queue, Words, Live, Bits} <- [{on_heap, Room, 15000, 2#101100110}, {off_heap, 2 * Room, 7000, 2#011010011},
                                                 {on_heap, 3 * Room, 40000, 2#110001101}]],
    run(Started, true),
    prove(N - 1, ?AGENT:nif_inside_prove(), Wanted).

start(Queue, Words, Live, Bits) ->
    Server = self(),
    erltrace_agent_lib:start(fun() -> put(looks, {1, Bits}), looks(Server, Live) end,
                             [monitor, {priority, high}, {scheduler, erlang:system_info(scheduler_id)}, {min_heap_size, Words}, {message_queue_data, Queue}]).

%% Lets one after the other look, and looks at the last one while it waits. Those that do not come to their ends in time are ended.
run([], _) ->
    ok;
run([{Pid, Monitor} | More] = Left, First) ->
    case told(Pid, hidden) andalso looked(Pid, First) of
        true ->
            More =:= [] andalso at_rest(?RESTS),
            Pid ! go_on,
            receive
                {'DOWN', Monitor, process, Pid, _} -> run(More, false)
            after ?WAIT ->
                kill(Left)
            end;
        false ->
            kill(Left)
    end.

looked(Pid, First) ->
    ok = ?AGENT:nif_inside_begin(Pid, First),
    Pid ! look,
    told(Pid, rests).

told(Pid, What) ->
    receive {Pid, What} -> true after ?WAIT -> false end.

at_rest(0) -> false;
at_rest(N) -> ?AGENT:nif_inside_rest() orelse begin timer:sleep(1), at_rest(N - 1) end.

kill(Started) ->
    [begin
         exit(Pid, kill),
         receive {'DOWN', Monitor, process, Pid, _} -> ok end,
         [receive {Pid, What} -> ok after 0 -> ok end || What <- [hidden, rests]]
     end || {Pid, Monitor} <- Started].

%% -- in a process of its own

looks(Server, Live) ->
    process_flag(sensitive, true),
    Server ! {self(), hidden}, % from programs that run; it gets no message before
    %% A receive with a time limit would leave a second address of code in the structure.
    _ = erlang:send_after(?LIFE, self(), late),
    receive look -> ok; late -> exit(shutdown) end,
    look(0, 0),
    look(0, 37),
    deep(3, 37, 101),
    deep(7, 138, 0),
    slices(4),
    deep(5, 138, 23),
    Kept = lists:seq(1, Live), % so that the heap grows, and what was there becomes old
    minor(), minor(),
    look(161, 0),
    deep(2, 161, 11),
    slices(3),
    More = lists:seq(1, Live div 2),
    minor(), minor(),
    deep(4, 172, 7),
    erlang:garbage_collect(),
    look(179, 1),
    Server ! {self(), rests},
    receive go_on -> ok; late -> exit(shutdown) end, % with values on the stack
    {length(Kept), length(More)}.

send(0) -> ok;
send(N) -> self() ! N, send(N - 1).

minor() ->
    erlang:garbage_collect(self(), [{type, minor}]).

slices(0) -> ok;
slices(N) -> erlang:bump_reductions(2900), erlang:yield(), slices(N - 1).

%% Looks with a stack that is N calls higher.
deep(0, Inner, Outer) -> look(Inner, Outer);
deep(N, Inner, Outer) -> [deep(N - 1, Inner, Outer)].

%% Looks while the process has gone through Inner messages, and Outer more have come. (A process that asks about itself fetches what has come,
%% or not, as the release has it; going through its messages moves all of them to the inner queue.)
look(Inner, Outer) ->
    receive never -> ok after 0 -> ok end,
    {N, Bits} = get(looks),
    _ = erase(), % so there is no dictionary
    [put(I, Outer) || I <- lists:seq(1, element(N, ?KEPT))],
    Elements = length(get()),
    Sensitive = Bits band 1,
    %% Whatever it was, since the process is scheduled out by it, which shows in its structure; but then reductions cannot be found.
    Bits =:= -1 orelse process_flag(sensitive, Sensitive =:= 1),
    {_, Before} = process_info(self(), reductions),
    send(Outer),
    ?AGENT:nif_inside_look(),
    {_, After} = process_info(self(), reductions),
    {_, Info} = process_info(self(), garbage_collection_info),
    [Block, Old, Stack] = [proplists:get_value(K, Info) || K <- [heap_block_size, old_heap_block_size, stack_size]],
    Bits =:= -1 orelse process_flag(sensitive, true),
    put(looks, {N + 1, Bits bsr 1}), % -1 stays -1
    ?AGENT:nif_inside_keep({Inner, Outer, Block, Old, Stack, Before, After, Sensitive, Elements}).
