/* profile.c - rows of aggregations as stacks with a value. */
#include "result/profile.h"

#include <string.h>

#include "base/err.h"
#include "result/field.h"
#include "util/buftext.h"
#include "util/merge.h"

static bool is_stack(uint8_t kind)
{
    return kind >= DIF_STACK && kind <= DIF_JSTACK;
}

bool profile_keys(const struct dif_keys *keys)
{
    for (size_t i = 0; i < keys->n; i++)
        if (is_stack(keys->key[i].kind))
            return true;
    return false;
}

bool profile_of(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->naggs; i++)
        if (profile_keys(&img->aggs[i].keys))
            return true;
    return false;
}

int64_t profile_value(const struct aggr *a, const uint64_t *words)
{
    uint64_t n = 0;
    if (a->fn->result != WORD_BUCKETS)
        return aggr_number(a, words);
    for (unsigned i = 0; i < a->nwords; i++)
        n += words[i];
    return word_agg_normalized((int64_t)n, a->normal);
}

const char *profile_unit(const struct aggr *a)
{
    static const struct {
        const char *name, *unit;
    } units[] = {{"ns", "nanoseconds"},
                 {"us", "microseconds"},
                 {"ms", "milliseconds"},
                 {"s", "seconds"},
                 {"bytes", "bytes"}};
    if (a->fn->result == WORD_BUCKETS || a->def->func == AGG_COUNT)
        return "count";
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(a->name, units[i].name) == 0)
            return units[i].unit;
    return "";
}

const char *profile_title(const struct aggr *a)
{
    if (strcmp(a->name, "_") != 0)
        return a->name;
    return a->def->func == AGG_COUNT ? "samples" : a->fn->name;
}

void profile_word(const struct report *r, const struct value *v, struct buf *out)
{
    field_word(v, report_shown(r) | SHOW_VISIBLE, &r->symbols, out);
}

void profile_fold(const struct report *r, const struct aggr *a, const struct aggr_row *row,
                  struct buf *out)
{
    const struct dif_keys *keys = &a->def->keys;
    struct buf word = BUF_INIT;
    const char *before = "";
    size_t frames = 0;
    for (size_t i = 0; i < keys->n; i++)
        frames += is_stack(row->key->key[i].kind) ? symbol_depth(&row->key->key[i]) : 0;
    /* Words, user stacks, stacks of the kernel: what runs outside of it has none. */
    for (int turn = 0; turn < 3; turn++) {
        for (size_t i = 0; i < keys->n; i++) {
            const struct value *v = &row->key->key[i];
            int of = !is_stack(v->kind) ? 0 : v->kind == DIF_STACK ? 2 : 1;
            if (of != turn || (of > 0 && symbol_depth(v) == 0 && frames > 0))
                continue;
            buf_adds(out, before);
            before = ";";
            if (of > 0) {
                frames += frames == 0; /* one mark is enough */
                symbol_fold(&r->symbols, v, report_shown(r), out);
                continue;
            }
            buf_reset(&word);
            profile_word(r, v, &word);
            symbol_fold_text(buf_str(&word), word.len, out);
        }
    }
    out->oom |= word.oom;
    buf_free(&word);
}

/* -- numbered texts ---------------------------------------------------------------------------- */

size_t profile_number(struct profile_set *s, const void *bytes, size_t len, bool *oom)
{
    const struct profile_item *known = hash_get(&s->index, bytes, len);
    if (known != NULL)
        return known->number;
    if (s->n == s->cap) {
        size_t cap = s->cap > 0 ? 2 * s->cap : 64;
        void *more = et_rearray(s->item, cap, sizeof *s->item);
        if (more == NULL)
            goto no_memory;
        s->item = more;
        s->cap = cap;
    }
    struct profile_item *item = arena_alloc(s->arena, sizeof *item);
    char *copy = arena_alloc(s->arena, len + 1);
    if (item == NULL || copy == NULL)
        goto no_memory;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    *item = (struct profile_item){copy, len, s->n};
    if (hash_put(&s->index, copy, len, item) != 0)
        goto no_memory;
    s->item[s->n] = item;
    return s->n++;
no_memory:
    *oom = true;
    return 0;
}

void profile_set_free(struct profile_set *s)
{
    hash_free(&s->index);
    et_free(s->item);
}

/* -- frames ------------------------------------------------------------------------------------ */

void profile_frames(const struct report *r, const struct aggr *a, const struct aggr_row *row,
                    struct profile_set *texts, bool *oom, profile_frame_fn fn, void *arg)
{
    const struct dif_keys *keys = &a->def->keys;
    struct symbol_place place = {.name = BUF_INIT};
    struct buf shown = BUF_INIT;
    size_t depth = 0;
    /* The kernel's frames lie nearer to the leaf. */
    for (int kernel = 1; kernel >= 0; kernel--) {
        for (size_t i = 0; i < keys->n; i++) {
            const struct value *v = &row->key->key[i];
            if (!is_stack(v->kind) || (v->kind == DIF_STACK) != kernel)
                continue;
            for (size_t f = 0; symbol_place(&r->symbols, v, f, report_shown(r), &place);
                 f++, depth++) {
                buf_reset(&shown);
                buf_visible(&shown, buf_str(&place.name), place.name.len, false);
                struct profile_frame frame = {.line = place.line};
                frame.name = (uint32_t)profile_number(texts, buf_str(&shown), shown.len, oom);
                const char *file = place.file != NULL ? place.file : "";
                frame.file = (uint32_t)profile_number(texts, file, strlen(file), oom);
                fn(arg, &frame);
            }
        }
    }
    if (depth == 0) {
        struct profile_frame none = {0};
        none.name = (uint32_t)profile_number(texts, SYMBOL_NO_STACK, strlen(SYMBOL_NO_STACK), oom);
        none.file = (uint32_t)profile_number(texts, "", 0, oom);
        fn(arg, &none);
    }
    *oom |= place.name.oom || shown.oom;
    buf_free(&place.name);
    buf_free(&shown);
}
