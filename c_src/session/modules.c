/* modules.c - asks the nodes for records that no program defines.
 *
 * Modules may have different records of one name. So each clause gets the records of the modules
 * that its probes name. All of these, in all nodes, must agree on a record that they know. */
#include <string.h>

#include "base/err.h"
#include "session/session.h"
#include "util/buftext.h"
#include "util/render.h"

enum {
    MODULES = 32, /* most that are asked for one description */
    SHOWN = 10    /* names in a message */
};

/* What is known of the modules that match a pattern in one node. */
struct session_modules {
    struct session_modules *next;
    const struct tier *tier;
    const char *pattern;
    struct tier_modules found;
};

/* The search for one record. */
struct search {
    struct session *s;
    const struct compile_field *field;
    const struct tier_record *record; /* NULL: not found so far */
    const struct tier_module *in;     /* the module and the node that know it */
    struct tier *on;
    const struct tier_module *not_in; /* the first module that cannot tell, or does not know it */
    const char *first;                /* the first pattern */
    struct tier *where;               /* the node of not_in, or the last one asked */
    size_t asked, matched;            /* modules */
    bool refused;                     /* an error has been reported */
};

static const char *node_of(struct tier *t)
{
    return t->ops->target(t);
}

/* Returns the record as D defines it. */
static const char *definition(struct session *s, const char *name, const struct tier_record *r)
{
    struct buf *b = &s->text;
    buf_reset(b);
    buf_printf(b, "record %s { ", name);
    for (size_t i = 0; r != NULL && i < r->nfields; i++)
        buf_printf(b, "%s%s", i > 0 ? ", " : "", r->field[i]);
    buf_adds(b, " };");
    return b->oom ? "" : buf_str(b);
}

static bool report(struct search *q, const char *hint, const char *tag, const char *text)
{
    q->refused = true;
    diag_error(&q->s->diags, ET_ECOMPILE, &q->field->pos, tag, hint, "%s", text);
    return false;
}

/* Looks into one module. Returns false after an error. */
static bool look(struct search *q, struct tier *t, const struct tier_module *m)
{
    struct session *s = q->s;
    const struct tier_record *r = tier_record_in(m, q->field->record);
    q->asked++;
    if (r == NULL) {
        /* A module that cannot tell says more than one that does not know. */
        if (q->not_in == NULL || (q->not_in->why == NULL && m->why != NULL)) {
            q->not_in = m;
            q->where = t;
        }
        return true;
    }
    if (q->record == NULL) {
        q->record = r;
        q->in = m;
        q->on = t;
        return true;
    }
    if (tier_record_same(q->record, r))
        return true;
    bool nodes = t != q->on;
    const char *text =
        arena_printf(&s->arena, "the record %s is not the same in the modules %s%s%s and %s%s%s",
                     r->name, q->in->module, nodes ? " of " : "", nodes ? node_of(q->on) : "",
                     m->module, nodes ? " of " : "", nodes ? node_of(t) : "");
    const char *hint = arena_printf(&s->arena, "name one module in the probe, or define it: %s",
                                    definition(s, r->name, r));
    return report(q, hint, "D_RECORD_DIFFERS", text != NULL ? text : "out of memory");
}

/* Returns what a node knows of the modules that match; NULL after an error. */
static const struct tier_modules *known(struct session *s, struct tier *t, const char *pattern)
{
    struct session_modules *k = s->modules;
    while (k != NULL && !(k->tier == t && strcmp(k->pattern, pattern) == 0))
        k = k->next;
    if (k != NULL)
        return &k->found;
    k = arena_alloc(&s->arena, sizeof *k);
    if (k == NULL) {
        session_no_memory(s);
        return NULL;
    }
    *k = (struct session_modules){.tier = t, .pattern = pattern};
    if (t->ops->records(t, pattern, MODULES, &k->found, &s->arena, &s->diags) != 0)
        return NULL;
    k->next = s->modules;
    s->modules = k;
    return &k->found;
}

static bool look_in(struct search *q, struct tier *t, const char *pattern)
{
    const struct tier_modules *m = known(q->s, t, pattern);
    q->where = q->where != NULL ? q->where : t;
    q->refused |= m == NULL;
    if (m == NULL)
        return false;
    q->matched += m->matched;
    for (size_t i = 0; i < m->n; i++)
        if (!look(q, t, &m->module[i]))
            return false;
    return true;
}

/* Returns the records of a module in words: ", which has order, customer". */
static const char *others(struct session *s, const struct tier_module *m)
{
    struct buf *b = &s->text;
    buf_reset(b);
    for (size_t i = 0; i < m->nrecords && i < SHOWN; i++)
        buf_printf(b, "%s%s", i > 0 ? ", " : ", which has ", m->record[i].name);
    buf_adds(b, m->nrecords > SHOWN ? " ..." : "");
    return b->oom ? "" : buf_str(b);
}

/* Reports a record that no module knows. */
static bool unknown(struct search *q)
{
    struct session *s = q->s;
    const struct compile_field *f = q->field;
    const struct tier_module *m = q->not_in;
    const char *hint = arena_printf(&s->arena, "define it: record %s { %s, ... };", f->record,
                                    f->field),
               *text;
    if (q->first == NULL || q->where == NULL) {
        text = arena_printf(&s->arena, "the record %s is not defined", f->record);
    } else if (q->matched > q->asked) {
        text = arena_printf(&s->arena,
                            "the record %s is not defined, and the probe names too many modules to "
                            "look for it: %zu, where %d are examined",
                            f->record, q->matched, (int)MODULES);
    } else if (m == NULL) {
        text = arena_printf(&s->arena,
                            "the record %s is not defined, and %s has no module %s to tell what it "
                            "is",
                            f->record, node_of(q->where), q->first);
    } else if (m->why != NULL || m->cut) {
        text = arena_printf(
            &s->arena, "the record %s is not defined, and the module %s %s", f->record, m->module,
            m->why != NULL ? m->why : "has more debug information than is examined");
    } else {
        const char *names[SHOWN * 10];
        size_t n = 0;
        for (; n < m->nrecords && n < sizeof names / sizeof *names; n++)
            names[n] = m->record[n].name;
        const char *near = diag_nearest(f->record, names, n);
        if (near != NULL)
            hint = arena_printf(&s->arena, "did you mean '%s'?", near);
        text =
            arena_printf(&s->arena, "the record %s is not defined, and unknown to the module %s%s",
                         f->record, m->module, others(s, m));
    }
    return report(q, hint, "D_RECORD_UNDEF", text != NULL ? text : "out of memory");
}

static bool ask(void *arg, const struct compile_field *f, struct compile_record *told)
{
    struct search q = {.s = arg, .field = f};
    for (size_t i = 0; i < f->nmodules; i++) {
        if (f->module[i][0] == '\0')
            continue;
        q.first = q.first != NULL ? q.first : f->module[i];
        for (size_t k = 0; k < q.s->ntiers; k++) {
            struct tier *t = q.s->tier[k].t;
            if (t->ops->records != NULL && !look_in(&q, t, f->module[i]))
                return false;
        }
    }
    if (q.refused)
        return false;
    if (q.record == NULL)
        return unknown(&q);
    *told = (struct compile_record){
        .name = q.record->name, .field = q.record->field, .nfields = q.record->nfields};
    return true;
}

/* Appends the records of the image that are known from this module; out NULL: counts them. */
static size_t told_by(const struct session *s, const struct tier_module *m, struct tier_told *out)
{
    size_t n = 0;
    for (uint32_t r = 0; r < s->nrecords; r++) {
        const struct tier_record *in = tier_record_in(m, s->record[r].name);
        if (s->record[r].in_d || in == NULL || !tier_record_same(in, &s->record[r]))
            continue;
        if (out != NULL)
            out[n] = (struct tier_told){m, r};
        n++;
    }
    return n;
}

static size_t told_on(const struct session *s, const struct tier *t, struct tier_told *out)
{
    size_t n = 0;
    for (const struct session_modules *k = s->modules; k != NULL; k = k->next)
        for (size_t i = 0; k->tier == t && i < k->found.n; i++)
            n += told_by(s, &k->found.module[i], out != NULL ? out + n : NULL);
    return n;
}

int session_told(struct session *s, const struct tier *t, const struct tier_told **told, size_t *n)
{
    *n = told_on(s, t, NULL);
    struct tier_told *list = arena_alloc(&s->arena, (*n + 1) * sizeof *list);
    if (list == NULL)
        return session_no_memory(s);
    told_on(s, t, list);
    *told = list;
    return 0;
}

bool session_asks(const struct session *s)
{
    return s->compile != NULL && compile_asks(s->compile);
}

int session_records(struct session *s)
{
    return compile_fields(s->compile, ask, s);
}
