%% @doc erltrace for Erlang programs: D scripts that run in this node, or another, and whose results are terms.
%%
%% ```
%% {ok, H} = erltrace:script("erlang*:lists:map/2:entry { @[copyinstr(arg0)] = count(); }"),
%% ok = erltrace:go(H),
%% timer:sleep(1000),
%% {ok, [{count, ["<0.91.0>"], 42} | _]} = erltrace:walk(H),
%% ok = erltrace:close(H).
%% '''
%%
%% See doc/erlang-api.md for more, with examples in Erlang and Elixir.
%%
%% A handle belongs to the process that opened it: when that process ends, the trace ends as well, and everything is removed from the traced
%% node. The D compiler runs not in this VM but in a separate program, one for each handle; if that program dies, its handle reports an error.
%% Any process, also of another node, may call the functions that take a handle.
%%
%% The shapes of results are those of the first erltrace: `ok', `{ok, Result}', `{error, Reason}'. Text in results is a string (a list), and the
%% names in a probe's description are atoms, unless the handle was opened with `strings => binary'. {@link format_error/1} puts every reason into
%% words.
%%
%% == Probes of an application ==
%% {@link probe/1} and its variants are probes that an application fires:
%%
%% ```
%% erltrace:probe(order_placed, Order, Price)
%% '''
%%
%% is the probe `erlang*:erltrace:probe:order_placed', in D with the calling process as `args[0]', the name as `args[1]', and the arguments as
%% terms from `args[2]' on. While the probe is not traced, a call costs some nanoseconds: the functions do nothing, and erltrace sees their
%% calls. So pass what the program has at hand; an argument that is computed only for a probe is computed even when nobody traces. These
%% functions need nothing else of the application: it need not be started.
-module(erltrace).

-export([open/0, open/1, script/1, setopt/3, compile/2, compile/3, go/1, walk/1, walk/2, consume/1, consume/2, stop/1, close/1]).
-export([subscribe/2, demand/2, unsubscribe/1, run/2, run/3, status/1, format_error/1]).
-export([probe/1, probe/2, probe/3, probe/4, probe/5, probe/6, probe/7, probe/8, probe/9]).
-export_type([handle/0, option/0, options/0, script/0, reason/0, diag/0, desc/0, text/0, value/0, entry/0, bucket/0, item/0, drop/0, fault/0, member/0,
              subscription/0, progress/0, found/0, status/0, clock/0, duration/0]).

-type handle() :: pid().
%% A process, which may be monitored or linked to.
-type script() :: unicode:chardata() | iodata().
%% D text: a string, a binary, or a list of them.
-type target() :: node() | local | kernel | {os_pid, pos_integer()} | {cluster, node()}.
-type option() :: {node, target()} | {nodes, [target(), ...]} | {options, map() | [{atom() | script(), atom() | script() | integer()} | atom()]}
                | {strings, list | binary} | {queue, pos_integer()} | {timeout, pos_integer()} | {owner, pid()}
                | {agent_dir, file:name_all()}.
-type options() :: [option()] | #{node => target(), nodes => [target(), ...], options => map() | list(), strings => list | binary,
                                  queue => pos_integer(), timeout => pos_integer(), owner => pid(), agent_dir => file:name_all()}.
-type diag() :: #{severity := error | warning | note, tag => binary(), text := binary(), hint => binary(), file => binary(),
                  line => pos_integer(), column => pos_integer(), length => non_neg_integer(), source => binary(), rendered => binary()}.
%% A message about a script or a trace. Lines and columns count from 1, columns and length in bytes; `source' is the line, `rendered' the whole
%% message for people.
-type reason() :: no_prog | already_running | not_running | stopped | exited | overload | lost | closed | timeout | subscribed | not_subscribed
                | not_started | {limit, handles} | {option, term(), binary()} | {program, binary()} | {port_died, integer() | closed}
                | {atom(), [diag(), ...]}.
-type text() :: string() | binary().
-type desc() :: {Provider :: atom() | text(), Module :: atom() | text(), Function :: atom() | text(), Name :: atom() | text()}.
-type key() :: value() | [text()].
%% A list of texts is a stack: its frames, the innermost first.
-type value() :: integer() | float() | text() | nan | infinity | neg_infinity.
-type bucket() :: {{From :: integer(), To :: integer()}, Count :: integer()}.
%% From and To are inclusive; a missing bound is the least, or greatest, 64-bit integer.
-type entry() :: {count | sum | min | max, Keys :: [key()], integer()}
               | {avg | stddev, Keys :: [key()], float()}
               | {quantize | lquantize | llquantize, Keys :: [key()], [bucket()]}.
-type drop() :: #{kind := binary(), count := integer(), total := integer(), node := binary(), cpu := integer(),
                  lost := integer(), text := binary()}.
-type fault() :: #{name := binary(), code := integer(), epid := integer(), probe := desc(), action := integer(), offset := integer(),
                   value := integer(), cpu := integer(), text := binary()}.
-type item() :: {probe, desc(), value()}
              | {printf | printa | print | stack, desc(), text()}
              | {drop, drop()} | {error, fault()} | {stats, map()} | {member, member()} | {diag, diag()}.
-type member() :: #{what := joined | left | refused | silent | answers, node := binary(), reason => binary(), text := binary()}.
%% What becomes of a node of a cluster while it is traced; others may be added.
-type progress() :: #{node := binary(), waiting := boolean(), unit := functions | processes | 'places in processes', done := non_neg_integer(),
                      total := non_neg_integer()}.
%% The progress of placing probes in a node; `waiting': what another trace is setting there comes first; `total' is 0 at the beginning.
-type subscription() :: #{demand => non_neg_integer(), max => pos_integer(), every => pos_integer() | undefined, records => boolean(),
                          progress => boolean(), pid => pid()}.
-type clock() :: #{node := binary(), offset => integer(), error => non_neg_integer(), wall_offset => integer(), wall_error => non_neg_integer()}.
%% By how many ns the clocks of a node are ahead of those of the port program's host: `timestamp', within `error' on either side, and `walltimestamp'.
-type status() :: #{state := none | running | stopping | done | failed, clocks := [clock()], atom() => term()}.
-type duration() :: non_neg_integer() | infinity.
-type found() :: #{aggregations := [{text(), [entry()]}], records := [item()], events := [item()], status := status()}.

-define(NAP, 250).         % ms for which run waits for records at a time
-define(RECORDS, 1000000). % records after which run stops the trace

%% == a handle ==================================================================================================

%% @doc Opens a handle for this node. The same as `open([])'.
-spec open() -> {ok, handle()} | {error, reason()}.
open() ->
    open([]).

%% @doc Opens a handle. Options, as a list or a map:
%%
%% <dl>
%% <dt>`node'</dt><dd>where to trace: a node of the cluster, by default this one; `local' is no node at all, for the probes of `dtrace' and
%% `profile'; `kernel' is the kernel of this host; `{os_pid, Pid}' is the BEAM of this host with that process id, whose cookie has to be readable; `{cluster, Node}' is a node of a cluster, by any name, with all nodes that it is connected with, and those that come: the port program connects to each
%% of them as a hidden node, with the cookie of this node</dd>
%% <dt>`nodes'</dt><dd>several of these; aggregations are merged</dd>
%% <dt>`options'</dt><dd>options of D (doc/command.md) as a map or a list: `#{bufsize => "1m", maxload => 10, quiet => true}'</dd>
%% <dt>`strings'</dt><dd>the form of text in results: `list' (the default), as in the first erltrace, or `binary'</dd>
%% <dt>`queue'</dt><dd>most bytes of records that wait to be consumed, 4 MB by default; records beyond that are dropped and counted</dd>
%% <dt>`timeout'</dt><dd>ms that the port program has to answer, 60000 by default; after that it is killed. While probes are being placed, the
%% time since the node last reported its progress counts</dd>
%% <dt>`owner'</dt><dd>the process that the handle belongs to, by default the caller</dd>
%% <dt>`agent_dir'</dt><dd>a folder where the traced node may keep the agent's library while it loads it</dd>
%% </dl>
%%
%% Starts the application if necessary. `{error, {limit, handles}}': as many handles are open as the application's environment allows
%% (`max_handles', 100), not counting handles of the same owner whose traces are over: those are closed first.
-spec open(options()) -> {ok, handle()} | {error, reason()}.
open(Options) ->
    case erltrace_handle:options(Options) of
        {ok, Owner, Checked} ->
            case started() of
                ok ->
                    case room() orelse begin erltrace_handles:reap(Owner), room() end of
                        true -> erltrace_handle:open(Owner, Checked);
                        false -> {error, {limit, handles}}
                    end;
                Error ->
                    Error
            end;
        {error, _} = Error ->
            Error
    end.

room() ->
    erltrace_handles:count() < application:get_env(erltrace, max_handles, 100).

started() ->
    case whereis(erltrace_handles) of
        undefined ->
            case application:ensure_all_started(erltrace) of
                {ok, _} -> ok;
                {error, _} -> {error, not_started}
            end;
        _ ->
            ok
    end.

%% @doc Opens a handle and compiles a script: {@link open/0} and {@link compile/2}.
-spec script(script()) -> {ok, handle()} | {error, reason()}.
script(Script) ->
    case open() of
        {ok, Handle} ->
            case compile(Handle, Script) of
                ok ->
                    {ok, Handle};
                {error, _} = Error ->
                    ok = close(Handle),
                    Error
            end;
        {error, _} = Error ->
            Error
    end.

%% @doc Sets an option of D, `setopt(H, "bufsize", "1m")': any option before {@link go/1}, afterwards those that D can change while the trace
%% runs. Names and values are text or atoms, values also integers; a flag has the value `true', or the empty text.
-spec setopt(handle(), atom() | script(), atom() | script() | integer()) -> ok | {error, reason()}.
setopt(Handle, Option, Value) ->
    case erltrace_handle:setopt(Option, Value) of
        {ok, Setopt} -> erltrace_handle:call(Handle, Setopt);
        error -> error(badarg)
    end.

%% @doc Compiles a script. Several scripts form one program: they share variables, and run in this order. Errors have a position and a text:
%% `{error, {compile, [#{line := 1, column := 8, text := <<"...">>}]}}'; after an error another script may be tried.
-spec compile(handle(), script()) -> ok | {error, reason()}.
compile(Handle, Script) ->
    compile(Handle, Script, []).

%% @doc The same, with the arguments `$1', `$2' ... of the script.
-spec compile(handle(), script(), [script()]) -> ok | {error, reason()}.
compile(Handle, Script, Args) ->
    erltrace_handle:call(Handle, {compile, text(Script), [text(A) || A <- Args]}).

text(Text) ->
    case erltrace_term:text(Text) of
        {ok, Binary} -> Binary;
        error -> error(badarg)
    end.

%% @doc Starts the trace. When it returns, every probe is set. After an error nothing is left behind, and `go' may be tried again. On a busy node
%% it may take minutes: the option `timeout' does not end it while the node reports progress, a subscriber can follow the progress, and {@link
%% stop/1} and {@link close/1} end it: then it returns `{error, stopped}', and nothing has been traced.
-spec go(handle()) -> ok | {error, reason()}.
go(Handle) ->
    erltrace_handle:call(Handle, go).

%% @doc Returns what aggregations have gathered since the last walk, and clears them; `ok' if there is nothing. After the end of a trace it
%% returns what is left, and then the reason: `stopped', `exited', `overload' (the probes took more of a scheduler than the option maxload
%% allows), `lost' (the last node is gone), or any other error.
-spec walk(handle()) -> ok | {ok, [entry()]} | {error, reason()}.
walk(Handle) ->
    erltrace_handle:call(Handle, {walk, take, false}).

%% @doc The same with options. With `keep' aggregations are not cleared; with `named' the result is grouped by aggregation: `{ok, [{"name",
%% [Entry]}]}', where "_" is the name of `@'.
-spec walk(handle(), [keep | named]) -> ok | {ok, [entry()] | [{text(), [entry()]}]} | {error, reason()}.
walk(Handle, Options) ->
    Mode = case lists:member(keep, Options) of true -> keep; false -> take end,
    [] =:= Options -- [keep, named] orelse error(badarg),
    erltrace_handle:call(Handle, {walk, Mode, lists:member(named, Options)}).

%% @doc Returns the records that have come, in order, together with drops, faults and warnings; `ok' if there are none. After the end of a trace
%% it returns what is left, and then the reason, as {@link walk/1} does.
-spec consume(handle()) -> ok | {ok, [item()]} | {error, reason()}.
consume(Handle) ->
    consume(Handle, 0).

%% @doc The same, but waits at most this many ms for the first one.
-spec consume(handle(), non_neg_integer()) -> ok | {ok, [item()]} | {error, reason()}.
consume(Handle, Wait) when is_integer(Wait), Wait >= 0, Wait < 1 bsl 31 ->
    erltrace_handle:call(Handle, {consume, Wait}).

%% @doc Ends the trace: probes are removed, END runs. What has been gathered can still be read.
-spec stop(handle()) -> ok | {error, reason()}.
stop(Handle) ->
    erltrace_handle:call(Handle, stop).

%% @doc Ends the trace and the handle. Afterwards nothing of it is left, here or in the traced node.
-spec close(handle()) -> ok.
close(Handle) when not is_pid(Handle) ->
    error(badarg);
close(Handle) ->
    Monitor = erlang:monitor(process, Handle),
    _ = erltrace_handle:call(Handle, close),
    receive {'DOWN', Monitor, process, Handle, _} -> ok end.

%% @doc Returns the status of the trace: `state', `fired', `recorded', `drops', `errors', `exited' with the `status' of exit(), `probes',
%% `targets', `clocks' (of several nodes, against each other), `filled' (clauses for whose record a buffer had no room, which ended the trace), `queued' and `queue_drops' ...
-spec status(handle()) -> {ok, status()} | {error, reason()}.
status(Handle) ->
    erltrace_handle:call(Handle, status).

%% @doc Puts the reason of an error into words.
-spec format_error(reason() | {error, reason()}) -> string().
format_error(Reason) ->
    erltrace_term:format_error(Reason).

%% == subscribers ===============================================================================================

%% @doc Has results sent to a process, by default the caller, from {@link go/1} on:
%%
%% <ul>
%% <li>`{erltrace, Ref, {records, [Item]}}', as soon as there are any: items as {@link consume/1} returns them</li>
%% <li>`{erltrace, Ref, {walk, [Entry]}}' at intervals of `every' ms, if that option is set: entries as {@link walk/1} returns them; nothing is
%% sent if there are none</li>
%% <li>`{erltrace, Ref, {progress, Progress}}' several times a second while {@link go/1} takes long, if the option `progress' is set; those for
%% which there is no demand are not kept</li>
%% <li>`{erltrace, Ref, {done, Reason}}', the last one; the reason is `closed' if another process closed the handle, or its owner ended</li>
%% </ul>
%%
%% Each message but the last reduces the demand by one, and without demand nothing is sent: call {@link demand/2} for more. Meanwhile
%% aggregations are still gathered where they are; records wait in the port program up to `queue' bytes, beyond which they are dropped and
%% counted, and the next message reports the count. So a slow subscriber never has more messages in its mailbox than its demand, each with at
%% most `max' items.
%%
%% Options: the initial demand as a number, or a map with `demand' (0), `max' (1000), `every' (undefined), `records' (true: send records),
%% `progress' (false), `pid'. A handle has one subscriber at a time; if it dies, the subscription ends, and the trace goes on.
-spec subscribe(handle(), non_neg_integer() | subscription()) -> {ok, reference()} | {error, reason()}.
subscribe(Handle, Demand) when is_integer(Demand) ->
    subscribe(Handle, #{demand => Demand});
subscribe(Handle, #{} = Options) ->
    Default = #{demand => 0, max => 1000, every => undefined, records => true, progress => false, pid => self()},
    case maps:merge(Default, Options) of
        #{demand := D, max := M, every := E, records := R, progress := P, pid := Pid} = All
          when map_size(All) =:= 6, is_integer(D), D >= 0, is_integer(M), M > 0, is_boolean(R), is_boolean(P), is_pid(Pid),
               (E =:= undefined andalso R) orelse (is_integer(E) andalso E > 0 andalso E < 1 bsl 31) ->
            erltrace_handle:call(Handle, {subscribe, Pid, maps:remove(pid, All)});
        _ ->
            error(badarg)
    end.

%% @doc Adds this many messages to the subscriber's demand.
-spec demand(handle(), pos_integer()) -> ok | {error, reason()}.
demand(Handle, More) when is_integer(More), More > 0 ->
    erltrace_handle:call(Handle, {demand, More}).

%% @doc Ends the subscription. The trace goes on; messages that were already sent stay in the mailbox.
-spec unsubscribe(handle()) -> ok | {error, reason()}.
unsubscribe(Handle) ->
    erltrace_handle:call(Handle, unsubscribe).

%% == all at once ===============================================================================================

%% @doc Runs a script in this node for this many ms, or until it calls exit() if that is earlier, and returns everything it found; with `infinity'
%% only exit() ends it. The same as `run(Script, Duration, [])'.
-spec run(script(), duration()) -> {ok, found()} | {error, reason()}.
run(Script, Duration) ->
    run(Script, Duration, []).

%% @doc The same, with the options of {@link open/1}. The result: `aggregations' by name, `records' in order (at most about a million, then the
%% trace is stopped), `events', which are drops, faults, nodes that come and go, and warnings, and `status'.
-spec run(script(), duration(), options()) -> {ok, found()} | {error, reason()}.
run(Script, Duration, Options) when Duration =:= infinity; is_integer(Duration), Duration >= 0 ->
    case open(Options) of
        {ok, Handle} ->
            try
                case compile(Handle, Script) of
                    ok ->
                        case go(Handle) of
                            ok -> found(Handle, until(Duration));
                            {error, _} = Error -> Error
                        end;
                    {error, _} = Error ->
                        Error
                end
            after
                close(Handle)
            end;
        {error, _} = Error ->
            Error
    end.

until(infinity) -> infinity;
until(Duration) -> erlang:monotonic_time(millisecond) + Duration.

found(Handle, Until) ->
    case collect(Handle, Until, [], 0) of
        {ok, Items} ->
            {Events, Records} = lists:partition(fun(I) -> lists:member(element(1, I), [drop, error, stats, member, diag]) end, Items),
            case {named(Handle), status(Handle)} of
                {{ok, Aggregations}, {ok, Status}} ->
                    {ok, #{aggregations => Aggregations, records => Records, events => Events, status => Status}};
                {{error, _} = Error, _} -> Error;
                {_, {error, _} = Error} -> Error
            end;
        {error, _} = Error ->
            Error
    end.

named(Handle) ->
    case walk(Handle, [keep, named]) of
        {ok, Named} -> {ok, Named};
        ok -> {ok, []};
        {error, Over} when is_atom(Over), Over =/= closed, Over =/= timeout -> {ok, []};
        {error, _} = Error -> Error
    end.

%% Collects records until the end of the time or of the trace, then those that END has left.
collect(Handle, Until, Items, N) ->
    case wait(Until, N) of
        stop ->
            case stop(Handle) of
                ok -> rest(Handle, Items);
                {error, _} = Error -> Error
            end;
        Wait ->
            case consume(Handle, Wait) of
                ok -> collect(Handle, Until, Items, N);
                {ok, More} -> collect(Handle, Until, [More | Items], N + length(More));
                {error, Over} when Over =:= exited; Over =:= overload; Over =:= lost -> {ok, in_order(Items)};
                {error, _} = Error -> Error
            end
    end.

wait(_, N) when N >= ?RECORDS -> stop;
wait(infinity, _) -> ?NAP;
wait(Until, _) ->
    case Until - erlang:monotonic_time(millisecond) of
        Left when Left > 0 -> min(Left, ?NAP);
        _ -> stop
    end.

rest(Handle, Items) ->
    case consume(Handle) of
        ok -> rest(Handle, Items);
        {ok, More} -> rest(Handle, [More | Items]);
        {error, Over} when Over =:= stopped; Over =:= overload; Over =:= lost -> {ok, in_order(Items)};
        {error, _} = Error -> Error
    end.

in_order(Items) ->
    lists:append(lists:reverse(Items)).

%% == probes ====================================================================================================

%% @doc Fires the probe with this name, of at most 63 characters (bytes of UTF-8). Any name will do; names of letters, digits, _ and - need no
%% pattern in a script.
-spec probe(Name :: atom()) -> ok.
probe(_) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term()) -> ok.
probe(_, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term()) -> ok.
probe(_, _, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term(), term()) -> ok.
probe(_, _, _, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term(), term(), term()) -> ok.
probe(_, _, _, _, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term(), term(), term(), term()) -> ok.
probe(_, _, _, _, _, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term(), term(), term(), term(), term()) -> ok.
probe(_, _, _, _, _, _, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term(), term(), term(), term(), term(), term()) -> ok.
probe(_, _, _, _, _, _, _, _) -> ok.

%% @equiv probe(Name)
-spec probe(Name :: atom(), term(), term(), term(), term(), term(), term(), term(), term()) -> ok.
probe(_, _, _, _, _, _, _, _, _) -> ok.
