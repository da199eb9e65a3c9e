%% erltrace_agent_placed - what is set in the VM for one program, in numbers: the answer to `place`.
%%
%% Several programs share what is set. This reports what one of them alone would have set, as far as it is set.
-module(erltrace_agent_placed).

-export([placed/2]).

-import(erltrace_agent_lib, [count/2]).

-include("erltrace_agent.hrl").

%% What the VM reports by message, and needs of ports: enum probe_need.
-define(MONITORS, [{16#1000, busy_port}, {16#2000, busy_dist_port}, {16#4000, long_gc}, {16#8000, long_schedule}, {16#10000, large_heap},
                   {16#20000, long_message_queue}, {16#40000, nodes}, {16#80000, polls}, {?NEED_SEQ_TRACE, seq_trace},
                   {?NEED_TOKENS, tokens}]).
-define(PORTS, 16#f00).

%% Each value is a list of atoms or a number; what is 0 or empty may be left out.
-spec placed(#c{}, #s{}) -> [{atom(), non_neg_integer() | [atom()]}].
placed(#c{wants = Wants, needs = Needs, special = Special} = C, #s{functions = Set} = S) ->
    {Functions, Flagged} =
        erltrace_agent_lib:fold(fun(MFA, Bits, {Counts, F}) ->
                                    case Set of
                                        #{MFA := {meta, {filter, _}, _}} -> {count(filtered, count(meta, Counts)), F};
                                        #{MFA := Pattern} when element(1, Pattern) =:= meta -> {count(meta, Counts), F};
                                        #{MFA := Pattern} -> {count(element(1, Pattern), Counts), F#{MFA => Bits}};
                                        #{} -> {Counts, F}
                                    end
                                end, {#{}, #{}}, Wants),
    {All, Some} = erltrace_agent_only:flags([C], Needs, Flagged),
    Kinds = Functions#{meta => maps:get(meta, Functions, 0) + hooked(C, S)},
    maps:to_list(Kinds) ++
        [{flags, lists:sort(All)}, {processes, processes(All, S)},
         {only_flags, lists:usort(lists:append(maps:values(Some))) -- All}, {only_processes, map_size(Some)},
         {ports, case Needs band ?PORTS of 0 -> 0; _ -> length(erlang:ports()) end},
         {monitors, [M || {Bit, M} <- ?MONITORS, Needs band Bit =/= 0]},
         {clocks, erltrace_agent_profile:clocks(Special)}, {counted, map_size(C#c.counted)}].

%% Functions whose calls are named probes, and that are not counted for probes of their own.
hooked(#c{hooks = Probes, wants = Wants}, #s{hooks = Hooks, functions = Set}) ->
    length([MFA || MFA <- lists:usort(lists:append([Fs || {_, Fs, _} <- Probes])),
                   is_map_key(MFA, Hooks) orelse (is_map_key(MFA, Set) andalso not is_map_key(MFA, Wants))]).

processes([], _) -> 0;
processes(_, #s{session = legacy, others = Others}) -> erlang:system_info(process_count) - 1 - length([P || P <- maps:keys(Others), is_pid(P)]);
processes(_, _) -> erlang:system_info(process_count).
