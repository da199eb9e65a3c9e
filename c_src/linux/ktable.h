/* ktable.h - the tables of the kernel's probes, k_*.list: one for each provider, a row for each
 * probe.
 *
 *     {.name = "signal-discard", .point = "signal_generate", .when = {"$5 == 1"},
 *      .text = "a signal is sent that its receiver ignores",
 *      .arg = {{"lwp", "$3", .as = "lwpsinfo_t *"}, {"signal", "$1", .text = "its number"}}},
 *
 * The probe is the event of a tracepoint, at those times when its conditions hold. Values are
 * written as kvalue.h says. Where kernels differ, rows of one name follow each other: the first one
 * that a kernel allows is the probe. A row without .point says why Linux has no such probe. Fields
 * that a row does not need are left out. */
#ifndef ET_LINUX_KTABLE_H
#define ET_LINUX_KTABLE_H

#include <stddef.h>

enum { KTABLE_WHEN = 3, KTABLE_ARGS = 7 };

struct krow {
    const char *name;
    const char *func;              /* which source of several; NULL: there is one */
    const char *point;             /* a raw tracepoint */
    const char *key;               /* a value that many rows compare ... */
    const char *is;                /* ... with this constant */
    const char *when[KTABLE_WHEN]; /* values that must not be 0 */
    const char *thread;            /* the thread that it fires for; NULL: the running one */
    const char *error;             /* errno; NULL: 0 */
    const char *text; /* when it fires, or why it does not exist: the rest of "Linux ..." */
    struct krow_arg {
        const char *name, *value;
        const char *type; /* in D; NULL: the value's own */
        const char *as;   /* the type that args[N] gets by a translator; NULL: none */
        const char *text; /* what it is, if the name does not say it all */
    } arg[KTABLE_ARGS];   /* ends at the first name NULL */
};

struct ktable {
    const char *prov;
    const struct krow *row;
    size_t n;
};

/* Returns the i-th table, NULL after the last one. */
const struct ktable *ktable(size_t i);

#endif
