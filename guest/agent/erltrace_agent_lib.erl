%% erltrace_agent_lib - what several parts of the agent need: the form of errors, names in words, the clock.
-module(erltrace_agent_lib).

-export([release/0, features/1, error4/3, text/2, names/1, owner/1, count/2, plural/1, functions_of/1, functions/1, ours/1, now_ms/0, alive/1, linked/1, new_look/0]).
-export([start/2, evaluate/3, tracer/1, breathe/0, fold/3, fold_list/3, map/2, filter/2, pattern_call/0, pattern_calls/0]).

-include("erltrace_agent.hrl").

-define(AT_A_TIME, 2000).          % us of work between two breaths
-define(STEP, 128).                % functions between two checks of the clock

%% Returns an error in the form in which it goes to a consumer: {error, Tag, Text, Hint}.
error4(Tag, Text, Hint) ->
    {error, Tag, unicode:characters_to_binary(Text), unicode:characters_to_binary(Hint)}.

text(Format, Args) ->
    unicode:characters_to_binary(io_lib:format(Format, Args)).

%% Whether a module is the agent's own, which is never traced.
ours(M) ->
    M =:= ?AGENT.

now_ms() ->
    erlang:monotonic_time(millisecond).

%% Starts a process that runs F. The VM has nothing to report when F fails, or when its code has been removed.
-spec start(fun(() -> term()), [term()]) -> pid() | {pid(), reference()}.
start(F, Options) ->
    evaluate("catch Run().", [{'Run', F}], Options).

%% Starts a process that evaluates a text, with these variables; Options are those of spawn_opt/4.
-spec evaluate(string(), [{atom(), term()}], [term()]) -> pid() | {pid(), reference()}.
evaluate(Text, Variables, Options) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Expressions} = erl_parse:parse_exprs(Tokens),
    spawn_opt(erl_eval, exprs, [Expressions, orddict:from_list(Variables)], Options).

%% Returns erlang:trace_info(P, tracer) of a process, or of new ones, before OTP 27. The process asks its tracer when it handles its
%% signals; if that tracer is ours and our library is not there (its code was removed), the process loses its tracer, and its next signal,
%% if that is a message, ends the VM. So in that case no process is asked: `undefined`.
-spec tracer(pid() | port() | atom()) -> {tracer, term()} | undefined.
tracer(P) ->
    case erlang:function_exported(?AGENT, nif_loaded, 0) andalso apply(?AGENT, nif_loaded, []) of
        true ->
            try erlang:trace_info(P, tracer) of
                Answer ->
                    case erltrace_agent_shapes:known(tracer, Answer) orelse Answer =:= undefined of
                        true -> Answer;
                        false -> {tracer, Answer} % that of no tool that we know: it is left alone, and told of
                    end
            catch
                error:badarg -> undefined
            end;
        false ->
            undefined
    end.

%% == work on very many functions ===============================================================================

%% The server has a high priority, so that a busy node does not keep it from ending a trace. But then no other process of its scheduler runs
%% while it works; so where it goes through all functions of a node, it pauses every few milliseconds to let them run, and answers
%% consumers.
breathe() ->
    Now = erlang:monotonic_time(microsecond),
    case get(breath) of
        Until when is_integer(Until), Now < Until ->
            ok;
        _ ->
            erltrace_agent_meanwhile:serve(1),
            put(breath, erlang:monotonic_time(microsecond) + ?AT_A_TIME),
            ok
    end.

%% To be called before each call that sets or clears patterns of functions, whatever the number of functions. Counts these calls: on a busy
%% node they are the cost of enabling.
pattern_call() ->
    put(pattern_calls, pattern_calls() + 1),
    breathe().

%% Returns how many calls were counted since this process began.
pattern_calls() ->
    case get(pattern_calls) of
        undefined -> 0;
        N -> N
    end.

%% These do what their namesakes in maps and lists do, with breaths. (maps:from_list/1 is one long step.)
fold(F, Acc, Map) -> next(F, Acc, maps:next(maps:iterator(Map)), ?STEP).

next(F, Acc, {K, V, I}, 0) -> breathe(), next(F, F(K, V, Acc), maps:next(I), ?STEP);
next(F, Acc, {K, V, I}, N) -> next(F, F(K, V, Acc), maps:next(I), N - 1);
next(_, Acc, none, _) -> Acc.

fold_list(F, Acc, List) -> next_of(F, Acc, List, ?STEP).

next_of(F, Acc, [H | T], 0) -> breathe(), next_of(F, F(H, Acc), T, ?STEP);
next_of(F, Acc, [H | T], N) -> next_of(F, F(H, Acc), T, N - 1);
next_of(_, Acc, [], _) -> Acc.

map(F, Map) ->
    fold(fun(K, V, M) -> M#{K => F(K, V)} end, #{}, Map).

filter(Keep, Map) ->
    fold(fun(K, V, M) ->
             case Keep(K, V) of
                 true -> M#{K => V};
                 false -> M
             end
         end, #{}, Map).

%% Whether a process of this node is alive. (is_process_alive/1 would wait for a process that has signals to handle while it works or is
%% suspended.)
alive(Pid) ->
    try ?AGENT:nif_alive(Pid)
    catch error:_ -> is_process_alive(Pid) % the library may be gone
    end.

%% Whether the caller is linked to a process, and so to a connection that is up.
linked(Pid) ->
    {links, Links} = process_info(self(), links),
    lists:member(Pid, Links).

%% Returns the owner of a tracer in words; computed once between two checks (new_look/0), as thousands of processes can have the same
%% tracer.
owner(Tracer) ->
    Known = case get(owners) of
                undefined -> #{};
                M -> M
            end,
    case Known of
        #{Tracer := Text} -> Text;
        #{} ->
            Text = who(Tracer),
            put(owners, Known#{Tracer => Text}),
            Text
    end.

new_look() ->
    erase(owners).

%% (process_info/2 would wait for a process that works or is suspended.)
who({Module, _}) ->
    text("module ~p", [Module]);
who(Pid) when is_pid(Pid) ->
    Name = [io_lib:format(" (~p)", [N]) || N <- registered(), whereis(N) =:= Pid],
    text("~p~s", [Pid, Name]);
who(Other) ->
    text("~p", [Other]).

%% Adds one to the count of Key.
count(Key, Counts) ->
    maps:update_with(Key, fun(N) -> N + 1 end, 1, Counts).

%% Returns functions in words: the first three.
names(MFAs) ->
    {Some, More} = case lists:sort(MFAs) of
                       [A, B, C, _ | _] -> {[A, B, C], ", ..."};
                       L -> {L, ""}
                   end,
    [lists:join(", ", [io_lib:format("~p:~p/~b", [M, F, A]) || {M, F, A} <- Some]), More].

plural(1) -> " is";
plural(_) -> "es are".

functions_of(M) ->
    try lists:usort(erlang:get_module_info(M, functions)) % M:module_info would make the code server search for a module that has just gone
    catch _:_ -> []
    end.

%% Returns for each module what can be traced in it, and which of that are not plain Erlang functions:
%% [{Module, [{Name, Arity}], [{Class, [{Name, Arity}]}]}].
functions(Modules) ->
    Bifs = lists:foldl(fun({M, F, A}, Acc) ->
                           maps:update_with(M, fun(L) -> [{F, A} | L] end, [{F, A}], Acc)
                       end, #{}, erlang:system_info(snifs)),
    [begin
         Functions = functions_of(M),
         {M, Functions, classes(M, Functions, maps:get(M, Bifs, []))}
     end || M <- Modules, not ours(M)].

classes(M, Functions, Bifs) ->
    Nifs = try erlang:get_module_info(M, nifs)
           catch _:_ -> []
           end,
    Exported = try erlang:get_module_info(M, exports)
               catch _:_ -> Functions
               end,
    {Inlined, Called} = lists:partition(fun({F, A}) -> inlined(M, F, A) end, Bifs),
    Written = [FA || {F, A} = FA <- [{apply, 2}, {apply, 3}, {yield, 0}], M =:= erlang, lists:member({F, A}, Functions)],
    [{C, L} || {C, L} <- [{?CLASS_BIF, Called -- Nifs}, {?CLASS_NIF, Nifs}, {?CLASS_INLINED, Inlined ++ (Written -- Bifs)},
                       {?CLASS_PRIVATE, ((Functions -- Exported) -- Nifs) -- Bifs}], L =/= []].

%% Returns the OTP release of this node.
release() ->
    list_to_integer(erlang:system_info(otp_release)).

%% Returns the features of a release: bits OTP_* for ?HAS.
features(Release) ->
    lists:sum([Bit || {Bit, First, Last} <- ?OTP_FEATURES, Release >= First, Last =:= 0 orelse Release =< Last]).

%% Calls of these become instructions, which the VM does not report; only calls through apply are reported. The release itself knows most of
%% them. The others were found by calling each BIF from code that names it, on OTP 25, 27 and 29; a test of the agent does the same.
inlined(erlang, is_record, _) -> false; % an instruction only where the tag is an atom in the source
inlined(erlang, hibernate, 3) -> not ?HAS(features(release()), ?OTP_HIBERNATE_CALLS);
inlined(erlang, F, A) ->
    lists:member({F, A}, [{get, 1}, {load_nif, 2}]) orelse
        lists:any(fun(Is) -> erl_internal:Is(F, A) end, [guard_bif, arith_op, comp_op, bool_op, send_op]);
inlined(maps, F, 2) -> F =:= get orelse F =:= is_key;
inlined(_, _, _) -> false.
