/* kpass.h - the probes of a process that passes its events on: an Erlang VM with our agent, which
 * calls a function of its own at each (guest/beam/passing.c). They have one place, and are
 * told apart by the number that it is called with. */
#ifndef ET_LINUX_KPASS_H
#define ET_LINUX_KPASS_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "engine/engine.h"
#include "linux/kprobes.h"
#include "linux/kuser.h"

struct kpass;

enum { KPASS_ID = 1 << 28 }; /* of the first probe: those of kuser.h are below */

/* Returns NULL when memory is exhausted. `user` is borrowed until kpass_close. */
struct kpass *kpass_open(struct kuser *user);
void kpass_close(struct kpass *p);
/* Adds a probe of the process that has this function at that address and this number, perhaps in a
 * namespace of its own. `as` is what programs see of it; its names are borrowed until kpass_close.
 * The number that the process is to pass is the probe's `is`. Returns 0, or an error with a
 * diagnostic: the process is not found, programs may not be loaded, or memory is out. */
int kpass_add(struct kpass *p, uint64_t pid, uint64_t at, const struct engine_probe *as,
              const struct kprobe **out, struct diags *d);
/* Returns the probe of that id; NULL: none. */
const struct kprobe *kpass_by_id(const struct kpass *p, uint32_t id);
/* Returns the arguments that such probes have, *n of them. */
const struct kprobe_arg *kpass_args(const struct kpass *p, size_t *n);

#endif
