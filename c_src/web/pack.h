/* pack.h - gzip for answers that are made for a request. (The page's files were compressed when the
 * program was built: asset.h.)
 *
 * A compressed body never combines a secret with text that a stranger chose: neither token nor
 * cookie is in any body, so its length reveals nothing (BREACH). */
#ifndef ET_WEB_PACK_H
#define ET_WEB_PACK_H

#include <stdbool.h>

#include "base/buf.h"

enum { PACK_LEAST = 1024 /* bytes; a shorter body fits into a packet or two anyway */ };

/* Returns whether an Accept-Encoding header accepts gzip: by name, or as "*", and not with weight
 * 0. */
bool pack_accepted(const char *header);
/* Replaces a text with its gzip form, if the text is long enough and the result is shorter. Returns
 * false if the text is unchanged. */
bool pack_gzip(struct buf *b);

#endif
