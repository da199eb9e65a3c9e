/* kjit.h - the functions that the JIT of an Erlang VM has compiled, read from its memory.
 *
 * In front of each function's code lie three words: two atoms, which are the names of its module
 * and of itself, and the number of its arguments. The word before these is an address or 0. Pages
 * that the VM has not touched are not read, since reading would give them to it. */
#ifndef ET_LINUX_KJIT_H
#define ET_LINUX_KJIT_H

#include <stdbool.h>
#include <stdint.h>

#include "jit/lines.h"
#include "linux/kbeam.h"
#include "linux/kelf.h"

/* The functions of one VM. Zeros to begin with. */
struct kjit {
    struct kfuncs funcs; /* the memory of each reaches up to the next one's; the owner is the
                            number of its module in `module`, plus 1 */
    struct lines_module *module; /* nmodules */
    uint32_t nmodules;
    struct lines *lines; /* NULL: not known */
    char file[LINES_FILE_MOST + 1];
};

/* Finds all functions of a VM, whose process this is. What was known is forgotten, unless the VM's
 * memory cannot be read. Returns whether it could. */
bool kjit_read(uint64_t pid, const struct kbeam *v, struct kjit *j);
/* Returns whether the function in which an address lies is still the nearest one before it. */
bool kjit_holds(uint64_t pid, const struct kbeam *v, const struct kfunction *f, uint64_t address);
/* Returns the line of the byte before an address in a function, 0: it is not known. *file receives
 * the name of its file, which is borrowed until the next call. */
uint32_t kjit_line(uint64_t pid, struct kjit *j, const struct kfunction *f, uint64_t address,
                   const char **file);
/* Returns whether what was found of the function's module is not what is there now. */
bool kjit_changed(uint64_t pid, const struct kjit *j, const struct kfunction *f);
void kjit_free(struct kjit *j);

/* The same of any memory, for tests: adds the functions in a piece of code, n words at an address,
 * from the fourth word on; the first three are those before it, or 0. */
bool kjit_scan(const uint64_t *word, size_t n, uint64_t at, const struct kbeam *v,
               kbeam_read_fn *read, void *arg, struct kfuncs *out);

#endif
