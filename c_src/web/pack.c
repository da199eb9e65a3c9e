/* pack.c - see pack.h. */
#include "web/pack.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

/* Returns the weight in "gzip;q=0.5", from the first ";" on; 1 if there is none. */
static double weight(const char *parameters, size_t n)
{
    for (const char *p = parameters, *end = p + n; p < end; p++) {
        p += strspn(p, "; \t");
        if (end - p >= 2 && (*p == 'q' || *p == 'Q') && p[1] == '=')
            return strtod(p + 2, NULL);
        if ((p = memchr(p, ';', (size_t)(end - p))) == NULL)
            break;
    }
    return 1;
}

bool pack_accepted(const char *header)
{
    double named = -1, any = 0;
    for (const char *p = header; *p != '\0';) {
        p += strspn(p, ", \t");
        size_t len = strcspn(p, ","), name = strcspn(p, ",; \t");
        double w = weight(p + name, len - name);
        if ((name == 4 && strncasecmp(p, "gzip", 4) == 0) ||
            (name == 6 && strncasecmp(p, "x-gzip", 6) == 0))
            named = w > named ? w : named;
        else if (name == 1 && *p == '*')
            any = w;
        p += len;
    }
    return (named >= 0 ? named : any) > 0;
}

/* Uses the fastest level, because the sockets' thread compresses as well. */
bool pack_gzip(struct buf *b)
{
    enum { GZIP = 16 }; /* added to the window's size: selects gzip's header and trailer */
    struct buf packed = BUF_INIT;
    z_stream z = {0};
    if (b->oom || b->len < PACK_LEAST || b->len > UINT32_MAX / 2 ||
        deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    bool smaller = buf_reserve(&packed, b->len);
    if (smaller) {
        z.next_in = (unsigned char *)b->data;
        z.avail_in = (uInt)b->len;
        z.next_out = (unsigned char *)packed.data;
        z.avail_out = (uInt)b->len - 1;
        smaller = deflate(&z, Z_FINISH) == Z_STREAM_END;
    }
    deflateEnd(&z);
    if (smaller) {
        packed.len = z.total_out;
        packed.data[packed.len] = '\0';
        buf_free(b);
        *b = packed;
    } else {
        buf_free(&packed);
    }
    return smaller;
}
