%% erltrace_agent.hrl - what the parts of the agent share: the numbers of the protocol and the server's state.
%%
%% A node loads one module, erltrace_agent, which scripts/dev/pack-agent makes from these files. In the source each file is a
%% module of its own; a new part is a file guest/agent/erltrace_agent_NAME.erl, and pack-agent says what it must not do.
%%   erltrace_agent            the server: coming, serving, reading, leaving; the NIF's stubs
%%   erltrace_agent_place      the folder of the library while it is loaded
%%   erltrace_agent_needs      what all running programs together need of the VM, and regular checks that it is still set
%%   erltrace_agent_flags      process flags
%%   erltrace_agent_only       needs for which a few processes are enough
%%   erltrace_agent_ports      port flags
%%   erltrace_agent_patterns   trace patterns of functions
%%   erltrace_agent_counts     functions whose calls the VM counts in place of reporting them
%%   erltrace_agent_filters    calls that the VM leaves out, for what predicates ask of their arguments
%%   erltrace_agent_names      names of processes
%%   erltrace_agent_shapes     what messages and answers of the VM look like
%%   erltrace_agent_seq        the system tracer of seq_trace, tokens of messages
%%   erltrace_agent_hooks      functions whose calls are named probes
%%   erltrace_agent_placed     what is set for one program, in numbers
%%   erltrace_agent_others     coexistence with other tracers
%%   erltrace_agent_monitor    what the VM reports by message: the system monitor, nodes
%%   erltrace_agent_poll       what the agent asks the VM at intervals
%%   erltrace_agent_doctor     what can be traced, and what prevents the rest
%%   erltrace_agent_load       what programs cost, and the end of those that cost too much
%%   erltrace_agent_loads      code that is loaded while it is traced
%%   erltrace_agent_inside     offsets of what the VM keeps of a process
%%   erltrace_agent_code       where the code of functions is
%%   erltrace_agent_profile    profile-N: what runs on the schedulers
%%   erltrace_agent_session    the agent's own trace sessions
%%   erltrace_agent_terms      whether programs may look into terms
%%   erltrace_agent_debug      debug information of modules, from which records are known
%%   erltrace_agent_records    whether those records are still what the code has
%%   erltrace_agent_aside      questions that may take long to answer
%%   erltrace_agent_crowd      the same question to very many processes
%%   erltrace_agent_meanwhile  answers to consumers while long work goes on
%%   erltrace_agent_lib        texts of errors and warnings; small helpers for all parts
-include("erltrace_agent_words.hrl").

-define(AGENT, erltrace_agent).
-define(COPIES, 100). % most copies of the library in a node: a C library may unmap none (musl)
-define(PARTS, lists:seq(0, 31)). % AGENT_PARTS of guest/beam/agent.h

-define(STATE, []).
-define(TRACER, {?AGENT, ?STATE}).

%% Every tool sets trace flags with this function; before OTP 27 a meta pattern on it tells us which process calls it.
-define(SETS_FLAGS, {erlang, trace, 3}).

%% What is wanted of a function, as bits.
-define(ENTRY, 1).
-define(RETURN, 2).
-define(EXCEPTION, 4).
-define(LOCAL, 8).
-define(GLOBAL, 16).
-define(VALUE, 32). % returns with their values
-define(ARGS, 64).  % arguments of calls, which local patterns do not give by themselves
-define(FOLLOW, 128). % a token of seq_trace for the caller
-define(COUNT, 256). % that it was called, and nothing else: it may be counted
-define(WANT_NEEDS, [{?ENTRY, ?NEED_CALL}, {?LOCAL, ?NEED_CALL}, {?GLOBAL, ?NEED_CALL}, {?RETURN, ?NEED_RETURN},
                     {?VALUE, ?NEED_RETURN}, {?EXCEPTION, ?NEED_EXCEPTION}]).

%% Phases of a consumer whose program needs something of the VM.
-define(is_placed(Phase), (Phase =:= placed orelse Phase =:= running)).

-record(c, {
    pid :: pid(),                  % the consumer
    monitor :: reference() | node, % `node`: watched by monitor_node
    lease :: pos_integer(),        % ms
    heard :: integer(),            % ms, monotonic: when its last message came
    spared :: integer() | undefined, % `heard` when its lease was not held against it because the node had stood still
    phase = open :: open | enabled | placed | running | stopped, % placed: its probes are set, and BEGIN has not fired yet
    bindings = [] :: [[tuple()]],  % for the next enable or extend, as many as have come, newest first
    program :: reference() | undefined,
    needs = 0 :: non_neg_integer(),
    wants = #{} :: #{mfa() => 1..255},
    counted = #{} :: #{mfa() => non_neg_integer()}, % functions whose calls the VM counts for it, and their probes: erltrace_agent_counts
    before = #{} :: #{mfa() => pos_integer()}, % of functions whose counters were gone when it began: the calls that were missed before
    rests = {0, 0} :: {integer(), non_neg_integer()}, % us, monotonic: its counters were read then, and are not again for so long
    filters = #{} :: map(),        % what clauses ask of calls: erltrace_agent_filters:take/1
    filtered = #{} :: map(),       % ... of the functions in `wants`, as far as they have conditions: erltrace_agent_filters:functions/3
    %% functions whose calls are named probes, and the first arguments that are wanted
    hooks = [] :: [{Probe :: binary(), [mfa()], First :: any | [term()]}],
    only = #{} :: #{pos_integer() => [pid()]}, % for a need: the processes that are enough for it
    told = #{} :: map(),           % limits of the system monitor and so on: erltrace_agent_monitor:told/2
    records = #{} :: #{module() => [{Md5 :: binary(), Index :: non_neg_integer()}]}, % known from this code: erltrace_agent_records
    stacks = none :: none | non_neg_integer(), % takes stacks: how many names of functions it has got
    special = [] :: [{non_neg_integer(), 1..5, non_neg_integer()}], % {index, kind, ns}
    hears = false :: boolean(),    % wants to be told of code that is loaded
    answered = 0 :: non_neg_integer(), % it has placed its probes on everything loaded up to that serial
    stats = 0 :: non_neg_integer(), % ms between reports of what it costs; 0: none
    marked :: integer() | undefined, % ms, monotonic: when the next mark or report is due
    loads = [] :: [{stats | overload | total, tuple()}], % reports for the next reply, oldest first
    over = false :: boolean(),     % it took too much of a scheduler: it still runs, but needs nothing any more
    warnings = [] :: [binary() | {note, binary()}], % for the next reply, newest first
    %% replies that did not fit into the connection, oldest first, with their sizes in bytes (0: the first that did not fit)
    unsent = [] :: [{non_neg_integer(), term()}],
    unread = 0 :: non_neg_integer() % the sum of those sizes
}).

%% Exists while code that is loaded may get probes.
-record(loads, {
    notice :: undefined | term(),  % OTP 27+: the session that reports loads
    kinds = [] :: [meta | local | global], % kinds of patterns that code to come gets
    serial = 0 :: non_neg_integer(), % how many times code was loaded
    fresh = #{} :: #{module() => pos_integer()}, % still watched as a whole, since that serial
    polling = false :: boolean(),  % loads are not reported to us: we look for them
    cleaned = [] :: [module()],    % released since the last load
    upto = 0 :: non_neg_integer(), % modules with this serial or a lower one are to be released
    %% the module being released, and what is left of it: functions with patterns of a kind
    doing = none :: none | {module(), pos_integer(), [{meta | local | global, all | [{atom(), arity()}]}]},
    later = false :: boolean(),    % a message that continues the work is on its way
    missed = #{} :: #{mfa() => pos_integer()}, % calls already counted by programs that have answered
    known :: undefined | #{module() => term()} % blind: what was loaded at the last look
}).

-record(s, {
    nif :: binary() | undefined,   % digest of the library, once it is loaded
    otp :: pos_integer(),
    node = node() :: node(),       % its name when the agent started: consumers connect through distribution, and leave when it gets another one
    has :: non_neg_integer(),      % the features of this release: bits OTP_* for ?HAS
    terms = [] :: [{string(), string()}], % what the VM's arguments say of them
    session :: legacy | undefined | term(), % `legacy`: before OTP 27. Else the strong handle; the session lives as long as it is here
    global :: undefined | term(),  % likewise: the session with the global patterns
    gc :: undefined | term(),      % likewise: the session that reports who sets trace flags, while we trace collections
    consumers = #{} :: #{pid() => #c{}},
    flags = [] :: [atom()],        % set on all processes
    alone = false :: boolean(),    % before OTP 27: when `flags` were set, no process had another tracer
    some = #{} :: #{pid() => [atom()]}, % set on single processes as well
    seq = 0 :: non_neg_integer(),  % bits of what is set for seq_trace
    port_flags = [] :: [atom()],   % set on ports
    functions = #{} :: #{mfa() => pattern()}, % set on functions
    hooks = #{} :: #{mfa() => pattern()}, % set on functions whose calls are named probes, in addition
    globals = #{} :: #{mfa() => args | false}, % functions with a pattern in the session `global`
    counts :: undefined | {term(), #{mfa() => term()}}, % the session that counts calls (its strong handle), and of which functions
    loads :: undefined | #loads{},
    names = false :: boolean(),    % the library knows and learns the names of processes
    lost = {0, 0, 0, 0, 0},        % the last result of nif_lost
    watching = false :: boolean(), % the overrun timer runs
    looking = false :: boolean(),  % the timer of erltrace_agent_load runs
    taken = #{} :: #{mfa() => true}, % functions that lost their exception probes
    expected = 0 :: non_neg_integer(), % consumers that have attached and not opened yet
    attached :: reference() | undefined, % made by the last attach
    complained = #{},              % what has been warned of
    others = #{} :: #{pid() | new_processes | mfa() => Owner :: binary()}, % what other tracers have (before OTP 27)
    asked = #{} :: #{Caller :: pid() => {What :: term(), Flags :: term()}}, % calls that set trace flags and have not returned yet
    given = #{} :: #{new_processes | new_ports => [atom()]}, % our flags there, also once another process is the tracer
    %% The other tracer of calls (before OTP 27), and the consumers that know what they miss because of it.
    calls :: undefined | {pid() | new_processes, Owner :: binary(), [pid()]},
    looks = 0 :: non_neg_integer(), % number of checks of what is set
    bifs = [] :: list(),           % still to be set again in this round
    monitor :: term(),             % state of erltrace_agent_monitor
    polls = #{} :: #{pid() => term()}, % state of erltrace_agent_poll, by consumer
    guard :: pid() | undefined
}).

-type pattern() :: {local | meta | global, Exceptions :: boolean(), caller() | {follow, caller()}} |
                   {meta, {first, arity(), [term()]}, false} | % calls with one of these as their first argument
                   {meta, {filter, [tuple()]}, false}.         % calls that satisfy one of these conditions
-type caller() :: boolean() | args.

%% What the system monitor says of a heap, in the order of the probes' arguments.
-define(HEAP_SIZES, [heap_size, old_heap_size, stack_size, mbuf_size, heap_block_size, old_heap_block_size]).
