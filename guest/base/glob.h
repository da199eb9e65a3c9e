/* glob.h - shell globs: * ? [set] [!set] and \ before a character that stands for itself. */
#ifndef ET_BASE_GLOB_H
#define ET_BASE_GLOB_H

#include <stdbool.h>

/* Returns whether the whole text matches the pattern; "" as a pattern matches anything. Bounded:
 * linear in pattern times text. */
bool glob_match(const char *pattern, const char *text);
/* The same where letters of ASCII match in either case. */
bool glob_match_either(const char *pattern, const char *text);
/* Returns true if the pattern contains none of * ? [ \ and is not empty: it can match only
 * itself. */
bool glob_exact(const char *pattern);

#endif
