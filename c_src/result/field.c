/* field.c - layouts of single values. */
#include "result/field.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/elixir.h"
#include "result/hist.h"
#include "util/buftext.h"
#include "util/json.h"

enum { HEX_ROW = 16, KEY_WIDTH = 50, TRACE_WIDTH = 33 };

void field_hex(const void *p, size_t have, size_t n, struct buf *out)
{
    const unsigned char *b = p;
    if (n == 0)
        return;
    buf_adds(out, "\n           ");
    for (int i = 0; i < HEX_ROW; i++)
        buf_printf(out, "  %x", (unsigned)i);
    buf_adds(out, "  0123456789abcdef\n");
    for (size_t row = 0; row < n; row += HEX_ROW) {
        buf_printf(out, "     %5zx:", row);
        for (size_t i = row; i < row + HEX_ROW; i++) {
            if (i < n)
                buf_printf(out, " %02x", i < have ? b[i] : 0u);
            else
                buf_adds(out, "   ");
        }
        buf_adds(out, "  ");
        for (size_t i = row; i < row + HEX_ROW && i < n; i++) {
            unsigned char c = i < have ? b[i] : 0;
            buf_addc(out, c >= ' ' && c <= '~' ? (char)c : '.');
        }
        buf_addc(out, '\n');
    }
}

bool field_printable(const char *s, size_t len, size_t n)
{
    size_t i = 0;
    for (; i < len && s[i] != '\0'; i++) {
        unsigned char c = (unsigned char)s[i];
        if (!((c >= ' ' && c <= '~') || (c >= '\a' && c <= '\r')))
            return false;
    }
    if (i == 0 || n == 0)
        return false;
    for (; i < len; i++)
        if (s[i] != '\0')
            return false;
    return true;
}

/* Returns whether a string is text: UTF-8 without control characters other than white space. It may
 * be empty. */
static bool is_text(const struct value *v)
{
    size_t n = strnlen(v->s, v->len);
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)v->s[i];
        size_t len = buf_utf8_len((const unsigned char *)v->s + i, n - i);
        if (len == 0 || c == 0x7f || (c < ' ' && (c < '\a' || c > '\r')))
            return false;
        i += len;
    }
    return true;
}

static void raw_bytes(const struct value *v, uint32_t strsize, struct buf *out)
{
    if (value_is_int(v)) {
        unsigned char b[8];
        for (unsigned i = 0; i < sizeof b; i++)
            b[i] = (unsigned char)((uint64_t)v->i >> (8 * i));
        field_hex(b, v->size, v->size, out);
    } else {
        size_t n = v->kind == DIF_STRING ? strsize + (size_t)1 : v->len;
        field_hex(v->s, v->len < n ? v->len : n, n, out);
    }
}

/* Appends a text, padded to `width` on its right. */
static void put_text(const struct value *v, size_t width, unsigned show, struct buf *out)
{
    size_t before = out->len, n = strnlen(v->s, v->len);
    if ((show & SHOW_ELIXIR) && elixir_has(v->s, n)) {
        struct buf text = BUF_INIT;
        elixir_put(&text, v->s, n);
        struct value named = {.kind = DIF_STRING, .s = buf_str(&text), .len = text.len};
        put_text(&named, width, show & ~(unsigned)SHOW_ELIXIR, out);
        out->oom |= text.oom;
        buf_free(&text);
        return;
    }
    if (show & SHOW_VISIBLE)
        buf_visible(out, v->s, n, false);
    else
        buf_add(out, v->s, n);
    size_t shown = 0; /* characters; continuation bytes have the top bits 10 */
    for (size_t i = before; i < out->len; i++)
        shown += (out->data[i] & 0xc0) != 0x80;
    buf_fill(out, ' ', shown < width ? width - shown : 0);
}

void field_trace(const struct value *v, bool quiet, bool raw, unsigned show, struct buf *out)
{
    if (raw || v->kind == DIF_BYTES) {
        raw_bytes(v, v->size, out);
    } else if (v->kind == DIF_STRING) {
        buf_adds(out, quiet ? "" : "  ");
        put_text(v, quiet ? 0 : TRACE_WIDTH, show, out);
    } else if (v->kind == DIF_FLOAT) {
        buf_printf(out, quiet ? "%.*Lg" : " %*Lg",
                   quiet         ? 6
                   : v->size > 4 ? 19
                                 : 10,
                   value_float(v));
    } else if (quiet) {
        if (v->kind == DIF_INT)
            buf_printf(out, "%" PRId64, v->i);
        else
            buf_printf(out, "%" PRIu64, (uint64_t)v->i);
    } else {
        static const struct {
            uint32_t size;
            int sign, unsign;
        } width[] = {{8, 19, 20}, {4, 10, 10}, {2, 5, 5}, {1, 3, 3}};
        size_t i = 0;
        while (i < 3 && width[i].size != v->size)
            i++;
        if (v->kind == DIF_INT)
            buf_printf(out, " %*" PRId64, width[i].sign, v->i);
        else
            buf_printf(out, " %*" PRIu64, width[i].unsign, (uint64_t)v->i);
    }
}

size_t field_tracemem_size(const struct value *v, size_t nparts)
{
    bool limited = nparts > 1 && v[1].i >= 0 && (uint64_t)v[1].i < v->len;
    return limited ? (size_t)v[1].i : v->len;
}

void field_tracemem(const struct value *v, size_t nparts, struct buf *out)
{
    size_t n = field_tracemem_size(v, nparts);
    field_hex(v->s, n, n, out);
}

void field_place(const struct value *v, bool raw, unsigned show, const struct symbols *s,
                 struct buf *out)
{
    if (raw) {
        raw_bytes(v, v->size, out);
    } else if (symbol_is_stack(v) && symbol_folded(s)) {
        symbol_fold(s, v, show, out);
        buf_addc(out, '\n');
    } else if (symbol_is_stack(v)) {
        buf_addc(out, '\n');
        symbol_stack(s, v, symbol_indent(s), 0, show, out);
    } else {
        struct buf text = BUF_INIT;
        symbol_text(s, v, &text);
        buf_printf(out, "  %-*s", KEY_WIDTH, buf_str(&text));
        out->oom |= text.oom;
        buf_free(&text);
    }
}

void field_word(const struct value *v, unsigned show, const struct symbols *s, struct buf *out)
{
    if (symbol_is(v))
        symbol_text(s, v, out);
    else if (value_is_int(v))
        value_decimal(v->i, v->kind == DIF_INT, out);
    else if (v->kind == DIF_STRING || field_printable(v->s, v->len, v->len))
        put_text(v, 0, show, out);
    else
        json_hex(out, v->s, v->len);
}

void field_key(const struct value *v, uint32_t strsize, bool raw, unsigned show,
               const struct symbols *s, struct buf *out)
{
    if (symbol_is(v)) {
        field_place(v, raw, show, s, out);
        return;
    }
    if (value_is_int(v)) {
        switch (v->size) {
        case 8: buf_printf(out, " %16" PRId64, v->i); return;
        case 4: buf_printf(out, " %8" PRId32, (int32_t)v->i); return;
        /* Unsigned whatever the type says: it has always been so. */
        case 2: buf_printf(out, " %5" PRIu64, value_unsigned(v)); return;
        default: buf_printf(out, " %3" PRIu64, value_unsigned(v)); return;
        }
    }
    bool text = v->kind == DIF_STRING ? is_text(v) : field_printable(v->s, v->len, v->len);
    if (raw || !text) {
        raw_bytes(v, strsize, out);
    } else {
        buf_adds(out, "  ");
        put_text(v, KEY_WIDTH, show, out);
    }
}

void field_aggr(const struct aggr *a, const uint64_t *words, bool zoom, struct buf *out)
{
    if (a->fn->result == WORD_BUCKETS) {
        struct hist h;
        if (hist_make(a->def, words, &h) != 0) {
            out->oom = true;
            return;
        }
        hist_text(&h, a->normal, zoom, out);
        if (aggr_lower(a, words))
            buf_printf(out, "%16s some of these values were too large to count, and are larger\n",
                       AGGR_LOWER);
        hist_free(&h);
    } else if (aggr_lower(a, words)) {
        char number[32];
        snprintf(number, sizeof number, AGGR_LOWER "%" PRId64, aggr_number(a, words));
        buf_printf(out, " %16s", number);
    } else if (a->fn->result == WORD_DEVIATION) {
        buf_printf(out, " %16" PRIu64, (uint64_t)aggr_number(a, words));
    } else {
        buf_printf(out, " %16" PRId64, aggr_number(a, words));
    }
}
