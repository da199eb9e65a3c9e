/* load.c - samples, charges, and checks the limit. See load.h. */
#include "beam/deadman/load.h"

#include <string.h>

#include "base/clock.h"
#include "engine/engine.h"

const uint16_t load_vm_ns[LOAD_NCLASSES] = {
    [LOAD_CALL] = 190,    [LOAD_CALL_LOCAL] = 210, [LOAD_RETURN] = 200,  [LOAD_FRAME] = 200,
    [LOAD_MESSAGE] = 170, [LOAD_RUNNING] = 170,    [LOAD_PROCESS] = 170, [LOAD_GC] = 250,
    [LOAD_PORT] = 200,    [LOAD_OTHER] = 170,
};

/* For each thread, and written by it alone: the time that it could run. */
static struct load_clock {
    _Alignas(64) uint64_t at;  /* when it last looked; each thread has lines of its own */
    uint64_t ran, waited;      /* ... its clocks then */
    uint64_t slice;            /* ... in which slice */
    uint64_t could[LOAD_RING]; /* ns that it could run in slice n, at n % LOAD_RING */
    _Atomic uint64_t wait;     /* ns that it has waited, for reports */
} clocks[ENGINE_THREADS_MAX];

static _Atomic uint32_t stolen; /* permille */

static uint32_t reading_ns; /* cost of reading the clock */

void load_calibrate(void)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < 32; i++) {
        uint64_t from = monotonic_ns(), took = monotonic_ns() - from;
        best = took < best ? took : best;
    }
    reading_ns = best < 1000 ? (uint32_t)best : 1000;
}

uint64_t load_wait(uint32_t thread)
{
    return atomic_load_explicit(&clocks[thread].wait, memory_order_relaxed);
}

void load_stolen(uint32_t permille)
{
    atomic_store_explicit(&stolen, permille < LOAD_MOST ? permille : LOAD_MOST,
                          memory_order_relaxed);
}

uint64_t load_could_run(uint64_t ns, uint64_t waited)
{
    uint64_t left = LOAD_MOST - atomic_load_explicit(&stolen, memory_order_relaxed);
    uint64_t could = waited < ns ? (ns - waited) / LOAD_MOST * left : 0;
    return could ? could : 1;
}

void load_init(struct load *l, struct load_thread *thread, uint32_t nthreads,
               struct load_probe *probe, uint32_t nprobes)
{
    memset(l, 0, sizeof *l);
    l->thread = thread;
    l->nthreads = nthreads;
    l->probe = probe;
    l->nprobes = nprobes;
    atomic_store(&l->first, UINT64_MAX);
}

void load_start(struct load *l, uint64_t now)
{
    for (int from = LOAD_BEFORE; from <= LOAD_START; from++) {
        l->marked[from] = now;
        for (uint32_t i = 0; i < l->nthreads; i++)
            l->thread[i].waited[from] = load_wait(i);
    }
    l->ended = 0;
    atomic_store(&l->first, now / LOAD_SLICE_NS + 1);
}

void load_stop(struct load *l, uint64_t now)
{
    if (atomic_exchange(&l->first, UINT64_MAX) == UINT64_MAX)
        return; /* it did not run */
    l->ended = now;
    for (uint32_t i = 0; i < l->nthreads; i++)
        l->thread[i].waited_in_all = load_wait(i);
}

uint64_t load_waited(const struct load *l, uint32_t i, enum load_from from)
{
    const struct load_thread *t = &l->thread[i];
    return (l->ended != 0 ? t->waited_in_all : load_wait(i)) - t->waited[from];
}

uint64_t load_until(const struct load *l, uint64_t now)
{
    return load_is_over(l) ? l->trip.at : l->ended != 0 ? l->ended : now;
}

/* -- a sample ---------------------------------------------------------------------------------- */

void load_sample_begin(struct load_sampler *me, struct load_sample *s)
{
    me->on = s;
    s->nparts = s->vm_more = 0;
    s->clocks = 1;
    s->cpu = thread_ns();
    s->start = monotonic_ns();
}

void load_part(struct load_sample *s, struct load *l, struct load_probe *p, uint64_t ns)
{
    s->clocks += 2;
    ns -= ns < reading_ns ? ns : reading_ns;
    if (s->nparts < LOAD_PARTS)
        s->part[s->nparts++] = (struct load_part){l, p, ns};
    else
        s->part[LOAD_PARTS - 1].ns += ns;
}

/* Chooses the number of events before the next sample. With the sample they are 1 .. 2 * LOAD_GAP -
 * 1, LOAD_GAP in the mean. */
static uint32_t next_gap(struct load_sampler *s, uint64_t now, uint64_t took)
{
    if (took >= LOAD_SLOW_NS)
        return 0;
    uint32_t x = s->random ? s->random : ((uint32_t)now ^ (uint32_t)(uintptr_t)s) | 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    s->random = x;
    uint32_t gap = (x >> 8) & (2 * LOAD_GAP - 1);
    return (gap ? gap : LOAD_GAP) - 1;
}

static void add(_Atomic uint64_t *counter, uint64_t n) /* written by this thread alone */
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Empties the slices up to this one. */
static void advance(struct load_thread *t, uint64_t slice)
{
    if (slice - t->slice >= LOAD_RING) {
        memset(t->ring, 0, sizeof t->ring);
        t->slice = slice;
    }
    while (t->slice != slice)
        t->ring[++t->slice % LOAD_RING] = 0;
}

/* What a sample charges. */
struct bill {
    uint32_t thread;
    uint64_t slice, events;
};

/* Charges a program per event: ns of ours, which is the probe's if there is one, and vm of the VM.
 * A program that was ended is charged no more: the VM's remaining events are on their way out and
 * belong to no program. */
static void charge(const struct bill *b, struct load *l, struct load_probe *p, uint64_t ns,
                   uint64_t vm)
{
    if (load_is_over(l))
        return;
    if (p) {
        atomic_fetch_add_explicit(&p->events, b->events, memory_order_relaxed);
        atomic_fetch_add_explicit(&p->ns, ns * b->events, memory_order_relaxed);
    }
    if (b->thread >= l->nthreads)
        return;
    struct load_thread *t = &l->thread[b->thread];
    uint32_t *cell = &t->ring[b->slice % LOAD_RING];
    ns = (ns + vm) * b->events;
    add(&t->events, b->events);
    add(&t->ns, ns);
    add(&t->vm, vm * b->events);
    advance(t, b->slice);
    *cell = ns < UINT32_MAX - *cell ? *cell + (uint32_t)ns : UINT32_MAX;
}

/* Charges an event at which no probe fired to the programs whose needs made the VM report it. There
 * may be none: the flags of a program that was just ended are removed some time after it. */
static void charge_needy(const struct bill *b, struct load *const *all, uint32_t n, uint32_t need,
                         uint64_t ns, uint64_t vm)
{
    uint32_t needy = 0;
    for (uint32_t i = 0; i < n; i++)
        needy += (all[i]->needs & need) != 0;
    for (uint32_t i = 0; i < n; i++)
        if ((all[i]->needs & need) != 0)
            charge(b, all[i], NULL, ns / needy, vm / needy);
}

/* -- the limit --------------------------------------------------------------------------------- */

/* Returns the ns charged in the slices of the window before this one. */
static uint64_t window(struct load *l, uint32_t thread, uint64_t slice)
{
    if (thread >= l->nthreads)
        return 0;
    struct load_thread *t = &l->thread[thread];
    uint64_t sum = 0;
    advance(t, slice);
    for (uint64_t i = 1; i <= LOAD_SLICES; i++)
        sum += t->ring[(slice - i) % LOAD_RING];
    return sum;
}

/* Returns whether a program has a limit, is not ended, and has run for a whole window. */
static bool judged(const struct load *l, uint64_t slice)
{
    uint64_t first = atomic_load_explicit(&l->first, memory_order_relaxed);
    return l->limit > 0 && slice >= LOAD_SLICES && slice - LOAD_SLICES >= first &&
           atomic_load_explicit(&l->over, memory_order_relaxed) == 0;
}

/* Notes how long the thread could run in the slices since it last looked, each of which gets its
 * part. first: it has had no events before. */
static void note_time(struct load_clock *c, uint64_t slice, const struct load_clocks *k, bool first)
{
    if (first || k->ran < c->ran || k->waited < c->waited || k->now <= c->at) {
        for (uint32_t i = 0; i < LOAD_RING; i++)
            c->could[i] = LOAD_SLICE_NS;
    } else {
        uint64_t ns = k->now - c->at, waited = k->waited - c->waited, ran = k->ran - c->ran;
        uint64_t could = load_could_run(ns, waited);
        could = could > ran ? could : ran < ns ? ran : ns;
        could = (uint64_t)((double)could * (double)LOAD_SLICE_NS / (double)ns);
        for (uint64_t i = 0; i < LOAD_RING && slice - i > c->slice; i++)
            c->could[(slice - i - 1) % LOAD_RING] = could;
        add(&c->wait, waited);
    }
    c->at = k->now;
    c->ran = k->ran;
    c->waited = k->waited;
    c->slice = slice;
}

/* Returns the ns of the window before this slice that the thread could run. */
static uint64_t available(const struct load_clock *c, uint64_t slice)
{
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= LOAD_SLICES; i++)
        sum += c->could[(slice - i) % LOAD_RING];
    return sum > LOAD_LEAST_NS ? sum : LOAD_LEAST_NS;
}

/* Returns the program to end, NULL: none. Another thread may find the same one, but only one of
 * them gets it. */
static struct load *look(struct load *const *all, uint32_t n, uint32_t thread, uint64_t slice,
                         uint64_t now)
{
    uint64_t sum = 0, most = 0, time = available(&clocks[thread], slice);
    struct load *worst = NULL, *over = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (!judged(all[i], slice))
            continue;
        uint64_t ns = window(all[i], thread, slice);
        sum += ns;
        if (ns > most) {
            most = ns;
            worst = all[i];
        }
        if (ns > time / LOAD_MOST * all[i]->limit)
            over = all[i];
    }
    if (worst && sum > time / LOAD_MOST * worst->limit)
        over = worst;
    uint32_t none = 0;
    if (!over || !atomic_compare_exchange_strong(&over->over, &none, 1))
        return NULL;
    uint64_t permille = window(over, thread, slice) / (time / LOAD_MOST);
    over->trip.thread = thread;
    over->trip.permille = permille < LOAD_MOST ? (uint32_t)permille : LOAD_MOST;
    over->trip.time = time;
    over->trip.at = now;
    atomic_store_explicit(&over->over, 2, memory_order_release);
    return over;
}

/* Removes from the parts, the longest first, the time of the event in which the thread did not run.
 */
static void not_run(struct load_sample *s, uint64_t ns)
{
    while (ns > 0) {
        struct load_part *most = NULL;
        for (uint32_t i = 0; i < s->nparts; i++)
            if (!most || s->part[i].ns > most->ns)
                most = &s->part[i];
        if (!most || most->ns == 0)
            return;
        uint64_t n = most->ns < ns ? most->ns : ns;
        most->ns -= n;
        ns -= n;
    }
}

struct load *load_end(struct load_sampler *me, struct load_sample *s, struct load *const *all,
                      uint32_t n, uint32_t thread, enum load_class class, uint32_t need,
                      const struct load_clocks *k)
{
    uint64_t length = k->now - s->start, took = k->took < length ? k->took : length;
    uint64_t readings = (uint64_t)s->clocks * reading_ns, slice = k->now / LOAD_SLICE_NS;
    struct bill bill = {thread, slice, (uint64_t)me->gap + 1};
    if (took * bill.events > LOAD_SAMPLE_NS)
        bill.events = took < LOAD_SAMPLE_NS ? LOAD_SAMPLE_NS / took : 1;
    me->on = NULL;
    me->left = me->gap = next_gap(me, k->now, took);
    not_run(s, length - took);
    took -= took < readings ? took : readings;
    uint64_t common = took, vm = load_vm_ns[class] + s->vm_more;
    for (uint32_t i = 0; i < s->nparts; i++)
        common -= s->part[i].ns < common ? s->part[i].ns : common;
    for (uint32_t i = 0; i < s->nparts; i++)
        charge(&bill, s->part[i].load, s->part[i].probe, s->part[i].ns + common / s->nparts,
               vm / s->nparts);
    if (s->nparts == 0 && n > 0)
        charge_needy(&bill, all, n, need, common, vm);
    if (slice == me->looked)
        return NULL;
    note_time(&clocks[thread], slice, k, me->looked == 0);
    me->looked = slice;
    return look(all, n, thread, slice, k->now);
}

/* -- reading ----------------------------------------------------------------------------------- */

static void mark(struct load_marks *m, const _Atomic uint64_t *events, const _Atomic uint64_t *ns)
{
    m->events[0] = m->events[1];
    m->ns[0] = m->ns[1];
    m->events[1] = atomic_load_explicit(events, memory_order_relaxed);
    m->ns[1] = atomic_load_explicit(ns, memory_order_relaxed);
}

void load_mark_probes(struct load_probe *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        mark(&p[i].marks, &p[i].events, &p[i].ns);
}

void load_mark(struct load *l, uint64_t now, uint64_t fired)
{
    for (uint32_t i = 0; i < l->nthreads; i++) {
        struct load_thread *t = &l->thread[i];
        mark(&t->marks, &t->events, &t->ns);
        t->vm_marks[0] = t->vm_marks[1];
        t->vm_marks[1] = atomic_load_explicit(&t->vm, memory_order_relaxed);
        t->waited[LOAD_BEFORE] = t->waited[LOAD_MARK];
        t->waited[LOAD_MARK] = load_wait(i);
    }
    load_mark_probes(l->probe, l->nprobes);
    l->marked[LOAD_BEFORE] = l->marked[LOAD_MARK];
    l->marked[LOAD_MARK] = now;
    l->fired[LOAD_BEFORE] = l->fired[LOAD_MARK];
    l->fired[LOAD_MARK] = fired;
}

uint64_t load_by_cost(const void *load, uint32_t i, enum load_from from)
{
    const struct load *l = load;
    uint64_t events = 0, ns = atomic_load_explicit(&l->probe[i].ns, memory_order_relaxed);
    load_since(&l->probe[i].marks, from, &events, &ns);
    return ns;
}

uint32_t load_top(load_rank *rank, const void *of, uint32_t nprobes, enum load_from from,
                  uint32_t *index, uint32_t n)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < nprobes; i++) {
        const uint64_t high = rank(of, i, from);
        if (high == 0 || (found == n && (n == 0 || high <= rank(of, index[n - 1], from))))
            continue;
        uint32_t at = found < n ? found++ : n - 1;
        for (; at > 0 && rank(of, index[at - 1], from) < high; at--)
            index[at] = index[at - 1];
        index[at] = i;
    }
    return found;
}
