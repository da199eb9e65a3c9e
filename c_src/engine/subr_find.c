/* subr_find.c - subroutines that look for something in a string (reference 6.3): strchr, strrchr,
 * strstr, index, rindex, substr, strtok. What they return is a copy, or NULL for nothing found. */
#include "engine/subr.h"

#include <string.h>

int64_t subr_find(const struct text *s, const struct text *t, size_t from)
{
    /* memmem takes time in proportion to both lengths, also where nearly everything matches. */
    const char *p = from <= s->n ? memmem(s->s + from, s->n - from, t->s, t->n) : NULL;
    return p != NULL ? p - s->s : -1;
}

/* a * b + c modulo 2^61 - 1, for numbers below that and a c below 256. */
static uint64_t mul_add(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ typedef unsigned __int128 u128;
    const uint64_t modulus = (UINT64_C(1) << 61) - 1;
    u128 v = (u128)a * b + c;
    uint64_t r = (uint64_t)(v & modulus) + (uint64_t)(v >> 61);
    return r >= modulus ? r - modulus : r;
}

/* The place of the last occurrence of t in s at or before `from`, or -1. Hashes of the text under a
 * window of t's length (Rabin and Karp), moved backwards, decide where it is worth to compare: the
 * time is in proportion to the lengths, whatever the texts are. */
static int64_t find_last(const struct text *s, const struct text *t, int64_t from)
{
    const uint64_t base = 0x1b3f72a95c4d8e1u, modulus = (UINT64_C(1) << 61) - 1;
    const unsigned char *p = (const unsigned char *)s->s, *q = (const unsigned char *)t->s;
    uint64_t want = 0, have = 0, top = 1; /* top: the weight of the window's last byte */
    if (from < 0)
        return -1;
    for (size_t k = t->n; k > 0; k--) {
        want = mul_add(want, base, q[k - 1]);
        have = mul_add(have, base, p[(size_t)from + k - 1]);
        top = k > 1 ? mul_add(top, base, 0) : top;
    }
    for (size_t i = (size_t)from;; i--) {
        if (have == want && memcmp(p + i, q, t->n) == 0)
            return (int64_t)i;
        if (i == 0)
            return -1;
        if (t->n > 0) {
            uint64_t out = modulus - mul_add(top, p[i + t->n - 1], 0);
            have = mul_add((have + out) % modulus, base, p[i - 1]);
        }
    }
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
    const char *p = memchr(s.s, (int)(arg[1] & 255), s.n);
    return suffix(x, &s, p != NULL ? p - s.s : -1);
}

uint64_t subr_strrchr(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s;
    (void)n;
    if (!subr_text(x, arg[0], &s))
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
    return suffix(x, &s, subr_find(&s, &t, 0));
}

/* A start position, 32-bit signed. */
static int64_t position(uint64_t arg)
{
    return (int32_t)(uint32_t)arg;
}

uint64_t subr_index(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s, t;
    int64_t start = n > 2 ? position(arg[2]) : 0;
    if (!subr_text(x, arg[0], &s) || !subr_text(x, arg[1], &t))
        return 0;
    return (uint64_t)subr_find(&s, &t, start > 0 ? (size_t)start : 0);
}

uint64_t subr_rindex(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct text s, t;
    if (!subr_text(x, arg[0], &s) || !subr_text(x, arg[1], &t))
        return 0;
    int64_t last = (int64_t)s.n - (int64_t)t.n, start = n > 2 ? position(arg[2]) : last;
    return (uint64_t)find_last(&s, &t, start < last ? start : last);
}

/* The four rules of the reference. */
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

/* strtok(s, delimiters) takes a copy of s that lives as long as the firing; strtok(NULL,
 * delimiters), here with one argument, goes on in it. */
uint64_t subr_strtok(struct exec *x, const uint64_t *arg, unsigned n)
{
    struct strtok *k = exec_strtok(x);
    uint64_t now = exec_firing(x);
    struct text s, d;
    if (n > 1) {
        if (!subr_text(x, arg[0], &s))
            return 0;
        memcpy(k->text, s.s, s.n);
        k->len = (uint32_t)s.n;
        k->at = 0;
        k->firing = now;
    } else if (k->firing != now) {
        return exec_fault(x, ENGINE_FAULT_BADADDR, 0);
    }
    if (!subr_text(x, arg[n - 1], &d))
        return 0;
    bool delimits[256] = {false};
    for (size_t i = 0; i < d.n; i++)
        delimits[(unsigned char)d.s[i]] = true;
    while (k->at < k->len && delimits[(unsigned char)k->text[k->at]])
        k->at++;
    if (k->at == k->len)
        return 0;
    uint32_t start = k->at;
    while (k->at < k->len && !delimits[(unsigned char)k->text[k->at]])
        k->at++;
    uint32_t end = k->at;
    k->at += k->at < k->len; /* the delimiter that ends it */
    return subr_copy(x, k->text + start, end - start);
}
