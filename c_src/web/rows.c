/* rows.c - see rows.h. */
#include "web/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/buftext.h"
#include "web/hub.h"
#include "util/json.h"

#define SECOND UINT64_C(1000000000)

enum { BYTES_SHOWN = 256 /* of a struct, an array, or memory */ };

void rows_init(struct rows *r, uint64_t now_ns)
{
    memset(r, 0, sizeof *r);
    r->started_ns = r->window_ns = now_ns;
}

void rows_free(struct rows *r)
{
    buf_free(&r->done);
    buf_free(&r->probes);
    buf_free(&r->known);
    buf_free(&r->text);
    buf_free(&r->values);
    free(r->announced);
    r->announced = NULL;
}

static void announce(struct rows *r, const struct erltrace_record *rec)
{
    const struct erltrace_probe *p = rec->probe;
    size_t byte = rec->epid / 8;
    if (byte >= r->nannounced) {
        size_t n = byte + 64;
        uint8_t *bits = realloc(r->announced, n);
        if (bits == NULL)
            return;
        memset(bits + r->nannounced, 0, n - r->nannounced);
        r->announced = bits;
        r->nannounced = n;
    }
    if ((r->announced[byte] & 1u << rec->epid % 8) != 0)
        return;
    r->announced[byte] |= (uint8_t)(1u << rec->epid % 8);
    struct buf one = BUF_INIT, name = BUF_INIT;
    buf_printf(&name, "%s:%s:%s:%s", p->provider, p->module, p->function, p->name);
    buf_printf(&one, "[%" PRIu32 ",", rec->epid);
    buf_json(&one, buf_str(&name), name.len);
    buf_addc(&one, ',');
    json_text(&one, p->node);
    buf_addc(&one, ']');
    buf_adds(&r->probes, r->probes.len > 0 ? "," : "");
    buf_add(&r->probes, buf_str(&one), one.len);
    buf_adds(&r->known, r->known.len > 0 ? "," : "");
    buf_add(&r->known, buf_str(&one), one.len);
    buf_free(&one);
    buf_free(&name);
}

/* Opens a row, if this second's budget allows one. */
static void open_row(struct rows *r, uint64_t now_ns)
{
    if (now_ns - r->window_ns >= SECOND) {
        r->window_ns = now_ns;
        r->window_rows = 0;
        r->window_bytes = 0;
    }
    r->open = true;
    r->over = r->window_rows >= HUB_ROWS || r->window_bytes >= ROWS_BYTES;
    r->skipped += r->over;
}

void rows_begin(struct rows *r, const struct erltrace_record *rec, uint64_t now_ns)
{
    rows_close(r);
    open_row(r, now_ns);
    if (!r->timed) {
        /* If the node's clock is not ours, this is the time at which its first record was read. */
        r->offset_ns = (int64_t)(rec->timestamp - r->started_ns);
        if (r->offset_ns < 0 || r->offset_ns > (int64_t)(now_ns - r->started_ns))
            r->offset_ns = (int64_t)(rec->timestamp - now_ns);
        else
            r->offset_ns = 0;
        r->timed = true;
    }
    if (r->over)
        return;
    r->epid = rec->epid;
    r->cpu = rec->cpu;
    r->us = ((int64_t)(rec->timestamp - r->started_ns) - r->offset_ns) / 1000;
    r->us = r->us > 0 ? r->us : 0;
    announce(r, rec);
}

static void add_value(struct rows *r, const struct erltrace_value *v)
{
    struct buf *b = &r->values;
    buf_adds(b, b->len > 0 ? "," : "");
    switch (v->kind) {
    case ERLTRACE_VALUE_INT: json_safe_int(b, v->number); break;
    case ERLTRACE_VALUE_UINT: json_safe_uint(b, (uint64_t)v->number); break;
    case ERLTRACE_VALUE_STRING: buf_json(b, v->text, strnlen(v->text, v->length)); break;
    case ERLTRACE_VALUE_FLOAT: json_float(b, v->real, 17); break;
    case ERLTRACE_VALUE_BYTES:
        json_hex(b, v->text, v->length < BYTES_SHOWN ? v->length : BYTES_SHOWN);
        break;
    }
}

bool rows_action(struct rows *r, const struct erltrace_data *d)
{
    static const char *const shown[] = {"printf", "trace", "tracemem", "print", "stack"};
    if (r->over)
        return false;
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strcmp(shown[i], d->action) == 0)
            for (size_t k = 0; k < d->nvalues && r->values.len < ROWS_TEXT; k++)
                add_value(r, erltrace_data_value(d, k));
    return true;
}

void rows_text(struct rows *r, const char *text, size_t n)
{
    if (r->over)
        return;
    if (r->text.len + n > ROWS_TEXT) {
        n = ROWS_TEXT - r->text.len;
        r->cut = true;
    }
    buf_add(&r->text, text, n);
}

void rows_close(struct rows *r)
{
    if (r->open && !r->over && (r->text.len > 0 || r->values.len > 0)) {
        struct buf *b = &r->done;
        size_t before = b->len;
        if (r->cut)
            buf_adds(&r->text, "\u2026");
        buf_printf(b, "%s[%" PRIu32 ",%" PRId64 ".%03" PRId64 ",%" PRIu32 ",",
                   r->ndone > 0 ? "," : "", r->epid, r->us / 1000, r->us % 1000, r->cpu);
        buf_json(b, buf_str(&r->text), r->text.len);
        buf_adds(b, ",[");
        buf_add(b, buf_str(&r->values), r->values.len);
        buf_adds(b, "]]");
        r->ndone++;
        r->window_rows++;
        r->window_bytes += b->len - before;
    }
    r->open = r->over = r->cut = false;
    buf_reset(&r->text);
    buf_reset(&r->values);
}

void rows_split(struct rows *r, uint64_t now_ns)
{
    if (!r->open || (!r->over && r->text.len == 0))
        return;
    rows_close(r);
    open_row(r, now_ns);
}

static void message(struct buf *out, const struct buf *probes, const struct buf *rows,
                    uint64_t skipped)
{
    buf_adds(out, "{\"type\":\"records\",\"probes\":[");
    buf_add(out, buf_str(probes), probes->len);
    buf_adds(out, "],\"rows\":[");
    if (rows != NULL)
        buf_add(out, buf_str(rows), rows->len);
    buf_printf(out, "],\"skipped\":%" PRIu64 "}", skipped);
}

bool rows_take(struct rows *r, struct buf *out, uint64_t *n)
{
    if (r->ndone == 0 && r->skipped == 0)
        return false;
    message(out, &r->probes, &r->done, r->skipped);
    out->oom |= r->done.oom | r->probes.oom;
    *n = r->ndone + r->skipped;
    r->ndone = 0;
    r->skipped = 0;
    buf_reset(&r->done);
    buf_reset(&r->probes);
    return true;
}

bool rows_known(const struct rows *r, uint64_t skipped, struct buf *out)
{
    if (r->known.len == 0 && skipped == 0)
        return false;
    message(out, &r->known, NULL, skipped);
    return true;
}
