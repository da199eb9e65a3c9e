%% erltrace_agent_inside - lets the library find what the VM keeps of a process and offers to no NIF (guest/beam/probe/inside.h): processes of ours
%% bring themselves into states that they know, and the library compares.
%%
%% What always holds: the server waits a bounded time, once, when the first program that needs it is enabled. A process that looks ends by
%% itself, and at the latest with that time.
-module(erltrace_agent_inside).

-export([prove/0]).

-include("erltrace_agent.hrl").

-define(ALL, 5).                   % facts
-define(ROUNDS, 3).                % attempts: a process may be disturbed, by a signal or a collection
-define(WAIT, 1000).               % ms for one process
-define(LIFE, 5 * ?WAIT).          % ... after which it ends by itself
-define(ROOM, 17000).              % words of a heap in which nothing has to be collected meanwhile

%% Returns the facts that are known, after an attempt to prove those that are missing.
-spec prove() -> [atom()].
prove() ->
    prove(?ROUNDS, ?AGENT:nif_inside_known()).

prove(N, Known) when N =:= 0; length(Known) =:= ?ALL ->
    Known;
prove(N, _) ->
    %% All of them exist before the first one looks: so no two have the same address.
    Started = [start(Queue, Words, Live) || {Queue, Words, Live} <- [{on_heap, ?ROOM, 15000}, {off_heap, 2 * ?ROOM, 7000}, {on_heap, 3 * ?ROOM, 40000}]],
    Done = run(Started, true),
    Now = ?AGENT:nif_inside_prove(),
    case Done of
        true -> prove(N - 1, Now);
        false -> Now % the node is too busy: the next program that needs it tries again
    end.

start(Queue, Words, Live) ->
    erltrace_agent_lib:start(fun() -> looks(Live) end, [monitor, {priority, high}, {min_heap_size, Words}, {message_queue_data, Queue}]).

%% Lets one after the other look. Returns whether they have come to their ends in time.
run([], _) ->
    true;
run([{Pid, Monitor} | More], First) ->
    ok = ?AGENT:nif_inside_begin(Pid, First),
    Pid ! look,
    receive
        {'DOWN', Monitor, process, Pid, _} -> run(More, false)
    after ?WAIT ->
        [begin
             exit(P, kill),
             receive {'DOWN', M, process, P, _} -> ok end
         end || {P, M} <- [{Pid, Monitor} | More]],
        false
    end.

%% -- in a process of its own

looks(Live) ->
    process_flag(sensitive, true),
    receive look -> ok after ?LIFE -> exit(shutdown) end,
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
    {_, Before} = process_info(self(), reductions),
    send(Outer),
    ?AGENT:nif_inside_look(),
    {_, After} = process_info(self(), reductions),
    {_, Info} = process_info(self(), garbage_collection_info),
    [Block, Old, Stack] = [proplists:get_value(K, Info) || K <- [heap_block_size, old_heap_block_size, stack_size]],
    ?AGENT:nif_inside_keep({Inner, Outer, Block, Old, Stack, Before, After}).
