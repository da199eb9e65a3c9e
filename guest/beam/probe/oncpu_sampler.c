/* oncpu_sampler.c - see oncpu_sampler.h.
 *
 * What always holds:
 *  * The server alone adds and removes clocks, makes the thread and ends it.
 *  * The thread reads marks and writes what is its own there; a handler takes what it was asked.
 *  * `state` says whether the thread may still use anything of the library: only it itself turns
 *    RUNS or STOPS into ENDED, and then it is on its way out. */
#include "beam/probe/oncpu_sampler.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "beam/probe/oncpu_clock.h"
#include "beam/probe/onwall.h"

enum {
    STACK = 256 << 10,    /* bytes of the thread's stack; it touches some 10,000 */
    LATE_NS = 300000,     /* after which a thread that seemed to be displaced has waited, if the
                             system does not say */
    BEFORE_NS = 50000,    /* from when a thread is displaced until the sampler knows the time */
    STEADY_NS = 20000,    /* two readings that took longer may have a pause between them */
    TRIES = 3,            /* to read a clock twice without one */
    LOOKS = 16,           /* threads whose state is read in one wake */
    BEHIND = 16,          /* periods that are caught up with, one by one */
    WINDOW = 64,          /* samples that are due between two looks whether there are as many */
    EVEN = 256,           /* the pace of one wake in each period */
    FASTEST = 2 * EVEN,   /* ... and the most that is made up for */
    SLICE_NS = 100000,    /* for which it wants a processor at a time */
    FAIR_SIZE = 48,       /* bytes of struct sched_attr, as every system has it */
    FIELD_PROCESSOR = 36, /* fields from the state to the processor */
    SECOND_NS = 1000000000,
    JOIN_NS = 50000, /* between two looks whether the thread has left */
    JOINS = 40
};

/* One thread at one rate. */
static struct mark {
    _Atomic int tid; /* 0: there is none */
    _Atomic bool on;
    uint64_t last;           /* its CPU clock when it was last looked at; the sampler's own */
    _Atomic uint64_t asked;  /* CLOCK_MONOTONIC ns, and WAS_DISPLACED; 0: it is not asked */
    _Atomic uint64_t waited; /* for processors, before this time, if WAS_DISPLACED */
    _Atomic uint32_t taken;  /* samples, and the `again` that went with them; the thread's own */
    _Atomic uint32_t again;  /* times that it was found at work before it answered */
} marks[ONCPU_RATES][ONCPU_THREADS];

#define WAS_DISPLACED UINT64_C(1)
#define LONGEST_NS    (UINT64_C(1) << 56) /* two years: a period with which one can reckon */

static _Atomic uint64_t period[ONCPU_RATES]; /* ns; 0: no thread has this rate */
static _Atomic bool is_wall[ONCPU_RATES];    /* ... and they are of wall-N */
static uint32_t threads_of[ONCPU_RATES];     /* that have it; the server's */
static _Atomic uint32_t reach;               /* no mark at or beyond this has ever been used */
static _Atomic int signal_number;
static _Atomic uint32_t cost_ns; /* of the last wake that asked, for each question */

enum { NONE, RUNS, STOPS, ENDED };
static _Atomic int state;
static _Atomic uint32_t changes; /* counts what the thread has to look at, and wakes it */
static pthread_t sampler;
static int process;

static struct mark *mark_of(uint32_t number)
{
    return &marks[number % ONCPU_RATES][number / ONCPU_RATES];
}

/* -- what the system says of a thread -----------------------------------------------------------
 */

/* Reads a line of stat: NUMBER (NAME) STATE ... */
static bool parse_stat(const char *text, char *is, int *processor)
{
    const char *p = strrchr(text, ')'); /* a name may have one */
    if (p == NULL || p[1] != ' ' || p[2] == '\0')
        return false;
    *is = p[2];
    p += 2;
    for (int i = 0; i < FIELD_PROCESSOR; i++)
        if ((p = strchr(p, ' ')) == NULL)
            return false;
        else
            p++;
    uint64_t n;
    const bool is_number = number_read(&p, 10, &n);
    *processor = is_number && n <= INT_MAX ? (int)n : -1;
    return is_number;
}

/* Reads the beginning of a file. Async-signal-safe. */
static bool read_text(const char *path, char text[static ONCPU_TASK_TEXT + 1])
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, ONCPU_TASK_TEXT) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* (Nothing of C's formatted output, which needs more stack.) */
bool oncpu_sampler_read(int tid, const char *name, char text[static ONCPU_TASK_TEXT + 1])
{
    char path[64] = "/proc/self/task/", digits[12];
    int n = 0;
    for (unsigned rest = (unsigned)tid; n == 0 || rest > 0; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    char *p = path + strlen(path);
    while (n > 0)
        *p++ = digits[--n];
    strcpy(p, name);
    return read_text(path, text);
}

bool oncpu_sampler_state(int tid, char *is, int *processor)
{
    char text[ONCPU_TASK_TEXT + 1];
    return oncpu_sampler_read(tid, "/stat", text) && parse_stat(text, is, processor);
}

/* Reads a line of schedstat: for how many ns a thread has had a processor, has waited for one, and
 * how often. Waiting counts when it is over. Returns what it has waited, 0: not known. */
static uint64_t parse_waited(const char *text)
{
    uint64_t ns = 0;
    const char *p = strchr(text, ' ');
    for (p = p != NULL ? p + 1 : ""; *p >= '0' && *p <= '9'; p++)
        ns = ns * 10 + (uint64_t)(*p - '0');
    return ns;
}

/* -- the thread ---------------------------------------------------------------------------------
 */

/* Returns a random number (xorshift64*, S. Vigna, 2014: "An experimental exploration of Marsaglia's
 * xorshift generators, scrambled"). */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

/* What the sampler knows of a rate. */
struct pace {
    uint64_t ns;    /* the period; 0: no thread has this rate */
    uint64_t next;  /* wake */
    uint64_t used;  /* processor time of its threads since the last look at the pace */
    uint32_t taken; /* samples in all until then */
    uint32_t wakes; /* for each period, in parts of EVEN */
};

/* Sets the pace by what was due and what was taken. Beside other load, the sampler's own wakes come
 * late, at times when the threads that it samples wait as well, and find too few of them at work.
 * The pace changes slowly, over many samples, so that it has nothing to do with what runs. */
static void set_pace(struct pace *p, uint32_t taken)
{
    const uint64_t due = p->used / p->ns, had = taken - p->taken;
    const uint64_t wanted = had > 0 ? p->wakes * due / had : FASTEST;
    const uint64_t pace = (3 * (uint64_t)p->wakes + (wanted < FASTEST ? wanted : FASTEST)) / 4;
    p->wakes = (uint32_t)(pace > EVEN ? pace : EVEN);
    p->used = 0;
    p->taken = taken;
}

/* Returns the time until the next wake: between nothing and two periods. */
static uint64_t pause_of(uint64_t *seed, uint64_t ns)
{
    return next_random(seed) % (2 * ns + 1);
}

/* Returns the time of the wake after one that was due at `at`: from there on, so that coming late
 * does not lower the rate; but what has been missed altogether stays missed. */
static uint64_t wake_after(uint64_t *seed, uint64_t at, uint64_t now, uint64_t ns)
{
    if (now - at > BEHIND * ns)
        at = now;
    do
        at += pause_of(seed, ns);
    while (at <= now);
    return at;
}

enum found { RESTS, WORKS, DISPLACED };

/* A thread may have waited for its processor, and is about to be asked: its handler will see for
 * how long. */
static void note_waited(struct mark *m, int tid)
{
    char text[ONCPU_TASK_TEXT + 1];
    if (atomic_load_explicit(&m->asked, memory_order_relaxed) == 0)
        atomic_store_explicit(&m->waited,
                              oncpu_sampler_read(tid, "/schedstat", text) ? parse_waited(text) : 0,
                              memory_order_relaxed);
}

/* here: the processor that the sampler has. looks: states of threads that may still be read. Adds
 * to `used` what the thread has used since the last look. */
static enum found look_at(struct mark *m, int tid, int here, uint32_t *looks, uint64_t *used)
{
    char is;
    int processor;
    uint64_t first = 0, second = 0, from, last = m->last;
    bool steady = false;
    for (int i = 0; i < TRIES && !steady; i++) {
        from = monotonic_ns();
        first = oncpu_clock_time(tid);
        if (first == last) /* it stands still, or is not there: 0 */
            return RESTS;
        second = oncpu_clock_time(tid);
        steady = monotonic_ns() - from < STEADY_NS;
    }
    *used += last != 0 && second > last ? second - last : 0;
    m->last = second;
    if (!steady)
        return RESTS;
    if (second != first)
        return WORKS;
    if (*looks == 0)
        return RESTS;
    (*looks)--;
    if (!oncpu_sampler_state(tid, &is, &processor) || is != 'R' || processor != here)
        return RESTS;
    note_waited(m, tid);
    return DISPLACED;
}

/* As look_at, for wall-N. */
static enum found look_wall(uint32_t rate, uint32_t i, int tid, uint64_t at, uint32_t *looks)
{
    switch (onwall_look(rate, i, tid, at, looks)) {
    case ONWALL_ASK_RUNNING: return WORKS;
    case ONWALL_ASK_READY: note_waited(&marks[rate][i], tid); return DISPLACED;
    default: return RESTS;
    }
}

/* at: when the sampler woke. */
static void ask(struct mark *m, int tid, uint64_t at, bool displaced, bool wall)
{
    if (atomic_load_explicit(&m->asked, memory_order_relaxed) != 0) {
        /* It has not returned from the kernel since; or its signal was lost. */
        if (!displaced || wall)
            atomic_fetch_add_explicit(&m->again, 1, memory_order_relaxed);
    } else {
        atomic_store_explicit(&m->asked, (at & ~WAS_DISPLACED) | (displaced ? WAS_DISPLACED : 0),
                              memory_order_release);
    }
    syscall(SYS_tgkill, process, tid, atomic_load_explicit(&signal_number, memory_order_relaxed));
}

/* Looks at all threads of a rate. at: when the sampler woke. */
static void look(uint32_t rate, struct pace *p, uint64_t at, uint64_t *seed)
{
    const uint32_t n = atomic_load_explicit(&reach, memory_order_acquire);
    const bool wall = atomic_load_explicit(&is_wall[rate], memory_order_relaxed);
    const uint64_t from = monotonic_ns();
    const int here = sched_getcpu();
    uint32_t looks = LOOKS, asked = 0;
    uint32_t i = n > 0 ? (uint32_t)(next_random(seed) % n) : 0; /* else the first had more looks */
    for (uint32_t k = 0; k < n; k++, i = i + 1 < n ? i + 1 : 0) {
        struct mark *m = &marks[rate][i];
        const int tid = atomic_load_explicit(&m->tid, memory_order_acquire);
        if (tid == 0 || !atomic_load_explicit(&m->on, memory_order_relaxed))
            continue;
        const enum found found =
            wall ? look_wall(rate, i, tid, at, &looks) : look_at(m, tid, here, &looks, &p->used);
        if (found == RESTS)
            continue;
        ask(m, tid, at, found == DISPLACED, wall);
        asked++;
    }
    if (asked > 0)
        atomic_store_explicit(&cost_ns, (uint32_t)((monotonic_ns() - from) / asked),
                              memory_order_relaxed);
    if (wall || p->used / p->ns < WINDOW)
        return;
    uint32_t taken = 0;
    for (uint32_t k = 0; k < n; k++)
        taken += atomic_load_explicit(&marks[rate][k].taken, memory_order_relaxed);
    set_pace(p, taken);
}

/* Wants short turns on the processor, and soon: the system then lets the sampler displace what runs
 * when it wakes. Older systems ignore it. */
static void want_short_slice(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } a;
    _Static_assert(sizeof a == FAIR_SIZE, "the form that the system reads");
    memset(&a, 0, sizeof a);
    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 || a.policy != SCHED_OTHER)
        return;
    a.size = sizeof a;
    a.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &a, 0);
}

/* May run where the whole process may, not only where the scheduler is bound that made it. */
static void free_from_scheduler(void)
{
    cpu_set_t mine, all;
    if (sched_getaffinity(0, sizeof mine, &mine) == 0 &&
        sched_getaffinity(process, sizeof all, &all) == 0 && !CPU_EQUAL(&mine, &all))
        sched_setaffinity(0, sizeof all, &all);
}

static void wait_until(uint64_t at, uint32_t seen)
{
    const struct timespec ts = {(time_t)(at / SECOND_NS), (long)(at % SECOND_NS)};
    syscall(SYS_futex, &changes, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, &ts, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

/* Returns whether the thread has ended: it was told to, or nobody takes samples. */
static bool has_ended(uint64_t now)
{
    int was = STOPS;
    if (atomic_compare_exchange_strong(&state, &was, ENDED))
        return true;
    was = RUNS;
    return oncpu_clock_alone(now) && atomic_compare_exchange_strong(&state, &was, ENDED);
}

/* Does what is due for a rate. Returns when it has to be done again. */
static uint64_t turn(uint32_t rate, struct pace *p, uint64_t now, uint64_t *seed)
{
    const uint64_t ns = atomic_load_explicit(&period[rate], memory_order_acquire);
    if (ns == 0) {
        p->ns = 0;
        return UINT64_MAX;
    }
    if (ns != p->ns)
        *p = (struct pace){.ns = ns, .next = now + pause_of(seed, ns), .wakes = EVEN};
    if (p->next <= now) {
        look(rate, p, now, seed);
        onwall_late(rate, (now - p->next) / ns);
        p->next = wake_after(seed, p->next, now, ns * EVEN / p->wakes);
    }
    return p->next;
}

static void *run(void *filtered)
{
    struct pace paces[ONCPU_RATES] = {0};
    uint64_t now = monotonic_ns(), seed = (now ^ (uint64_t)syscall(SYS_gettid) << 32) | 1;
    prctl(PR_SET_NAME, "et_sampler");
    prctl(PR_SET_TIMERSLACK, 1); /* else it would wake with others whose time is near */
    if (filtered == NULL) {
        free_from_scheduler();
        want_short_slice();
    }
    while (!has_ended(now)) {
        const uint32_t seen = atomic_load(&changes);
        uint64_t until = now + ONCPU_ALONE;
        for (uint32_t r = 0; r < ONCPU_RATES; r++) {
            const uint64_t next = turn(r, &paces[r], now, &seed);
            until = next < until ? next : until;
        }
        wait_until(until, seen);
        now = monotonic_ns();
    }
    return NULL;
}

/* -- the server ---------------------------------------------------------------------------------
 */

static void wake(void)
{
    atomic_fetch_add(&changes, 1);
    syscall(SYS_futex, &changes, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

/* Returns whether no thread is left of one that has ended. */
static bool has_left(void)
{
    if (atomic_load(&state) == ENDED && pthread_tryjoin_np(sampler, NULL) == 0)
        atomic_store(&state, NONE);
    return atomic_load(&state) == NONE;
}

static bool make_thread(void)
{
    static char filter; /* anything but NULL */
    const bool filtered = oncpu_clock_is_filtered();
    sigset_t every, was;
    pthread_attr_t a;
    if (pthread_attr_init(&a) != 0)
        return false;
    process = (int)getpid();
    bool made = pthread_attr_setstacksize(&a, STACK) == 0;
    sigfillset(&every);
    if (made && (made = pthread_sigmask(SIG_SETMASK, &every, &was) == 0)) {
        atomic_store(&state, RUNS);
        made = pthread_create(&sampler, &a, run, filtered ? &filter : NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &was, NULL);
        if (!made)
            atomic_store(&state, NONE);
    }
    pthread_attr_destroy(&a);
    return made;
}

/* Returns whether there is a sampler that stays. */
static bool have_thread(void)
{
    int was = STOPS;
    if (atomic_compare_exchange_strong(&state, &was, RUNS) || was == RUNS)
        return true;
    for (int i = 0; !has_left(); i++) /* it is on its way out */
        if (i == JOINS)
            return false;
        else
            nanosleep(&(struct timespec){.tv_nsec = JOIN_NS}, NULL);
    return make_thread();
}

bool oncpu_sampler_add(uint32_t number, int tid, int signal, uint64_t ns, bool wall)
{
    const uint32_t rate = number % ONCPU_RATES, i = number / ONCPU_RATES;
    if (i >= ONCPU_THREADS || !have_thread())
        return false;
    struct mark *m = mark_of(number);
    atomic_store(&signal_number, signal);
    atomic_store(&m->asked, 0);
    atomic_store(&m->again, 0);
    atomic_store(&m->taken, 0);
    atomic_store(&m->on, true);
    atomic_store(&m->tid, tid);
    if (i >= atomic_load(&reach))
        atomic_store(&reach, i + 1);
    threads_of[rate]++;
    atomic_store(&is_wall[rate], wall);
    atomic_store(&period[rate], ns < LONGEST_NS ? ns : LONGEST_NS);
    wake();
    return true;
}

void oncpu_sampler_set(uint32_t number, bool on)
{
    atomic_store(&mark_of(number)->on, on);
}

void oncpu_sampler_remove(uint32_t number)
{
    const uint32_t rate = number % ONCPU_RATES;
    atomic_store(&mark_of(number)->tid, 0);
    if (--threads_of[rate] == 0)
        atomic_store(&period[rate], 0);
}

void oncpu_sampler_resume(void)
{
    bool used = false;
    for (uint32_t r = 0; r < ONCPU_RATES; r++)
        used = used || threads_of[r] > 0;
    if (used)
        have_thread();
}

bool oncpu_sampler_close(void)
{
    int was = RUNS;
    if (atomic_compare_exchange_strong(&state, &was, STOPS))
        wake();
    return has_left();
}

/* -- the handler --------------------------------------------------------------------------------
 */

/* Returns whether a thread that seemed to be displaced had waited for its processor before: from
 * when the sampler woke until now it cannot have waited longer than that. */
static bool had_waited(uint64_t before, uint64_t since)
{
    char text[ONCPU_TASK_TEXT + 1];
    const uint64_t now = read_text("/proc/thread-self/schedstat", text) ? parse_waited(text) : 0;
    return before == 0 || now <= before ? since > LATE_NS : now - before > since + BEFORE_NS;
}

enum oncpu_asked oncpu_sampler_asked(uint32_t number, uint64_t now, uint32_t *late, uint32_t *cost)
{
    struct mark *m = mark_of(number);
    if (atomic_load_explicit(&period[number % ONCPU_RATES], memory_order_relaxed) == 0 ||
        atomic_load_explicit(&m->asked, memory_order_relaxed) == 0)
        return ONCPU_ASKED_NOT;
    const uint64_t waited = atomic_load_explicit(&m->waited, memory_order_relaxed);
    *late = atomic_exchange_explicit(&m->again, 0, memory_order_relaxed);
    *cost = atomic_load_explicit(&cost_ns, memory_order_relaxed);
    const uint64_t asked = atomic_exchange_explicit(&m->asked, 0, memory_order_acquire);
    if (asked == 0)
        return ONCPU_ASKED_NOT;
    if (atomic_load_explicit(&is_wall[number % ONCPU_RATES], memory_order_relaxed))
        return (asked & WAS_DISPLACED) != 0 && had_waited(waited, now > asked ? now - asked : 0)
                   ? ONCPU_ASKED_RUNNABLE
                   : ONCPU_ASKED_SAMPLE;
    if ((asked & WAS_DISPLACED) != 0 && had_waited(waited, now > asked ? now - asked : 0))
        return ONCPU_ASKED_WAITED;
    atomic_fetch_add_explicit(&m->taken, 1 + *late, memory_order_relaxed);
    return ONCPU_ASKED_SAMPLE;
}
