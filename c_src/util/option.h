/* option.h - the options of a session: one row of options.list each. That list explains the
 * columns.
 *
 * result/options.h sets options and holds their values. */
#ifndef ET_UTIL_OPTION_H
#define ET_UTIL_OPTION_H

#include <stddef.h>
#include <string.h>

enum option_id {
#define OPTION(name, type, standard, least, most, words, by, phase, to, key, when, text, more)     \
    OPTION_##name,
#include "util/options.list"
#undef OPTION
    OPTION_COUNT
};

enum { OPTION_UNSET = -2 }; /* the value of an option that is neither set nor has a default */

enum option_type {
    OPTION_TYPE_FLAG,
    OPTION_TYPE_PRESENT,
    OPTION_TYPE_SIZE,
    OPTION_TYPE_NUMBER,
    OPTION_TYPE_RATE,
    OPTION_TYPE_WORD,
    OPTION_TYPE_PERCENT,
    OPTION_TYPE_STATS,
    OPTION_TYPE_BUDGET,
    OPTION_TYPE_PACKET,
    OPTION_TYPE_PRINT,
    OPTION_TYPE_MEMORY,
    OPTION_TYPE_ERRFORM,
    OPTION_TYPE_STABILITY,
    OPTION_TYPE_VERSION,
    OPTION_TYPE_PATH, /* types from here on have no value in struct options.value */
    OPTION_TYPE_FOLDER,
    OPTION_TYPE_PATTERNS,
    OPTION_TYPE_CPP,
    OPTION_TYPE_CPP_FLAG,
    OPTION_TYPE_IGNORED,
    OPTION_TYPE_REFUSED
};

/* Who may set an option. */
enum option_by { OPTION_BY_COMMAND, OPTION_BY_PROGRAM, OPTION_BY_RUNNING /* setopt() */ };

struct option_row {
    const char *name;
    enum option_type type;
    const char *standard;     /* the default, as -x takes it; NULL: not set */
    const char *least, *most; /* bounds of the value, as -x takes them; NULL: none */
    const char *words;        /* of a WORD, separated by blanks; NULL */
    enum option_by by;        /* the last one that may set it */
    const char *text;         /* its meaning; backquotes are Markdown's */
};

/* Returns the default as people read it; "": none. A flag that is set by default shows no number.
 */
static inline const char *option_default(enum option_type type, const char *standard)
{
    return standard == NULL                                         ? ""
           : type == OPTION_TYPE_FLAG && strcmp(standard, "0") == 0 ? "on"
                                                                    : standard;
}

/* By enum option_id. */
extern const struct option_row option_rows[OPTION_COUNT];

/* Returns how the values of an option are written, for people: "a size from 2 to 1m". NULL: there
 * is nothing to say. The text may be in room, of n bytes. */
const char *option_form(const struct option_row *r, char *room, size_t n);

#endif
