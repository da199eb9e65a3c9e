%% erltrace_agent_names - the names of processes and ports, for programs that use erlname.
%%
%% The library learns names from events (procname.h). This module tells it those of processes that are older than the trace, and looks again at
%% processes that programs have named by less than a registered name: labels come and change without an event.
%%
%% A process itself answers what it began with, among its other signals. So helpers ask (erltrace_agent_crowd, erltrace_agent_aside), and a
%% process that does not answer soon has no name until it is asked again.
%%
%% Where no single key of a dictionary can be asked for, the process that is asked copies all of it. That is only asked of one whose heap is small,
%% or whose dictionary was counted at one of its events, and is small (guest/beam/probe/dictionary.h).
%%
%% A port is called what it is: a socket by its addresses, a connection to a node by that node, a program by its name, and anything else by
%% its driver. Its driver answers for the addresses, so ports are asked aside, one after another; events of that are left out (nif_asker).
-module(erltrace_agent_names).

-export([needed/1, begin_learning/2, fill/2, stop/2, look/1]).

-include("erltrace_agent.hrl").

-define(ANSWER, 20).               % ms that a process has to answer
-define(LATE, 4).                  % at most this many of a part may fail to
-define(PART, 64).                 % processes of a part
-define(MANY, 500).                % processes beyond which many helpers ask side by side
-define(SILENT, 500).              % ms after which those processes that have not answered have no name
-define(HEAP, 131072).             % words of a heap beyond which a dictionary is counted before its process is asked for the whole of it
-define(SOON, 1000).              % ms until a process is asked again
-define(SELDOM, 60000).            % ... in the end
-define(REMEMBERED, 4096).         % processes of which it is known when they were asked
-define(REGISTRY, 'Elixir.Registry').
-define(KEYS, 200).                % of a registry that are read at a time
-define(TIMES, 1000).              % ... and how often, at most
-define(FRAMES, 8).                % frames that the VM shows of a stack, at most
-define(PORTS, 4096).              % ports that are asked when a program begins; of others, those that it names
-define(NAME, 79).                 % bytes of a name
-define(SHORT(B), is_binary(B), byte_size(B) =< 255).

%% Whether programs with these needs use names.
needed(Bits) ->
    Bits band ?NEED_NAMES =/= 0.

%% Before flags are set, so that no birth is missed. -> whether names are learned
begin_learning(Bits, #s{names = Had}) ->
    case needed(Bits) of
        true -> Had orelse ?AGENT:nif_names(true) =:= ok; % without memory for them, pids stay pids
        false -> Had
    end.

%% Once births are seen: tells the library what was there before.
fill(true, #s{names = false} = S) ->
    ?AGENT:nif_names([{P, registered, N} || N <- registered(), P <- [whereis(N)], is_pid(P) orelse is_port(P)]),
    erltrace_agent_lib:fold_list(fun global/2, ok, global_names()),
    erlang:module_loaded(?REGISTRY) andalso erltrace_agent_lib:fold_list(fun registry/2, ok, ets:all()),
    Ps = processes(),
    erltrace_agent_meanwhile:expect(processes, length(Ps)),
    Has = S#s.has,
    Ask = fun(P) -> facts(P, Has) end,
    case length(Ps) > ?MANY of
        true -> erltrace_agent_crowd:fold(Ask, fun tell/3, ok, Ps, ?SILENT);
        false -> ask(Ask, Ps)
    end,
    _ = large() =/= [] andalso learn_sizes(),
    erase(names_large),
    ask(Ask, lists:sublist(erlang:ports(), ?PORTS));
fill(_, _) ->
    ok.

%% -> whether names are still learned
stop(Bits, Has) ->
    case needed(Bits) of
        true -> Has;
        false ->
            _ = Has andalso ?AGENT:nif_names(false),
            erase(names_asked),
            erase(names_sizes),
            false
    end.

%% Looks again at processes that programs have named since the last look. Each question wakes a process, which programs see; so the same
%% process is asked less and less often.
look(#s{names = true, has = Has} = S) ->
    Now = erltrace_agent_lib:now_ms(),
    Asked = case get(names_asked) of
                #{} = M when map_size(M) < ?REMEMBERED -> M;
                _ -> #{}
            end,
    Due = [P || P <- ?AGENT:nif_asked(), case Asked of #{P := {At, _}} -> At =< Now; #{} -> true end],
    put(names_asked, lists:foldl(fun(P, A) ->
                                     Wait = case A of #{P := {_, W}} -> W; #{} -> ?SOON end,
                                     A#{P => {Now + Wait, min(2 * Wait, ?SELDOM)}}
                                 end, Asked, Due)),
    ask(fun(P) -> facts(P, Has) end, Due),
    count_sizes(lists:sublist(large(), ?PART), S),
    erase(names_large),
    ask(fun(P) -> facts(P, Has, infinity) end, ?AGENT:nif_small());
look(_) ->
    ok.

ask(_, []) ->
    ok;
ask(Ask, Ps) ->
    {Part, Rest} = lists:split(min(?PART, length(Ps)), Ps),
    [tell(P, Facts, ok) || {P, Facts} <- erltrace_agent_aside:each(Ask, Part, ?ANSWER, ?LATE)],
    erltrace_agent_lib:breathe(),
    ask(Ask, Rest).

tell(P, Facts, ok) ->
    erltrace_agent_meanwhile:done(processes, 1),
    _ = is_list(Facts) andalso ?AGENT:nif_names([{P, What, Term} || {What, Term} <- Facts]),
    _ = is_list(Facts) andalso lists:keymember(large, 1, Facts) andalso put(names_large, [P | large()]),
    _ = Facts =:= unknown andalso erltrace_agent_shapes:note(process_info),
    ok.

%% Returns the processes with large heaps among those that have just been asked.
large() ->
    case get(names_large) of
        undefined -> [];
        Ps -> Ps
    end.

%% Once there is a process with a large heap: lets the library find where the VM keeps dictionaries. -> whether that is known
learn_sizes() ->
    case get(names_sizes) of
        undefined ->
            Known = lists:member(dictionary, erltrace_agent_inside:prove_dictionary()),
            put(names_sizes, Known),
            Known;
        Known ->
            Known
    end.

%% Has processes with large heaps be scheduled in, so that each counts its dictionary. It may have no other event: the trace need not be about it.
count_sizes(Ps, S) ->
    case Ps =/= [] andalso learn_sizes() of
        true ->
            [erltrace_agent_flags:add_running(P, S) || P <- Ps],
            erltrace_agent_aside:each(fun(P) -> process_info(P, current_stacktrace) end, Ps, ?ANSWER, ?LATE), % it answers that itself
            [?AGENT:nif_blocked(P) orelse erltrace_agent_flags:remove_running(P, S) || P <- Ps], % otherwise erltrace_agent_monitor wants it
            ok;
        false ->
            ok
    end.

%% global keeps its names in a table of this node: that waits for no one.
global_names() ->
    try global:registered_names()
    catch _:_ -> []
    end.

global(Name, ok) ->
    try global:whereis_name(Name) of
        P when is_pid(P), node(P) =:= node() -> ?AGENT:nif_names([{P, name, {global, Name}}]);
        _ -> ok
    catch
        _:_ -> ok
    end.

%% The tables of a registry in which each key has one process are called REGISTRY.KeyPartitionN, and hold {Key, {Pid, Value}}.
registry(Table, ok) ->
    try
        Name = ets:info(Table, name),
        [Text, _] = string:split(atom_to_list(Name), ".KeyPartition", trailing),
        set = ets:info(Table, type),
        keys(registry_of(Text), ets:select(Table, [{{'$1', {'$2', '_'}}, [], [{{'$1', '$2'}}]}], ?KEYS), ?TIMES)
    catch
        error:_ -> ok % it is none, or has just gone
    end.

%% Returns the registry, which has a table of its name. Elixir put "Elixir." in front of a name that lacks it.
registry_of(Text) ->
    [Name | _] = [N || T <- [Text, string:prefix(Text, "Elixir.")], is_list(T),
                       N <- [try list_to_existing_atom(T) catch error:_ -> undefined end], ets:whereis(N) =/= undefined],
    Name.

keys(Registry, {Keys, Next}, Times) when Times > 0 ->
    ?AGENT:nif_names([{P, name, {via, ?REGISTRY, {Registry, Key}}} || {Key, P} <- Keys, is_pid(P), node(P) =:= node()]),
    erltrace_agent_lib:breathe(),
    keys(Registry, ets:select(Next), Times - 1);
keys(_, _, _) ->
    ok.

%% Returns what a process says of its beginning, and what its program calls it: its label, or the name that RabbitMQ, among others, keeps in the
%% dictionary. The dictionary of a sensitive process is empty.
facts(P, Has) ->
    facts(P, Has, ?HEAP).

%% Most: words of the heap of a process that may be asked for its dictionary; of another `large` is a fact.
facts(P, _, _) when is_port(P) ->
    port(P, erlang:port_info(P, name), erlang:port_info(P, os_pid));
facts(P, Has, Most) when ?HAS(Has, ?OTP_LABELS) ->
    facts_of(P, Most, process_info(P, [initial_call, {dictionary, '$initial_call'}, {dictionary, '$process_label'}, {dictionary, process_name}]));
facts(P, _, Most) ->
    facts_of(P, Most, process_info(P, [initial_call, total_heap_size])).

facts_of(_, _, undefined) ->
    []; % it has just ended
facts_of(P, Most, Info) ->
    case {erltrace_agent_shapes:known(process_info, Info), Info} of
        {true, [{_, Call}, {_, Initial}, {_, Label}, {_, Name}]} ->
            label(Label, Name) ++ start(P, Call, Initial);
        {true, [{_, {proc_lib, init_p, _} = Call}, {_, Words}]} when Words =< Most -> % as every number is less than `infinity`
            Own = case process_info(P, dictionary) of {dictionary, D} -> D; undefined -> [] end,
            [Initial, Label, Name] = [case lists:keyfind(K, 1, Own) of {_, V} -> V; false -> undefined end || K <- ['$initial_call', '$process_label', process_name]],
            label(Label, Name) ++ start(P, Call, Initial);
        {true, [{_, {proc_lib, init_p, _} = Call}, _]} ->
            [{large, true} | start(P, Call, undefined)];
        {true, [{_, Call}, _]} ->
            start(P, Call, undefined);
        {false, _} ->
            unknown
    end.

%% What erltrace_agent shows for it is the text of the term.
label(undefined, undefined) -> [];
label(undefined, Name) -> [{label, called(Name)}];
label(Label, _) -> [{label, Label}].

%% Returns a name of the dictionary as people say it, if it has a form in which gen_server2 of RabbitMQ has them, and is as short as such names are:
%% the dictionary is the program's, which may have anything there.
called({rabbit_amqqueue_process, {resource, _, _, _} = Resource} = Name) ->
    resource(<<>>, Resource, Name);
called({Type, {resource, _, _, _} = Resource} = Name) when is_atom(Type) ->
    resource([atom_to_binary(Type), " "], Resource, Name);
called({Type, {Name, N}}) when is_atom(Type), ?SHORT(Name), is_integer(N), N >= 0, N =< 16#ffffffff ->
    iolist_to_binary([atom_to_binary(Type), " ", Name, " (", integer_to_binary(N), ")"]);
called({Type, Name}) when is_atom(Type), ?SHORT(Name) ->
    iolist_to_binary([atom_to_binary(Type), " ", Name]);
called(Name) ->
    Name.

resource(Before, {resource, Host, Kind, Name}, _) when ?SHORT(Host), is_atom(Kind), ?SHORT(Name) ->
    iolist_to_binary([Before, atom_to_binary(Kind), " ", Name, " in ", Host]);
resource(_, _, Name) ->
    Name.

start(_, _, {M, F, A}) when is_atom(M), is_atom(F), is_integer(A), A >= 0 -> [{start, {M, F, A}}];
start(_, {proc_lib, init_p, _}, _) -> [];
start(P, {erlang, apply, 2}, _) -> bottom(P); % of a fun: the VM does not say which
start(_, MFA, _) -> [{start, MFA}].

%% Returns the function at the bottom of a stack, if it is seen.
bottom(P) ->
    case process_info(P, current_stacktrace) of
        {_, [_ | _] = Stack} when length(Stack) < ?FRAMES ->
            [{frame, {M, F, A}} || {M, F, A, _} <- [lists:last(Stack)], is_integer(A)];
        _ ->
            []
    end.

port(_, {name, Command}, {os_pid, Pid}) when is_integer(Pid) -> [said(port, ["program ", filename:basename(word(Command))])];
port(P, {name, "tcp_inet"}, _) -> tcp(P, lists:keyfind(P, 2, erltrace_agent_shapes:connections()));
port(P, {name, "udp_inet"}, _) -> socket(P, "udp");
port(P, {name, "sctp_inet"}, _) -> socket(P, "sctp");
port(_, {name, Driver}, _) -> [said(port, ["driver ", word(Driver)])];
port(_, undefined, _) -> []. % it is closed

word(Text) -> lists:takewhile(fun(C) -> C =/= $\s end, Text).

tcp(_, {Node, _}) -> [said(port, ["node ", atom_to_list(Node)])];
tcp(P, false) -> socket(P, "tcp").

%% A socket that has no peer may get one.
socket(P, Protocol) ->
    case {prim_inet:sockname(P), prim_inet:peername(P)} of
        {{ok, From}, {ok, To}} -> [said(port, shortened(protocol(To, Protocol), From, address(To)))];
        {{ok, From}, _} -> [said(opened, [protocol(From, Protocol), address(From)])];
        _ -> [said(opened, Protocol)]
    end.

protocol({local, _}, _) -> "unix ";
protocol(_, Protocol) -> Protocol ++ " ".

%% Where two long addresses do not fit, that of this host is left out, but for its port. One end of a local socket has no address.
shortened(Protocol, {local, <<>>}, To) ->
    [Protocol, "-> ", To];
shortened(Protocol, {local, Path}, <<>>) ->
    [Protocol, Path];
shortened(Protocol, From, To) ->
    Whole = iolist_to_binary([Protocol, address(From), " -> ", To]),
    case From of
        {_, Port} when is_integer(Port), byte_size(Whole) > ?NAME -> [Protocol, $:, integer_to_list(Port), " -> ", To];
        _ -> Whole
    end.

address({local, Path}) -> Path;
address({{A, B, C, D}, Port}) -> io_lib:format("~b.~b.~b.~b:~b", [A, B, C, D, Port]);
address({IP, Port}) when tuple_size(IP) =:= 8 -> [$[, ipv6(IP), $], $:, integer_to_list(Port)];
address(Other) -> io_lib:format("~0tp", [Other]).

%% (inet_parse is loaded wherever networks are used; asking for it must not load it.)
ipv6(IP) ->
    case erlang:function_exported(inet_parse, ntoa, 1) of
        true -> inet_parse:ntoa(IP);
        false -> lists:join($:, [integer_to_list(N, 16) || N <- tuple_to_list(IP)])
    end.

said(What, Text) ->
    {What, unicode:characters_to_binary(Text)}.
