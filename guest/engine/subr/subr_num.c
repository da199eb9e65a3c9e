/* subr_num.c - subroutines on numbers: conversion to and from text, random numbers, device numbers,
 * byte order (language.md 6.3). */
#include "engine/subr/subr.h"

#include <string.h>
#include <time.h>

enum { WORK_DIGITS = 128 }; /* to divide by 2 down to 0 */
enum { BASE_LEAST = 2, BASE_MOST = 36, MINOR_BITS = 20 };

/* Returns the base given as argument 1, or 10; 0 after a fault. */
static uint64_t base_of(struct exec *x, const uint64_t *arg, unsigned n)
{
    int64_t base = n > 1 ? (int64_t)arg[1] : 10;
    if (base >= BASE_LEAST && base <= BASE_MOST)
        return (uint64_t)base;
    return exec_fault(x, RECORD_FAULT_ILLOP, 0);
}

/* Writes a number: signed in base 10, unsigned in all others; with C's prefix in 8 and 16. */
uint64_t subr_lltostr(struct exec *x, const uint64_t *arg, unsigned n)
{
    uint64_t base = base_of(x, arg, n), v = arg[0];
    char text[72], *p = text + sizeof text;
    bool negative = base == 10 && (int64_t)v < 0;
    if (base == 0 || !exec_work(x, base < 8 ? WORK_DIGITS : WORK_DIGITS / 4))
        return 0;
    if (negative)
        v = 0 - v;
    do {
        *--p = "0123456789abcdefghijklmnopqrstuvwxyz"[v % base];
        v /= base;
    } while (v > 0);
    if (base == 16)
        *--p = 'x';
    if (base == 16 || (base == 8 && *p != '0'))
        *--p = '0';
    if (negative)
        *--p = '-';
    size_t len = (size_t)(text + sizeof text - p), most = x->e->img.strsize;
    return subr_copy(x, p, len < most ? len : most);
}

static unsigned digit(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A') + 10
                                  : UINT32_MAX;
}

/* Reads a number: blanks, a sign, in base 16 an optional 0x, digits; the rest is ignored. */
uint64_t subr_strtoll(struct exec *x, const uint64_t *arg, unsigned n)
{
    uint64_t base = base_of(x, arg, n), v = 0;
    struct text s;
    size_t i = 0;
    if (base == 0 || !subr_text(x, arg[0], &s))
        return 0;
    const size_t n_all = s.n;
    s.n = subr_most(x, s.n, 2);
    while (i < s.n && (s.s[i] == ' ' || (s.s[i] >= '\t' && s.s[i] <= '\r')))
        i++;
    bool negative = i < s.n && s.s[i] == '-';
    i += i < s.n && (s.s[i] == '-' || s.s[i] == '+');
    if (base == 16 && i + 2 < s.n && s.s[i] == '0' && (s.s[i + 1] | 32) == 'x' &&
        digit(s.s[i + 2]) < base)
        i += 2;
    for (; i < s.n && digit(s.s[i]) < base; i++)
        v = v * base + digit(s.s[i]);
    if (!subr_looked(x, i, s.n, n_all, 2))
        return 0;
    return negative ? 0 - v : v;
}

/* Returns 31 bits from this thread's generator. */
uint64_t subr_rand(struct exec *x, const uint64_t *arg, unsigned n)
{
    uint64_t v = x->ts->rand;
    (void)arg;
    (void)n;
    if (v == 0) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        v = ((uint64_t)t.tv_nsec << 32 ^ (uint64_t)t.tv_sec ^ subr_address(x->ts)) | 1;
    }
    v ^= v >> 12;
    v ^= v << 25;
    v ^= v >> 27;
    x->ts->rand = v;
    return v * UINT64_C(0x2545f4914f6cdd1d) >> 33;
}

/* The value of the next update may be made of sizes: it is a lower bound if one of them is. */
uint64_t subr_lower(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)arg;
    (void)n;
    x->lower = x->ctx->read_lower;
    return 0;
}

/* An aggregation leaves out a value that is not known. */
uint64_t subr_uncounted(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)arg;
    (void)n;
    engine_drop(x->e, x->t, RECORD_DROP_UNCOUNTED);
    return 0;
}

uint64_t subr_getmajor(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)x;
    (void)n;
    return (uint32_t)arg[0] >> MINOR_BITS;
}

uint64_t subr_getminor(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)x;
    (void)n;
    return arg[0] & ((1u << MINOR_BITS) - 1);
}

uint64_t subr_progenyof(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)n;
    for (uint32_t i = 0; i < x->e->self.nancestors; i++) /* a few */
        if (x->e->self.ancestor[i] == (int32_t)arg[0])
            return 1;
    return 0;
}

uint64_t subr_speculation(struct exec *x, const uint64_t *arg, unsigned n)
{
    (void)arg;
    (void)n;
    return exec_speculation(x);
}

/* Host order is little-endian (exec.c), so both directions are the same swap. */
#define SWAP(name, bits)                                                                           \
    uint64_t subr_##name(struct exec *x, const uint64_t *arg, unsigned n)                          \
    {                                                                                              \
        (void)x;                                                                                   \
        (void)n;                                                                                   \
        return __builtin_bswap##bits((uint##bits##_t)arg[0]);                                      \
    }
SWAP(htons, 16)
SWAP(htonl, 32)
SWAP(htonll, 64)
SWAP(ntohs, 16)
SWAP(ntohl, 32)
SWAP(ntohll, 64)
