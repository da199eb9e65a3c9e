/* provider.h - arguments of probes: definitions of providers, by programs and by the probe tables.
 *
 *     provider shop { probe order__start(char *item, int n) : (string item, int n); };
 *
 * The first list gives what the traced program passes (arg0 ...), the second what scripts see as
 * args[0] ...: its parameters are parameters of the first, by name, and have the same type or,
 * through a translator, another. Without a second list scripts see the first. In a probe's name
 * "__" stands for "-". */
#ifndef ET_LANG_PROVIDER_H
#define ET_LANG_PROVIDER_H

#include "base/diag.h"
#include "lang/stability.h"
#include "lang/type.h"

enum { LANG_PROBE_ARGS_MAX = 255 };

struct lang_native {
    const char *name; /* NULL: none */
    const struct type *type;
    const struct probe_arg *row; /* in the erlang provider's tables; NULL: defined by a program */
};

struct lang_probe_arg {
    uint32_t native; /* index of the native argument that it is made from */
    const struct type *type;
};

struct lang_probe {
    const char *provider;
    const char *name;  /* as scripts write it: "order-start" */
    const char *ident; /* as the definition writes it: "order__start" */
    struct diag_pos pos;
    uint32_t nnative, nargs;
    struct lang_native *native;
    struct lang_probe_arg *arg;
    struct lang_probe *next; /* in order of definition */
};

struct lang_provider {
    const char *name;
    struct lang_probe *probes;
    bool library;               /* defined by a D library, not by a program */
    struct lang_provider *next; /* in order of definition */
};

/* The parts that can have attributes. */
enum lang_part { PART_PROVIDER, PART_MODULE, PART_FUNCTION, PART_NAME, PART_ARGS, PART_COUNT };
extern const char *const lang_parts[PART_COUNT]; /* as #pragma D attributes writes them */

struct lang;

/* Returns the stability of a part of a provider's probes. */
struct attr lang_provider_attr(const struct lang *l, const char *provider, enum lang_part part);
/* Returns the providers that programs and libraries define. */
const struct lang_provider *lang_providers(const struct lang *l);
/* Returns a type as a C program writes it. */
const char *lang_c_type(const struct type *t);

#endif
