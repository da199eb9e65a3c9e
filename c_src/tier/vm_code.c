/* vm_code.c - reads a node's modules and functions, as the agent lists them. */
#include <string.h>

#include "base/arena.h"
#include "etf/write.h"
#include "base/err.h"
#include "tier/vm_code.h"

enum {
    ASK_MS = 10000,  /* short requests */
    LIST_MS = 60000, /* a busy node takes a while */
    MODULES = 50     /* in one request: few enough not to occupy a scheduler of the node for long */
};

int code_modules(void *arg, struct catalog *c, struct diags *d)
{
    struct vm_agent *a = arg;
    struct etf r;
    uint32_t arity, n;
    char name[ETF_ATOM_MAX];
    int e = agent_call(a, "modules", ASK_MS, &r, &arity, d);
    if (e)
        return e;
    n = etf_list(&r);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        etf_atom(&r, name);
        if (!r.bad && !catalog_add_module(c, name))
            return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    }
    if (n)
        etf_list_end(&r);
    return r.bad || arity != 1 ? agent_malformed(a, "modules", d) : 0;
}

/* Reads [{Class, [{Name, Arity}]}]: which of n functions have a special class. */
static void read_classes(struct etf *r, struct catalog_fn *fn, uint32_t n)
{
    char name[ETF_ATOM_MAX];
    uint32_t classes = etf_list(r), k = 0;
    for (uint32_t i = 0; i < classes && !r->bad; i++) {
        if (etf_tuple(r) != 2)
            r->bad = true;
        uint64_t class = etf_uint(r);
        uint32_t members = class < PROBE_FN_CLASSES ? etf_list(r) : 0;
        for (uint32_t j = 0; j < members && !r->bad; j++) {
            if (etf_tuple(r) != 2)
                r->bad = true;
            etf_atom(r, name);
            uint64_t arity = etf_uint(r);
            /* Most come in the order of the functions, so the next is close. */
            for (uint32_t seen = 0; seen < n && !r->bad; seen++, k = k + 1 < n ? k + 1 : 0) {
                if (fn[k].arity == arity && strcmp(fn[k].name, name) == 0) {
                    fn[k].class = (enum probe_fn_class) class;
                    break;
                }
            }
        }
        if (members)
            etf_list_end(r);
        r->bad |= class >= PROBE_FN_CLASSES;
    }
    if (classes)
        etf_list_end(r);
}

/* Reads {Module, [{Name, Arity}], Classes}; names stay in `names` until the catalog has copied
 * them. */
static int read_functions(struct vm_agent *a, struct catalog *c, struct etf *r, struct arena *names,
                          struct diags *d)
{
    char name[ETF_ATOM_MAX];
    struct catalog_fn *fn;
    if (etf_tuple(r) != 3)
        r->bad = true;
    etf_atom(r, name);
    struct catalog_mod *m = r->bad ? NULL : catalog_module(c, name);
    uint32_t n = etf_list(r);
    fn = arena_alloc(names, (n + (size_t)1) * sizeof *fn);
    for (uint32_t i = 0; fn && i < n && !r->bad; i++) {
        if (etf_tuple(r) != 2)
            r->bad = true;
        size_t len = etf_atom(r, name);
        uint64_t arity = etf_uint(r);
        fn[i].name = arena_strndup(names, name, len);
        fn[i].arity = (uint32_t)arity;
        fn[i].class = PROBE_FN_ERLANG;
        if (arity > 255)
            r->bad = true;
        if (!fn[i].name)
            fn = NULL;
    }
    if (n)
        etf_list_end(r);
    if (fn && !r->bad)
        read_classes(r, fn, n);
    if (r->bad)
        return agent_malformed(a, "functions", d);
    if (!fn || (m && !catalog_set_functions(c, m, fn, n)))
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    return 0;
}

/* Fetches the functions of a few modules. */
static int fetch(struct vm_agent *a, struct catalog *c, const uint32_t *mods, size_t n,
                 struct diags *d)
{
    struct etf r;
    struct buf x = BUF_INIT;
    int64_t id;
    uint32_t arity, len;
    struct arena names;
    agent_begin(a, &x, &id);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "functions");
    etf_put_list(&x, n);
    for (size_t i = 0; i < n; i++)
        etf_put_atom(&x, c->mod[mods[i]].name);
    etf_put_nil(&x);
    int e = agent_send(a, &x, d);
    if (e == 0)
        e = agent_answer(a, id, LIST_MS, &r, &arity, d);
    if (e)
        return e;
    arena_init(&names);
    len = etf_list(&r);
    for (uint32_t i = 0; i < len && e == 0; i++)
        e = read_functions(a, c, &r, &names, d);
    arena_free(&names);
    if (len && e == 0)
        etf_list_end(&r);
    if (e == 0 && (r.bad || arity != 1))
        e = agent_malformed(a, "functions", d);
    return e;
}

int code_functions(void *arg, struct catalog *c, const uint32_t *mods, size_t n, struct diags *d)
{
    int e = 0;
    for (size_t i = 0; i < n && e == 0; i += MODULES)
        e = fetch(arg, c, mods + i, n - i < MODULES ? n - i : MODULES, d);
    return e;
}
