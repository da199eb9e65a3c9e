/* keys.c - see keys.h. */
#include "web/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "util/buftext.h"
#include "util/json.h"

/* -- texts ------------------------------------------------------------------------------------- */

static void add_value(struct buf *b, const struct erltrace_aggr *a, size_t i)
{
    const struct erltrace_value *v = erltrace_aggr_key(a, i);
    const char *text = erltrace_aggr_key_text(a, i, 0);
    buf_addc(b, ',');
    if (v->kind == ERLTRACE_VALUE_INT) {
        json_safe_int(b, v->number);
    } else if (v->kind == ERLTRACE_VALUE_UINT) {
        json_safe_uint(b, (uint64_t)v->number);
    } else if (v->kind == ERLTRACE_VALUE_STRING) {
        buf_json(b, v->text, strnlen(v->text, v->length));
    } else if (text != NULL) {
        json_text(b, text);
    } else {
        json_hex(b, v->text, v->length);
    }
}

/* Appends a part that is a stack: the texts of its frames. */
static void add_stack(struct buf *b, const struct erltrace_aggr *a, size_t i)
{
    const char *frame;
    buf_adds(b, ",[");
    for (size_t n = 0; (frame = erltrace_aggr_key_text(a, i, n)) != NULL; n++) {
        if (n > 0)
            buf_addc(b, ',');
        json_text(b, frame);
    }
    buf_addc(b, ']');
}

void keys_text(struct buf *b, const struct erltrace_aggr *a)
{
    buf_reset(b);
    for (size_t i = 0; i < a->nkeys; i++) {
        if (erltrace_aggr_key_text(a, i, 1) != NULL)
            add_stack(b, a, i);
        else
            add_value(b, a, i);
    }
}

/* -- the table --------------------------------------------------------------------------------- */

static struct key **slot_of(const struct keys *t, uint64_t hash)
{
    return &t->slot[hash & (t->nslots - 1)];
}

static struct key *find(const struct keys *t, const struct buf *text, uint64_t hash)
{
    struct key *k = t->nslots > 0 ? *slot_of(t, hash) : NULL;
    while (k != NULL && (k->hash != hash || k->len != text->len ||
                         (k->len > 0 && memcmp(k->text, text->data, k->len) != 0)))
        k = k->next;
    return k;
}

static bool grow(struct keys *t)
{
    struct keys old = *t;
    size_t n = t->nslots > 0 ? t->nslots * 2 : 64;
    struct key **slot = calloc(n, sizeof(struct key *));
    if (slot == NULL)
        return false;
    t->slot = slot;
    t->nslots = n;
    for (size_t i = 0; i < old.nslots; i++) {
        for (struct key *k = old.slot[i], *next; k != NULL; k = next) {
            next = k->next;
            k->next = *slot_of(t, k->hash);
            *slot_of(t, k->hash) = k;
        }
    }
    free(old.slot);
    return true;
}

struct key *keys_each(const struct keys *t, const struct key *k)
{
    if (k != NULL && k->next != NULL)
        return k->next;
    for (size_t i = k != NULL ? (k->hash & (t->nslots - 1)) + 1 : 0; i < t->nslots; i++)
        if (t->slot[i] != NULL)
            return t->slot[i];
    return NULL;
}

static size_t size_of(const struct keys *t, size_t len)
{
    return sizeof(struct key) + len + t->kind.nwords * sizeof(uint64_t);
}

/* Returns false if there is no room. */
static bool take(struct keys_room *room, size_t size)
{
    if (room->taken + size > KEYS_BYTES)
        return false;
    if (atomic_fetch_add(room->shared, size) + size > KEYS_SHARED) {
        atomic_fetch_sub(room->shared, size);
        return false;
    }
    room->taken += size;
    return true;
}

static void give_back(struct keys_room *room, size_t size)
{
    atomic_fetch_sub(room->shared, size);
    room->taken -= size;
}

static void free_key(struct key *k)
{
    if (k == NULL)
        return;
    free(k->base);
    free(k->lost);
    free(k);
}

static struct key *make_key(const struct keys *t, const char *text, size_t len)
{
    struct key *k = calloc(1, sizeof *k + len + 1);
    if (k == NULL || (k->base = calloc(t->kind.nwords + 1, sizeof *k->base)) == NULL) {
        free(k);
        return NULL;
    }
    if (len > 0)
        memcpy(k->text, text, len);
    k->len = len;
    value_start(t->kind, k->base);
    return k;
}

bool keys_init(struct keys *t, struct value_kind kind)
{
    *t = (struct keys){.kind = kind};
    t->others = make_key(t, NULL, 0);
    return t->others != NULL;
}

void keys_free(struct keys *t, struct keys_room *room)
{
    for (size_t i = 0; i < t->nslots; i++) {
        for (struct key *k = t->slot[i], *next; k != NULL; k = next) {
            next = k->next;
            give_back(room, size_of(t, k->len));
            free_key(k);
        }
    }
    free_key(t->others);
    free(t->slot);
    *t = (struct keys){.kind = t->kind};
}

/* -- removing and returning -------------------------------------------------------------------- */

void keys_bury(struct keys *t, struct key *k)
{
    k->gone = true;
    k->newer = NULL;
    k->older = t->newest;
    *(t->newest != NULL ? &t->newest->newer : &t->oldest) = k;
    t->newest = k;
}

void keys_revive(struct keys *t, struct key *k)
{
    *(k->older != NULL ? &k->older->newer : &t->oldest) = k->newer;
    *(k->newer != NULL ? &k->newer->older : &t->newest) = k->older;
    k->older = k->newer = NULL;
    k->fresh |= k->told; /* the page has forgotten it */
    k->gone = k->told = false;
}

/* Forgets the key that was removed longest ago, unless it has additions that were not sent yet. */
static bool forget(struct keys *t, struct keys_room *room)
{
    struct key *k = t->oldest;
    if (k == NULL || !k->told || k->lost != NULL || k->seen)
        return false;
    keys_revive(t, k);
    struct key **at = slot_of(t, k->hash);
    while (*at != k)
        at = &(*at)->next;
    *at = k->next;
    give_back(room, size_of(t, k->len));
    t->n--;
    free_key(k);
    return true;
}

struct key *keys_get(struct keys *t, const struct buf *text, struct keys_room *room)
{
    if (text->oom)
        return NULL;
    uint64_t hash = hash_bytes(buf_str(text), text->len);
    struct key *k = find(t, text, hash);
    if (k != NULL)
        return k;
    size_t size = size_of(t, text->len);
    while (t->n >= KEYS_MOST || !take(room, size))
        if (!forget(t, room))
            return t->others;
    bool roomy = t->n * 4 < t->nslots * 3 || grow(t);
    k = roomy ? make_key(t, text->data, text->len) : NULL;
    if (k == NULL) {
        give_back(room, size);
        return NULL;
    }
    k->hash = hash;
    k->number = t->next++;
    k->fresh = true;
    k->next = *slot_of(t, hash);
    *slot_of(t, hash) = k;
    t->n++;
    return k;
}
