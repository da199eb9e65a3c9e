/* etf.h - reads Erlang's external term format without trusting it.
 *
 * A reader walks over bytes that came from a node. A function that does not find what the caller
 * asked for sets `bad` and returns zero or NULL, and so does every later call, so a decoder checks
 * once, at its end. Nothing is copied unless the function says so.
 *
 *   struct etf r = etf_over(bytes, n);
 *   etf_version(&r);
 *   if (etf_tuple(&r) == 2 && etf_atom_is(&r, "ok")) { ... } */
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
    bool bad;           /* a term was not what the caller asked for */
};

/* The kind of the next term. */
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

/* Reads the byte 131 that opens every term sent alone. */
void etf_version(struct etf *r);
/* Returns the kind of the next term; ETF_END at the end of the bytes or when the reader is bad. */
enum etf_kind etf_peek(const struct etf *r);
/* Returns the arity of the tuple that begins here. */
uint32_t etf_tuple(struct etf *r);
/* Returns the number of elements of the list that begins here, 0 for []. After the last element of
 * a nonempty list, call etf_list_end. A list of small integers may be encoded as a string
 * (ETF_STRING): use etf_text for texts. */
uint32_t etf_list(struct etf *r);
void etf_list_end(struct etf *r);
/* Reads an atom as UTF-8 with a NUL and returns its length. `out` holds at least ETF_ATOM_MAX
 * bytes. */
enum { ETF_ATOM_MAX = MAXATOMLEN_UTF8 };
size_t etf_atom(struct etf *r, char *out);
/* Reads an atom and returns whether it is `name`. */
bool etf_atom_is(struct etf *r, const char *name);
/* Reads an integer; one that does not fit makes the reader bad. */
int64_t etf_int(struct etf *r);
uint64_t etf_uint(struct etf *r);
/* Returns the bytes of a binary, in place. */
const void *etf_binary(struct etf *r, size_t *n);
/* Appends a binary, a string, a list of characters or an atom to `out` as UTF-8. */
void etf_text(struct etf *r, struct buf *out);
void etf_pid(struct etf *r, erlang_pid *out);
/* Skips one term of any depth, without recursion. */
void etf_skip(struct etf *r);

#endif
