%% floor_profile - the Erlang side of floor_profile.c.
-module(floor_profile).
-export([load/1, start/2, stop/0, clock/0]).

%% Loads the library, path without its ".so".
load(Path) -> erlang:load_nif(Path, 0).

start(_, _) -> erlang:nif_error(not_loaded).
stop() -> erlang:nif_error(not_loaded).
clock() -> erlang:nif_error(not_loaded).
