/* stability.c - the names of attributes, and the attributes of providers. */
#include "lang/stability.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const levels[] = {"Internal", "Private",  "Obsolete", "External",
                                     "Unstable", "Evolving", "Stable",   "Standard"};
static const char *const classes[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};
enum { UNSTABLE = 4, EVOLVING = 5, STABLE = 6, STANDARD = 7, COMMON = 5 };

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

const struct attr attr_stable = {STABLE, STABLE, COMMON};
const struct attr attr_standard = {STANDARD, STANDARD, COMMON};

/* Looks up the len bytes at s in a table; returns false if they are not there. */
static bool look_up(const char *const *table, size_t n, const char *s, size_t len, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(table[i]) == len && strncasecmp(table[i], s, len) == 0) {
            *out = (uint8_t)i;
            return true;
        }
    }
    return false;
}

bool attr_parse(const char *text, struct attr *out)
{
    const char *first = strchr(text, '/'), *second = first ? strchr(first + 1, '/') : NULL;
    return second && look_up(levels, NELEM(levels), text, (size_t)(first - text), &out->name) &&
           look_up(levels, NELEM(levels), first + 1, (size_t)(second - first - 1), &out->data) &&
           look_up(classes, NELEM(classes), second + 1, strlen(second + 1), &out->class);
}

struct attr attr_min(struct attr a, struct attr b)
{
    return (struct attr){a.name < b.name ? a.name : b.name, a.data < b.data ? a.data : b.data,
                         a.class < b.class ? a.class : b.class};
}

const char *attr_stability(uint8_t level)
{
    return levels[level];
}

const char *attr_class(uint8_t level)
{
    return classes[level];
}

struct attr attr_provider(const char *name)
{
    static const struct {
        const char *name;
        struct attr attr;
    } known[] = {
        {"dtrace", {STABLE, STABLE, COMMON}},
        {"profile", {EVOLVING, EVOLVING, COMMON}},
    };
    for (size_t i = 0; i < NELEM(known); i++) {
        if (strcmp(known[i].name, name) == 0)
            return known[i].attr;
    }
    return (struct attr){UNSTABLE, UNSTABLE, COMMON};
}
