/* shadow.c - see shadow.h. */
#include "beam/shadow.h"

#include <stddef.h>

static struct shadow_entry *at(struct shadow *s, uint32_t i)
{
    return &s->e[(s->base + i) % SHADOW_DEPTH];
}

static bool in_function(const struct shadow_entry *e, const struct shadow_fn *fn)
{
    return e->f == fn->f && e->m == fn->m && e->a == fn->a;
}

static bool called_from(const struct shadow_entry *e, const struct shadow_fn *fn)
{
    return e->cf == fn->f && e->cm == fn->m && e->ca == fn->a;
}

static void push(struct shadow *s, const struct shadow_fn *fn, const struct shadow_fn *caller)
{
    if (s->depth == SHADOW_DEPTH) {
        s->base = (s->base + 1) % SHADOW_DEPTH;
        s->depth--;
    }
    *at(s, s->depth++) = (struct shadow_entry){.m = fn->m,
                                               .f = fn->f,
                                               .a = (uint16_t)fn->a,
                                               .cm = caller->m,
                                               .cf = caller->f,
                                               .ca = (uint16_t)caller->a,
                                               .n = 1};
}

void shadow_call(struct shadow *s, const struct shadow_fn *fn, const struct shadow_fn *caller,
                 bool wanted)
{
    s->unwinding = false;
    s->plain_last = false;
    struct shadow_entry *top = s->depth ? at(s, s->depth - 1) : NULL;
    if (!top || !called_from(top, caller)) {
        push(s, fn, caller);
        return;
    }
    if (in_function(top, caller)) { /* body recursion, or a tail call inside it */
        top->over = 1;
        if (in_function(top, fn)) {
            if (top->n < INT32_MAX)
                top->n++;
        } else {
            push(s, fn, caller);
        }
        return;
    }
    if (!wanted)
        return;
    top->m = fn->m;
    top->f = fn->f;
    top->a = (uint16_t)fn->a;
    /* A tail call that leads back to the function of the entry below: one entry is enough for both.
     */
    struct shadow_entry *below = s->depth > 1 ? at(s, s->depth - 2) : NULL;
    if (below && in_function(below, fn) && called_from(below, caller)) {
        below->over = 1;
        if (below->n < INT32_MAX)
            below->n++;
        s->depth--;
    }
}

void shadow_call_plain(struct shadow *s, const struct shadow_fn *fn)
{
    if (s->plain_fn.f != fn->f || s->plain_fn.m != fn->m || s->plain_fn.a != fn->a) {
        s->plain_fn = *fn;
        s->plain = 0;
    }
    s->plain_last = true;
    if (s->plain < UINT32_MAX)
        s->plain++;
}

static bool plain_return(struct shadow *s, struct shadow_fn *fn)
{
    if (s->plain == 0)
        return false;
    s->plain--;
    *fn = s->plain_fn;
    return true;
}

bool shadow_return(struct shadow *s, const struct shadow_fn *to, struct shadow_fn *fn)
{
    bool unwound = s->unwinding;
    s->unwinding = false;
    if (s->plain_last && plain_return(s, fn))
        return true;
    uint32_t i = s->depth;
    while (i > 0 && !called_from(at(s, i - 1), to)) {
        if (!at(s, i - 1)->over)
            unwound = true;
        i--;
    }
    if (i == 0) {
        if (plain_return(s, fn))
            return true;
        s->lost++;
        return false;
    }
    struct shadow_entry *e = at(s, i - 1);
    *fn = (struct shadow_fn){.m = e->m, .f = e->f, .a = e->a};
    if (e->n > 1) {
        e->n--;
        s->depth = i;
    } else {
        s->depth = i - 1;
    }
    return !unwound;
}

void shadow_unwind(struct shadow *s)
{
    s->unwinding = true;
}
