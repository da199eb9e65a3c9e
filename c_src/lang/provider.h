/* provider.h - what probes pass: definitions of providers, by programs and by the probe tables.
 *
 *     provider shop { probe order__start(char *item, int n) : (string item, int n); };
 *
 * The first list says what the traced program passes (arg0 ...), the second what scripts see as
 * args[0] ...: its parameters are parameters of the first, by name, and of the same or, through a
 * translator, of another type. Without a second list scripts see the first. In a probe's name "__"
 * stands for "-". */
#ifndef ET_LANG_PROVIDER_H
#define ET_LANG_PROVIDER_H

#include "base/diag.h"
#include "lang/stability.h"
#include "lang/type.h"

enum { LANG_PROBE_ARGS_MAX = 255 };

struct lang_native {
    const char *name; /* NULL: none given */
    const struct type *type;
    const struct probe_arg *row; /* of the erlang provider's tables; NULL: a program defines it */
};

struct lang_probe_arg {
    uint32_t native; /* index: which native argument it is made of */
    const struct type *type;
};

struct lang_probe {
    const char *provider;
    const char *name;  /* as scripts write it: "order-start" */
    const char *ident; /* as the definition has it: "order__start" */
    struct diag_pos pos;
    uint32_t nnative, nargs;
    struct lang_native *native;
    struct lang_probe_arg *arg;
    struct lang_probe *next; /* in order of definition */
};

struct lang_provider {
    const char *name;
    struct lang_probe *probes;
    bool library;               /* a D library defines it, and no program */
    struct lang_provider *next; /* in order of definition */
};

/* What attributes are given to. */
enum lang_part { PART_PROVIDER, PART_MODULE, PART_FUNCTION, PART_NAME, PART_ARGS, PART_COUNT };
extern const char *const lang_parts[PART_COUNT]; /* as #pragma D attributes writes them */

struct lang;

/* How stable a part of a provider's probes is. */
struct attr lang_provider_attr(const struct lang *l, const char *provider, enum lang_part part);
/* The providers that programs and libraries define. */
const struct lang_provider *lang_providers(const struct lang *l);
/* A type as a C program writes it. */
const char *lang_c_type(const struct type *t);

#endif
