%% erltrace_agent_session - the agent's own trace sessions (from OTP 27 on), and the calls into them.
%%
%% What always holds:
%%  * The release of the VM decides, once, whether it has sessions: #s.session is `legacy` before OTP 27. From 27 on it is a
%%    session or `undefined`, and nothing is ever set in the legacy session, where it would affect every tool.
%%  * Any process may destroy a session of ours. Nothing here fails then: the server gets the message `session_lost`, and does
%%    nothing more in that session (erltrace_agent_needs:present/1).
-module(erltrace_agent_session).

-export([none/1, create/3, destroy/1, there/1, own/2, sweep/1]).
-export([function/4, process/4, port/4, send/3, recv/3, system/3, info/3, calls/2]).

-include("erltrace_agent.hrl").

-define(NAMES, [?AGENT, erltrace_loads, erltrace_gc, erltrace_global, erltrace_monitor, erltrace_counts]).

%% Returns the value of #s.session while nothing is traced.
-spec none(Features :: non_neg_integer()) -> legacy | undefined.
none(Has) when ?HAS(Has, ?OTP_TRACE_SESSIONS) -> undefined;
none(_) -> legacy.

%% -> its strong handle. Tells the guard of it: if the server is killed in the middle of a call that changes the session, the VM
%% may keep it.
create(Name, Tracer, #s{guard = Guard}) ->
    {_, Weak} = Session = trace:session_create(Name, Tracer, []),
    is_pid(Guard) andalso (Guard ! {session, Weak}),
    Session.

%% Takes either handle; a session that does not exist is no error.
destroy(Session) ->
    try trace:session_destroy(Session)
    catch error:_ -> false
    end.

%% Whether the session still exists.
there(Session) ->
    try trace:info(Session, on_load, all) of
        _ -> true
    catch
        error:badarg -> false
    end.

%% Whether a weak handle belongs to this session of ours.
own(Weak, {_, Weak}) -> true;
own(_, _) -> false.

%% Destroys the sessions that have our names, except these. There is one agent in a node, so a session of these names that is not
%% the server's belongs to no one: it was left by an agent that was killed together with its guard, or by a request that failed
%% halfway.
sweep(Keep) ->
    [destroy(W) || {Name, _} = W <- trace:session_info(all), lists:member(Name, ?NAMES), not lists:any(fun(K) -> own(W, K) end, Keep)],
    ok.

%% These do what their namesakes in `trace` do, but return a default when the session, or the process, does not exist.
function(Session, MFA, MS, Flags) ->
    erltrace_agent_lib:pattern_call(),
    ask(Session, function, [MFA, MS, Flags], 1).
process(Session, Which, How, Flags) -> ask(Session, process, [Which, How, Flags], 0).
port(Session, Which, How, Flags) -> ask(Session, port, [Which, How, Flags], 0).
send(Session, MS, Options) -> ask(Session, send, [MS, Options], 0).
recv(Session, MS, Options) -> ask(Session, recv, [MS, Options], 0).
system(Session, Event, Value) -> ask(Session, system, [Event, Value], ok).
info(Session, Which, Item) -> ask(Session, info, [Which, Item], {Item, undefined}).

%% Returns how often a function was called since it has a counter; `gone`: it has none. (Thousands are asked in a row, each second.)
calls(Session, MFA) ->
    try apply(trace, info, [Session, MFA, call_count]) of
        {_, N} when is_integer(N) -> N;
        _ -> gone
    catch
        error:badarg -> gone
    end.

ask(Session, Function, Args, Else) ->
    try apply(trace, Function, [Session | Args])
    catch
        error:badarg ->
            Session =:= undefined orelse there(Session) orelse lost(Session),
            Else
    end.

%% Sends one message, however many calls notice the loss.
lost(Session) ->
    put(session_lost, Session) =:= Session orelse (self() ! session_lost).
