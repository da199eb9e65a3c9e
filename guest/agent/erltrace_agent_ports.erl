%% erltrace_agent_ports - trace flags of ports: set one by one before OTP 27, in the agent's trace session from then on.
%%
%% As with processes, nothing is set or cleared on `all`, `existing` or `ports` through erlang:trace/3, and a port with another
%% tool's tracer is left alone and reported. The connections of the consumers themselves are left out: reading a trace would cause
%% events.
%%
%% The library knows names and owners of ports from events; this module tells it those of ports that existed before, and of ports
%% that are created without an event.
-module(erltrace_agent_ports).

-export([flags/1, add_flags/2, remove_flags/3, leave_out/1, are_ours/0, look/0]).

-import(erltrace_agent_lib, [text/2]).
-import(erltrace_agent_flags, [add_to/3, may_take/1, is_ours/1]).

-include("erltrace_agent.hrl").

-define(ANSWER, 50). % ms that a port has to answer
-define(LATE, 4).    % at most this many may fail to
-define(SAMPLE, 50). % ports that one check samples

%% Returns the port flags for these needs.
flags(Bits) ->
    lists:append([F || {Bit, F} <- ?PORT_FLAGS, Bits band Bit =/= 0]).

%% -> warnings
add_flags([], S) ->
    leave_out(S),
    [];
add_flags(Flags, S) ->
    ?AGENT:nif_ports(false),
    Warnings = set(Flags, S),
    leave_out(S),
    know(erlang:ports()),
    Warnings.

set(Flags, #s{session = legacy} = S) ->
    New = case may_take(new_ports) of
              true ->
                  erlang:trace(new_ports, true, [{tracer, ?AGENT, ?STATE} | Flags]),
                  [];
              {no, Owner} ->
                  [text("new ports are traced by ~s: those are not seen", [Owner])]
          end,
    Foreign = lists:foldl(fun(P, Acc) -> add_to(P, Flags, Acc) end, #{}, erlang:ports() -- own_ports(S)),
    New ++ [text("~b port~s traced by ~s: those are not seen", [N, plural(N), Owner])
            || {Owner, N} <- maps:to_list(Foreign)];
set(Flags, #s{session = Session}) ->
    erltrace_agent_session:port(Session, all, true, Flags),
    [].

plural(1) -> " is";
plural(_) -> "s are".

%% Clears the flags that consumers' connections got as new ports.
leave_out(#s{port_flags = []}) ->
    ok;
leave_out(S) ->
    clear_each(own_ports(S), [all], S).

%% The ports that connect consumers; for a consumer in this node, a relay, the ports that it watches: that of its program.
own_ports(#s{consumers = Cs}) ->
    {Here, There} = lists:partition(fun(P) -> node(P) =:= node() end, maps:keys(Cs)),
    Nodes = [node(P) || P <- There],
    [P || {N, P} <- erltrace_agent_shapes:connections(), is_port(P), lists:member(N, Nodes)] ++
    lists:append([Ports || {_, Ports} <- erltrace_agent_aside:each(fun ports_of/1, Here, ?ANSWER, ?LATE)]).

ports_of(Pid) ->
    [{links, Links}, {monitors, Monitors}] = process_info(Pid, [links, monitors]),
    [P || P <- Links, is_port(P)] ++ [P || {port, P} <- Monitors, is_port(P)].

remove_flags([], _, _) ->
    ok;
remove_flags(Flags, Left, #s{session = legacy} = S) ->
    Off = case Left of
              [] -> [all];
              _ -> Flags
          end,
    is_ours(new_ports) andalso erlang:trace(new_ports, false, erltrace_agent_flags:off(Flags, Left, ?TRACER)),
    clear_each(erlang:ports(), Off, S);
remove_flags(Flags, Left, #s{session = Session} = S) ->
    erltrace_agent_session:port(Session, all, false, Flags),
    set_again(Left, S).

%% Sets what is left again, on new ports and on those that were opened in between.
set_again(Left, S) ->
    _ = Left =/= [] andalso set(Left, S),
    ok.

clear_each(Ports, Off, #s{session = legacy}) ->
    [try erlang:trace(P, false, Off) catch error:badarg -> 0 end || P <- Ports, is_ours(P)],
    ok;
clear_each(Ports, Off, #s{session = Session}) ->
    [erltrace_agent_session:port(Session, P, false, Off) || P <- Ports],
    ok.

%% Whether what was set before OTP 27 is still set, judged by a sample.
are_ours() ->
    is_ours(new_ports) orelse lists:any(fun erltrace_agent_flags:is_ours/1, lists:sublist(erlang:ports(), ?SAMPLE)).

%% Asks for what no event has reported.
look() ->
    case [P || Part <- ?PARTS, P <- ?AGENT:nif_unknown_ports(Part)] of
        [] -> ok;
        Ports -> know(Ports)
    end.

know(Ports) ->
    Asked = erltrace_agent_aside:each(fun info/1, Ports, ?ANSWER, ?LATE),
    ?AGENT:nif_ports([{P, atom(Name), Owner} || {P, [{name, Name}, {connected, Owner}] = Info} <- Asked, is_known(Info)]),
    lists:foreach(fun({_, Info}) -> lists:member(undefined, Info) orelse is_known(Info) end, Asked).

is_known(Info) ->
    erltrace_agent_shapes:known(port_info, Info) orelse
        begin erltrace_agent_shapes:note(port_info), false end.

%% For a port that is closed or busy, the result may be something else.
info(Port) ->
    [erlang:port_info(Port, name), erlang:port_info(Port, connected)].

%% Cuts a name as the VM does in events.
atom(Name) ->
    list_to_atom(lists:sublist(Name, 255)).
