/* porttab.c - see porttab.h. A freed slot leaves a hole, so a look-up scans its whole window. */
#include "beam/probe/porttab.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/hash.h"

struct slot {
    _Atomic uint64_t port; /* 0: free */
    _Atomic uint64_t name, owner;
    bool dead; /* the last sweep found it closed; only the sweeper uses this */
};

struct porttab {
    uint32_t cap;
    struct slot *slot;
};

struct porttab *porttab_new(uint32_t cap)
{
    struct porttab *t = et_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->cap = cap;
    t->slot = et_calloc(cap, sizeof *t->slot);
    if (t->slot)
        return t;
    et_free(t);
    return NULL;
}

void porttab_free(struct porttab *t)
{
    if (!t)
        return;
    et_free(t->slot);
    et_free(t);
}

static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void put(_Atomic uint64_t *word, uint64_t v)
{
    atomic_store_explicit(word, v, memory_order_relaxed);
}

static struct slot *slot_at(struct porttab *t, uint64_t port, uint32_t i)
{
    uint64_t h = hash_mix(port ^ 0x9e3779b97f4a7c15u, 0xa0761d6478bd642fu);
    return &t->slot[(h + i) & (t->cap - 1)];
}

static struct slot *find(struct porttab *t, uint64_t port)
{
    for (uint32_t i = 0; t && i < PORTTAB_WINDOW; i++) {
        struct slot *s = slot_at(t, port, i);
        if (get(&s->port) == port) {
            atomic_thread_fence(memory_order_acquire); /* what a former port had is gone */
            return s;
        }
    }
    return NULL;
}

/* Two threads that claim a slot for the same port scan the window in the same order: the second
 * finds the slot of the first. */
static struct slot *claim(struct porttab *t, uint64_t port)
{
    struct slot *s = find(t, port);
    for (uint32_t i = 0; t && !s && i < PORTTAB_WINDOW; i++) {
        struct slot *to = slot_at(t, port, i);
        uint64_t was = 0;
        if (atomic_compare_exchange_strong_explicit(&to->port, &was, port, memory_order_acq_rel,
                                                    memory_order_relaxed) ||
            was == port)
            s = to;
    }
    return s;
}

uint64_t porttab_name(struct porttab *t, uint64_t port)
{
    const struct slot *s = find(t, port);
    return s ? get(&s->name) : 0;
}

uint64_t porttab_owner(struct porttab *t, uint64_t port)
{
    const struct slot *s = find(t, port);
    return s ? get(&s->owner) : 0;
}

void porttab_set(struct porttab *t, uint64_t port, uint64_t name, uint64_t owner)
{
    struct slot *s = claim(t, port);
    if (s && name)
        put(&s->name, name);
    if (s && owner)
        put(&s->owner, owner);
}

static void add(_Atomic uint64_t *word, uint64_t v)
{
    uint64_t unknown = 0;
    atomic_compare_exchange_strong_explicit(word, &unknown, v, memory_order_relaxed,
                                            memory_order_relaxed);
}

void porttab_add(struct porttab *t, uint64_t port, uint64_t name, uint64_t owner)
{
    struct slot *s = claim(t, port);
    if (s && name)
        add(&s->name, name);
    if (s && owner)
        add(&s->owner, owner);
}

void porttab_forget_owners(struct porttab *t)
{
    for (uint32_t i = 0; t && i < t->cap; i++)
        if (get(&t->slot[i].owner))
            put(&t->slot[i].owner, 0);
}

void porttab_unknown(struct porttab *t, uint32_t part, uint32_t parts,
                     void (*fn)(void *arg, uint64_t port), void *arg)
{
    if (!t)
        return;
    for (uint32_t i = t->cap / parts * part, end = i + t->cap / parts; i < end; i++) {
        const struct slot *s = &t->slot[i];
        uint64_t port = get(&s->port);
        if (port && (!get(&s->name) || !get(&s->owner)))
            fn(arg, port);
    }
}

void porttab_sweep(struct porttab *t, uint32_t part, uint32_t parts,
                   bool (*alive)(void *arg, uint64_t port), void *arg)
{
    if (!t)
        return;
    for (uint32_t i = t->cap / parts * part, end = i + t->cap / parts; i < end; i++) {
        struct slot *s = &t->slot[i];
        uint64_t port = get(&s->port);
        if (port == 0)
            continue;
        if (alive(arg, port)) {
            s->dead = false;
        } else if (!s->dead) {
            s->dead = true;
        } else {
            s->dead = false;
            put(&s->name, 0);
            put(&s->owner, 0);
            atomic_store_explicit(&s->port, 0, memory_order_release);
        }
    }
}
