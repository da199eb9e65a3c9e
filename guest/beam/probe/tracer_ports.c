/* tracer_ports.c - events of ports, and the probes of ports and drivers.
 *
 * The VM reports about a port: that it was opened or closed, what it was sent (`receive`: a
 * command, a control or call operation, a new owner, a request to close), what it sent, links to
 * it, and its turns on a scheduler. It calls with the port's lock held, so that the events of one
 * port are sequential. No process belongs to such an event; the probe's process, and with it
 * self->, is the one that arg0 names, or the port itself where there is none.
 *
 * Names and owners of ports are in a table (ports.h).
 *
 * A driver that reads has no event of its own: what a port sends in a turn for I/O was read. That
 * does not hold for a driver that answers a command at once, when the command had to wait for such
 * a turn; no event says when the command is done and input begins, so both count. */
#include "beam/probe/ports.h"
#include "beam/probe/term_read.h"
#include "beam/tracer.h"

enum {
    BYTES_CELLS = 100000,        /* cells of a list of bytes that are counted */
    CONTROL_INET = 0x03f1a300,   /* the inet drivers' operations: this one and the next 255 */
    CONTROL_SPAWN = 0x04c76a00,  /* the VM tells a port that its program has started or ended */
    CONTROL_FORKER = 0x050a7800, /* the VM tells the port that starts programs to start one */
};

/* -- arguments: ev->pid is the actor, ev->other the port, ev->msg what came with the event */

static uint64_t arg_actor(struct event *ev)
{
    return ev->pid == ev->other ? event_constant(ev, "<unknown>") : event_pid(ev, ev->pid);
}

static uint64_t arg_port_name(struct event *ev)
{
    ERL_NIF_TERM name = porttab_name(ports_table(), ev->other);
    return name ? event_atom(ev, name) : event_constant(ev, "<unknown>");
}

static uint64_t arg_first(struct event *ev, unsigned n)
{
    switch (n) {
    case 0: return arg_actor(ev);
    case 1: return event_pid(ev, ev->other);
    case 2: return arg_port_name(ev);
    default: return 0;
    }
}

static uint64_t arg_port(struct engine_ctx *ctx, unsigned n)
{
    return arg_first(event_of(ctx), n);
}

/* Arguments of opened, started, stopped: the name precedes the port. */
static uint64_t arg_open(struct engine_ctx *ctx, unsigned n)
{
    return arg_first(event_of(ctx), n == 1 ? 2 : n == 2 ? 1 : n);
}

static uint64_t arg_term(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 3 ? event_term(ev, ev->msg) : arg_first(ev, n);
}

static uint64_t arg_atom(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 3 ? event_atom(ev, ev->msg) : arg_first(ev, n);
}

/* Counts the bytes of a binary or of a flat iolist; -1 for a list that is too long to count. */
static uint64_t bytes_of(ErlNifEnv *env, ERL_NIF_TERM t)
{
    size_t bytes;
    ERL_NIF_TERM head;
    uint64_t n = 0;
    for (unsigned i = 0; enif_get_list_cell(env, t, &head, &t); i++) {
        if (i == BYTES_CELLS)
            return (uint64_t)-1;
        n += read_size(env, head, &bytes) ? bytes : 1;
    }
    return read_size(env, t, &bytes) ? n + bytes : n;
}

static uint64_t arg_bytes(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 3 ? bytes_of(ev->env, ev->msg) : arg_first(ev, n);
}

/* {Operation, Data} */
static uint64_t arg_control(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    const ERL_NIF_TERM *e;
    int size;
    unsigned operation;
    if (n < 3 || n > 4 || !enif_get_tuple(ev->env, ev->msg, &size, &e) || size != 2)
        return arg_first(ev, n);
    if (n == 4)
        return bytes_of(ev->env, e[1]);
    return enif_get_uint(ev->env, e[0], &operation) ? operation : 0;
}

/* Arguments of a port's turn: the port comes first, and self-> is the port's. */
static uint64_t arg_turn(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->other);
    case 1: return arg_port_name(ev);
    case 2:
        return enif_is_atom(ev->env, ev->msg) ? event_atom(ev, ev->msg) : event_constant(ev, "io");
    default: return 0;
    }
}

/* -- events ------------------------------------------------------------------------------------ */

/* An event of a port, for the functions below. */
struct at {
    const struct snapshot *s;
    struct engine_thread *t;
    ErlNifEnv *env;
    ERL_NIF_TERM port;
};

static void fire(const struct at *at, enum probe_kind kind, ERL_NIF_TERM who, ERL_NIF_TERM msg,
                 event_arg_fn *arg)
{
    event_named(at->s, at->t, kind, at->env, who ? who : at->port, msg, at->port, arg);
}

static void on_open(const struct at *at, ERL_NIF_TERM opener, ERL_NIF_TERM opts)
{
    ERL_NIF_TERM name = 0;
    enif_get_map_value(at->env, opts, agent.atom.extra, &name);
    ports_note(at->env, at->port, name, opener, true);
    fire(at, PROBE_PORT_OPEN, opener, 0, arg_open);
    fire(at, PROBE_DRIVER_START, opener, 0, arg_open);
}

static void on_closed(const struct at *at, ERL_NIF_TERM reason)
{
    ERL_NIF_TERM owner = porttab_owner(ports_table(), at->port);
    tracer_thread(at->t)->io.port = 0;
    fire(at, PROBE_PORT_EXIT, owner, reason, arg_term);
    fire(at, PROBE_DRIVER_STOP, owner, 0, arg_open);
}

static void on_connect(const struct at *at, ERL_NIF_TERM who, ERL_NIF_TERM what, ERL_NIF_TERM new)
{
    ERL_NIF_TERM old = porttab_owner(ports_table(), at->port);
    fire(at, PROBE_PORT_COMMAND, who, what, arg_atom);
    fire(at, PROBE_PORT_CONNECT, old ? old : who, new, arg_term);
    ports_note(at->env, at->port, 0, new, true);
}

static void on_control(const struct at *at, ERL_NIF_TERM who, ERL_NIF_TERM control)
{
    const ERL_NIF_TERM *e;
    int n;
    unsigned operation;
    if (!enif_get_tuple(at->env, control, &n, &e) || n != 2 ||
        !enif_get_uint(at->env, e[0], &operation))
        return;
    if (operation == CONTROL_SPAWN || operation == CONTROL_FORKER) { /* there is no caller */
        fire(at, PROBE_DRIVER_CONTROL, porttab_owner(ports_table(), at->port), control,
             arg_control);
        return;
    }
    if ((operation & ~0xffu) == CONTROL_INET)
        ports_accepted(at->env, at->port, who);
    fire(at, PROBE_PORT_CONTROL, who, control, arg_control);
    fire(at, PROBE_DRIVER_CONTROL, who, control, arg_control);
}

/* {Pid, close | {command | connect | control | call, What}} */
static void on_told(const struct at *at, ERL_NIF_TERM msg)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM *e, *w;
    int n;
    if (!enif_get_tuple(at->env, msg, &n, &e) || n != 2 ||
        e[0] == atomic_load_explicit(&agent.asker, memory_order_relaxed))
        return;
    if (e[1] == a->close) {
        fire(at, PROBE_PORT_COMMAND, e[0], e[1], arg_atom);
        return;
    }
    if (!enif_get_tuple(at->env, e[1], &n, &w) || n != 2)
        return;
    if (w[0] == a->command) {
        fire(at, PROBE_PORT_COMMAND, e[0], w[0], arg_atom);
        fire(at, enif_is_binary(at->env, w[1]) ? PROBE_DRIVER_OUTPUT : PROBE_DRIVER_OUTPUTV, e[0],
             w[1], arg_bytes);
    } else if (w[0] == a->control) {
        on_control(at, e[0], w[1]);
    } else if (w[0] == a->connect) {
        on_connect(at, e[0], w[0], w[1]);
    } else if (w[0] == a->call) {
        fire(at, PROBE_DRIVER_CALL, e[0], w[1], arg_control);
    }
}

static bool is_bytes(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return enif_is_binary(env, t) || enif_is_list(env, t);
}

/* Returns what a port has read and passes on, 0 if the message is about something else:
 *     {Port, {data, Bytes}}, {Port, {data, {eol | noeol, Bytes}}}
 *     {tcp | udp | sctp, Port, ..., Bytes}
 *     {inet_async, Port, Ref, {ok, Bytes}}, {inet_async, Port, Ref, {ok, {..., Bytes}}}
 *
 * For an accepted socket, {inet_async, Port, Ref, {ok, NewPort}}, it is the new port. */
static ERL_NIF_TERM data_of(const struct at *at, ERL_NIF_TERM msg)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM *e, *d;
    int n, m;
    if (!enif_get_tuple(at->env, msg, &n, &e))
        return 0;
    if (n == 2 && e[0] == at->port) {
        if (!enif_get_tuple(at->env, e[1], &m, &d) || m != 2 || d[0] != a->data)
            return 0;
        if (enif_get_tuple(at->env, d[1], &m, &d))
            return m == 2 && is_bytes(at->env, d[1]) ? d[1] : 0;
        return is_bytes(at->env, d[1]) ? d[1] : 0;
    }
    if (n < 3 || e[1] != at->port)
        return 0;
    if (e[0] == a->tcp || e[0] == a->udp || e[0] == a->sctp)
        return is_bytes(at->env, e[n - 1]) ? e[n - 1] : 0;
    if (n != 4 || e[0] != a->inet_async || !enif_get_tuple(at->env, e[3], &m, &d) || m != 2 ||
        d[0] != a->ok)
        return 0;
    if (is_bytes(at->env, d[1]) || enif_is_port(at->env, d[1]))
        return d[1];
    return enif_get_tuple(at->env, d[1], &m, &d) && m > 1 && is_bytes(at->env, d[m - 1]) ? d[m - 1]
                                                                                         : 0;
}

static void on_sent(const struct at *at, ERL_NIF_TERM msg, ERL_NIF_TERM opts)
{
    ERL_NIF_TERM to, data = data_of(at, msg);
    if (!data || !enif_get_map_value(at->env, opts, agent.atom.extra, &to))
        return;
    struct tracer_thread *me = tracer_thread(at->t);
    if (me->io.port == at->port && !me->io.told) {
        me->io.told = true;
        fire(at, PROBE_DRIVER_READY_INPUT, to, 0, arg_port);
    }
    if (!enif_is_port(at->env, data))
        fire(at, PROBE_PORT_DATA, to, data, arg_bytes);
    else
        ports_note(at->env, data, porttab_name(ports_table(), at->port), to, false);
}

void tracer_port(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[])
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM tag = argv[0], msg = argv[3];
    const struct at at = {s, t, env, argv[2]};
    if (tag != a->open && tag != a->closed)
        ports_note(env, at.port, 0, 0, false); /* the server asks about what stays unknown */
    if (tag == a->receive) {
        on_told(&at, msg);
    } else if (tag == a->send) {
        on_sent(&at, msg, argv[4]);
    } else if (tag == a->in) {
        tracer_thread(t)->io.port = enif_is_atom(env, msg) ? 0 : at.port;
        tracer_thread(t)->io.told = false;
        fire(&at, PROBE_PORT_SCHEDULED, 0, msg, arg_turn);
    } else if (tag == a->out) {
        tracer_thread(t)->io.port = 0;
        fire(&at, PROBE_PORT_UNSCHEDULED, 0, msg, arg_turn);
    } else if (tag == a->open) {
        on_open(&at, msg, argv[4]);
    } else if (tag == a->closed) {
        on_closed(&at, msg);
    } else if (tag == a->getting_linked) {
        fire(&at, PROBE_PORT_LINK, msg, 0, arg_port);
    } else if (tag == a->getting_unlinked) {
        fire(&at, PROBE_PORT_UNLINK, msg, 0, arg_port);
    } else if (tag == a->register_) {
        fire(&at, PROBE_PORT_REGISTER, porttab_owner(ports_table(), at.port), msg, arg_atom);
    } else if (tag == a->unregister) {
        fire(&at, PROBE_PORT_UNREGISTER, porttab_owner(ports_table(), at.port), msg, arg_atom);
    }
}
