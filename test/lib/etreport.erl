%% etreport - what suites in Erlang have in common with those in Python: the line of JSON for each test (results.py describes it), and how long
%% a wait may take (erlt.PATIENCE). Lines are written by hand, as OTP 25 has no module for JSON.
-module(etreport).
-export([write/6, line/6, patience/0]).

-define(TEXT, 4000). % characters of a text that are kept

%% Adds the line of a test to the file that TEST_RESULTS names; without TEST_RESULTS nothing is written. Class is the class of a failed test
%% and otherwise none, Text (chardata) what failed or why it was skipped; [] if nothing did. The processor time is what this VM has used since
%% the line before.
write(Suite, Test, Verdict, Class, Ms, Text) ->
    case os:getenv("TEST_RESULTS", "") of
        "" -> ok;
        File -> ok = file:write_file(File, line(Suite, Test, Verdict, Class, Ms, Text), [append, raw])
    end.

%% Returns that line.
line(Suite, Test, Verdict, Class, Ms, Text) ->
    {_, Used} = statistics(runtime),
    iolist_to_binary(["{\"suite\": ", string(Suite), ", \"test\": ", string(Test), ", \"otp\": ", string(erlang:system_info(otp_release)),
                      ", \"verdict\": ", string(Verdict), ", \"class\": ", if Verdict =:= fail -> string(Class); true -> "null" end,
                      ", \"ms\": ", integer_to_list(round(Ms)), ", \"cpu_ms\": ", integer_to_list(Used), ", \"load\": ", load(),
                      ", \"node\": ", case node() of nonode@nohost -> "null"; Node -> string(Node) end,
                      ", \"text\": ", if Text =:= [] -> "null"; true -> string(Text) end, "}\n"]).

%% Milliseconds until a wait has failed: everything takes many times as long on a debug emulator.
patience() ->
    1000 * list_to_integer(os:getenv("PATIENCE", "60")) * case erlang:system_info(build_type) of debug -> 5; _ -> 1 end.

%% The machine's load of a minute.
load() ->
    case file:read_file("/proc/loadavg") of
        {ok, Text} -> hd(binary:split(Text, <<" ">>));
        {error, _} -> "0"
    end.

string(Atom) when is_atom(Atom) -> string(atom_to_list(Atom));
string(Text) -> [$", lists:sublist(lists:append(characters(Text)), ?TEXT), $"].

%% The characters of a text as those of a string in JSON, each an iolist; a list of lists of them. What is no Unicode is shown byte by byte.
characters([]) -> [];
characters([Head | Tail]) -> characters(Head) ++ characters(Tail);
characters(<<>>) -> [];
characters(<<C/utf8, Rest/binary>>) -> [[character(C)] | characters(Rest)];
characters(<<Byte, Rest/binary>>) -> [[hex(Byte)] | characters(Rest)];
characters(C) -> [[character(C)]].

character($") -> "\\\"";
character($\\) -> "\\\\";
character($\n) -> "\\n";
character(C) when is_integer(C), C >= 32, C < 127 -> C;
character(C) when is_integer(C), C >= 0, C < 16#10000 -> hex(C);
character(C) when is_integer(C), C =< 16#10ffff, C > 0 ->
    <<High:16, Low:16>> = <<C/utf16>>,
    [hex(High), hex(Low)];
character(_) -> hex($?).

hex(C) -> io_lib:format("\\u~4.16.0b", [C]).
