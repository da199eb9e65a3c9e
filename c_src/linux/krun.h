/* krun.h - a D program in the kernel: its memory, its programs for BPF, and what is needed to fire
 * and read it. Used by one thread. */
#ifndef ET_LINUX_KRUN_H
#define ET_LINUX_KRUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "engine/engine.h"
#include "linux/kcode.h"
#include "linux/kevent.h"
#include "linux/ksym.h"

/* A probe that the program is on. */
struct krun_probe {
    struct engine_probe identity;
    const struct engine_binding *b; /* n of them, in program order */
    uint32_t n;
};

struct krun;

/* Makes the memory and the programs. `probe` has the probes that this process fires: BEGIN, END,
 * ERROR (at error_probe) and intervals, and `clock` the intervals that fire on each CPU. The image
 * is taken over, also after an error. */
struct krun_plan {
    const struct krun_probe *own;
    uint32_t nown, error, end; /* indexes of ERROR and END in `own` */
    const struct krun_probe *clock;
    const uint64_t *period; /* of each clock, ns */
    uint32_t nclocks;
    const struct kevent_probe *event; /* probes of tracepoints and places */
    uint32_t nevents;
    struct ksyms *syms;
    bool grows; /* krun_extend may follow */
};
int krun_create(struct dif_image *img, struct engine_options *opt, const struct krun_plan *plan,
                struct krun **out, struct diags *d);
void krun_destroy(struct krun *r);

struct engine *krun_engine(const struct krun *r);
/* Sets the places in processes, which fire nothing before krun_attach. Calls `progress` for every
 * some hundreds of them; if that returns false, returns ET_EABORT without a diagnostic. */
typedef bool krun_progress_fn(void *arg, size_t done, size_t all);
int krun_place(struct krun *r, krun_progress_fn *progress, void *arg, struct diags *d);
/* Adds probes of places, n of them, while the program runs; they are borrowed until krun_destroy.
 * After an error none of them, or some, fire. */
int krun_extend(struct krun *r, const struct kevent_probe *event, uint32_t n, struct diags *d);
/* Begins, and ends, what fires by itself. */
int krun_attach(struct krun *r, struct diags *d);
/* Looks for Erlang VMs that have come and gone, if the program asks for their processes, and warns
 * of those that hide them. To be called while it runs, and at its end. */
void krun_look(struct krun *r, bool end, struct diags *d);
void krun_detach(struct krun *r);
/* Returns the capabilities that this process needs from krun_attach on (util/capabilities.h). */
uint64_t krun_keeps(const struct krun *r);
/* Fires probe `own` of the plan, `late` ns after its time. Returns 0, or -1 when the kernel could
 * not run it. */
int krun_fire(struct krun *r, uint32_t own, uint64_t late);
void krun_phase(struct krun *r, enum engine_phase phase);
bool krun_exiting(const struct krun *r);
/* Flips the halves of these kinds, waits for the events that still write to the old ones, and
 * prepares the engine for engine_drain. */
void krun_flip(struct krun *r, unsigned what);
/* After engine_drain has returned true: speculations that were drained are free again. */
void krun_drained(struct krun *r);
/* The counters, as engine_counts. */
void krun_counts(const struct krun *r, struct record_counts *c);

#endif
