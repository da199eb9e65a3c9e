%% counted - the Erlang side of counted.c.
-module(counted).
-export([load/1, start/0, stop/1, run/2]).

%% Loads the library, path without its ".so".
load(Path) -> erlang:load_nif(Path, 0).

start() -> erlang:nif_error(not_loaded).
stop(_) -> erlang:nif_error(not_loaded).

%% Counts the instructions that the node executes while Work runs, as Name.
run(Name, Work) ->
    start(),
    Work(),
    stop(Name),
    ok.
