/* decide.h - what a clause's predicate comes to on a probe, decided before anything fires.
 *
 * A predicate is run over values of which some are known (what identifies the probe, text that
 * follows from it) and the others are not (everything that an event brings). Where a branch depends
 * on what is not known, both ways are taken. Branches go forward only, so that one pass over the
 * predicate sees every instruction once, after all that can lead to it; where ways meet, what they
 * do not agree on is not known.
 *
 * The verdict is "never" or "always" only if nothing that can be reached could fault or leave
 * anything changed. So a clause that is never to run on a probe may be left out there without any
 * difference but that the probe does not cost anything; everything that is in doubt is "maybe".
 *
 * A process is restricted alike: argument 0 is taken for a text that is equal to none of those that
 * the predicate compares it with. If the verdict is "never" then, the predicate can be true for the
 * texts that it was compared with, and for no others. */
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

/* What is known of a probe before it fires. Strings must live until the decider is freed, but for
 * `mfa`. */
struct decide_probe {
    /* As the tier will show it; NULL: that text is not known. */
    const char *prov, *mod, *func, *name;
    uint32_t id, epid;
    bool unnumbered; /* neither its id nor the EPID is known */
    bool pid;        /* argument 0 is the text of a process's id */
    bool function;   /* argument 1 is text, a function's name */
    const char *mfa; /* ... this one; NULL: not known */
    int64_t process; /* of the operating system, where the probe fires; 0: not known */
};

/* What a predicate looks at, as a set. */
enum decide_look {
    DECIDE_LOOKS_PROV = 1 << 0,
    DECIDE_LOOKS_MOD = 1 << 1,
    DECIDE_LOOKS_FUNC = 1 << 2,
    DECIDE_LOOKS_NAME = 1 << 3,
    DECIDE_LOOKS_NUMBER = 1 << 4,
    DECIDE_LOOKS_ARG0 = 1 << 5,
    DECIDE_LOOKS_ARG1 = 1 << 6,
    DECIDE_LOOKS_PROCESS = 1 << 7
};

struct decider;
/* For the clauses of a verified image, which is borrowed. NULL: out of memory. */
struct decider *decider_new(const struct dif_image *img);
void decider_free(struct decider *d);

/* What the clause's predicate comes to on a probe; a clause without one runs always. `pids` NULL:
 * they are not looked for. Takes time in proportion to the predicate; less when what the predicate
 * looks at is the same as it was in the last question about this decider. */
enum decide_verdict decide(struct decider *d, uint32_t clause, const struct decide_probe *p,
                           struct probe_pids *pids);
/* What the clause's predicate looks at of all that `struct decide_probe` can tell. */
unsigned decide_looks(const struct decider *d, uint32_t clause);

#endif
