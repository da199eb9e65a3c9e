/* decide.h - decides the result of a clause's predicate on a probe before anything fires.
 *
 * A predicate is run over values of which some are known (what identifies the probe, and text that
 * follows from it) and the others are unknown (everything that an event brings). Where a branch
 * depends on an unknown value, both paths are taken. Branches only go forward, so that one pass
 * over the predicate sees every instruction once, after all that can lead to it. Where paths meet,
 * values on which they differ are unknown.
 *
 * The verdict is "never" or "always" only if no reachable instruction could fault or leave anything
 * changed. So a clause that can never run on a probe can be left out there, with no difference
 * except that the probe costs nothing. Every doubtful case is "maybe".
 *
 * The same method restricts a clause to processes: argument 0 is taken for a text that equals none
 * of those that the predicate compares it with. If the verdict is then "never", the predicate can
 * be true only for the texts that it was compared with. */
#ifndef ET_TIER_DECIDE_H
#define ET_TIER_DECIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "dif/dif.h"
#include "probe/probe.h"

enum decide_verdict {
    DECIDE_MAYBE,
    DECIDE_NEVER, /* the clause does nothing on this probe */
    DECIDE_ALWAYS /* the predicate is true */
};

/* What is known about a probe before it fires. Strings, except `mfa`, must live until the decider
 * is freed. */
struct decide_probe {
    /* As the tier will show it; NULL: the text is unknown. */
    const char *prov, *mod, *func, *name;
    uint32_t id, epid;
    bool unnumbered;  /* neither its id nor its EPID is known */
    bool pid;         /* argument 0 is the text of a process's id */
    bool function;    /* argument 1 is the text of a function's name */
    const char *mfa;  /* ... this one; NULL: unknown */
    const char *node; /* the name of the node; NULL: unknown */
    int64_t process;  /* operating system process where the probe fires; 0: unknown */
};

/* What a predicate reads, as a set. */
enum decide_look {
    DECIDE_LOOKS_PROV = 1 << 0,
    DECIDE_LOOKS_MOD = 1 << 1,
    DECIDE_LOOKS_FUNC = 1 << 2,
    DECIDE_LOOKS_NAME = 1 << 3,
    DECIDE_LOOKS_NUMBER = 1 << 4,
    DECIDE_LOOKS_ARG0 = 1 << 5,
    DECIDE_LOOKS_ARG1 = 1 << 6,
    DECIDE_LOOKS_PROCESS = 1 << 7,
    DECIDE_LOOKS_NODE = 1 << 8
};

enum {
    DECIDE_COUNTS_UNITS = 4096 /* units of work, at most, of a clause that only counts */
};

struct decider;
/* Makes a decider for the clauses of a verified image, which is borrowed. Returns NULL when out of
 * memory. */
struct decider *decider_new(const struct dif_image *img);
void decider_free(struct decider *d);

/* Decides the result of a clause's predicate on a probe; a clause without a predicate always runs.
 * `pids` NULL: does not search for processes. Takes time in proportion to the predicate; less when
 * what the predicate reads is the same as in the previous question to this decider. */
enum decide_verdict decide(struct decider *d, uint32_t clause, const struct decide_probe *p,
                           struct probe_pids *pids);
/* Returns whether all that the clause does on this probe of a function follows from the probe's
 * identity: its predicate is true, it cannot fault, and it only adds: counts and sums of constants
 * to aggregations, by keys that are known, and constants to global variables, whose values it does
 * not use. So to run it n times is to add n times as much. */
bool decide_counts(struct decider *d, uint32_t clause, const struct decide_probe *p);
/* Returns what the clause's predicate reads of all that `struct decide_probe` can tell. */
unsigned decide_looks(const struct decider *d, uint32_t clause);

#endif
