%% erltrace_agent_debug - the debug information of loaded modules, from which consumers learn what records they have.
%%
%% The file of a module is read as it is, and a chunk of it unpacked. Nothing in it becomes a term here: its atoms would stay in the node for ever.
%% Nothing of it runs, and no code is loaded for it: neither the backend that a chunk names nor the function for keys of encrypted chunks is
%% called.
%%
%% What always holds: a helper process does the work, with a bounded heap. The server answers consumers meanwhile, and waits no longer than a
%% limit. A file system that does not answer keeps the helper, and one of the VM's threads for files, in a system call: so nothing else is asked
%% until that has returned.
-module(erltrace_agent_debug).

-export([read/2]).

-import(erltrace_agent_lib, [text/2, now_ms/0]).

-include("erltrace_agent.hrl").

-define(BEAM_SIZE, 16777216).           % most bytes of a file
-define(UNPACKED, 4194304).        % most bytes of the chunk that are unpacked: definitions are at its beginning
-define(HEAP, 4194304).            % most words of the helper's heap
-define(LIMIT, 5000).              % ms
-define(WAIT, 10).                 % ms between two looks for the answer

%% Returns the first bytes of the term in the chunk, in the external format without the byte 131, and the MD5 of the code; or why there are none,
%% for people: "the module shop ..." goes on with it.
-spec read(module(), #s{}) -> {{found, binary(), Md5 :: binary()} | {none, binary()}, #s{}}.
read(Module, S) ->
    erltrace_agent_meanwhile:during(undefined, S, fun() -> {ask(Module), S} end).

ask(Module) ->
    case get(debug_stuck) of
        undefined -> ask_helper(Module);
        Pid ->
            case erltrace_agent_lib:alive(Pid) of
                true -> none("was not examined: the file of another module could not be read so far");
                false ->
                    erase(debug_stuck),
                    ask_helper(Module)
            end
    end.

ask_helper(Module) ->
    Tag = make_ref(),
    Server = self(),
    {Pid, Monitor} = erltrace_agent_lib:start(fun() -> answer(Server, Tag, Module) end,
                                              [monitor, {max_heap_size, #{size => ?HEAP, kill => true, error_logger => false}}]),
    Answer = wait(Tag, Monitor, now_ms() + ?LIMIT),
    erlang:demonitor(Monitor, [flush]),
    case Answer of
        late ->
            put(debug_stuck, Pid), % its answer, should it come, is dropped
            none(text("has a file that could not be examined within ~b s", [?LIMIT div 1000]));
        _ ->
            exit(Pid, kill),
            receive {Tag, _} -> ok after 0 -> ok end,
            Answer
    end.

wait(Tag, Monitor, Until) ->
    receive
        {Tag, Answer} -> Answer;
        {'DOWN', Monitor, process, _, _} -> none("has a file that cannot be examined")
    after 0 ->
        case now_ms() < Until of
            true ->
                erltrace_agent_meanwhile:serve(?WAIT),
                wait(Tag, Monitor, Until);
            false ->
                late
        end
    end.

none(Why) ->
    {none, unicode:characters_to_binary(Why)}.

answer(Server, Tag, Module) ->
    process_flag(sensitive, true),
    Server ! {Tag, try found(Module)
                   catch
                       throw:Why -> none(Why);
                       _:_ -> none("has a file that cannot be examined")
                   end}.

found(Module) ->
    Path = case code:is_loaded(Module) of
               {file, [_ | _] = P} -> P;
               {file, P} when is_atom(P) -> throw(text("was loaded from no file (~s)", [P]));
               {file, _} -> throw("was loaded from no file");
               false -> throw("is not loaded")
           end,
    Beam = contents(Path),
    Loaded = erlang:get_module_info(Module, md5),
    case beam_lib:md5(Beam) of
        {ok, {_, Loaded}} -> ok;
        {ok, _} -> throw(text("is not what its file ~ts holds: it was compiled again since it was loaded", [Path]));
        _ -> throw(text("has the file ~ts, which is no code", [Path]))
    end,
    {ok, {_, [{_, Chunk}]}} = beam_lib:chunks(Beam, ["Dbgi"], [allow_missing_chunks]),
    {found, unpacked(Chunk), Loaded}.

contents(Path) ->
    Unreadable = fun(Why) -> throw(text("has the file ~ts, which cannot be read (~p)", [Path, Why])) end,
    case file:read_file_info(Path, [raw]) of
        {ok, Info} when element(3, Info) =/= regular -> Unreadable(element(3, Info)); % #file_info.type
        {ok, Info} when element(2, Info) > ?BEAM_SIZE -> throw(text("has a file of more than ~b MB", [?BEAM_SIZE bsr 20])); % ... .size
        {ok, _} -> ok;
        {error, Why} -> Unreadable(Why)
    end,
    {ok, File} = file:open(Path, [read, raw, binary]),
    try file:read(File, ?BEAM_SIZE + 1) of
        {ok, Beam} when byte_size(Beam) =< ?BEAM_SIZE -> Beam;
        _ -> Unreadable(size)
    after
        file:close(File)
    end.

%% The bytes of a chunk: 131, 80 and the size of a compressed term (4 bytes), or 131 and a term. An encrypted one begins with a 0.
unpacked(missing_chunk) ->
    throw("has no debug information");
unpacked(Chunk) when byte_size(Chunk) < 7 ->
    throw("has no debug information");
unpacked(Chunk) ->
    case {binary:at(Chunk, 0), binary:at(Chunk, 1)} of
        {131, 80} -> inflated(binary:part(Chunk, 6, byte_size(Chunk) - 6));
        {131, _} -> binary:part(Chunk, 1, min(byte_size(Chunk) - 1, ?UNPACKED));
        _ -> throw("has debug information that is encrypted")
    end.

inflated(Packed) ->
    Z = zlib:open(),
    ok = zlib:inflateInit(Z),
    pieces(Z, zlib:safeInflate(Z, Packed), 0, []).

pieces(Z, {Left, Output}, Size, Acc) ->
    case {Size + iolist_size(Output), Left} of
        {All, continue} when All < ?UNPACKED -> pieces(Z, zlib:safeInflate(Z, []), All, [Acc | Output]);
        {All, _} -> binary:part(iolist_to_binary([Acc | Output]), 0, min(All, ?UNPACKED))
    end.
