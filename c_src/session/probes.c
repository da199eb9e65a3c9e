/* probes.c - probes as the program sees them, and walks over them. */
#include "session/handle.h"
#include "base/err.h"

void api_probe_fill(struct api_probe *out, enum probe_kind kind, uint32_t id, const char *prov,
                    const char *mod, const char *func, const char *name, const char *node)
{
    out->def = probe_erlang_kind(kind);
    if (out->def == NULL)
        out->def = probe_fn_def(kind);

    out->tier = NULL;
    out->attributes = out->arguments = session_attributes(compile_provider(prov));
    out->public = (struct erltrace_probe){.id = id,
                                          .provider = prov,
                                          .module = mod,
                                          .function = func,
                                          .name = name,
                                          .node = node,
                                          .attributes = &out->attributes,
                                          .arguments = &out->arguments};
    while (probe_args_type(out->def, (unsigned)out->public.nargs) != NULL)
        out->public.nargs++;
}

const char *erltrace_probe_argument(const struct erltrace_probe *p, size_t i)
{
    const struct api_probe *own = (const struct api_probe *)(const void *)p;
    if (p == NULL || i >= p->nargs)
        return NULL;
    return own->tier != NULL ? own->tier->ops->argument(own->tier, p->id, i)
                             : probe_args_type(own->def, (unsigned)i);
}

/* -- what is known about them --  */

static void about_fill(const struct probe_section *s, const struct probe_def *def,
                       struct erltrace_about *out)
{
    static const char *const by[] = {
        [PROBE_BY_VM] = "vm tier", [PROBE_BY_KERNEL] = "kernel tier", [PROBE_BY_NONE] = "nobody"};
    static const char *const origin[] = {
        [PROBE_OTP] = "OTP", [PROBE_OURS] = "erltrace", [PROBE_PAST] = "OTP once"};
    *out = (struct erltrace_about){.name = def->name,
                                   .module = def->mod != NULL ? def->mod : "",
                                   .function = def->func != NULL ? def->func : "",
                                   .section = s->title,
                                   .text = def->text,
                                   .origin = origin[def->origin],
                                   .quality = def->how != NULL ? def->how
                                              : def->kind != 0 ? "exact"
                                                               : "",
                                   .lacking = def->lacking,
                                   .numbered = def->numbered,
                                   .notps = PROBE_OTPS,
                                   .otp = probe_otps};
    for (size_t i = 0; i < PROBE_OTPS; i++)
        out->by[i] = by[probe_on(def, probe_otps[i])];
    for (; out->nargs < sizeof def->arg / sizeof *def->arg && def->arg[out->nargs].type;
         out->nargs++) {
        const struct probe_arg *a = &def->arg[out->nargs];
        out->arg[out->nargs] = (struct erltrace_about_arg){a->type, a->name, a->text};
    }
}

int erltrace_probe_about(const struct erltrace_probe *p, struct erltrace_about *about)
{
    const struct api_probe *own = (const struct api_probe *)(const void *)p;
    const struct probe_section *s;
    for (size_t i = 0; p != NULL && own->def != NULL && (s = probe_section(i)) != NULL; i++) {
        for (size_t j = 0; j < s->n; j++) {
            if (&s->def[j] == own->def) {
                about_fill(s, own->def, about);
                return 0;
            }
        }
    }
    return -1;
}

int erltrace_about_iter(erltrace_about_fn *fn, void *arg)
{
    const struct probe_section *s;
    struct erltrace_about about;
    int rc = 0;
    for (size_t i = 0; rc == 0 && (s = probe_section(i)) != NULL; i++) {
        for (size_t j = 0; rc == 0 && j < s->n; j++) {
            about_fill(s, &s->def[j], &about);
            rc = fn(&about, arg);
        }
    }
    return rc;
}

/* -- walking over them -- */

/* The state of a walk. The session takes negative results as errors, so that the program's own
 * result is kept here. */
struct walk {
    erltrace_probe_fn *fn;
    erltrace_missed_fn *missed;
    void *arg;
    int result; /* of the program's function */
};

static int found(void *arg, const struct tier *t, const struct tier_probe *p)
{
    struct walk *w = arg;
    struct api_probe probe;
    api_probe_fill(&probe, p->kind, p->id, p->prov, p->mod, p->func, p->name,
                   t->ops->target((struct tier *)t));
    if (t->ops->argument != NULL) {
        probe.tier = (struct tier *)t;
        while (t->ops->argument(probe.tier, p->id, probe.public.nargs) != NULL)
            probe.public.nargs++;
    }
    w->result = w->fn(&probe.public, w->arg);
    return w->result != 0;
}

static int missed(void *arg, const char *description, const char *why)
{
    struct walk *w = arg;
    w->result = w->missed(description, why != NULL ? why : "No probe matches description", w->arg);
    return w->result != 0;
}

int erltrace_probe_iter(erltrace_t *h, const erltrace_prog_t *p, erltrace_probe_fn *fn,
                        erltrace_missed_fn *missed_fn, void *arg)
{
    struct walk w = {fn, missed_fn, arg, 0};
    if (!api_enter(h, API_OPEN, API_ENABLED))
        return -1;
    if (fn == NULL || (p != NULL && erltrace_program_info(h, p) == NULL))
        return api_fail(h, ERLTRACE_E_INVAL);
    if (api_compile(h) != 0)
        return -1;
    h->busy = true;
    int rc = api_open_targets(h);
    if (rc == 0)
        rc = session_list(&h->session, p, found, missed_fn != NULL ? missed : NULL, &w);
    h->busy = false;
    return w.result != 0 ? (api_leave(h, 0), w.result) : api_leave(h, rc);
}
