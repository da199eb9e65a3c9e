/* proctab.c - see proctab.h. A freed slot leaves a hole, so a look-up always scans its whole window
 * (two or three cache lines of keys). */
#include "beam/probe/proctab.h"

#include "base/arena.h"
#include "base/hash.h"

struct proctab *proctab_new(uint32_t cap, size_t width)
{
    struct proctab *t = et_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct proctab){.width = width, .cap = cap};
    t->key = et_calloc(cap, sizeof *t->key);
    t->dead = et_calloc(cap, 1);
    t->data = et_calloc(cap, width);
    if (t->key && t->dead && t->data)
        return t;
    proctab_free(t);
    return NULL;
}

void proctab_free(struct proctab *t)
{
    if (!t)
        return;
    et_free((void *)t->key);
    et_free(t->dead);
    et_free(t->data);
    et_free(t);
}

static uint32_t first_slot(const struct proctab *t, uint64_t pid)
{
    return (uint32_t)(hash_mix(pid ^ 0x9e3779b97f4a7c15u, 0xa0761d6478bd642fu) & (t->cap - 1));
}

static void *find(struct proctab *t, uint64_t pid, uint32_t h)
{
    for (uint32_t i = 0; i < PROCTAB_WINDOW; i++) {
        uint32_t s = (h + i) & (t->cap - 1);
        if (atomic_load_explicit(&t->key[s], memory_order_relaxed) == pid) {
            atomic_thread_fence(memory_order_acquire); /* see proctab.h */
            return t->data + s * t->width;
        }
    }
    return NULL;
}

void *proctab_find(struct proctab *t, uint64_t pid)
{
    return t ? find(t, pid, first_slot(t, pid)) : NULL;
}

/* Returns the record of a process, in a slot that it takes if there is none; *fresh says so. `over`
 * NULL: only a free slot, and the process is this thread's. Otherwise threads share the process:
 * those that want a slot for it look at the slots in the same order, and the second finds that of
 * the first. */
static inline void *claim(struct proctab *t, uint64_t pid,
                          bool (*over)(const void *record, uint64_t pid), bool *fresh)
{
    *fresh = false;
    if (!t)
        return NULL;
    uint32_t h = first_slot(t, pid);
    void *p = find(t, pid, h);
    if (p)
        return p;
    for (unsigned full = 0; full < (over ? 2 : 1); full++) /* free slots before those of others */
        for (uint32_t i = 0; i < PROCTAB_WINDOW; i++) {
            uint32_t s = (h + i) & (t->cap - 1);
            void *record = t->data + s * t->width;
            uint64_t was = atomic_load_explicit(&t->key[s], memory_order_relaxed);
            if (full ? was == 0 || !over(record, was) : was != 0)
                continue;
            *fresh = atomic_compare_exchange_strong_explicit(
                &t->key[s], &was, pid, memory_order_acq_rel, memory_order_relaxed);
            if (*fresh || (over && was == pid))
                return record;
        }
    return NULL;
}

void *proctab_claim(struct proctab *t, uint64_t pid, bool *fresh)
{
    return claim(t, pid, NULL, fresh);
}

void proctab_drop(struct proctab *t, uint64_t pid)
{
    uint32_t h = t ? first_slot(t, pid) : 0;
    for (uint32_t i = 0; t && i < PROCTAB_WINDOW; i++) {
        _Atomic uint64_t *key = &t->key[(h + i) & (t->cap - 1)];
        uint64_t is = pid; /* the sweeper may be freeing it as well */
        if (atomic_load_explicit(key, memory_order_relaxed) == pid &&
            atomic_compare_exchange_strong_explicit(key, &is, 0, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
}

void *proctab_share(struct proctab *t, uint64_t pid, bool (*over)(const void *record, uint64_t pid))
{
    bool fresh;
    return claim(t, pid, over, &fresh);
}

void proctab_sweep(struct proctab *t, uint32_t part, uint32_t parts,
                   bool (*alive)(void *arg, uint64_t pid), void *arg)
{
    for (uint32_t s = t->cap / parts * part, end = s + t->cap / parts; s < end; s++) {
        uint64_t pid = atomic_load_explicit(&t->key[s], memory_order_relaxed);
        if (pid == 0)
            continue;
        if (alive(arg, pid)) {
            t->dead[s] = 0;
        } else if (!t->dead[s]) {
            t->dead[s] = 1;
        } else {
            t->dead[s] = 0; /* and another process may just have taken it: proctab_share */
            atomic_compare_exchange_strong_explicit(&t->key[s], &pid, 0, memory_order_release,
                                                    memory_order_relaxed);
        }
    }
}
