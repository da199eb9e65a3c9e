/* asset.h - the files of the page and the ready scripts, as built into this program.
 *
 * scripts/dev/embed generates the table: files of ui/dist under their paths ("/index.html"),
 * scripts as "scripts/NAME", those of the kernel as "scripts/kernel/NAME". */
#ifndef ET_WEB_ASSET_H
#define ET_WEB_ASSET_H

#include <stddef.h>

struct asset {
    const char *path;
    const unsigned char *data, *end;
    const unsigned char *gzip, *gzip_end; /* NULL: gzip would not make it smaller */
    const char *hash;                     /* of the content, 32 hexadecimal digits */
};
extern const struct asset assets[]; /* sorted by path */
extern const size_t nassets;

/* Returns the asset with that path, or NULL. */
const struct asset *asset_find(const char *path);
/* Returns "text/html; charset=utf-8" and the like, from the path's extension. */
const char *asset_type(const char *path);

#endif
