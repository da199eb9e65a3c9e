/* tracer_user.c - probes that programs fire: dyntrace:p and pn, and erltrace:probe with terms.
 *
 * A D program gets a term as a HANDLE: the number of the event and the index of the term in a table
 * of that event. No handle is an address, and none outlives its event: a handle that a program kept
 * or made up is not accepted. The table is on the thread's stack. */
#include "beam/probe/hooks.h"

#include <string.h>

#include "base/glob.h"

enum { TEXT_MAX = 1024 }; /* bytes of a text that dyntrace accepts */

/* -- dyntrace ---------------------------------------------------------------------------------- */

/* Returns the text as OTP's own probe does: NULL where it is not a text, or too long. */
static uint64_t text_or_null(struct hook_event *h, ERL_NIF_TERM t)
{
    size_t len;
    char *p = event_room(&h->ev, TEXT_MAX + 1);
    if (!p || !term_bytes(h->ev.env, t, p, TEXT_MAX + 1, &len))
        return 0;
    h->ev.used = (uint32_t)(p + len + 1 - h->ev.room);
    return event_text(&h->ev, p, strlen(p));
}

static uint64_t integer_or_0(const struct hook_event *h, ERL_NIF_TERM t)
{
    ErlNifSInt64 i;
    return enif_get_int64(h->ev.env, t, &i) ? (uint64_t)i : 0;
}

/* Arguments of user_trace_i4s4(Tag, I1, .., I4, S1, .., S4); user_trace_n has the label before
 * these. */
uint64_t arg_user_trace(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    const ERL_NIF_TERM *args = h->argv + (h->argc - 9);
    if (n == 0)
        return event_pid(&h->ev, h->ev.pid);
    return n >= 2 && n <= 5 ? integer_or_0(h, args[n - 1]) : text_or_null(h, args[n - 1]);
}

uint64_t arg_user_trace_s1(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    return n == 0 ? text_or_null(h, h->argv[0]) : 0;
}

/* dyntrace rejects it without a text. */
bool is_user_trace_s1(const struct hook_event *h)
{
    char text[TEXT_MAX + 1];
    size_t len;
    return term_bytes(h->ev.env, h->argv[0], text, sizeof text, &len);
}

void fire_label(const struct snapshot *s, struct engine_thread *t, struct hook_event *h)
{
    unsigned label;
    if (s->label && enif_get_uint(h->ev.env, h->argv[0], &label) && label < PROBE_LABELS)
        event_fire(&h->ev, t, &s->label[label]);
}

/* -- terms ------------------------------------------------------------------------------------- */

enum { TERMS_BITS = 6, TERMS = 1 << TERMS_BITS, THREAD_BITS = 10 };
_Static_assert(ENGINE_THREADS_MAX <= 1 << THREAD_BITS, "a thread's index is part of a handle");

struct terms {
    uint64_t event; /* never 0; in the bits of a handle above the index */
    uint32_t n;     /* the arguments first */
    ERL_NIF_TERM t[TERMS];
};

static uint64_t handle(const struct terms *terms, uint32_t i)
{
    return terms->event << TERMS_BITS | i;
}

static ERL_NIF_TERM term_of(struct engine_ctx *ctx, uint64_t term)
{
    return hook_event_of(ctx)->terms->t[term & (TERMS - 1)];
}

static uint64_t keep(struct engine_ctx *ctx, ERL_NIF_TERM t)
{
    struct terms *terms = hook_event_of(ctx)->terms;
    if (terms->n == TERMS)
        return ENGINE_TERMS_FULL;
    terms->t[terms->n] = t;
    return handle(terms, terms->n++);
}

static bool terms_known(struct engine_ctx *ctx, uint64_t term)
{
    const struct terms *terms = hook_event_of(ctx)->terms;
    return term >> TERMS_BITS == terms->event && (term & (TERMS - 1)) < terms->n;
}

static const char *terms_kind(struct engine_ctx *ctx, uint64_t term)
{
    return term_kind(event_of(ctx)->env, term_of(ctx, term));
}

static int64_t terms_integer(struct engine_ctx *ctx, uint64_t term)
{
    return (int64_t)integer_or_0(hook_event_of(ctx), term_of(ctx, term));
}

static int64_t terms_size(struct engine_ctx *ctx, uint64_t term)
{
    return term_count(event_of(ctx)->env, term_of(ctx, term), &ctx->looked);
}

static size_t terms_text(struct engine_ctx *ctx, uint64_t term, char *out, size_t cap)
{
    return term_text(event_of(ctx)->env, term_of(ctx, term), out, cap, &ctx->looked);
}

static size_t terms_string(struct engine_ctx *ctx, uint64_t term, char *out, size_t cap)
{
    return term_string(event_of(ctx)->env, term_of(ctx, term), out, cap, &ctx->looked);
}

static uint64_t terms_element(struct engine_ctx *ctx, uint64_t term, int64_t n)
{
    ERL_NIF_TERM t;
    return term_element(event_of(ctx)->env, term_of(ctx, term), n, &t, &ctx->looked) ? keep(ctx, t)
                                                                                     : 0;
}

static uint64_t terms_get(struct engine_ctx *ctx, uint64_t term, const char *name, size_t len)
{
    ERL_NIF_TERM t;
    return term_get(event_of(ctx)->env, term_of(ctx, term), name, len, &t, &ctx->looked)
               ? keep(ctx, t)
               : 0;
}

static const struct engine_terms terms_ops = {
    .known = terms_known,
    .kind = terms_kind,
    .integer = terms_integer,
    .size = terms_size,
    .text = terms_text,
    .string = terms_string,
    .element = terms_element,
    .get = terms_get,
};

/* -- erltrace:probe(Name, A1, ..) -------------------------------------------------------------- */

uint64_t arg_user(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1: return event_atom(&h->ev, h->argv[0]);
    default: return n - 1 < h->argc ? handle(h->terms, n - 1) : 0;
    }
}

void fire_user(const struct snapshot *s, struct engine_thread *t, struct hook_event *h)
{
    char name[TERM_ATOM];
    struct terms terms;
    name[0] = '\0'; /* the rest is not initialized */
    if (!enif_is_atom(h->ev.env, h->argv[0]))
        return;
    terms.event = ++tracer_thread(t)->user_events << THREAD_BITS | t->index;
    memcpy(terms.t, h->argv, h->argc * sizeof *h->argv);
    h->terms = &terms;
    h->ev.ctx.terms = &terms_ops;
    for (uint32_t i = 0; i < s->nuser; i++) {
        const struct user_probe *u = &s->user[i];
        terms.n = h->argc; /* without parts that an earlier probe has examined */
        if (u->name == h->argv[0]) {
            event_fire(&h->ev, t, &u->bounds);
        } else if (u->name == 0) {
            if (name[0] == '\0' && !term_atom(h->ev.env, h->argv[0], name, sizeof name))
                return;
            if (glob_match(u->glob, name))
                event_fire_as(&h->ev, t, &u->bounds, name);
        }
    }
}
