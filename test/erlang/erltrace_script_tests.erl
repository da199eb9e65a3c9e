%% Scripts as people had them for the first erltrace, heat maps and lists: they compile, run, and give what such a program expects.
-module(erltrace_script_tests).
-include_lib("eunit/include/eunit.hrl").

-export([work/0, step/1]).

-import(erltrace_test, [trace/1, await/1, clean/0]).

%% {Name, what walk gives, the script}. (Those of system calls need the kernel: erltrace_kernel_tests.)
scripts() ->
    [{"functions by number of calls", count, 1,
      "erlang*:::global-function-entry\n{\n  @[copyinstr(arg1)] = count();\n}\n"},
     {"functions by process", count, 2,
      "erlang*:::global-function-entry\n{\n  @[copyinstr(arg1), copyinstr(arg0)] = count();\n}\n"},
     {"functions by time", sum, 1,
      "erlang*:erltrace_script_tests::global-function-entry\n{\n  self->at[copyinstr(arg1)] = vtimestamp;\n}\n"
      "erlang*:erltrace_script_tests::function-return\n{\n  @time[copyinstr(arg1)] = sum((vtimestamp - self->at[copyinstr(arg1)]) / 1000);\n}\n"},
     {"heat map of functions", lquantize, 1,
      "erlang*:erltrace_script_tests::global-function-entry\n{\n  self->at[copyinstr(arg1)] = vtimestamp;\n}\n"
      "erlang*:erltrace_script_tests::function-return\n/self->at[copyinstr(arg1)]/\n{\n"
      "  @time[copyinstr(arg1)] = lquantize((vtimestamp - self->at[copyinstr(arg1)]) / 1000, 0, 63, 2);\n  self->at[copyinstr(arg1)] = 0;\n}\n"},
     {"heat map of scheduling", lquantize, 1,
      "erlang*:::process-scheduled\n{\n  self->at[copyinstr(arg0)] = vtimestamp;\n}\n"
      "erlang*:::process-unscheduled\n/self->at[copyinstr(arg0)]/\n{\n"
      "  @time[copyinstr(arg0)] = lquantize(vtimestamp - self->at[copyinstr(arg0)], 0, 63, 2);\n  self->at[copyinstr(arg0)] = 0;\n}\n"},
     {"messages by sender", sum, 2,
      "erlang*:::message-send\n{\n  @[copyinstr(arg0), copyinstr(arg1)] = sum(arg2);\n}\n"}].

script_test_() ->
    [{Name, fun() -> runs(Function, Keys, Script) end} || {Name, Function, Keys, Script} <- scripts()].

runs(Function, NKeys, Script) ->
    case list_to_integer(erlang:system_info(otp_release)) < 27 andalso string:find(Script, "function-return") =/= nomatch of
        %% Global calls of functions whose return is watched cannot be told apart there: entry is what is to be had, and a warning says so.
        true ->
            {ok, H} = erltrace:script(Script),
            ok = erltrace_test:go(H),
            {ok, [{diag, #{severity := warning, text := Text}} | _]} = await(fun() -> erltrace:consume(H) end),
            ?assertNotEqual(nomatch, string:find(Text, "global-function-entry")),
            ok = erltrace:close(H),
            shows(Function, NKeys, lists:flatten(string:replace(Script, "global-function-entry", "function-entry", all)));
        false ->
            shows(Function, NKeys, Script)
    end.

shows(Function, NKeys, Script) ->
    {Worker, _} = spawn_monitor(fun() -> ?MODULE:work() end),
    try shown(Function, NKeys, Script)
    after exit(Worker, kill)
    end.

shown(Function, NKeys, Script) ->
    H = trace(Script),
    {ok, Entries} = await(fun() -> erltrace:walk(H) end),
    [begin
         ?assertEqual(Function, F),
         ?assertEqual(NKeys, length(Keys)),
         [?assert(is_binary(list_to_binary(K))) || K <- Keys],
         case Value of
             [_ | _] -> [?assert(is_integer(S) andalso is_integer(E) andalso S =< E andalso N > 0) || {{S, E}, N} <- Value];
             _ -> ?assert(is_integer(Value))
         end
     end || {F, Keys, Value} <- Entries],
    %% Another column a moment later.
    {ok, _} = await(fun() -> erltrace:walk(H) end),
    ok = erltrace:stop(H),
    ok = erltrace:close(H).

work() ->
    Self = self(),
    ?MODULE:step(50),
    Self ! {self(), step},
    receive {Self, step} -> ok end,
    receive after 1 -> ?MODULE:work() end.

step(N) ->
    lists:sum(lists:seq(1, N)) + length(atom_to_list(?MODULE)).
