%% erltrace_agent_seq - sequential tracing: the system tracer of seq_trace, and the tokens that messages are sent with.
%%
%% There is one system tracer in a node, also from OTP 27 on: it is set only when there is none. Tokens come with a match
%% specification on send. In the agent's trace session that concerns only the agent; before OTP 27 it is the node's, and every
%% tracer of `send` finds the token at the end of its messages: it is set only while that match specification is in its default
%% state.
%%
%% What always holds: #s.seq are the bits of what is set, and only what is still ours is cleared.
-module(erltrace_agent_seq).

-export([check/1, add/2, remove/2, wiped/1]).

-import(erltrace_agent_lib, [error4/3, text/2, owner/1]).

-include("erltrace_agent.hrl").

-define(TOKENS, [{['$1', '$2'], [], [{message, {get_seq_token}}]}]).

%% Throws an error if a program with these needs cannot run.
check(Needs) when Needs band ?NEED_SEQ_TRACE =:= 0 ->
    ok;
check(_) ->
    case seq_trace:get_system_tracer() of
        false -> ok;
        ?TRACER -> ok;
        Other ->
            throw(error4('AGENT_BUSY', text("~s is the system tracer of seq_trace, and a node has only one", [owner(Other)]),
                         "end that trace (seq_trace:set_system_tracer(false)), or leave the probe trace_seq out"))
    end.

%% Sets the Needs that are not set yet. -> {what is then set, warnings}; if it throws, it has set nothing
add(Needs, #s{seq = Have} = S) ->
    New = Needs band (?NEED_SEQ_TRACE bor ?NEED_TOKENS) band (bnot Have),
    check(New),
    New band ?NEED_SEQ_TRACE =/= 0 andalso seq_trace:set_system_tracer(?TRACER),
    case New band ?NEED_TOKENS =/= 0 andalso set_tokens(S) of
        false -> {Have bor New, []};
        ok -> {Have bor New, []};
        taken ->
            {Have bor (New band (bnot ?NEED_TOKENS)),
             [<<"another tool has set the match specification of send: the seq_trace token of a message is not known, its "
                "label and counts are 0">>]}
    end.

set_tokens(#s{session = legacy}) ->
    case erlang:trace_info(send, match_spec) of
        {match_spec, true} ->
            erlang:trace_pattern(send, ?TOKENS, []),
            ok;
        _ -> taken
    end;
set_tokens(#s{session = Session}) ->
    erltrace_agent_session:send(Session, ?TOKENS, []),
    ok.

%% Clears what is set for these bits.
remove(Bits, S) ->
    Bits band ?NEED_SEQ_TRACE =/= 0 andalso seq_trace:get_system_tracer() =:= ?TRACER andalso
        seq_trace:set_system_tracer(false),
    Bits band ?NEED_TOKENS =/= 0 andalso remove_tokens(S),
    ok.

remove_tokens(#s{session = legacy}) ->
    erlang:trace_info(send, match_spec) =:= {match_spec, ?TOKENS} andalso erlang:trace_pattern(send, true, []);
remove_tokens(#s{session = Session}) ->
    erltrace_agent_session:send(Session, true, []).

%% What we set and another tool removed, as {key, text}.
wiped(#s{seq = Have, session = Session}) ->
    [{seq_trace, <<"another process took over the system tracer of seq_trace: trace_seq no longer fires; start the trace again">>}
     || Have band ?NEED_SEQ_TRACE =/= 0, seq_trace:get_system_tracer() =/= ?TRACER] ++
    [{tokens, <<"another process changed the match specification of send: the seq_trace tokens of messages are no longer known, "
                "or messages are missing; start the trace again">>}
     || Have band ?NEED_TOKENS =/= 0, Session =:= legacy, erlang:trace_info(send, match_spec) =/= {match_spec, ?TOKENS}].
