/* sink.h - the file that receives a trace's output after freopen(), instead of the pages. */
#ifndef ET_WEB_SINK_H
#define ET_WEB_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* All zero: output goes to pages. */
struct sink {
    FILE *file;
};

/* Appends output to that file from now on; path NULL: sends it to pages again. Returns 0, or an
 * errno value: then nothing changes. */
int sink_redirect(struct sink *s, const char *path);
/* Writes to the file, if there is one; returns false if the output is for pages. */
bool sink_write(struct sink *s, const char *text, size_t n);
/* Writes out buffered output. */
void sink_flush(struct sink *s);
/* Empties the file, if there is one: ftruncate(). */
void sink_truncate(struct sink *s);

#endif
