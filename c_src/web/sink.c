/* sink.c - see sink.h. */
#include "web/sink.h"

#include <errno.h>

#include "util/stream.h"

int sink_redirect(struct sink *s, const char *path)
{
    FILE *file = NULL;
    if (path != NULL && (file = fopen(path, "ae")) == NULL)
        return errno;
    if (s->file != NULL)
        fclose(s->file);
    s->file = file;
    return 0;
}

bool sink_write(struct sink *s, const char *text, size_t n)
{
    if (s->file == NULL)
        return false;
    fwrite(text, 1, n, s->file); /* a full disk does not end a trace */
    return true;
}

void sink_flush(struct sink *s)
{
    if (s->file != NULL)
        fflush(s->file);
}

void sink_truncate(struct sink *s)
{
    sink_flush(s);
    if (s->file != NULL)
        stream_truncate(s->file);
}
