/* missed.h - calls that fire nothing although they may have to, counted.
 *
 * While code that was loaded a moment ago has patterns on all its functions, a call may come of one
 * that a consumer is going to probe and has not heard of yet. Each such call is counted by
 * function, so that it can be told how many were missed, exactly, when the probe is placed. So is
 * one of a function whose probe needs a pattern that new code does not get by itself.
 *
 * DATA. A fixed table of pairs {key, count}; the key is a hash of the function's 64-bit numbers, so
 * that two functions are taken for one once in 2^64. A function that finds no place in its window
 * is counted in `beyond`.
 *
 * Any thread counts; the server asks. */
#ifndef ET_BEAM_PROBE_MISSED_H
#define ET_BEAM_PROBE_MISSED_H

#include <stdint.h>

/* One call of a function, by its two atoms and its arity. */
void missed_call(uint64_t m, uint64_t f, uint32_t arity);
/* The calls of this function since this was last asked; it gives its place back. */
uint64_t missed_take(uint64_t m, uint64_t f, uint32_t arity);
/* Calls that could not be told by function, likewise. */
uint64_t missed_beyond(void);

#endif
