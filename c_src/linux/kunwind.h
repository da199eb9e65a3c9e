/* kunwind.h - tells a program in the kernel how the stacks of processes are read (kmem.h, struct
 * kunwind): where the files of a process lie, and how their functions leave their frames.
 *
 * The program says of which processes it needs that, and of which it has met code that is not
 * known. What one look has found out serves the stacks from then on; until then a stack has the
 * frames that frame pointers lead to. */
#ifndef ET_LINUX_KUNWIND_H
#define ET_LINUX_KUNWIND_H

#include <stdint.h>

#include "linux/kmem.h"
#include "linux/ksym.h"

struct kunwind_state;

/* Opens; `shared` is what the program in the kernel reads, and zeros. Both are borrowed until
 * kunwind_close. Returns NULL when memory is exhausted. */
struct kunwind_state *kunwind_open(struct kunwind *shared, struct ksyms *syms);
void kunwind_close(struct kunwind_state *u);
/* Reads what is needed of a process, unless that is known. */
void kunwind_add(struct kunwind_state *u, uint32_t tgid);
/* Reads a process again: it has mapped other files. */
void kunwind_changed(struct kunwind_state *u, uint32_t tgid);
/* Reads what the program wants, and forgets the processes that are gone. To be called now and then.
 */
void kunwind_look(struct kunwind_state *u);

#endif
