/* members.h - which nodes of a cluster a trace has, and which one it attaches next.
 *
 * A pure state machine: whoever drives it brings what nodes have said, what became of each attempt,
 * and the time, in nanoseconds of a clock that never goes back and has begun after 0. It has no
 * clock, no socket and no thread, so that a test can drive a thousand nodes in virtual time.
 *
 *     heard ---> WAITING ---next---> PLACING ---placed---> TRACED
 *                   ^                   |                     |
 *                   +------failed-------+---------lost--------+
 *
 * What always holds:
 *  * A member is in one state, and at most members_width are PLACING: placing patterns stops a
 *    node's schedulers, so that only a part of the cluster is affected at any moment.
 *  * Whatever nodes say only adds members. That one has gone is known by its own connection alone:
 *    in a cluster that is cut, each side says that the other has gone.
 *  * A member that failed or was lost is attached again when a node says after that that it is
 *    there, and not before a pause is over, which grows with each time (before OTP 27 each load of
 *    the agent costs a node memory for ever).
 *  * Each attempt has a number. What is said of any but the latest changes nothing. */
#ifndef ET_CLUSTER_MEMBERS_H
#define ET_CLUSTER_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "util/table.h"

enum {
    MEMBERS_MOST = 4096, /* further names are counted, and left out */
    MEMBER_NAME = 255    /* bytes of a name, at most, as in the VM */
};
#define MEMBER_SECOND UINT64_C(1000000000)
#define MEMBER_RECENT (5 * MEMBER_SECOND)   /* since when a node that counts was named, at most */
#define MEMBER_FIRST  (1 * MEMBER_SECOND)   /* the first pause, which doubles */
#define MEMBER_LAST   (300 * MEMBER_SECOND) /* the longest one */
#define MEMBER_STEADY (600 * MEMBER_SECOND) /* traced for so long, the next pause is the first */

enum member_state { MEMBER_WAITING, MEMBER_PLACING, MEMBER_TRACED };

struct member {
    const char *name; /* in the arena */
    enum member_state state;
    uint32_t attempt; /* the number of the latest one; 0: there was none */
    uint64_t since;   /* when this state began */
    uint64_t heard;   /* when a node last said that it is there; 0: not since it was lost */
    uint64_t due;     /* WAITING: no attempt before this */
    uint64_t pause;   /* the next one; 0: the first */
};

struct members {
    struct arena arena;
    struct hash index; /* names -> number + 1 */
    struct member *list;
    size_t n, cap;
    size_t placing, traced; /* the number in this state */
    size_t at;              /* where the next search begins, so that all have their turn */
    uint64_t left_out;      /* names for which there was no room, or that are none */
};

void members_init(struct members *m);
void members_free(struct members *m);

/* A node says that this node is in the cluster. Names that cannot be one are counted, as are those
 * of more than MEMBERS_MOST. Returns 0 or ET_ENOMEM. */
int members_heard(struct members *m, const char *name, uint64_t now);
/* Returns the number of members that may be PLACING at once: one of eight, and one in a cluster of
 * fewer than sixteen. A member that no node has named for MEMBER_RECENT counts only while it is
 * PLACING or TRACED. */
size_t members_width(const struct members *m, uint64_t now);
/* Chooses a member whose turn it is, which becomes PLACING; *attempt is the number to come back
 * with. Returns false when there is none now. */
bool members_next(struct members *m, uint64_t now, size_t *which, uint32_t *attempt);
/* These tell what became of an attempt, or later of a member that is TRACED. Each returns false,
 * and changes nothing, if the attempt is not the latest or not in the state for this. `final`: the
 * next attempt would fail as well, as far as can be known, and has the longest pause. */
bool members_placed(struct members *m, size_t which, uint32_t attempt, uint64_t now);
bool members_failed(struct members *m, size_t which, uint32_t attempt, bool final, uint64_t now);
bool members_lost(struct members *m, size_t which, uint32_t attempt, uint64_t now);

#endif
