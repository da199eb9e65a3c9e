/* units.c - the table of time units. */
#include "util/units.h"

#include <stddef.h>
#include <strings.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ns", 1},
    {"nsec", 1},
    {"us", 1000},
    {"usec", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"s", 1000000000},
    {"sec", 1000000000},
    {"m", 60000000000},
    {"min", 60000000000},
    {"h", 3600000000000},
    {"hour", 3600000000000},
    {"d", 86400000000000},
    {"day", 86400000000000},
};

bool units_time(uint64_t n, const char *unit, uint64_t *ns)
{
    if (strcasecmp(unit, "hz") == 0) {
        *ns = n == 0 ? 0 : UINT64_C(1000000000) / n;
        return n != 0;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp(unit, units[i].name) == 0)
            return !__builtin_mul_overflow(n, units[i].ns, ns) && *ns <= INT64_MAX;
    return false;
}
