/* kuser.h - the probes in processes: pid1234:MODULE:FUNCTION:entry, :return and :OFFSET of each
 * function of the files that the process has mapped to run them, and
 * PROVIDER1234:MODULE:FUNCTION:NAME of the probes that these files define (kusdt.h).
 *
 * MODULE is the name of a file without its folders, also without what begins with ".so"; "a.out" is
 * the program itself. OFFSET is hexadecimal, and an instruction begins there. Files are read when a
 * description first names them. What a process maps later is looked for by kuser_look. */
#ifndef ET_LINUX_KUSER_H
#define ET_LINUX_KUSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "linux/kprobes.h"
#include "linux/ksym.h"
#include "probe/probe.h"

struct kuser;

enum { KUSER_ID = 1 << 20 }; /* of the first probe; those of kprobes.h are below */

/* Returns NULL when memory is exhausted. `syms` is borrowed until kuser_close. */
struct kuser *kuser_open(struct ksyms *syms);
void kuser_close(struct kuser *u);

/* Returns whether a description has named a process that is there. */
bool kuser_any(const struct kuser *u);
/* Returns whether a provider's name is that of one of a process: it ends in a number. */
bool kuser_names(const char *prov);
/* Calls fn for each probe that the description matches, file by file. Returns 0, what fn
 * returned, or an error with a diagnostic. */
int kuser_match(struct kuser *u, const struct probe_spec *spec, kprobes_fn fn, void *arg,
                struct diags *d);
/* Looks for files that processes of earlier descriptions have mapped meanwhile. Returns whether
 * there are any: then kuser_match_new matches descriptions with them alone, until kuser_settled. */
bool kuser_look(struct kuser *u);
int kuser_match_new(struct kuser *u, const struct probe_spec *spec, kprobes_fn fn, void *arg,
                    struct diags *d);
void kuser_settled(struct kuser *u);
/* Where the dynamic linker of a process says that it has mapped files (kmapped.h). */
struct kuser_linker {
    uint64_t pid;
    int fd; /* its file, while the function runs */
    uint64_t offset;
    bool first_namespace; /* the numbers of processes are the kernel's own */
};
/* Calls fn for each process of earlier descriptions that has one. Returns 0 or what fn returned. */
typedef int kuser_linker_fn(void *arg, const struct kuser_linker *l);
int kuser_linkers(struct kuser *u, kuser_linker_fn *fn, void *arg);
/* Returns the probe of that id; NULL: none. */
const struct kprobe *kuser_by_id(const struct kuser *u, uint32_t id);
/* Returns the arguments of a probe that kuser_match or kuser_by_id has given, or one of its `more`:
 * *n of them. */
const struct kprobe_arg *kuser_args(const struct kprobe *p, size_t *n);
/* Returns why a description that was just matched has no probes, or what is nearest; NULL: nothing
 * is known. */
const char *kuser_suggest(struct kuser *u, const struct probe_spec *spec);

#endif
