%% @private
%% erltrace_term - turns the port program's answers into the shapes of the API.
%%
%% The program uses binaries for all text. The first erltrace used strings, and atoms in the descriptions of probes; a handle does so as
%% well unless it was opened with `strings => binary'.
-module(erltrace_term).

-export([entries/2, named/2, items/2, reason/2, reason/3, format_error/1, text/1]).
-export_type([strings/0]).

-type strings() :: list | binary.

%% -- results ---------------------------------------------------------------------------------------------------

%% Returns all entries of all aggregations, in the order of the aggregations.
-spec entries(strings(), [{binary(), [tuple()]}]) -> [tuple()].
entries(Strings, Aggregations) ->
    [entry(Strings, E) || {_, Es} <- Aggregations, E <- Es].

-spec named(strings(), [{binary(), [tuple()]}]) -> [{string() | binary(), [tuple()]}].
named(Strings, Aggregations) ->
    [{value(Strings, Name), [entry(Strings, E) || E <- Es]} || {Name, Es} <- Aggregations].

entry(binary, Entry) -> Entry;
entry(list, {Function, Keys, Value}) -> {Function, [key(K) || K <- Keys], Value}.

%% A list is a stack.
key(Frames) when is_list(Frames) -> [string(F) || F <- Frames];
key(Value) -> value(list, Value).

-spec items(strings(), [tuple()]) -> [tuple()].
items(Strings, Items) ->
    [item(Strings, I) || I <- Items].

item(list, {Kind, {_, _, _, _} = Desc, Value}) -> {Kind, desc(Desc), value(list, Value)};
item(list, {error, #{probe := Desc} = Fault}) -> {error, Fault#{probe := desc(Desc)}};
item(_, Item) -> Item.

value(list, Value) when is_binary(Value) -> string(Value);
value(_, Value) -> Value.

%% Text is UTF-8; if it is not, each byte becomes a character.
string(Text) ->
    case unicode:characters_to_list(Text) of
        Chars when is_list(Chars) -> Chars;
        _ -> binary_to_list(Text)
    end.

desc({Provider, Module, Function, Name}) ->
    {name(Provider), name(Module), name(Function), name(Name)}.

%% Returns an atom, unless that would be a new one in a table that is half full already: traced names must not fill it.
name(Text) ->
    try
        binary_to_existing_atom(Text, utf8)
    catch
        error:_ ->
            case erlang:system_info(atom_count) * 2 < erlang:system_info(atom_limit) of
                true -> try binary_to_atom(Text, utf8) catch error:_ -> string(Text) end;
                false -> string(Text)
            end
    end.

%% -- errors ----------------------------------------------------------------------------------------------------

%% Makes the reason for an error of the program: {Code, Diags}, where at least one of them says what went wrong.
-spec reason(#{code := atom(), text := binary()}, [map()]) -> {atom(), [map(), ...]}.
reason(#{code := Code, text := Text}, Diags) ->
    case [D || #{severity := error} = D <- Diags] of
        [] -> reason(Code, Text, <<>>);
        Errors -> {Code, Errors}
    end.

-spec reason(atom(), unicode:chardata(), unicode:chardata()) -> {atom(), [map(), ...]}.
reason(Code, Text, Hint) ->
    D = #{severity => error, text => unicode:characters_to_binary(Text)},
    {Code, [case unicode:characters_to_binary(Hint) of
                <<>> -> D;
                Help -> D#{hint => Help}
            end]}.

%% Returns some lines for people, without the last newline.
-spec format_error(term()) -> string().
format_error({error, Reason}) -> format_error(Reason);
format_error(closed) -> "the handle is closed";
format_error(no_prog) -> "nothing has been compiled";
format_error(not_running) -> "the trace has not been started";
format_error(already_running) -> "the trace was already started";
format_error(overload) -> "the trace was ended: its probes took too much of a scheduler (maxload), and everything has been read";
format_error(lost) -> "the node is gone, and everything has been read";
format_error(not_subscribed) -> "the handle has no subscriber";
format_error(stopped) -> "the trace was stopped, and everything has been read";
format_error(exited) -> "the trace ended by itself, and everything has been read";
format_error(timeout) -> "erltrace's port program did not answer in time, and was killed";
format_error(subscribed) -> "the handle has a subscriber, which gets the records";
format_error(not_started) -> "the application erltrace is not started";
format_error({limit, handles}) -> "too many handles are open (the application's environment, max_handles)";
format_error({option, Name, Expected}) -> text("the option ~tp must be ~ts", [Name, Expected]);
format_error({port_died, closed}) -> "the port of erltrace's program was closed";
format_error({port_died, Status}) when Status >= 128 -> text("erltrace's port program was killed by signal ~b", [Status - 128]);
format_error({port_died, Status}) -> text("erltrace's port program ended with status ~b", [Status]);
format_error({program, Text}) when is_binary(Text) -> string(Text);
format_error({Code, [#{text := _} | _] = Diags}) when is_atom(Code) ->
    Lines = lists:append([diag(D) || D <- Diags]),
    lists:reverse(lists:dropwhile(fun(C) -> C =:= $\n end, lists:reverse(Lines)));
format_error(Reason) -> text("~tp", [Reason]).

diag(#{rendered := Rendered}) -> string(Rendered);
diag(#{text := Text, hint := Hint}) -> text("~ts (~ts)~n", [Text, Hint]);
diag(#{text := Text}) -> text("~ts~n", [Text]).

text(Format, Args) ->
    lists:flatten(io_lib:format(Format, Args)).

%% Turns any text into a binary; text that is not UTF-8 keeps its bytes.
-spec text(unicode:chardata() | iodata()) -> {ok, binary()} | error.
text(Text) ->
    try unicode:characters_to_binary(Text) of
        Binary when is_binary(Binary) -> {ok, Binary};
        _ -> bytes(Text)
    catch
        error:_ -> bytes(Text)
    end.

bytes(Text) ->
    try {ok, iolist_to_binary(Text)} catch error:_ -> error end.
