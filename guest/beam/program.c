/* program.c - takes in a consumer's program image: decodes and verifies it, makes the engine, and
 * builds its probes.
 *
 * All input is checked here: the image by dif_decode and dif_verify, each binding against the
 * image. After that no event can reach anything that does not exist. */
#include "beam/probe/hooks.h"
#include "beam/probe/oncpu.h"
#include "beam/probe/records.h"
#include "beam/probe/terms.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/glob.h"
#include "base/number.h"
#include "base/size.h"
#include "dif/dif.h"

void program_destroy(ErlNifEnv *env, void *obj)
{
    (void)env;
    struct program *p = obj;
    if (p->engine)
        engine_destroy(p->engine);
    arena_free(&p->arena);
}

static ERL_NIF_TERM text_term(ErlNifEnv *env, const char *s)
{
    ERL_NIF_TERM t;
    size_t n = strlen(s);
    unsigned char *p = enif_make_new_binary(env, n, &t);
    memcpy(p, s, n);
    return t;
}

static ERL_NIF_TERM error4(ErlNifEnv *env, ERL_NIF_TERM tag, const char *text, const char *hint)
{
    return enif_make_tuple4(env, agent.atom.error, tag, text_term(env, text), text_term(env, hint));
}

/* The engine's messages about a program's sizes are the same in every tier, and have no tag. */
static ERL_NIF_TERM error_diags(ErlNifEnv *env, int err, const struct diags *d)
{
    ERL_NIF_TERM tag =
        err == ET_ENOMEM || err == ET_ELIMIT ? agent.atom.none : agent.atom.agent_image;
    const char *hint = err == ET_ENOMEM
                           ? "ask for smaller buffers: -x bufsize=, aggsize=, dynvarsize="
                       : err == ET_ELIMIT ? ""
                                          : "use the erltrace and the agent of one version";
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i].severity == DIAG_ERROR)
            return error4(env, tag, d->list[i].text, d->list[i].hint ? d->list[i].hint : hint);
    return error4(env, tag, et_strerror(err), hint);
}

static ERL_NIF_TERM error_terms(ErlNifEnv *env, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "the program uses %s, and terms are hidden from it", name);
    return error4(env, agent.atom.agent_terms, text, "");
}

/* `terms` 0 hides them, wherever in the list it is. */
static bool options_of(ErlNifEnv *env, ERL_NIF_TERM list, struct engine_options *o, uint32_t *limit,
                       uint32_t *argsize, struct terms_view *view, ERL_NIF_TERM *redact,
                       ERL_NIF_TERM *records)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    int n;
    ErlNifUInt64 v;
    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &n, &e) || n != 2)
            return false;
        if (e[0] == agent.atom.redact) {
            *redact = e[1];
            continue;
        }
        if (e[0] == agent.atom.records) {
            *records = e[1];
            continue;
        }
        if (!enif_get_uint64(env, e[1], &v))
            return false;
        if (e[0] == agent.atom.bufsize)
            o->bufsize = v;
        else if (e[0] == agent.atom.aggsize)
            o->aggsize = v;
        else if (e[0] == agent.atom.dynvarsize)
            o->dynvarsize = v;
        else if (e[0] == agent.atom.specsize)
            o->specsize = v;
        else if (e[0] == agent.atom.nspec)
            o->nspec = v < DIF_SPECS_MAX ? (uint32_t)v : DIF_SPECS_MAX;
        else if (e[0] == agent.atom.eventbudget)
            o->eventbudget = v;
        else if (e[0] == agent.atom.bufpolicy && v < RECORD_NPOLICIES)
            o->policy = (enum record_policy)v;
        else if (e[0] == agent.atom.fixed)
            o->fixed = v != 0;
        else if (e[0] == agent.atom.maxload)
            *limit = v < 100 ? (uint32_t)v * 10 : LOAD_MOST;
        else if (e[0] == agent.atom.argsize)
            *argsize = v < KEPT_ARGS_LEAST  ? KEPT_ARGS_LEAST
                       : v < KEPT_ARGS_MOST ? (uint32_t)v
                                            : KEPT_ARGS_MOST;
        else if (e[0] == agent.atom.terms)
            view->hidden = view->hidden || v == 0;
        else if (e[0] == agent.atom.cpu) {
            o->one_cpu = true;
            o->cpu = v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
        } else if (e[0] == agent.atom.threads)
            o->threads = v < ENGINE_THREADS_MAX ? (uint32_t)v : ENGINE_THREADS_MAX;
    }
    return enif_is_empty_list(env, list);
}

#define INSIDE_BUILTINS                                                                            \
    (dif_builtin_bit(DIF_BUILTIN_mqlen) | dif_builtin_bit(DIF_BUILTIN_reductions) |                \
     dif_builtin_bit(DIF_BUILTIN_heapsize) | dif_builtin_bit(DIF_BUILTIN_oldheapsize))

struct binding {
    uint32_t epid, clause, id, kind, uses;
    ERL_NIF_TERM where;
};

static bool binding_of(ErlNifEnv *env, ERL_NIF_TERM t, struct binding *b)
{
    const ERL_NIF_TERM *e;
    int n;
    if (!enif_get_tuple(env, t, &n, &e) || n != 5)
        return false;
    b->where = e[4];
    if (!enif_get_uint(env, e[0], &b->epid) || !enif_get_uint(env, e[1], &b->clause) ||
        !enif_get_uint(env, e[2], &b->id) || !enif_get_uint(env, e[3], &b->kind))
        return false;
    b->uses = b->kind & PROBE_USES;
    b->kind -= b->uses;
    return true;
}

static bool is_ascii(const char *s)
{
    while ((unsigned char)*s - 1u < 0x7f)
        s++;
    return *s == '\0';
}

static const char *function_of(ErlNifEnv *env, struct program *p, const struct binding *b,
                               struct program_probe *out)
{
    char mod[1024], fun[1024];
    const ERL_NIF_TERM *e;
    int n;
    if (!enif_get_tuple(env, b->where, &n, &e) || n != 3 ||
        !enif_get_uint(env, e[2], &out->arity) || out->arity > 255 ||
        !term_atom(env, e[0], mod, sizeof mod) || !term_atom(env, e[1], fun, sizeof fun))
        return "a function probe without a function";
    out->m = e[0];
    out->f = e[1];
    out->id.mod = arena_strdup(&p->arena, mod);
    out->id.func = arena_printf(&p->arena, "%s/%u", fun, out->arity);
    out->id.name = word_probe(b->kind)->name;
    return out->id.mod && out->id.func ? NULL : "out of memory";
}

/* Fills in a probe from the first of its bindings. Returns NULL, or what is wrong with it. */
static const char *probe_of(ErlNifEnv *env, struct program *p, const struct binding *b,
                            const char *provider, struct program_probe *out)
{
    const ERL_NIF_TERM *e;
    int n;
    ErlNifUInt64 period;
    ErlNifBinary name;
    const struct word_probe *word = word_probe(b->kind);
    *out = (struct program_probe){.kind = (enum probe_kind)b->kind};
    out->id = (struct engine_probe){
        .id = b->id, .kind = b->kind, .prov = provider, .mod = "", .func = "", .name = ""};
    switch (b->kind) {
    case PROBE_BEGIN:
    case PROBE_END:
    case PROBE_ERROR:
        out->id.prov = "dtrace";
        out->id.name = word->name;
        return NULL;
    case PROBE_TICK:
    case PROBE_PROFILE:
    case PROBE_WALL:
        out->id.prov = "profile";
        if (!enif_get_tuple(env, b->where, &n, &e) || n != 2 ||
            !enif_get_uint64(env, e[0], &period) || !enif_inspect_binary(env, e[1], &name))
            return "an interval without a period and a name";
        out->id.name = arena_strndup(&p->arena, (const char *)name.data, name.size);
        if (!out->id.name)
            return "out of memory";
        if (period == 0)
            return "an interval of 0";
        out->period = period;
        return NULL;
    case PROBE_USER_TRACE_N: {
        if (!enif_get_uint(env, b->where, &out->label) || out->label >= PROBE_LABELS)
            return "a numbered probe without a number";
        out->id.name = arena_printf(&p->arena, "%s%u", word->name, out->label);
        return out->id.name ? NULL : "out of memory";
    }
    case PROBE_USER:
        if (!enif_inspect_binary(env, b->where, &name) || name.size > PROBE_NAME_MAX)
            return "a probe of a program without a name";
        out->id.mod = "erltrace";
        out->id.func = "probe";
        out->id.name = arena_strndup(&p->arena, (const char *)name.data, name.size);
        if (!out->id.name)
            return "out of memory";
        if (glob_exact(out->id.name) && is_ascii(out->id.name))
            out->user = enif_make_atom(env, out->id.name);
        return NULL;
    default:
        if (word && b->kind >= PROBE_FN_ENTRY && b->kind < PROBE_FN_END)
            return function_of(env, p, b, out);
        if (!word || b->kind < PROBE_PROCESS_SPAWN || b->kind >= SNAPSHOT_NAMED)
            return "a probe of a kind that this agent does not know";
        out->id.name = word->name;
        return NULL;
    }
}

/* Reads a list of bindings into `to`. Returns NULL, or what is wrong with it. */
static const char *bindings_read(ErlNifEnv *env, struct program *p, ERL_NIF_TERM list,
                                 bool functions_only, struct program_probes *to)
{
    const struct dif_image *img = engine_image(p->engine);
    unsigned n;
    ERL_NIF_TERM head;
    struct binding b;
    uint32_t i = 0, last = 0;
    if (!enif_get_list_length(env, list, &n))
        return "the bindings are not a list";
    struct engine_binding *v = arena_array(&p->arena, size_add(n, 1), sizeof *v);
    /* There are at most as many probes as bindings. */
    to->v = arena_array(&p->arena, size_add(n, 1), sizeof *to->v);
    if (!v || !to->v)
        return "out of memory";
    for (; enif_get_list_cell(env, list, &head, &list); i++) {
        if (!binding_of(env, head, &b))
            return "a binding is not {Epid, Clause, ProbeId, Kind, Where}";
        if (b.clause >= img->nclauses)
            return "a binding names a clause that the program does not have";
        if (b.epid == 0 || b.epid == RECORD_EPID_FAULT)
            return "a binding has an EPID that is not allowed";
        if (functions_only && b.kind < PROBE_FN_ENTRY)
            return "a probe that does not come by code being loaded";
        v[i] = (struct engine_binding){.epid = b.epid, .clause = b.clause};
        if (to->n && b.id < last)
            return "the bindings are not sorted by probe";
        if (to->n == 0 || b.id != last) {
            struct program_probe *pp = &to->v[to->n];
            const char *why = probe_of(env, p, &b, p->provider, pp);
            if (why)
                return why;
            pp->b = &v[i];
            to->n++;
            last = b.id;
        }
        to->v[to->n - 1].n++;
        to->v[to->n - 1].uses |= b.uses;
    }
    return NULL;
}

ERL_NIF_TERM program_extend(ErlNifEnv *env, struct program *p, ERL_NIF_TERM bindings)
{
    struct program_probes *more = arena_alloc(&p->arena, sizeof *more), *last = &p->probes;
    const char *why = more ? NULL : "out of memory";
    if (!why) {
        *more = (struct program_probes){0};
        why = bindings_read(env, p, bindings, true, more);
    }
    if (why)
        return error4(env, agent.atom.agent_image, why,
                      "use the erltrace and the agent of one version");
    more->cost = arena_array(&p->arena, size_add(more->n, 1), sizeof *more->cost);
    if (!more->cost)
        return error4(env, agent.atom.agent_memory, et_strerror(ET_ENOMEM), "");
    while (last->next)
        last = last->next;
    last->next = more;
    return agent.atom.ok;
}

/* Makes room for the account of the program's cost. */
static bool account(struct program *p, uint32_t threads)
{
    struct load_thread *t = arena_array(&p->arena, threads, sizeof *t);
    struct load_probe *probe = arena_array(&p->arena, size_add(p->probes.n, 1), sizeof *probe);
    if (!t || !probe)
        return false;
    p->probes.cost = probe;
    load_init(&p->load, t, threads, probe, p->probes.n);
    return true;
}

enum { FIRST_MAX = 16 /* arguments that one pattern distinguishes */ };

/* Returns the first arguments of the calls that are the program's probes of a kind: [Term], or the
 * atom any. */
static ERL_NIF_TERM first_of(ErlNifEnv *env, const struct program *p, enum probe_kind kind)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->probes.n; i++) {
        const struct program_probe *pp = &p->probes.v[i];
        if (pp->kind != kind)
            continue;
        bool known = kind == PROBE_USER_TRACE_N || (kind == PROBE_USER && pp->user);
        if (!known || ++n > FIRST_MAX)
            return agent.atom.any;
        list = enif_make_list_cell(
            env, kind == PROBE_USER ? pp->user : enif_make_uint(env, pp->label), list);
    }
    return list;
}

/* Returns [{Probe, [{M, F, A}], First}]: the functions whose calls are named probes of this
 * program. */
static ERL_NIF_TERM hooks_of(ErlNifEnv *env, const struct program *p)
{
    bool seen[PROBE_FN_ENTRY] = {false};
    const struct hook *h;
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (uint32_t i = 0; i < p->probes.n; i++) {
        enum probe_kind kind = p->probes.v[i].kind;
        if (kind >= PROBE_FN_ENTRY || seen[kind] || !hook_kind(kind))
            continue;
        ERL_NIF_TERM functions = enif_make_list(env, 0);
        for (size_t j = 0; (h = hook_at(j)) != NULL; j++)
            if (h->kind == kind)
                functions =
                    enif_make_list_cell(env,
                                        enif_make_tuple3(env, enif_make_atom(env, h->module),
                                                         enif_make_atom(env, h->function),
                                                         enif_make_uint(env, h->arity)),
                                        functions);
        list = enif_make_list_cell(env,
                                   enif_make_tuple3(env, text_term(env, p->probes.v[i].id.name),
                                                    functions, first_of(env, p, kind)),
                                   list);
        seen[kind] = true;
    }
    return list;
}

static uint32_t needs_of(enum probe_kind kind)
{
    uint32_t needs = word_probe(kind)->needs;
    /* From that release on its calls show it, without schedulings. */
    return kind == PROBE_PROCESS_HIBERNATE && agent_has(OTP_HIBERNATE_CALLS)
               ? needs & ~(uint32_t)PROBE_NEED_RUNNING
               : needs;
}

/* Returns whether a clause on the probe reads one of the three integers of a token, from arg
 * `first` on. */
static bool reads_token(const struct program *p, const struct program_probe *pp, unsigned first)
{
    for (uint32_t i = 0; i < pp->n; i++)
        for (unsigned arg = first; arg < first + 3; arg++)
            if (dif_reads_argument(engine_image(p->engine), pp->b[i].clause, arg))
                return true;
    return false;
}

static bool takes_stacks(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->ncode; i++)
        if (img->code[i] >> 24 == DIF_OP_CALL && ((img->code[i] & 65535) == DIF_SUBR_ustack ||
                                                  (img->code[i] & 65535) == DIF_SUBR_jstack))
            return true;
    return (img->builtins & dif_builtin_bit(DIF_BUILTIN_erlcaller)) != 0;
}

ERL_NIF_TERM program_enable(ErlNifEnv *env, ERL_NIF_TERM image, ERL_NIF_TERM options,
                            ERL_NIF_TERM bindings, ERL_NIF_TERM provider)
{
    ErlNifBinary bin, prov;
    uint32_t limit = 0, argsize = KEPT_ARGS_DEFAULT;
    struct terms_view view = {0};
    ERL_NIF_TERM redact = agent.nil, records = agent.nil;
    struct dif_need need;
    /* Tracing must not exhaust a node's memory: this limits all programs together, and counts what
     * others use. */
    struct engine_options opt = {.threads = 64,
                                 .memory = engine_machine_memory("") / 2,
                                 .left = engine_machine_left(""),
                                 .bufsize = 4 << 20,
                                 .aggsize = 4 << 20,
                                 .dynvarsize = 1 << 20,
                                 .specsize = 4 << 20,
                                 .nspec = 1};
    struct diags d;
    struct dif_image img;
    if (!enif_inspect_binary(env, image, &bin) || !enif_inspect_binary(env, provider, &prov) ||
        !options_of(env, options, &opt, &limit, &argsize, &view, &redact, &records))
        return enif_make_badarg(env);
    struct program *p = enif_alloc_resource(agent.program_type, sizeof *p);
    if (!p)
        return error4(env, agent.atom.agent_memory, et_strerror(ET_ENOMEM), "");
    memset(p, 0, sizeof *p);
    arena_init(&p->arena);
    diags_init(&d);
    dif_image_init(&img);
    ERL_NIF_TERM result;

    const char *provider_name = arena_strndup(&p->arena, (const char *)prov.data, prov.size);
    int err = provider_name ? dif_decode(&img, bin.data, bin.size, &d) : ET_ENOMEM;
    if (err == ET_OK)
        err = dif_verify_for(&img, WORD_VM, &d);
    if (err == ET_OK && view.hidden && dif_uses_terms(&img, &need)) {
        result = error_terms(env, need.name);
        dif_image_free(&img);
        goto out;
    }
    const char *wrong = err == ET_OK ? redact_take(env, &p->arena, redact, &view.redact) : NULL;
    if (wrong) {
        result = error4(env, agent.atom.none, wrong, "use fewer or shorter patterns");
        dif_image_free(&img);
        goto out;
    }
    wrong = err == ET_OK ? records_take(env, &p->arena, records, &view) : NULL;
    if (wrong) {
        result = error4(env, agent.atom.agent_image, wrong,
                        "use the erltrace and the agent of one version");
        dif_image_free(&img);
        goto out;
    }
    p->view = view;
    p->argsize = argsize;
    if (err == ET_OK && opt.one_cpu && opt.cpu >= (uint64_t)sysconf(_SC_NPROCESSORS_CONF))
        err = diag_error(&d, ET_ELIMIT, NULL, "", "option cpu is the number of a processor",
                         "could not enable tracing: there is no CPU %u", opt.cpu);
    if (err == ET_OK) {
        static const char begins[] = "erlang";
        const char *at = provider_name;
        uint64_t pid = 0;
        if (strncmp(at, begins, strlen(begins)) == 0) {
            at += strlen(begins);
            number_read(&at, 10, &pid);
        }
        opt.pid = (int32_t)pid;
        p->vtime = (img.builtins & dif_builtin_bit(DIF_BUILTIN_vtimestamp)) != 0;
        p->stacks = takes_stacks(&img);
        p->inside = (img.builtins & INSIDE_BUILTINS) != 0 || p->stacks;
        err = engine_create(&img, &opt, &p->engine, &d); /* takes ownership of img */
    } else {
        dif_image_free(&img);
    }
    if (err != ET_OK) {
        result = error_diags(env, err, &d);
        goto out;
    }
    p->provider = provider_name;
    uint64_t *atoms = arena_array(&p->arena, size_add(engine_image(p->engine)->nstr, 1), 8);
    const char *why =
        atoms ? terms_constants(env, engine_image(p->engine), atoms) : "out of memory";
    engine_set_constants(p->engine, atoms);
    if (!why)
        why = bindings_read(env, p, bindings, false, &p->probes);
    if (why) {
        result = error4(env, agent.atom.agent_image, why,
                        "use the erltrace and the agent of one version");
        goto out;
    }

    if (!account(p, opt.threads)) {
        result = error4(env, agent.atom.agent_memory, et_strerror(ET_ENOMEM), "");
        goto out;
    }
    p->load.limit = limit;

    uint32_t needs = 0;
    ERL_NIF_TERM special = enif_make_list(env, 0);
    for (uint32_t i = p->probes.n; i-- > 0;) {
        const struct program_probe *pp = &p->probes.v[i];
        if (pp->kind >= PROBE_PROCESS_SPAWN && pp->kind < PROBE_FN_ENTRY)
            needs |= needs_of(pp->kind);
        else if (pp->kind >= PROBE_FN_ENTRY && pp->kind < PROBE_FN_END)
            p->load.needs |= (pp->uses & PROBE_USE_VALUE) != 0 ? PROBE_NEEDS_FN_EXCEPTION
                                                               : word_probe(pp->kind)->needs;
        if ((pp->kind == PROBE_MESSAGE_SEND && reads_token(p, pp, 3)) ||
            (pp->kind == PROBE_MESSAGE_SEND_REMOTE && reads_token(p, pp, 4)))
            needs |= PROBE_NEED_TOKENS;
        if (pp->kind == PROBE_PROFILE || pp->kind == PROBE_WALL) {
            p->stacks = p->inside = true; /* where it runs is found as a stack is */
            p->profile = p->profile ? p->profile : arena_alloc(&p->arena, sizeof *p->profile);
            if (!p->profile) {
                result = error4(env, agent.atom.agent_memory, et_strerror(ET_ENOMEM), "");
                goto out;
            }
            *p->profile = (struct oncpu_counts){0};
        }
        if (pp->kind == PROBE_ERROR)
            engine_set_error_bindings(p->engine, pp->b, pp->n, &pp->id);
        if (pp->kind == PROBE_END &&
            (err = engine_set_end_bindings(p->engine, pp->b, pp->n, &d)) != ET_OK) {
            result = error_diags(env, err, &d);
            goto out;
        }
        if (pp->kind == PROBE_BEGIN || pp->kind == PROBE_END || pp->kind == PROBE_TICK ||
            pp->kind == PROBE_PROFILE || pp->kind == PROBE_WALL)
            special = enif_make_list_cell(env,
                                          enif_make_tuple3(env, enif_make_uint(env, i),
                                                           enif_make_uint(env, pp->kind),
                                                           enif_make_uint64(env, pp->period)),
                                          special);
    }
    if (p->vtime) /* not a need of any probe: see only_init of the consumer */
        needs |= PROBE_NEED_RUNNING;
    if ((engine_image(p->engine)->builtins & dif_builtin_bit(DIF_BUILTIN_erlname)) != 0)
        needs |= PROBE_NEED_NAMES | PROBE_NEED_PROCS; /* likewise */
    p->load.needs |= needs;
    ERL_NIF_TERM granted = enif_make_list4(
        env, enif_make_tuple2(env, agent.atom.bufsize, enif_make_uint64(env, opt.bufsize)),
        enif_make_tuple2(env, agent.atom.aggsize, enif_make_uint64(env, opt.aggsize)),
        enif_make_tuple2(env, agent.atom.dynvarsize, enif_make_uint64(env, opt.dynvarsize)),
        enif_make_tuple2(env, agent.atom.specsize, enif_make_uint64(env, opt.specsize)));
    result = enif_make_tuple6(env, agent.atom.ok, enif_make_resource(env, p), granted,
                              enif_make_uint(env, needs), special, hooks_of(env, p));
out:
    enif_release_resource(p);
    diags_free(&d);
    return result;
}
