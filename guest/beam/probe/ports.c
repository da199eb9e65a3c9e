/* ports.c - see ports.h. */
#include "beam/probe/ports.h"

enum { PORTS = 1 << 16 }; /* ports remembered at a time */

struct porttab *ports_table(void)
{
    return atomic_load_explicit(&agent.ports, memory_order_acquire);
}

void ports_note(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM name, ERL_NIF_TERM owner,
                bool surely)
{
    ErlNifPort p;
    ErlNifPid o;
    if (!enif_get_local_port(env, port, &p))
        return;
    if (name == agent.atom.sctp_inet)
        atomic_store_explicit(&agent.sctp, true, memory_order_relaxed);
    (surely ? porttab_set : porttab_add)(ports_table(), port,
                                         name && enif_is_atom(env, name) ? name : 0,
                                         owner && enif_get_local_pid(env, owner, &o) ? owner : 0);
}

void ports_accepted(ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM who)
{
    if (atomic_load_explicit(&agent.ports_known, memory_order_relaxed) &&
        !atomic_load_explicit(&agent.sctp, memory_order_relaxed) &&
        !porttab_name(ports_table(), port))
        ports_note(env, port, agent.atom.tcp_inet, who, false);
}

static bool open_port(void *arg, uint64_t port)
{
    ErlNifPort p;
    return enif_get_local_port(arg, (ERL_NIF_TERM)port, &p) && enif_is_port_alive(arg, &p);
}

ERL_NIF_TERM ports_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ERL_NIF_TERM head, list = argv[0];
    const ERL_NIF_TERM *e;
    int n;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    if (list == agent.atom.false_) {
        atomic_store(&agent.ports_known, false);
        if (!atomic_load(&agent.ports)) /* without memory for it they stay unknown */
            atomic_store(&agent.ports, porttab_new(PORTS));
        porttab_forget_owners(atomic_load(&agent.ports));
        return agent.atom.ok;
    }
    while (enif_get_list_cell(env, list, &head, &list)) {
        ErlNifPort port;
        ErlNifPid owner;
        if (!enif_get_tuple(env, head, &n, &e) || n != 3 ||
            !enif_get_local_port(env, e[0], &port) || !enif_is_atom(env, e[1]) ||
            !enif_get_local_pid(env, e[2], &owner))
            return enif_make_badarg(env);
        ports_note(env, e[0], e[1], e[2], false);
    }
    atomic_store(&agent.ports_known, true);
    return agent.atom.ok;
}

struct port_list {
    ErlNifEnv *env;
    ERL_NIF_TERM list;
};

static void unknown_port(void *arg, uint64_t port)
{
    struct port_list *l = arg;
    if (open_port(l->env, port))
        l->list = enif_make_list_cell(l->env, (ERL_NIF_TERM)port, l->list);
}

ERL_NIF_TERM ports_unknown_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned part;
    if (!agent_is_server(env) || !enif_get_uint(env, argv[0], &part) || part >= AGENT_PARTS)
        return enif_make_badarg(env);
    struct port_list l = {env, enif_make_list(env, 0)};
    porttab_unknown(atomic_load(&agent.ports), part, AGENT_PARTS, unknown_port, &l);
    enif_consume_timeslice(env, AGENT_PART_PERCENT);
    return l.list;
}

ERL_NIF_TERM ports_asker_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid pid;
    if (!agent_is_server(env) || !enif_get_local_pid(env, argv[0], &pid))
        return enif_make_badarg(env);
    atomic_store_explicit(&agent.asker, argv[0], memory_order_relaxed);
    return agent.atom.ok;
}

void ports_sweep(ErlNifEnv *env, uint32_t part, uint32_t parts)
{
    porttab_sweep(ports_table(), part, parts, open_port, env);
}
