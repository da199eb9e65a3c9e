/* options.c - names and value syntax of options.
 *
 * `table` holds what is built and what the reference names besides: options that are refused until
 * they are built, and options that only other systems have a use for, which are accepted and mean
 * nothing here. */
#include "consumer/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#include "compile/compile.h"
#include "dif/dif.h"

static const char bad_name[] = "Invalid option name";
static const char bad_value[] = "Invalid value for specified option";
static const char in_program[] = "Option cannot be used from within a D program";
static const char running[] = "Operation illegal when tracing is active";
static const char not_built[] = "not built yet";

enum kind {
    KIND_FLAG,    /* nothing, a number, or a word for yes or no */
    KIND_SIZE,    /* a number with k m g t */
    KIND_STRSIZE, /* a size of at least 2 */
    KIND_NSPEC,   /* a number that there can be so many speculations of */
    KIND_RATE,    /* a time or a frequency */
    KIND_COMPILE, /* no value */
    KIND_ERRFORM, /* a word */
    KIND_SWITCH,  /* the word "switch", the only buffer policy there is; the others are not built */
    KIND_AUTO,    /* the word "auto", likewise */
    KIND_CPPPATH, /* a path */
    KIND_AMIN,    /* attributes */
    KIND_IGNORED, /* accepted with any value */
    KIND_REFUSED  /* not built */
};

static const struct row {
    const char *name;
    enum kind kind;
    int which;    /* enum option_id, or -1 */
    bool command; /* not to be set from a program */
} table[] = {
#define X(name, kind, value) {#name, KIND_##kind, OPTION_##name, false},
    OPTIONS(X)
#undef X
#define IGNORED(name)                                                                              \
    {                                                                                              \
#name, KIND_IGNORED, -1, false                                                             \
    }
#define REFUSED(name)                                                                              \
    {                                                                                              \
#name, KIND_REFUSED, -1, false                                                             \
    }
#define COMMAND(name)                                                                              \
    {                                                                                              \
#name, KIND_REFUSED, -1, true                                                              \
    }
    /* clang-format off */
    {"cpppath", KIND_CPPPATH, -1, true},
    {"bufpolicy", KIND_SWITCH, -1, false}, {"bufresize", KIND_AUTO, -1, false},
    IGNORED(cleanrate), IGNORED(nolibs),
    IGNORED(late), IGNORED(linkmode), IGNORED(linktype), IGNORED(ldpath), IGNORED(knodefs),
    IGNORED(kdefs), IGNORED(unodefs), IGNORED(udefs), IGNORED(strip), IGNORED(pgmax),
    IGNORED(procfspath), IGNORED(modpath), IGNORED(ctfpath), IGNORED(ctypes), IGNORED(dtypes),
    IGNORED(lazyload), IGNORED(linknommap), IGNORED(preallocate), IGNORED(sysslice),
    IGNORED(useruid), IGNORED(dofstashpath), IGNORED(debugassert),
    REFUSED(scratchsize), REFUSED(stackframes),
    REFUSED(ustackframes), REFUSED(jstackframes), REFUSED(jstackstrsize), REFUSED(maxframes),
    REFUSED(cpu), REFUSED(noresolve), REFUSED(grabanon), COMMAND(lockmem),
    REFUSED(pcapsize), REFUSED(bpflog), REFUSED(bpflogsize), REFUSED(stackindent),
    REFUSED(printsize), COMMAND(cppargs),
    COMMAND(cpphdrs), COMMAND(define), COMMAND(undef), COMMAND(incdir), COMMAND(stdc),
    REFUSED(libdir), REFUSED(syslibdir), REFUSED(evaltime), REFUSED(version), REFUSED(tree),
    REFUSED(disasm), REFUSED(debug), REFUSED(core), REFUSED(iregs), REFUSED(tregs),
    REFUSED(aggpercpu), REFUSED(agghist), REFUSED(aggpack), REFUSED(aggzoom),
/* clang-format on */
#undef IGNORED
#undef REFUSED
#undef COMMAND
};

void options_init(struct options *o)
{
    o->cpppath = NULL;
#define X(name, kind, def) o->value[OPTION_##name] = def;
    OPTIONS(X)
#undef X
}

/* A non-negative integer in C's bases, and what follows it. */
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
        if (strcmp(text, words[i].word) == 0) {
            *v = words[i].value;
            return true;
        }
    }
    return number(text, v, &rest) && *rest == '\0';
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

static const char *set(struct options *o, const struct row *r, const char *value)
{
    int64_t v = 0;
    bool ok = true;
    switch (r->kind) {
    case KIND_FLAG: ok = parse_flag(value, &v); break;
    case KIND_SIZE: ok = parse_size(value, &v); break;
    case KIND_STRSIZE: ok = parse_size(value, &v) && v >= 2 && v <= UINT16_MAX; break;
    case KIND_NSPEC: ok = parse_size(value, &v) && v <= DIF_SPECS_MAX; break;
    case KIND_RATE: ok = option_rate(value, &v); break;
    case KIND_COMPILE: ok = value == NULL; break;
    case KIND_ERRFORM:
        ok = value != NULL && (strcmp(value, "dtrace") == 0 || strcmp(value, "erltrace") == 0);
        v = ok && strcmp(value, "dtrace") == 0 ? 1 : OPTION_UNSET;
        break;
    case KIND_SWITCH:
        if (value != NULL && (strcmp(value, "fill") == 0 || strcmp(value, "ring") == 0))
            return not_built;
        ok = value != NULL && strcmp(value, "switch") == 0;
        break;
    case KIND_AUTO:
        if (value != NULL && strcmp(value, "manual") == 0)
            return not_built;
        ok = value != NULL && strcmp(value, "auto") == 0;
        break;
    case KIND_CPPPATH:
        ok = value != NULL && *value != '\0';
        o->cpppath = ok ? value : o->cpppath;
        break;
    case KIND_AMIN: ok = value != NULL && (v = compile_amin(value)) >= 0; break;
    case KIND_IGNORED: break;
    case KIND_REFUSED: return not_built;
    }
    if (!ok)
        return bad_value;
    if (r->which >= 0)
        o->value[r->which] = v;
    return NULL;
}

/* Options that setopt() may set while the program runs (reference 9.3). */
static bool is_dynamic(const char *name)
{
    static const char *const names[] = {"quiet",       "flowindent",    "switchrate",  "aggrate",
                                        "aggsortkey",  "aggsortkeypos", "aggsortpos",  "aggsortrev",
                                        "stackindent", "rawbytes",      "quietresize", "printsize"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

int options_set(struct options *o, const char *name, const char *value, enum option_from from,
                const char **why)
{
    *why = bad_name;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        *why = table[i].command && from == OPTION_FROM_PROGRAM    ? in_program
               : from == OPTION_FROM_RUNNING && !is_dynamic(name) ? running
                                                                  : set(o, &table[i], value);
        break;
    }
    return *why == NULL ? 0 : -1;
}

int options_environment(struct options *o, const char **name, const char **why)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char variable[64];
        int n = snprintf(variable, sizeof variable, "DTRACE_OPT_%s", table[i].name);
        for (int c = 0; c < n; c++)
            variable[c] = (char)toupper((unsigned char)variable[c]);
        const char *value = getenv(variable);
        if (value == NULL)
            continue;
        /* A compile-time flag takes no value, and an environment variable cannot be without one. */
        if (table[i].kind == KIND_COMPILE && *value == '\0')
            value = NULL;
        if (options_set(o, table[i].name, value, OPTION_FROM_COMMAND, why) != 0) {
            *name = table[i].name;
            return -1;
        }
    }
    return 0;
}
