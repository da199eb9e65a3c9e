/* number.h - numbers in texts that the system writes. C's own functions for this have a name that
 * depends on the C library. All here are async-signal-safe. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number at *at, of digits of that base (10, or 16 with or without 0x), after blanks; *at
 * is then behind it. What *n cannot hold is UINT64_MAX. Returns false when there is no number, and
 * changes neither. */
bool number_read(const char **at, unsigned base, uint64_t *n);

/* Returns the text behind `words` words of a line, and behind the blanks around them. */
const char *number_skip(const char *text, unsigned words);

#endif
