/* kfield.h - finds the members of the kernel's structures that the runtime reads (kmem.h). */
#ifndef ET_LINUX_KFIELD_H
#define ET_LINUX_KFIELD_H

#include "linux/kbtf.h"
#include "linux/kmem.h"

/* Fills in how each is read on the kernel that the types are of. One that it does not have reads as
 * 0. */
void kfields_fill(struct kfield field[KFIELDS], const struct kbtf *types);

#endif
