/* stacks.c - stacks among the keys of aggregations: the same for all that is shown alike.
 *
 * A node reports a stack as addresses. Two addresses in one line are shown as one frame, and so are
 * addresses of the same function in two nodes, or before and after its module was loaded again. So
 * each frame that enters the table of aggregations is replaced by the number of its PLACE: a
 * function, file and line, or a function alone with stackkey=function. An address that its node
 * cannot name is a place of its own, of that node. When the node can name it later, the keys with
 * it are changed, and those that have become the same are merged. Other tiers show functions with
 * offsets: their addresses stay. */
#include <string.h>

#include "base/arena.h"
#include "session/session.h"
#include "util/buftext.h"

enum { WORD = 8 };
enum { STACKKEY_FUNCTION = 1 }; /* the second word of the option */

/* A frame's number has these bits, which no address in a process has; its stack, this process. */
static const uint64_t PLACE = UINT64_C(0xe700) << 48, PLACES = UINT64_MAX;

struct place {
    struct tier_symbol symbol; /* function NULL: not known */
    const struct tier *tier;   /* of one that was not known when it came, and its address */
    uint64_t pid, address;
    uint32_t is; /* the place that it has turned out to be; its own number: none */
};

static struct place *place_at(const struct session *s, uint64_t n)
{
    return n < s->stacks.place.len / sizeof(struct place)
               ? (struct place *)(void *)s->stacks.place.data + n
               : NULL;
}

static bool by_function(const struct session *s)
{
    return s->opt.value[OPTION_stackkey] == STACKKEY_FUNCTION || symbol_folded(&s->report.symbols);
}

/* Returns the number of the place with this text as its identity, made from *p if it is new. */
static uint32_t intern(struct session *s, const struct buf *text, const struct place *p)
{
    struct session_stacks *all = &s->stacks;
    void *was = hash_get(&all->index, text->data, text->len);
    if (was != NULL)
        return (uint32_t)(uintptr_t)was - 1;
    uint32_t n = (uint32_t)(all->place.len / sizeof *p);
    struct place made = *p;
    const char *kept = arena_strndup(&s->arena, text->data, text->len);
    made.is = n;
    if (made.symbol.function != NULL) {
        made.symbol.function = kept;
        made.symbol.file = made.symbol.line > 0 ? kept + strlen(kept) + 1 : NULL;
        made.symbol.object = "";
    }
    buf_add(&all->place, &made, sizeof made);
    if (kept == NULL || all->place.oom ||
        hash_put(&all->index, kept, text->len, (void *)((uintptr_t)n + 1)) != 0)
        all->oom = true;
    return n;
}

/* Returns the number of the place of a function that a tier has found. */
static uint32_t known(struct session *s, const struct tier_symbol *found)
{
    struct place p = {.symbol = *found};
    struct buf text = BUF_INIT;
    if (by_function(s))
        p.symbol.line = 0;
    buf_add(&text, found->function, strlen(found->function) + 1);
    if (p.symbol.line > 0) {
        buf_add(&text, found->file, strlen(found->file) + 1);
        buf_add(&text, &p.symbol.line, sizeof p.symbol.line);
    }
    s->stacks.oom |= text.oom;
    uint32_t n = text.oom ? 0 : intern(s, &text, &p);
    buf_free(&text);
    return n;
}

static uint32_t unknown(struct session *s, const struct tier *t, uint64_t pid, uint64_t address)
{
    struct place p = {.tier = t, .pid = pid, .address = address};
    struct buf text = BUF_INIT;
    buf_addc(&text, '\0'); /* no function's name begins so */
    buf_add(&text, &t, sizeof t);
    buf_add(&text, &address, sizeof address);
    s->stacks.oom |= text.oom;
    uint32_t n = text.oom ? 0 : intern(s, &text, &p);
    s->stacks.unknown = true;
    buf_free(&text);
    return n;
}

static bool find(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    *out = (struct tier_symbol){0};
    return t->ops->symbol != NULL && t->ops->symbol(t, pid, address, out) && out->whole;
}

/* Replaces the frames of a key's stacks by places. */
static void replace(struct session *s, struct tier *t, const struct value *v, uint8_t *bytes)
{
    struct tier_symbol found;
    uint64_t pid, word;
    memcpy(&pid, bytes, WORD);
    for (size_t at = WORD; at + WORD <= v->len && !s->stacks.oom; at += WORD) {
        memcpy(&word, bytes + at, WORD);
        if (word == 0)
            break;
        word = PLACE | (find(t, pid, word, &found) ? known(s, &found) : unknown(s, t, pid, word));
        memcpy(bytes + at, &word, WORD);
    }
    memcpy(bytes, &PLACES, WORD);
}

const uint8_t *session_stack_key(struct session *s, struct tier *t, uint32_t agg,
                                 const uint8_t *key, size_t len)
{
    struct value v[WORD_KEYS_MAX];
    struct session_stacks *all = &s->stacks;
    if (t->ops->place != WORD_VM)
        return key;
    buf_reset(&all->key);
    buf_add(&all->key, key, len);
    if (all->key.oom || values_parse(s->img.aggs[agg].keys.key, s->img.aggs[agg].keys.n,
                                     (uint8_t *)all->key.data, len, v) != 0)
        return key;
    for (unsigned i = 0; i < s->img.aggs[agg].keys.n; i++)
        if ((v[i].kind == DIF_USTACK || v[i].kind == DIF_JSTACK) && v[i].len >= WORD)
            replace(s, t, &v[i], (uint8_t *)all->key.data + (v[i].s - all->key.data));
    return (uint8_t *)all->key.data;
}

/* Puts the places that are known meanwhile into a key's stacks. */
static bool change(void *arg, const struct value *v, uint8_t *bytes)
{
    struct session *s = arg;
    bool changed = false;
    uint64_t word;
    for (size_t at = WORD; (v->kind == DIF_USTACK || v->kind == DIF_JSTACK) && at + WORD <= v->len;
         at += WORD) {
        memcpy(&word, bytes + at, WORD);
        const struct place *p = (word & PLACE) == PLACE ? place_at(s, word & ~PLACE) : NULL;
        if (p == NULL || (PLACE | p->is) == word)
            continue;
        word = PLACE | p->is;
        memcpy(bytes + at, &word, WORD);
        changed = true;
    }
    return changed;
}

int session_stacks_settle(struct session *s)
{
    struct session_stacks *all = &s->stacks;
    size_t n = all->unknown ? all->place.len / sizeof(struct place) : 0;
    bool changed = false;
    struct tier_symbol found;
    all->unknown = false;
    for (size_t i = 0; i < n && !all->oom; i++) {
        const struct place p = *place_at(s, i);
        if (p.symbol.function != NULL || p.is != i)
            continue;
        if (!find((struct tier *)(uintptr_t)p.tier, p.pid, p.address, &found)) {
            all->unknown = true;
            continue;
        }
        uint32_t is = known(s, &found);
        place_at(s, i)->is = is;
        changed = true;
    }
    int rc = changed ? aggr_rekey(&s->aggr, change, s) : 0;
    return rc != 0 || all->oom ? session_no_memory(s) : 0;
}

bool session_stack_symbol(const struct session *s, uint64_t pid, uint64_t word,
                          struct tier_symbol *out)
{
    const struct place *p =
        pid == PLACES && (word & PLACE) == PLACE ? place_at(s, word & ~PLACE) : NULL;
    if (p == NULL)
        return false;
    *out = p->symbol;
    out->whole = p->symbol.function != NULL;
    out->address = p->address;
    return true;
}

void session_stacks_free(struct session *s)
{
    buf_free(&s->stacks.place);
    buf_free(&s->stacks.key);
    hash_free(&s->stacks.index);
}
