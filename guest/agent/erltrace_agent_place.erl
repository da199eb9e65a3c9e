%% erltrace_agent_place - where the agent's library lies while it is loaded: in folders that no other user can change.
%%
%% The library is passed to the system's loader by name. A user who can rename a folder on the path to it, or a link, gets a library of
%% their own loaded into the node, with the node's rights. So a folder is used only if every folder from / down to it, with each link on the
%% path followed step by step, belongs to root or to the node's user, and can be written to by no other user: neither by all nor by a group
%% (its members cannot be found out here; and where a folder has an access control list, what that allows shows as the group's rights),
%% unless it is sticky, in which case other users cannot touch what is not theirs. The library goes into a new folder in there, which only
%% the node's user can enter.
%%
%% A node that is killed while it loads the library leaves that folder behind; the next node of the same user removes it.
-module(erltrace_agent_place).

-export([folders/1, put/2, remove/1, refused/3, mapped/0]).

-include_lib("kernel/include/file.hrl").

-define(PREFIX, "erltrace-").
-define(NAME, "erltrace_agent.so").
-define(OTHERS, 8#0022).           % others or a group may write
-define(STICKY, 8#1000).
-define(LINKS, 40).                % most links on one path, as in the kernel
-define(LEFT_S, 60).               % a folder at least this old is not in use by a node that is just loading
-define(LEFT_MOST, 32).            % most folders that are removed at a time
-define(SWEEP_BYTES, 524288).      % a folder larger than this has too many files to look through

%% Returns the folders where it can be placed, in this order: those that the consumer names, TMPDIR, and those that every system has.
-spec folders([file:filename()]) -> [file:filename()].
folders(Dirs) ->
    Tmp = [D || D <- [os:getenv("TMPDIR", "")], D =/= ""],
    Cwd = [D || {ok, D} <- [file:get_cwd()]],
    unique(Dirs ++ Tmp ++ ["/tmp", "/var/tmp", "/dev/shm"] ++ Cwd).

unique([H | T]) -> [H | unique([X || X <- T, X =/= H])];
unique([]) -> [].

%% Writes the library into a new folder in Dir. Returns its file; remove/1 removes both.
-spec put(file:filename(), binary()) -> {ok, file:filename()} | {error, iodata()}.
put(Dir, Nif) ->
    User = user(),
    case trusted(Dir, User) of
        {ok, Way} ->
            sweep(Way, User),
            Place = filename:join(Way, ?PREFIX ++ integer_to_list(random_number(), 36)),
            try write(Place, User, Nif)
            catch
                error:{badmatch, {error, Why}} -> {error, file:format_error(Why)};
                error:{badmatch, _} -> {error, "it changed while it was being checked"}
            end;
        {error, _} = Error ->
            Error
    end.

%% From the moment that the folder holds something, only the user can enter it: it is new, closed, verified to be closed and empty, and then
%% the file is made in it by a call that fails if anything has that name.
write(Place, User, Nif) ->
    ok = file:make_dir(Place),
    File = filename:join(Place, ?NAME),
    try
        ok = file:change_mode(Place, 8#700),
        {ok, #file_info{type = directory, mode = Mode, uid = Owner}} = look(Place),
        true = Mode band 8#777 =:= 8#700,
        true = User =:= unknown orelse Owner =:= User,
        {ok, []} = file:list_dir(Place),
        {ok, Fd} = file:open(File, [write, exclusive, raw, binary]),
        Wrote = file:write(Fd, Nif),
        ok = file:close(Fd),
        ok = Wrote,
        {ok, File}
    catch
        Class:Reason ->
            remove(File),
            erlang:raise(Class, Reason, [])
    end.

-spec remove(file:filename()) -> ok.
remove(File) ->
    _ = file:delete(File),
    _ = file:del_dir(filename:dirname(File)),
    ok.

%% Why the system has not loaded the file, and whether it was because of its folder: one from which nothing may be run.
-spec refused(atom(), string(), file:filename()) -> {folder | library, iodata()}.
refused(load_failed, Text, File) ->
    Said = lists:foldl(fun(Known, T) -> string:replace(T, Known, "") end, Text, ["Failed to load NIF library: ", "Error relocating ", "Error loading shared library ", [File, ": "], File]),
    Why = string:trim(lists:flatten(Said), both, "' "),
    Folder = lists:any(fun(Part) -> string:find(Why, Part) =/= nomatch end, ["failed to map segment", "not permitted", "ermission denied"]),
    {case Folder of true -> folder; false -> library end, Why};
refused(Reason, Text, _) ->
    {library, io_lib:format("~s: ~s", [Reason, Text])}.

%% How many copies of the library this process has mapped. A C library may keep each one that it has loaded (musl does).
-spec mapped() -> non_neg_integer().
mapped() ->
    case file:read_file("/proc/self/maps") of
        {ok, Maps} ->
            length([L || L <- binary:split(Maps, <<"\n">>, [global]), binary:match(L, <<" r-xp ">>) =/= nomatch,
                         binary:match(L, <<"/" ?PREFIX>>) =/= nomatch, binary:match(L, <<"/" ?NAME>>) =/= nomatch]);
        {error, _} ->
            0
    end.

%% == folders that no other user can change =======================================================================

%% Returns the path of a folder without links, if only root and the node's user can change anything on the way.
trusted(Dir, User) ->
    Users = [0 | [User || User =/= unknown]],
    case look("/") of
        {ok, Info} ->
            case safe(Info, "/", Users) of
                ok -> walk(tl(filename:split(filename:absname(Dir))), "/", Users, ?LINKS);
                {error, _} = Error -> Error
            end;
        {error, Why} ->
            {error, file:format_error(Why)}
    end.

walk([], Way, _, _) ->
    {ok, Way};
walk(["." | Names], Way, Users, Links) ->
    walk(Names, Way, Users, Links);
walk([".." | Names], Way, Users, Links) -> % of a path without links
    walk(Names, filename:dirname(Way), Users, Links);
walk([Name | Names], Way, Users, Links) ->
    Path = filename:join(Way, Name),
    case look(Path) of
        {ok, #file_info{type = symlink}} when Links =:= 0 ->
            {error, [Path, " is one link too many"]};
        {ok, #file_info{type = symlink} = Info} ->
            case {owned(Info, Path, Users), file:read_link(Path)} of
                {ok, {ok, To}} ->
                    case filename:split(To) of
                        ["/" | Rest] -> walk(Rest ++ Names, "/", Users, Links - 1);
                        Rest -> walk(Rest ++ Names, Way, Users, Links - 1)
                    end;
                {ok, {error, Why}} -> {error, [Path, ": ", file:format_error(Why)]};
                {{error, _} = Error, _} -> Error
            end;
        {ok, #file_info{type = directory} = Info} ->
            case safe(Info, Path, Users) of
                ok -> walk(Names, Path, Users, Links);
                {error, _} = Error -> Error
            end;
        {ok, _} ->
            {error, file:format_error(enotdir)};
        {error, Why} ->
            {error, file:format_error(Why)}
    end.

safe(#file_info{mode = Mode} = Info, Path, Users) ->
    case owned(Info, Path, Users) of
        ok when Mode band ?OTHERS =/= 0, Mode band ?STICKY =:= 0 ->
            {error, ["other users may write to ", Path]};
        Owned ->
            Owned
    end.

owned(#file_info{uid = Owner}, Path, Users) ->
    case lists:member(Owner, Users) of
        true -> ok;
        false -> {error, [Path, " belongs to another user"]}
    end.

look(Path) ->
    file:read_link_info(Path, [raw, {time, posix}]).

%% Returns the user of the node's process. (Without /proc it is unknown: then only what belongs to root is trusted.)
user() ->
    case file:read_file_info("/proc/self", [raw, {time, posix}]) of
        {ok, #file_info{uid = User}} -> User;
        {error, _} -> unknown
    end.

%% == what was left behind =======================================================================================

%% Removes folders that have our name, belong to the user, are closed and old enough, and hold nothing but our library.
sweep(_, unknown) ->
    ok;
sweep(Way, User) ->
    case look(Way) of
        {ok, #file_info{size = Size}} when Size =< ?SWEEP_BYTES ->
            Names = case file:list_dir(Way) of
                        {ok, All} -> [filename:join(Way, N) || N <- All, is_ours(N)];
                        {error, _} -> []
                    end,
            [remove(filename:join(P, ?NAME)) || P <- lists:sublist(Names, ?LEFT_MOST), is_left(P, User)],
            ok;
        _ ->
            ok
    end.

is_ours(?PREFIX ++ Rest) ->
    length(Rest) >= 8 andalso length(Rest) =< 20 andalso
        lists:all(fun(C) -> C >= $0 andalso C =< $9 orelse C >= $A andalso C =< $Z end, Rest);
is_ours(_) ->
    false.

is_left(Place, User) ->
    Before = erlang:system_time(second) - ?LEFT_S,
    case look(Place) of
        {ok, #file_info{type = directory, uid = User, mode = Mode, mtime = Time}} when Mode band 8#777 =:= 8#700, Time < Before ->
            case file:list_dir(Place) of
                {ok, []} -> true;
                {ok, [?NAME]} ->
                    case look(filename:join(Place, ?NAME)) of
                        {ok, #file_info{type = regular, uid = User, mtime = Written}} -> Written < Before;
                        _ -> false
                    end;
                _ -> false
            end;
        _ ->
            false
    end.

%% crypto is not part of every node. (The number need not be a secret: see write/3.)
random_number() ->
    Seed = {make_ref(), erlang:monotonic_time(), erlang:unique_integer(), os:getpid(), self()},
    S = rand:seed_s(exsss, erlang:phash2(Seed, 1 bsl 32) bxor erlang:system_time()),
    {A, S1} = rand:uniform_s(1 bsl 40, S),
    {B, _} = rand:uniform_s(1 bsl 40, S1),
    A bsl 40 + B.
