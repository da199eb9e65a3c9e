/* kload.h - asks the kernel for maps and programs, through libbpf, which is loaded when it is first
 * needed: a machine without it can do everything else. */
#ifndef ET_LINUX_KLOAD_H
#define ET_LINUX_KLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "linux/kbtf.h"
#include "linux/kcode.h"

/* Returns 0 when programs may be loaded here, else an error with a diagnostic that says what is
 * missing and what would help. */
int kload_ready(struct diags *d);
/* Refuses what this build cannot do on any kernel: the static command loads no library. Returns 0
 * or an error with a diagnostic. */
int kload_possible(struct diags *d);

/* Returns the kernel's version, 1000 * major + minor; 0 if it is not known. */
unsigned kload_linux(void);

/* Makes the map of n bytes; returns its descriptor, or an error with a diagnostic. *at is where
 * this process has it, for munmap. */
int kload_map(size_t n, void **at, struct diags *d);

enum kload_kind {
    KLOAD_RAW,
    KLOAD_PERF,
    KLOAD_PLACE, /* for a place in a file of a process (kplace.h), or ... */
    KLOAD_PLACES /* ... many at once */
};
enum { KLOAD_TYPE_PLACES = 48 }; /* BPF_TRACE_UPROBE_MULTI, which the headers may lack */
/* Loads a linked program and returns its descriptor, or an error with a diagnostic; errno is then
 * what the kernel said. The environment's ERLTRACE_PROGRAMS names a file that each program which
 * the kernel takes is appended to, for the corpus of tests (test/lib/corpus.py). */
int kload_program(const struct kcode *c, enum kload_kind kind, const char *name, struct diags *d);
/* Runs a raw tracepoint's program here, now, with n arguments. Returns 0 or -1. */
int kload_run(int program, const uint64_t *args, size_t n);
/* Attaches a program to a raw tracepoint; the descriptor that is returned holds the attachment. */
int kload_raw(int program, const char *tracepoint, struct diags *d);
/* Attaches a program to a clock of one CPU, in ns. */
int kload_clock(int program, unsigned cpu, uint64_t period, struct diags *d);
/* Gives such a clock another period, ns. */
void kload_period(int clock, uint64_t period);

struct kload_task {
    uint32_t tid, tgid;
    uint64_t tls; /* the address of its thread-local memory */
};
/* Prepares to ask for all threads; returns a descriptor for kload_read_tasks, or an error with a
 * diagnostic. *tls receives where a struct task_struct has the address of its thread-local memory.
 */
int kload_tasks(const struct kbtf *types, uint64_t *tls, struct diags *d);
/* Reads the threads that there are, into an array that it makes larger as needed. Returns how many.
 */
size_t kload_read_tasks(int tasks, struct kload_task **task, size_t *cap);

#endif
