/* floor_tracer.c - the emptiest tracer that Erlang's erl_tracer behaviour allows: it wants every
 * event and does nothing with it.
 *
 * Its cost is what the VM itself costs at an event, whatever a tracer does with it: the floor of
 * the benchmark. */
#include <erl_nif.h>

static ERL_NIF_TERM atom_trace, atom_ok;

static int load(ErlNifEnv *env, void **priv, ERL_NIF_TERM info)
{
    (void)priv;
    (void)info;
    atom_trace = enif_make_atom(env, "trace");
    atom_ok = enif_make_atom(env, "ok");
    return 0;
}

static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return atom_trace;
}

static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return atom_ok;
}

static ErlNifFunc funcs[] = {{"enabled", 3, enabled, 0}, {"trace", 5, trace, 0}};

ERL_NIF_INIT(floor_tracer, funcs, load, NULL, NULL, NULL)
