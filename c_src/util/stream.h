/* stream.h - a FILE that is led elsewhere while it is open, as D's freopen() and ftruncate() want
 * it. The descriptor stays the same, and only what it stands for changes: so the output of commands
 * that are run goes where the program's own goes. */
#ifndef ET_UTIL_STREAM_H
#define ET_UTIL_STREAM_H

#include <stdio.h>

/* Leads f to the file at path, at its end; path NULL: to where it went at first. *first: -1 before
 * the first time, then a descriptor of where that is, which the caller closes in the end. What f
 * holds must have been flushed. 0, or an errno value: then it goes where it went. */
int stream_redirect(FILE *f, const char *path, int *first);
/* Empties the file that f goes to; no terminal or pipe is changed. Flushed as above. */
void stream_truncate(FILE *f);

#endif
