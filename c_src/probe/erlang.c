/* erlang.c - the erlang provider, and the dtrace intervals.
 *
 * The provider's rows are in one .list file per subject; probe.h describes a row. Names and
 * argument order are those of OTP's own provider. If the VM does not tell an argument, the
 * argument's text says what replaces it. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "util/units.h"
#include "base/glob.h"
#include "probe/parts.h"
#include "probe/probe.h"

/* clang-format off */
static const struct probe_def process[] = {
#include "probe/process.list"
};
static const struct probe_def message[] = {
#include "probe/message.list"
};
static const struct probe_def gc[] = {
#include "probe/gc.list"
};
static const struct probe_def port[] = {
#include "probe/port.list"
};
static const struct probe_def driver[] = {
#include "probe/driver.list"
};
static const struct probe_def dist[] = {
#include "probe/dist.list"
};
static const struct probe_def system_[] = {
#include "probe/system.list"
};
static const struct probe_def ets[] = {
#include "probe/ets.list"
};
static const struct probe_def code[] = {
#include "probe/code.list"
};
static const struct probe_def user[] = {
#include "probe/user.list"
};
static const struct probe_def past[] = {
#include "probe/past.list"
};

#define SECTION(title, table) {title, table, sizeof table / sizeof *table}
static const struct probe_section sections[] = {
    SECTION("Processes", process),
    SECTION("Messages", message),
    SECTION("Garbage collection", gc),
    {"Functions", probe_fn_rows, PROBE_FN_KINDS},
    SECTION("Ports", port),
    SECTION("Drivers", driver),
    SECTION("Distribution", dist),
    SECTION("System", system_),
    SECTION("ETS tables", ets),
    SECTION("Code", code),
    SECTION("Probes of programs", user),
    SECTION("Probes of earlier releases", past),
};

/* clang-format on */

enum { SECTIONS = sizeof sections / sizeof *sections };

const struct probe_section *probe_section(size_t i)
{
    return i < SECTIONS ? &sections[i] : NULL;
}

/* Returns the first row that `is` accepts. */
static const struct probe_def *find(bool (*is)(const void *arg, const struct probe_def *def),
                                    const void *arg)
{
    for (size_t i = 0; i < SECTIONS; i++)
        for (size_t j = 0; j < sections[i].n; j++)
            if (is(arg, &sections[i].def[j]))
                return &sections[i].def[j];
    return NULL;
}

bool probe_has_name(const struct probe_def *def, const char *name, unsigned *number)
{
    size_t n = strlen(def->name);
    *number = 0;
    if (def->mod != NULL)
        return false;
    if (def->numbered == 0)
        return strcmp(name, def->name) == 0;
    if (strncmp(name, def->name, n) != 0)
        return false;
    name += n;
    if (*name == '\0' || (*name == '0' && name[1] != '\0'))
        return false;
    for (; isdigit((unsigned char)*name) && *number < def->numbered; name++)
        *number = *number * 10 + (unsigned)(*name - '0');
    return *name == '\0' && *number < def->numbered;
}

bool probe_any_name(const struct probe_def *def, const char *mod, const char *func,
                    const char *name)
{
    if (def->mod == NULL || !glob_match(mod, def->mod) || !glob_match(func, def->func))
        return false;
    /* erlang*:::message-send and erlang*:e*::entry mean other probes. */
    bool all = strspn(name, "*") == strlen(name), exact = strcmp(mod, def->mod) == 0;
    bool functions = glob_exact(name) && probe_fn_match(name) != 0;
    return exact || all || (mod[strspn(mod, "*")] != '\0' && !functions);
}

bool probe_matches(const struct probe_def *def, const char *pattern)
{
    char name[PROBE_NAME_MAX + 1];
    unsigned number;
    if (def->mod != NULL)
        return false;
    if (def->numbered == 0)
        return glob_match(pattern, def->name);
    if (glob_exact(pattern))
        return probe_has_name(def, pattern, &number);
    for (unsigned i = 0; i < def->numbered; i++) {
        snprintf(name, sizeof name, "%s%u", def->name, i);
        if (glob_match(pattern, name))
            return true;
    }
    return false;
}

static bool is_name(const void *arg, const struct probe_def *def)
{
    unsigned number;
    return def->kind != 0 && def->kind < PROBE_FN_ENTRY && probe_has_name(def, arg, &number);
}

static bool is_kind(const void *arg, const struct probe_def *def)
{
    return def->kind == *(const enum probe_kind *)arg;
}

static bool is_lacking(const void *arg, const struct probe_def *def)
{
    return def->kind == 0 && probe_matches(def, arg);
}

const struct probe_def *probe_erlang_name(const char *name)
{
    const struct probe_def *def = find(is_name, name);
    return def == NULL && glob_exact(name) ? probe_erlang_lacking(name) : def;
}

const struct probe_def *probe_erlang_lacking(const char *pattern)
{
    return find(is_lacking, pattern);
}

const struct probe_def *probe_erlang_kind(enum probe_kind kind)
{
    return kind > 0 && kind < PROBE_FN_ENTRY ? find(is_kind, &kind) : NULL;
}

const struct probe_def *probe_erlang_next(const struct probe_def *def)
{
    const struct probe_def *next = NULL;
    for (int k = def != NULL ? def->kind + 1 : 1; next == NULL && k < PROBE_FN_ENTRY; k++)
        next = probe_erlang_kind((enum probe_kind)k);
    return next;
}

const int probe_otps[PROBE_OTPS] = {25, 27, 29};

enum probe_by probe_on(const struct probe_def *def, int otp)
{
    return def->by == PROBE_BY_VM && !otp_has(otp, def->otp) ? PROBE_BY_NONE : def->by;
}

const char *probe_need_text(enum probe_need need)
{
    switch (need) {
#define WORD_NEED(bit, name, of, flags, text)                                                      \
    case PROBE_NEED_##name:                                                                        \
        return text;
#include "words/needs.list"
#undef WORD_NEED
    }
    return "";
}

const char *probe_args_type(const struct probe_def *def, size_t n)
{
    if (def == NULL || n >= sizeof def->arg / sizeof *def->arg || def->arg[n].type == NULL)
        return NULL;
    if (def->arg[n].as != NULL)
        return def->arg[n].as[0] != '\0' ? def->arg[n].as : NULL;
    return strcmp(def->arg[n].type, "char *") == 0 ? "string" : def->arg[n].type;
}

/* -- intervals ------------------------------------------------------------------- */

bool probe_interval(const char *name, uint64_t *ns, enum probe_kind *kind)
{
    const uint64_t least = 200000;
    static const struct {
        const char *prefix;
        enum probe_kind kind;
    } kinds[] = {{"tick-", PROBE_TICK}, {"profile-", PROBE_PROFILE}, {"wall-", PROBE_WALL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t len = strlen(kinds[i].prefix);
        const char *p = name + len;
        uint64_t n = 0;
        if (strncmp(name, kinds[i].prefix, len) != 0 || !isdigit((unsigned char)*p))
            continue;
        *kind = kinds[i].kind;
        for (; isdigit((unsigned char)*p); p++)
            if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
                __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
                return false;
        return units_time(n, *p == '\0' ? "hz" : p, ns) && *ns >= least;
    }
    return false;
}

bool probe_is_interval(const char *name)
{
    return strncmp(name, "tick-", 5) == 0 || strncmp(name, "profile-", 8) == 0 ||
           probe_is_wall(name);
}

bool probe_is_wall(const char *name)
{
    return strncmp(name, "wall-", 5) == 0;
}

const struct probe_def *probe_wall_def(void)
{
    static const struct probe_def def = {.kind = PROBE_WALL,
                                         .name = "wall",
                                         .arg = {{.type = "uintptr_t", .name = "kernel_pc"},
                                                 {.type = "uintptr_t", .name = "pc"},
                                                 {.type = "char *", .name = "doing"}}};
    return &def;
}

const struct probe_interval_def *probe_intervals(bool node, size_t *n)
{
#define PROBE_HZ(kind, name, hz)                                                                   \
    {                                                                                              \
        kind, name "-" #hz, UINT64_C(1000000000) / (hz)                                            \
    }
    static const struct probe_interval_def table[] = {
        PROBE_HZ(PROBE_PROFILE, "profile", 97),   PROBE_HZ(PROBE_PROFILE, "profile", 199),
        PROBE_HZ(PROBE_PROFILE, "profile", 499),  PROBE_HZ(PROBE_PROFILE, "profile", 997),
        PROBE_HZ(PROBE_PROFILE, "profile", 1999), PROBE_HZ(PROBE_PROFILE, "profile", 4001),
        PROBE_HZ(PROBE_PROFILE, "profile", 4999), PROBE_HZ(PROBE_TICK, "tick", 1),
        PROBE_HZ(PROBE_TICK, "tick", 10),         PROBE_HZ(PROBE_TICK, "tick", 100),
        PROBE_HZ(PROBE_TICK, "tick", 500),        PROBE_HZ(PROBE_TICK, "tick", 1000),
        PROBE_HZ(PROBE_TICK, "tick", 5000),       PROBE_HZ(PROBE_WALL, "wall", 97)};
    enum { OF_NODES = 1 /* the last ones */ };
#undef PROBE_HZ
    *n = sizeof table / sizeof *table - (node ? 0 : OF_NODES);
    return table;
}
