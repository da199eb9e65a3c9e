/* pack.h - gzip for answers that are made for a request. (Files of the page were packed when the
 * program was built: asset.h.)
 *
 * What is packed holds no secret beside something that a stranger chose: neither token nor cookie
 * is in any body, so its length tells nothing (BREACH). */
#ifndef ET_WEB_PACK_H
#define ET_WEB_PACK_H

#include <stdbool.h>

#include "base/buf.h"

enum { PACK_LEAST = 1024 /* bytes; less fits into a packet or two anyway */ };

/* Whether an Accept-Encoding header takes gzip: named, or as "*", and not with the weight 0. */
bool pack_accepted(const char *header);
/* Replaces a text by its gzip form, when it is long enough and that is shorter. False: it is as it
 * was. */
bool pack_gzip(struct buf *b);

#endif
