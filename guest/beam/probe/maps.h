/* maps.h - the lines of /proc/PID/maps. */
#ifndef BEAM_MAPS_H
#define BEAM_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
    uint64_t from, to;  /* the addresses; from < to */
    uint64_t offset;    /* in its file, of the first byte */
    uint64_t inode;     /* of its file; 0: none */
    const char *rights; /* "r-xp": four characters of the line */
    const char *name;   /* of its file, or in brackets, to the end of the text; "": none */
};

/* Reads a line. *out points into it. Returns false when it is no such line. */
bool maps_read(const char *line, struct maps_line *out);

#endif
