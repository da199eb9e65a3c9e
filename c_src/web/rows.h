/* rows.h - the output of actions, in batches: rows of the console and of the table of records.
 *
 * A row is one execution of a clause. Its text is what the library outputs from the start of one
 * record to the start of the next; its values are those of its actions. There is a budget for each
 * second: rows beyond it are counted but not made, which costs next to nothing. */
#ifndef ET_WEB_ROWS_H
#define ET_WEB_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "erltrace.h"

enum {
    ROWS_BYTES = 1 << 20, /* of rows, per second */
    ROWS_TEXT = 64 << 10  /* of the text of one row */
};

struct rows {
    uint64_t started_ns;      /* CLOCK_MONOTONIC here when the trace began */
    int64_t offset_ns;        /* of the node's clock from ours */
    bool timed;               /* offset_ns is known */
    struct buf done;          /* complete rows */
    struct buf probes, known; /* EPIDs to announce; all EPIDs announced */
    uint8_t *announced;       /* bit set of EPIDs */
    size_t nannounced;        /* bytes of it */
    uint32_t ndone;           /* rows in `done` */
    uint64_t skipped;         /* since the last batch */
    uint64_t window_ns;       /* when the current second began */
    uint32_t window_rows;
    size_t window_bytes;
    /* The open row. */
    bool open, over; /* over: it exceeds the budget */
    uint32_t epid, cpu;
    int64_t us;
    struct buf text, values;
    bool cut;
};

void rows_init(struct rows *r, uint64_t now_ns);
void rows_free(struct rows *r);
/* Starts a record. */
void rows_begin(struct rows *r, const struct erltrace_record *rec, uint64_t now_ns);
/* Handles one of its actions; returns false if it need not be printed. */
bool rows_action(struct rows *r, const struct erltrace_data *d);
void rows_text(struct rows *r, const char *text, size_t n);
/* Closes the open row. */
void rows_close(struct rows *r);
/* Closes the open row and opens another one for the same record; tries again if the row was over
 * the budget. */
void rows_split(struct rows *r, uint64_t now_ns);
/* Writes {"type":"records",...} with what has accumulated since the last call; false: nothing. *n:
 * rows in it. */
bool rows_take(struct rows *r, struct buf *out, uint64_t *n);
/* Writes the same without rows, but with every announced EPID: for a viewer that joins late, or
 * that missed `skipped` rows. Returns false if there is nothing to report. */
bool rows_known(const struct rows *r, uint64_t skipped, struct buf *out);

#endif
