/* kusdt.h - the probes that programs define for themselves (USDT): notes in their files, by the
 * names "stapsdt", each of which is a place in the code, and where its arguments are there. */
#ifndef ET_LINUX_KUSDT_H
#define ET_LINUX_KUSDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "linux/kvalue.h"

struct kusdt_note {
    const char *prov, *name;
    const char *args;   /* as the note has them: "-4@%edi 8@$17" */
    uint64_t at;        /* the address of the place, as linked */
    uint64_t semaphore; /* the address of the counter that says whether it is traced; 0: none */
};

/* Calls fn for each note of a section's n bytes; texts are borrowed from these. `base`: where
 * .stapsdt.base lies now, 0 if there is none. What is no such note, or does not lie whole within
 * the section, is left out. */
typedef void kusdt_fn(void *arg, const struct kusdt_note *note);
void kusdt_read(const unsigned char *bytes, size_t n, uint64_t base, kusdt_fn *fn, void *arg);

/* An argument of a probe. */
struct kusdt_arg {
    const char *type; /* of D: "int32_t", "uint64_t" */
    struct kvalue value;
};
/* Reads the description of arguments, at most `most` of them; returns how many there are. One that
 * is not an integer, or stands where programs in the kernel cannot look, reads as 0. Steps are made
 * in `mem`; *oom is set when that is exhausted. */
size_t kusdt_args(const char *text, struct kusdt_arg *out, size_t most, struct arena *mem,
                  bool *oom);

#endif
