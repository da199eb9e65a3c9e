/* update.c - the aggregation tables of one thread: finds or creates a key's entry, and updates it.
 *
 * A table holds what was added since it was last drained, so its words start from each function's
 * neutral value and the reader merges. The work of one update is bounded for any keys. */
#include <sched.h>
#include <string.h>

#include "base/hash.h"
#include "engine/impl.h"

enum { LOOKS = 1024 }; /* limit on the cells examined for one key */

static void words_update(const struct dif_agg *a, uint64_t *w, int64_t v, int64_t incr)
{
    __extension__ typedef unsigned __int128 u128;
    const int64_t *p = a->param;
    switch (a->func) {
    case AGG_COUNT: w[0] += (uint64_t)incr; break;
    case AGG_SUM: w[0] += (uint64_t)v * (uint64_t)incr; break;
    case AGG_AVG:
        w[0]++;
        w[1] += (uint64_t)v;
        break;
    case AGG_MIN:
        if (v < (int64_t)w[0])
            w[0] = (uint64_t)v;
        break;
    case AGG_MAX:
        if (v > (int64_t)w[0])
            w[0] = (uint64_t)v;
        break;
    case AGG_STDDEV: {
        uint64_t mag = v < 0 ? -(uint64_t)v : (uint64_t)v;
        u128 sq = ((u128)w[3] << 64 | w[2]) + (u128)mag * mag;
        w[0]++;
        w[1] += (uint64_t)v;
        w[2] = (uint64_t)sq;
        w[3] = (uint64_t)(sq >> 64);
        break;
    }
    case AGG_QUANTIZE: w[dif_quantize_bucket(v)] += (uint64_t)incr; break;
    case AGG_LQUANTIZE: w[dif_lquantize_bucket(v, p[0], p[1], p[2])] += (uint64_t)incr; break;
    case AGG_LLQUANTIZE: w[dif_llq_bucket(v, p[0], p[1], p[2], p[3])] += (uint64_t)incr; break;
    default: break;
    }
}

/* Returns the hash of a key. Zeros at its end do not change it: most of a stack's key is zeros. */
static uint64_t key_hash(const unsigned char *key, uint32_t n)
{
    uint64_t w[4];
    uint32_t used = n;
    for (; used >= sizeof w; used -= (uint32_t)sizeof w) {
        memcpy(w, key + used - sizeof w, sizeof w);
        if ((w[0] | w[1] | w[2] | w[3]) != 0)
            break;
    }
    return hash_bytes(key, used) ^ (n - used);
}

void aggr_add(const struct exec *x, struct record_entry *n, int64_t value, int64_t incr)
{
    words_update(&x->e->img.aggs[n->agg], n->words, value, incr);
    n->cpu |= x->lower ? RECORD_ENTRY_LOWER : 0;
}

struct record_entry *aggr_update(struct exec *x, struct ahalf *h, uint32_t agg, const void *key,
                                 uint32_t keylen, int64_t value, int64_t incr)
{
    const struct engine *e = x->e;
    const struct dif_agg *a = &e->img.aggs[agg];
    unsigned nwords = e->agg_words[agg];
    uint32_t mask = e->index_cells - 1;
    const uint64_t hash = hash_mix(key_hash(key, keylen) ^ agg, 0x9e3779b97f4a7c15u);
    uint64_t high = hash & 0xffffffff00000000u;
    uint32_t i = (uint32_t)hash & mask;
    for (uint32_t looks = 0; h->index[i] != 0; i = (i + 1) & mask) {
        if (looks++ == LOOKS) /* keys chosen to collide */
            return NULL;
        if ((h->index[i] & 0xffffffff00000000u) != high)
            continue;
        /* The update's cost includes the first comparison of a short key. */
        if (__builtin_expect(looks > 1 || keylen > WORK_SHORT, 0) &&
            !exec_work(x, 1 + keylen / WORK_COPY))
            return NULL;
        struct record_entry *n =
            (struct record_entry *)(void *)(h->data + ((h->index[i] & 0xffffffffu) - 1) * 8);
        if (n->agg == agg && n->keylen == keylen && memcmp(n->words + nwords, key, keylen) == 0) {
            aggr_add(x, n, value, incr);
            return n;
        }
    }
    uint64_t used = atomic_load_explicit(&h->used, memory_order_relaxed);
    /* The verifier bounds words (WORD_HIST_MAX) and keys (WORD_KEYS_MAX of DIF_STRSIZE_MOST), so
     * this is far below 2^32. check_limits ensures that it fits in an empty table. */
    const uint32_t size = record_entry_size(nwords, keylen);
    if (h->count >= e->index_cells / 4 * 3 || size > e->agg_data - used)
        return NULL;
    if (!exec_work(x, e->agg_far + WORK_ENTRY + size / WORK_NEW))
        return NULL;
    struct record_entry *n = (struct record_entry *)(void *)(h->data + used);
    record_put_entry(n, size, agg, keylen, (uint32_t)sched_getcpu());
    word_agg_start(word_agg(a->func), n->words, nwords);
    memcpy(n->words + nwords, key, keylen);
    aggr_add(x, n, value, incr);
    h->index[i] = high | (used / 8 + 1);
    h->count++;
    atomic_store_explicit(&h->used, used + size, memory_order_relaxed);
    return n;
}
