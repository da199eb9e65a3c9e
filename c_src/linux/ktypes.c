/* ktypes.c - the compiler's view of the kernel. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "linux/kprobes.h"
#include "linux/ktypes.h"

#define SYMBOLS "/proc/kallsyms"
#define MODULE  "vmlinux"
#define EACH    "__per_cpu_offset" /* what each CPU adds to the address of a variable of its own */

enum { QUALIFIERS = 16, SYMBOL = 512 };

struct ktypes {
    struct foreign foreign;
    struct kprobes *probes;
    const struct kbtf *types; /* those of `probes` */
    struct arena mem;         /* sentences */
};

/* Leaves out qualifiers. */
static uint32_t plain(const struct kbtf *b, uint32_t id)
{
    for (int i = 0; i < QUALIFIERS; i++) {
        const enum kbtf_kind kind = kbtf_kind(b, id);
        if (kind != KBTF_CONST && kind != KBTF_VOLATILE && kind != KBTF_RESTRICT &&
            kind != KBTF_TYPE_TAG)
            return id;
        id = kbtf_target(b, id);
    }
    return 0;
}

static uint32_t find(void *arg, const char *module, enum foreign_kind kind, const char *name)
{
    const struct ktypes *k = arg;
    uint32_t id = 0;
    switch (kind) {
    case FOREIGN_STRUCT: return kbtf_find_in(k->types, module, KBTF_STRUCT, name);
    case FOREIGN_UNION: return kbtf_find_in(k->types, module, KBTF_UNION, name);
    case FOREIGN_TYPEDEF: return kbtf_find_in(k->types, module, KBTF_TYPEDEF, name);
    case FOREIGN_ENUM:
        id = kbtf_find_in(k->types, module, KBTF_ENUM, name);
        return id != 0 ? id : kbtf_find_in(k->types, module, KBTF_ENUM64, name);
    default: return 0;
    }
}

static void type(void *arg, uint32_t number, struct foreign_type *out)
{
    const struct ktypes *k = arg;
    struct kbtf_scalar is = {0};
    const uint32_t id = plain(k->types, number);
    *out = (struct foreign_type){.number = id,
                                 .name = kbtf_name(k->types, id),
                                 .size = kbtf_size(k->types, id),
                                 .of = kbtf_target(k->types, id)};
    switch (kbtf_kind(k->types, id)) {
    case KBTF_INT:
    case KBTF_ENUM:
    case KBTF_ENUM64:
        out->kind = kbtf_kind(k->types, id) == KBTF_INT ? FOREIGN_INT : FOREIGN_ENUM;
        if (kbtf_scalar(k->types, id, &is)) {
            out->is_signed = is.is_signed;
            out->is_bool = is.is_bool;
        }
        break;
    case KBTF_FLOAT: out->kind = FOREIGN_FLOAT; break;
    case KBTF_PTR: out->kind = FOREIGN_POINTER; break;
    case KBTF_ARRAY:
        out->kind = FOREIGN_ARRAY;
        out->count = kbtf_elements(k->types, id);
        break;
    case KBTF_STRUCT:
    case KBTF_UNION:
        out->kind = kbtf_kind(k->types, id) == KBTF_STRUCT ? FOREIGN_STRUCT : FOREIGN_UNION;
        out->is_complete = true;
        break;
    case KBTF_FWD: out->kind = FOREIGN_STRUCT; break;
    case KBTF_TYPEDEF: out->kind = FOREIGN_TYPEDEF; break;
    case KBTF_PROTO: out->kind = FOREIGN_FUNCTION; break;
    default: out->kind = FOREIGN_VOID;
    }
}

static bool member(void *arg, uint32_t number, uint32_t i, struct foreign_member *out)
{
    const struct ktypes *k = arg;
    struct kbtf_member m;
    if (!kbtf_member(k->types, plain(k->types, number), i, &m))
        return false;
    *out = (struct foreign_member){m.name, m.type, m.bit, m.bits};
    return true;
}

static bool enumerator(void *arg, uint32_t number, uint32_t i, const char **name, int64_t *value)
{
    const struct ktypes *k = arg;
    return kbtf_enumerator(k->types, plain(k->types, number), i, name, value);
}

static bool constant(void *arg, const char *name, int64_t *value, uint32_t *number)
{
    const struct ktypes *k = arg;
    return kbtf_constant(k->types, name, value, number);
}

static void text(void *arg, uint32_t number, struct buf *out)
{
    const struct ktypes *k = arg;
    kbtf_print(k->types, number, "", out);
}

/* -- variables -------------------------------------------------------------------------------- */

enum ktypes_symbols ktypes_addresses(FILE *f, const char *const *name, uint64_t *address, size_t n)
{
    char line[SYMBOL + 64], found[SYMBOL], module[SYMBOL], kind;
    uint64_t at;
    enum ktypes_symbols told = KTYPES_HIDDEN;
    while (fgets(line, sizeof line, f) != NULL) {
        const int fields =
            sscanf(line, "%" SCNx64 " %c %511s [%511[^]]", &at, &kind, found, module);
        if (fields < 3 || at == 0)
            continue;
        told = told == KTYPES_HIDDEN ? KTYPES_CODE : told;
        if (strchr("tTwW", kind) != NULL || fields > 3)
            continue;
        if (strcmp(found, "jiffies") == 0) /* any kernel's; marks of sections are always told */
            told = KTYPES_VARIABLES;
        for (size_t i = 0; i < n; i++)
            if (address[i] == 0 && strcmp(found, name[i]) == 0)
                address[i] = at;
    }
    return told;
}

static const char *const lack[] = {
    [KTYPES_HIDDEN] = SYMBOLS " shows no addresses: they are for the privileged",
    [KTYPES_CODE] = SYMBOLS " has functions only: this kernel is built without CONFIG_KALLSYMS_ALL",
};

static enum ktypes_symbols read_addresses(const char *const *name, uint64_t *address, size_t n)
{
    FILE *f = fopen(SYMBOLS, "re");
    const enum ktypes_symbols told =
        f != NULL ? ktypes_addresses(f, name, address, n) : KTYPES_HIDDEN;
    if (f != NULL)
        fclose(f);
    return told;
}

const char *ktypes_no_variables(void)
{
    const enum ktypes_symbols told = read_addresses(NULL, NULL, 0);
    return told == KTYPES_VARIABLES ? NULL : lack[told];
}

static const char *variable(void *arg, const char *module, const char *name,
                            struct foreign_variable *out)
{
    struct ktypes *k = arg;
    const char *const wanted[] = {name, EACH, "__per_cpu_start", "__per_cpu_end"}, *why;
    enum { WANTED = sizeof wanted / sizeof *wanted };
    uint64_t at[WANTED] = {0};
    const uint32_t var = kbtf_find(k->types, KBTF_VAR, name);
    if (module[0] != '\0' && strcmp(module, MODULE) != 0) {
        why =
            arena_printf(&k->mem, "of the module %s none are known, only those of " MODULE, module);
        return why != NULL ? why : kvalue_no_memory;
    }
    const enum ktypes_symbols told = read_addresses(wanted, at, WANTED);
    if (at[0] == 0) {
        why = told == KTYPES_VARIABLES
                  ? arena_printf(&k->mem, "this kernel has no variable %s", name)
                  : lack[told];
        return why != NULL ? why : kvalue_no_memory;
    }
    const bool each = at[0] >= at[2] && at[0] < at[3];
    *out = (struct foreign_variable){at[0], kbtf_target(k->types, var), each ? at[1] : 0};
    return NULL;
}

/* -- probes ----------------------------------------------------------------------------------- */

struct walk {
    struct ktypes *k;
    foreign_probe_fn *fn;
    void *arg;
};

static int probe(void *arg, const struct kprobe *p)
{
    const struct walk *w = arg;
    const struct kbtf *b = w->k->types;
    struct foreign_arg out[KPROBE_ARGS];
    size_t n;
    const struct kprobe_arg *a = kprobes_args(w->k->probes, p, &n);
    if (p->attach != KATTACH_RAWTP)
        return 0; /* intervals are the language's own */
    for (size_t i = 0; i < n; i++) {
        struct kbtf_scalar is;
        const uint32_t id = a[i].value.type;
        const bool typed = id != 0 && !a[i].given;
        out[i] = (struct foreign_arg){.name = a[i].name,
                                      .type = typed && strcmp(a[i].type, "string") != 0 ? NULL
                                                                                        : a[i].type,
                                      .number = id,
                                      .pointed = typed && !kbtf_scalar(b, id, &is),
                                      .as = a[i].as};
        if (out[i].pointed && kbtf_kind(b, kbtf_resolve(b, id)) == KBTF_ARRAY)
            out[i].number = kbtf_target(b, kbtf_resolve(b, id));
    }
    return w->fn(w->arg, p->prov, p->name, out, n) ? 0 : 1;
}

static void probes(void *arg, const struct probe_spec *spec, foreign_probe_fn *fn, void *fn_arg)
{
    struct ktypes *k = arg;
    struct walk w = {k, fn, fn_arg};
    struct diags d; /* only memory can be short, and then the probe has no types */
    diags_init(&d);
    kprobes_match(k->probes, spec, probe, &w, &d);
    diags_free(&d);
}

int ktypes_open(struct ktypes **out, struct diags *d)
{
    struct kbtf *types;
    *out = NULL;
    int err = kbtf_open_all(&types, d);
    return err != 0 ? err : ktypes_make(out, types, d);
}

int ktypes_make(struct ktypes **out, struct kbtf *types, struct diags *d)
{
    struct ktypes *k = et_calloc(1, sizeof *k);
    *out = NULL;
    if (k == NULL) {
        kbtf_close(types);
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
    }
    int err = kprobes_make(&k->probes, types, d);
    if (err != 0) {
        et_free(k);
        return err;
    }
    arena_init(&k->mem);
    k->types = kprobes_types(k->probes);
    k->foreign = (struct foreign){
        k, find, type, member, enumerator, constant, variable, text, probes,
    };
    *out = k;
    return 0;
}

void ktypes_close(struct ktypes *k)
{
    if (k == NULL)
        return;
    kprobes_close(k->probes);
    arena_free(&k->mem);
    et_free(k);
}

const struct foreign *ktypes_foreign(struct ktypes *k)
{
    return &k->foreign;
}
