/* check_args.c - args[N]: the typed arguments of a clause's probes (language.md 5.1).
 *
 * The arguments of probes are known from provider definitions in the program's text and from the
 * tables of the erlang provider; probes of dtrace and profile have none. If a description can match
 * several probes, their arguments must be identical, because a clause has one type for args[0].
 * Matching against existing probes happens after compilation; this file only considers which known
 * probes a description could mean. */
#include "lang/check.h"
#include "base/glob.h"
#include "lang/provider.h"
#include "probe/probe.h"
#include "util/render.h"

#include <string.h>

enum { NATIVE_MAX = 10 }; /* arg0 .. arg9 */

/* The arguments of the matches so far. */
struct found {
    const struct lang_probe *probe; /* NULL: nothing matched */
    bool differ;
    uint32_t vague; /* bit set of arguments whose forms differ */
};

static bool same_form(const struct probe_arg *a, const struct probe_arg *b)
{
    return a && b && a->form == b->form && a->stands == b->stands;
}

static bool same(const struct lang_probe *a, const struct lang_probe *b)
{
    if (a->nargs != b->nargs)
        return false;
    for (uint32_t i = 0; i < a->nargs; i++) {
        const struct lang_probe_arg *x = &a->arg[i], *y = &b->arg[i];
        if (x->native != y->native || !type_same(x->type, y->type) ||
            !type_same(a->native[x->native].type, b->native[y->native].type))
            return false;
    }
    return true;
}

static void add(struct found *f, const struct lang_probe *p)
{
    if (!f->probe)
        f->probe = p;
    else if (!same(f->probe, p))
        f->differ = true;
    for (uint32_t i = 0; i < NATIVE_MAX && i < p->nnative && i < f->probe->nnative; i++)
        if (!same_form(f->probe->native[i].row, p->native[i].row))
            f->vague |= 1u << i;
}

/* Returns the type that the erlang provider's tables write as "char *" or "uint32_t". */
static const struct type *table_type(struct lang *l, const char *text)
{
    size_t n = strcspn(text, " *");
    const struct type *t = type_typedef(text, n);
    for (size_t i = 0; !t && i < T_ERROR; i++) {
        if (strlen(type_c[i].name) == n && memcmp(type_c[i].name, text, n) == 0)
            t = &type_c[i];
    }
    return t && strchr(text, '*') ? type_pointer(l, t) : t;
}

static struct lang_probe *from_table(struct lang *l, const struct probe_def *def)
{
    struct lang_probe *p = lang_alloc(l, sizeof *p);
    p->provider = "erlang";
    p->name = p->ident = def->name;
    p->native = lang_alloc(l, NATIVE_MAX * sizeof *p->native);
    p->arg = lang_alloc(l, NATIVE_MAX * sizeof *p->arg);
    for (uint32_t i = 0; i < NATIVE_MAX && def->arg[i].type; i++) {
        const struct type *t = table_type(l, def->arg[i].type);
        p->native[i] = (struct lang_native){def->arg[i].name, t, &def->arg[i]};
        p->arg[i] = (struct lang_probe_arg){i, table_type(l, probe_args_type(def, i))};
        p->nnative = p->nargs = i + 1;
    }
    return p;
}

/* Matches probes without module and function. */
static bool matches_named(const struct lang_desc *d, const char *name)
{
    return glob_match(d->mod, "") && glob_match(d->func, "") && glob_match(d->name, name);
}

static bool means(const struct lang_desc *d, const struct probe_def *def)
{
    return def->mod
               ? probe_any_name(def, d->mod, d->func, d->name)
               : glob_match(d->mod, "") && glob_match(d->func, "") && probe_matches(def, d->name);
}

static void look_at_erlang(struct lang *l, const struct lang_desc *d, struct found *f)
{
    const struct probe_def *def = NULL, *any = probe_erlang_kind(PROBE_USER);
    unsigned kinds = probe_fn_match(d->name);
    if (!probe_means_provider(d->prov, "erlang"))
        return;
    while ((def = probe_erlang_next(def)) != NULL) {
        if (means(d, def))
            add(f, from_table(l, def));
    }
    if (!f->probe && glob_exact(d->name) && (def = probe_erlang_lacking(d->name)) != NULL)
        add(f, from_table(l, def));
    if (strcmp(d->mod, any->mod) == 0 && strcmp(d->func, any->func) == 0)
        return; /* this provider has no function probes */
    for (int k = PROBE_FN_ENTRY; k < PROBE_FN_END; k++) {
        if (kinds & 1u << (k - PROBE_FN_ENTRY))
            add(f, from_table(l, probe_fn_def((enum probe_kind)k)));
    }
}

static const struct lang_probe none = {.name = ""};

/* The probes of dtrace and profile have no typed arguments, but for wall-N. */
static void look_at_untyped(struct lang *l, const struct lang_desc *d, struct found *f)
{
    static const char *const names[][2] = {{"dtrace", "BEGIN"},
                                           {"dtrace", "END"},
                                           {"dtrace", "ERROR"},
                                           {"profile", "tick-1"},
                                           {"profile", "profile-1"}};
    const bool wall = probe_is_wall(d->name);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (glob_match(d->prov, names[i][0]) && matches_named(d, names[i][1]))
            add(f, &none);
    }
    if ((wall || probe_is_interval(d->name)) && glob_match(d->prov, "profile"))
        add(f, wall ? from_table(l, probe_wall_def()) : &none);
}

static void look_at_definitions(const struct lang *l, const struct lang_desc *d, struct found *f)
{
    for (const struct lang_provider *v = l->providers; v; v = v->next) {
        if (!probe_means_provider(d->prov, v->name))
            continue;
        for (const struct lang_probe *p = v->probes; p; p = p->next) {
            if (glob_match(d->name, p->name))
                add(f, p);
        }
    }
}

/* The arguments of the kernel's probes, as it tells them. */
struct kernel_walk {
    struct lang *l;
    struct found found;
};

/* Returns the type that a table of the kernel's writes as "pid_t" or "lwpsinfo_t *". */
static const struct type *kernel_type(struct lang *l, const char *text)
{
    const size_t n = strcspn(text, " *"), tag = sizeof "struct " - 1;
    const struct type *t = table_type(l, text);
    if (strncmp(text, "struct ", tag) == 0) {
        const char *name = lang_strndup(l, text + tag, strcspn(text + tag, " *"));
        t = foreign_named(l, FOREIGN_STRUCT, name);
        return t && strchr(text, '*') ? type_pointer(l, t) : t;
    }
    if (!t && (t = typedef_find(l, text, n)) != NULL && strchr(text, '*'))
        t = type_pointer(l, t);
    return t;
}

static const struct type *native_type(struct lang *l, const struct foreign_arg *a)
{
    const struct type *t = a->type ? kernel_type(l, a->type) : foreign_type(l, a->number);
    if (t && t->kind == TYPE_VOID && !a->pointed)
        t = NULL;
    if (!t)
        return type_typedef("int64_t", 7);
    return a->pointed && !a->type ? type_pointer(l, t) : t;
}

static bool of_kernel(void *arg, const char *prov, const char *name, const struct foreign_arg *a,
                      size_t n)
{
    struct kernel_walk *w = arg;
    struct lang *l = w->l;
    struct lang_probe *p = lang_alloc(l, sizeof *p);
    p->provider = prov;
    p->name = p->ident = name;
    p->native = lang_alloc(l, (n + 1) * sizeof *p->native);
    p->arg = lang_alloc(l, (n + 1) * sizeof *p->arg);
    p->nnative = p->nargs = (uint32_t)n;
    for (uint32_t i = 0; i < n; i++) {
        const struct type *native = native_type(l, &a[i]);
        const struct type *as = a[i].as ? kernel_type(l, a[i].as) : NULL;
        p->native[i] = (struct lang_native){.name = a[i].name, .type = native};
        p->arg[i] = (struct lang_probe_arg){i, as ? as : native};
    }
    add(&w->found, p);
    return !w->found.differ;
}

static void look_at_kernel(struct lang *l, const struct lang_desc *d, struct found *f)
{
    struct lang_desc *known = (struct lang_desc *)(uintptr_t)d; /* only what was asked is noted */
    const struct foreign *k = !probe_means_provider(d->prov, "erlang") ? foreign_of(l) : NULL;
    struct kernel_walk w = {l, {NULL, false, 0}};
    const struct probe_spec spec = {d->prov, d->mod, d->func, d->name, 0};
    if (k && !d->kernel_asked) {
        k->probes(k->arg, &spec, of_kernel, &w);
        known->kernel = w.found.probe;
        known->kernel_differ = w.found.differ;
        known->kernel_asked = true;
    }
    if (d->kernel)
        add(f, d->kernel);
    f->differ |= d->kernel_differ;
}

static const char *desc_text(struct lang *l, const struct lang_desc *d)
{
    return d->id ? lang_printf(l, "%u", d->id)
                 : lang_printf(l, "%s:%s:%s:%s", d->prov, d->mod, d->func, d->name);
}

static void find_probes(struct lang *l, const struct lang_desc *d, struct found *f)
{
    if (d->id >= 1 && d->id <= 3) {
        add(f, &none);
    } else if (d->id == 0) {
        look_at_untyped(l, d, f);
        look_at_definitions(l, d, f);
        look_at_erlang(l, d, f);
        look_at_kernel(l, d, f);
    }
}

const struct probe_arg *check_argument(struct lang *l, const struct node *n, const struct type **t)
{
    static const struct probe_arg any = {.form = PROBE_FORM_ANY};
    struct found f = {NULL, false, 0};
    if (n->kind != N_ARG || !l->desc || l->library)
        return NULL;
    for (const struct lang_desc *d = l->desc; d; d = d->next)
        find_probes(l, d, &f);
    if (!f.probe || f.differ || n->num >= f.probe->nnative || n->num >= NATIVE_MAX)
        return NULL;
    const struct lang_native *a = &f.probe->native[n->num];
    *t = a->type;
    return a->row && (f.vague & 1u << n->num) == 0 ? a->row : &any;
}

/* Returns the probe whose arguments the clause has; NULL after reporting an error. */
static const struct lang_probe *probe_of(struct lang *l, const struct node *n)
{
    const struct lang_desc *d = l->desc;
    struct found f = {NULL, false, 0};
    if (!d) {
        lang_err(l, &n->pos, "D_ARGS_NONE", NULL,
                 "args[ ] may not be referenced outside of a clause");
        return NULL;
    }
    find_probes(l, d, &f);
    if (!f.probe)
        lang_err(
            l, &n->pos, "D_ARGS_TYPE",
            l->foreign_lack ? l->foreign_lack : "arg0 to arg9 are the untyped arguments",
            "failed to resolve the types of args[ ]: the arguments of the probes of %s are unknown",
            desc_text(l, d));
    else if (f.differ)
        lang_err(l, &n->pos, "D_ARGS_MULTI", "name the probe, or use arg0 to arg9",
                 "args[ ] may not be referenced because probe description %s matches an unstable "
                 "set of probes",
                 desc_text(l, d));
    return f.differ ? NULL : f.probe;
}

#define FUNCTION_TERMS                                                                             \
    "; the function's own arguments are argv[0], argv[1] and so on, its result is retval"

/* Returns NULL if the probe is not a function probe. */
static const struct probe_def *function_probe(const struct lang_probe *p)
{
    for (int k = PROBE_FN_ENTRY; k < PROBE_FN_END; k++)
        if (p->provider && strcmp(p->provider, "erlang") == 0 &&
            strcmp(p->name, probe_fn_name((enum probe_kind)k)) == 0)
            return probe_fn_def((enum probe_kind)k);
    return NULL;
}

void check_arg_is_passed(struct lang *l, const struct node *n)
{
    struct found f = {0};
    if (!l->desc || l->library)
        return;
    find_probes(l, l->desc, &f);
    if (!f.probe || f.differ || f.probe->nnative == 0)
        return;
    const struct probe_def *function = function_probe(f.probe);
    unsigned passed = f.probe->nnative + (function ? function->untyped : 0);
    if (n->num < passed)
        return;
    diag_add(l->diags, DIAG_WARNING, &n->pos, "",
             passed == 1 ? "it has only arg0"
                         : lang_printf(l, "it has arg0 to arg%u%s", passed - 1,
                                       function ? FUNCTION_TERMS : ""),
             "no probe of %s passes an arg%u; it is 0", desc_text(l, l->desc), (unsigned)n->num);
}

/* Turns n into argN cast to its type, then translated if the provider says so. */
static const struct type *typed(struct lang *l, struct node *n, const struct lang_probe *p,
                                const struct lang_probe_arg *a)
{
    const struct type *native = p->native[a->native].type;
    struct node *arg = node_new(l, N_ARG, &n->pos), *top = node_new(l, N_CAST, &n->pos);
    arg->num = a->native;
    arg->type = type_typedef("int64_t", 7);
    top->kid[0] = arg;
    top->cast = native;
    if (type_same(native, arg->type)) {
        top = arg;
    } else if (type_is_sou(native)) {
        lang_err(l, &n->pos, "D_ARGS_TYPE", NULL, "args[%u] is a %s, which no probe can pass",
                 (unsigned)(a - p->arg), native->name);
        return check_bad(n);
    }
    node_done(l, top);
    if (!check_translates(l, native, a->type)) { /* there was one when the probe was defined */
        lang_err(l, &n->pos, "D_ARGS_XLATOR", NULL,
                 "there is no translator for args[%u] from \"%s\" to \"%s\"",
                 (unsigned)(a - p->arg), native->name, a->type->name);
        return check_bad(n);
    }
    if (!type_same(native, a->type)) {
        struct node *to = node_new(l, check_fits(a->type, native) ? N_CAST : N_XLATE, &n->pos);
        to->cast = a->type;
        to->kid[0] = top;
        top = node_done(l, to);
    }
    check_replace(n, top);
    return check_expr(l, n);
}

const struct type *check_args_element(struct lang *l, struct node *n)
{
    struct node *at = n->args;
    const struct lang_probe *p = probe_of(l, n);
    if (!p || type_is_error(check_expr(l, at)))
        return check_bad(n);
    if (at->next) {
        lang_err(l, &n->pos, "D_PROTO_LEN", NULL,
                 "args[ ] prototype mismatch: %u args passed, 1 expected", check_count(at));
        return check_bad(n);
    }
    if (at->kind != N_INT) {
        lang_err(l, &at->pos, "D_PROTO_ARG", NULL,
                 "args[ ] argument #1 is incompatible with prototype: integer constant expected");
        return check_bad(n);
    }
    if (at->num >= p->nargs || p->arg[at->num].native >= NATIVE_MAX) {
        const char *function = function_probe(p) ? FUNCTION_TERMS : "";
        const char *has =
            p->nargs > 0 ? lang_printf(l, "it has args[0] to args[%u]%s", p->nargs - 1, function)
                         : "it has no typed arguments; arg0 to arg9 are untyped";
        lang_err(l, &at->pos, "D_ARGS_IDX", p->nargs == 1 ? "it has args[0]" : has,
                 "index %lld is out of range for %s args[ ]", (long long)at->num,
                 desc_text(l, l->desc));
        return check_bad(n);
    }
    lang_uses(l, &n->pos, "args", lang_provider_attr(l, p->provider, PART_ARGS));
    return typed(l, n, p, &p->arg[at->num]);
}

/* -- usdt() ------------------------------------------------------------------------------------ */

/* Returns the arguments of the clause's probe, as many as are known: terms as texts. */
static struct node *event_arguments(struct lang *l, const struct node *n, const struct found *f)
{
    struct node *list = NULL, **tail = &list;
    const bool known = f->probe && !f->differ;
    for (uint32_t i = 0; i < NATIVE_MAX && (!known || i < f->probe->nnative); i++) {
        struct node *a = node_new(l, N_ARG, &n->pos);
        a->num = i;
        a->type = type_typedef("int64_t", 7);
        node_done(l, a);
        if (known && type_is_term(f->probe->native[i].type)) {
            typed(l, a, f->probe, &f->probe->arg[i]);
            check_as_text(l, a, false);
        }
        *tail = a;
        tail = &a->next;
    }
    return list;
}

/* Makes usdt(...) of a call to it: without arguments the subroutine says whether a tool watches, so
 * that nothing is computed for none. */
const struct type *check_usdt(struct lang *l, struct node *n)
{
    struct found f = {0};
    struct node *no = node_new(l, N_INT, &n->pos);
    struct node *watched = node_new(l, N_CALL, &n->pos), *call = node_new(l, N_CALL, &n->pos);
    for (const struct lang_desc *d = l->library ? NULL : l->desc; d; d = d->next)
        find_probes(l, d, &f);
    if (f.probe == &none && !f.differ) {
        lang_err(l, &n->pos, "D_USDT_PROBE", "the probes of the provider erlang have them",
                 "%s has no USDT probe that usdt( ) could fire", desc_text(l, l->desc));
        return check_bad(n);
    }
    struct node *args = n->args ? n->args : event_arguments(l, n, &f);
    check_make_call(l, call, DIF_SUBR_usdt, n->name, args, T_INT);
    check_make_call(l, watched, DIF_SUBR_usdt, n->name, NULL, T_INT);
    call->post = watched->post = true;
    node_set_int(no, 0, &type_c[T_INT]);
    struct node cond = {.kind = N_COND, .pos = n->pos, .kid = {watched, call, node_done(l, no)}};
    check_replace(n, &cond);
    n->type = &type_c[T_INT];
    node_done(l, n);
    return n->type;
}

/* -- clauses with several descriptions --------------------------------------------------------- */

static bool names_args(const struct node *n)
{
    if (n->kind == N_IDENT && n->scope == SCOPE_GLOBAL && strcmp(n->name, "args") == 0)
        return true;
    for (size_t i = 0; i < 3; i++) {
        if (n->kid[i] && names_args(n->kid[i]))
            return true;
    }
    for (const struct node *a = n->args; a; a = a->next) {
        if (names_args(a))
            return true;
    }
    return false;
}

static bool stmts_name_args(const struct lang_stmt *s)
{
    for (; s; s = s->next) {
        if (names_args(s->expr) || stmts_name_args(s->yes) || stmts_name_args(s->no))
            return true;
    }
    return false;
}

bool check_uses_args(const struct lang_clause *c)
{
    return (c->pred && names_args(c->pred)) || stmts_name_args(c->stmts);
}

static struct lang_stmt *clone_stmts(struct lang *l, const struct lang_stmt *s)
{
    struct lang_stmt *list = NULL, **tail = &list;
    for (; s; s = s->next, tail = &(*tail)->next) {
        *tail = lang_alloc(l, sizeof **tail);
        **tail = *s;
        (*tail)->expr = node_clone(l, s->expr);
        (*tail)->yes = clone_stmts(l, s->yes);
        (*tail)->no = clone_stmts(l, s->no);
        (*tail)->next = NULL;
    }
    return list;
}

struct lang_clause *check_clause_copy(struct lang *l, const struct lang_clause *c,
                                      const struct lang_desc *d)
{
    struct lang_clause *copy = lang_alloc(l, sizeof *copy);
    copy->descs = lang_alloc(l, sizeof *copy->descs);
    *copy->descs = *d;
    copy->descs->next = NULL;
    copy->pred = c->pred ? node_clone(l, c->pred) : NULL;
    copy->stmts = clone_stmts(l, c->stmts);
    return copy;
}
