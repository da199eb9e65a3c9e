%% etx_nif - the stubs of etx_nif.c.
-module(etx_nif).
-export([load/1, cpu/1, io/1, shout/2]).

load(File) -> erlang:load_nif(File, 0).

cpu(_) -> erlang:nif_error(not_loaded).
io(_) -> erlang:nif_error(not_loaded).
shout(_, _) -> erlang:nif_error(not_loaded).
