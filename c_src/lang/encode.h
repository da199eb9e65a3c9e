/* encode.h - a program image written out: as bytes for a tier, as text for people. */
#ifndef ET_LANG_ENCODE_H
#define ET_LANG_ENCODE_H

#include "base/buf.h"
#include "dif/dif.h"

/* Appends the binary form to out; 0, ET_ENOMEM, or ET_ELIMIT when it is 4 GiB or more. */
int dif_encode(const struct dif_image *img, struct buf *out);

/* Prints the whole program, or one clause, as text (option -S). The image is one that was compiled
 * or verified. */
void dif_disasm(const struct dif_image *img, struct buf *out);
void dif_disasm_clause(const struct dif_image *img, uint32_t clause, struct buf *out);

#endif
