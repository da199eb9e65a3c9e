/* kmapped.h - learns when processes map further files to run them: their dynamic linkers call a
 * function that does nothing, for debuggers, whenever they have mapped or unmapped some. A place
 * there, with a program of its own, tells us. At that time nothing of a new file has run.
 *
 * A process that this process has started may be made to stand still there until kmapped_go_on, so
 * that no call of the new functions is missed. */
#ifndef ET_LINUX_KMAPPED_H
#define ET_LINUX_KMAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct kmapped;

/* Opens without processes. Returns 0 or an error with a diagnostic. */
int kmapped_open(struct kmapped **out, struct diags *d);
/* Detaches, and lets processes go on. */
void kmapped_close(struct kmapped *m);
/* Adds a process whose dynamic linker has that function at an offset of a file, which is open.
 * `checks`: numbers of processes are the kernel's own, so that the program can tell the process
 * from one that shares its memory. `stops`: it is to stand still, which takes that, and CAP_KILL:
 * else it does not. Returns 0 or an error with a diagnostic. */
int kmapped_add(struct kmapped *m, uint64_t pid, int fd, uint64_t offset, bool checks, bool stops,
                struct diags *d);
/* Returns a descriptor that is readable when there is something to take. */
int kmapped_fd(const struct kmapped *m);
/* Returns whether a process has called that function since the last call. */
bool kmapped_take(struct kmapped *m);
/* Lets the processes that stand still go on; one that cannot be told is tried again by the next
 * call. */
void kmapped_go_on(struct kmapped *m);
/* Returns whether any is made to stand still: this process needs CAP_KILL as long as it may be. */
bool kmapped_stops(const struct kmapped *m);

#endif
