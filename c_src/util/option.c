/* option.c - the rows of options.list, and how their values are written. */
#include "util/option.h"

#include <stdio.h>
#include <string.h>

/* The words of the option `format`. */
static const char formats[] =
#define FORMAT(name, flag, how, reporter) #name " "
#include "util/formats.list"
#undef FORMAT
    ;

const struct option_row option_rows[OPTION_COUNT] = {
#define OPTION(name, type, standard, least, most, words, by, phase, to, key, when, text, more)     \
    {#name, OPTION_TYPE_##type, standard, least, most, words, OPTION_BY_##by, text},
#include "util/options.list"
#undef OPTION
};

/* "switch, fill or ring" */
static const char *alternatives(const char *words, char *room, size_t n)
{
    size_t used = 0;
    for (const char *p = words; *p != '\0';) {
        size_t len = strcspn(p, " ");
        const char *next = p + len + strspn(p + len, " ");
        const char *before = p == words ? "" : *next == '\0' ? " or " : ", ";
        int more = snprintf(room + used, n - used, "%s%.*s", before, (int)len, p);
        if (more < 0 || (size_t)more >= n - used)
            return NULL;
        used += (size_t)more;
        p = next;
    }
    return room;
}

/* Describes the form of a value with its bounds: "a size from 2 to 1m". Without an upper bound,
 * returns `otherwise`. */
static const char *bounded(const struct option_row *r, const char *what, const char *limit,
                           const char *otherwise, char *room, size_t n)
{
    if (r->least != NULL && r->most != NULL)
        snprintf(room, n, "%s from %s to %s", what, r->least, r->most);
    else if (r->most != NULL)
        snprintf(room, n, "%s %s %s", what, limit, r->most);
    return r->most != NULL ? room : otherwise;
}

const char *option_form(const struct option_row *r, char *room, size_t n)
{
    switch (r->type) {
    case OPTION_TYPE_FLAG: return "the name alone sets it; =no unsets it";
    case OPTION_TYPE_PRESENT: return "it takes no value";
    case OPTION_TYPE_SIZE:
    case OPTION_TYPE_PACKET:
    case OPTION_TYPE_PRINT:
        return bounded(r, "a size", "of at most",
                       "a size is a number with k, m, g or t if you like, as in 16k", room, n);
    case OPTION_TYPE_NUMBER: return bounded(r, "a number", "up to", "a number", room, n);
    case OPTION_TYPE_RATE:
        return bounded(r, "a time", "of at most", "a time or a frequency, as in 500ms, 10s or 97hz",
                       room, n);
    case OPTION_TYPE_ERRFORM:
    case OPTION_TYPE_WORD: return alternatives(r->words, room, n);
    case OPTION_TYPE_PERCENT:
        snprintf(room, n, "a number of percent, 1 to %s, or off", r->most);
        return room;
    case OPTION_TYPE_STATS:
        snprintf(room, n, "the name alone for each second, a time of at least %s, or end",
                 r->least);
        return room;
    case OPTION_TYPE_BUDGET:
        snprintf(room, n, "units of work, from %s to %s; an event cannot be without bounds",
                 r->least, r->most);
        return room;
    case OPTION_TYPE_MEMORY: return "a size, or unlimited";
    case OPTION_TYPE_STABILITY:
        return "attributes are NAME/DATA/CLASS, as in Evolving/Evolving/Common";
    case OPTION_TYPE_PATTERNS: return "globs separated by commas, as in *password*,token";
    case OPTION_TYPE_VERSION: return "a version is as in 1.0 or 1.6.1";
    case OPTION_TYPE_PATH:
    case OPTION_TYPE_FOLDER:
    case OPTION_TYPE_CPP:
    case OPTION_TYPE_CPP_FLAG:
    case OPTION_TYPE_IGNORED:
    case OPTION_TYPE_REFUSED: break;
    }
    return NULL;
}
