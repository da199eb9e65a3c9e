/* kgen.h - compiles the clauses of an image for BPF: one function for each, "clause_N", which takes
 * the place of a slot and returns 0, or 1 after a fault. */
#ifndef ET_LINUX_KGEN_H
#define ET_LINUX_KGEN_H

#include "base/diag.h"
#include "dif/dif.h"
#include "linux/kcode.h"
#include "linux/kmem.h"

/* Where generated code finds things. */
struct kgen_layout {
    const struct dif_image *img;
    const uint32_t *variable;   /* offsets of globals and clause-locals, by variable */
    const uint32_t *record_max; /* by clause */
    const uint64_t *consts;     /* KCONSTS */
};

/* Returns 0 when all of the image can run in the kernel, else an error that names what cannot. */
int kgen_check(const struct dif_image *img, struct diags *d);

/* Returns 0 when the kernel's structures have what the image's subroutines read there, else an
 * error that names one. */
int kgen_check_fields(const struct dif_image *img, const struct kfield field[KFIELDS],
                      struct diags *d);

/* Returns whether the image reads a builtin variable. */
bool kgen_uses(const struct dif_image *img, unsigned builtin);
/* ... and whether a clause does. */
bool kgen_clause_uses(const struct dif_image *img, uint32_t clause, unsigned builtin);
/* Returns whether what it reports names addresses of processes, or what their Erlang VMs run: this
 * process looks into them while the program runs. */
bool kgen_looks_into_processes(const struct dif_image *img);
/* Returns whether its programs read structures of the kernel (kfield.h). */
bool kgen_reads_kernel(const struct dif_image *img);

/* The frames of stacks that an event is to keep. */
struct kgen_frames {
    uint32_t kernel, user;
};
/* Raises them to what a clause asks for. */
void kgen_frames(const struct dif_image *img, uint32_t clause, struct kgen_frames *most);

/* Appends the function of a clause. */
void kgen_clause(struct kcode *c, const struct kgen_layout *l, uint32_t clause);

#endif
