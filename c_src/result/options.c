/* options.c - names and value syntax of options.
 *
 * `table` holds what is built and what DTrace names besides, mostly options that only other systems
 * have a use for, which are accepted and mean nothing here. */
#include "result/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/diag.h"
#include "util/units.h"

#include "lang/compile.h"
#include "dif/dif.h"
#include "engine/engine.h"

static const char bad_name[] = "Invalid option name";
static const char bad_value[] = "Invalid value for specified option";
static const char in_program[] = "Option cannot be used from within a D program";
static const char running[] = "Operation illegal when tracing is active";
static const char option_restricted[] = "Option not allowed for this program";
static const char no_anon[] = "there is no anonymous tracing";

enum { STATS_LEAST = 100000000 };        /* ns: the node looks no more often */
#define LEASE_LEAST INT64_C(300000000)   /* ns: signs of life go five times in a lease */
#define LEASE_MOST  INT64_C(60000000000) /* ns: what a dead consumer leaves stays no longer */

enum kind {
    KIND_FLAG,      /* nothing, a number, or a word for yes or no */
    KIND_SIZE,      /* a number with k m g t */
    KIND_STRSIZE,   /* a size that a string can have */
    KIND_SCRATCH,   /* a size that scratch can have */
    KIND_BUDGET,    /* a size that the budget of an event can have */
    KIND_PCAP,      /* a size of at most 65535, rounded up to a multiple of 8 */
    KIND_PRINT,     /* a size of at most 65536; nothing: 8192 */
    KIND_LOCKMEM,   /* a size, or "unlimited" */
    KIND_NSPEC,     /* a number that there can be so many speculations of */
    KIND_RATE,      /* a time or a frequency */
    KIND_LEASE,     /* a time that a node can wait */
    KIND_PERCENT,   /* a number up to 100, or "off" for 0 */
    KIND_STATS,     /* nothing: a second; a time or a frequency; "end"; a word for no */
    KIND_NUMBER,    /* a number */
    KIND_IREGS,     /* a number that there can be so many registers of */
    KIND_TREGS,     /* likewise */
    KIND_COMPILE,   /* no value */
    KIND_ERRFORM,   /* a word */
    KIND_POLICY,    /* a word */
    KIND_RESIZE,    /* a word */
    KIND_EVALTIME,  /* a word */
    KIND_ENCODING,  /* a word */
    KIND_CPPPATH,   /* a path */
    KIND_AMIN,      /* attributes */
    KIND_VERSION,   /* a version of the language, not above what was set before */
    KIND_LIBDIR,    /* a path, added */
    KIND_SYSLIBDIR, /* a path */
    KIND_IGNORED,   /* accepted with any value */
    KIND_NO_ANON,   /* refused: there is nothing that could be grabbed */
    KIND_CPP,       /* of the preprocessor, kept by whoever runs it */
    KIND_CPP_FLAG   /* likewise, without a value */
};

static const struct row {
    const char *name;
    enum kind kind;
    int which;    /* enum option_id, or -1 */
    bool command; /* not to be set from a program */
} table[] = {
#define X(name, kind, value)                                                                       \
    {#name, KIND_##kind, OPTION_##name,                                                            \
     OPTION_##name == OPTION_lockmem || OPTION_##name == OPTION_nolibs ||                          \
         OPTION_##name == OPTION_lease},
    OPTIONS(X)
#undef X
#define ROW(name, kind, command)                                                                   \
    {                                                                                              \
#name, KIND_##kind, -1, command                                                            \
    }
    /* clang-format off */
    ROW(cpppath, CPPPATH, true), ROW(grabanon, NO_ANON, false),
    ROW(libdir, LIBDIR, true), ROW(syslibdir, SYSLIBDIR, true), ROW(core, IGNORED, false),
    ROW(bpflog, FLAG, false), ROW(bpflogsize, SIZE, false),
    ROW(late, IGNORED, false), ROW(linkmode, IGNORED, false), ROW(linktype, IGNORED, false),
    ROW(ldpath, IGNORED, false), ROW(knodefs, IGNORED, false), ROW(kdefs, IGNORED, false),
    ROW(unodefs, IGNORED, false), ROW(udefs, IGNORED, false), ROW(strip, IGNORED, false),
    ROW(pgmax, IGNORED, false), ROW(procfspath, IGNORED, false), ROW(modpath, IGNORED, false),
    ROW(ctfpath, IGNORED, false), ROW(ctypes, IGNORED, false), ROW(dtypes, IGNORED, false),
    ROW(lazyload, IGNORED, false), ROW(linknommap, IGNORED, false),
    ROW(preallocate, IGNORED, false), ROW(sysslice, IGNORED, false), ROW(useruid, IGNORED, false),
    ROW(dofstashpath, IGNORED, false), ROW(debugassert, IGNORED, false),
    ROW(cppargs, CPP, true), ROW(cpphdrs, CPP_FLAG, true), ROW(define, CPP, true),
    ROW(undef, CPP, true), ROW(incdir, CPP, true), ROW(stdc, CPP, true),
/* clang-format on */
#undef ROW
};

void options_init(struct options *o)
{
    memset(o, 0, sizeof *o);
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

/* How often; 0: only at the end. */
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
    return option_rate(text, ns) && *ns >= STATS_LEAST;
}

static bool parse_word(const char *text, const char *const *words, int64_t n, int64_t *v)
{
    for (int64_t i = 0; text != NULL && i < n; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *v = i;
            return true;
        }
    }
    return false;
}

/* A version once set can only be lowered: what it hides was not looked at for conflicts. */
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

static const char *set(struct options *o, const struct row *r, const char *value)
{
    static const char *const policies[ENGINE_NPOLICIES] = {
        [ENGINE_SWITCH] = "switch", [ENGINE_FILL] = "fill", [ENGINE_RING] = "ring"};
    static const char *const resizings[] = {"auto", "manual"};
    static const char *const encodings[] = {"ascii", "utf8"};
    static const char *const evaltimes[] = {"exec", "preinit", "postinit", "main"};
    int64_t v = 0;
    bool ok = true;
    switch (r->kind) {
    case KIND_FLAG: ok = parse_flag(value, &v); break;
    case KIND_SIZE: ok = parse_size(value, &v); break;
    case KIND_STRSIZE:
        ok = parse_size(value, &v) && v >= DIF_STRSIZE_LEAST && v <= DIF_STRSIZE_MOST;
        break;
    case KIND_SCRATCH: ok = parse_size(value, &v) && v <= DIF_SCRATCH_MOST; break;
    case KIND_BUDGET:
        ok = parse_size(value, &v) && v >= ENGINE_BUDGET_LEAST && v <= ENGINE_BUDGET_MOST;
        break;
    case KIND_PCAP:
        ok = parse_size(value, &v) && v <= UINT16_MAX;
        v = (v + 7) & ~INT64_C(7);
        break;
    case KIND_PRINT:
        v = 8192;
        ok = value == NULL || (parse_size(value, &v) && v <= 65536);
        break;
    case KIND_LOCKMEM:
        v = -1;
        ok = (value != NULL && strcasecmp(value, "unlimited") == 0) || parse_size(value, &v);
        break;
    case KIND_NSPEC: ok = parse_size(value, &v) && v <= DIF_SPECS_MAX; break;
    case KIND_RATE: ok = option_rate(value, &v); break;
    case KIND_LEASE: ok = option_rate(value, &v) && v >= LEASE_LEAST && v <= LEASE_MOST; break;
    case KIND_PERCENT:
        ok = (value != NULL && strcasecmp(value, "off") == 0) ||
             (parse_number(value, &v) && v <= 100);
        break;
    case KIND_STATS: ok = parse_stats(value, &v); break;
    case KIND_NUMBER: ok = parse_number(value, &v); break;
    case KIND_IREGS: ok = parse_number(value, &v) && v >= 1 && v <= DIF_NREGS; break;
    case KIND_TREGS: ok = parse_number(value, &v) && v <= WORD_KEYS_MAX; break;
    case KIND_COMPILE: ok = value == NULL; break;
    case KIND_ERRFORM:
        ok = value != NULL &&
             (strcasecmp(value, "dtrace") == 0 || strcasecmp(value, "erltrace") == 0);
        v = ok && strcasecmp(value, "dtrace") == 0 ? 1 : OPTION_UNSET;
        break;
    case KIND_POLICY: ok = parse_word(value, policies, ENGINE_NPOLICIES, &v); break;
    case KIND_RESIZE: ok = parse_word(value, resizings, 2, &v); break;
    case KIND_ENCODING: ok = parse_word(value, encodings, 2, &v); break;
    case KIND_EVALTIME: ok = parse_word(value, evaltimes, 4, &v); break;
    case KIND_CPPPATH:
        ok = value != NULL && *value != '\0';
        o->cpppath = ok ? value : o->cpppath;
        break;
    case KIND_VERSION: return set_version(o, value);
    case KIND_SYSLIBDIR:
        ok = value != NULL && *value != '\0';
        o->syslibdir = ok ? value : o->syslibdir;
        break;
    case KIND_LIBDIR:
        ok = value != NULL && *value != '\0' && o->nlibdirs < OPTION_LIBDIRS;
        if (ok)
            o->libdir[o->nlibdirs++] = value;
        break;
    case KIND_AMIN: ok = value != NULL && (v = compile_amin(value)) >= 0; break;
    case KIND_IGNORED: break;
    case KIND_NO_ANON: return no_anon;
    case KIND_CPP:
    case KIND_CPP_FLAG: return bad_name;
    }
    if (!ok)
        return bad_value;
    if (r->which >= 0)
        o->value[r->which] = v;
    return NULL;
}

/* Options that setopt() may set while the program runs (language.md 9.3). */
static bool is_dynamic(const char *name)
{
    static const char *const names[] = {
        "quiet",      "flowindent", "switchrate",  "aggrate",  "aggsortkey",  "aggsortkeypos",
        "aggsortpos", "aggsortrev", "stackindent", "rawbytes", "quietresize", "printsize",
        "rawoutput",  "agghist",    "aggpack",     "aggzoom",  "encoding",    "elixir"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Whether a restricted program cannot set it, since it makes programs read files, run commands, or
 * act on the host; destructive, when it is set, can be set once more. */
static bool is_refused(const struct options *o, const struct row *r)
{
    if (!o->restricted)
        return false;
    switch (r->kind) {
    case KIND_CPPPATH:
    case KIND_LIBDIR:
    case KIND_SYSLIBDIR:
    case KIND_CPP:
    case KIND_CPP_FLAG: return true;
    default:
        return r->which == OPTION_cpp ||
               (r->which == OPTION_destructive && !option_on(o, OPTION_destructive));
    }
}

int options_set(struct options *o, const char *name, const char *value, enum option_from from,
                const char **why)
{
    *why = bad_name;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) != 0)
            continue;
        *why = is_refused(o, &table[i])                           ? option_restricted
               : table[i].command && from == OPTION_FROM_PROGRAM  ? in_program
               : from == OPTION_FROM_RUNNING && !is_dynamic(name) ? running
                                                                  : set(o, &table[i], value);
        break;
    }
    return *why == NULL ? 0 : -1;
}

const char *options_hint(const struct options *o, const char *name, char room[OPTION_HINT])
{
    /* clang-format off */
    static const char *const form[] = {
        [KIND_FLAG] = "the name alone sets it; =no unsets it",
        [KIND_SIZE] = "a size is a number with k, m, g or t if you like, as in 16k",
        [KIND_STRSIZE] = "a size from 2 to 1m",
        [KIND_SCRATCH] = "a size is a number with k, m, g or t if you like, as in 16k",
        [KIND_BUDGET] = "units of work, from 1k to 64m; an event cannot be without bounds",
        [KIND_PCAP] = "a size of at most 65535",
        [KIND_PRINT] = "a size of at most 64k",
        [KIND_LOCKMEM] = "a size, or unlimited",
        [KIND_NSPEC] = "a number up to 16",
        [KIND_RATE] = "a time or a frequency, as in 500ms, 10s or 97hz",
        [KIND_LEASE] = "a time from 300ms to 60s",
        [KIND_PERCENT] = "a number of percent, 1 to 100, or off",
        [KIND_STATS] = "the name alone for each second, a time of at least 100ms, or end",
        [KIND_NUMBER] = "a number",
        [KIND_IREGS] = "a number from 1 to 16",
        [KIND_TREGS] = "a number up to 11",
        [KIND_COMPILE] = "it takes no value",
        [KIND_POLICY] = "switch, fill or ring",
        [KIND_RESIZE] = "auto or manual",
        [KIND_EVALTIME] = "exec, preinit, postinit or main",
        [KIND_AMIN] = "attributes are NAME/DATA/CLASS, as in Evolving/Evolving/Common",
        [KIND_VERSION] = "a version is as in 1.0 or 1.6.1",
    };
    /* clang-format on */
    const char *names[sizeof table / sizeof table[0]];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        names[i] = table[i].name;
        if (strcmp(names[i], name) != 0)
            continue;
        if (is_refused(o, &table[i]))
            return table[i].which == OPTION_destructive ? o->permit : NULL;
        return table[i].kind < sizeof form / sizeof form[0] ? form[table[i].kind] : NULL;
    }
    const char *near = diag_nearest(name, names, sizeof names / sizeof names[0]);
    if (near == NULL)
        return "doc/command.md lists the options; -x maxload=80 sets one";
    snprintf(room, OPTION_HINT, "did you mean '%s'?", near);
    return room;
}

bool options_get(const struct options *o, const char *name, int64_t *value)
{
    *value = OPTION_UNSET;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) == 0 && table[i].which >= 0) {
            *value = o->value[table[i].which];
            return true;
        }
    }
    return false;
}

int options_environment(int (*setter)(void *arg, const char *name, const char *value), void *arg,
                        const char **name)
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
        bool alone = table[i].kind == KIND_COMPILE || table[i].kind == KIND_CPP_FLAG;
        if (alone && *value == '\0')
            value = NULL;
        if (setter(arg, table[i].name, value) != 0) {
            *name = table[i].name;
            return -1;
        }
    }
    return 0;
}
