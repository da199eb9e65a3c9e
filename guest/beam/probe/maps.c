/* maps.c - see maps.h.
 *
 * FROM-TO RIGHTS OFFSET MAJOR:MINOR INODE NAME, the numbers but the inode in hexadecimal. */
#include "beam/probe/maps.h"

#include <string.h>

#include "base/number.h"

enum { RIGHTS = 4 };

bool maps_read(const char *line, struct maps_line *out)
{
    const char *p = line;
    if (!number_read(&p, 16, &out->from) || *p++ != '-' || !number_read(&p, 16, &out->to) ||
        out->from >= out->to)
        return false;
    out->rights = p = number_skip(p, 0);
    if (strnlen(p, RIGHTS) < RIGHTS || p[RIGHTS] != ' ')
        return false;
    p += RIGHTS;
    if (!number_read(&p, 16, &out->offset))
        return false;
    p = number_skip(p, 1); /* the device */
    if (!number_read(&p, 10, &out->inode))
        return false;
    out->name = number_skip(p, 0);
    return true;
}
