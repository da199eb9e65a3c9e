/* version.c - versions of the language, and which names a version does not have yet.
 *
 * A version is one number: 8 bits major, 12 bits minor, 12 bits micro. With the option version, a
 * program sees only what the language had then; its own names may be those of later additions. */
#include "lang/lang.h"
#include "lang/prog.h"

#include <stdlib.h>
#include <string.h>

#define V(major, minor, micro) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 12 | (micro))

/* The versions that there have been. */
static const uint32_t versions[] = {
    V(1, 0, 0),  V(1, 1, 0),  V(1, 2, 0), V(1, 2, 1), V(1, 2, 2),  V(1, 3, 0),  V(1, 4, 0),
    V(1, 4, 1),  V(1, 5, 0),  V(1, 6, 0), V(1, 6, 1), V(1, 6, 2),  V(1, 6, 3),  V(1, 7, 0),
    V(1, 7, 1),  V(1, 8, 0),  V(1, 8, 1), V(1, 9, 0), V(1, 10, 0), V(1, 11, 0), V(1, 12, 0),
    V(1, 12, 1), V(1, 13, 0), V(2, 0, 0), V(2, 0, 1),
};

/* Built-in names that the first version did not have. */
static const struct {
    const char *name;
    uint32_t version;
} since[] = {
    {"index", V(1, 1, 0)},      {"rindex", V(1, 1, 0)},    {"strchr", V(1, 1, 0)},
    {"strrchr", V(1, 1, 0)},    {"strstr", V(1, 1, 0)},    {"strtok", V(1, 1, 0)},
    {"substr", V(1, 1, 0)},     {"freopen", V(1, 1, 0)},   {"sym", V(1, 2, 0)},
    {"mod", V(1, 2, 0)},        {"func", V(1, 2, 0)},      {"usym", V(1, 2, 0)},
    {"umod", V(1, 2, 0)},       {"ufunc", V(1, 2, 0)},     {"uaddr", V(1, 2, 0)},
    {"ucaller", V(1, 2, 0)},    {"htons", V(1, 3, 0)},     {"htonl", V(1, 3, 0)},
    {"htonll", V(1, 3, 0)},     {"ntohs", V(1, 3, 0)},     {"ntohl", V(1, 3, 0)},
    {"ntohll", V(1, 3, 0)},     {"inet_ntoa", V(1, 5, 0)}, {"inet_ntoa6", V(1, 5, 0)},
    {"inet_ntop", V(1, 5, 0)},  {"stddev", V(1, 6, 0)},    {"llquantize", V(1, 7, 0)},
    {"toupper", V(1, 8, 0)},    {"tolower", V(1, 8, 0)},   {"print", V(1, 9, 0)},
    {"json", V(1, 11, 0)},      {"strtoll", V(1, 11, 0)},  {"pcap", V(1, 12, 0)},
    {"link_ntop", V(1, 12, 0)},
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

void names_versions(struct lang *l)
{
    for (size_t i = 0; i < sizeof since / sizeof since[0]; i++) {
        struct ident *id = names_find(&l->globals, since[i].name);
        if (id)
            id->version = since[i].version;
    }
}
