/* pprof.c - the reporter that writes a profile for pprof: one message `Profile` of profile.proto
 * (github.com/google/pprof/proto) at the end of the trace, not compressed.
 *
 * Each aggregation by stack is a sample type; each of its rows is a sample, which has 0 for the
 * other types. Keys that are no stacks are labels, called as the program writes them. */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "result/profile.h"
#include "util/buftext.h"

/* -- protocol buffers -------------------------------------------------------------------------- */

/* A field is a varint (number << 3 | type) and its value: of type 0 a varint, of type 2 a length
 * and bytes. Signed integers are two's complement in 64 bits. */
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put_varint(struct buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        buf_u8(b, (uint8_t)(v | 0x80));
    buf_u8(b, (uint8_t)v);
}

/* 0 is the value of a field that is not there. */
static void put_number(struct buf *b, unsigned field, uint64_t v)
{
    if (v == 0)
        return;
    put_varint(b, field << 3 | WIRE_VARINT);
    put_varint(b, v);
}

static void put_bytes(struct buf *b, unsigned field, const void *p, size_t n)
{
    put_varint(b, field << 3 | WIRE_BYTES);
    put_varint(b, n);
    buf_add(b, p, n);
}

/* Appends a message, or packed numbers, and empties them. */
static void put_message(struct buf *b, unsigned field, struct buf *message)
{
    put_bytes(b, field, buf_str(message), message->len);
    b->oom |= message->oom;
    buf_reset(message);
}

/* -- the profile ------------------------------------------------------------------------------- */

/* Numbers of fields, by the messages that have them. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NANOS = 9,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STR = 2,
    LABEL_NUM = 3,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4
};

struct pprof {
    struct report *r;
    struct arena arena;
    struct profile_set texts;
    struct profile_set locations; /* struct profile_frame */
    struct profile_set functions; /* the same, without a line */
    struct buf sample, part, label;
    bool oom;
};

static size_t text(struct pprof *p, const char *s)
{
    return profile_number(&p->texts, s, strlen(s), &p->oom);
}

/* Ids of locations and functions begin at 1. */
static void add_location(void *arg, const struct profile_frame *f)
{
    struct pprof *p = arg;
    put_varint(&p->part, profile_number(&p->locations, f, sizeof *f, &p->oom) + 1);
}

static void add_label(struct pprof *p, uint32_t agg, unsigned key, const struct value *v)
{
    struct report *r = p->r;
    const char *name = r->key_name != NULL ? r->key_name(r->key_name_arg, agg, key) : NULL;
    struct buf word = BUF_INIT;
    if (name != NULL)
        buf_visible(&word, name, strlen(name), false);
    else
        buf_printf(&word, "key%u", key + 1);
    put_number(&p->label, LABEL_KEY, text(p, buf_str(&word)));
    buf_reset(&word);
    if (value_is_int(v) && v->i != 0) { /* readers of pprof take a number 0 for no label */
        put_number(&p->label, LABEL_NUM, (uint64_t)v->i);
    } else {
        profile_word(r, v, &word);
        put_number(&p->label, LABEL_STR, text(p, buf_str(&word)));
    }
    put_message(&p->sample, SAMPLE_LABEL, &p->label);
    p->oom |= word.oom;
    buf_free(&word);
}

static void add_rows(struct pprof *p, uint32_t agg, unsigned type, unsigned ntypes, struct buf *out)
{
    const struct aggr *a = &p->r->aggr->aggr[agg];
    struct aggr_order order = report_order(p->r->opt);
    struct aggr_view view;
    if (aggr_view_make(&view, p->r->aggr, &agg, 1, &order) != 0) {
        p->oom = true;
        return;
    }
    for (size_t i = 0; i < view.nrows; i++) {
        const struct aggr_row *row = &view.row[i];
        profile_frames(p->r, a, row, &p->texts, &p->oom, add_location, p);
        put_message(&p->sample, SAMPLE_LOCATION, &p->part);
        for (unsigned t = 0; t < ntypes; t++)
            put_varint(&p->part, t == type ? (uint64_t)profile_value(a, row->words[0]) : 0);
        put_message(&p->sample, SAMPLE_VALUE, &p->part);
        for (unsigned k = 0; k < a->def->keys.n; k++)
            if (!symbol_is_stack(&row->key->key[k]))
                add_label(p, agg, k, &row->key->key[k]);
        put_message(out, PROFILE_SAMPLE, &p->sample);
    }
    aggr_view_free(&view);
}

static void add_places(struct pprof *p, struct buf *out)
{
    for (size_t i = 0; i < p->locations.n; i++) {
        struct profile_frame f;
        memcpy(&f, p->locations.item[i]->bytes, sizeof f);
        put_number(&p->part, LINE_LINE, f.line);
        f.line = 0;
        put_number(&p->part, LINE_FUNCTION,
                   profile_number(&p->functions, &f, sizeof f, &p->oom) + 1);
        put_number(&p->sample, LOCATION_ID, i + 1);
        put_message(&p->sample, LOCATION_LINE, &p->part);
        put_message(out, PROFILE_LOCATION, &p->sample);
    }
    for (size_t i = 0; i < p->functions.n; i++) {
        struct profile_frame f;
        memcpy(&f, p->functions.item[i]->bytes, sizeof f);
        put_number(&p->part, FUNCTION_ID, i + 1);
        put_number(&p->part, FUNCTION_NAME, f.name);
        put_number(&p->part, FUNCTION_SYSTEM_NAME, f.name);
        put_number(&p->part, FUNCTION_FILE, f.file);
        put_message(out, PROFILE_FUNCTION, &p->part);
    }
}

static void add_times(const struct report *r, struct buf *out)
{
    struct timespec now;
    uint64_t took = r->began != NULL && *r->began != 0 ? monotonic_ns() - *r->began : 0;
    clock_gettime(CLOCK_REALTIME, &now);
    put_number(out, PROFILE_TIME_NANOS,
               (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec - took);
    put_number(out, PROFILE_DURATION_NANOS, took);
}

static enum verdict aggregations(void *arg)
{
    struct pprof pprof = {.r = arg}, *p = &pprof;
    struct report *r = arg;
    struct buf *out = &r->line;
    unsigned ntypes = 0, type = 0;
    arena_init(&p->arena);
    p->texts.arena = p->locations.arena = p->functions.arena = &p->arena;
    text(p, ""); /* the first string of a profile */
    for (uint32_t i = 0; i < r->aggr->n; i++) {
        const struct aggr *a = &r->aggr->aggr[i];
        if (!profile_keys(&a->def->keys))
            continue;
        put_number(&p->part, TYPE_TYPE, text(p, profile_title(a)));
        put_number(&p->part, TYPE_UNIT, text(p, profile_unit(a)));
        put_message(out, PROFILE_SAMPLE_TYPE, &p->part);
        if (ntypes++ == 0)
            put_number(out, PROFILE_DEFAULT_TYPE, text(p, profile_title(a)));
    }
    for (uint32_t i = 0; i < r->aggr->n && !p->oom; i++)
        if (profile_keys(&r->aggr->aggr[i].def->keys))
            add_rows(p, i, type++, ntypes, out);
    if (!p->oom)
        add_places(p, out);
    add_times(r, out);
    put_number(out, PROFILE_COMMENT, text(p, "erltrace " ET_VERSION));
    for (size_t i = 0; i < p->texts.n; i++)
        put_bytes(out, PROFILE_STRING, p->texts.item[i]->bytes, p->texts.item[i]->len);
    r->oom |= p->oom || out->oom;
    if (!r->oom)
        r->out.data(r->out.arg, out->data, out->len);
    buf_reset(out);
    buf_free(&p->sample);
    buf_free(&p->part);
    buf_free(&p->label);
    profile_set_free(&p->texts);
    profile_set_free(&p->locations);
    profile_set_free(&p->functions);
    arena_free(&p->arena);
    return VERDICT_SHOW;
}

/* Records are not shown: the output is one message. */
const struct observer report_pprof = {.aggregations = aggregations};
