/* cost.c - the cost of events in the VM's terms: the kind of an event, the VM's thread that it was
 * on, and the report of a program's account. load.h explains accounts. */
#include "beam/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"

enum {
    STOLEN_NS = 1000000000, /* least time between two readings of a hypervisor's share */
    STEAL = 8,              /* words before it in /proc/stat */
    TOP = 32,               /* most probes that a report lists */
};

/* For each tag: the cost class, and the need that makes the VM report it. */
static const struct tag_cost {
    size_t atom; /* its place in struct atoms */
    enum load_class class;
    uint32_t need;
} costs[] = {
#define TAG(name, class, need)                                                                     \
    {                                                                                              \
        offsetof(struct atoms, name), class, need                                                  \
    }
    TAG(call, LOAD_CALL, PROBE_NEED_CALL | PROBE_NEED_HOOKS),
    TAG(return_to, LOAD_RETURN, PROBE_NEED_RETURN),
    TAG(return_from, LOAD_FRAME, PROBE_NEED_EXCEPTION),
    TAG(exception_from, LOAD_FRAME, PROBE_NEED_EXCEPTION),
    TAG(send, LOAD_MESSAGE, PROBE_NEED_SEND | PROBE_NEED_PORT_SEND),
    TAG(receive, LOAD_MESSAGE, PROBE_NEED_RECEIVE | PROBE_NEED_PORT_RECEIVE),
    TAG(in, LOAD_RUNNING, PROBE_NEED_RUNNING | PROBE_NEED_PORT_RUNNING),
    TAG(out, LOAD_RUNNING, PROBE_NEED_RUNNING | PROBE_NEED_PORT_RUNNING),
    TAG(in_exiting, LOAD_RUNNING, PROBE_NEED_RUNNING),
    TAG(out_exiting, LOAD_RUNNING, PROBE_NEED_RUNNING),
    TAG(out_exited, LOAD_RUNNING, PROBE_NEED_RUNNING),
    TAG(spawn, LOAD_PROCESS, PROBE_NEED_PROCS),
    TAG(spawned, LOAD_PROCESS, PROBE_NEED_PROCS),
    TAG(exit, LOAD_PROCESS, PROBE_NEED_PROCS),
    TAG(link, LOAD_PROCESS, PROBE_NEED_PROCS),
    TAG(unlink, LOAD_PROCESS, PROBE_NEED_PROCS),
    TAG(send_to_non_existing_process, LOAD_MESSAGE, PROBE_NEED_SEND),
    TAG(seq_trace, LOAD_MESSAGE, PROBE_NEED_SEQ_TRACE),
    TAG(open, LOAD_PORT, PROBE_NEED_PORTS),
    TAG(closed, LOAD_PORT, PROBE_NEED_PORTS),
    TAG(getting_linked, LOAD_PROCESS, PROBE_NEED_PROCS | PROBE_NEED_PORTS),
    TAG(getting_unlinked, LOAD_PROCESS, PROBE_NEED_PROCS | PROBE_NEED_PORTS),
    TAG(register_, LOAD_PROCESS, PROBE_NEED_PROCS | PROBE_NEED_PORTS),
    TAG(unregister, LOAD_PROCESS, PROBE_NEED_PROCS | PROBE_NEED_PORTS),
    TAG(gc_max_heap_size, LOAD_GC, PROBE_NEED_GC),
    TAG(gc_minor_start, LOAD_GC, PROBE_NEED_GC),
    TAG(gc_minor_end, LOAD_GC, PROBE_NEED_GC),
    TAG(gc_major_start, LOAD_GC, PROBE_NEED_GC),
    TAG(gc_major_end, LOAD_GC, PROBE_NEED_GC),
#undef TAG
};

static struct tag_cost cost_of(ERL_NIF_TERM tag)
{
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        ERL_NIF_TERM atom;
        memcpy(&atom, (const char *)&agent.atom + costs[i].atom, sizeof atom);
        if (atom == tag)
            return costs[i];
    }
    return (struct tag_cost){0, LOAD_OTHER, 0};
}

/* -- clocks ------------------------------------------------------------------------------------ */

/* Reads a file whose content the system makes at that moment. Returns false when it cannot be read.
 */
static bool read_file(const char *path, char *text, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, cap - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Gets the total time that the thread has run and waited for a processor: some microseconds, once a
 * slice. Where the system does not tell, waits are unknown. */
static void ask_thread(struct load_clocks *k)
{
    char text[96];
    const char *p = text;
    uint64_t ran, waited;
    int was = errno; /* the VM's, which is in the middle of other work */
    k->ran = thread_ns();
    if (read_file("/proc/thread-self/schedstat", text, sizeof text) && number_read(&p, 10, &ran) &&
        number_read(&p, 10, &waited))
        k->waited = waited;
    errno = was;
}

/* Ends a sample of an event, for these programs. Returns whether one of them is over now: it has
 * been ended. */
static bool account(struct load_sample *sample, struct load *const *all, uint32_t n,
                    struct engine_thread *t, struct tag_cost c)
{
    struct load_sampler *me = &tracer_thread(t)->sampler;
    struct load_clocks k = {.now = monotonic_ns()};
    k.took = load_doubtful(sample, k.now) ? thread_ns() - sample->cpu : k.now - sample->start;
    if (load_turns(me, k.now))
        ask_thread(&k);
    struct load *over = load_end(me, sample, all, n, t->index, c.class, c.need, &k);
    if (over) {
        struct program *p =
            (struct program *)(void *)((char *)over - offsetof(struct program, load));
        engine_end(p->engine);
    }
    return over != NULL;
}

void tracer_account(struct load_sample *sample, const struct snapshot *s, struct engine_thread *t,
                    const ERL_NIF_TERM argv[])
{
    if (!account(sample, s ? s->load : NULL, s ? s->nprograms : 0, t, cost_of(argv[0])))
        return;
    bool all = true;
    for (uint32_t i = 0; i < s->nprograms; i++)
        all = all && load_is_over(s->load[i]);
    if (all)
        atomic_store(&agent.spent, s->serial);
}

void tracer_account_own(struct load_sample *sample, struct load *const *all, uint32_t n,
                        struct engine_thread *t)
{
    account(sample, all, n, t, (struct tag_cost){0, LOAD_OTHER, 0});
}

void tracer_account_work(const struct load_sample *work, struct program *p, struct engine_thread *t)
{
    struct load_sampler *me = &tracer_thread(t)->sampler;
    const struct load_sampler was = *me;
    const struct snapshot *s = atomic_load(&agent.snapshot);
    struct load *own[] = {&p->load};
    struct load_sample sample = {.start = work->start, .cpu = work->cpu, .clocks = 1};
    bool among = false;
    for (uint32_t i = 0; s && i < s->nprograms; i++)
        among = among || s->load[i] == own[0];
    me->gap = 0;
    load_part(&sample, own[0], NULL, monotonic_ns() - sample.start);
    account(&sample, among ? s->load : own, among ? s->nprograms : 1, t,
            (struct tag_cost){0, LOAD_OTHER, 0});
    me->on = was.on;
    me->left = was.left;
    me->gap = was.gap;
    me->random = was.random;
}

void cost_stolen(void)
{
    /* Used by the server only: what the system said last, and when. */
    static uint64_t last, at;
    char text[256];
    uint64_t ticks, now = monotonic_ns();
    long second = sysconf(_SC_CLK_TCK), cpus = sysconf(_SC_NPROCESSORS_ONLN);
    /* The line of all processors: cpu user nice system idle iowait irq softirq steal ... */
    if (second <= 0 || cpus <= 0 || now - at < STOLEN_NS ||
        !read_file("/proc/stat", text, sizeof text))
        return;
    const char *p = number_skip(text, STEAL);
    if (strncmp(text, "cpu ", 4) != 0 || !number_read(&p, 10, &ticks))
        return;
    uint64_t stolen = ticks * (UINT64_C(1000000000) / (uint64_t)second) / (uint64_t)cpus;
    if (at && stolen >= last)
        load_stolen((uint32_t)((double)(stolen - last) * (double)LOAD_MOST / (double)(now - at)));
    last = stolen;
    at = now;
}

/* -- reporting --------------------------------------------------------------------------------- */

struct thread_name {
    ERL_NIF_TERM kind;
    uint32_t number; /* as the VM counts them, from 1; 0: not known */
};

/* Returns the VM's name and number for a thread. The VM tells them by the thread's name, which
 * depends on the release. */
static struct thread_name thread_name(uint32_t index)
{
    const struct atoms *a = &agent.atom;
    const struct {
        const char *before, *after; /* of the number */
        ERL_NIF_TERM kind;
    } names[] = {
        {"erts_sched_", "", a->scheduler}, {"", "_scheduler", a->scheduler},
        {"erts_dcpus_", "", a->dirty_cpu}, {"", "_dirty_cpu_sch", a->dirty_cpu},
        {"erts_dios_", "", a->dirty_io},   {"", "_dirty_io_sche", a->dirty_io},
    };
    char path[64], text[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)engine_thread_at(index)->tid);
    FILE *f = fopen(path, "re");
    if (f) {
        if (!fgets(text, sizeof text, f))
            text[0] = '\0';
        fclose(f);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i].before);
        const char *p = text + n;
        uint64_t number;
        if (strncmp(text, names[i].before, n) == 0 && number_read(&p, 10, &number) &&
            strncmp(p, names[i].after, strlen(names[i].after)) == 0)
            return (struct thread_name){names[i].kind, (uint32_t)number};
    }
    return (struct thread_name){a->other, index};
}

static ERL_NIF_TERM threads(ErlNifEnv *env, const struct load *l, enum load_from from,
                            uint64_t time)
{
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (uint32_t i = l->nthreads; i-- > 0;) {
        uint64_t events = atomic_load_explicit(&l->thread[i].events, memory_order_relaxed);
        uint64_t ns = atomic_load_explicit(&l->thread[i].ns, memory_order_relaxed);
        load_since(&l->thread[i].marks, from, &events, &ns);
        if (events == 0)
            continue;
        struct thread_name name = thread_name(i);
        uint64_t waited = load_waited(l, i, from);
        list = enif_make_list_cell(
            env,
            enif_make_tuple5(env, name.kind, enif_make_uint(env, name.number),
                             enif_make_uint64(env, events), enif_make_uint64(env, ns),
                             enif_make_uint64(env, load_could_run(time, waited))),
            list);
    }
    return list;
}

/* Returns the VM's own part of the whole cost. */
static uint64_t vm_cost(const struct load *l, enum load_from from)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < l->nthreads; i++) {
        const struct load_thread *t = &l->thread[i];
        ns += atomic_load_explicit(&t->vm, memory_order_relaxed) -
              (from == LOAD_START ? 0 : t->vm_marks[from]);
    }
    return ns;
}

static ERL_NIF_TERM row(ErlNifEnv *env, uint32_t what, uint64_t events, uint64_t ns)
{
    return enif_make_tuple3(env, enif_make_uint(env, what), enif_make_uint64(env, events),
                            enif_make_uint64(env, ns));
}

static void probe_cost(const struct load_probe *p, enum load_from from, uint64_t *events,
                       uint64_t *ns)
{
    *events = atomic_load_explicit(&p->events, memory_order_relaxed);
    *ns = atomic_load_explicit(&p->ns, memory_order_relaxed);
    load_since(&p->marks, from, events, ns);
}

/* Ranks functions whose calls the VM counts, by those calls: also those that were not called. */
static uint64_t by_calls(const void *of, uint32_t i, enum load_from from)
{
    const struct program_probes *pp = of;
    uint64_t calls, ns;
    if (!pp->v[i].counted)
        return 0;
    probe_cost(&pp->cost[i], from, &calls, &ns);
    return calls + 1;
}

/* Returns {Functions, [{ProbeId, Calls}]}: how many functions the VM counts calls of, and the `top`
 * of them that were called most. */
static ERL_NIF_TERM counted_calls(ErlNifEnv *env, const struct program_probes *pp, uint32_t top,
                                  enum load_from from)
{
    uint32_t index[TOP], n = 0;
    uint64_t calls, ns;
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (uint32_t i = 0; i < pp->n; i++)
        n += pp->v[i].counted;
    for (uint32_t i = load_top(by_calls, pp, pp->n, from, index, top); i-- > 0;) {
        probe_cost(&pp->cost[index[i]], from, &calls, &ns);
        list = enif_make_list_cell(env,
                                   enif_make_tuple2(env, enif_make_uint(env, pp->v[index[i]].id.id),
                                                    enif_make_uint64(env, calls)),
                                   list);
    }
    return enif_make_tuple2(env, enif_make_uint(env, n), list);
}

ERL_NIF_TERM program_load(ErlNifEnv *env, struct program *p, uint32_t top, enum load_from from)
{
    struct load *l = &p->load;
    struct {
        uint64_t events, ns;
    } kind[PROBE_NKINDS] = {{0, 0}};
    uint32_t index[TOP];
    uint64_t events, ns, now = load_until(l, monotonic_ns());
    uint64_t period = now > l->marked[from] ? now - l->marked[from] : 1;
    struct record_counts c;
    engine_counts(p->engine, &c);
    top = top < TOP ? top : TOP;
    for (const struct program_probes *pp = &p->probes; pp; pp = pp->next)
        for (uint32_t i = 0; i < pp->n; i++) {
            if (pp->v[i].counted)
                continue;
            probe_cost(&pp->cost[i], from, &events, &ns);
            kind[pp->v[i].kind].events += events;
            kind[pp->v[i].kind].ns += ns;
        }
    ERL_NIF_TERM kinds = enif_make_list(env, 0), probes = enif_make_list(env, 0);
    ERL_NIF_TERM over = enif_make_list(env, 0);
    for (uint32_t k = PROBE_NKINDS; k-- > 0;)
        if (kind[k].events > 0)
            kinds = enif_make_list_cell(env, row(env, k, kind[k].events, kind[k].ns), kinds);
    for (uint32_t i = load_top(load_by_cost, l, l->nprobes, from, index, top); i-- > 0;) {
        probe_cost(&l->probe[index[i]], from, &events, &ns);
        probes =
            enif_make_list_cell(env, row(env, p->probes.v[index[i]].id.id, events, ns), probes);
    }
    if (load_is_over(l)) {
        struct thread_name name = thread_name(l->trip.thread);
        over = enif_make_tuple5(
            env, name.kind, enif_make_uint(env, name.number), enif_make_uint64(env, l->trip.time),
            enif_make_uint(env, l->trip.permille), enif_make_uint(env, l->limit));
    }
    ERL_NIF_TERM result = enif_make_tuple8(
        env, enif_make_uint64(env, period), enif_make_uint64(env, c.fired - l->fired[from]),
        threads(env, l, from, period), kinds, probes, enif_make_uint64(env, vm_cost(l, from)),
        counted_calls(env, &p->probes, top, from), over);
    load_mark(l, now, c.fired);
    for (const struct program_probes *pp = p->probes.next; pp; pp = pp->next)
        load_mark_probes(pp->cost, pp->n);
    return result;
}
