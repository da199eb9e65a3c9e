/* program.c - takes a program image from a consumer: decode, verify, make the engine, build its
 * probes.
 *
 * Everything that comes in is checked here: the image by dif_decode and dif_verify, each binding
 * against the image. After that no event can find anything that does not exist. */
#include "beam/agent.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
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

static ERL_NIF_TERM error_diags(ErlNifEnv *env, int err, const struct diags *d)
{
    ERL_NIF_TERM tag = err == ET_ENOMEM   ? agent.atom.agent_memory
                       : err == ET_ELIMIT ? agent.atom.agent_limit
                                          : agent.atom.agent_image;
    const char *hint = err == ET_ENOMEM
                           ? "ask for smaller buffers: -x bufsize=, aggsize=, dynvarsize="
                           : "use the erltrace and the agent of one version";
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i].severity == DIAG_ERROR)
            return error4(env, tag, d->list[i].text, d->list[i].hint ? d->list[i].hint : hint);
    return error4(env, tag, et_strerror(err), hint);
}

static bool options_of(ErlNifEnv *env, ERL_NIF_TERM list, struct engine_options *o)
{
    ERL_NIF_TERM head;
    const ERL_NIF_TERM *e;
    int n;
    ErlNifUInt64 v;
    while (enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &n, &e) || n != 2 || !enif_get_uint64(env, e[1], &v))
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
        else if (e[0] == agent.atom.threads)
            o->threads = v < ENGINE_THREADS_MAX ? (uint32_t)v : ENGINE_THREADS_MAX;
    }
    return enif_is_empty_list(env, list);
}

struct binding {
    uint32_t epid, clause, id, kind;
    ERL_NIF_TERM where;
};

static bool binding_of(ErlNifEnv *env, ERL_NIF_TERM t, struct binding *b)
{
    const ERL_NIF_TERM *e;
    int n;
    if (!enif_get_tuple(env, t, &n, &e) || n != 5)
        return false;
    b->where = e[4];
    return enif_get_uint(env, e[0], &b->epid) && enif_get_uint(env, e[1], &b->clause) &&
           enif_get_uint(env, e[2], &b->id) && enif_get_uint(env, e[3], &b->kind);
}

/* The name of a tick whose binding gives only the period. */
static const char *tick_name(struct arena *a, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{86400000000000, "d"}, {3600000000000, "h"}, {60000000000, "m"}, {1000000000, "s"},
                 {1000000, "ms"},       {1000, "us"},         {1, "ns"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ns % units[i].ns == 0)
            return arena_printf(a, "tick-%llu%s", (unsigned long long)(ns / units[i].ns),
                                units[i].unit);
    return NULL;
}

/* Fills a probe from the first of its bindings. NULL, or what is wrong with it. */
static const char *probe_of(ErlNifEnv *env, struct program *p, const struct binding *b,
                            const char *provider, struct program_probe *out)
{
    const ERL_NIF_TERM *e;
    int n;
    ErlNifUInt64 period;
    ErlNifBinary name;
    const struct probe_def *def;
    *out = (struct program_probe){.kind = (enum probe_kind)b->kind};
    out->id =
        (struct engine_probe){.id = b->id, .prov = provider, .mod = "", .func = "", .name = ""};
    switch (b->kind) {
    case PROBE_BEGIN:
    case PROBE_END:
    case PROBE_ERROR:
        out->id.prov = "dtrace";
        out->id.name = b->kind == PROBE_BEGIN ? "BEGIN" : b->kind == PROBE_END ? "END" : "ERROR";
        return NULL;
    case PROBE_TICK:
        out->id.prov = "profile";
        if (enif_get_tuple(env, b->where, &n, &e) && n == 2 &&
            enif_get_uint64(env, e[0], &period) && enif_inspect_binary(env, e[1], &name)) {
            out->id.name = arena_strndup(&p->arena, (const char *)name.data, name.size);
        } else if (enif_get_uint64(env, b->where, &period)) {
            out->id.name = tick_name(&p->arena, period);
        } else {
            return "a tick without a period";
        }
        if (!out->id.name)
            return "out of memory";
        if (period == 0)
            return "a tick with period 0";
        out->period = period;
        return NULL;
    case PROBE_FN_ENTRY:
    case PROBE_FN_RETURN:
    case PROBE_FN_EXCEPTION: {
        char mod[1024], fun[1024];
        if (!enif_get_tuple(env, b->where, &n, &e) || n != 3 ||
            !enif_get_uint(env, e[2], &out->arity) || out->arity > 255 ||
            !term_atom(env, e[0], mod, sizeof mod) || !term_atom(env, e[1], fun, sizeof fun))
            return "a function probe without a function";
        out->m = e[0];
        out->f = e[1];
        out->id.mod = arena_strdup(&p->arena, mod);
        out->id.func = arena_printf(&p->arena, "%s/%u", fun, out->arity);
        out->id.name = probe_fn_name((enum probe_kind)b->kind);
        return out->id.mod && out->id.func ? NULL : "out of memory";
    }
    default:
        def = probe_erlang_kind((enum probe_kind)b->kind);
        if (!def || b->kind >= SNAPSHOT_NAMED)
            return "a probe of a kind that this agent does not know";
        out->id.name = def->name;
        return NULL;
    }
}

/* Reads the list of bindings into p. NULL, or what is wrong with it. */
static const char *bind(ErlNifEnv *env, struct program *p, ERL_NIF_TERM list, const char *provider)
{
    const struct dif_image *img = engine_image(p->engine);
    unsigned n;
    ERL_NIF_TERM head;
    struct binding b;
    uint32_t i = 0, last = 0;
    if (!enif_get_list_length(env, list, &n))
        return "the bindings are not a list";
    struct engine_binding *v = arena_alloc(&p->arena, (n + 1ul) * sizeof *v);
    /* There are at most as many probes as bindings. */
    p->probe = arena_alloc(&p->arena, (n + 1ul) * sizeof *p->probe);
    if (!v || !p->probe)
        return "out of memory";
    for (; enif_get_list_cell(env, list, &head, &list); i++) {
        if (!binding_of(env, head, &b))
            return "a binding is not {Epid, Clause, ProbeId, Kind, Where}";
        if (b.clause >= img->nclauses)
            return "a binding names a clause that the program does not have";
        if (b.epid == 0 || b.epid == ENGINE_EPID_FAULT)
            return "a binding has an EPID that is not allowed";
        v[i] = (struct engine_binding){.epid = b.epid, .clause = b.clause};
        if (p->nprobes && b.id < last)
            return "the bindings are not sorted by probe";
        if (p->nprobes == 0 || b.id != last) {
            struct program_probe *pp = &p->probe[p->nprobes];
            const char *why = probe_of(env, p, &b, provider, pp);
            if (why)
                return why;
            pp->b = &v[i];
            p->nprobes++;
            last = b.id;
        }
        p->probe[p->nprobes - 1].n++;
    }
    return NULL;
}

ERL_NIF_TERM program_enable(ErlNifEnv *env, ERL_NIF_TERM image, ERL_NIF_TERM options,
                            ERL_NIF_TERM bindings, ERL_NIF_TERM provider)
{
    ErlNifBinary bin, prov;
    struct engine_options opt = {.threads = 64,
                                 .bufsize = 4 << 20,
                                 .aggsize = 4 << 20,
                                 .dynvarsize = 1 << 20,
                                 .specsize = 4 << 20,
                                 .nspec = 1};
    struct diags d;
    struct dif_image img;
    if (!enif_inspect_binary(env, image, &bin) || !enif_inspect_binary(env, provider, &prov) ||
        !options_of(env, options, &opt))
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
        err = dif_verify(&img, &d);
    if (err == ET_OK) {
        int pid = 0;
        sscanf(provider_name, "erlang%d", &pid);
        opt.pid = pid;
        p->vtime = (img.builtins & 1u << DIF_BUILTIN_vtimestamp) != 0;
        err = engine_create(&img, &opt, &p->engine, &d); /* takes img over */
    } else {
        dif_image_free(&img);
    }
    if (err != ET_OK) {
        result = error_diags(env, err, &d);
        goto out;
    }
    const char *why = bind(env, p, bindings, provider_name);
    if (why) {
        result = error4(env, agent.atom.agent_image, why,
                        "use the erltrace and the agent of one version");
        goto out;
    }

    uint32_t needs = 0;
    ERL_NIF_TERM special = enif_make_list(env, 0);
    for (uint32_t i = p->nprobes; i-- > 0;) {
        const struct program_probe *pp = &p->probe[i];
        if (pp->kind >= PROBE_PROCESS_SPAWN && pp->kind < PROBE_FN_ENTRY)
            needs |= probe_erlang_kind(pp->kind)->needs;
        if (pp->kind == PROBE_ERROR)
            engine_set_error_bindings(p->engine, pp->b, pp->n, &pp->id);
        if (pp->kind == PROBE_BEGIN || pp->kind == PROBE_END || pp->kind == PROBE_TICK)
            special = enif_make_list_cell(env,
                                          enif_make_tuple3(env, enif_make_uint(env, i),
                                                           enif_make_uint(env, pp->kind),
                                                           enif_make_uint64(env, pp->period)),
                                          special);
    }
    if (p->vtime)
        needs |= PROBE_NEED_RUNNING;
    ERL_NIF_TERM granted = enif_make_list4(
        env, enif_make_tuple2(env, agent.atom.bufsize, enif_make_uint64(env, opt.bufsize)),
        enif_make_tuple2(env, agent.atom.aggsize, enif_make_uint64(env, opt.aggsize)),
        enif_make_tuple2(env, agent.atom.dynvarsize, enif_make_uint64(env, opt.dynvarsize)),
        enif_make_tuple2(env, agent.atom.specsize, enif_make_uint64(env, opt.specsize)));
    result = enif_make_tuple5(env, agent.atom.ok, enif_make_resource(env, p), granted,
                              enif_make_uint(env, needs), special);
out:
    enif_release_resource(p);
    diags_free(&d);
    return result;
}
