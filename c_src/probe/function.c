/* function.c - function probes: their kinds, their names, and which functions have them.
 *
 * `entry`, `return` and `exception` exist for every function. The other kinds are OTP's names for
 * some of the same events and exist where those can happen: bif-* for BIFs, nif-* for NIFs, local-
 * and global-function-entry for functions written in Erlang. A pattern that also matches `entry`
 * means only `entry`; otherwise each call would be seen twice. So "*", "*-entry" and an empty name
 * select none of the other kinds, but "bif-*" and "local-function-entry" do. The same applies to
 * returns. */
#include "base/glob.h"
#include "probe/parts.h"
#include "probe/probe.h"

/* clang-format off */
const struct probe_def probe_fn_rows[PROBE_FN_KINDS] = {
#include "probe/function.list"
};

/* Every name of a function probe; the primary name of a kind comes first. */
static const struct {
    const char *name;
    enum probe_kind kind;
} fn_names[] = {
    {"entry", PROBE_FN_ENTRY}, {"return", PROBE_FN_RETURN}, {"exception", PROBE_FN_EXCEPTION},
    {"function-entry", PROBE_FN_ENTRY}, {"function-return", PROBE_FN_RETURN},
    {"bif-entry", PROBE_FN_BIF_ENTRY}, {"bif-return", PROBE_FN_BIF_RETURN},
    {"nif-entry", PROBE_FN_NIF_ENTRY}, {"nif-return", PROBE_FN_NIF_RETURN},
    {"local-function-entry", PROBE_FN_LOCAL_ENTRY}, {"global-function-entry", PROBE_FN_GLOBAL_ENTRY},
};
const char *const probe_fn_names[] = {"entry", "return", "exception", "function-entry", "function-return", "bif-entry",
                                      "bif-return", "nif-entry", "nif-return", "local-function-entry",
                                      "global-function-entry", NULL};

/* The kinds that each class of function has besides entry, return and exception. */
static const enum probe_kind fn_own[PROBE_FN_CLASSES][PROBE_FN_OWN] = {
    [PROBE_FN_ERLANG] = {PROBE_FN_LOCAL_ENTRY, PROBE_FN_GLOBAL_ENTRY},
    [PROBE_FN_PRIVATE] = {PROBE_FN_LOCAL_ENTRY},
    [PROBE_FN_BIF] = {PROBE_FN_BIF_ENTRY, PROBE_FN_BIF_RETURN},
    [PROBE_FN_NIF] = {PROBE_FN_NIF_ENTRY, PROBE_FN_NIF_RETURN},
    /* a BIF that the compiler turns into an instruction has no others: PROBE_FN_INLINED */
};
/* clang-format on */

enum { FN_SHARED = PROBE_FN_EACH - PROBE_FN_OWN };

#define BIT(kind) (1u << ((kind)-PROBE_FN_ENTRY))
#define ENTRIES                                                                                    \
    (BIT(PROBE_FN_BIF_ENTRY) | BIT(PROBE_FN_NIF_ENTRY) | BIT(PROBE_FN_LOCAL_ENTRY) |               \
     BIT(PROBE_FN_GLOBAL_ENTRY))
#define RETURNS (BIT(PROBE_FN_BIF_RETURN) | BIT(PROBE_FN_NIF_RETURN))

unsigned probe_fn_match(const char *name_pattern)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < sizeof fn_names / sizeof *fn_names; i++)
        if (glob_match(name_pattern, fn_names[i].name))
            kinds |= BIT(fn_names[i].kind);
    if (kinds & BIT(PROBE_FN_ENTRY))
        kinds &= ~ENTRIES;
    if (kinds & BIT(PROBE_FN_RETURN))
        kinds &= ~RETURNS;
    return kinds;
}

const char *probe_fn_alias(size_t i, enum probe_kind *kind)
{
    if (i >= sizeof fn_names / sizeof *fn_names)
        return NULL;
    *kind = fn_names[i].kind;
    return fn_names[i].name;
}

enum probe_kind probe_fn_kind(enum probe_fn_class c, unsigned k)
{
    return k < FN_SHARED ? (enum probe_kind)(PROBE_FN_ENTRY + k) : fn_own[c][k - FN_SHARED];
}

const struct probe_def *probe_fn_def(enum probe_kind kind)
{
    return kind >= PROBE_FN_ENTRY && kind < PROBE_FN_ENTRY + PROBE_FN_KINDS
               ? &probe_fn_rows[kind - PROBE_FN_ENTRY]
               : NULL;
}

const char *probe_fn_name(enum probe_kind kind)
{
    const struct probe_def *def = probe_fn_def(kind);
    return def != NULL ? def->name : "";
}
