/* written.c - what the keys of aggregations are called: the expressions that the program's text has
 * between the brackets. The image has types only. */
#include <ctype.h>
#include <string.h>

#include "session/session.h"
#include "util/buftext.h"

/* Returns the text from a line and column on, both from 1; NULL when it has no such place. */
static const char *place(const struct erltrace_prog *p, uint32_t line, uint32_t col)
{
    const char *at = p->source, *end = at + p->source_len;
    for (; line > 1; line--) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        if (nl == NULL)
            return NULL;
        at = nl + 1;
    }
    return col > 0 && end - at >= col ? at + col - 1 : NULL;
}

/* Returns where a string or a character that begins here ends; `at` if none does. */
static const char *past_quotes(const char *at, const char *end)
{
    const char *p = at + 1;
    if (*at != '"' && *at != '\'')
        return at;
    while (p < end && *p != *at)
        p += *p == '\\' ? 2 : 1;
    return p < end ? p + 1 : end;
}

/* Appends the key that begins here, with blanks and line ends as one blank, and returns where it
 * ends: at the comma or the bracket; NULL when neither comes. */
static const char *take_key(const char *at, const char *end, struct buf *out)
{
    int depth = 0;
    while (at < end) {
        const char *past = past_quotes(at, end);
        if (past > at) {
            buf_add(out, at, (size_t)(past - at));
            at = past;
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == ']'))
            break;
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (!isspace((unsigned char)*at))
            buf_addc(out, *at);
        else if (out->len > 0 && at + 1 < end && !isspace((unsigned char)at[1]) &&
                 strchr(",]", at[1]) == NULL)
            buf_addc(out, ' ');
        at++;
    }
    return at < end ? at : NULL;
}

/* Finds the nth key in a statement @name[KEY, ...] = ... Returns false when the text at its place
 * is something else, as text that the preprocessor has changed may be. */
static bool key_in(const char *at, const char *end, const char *name, unsigned nth, struct buf *out)
{
    size_t n = strlen(name);
    if (at == NULL || at >= end || *at++ != '@')
        return false;
    if (strcmp(name, "_") != 0) {
        if ((size_t)(end - at) < n || memcmp(at, name, n) != 0)
            return false;
        at += n;
    }
    while (at < end && isspace((unsigned char)*at))
        at++;
    if (at == end || *at++ != '[')
        return false;
    for (;; nth--, at++) {
        buf_reset(out);
        if ((at = take_key(at, end, out)) == NULL)
            return false;
        if (nth == 0)
            return out->len > 0;
        if (*at != ',')
            return false;
    }
}

const char *session_key_name(void *arg, uint32_t agg, unsigned key)
{
    struct session *s = arg;
    const struct dif_image *img = &s->img;
    const char *name = dif_str(img, img->aggs[agg].name);
    for (uint32_t c = 0; c < img->nclauses; c++) {
        const struct erltrace_prog *p = s->program_of[c];
        for (uint32_t i = 0; p != NULL && i < img->clauses[c].nactions; i++) {
            const struct dif_action *a = &img->actions[img->clauses[c].action + i];
            if (a->kind == ACT_AGG && a->nrefs > 0 && img->refs[a->ref] == agg &&
                key_in(place(p, a->line, a->col), p->source + p->source_len, name, key,
                       &s->key_name))
                return buf_str(&s->key_name);
        }
    }
    return NULL;
}
