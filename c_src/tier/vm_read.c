/* vm_read.c - the vm tier: reads what a program has recorded.
 *
 * At most one read is pending at any time, and `work` never blocks on it: an answer is taken when
 * it arrives, so that a signal ends the wait at once. Reading proceeds in cycles:
 *
 *     principal and aggregations (3) -> more (0)... -> reported
 *
 * where either may be left out. When the program acts on aggregations from its records, there are
 * two readings instead,
 *
 *     principal (1) -> more (0)... -> aggregations (2) -> more (0)... -> reported
 *
 * and records are held back until the aggregations that were read after them have been reported: an
 * action then includes all updates before its record.
 *
 * A consumer may have a thousand nodes, and each question wakes one. So what is due soon is asked
 * for together with what is due now, and a program that can record little is asked rarely. */
#include <string.h>
#include <sys/timerfd.h>

#include "base/err.h"
#include "etf/write.h"
#include "wire/deadline.h"
#include "tier/record_read.h"
#include "tier/vm_load.h"
#include "tier/vm.h"
#include "util/buftext.h"

enum {
    FLUSH_MS = 1000,  /* a flush waits at least this long */
    READ_MS = 30000,  /* a node that does not answer a read within this time is considered lost */
    BUSY_MS = 50,     /* pace of reading while data flows */
    IDLE_MS = 200,    /* ... and while none does, */
    SELDOM_MS = 1000, /* ... if only faults, BEGIN and END leave any */
    FULL_MS = 10,     /* ... and while a buffer fills within a few reads */
    AGGS_FIRST_MS = 500, /* aggregations are first read after this time */
    AGGS_MS = 1000,      /* ... and then at least once in this time */
    AGGS_FULL_MS = 100,  /* ... and when their keys fill the table */
    SOON_MS = 50,        /* aggregations that are due in this time are read with records */
    STATUS_MS = 1000     /* the agent's status is requested at least once in this time */
};

/* What a cycle reads. STATUS: only what every answer contains, so that an end and reports of costs
 * do not wait for rates that may be slow. */
enum { PRINCIPAL = 1, AGGS = 2, STATUS = 4 };

static bool in_cycle(const struct vm *v)
{
    return v->asked != 0;
}

static int64_t next_due(const struct vm *v)
{
    int64_t at = v->next_read < v->next_aggs ? v->next_read : v->next_aggs;
    return at < v->next_status ? at : v->next_status;
}

/* Returns when there is something to do whether the node sends anything or not; 0: now. */
static int64_t wake_at(const struct vm *v)
{
    if (conn_holds(v->conn))
        return 0;
    if (in_cycle(v) || (v->stop_id != 0 && !v->stopped))
        return agent_heard(&v->agent, v->asked_at) + READ_MS + 1;
    return v->stop_id != 0 ? 0 : next_due(v);
}

/* Sets the timer that makes fd() readable then. One that is past is left: it stays readable. */
static void arm(struct vm *v)
{
    const int64_t at = wake_at(v);
    struct itimerspec ts = {.it_value = {.tv_sec = at / 1000, .tv_nsec = at % 1000 * 1000000}};
    if (at == v->armed)
        return;
    if (at == 0)
        ts.it_value.tv_nsec = 1; /* long ago: 0 would switch it off */
    v->armed = at;
    timerfd_settime(v->timer, TFD_TIMER_ABSTIME, &ts, NULL);
}

static int64_t status_ms(const struct vm *v)
{
    int64_t stats = v->opt.stats > 0 ? v->opt.stats / 1000000 : 0;
    return stats > 0 && stats < STATUS_MS ? stats : STATUS_MS;
}

/* Returns whether a clause records while the program runs. (BEGIN's records come at once, with the
 * first reading, and END's with the last.) */
static bool records(const struct dif_image *img)
{
    for (uint32_t i = 0; i < img->nclauses; i++) {
        const char *name = dif_str(img, img->clauses[i].name);
        if (img->clauses[i].records && strcmp(name, "BEGIN") != 0 && strcmp(name, "END") != 0)
            return true;
    }
    return false;
}

void vm_read_begin(struct vm *v)
{
    int64_t now = clock_ms();
    v->pace = BUSY_MS;
    v->idle = records(v->img) ? IDLE_MS : SELDOM_MS;
    v->armed = -1;
    v->next_read = now;
    v->next_aggs = now + AGGS_FIRST_MS;
    v->next_status = now + status_ms(v);
    v->records_at = v->aggs_at = now;
    arm(v);
}

uint64_t vm_unfetched(struct tier *t)
{
    const struct vm *v = vm_of(t);
    if (v->records_at == 0) /* it has never run */
        return 0;
    const bool aggs = v->img->naggs > 0 && v->aggs_at < v->records_at;
    const int64_t from = aggs ? v->aggs_at : v->records_at, to = v->lost ? v->lost_at : from;
    return to > from ? (uint64_t)(to - from) * 1000000u : 0;
}

static int ask(struct vm *v, unsigned what, struct diags *d)
{
    struct buf x = BUF_INIT;
    agent_begin(&v->agent, &x, &v->asked);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "read");
    etf_put_uint(&x, what);
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
    struct record_counts c = {0};
    uint32_t n = etf_tuple(r);
    uint64_t *field[] = {
#define X(name) &c.name,
        RECORD_COUNTERS(X)
#undef X
    };
    enum { FIELDS = sizeof field / sizeof *field };
    if (n != FIELDS + RECORD_NDROPS + 2)
        r->bad = true;
    for (uint32_t i = 0; i + 2 < n && !r->bad; i++) {
        uint64_t value = etf_uint(r);
        if (i < FIELDS)
            *field[i] = value;
        else
            c.drop[i - FIELDS] = value;
    }
    uint32_t cpus = r->bad ? 0 : etf_list(r);
    for (uint32_t i = 0; i < cpus && !r->bad; i++) {
        if (etf_tuple(r) != 3)
            r->bad = true;
        uint64_t cpu = etf_uint(r), principal = etf_uint(r), agg = etf_uint(r);
        if (cpu < RECORD_CPUS) {
            c.cpu[cpu].principal = principal;
            c.cpu[cpu].agg = agg;
        }
    }
    if (cpus)
        etf_list_end(r);
    c.own = etf_uint(r);
    if (!r->bad && sink && sink->counts)
        sink->counts(sink->arg, &v->tier, &c);
}

/* Counts the bytes of records and of aggregations in blocks. */
static void count_bytes(struct vm *v, const void *p, size_t n)
{
    struct rdr blocks = {.p = p, .end = (const uint8_t *)p + n};
    struct record_block b;
    while (record_next_block(&blocks, &b))
        *(b.kind == RECORD_PRINCIPAL ? &v->nrecords : &v->naggs) += rdr_left(&b.items);
}

/* Reads the blocks of an answer. */
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
        count_bytes(v, p, len);
        if (kind == PRINCIPAL && v->opt.aggs_with_records)
            buf_add(&v->held, p, len);
        else
            e = sink_blocks(v, p, len, sink, d);
    }
    if (v->held.oom)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    return e;
}

/* Reads the reports of the program's cost. Returns 0 or an error. */
static int read_loads(struct vm *v, struct etf *r, const struct tier_sink *sink, struct diags *d)
{
    struct arena arena;
    struct tier_load load;
    bool memory = true;
    uint32_t n = etf_list(r);
    arena_init(&arena);
    for (uint32_t i = 0; i < n && !r->bad && memory; i++) {
        memory = load_read(r, &v->catalog, &arena, &load);
        if (!r->bad && memory && sink && sink->load)
            sink->load(sink->arg, &v->tier, &load);
    }
    if (n && memory)
        etf_list_end(r);
    arena_free(&arena);
    return memory ? 0 : diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
}

/* Returns where in the order of addresses the last symbol at or before an address is, plus 1. */
static size_t symbol_at(const struct vm *v, uint64_t address)
{
    const struct vm_symbol *s = (const void *)v->symbols.data;
    size_t low = 0, high = v->symbols.len / sizeof *s;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s[mid].from <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Finds the line of a frame: a return address, which is that of the byte after a call. An address
 * in the three words before a function's code stands for the function, wherever in it. */
static void find_line(const struct vm_symbol *s, uint64_t address, struct tier_symbol *out)
{
    enum { WORDS = 24 };
    if (address - s->from < WORDS)
        return;
    const uint32_t location = lines_location(s->site, s->nsites, address - 1 - s->from),
                   file = location >> 24;
    if (location == 0)
        return;
    if (file < s->nfiles && s->file[file][0] != '\0') {
        out->file = s->file[file];
        out->line = location & 0xffffff;
    }
}

bool vm_symbol(struct tier *t, uint64_t pid, uint64_t address, struct tier_symbol *out)
{
    const struct vm *v = vm_of(t);
    size_t at = pid == (uint64_t)v->os_pid ? symbol_at(v, address) : 0;
    const struct vm_symbol *s = (const void *)v->symbols.data;
    if (at == 0 || address >= s[at - 1].to)
        return false;
    *out = (struct tier_symbol){.object = "",
                                .function = s[at - 1].name,
                                .offset = address - s[at - 1].from,
                                .whole = true};
    find_line(&s[at - 1], address, out);
    return true;
}

/* Keeps a function, in order of addresses; where there was another one before, it is over. */
static void add_symbol(struct vm *v, const struct vm_symbol *made)
{
    struct vm_symbol *s;
    size_t at = symbol_at(v, made->from);
    buf_add(&v->symbols, made, sizeof *made);
    if (v->symbols.oom)
        return;
    s = (void *)v->symbols.data;
    if (at > 0 && s[at - 1].from == made->from) {
        s[at - 1] = *made;
        v->symbols.len -= sizeof *made;
        return;
    }
    memmove(&s[at + 1], &s[at], v->symbols.len - (at + 1) * sizeof *made);
    s[at] = *made;
    if (at > 0 && s[at - 1].to > made->from)
        s[at - 1].to = made->from;
}

/* Copies text of an answer. */
static const char *keep_text(struct vm *v, struct etf *r)
{
    size_t len = 0;
    const char *text = etf_binary(r, &len), *kept = NULL;
    if (text != NULL && !r->bad) {
        kept = arena_strndup(&v->names, text, len);
        v->symbols.oom |= kept == NULL;
    }
    return kept;
}

/* Reads the files and sites of a function. */
static void read_lines(struct vm *v, struct etf *r, struct vm_symbol *s)
{
    enum { FILES_MOST = 256 };
    size_t len = 0;
    uint32_t n = etf_list(r);
    if (n > FILES_MOST)
        r->bad = true;
    const char **file = n > 0 && !r->bad ? arena_alloc(&v->names, n * sizeof *file) : NULL;
    v->symbols.oom |= n > 0 && !r->bad && file == NULL;
    for (uint32_t i = 0; i < n && !r->bad && !v->symbols.oom; i++)
        file[i] = keep_text(v, r);
    if (n)
        etf_list_end(r);
    const void *site = etf_binary(r, &len);
    if (r->bad || v->symbols.oom || site == NULL || len < sizeof *s->site)
        return;
    void *kept = arena_alloc(&v->names, len);
    v->symbols.oom |= kept == NULL;
    if (kept == NULL)
        return;
    memcpy(kept, site, len);
    s->file = file;
    s->nfiles = n;
    s->site = kept;
    s->nsites = (uint32_t)(len / sizeof *s->site);
}

/* Reads [{First, End, Name, Files, Sites}]: functions in the stacks of this answer. */
static void read_symbols(struct vm *v, struct etf *r)
{
    uint32_t n = etf_list(r);
    for (uint32_t i = 0; i < n && !r->bad && !v->symbols.oom; i++) {
        struct vm_symbol made = {0};
        if (etf_tuple(r) != 5)
            r->bad = true;
        made.from = etf_uint(r);
        made.to = etf_uint(r);
        made.name = keep_text(v, r);
        read_lines(v, r, &made);
        if (made.name != NULL && !r->bad && !v->symbols.oom && made.from < made.to)
            add_symbol(v, &made);
    }
    if (n)
        etf_list_end(r);
}

/* Reads an answer to a read: {ok, State, Counts, [binary()], More, Warnings, Loads, Symbols}, *r
 * after `ok`. When there is more, it is requested before the blocks are examined: the node drains
 * while we report. */
static int read_answer(struct vm *v, struct etf *r, uint32_t arity, const struct tier_sink *sink,
                       struct diags *d)
{
    char word[ETF_ATOM_MAX];
    if (arity != 7)
        return agent_malformed(&v->agent, "read", d);
    etf_atom(r, word);
    v->exiting |= strcmp(word, "exiting") == 0;
    v->overload |= strcmp(word, "overload") == 0;
    v->drained |= strcmp(word, "drained") == 0;
    read_counts(v, r, sink);
    struct etf blocks = *r;
    etf_skip(r);
    bool more = etf_atom_is(r, "true");
    agent_warnings(r, d);
    int e = read_loads(v, r, sink, d);
    if (e)
        return e;
    read_symbols(v, r);
    if (v->symbols.oom)
        return diag_error(d, ET_ENOMEM, NULL, NULL, NULL, "%s", et_strerror(ET_ENOMEM));
    if (r->bad)
        return agent_malformed(&v->agent, "read", d);
    v->asked = 0;
    unsigned kind = v->asking;
    e = more ? ask(v, 0, d) : 0;
    if (e == 0)
        e = read_blocks(v, &blocks, kind, sink, d);
    if (e || more)
        return e;
    v->todo &= ~kind;
    if (kind == PRINCIPAL && v->nrecords > 0 && v->opt.aggs_with_records)
        v->todo |= AGGS;
    return blocks.bad ? agent_malformed(&v->agent, "read", d) : 0;
}

/* Returns a rate of the options in ms, or the default. */
static int64_t rate_ms(int64_t ns, int64_t otherwise)
{
    if (ns == 0)
        return otherwise;
    return ns < 1000000 ? 1 : ns / 1000000;
}

/* Returns the ms until the next reading of the principal buffers. */
static int64_t read_ms(const struct vm *v)
{
    int64_t cleaned = rate_ms(v->opt.cleanrate, v->pace);
    return rate_ms(v->opt.switchrate, cleaned < v->pace ? cleaned : v->pace);
}

/* Asks for what is still to be read, or for the status alone. */
static int ask_next(struct vm *v, struct diags *d)
{
    v->asking = v->opt.aggs_with_records && (v->todo & PRINCIPAL) ? PRINCIPAL : v->todo;
    return ask(v, v->asking, d);
}

/* Continues the cycle, or ends it. */
static int cycle_step(struct vm *v, const struct tier_sink *sink, struct diags *d)
{
    if (v->todo)
        return ask_next(v, d);
    int e = sink_blocks(v, v->held.data, v->held.len, sink, d);
    int64_t now = clock_ms();
    buf_reset(&v->held);
    v->cycle++;
    if (v->kinds & PRINCIPAL)
        v->records_at = v->cycle_at;
    if (v->kinds & AGGS)
        v->aggs_at = v->cycle_at;
    if (v->kinds & PRINCIPAL) { /* an aggregation-only cycle does not postpone the records */
        if ((int64_t)v->nrecords > v->opt.bufsize / 4)
            v->pace = FULL_MS;
        else if (v->nrecords > 0)
            v->pace = BUSY_MS;
        else
            v->pace = v->pace * 2 > v->idle ? v->idle : v->pace * 2;
        v->next_read = now + read_ms(v);
    }
    if ((int64_t)v->naggs > v->opt.aggsize / 4 && !v->opt.aggrate) /* before the table overflows */
        v->next_aggs = now + AGGS_FULL_MS;
    return e;
}

/* Begins a cycle with these kinds. */
static int cycle_begin(struct vm *v, unsigned what, struct diags *d)
{
    int64_t now = clock_ms();
    if (v->opt.clocks && v->running && v->clock_id == 0 && now >= v->next_clock) {
        int e = vm_clock_ask(v, d);
        if (e)
            return e;
        v->next_clock = now + CLUSTER_ASK_MS;
    }
    v->cycle_at = now;
    v->todo = v->kinds = what & (PRINCIPAL | AGGS);
    v->nrecords = v->naggs = 0;
    v->next_status = now + status_ms(v);
    if (what & AGGS)
        v->next_aggs = now + rate_ms(v->opt.aggrate, AGGS_MS);
    return ask_next(v, d);
}

/* Returns the kinds that are due, with those that will soon be and have no rate of their own. */
static unsigned due(const struct vm *v, int64_t now)
{
    unsigned what = (now >= v->next_read ? PRINCIPAL : 0u) | (now >= v->next_aggs ? AGGS : 0u) |
                    (now >= v->next_status ? STATUS : 0u);
    if (what != 0 && v->opt.switchrate == 0 && now + v->pace / 2 >= v->next_read)
        what |= PRINCIPAL;
    if (what != 0 && v->opt.aggrate == 0 && now + SOON_MS >= v->next_aggs)
        what |= AGGS;
    return what;
}

static void lost_now(struct vm *v)
{
    v->lost = true;
    v->lost_at = clock_ms();
}

int64_t vm_silent(struct tier *t)
{
    const struct vm *v = vm_of(t);
    return in_cycle(v) && !v->lost ? agent_waited(&v->agent, v->asked_at) : 0;
}

void vm_read_members(struct etf *r, tier_member_fn fn, void *arg)
{
    char name[ETF_ATOM_MAX];
    uint32_t n = etf_list(r);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        etf_atom(r, name);
        if (!r->bad)
            fn(arg, name);
    }
    if (n)
        etf_list_end(r);
}

int vm_ask_members(struct tier *t, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct buf x = BUF_INIT;
    if (v->members_id || v->lost || v->stop_id)
        return 0;
    agent_begin(&v->agent, &x, &v->members_id);
    etf_put_atom(&x, "members");
    int e = agent_send(&v->agent, &x, d);
    if (e == ET_ELOST)
        lost_now(v);
    return e;
}

/* Where the names of an answer go. */
struct told {
    struct tier *t;
    const struct tier_sink *sink;
};

static void tell_member(void *arg, const char *name)
{
    const struct told *to = arg;
    if (to->sink != NULL && to->sink->member != NULL)
        to->sink->member(to->sink->arg, to->t, name);
}

/* Takes an answer to `members`. */
static int take_members(struct vm *v, struct etf *r, const struct tier_sink *sink, struct diags *d)
{
    uint32_t arity;
    v->members_id = 0;
    int e = agent_reply(&v->agent, r, &arity, d);
    if (e)
        return e;
    vm_read_members(r, tell_member, &(struct told){&v->tier, sink});
    return r->bad || arity != 1 ? agent_malformed(&v->agent, "members", d) : 1;
}

/* Waits for one answer until `deadline`. Returns 1: something happened; 0: nothing did in time; 2:
 * a signal; or an error. */
static int wait_answer(struct vm *v, int64_t deadline, const struct tier_sink *sink,
                       struct diags *d)
{
    struct etf r;
    int64_t id = 0;
    uint32_t arity;
    int got = agent_event(&v->agent, clock_left(deadline), &id, &r, d);
    if (got < 0)
        return got;
    if (got == CONN_SIGNAL)
        return 2;
    if (got != CONN_MESSAGE)
        return 0;
    if (id == v->stop_id && !v->stopped) {
        v->stopped = true;
        int e = agent_reply(&v->agent, &r, &arity, d);
        return e ? e : 1;
    }
    if (id == v->clock_id) {
        int e = agent_reply(&v->agent, &r, &arity, d);
        if (e == 0)
            e = vm_clock_heard(v, &r, arity, d);
        return e ? e : 1;
    }
    if (id == v->members_id)
        return take_members(v, &r, sink, d);
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
    lost_now(v);
    return TIER_LOST;
}

static int work_state(const struct vm *v)
{
    return v->stop_id    ? TIER_RUNNING
           : v->overload ? TIER_OVERLOAD
           : v->exiting  ? TIER_EXITING
                         : TIER_RUNNING;
}

/* Works after stop: first what is pending, then the answer to stop, then cycles until nothing more
 * comes. The end of a cycle that reported something is returned, so that its records are acted on
 * before aggregations of the next one, END's, arrive. */
static int work_rest(struct vm *v, int64_t deadline, const struct tier_sink *sink, struct diags *d)
{
    v->reported = false;
    for (;;) {
        int got = 0;
        if (v->reported && !in_cycle(v))
            return TIER_RUNNING;
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
        if (agent_waited(&v->agent, v->asked_at) > READ_MS)
            return work_error(v, agent_silent(&v->agent, READ_MS, d));
        if (got == 2 || (got == 0 && clock_ms() >= deadline))
            return TIER_RUNNING;
    }
}

int vm_work(struct tier *t, int timeout_ms, bool flush, const struct tier_sink *sink,
            struct diags *d)
{
    struct vm *v = vm_of(t);
    int64_t now = clock_ms(), deadline = now + (timeout_ms > 0 ? timeout_ms : 0);
    unsigned want =
        v->cycle + 1 + (in_cycle(v) ? 1 : 0); /* a flush ends with a cycle that began now */
    if (v->lost)
        return TIER_LOST;
    if (v->stop_id) {
        int state = work_rest(v, deadline, sink, d);
        arm(v);
        return state;
    }
    if (flush && deadline < now + FLUSH_MS)
        deadline = now + FLUSH_MS;
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
        if (in_cycle(v) && agent_waited(&v->agent, v->asked_at) > READ_MS)
            return work_error(v, agent_silent(&v->agent, READ_MS, d));
        if (flush ? (int)(v->cycle - want) >= 0 : (v->reported || v->loaded.len) && !in_cycle(v))
            break;
        /* What was already received is taken in any case, since fd() does not show it. */
        if (got == 2 || (got == 0 && now >= deadline) || work_state(v) != TIER_RUNNING)
            break;
    }
    arm(v);
    return work_state(v);
}

/* Only sends the request: an answer to a read may still be pending, and it has data. `work` takes
 * both. */
int vm_stop(struct tier *t, struct diags *d)
{
    struct vm *v = vm_of(t);
    struct buf x = BUF_INIT;
    if (v->stop_id || v->lost)
        return 0;
    if (!v->running) { /* nothing has fired */
        v->stop_id = -1;
        v->stopped = v->resting = v->drained = true;
        arm(v);
        return 0;
    }
    v->running = false;
    agent_begin(&v->agent, &x, &v->stop_id);
    etf_put_atom(&x, "stop");
    v->asked_at = clock_ms();
    int e = agent_send(&v->agent, &x, d);
    if (e == ET_ELOST)
        lost_now(v);
    return e;
}

void vm_rates(struct tier *t, int64_t switchrate, int64_t aggrate)
{
    struct vm *v = vm_of(t);
    int64_t now = clock_ms();
    v->opt.switchrate = switchrate;
    v->opt.aggrate = aggrate;
    v->next_read = now + read_ms(v);
    v->next_aggs = now + rate_ms(aggrate, AGGS_MS);
    if (v->running)
        arm(v);
}
