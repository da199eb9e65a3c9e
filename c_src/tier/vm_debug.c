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
    if (arity != 1 || etf_tuple(&r) != 2)
        r.bad = true;
    etf_atom(&r, kind);
    bool room = true;
    if (strcmp(kind, "found") == 0) {
        size_t n = 0;
        const void *p = etf_binary(&r, &n);
        room = r.bad || debug_read(p, n, mem, m);
    } else {
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
