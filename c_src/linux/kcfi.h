/* kcfi.h - how a program's functions leave their stack frames, from the section .eh_frame that
 * compilers write for exceptions: with it stacks can be read of programs without frame pointers.
 *
 * Of each range of instructions three things are kept: what the CFA (the stack pointer's value
 * before the function was called) is relative to and by how much, and where the caller's frame
 * pointer was saved. The return address lies right below the CFA, as everywhere on x86-64. Ranges
 * whose frames are described in another way are marked as such.
 *
 * The section also tells where functions begin and end, those that have no symbol as well: a part
 * that the compiler has put elsewhere (".cold") counts as one, and so does the procedure linkage
 * table. */
#ifndef ET_LINUX_KCFI_H
#define ET_LINUX_KCFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linux/kmem.h"

/* Rows by ascending addresses; each holds up to the next one. */
struct kcfi {
    struct kframe *row;
    size_t n, cap;
    struct kextent {
        uint32_t at, size; /* an address of the file; bytes, at least 1 */
    } * func;              /* by ascending addresses; they may overlap */
    size_t nfuncs, capfuncs;
    size_t followed; /* instructions of the section */
};

enum {
    KCFI_ROWS = 1 << 19, /* of one file, at most */
    KCFI_FUNCS = 1 << 17,
    KCFI_FOLLOWED =
        16 /* instructions for each byte of the section: compilers write less than one */
};

/* Reads a section of n bytes, which is linked at an address of the file. What is not understood has
 * no rows; nor has what is behind the instruction at which the section has had its share (what
 * functions have in common is followed again for each). Returns false when memory is exhausted. */
bool kcfi_read(struct kcfi *t, const unsigned char *section, size_t n, uint64_t address);
void kcfi_free(struct kcfi *t);

#endif
