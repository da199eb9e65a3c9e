/* etf_print.h - prints terms as Erlang writes them. */
#ifndef ET_ETF_ETF_PRINT_H
#define ET_ETF_ETF_PRINT_H

#include <stddef.h>

#include "base/buf.h"
#include "etf/etf.h"

/* Appends the term at r on one line of roughly `limit` bytes at most. "..." replaces what exceeds
 * the limit. Long texts and binaries are also cut after their first bytes, with their length given.
 * Bytes that are no term end the output with "<malformed>". Nothing in it can steer a terminal. */
void etf_print(struct buf *out, struct etf r, size_t limit);

#endif
