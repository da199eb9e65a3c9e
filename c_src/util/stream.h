/* stream.h - redirects a FILE while it is open, as D's freopen() and ftruncate() need it. The
 * descriptor keeps its number and only its file changes, so that the output of commands that are
 * run follows the program's own. */
#ifndef ET_UTIL_STREAM_H
#define ET_UTIL_STREAM_H

#include <stdio.h>

/* Redirects f to the file at path, at its end; path NULL: back to its first file. *first: -1 before
 * the first call, then a descriptor of that first file, which the caller finally closes. f must
 * have been flushed. Returns 0, or an errno value: then f is unchanged. */
int stream_redirect(FILE *f, const char *path, int *first);
/* Empties the file that f goes to; leaves terminals and pipes alone. f must have been flushed. */
void stream_truncate(FILE *f);

#endif
