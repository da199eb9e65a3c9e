/* enabling.c - decides which clauses are placed on which probes.
 *
 * A clause is not placed on a probe where its predicate can never be true, as far as this can be
 * known before the probe fires: it would do nothing there, yet each firing would cost something.
 * The probe still counts as matched and keeps its EPID. (tier/decide.h decides predicates. A
 * predicate that is always true is not special: it is evaluated.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "base/glob.h"
#include "util/buftext.h"
#include "util/elixir.h"
#include "util/render.h"

/* Returns whether every printer writes these characters of an atom unchanged. */
static bool printable(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < ' ' || s[i] > '~' || s[i] == '\'' || s[i] == '\\')
            return false;
    return n > 0;
}

static bool word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Returns the quote that the VM puts around an atom when it prints it; NULL when that is uncertain.
 */
static const char *quote_of(const char *s, size_t n)
{
    if (!printable(s, n))
        return NULL;
    bool plain = s[0] >= 'a' && s[0] <= 'z';
    for (size_t i = 0; i < n; i++)
        plain = plain && word(s[i]);
    return plain ? "" : "'";
}

/* Returns "m:f/a" of a function probe, as its argument 1 has it, in `out`; NULL when it cannot be
 * known. */
static const char *function_text(const struct tier_probe *p, struct buf *out)
{
    const char *slash = strrchr(p->func, '/');
    if (slash == NULL)
        return NULL;
    int len = (int)(slash - p->func);
    const char *mod = quote_of(p->mod, strlen(p->mod)), *fun = quote_of(p->func, (size_t)len);
    if (mod == NULL || fun == NULL)
        return NULL;
    buf_reset(out);
    buf_printf(out, "%s%s%s:%s%.*s%s%s", mod, p->mod, mod, fun, len, p->func, fun, slash);
    return out->oom ? NULL : buf_str(out);
}

/* Returns a text of the probe if the tier shows exactly these bytes. */
static const char *known(const char *s)
{
    return s[0] == '\0' || printable(s, strlen(s)) ? s : NULL;
}

static bool same_pids(const struct probe_pids *a, const struct probe_pids *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->text[i] != b->text[i]) /* constants of the image: equal strings have one address */
            return false;
    return true;
}

/* Copies the set to the session's memory, or returns the last one kept if it is equal. NULL: no
 * set, any process; also when memory is out. */
static const struct probe_pids *keep_pids(struct session *s, const struct probe_pids *pids)
{
    if (pids->n == 0)
        return NULL;
    if (s->pids == NULL || !same_pids(s->pids, pids)) {
        struct probe_pids *copy = arena_alloc(&s->arena, sizeof *copy);
        if (copy == NULL)
            return NULL;
        *copy = *pids;
        s->pids = copy;
    }
    return s->pids;
}

/* Returns the name that the probe will have when it fires. For probes that programs define, only a
 * pattern may be known. */
static const char *known_name(const struct tier_probe *p)
{
    return p->kind == PROBE_USER && !glob_exact(p->name) ? NULL : known(p->name);
}

/* Returns the processes that the clause is restricted to on every function, whatever its name,
 * including functions of modules loaded later. Computed once for each clause and kind of probe. */
static const struct probe_pids *function_pids(struct session *s, uint32_t clause,
                                              enum probe_kind kind)
{
    struct session_functions *f = &s->functions;
    uint32_t bit = 1u << (kind - PROBE_FN_ENTRY);
    if (f->known == 0 || f->clause != clause)
        *f = (struct session_functions){.clause = clause};
    if (s->img.clauses[clause].npred == 0)
        return NULL;
    if ((f->known & bit) == 0) {
        struct probe_pids pids;
        struct decide_probe any = {.name = probe_fn_name(kind),
                                   .unnumbered = true,
                                   .pid = probe_process(kind) == PROBE_PROCESS_TRACED,
                                   .function = true};
        f->known |= bit;
        decide(s->decider, clause, &any, &pids);
        f->pids[kind - PROBE_FN_ENTRY] = keep_pids(s, &pids);
    }
    return f->pids[kind - PROBE_FN_ENTRY];
}

bool session_later(struct session *s, uint32_t clause, const char *name)
{
    unsigned kinds = probe_fn_match(name);
    for (unsigned i = 0; kinds >> i != 0; i++) {
        if ((kinds >> i & 1) == 0)
            continue;
        struct tier_later *q = et_realloc(s->later, (s->nlater + 1) * sizeof *q);
        if (q == NULL)
            return false;
        s->later = q;
        enum probe_kind kind = (enum probe_kind)(PROBE_FN_ENTRY + i);
        s->later[s->nlater++] = (struct tier_later){kind, function_pids(s, clause, kind)};
    }
    return true;
}

/* Returns the operating system process of a node, after which its provider is named; 0 for other
 * providers. */
static int64_t process_of(const struct tier_probe *p)
{
    static const char name[] = "erlang";
    const char *digits = p->prov + sizeof name - 1;
    char *end;
    if (strncmp(p->prov, name, sizeof name - 1) != 0 || *digits < '0' || *digits > '9')
        return 0;
    int64_t process = strtoll(digits, &end, 10);
    return *end == '\0' ? process : 0;
}

/* Returns the name of a tier's node as the program reads it; NULL: it is not known. */
static const char *node_of(struct tier *t)
{
    const char *name = t->ops->node != NULL ? t->ops->node(t) : NULL;
    return name != NULL ? known(name) : NULL;
}

bool session_wants(struct session *s, struct tier *t, const struct tier_probe *p,
                   struct tier_binding *b)
{
    struct probe_pids pids;
    bool function = p->kind >= PROBE_FN_ENTRY;
    enum probe_process process = probe_process(p->kind);
    const bool counts = p->kind == PROBE_FN_ENTRY && !s->mixed;
    if (s->decider == NULL || (s->img.clauses[b->clause].npred == 0 && !counts))
        return true;
    struct decide_probe d = {
        .prov = known(p->prov),
        .mod = known(p->mod),
        .func = known(p->func),
        .name = known_name(p),
        .id = p->id,
        .epid = b->epid,
        .pid = process != PROBE_PROCESS_NONE,
        .function = function,
        .mfa = function ? function_text(p, &s->text) : NULL,
        /* in a script of both worlds clauses see its number on this host */
        .process = s->mixed ? 0 : process_of(p),
        .node = node_of(t),
    };
    bool restricts = process == PROBE_PROCESS_TRACED;
    enum decide_verdict v =
        decide(s->decider, b->clause, &d, restricts && !function ? &pids : NULL);
    if (restricts)
        b->pids = function ? function_pids(s, b->clause, p->kind) : keep_pids(s, &pids);
    b->counts = counts && v == DECIDE_ALWAYS && decide_counts(s->decider, b->clause, &d);
    return v != DECIDE_NEVER;
}

/* -- clauses that can never run ---------------------------------------------------------------- */

#define INSTEAD "probe the functions that call it"

/* Suggests what a predicate that is never true was meant to say, by what it looks at. NULL: no
 * suggestion. */
static const char *meant(struct session *s, uint32_t clause, const struct session_matched *m)
{
    unsigned looks = decide_looks(s->decider, clause);
    const struct tier_probe *p = &m->first;
    bool function = p->kind >= PROBE_FN_ENTRY;
    if (looks & DECIDE_LOOKS_PROCESS)
        return arena_printf(&s->arena,
                            "pid is the node's process in the operating system, here %lld; one of "
                            "Erlang is args[0] == \"<0.87.0>\"",
                            (long long)process_of(p));
    if (looks & DECIDE_LOOKS_NODE)
        return "node is the whole name, as in \"shop@host\"";
    if (function && (looks & DECIDE_LOOKS_FUNC))
        return arena_printf(&s->arena, "probefunc has the arity, as in \"%s\"", p->func);
    if (function && (looks & DECIDE_LOOKS_ARG1)) {
        const char *text = function_text(p, &s->text);
        return text == NULL
                   ? "args[1] is the function itself, as in \"lists:map/2\""
                   : arena_printf(&s->arena, "args[1] is the function itself, as in \"%s\"", text);
    }
    if (function && (looks & DECIDE_LOOKS_MOD))
        return arena_printf(&s->arena, "probemod is a module, as in \"%s\"", p->mod);
    return looks & DECIDE_LOOKS_NAME
               ? arena_printf(&s->arena, "probename is a name as -l lists it, as in \"%s\"",
                              p->name)
               : NULL;
}

static int is_called(void *arg, const struct tier_probe *p)
{
    bool *called = arg;
    *called = !p->instruction;
    return 0;
}

/* Returns what to do about a function that Elixir's compiler replaces by this one of Erlang, as
 * elixir_inlined_as_written has it. */
static const char *sees_instead(struct session *s, const char *instead)
{
    const char *colon = strchr(instead, ':');
    struct probe_spec spec = {.prov = "erlang*", .name = "entry"};
    struct buf func = BUF_INIT;
    struct diags d;
    bool called = false;
    diags_init(&d);
    for (const char *p = colon; p != NULL && *++p != '\0';)
        if (*p != '\'') {
            if (strchr("*?[]\\", *p) != NULL)
                buf_add(&func, "\\", 1);
            buf_add(&func, p, 1);
        }
    spec.mod = colon != NULL ? arena_strndup(&s->arena, instead, (size_t)(colon - instead)) : NULL;
    spec.func = buf_str(&func);
    for (size_t i = 0; spec.mod != NULL && !func.oom && i < s->ntiers; i++)
        (void)s->tier[i].t->ops->match(s->tier[i].t, &spec, is_called, &called, &d);
    buf_free(&func);
    diags_free(&d);
    return called ? arena_printf(&s->arena, "%s sees these calls, and those of all other modules",
                                 instead)
                  : INSTEAD;
}

const char *session_replaced(struct session *s, const struct probe_spec *spec)
{
    const char *func, *instead = elixir_inlined_as_written(spec->mod, spec->func, &func);
    const char *alias = elixir_alias(spec->mod);
    if (instead == NULL || (spec->prov[0] != '\0' && strncmp(spec->prov, "erlang", 6) != 0))
        return NULL;
    return arena_printf(&s->arena, "Elixir compiles calls of %s.%s into %s; %s",
                        alias != NULL ? alias : spec->mod, func, instead, sees_instead(s, instead));
}

void session_doubt(struct session *s, uint32_t clause, const struct diag_pos *pos,
                   const struct session_matched *m)
{
    if (m->count == 0 || m->first.kind < PROBE_PROCESS_SPAWN)
        return;
    const struct tier_probe *p = &m->first;
    if (m->left_out == m->count)
        diag_add(&s->diags, DIAG_WARNING, pos, NULL, meant(s, clause, m),
                 m->count == 1 ? "the predicate is never true on the probe that it is for"
                               : "the predicate is never true on any of the %zu probes that it is "
                                 "for",
                 m->count);
    else if (m->replaced == m->count && !m->several)
        diag_add(&s->diags, DIAG_WARNING, pos, NULL,
                 sees_instead(s, elixir_inlined(p->mod, p->func)),
                 "Elixir compiles calls of %s.%s into %s: only those by apply are seen",
                 elixir_alias(p->mod), p->func, elixir_inlined(p->mod, p->func));
    else if (m->replaced == m->count)
        diag_add(&s->diags, DIAG_WARNING, pos, NULL,
                 "name the functions of Erlang, such as erlang:integer_to_binary/1",
                 "Elixir compiles calls of these functions into calls of Erlang's: only those by "
                 "apply are seen");
    else if (m->instructions == m->count && !m->several)
        diag_add(&s->diags, DIAG_WARNING, pos, NULL, INSTEAD,
                 "calls of %s:%s by its name are instructions, which the VM does not report: only "
                 "those by apply or through a fun are seen",
                 p->mod, p->func);
    else if (m->instructions == m->count)
        diag_add(&s->diags, DIAG_WARNING, pos, NULL, INSTEAD,
                 "calls of these functions by their names are instructions, which the VM does not "
                 "report: only those by apply or through a fun are seen");
}
