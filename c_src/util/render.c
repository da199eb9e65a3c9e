/* render.c - renders diagnostics: as lines with the source below, as JSON, and with a suggested
 * name. */
#include "util/render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "util/buftext.h"

static const char *const severity_name[] = {"error", "warning", "note"};

void diags_source(struct diags *d, const char *file, const char *text, size_t len)
{
    char *name = arena_strdup(&d->arena, file);
    if (d->nsources == d->capsources) {
        size_t n = d->capsources ? size_mul(d->capsources, 2) : 8;
        struct diag_source *p = et_rearray(d->sources, n, sizeof *p);
        d->sources = p ? p : d->sources;
        d->capsources = p ? n : d->capsources;
    }
    if (name != NULL && d->nsources < d->capsources)
        d->sources[d->nsources++] = (struct diag_source){name, text, len};
}

void diags_clear(struct diags *d)
{
    d->count = 0;
    d->errors = d->warnings = 0;
}

void diag_add(struct diags *d, enum diag_severity sev, const struct diag_pos *pos, const char *tag,
              const char *hint, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    diag_vadd(d, sev, pos, tag, hint, fmt, ap);
    va_end(ap);
}

/* Finds a line of a source: returns its start, and its length without the line end. NULL: there is
 * no such line. */
static const char *source_line(const struct diags *d, const char *file, int line, size_t *len)
{
    for (size_t i = 0; i < d->nsources; i++) {
        const struct diag_source *s = &d->sources[i];
        if (strcmp(s->file, file) != 0)
            continue;
        const char *p = s->text, *end = s->text + s->len;
        for (int n = 1; p < end; n++) {
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            const char *stop = nl ? nl : end;
            if (n == line) {
                *len = (size_t)(stop - p);
                return p;
            }
            p = stop + 1;
        }
    }
    return NULL;
}

const char *diag_line(const struct diags *d, const struct diag *g, size_t *len)
{
    return g->pos.file != NULL && g->pos.line > 0 ? source_line(d, g->pos.file, g->pos.line, len)
                                                  : NULL;
}

/* Chooses the part of a long line that is shown: a window around the place, at character
 * boundaries. */
static void window(const char *line, size_t len, size_t col, size_t *from, size_t *to)
{
    enum { MOST = 160, BEFORE = 60 };
    *from = len > MOST && col > BEFORE ? col - BEFORE : 0;
    *to = len - *from > MOST ? *from + MOST : len;
    while (*from > 0 && ((unsigned char)line[*from] & 0xc0) == 0x80)
        --*from;
    while (*to < len && ((unsigned char)line[*to] & 0xc0) == 0x80)
        ++*to;
}

/* Appends a part of a diagnostic, which may come from a node. */
static void put_part(struct buf *out, const char *before, const char *part, const char *after)
{
    buf_adds(out, before);
    buf_visible(out, part, strlen(part), false);
    buf_adds(out, after);
}

static bool is_shown(unsigned char c)
{
    return c == '\t' || (c >= 0x20 && c != 0x7f);
}

/* Appends the source line and the caret under the place. A tab in the source stays a tab above and
 * below, so that the caret is in the right column whatever the width of a tab; control characters
 * show as blanks. */
static void render_source(const struct diags *d, const struct diag *g, struct buf *out)
{
    static const char cut[] = "...";
    size_t len = 0, from, to;
    const char *line = source_line(d, g->pos.file, g->pos.at > 0 ? g->pos.at : g->pos.line, &len);
    if (line == NULL) {
        if (g->hint != NULL)
            put_part(out, "      hint: ", g->hint, "\n");
        return;
    }
    size_t col = g->pos.col > 0 ? (size_t)g->pos.col - 1 : 0;
    if (col > len)
        col = len;
    window(line, len, col, &from, &to);
    size_t mark = size_min(g->pos.len > 0 ? (size_t)g->pos.len : 1, size_left(to, col));
    buf_printf(out, "%5d | %s", g->pos.line, from > 0 ? cut : "");
    for (size_t i = from; i < to; i++)
        buf_addc(out, is_shown((unsigned char)line[i]) ? line[i] : ' ');
    buf_printf(out, "%s\n      | %*s", to < len ? cut : "", from > 0 ? (int)strlen(cut) : 0, "");
    for (size_t i = from; i < col; i++)
        if (((unsigned char)line[i] & 0xc0) != 0x80) /* one blank per UTF-8 character */
            buf_addc(out, line[i] == '\t' ? '\t' : ' ');
    buf_addc(out, '^');
    for (size_t i = 1; i < mark; i++)
        if (((unsigned char)line[col + i] & 0xc0) != 0x80)
            buf_addc(out, '~');
    if (g->hint != NULL)
        put_part(out, "  ", g->hint, "");
    buf_addc(out, '\n');
}

void diag_render(const struct diags *d, const struct diag *g, struct buf *out)
{
    buf_adds(out, "erltrace: ");
    if (g->pos.file != NULL) {
        put_part(out, "", g->pos.file, ":");
        if (g->pos.line > 0)
            buf_printf(out, "%d:%d:", g->pos.line, g->pos.col);
        buf_addc(out, ' ');
    }
    buf_printf(out, "%s: ", severity_name[g->severity]);
    if (g->tag[0] != '\0')
        put_part(out, "[", g->tag, "] ");
    put_part(out, "", g->text, "\n");
    if (g->pos.file != NULL && g->pos.line > 0)
        render_source(d, g, out);
    else if (g->hint != NULL)
        put_part(out, "      hint: ", g->hint, "\n");
}

static void json_str(struct buf *out, const char *key, const char *s)
{
    buf_printf(out, ",\"%s\":", key);
    if (s == NULL)
        buf_adds(out, "null");
    else
        buf_json(out, s, strlen(s));
}

void diag_render_json(const struct diag *g, struct buf *out)
{
    buf_printf(out, "{\"type\":\"error\",\"severity\":\"%s\"", severity_name[g->severity]);
    json_str(out, "tag", g->tag);
    json_str(out, "file", g->pos.file);
    if (g->pos.file != NULL && g->pos.line > 0)
        buf_printf(out, ",\"line\":%d,\"column\":%d", g->pos.line, g->pos.col);
    json_str(out, "text", g->text);
    json_str(out, "hint", g->hint);
    buf_adds(out, "}\n");
}

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

enum { TOO_FAR = 1000 }; /* more than any distance between names that are compared */

/* Returns the edit distance, with transpositions of neighbours, of names up to 63 characters;
 * TOO_FAR for longer ones. Ignores case. */
static unsigned edit_distance(const char *a, const char *b)
{
    enum { MOST = 64 };
    size_t na = strlen(a), nb = strlen(b);
    if (na >= MOST || nb >= MOST)
        return TOO_FAR;
    unsigned row[3][MOST];
    unsigned *two = row[0], *one = row[1], *now = row[2];
    for (size_t j = 0; j <= nb; j++)
        one[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = one[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (one[j] + 1 < best)
                best = one[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            now[j] = best;
        }
        unsigned *spare = two;
        two = one;
        one = now;
        now = spare;
    }
    return one[nb];
}

const char *diag_nearest(const char *name, const char *const *candidates, size_t n)
{
    const char *best = NULL;
    unsigned least = TOO_FAR;
    for (size_t i = 0; i < n; i++) {
        unsigned dist = edit_distance(name, candidates[i]);
        /* Of two equally near names, prefers the one of the same length: letters are swapped or
         * mistaken more often than forgotten. */
        if (dist < least ||
            (dist < TOO_FAR && dist == least && strlen(candidates[i]) == strlen(name) &&
             strlen(best) != strlen(name))) {
            least = dist;
            best = candidates[i];
        }
    }
    size_t len = strlen(name); /* a name of one letter is near to none but itself */
    return best != NULL && least <= (len < 3 ? len / 2 : (len + 2) / 3) ? best : NULL;
}
