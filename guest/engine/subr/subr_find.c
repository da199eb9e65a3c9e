/* subr_find.c - subroutines that search a string (language.md 6.3): strchr, strrchr, strstr, index,
 * rindex, substr, strtok. They return a copy, or NULL when nothing was found. */
#include "engine/subr/subr.h"

#include <string.h>

/* Units per byte that memmem and the code around it take at most. */
enum { SEARCH = 2, SEARCH_LAST = 3 };

int64_t subr_find(const struct text *s, const struct text *t, size_t from)
{
    /* memmem takes time proportional to both lengths, even where nearly everything matches. */
    const char *p = from <= s->n ? memmem(s->s + from, s->n - from, t->s, t->n) : NULL;
    return p != NULL ? p - s->s : -1;
}

/* Writes the n bytes at s in reverse order. */
static void reverse(char *to, const char *s, size_t n)
{
    uint64_t w;
    for (; n >= sizeof w; n -= sizeof w, to += sizeof w) {
        memcpy(&w, s + n - sizeof w, sizeof w);
        w = __builtin_bswap64(w);
        memcpy(to, &w, sizeof w);
    }
    while (n > 0)
        *to++ = s[--n];
}

/* Returns the index of the last occurrence of t in s at or before `from`, or -1, by finding the
 * first one in the reversed text. */
static int64_t find_last(struct exec *x, const struct text *s, const struct text *t, int64_t from)
{
    if (from < 0)
        return -1;
    if (t->n == 0)
        return from;
    const size_t n = (size_t)from + t->n; /* an occurrence ends there at the latest */
    const uint32_t mark = x->scratch_used;
    char *p = exec_scratch(x, n), *q = p != NULL ? exec_scratch(x, t->n) : NULL;
    x->scratch_used = mark;
    if (q == NULL)
        return 0;
    if (!exec_work(x, (n + t->n) * SEARCH_LAST))
        return 0;
    reverse(p, s->s, n);
    reverse(q, t->s, t->n);
    const char *found = memmem(p, n, q, t->n);
    return found != NULL ? from - (found - p) : -1;
}

static uint64_t suffix(struct exec *x, const struct text *s, int64_t from)
{
    return from < 0 ? 0 : subr_copy(x, s->s + from, s->n - (size_t)from);
}

uint64_t subr_strchr(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    if (!subr_text(x, arg[0], &s))
        return 0;
    if (!exec_work(x, s.n / WORK_SCAN))
        return 0;
    const char *p = memchr(s.s, (int)(arg[1] & 255), s.n);
    return suffix(x, &s, p != NULL ? p - s.s : -1);
}

uint64_t subr_strrchr(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    if (!subr_text(x, arg[0], &s))
        return 0;
    if (!exec_work(x, s.n / WORK_SCAN))
        return 0;
    const char *p = memrchr(s.s, (int)(arg[1] & 255), s.n);
    return suffix(x, &s, p != NULL ? p - s.s : -1);
}

uint64_t subr_strstr(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s, t;
    (void)n;
    if (!subr_text(x, arg[0], &s) || !subr_text(x, arg[1], &t))
        return 0;
    return exec_work(x, (s.n + t.n) * SEARCH) ? suffix(x, &s, subr_find(&s, &t, 0)) : 0;
}

/* Returns a start position, 32-bit signed. */
static int64_t position(uint64_t arg)
{
    return (int32_t)(uint32_t)arg;
}

uint64_t subr_index(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s, t;
    int64_t start = n > 2 ? position(arg[2]) : 0;
    if (!subr_text(x, arg[0], &s) || !subr_text(x, arg[1], &t) ||
        !exec_work(x, (s.n + t.n) * SEARCH))
        return 0;
    return (uint64_t)subr_find(&s, &t, start > 0 ? (size_t)start : 0);
}

uint64_t subr_rindex(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s, t;
    if (!subr_text(x, arg[0], &s) || !subr_text(x, arg[1], &t))
        return 0;
    int64_t last = (int64_t)s.n - (int64_t)t.n, start = n > 2 ? position(arg[2]) : last;
    return (uint64_t)find_last(x, &s, &t, start < last ? start : last);
}

/* Follows the rules of language.md 6.3. */
uint64_t subr_substr(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    if (!subr_text(x, arg[0], &s))
        return 0;
    int64_t len = (int64_t)s.n, at = position(arg[1]), count = n > 2 ? position(arg[2]) : INT64_MAX;
    if (at < 0) {
        at += len;
        if (at < 0) {
            if (count <= -at)
                return subr_copy(x, "", 0);
            count += at;
            at = 0;
        }
    }
    if (at >= len)
        return subr_copy(x, "", 0);
    if (count < 0)
        count += len - at;
    if (count <= 0)
        return subr_copy(x, "", 0);
    return subr_copy(x, s.s + at, (size_t)(count < len - at ? count : len - at));
}

enum { WORK_TABLE = 16 }; /* to build a table of 256 bytes */

/* Returns the number of the firing that may use the state of strtok(). */
static uint64_t firing(const struct exec *x)
{
    return atomic_load_explicit(x->in_error ? &x->ts->errors : &x->ts->fired, memory_order_relaxed);
}

/* strtok(s, delimiters) copies s; the copy lives as long as the firing. strtok(NULL, delimiters),
 * here with one argument, continues in it at the delimiter that ended the previous token: with
 * other delimiters, that character begins the next token. */
uint64_t subr_strtok(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct strtok *k = x->ts->strtok[x->in_error];
    uint64_t now = firing(x);
    struct text s, d;
    if (n > 1) {
        if (!subr_text(x, arg[0], &s) || !exec_work(x, s.n / WORK_COPY))
            return 0;
        memcpy(k->text, s.s, s.n);
        k->len = (uint32_t)s.n;
        k->at = 0;
        k->firing = now;
    } else if (k->firing != now) {
        return exec_fault(x, RECORD_FAULT_BADADDR, 0);
    }
    if (!subr_text(x, arg[n - 1], &d) || !exec_work(x, WORK_TABLE + d.n))
        return 0;
    bool delimits[256] = {false};
    for (size_t i = 0; i < d.n; i++)
        delimits[(unsigned char)d.s[i]] = true;
    const uint32_t before = k->at, most = (uint32_t)subr_most(x, k->len - k->at, 1);
    while (k->at - before < most && delimits[(unsigned char)k->text[k->at]])
        k->at++;
    uint32_t start = k->at;
    while (k->at - before < most && !delimits[(unsigned char)k->text[k->at]])
        k->at++;
    uint32_t end = k->at;
    if (!subr_looked(x, end - before, most, k->len - before, 1) || start == k->len)
        return 0;
    return subr_copy(x, k->text + start, end - start);
}
