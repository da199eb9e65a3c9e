/* event.h - the events of erltrace.h field by field, for encoders.
 *
 * events.list has a row for each field of each kind of event: its key, its member of the struct,
 * and the encodings that have it. An encoder asks for one field after the other and has a case for
 * each class of values. event_json encodes the JSON lines and the page's JSON; port/port_terms.c
 * encodes terms.
 *
 *   struct event_value v;
 *   for (size_t at = 0; event_next(EVENT_DROP, EVENT_LINES, d, &at, &v);)
 *       ... v.key, v.class, and the member of v that the class names
 */
#ifndef ET_EVENT_EVENT_H
#define ET_EVENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "erltrace.h"

enum event_kind {
    EVENT_RECORD, /* the start of a record: what all records of a clause on a probe share */
    EVENT_FAULT,
    EVENT_DROP,
    EVENT_COST, /* struct erltrace_stats */
    EVENT_MEMBER,
    EVENT_PROGRESS,
    EVENT_DIAGNOSTIC
};
enum event_encoding { EVENT_LINES = 1, EVENT_TERMS = 2, EVENT_PAGE = 4 };

enum event_class {
    EVENT_TEXT, /* text, length; text is NULL when there is none */
    EVENT_WORD, /* the same, for a word of erltrace's own */
    EVENT_INT,  /* number */
    EVENT_UINT, /* (uint64_t)number */
    EVENT_BOOL, /* number */
    EVENT_NULL, /* an unknown number */
    EVENT_PROBE /* probe */
};
struct event_value {
    const char *key;
    enum event_class class;
    const char *text;
    size_t length;
    int64_t number;
    const struct erltrace_probe *probe;
    char room[48]; /* of text that lies in no event */
};

/* Fills in the next field of an event that an encoding has; *at is 0 at first. Returns false when
 * there are no more. What *v points at lives as long as the event and *v. */
bool event_next(enum event_kind kind, enum event_encoding encoding, const void *event, size_t *at,
                struct event_value *v);
/* Appends all fields as members of a JSON object, whose start is in the buffer. Numbers keep all
 * digits in LINES; in PAGE those that a double cannot hold are strings. */
void event_json(struct buf *b, enum event_kind kind, enum event_encoding encoding,
                const void *event);

#endif
