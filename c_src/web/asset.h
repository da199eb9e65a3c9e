/* asset.h - the files of the page, and the ready-made scripts, as they were built into this
 * program.
 *
 * scripts/dev/embed makes the table: files of ui/dist under their paths ("/index.html"), scripts as
 * "scripts/NAME". */
#ifndef ET_WEB_ASSET_H
#define ET_WEB_ASSET_H

#include <stddef.h>

struct asset {
    const char *path;
    const unsigned char *data, *end;
    const unsigned char *gzip, *gzip_end; /* NULL: not smaller that way */
    const char *hash;                     /* of the content, 32 hexadecimal digits */
};
extern const struct asset assets[]; /* in the order of their paths */
extern const size_t nassets;

/* NULL when there is none of that path. */
const struct asset *asset_find(const char *path);
/* "text/html; charset=utf-8", by the path's ending. */
const char *asset_type(const char *path);

#endif
