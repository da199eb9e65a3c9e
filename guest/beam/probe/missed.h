/* missed.h - counts calls that fire nothing although they may have to.
 *
 * While newly loaded code has patterns on all its functions, a function may be called that a
 * consumer is going to probe but does not know yet. Each such call is counted by function, so that
 * the exact number of missed calls can be reported when the probe is placed. So is a call of a
 * function whose probe needs a pattern that new code does not get by itself.
 *
 * DATA. A fixed table of pairs {key, count}; the key is a hash of the function's 64-bit numbers, so
 * that two functions are confused once in 2^64. A function that finds no slot in its window is
 * counted in `beyond`.
 *
 * Any thread counts; the server reads the counts. */
#ifndef ET_BEAM_PROBE_MISSED_H
#define ET_BEAM_PROBE_MISSED_H

#include <stdint.h>

/* Counts one call of a function, given by its two atoms and its arity. */
void missed_call(uint64_t m, uint64_t f, uint32_t arity);
/* Returns the calls of this function since the last query, and frees its slot. */
uint64_t missed_take(uint64_t m, uint64_t f, uint32_t arity);
/* Returns the calls that could not be counted by function, likewise. */
uint64_t missed_beyond(void);

#endif
