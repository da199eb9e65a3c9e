/* number.h - numbers in texts of the system, without functions whose names depend on the C library.
 * Async-signal-safe. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the number at *at, of digits of that base (10, or 16 with or without 0x), after blanks; *at
 * is then behind it. What is too large is UINT64_MAX. Without one, returns false. */
bool number_read(const char **at, unsigned base, uint64_t *n);

/* Returns the text behind `words` words of a line, and behind the blanks around them. */
const char *number_skip(const char *text, unsigned words);

#endif
