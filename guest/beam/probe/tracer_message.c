/* tracer_message.c - events of messages: send, send_to_non_existing_process, receive; and of
 * seq_trace.
 *
 * The VM reports `send` with the receiver as the sender wrote it: a pid, a name, {Name, Node}, an
 * alias. The actual destination is determined here, at that moment: a process of this node, one of
 * another node, or none. A token comes with the event when the server has set a match specification
 * that asks for it, which it does when a program uses one of its integers. */
#include "beam/probe/alias.h"
#include "beam/probe/held.h"
#include "beam/probe/shapes.h"
#include "beam/probe/term_read.h"
#include "beam/nodename.h"
#include "beam/probe/terms.h"
#include "beam/tracer.h"

#include <limits.h>

struct send {
    struct event ev;   /* first; msg is the message, other the receiver */
    ERL_NIF_TERM opts; /* what came with the event */
    ERL_NIF_TERM node; /* of a receiver on another node */
};

static const struct send *send_of(const struct event *ev)
{
    return (const struct send *)(const void *)ev;
}

/* Returns whether this is {Flags, Label, Serial, Sender, Last}. */
static bool is_token(ErlNifEnv *env, ERL_NIF_TERM t, const ERL_NIF_TERM **e)
{
    int n, flags;
    ErlNifSInt64 serial;
    return enif_get_tuple(env, t, &n, e) && n == 5 && enif_get_int(env, (*e)[0], &flags) &&
           enif_get_int64(env, (*e)[2], &serial) && enif_get_int64(env, (*e)[4], &serial) &&
           (enif_is_pid(env, (*e)[3]) || enif_is_port(env, (*e)[3]) || enif_is_atom(env, (*e)[3]));
}

/* Returns whether what a match specification has added to an event is a token, or [] for none. In
 * sessions it is our own; before OTP 27 it may be another tool's, of which users are told, and
 * which counts as none. */
static bool token_known(ErlNifEnv *env, ERL_NIF_TERM opts)
{
    size_t keys;
    ERL_NIF_TERM v;
    const ERL_NIF_TERM *e;
    if (!agent.sessions || !enif_get_map_size(env, opts, &keys) || keys < 2 ||
        !enif_get_map_value(env, opts, agent.atom.match_spec_result, &v))
        return true;
    return v == agent.nil || is_token(env, v, &e);
}

/* Returns the n-th integer of the message's token: label, serial last received, serial. The event
 * carries the sender's token before it sends: with {message, {get_seq_token}}, {Flags, Label,
 * Serial, Sender, Last}. Sending increments the serial. When the token came with a message, so that
 * its sender is another process, that serial is now the last received. */
static uint64_t token(const struct event *ev, unsigned n)
{
    ERL_NIF_TERM v;
    const ERL_NIF_TERM *e;
    int label;
    ErlNifSInt64 serial;
    if (!enif_get_map_value(ev->env, send_of(ev)->opts, agent.atom.match_spec_result, &v) ||
        !is_token(ev->env, v, &e))
        return 0;
    if (n == 0)
        return (uint64_t)(int64_t)(enif_get_int(ev->env, e[1], &label) ? label : INT_MIN);
    bool own = e[3] == ev->pid;
    if (!enif_get_int64(ev->env, n == 1 && own ? e[4] : e[2], &serial))
        return 0; /* serials are small integers */
    return (uint64_t)serial + (n == 2);
}

static uint64_t receiver(struct event *ev)
{
    return !event_is_word(ev->other) && enif_is_tuple(ev->env, ev->other)
               ? event_name(ev, ev->other)
               : event_pid(ev, ev->other);
}

static uint64_t arg_send(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return receiver(ev);
    case 2: return event_words(ev, ev->msg);
    case 3:
    case 4:
    case 5: return token(ev, n - 3);
    default: return 0;
    }
}

static uint64_t arg_remote(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return event_pid(ev, send_of(ev)->node);
    case 2: return receiver(ev);
    case 3: return event_words(ev, ev->msg);
    case 4:
    case 5:
    case 6: return token(ev, n - 4);
    default: return 0;
    }
}

/* NOWHERE: that is not something to which a message can be sent. */
enum where { NOT_A_PROCESS, HERE, ELSEWHERE, GONE, NOWHERE };

/* Looks up a registered name: *to becomes its pid. */
static enum where by_name(ErlNifEnv *env, ERL_NIF_TERM name, ERL_NIF_TERM *to)
{
    ErlNifPid pid;
    ErlNifPort port;
    if (enif_whereis_pid(env, name, &pid)) {
        *to = enif_make_pid(env, &pid);
        return HERE;
    }
    return enif_whereis_port(env, name, &port) ? NOT_A_PROCESS : GONE;
}

/* Determines where a message to *to goes. HERE: *to becomes the pid, where it can be determined.
 * ELSEWHERE: *node is its node. */
static enum where receiver_of(ErlNifEnv *env, ERL_NIF_TERM *to, ERL_NIF_TERM *node)
{
    const ERL_NIF_TERM *e;
    int n;
    ErlNifPid pid;
    ERL_NIF_TERM owner;
    if (read_is_local_pid(*to))
        return HERE;
    if (enif_is_pid(env, *to))
        return enif_get_local_pid(env, *to, &pid) || !nodename_of(env, *to, node) ? HERE
                                                                                  : ELSEWHERE;
    if (enif_is_atom(env,
                     *to)) /* when the name is not registered the call fails, and sends nothing */
        return by_name(env, *to, to) == HERE ? HERE : NOT_A_PROCESS;
    if (enif_is_ref(env, *to)) {
        if ((owner = alias_pid(env, *to)) != 0)
            *to = owner;
        return owner != 0 || !nodename_of(env, *to, node) ? HERE : ELSEWHERE;
    }
    if (enif_is_port(env, *to))
        return NOT_A_PROCESS;
    if (!enif_get_tuple(env, *to, &n, &e) || n != 2 || !enif_is_atom(env, e[0]) ||
        !enif_is_atom(env, e[1]))
        return NOWHERE;
    *node = e[1];
    return e[1] == agent.node ? by_name(env, e[0], to) : ELSEWHERE;
}

void tracer_send(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[], bool gone)
{
    const struct bounds *b = &s->named[PROBE_MESSAGE_SEND];
    const struct bounds *remote = &s->named[PROBE_MESSAGE_SEND_REMOTE];
    const struct bounds *noproc = &s->named[PROBE_MESSAGE_SEND_NOPROC];
    struct send ev;
    ERL_NIF_TERM to;
    if (held_wanted(s))
        held_send(s, t, env, argv[2]);
    if (b->n + remote->n + noproc->n == 0)
        return;
    bool known = enif_get_map_value(env, argv[4], agent.atom.extra, &to) != 0;
    enum where where = known ? receiver_of(env, &to, &ev.node) : NOWHERE;
    if (where == NOWHERE || !token_known(env, argv[4])) {
        shapes_lost(s, t, env, argv);
        return;
    }
    if (gone)
        where = GONE;
    if (where == NOT_A_PROCESS)
        return;
    event_init(&ev.ev, t, env, argv[2], argv[3], arg_send);
    ev.ev.other = to;
    ev.ev.msg_is = DIF_BUILTIN_message;
    ev.opts = argv[4];
    event_fire(&ev.ev, t, where == GONE ? noproc : b);
    if (where == ELSEWHERE && remote->n > 0) {
        event_init(&ev.ev, t, env, argv[2], argv[3], arg_remote);
        ev.ev.other = to;
        ev.ev.msg_is = DIF_BUILTIN_message;
        event_fire(&ev.ev, t, remote);
    }
}

static uint64_t arg_queued(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    switch (n) {
    case 0: return event_pid(ev, ev->pid);
    case 1: return event_words(ev, ev->msg);
    case 2: return UINT32_MAX; /* the length of the queue cannot be determined */
    default: return 0;
    }
}

static uint64_t arg_timeout(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    return n == 0 ? event_pid(ev, ev->pid) : 0;
}

/* The VM reports a receive that times out as a message that is the atom timeout. One that a process
 * has sent has a result of the agent's match specification, which trace sessions have (from OTP 27
 * on).
 */
void tracer_receive(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                    const ERL_NIF_TERM argv[])
{
    ERL_NIF_TERM sent;
    if (argv[3] == agent.atom.timeout &&
        !(agent.sessions &&
          enif_get_map_value(env, argv[4], agent.atom.match_spec_result, &sent))) {
        event_named(s, t, PROBE_RECEIVE_TIMEOUT, env, argv[2], argv[3], 0, arg_timeout);
        return;
    }
    event_named_with(s, t, PROBE_MESSAGE_QUEUED, env, argv[2], argv[3], arg_queued,
                     DIF_BUILTIN_message);
}

/* An event of seq_trace; msg is the message, other the label. */
struct seq {
    struct event ev;   /* first */
    ERL_NIF_TERM info; /* as a whole */
    ERL_NIF_TERM what; /* send, receive or print */
    ERL_NIF_TERM serial[2];
    ERL_NIF_TERM from, to;
};

static uint64_t serial(const struct event *ev, ERL_NIF_TERM t)
{
    ErlNifSInt64 v;
    return enif_get_int64(ev->env, t, &v) ? (uint64_t)v : 0;
}

/* Prints who sends or receives: {Name, Node} or any word that the VM gives. */
static uint64_t party(struct event *ev, ERL_NIF_TERM t)
{
    return enif_is_tuple(ev->env, t) ? event_name(ev, t) : event_pid(ev, t);
}

static uint64_t arg_seq(struct engine_ctx *ctx, unsigned n)
{
    struct event *ev = event_of(ctx);
    const struct seq *q = (const struct seq *)(const void *)ev;
    switch (n) {
    case 0: return event_constant(ev, "[]");
    case 1: return event_is_word(ev->other) ? event_pid(ev, ev->other) : event_term(ev, ev->other);
    case 2: return event_term(ev, q->info);
    case 3: return event_atom(ev, q->what);
    case 4: return serial(ev, q->serial[0]);
    case 5: return serial(ev, q->serial[1]);
    case 6: return party(ev, q->from);
    case 7: return party(ev, q->to);
    case 8: return terms_keep(ev, ev->other);
    case 9: return event_atom(ev, agent.node);
    default: return 0;
    }
}

/* {send | receive | print, {Previous, Current}, From, To, Message}, where the label is the tracee.
 */
void tracer_seq(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                const ERL_NIF_TERM argv[])
{
    const ERL_NIF_TERM *e, *serials;
    struct seq q;
    int n;
    if (s->named[PROBE_TRACE_SEQ].n == 0 || !enif_get_tuple(env, argv[3], &n, &e) || n != 5 ||
        !enif_get_tuple(env, e[1], &n, &serials) || n != 2)
        return;
    event_init(&q.ev, t, env, e[0] == agent.atom.receive ? e[3] : e[2], e[4], arg_seq);
    q.ev.other = argv[2];
    q.ev.msg_is = DIF_BUILTIN_message;
    q.info = argv[3];
    q.what = e[0];
    q.serial[0] = serials[0];
    q.serial[1] = serials[1];
    q.from = e[2];
    q.to = e[3];
    terms_keep(&q.ev, argv[2]);
    q.ev.terms.fixed = q.ev.terms.n;
    event_fire(&q.ev, t, &s->named[PROBE_TRACE_SEQ]);
}
