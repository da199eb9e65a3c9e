/* ebpf.c - the kernel tier: programs compiled for BPF, which run in the kernel.
 *
 * `work` sleeps until the next tick is due or data is to be read, fires, drains and reports, all on
 * one thread; what else fires does so in the kernel. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/glob.h"
#include "engine/engine.h"
#include "linux/kexamine.h"
#include "linux/kload.h"
#include "linux/kmapped.h"
#include "linux/kpass.h"
#include "linux/kprobes.h"
#include "linux/krun.h"
#include "linux/ksym.h"
#include "linux/ktypes.h"
#include "linux/kuser.h"
#include "tier/own.h"
#include "tier/tier.h"
#include "util/buftext.h"
#include "util/render.h"

struct ebpf {
    struct tier tier;
    struct own own;
    struct krun *run;
    struct krun_plan plan;
    struct kprobes *probes;     /* of the kernel; NULL: not asked for yet */
    struct kevent_probe *event; /* that are bound, nevents of them */
    uint32_t nevents;
    struct ksyms *syms;
    struct kuser *user;     /* probes in processes */
    struct kmapped *mapped; /* what tells that they have mapped files; NULL: nothing */
    bool waits;             /* a description can mean such files */
    bool told;              /* there may be some */
    uint64_t looked_ns;     /* when they were last looked for; 0: never */
    pid_t child;            /* tier_options.child */
    struct kpass *pass;     /* probes of nodes */
    tier_progress_fn progress;
    void *progress_arg;
    uint64_t told_ns; /* when that was last called */
};

enum { TELL_NS = 100000000 };

static struct ebpf *self(struct tier *t)
{
    return (struct ebpf *)(void *)t;
}

struct match {
    tier_match_fn fn;
    void *arg;
    size_t n;
};

static int matched(void *arg, const struct kprobe *p)
{
    const struct match *m = arg;
    if (p->attach == KATTACH_PROFILE || p->attach == KATTACH_TICK) /* they are in `own` */
        return 0;
    const struct tier_probe t = {.id = p->id,
                                 .prov = p->prov,
                                 .mod = p->mod,
                                 .func = p->func,
                                 .name = p->name,
                                 .kind = PROBE_KERNEL};
    return m->fn(m->arg, &t);
}

/* Opens the catalogue of the kernel's probes when it is first needed. */
static int catalogue(struct ebpf *k, struct diags *d)
{
    return k->probes != NULL ? 0 : kprobes_open(&k->probes, d);
}

static bool is_of_process(const struct probe_spec *spec)
{
    return spec->id != 0 ? spec->id >= KUSER_ID : kuser_names(spec->prov);
}

static int matched_process(void *arg, const struct kprobe *p)
{
    struct match *m = arg;
    m->n++;
    return matched(arg, p);
}

/* A module that is named in full and has the probe is the only one that is meant. */
static int match_process(struct ebpf *k, const struct probe_spec *spec, struct match *m,
                         struct diags *d)
{
    const int err = kuser_match(k->user, spec, matched_process, m, d);
    k->waits |= spec->id == 0 && (spec->mod[0] == '\0' || !glob_exact(spec->mod) || m->n == 0);
    return err;
}

static int ebpf_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                      struct diags *d)
{
    struct ebpf *k = self(t);
    struct match m = {fn, arg, 0};
    if (is_of_process(spec))
        return match_process(k, spec, &m, d);
    int err = own_match(&k->own, spec, fn, arg, d);
    if (err == 0 && !own_names(spec))
        err = catalogue(k, d);
    return err == 0 && k->probes != NULL ? kprobes_match(k->probes, spec, matched, &m, d) : err;
}

static const char *ebpf_suggest(struct tier *t, const struct probe_spec *spec)
{
    struct ebpf *k = self(t);
    const char *s = NULL;
    if (is_of_process(spec))
        return kuser_suggest(k->user, spec);
    if (k->probes != NULL) {
        s = kprobes_missing(k->probes, spec);
        s = s != NULL ? s : kprobes_suggest(k->probes, spec);
    }
    return s != NULL ? s : own_suggest(&k->own, spec, "kernel");
}

/* Describes the probes to the programs: those that this process fires, in the order of `own`, and
 * the clocks of CPUs. */
static int plan(struct ebpf *k, struct diags *d)
{
    struct own *o = &k->own;
    struct krun_probe *own = arena_array(&o->arena, o->n, sizeof *own);
    struct krun_probe *clock = arena_array(&o->arena, o->n, sizeof *clock);
    uint64_t *period = arena_array(&o->arena, o->n, sizeof *period);
    if (own == NULL || clock == NULL || period == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
    k->plan = (struct krun_plan){.own = own,
                                 .nown = o->n,
                                 .error = OWN_ERROR,
                                 .end = OWN_END,
                                 .clock = clock,
                                 .period = period,
                                 .event = k->event,
                                 .nevents = k->nevents,
                                 .syms = k->syms,
                                 .grows = k->waits && kuser_any(k->user)};
    for (uint32_t i = 0; i < o->n; i++) {
        const struct own_probe *p = &o->probe[i];
        const bool sampled = p->probe.kind == PROBE_PROFILE;
        own[i] = (struct krun_probe){p->identity, p->bindings, sampled ? 0 : p->nbindings};
        if (!sampled || p->nbindings == 0)
            continue;
        period[k->plan.nclocks] = p->probe.period;
        clock[k->plan.nclocks++] = (struct krun_probe){p->identity, p->bindings, p->nbindings};
    }
    return 0;
}

/* Returns the probe of an id, unless this process fires it. */
static const struct kprobe *probe_of(const struct ebpf *k, uint32_t id)
{
    return id >= KPASS_ID     ? kpass_by_id(k->pass, id)
           : id >= KUSER_ID   ? kuser_by_id(k->user, id)
           : id >= KPROBES_ID ? kprobes_by_id(k->probes, id)
                              : NULL;
}

static const struct kprobe_arg *arguments(const struct ebpf *k, const struct kprobe *p, size_t *n)
{
    return p->shares         ? kpass_args(k->pass, n)
           : p->file != NULL ? kuser_args(p, n)
                             : kprobes_args(k->probes, p, n);
}

static const struct probe_def *ebpf_describe(struct tier *t, uint32_t id)
{
    struct ebpf *k = self(t);
    struct arena *a = &k->own.arena;
    const struct kprobe *p = probe_of(k, id);
    struct probe_def *def = p != NULL ? arena_alloc(a, sizeof *def) : NULL;
    size_t n;
    if (def == NULL)
        return NULL;
    const struct kprobe_arg *arg = arguments(k, p, &n);
    def->name = p->name;
    def->text = p->text[0] != '\0' ? p->text : arena_printf(a, "at the tracepoint %s", p->point);
    if (def->text == NULL)
        return NULL;
    for (size_t i = 0; i < n && i < sizeof def->arg / sizeof *def->arg; i++)
        def->arg[i] = (struct probe_arg){.type = arg[i].type,
                                         .name = arg[i].name,
                                         .text = arg[i].text,
                                         .as = p->file != NULL     ? "" /* the compiler has none */
                                               : arg[i].as != NULL ? arg[i].as
                                                                   : arg[i].type};
    return def;
}

/* Makes an event of a probe, or of one of the places that it has. */
static struct kevent_probe event_of(const struct ebpf *k, const struct kprobe *p,
                                    const struct kprobe *id, const struct engine_binding *of,
                                    uint32_t n)
{
    struct kevent_probe e = {
        .identity = {id->shares ? id->shown : id->id, id->prov, id->mod, id->func, id->name},
        .probe = p,
        .b = of,
        .n = n};
    e.arg = arguments(k, p, &e.nargs);
    return e;
}

/* Collects the bindings of each of the kernel's probes, which come in the order of probes. */
static int bind_probes(struct ebpf *k, const struct tier_binding *b, size_t n,
                       struct kevent_probe **event, uint32_t *nevents, struct diags *d)
{
    struct arena *a = &k->own.arena;
    size_t events = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || b[i].probe != b[i - 1].probe)
            for (const struct kprobe *p = probe_of(k, b[i].probe); p != NULL; p = p->more)
                events++;
    *event = arena_array(a, events + 1, sizeof **event);
    *nevents = 0;
    bool oom = *event == NULL;
    for (size_t i = 0, count; i < n && !oom; i += count) {
        for (count = 1; i + count < n && b[i + count].probe == b[i].probe; count++)
            ;
        const struct kprobe *id = probe_of(k, b[i].probe);
        struct engine_binding *of = id != NULL ? arena_array(a, count, sizeof *of) : NULL;
        oom = id != NULL && of == NULL;
        for (size_t j = 0; of != NULL && j < count; j++)
            of[j] = (struct engine_binding){b[i + j].epid, b[i + j].clause};
        for (const struct kprobe *p = id; of != NULL && p != NULL; p = p->more)
            (*event)[(*nevents)++] = event_of(k, p, id, of, (uint32_t)count);
    }
    return oom ? diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes") : 0;
}

static int ebpf_take(struct tier *t, pid_t pid, uint64_t at, const struct tier_probe *p,
                     uint32_t *id, uint32_t *number, struct diags *d)
{
    struct ebpf *k = self(t);
    const struct kprobe *q;
    const struct engine_probe as = {p->id, p->prov, p->mod, p->func, p->name};
    const int err = kpass_add(k->pass, (uint64_t)pid, at, &as, &q, d);
    if (err != 0)
        return err;
    *id = q->id;
    *number = (uint32_t)q->is;
    return 0;
}

static int ebpf_enable(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                       const struct tier_binding *b, size_t n, struct tier_options *opt,
                       struct diags *d)
{
    (void)img;
    struct ebpf *k = self(t);
    struct dif_image copy;
    dif_image_init(&copy);
    int err = dif_decode(&copy, image, len, d);
    if (err == 0)
        err = dif_verify_for(&copy, WORD_KERNEL, d);
    if (err == 0)
        err = own_bind(&k->own, b, n, d);
    if (err == 0)
        err = bind_probes(k, b, n, &k->event, &k->nevents, d);
    if (err == 0)
        err = plan(k, d);
    if (err == 0 && opt->cpu >= 0)
        err = own_pin(&k->own, opt->cpu, d);
    if (err) {
        dif_image_free(&copy);
        return err;
    }
    struct engine_options eo = {.policy = (enum record_policy)opt->bufpolicy,
                                .fixed = opt->bufresize != 0,
                                .bufsize = (uint64_t)opt->bufsize,
                                .aggsize = (uint64_t)opt->aggsize,
                                .dynvarsize = (uint64_t)opt->dynvarsize,
                                .specsize = (uint64_t)opt->specsize,
                                .nspec = (uint32_t)opt->nspec,
                                .eventbudget = (uint64_t)opt->eventbudget,
                                .one_cpu = opt->cpu >= 0,
                                .cpu = (uint32_t)opt->cpu,
                                .pid = (int32_t)getpid()};
    err = krun_create(&copy, &eo, &k->plan, &k->run, d);
    if (err)
        return err;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    opt->ncpus = cpus > 0 ? (uint32_t)cpus : 1;
    opt->bufsize = (int64_t)eo.bufsize;
    opt->aggsize = (int64_t)eo.aggsize;
    opt->dynvarsize = (int64_t)eo.dynvarsize;
    opt->specsize = (int64_t)eo.specsize;
    own_pace(&k->own, opt->switchrate, opt->aggrate);
    k->progress = opt->progress;
    k->progress_arg = opt->progress_arg;
    k->child = opt->child;
    return 0;
}

static bool placing(void *arg, size_t done, size_t all)
{
    struct ebpf *k = arg;
    const uint64_t now = monotonic_ns();
    if (k->progress == NULL || now - k->told_ns < TELL_NS)
        return true;
    k->told_ns = now;
    const struct tier_progress p = {
        .unit = "places in processes", .done = done, .total = all, .fresh = true};
    return k->progress(k->progress_arg, &p);
}

struct awaiting {
    struct ebpf *k;
    struct diags *d;
};

/* Where it is not possible for a process, a warning says so. */
static int await_linker(void *arg, const struct kuser_linker *l)
{
    const struct awaiting *a = arg;
    struct ebpf *k = a->k;
    struct diags said;
    diags_init(&said);
    int err = k->mapped == NULL ? kmapped_open(&k->mapped, &said) : 0;
    if (err == 0)
        err = kmapped_add(k->mapped, l->pid, l->fd, l->offset, l->first_namespace,
                          (pid_t)l->pid == k->child, &said);
    if (err != 0)
        diag_add(a->d, DIAG_WARNING, NULL, "KERNEL_UPROBES", NULL,
                 "functions of files that process %llu maps later have no probes: %s",
                 (unsigned long long)l->pid, said.count > 0 ? said.list[0].text : "");
    diags_free(&said);
    return 0;
}

/* From now on it is told when processes with probes map further files. */
static void await_files(struct ebpf *k, struct diags *d)
{
    struct awaiting a = {k, d};
    kuser_linkers(k->user, await_linker, &a);
    if (k->mapped != NULL)
        k->own.wake = kmapped_fd(k->mapped);
}

static bool ebpf_grown(struct tier *t)
{
    struct ebpf *k = self(t);
    if (k->mapped == NULL)
        return false;
    const uint64_t now = monotonic_ns();
    k->told |= kmapped_take(k->mapped) || k->looked_ns == 0;
    if (!k->told || (!kmapped_stops(k->mapped) && now - k->looked_ns < TELL_NS))
        return false;
    k->told = false;
    k->looked_ns = now;
    const bool any = kuser_look(k->user);
    if (!any)
        kmapped_go_on(k->mapped);
    return any;
}

static int ebpf_match_new(struct tier *t, const struct probe_spec *spec, tier_match_fn fn,
                          void *arg, struct diags *d)
{
    struct match m = {fn, arg, 0};
    return spec->id == 0 && kuser_names(spec->prov)
               ? kuser_match_new(self(t)->user, spec, matched, &m, d)
               : 0;
}

/* What cannot be placed is left out, and the program goes on. */
static int ebpf_extend(struct tier *t, const struct tier_binding *b, size_t n, struct diags *d)
{
    struct ebpf *k = self(t);
    struct kevent_probe *event = NULL;
    uint32_t nevents = 0;
    struct diags said;
    diags_init(&said);
    int err = bind_probes(k, b, n, &event, &nevents, &said);
    if (err == 0 && nevents > 0)
        err = krun_extend(k->run, event, nevents, &said);
    for (size_t i = 0; i < said.count; i++)
        diag_add(d, DIAG_WARNING, NULL, said.list[i].tag, said.list[i].hint,
                 "probes in files that were mapped later: %s", said.list[i].text);
    diags_free(&said);
    kuser_settled(k->user);
    kmapped_go_on(k->mapped);
    return 0;
}

static int ebpf_prepare(struct tier *t, struct diags *d)
{
    struct ebpf *k = self(t);
    ksyms_ready(k->syms);
    const int err = krun_place(k->run, placing, k, d);
    if (err == 0 && k->waits)
        await_files(k, d);
    return err;
}

static void fire(struct tier *t, const struct own_probe *p, uint64_t late)
{
    struct ebpf *k = self(t);
    krun_fire(k->run, (uint32_t)(p - k->own.probe), late);
}

static int ebpf_go(struct tier *t, struct diags *d)
{
    struct ebpf *k = self(t);
    krun_phase(k->run, ENGINE_BEGIN);
    fire(t, &k->own.probe[OWN_BEGIN], 0);
    krun_phase(k->run, ENGINE_RUNNING);
    own_start(&k->own);
    return krun_exiting(k->run) ? 0 : krun_attach(k->run, d);
}

static bool exiting(struct tier *t)
{
    return krun_exiting(self(t)->run);
}

static void flip(struct tier *t, unsigned what)
{
    krun_flip(self(t)->run, what);
}

static void drained(struct tier *t)
{
    krun_drained(self(t)->run);
}

static void counts(struct tier *t, struct record_counts *c)
{
    krun_counts(self(t)->run, c);
}

static const struct own_runner runner = {exiting, fire, flip, drained, counts};

static int ebpf_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                     struct diags *d)
{
    struct ebpf *k = self(t);
    if (!k->own.stopped)
        krun_look(k->run, false, d);
    return own_work(&k->own, t, krun_engine(k->run), &runner, k->plan.nclocks + k->nevents > 0,
                    timeout_ms, flush, sink, d);
}

static int ebpf_stop(struct tier *t, struct diags *d)
{
    struct ebpf *k = self(t);
    if (k->own.stopped)
        return 0;
    krun_look(k->run, true, d);
    kmapped_close(k->mapped);
    k->mapped = NULL;
    k->own.wake = -1;
    krun_detach(k->run);
    krun_phase(k->run, ENGINE_END);
    fire(t, &k->own.probe[OWN_END], 0);
    krun_phase(k->run, ENGINE_STOPPED);
    k->own.stopped = true;
    return 0;
}

static void ebpf_close(struct tier *t)
{
    struct ebpf *k = self(t);
    kmapped_close(k->mapped);
    krun_destroy(k->run);
    kprobes_close(k->probes);
    kpass_close(k->pass);
    kuser_close(k->user);
    ksyms_close(k->syms);
    own_free(&k->own);
    et_free(k);
}

static const char *ebpf_target(struct tier *t)
{
    (void)t;
    return "";
}

static int ebpf_fd(struct tier *t)
{
    (void)t;
    return -1;
}

static const char *ebpf_enabled(struct tier *t)
{
    (void)t;
    return NULL;
}

static void ebpf_rates(struct tier *t, int64_t switchrate, int64_t aggrate)
{
    own_pace(&self(t)->own, switchrate, aggrate);
}

static bool ebpf_symbol(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    struct ebpf *k = self(t);
    struct ksym found;
    if (!ksyms_find(k->syms, pid, address, &found))
        return false;
    *out = (struct tier_symbol){.object = found.object,
                                .function = found.function,
                                .offset = found.offset,
                                .object_offset = found.object_offset,
                                .whole = found.erlang,
                                .file = found.file,
                                .line = found.line};
    return true;
}

static uint64_t ebpf_keeps(struct tier *t)
{
    const struct ebpf *k = self(t);
    const uint64_t more = UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON |
                          UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
                          UINT64_C(1) << CAP_CHECKPOINT_RESTORE;
    return krun_keeps(k->run) | (k->mapped == NULL          ? 0
                                 : kmapped_stops(k->mapped) ? more | UINT64_C(1) << CAP_KILL
                                                            : more);
}

struct examination {
    tier_finding_fn fn;
    void *arg;
};

static void find(void *arg, const char *subject, const char *level, const char *text,
                 const char *help)
{
    const struct examination *x = arg;
    x->fn(x->arg, &(struct tier_finding){subject, level, text, help});
}

static int ebpf_examine(struct tier *t, int *otp, tier_finding_fn fn, void *arg, struct diags *d)
{
    struct examination x = {fn, arg};
    (void)t;
    *otp = 0;
    return kexamine(find, &x, d);
}

static const struct tier_ops ebpf_ops = {
    .name = "kernel",
    .place = WORD_KERNEL,
    .match = ebpf_match,
    .suggest = ebpf_suggest,
    .describe = ebpf_describe,
    .take = ebpf_take,
    .enable = ebpf_enable,
    .prepare = ebpf_prepare,
    .go = ebpf_go,
    .work = ebpf_work,
    .stop = ebpf_stop,
    .close = ebpf_close,
    .grown = ebpf_grown,
    .match_new = ebpf_match_new,
    .extend = ebpf_extend,
    .target = ebpf_target,
    .fd = ebpf_fd,
    .enabled = ebpf_enabled,
    .keeps = ebpf_keeps,
    .rates = ebpf_rates,
    .symbol = ebpf_symbol,
    .examine = ebpf_examine,
};

int tier_kernel_says(const struct foreign **out, struct diags *d)
{
    struct ktypes *k;
    int err = ktypes_open(&k, d);
    *out = err == 0 ? ktypes_foreign(k) : NULL;
    return err;
}

void tier_kernel_said(const struct foreign *f)
{
    if (f != NULL)
        ktypes_close(f->arg);
}

int tier_kernel_open(struct tier **out, struct diags *d)
{
    int err = kload_possible(d);
    if (err)
        return err;
    struct ebpf *k = et_calloc(1, sizeof *k);
    if (k == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
    k->tier.ops = &ebpf_ops;
    err = own_init(&k->own, d);
    if (err == 0 && ((k->syms = ksyms_open()) == NULL || (k->user = kuser_open(k->syms)) == NULL ||
                     (k->pass = kpass_open(k->user)) == NULL))
        err = diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
    if (err)
        ebpf_close(&k->tier);
    else
        *out = &k->tier;
    return err;
}
