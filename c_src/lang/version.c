/* version.c - versions of the language, and the names that a version does not have yet.
 *
 * A version is one number: 8 bits major, 12 bits minor, 12 bits micro. With the option version, a
 * program sees only what the language had then; its own names may be those of later additions. */
#include "lang/lang.h"
#include "lang/prog.h"

#include <stdlib.h>
#include <string.h>

/* All versions that ever existed. */
static const uint32_t versions[] = {
    SINCE(1, 0, 0),  SINCE(1, 1, 0),  SINCE(1, 2, 0),  SINCE(1, 2, 1),  SINCE(1, 2, 2),
    SINCE(1, 3, 0),  SINCE(1, 4, 0),  SINCE(1, 4, 1),  SINCE(1, 5, 0),  SINCE(1, 6, 0),
    SINCE(1, 6, 1),  SINCE(1, 6, 2),  SINCE(1, 6, 3),  SINCE(1, 7, 0),  SINCE(1, 7, 1),
    SINCE(1, 8, 0),  SINCE(1, 8, 1),  SINCE(1, 9, 0),  SINCE(1, 10, 0), SINCE(1, 11, 0),
    SINCE(1, 12, 0), SINCE(1, 12, 1), SINCE(1, 13, 0), SINCE(2, 0, 0),  SINCE(2, 0, 1),
};

bool lang_version_parse(const char *s, uint32_t *out)
{
    static const unsigned long most[] = {255, 4095, 4095};
    static const unsigned shift[] = {24, 12, 0};
    uint32_t v = 0;
    for (size_t i = 0; i < 3; i++) {
        char *end;
        if (*s < '0' || *s > '9')
            return false;
        unsigned long n = strtoul(s, &end, 10);
        if (n > most[i])
            return false;
        v |= (uint32_t)n << shift[i];
        if (*end == '\0') {
            *out = v;
            return i > 0;
        }
        if (*end != '.')
            return false;
        s = end + 1;
    }
    return false;
}

bool lang_version_exists(uint32_t version)
{
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (versions[i] == version)
            return true;
    }
    return false;
}
