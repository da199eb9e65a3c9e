/* units.h - times as D writes them: a number and a unit. */
#ifndef ET_UTIL_UNITS_H
#define ET_UTIL_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* Converts n of a unit to nanoseconds. Units: ns nsec us usec ms msec s sec m min h hour d day in
 * either case, or hz, which gives the period of that frequency. Returns false for an unknown unit,
 * 0 hz, or more than INT64_MAX ns. */
bool units_time(uint64_t n, const char *unit, uint64_t *ns);

#endif
