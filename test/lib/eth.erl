%% eth - hostile calls, which no well-meaning code makes: what code in the node could do to an agent whose module exports its NIFs
%% (scripts/dev/pack-agent --open).
-module(eth).
-export([ports/1, calls/1, server/1]).

%% Opens, uses and closes ports, while another process calls trace/5 with events that the VM would never report: names and owners of ports
%% are terms on that process's heap, which it collects at once.
ports(Rounds) ->
    [begin
         P = open_port({spawn, "cat"}, []),
         {Pid, R} = spawn_monitor(fun() -> [lie(P, N) || N <- lists:seq(1, 40)] end),
         [begin P ! {self(), {command, "x"}}, receive {P, _} -> ok after 1 -> ok end end || _ <- lists:seq(1, 20)],
         receive {'DOWN', R, process, Pid, _} -> ok end,
         P ! {self(), {command, "x"}},
         port_close(P)
     end || _ <- lists:seq(1, Rounds)],
    ok.

lie(P, N) ->
    Boxed = lists:duplicate(50, {N, make_ref(), <<"abcdefghijkl">>}),
    Remote = list_to_tuple([remote(T) || T <- [pid, port, ref]]),
    _ = [erltrace_agent:trace(Tag, [], Of, Msg, #{extra => Extra})
         || Of <- [P, element(2, Remote)],
            {Tag, Msg, Extra} <- [{open, self(), Boxed}, {open, Boxed, cat}, {open, element(1, Remote), {cat}},
                                  {'receive', {self(), {connect, Boxed}}, x}, {'receive', {Boxed, {connect, element(1, Remote)}}, x},
                                  {'receive', {Boxed, {control, {16#03f1a300, <<>>}}}, x},
                                  {send, {inet_async, P, x, {ok, element(2, Remote)}}, Boxed}]],
    garbage_collect().

%% Makes N calls of the functions that are exported for the VM and for the agent's own processes, in a process that is neither.
calls(N) ->
    {Pid, R} = spawn_monitor(fun() -> exported(N, fun(trace) -> traced(); (nif) -> junk([]) end) end),
    receive {'DOWN', R, process, Pid, Why} -> Why end.

%% The same in the agent's server, which knows programs. What the calls make it forget stays forgotten.
server(N) ->
    erltrace_agent ! {open, self(), fun(S) ->
        Known = references(S),
        exported(N, fun(trace) -> traced(); (nif) -> junk(Known) end)
    end},
    receive {opened, ok} -> ok end.

exported(N, Term) ->
    rand:seed(exsss, {N, 7, 1}),
    put(junk, pool()),
    Fs = [{F, A} || {F, A} <- erltrace_agent:module_info(exports), lists:prefix("nif_", atom_to_list(F))],
    [begin
         case rand:uniform(3) of
             1 -> hand(trace, Term(trace));
             2 -> hand(enabled, lists:sublist(Term(trace), 3));
             3 ->
                 {F, A} = lists:nth(rand:uniform(length(Fs)), Fs),
                 hand(F, [Term(nif) || _ <- lists:seq(1, A)])
         end,
         I rem 64 =:= 0 andalso garbage_collect()
     end || I <- lists:seq(1, N)],
    ok.

hand(F, Args) -> catch apply(erltrace_agent, F, Args).

%% Arguments of trace/5, close to valid ones.
traced() ->
    [pick([call, return_to, return_from, exception_from, send, 'receive', in, out, out_exiting, out_exited, in_exiting, spawn, spawned,
           gc_minor_start, gc_minor_end, gc_major_start, gc_major_end, gc_max_heap_size, send_to_non_existing_process, seq_trace, exit,
           link, unlink, getting_linked, getting_unlinked, register, unregister, open, closed, trace_status, junk([])]),
     pick([[], global, junk([])]),
     pick([self(), self(), self(), hd(erlang:ports()), remote(pid), remote(port), junk([])]),
     near(3),
     pick([#{}, #{extra => near(3)}, #{match_spec_result => near(3), extra => near(3)}, junk([])])].

near(0) -> junk([]);
near(Deep) ->
    T = near(Deep - 1),
    case rand:uniform(18) of
        1 -> {etw, work, 1};
        2 -> {etw, work, [T]};
        3 -> {etw, work, [a | T]};
        4 -> {T, T, 1};
        5 -> {erltrace, probe, [ev, T, T]};
        6 -> {dyntrace, user_trace_i4s4, [junk([]) || _ <- lists:seq(1, 9)]};
        7 -> {ets, insert, [T, T]};
        8 -> {self(), {command, T}};
        9 -> {hd(erlang:ports()), {data, {eol, T}}};
        10 -> {erlang, exit, [T, T]};
        11 -> {erlang, hibernate, [T, T, [T]]};
        12 -> [{wordsize, T}, {heap_block_size, 12} | T];
        13 -> {T, {connect, T}};
        14 -> {T, {control, {16#03f1a300, T}}};
        15 -> {T, node()};
        16 -> {erts_internal, prepare_loading, [T, T]};
        17 -> {send, {0, 1}, T, self(), T};
        18 -> T
    end.

%% Returns a random term, in some cases one of the Known.
junk([]) -> element(rand:uniform(tuple_size(get(junk))), get(junk));
junk(Known) -> pick([pick(Known), junk([])]).

pool() ->
    {0, 1, 2, 31, 32, 192, -1, 1 bsl 31, 1 bsl 64, 1 bsl 5000, 1.5e308, true, false, '', undefined,
     list_to_atom(lists:duplicate(255, 16#1f600)), self(), hd(erlang:ports()), make_ref(), alias([explicit_unalias]),
     remote(pid), remote(port), remote(ref), [], [a | b], lists:seq(1, 3000), deep(3000), {}, {a, b, c}, #{}, #{a => 1},
     maps:from_list([{I, I} || I <- lists:seq(1, 100)]), <<>>, <<1, 2, 3>>, <<5:3>>, sub(), binary:copy(<<"x">>, 100000),
     fun() -> ok end, fun lists:map/2}.

pick(L) ->
    lists:nth(rand:uniform(length(L)), L).

deep(N) -> lists:foldl(fun(_, T) -> [T] end, [], lists:seq(1, N)).

%% Returns a part of a binary; one of the two begins in the middle of a byte.
sub() ->
    <<_:3, Odd:1000/binary, _/bitstring>> = binary:copy(<<"y">>, 2000),
    pick([Odd, binary:part(Odd, 7, 900)]).

%% A pid, port or reference of another node.
remote(pid) -> binary_to_term(<<131, 88, 119, 3, "a@b", 77:32, 0:32, 5:32>>);
remote(port) -> binary_to_term(<<131, 89, 119, 3, "a@b", 77:32, 5:32>>);
remote(ref) -> binary_to_term(<<131, 90, 3:16, 119, 3, "a@b", 5:32, 1:32, 2:32, 3:32>>).

%% Returns the references in a state: resources, programs among them.
references(T) -> [make_ref() | lists:usort(references(T, []))].

references(T, Acc) when is_reference(T) -> [T | Acc];
references([H | T], Acc) -> references(T, references(H, Acc));
references(T, Acc) when is_tuple(T) -> lists:foldl(fun references/2, Acc, tuple_to_list(T));
references(T, Acc) when is_map(T) -> lists:foldl(fun references/2, Acc, maps:to_list(T));
references(_, Acc) -> Acc.
