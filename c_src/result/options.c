/* options.c - sets options: the syntax of values by their types, and who may set which. */
#include "result/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/units.h"
#include "lang/compile.h"
#include "util/render.h"

static const char bad_name[] = "Invalid option name";
static const char bad_value[] = "Invalid value for specified option";
static const char in_program[] = "Option cannot be used from within a D program";
static const char running[] = "Operation illegal when tracing is active";
static const char option_restricted[] = "Option not allowed for this program";
static const char terms_hidden[] = "Terms have been hidden, and stay hidden";

/* Parses a non-negative integer in C's bases; *rest is what follows it. */
static bool number(const char *text, int64_t *v, const char **rest)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 0);
    if (errno != 0 || n > INT64_MAX)
        return false;
    *v = (int64_t)n;
    *rest = end;
    return true;
}

static bool parse_flag(const char *text, int64_t *v)
{
    static const struct {
        const char *word;
        int64_t value;
    } words[] = {
        {"yes", 1},
        {"enable", 1},
        {"enabled", 1},
        {"true", 1},
        {"on", 1},
        {"set", 1},
        {"no", OPTION_UNSET},
        {"disable", OPTION_UNSET},
        {"disabled", OPTION_UNSET},
        {"false", OPTION_UNSET},
        {"off", OPTION_UNSET},
        {"unset", OPTION_UNSET},
        {"", OPTION_UNSET},
    };
    const char *rest;
    if (text == NULL) {
        *v = 0; /* which still counts as set */
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i].word) == 0) {
            *v = words[i].value;
            return true;
        }
    }
    return number(text, v, &rest) && *rest == '\0';
}

static bool parse_number(const char *text, int64_t *v)
{
    const char *rest;
    return text != NULL && number(text, v, &rest) && *rest == '\0';
}

static bool parse_size(const char *text, int64_t *v)
{
    static const char units[] = "kmgt";
    const char *rest, *unit;
    if (text == NULL || !number(text, v, &rest))
        return false;
    if (*rest == '\0')
        return true;
    unit = strchr(units, tolower((unsigned char)*rest));
    if (unit == NULL || rest[1] != '\0')
        return false;
    unsigned shift = (unsigned)(unit - units + 1) * 10;
    if (*v > INT64_MAX >> shift)
        return false;
    *v <<= shift;
    return true;
}

bool option_rate(const char *text, int64_t *ns)
{
    const char *rest;
    int64_t v;
    uint64_t t;
    if (text == NULL || !number(text, &v, &rest) ||
        !units_time((uint64_t)v, *rest == '\0' ? "ns" : rest, &t))
        return false;
    *ns = (int64_t)t;
    return true;
}

/* Parses the interval of reports; 0: only at the end. */
static bool parse_stats(const char *text, int64_t *ns)
{
    int64_t flag;
    *ns = text == NULL ? 1000000000 : 0;
    if (text == NULL || strcasecmp(text, "end") == 0)
        return true;
    if (parse_flag(text, &flag) && flag == OPTION_UNSET) {
        *ns = OPTION_UNSET;
        return true;
    }
    return option_rate(text, ns);
}

/* Finds the index of one of several words, separated by blanks, in any case. */
static bool parse_word(const char *text, const char *words, int64_t *v)
{
    size_t len = text != NULL ? strlen(text) : 0;
    int64_t i = 0;
    for (const char *p = words; len > 0 && *p != '\0'; i++) {
        size_t n = strcspn(p, " ");
        if (n == len && strncasecmp(text, p, n) == 0) {
            *v = i;
            return true;
        }
        p += n + strspn(p + n, " ");
    }
    return false;
}

/* Returns whether there is a glob between the commas, blanks and quotes, and each quote is closed.
 * (erltrace_agent_terms takes them apart.) */
static bool are_globs(const char *text)
{
    size_t quotes = 0, others = 0;
    for (; text != NULL && *text != '\0'; text++)
        if (*text == '"')
            quotes++;
        else if (strchr(", \t\n", *text) == NULL)
            others++;
    return others > 0 && quotes % 2 == 0;
}

/* Parses a value by its type, without checking bounds. */
static bool parse(const struct option_row *r, const char *text, int64_t *v)
{
    *v = 0;
    switch (r->type) {
    case OPTION_TYPE_FLAG: return parse_flag(text, v);
    case OPTION_TYPE_PRESENT: return text == NULL;
    case OPTION_TYPE_PRINT: *v = 8192; return text == NULL || parse_size(text, v);
    case OPTION_TYPE_SIZE:
    case OPTION_TYPE_PACKET:
    case OPTION_TYPE_BUDGET: return parse_size(text, v);
    case OPTION_TYPE_MEMORY:
        *v = -1;
        return (text != NULL && strcasecmp(text, "unlimited") == 0) || parse_size(text, v);
    case OPTION_TYPE_NUMBER: return parse_number(text, v);
    case OPTION_TYPE_PERCENT:
        return (text != NULL && strcasecmp(text, "off") == 0) || parse_number(text, v);
    case OPTION_TYPE_RATE: return option_rate(text, v);
    case OPTION_TYPE_STATS: return parse_stats(text, v);
    case OPTION_TYPE_WORD: return parse_word(text, r->words, v);
    case OPTION_TYPE_ERRFORM:
        if (!parse_word(text, r->words, v))
            return false;
        *v = *v == 0 ? OPTION_UNSET : *v;
        return true;
    case OPTION_TYPE_STABILITY: return text != NULL && (*v = compile_amin(text)) >= 0;
    case OPTION_TYPE_PATTERNS: return are_globs(text);
    case OPTION_TYPE_PATH:
    case OPTION_TYPE_FOLDER: return text != NULL && *text != '\0';
    case OPTION_TYPE_VERSION:
    case OPTION_TYPE_CPP:
    case OPTION_TYPE_CPP_FLAG:
    case OPTION_TYPE_IGNORED:
    case OPTION_TYPE_REFUSED: break;
    }
    return true;
}

/* Returns whether a value is within the bounds of its row. A word in place of a time has no bounds.
 */
static bool is_within(const struct option_row *r, int64_t v, const char *text)
{
    int64_t bound;
    bool number = text != NULL && isdigit((unsigned char)*text);
    return !number || ((r->least == NULL || (parse(r, r->least, &bound) && v >= bound)) &&
                       (r->most == NULL || (parse(r, r->most, &bound) && v <= bound)));
}

void options_init(struct options *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *r = &option_rows[i];
        if (r->standard == NULL || !parse(r, r->standard, &o->value[i]))
            o->value[i] = OPTION_UNSET;
    }
    o->value[OPTION_version] = 0; /* 0: the compiler's own version */
}

/* Sets the version. A version once set can only be lowered: names that it hid were not checked for
 * conflicts. */
static const char *set_version(struct options *o, const char *value)
{
    uint32_t version;
    const char *why = value != NULL ? compile_version(value, &version) : bad_value;
    int64_t *now = &o->value[OPTION_version];
    if (why == NULL && *now != 0 && version > *now)
        why = "Requested version conflicts with earlier setting";
    if (why == NULL)
        *now = version;
    return why;
}

static const char *set(struct options *o, enum option_id which, const char *value)
{
    const struct option_row *r = &option_rows[which];
    int64_t v;
    if (r->type == OPTION_TYPE_VERSION)
        return set_version(o, value);
    if (r->type == OPTION_TYPE_REFUSED)
        return r->text;
    if (r->type == OPTION_TYPE_CPP || r->type == OPTION_TYPE_CPP_FLAG)
        return bad_name;
    if (!parse(r, value, &v) || !is_within(r, v, value))
        return bad_value;
    if (r->type == OPTION_TYPE_PATTERNS) {
        if (o->nredact == OPTION_REDACT)
            return bad_value;
        o->redact[o->nredact++] = value;
    } else if (r->type == OPTION_TYPE_FOLDER) {
        if (o->nlibdirs == OPTION_LIBDIRS)
            return bad_value;
        o->libdir[o->nlibdirs++] = value;
    } else if (r->type == OPTION_TYPE_PATH) {
        *(which == OPTION_cpppath ? &o->cpppath : &o->syslibdir) = value;
    } else if (which == OPTION_terms && v > o->value[which]) {
        return terms_hidden;
    } else if (r->type < OPTION_TYPE_PATH) {
        o->value[which] = r->type == OPTION_TYPE_PACKET ? (v + 7) & ~INT64_C(7) : v;
    }
    return NULL;
}

/* Returns whether a restricted program may not set the option because it makes programs read files,
 * run commands, or act on the host. Setting destructive again when it is set is allowed. */
static bool is_refused(const struct options *o, enum option_id which)
{
    if (!o->restricted)
        return false;
    switch (option_rows[which].type) {
    case OPTION_TYPE_PATH:
    case OPTION_TYPE_FOLDER:
    case OPTION_TYPE_CPP:
    case OPTION_TYPE_CPP_FLAG: return true;
    default:
        return which == OPTION_cpp ||
               (which == OPTION_destructive && !option_on(o, OPTION_destructive));
    }
}

/* Returns OPTION_COUNT for an unknown name. */
static enum option_id find(const char *name)
{
    size_t i = 0;
    while (i < OPTION_COUNT && strcmp(option_rows[i].name, name) != 0)
        i++;
    return (enum option_id)i;
}

int options_set(struct options *o, const char *name, const char *value, enum option_by by,
                const char **why)
{
    enum option_id which = find(name);
    *why = which == OPTION_COUNT         ? bad_name
           : is_refused(o, which)        ? option_restricted
           : by <= option_rows[which].by ? set(o, which, value)
           : by == OPTION_BY_PROGRAM     ? in_program
                                         : running;
    return *why == NULL ? 0 : -1;
}

const char *options_hint(const struct options *o, const char *name, char room[OPTION_HINT])
{
    const char *names[OPTION_COUNT];
    enum option_id which = find(name);
    if (which != OPTION_COUNT && is_refused(o, which))
        return which == OPTION_destructive ? o->permit : NULL;
    if (which == OPTION_terms && o->value[which] == 0)
        return NULL; /* any value would do, but it comes too late */
    if (which != OPTION_COUNT)
        return option_form(&option_rows[which], room, OPTION_HINT);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        names[i] = option_rows[i].name;
    const char *near = diag_nearest(name, names, OPTION_COUNT);
    if (near == NULL)
        return "doc/command.md lists the options; -x maxload=80 sets one";
    snprintf(room, OPTION_HINT, "did you mean '%s'?", near);
    return room;
}

bool options_get(const struct options *o, const char *name, int64_t *value)
{
    enum option_id which = find(name);
    bool has = which != OPTION_COUNT && option_rows[which].type < OPTION_TYPE_PATH;
    *value = has ? o->value[which] : OPTION_UNSET;
    return has;
}

int options_environment(int (*setter)(void *arg, const char *name, const char *value), void *arg,
                        const char **name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char variable[64];
        int n = snprintf(variable, sizeof variable, "DTRACE_OPT_%s", option_rows[i].name);
        for (int c = 0; c < n; c++)
            variable[c] = (char)toupper((unsigned char)variable[c]);
        const char *value = getenv(variable);
        if (value == NULL)
            continue;
        /* A compile-time flag takes no value, but an environment variable always has one. */
        bool alone = option_rows[i].type == OPTION_TYPE_PRESENT ||
                     option_rows[i].type == OPTION_TYPE_CPP_FLAG;
        if (alone && *value == '\0')
            value = NULL;
        if (setter(arg, option_rows[i].name, value) != 0) {
            *name = option_rows[i].name;
            return -1;
        }
    }
    return 0;
}
