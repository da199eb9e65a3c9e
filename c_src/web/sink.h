/* sink.h - the file that a trace's output goes to after freopen(), instead of to pages. */
#ifndef ET_WEB_SINK_H
#define ET_WEB_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All zero: output goes to pages. */
struct sink {
    FILE *file;
};

/* From now on to the end of that file; path NULL: to pages again. 0, or an errno value: then it
 * goes where it went. */
int sink_redirect(struct sink *s, const char *path);
/* Writes, if there is a file; false: the output is for pages. */
bool sink_write(struct sink *s, const char *text, size_t n);
/* Writes out what is held. */
void sink_flush(struct sink *s);
/* Empties the file, if there is one: ftruncate(). */
void sink_truncate(struct sink *s);

#endif
