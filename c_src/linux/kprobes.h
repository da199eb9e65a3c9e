/* kprobes.h - the probes that the running Linux kernel has, under DTrace's names.
 *
 * Which ones there are is decided by the kernel's own description of its tracepoints and types
 * (kbtf.h): nothing else has to be readable, and nothing is set in the kernel. The tables
 * (ktable.h) say what DTrace's probes are there. The module of a probe is that of its tracepoint,
 * mostly vmlinux.
 * Their function is empty, except where a name has several sources: then it says which one.
 *
 * Besides, there are syscall:vmlinux:CALL:entry and :return for each system call
 * (ksyscall.h), and rawtp:vmlinux::NAME and sdt:vmlinux::NAME for each tracepoint. The last two
 * fire together; the arguments of sdt have the kernel's types, those of rawtp are numbers. */
#ifndef ET_LINUX_KPROBES_H
#define ET_LINUX_KPROBES_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "linux/kbtf.h"
#include "linux/ksym.h"
#include "linux/ktable.h"
#include "linux/kvalue.h"
#include "probe/probe.h"

struct kprobes;

/* Ids of probes. Those of intervals are the same on every tier: see tier.h. */
enum { KPROBES_ID_DEFAULT = 900, KPROBES_ID_INTERVAL = 1000, KPROBES_ID = 3000 };

enum { KPROBE_ARGS = 12 };

/* Where the kernel is told to call us. */
enum kattach {
    KATTACH_RAWTP,   /* at the raw tracepoint `point` */
    KATTACH_PROFILE, /* on each CPU, every `period` */
    KATTACH_TICK,    /* on one CPU, every `period` */
    KATTACH_PLACE    /* when the process of `file` comes to a place in it */
};

struct kprobe_arg {
    const char *name, *text; /* text "": the name says it all */
    const char *type;        /* of the value, in D: "struct task_struct *", "int64_t", "string" */
    const char *as;          /* the type of args[N], by a translator; NULL: `type` */
    struct kvalue value;     /* argN; of a string the address in the kernel's memory */
    bool given;              /* the table says what the type is, whatever the value's own is */
};

/* Strings and values are borrowed until the catalogue is closed. */
struct kprobe {
    uint32_t id; /* KPROBES_ID and up, in order; of intervals see above */
    const char *prov, *mod, *func, *name;
    const char *text; /* when it fires; "": at the tracepoint of its name */
    enum kattach attach;
    const char *point; /* a tracepoint's name; of places those that one program is for; "": an
                          interval */
    uint64_t period;   /* ns, of intervals */
    uint32_t proto;    /* the type of the tracepoint's function (kbtf_tracepoint) */
    /* The event is this probe if `key`, where there is one, equals `is`, and each of the nwhen
     * values is not 0. Many probes of one point have the same key: they can be told apart by one
     * look-up. */
    const struct kvalue *key;
    int64_t is;
    struct kvalue when[KTABLE_WHEN];
    uint32_t nwhen;
    /* The thread that it fires for, a struct task_struct *; NULL: the running one. Stacks are
     * always those of the running one. */
    const struct kvalue *thread;
    const struct kvalue *error; /* of errno; NULL: 0 */
    const struct kvalue *about; /* of kslot.about; NULL: 0 */
    /* Of a place: */
    bool is_entry;  /* its place is that of a function's first instruction */
    bool shares;    /* the place is that of others of this point, which the key tells apart */
    uint32_t shown; /* ... and the id that programs see */
    const struct ksyms_file *file;
    uint64_t offset;  /* in the file */
    uint64_t counter; /* likewise, of the counter that is kept while it is traced; 0: none */
    const struct kprobe *more; /* the same probe at another place: only `is`, the place and the
                                  arguments differ; NULL: there is none */
};

/* Opens the catalogue of the running kernel. It has its own reader of types, kprobes_types. Fails
 * with a diagnostic where kbtf_open does. */
int kprobes_open(struct kprobes **out, struct diags *d);
/* Makes the catalogue of a kernel with these types, which it owns and closes, also if this fails.
 */
int kprobes_make(struct kprobes **out, struct kbtf *types, struct diags *d);
void kprobes_close(struct kprobes *k);
struct kbtf *kprobes_types(struct kprobes *k);

/* Returns how many probes there are; the i-th one, without the intervals. */
size_t kprobes_count(const struct kprobes *k);
const struct kprobe *kprobes_at(const struct kprobes *k, size_t i);
/* Returns the probe of that id; NULL: none. */
const struct kprobe *kprobes_by_id(const struct kprobes *k, uint32_t id);
/* Returns the arguments of a probe, *n of them, at most KPROBE_ARGS. Returns NULL with *n = 0 if it
 * has none or memory is out. */
const struct kprobe_arg *kprobes_args(struct kprobes *k, const struct kprobe *p, size_t *n);

typedef int (*kprobes_fn)(void *arg, const struct kprobe *p); /* not 0 ends the walk */
/* Calls fn for each probe that the description matches: intervals, then others in order of id. An
 * interval that is asked for by its exact name is made. Returns 0, what fn returned, or an error
 * with a diagnostic. */
int kprobes_match(struct kprobes *k, const struct probe_spec *spec, kprobes_fn fn, void *arg,
                  struct diags *d);
/* Returns the nearest names for a description that matched nothing, as a hint; NULL: there are
 * none. */
const char *kprobes_suggest(struct kprobes *k, const struct probe_spec *spec);
/* A probe of DTrace that this kernel lacks. */
struct kprobe_lack {
    const char *prov, *func; /* func NULL: any of any module */
    const char *name;
    const char *why; /* a sentence */
};
/* Returns the i-th of these, by provider; NULL after the last one. */
const struct kprobe_lack *kprobes_lack(const struct kprobes *k, size_t i);
/* Returns why a description matched nothing, if it names a probe of DTrace that this kernel lacks;
 * else NULL: "this kernel has no member 'x' in struct y". */
const char *kprobes_missing(struct kprobes *k, const struct probe_spec *spec);

#endif
