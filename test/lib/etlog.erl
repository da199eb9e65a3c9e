%% etlog - what a node logs, for tests: an operator must never see anything of a trace in the log, at any level.
-module(etlog).
-export([start/0, logged/0]).
-export([log/2]).

%% From here on everything that is logged, at any level and from anywhere, is kept as text, one line each, until the node ends. Nothing is
%% printed any more: the standard streams belong to the tests.
start() ->
    Ref = make_ref(),
    Self = self(),
    spawn(fun() ->
              process_flag(sensitive, true), % no trace sees it
              ets:new(?MODULE, [named_table, public, ordered_set]),
              Self ! Ref,
              receive stop -> ok end
          end),
    receive Ref -> ok end,
    _ = logger:remove_handler(default),
    ok = logger:set_primary_config(level, all),
    ok = logger:add_handler(?MODULE, ?MODULE, #{level => all, filter_default => log, filters => []}).

log(#{level := Level} = Event, _) ->
    Text = try logger_formatter:format(Event, #{single_line => true, depth => 30, chars_limit => 3000, template => [msg]})
           catch _:_ -> io_lib:format("~0P", [Event, 40])
           end,
    try
        ets:insert(?MODULE, {erlang:unique_integer([monotonic]), unicode:characters_to_binary([atom_to_list(Level), " ", Text])})
    catch
        error:badarg -> false % the node is just ending
    end.

%% Returns what has been logged since the last call, including messages of the emulator and of the code server, which come through
%% processes.
logged() ->
    [try sys:get_state(P, 1000) catch exit:_ -> none end || P <- [logger, logger_proxy]],
    [begin ets:delete(?MODULE, K), T end || {K, T} <- ets:tab2list(?MODULE)].
