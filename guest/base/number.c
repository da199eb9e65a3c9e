/* number.c - see number.h. */
#include "base/number.h"

#include <string.h>

/* Returns what a digit counts; anything else counts more than any base. */
static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                  : UINT32_MAX;
}

bool number_read(const char **at, unsigned base, uint64_t *n)
{
    const char *p = number_skip(*at, 0);
    if (base == 16 && strncmp(p, "0x", 2) == 0)
        p += 2;
    if (digit_of(*p) >= base)
        return false;
    for (*n = 0; digit_of(*p) < base; p++)
        *n = *n > (UINT64_MAX - digit_of(*p)) / base ? UINT64_MAX : *n * base + digit_of(*p);
    *at = p;
    return true;
}

const char *number_skip(const char *text, unsigned words)
{
    const char *p = text + strspn(text, " \t");
    for (; words > 0; words--) {
        p += strcspn(p, " \t\n");
        p += strspn(p, " \t");
    }
    return p;
}
