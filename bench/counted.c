/* counted.c - lets valgrind count the instructions of a part of what a node does: from start/0
 * until stop/1. Outside valgrind both do nothing. */
#include <erl_nif.h>
#include <valgrind/callgrind.h>

static ERL_NIF_TERM start(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    CALLGRIND_START_INSTRUMENTATION;
    CALLGRIND_ZERO_STATS;
    return enif_make_atom(env, "ok");
}

/* The argument, an atom, names what was counted. */
static ERL_NIF_TERM stop(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    char name[256];
    (void)argc;
    if (!enif_get_atom(env, argv[0], name, sizeof name, ERL_NIF_LATIN1))
        return enif_make_badarg(env);
    CALLGRIND_DUMP_STATS_AT(name);
    CALLGRIND_STOP_INSTRUMENTATION;
    return enif_make_atom(env, "ok");
}

static ErlNifFunc funcs[] = {{"start", 0, start, 0}, {"stop", 1, stop, 0}};

ERL_NIF_INIT(counted, funcs, NULL, NULL, NULL, NULL)
