/* tracer_user.c - probes that programs fire: dyntrace:p and pn, and erltrace:probe with terms. */
#include "beam/probe/hooks.h"
#include "beam/probe/terms.h"

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

/* -- erltrace:probe(Name, A1, ..) -------------------------------------------------------------- */

uint64_t arg_user(struct engine_ctx *ctx, unsigned n)
{
    struct hook_event *h = hook_event_of(ctx);
    switch (n) {
    case 0: return event_pid(&h->ev, h->ev.pid);
    case 1: /* the program's own text of the name, if it has one: fire_user */
        return h->ev.ctx.fixed.base != 0
                   ? event_text(&h->ev, (const char *)(uintptr_t)h->ev.ctx.fixed.base,
                                h->ev.ctx.fixed.len)
                   : event_atom(&h->ev, h->argv[0]);
    default: return n - 1 < h->argc ? terms_keep(&h->ev, h->argv[n - 1]) : 0;
    }
}

void fire_user(const struct snapshot *s, struct engine_thread *t, struct hook_event *h)
{
    char name[TERM_ATOM];
    name[0] = '\0'; /* the rest is not initialized */
    if (!enif_is_atom(h->ev.env, h->argv[0]))
        return;
    for (uint32_t i = 1; i < h->argc; i++)
        terms_keep(&h->ev, h->argv[i]);
    h->ev.terms.fixed = h->ev.terms.n;
    for (uint32_t i = 0; i < s->nuser; i++) {
        const struct user_probe *u = &s->user[i];
        if (u->name == h->argv[0]) {
            h->ev.ctx.fixed = (struct engine_range){(uint64_t)(uintptr_t)u->glob, strlen(u->glob)};
            event_fire(&h->ev, t, &u->bounds);
            h->ev.ctx.fixed.base = 0;
        } else if (u->name == 0) {
            if (name[0] == '\0' && !term_atom(h->ev.env, h->argv[0], name, sizeof name))
                return;
            if (glob_match(u->glob, name))
                event_fire_as(&h->ev, t, &u->bounds, name);
        }
    }
}
