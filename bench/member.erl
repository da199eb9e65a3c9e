%% member - what a node of bench/cluster does: a process that calls each function of a module, again and again, with a pause between two rounds.
-module(member).
-export([start/2]).

%% Makes the module member_work with N functions, f1/1 ..., which are called about once in Ms milliseconds each.
start(N, Ms) ->
    Names = [list_to_atom("f" ++ integer_to_list(I)) || I <- lists:seq(1, N)],
    Forms = [{attribute, 1, module, member_work}, {attribute, 1, export, [{F, 1} || F <- Names]} |
             [{function, 1, F, 1, [{clause, 1, [{var, 1, 'X'}], [], [{tuple, 1, [{atom, 1, F}, {var, 1, 'X'}]}]}]} || F <- Names]],
    {ok, M, Beam} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "member_work.erl", Beam),
    spawn(fun() -> work(M, Names, Ms) end),
    ok.

work(M, Names, Ms) ->
    _ = [M:F(1) || F <- Names],
    receive after Ms -> ok end,
    work(M, Names, Ms).
