/* oncpu_dirty.h - which process a dirty scheduler runs.
 *
 * A process that a dirty scheduler runs does not lead to the scheduler's record, as others do
 * (inside.h). But the thread does: the VM keeps each scheduler's record, normal or dirty, in the
 * thread's own data (pthread_getspecific), at the same KEY.
 *
 * PROOF. The key is one at which each normal scheduler that is sampled has its record. It is
 * believed once a NIF of ours on a dirty scheduler has found, by the key and by the place where a
 * normal scheduler's record has its process, the process that has called it, and that this has no
 * scheduler's record, as only there. The NIF also looks where the process has the address of the
 * three words of the function that it is in, which are then known: its CURRENT function. There must
 * be one such place.
 *
 * Keys up to KEYS are in the thread's own structure: the system's library takes no lock and
 * allocates nothing to read one. It may set another library's value to NULL that belongs to a key
 * which no longer exists, and which nobody can read: so all are read only in NIFs; the handler
 * reads the one that is proven. */
#ifndef ET_BEAM_PROBE_ONCPU_DIRTY_H
#define ET_BEAM_PROBE_ONCPU_DIRTY_H

#include <stdbool.h>
#include <stdint.h>

#include <erl_nif.h>

/* Notes the record of the normal scheduler on which the caller runs. */
void oncpu_dirty_normal(uint64_t record);

/* Whether it is proven which process a dirty scheduler runs. */
bool oncpu_dirty_is_proven(void);

enum oncpu_dirty_is {
    ONCPU_DIRTY_UNPROVEN,
    ONCPU_DIRTY_NOT, /* the thread is no scheduler's */
    ONCPU_DIRTY_FOUND
};
/* Finds the record of the dirty scheduler on which the caller runs. Its word `back` can be read.
 * memory: of /proc/self/mem. Async-signal-safe. */
enum oncpu_dirty_is oncpu_dirty_record(int memory, uint16_t back, uint64_t *record);
/* THE DATA OF OTHER THREADS. The system knows of each thread where its list of robust mutexes
 * begins (get_robust_list(2)), which the C library keeps at one place of the thread's own
 * structure, and in that, too, at one place, what the thread has at a key. Both places are those
 * that agree for all normal schedulers, whose structures (pthread_self) and records are known.
 * Nothing is asked where system calls are filtered. */
enum { ONCPU_DIRTY_WORDS = 512 }; /* of a thread's structure that are searched, more than it has */
struct oncpu_dirty_place {
    uint32_t threads; /* that have agreed so far */
    bool bad;         /* they do not */
    uint64_t list;    /* bytes from a thread's structure to the list */
    uint64_t
        words[ONCPU_DIRTY_WORDS / 64]; /* bits: words of the structure that have had the records */
};
/* Adds what a normal scheduler's thread shows. self: its pthread_self; 0: not known. Only the
 * server. memory: of /proc/self/mem. */
void oncpu_dirty_agree(struct oncpu_dirty_place *p, int memory, int tid, uint64_t self,
                       uint64_t record);
/* Finds the record of the dirty scheduler that a thread is, as oncpu_dirty_record. Only the server.
 */
enum oncpu_dirty_is oncpu_dirty_record_of(const struct oncpu_dirty_place *p, int memory,
                                          uint16_t back, int tid, uint64_t *record);
/* Returns the word of a process that leads to its current function's three words; INSIDE_NONE: not
 * known. Async-signal-safe. */
uint16_t oncpu_dirty_current(void);

/* nif_profile_dirty({M, F, A}) -> boolean(): whether it is proven which process a dirty scheduler
 *     runs. The caller's own function. Only on a dirty scheduler; nif_profile_dirty_io is the same.
 * nif_profile_proven() -> boolean() */
ERL_NIF_TERM oncpu_dirty_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
ERL_NIF_TERM oncpu_proven_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);

#endif
