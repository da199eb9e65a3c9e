/* etf_print.h - terms as Erlang writes them, for people to read. */
#ifndef ET_ETF_ETF_PRINT_H
#define ET_ETF_ETF_PRINT_H

#include <stddef.h>

#include "base/buf.h"
#include "etf/etf.h"

/* Appends the term at r on one line, in about `limit` bytes at most: what goes beyond that is
 * "...", as are texts and binaries beyond their first bytes, of which the number is given. Bytes
 * that are no term end it with "<malformed>". Nothing in it can steer a terminal. */
void etf_print(struct buf *out, struct etf r, size_t limit);

#endif
