/* kplace.h - has the kernel call programs where a process comes to a place in a file: uprobes. They
 * are gone with the descriptors that hold them.
 *
 * The kernel's own way to see returns (uretprobes) is not used: it puts an address of its own in
 * the place of the return address, and ends programs that unwind or switch their stacks. */
#ifndef ET_LINUX_KPLACE_H
#define ET_LINUX_KPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* Places in one file. */
struct kplaces {
    int fd;                  /* the file */
    uint64_t pid;            /* the process */
    size_t n;                /* elements of each array */
    const uint64_t *offset;  /* in the file */
    const uint64_t *counter; /* likewise, of a counter of 16 bits that is kept while it is traced;
                                0: none */
    const uint64_t *cookie;  /* the number by which programs know the place */
};

/* Returns whether this kernel has probes in processes at all. */
bool kplaces_any(void);
/* Returns whether this kernel takes many places at once, of a program that was loaded for them
 * (KLOAD_PLACES); else each is one of its own (KLOAD_PLACE). */
bool kplaces_many(void);
/* Attaches a program; `keep` takes over each descriptor and returns 0 or an error, which ends it.
 * Where the kernel refuses an instruction, the place is left out: *refused is raised by how many
 * are, and *why is an errno. Returns 0 or an error with a diagnostic. */
typedef int kplaces_keep_fn(void *arg, int fd);
int kplaces_attach(int program, const struct kplaces *p, kplaces_keep_fn *keep, void *arg,
                   size_t *refused, int *why, struct diags *d);

#endif
