/* runtime.h - the object file of the runtime (bpf/), which the build puts into this program; empty
 * when the build had no compiler for BPF. */
#ifndef ET_LINUX_RUNTIME_H
#define ET_LINUX_RUNTIME_H

extern const unsigned char runtime_object[], runtime_object_end[];

/* Returns the number of arguments of a function of the runtime that programs call; -1: it is none,
 * but a callback. */
int runtime_arguments(const char *name);

#endif
