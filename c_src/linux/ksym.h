/* ksym.h - the symbols at addresses of the kernel and of processes.
 *
 * The kernel's come from /proc/kallsyms, which shows addresses to the privileged only. Those of a
 * process come from the files that it has mapped and from its perf map, /tmp/perf-PID.map, where a
 * JIT compiler writes one; the functions that an Erlang VM has compiled, from its memory (kjit.h).
 * Tables are read when they are first needed, and kept: what was looked at
 * once is known after the process has ended. */
#ifndef ET_LINUX_KSYM_H
#define ET_LINUX_KSYM_H

#include <stdbool.h>
#include <stdint.h>

#include "linux/kcfi.h"
#include "linux/kelf.h"
#include "linux/kmem.h"

struct ksyms;

struct ksym {
    const char *object;     /* a module of the kernel, the path of a file, [heap] and the like */
    const char *function;   /* NULL: unknown */
    uint64_t offset;        /* of the address, from the function's start */
    uint64_t object_offset; /* and from the object's */
    bool erlang;            /* the function's name is m:f/a */
    const char *file;       /* with that, of a return address: its source file, or NULL */
    uint32_t line;          /* ... and the line there; 0: unknown, as is the file */
};

/* Returns NULL when memory is exhausted. */
struct ksyms *ksyms_open(void);
void ksyms_close(struct ksyms *s);
/* Finds the symbol at an address of a process; pid 0: of the kernel. Returns false when nothing is
 * known of it. Texts are borrowed until ksyms_close. */
bool ksyms_find(struct ksyms *s, uint64_t pid, uint64_t address, struct ksym *out);
/* Opens what symbols of the kernel are read from, as long as this process has the privilege to see
 * addresses there. */
void ksyms_ready(struct ksyms *s);
/* Says what is known of Erlang VMs: `table` as kbeam.h fills it, or NULL from now on. */
void ksyms_beams(struct ksyms *s, const struct kbeam *table);
/* Reads what has to be known of these VMs while they run. */
void ksyms_look(struct ksyms *s);
/* Tells of each file that a process has mapped to run it, in the order of addresses: where it lies
 * (`base` is what an address has more there than in the file), and how its functions leave their
 * frames, which is borrowed until ksyms_close. Returns false when there is no such process. */
struct ksyms_mapped {
    uint64_t start, end, base;
    const struct kcfi *rows;
};
typedef void ksyms_mapped_fn(void *arg, const struct ksyms_mapped *m);
bool ksyms_mapped(struct ksyms *s, uint64_t pid, ksyms_mapped_fn *use, void *arg);
/* A file that a process has mapped to run it. */
struct ksyms_file {
    uint64_t pid, start, end; /* the mapping */
    uint64_t dev, ino;
    const char *path; /* as the process sees it; borrowed until ksyms_close */
};
/* Calls `use` for each of them once, in the order of addresses. Returns false when there is no such
 * process, or it may not be looked at. */
typedef void ksyms_file_fn(void *arg, const struct ksyms_file *f);
bool ksyms_files(struct ksyms *s, uint64_t pid, ksyms_file_fn *use, void *arg);
/* Looks at a process again when it is asked for next, however soon that is: it has mapped
 * something. */
void ksyms_changed(struct ksyms *s, uint64_t pid);
/* Opens that very file, while the process has it mapped. Returns a descriptor or -1. */
int ksyms_open_file(const struct ksyms_file *f);
/* Opens the debug file of a file of which these are the parts. Returns a descriptor or -1. */
int ksyms_open_debug(const struct kelf *e);
/* Finds a function of the kernel, with its size; leaves both alone if it is unknown. */
void ksyms_function(struct ksyms *s, const char *name, uint64_t *start, uint64_t *size);

#endif
