/* kfinger.c - functions known by their code. See kfinger.h. The file is the traced program's:
 * nothing in it is trusted. */
#include "linux/kfinger.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "linux/kinsn.h"

enum {
    LEAST = 32, /* bytes of a function */
    MOST = 1 << 20,
    DISTANCE = 4, /* bytes */
    INSTRUCTION_MOST = 15,
    NAME_MOST = 256 /* bytes that count of the name of a function that is called */
};
static const uint64_t mix = 0xa0761d6478bd642fu, named = 0xe7037ed1a0b428dbu;

/* By their hashes. */
static const struct {
    uint64_t hash;
    const char *name;
} row[] = {
#define ROW(hash, name) {hash, name},
#include "linux/k_erts.list"
#undef ROW
};
enum { ROWS = sizeof row / sizeof *row };

/* Returns the name of the function that begins at an address, NULL if there is none. */
static const char *name_at(const struct kfuncs *names, uint64_t at)
{
    const struct kfunction *f = kfuncs_find(names, at);
    return f != NULL && f->at == at ? names->names.data + f->name : NULL;
}

/* Returns whether a function lies in the code whole, and is as long as one may be. */
static bool may_be_known(const struct kfinger_code *c, uint64_t at, uint64_t size)
{
    return at >= c->address && at - c->address <= c->n && size <= c->n - (at - c->address) &&
           size >= LEAST && size <= MOST;
}

uint64_t kfinger_of(const struct kfinger_code *c, uint64_t at, uint64_t size)
{
    if (!may_be_known(c, at, size))
        return 0;
    const unsigned char *code = c->bytes + (at - c->address);
    uint64_t hash = size;
    for (size_t i = 0, n; i < size; i += n) {
        unsigned char insn[INSTRUCTION_MOST];
        size_t place;
        bool jumps;
        int32_t distance = 0;
        n = kinsn_distance(code + i, size - i, &place, &jumps);
        if (n == 0)
            return 0;
        memcpy(insn, code + i, n);
        const char *name = NULL;
        if (place > 0) {
            memcpy(&distance, insn + place, DISTANCE);
            const uint64_t to = i + n + (uint64_t)(int64_t)distance; /* from the function on */
            if (!jumps || to >= size) {
                memset(insn + place, 0, DISTANCE);
                name = jumps ? name_at(c->names, at + to) : NULL;
            }
        }
        hash = hash_mix(hash ^ hash_bytes(insn, n), mix);
        if (name != NULL)
            hash = hash_mix(hash ^ hash_bytes(name, strnlen(name, NAME_MOST)), named);
    }
    return hash;
}

static int by_hash(const void *key, const void *at)
{
    const uint64_t hash = *(const uint64_t *)key, other = *(const uint64_t *)at;
    return hash < other ? -1 : hash > other;
}

int kfinger_row(uint64_t hash)
{
    const void *found = bsearch(&hash, row, ROWS, sizeof *row, by_hash);
    return found == NULL ? KFINGER_NONE
                         : (int)((const char *)found - (const char *)row) / (int)sizeof *row;
}

void kfinger_settle(struct kfinger_function *f, size_t n, size_t hashed)
{
    unsigned char functions[ROWS] = {0}; /* of each row: 0, 1, or 2 for more */
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (f[i].row != KFINGER_NONE && functions[f[i].row] < 2)
            functions[f[i].row]++;
    for (size_t i = 0; i < n; i++) {
        if (f[i].row != KFINGER_NONE && functions[f[i].row] > 1)
            f[i].row = KFINGER_NONE;
        known += f[i].row != KFINGER_NONE;
    }
    for (size_t i = 0; known < hashed - known && i < n; i++)
        f[i].row = KFINGER_NONE;
}

size_t kfinger_find(const struct kfinger_code *c, struct kfinger_function *f, size_t n)
{
    uint64_t end = 0;
    size_t looked = 0, hashed = 0;
    for (size_t i = 0; i < n; i++) {
        f[i].row = KFINGER_NONE;
        if (f[i].at < end || !may_be_known(c, f[i].at, f[i].size))
            continue;
        end = (uint64_t)f[i].at + f[i].size;
        looked += f[i].size;
        const uint64_t hash = kfinger_of(c, f[i].at, f[i].size);
        f[i].row = hash != 0 ? kfinger_row(hash) : KFINGER_NONE;
        hashed += hash != 0;
    }
    kfinger_settle(f, n, hashed);
    return looked;
}

int kfinger_rows(void)
{
    return ROWS;
}

const char *kfinger_name(int at)
{
    return row[at].name;
}
