/* match.c - finds the probes that a session's descriptions name, and their tiers.
 *
 * EPIDs are assigned in the order of clauses, and within a clause in the order in which the tiers
 * name their probes; probe[epid - 1] describes an EPID. A tier gets its bindings sorted by probe,
 * then clause. It gets none for an EPID whose clause can never run there. */
#include "session/session.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "util/elixir.h"
#include "util/render.h"

static struct probe_spec spec_of(const struct session *s, const struct dif_clause *c)
{
    return (struct probe_spec){dif_str(&s->img, c->prov), dif_str(&s->img, c->mod),
                               dif_str(&s->img, c->func), dif_str(&s->img, c->name), c->id};
}

/* Returns whether a provider is one of the process that $target names, which is no node:
 * "python1234". */
static bool is_of_target(const struct session *s, const char *prov)
{
    char pid[24], node[32];
    if (s->target <= 0)
        return false;
    snprintf(pid, sizeof pid, "%lld", (long long)s->target);
    snprintf(node, sizeof node, "erlang%s", pid);
    const size_t n = strlen(prov), digits = strlen(pid);
    return n > digits && strcmp(prov + n - digits, pid) == 0 &&
           strchr("0123456789", prov[n - digits - 1]) == NULL && !probe_glob_provider(prov, node);
}

/* Returns whether only the kernel tier can have a provider. */
static bool is_kernel_provider(const struct session *s, const char *prov)
{
    return probe_kernel_provider(prov) || is_of_target(s, prov);
}

static bool spec_is_local(const struct session *s, const struct probe_spec *p)
{
    enum { LAST_DTRACE_ID = 3 };
    static const char *const names[] = {"BEGIN", "END", "ERROR"};
    if (p->id != 0)
        return p->id <= LAST_DTRACE_ID;
    if (probe_is_wall(p->name))
        return false;
    if (is_kernel_provider(s, p->prov)) /* no other tier has it either */
        return true;
    if (p->mod[0] != '\0' || p->func[0] != '\0')
        return false;
    if (strcmp(p->prov, "dtrace") == 0 || strcmp(p->prov, "profile") == 0)
        return true;
    if (p->prov[0] != '\0')
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(p->name, names[i]) == 0)
            return true;
    return probe_is_interval(p->name);
}

/* Whether no description needs a node. */
static bool no_node_named(const struct session *s)
{
    for (uint32_t i = 0; i < s->img.nclauses; i++) {
        struct probe_spec spec = spec_of(s, &s->img.clauses[i]);
        if (!spec_is_local(s, &spec))
            return false;
    }
    return true;
}

bool session_is_local(const struct session *s)
{
    struct dif_need need;
    return no_node_named(s) &&
           (!dif_lacks(&s->img, WORD_LOCAL, &need) || (need.tiers & WORD_VM) == 0);
}

bool session_is_kernel(const struct session *s)
{
    struct dif_need need;
    if (!no_node_named(s))
        return false;
    for (uint32_t i = 0; i < s->img.nclauses; i++)
        if (is_kernel_provider(s, dif_str(&s->img, s->img.clauses[i].prov)))
            return true;
    return dif_lacks(&s->img, WORD_LOCAL, &need) && dif_lacks(&s->img, WORD_VM, &need);
}

/* The worlds whose probes programs name. */
struct worlds {
    const struct session *s;
    bool kernel, node;
};

static void look_at(void *arg, const struct probe_spec *spec)
{
    struct worlds *w = arg;
    const bool kernel = spec->id == 0 && is_kernel_provider(w->s, spec->prov);
    w->kernel |= kernel;
    w->node |= !kernel && !spec_is_local(w->s, spec);
}

bool session_is_mixed(const struct session *s)
{
    struct worlds w = {.s = s};
    if (s->may_mix && s->compile != NULL)
        compile_descriptions(s->compile, look_at, &w);
    return w.kernel && w.node;
}

bool session_of_node(void *arg, const struct probe_spec *spec)
{
    return !spec_is_local(arg, spec);
}

/* Returns whether a description may be for a tier. Of programs of both worlds a node's is for the
 * nodes, but the first tier has BEGIN and its kind, and the intervals (matched). */
static bool is_for(const struct session *s, size_t tier, const struct probe_spec *spec)
{
    return !s->mixed || tier == 0 || !spec_is_local(s, spec);
}

int session_attach(struct session *s, struct tier *t)
{
    for (size_t i = 0; i < s->ntiers; i++) {
        struct tier *other = s->tier[i].t;
        if (!s->tier[i].lost && t->ops == other->ops && t->ops->same != NULL &&
            t->ops->same(t, other)) {
            diag_add(&s->diags, DIAG_WARNING, NULL, NULL, NULL,
                     "%s is named twice; it is traced once", t->ops->target(t));
            t->ops->close(t);
            return 0;
        }
    }
    struct session_tier *p = et_realloc(s->tier, (s->ntiers + 1) * sizeof *p);
    if (p == NULL) {
        t->ops->close(t);
        return session_no_memory(s);
    }
    s->tier = p;
    p[s->ntiers++] = (struct session_tier){.t = t};
    return 0;
}

/* Returns the text of a description for messages: p:m:f:n, or the id. */
static const char *spec_text(struct session *s, const struct probe_spec *p)
{
    const char *text =
        p->id != 0 ? arena_printf(&s->arena, "%u", p->id)
                   : arena_printf(&s->arena, "%s:%s:%s:%s", p->prov, p->mod, p->func, p->name);
    return text != NULL ? text : "";
}

/* Returns whether the slash at p is the one of an arity: "map/2:entry". */
static bool is_arity(const char *p, const char *end)
{
    const char *q = p + 1;
    while (q < end && isdigit((unsigned char)*q))
        q++;
    return q > p + 1 && (q == end || *q == ':' || *q == ',' || isspace((unsigned char)*q));
}

/* Returns the length in bytes of the description that starts at this place of a program's text. */
static int description_length(const struct erltrace_prog *p, uint32_t line, uint32_t col)
{
    const char *at = p->source, *end = p->source + p->source_len;
    for (uint32_t i = 1; i < line && at < end; i++) {
        const char *nl = memchr(at, '\n', (size_t)(end - at));
        at = nl != NULL ? nl + 1 : end;
    }
    at += (size_t)(end - at) >= col - 1 ? col - 1 : (size_t)(end - at);
    int n = 0;
    while (at + n < end && !isspace((unsigned char)at[n]) &&
           (strchr(",/{", at[n]) == NULL || (at[n] == '/' && is_arity(at + n, end))))
        n++;
    return n;
}

/* Returns the reason why no tier has the probe, if a description names a known one; else NULL. */
static const char *lacking(struct session *s, const struct probe_spec *spec)
{
    const char *why = NULL;
    for (size_t i = 0; why == NULL && i < s->ntiers; i++)
        if (s->tier[i].t->ops->lacking != NULL)
            why = s->tier[i].t->ops->lacking(s->tier[i].t, spec);
    for (size_t i = 0; i < s->ntiers; i++) /* which has said what it lacks */
        if (s->tier[i].t->ops->place == WORD_KERNEL && (!s->mixed || spec_is_local(s, spec)))
            return why;
    if (why == NULL && is_kernel_provider(s, spec->prov))
        why = arena_printf(&s->arena,
                           s->may_mix ? "probes of the provider %s need %s (--kernel) of the host "
                                        "that the node runs on, and its name does not tell which"
                                      : "probes of the provider %s need %s (--kernel)",
                           spec->prov, dif_tier_text(WORD_KERNEL));
    return why;
}

struct diag_pos session_position(const struct session *s, uint32_t clause)
{
    const struct dif_clause *c = &s->img.clauses[clause];
    const struct erltrace_prog *program = s->program_of[clause];
    struct diag_pos pos = {dif_str(&s->img, c->file), (int)c->line, (int)c->col, 0};
    if (program != NULL && c->line > 0 && c->col > 0)
        pos.len = description_length(program, c->line, c->col);
    return pos;
}

/* Returns why a description matches nothing, or what was meant; NULL: that is not known. */
static const char *unmatched_hint(struct session *s, const struct probe_spec *spec)
{
    const char *hint =
        is_kernel_provider(s, spec->prov) ? lacking(s, spec) : session_replaced(s, spec);
    for (size_t i = 0; hint == NULL && i < s->ntiers; i++)
        if (s->tier[i].t->ops->suggest != NULL && (!s->mixed || (i == 0) == spec_is_local(s, spec)))
            hint = s->tier[i].t->ops->suggest(s->tier[i].t, spec);
    return hint;
}

/* Says that a description matches nothing, which zdefs allows. A program that sets the option
 * itself is made for nodes that lack some of what it names. */
static void note_unmatched(struct session *s, uint32_t clause, const struct probe_spec *spec)
{
    const struct diag_pos pos = session_position(s, clause);
    if (!s->zdefs_in_program)
        diag_add(&s->diags, DIAG_NOTE, &pos, "", unmatched_hint(s, spec),
                 "no probe matches %s as yet: it is skipped", spec_text(s, spec));
}

static int report_unmatched(struct session *s, uint32_t clause, const struct probe_spec *spec)
{
    const char *hint = unmatched_hint(s, spec);
    const struct diag_pos pos = session_position(s, clause);
    if (spec->id != 0)
        return diag_error(&s->diags, ET_ENOPROBE, &pos, "D_PDESC_INVAL", hint,
                          "invalid probe identifier %u: Unknown probe identifier", spec->id);
    return diag_error(&s->diags, ET_ENOPROBE, &pos, "D_PDESC_ZERO", hint,
                      "probe description %s does not match any probes", spec_text(s, spec));
}

struct matching {
    struct session *s;
    struct session_tier *tier;
    uint32_t clause;
    bool of_node;               /* its description */
    struct session_matched sum; /* over this tier and those before it */
};

/* Returns the list of n elements with room for one more, perhaps moved. NULL: memory is exhausted,
 * and the list is unchanged. */
static void *with_room(void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return list;
    size_t more = *cap > 0 ? *cap * 2 : 64;
    void *p = et_rearray(list, more, size);
    if (p != NULL)
        *cap = more;
    return p;
}

static int no_wall(struct session *s, uint32_t clause)
{
    const struct diag_pos pos = session_position(s, clause);
    return diag_error(&s->diags, ET_EUNSUP, &pos, "D_MIXED_WALL",
                      "profile-N samples what runs; @[erlname] at sched:::off-cpu has what waits",
                      "wall-N is not possible in a script that also has probes of the kernel");
}

static int matched(void *arg, const struct tier_probe *p)
{
    struct matching *m = arg;
    struct session *s = m->s;
    struct session_tier *t = m->tier, *runs = session_passes(s, t) ? &s->tier[0] : t;
    if (t != runs && p->kind < PROBE_PROCESS_SPAWN) /* it is the first tier's */
        return p->kind == PROBE_WALL ? no_wall(s, m->clause) : 0;
    if (s->mixed && t == runs && p->kind == PROBE_KERNEL && m->of_node)
        return 0; /* such as what the emulator's file defines */
    struct session_probe *probe = with_room(s->probe, s->nprobes, &s->capprobes, sizeof *probe);
    if (probe == NULL)
        return session_no_memory(s);
    s->probe = probe;
    struct tier_binding *list =
        with_room(runs->binding, runs->nbindings, &runs->capbindings, sizeof *list);
    if (list == NULL)
        return session_no_memory(s);
    runs->binding = list;
    uint32_t epid = (uint32_t)++s->nprobes;
    s->probe[epid - 1] = (struct session_probe){m->clause,
                                                p->id,
                                                p->prov,
                                                p->mod,
                                                p->func,
                                                p->name,
                                                p->kind,
                                                (size_t)(t - s->tier),
                                                (size_t)(runs - s->tier)};
    s->nwatched += p->kind >= PROBE_PROCESS_SPAWN;
    struct tier_binding b = {epid, m->clause, p->id, NULL, false};
    if (session_wants(s, t->t, p, &b)) {
        const bool passes = t != runs && (s->flags & ERLTRACE_O_CHECK) == 0;
        const int err = passes ? session_pass(s, t, p, &b) : 0;
        if (err != 0)
            return err;
        runs->binding[runs->nbindings++] = b;
    } else {
        t->left_out++;
        m->sum.left_out++;
    }
    m->sum.instructions += p->instruction;
    if (m->sum.replaced == m->sum.count) /* all of those before it */
        m->sum.replaced += elixir_inlined(p->mod, p->func) != NULL;
    m->sum.several =
        m->sum.several || (m->sum.count > 0 && (strcmp(p->func, m->sum.first.func) != 0 ||
                                                strcmp(p->mod, m->sum.first.mod) != 0));
    /* The example should not be a function that the compiler made ("-f/1-fun-0-"). */
    if (m->sum.count++ == 0 || m->sum.first.func[0] == '-')
        m->sum.first = *p;
    return 0;
}

static int binding_order(const void *px, const void *py)
{
    const struct tier_binding *x = px, *y = py;
    if (x->probe != y->probe)
        return x->probe < y->probe ? -1 : 1;
    return (x->clause > y->clause) - (x->clause < y->clause);
}

int session_match(struct session *s)
{
    int unmatched = 0;
    s->decider = decider_new(&s->img);
    if (s->decider == NULL)
        return session_no_memory(s);
    for (uint32_t c = 0; c < s->img.nclauses; c++) {
        struct probe_spec spec = spec_of(s, &s->img.clauses[c]);
        struct matching m = {.s = s, .clause = c, .of_node = !spec_is_local(s, &spec)};
        if (spec.id == 0 && !spec_is_local(s, &spec) && !session_later(s, c, spec.name))
            return session_no_memory(s);
        for (size_t i = 0; i < s->ntiers; i++) {
            m.tier = &s->tier[i];
            int rc = is_for(s, i, &spec)
                         ? m.tier->t->ops->match(m.tier->t, &spec, matched, &m, &s->diags)
                         : 0;
            if (rc != 0)
                return rc;
        }
        if (s->program_of[c] != NULL)
            s->program_of[c]->info.matches += m.sum.count;
        const struct diag_pos pos = session_position(s, c);
        session_doubt(s, c, &pos, &m.sum);
        if (m.sum.count == 0 && option_on(&s->opt, OPTION_zdefs))
            note_unmatched(s, c, &spec);
        else if (m.sum.count == 0 && !((s->flags & ERLTRACE_O_CHECK) && lacking(s, &spec) != NULL))
            unmatched = report_unmatched(s, c, &spec);
    }
    for (size_t i = 0; i < s->ntiers; i++)
        if (s->tier[i].nbindings > 0)
            qsort(s->tier[i].binding, s->tier[i].nbindings, sizeof *s->tier[i].binding,
                  binding_order);
    return unmatched;
}

/* Matches every description against a tier, all of its probes or only the new ones. */
static int match_more(struct session *s, struct session_tier *t, bool all)
{
    const size_t had = t->nbindings;
    for (uint32_t c = 0; c < s->img.nclauses; c++) {
        struct probe_spec spec = spec_of(s, &s->img.clauses[c]);
        struct matching m = {.s = s, .tier = t, .clause = c, .of_node = !spec_is_local(s, &spec)};
        int rc =
            (all ? t->t->ops->match : t->t->ops->match_new)(t->t, &spec, matched, &m, &s->diags);
        if (rc != 0)
            return rc;
        if (s->program_of[c] != NULL)
            s->program_of[c]->info.matches += m.sum.count;
    }
    if (t->nbindings > had)
        qsort(t->binding + had, t->nbindings - had, sizeof *t->binding, binding_order);
    return 0;
}

int session_match_tier(struct session *s, struct session_tier *t)
{
    return match_more(s, t, true);
}

static int ignored(void *arg, const struct tier_probe *p)
{
    (void)arg;
    (void)p;
    return 0;
}

int session_warm(struct session *s, struct tier *t, struct diags *d)
{
    int rc = 0;
    for (uint32_t c = 0; c < s->img.nclauses && rc == 0; c++) {
        const struct probe_spec spec = spec_of(s, &s->img.clauses[c]);
        rc = t->ops->match(t, &spec, ignored, NULL, d);
    }
    return rc;
}

/* If the extension fails, the program continues with the probes that it has. */
int session_extend(struct session *s, struct session_tier *t)
{
    const size_t had = t->nbindings;
    int rc = match_more(s, t, false);
    if (rc != 0)
        return rc;
    return t->t->ops->extend(t->t, t->binding + had, t->nbindings - had, &s->diags);
}

struct listing {
    session_list_fn fn;
    void *arg;
    struct tier *tier;
    size_t count;
};

static int listed(void *arg, const struct tier_probe *p)
{
    struct listing *l = arg;
    l->count++;
    return l->fn(l->arg, l->tier, p);
}

int session_list(struct session *s, const struct erltrace_prog *p, session_list_fn fn,
                 session_missed_fn missed, void *arg)
{
    uint32_t n = s->program != NULL ? s->img.nclauses : 1;
    for (uint32_t c = 0; c < n; c++) {
        struct probe_spec spec = {"", "", "", "", 0};
        struct listing l = {fn, arg, NULL, 0};
        if (p != NULL && s->program_of[c] != p)
            continue;
        if (s->program != NULL)
            spec = spec_of(s, &s->img.clauses[c]);
        for (size_t i = 0; i < s->ntiers; i++) {
            l.tier = s->tier[i].t;
            int rc =
                is_for(s, i, &spec) ? l.tier->ops->match(l.tier, &spec, listed, &l, &s->diags) : 0;
            if (rc != 0)
                return rc;
        }
        int rc = l.count == 0 && missed != NULL
                     ? missed(arg, spec_text(s, &spec), lacking(s, &spec))
                     : 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}
