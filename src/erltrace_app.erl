%% @private
%% erltrace_app - the OTP application: starts the supervisor of the handles, and nothing else. While no handle is open, the
%% application is two idle processes.
-module(erltrace_app).
-behaviour(application).

-export([start/2, stop/1]).

-spec start(application:start_type(), term()) -> {ok, pid()} | {error, term()}.
start(_, _) ->
    case erltrace_sup:start_link() of
        {ok, Pid} -> {ok, Pid};
        ignore -> {error, ignore};
        {error, _} = Error -> Error
    end.

-spec stop(term()) -> ok.
stop(_) ->
    ok.
