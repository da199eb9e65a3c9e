/* alias.c - see alias.h.
 *
 * A reference is a boxed term: a pointer whose lowest bits are a tag, to a header word that says
 * how many words follow it. Nothing beyond those words is read. That they can be read is known from
 * enif_is_ref, and that they hold what was learned from the header. */
#include "beam/probe/alias.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { TAG_BITS = 3, ARITY_SHIFT = 6, ARITY_MOST = 8 };

static _Atomic uint64_t shape;  /* header word of a reference that is an alias; 0: not learned */
static _Atomic uint32_t offset; /* bytes from the header to the pid in it */

static const unsigned char *words(ERL_NIF_TERM ref)
{
    return (const unsigned char *)(uintptr_t)(ref & ~(ERL_NIF_TERM)((1 << TAG_BITS) - 1));
}

static uint64_t header(ERL_NIF_TERM ref)
{
    uint64_t h;
    memcpy(&h, words(ref), sizeof h);
    return h;
}

/* Terms are words: a reference is boxed when its two lowest bits are 10, on every release. */
static bool boxed_ref(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return sizeof t == 8 && enif_is_ref(env, t) && (t & 3) == 2;
}

bool alias_learn(ErlNifEnv *env, ERL_NIF_TERM alias, ERL_NIF_TERM pid, ERL_NIF_TERM plain)
{
    ErlNifPid p;
    uint32_t at = 0;
    unsigned found = 0;
    atomic_store(&shape, 0);
    if (!boxed_ref(env, alias) || !boxed_ref(env, plain) || !enif_get_local_pid(env, pid, &p))
        return false;
    uint64_t h = header(alias), arity = h >> ARITY_SHIFT;
    if (h == header(plain) || arity == 0 || arity > ARITY_MOST)
        return false;
    for (uint32_t i = 8; i + 8 <= 8 * (arity + 1); i += 4)
        if (memcmp(words(alias) + i, &pid, sizeof pid) == 0) {
            at = i;
            found++;
        }
    if (found != 1)
        return false;
    atomic_store(&offset, at);
    atomic_store(&shape, h);
    return true;
}

ERL_NIF_TERM alias_pid(ErlNifEnv *env, ERL_NIF_TERM ref)
{
    ErlNifPid p;
    ERL_NIF_TERM pid;
    uint64_t h = atomic_load_explicit(&shape, memory_order_acquire);
    if (h == 0 || !boxed_ref(env, ref) || header(ref) != h)
        return 0;
    memcpy(&pid, words(ref) + atomic_load_explicit(&offset, memory_order_relaxed), sizeof pid);
    return enif_get_local_pid(env, pid, &p) ? pid : 0;
}
