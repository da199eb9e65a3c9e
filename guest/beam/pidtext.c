/* pidtext.c - one small direct-mapped cache per thread: the word of a pid determines its cell, and
 * a pid that misses replaces the one in its cell. The memory of threads that never fire is never
 * touched. */
#include "beam/pidtext.h"

#include <string.h>

#include "base/hash.h"
#include "beam/probe/term.h"
#include "engine/engine.h"

enum { CELLS = 128, TEXT = 23 };

struct cell {
    ERL_NIF_TERM pid; /* 0: empty */
    uint8_t len;
    char text[TEXT]; /* NUL-terminated */
};

static struct cell cache[ENGINE_THREADS_MAX][CELLS];

size_t pidtext(ErlNifEnv *env, ERL_NIF_TERM t, uint32_t thread, char *out, size_t cap)
{
    ErlNifPid local;
    if (thread >= ENGINE_THREADS_MAX || cap < TEXT || !enif_get_local_pid(env, t, &local))
        return term_simple(env, t, out, cap);
    struct cell *c = &cache[thread][hash_mix(t, 0x9e3779b97f4a7c15u) % CELLS];
    if (c->pid == t) {
        memcpy(out, c->text, TEXT);
        return c->len;
    }
    size_t len = term_simple(env, t, out, cap);
    if (len < TEXT) {
        memcpy(c->text, out, len + 1);
        c->len = (uint8_t)len;
        c->pid = t;
    }
    return len;
}
