/* vm.c - the vm tier: a program that runs inside a node.
 *
 * The node does the work; this side asks. At any time at most one request is under way, and `work`
 * never blocks on it: an answer is taken when it comes, so that a signal ends the wait at once.
 * Reading goes in cycles:
 *
 *     principal (1) -> more (0)... -> aggregations (2) -> more (0)... -> reported
 *
 * where either half may be left out. When the program acts on aggregations from its records,
 * records are held back until the aggregations that were read after them have been reported: an
 * action then finds all that came before its record. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "node/agent.h"
#include "node/catalog.h"
#include "node/clock.h"
#include "node/node.h"
#include "node/reach.h"

enum {
    CONNECT_MS = 5000,
    ASK_MS = 10000,    /* small questions */
    ENABLE_MS = 60000, /* placing probes on very many functions takes seconds */
    CLOSE_MS = 2000,
    FLUSH_MS = 1000, /* a flush waits so long at least */
    READ_MS = 30000, /* a node that does not answer a read is as good as gone */
    LEASE_MS = 1500,
    BEATS = 5,         /* signs of life in one lease */
    BUSY_MS = 50,      /* pace of reading while data flows */
    IDLE_MS = 200,     /* ... and while none does */
    FULL_MS = 10,      /* ... and while a buffer gets full in less than a few reads */
    AGGS_MS = 1000,    /* aggregations are read so often at least */
    AGGS_FULL_MS = 100 /* ... and with as many keys as fill their table */
};

enum { PRINCIPAL = 1, AGGS = 2 };

struct vm {
    struct tier tier;
    struct dist *d;
    struct agent agent;
    struct catalog catalog;
    char node[256];
    pid_t os_pid;
    int epoll, timer; /* what fd() shows: the socket, and a timer for the next read */
    struct buf text;  /* of enabled() */
    const struct dif_image *img;
    struct tier_options opt;
    bool running; /* between go and stop */
    bool exiting; /* exit() ran */
    bool lost;
    int64_t stop_id; /* id of the stop request, 0: not sent */
    bool stopped;    /* it was answered: END has run */
    bool resting;    /* a cycle has begun since */

    int64_t asked;                /* id of the read under way, 0: none */
    int64_t asked_at;             /* ms */
    unsigned asking;              /* its kind: PRINCIPAL or AGGS */
    unsigned todo;                /* kinds still to be read in this cycle */
    unsigned kinds;               /* kinds that this cycle began with */
    unsigned cycle;               /* cycles completed */
    size_t nrecords, naggs;       /* bytes that came in this cycle */
    bool reported;                /* something was, in this call of work */
    bool drained;                 /* the node said that nothing is left */
    int64_t next_read, next_aggs; /* ms */
    int pace;                     /* ms, of adaptive reading */
    struct buf held;              /* principal blocks that wait for aggregations */
};

static struct vm *vm_of(struct tier *t)
{
    return (struct vm *)(void *)t;
}

/* -- names ------------------------------------------------------------------------------------- */

static int fetch_modules(void *arg, struct catalog *c, struct diags *d)
{
    struct vm *v = arg;
    struct etf r;
    uint32_t arity, n;
    char name[ETF_ATOM_MAX];
    int e = agent_call(&v->agent, "modules", ASK_MS, &r, &arity, d);
    if (e)
        return e;
    n = etf_list(&r);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        etf_atom(&r, name);
        if (!r.bad && !catalog_add_module(c, name))
            return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    }
    if (n)
        etf_list_end(&r);
    return r.bad || arity != 1 ? agent_malformed(&v->agent, "modules", d) : 0;
}

/* {Module, [{Name, Arity}]}; names are kept in `names` until the catalog has copied them. */
static int read_functions(struct vm *v, struct catalog *c, struct etf *r, struct arena *names,
                          struct diags *d)
{
    char name[ETF_ATOM_MAX];
    struct catalog_fn *fn;
    if (etf_tuple(r) != 2)
        r->bad = true;
    etf_atom(r, name);
    struct catalog_mod *m = r->bad ? NULL : catalog_module(c, name);
    uint32_t n = etf_list(r);
    fn = arena_alloc(names, (n + (size_t)1) * sizeof *fn);
    for (uint32_t i = 0; fn && i < n && !r->bad; i++) {
        if (etf_tuple(r) != 2)
            r->bad = true;
        size_t len = etf_atom(r, name);
        uint64_t arity = etf_uint(r);
        fn[i].name = arena_strndup(names, name, len);
        fn[i].arity = (uint32_t)arity;
        if (arity > 255)
            r->bad = true;
        if (!fn[i].name)
            fn = NULL;
    }
    if (n)
        etf_list_end(r);
    if (r->bad)
        return agent_malformed(&v->agent, "functions", d);
    if (!fn || (m && !catalog_set_functions(c, m, fn, n)))
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    return 0;
}

static int fetch_functions(void *arg, struct catalog *c, const uint32_t *mods, size_t n,
                           struct diags *d)
{
    struct vm *v = arg;
    struct etf r;
    ei_x_buff x;
    int64_t id;
    uint32_t arity, len;
    struct arena names;
    agent_begin(&v->agent, &x, &id);
    ei_x_encode_tuple_header(&x, 2);
    ei_x_encode_atom(&x, "functions");
    ei_x_encode_list_header(&x, (long)n);
    for (size_t i = 0; i < n; i++)
        ei_x_encode_atom_as(&x, c->mod[mods[i]].name, ERLANG_UTF8, ERLANG_UTF8);
    ei_x_encode_empty_list(&x);
    int e = agent_send(&v->agent, &x, d);
    if (e == 0)
        e = agent_answer(&v->agent, id, ENABLE_MS, &r, &arity, d);
    if (e)
        return e;
    arena_init(&names);
    len = etf_list(&r);
    for (uint32_t i = 0; i < len && e == 0; i++)
        e = read_functions(v, c, &r, &names, d);
    arena_free(&names);
    if (len && e == 0)
        etf_list_end(&r);
    if (e == 0 && (r.bad || arity != 1))
        e = agent_malformed(&v->agent, "functions", d);
    return e;
}

static int vm_match(struct tier *t, const struct probe_spec *spec, tier_match_fn fn, void *arg,
                    struct diags *d)
{
    return catalog_match(&vm_of(t)->catalog, t, spec, fn, arg, d);
}

static const char *vm_suggest(struct tier *t, const struct probe_spec *spec)
{
    return catalog_suggest(&vm_of(t)->catalog, spec);
}

/* -- enable ------------------------------------------------------------------------------------ */

static int by_probe(const void *a, const void *b)
{
    const struct tier_binding *x = a, *y = b;
    if (x->probe != y->probe)
        return x->probe < y->probe ? -1 : 1;
    if (x->clause != y->clause)
        return x->clause < y->clause ? -1 : 1;
    return (x->epid > y->epid) - (x->epid < y->epid);
}

/* {Epid, Clause, ProbeId, Kind, Where} */
static bool put_binding(struct vm *v, ei_x_buff *x, const struct tier_binding *b)
{
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f;
    if (!catalog_probe(&v->catalog, b->probe, &p, &m, &f))
        return false;
    ei_x_encode_tuple_header(x, 5);
    ei_x_encode_ulong(x, b->epid);
    ei_x_encode_ulong(x, b->clause);
    ei_x_encode_ulong(x, b->probe);
    ei_x_encode_ulong(x, (unsigned long)p.kind);
    if (f) {
        ei_x_encode_tuple_header(x, 3);
        ei_x_encode_atom_as(x, m->name, ERLANG_UTF8, ERLANG_UTF8);
        ei_x_encode_atom_as(x, f->name, ERLANG_UTF8, ERLANG_UTF8);
        ei_x_encode_ulong(x, f->arity);
    } else if (p.kind == PROBE_TICK) {
        ei_x_encode_ulonglong(x, p.period);
    } else {
        ei_x_encode_empty_list(x);
    }
    return true;
}

static void put_option(ei_x_buff *x, const char *name, uint64_t value)
{
    ei_x_encode_tuple_header(x, 2);
    ei_x_encode_atom(x, name);
    ei_x_encode_ulonglong(x, value);
}

/* [{Name, N}]: sizes as granted, and what the probes were placed on. */
static void read_granted(struct vm *v, struct etf *r, struct tier_options *opt, uint64_t *processes)
{
    char name[ETF_ATOM_MAX];
    uint32_t n = etf_list(r);
    *processes = UINT64_MAX;
    (void)v;
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        if (etf_tuple(r) != 2)
            r->bad = true;
        etf_atom(r, name);
        uint64_t value = etf_uint(r);
        if (strcmp(name, "bufsize") == 0)
            opt->bufsize = value;
        else if (strcmp(name, "aggsize") == 0)
            opt->aggsize = value;
        else if (strcmp(name, "dynvarsize") == 0)
            opt->dynvarsize = value;
        else if (strcmp(name, "specsize") == 0)
            opt->specsize = value;
        else if (strcmp(name, "processes") == 0)
            *processes = value;
    }
    if (n)
        etf_list_end(r);
}

static void count_text(struct buf *b, uint64_t n, const char *one, const char *many)
{
    if (n > 0)
        buf_printf(b, "%s%llu %s", b->len ? ", " : "", (unsigned long long)n, n == 1 ? one : many);
}

/* What was enabled, in words. `b` is sorted by probe; an id is a kind of one function, three ids
 * apart. */
static void describe(struct vm *v, const struct tier_binding *b, size_t n, uint64_t processes)
{
    uint64_t named = 0, ticks = 0, fns = 0;
    struct tier_probe p;
    const struct catalog_mod *m;
    const struct catalog_fn *f, *last = NULL;
    uint32_t id = 0;
    for (size_t i = 0; i < n; i++) {
        if (b[i].probe == id || !catalog_probe(&v->catalog, id = b[i].probe, &p, &m, &f))
            continue;
        if (f) {
            fns += f != last;
            last = f;
        } else if (p.kind == PROBE_TICK) {
            ticks++;
        } else if (p.kind > PROBE_TICK) {
            named++;
        }
    }
    buf_reset(&v->text);
    count_text(&v->text, named, "process probe", "process probes");
    if (named > 0 && processes != UINT64_MAX) {
        buf_adds(&v->text, " on ");
        buf_printf(&v->text, "%llu %s", (unsigned long long)processes,
                   processes == 1 ? "process" : "processes");
    }
    count_text(&v->text, fns, "function", "functions");
    count_text(&v->text, ticks, "tick", "ticks");
}

static int vm_enable(struct tier *t, const struct dif_image *img, const void *image, size_t len,
                     const struct tier_binding *b, size_t n, struct tier_options *opt,
                     struct diags *d)
{
    struct vm *v = vm_of(t);
    ei_x_buff x;
    struct etf r;
    int64_t id;
    uint32_t arity;
    uint64_t processes = UINT64_MAX;
    struct tier_binding *sorted = et_malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    if (n > 0)
        memcpy(sorted, b, n * sizeof *b);
    qsort(sorted, n, sizeof *sorted, by_probe);
    agent_begin(&v->agent, &x, &id);
    ei_x_encode_tuple_header(&x, 4);
    ei_x_encode_atom(&x, "enable");
    ei_x_encode_binary(&x, image, (int)len);
    ei_x_encode_list_header(&x, 5);
    put_option(&x, "bufsize", opt->bufsize);
    put_option(&x, "aggsize", opt->aggsize);
    put_option(&x, "dynvarsize", opt->dynvarsize);
    put_option(&x, "specsize", opt->specsize);
    put_option(&x, "nspec", opt->nspec);
    ei_x_encode_empty_list(&x);
    if (n > 0)
        ei_x_encode_list_header(&x, (long)n);
    int e = 0;
    for (size_t i = 0; i < n && e == 0; i++)
        if (!put_binding(v, &x, &sorted[i]))
            e = diag_error(d, ET_EINVAL, NULL, NULL, NULL, "probe id %u is not one of this node",
                           sorted[i].probe);
    ei_x_encode_empty_list(&x);
    if (e)
        ei_x_free(&x);
    else
        e = agent_send(&v->agent, &x, d);
    if (e == 0)
        e = agent_answer(&v->agent, id, ENABLE_MS, &r, &arity, d);
    if (e == 0) {
        if (arity != 2)
            r.bad = true;
        read_granted(v, &r, opt, &processes);
        agent_warnings(&r, d);
        if (r.bad)
            e = agent_malformed(&v->agent, "enable", d);
    }
    if (e == 0) {
        v->img = img;
        v->opt = *opt;
        describe(v, sorted, n, processes);
    }
    et_free(sorted);
    return e;
}

static bool in_cycle(const struct vm *v)
{
    return v->asked != 0;
}

static int64_t next_due(const struct vm *v)
{
    return v->next_read < v->next_aggs ? v->next_read : v->next_aggs;
}

/* Makes fd() readable when the next read is due. */
static void arm(struct vm *v)
{
    int64_t at = next_due(v);
    struct itimerspec ts = {.it_value = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000}};
    if (!in_cycle(v) && v->running && at > 0)
        timerfd_settime(v->timer, TFD_TIMER_ABSTIME, &ts, NULL);
}

static void disarm(struct vm *v)
{
    struct itimerspec ts = {0};
    timerfd_settime(v->timer, 0, &ts, NULL);
}

static int vm_go(struct tier *t, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct etf r;
    uint32_t arity;
    int e = agent_call(&v->agent, "go", ENABLE_MS, &r, &arity, d);
    if (e)
        return e;
    if (arity > 0)
        agent_warnings(&r, d);
    v->running = true;
    v->pace = BUSY_MS;
    v->next_read = clock_ms();
    v->next_aggs = clock_ms() + AGGS_MS;
    arm(v);
    return r.bad ? agent_malformed(&v->agent, "go", d) : 0;
}

/* -- reading ----------------------------------------------------------------------------------- */

static int ask(struct vm *v, unsigned what, struct diags *d)
{
    ei_x_buff x;
    agent_begin(&v->agent, &x, &v->asked);
    ei_x_encode_tuple_header(&x, 2);
    ei_x_encode_atom(&x, "read");
    ei_x_encode_ulong(&x, what);
    v->asked_at = clock_ms();
    return agent_send(&v->agent, &x, d);
}

static int sink_blocks(struct vm *v, const void *p, size_t n, const struct tier_sink *sink,
                       struct diags *d)
{
    if (n == 0)
        return 0;
    v->reported = true;
    return tier_report(&v->tier, v->img, p, n, sink, d);
}

static void read_counts(struct vm *v, struct etf *r, const struct tier_sink *sink)
{
    struct engine_counts c = {0};
    uint32_t n = etf_tuple(r);
    uint64_t *field[] = {&c.fired, &c.recorded, &c.updates, &c.errors};
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        uint64_t value = etf_uint(r);
        if (i < 4)
            *field[i] = value;
        else if (i - 4 < ENGINE_NDROPS)
            c.drop[i - 4] = value;
    }
    if (!r->bad && sink && sink->counts)
        sink->counts(sink->arg, &v->tier, &c);
}

/* The blocks of an answer. */
static int read_blocks(struct vm *v, struct etf *r, unsigned kind, const struct tier_sink *sink,
                       struct diags *d)
{
    uint32_t n = etf_list(r);
    int e = 0;
    for (uint32_t i = 0; i < n && e == 0 && !r->bad; i++) {
        size_t len;
        const void *p = etf_binary(r, &len);
        if (!p || len == 0)
            continue;
        *(kind == PRINCIPAL ? &v->nrecords : &v->naggs) += len;
        if (kind == PRINCIPAL && v->opt.aggs_with_records)
            buf_add(&v->held, p, len);
        else
            e = sink_blocks(v, p, len, sink, d);
    }
    if (v->held.oom)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    return e;
}

/* An answer to a read: {ok, State, Counts, [binary()], More, Warnings}, *r behind `ok`. When there
 * is more, it is asked for before the blocks are looked at: the node drains while we report. */
static int read_answer(struct vm *v, struct etf *r, uint32_t arity, const struct tier_sink *sink,
                       struct diags *d)
{
    char word[ETF_ATOM_MAX];
    if (arity != 5)
        return agent_malformed(&v->agent, "read", d);
    etf_atom(r, word);
    v->exiting |= strcmp(word, "exiting") == 0;
    v->drained |= strcmp(word, "drained") == 0;
    read_counts(v, r, sink);
    struct etf blocks = *r;
    etf_skip(r);
    bool more = etf_atom_is(r, "true");
    agent_warnings(r, d);
    if (r->bad)
        return agent_malformed(&v->agent, "read", d);
    v->asked = 0;
    unsigned kind = v->asking;
    int e = more ? ask(v, 0, d) : 0;
    if (e == 0)
        e = read_blocks(v, &blocks, kind, sink, d);
    if (e || more)
        return e;
    v->todo &= ~kind;
    if (kind == PRINCIPAL && v->nrecords > 0 && v->opt.aggs_with_records)
        v->todo |= AGGS;
    return blocks.bad ? agent_malformed(&v->agent, "read", d) : 0;
}

/* A rate of the options in ms, or the default. */
static int64_t rate_ms(uint64_t ns, int64_t otherwise)
{
    if (ns == 0)
        return otherwise;
    return ns < 1000000 ? 1 : (int64_t)(ns / 1000000);
}

/* Goes on with the cycle, or ends it. */
static int cycle_step(struct vm *v, const struct tier_sink *sink, struct diags *d)
{
    if (v->todo) {
        v->asking = v->todo & PRINCIPAL ? PRINCIPAL : AGGS;
        return ask(v, v->asking, d);
    }
    int e = sink_blocks(v, v->held.data, v->held.len, sink, d);
    int64_t now = clock_ms();
    buf_reset(&v->held);
    v->cycle++;
    if (v->kinds & PRINCIPAL) { /* an aggregation-only cycle does not put off the records */
        if (v->nrecords > v->opt.bufsize / 4)
            v->pace = FULL_MS;
        else if (v->nrecords > 0)
            v->pace = BUSY_MS;
        else
            v->pace = v->pace * 2 > IDLE_MS ? IDLE_MS : v->pace * 2;
        v->next_read = now + rate_ms(v->opt.switchrate, v->pace);
    }
    if (v->naggs > v->opt.aggsize / 4 && !v->opt.aggrate) /* before the table overflows */
        v->next_aggs = now + AGGS_FULL_MS;
    return e;
}

/* Begins a cycle with these kinds. */
static int cycle_begin(struct vm *v, unsigned what, struct diags *d)
{
    int64_t now = clock_ms();
    v->todo = v->kinds = what;
    v->nrecords = v->naggs = 0;
    if (what & AGGS)
        v->next_aggs = now + rate_ms(v->opt.aggrate, AGGS_MS);
    v->asking = what & PRINCIPAL ? PRINCIPAL : AGGS;
    return ask(v, v->asking, d);
}

/* Kinds whose time has come. */
static unsigned due(const struct vm *v, int64_t now)
{
    return (now >= v->next_read ? PRINCIPAL : 0u) | (now >= v->next_aggs ? AGGS : 0u);
}

/* Waits for one answer until `deadline`. 1: something happened; 0: nothing did in time; 2: a
 * signal; or an error. */
static int wait_answer(struct vm *v, int64_t deadline, const struct tier_sink *sink,
                       struct diags *d)
{
    struct etf r;
    int64_t id = 0;
    uint32_t arity;
    int got = agent_event(&v->agent, clock_left(deadline), &id, &r, d);
    if (got < 0)
        return got;
    if (got == DIST_SIGNAL)
        return 2;
    if (got != DIST_MESSAGE)
        return 0;
    if (id == v->stop_id && !v->stopped) {
        v->stopped = true;
        int e = agent_reply(&v->agent, &r, &arity, d);
        return e ? e : 1;
    }
    if (id != v->asked)
        return 1;
    int e = agent_reply(&v->agent, &r, &arity, d);
    if (e == 0)
        e = read_answer(v, &r, arity, sink, d);
    if (e == 0 && v->asked == 0)
        e = cycle_step(v, sink, d);
    return e ? e : 1;
}

static int work_error(struct vm *v, int e)
{
    if (e != ET_ELOST)
        return e;
    v->lost = true;
    return TIER_LOST;
}

static int work_state(const struct vm *v)
{
    return v->exiting && !v->stop_id ? TIER_EXITING : TIER_RUNNING;
}

/* After stop: what is under way first, then the answer to stop, then cycles until nothing comes any
 * more. */
static int work_rest(struct vm *v, int timeout_ms, const struct tier_sink *sink, struct diags *d)
{
    int64_t deadline = clock_ms() + (timeout_ms > FLUSH_MS ? timeout_ms : FLUSH_MS);
    for (;;) {
        int got = 0;
        if (v->stopped && !in_cycle(v)) {
            if (v->resting && (v->drained || v->nrecords + v->naggs == 0))
                return TIER_DRAINED;
            v->resting = true;
            v->drained = false;
            got = cycle_begin(v, PRINCIPAL | AGGS, d);
        }
        if (got == 0)
            got = wait_answer(v, deadline, sink, d);
        if (got < 0)
            return work_error(v, got);
        if (clock_ms() - v->asked_at > READ_MS)
            return work_error(v, agent_silent(&v->agent, READ_MS, d));
        if (got == 2 || (got == 0 && clock_ms() >= deadline))
            return TIER_RUNNING;
    }
}

static int vm_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
                   struct diags *d)
{
    struct vm *v = vm_of(t);
    int64_t now = clock_ms(), deadline = now + (timeout_ms > 0 ? timeout_ms : 0);
    unsigned want =
        v->cycle + 1 + (in_cycle(v) ? 1 : 0); /* a flush ends with a cycle that began now */
    if (v->lost)
        return TIER_LOST;
    if (v->stop_id)
        return work_rest(v, timeout_ms, sink, d);
    if (flush && deadline < now + FLUSH_MS)
        deadline = now + FLUSH_MS;
    disarm(v);
    v->reported = false;
    for (;;) {
        unsigned what = flush ? PRINCIPAL | AGGS : due(v, clock_ms());
        int got = 0;
        if (!in_cycle(v) && what)
            got = cycle_begin(v, what, d);
        if (got == 0)
            got = wait_answer(v, in_cycle(v) || next_due(v) > deadline ? deadline : next_due(v),
                              sink, d);
        if (got < 0)
            return work_error(v, got);
        now = clock_ms();
        if (in_cycle(v) && now - v->asked_at > READ_MS)
            return work_error(v, agent_silent(&v->agent, READ_MS, d));
        if (flush ? (int)(v->cycle - want) >= 0 : v->reported && !in_cycle(v))
            break;
        /* What has been received already is taken in any case: fd() does not tell of it. */
        if (got == 2 || (got == 0 && now >= deadline) || work_state(v) == TIER_EXITING)
            break;
    }
    arm(v);
    return work_state(v);
}

/* Only asks: an answer to a read may still be under way, and it has data. `work` takes both. */
static int vm_stop(struct tier *t, struct diags *d)
{
    struct vm *v = vm_of(t);
    ei_x_buff x;
    if (v->stop_id || v->lost)
        return 0;
    if (!v->running) { /* nothing has fired */
        v->stop_id = -1;
        v->stopped = v->resting = v->drained = true;
        return 0;
    }
    v->running = false;
    agent_begin(&v->agent, &x, &v->stop_id);
    ei_x_encode_atom(&x, "stop");
    v->asked_at = clock_ms();
    int e = agent_send(&v->agent, &x, d);
    v->lost |= e == ET_ELOST;
    return e;
}

/* -- the rest ---------------------------------------------------------------------------------- */

static void vm_close(struct tier *t)
{
    struct vm *v = vm_of(t);
    if (v->agent.open && !v->agent.ended) {
        struct diags d;
        struct etf r;
        uint32_t arity;
        diags_init(&d);
        agent_call(&v->agent, "close", CLOSE_MS, &r, &arity, &d);
        diags_free(&d);
    }
    dist_close(v->d);
    catalog_free(&v->catalog);
    buf_free(&v->text);
    buf_free(&v->held);
    if (v->epoll >= 0)
        close(v->epoll);
    if (v->timer >= 0)
        close(v->timer);
    et_free(v);
}

static const char *vm_target(struct tier *t)
{
    return vm_of(t)->node;
}

static int vm_fd(struct tier *t)
{
    return vm_of(t)->epoll;
}

static void vm_rates(struct tier *t, uint64_t switchrate, uint64_t aggrate)
{
    struct vm *v = vm_of(t);
    int64_t now = clock_ms();
    v->opt.switchrate = switchrate;
    v->opt.aggrate = aggrate;
    v->next_read = now + rate_ms(switchrate, v->pace);
    v->next_aggs = now + rate_ms(aggrate, AGGS_MS);
}

static const char *vm_enabled(struct tier *t)
{
    return vm_of(t)->text.len ? buf_str(&vm_of(t)->text) : NULL;
}

static const struct tier_ops vm_ops = {
    .name = "vm",
    .match = vm_match,
    .suggest = vm_suggest,
    .enable = vm_enable,
    .go = vm_go,
    .work = vm_work,
    .stop = vm_stop,
    .close = vm_close,
    .target = vm_target,
    .fd = vm_fd,
    .enabled = vm_enabled,
    .rates = vm_rates,
};

pid_t tier_vm_pid(struct tier *t)
{
    return t->ops == &vm_ops ? vm_of(t)->os_pid : 0;
}

/* Makes us a consumer, and gives signs of life from then on. */
static int open_consumer(struct vm *v, const struct agent_options *opt, struct diags *d)
{
    ei_x_buff x;
    struct etf r;
    uint32_t arity, n;
    char key[ETF_ATOM_MAX], prov[32];
    int lease_ms = opt->lease_ms, e = agent_open(&v->agent, v->d, opt, &r, &arity, d);
    if (e)
        return e;
    n = etf_list(&r);
    for (uint32_t i = 0; i < n && !r.bad; i++) {
        if (etf_tuple(&r) != 2)
            r.bad = true;
        etf_atom(&r, key);
        if (strcmp(key, "pid") == 0)
            v->os_pid = (pid_t)etf_uint(&r);
        else if (strcmp(key, "warnings") == 0)
            agent_warnings(&r, d);
        else
            etf_skip(&r);
    }
    if (n)
        etf_list_end(&r);
    if (r.bad || arity != 1 || v->os_pid <= 0)
        return agent_malformed(&v->agent, "open", d);
    ei_x_new_with_version(&x);
    ei_x_encode_tuple_header(&x, 3);
    ei_x_encode_atom(&x, "erltrace");
    ei_x_encode_pid(&x, dist_self(v->d));
    ei_x_encode_atom(&x, "alive");
    e = dist_heartbeat(v->d, &v->agent.pid, &x, lease_ms / BEATS > 0 ? lease_ms / BEATS : 1);
    ei_x_free(&x);
    if (e)
        return diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e));
    snprintf(prov, sizeof prov, "erlang%d", (int)v->os_pid);
    struct catalog_source src = {.arg = v, .modules = fetch_modules, .functions = fetch_functions};
    e = catalog_init(&v->catalog, prov, &src);
    return e ? diag_error(d, e, NULL, NULL, NULL, "%s", et_strerror(e)) : 0;
}

/* The descriptor that fd() shows. */
static int open_fds(struct vm *v, struct diags *d)
{
    struct epoll_event ev = {.events = EPOLLIN};
    v->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    v->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (v->timer < 0 || v->epoll < 0 || epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->timer, &ev) < 0 ||
        epoll_ctl(v->epoll, EPOLL_CTL_ADD, dist_fd(v->d), &ev) < 0)
        return diag_error(d, ET_EIO, NULL, NULL, NULL, "cannot wait for %s: %m", v->node);
    return 0;
}

int tier_vm_open(const struct node_options *opt, struct tier **out, struct diags *d)
{
    struct reach reach;
    struct vm *v = et_calloc(1, sizeof *v);
    *out = NULL;
    if (!v)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    v->tier.ops = &vm_ops;
    v->epoll = v->timer = -1;
    int e = reach_find(&reach, opt, d);
    if (e == 0)
        e = reach_connect(&reach, CONNECT_MS, &v->d, d);
    snprintf(v->node, sizeof v->node, "%s", reach.node);
    reach_free(&reach);
    struct agent_options ao = {.node = v->node,
                               .root = opt->root,
                               .dir = opt->agent_dir,
                               .lease_ms = opt->lease_ms > 0 ? opt->lease_ms : LEASE_MS};
    if (e == 0)
        e = open_consumer(v, &ao, d);
    if (e == 0)
        e = open_fds(v, d);
    if (e) {
        vm_close(&v->tier);
        return e;
    }
    *out = &v->tier;
    return 0;
}
