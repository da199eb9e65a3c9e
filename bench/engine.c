/* engine.c - the engine alone, fired by many threads, without a VM.
 *
 *   engine ROW THREADS EVENTS      prints the nanoseconds of processor time that a firing takes,
 * and how many firings, keys and drops there were engine -l ROW THREADS EVENTS   for bench/lines:
 * the threads fire in turn, and each writes to a word of its own, at TURNS, when its turn begins
 * and ends; prints where the parts of the engine are
 *
 * A row is a program and what its events look like. Around each firing stands what the agent does
 * for an event: the thread is inside, and the program's account gets the samples. */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "beam/deadman/load.h"
#include "engine/impl.h"
#include "session/session.h"
#include "util/render.h"

enum { THREADS_MOST = 256, WARM = 300, PROCESSES = 7, KEYS = 1000, LINE = 64 };
#define TURNS ((void *)0x600000000) /* bench/lines knows it */

static volatile uint64_t *turns; /* LINE bytes a thread; NULL: all threads fire at once */

enum shape {
    ONE,     /* each event is alone */
    PAIRS,   /* every second event is the return of the one before */
    NEW_KEYS /* each event has another key */
};
static const struct row {
    const char *name, *text;
    enum shape shape;
    uint64_t bufsize, aggsize;
} rows[] = {
    {"count", "erlang*:::entry { @[probefunc] = count(); }", ONE, 1 << 20, 1 << 20},
    {"keys", "erlang*:::entry { @[arg2] = count(); }", ONE, 1 << 20, 1 << 20},
    {"pair",
     "erlang*:::entry { self->t = timestamp; } "
     "erlang*:::return /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }",
     PAIRS, 1 << 20, 1 << 20},
    {"global", "erlang*:::entry { n++; }", ONE, 1 << 20, 1 << 20},
    {"full_buffer", "erlang*:::entry { trace(arg2); }", ONE, 4 << 10, 1 << 20},
    {"full_table", "erlang*:::entry { @[arg2] = count(); }", NEW_KEYS, 1 << 20, 4 << 10},
};

/* A thread of the bench. */
static struct thread {
    _Alignas(LINE) pthread_t id;
    const struct row *row;
    struct engine *engine;
    uint32_t number, events;
    uint64_t next; /* the number of its next event */
    uint64_t ns;   /* of processor time, for `events` */
    sem_t go, done;
    struct load_sampler sampler;
} threads[THREADS_MOST];

/* The program's account. */
static struct load load;
static struct load_thread load_threads[THREADS_MOST];
static struct load_probe load_probe;

struct firing {
    struct engine_ctx ctx;
    uint64_t key;
};

static uint64_t arg(struct engine_ctx *ctx, unsigned n)
{
    return n == 2 ? ((struct firing *)(void *)ctx)->key : 0;
}

static void fire(struct thread *me, struct engine_thread *t)
{
    static const struct engine_probe probe[] = {{1, "erlang1", "m", "f/1", "entry", 0},
                                                {2, "erlang1", "m", "f/1", "return", 0}};
    static const struct engine_binding binding[] = {{1, 0}, {2, 1}};
    const uint64_t i = me->next++;
    const bool second = me->row->shape == PAIRS && i % 2 == 1;
    struct load *const programs[] = {&load};
    struct load_sample sample;
    struct firing f = {.ctx = {.probe = &probe[second], .arg = arg, .stays = 1},
                       .key = (me->row->shape == NEW_KEYS ? i : i % KEYS) * THREADS_MOST};
    f.key += me->number;
    f.ctx.self = (i / 2 % PROCESSES) * THREADS_MOST + me->number;
    engine_enter(t);
    load_begin(&me->sampler, &sample);
    engine_fire(me->engine, t, &f.ctx, &binding[second], 1);
    if (load_sampling(&me->sampler)) {
        const uint64_t now = monotonic_ns();
        const struct load_clocks k = {.now = now, .took = now - sample.start};
        load_part(&sample, &load, &load_probe, k.took);
        load_end(&me->sampler, &sample, programs, 1, t->index, LOAD_CALL, 0, &k);
    }
    engine_leave(t);
}

/* Tells bench/lines, which sees the store, that the thread's turn begins or ends. */
static void mark(const struct thread *me)
{
    if (turns)
        turns[me->number * (LINE / sizeof *turns)] = 1;
}

static void *work(void *arg_)
{
    struct thread *me = arg_;
    struct engine_thread *t = engine_thread_self();
    for (int turn = 0; turn < 2; turn++) {
        sem_wait(&me->go);
        const uint32_t n = turn == 0 ? WARM : me->events;
        if (turn == 1)
            mark(me);
        const uint64_t before = thread_ns();
        for (uint32_t k = 0; t != NULL && k < n; k++)
            fire(me, t);
        me->ns = thread_ns() - before;
        if (turn == 1)
            mark(me);
        sem_post(&me->done);
    }
    return NULL;
}

/* Compiles the row's program. Returns NULL after a message. */
static struct engine *make(const struct row *row, struct session *s, uint32_t nthreads)
{
    const struct compile_source src = {
        .name = row->name, .text = row->text, .len = strlen(row->text)};
    struct engine_options opt = {.threads = nthreads + 1,
                                 .bufsize = row->bufsize,
                                 .aggsize = row->aggsize,
                                 .dynvarsize = 1 << 20};
    struct dif_image img;
    struct engine *e = NULL;
    session_init(s);
    s->opt.value[OPTION_nolibs] = 1;
    dif_image_init(&img);
    if (session_add(s, &src, NULL) == 0 && session_compile(s) == 0 &&
        dif_decode(&img, s->encoded.data, s->encoded.len, &s->diags) == 0 &&
        dif_verify(&img, &s->diags) == 0 && engine_create(&img, &opt, &e, &s->diags) == 0)
        return e;
    for (size_t i = 0; i < s->diags.count; i++)
        fprintf(stderr, "%s\n", s->diags.list[i].text);
    return NULL;
}

/* Lets the threads take one turn: one after the other, or at once. */
static void turn(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        sem_post(&threads[i].go);
        if (turns)
            sem_wait(&threads[i].done);
    }
    for (uint32_t i = 0; i < n && !turns; i++)
        sem_wait(&threads[i].done);
}

static void place(const char *name, int64_t number, const void *at, size_t size)
{
    printf("%s %" PRId64 " %" PRIxPTR " %zu\n", name, number, (uintptr_t)at, size);
}

/* Prints what lies where, a line each: name, number or -1, address, bytes. */
static void places(const struct engine *e, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        place("bench", i, &threads[i], sizeof threads[i]);
    place("engine", -1, e, offsetof(struct engine, cpu_drops));
    place("engine.cpu_drops", -1, e->cpu_drops, sizeof e->cpu_drops);
    place("engine.tier_drops", -1, (const void *)e->tier_drops, sizeof e->tier_drops);
    place("globals", -1, e->globals, e->globals_size);
    if (e->dyn.nbuckets > 0) {
        place("dyn.tag", -1, (const void *)e->dyn.tag, e->dyn.nbuckets * 8 * sizeof *e->dyn.tag);
        place("dyn.guard", -1, (const void *)e->dyn.guard, e->dyn.nbuckets * sizeof *e->dyn.guard);
        place("dyn.slot", -1, e->dyn.slot, (size_t)e->dyn.nbuckets * 8 * e->dyn.slot_size);
    }
    for (uint32_t i = 0; i < engine_nthreads(e); i++) {
        place("tstate", i, engine_tstate(e, i), e->stride);
        place("thread", i, engine_thread_at(i), sizeof(struct engine_thread));
    }
    for (uint32_t i = 0; i < n; i++)
        place("load.thread", i, &load_threads[i], sizeof *load_threads);
    place("load.probe", -1, &load_probe, sizeof load_probe);
    place("load", -1, &load, sizeof load);
    fflush(stdout);
}

static void print(const struct engine *e, uint32_t n)
{
    struct record_counts c;
    uint64_t ns = 0, events = 0, keys = 0;
    engine_counts(e, &c);
    for (uint32_t i = 0; i < n; i++) {
        ns += threads[i].ns;
        events += threads[i].events;
    }
    for (uint32_t i = 0; i < engine_nthreads(e); i++)
        keys += engine_tstate(e, i)->aggs[0].count;
    printf("%.1f %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (double)ns / (double)events, c.fired, keys,
           c.drop[RECORD_DROP_PRINCIPAL] + c.drop[RECORD_DROP_AGGREGATION]);
}

int main(int argc, char **argv)
{
    const bool in_turn = argc > 1 && strcmp(argv[1], "-l") == 0;
    char **given = argv + in_turn;
    const struct row *row = NULL;
    struct session s;
    for (size_t i = 0; argc - in_turn == 4 && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, given[1]) == 0)
            row = &rows[i];
    const int n = row ? atoi(given[2]) : 0, events = row ? atoi(given[3]) : 0;
    if (n < 1 || n > THREADS_MOST || events < 1) {
        fprintf(stderr, "engine [-l] ROW THREADS EVENTS\n");
        return 2;
    }
    if (in_turn) {
        void *at = mmap(TURNS, (size_t)THREADS_MOST * LINE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (at != TURNS)
            return 1;
        turns = at;
    }
    struct engine *e = make(row, &s, (uint32_t)n);
    if (!e)
        return 1;
    load_calibrate();
    load_init(&load, load_threads, THREADS_MOST, &load_probe, 1);
    load_start(&load, monotonic_ns());
    engine_set_phase(e, ENGINE_RUNNING);
    for (int i = 0; i < n; i++) {
        struct thread *t = &threads[i];
        t->row = row;
        t->engine = e;
        t->number = (uint32_t)i;
        t->events = (uint32_t)events;
        sem_init(&t->go, 0, 0);
        sem_init(&t->done, 0, 0);
        if (pthread_create(&t->id, NULL, work, t) != 0)
            return 1;
    }
    turn((uint32_t)n);
    if (turns)
        places(e, (uint32_t)n);
    turn((uint32_t)n);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i].id, NULL);
    if (!turns)
        print(e, (uint32_t)n);
    engine_set_phase(e, ENGINE_STOPPED);
    engine_destroy(e);
    session_free(&s);
    return 0;
}
