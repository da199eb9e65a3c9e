%% erltrace_agent_filters - calls that the VM leaves out itself, for what the predicates ask of their arguments.
%%
%% The consumer finds out what must hold of a call's arguments before a clause's predicate can do anything, and says so with the option
%% `filters` (doc/agent-protocol.md). Where only calls of a function are wanted, and each clause there has a condition, the function's meta
%% pattern gets a match specification that lets through what satisfies one of them.
%%
%% What always holds:
%%  * A condition is data. It is checked when it comes, is bounded, and names nothing but the tests of this file, which alone decides what
%%    the match specification contains.
%%  * A guard never fails, as the VM would take that for "no": each part of a term is looked at behind a test that it is there.
%%  * A guard never takes long: it is bounded in its parts, and nothing in it compares, counts or passes over what may be large.
%%  * In doubt every call is let through.
-module(erltrace_agent_filters).

-export([take/1, allowed/3, functions/3, conditions/2, hooked/1, match_spec/2]).

-include("erltrace_agent.hrl").

-define(CLAUSES, 1000).            % of one program
-define(SIZE, 256).                % parts of the condition of one clause, tests and parts of terms alike
-define(ALL, 16).                  % ... that are used: for more, the VM takes longer than the programs do
-define(DEPTH, 8).                 % of a term within a term; the time that it takes to look there grows with its square
-define(TERMS, 64).                % EVENT_TERMS of guest/beam/tracer.h: more, in one event, are a fault of the program
-define(ARITIES, 8).
-define(VARIABLES, {'$1', '$2', '$3', '$4', '$5', '$6', '$7', '$8', '$9', '$10', '$11', '$12', '$13', '$14', '$15', '$16'}).
-define(INDEX, (1 bsl 24)).
-define(NUMBER, (1 bsl 63)).
-define(NAME, 1020).               % bytes of an atom's name

-define(KINDS, [is_atom, is_binary, is_bitstring, is_boolean, is_float, is_function, is_integer, is_list, is_map, is_number, is_pid, is_port,
                is_reference, is_tuple]).
-define(NO_RECORDS, [is_atom, is_tuple, is_list, is_integer, is_binary, is_map, is_pid, is_function, is_float, is_port]). % and is_reference
-define(NUMBERS, [term_int, tuple_size, map_size, byte_size]).

-type filters() :: #{Clause :: non_neg_integer() => {Terms :: pos_integer(), Parts :: pos_integer(), Condition :: tuple()}}.

%% Splits off the option: {the conditions by clause, the other options}.
-spec take([{atom(), term()}]) -> {list(), [{atom(), term()}]}.
take(Options) ->
    case lists:keytake(filters, 1, Options) of
        {value, {filters, Filters}, Rest} when length(Filters) =< ?CLAUSES ->
            {Filters, Rest};
        {value, _, _} ->
            throw(invalid());
        false ->
            {[], Options}
    end.

%% Returns the conditions that can be used with the options that the library has taken. A program that must not see all values gets other
%% answers than a guard would, so with the option `redact` it has none. (The library has made the atoms that the program names.)
-spec allowed(list(), [{atom(), term()}], Features :: non_neg_integer()) -> filters().
allowed(Filters, Options, Has) ->
    Checked = maps:from_list([filter(F, Has) || F <- Filters]),
    case lists:keyfind(redact, 1, Options) of
        {redact, [_ | _]} -> #{};
        _ -> Checked
    end.

invalid() ->
    erltrace_agent_lib:error4('AGENT_IMAGE', "a condition of the program's calls is not valid", "use the erltrace that brought the agent").

filter({Clause, Terms, Cond}, Has) when is_integer(Clause), Clause >= 0, is_integer(Terms), Terms > 0, Terms =< ?TERMS ->
    try condition(Cond, ?SIZE) of
        Left when ?HAS(Has, ?OTP_NATIVE_RECORDS) -> {Clause, {Terms, ?SIZE - Left, native(Cond)}};
        Left -> {Clause, {Terms, ?SIZE - Left, Cond}}
    catch
        _:_ -> throw(invalid())
    end;
filter(_, _) ->
    throw(invalid()).

%% Where terms may be native records, a key may be a field, and a record a native one.
native({map_get, Name, T}) when is_binary(Name) -> {field, Name, native(T)};
native({record, T, Name}) -> {native, native(T), Name};
native(Cond) when is_tuple(Cond) -> list_to_tuple([native(Part) || Part <- tuple_to_list(Cond)]);
native(Part) -> Part.

%% Checks a condition. Returns how many more parts there may be; fails if it is not one.
condition({How, A, B}, Left) when Left > 0, How =:= 'and' orelse How =:= 'or' -> condition(B, condition(A, Left - 1));
condition({is, When, Test}, Left) when Left > 0, When =:= 0 orelse When =:= 1 -> test(Test, Left - 1);
condition({number, Orders, What, Term, K}, Left) when Left > 0, is_integer(Orders), Orders > 0, Orders < 7, is_integer(K), K >= -?NUMBER, K < ?NUMBER ->
    true = lists:member(What, ?NUMBERS),
    term(Term, Left - 1, ?DEPTH).

test({int, Term, K}, Left) when is_integer(K), K >= -?NUMBER, K < ?NUMBER -> term(Term, Left, ?DEPTH);
test({atom, Term, Name}, Left) -> name(Name), term(Term, Left, ?DEPTH);
test({record, Term, Name}, Left) -> name(Name), term(Term, Left, ?DEPTH);
test({text, Term, Text}, Left) when is_binary(Text), byte_size(Text) > 0, byte_size(Text) =< ?NAME -> term(Term, Left, ?DEPTH);
test({there, Term}, Left) -> term(Term, Left, ?DEPTH);
test({Kind, Term}, Left) ->
    true = lists:member(Kind, ?KINDS),
    term(Term, Left, ?DEPTH).

term(N, Left, _) when is_integer(N), N >= 0, N < tuple_size(?VARIABLES) -> Left;
term({How, Term}, Left, D) when Left > 0, D > 0, How =:= hd orelse How =:= tl -> term(Term, Left - 1, D - 1);
term({element, N, Term}, Left, D) when Left > 0, D > 0, is_integer(N), N > 0, N =< ?INDEX -> term(Term, Left - 1, D - 1);
term({map_get, K, Term}, Left, D) when Left > 0, D > 0, is_integer(K), K > -?INDEX, K < ?INDEX -> term(Term, Left - 1, D - 1);
term({map_get, Name, Term}, Left, D) when Left > 0, D > 0 -> name(Name), term(Term, Left - 1, D - 1).

%% The library has made the atoms that a program names.
name(Name) when is_binary(Name), byte_size(Name) =< ?NAME ->
    binary_to_existing_atom(Name).

%% == the functions of a program ================================================================================

%% Adds the functions of bindings to Acc: the conditions of their clauses, or `any` if a clause has none.
-spec functions([tuple()], filters(), map()) -> #{mfa() => any | {pos_integer(), [{pos_integer(), tuple()}]}}.
functions(_, Filters, Acc) when map_size(Filters) =:= 0 ->
    Acc;
functions(Bindings, Filters, Acc) ->
    erltrace_agent_lib:fold_list(fun({_, Clause, _, Kind, {_, _, _} = MFA}, A) when Kind >= ?PROBE_FN_ENTRY ->
                                         A#{MFA => add(maps:get(Clause, Filters, any), maps:get(MFA, A, none))};
                                    (_, A) -> A
                                 end, Acc, Bindings).

%% Predicates that examine too many terms together fault, which a call that is left out would not.
add(any, _) -> any;
add(_, any) -> any;
add({Terms, Parts, Cond}, none) -> {Terms, [{Parts, Cond}]};
add({Terms, Parts, Cond}, {Sum, Conds}) when Sum + Terms =< ?TERMS -> {Sum + Terms, [{Parts, Cond} | Conds]};
add(_, _) -> any.

%% Returns the conditions of a function of which these programs want calls: each call that one of them wants satisfies one. `any`: there
%% are none.
-spec conditions(mfa(), [#c{}]) -> any | [tuple()].
conditions(MFA, Programs) ->
    conditions(MFA, Programs, []).

conditions(MFA, [#c{wants = Wants, filtered = Filtered} | Programs], Acc) when is_map_key(MFA, Wants) ->
    case Filtered of
        #{MFA := {_, Conds}} -> conditions(MFA, Programs, Conds ++ Acc);
        #{} -> any
    end;
conditions(MFA, [_ | Programs], Acc) ->
    conditions(MFA, Programs, Acc);
conditions(_, [], Acc) ->
    Conds = lists:usort(Acc),
    case lists:sum([Parts || {Parts, _} <- Conds]) of
        Parts when Parts > 0, Parts =< ?ALL -> [Cond || {_, Cond} <- Conds];
        _ -> any
    end.

%% The functions whose calls are named probes of these programs, which want them all: a meta pattern serves both.
-spec hooked([#c{}]) -> #{mfa() => true}.
hooked(Programs) ->
    maps:from_list([{MFA, true} || #c{hooks = Probes} <- Programs, {_, Fs, _} <- Probes, MFA <- Fs]).

%% == match specifications ======================================================================================

%% Returns the match specification of a meta pattern with these conditions, for functions of these arities, or of any. A list of the arguments
%% has to be made for each look at it, so they are named one by one, unless very many arities would have to be tried for each call.
-spec match_spec([tuple()], [arity()] | any) -> [tuple()].
match_spec(Conds, Arities) when Arities =/= any, length(Arities) =< ?ARITIES ->
    [{head(A), [guard(Cond, A)], []} || A <- Arities, Cond <- Conds];
match_spec(Conds, _) ->
    [{'_', [guard(Cond, '_')], []} || Cond <- Conds].

head(Arity) ->
    lists:sublist(tuple_to_list(?VARIABLES), Arity) ++ lists:duplicate(max(0, Arity - tuple_size(?VARIABLES)), '_').

guard({'and', A, B}, N) -> {'andalso', guard(A, N), guard(B, N)};
guard({'or', A, B}, N) -> {'orelse', guard(A, N), guard(B, N)};
guard({is, When, {there, T}}, N) ->
    or_in_record(T, N, case When of
                           1 -> there(T, N);
                           0 -> {'not', there(T, N)}
                       end);
guard({is, 1, Test}, N) ->
    T = element(2, Test),
    or_in_record(T, N, all(there(T, N), may_hold(Test, value(T, N))));
guard({is, 0, Test}, N) ->
    T = element(2, Test),
    or_in_record(T, N, {'orelse', {'not', there(T, N)}, {'not', must_hold(Test, value(T, N))}});
%% For anything that has no such number it is 0.
guard({number, Orders, What, T, K}, N) ->
    {Kind, Number} = number(What, value(T, N)),
    Has = all(there(T, N), {Kind, value(T, N)}),
    or_in_record(T, N, case Orders band order(0, K) of
                           0 -> {'andalso', Has, in(Orders, Number, K)};
                           _ -> {'orelse', {'not', Has}, in(Orders, Number, K)}
                       end).

%% A key may be a field of a native record, into which match specifications cannot look.
or_in_record(T, N, Guard) ->
    case in_record(T, N) of
        false -> Guard;
        In -> {'orelse', In, Guard}
    end.

%% Whether a native record may be on the way to the value.
in_record(T, _) when is_integer(T) -> false;
in_record({field, _, T}, N) -> or_in_record(T, N, all(there(T, N), may_be_record(value(T, N))));
in_record(T, N) -> in_record(element(tuple_size(T), T), N).

%% It is none of the kinds that have a test.
may_be_record(V) ->
    {'not', lists:foldr(fun(Is, Others) -> {'orelse', {Is, V}, Others} end, {is_reference, V}, ?NO_RECORDS)}.

%% Whether the value can pass the test, and whether it certainly passes.
may_hold({is_bitstring, _}, _) -> true;
may_hold({native, _, _} = Test, V) -> {'orelse', holds(Test, V), may_be_record(V)};
may_hold({text, _, Text}, V) -> {'orelse', {is_list, V}, {'orelse', {'=:=', V, Text}, named(Text, V, {is_atom, V})}};
may_hold(Test, V) -> holds(Test, V).

must_hold({is_bitstring, _}, V) -> {is_binary, V};
must_hold({text, _, Text}, V) -> {'orelse', {'=:=', V, Text}, named(Text, V, false)};
must_hold(Test, V) -> holds(Test, V).

holds({is_boolean, _}, V) -> {'orelse', {'=:=', V, true}, {'=:=', V, false}};
holds({int, _, K}, V) -> {'=:=', V, K};
holds({atom, _, Name}, V) -> {'=:=', V, {const, binary_to_existing_atom(Name)}};
holds({How, _, Name}, V) when How =:= record; How =:= native ->
    {'andalso', {is_tuple, V}, {'andalso', {'>', {size, V}, 0}, {'=:=', {element, 1, V}, {const, binary_to_existing_atom(Name)}}}};
holds({Kind, _}, V) -> {Kind, V}.

%% Whether it is the atom of this name, which is not made for this, and which may come later.
named(Text, V, Unknown) ->
    try {'=:=', V, {const, binary_to_existing_atom(Text)}}
    catch error:_ -> Unknown
    end.

number(term_int, V) -> {is_integer, V};
number(tuple_size, V) -> {is_tuple, {size, V}}; % match specifications have no tuple_size
number(map_size, V) -> {is_map, {map_size, V}};
number(byte_size, V) -> {is_binary, {byte_size, V}}.

order(A, B) when A < B -> 1;
order(A, A) -> 2;
order(_, _) -> 4.

in(1, V, K) -> {'<', V, K};
in(2, V, K) -> {'=:=', V, K};
in(3, V, K) -> {'=<', V, K};
in(4, V, K) -> {'>', V, K};
in(5, V, K) -> {'=/=', V, K};
in(6, V, K) -> {'>=', V, K}.

%% The value of a term; a test that it is there precedes it. N: the arity.
value(I, '_') when is_integer(I) -> {hd, rest(I)};
value(I, N) when is_integer(I), I < N -> element(I + 1, ?VARIABLES);
value(I, _) when is_integer(I) -> [];
value({element, I, T}, N) -> {element, I, value(T, N)};
value({map_get, K, T}, N) -> {map_get, key(K), value(T, N)};
value({field, K, T}, N) -> {map_get, key(K), value(T, N)};
value({How, T}, N) -> {How, value(T, N)}.

rest(0) -> '$_';
rest(I) -> {tl, rest(I - 1)}.

there(I, '_') when is_integer(I) -> {'>', {length, '$_'}, I};
there(I, N) when is_integer(I) -> I < N;
there({element, I, T}, N) -> all(there(T, N), {'andalso', {is_tuple, value(T, N)}, {'>=', {size, value(T, N)}, I}});
there({map_get, K, T}, N) -> all(there(T, N), {'andalso', {is_map, value(T, N)}, {is_map_key, key(K), value(T, N)}});
there({field, K, T}, N) -> there({map_get, K, T}, N);
there({_, T}, N) -> all(there(T, N), {'andalso', {is_list, value(T, N)}, {'=/=', value(T, N), []}}).

all(true, Guard) -> Guard;
all(Guard, Other) -> {'andalso', Guard, Other}.

key(K) when is_integer(K) -> K;
key(Name) -> {const, binary_to_existing_atom(Name)}.
