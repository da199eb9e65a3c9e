%% floor_tracer - the Erlang side of floor_tracer.c.
-module(floor_tracer).
-export([load/1, enabled/3, trace/5]).

%% Loads the library, path without its ".so".
load(Path) -> erlang:load_nif(Path, 0).

enabled(_, _, _) -> erlang:nif_error(not_loaded).
trace(_, _, _, _, _) -> erlang:nif_error(not_loaded).
