/* bars.c - drawings of one aggregation. Keys are right-aligned in one column, as wide as the
 * widest; characters that no terminal shows become dots. */
#include "result/bars.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "util/elixir.h"
#include "base/err.h"
#include "result/hist.h"
#include "util/merge.h"
#include "util/buftext.h"

enum { KEY_WIDTH = 16, LEVELS = 8 };

bool bars_want(const struct report *r, const struct aggr_view *v)
{
    if (v->naggrs != 1)
        return false;
    const struct dif_agg *def = v->aggr[0]->def;
    const struct word_agg_info *fn = v->aggr[0]->fn;
    if (fn->result == WORD_BUCKETS)
        return option_on(r->opt, OPTION_aggpack);
    return option_on(r->opt, OPTION_agghist) && def->keys.n > 0 && fn->merge == WORD_ADD &&
           (fn->result == WORD_COUNT || fn->result == WORD_NUMBER);
}

/* -- keys -------------------------------------------------------------------------------------- */

static void put_key(const struct value *v, unsigned show, struct buf *out)
{
    if (v->kind == DIF_STRING && (show & SHOW_ELIXIR) && elixir_has(v->s, strnlen(v->s, v->len))) {
        struct buf text = BUF_INIT;
        elixir_put(&text, v->s, strnlen(v->s, v->len));
        put_key(&(struct value){.kind = DIF_STRING, .s = buf_str(&text), .len = text.len}, 0, out);
        out->oom |= text.oom;
        buf_free(&text);
        return;
    }
    if (v->kind == DIF_BYTES) {
        buf_addc(out, ' ');
        for (size_t i = 0; i < v->len; i++)
            buf_printf(out, "%02x", (unsigned char)v->s[i]);
    } else if (v->kind == DIF_STRING) {
        size_t n = strnlen(v->s, v->len);
        buf_fill(out, ' ', n < KEY_WIDTH ? KEY_WIDTH + 1 - n : 1);
        for (size_t i = 0; i < n; i++)
            buf_addc(out, isprint((unsigned char)v->s[i]) ? v->s[i] : '.');
    } else if (v->size == 8) {
        buf_printf(out, " %16" PRId64, v->i);
    } else if (v->size == 4) {
        buf_printf(out, " %8" PRId32, (int32_t)v->i);
    } else {
        buf_printf(out, v->size == 2 ? " %5" PRIu64 : " %3" PRIu64, value_unsigned(v));
    }
}

static void put_keys(const struct aggr *a, const struct aggr_row *row, unsigned show,
                     struct buf *out)
{
    buf_reset(out);
    for (size_t i = 0; i < a->def->keys.n; i++)
        put_key(&row->key->key[i], show, out);
}

static void put_right(struct buf *out, const char *s, size_t len, size_t width)
{
    buf_fill(out, ' ', width > len ? width - len : 0);
    buf_add(out, s, len);
}

static size_t keys_width(const struct aggr_view *v, unsigned show, struct buf *text)
{
    size_t width = 0;
    for (size_t i = 0; i < v->nrows; i++) {
        put_keys(v->aggr[0], &v->row[i], show, text);
        width = text->len > width ? text->len : width;
    }
    return width;
}

/* -- agghist ----------------------------------------------------------------------------------- */

static void hist_rows(const struct report *r, const struct aggr_view *v, struct buf *text,
                      struct buf *out)
{
    const struct aggr *a = v->aggr[0];
    struct hist_scale scale = {.zoom = option_on(r->opt, OPTION_aggzoom)};
    size_t width = keys_width(v, report_shown(r), text);
    for (size_t i = 0; i < v->nrows; i++)
        hist_scale_add(&scale, (int64_t)v->row[i].words[0][0]);
    buf_addc(out, '\n');
    put_right(out, "key", 3, width);
    buf_printf(out, " %41s %-9s\n", "------------- Distribution -------------", "count");
    for (size_t i = 0; i < v->nrows; i++) {
        const uint64_t *words = v->row[i].words[0];
        put_keys(a, &v->row[i], report_shown(r), text);
        put_right(out, buf_str(text), text->len, width);
        buf_addc(out, ' ');
        hist_bar(&scale, (int64_t)words[0], out);
        buf_printf(out, " %s%-9" PRId64 "\n", aggr_lower(a, words) ? AGGR_LOWER : "",
                   aggr_number(a, words));
    }
}

/* -- aggpack ----------------------------------------------------------------------------------- */

static bool utf8(const struct report *r)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    int64_t encoding = r->opt->value[OPTION_encoding];
    if (encoding != OPTION_UNSET)
        return encoding != 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *s = getenv(variables[i]);
        if (s != NULL && *s != '\0')
            return strcasestr(s, "utf-8") != NULL || strcasestr(s, "utf8") != NULL;
    }
    return false;
}

/* Appends one bucket: a blank, or one of eight heights; v below zero, V for more than half. */
static void put_bucket(const struct hist_scale *s, int64_t count, bool wide, struct buf *out)
{
    static const char ascii[LEVELS + 1] = "__xxxxXX";
    hist_total_t n = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
    hist_total_t whole = s->zoom ? s->largest : s->total;
    unsigned level = whole == 0 ? 0 : (unsigned)((n * LEVELS + whole - 1) / whole);
    if (level == 0)
        buf_addc(out, ' ');
    else if (count < 0)
        buf_addc(out, level > LEVELS / 2 ? 'V' : 'v');
    else if (wide) /* U+2581 to U+2588 */
        buf_printf(out, "\xe2\x96%c", 0x80 + (int)level);
    else
        buf_addc(out, ascii[level - 1]);
}

/* Makes the rows that any of the values shows. */
static int all_rows(const struct aggr_view *v, struct hist *h)
{
    const struct aggr *a = v->aggr[0];
    uint64_t *any = et_calloc(a->nwords, sizeof *any);
    if (any == NULL)
        return ET_ENOMEM;
    for (size_t i = 0; i < v->nrows; i++)
        for (unsigned w = 0; w < a->nwords; w++)
            any[w] |= v->row[i].words[0][w] != 0;
    int err = hist_make(a->def, any, h);
    et_free(any);
    return err;
}

static void pack_rows(const struct report *r, const struct aggr_view *v, struct buf *text,
                      struct buf *out)
{
    const struct aggr *a = v->aggr[0];
    struct hist h;
    bool wide = utf8(r);
    size_t width = keys_width(v, report_shown(r), text);
    if (all_rows(v, &h) != 0) {
        out->oom = true;
        return;
    }
    buf_addc(out, '\n');
    put_right(out, "key", width > 0 ? 3 : 0, width);
    buf_printf(out, " %7s .", "min");
    buf_fill(out, '-', h.n);
    buf_printf(out, ". %-8s | count\n", "max");
    for (size_t i = 0; i < v->nrows; i++) {
        const uint64_t *words = v->row[i].words[0];
        struct hist_scale scale = {.zoom = option_on(r->opt, OPTION_aggzoom)};
        uint64_t sum = 0;
        for (size_t b = 0; b < h.n; b++) {
            hist_scale_add(&scale, (int64_t)words[h.row[b].bucket]);
            sum += words[h.row[b].bucket];
        }
        put_keys(a, &v->row[i], report_shown(r), text);
        put_right(out, buf_str(text), text->len, width);
        buf_printf(out, " %7s :", h.row[0].label);
        for (size_t b = 0; b < h.n; b++)
            put_bucket(&scale, (int64_t)words[h.row[b].bucket], wide, out);
        buf_printf(out, ": %-8s | %" PRId64 "\n", h.row[h.n - 1].label,
                   word_agg_normalized((int64_t)sum, a->normal));
    }
    hist_free(&h);
}

void bars_rows(struct report *r, const struct aggr_view *v, struct buf *out)
{
    struct buf text = BUF_INIT;
    if (v->nrows == 0)
        return;
    if (v->aggr[0]->fn->result == WORD_BUCKETS)
        pack_rows(r, v, &text, out);
    else
        hist_rows(r, v, &text, out);
    out->oom |= text.oom;
    buf_free(&text);
}
