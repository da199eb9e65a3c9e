%% many - a node with very many functions, and on each scheduler a process that notices when it was kept from running.
-module(many).
-export([load/1, watch/1, gap/0, patterns/0, turn/1]).

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

%% A process on each scheduler that is always ready to run, unseen by any trace. Library: gaps.c, without its ".so".
watch(Library) ->
    ok = erlang:load_nif(Library, 0),
    _ = [spawn_opt(fun() -> process_flag(sensitive, true), look(N) end, [{scheduler, N}])
         || N <- lists:seq(1, erlang:system_info(schedulers))],
    ok.

look(N) ->
    turn(N),
    erlang:yield(),
    look(N).

%% One pattern on everything, set by OTP itself, as ours are (match specification), and cleared. -> [longest gap of each, us]
patterns() ->
    [begin
         _ = gap(),
         erlang:trace_pattern({'_', '_', '_'}, What, [local]),
         receive after 2 -> gap() end
     end || What <- [[{'_', [], [{message, {caller}}]}], false]].

turn(_) -> erlang:nif_error(not_loaded).
%% The longest time in microseconds that a scheduler did not come back to its process, since this was last asked.
gap() -> erlang:nif_error(not_loaded).
