/* kept.c - see kept.h. */
#include "beam/probe/kept.h"

#include "base/clock.h"
#include "beam/probe/frozen.h"

static uint32_t count(const struct kept_calls *k)
{
    return atomic_load_explicit(&k->n, memory_order_relaxed);
}

static void set_count(struct kept_calls *k, uint32_t n)
{
    atomic_store_explicit(&k->n, n, memory_order_relaxed);
}

/* Returns call i, 0 being the oldest. */
static struct kept_call *at(struct kept_calls *k, uint32_t i)
{
    return &k->call[(k->base + i) % KEPT_CALLS];
}

static bool has_no_calls(const void *record, uint64_t pid)
{
    const struct kept_calls *k = record;
    (void)pid;
    return count(k) == 0 && atomic_load_explicit(&k->busy, memory_order_relaxed) == 0;
}

struct kept_calls *kept_open(struct proctab *t, uint64_t pid, bool make)
{
    struct kept_calls *k = make ? proctab_share(t, pid, has_no_calls) : proctab_find(t, pid);
    uint32_t not_busy = 0;
    if (!k || !atomic_compare_exchange_strong_explicit(&k->busy, &not_busy, 1, memory_order_acquire,
                                                       memory_order_relaxed))
        return NULL;
    if (k->pid != pid) { /* new, or taken from another process */
        k->pid = pid;
        k->base = 0;
        set_count(k, 0);
    }
    return k;
}

void kept_close(struct kept_calls *k)
{
    if (k)
        atomic_store_explicit(&k->busy, 0, memory_order_release);
}

static void forget_oldest(struct kept_calls *k)
{
    k->base = (k->base + 1) % KEPT_CALLS;
    set_count(k, count(k) - 1);
}

/* Returns the number of words from `start`, the end of the newest call or 0, that no call uses. */
static uint32_t unused_from(struct kept_calls *k, uint32_t start)
{
    const uint32_t oldest = count(k) > 0 ? at(k, 0)->start : 0;
    return (count(k) > 0 && oldest >= start ? oldest : KEPT_WORDS) - start;
}

/* Forgets the oldest calls until `words` words in a row are unused. Returns the first of them. */
static uint32_t make_room(struct kept_calls *k, uint32_t start, uint32_t words)
{
    if (start + words > KEPT_WORDS) {
        while (count(k) > 0 && at(k, 0)->start >= start) /* they are older than those below */
            forget_oldest(k);
        start = 0;
    }
    /* From `start` on there are only words of the oldest calls, in the order of the calls. */
    while (count(k) > 0 && at(k, 0)->end > start && at(k, 0)->start < start + words)
        forget_oldest(k);
    return start;
}

/* Copies the arguments into unused words: at most `room`, which begin at c->start. Returns whether
 * all of them were copied, or as much as `words` allows. */
static bool keep(struct kept_calls *k, ErlNifEnv *env, ERL_NIF_TERM args, uint32_t room,
                 uint32_t words, struct kept_call *c)
{
    size_t used = 0;
    bool whole = true;
    const uint32_t most = room < words ? room : words;
    if (room == 0)
        return false;
    if (args != 0)
        c->args = frozen_args(env, args, k->word + c->start, most, &used, &whole);
    c->end = c->start + (uint32_t)used + (used == 0);
    return whole || most == words;
}

void kept_push(struct kept_calls *k, ErlNifEnv *env, uint64_t number, ERL_NIF_TERM args,
               uint32_t words, bool timed)
{
    if (count(k) == KEPT_CALLS)
        forget_oldest(k);
    struct kept_call c = {.number = number, .start = count(k) > 0 ? at(k, count(k) - 1)->end : 0};
    /* Few calls need all the words that they may have. */
    if (!keep(k, env, args, unused_from(k, c.start), words, &c)) {
        c.start = make_room(k, c.start, words + 1);
        keep(k, env, args, words + 1, words, &c);
    }
    c.began = timed ? monotonic_ns() : 0;
    *at(k, count(k)) = c;
    set_count(k, count(k) + 1);
}

const struct kept_call *kept_pop(struct kept_calls *k, uint64_t number)
{
    for (uint32_t i = count(k); i > 0; i--)
        if (at(k, i - 1)->number == number) {
            set_count(k, i - 1);
            return at(k, i - 1);
        }
    return NULL;
}
