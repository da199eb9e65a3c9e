/* table.c - the table from byte strings to pointers. */
#include "util/table.h"

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/size.h"

void hash_free(struct hash *h)
{
    et_free(h->slots);
    *h = (struct hash)HASH_INIT;
}

/* Returns the slot of the key, or the free slot where it belongs. The table is never full. */
static struct hash_slot *hash_find(const struct hash *h, const void *key, size_t len, uint64_t hash)
{
    for (size_t i = hash & (h->cap - 1);; i = (i + 1) & (h->cap - 1)) {
        struct hash_slot *s = &h->slots[i];
        if (s->key == NULL || (s->hash == hash && s->len == len && memcmp(s->key, key, len) == 0))
            return s;
    }
}

static int hash_grow(struct hash *h)
{
    struct hash bigger = {.cap = h->cap ? size_mul(h->cap, 2) : 16, .count = h->count};
    bigger.slots = et_calloc(bigger.cap, sizeof *bigger.slots);
    if (bigger.slots == NULL)
        return ET_ENOMEM;
    for (size_t i = 0; i < h->cap; i++) {
        const struct hash_slot *s = &h->slots[i];
        if (s->key != NULL)
            *hash_find(&bigger, s->key, s->len, s->hash) = *s;
    }
    et_free(h->slots);
    *h = bigger;
    return 0;
}

int hash_put(struct hash *h, const void *key, size_t len, void *value)
{
    uint64_t hash = hash_bytes(key, len);
    if (h->count >= h->cap / 4 * 3) {
        int err = hash_grow(h);
        if (err)
            return err;
    }
    struct hash_slot *s = hash_find(h, key, len, hash);
    if (s->key == NULL) {
        *s = (struct hash_slot){.key = key, .len = len, .hash = hash};
        h->count++;
    }
    s->value = value;
    return 0;
}

void *hash_get(const struct hash *h, const void *key, size_t len)
{
    if (h->cap == 0)
        return NULL;
    return hash_find(h, key, len, hash_bytes(key, len))->value;
}
