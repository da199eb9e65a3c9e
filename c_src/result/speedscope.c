/* speedscope.c - the reporter that writes a file for speedscope (www.speedscope.app): one JSON
 * object at the end of the trace, a "sampled" profile for each aggregation by stack.
 *
 *   {"$schema":"https://www.speedscope.app/file-format-schema.json",
 *    "shared":{"frames":[{"name":"lists:map/2","file":"lists.erl"},...]},
 *    "profiles":[{"type":"sampled","name":"@us","unit":"microseconds","startValue":0,"endValue":42,
 *                 "samples":[[0,1,2],...],"weights":[42,...]},...],
 *    "name":"erltrace","activeProfileIndex":0,"exporter":"erltrace 0.2.0"}
 *
 * A sample has the numbers of its frames, the root first; other keys are frames above the root.
 * Speedscope takes a frame's line as a part of what the frame is, and has no other place for the
 * line of a call: so that a function is one row of its tables, frames are functions.
 * Weights may not be negative: rows with a value below 0 are left out, which the profile's name
 * then says. */
#include <inttypes.h>
#include <string.h>

#include "result/profile.h"
#include "util/buftext.h"
#include "util/json.h"

struct scope {
    struct report *r;
    struct arena arena;
    struct profile_set texts, frames; /* frames: struct profile_frame */
    struct buf samples, weights;      /* of one profile */
    uint32_t *stack;                  /* of one row, the leaf first */
    size_t n, cap;
    bool oom;
};

static void push(struct scope *s, const struct profile_frame *f)
{
    if (s->n == s->cap) {
        size_t cap = s->cap > 0 ? 2 * s->cap : 128;
        void *more = et_rearray(s->stack, cap, sizeof *s->stack);
        if (more == NULL) {
            s->oom = true;
            return;
        }
        s->stack = more;
        s->cap = cap;
    }
    s->stack[s->n++] = (uint32_t)profile_number(&s->frames, f, sizeof *f, &s->oom);
}

static void push_frame(void *arg, const struct profile_frame *f)
{
    struct profile_frame function = *f;
    function.line = 0;
    push(arg, &function);
}

static void push_word(struct scope *s, const struct value *v)
{
    struct buf text = BUF_INIT;
    struct profile_frame frame = {0};
    profile_word(s->r, v, &text);
    frame.name = (uint32_t)profile_number(&s->texts, buf_str(&text), text.len, &s->oom);
    push(s, &frame);
    s->oom |= text.oom;
    buf_free(&text);
}

/* Appends a row's frames and weight. */
static void sample(struct scope *s, const struct aggr *a, const struct aggr_row *row, int64_t value)
{
    s->n = 0;
    profile_frames(s->r, a, row, &s->texts, &s->oom, push_frame, s);
    for (size_t i = a->def->keys.n; i-- > 0;)
        if (!symbol_is_stack(&row->key->key[i]))
            push_word(s, &row->key->key[i]);
    buf_adds(&s->samples, s->samples.len > 0 ? ",[" : "[");
    for (size_t i = s->n; i-- > 0;) {
        json_uint(&s->samples, s->stack[i]);
        if (i > 0)
            buf_addc(&s->samples, ',');
    }
    buf_addc(&s->samples, ']');
    if (s->weights.len > 0)
        buf_addc(&s->weights, ',');
    json_int(&s->weights, value);
}

static void profile(struct scope *s, const struct aggr *a, const struct aggr_view *view,
                    struct buf *out)
{
    const char *unit = profile_unit(a);
    struct buf name = BUF_INIT;
    uint64_t left_out = 0, total = 0;
    buf_reset(&s->samples);
    buf_reset(&s->weights);
    for (size_t i = 0; i < view->nrows; i++) {
        int64_t value = profile_value(a, view->row[i].words[0]);
        if (value < 0) {
            left_out++;
            continue;
        }
        sample(s, a, &view->row[i], value);
        total += (uint64_t)value;
    }
    buf_printf(&name, "%s%s", strcmp(a->name, "_") != 0 ? "@" : "", profile_title(a));
    if (left_out > 0)
        buf_printf(&name, " (%" PRIu64 " row%s below 0 %s left out)", left_out,
                   left_out > 1 ? "s" : "", left_out > 1 ? "are" : "is");
    buf_adds(out, "{\"type\":\"sampled\"");
    json_text_field(out, "name", buf_str(&name));
    /* Speedscope has no unit for things that are counted. */
    json_text_field(out, "unit", *unit == '\0' || strcmp(unit, "count") == 0 ? "none" : unit);
    buf_adds(out, ",\"startValue\":0");
    json_uint_field(out, "endValue", total);
    json_key(out, "samples");
    buf_printf(out, "[%s]", buf_str(&s->samples));
    json_key(out, "weights");
    buf_printf(out, "[%s]}", buf_str(&s->weights));
    s->oom |= s->samples.oom || s->weights.oom || name.oom;
    buf_free(&name);
}

static void put_frames(struct scope *s, struct buf *out)
{
    for (size_t i = 0; i < s->frames.n; i++) {
        struct profile_frame f;
        memcpy(&f, s->frames.item[i]->bytes, sizeof f);
        const struct profile_item *name = s->texts.item[f.name], *file = s->texts.item[f.file];
        buf_adds(out, i > 0 ? ",{" : "{");
        json_first_key(out, "name");
        buf_json(out, name->bytes, name->len);
        if (file->len > 0) {
            json_key(out, "file");
            buf_json(out, file->bytes, file->len);
        }
        buf_addc(out, '}');
    }
}

static enum verdict aggregations(void *arg)
{
    struct scope scope = {.r = arg}, *s = &scope;
    struct report *r = arg;
    struct aggr_order order = report_order(r->opt);
    struct buf profiles = BUF_INIT, *out = &r->line;
    arena_init(&s->arena);
    s->texts.arena = s->frames.arena = &s->arena;
    profile_number(&s->texts, "", 0, &s->oom);
    for (uint32_t i = 0; i < r->aggr->n && !s->oom; i++) {
        const struct aggr *a = &r->aggr->aggr[i];
        struct aggr_view view;
        if (!profile_keys(&a->def->keys))
            continue;
        if (aggr_view_make(&view, r->aggr, &i, 1, &order) != 0) {
            s->oom = true;
            break;
        }
        if (profiles.len > 0)
            buf_addc(&profiles, ',');
        profile(s, a, &view, &profiles);
        aggr_view_free(&view);
    }
    buf_adds(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                  "\"shared\":{\"frames\":[");
    if (!s->oom)
        put_frames(s, out);
    buf_printf(out, "]},\"profiles\":[%s],\"name\":\"erltrace\",\"activeProfileIndex\":0",
               buf_str(&profiles));
    json_text_field(out, "exporter", "erltrace " ET_VERSION);
    buf_adds(out, "}\n");
    r->oom |= s->oom || profiles.oom || out->oom;
    if (!r->oom)
        r->out.data(r->out.arg, out->data, out->len);
    buf_reset(out);
    buf_free(&profiles);
    buf_free(&s->samples);
    buf_free(&s->weights);
    et_free(s->stack);
    profile_set_free(&s->texts);
    profile_set_free(&s->frames);
    arena_free(&s->arena);
    return VERDICT_SHOW;
}

/* Records are not shown: the output is one object. */
const struct observer report_speedscope = {.aggregations = aggregations};
