/* event.c - the table of events.list and the meaning of its columns. */
#include "event/event.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* -- the table --------------------------------------------------------------------------------- */

/* The struct of a kind. */
#define OF_RECORD     struct erltrace_record
#define OF_FAULT      struct erltrace_fault
#define OF_DROP       struct erltrace_drop
#define OF_COST       struct erltrace_stats
#define OF_MEMBER     struct erltrace_member
#define OF_PROGRESS   struct erltrace_progress
#define OF_DIAGNOSTIC struct erltrace_diag

/* The type of a member, by the column `as`: EVENT_AS(name, type). */
#define EVERY_AS                                                                                   \
    EVENT_AS(TEXT, const char *)                                                                   \
    EVENT_AS(MESSAGE, const char *)                                                                \
    EVENT_AS(TEXT_IF, const char *)                                                                \
    EVENT_AS(WORD, const char *)                                                                   \
    EVENT_AS(LOWER, const char *)                                                                  \
    EVENT_AS(TAG, const char *)                                                                    \
    EVENT_AS(SEVERITY, enum erltrace_severity)                                                     \
    EVENT_AS(WHY, enum erltrace_stats_kind)                                                        \
    EVENT_AS(U32, uint32_t)                                                                        \
    EVENT_AS(U64, uint64_t)                                                                        \
    EVENT_AS(I32, int)                                                                             \
    EVENT_AS(I64, int64_t)                                                                         \
    EVENT_AS(U64_IF, uint64_t)                                                                     \
    EVENT_AS(U32_OR_NULL, uint32_t)                                                                \
    EVENT_AS(I64_OR_NULL, int64_t)                                                                 \
    EVENT_AS(POSITIVE_IF, int)                                                                     \
    EVENT_AS(NATURAL_IF, int)                                                                      \
    EVENT_AS(MS, uint64_t)                                                                         \
    EVENT_AS(FLAG, int)                                                                            \
    EVENT_AS(PROBE, const struct erltrace_probe *)                                                 \
    EVENT_AS(NODE, const struct erltrace_probe *)

enum as {
#define EVENT_AS(name, type) AS_##name,
    EVERY_AS
#undef EVENT_AS
};
#define EVENT_AS(name, type) typedef type as_##name;
EVERY_AS
#undef EVENT_AS

/* A row whose member has another type does not compile. */
#define EVENT_FIELD(kind, encodings, key, as, member)                                              \
    _Static_assert(_Generic(((OF_##kind *)0)->member, as_##as : 1, default : 0),                   \
                   #kind "." #member " is no " #as);
#include "event/events.list"
#undef EVENT_FIELD

enum { LINES = EVENT_LINES, TERMS = EVENT_TERMS, PAGE = EVENT_PAGE };

static const struct field {
    uint8_t kind, encodings, as; /* enum event_kind, of event_encoding, enum as */
    uint16_t offset;
    const char *key;
} fields[] = {
#define EVENT_FIELD(kind, encodings, key, as, member)                                              \
    {EVENT_##kind, encodings, AS_##as, offsetof(OF_##kind, member), key},
#include "event/events.list"
#undef EVENT_FIELD
};

/* -- values ------------------------------------------------------------------------------------ */

static const char *const severities[] = {
    [ERLTRACE_ERROR] = "error", [ERLTRACE_WARNING] = "warning", [ERLTRACE_NOTE] = "note"};
static const char *const reasons[] = {[ERLTRACE_STATS_PERIOD] = "period",
                                      [ERLTRACE_STATS_OVERLOAD] = "overload",
                                      [ERLTRACE_STATS_TOTAL] = "total"};

static void set_text(struct event_value *v, enum event_class class, const char *s)
{
    v->class = class;
    v->text = s;
    v->length = s != NULL ? strlen(s) : 0;
}

static void set_message(struct event_value *v, const char *s)
{
    set_text(v, EVENT_TEXT, s);
    while (v->length > 0 && s[v->length - 1] == '\n')
        v->length--;
}

static void set_lower(struct event_value *v, const char *s)
{
    size_t n = 0;
    for (; s[n] != '\0' && n < sizeof v->room - 1; n++)
        v->room[n] = (char)tolower((unsigned char)s[n]);
    v->room[n] = '\0';
    set_text(v, EVENT_WORD, v->room);
}

static void set_tag(struct event_value *v, const char *s)
{
    snprintf(v->room, sizeof v->room, "DTRACEFLT_%s", s);
    set_text(v, EVENT_WORD, v->room);
}

static void set_number(struct event_value *v, enum event_class class, int64_t n)
{
    v->class = class;
    v->number = n;
}

static int64_t signed_at(const void *p, size_t size)
{
    int i;
    int64_t n;
    if (size == sizeof i)
        return memcpy(&i, p, sizeof i), i;
    return memcpy(&n, p, sizeof n), n;
}

static uint64_t unsigned_at(const void *p, size_t size)
{
    uint32_t i;
    uint64_t n;
    if (size == sizeof i)
        return memcpy(&i, p, sizeof i), i;
    return memcpy(&n, p, sizeof n), n;
}

static const char *text_at(const void *p)
{
    return *(const char *const *)p;
}

/* Computes the value of a field. Returns false when the field is omitted. */
static bool value_of(enum as as, const void *p, struct event_value *v)
{
    int64_t n;
    switch (as) {
    case AS_TEXT: set_text(v, EVENT_TEXT, text_at(p)); return true;
    case AS_TEXT_IF: set_text(v, EVENT_TEXT, text_at(p)); return v->length > 0;
    case AS_MESSAGE: set_message(v, text_at(p)); return true;
    case AS_WORD: set_text(v, EVENT_WORD, text_at(p)); return true;
    case AS_LOWER: set_lower(v, text_at(p)); return true;
    case AS_TAG: set_tag(v, text_at(p)); return true;
    case AS_SEVERITY:
        set_text(v, EVENT_WORD, severities[*(const enum erltrace_severity *)p]);
        return true;
    case AS_WHY:
        set_text(v, EVENT_WORD, reasons[*(const enum erltrace_stats_kind *)p]);
        return true;
    case AS_U32: set_number(v, EVENT_UINT, (int64_t)unsigned_at(p, 4)); return true;
    case AS_U64: set_number(v, EVENT_UINT, (int64_t)unsigned_at(p, 8)); return true;
    case AS_U64_IF: set_number(v, EVENT_UINT, (int64_t)unsigned_at(p, 8)); return v->number != 0;
    case AS_I32: set_number(v, EVENT_INT, signed_at(p, 4)); return true;
    case AS_I64: set_number(v, EVENT_INT, signed_at(p, 8)); return true;
    case AS_U32_OR_NULL:
        n = (int64_t)unsigned_at(p, 4);
        set_number(v, n != 0 ? EVENT_UINT : EVENT_NULL, n);
        return true;
    case AS_I64_OR_NULL:
        n = signed_at(p, 8);
        set_number(v, n >= 0 ? EVENT_INT : EVENT_NULL, n);
        return true;
    case AS_POSITIVE_IF: set_number(v, EVENT_INT, signed_at(p, 4)); return v->number > 0;
    case AS_NATURAL_IF: set_number(v, EVENT_INT, signed_at(p, 4)); return v->number >= 0;
    case AS_MS: set_number(v, EVENT_UINT, (int64_t)(unsigned_at(p, 8) / 1000000)); return true;
    case AS_FLAG: set_number(v, EVENT_BOOL, signed_at(p, 4) != 0); return true;
    case AS_PROBE:
        v->class = EVENT_PROBE;
        v->probe = *(const struct erltrace_probe *const *)p;
        return true;
    case AS_NODE:
        set_text(v, EVENT_TEXT, (*(const struct erltrace_probe *const *)p)->node);
        return true;
    }
    return false;
}

bool event_next(enum event_kind kind, enum event_encoding encoding, const void *event, size_t *at,
                struct event_value *v)
{
    while (*at < sizeof fields / sizeof fields[0]) {
        const struct field *f = &fields[(*at)++];
        if (f->kind != kind || (f->encodings & encoding) == 0)
            continue;
        v->key = f->key;
        if (value_of((enum as)f->as, (const char *)event + f->offset, v))
            return true;
    }
    return false;
}
