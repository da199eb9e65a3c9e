/* vm_debug.c - the records of a node's modules, as their debug information has them.
 *
 * The agent sends the first bytes of a chunk of the module's file as they are. Only what the Erlang
 * compiler writes is understood (erl_abstract_code): a list of the module's forms. The bytes may
 * end in the middle of it; what comes before that is used. Nothing in them is trusted. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "etf/write.h"
#include "tier/vm_debug.h"
#include "util/buftext.h"
#include "util/render.h"

enum {
    ASK_MS = 12000, /* more than the agent allows itself */
    FIELDS = 1000,  /* most fields of a record */
    RECORDS = 2000  /* ... and records of a module */
};

/* Returns an atom in `mem`; NULL: there is none here, or no memory. */
static const char *atom(struct etf *r, struct arena *mem)
{
    char name[ETF_ATOM_MAX];
    const size_t n = etf_atom(r, name);
    return r->bad || strlen(name) != n ? NULL : arena_strndup(mem, name, n);
}

/* Reads {record_field, Anno, {atom, Anno, Name}}, with or without a default after it, or
 * {typed_record_field, Field, Type}. */
static const char *field(struct etf *r, struct arena *mem)
{
    struct etf f = *r;
    etf_skip(r);
    uint32_t arity = etf_tuple(&f);
    if (arity == 3 && etf_atom_is(&(struct etf){f.p, f.end, f.bad}, "typed_record_field")) {
        etf_skip(&f);
        arity = etf_tuple(&f);
    }
    if ((arity != 3 && arity != 4) || !etf_atom_is(&f, "record_field"))
        return NULL;
    etf_skip(&f);
    if (etf_tuple(&f) != 3 || !etf_atom_is(&f, "atom"))
        return NULL;
    etf_skip(&f);
    return atom(&f, mem);
}

/* Reads a form. Returns whether it defines a record: {attribute, Anno, record, {Name, [Field]}}, or
 * native_record, whose fields are written in the same way. */
static bool record(struct etf f, struct arena *mem, struct tier_record *out)
{
    if (etf_peek(&f) != ETF_TUPLE || etf_tuple(&f) != 4 || !etf_atom_is(&f, "attribute"))
        return false;
    etf_skip(&f);
    if (etf_peek(&f) != ETF_ATOM)
        return false;
    const bool native = etf_atom_is(&(struct etf){f.p, f.end, f.bad}, "native_record");
    if (!etf_atom_is(&f, native ? "native_record" : "record") || etf_tuple(&f) != 2)
        return false;
    out->name = atom(&f, mem);
    const uint32_t n = etf_list(&f);
    if (out->name == NULL || f.bad || n > FIELDS)
        return false;
    const char **name = arena_alloc(mem, (n + (size_t)1) * sizeof *name);
    for (out->nfields = 0; name != NULL && out->nfields < n; out->nfields++)
        if ((name[out->nfields] = field(&f, mem)) == NULL)
            return false;
    out->field = name;
    return name != NULL && !f.bad;
}

/* Reads the forms of a module up to the end of the bytes. Returns false when memory is out. */
static bool forms(struct etf *r, struct arena *mem, struct tier_module *m)
{
    struct tier_record *found = arena_alloc(mem, RECORDS * sizeof *found);
    const uint32_t n = etf_list(r);
    m->record = found;
    for (uint32_t i = 0; found != NULL && i < n && m->nrecords < RECORDS; i++) {
        const struct etf form = *r;
        etf_skip(r);
        if (r->bad)
            break;
        if (record(form, mem, &found[m->nrecords]))
            m->nrecords++;
    }
    m->cut = r->bad;
    return found != NULL;
}

bool debug_read(const void *bytes, size_t len, struct arena *mem, struct tier_module *m)
{
    struct etf r = etf_over(bytes, len);
    const char *backend;
    m->record = NULL;
    m->nrecords = 0;
    m->cut = false;
    m->why = "has no debug information that erltrace knows";
    if (etf_tuple(&r) != 3 || !etf_atom_is(&r, "debug_info_v1") ||
        (backend = atom(&r, mem)) == NULL)
        return true;
    if (strcmp(backend, "elixir_erl") == 0)
        m->why = "is written in Elixir, which keeps no definitions of records";
    if (strcmp(backend, "erl_abstract_code") != 0 || etf_tuple(&r) != 2)
        return true;
    m->why = etf_peek(&r) == ETF_LIST ? NULL : "has no debug information";
    return m->why != NULL || forms(&r, mem, m);
}

const struct tier_record *tier_record_in(const struct tier_module *m, const char *name)
{
    for (size_t i = 0; m->why == NULL && i < m->nrecords; i++)
        if (strcmp(m->record[i].name, name) == 0)
            return &m->record[i];
    return NULL;
}

bool tier_record_same(const struct tier_record *a, const struct tier_record *b)
{
    bool same = a->nfields == b->nfields;
    for (size_t i = 0; same && i < a->nfields; i++)
        same = strcmp(a->field[i], b->field[i]) == 0;
    return same;
}

/* Asks for one module. */
static int ask(struct vm_agent *a, struct arena *mem, struct tier_module *m, struct diags *d)
{
    struct buf x = BUF_INIT, why = BUF_INIT;
    struct etf r;
    int64_t id;
    uint32_t arity;
    char kind[ETF_ATOM_MAX];
    agent_begin(a, &x, &id);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "debug_info");
    etf_put_atom(&x, m->module);
    int e = agent_send(a, &x, d);
    if (e == 0)
        e = agent_answer(a, id, ASK_MS, &r, &arity, d);
    if (e)
        return e;
    const uint32_t parts = arity == 1 ? etf_tuple(&r) : 0;
    etf_atom(&r, kind);
    bool room = true;
    if (parts == 3 && strcmp(kind, "found") == 0) {
        size_t n = 0, digest = 0;
        const void *p = etf_binary(&r, &n);
        const void *md5 = etf_binary(&r, &digest);
        r.bad |= digest != sizeof m->md5;
        if (!r.bad)
            memcpy(m->md5, md5, sizeof m->md5);
        room = r.bad || debug_read(p, n, mem, m);
    } else {
        r.bad |= parts != 2;
        etf_text(&r, &why);
        m->why = arena_strndup(mem, buf_str(&why), why.len);
        room = m->why != NULL;
        buf_free(&why);
    }
    if (r.bad)
        return agent_malformed(a, "debug_info", d);
    return room ? 0 : diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
}

int debug_records(struct vm_agent *a, struct catalog *c, const char *pattern, size_t most,
                  struct tier_modules *out, struct arena *mem, struct diags *d)
{
    const char **name = arena_alloc(mem, (most + 1) * sizeof *name);
    *out = (struct tier_modules){.module = arena_alloc(mem, (most + 1) * sizeof *out->module)};
    if (name == NULL || out->module == NULL)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    int e = catalog_modules(c, pattern, name, most, &out->matched, d);
    for (; e == 0 && out->n < out->matched && out->matched <= most; out->n++) {
        struct tier_module *m = &out->module[out->n];
        *m = (struct tier_module){.module = arena_strdup(mem, name[out->n])};
        e = m->module != NULL
                ? ask(a, mem, m, d)
                : diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    }
    return e;
}

/* -- modules that were loaded again ------------------------------------------------------------ */

void debug_put_told(struct buf *x, const struct tier_told *told, const struct tier_module *of)
{
    etf_put_list(x, 1);
    etf_put_tuple(x, 3);
    etf_put_atom(x, told->module->module);
    etf_put_binary(x, of->md5, sizeof of->md5);
    etf_put_int(x, told->record);
}

/* Compares the records that are known from a module with those that it has now. Appends those that
 * are the same; warns of others. */
static void compare(const struct tier_options *opt, const struct tier_module *now, struct buf *x,
                    struct diags *d)
{
    for (size_t i = 0; i < opt->ntold; i++) {
        const struct tier_told *told = &opt->told[i];
        const struct tier_record *was = &opt->records[told->record],
                                 *is = tier_record_in(now, was->name);
        if (strcmp(told->module->module, now->module) != 0)
            continue;
        if (is != NULL && tier_record_same(was, is)) {
            debug_put_told(x, told, now);
            continue;
        }
        const bool known = now->why == NULL && !now->cut;
        diag_add(d, DIAG_WARNING, NULL, NULL,
                 "start the trace again, or define the record in the program",
                 known ? "the module %s was loaded again with another record %s, whose fields "
                         "cannot be read any more"
                       : "the module %s was loaded again, and cannot tell what its record %s is "
                         "now: the fields cannot be read any more",
                 now->module, was->name);
    }
}

int debug_again(struct vm_agent *a, const struct tier_options *opt, const struct buf *names,
                struct diags *d)
{
    struct arena mem;
    struct buf x = BUF_INIT;
    struct etf r;
    int64_t id;
    uint32_t arity;
    int e = 0;
    struct buf same = BUF_INIT;
    arena_init(&mem);
    for (size_t at = 0; e == 0 && at < names->len; at += strlen(names->data + at) + 1) {
        struct tier_module now = {.module = names->data + at};
        e = ask(a, &mem, &now, d);
        if (e == 0)
            compare(opt, &now, &same, d);
    }
    arena_free(&mem);
    if (e == 0 && (same.len > 0 || same.oom)) {
        agent_begin(a, &x, &id);
        etf_put_tuple(&x, 2);
        etf_put_atom(&x, "records");
        buf_add(&x, same.data, same.len);
        etf_put_nil(&x);
        x.oom |= same.oom;
        e = agent_send(a, &x, d);
        if (e == 0)
            e = agent_answer(a, id, ASK_MS, &r, &arity, d);
    }
    buf_free(&same);
    return e;
}
