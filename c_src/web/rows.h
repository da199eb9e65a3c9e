/* rows.h - what actions print, in batches: rows of the console and of the table of records.
 *
 * A row is one execution of a clause. Its text is what the library gives out from the beginning of
 * one record to that of the next; its values are those of its actions. There is a budget for each
 * second: rows beyond it are counted and not made, which costs next to nothing. */
#ifndef ET_WEB_ROWS_H
#define ET_WEB_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "erltrace.h"

enum {
    ROWS_BYTES = 1 << 20, /* of rows, a second */
    ROWS_TEXT = 64 << 10  /* of the text of one */
};

struct rows {
    uint64_t started_ns;      /* CLOCK_MONOTONIC here when the trace began */
    int64_t offset_ns;        /* of the node's clock from that */
    bool timed;               /* offset_ns is known */
    struct buf done;          /* rows that are whole */
    struct buf probes, known; /* EPIDs to be announced; all that were */
    uint8_t *announced;       /* bit set of EPIDs */
    size_t nannounced;        /* bytes of it */
    uint32_t ndone;           /* rows in `done` */
    uint64_t skipped;         /* since the last batch */
    uint64_t window_ns;       /* when the current second began */
    uint32_t window_rows;
    size_t window_bytes;
    /* The row that is open. */
    bool open, over; /* over: it is one too many */
    uint32_t epid, cpu;
    int64_t us;
    struct buf text, values;
    bool cut;
};

void rows_init(struct rows *r, uint64_t now_ns);
void rows_free(struct rows *r);
/* A record begins. */
void rows_begin(struct rows *r, const struct erltrace_record *rec, uint64_t now_ns);
/* An action of it; false: it need not be printed. */
bool rows_action(struct rows *r, const struct erltrace_data *d);
void rows_text(struct rows *r, const char *text, size_t n);
/* Closes the open row. */
void rows_close(struct rows *r);
/* The same, and what comes then is one more row of the same record; one that was too many is tried
 * again. */
void rows_split(struct rows *r, uint64_t now_ns);
/* {"type":"records",...} with what there is since the last time; false: nothing. *n: rows in it. */
bool rows_take(struct rows *r, struct buf *out, uint64_t *n);
/* The same without rows, and with every EPID that was announced: for who comes late, or was not
 * sent so many. False: there is nothing to say. */
bool rows_known(const struct rows *r, uint64_t skipped, struct buf *out);

#endif
