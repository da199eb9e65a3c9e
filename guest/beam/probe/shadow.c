/* shadow.c - see shadow.h. */
#include "beam/probe/shadow.h"

#include <stddef.h>

static struct shadow_entry *at(struct shadow *s, uint32_t i)
{
    return &s->e[(s->base + i) % SHADOW_DEPTH];
}

static bool in_function(const struct shadow_entry *e, const struct shadow_fn *fn)
{
    return e->f == fn->f && e->m == fn->m && e->a == fn->a;
}

static bool same(const struct shadow_fn *a, const struct shadow_fn *b)
{
    return a->f == b->f && a->m == b->m && a->a == b->a;
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
        s->under++;
    }
    *at(s, s->depth++) = (struct shadow_entry){.m = fn->m,
                                               .f = fn->f,
                                               .a = (uint16_t)fn->a,
                                               .cm = caller->m,
                                               .cf = caller->f,
                                               .ca = (uint16_t)caller->a,
                                               .n = 1};
}

/* Removes what cannot be between a caller and its callee. Returns true if there was anything. */
static bool clear_above(struct shadow *s, const struct shadow_fn *caller)
{
    uint32_t was = s->depth;
    if (caller->bottom) {
        was += s->under;
        s->depth = s->under = 0;
        return was > 0;
    }
    for (uint32_t i = was; i > 0; i--)
        if (in_function(at(s, i - 1), caller)) {
            s->depth = i;
            return i < was;
        }
    return false;
}

bool shadow_call(struct shadow *s, const struct shadow_fn *fn, const struct shadow_fn *caller,
                 bool wanted)
{
    s->unwinding = false;
    s->plain_last = false;
    struct shadow_entry *top = s->depth ? at(s, s->depth - 1) : NULL;
    if (!top || !called_from(top, caller)) {
        bool gone = clear_above(s, caller);
        push(s, fn, caller);
        return gone;
    }
    if (in_function(top, caller)) { /* body recursion, or a tail call inside it */
        top->over = 1;
        if (in_function(top, fn)) {
            if (top->n < INT32_MAX)
                top->n++;
        } else {
            push(s, fn, caller);
        }
        return false;
    }
    if (!wanted)
        return false;
    top->m = fn->m;
    top->f = fn->f;
    top->a = (uint16_t)fn->a;
    /* A tail call that leads back to the function of the entry below: one entry serves both. */
    struct shadow_entry *below = s->depth > 1 ? at(s, s->depth - 2) : NULL;
    if (below && in_function(below, fn) && called_from(below, caller)) {
        below->over = 1;
        if (below->n < INT32_MAX)
            below->n++;
        s->depth--;
    }
    return false;
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

/* Removes the entry i - 1 and those above it. Returns i. */
static uint32_t leave(struct shadow *s, uint32_t i)
{
    struct shadow_entry *e = at(s, i - 1);
    if (e->n > 1) {
        e->n--;
        s->depth = i;
    } else {
        s->depth = i - 1;
    }
    return i;
}

enum shadow_gone shadow_return(struct shadow *s, const struct shadow_fn *to, struct shadow_fn *fn,
                               uint32_t *depth)
{
    bool unwound = s->unwinding;
    s->unwinding = false;
    *depth = 0;
    if (unwound && same(&s->left, to)) /* where it was caught, which is known */
        return SHADOW_UNKNOWN;
    if (s->plain_last && plain_return(s, fn))
        return SHADOW_RETURNED;
    uint32_t i = s->depth;
    while (i > 0 && !called_from(at(s, i - 1), to)) {
        if (!at(s, i - 1)->over)
            unwound = true;
        i--;
    }
    if (i == 0) {
        if (plain_return(s, fn))
            return SHADOW_RETURNED;
        s->lost++;
        if (s->depth == 0 && s->under > 0)
            s->under--;
        return SHADOW_UNKNOWN;
    }
    struct shadow_entry *e = at(s, i - 1);
    *fn = (struct shadow_fn){.m = e->m, .f = e->f, .a = e->a};
    *depth = s->under + leave(s, i);
    return unwound ? SHADOW_UNWOUND : SHADOW_RETURNED;
}

/* Returns the number of entries up to the topmost one of a function, 0: none. */
static uint32_t topmost(struct shadow *s, const struct shadow_fn *fn)
{
    uint32_t i = s->depth;
    while (i > 0 && !in_function(at(s, i - 1), fn))
        i--;
    return i;
}

uint32_t shadow_find(struct shadow *s, const struct shadow_fn *fn)
{
    uint32_t i = topmost(s, fn);
    return i > 0 ? s->under + i : 0;
}

uint32_t shadow_unwind(struct shadow *s, const struct shadow_fn *fn)
{
    /* Those above it have no exception probe. */
    uint32_t i = s->unwinding ? s->depth : topmost(s, fn);
    if (i > 0 && in_function(at(s, i - 1), fn)) {
        const struct shadow_entry *e = at(s, i - 1);
        s->left = (struct shadow_fn){.m = e->cm, .f = e->cf, .a = e->ca};
        s->unwinding = true;
        return s->under + leave(s, i);
    }
    uint32_t depth = s->unwinding ? shadow_depth(s) + 1 : 0;
    s->unwinding = true;
    return depth;
}
