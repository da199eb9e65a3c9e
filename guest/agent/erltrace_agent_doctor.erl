%% erltrace_agent_doctor - what can be traced in a node and what prevents the rest, for `erltrace doctor`. It changes nothing in the node;
%% the only thing added is the agent itself, without flags, patterns or session.
%%
%% A finding is {Subject, Level, Text, Help}: `ok`, `note` (worth knowing) or `limit` (something cannot be traced, or not completely, and
%% Help says what would help).
-module(erltrace_agent_doctor).

-export([examine/1]).

-import(erltrace_agent_lib, [text/2, owner/1]).

-include("erltrace_agent.hrl").

-define(MANY, 20000).  % most processes that are asked for their tracer

examine(S) ->
    vm() ++ bugs(erts()) ++ terms(S) ++ consumers(S) ++ processes(S) ++ shared(S) ++ sessions(S) ++ gc(S) ++ monitor(S) ++ seq() ++ inside() ++ profile() ++ user_probes() ++ library() ++ memory().

vm() ->
    Flavor = erlang:system_info(emu_flavor),
    [{vm, ok, text("OTP ~s, ERTS ~s, ~s, ~b of ~b schedulers online, ~b processes, ~b modules",
                   [erlang:system_info(otp_release), erlang:system_info(version),
                    case Flavor of jit -> "with the JIT"; _ -> "without the JIT" end,
                    erlang:system_info(schedulers_online), erlang:system_info(schedulers),
                    erlang:system_info(process_count), length(erlang:loaded())]), <<>>},
     case erlang:system_info(dynamic_trace) of
         none -> {probes_of_the_vm, note, <<"the VM was built without probes of its own (as nearly all are): the probes here are the agent's">>, <<>>};
         Which -> {probes_of_the_vm, note, text("the VM was also built with ~s", [Which]), <<>>}
     end] ++
    [{vm, note, <<"an emulator of a type other than opt: slower than all published measurements">>, <<>>}
     || erlang:system_info(build_type) =/= opt].

erts() ->
    [case string:to_integer(N) of {I, _} when is_integer(I) -> I; _ -> 0 end || N <- string:lexemes(erlang:system_info(version), ".")].

%% Known faults of old releases that affect tracing: {first ERTS, fixed in, id, how it affects traces}.
bugs(Erts) ->
    [{known_fault, note, text("~s: ~s", [Id, What]), text("fixed in ERTS ~s", [lists:join(".", [integer_to_list(N) || N <- Fixed])])}
     || {From, Fixed, Id, What} <- [
        {[0], [13, 2, 2, 8], "OTP-19034", "tracing all processes at once can crash the VM while dirty schedulers work (we set flags process by "
         "process; other tools may not)"},
        {[0], [13, 2], "OTP-18398", "a process that loses its tracer while it is on a dirty scheduler can crash the VM"},
        {[0], [13, 2, 2, 8], "OTP-19043", "a traced process that gets an exit signal inside a dirty NIF can crash the VM"},
        {[0], [13, 2, 2, 15], "OTP-19527", "message-queued fires when the receiver looks at its queue, later than the message arrives"},
        {[14], [14, 2, 4], "OTP-19034", "tracing all processes at once can crash the VM while dirty schedulers work"},
        {[14], [14, 2, 5, 9], "OTP-19527", "message-queued fires later than the message arrives"},
        {[15], [16, 2], "OTP-19840", "a tool that stops tracing a BIF silences it for all others; our trace is set again within seconds, theirs is not"}],
        Erts >= From, Erts < Fixed].

terms(S) ->
    case erltrace_agent_terms:hidden(S) of
        false ->
            case erltrace_agent_terms:redacted(S) of
                [] -> [{terms, ok, <<"visible to scripts">>, <<>>}];
                Globs -> [{terms, note, text("visible to scripts, but for values of keys ~ts", [lists:join(", ", Globs)]),
                           <<"not hidden: texts that hold key and value, values before their key, fields of records that the script does not define">>}]
            end;
        {true, Where} -> [{terms, note, text("hidden by ~s: scripts that look into terms are refused, and arguments show none", [Where]), <<>>}]
    end.

consumers(#s{consumers = Cs}) ->
    case map_size(Cs) - 1 of
        N when N > 0 -> [{consumers, note, text("~b other consumer~s of erltrace", [N, case N of 1 -> ""; _ -> "s" end]),
                          <<"they share one tracer, and each gets everything that it asks for">>}];
        _ -> [{consumers, ok, <<"no other consumer of erltrace">>, <<>>}]
    end.

%% Tracers of the legacy session, by process.
processes(#s{has = Has}) ->
    Owned = lists:foldl(fun(P, Acc) ->
                            case erltrace_agent_lib:tracer(P) of
                                {tracer, T} when T =/= [], T =/= ?TRACER ->
                                    maps:update_with(T, fun(N) -> N + 1 end, 1, Acc);
                                _ -> Acc
                            end
                        end, #{}, [new_processes | lists:sublist(erlang:processes(), ?MANY)]),
    case maps:to_list(Owned) of
        [] -> [{tracers, ok, <<"no other tool traces processes">>, <<>>}];
        L when not ?HAS(Has, ?OTP_TRACE_SESSIONS) ->
            [{tracers, limit, text("~b process~s traced by ~s: a process has one tracer before OTP 27, so those are not seen",
                                   [N, erltrace_agent_lib:plural(N), owner(T)]),
              <<"end that trace: dbg:stop(), recon_trace:clear(), redbug:stop() ...">>} || {T, N} <- L];
        L ->
            [{tracers, note, text("~b process~s traced by ~s, alongside us", [N, erltrace_agent_lib:plural(N), owner(T)]), <<>>}
             || {T, N} <- L]
    end.

shared(#s{has = Has}) when ?HAS(Has, ?OTP_TRACE_SESSIONS) ->
    [];
shared(_) ->
    [{tracers, note, <<"before OTP 27 a process or function belongs to the tool that traces it first: what other tools have is left alone (and gets no "
                       "probes meanwhile), and no tool, dbg included, can trace the agent's own processes (they are sensitive)">>, <<>>}].

sessions(#s{has = Has}) when not ?HAS(Has, ?OTP_TRACE_SESSIONS) ->
    [];
sessions(#s{session = Own}) ->
    Others = [W || W <- trace:session_info(all), W =/= {legacy, default}, not erltrace_agent_session:own(W, Own)],
    [{sessions, note, text("trace session ~p of another tool, alongside ours", [Name]), <<>>} || {Name, _} <- Others] ++
    [{sessions, ok, <<"no other trace sessions">>, <<>>} || Others =:= []].

gc(#s{has = Has}) when not ?HAS(Has, ?OTP_GC_TRACED_ONCE) ->
    [];
gc(S) ->
    case erltrace_agent_others:gc_owners(S, lists:sublist(erlang:processes(), ?MANY)) of
        [] -> [{gc, ok, <<"no other tool traces garbage collection">>, <<>>}];
        [Owner | _] ->
            [{gc, limit, text("~s traces garbage collection: OTP 27 to 29 crash if two tools do, so probes that need it are refused", [Owner]),
              <<"end that trace: dbg:stop() for dbg">>}]
    end.

monitor(#s{has = Has}) ->
    case erltrace_agent_monitor:slot() of
        undefined -> [{system_monitor, ok, <<"the system monitor is free">>, <<>>}];
        {Pid, _} when Pid =:= self() -> [{system_monitor, ok, <<"the system monitor is ours at the moment">>, <<>>}];
        {Pid, Items} when ?HAS(Has, ?OTP_MONITOR_SESSIONS) ->
            [{system_monitor, note, text("~s has the system monitor (~0p), alongside ours", [owner(Pid), Items]), <<>>}];
        {Pid, Items} ->
            [{system_monitor, limit, text("~s has the system monitor (~0p), and before OTP 28 a node has only one: probes *port_busy, "
                                          "*not_busy, gc-long, schedule-long, heap-large and queue-long are refused",
                                          [owner(Pid), Items]),
              <<"end that tool (in RabbitMQ it is sysmon_handler), or leave those probes out">>}]
    end.

seq() ->
    [{seq_trace, limit, text("~s is the system tracer of seq_trace, and a node has only one: the probe trace_seq is refused", [owner(T)]),
      <<"end that trace: seq_trace:set_system_tracer(false)">>}
     || T <- [seq_trace:get_system_tracer()], T =/= false, T =/= ?TRACER].

%% (Processes of the agent show what is known; they come and go.)
inside() ->
    Names = fun(L) -> lists:join(", ", [atom_to_list(V) || V <- L]) end,
    Variables = [mqlen, reductions, heapsize, oldheapsize],
    case Variables -- erltrace_agent_inside:prove(false) of
        [] -> [{process, ok, text("what the VM keeps of a process can be read: ~s", [Names(Variables)]), <<>>}];
        Missing ->
            [{process, limit, text("this VM does not show where it keeps of a process what these variables tell: ~s; they are -1", [Names(Missing)]),
              <<"read them where the program asks: process_info/2; and report this, with the VM's version and how it was built">>}]
    end.

%% By which clock profile-N samples.
profile() ->
    case erlang:system_info(emu_flavor) =:= jit andalso erltrace_agent_profile:offered() of
        false -> [{profile, note, <<"profile-N and wall-N need a VM with the JIT, without which ustack() has no frames">>, <<"tick-N fires in any VM">>}];
        processor ->
            [{profile, note, text("this agent has no profile-N and wall-N on ~s", [erltrace_agent_profile:machine()]), <<"tick-N fires in any VM">>}];
        task -> [{profile, ok, <<"profile-N samples by the task clock, wall-N by a sampler that wakes at random times">>, <<>>}];
        user ->
            [{profile, note, <<"profile-N samples by the task clock outside of the kernel: kernel.perf_event_paranoid is 2, and the node's user may not change that for itself">>,
              <<"with kernel.perf_event_paranoid=1, or CAP_PERFMON for the node, time in the kernel is sampled, too">>}];
        sampler ->
            [{profile, note, <<"profile-N samples by a sampler that wakes at random times: the system refuses the task clock (kernel.perf_event_paranoid is above 2, "
                               "there is a filter of system calls as Docker and systemd have them, or few descriptors are left)">>,
              <<"beside other load it takes fewer samples than are due; to have the task clock, set kernel.perf_event_paranoid=2, leave out the filter, or raise ulimit -n">>}]
    end.

user_probes() ->
    case code:is_loaded(dyntrace) =/= false orelse is_list(code:which(dyntrace)) of
        true -> [{user_probes, ok, <<"dyntrace is there: its calls can be traced">>, <<>>}];
        false -> [{user_probes, note, <<"no runtime_tools in this release: dyntrace:p/pn cannot be called, user_trace-* never fire">>,
                   <<"add runtime_tools to the release">>}]
    end.

library() ->
    [{library, note, text("~b copies of the agent's library are in the node's memory, of ~b at most: its C library never unmaps one", [N, ?COPIES]),
      <<"each takes half a megabyte until the node ends. Traces that begin while another one runs share its copy">>}
     || N <- [erltrace_agent_place:mapped()], N > 1].

memory() ->
    case file:read_file("/proc/meminfo") of
        {ok, Text} ->
            case re:run(Text, "MemAvailable: +([0-9]+) kB", [{capture, [1], list}]) of
                {match, [Kb]} ->
                    Mb = list_to_integer(Kb) div 1024,
                    [if Mb < 128 -> {memory, limit, text("~b MB of memory are left on the host: buffers may be refused, or the node may be killed", [Mb]),
                                     <<"use smaller buffers: -x bufsize=256k -x aggsize=256k">>};
                        true -> {memory, ok, text("~b MB of memory are left on the host", [Mb]), <<>>}
                     end];
                _ -> []
            end;
        _ -> []
    end.
