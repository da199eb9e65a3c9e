%% erltrace_agent.hrl - what the parts of the agent share: the numbers of the protocol and the server's state.
%%
%% A node loads one module, erltrace_agent. scripts/dev/pack-agent makes it of these files, which are modules to who writes them; a
%% new part is a file agent/erltrace_agent_NAME.erl, and what it may not do is said there.
%%   erltrace_agent            the server: coming, serving, reading, leaving; the NIF's stubs
%%   erltrace_agent_place      where the library lies while it is loaded
%%   erltrace_agent_needs      what all running programs together need of the VM, and keeping watch that it is there
%%   erltrace_agent_flags      process flags
%%   erltrace_agent_only       needs for which a few processes are enough
%%   erltrace_agent_ports      port flags
%%   erltrace_agent_patterns   trace patterns of functions
%%   erltrace_agent_seq        the system tracer of seq_trace, tokens of messages
%%   erltrace_agent_hooks      functions whose calls are named probes
%%   erltrace_agent_placed     what is set for one program, in figures
%%   erltrace_agent_others     living with other tracers
%%   erltrace_agent_monitor    what the VM tells by message: the system monitor, nodes
%%   erltrace_agent_poll       what the agent asks the VM from time to time
%%   erltrace_agent_doctor     what can be traced and what is in the way
%%   erltrace_agent_load       what programs cost, and the end of those that cost too much
%%   erltrace_agent_loads      code that is loaded while it is traced
%%   erltrace_agent_session    trace sessions of our own
%%   erltrace_agent_aside      questions that may take long to answer
%%   erltrace_agent_crowd      the same question to very many processes
%%   erltrace_agent_meanwhile  consumers that are answered while something takes long
%%   erltrace_agent_lib        texts of errors and warnings; small things that all need
-include("erltrace_agent_words.hrl").

-define(AGENT, erltrace_agent).
-define(PARTS, lists:seq(0, 31)). % AGENT_PARTS of guest/beam/agent.h

-define(STATE, []).
-define(TRACER, {?AGENT, ?STATE}).

%% With this every tool sets trace flags; before OTP 27 a meta pattern on it tells us who does.
-define(SETS_FLAGS, {erlang, trace, 3}).

%% What is wanted of a function, as bits.
-define(ENTRY, 1).
-define(RETURN, 2).
-define(EXCEPTION, 4).
-define(LOCAL, 8).
-define(GLOBAL, 16).
-define(WANT_NEEDS, [{?ENTRY, ?NEED_CALL}, {?LOCAL, ?NEED_CALL}, {?GLOBAL, ?NEED_CALL}, {?RETURN, ?NEED_RETURN},
                     {?EXCEPTION, ?NEED_EXCEPTION}]).

%% Phases of a consumer whose program needs something of the VM.
-define(is_placed(Phase), (Phase =:= placed orelse Phase =:= running)).

-record(c, {
    pid :: pid(),                  % the consumer
    monitor :: reference() | node, % `node`: watched by monitor_node
    lease :: pos_integer(),        % ms
    heard :: integer(),            % ms, monotonic: when its last message came
    spared :: integer() | undefined, % `heard` when its lease was not held against it, as the node had stood still
    phase = open :: open | enabled | placed | running | stopped, % placed: its probes are there, and BEGIN has not fired yet
    bindings = [] :: [[tuple()]],  % of the next enable or extend, as far as they have come, newest first
    program :: reference() | undefined,
    needs = 0 :: non_neg_integer(),
    wants = #{} :: #{mfa() => 1..31},
    %% functions whose calls are named probes, and with which first arguments
    hooks = [] :: [{Probe :: binary(), [mfa()], First :: any | [term()]}],
    only = #{} :: #{pos_integer() => [pid()]}, % of a need: the processes that are enough for it
    told = #{} :: map(),           % limits of the system monitor and the like: erltrace_agent_monitor:told/2
    special = [] :: [{non_neg_integer(), 1..4, non_neg_integer()}], % {index, kind, ns}
    hears = false :: boolean(),    % wants to hear of code that is loaded
    answered = 0 :: non_neg_integer(), % it has placed its probes on what was loaded up to that serial
    stats = 0 :: non_neg_integer(), % ms between reports of what it costs; 0: none
    marked :: integer() | undefined, % ms, monotonic: when the next mark or report is due
    loads = [] :: [{stats | overload | total, tuple()}], % reports for the next reply, oldest first
    over = false :: boolean(),     % it took too much of a scheduler: it is running, but needs nothing any more
    warnings = [] :: [binary()],   % for the next reply, newest first
    %% replies that the connection has no room for, oldest first, with their bytes (0: the one that found no room first)
    unsent = [] :: [{non_neg_integer(), term()}],
    unread = 0 :: non_neg_integer() % the sum of those
}).

%% While code that is loaded may get probes.
-record(loads, {
    notice :: undefined | term(),  % OTP 27+: the session that tells us of it
    kinds = [] :: [meta | local | global], % of patterns that code to come gets
    serial = 0 :: non_neg_integer(), % how often something was loaded
    fresh = #{} :: #{module() => pos_integer()}, % still under watch as a whole, since that serial
    polling = false :: boolean(),  % nobody tells us
    cleaned = [] :: [module()],    % let go since something was loaded
    upto = 0 :: non_neg_integer(), % modules with this serial or a lower one are to be let go
    %% which one is, and what is left of that: functions with patterns of a kind
    doing = none :: none | {module(), pos_integer(), [{meta | local | global, all | [{atom(), arity()}]}]},
    later = false :: boolean(),    % a message is on its way to go on
    missed = #{} :: #{mfa() => pos_integer()}, % calls that programs have counted that have answered
    known :: undefined | #{module() => term()} % blind: what was loaded when we looked
}).

-record(s, {
    nif :: binary() | undefined,   % digest of the library, once it is loaded
    otp :: pos_integer(),
    session :: legacy | undefined | term(), % `legacy`: before OTP 27. The strong handle; the session lives as long as it is in here
    global :: undefined | term(),  % likewise: the session with the global patterns
    gc :: undefined | term(),      % likewise: the session that tells us who sets trace flags, while we trace collections
    consumers = #{} :: #{pid() => #c{}},
    flags = [] :: [atom()],        % set on all processes
    alone = false :: boolean(),    % before OTP 27: when `flags` came, no process was somebody else's
    some = #{} :: #{pid() => [atom()]}, % set on single ones besides
    seq = 0 :: non_neg_integer(),  % bits of what is set for seq_trace
    port_flags = [] :: [atom()],   % set on ports
    functions = #{} :: #{mfa() => pattern()}, % set on functions
    hooks = #{} :: #{mfa() => pattern()}, % set on functions whose calls are named probes; besides
    globals = #{} :: #{mfa() => true}, % functions with a pattern in the session `global`
    loads :: undefined | #loads{},
    lost = {0, 0, 0},              % what nif_lost said last
    watching = false :: boolean(), % the overrun timer runs
    looking = false :: boolean(),  % so does that of erltrace_agent_load
    taken = #{} :: #{mfa() => true}, % functions that lost their exception probes
    expected = 0 :: non_neg_integer(), % consumers that have attached and not opened yet
    attached :: reference() | undefined, % by the last attach
    complained = #{},              % what a warning was given for
    others = #{} :: #{pid() | new_processes | mfa() => Owner :: binary()}, % what other tracers have (before OTP 27)
    asked = #{} :: #{Caller :: pid() => {What :: term(), Flags :: term()}}, % calls that set trace flags and have not returned yet
    given = #{} :: #{new_processes | new_ports => [atom()]}, % our flags there, and when somebody else has become the tracer: still
    %% Who else traces calls (before OTP 27), and the consumers that know what they miss by that.
    calls :: undefined | {pid() | new_processes, Owner :: binary(), [pid()]},
    looks = 0 :: non_neg_integer(), % at what is set
    bifs = [] :: list(),           % still to be set again, in this round
    monitor :: term(),             % of erltrace_agent_monitor
    polls = #{} :: #{pid() => term()}, % of erltrace_agent_poll, by consumer
    guard :: pid() | undefined
}).

-type pattern() :: {local | meta | global, Exceptions :: boolean(), Caller :: boolean()} |
                   {meta, {first, arity(), [term()]}, false}. % calls with one of these as their first argument
