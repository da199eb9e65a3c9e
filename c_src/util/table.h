/* table.h - a table from byte strings to pointers.
 *
 * The table is open addressing with linear probing, at most 3/4 full. Keys are borrowed: they must
 * outlive the table (keys live in an arena). There is no removal. */
#ifndef ET_UTIL_TABLE_H
#define ET_UTIL_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_slot {
    const void *key; /* borrowed; NULL: the slot is free */
    size_t len;      /* bytes of key */
    uint64_t hash;   /* of key, never recomputed */
    void *value;     /* the caller's */
};

struct hash {
    struct hash_slot *slots;
    size_t cap;   /* a power of two, or 0 */
    size_t count; /* slots in use */
};

#define HASH_INIT                                                                                  \
    {                                                                                              \
        0                                                                                          \
    }

void hash_free(struct hash *h);
/* Sets key to value; 0 or ET_ENOMEM. */
int hash_put(struct hash *h, const void *key, size_t len, void *value);
/* Returns the value, or NULL. */
void *hash_get(const struct hash *h, const void *key, size_t len);
static inline int hash_puts(struct hash *h, const char *key, void *value)
{
    return hash_put(h, key, strlen(key), value);
}
static inline void *hash_gets(const struct hash *h, const char *key)
{
    return hash_get(h, key, strlen(key));
}

#endif
