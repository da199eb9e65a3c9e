/* event_json.c - events as members of JSON objects, for the lines of --json and for the page. */
#include "event/event.h"
#include "util/buftext.h"
#include "util/json.h"

static void put_probe(struct buf *b, const struct erltrace_probe *p)
{
    buf_addc(b, '{');
    json_first_key(b, "id");
    json_uint(b, p->id);
    json_text_field(b, "provider", p->provider);
    json_text_field(b, "module", p->module);
    json_text_field(b, "function", p->function);
    json_text_field(b, "name", p->name);
    buf_addc(b, '}');
}

static void put_value(struct buf *b, const struct event_value *v, bool exact)
{
    switch (v->class) {
    case EVENT_TEXT:
    case EVENT_WORD:
        if (v->text == NULL)
            buf_adds(b, "null");
        else
            buf_json(b, v->text, v->length);
        break;
    case EVENT_INT: (exact ? json_int : json_safe_int)(b, v->number); break;
    case EVENT_UINT: (exact ? json_uint : json_safe_uint)(b, (uint64_t)v->number); break;
    case EVENT_BOOL: buf_adds(b, v->number ? "true" : "false"); break;
    case EVENT_NULL: buf_adds(b, "null"); break;
    case EVENT_PROBE: put_probe(b, v->probe); break;
    }
}

void event_json(struct buf *b, enum event_kind kind, enum event_encoding encoding,
                const void *event)
{
    struct event_value v;
    for (size_t at = 0; event_next(kind, encoding, event, &at, &v);) {
        bool first = b->len > 0 && b->data[b->len - 1] == '{';
        (first ? json_first_key : json_key)(b, v.key);
        put_value(b, &v, encoding == EVENT_LINES);
    }
}
