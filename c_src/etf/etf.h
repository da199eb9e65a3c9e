/* etf.h - reads Erlang's external term format, trusting nothing.
 *
 * A reader walks over bytes that came from a node. Every function that does not find what it asks
 * for sets `bad` and answers with zero or nothing; after that all others do the same, so that a
 * decoder checks once at its end. Nothing is copied unless the function says so.
 *
 *   struct etf r = etf_over(bytes, n);
 *   etf_version(&r);
 *   if (etf_tuple(&r) == 2 && etf_atom_is(&r, "ok")) { ... }
 */
#ifndef ET_ETF_ETF_H
#define ET_ETF_ETF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ei.h>

#include "base/buf.h"

struct etf {
    const uint8_t *p;   /* next byte */
    const uint8_t *end; /* one past the last */
    bool bad;           /* something was not as asked for */
};

/* What comes next. */
enum etf_kind {
    ETF_END,
    ETF_INT,
    ETF_ATOM,
    ETF_TUPLE,
    ETF_LIST,
    ETF_STRING,
    ETF_BINARY,
    ETF_PID,
    ETF_OTHER
};

static inline struct etf etf_over(const void *p, size_t n)
{
    return (struct etf){.p = p, .end = (const uint8_t *)p + n};
}

/* The byte 131 that opens every term sent alone. */
void etf_version(struct etf *r);
/* Kind of the next term; ETF_END when no byte is left or the reader is bad. */
enum etf_kind etf_peek(const struct etf *r);
/* Arity of the tuple that begins here. */
uint32_t etf_tuple(struct etf *r);
/* Number of elements of the list that begins here, 0 for []. After the elements, when there were
 * any, comes etf_list_end. A list of small integers may be a string (ETF_STRING): use etf_text for
 * texts. */
uint32_t etf_list(struct etf *r);
void etf_list_end(struct etf *r);
/* The atom as UTF-8 with a NUL; `out` holds at least ETF_ATOM_MAX bytes. Returns its length. */
enum { ETF_ATOM_MAX = MAXATOMLEN_UTF8 };
size_t etf_atom(struct etf *r, char *out);
/* Reads an atom and says whether it is this one. */
bool etf_atom_is(struct etf *r, const char *name);
/* An integer that fits; larger ones are bad. */
int64_t etf_int(struct etf *r);
uint64_t etf_uint(struct etf *r);
/* The bytes of a binary, in place. */
const void *etf_binary(struct etf *r, size_t *n);
/* A binary, a string, a list of characters or an atom, appended as UTF-8. */
void etf_text(struct etf *r, struct buf *out);
void etf_pid(struct etf *r, erlang_pid *out);
/* Passes over one term, however deep, without recursion. */
void etf_skip(struct etf *r);

#endif
