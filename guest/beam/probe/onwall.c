/* onwall.c - see onwall.h. */
#include "beam/probe/onwall.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/number.h"
#include "beam/probe/collecting.h"
#include "beam/probe/oncpu.h"
#include "beam/probe/oncpu_clock.h"
#include "beam/probe/oncpu_sampler.h"

enum {
    STEADY_NS = 20000, /* two readings that took longer may have a pause between them */
    TRIES = 3          /* to read a clock twice without one */
};

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/* What the system says of a thread. */
struct state {
    enum { GONE, READY, SLEEPS } is;
    long call; /* number of the system call in which it sleeps; -1: none; only if it sleeps */
    uint64_t sp, pc;
};

/* What a thread did when it was last looked at closely. As long as its clock stands there, it does
 * the same, or is about to go on from there. */
static struct seen {
    uint64_t clock; /* 0: nothing is known */
    uint64_t process;
    struct state state; /* it slept */
    bool idle;
} seen[ONCPU_THREADS];

static struct {
    _Atomic uint64_t called, unlooked, late;
    struct onwall_called told; /* the server's */
} counts[ONCPU_RATES];

static void add(_Atomic uint64_t *to, uint64_t n)
{
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

/* Reads the line "running", or NUMBER ARGUMENTS SP PC. */
static void parse_state(const char *text, struct state *out)
{
    const char *p = text;
    uint64_t call, last = 0, before = 0, value;
    *out = (struct state){.is = strncmp(text, "running", 7) == 0 ? READY : GONE};
    p += *text == '-'; /* -1: in none */
    if (!number_read(&p, 10, &call))
        return;
    out->call = *text == '-' ? -(long)call : (long)call;
    out->is = SLEEPS;
    while (number_read(&p, 16, &value)) {
        before = last;
        last = value;
    }
    out->sp = before;
    out->pc = last;
}

/* Where the system does not say in which call a thread sleeps, it says that it sleeps. */
static struct state state_of(int tid)
{
    struct state s = {.is = GONE};
    char text[ONCPU_TASK_TEXT + 1], is;
    int processor;
    if (oncpu_sampler_read(tid, "/syscall", text))
        parse_state(text, &s);
    else if (oncpu_sampler_state(tid, &is, &processor))
        s = (struct state){.is = is == 'R' ? READY : SLEEPS, .call = SYS_futex};
    return s;
}

/* Returns whether a thread that is ready to run has had the sampler's processor last. */
static bool is_displaced(int tid)
{
    char is;
    int processor;
    return oncpu_sampler_state(tid, &is, &processor) && processor == sched_getcpu();
}

/* Returns whether the VM waits for work by this system call. */
static bool waits_for_work(const struct state *s)
{
    switch (s->call) {
    case SYS_futex:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_ppoll:
    case SYS_pselect6: return true;
    default: return arch_waits(s->call);
    }
}

/* Reads a thread's clock. Returns whether it moves. before: what it was some time ago. *sure: it
 * does, or does not; otherwise there was a pause between the readings. */
static bool moves(int tid, uint64_t before, uint64_t *clock, bool *sure)
{
    uint64_t second = 0;
    *sure = true;
    if ((*clock = oncpu_clock_time(tid)) == before)
        return false;
    *sure = false;
    for (int i = 0; i < TRIES && !*sure; i++) {
        const uint64_t from = monotonic_ns();
        *clock = oncpu_clock_time(tid);
        second = oncpu_clock_time(tid);
        *sure = second == *clock || monotonic_ns() - from < STEADY_NS;
    }
    return second != *clock;
}

static void note(uint32_t rate, uint32_t i, enum onwall_doing doing, uint64_t at, uint64_t from)
{
    add(&counts[rate].called, 1);
    oncpu_note(i, rate, doing, at, (uint32_t)(monotonic_ns() - from));
}

/* A thread does not run. Makes it a sample, if it is not idle. */
static void look_at_rest(uint32_t rate, uint32_t i, int tid, enum onwall_doing doing, uint64_t at,
                         uint64_t from)
{
    struct seen *s = &seen[i];
    bool has = false, still = true;
    if (s->process == 0) {
        oncpu_look_at_nothing(false);
    } else {
        has = oncpu_look(i, s->state.pc, s->state.sp);
        still = oncpu_clock_time(tid) == s->clock && oncpu_process(i) == s->process;
    }
    s->idle = !has && still && waits_for_work(&s->state);
    if (s->idle)
        return;
    if (!still)
        oncpu_look_at_nothing(true);
    note(rate, i, doing, at, from);
}

enum onwall_found onwall_look(uint32_t rate, uint32_t i, int tid, uint64_t at, uint32_t *looks)
{
    struct seen *s = &seen[i];
    const uint64_t from = monotonic_ns(), process = oncpu_process(i);
    uint64_t clock;
    bool sure;
    if (collecting_is_watcher(tid))
        return ONWALL_DONE;
    const bool runs = moves(tid, s->clock, &clock, &sure);
    const bool same = !runs && clock == s->clock && process == s->process;
    if (clock == 0 || (same && s->idle)) /* it is not there; or has not run since */
        return ONWALL_DONE;
    if (runs && sure && process != 0) {
        add(&counts[rate].called, 1);
        return ONWALL_ASK_RUNNING;
    }
    if (runs && sure) {
        oncpu_look_at_nothing(false);
        note(rate, i, ONWALL_RUNNING, at, from);
        return ONWALL_DONE;
    }
    if (*looks == 0) {
        add(&counts[rate].unlooked, 1);
        return ONWALL_DONE;
    }
    (*looks)--;
    if (!sure)
        clock = oncpu_clock_time(tid);
    const struct state now = state_of(tid);
    switch (now.is) {
    case GONE: break;
    case SLEEPS:
        *s = (struct seen){.clock = clock, .process = process, .state = now};
        look_at_rest(rate, i, tid, ONWALL_ASLEEP, at, from);
        break;
    case READY:
        if (same) {
            look_at_rest(rate, i, tid, ONWALL_RUNNABLE, at, from);
        } else if (process != 0) {
            add(&counts[rate].called, 1);
            return runs ? ONWALL_ASK_RUNNING : ONWALL_ASK_READY;
        } else {
            oncpu_look_at_nothing(false);
            note(rate, i, runs || is_displaced(tid) ? ONWALL_RUNNING : ONWALL_RUNNABLE, at, from);
        }
    }
    return ONWALL_DONE;
}

void onwall_late(uint32_t rate, uint64_t n)
{
    add(&counts[rate].late, n);
}

/* -- for the server -----------------------------------------------------------------------------
 */

struct onwall_called onwall_news(uint32_t rate)
{
    struct onwall_called *told = &counts[rate].told;
    const struct onwall_called now = {
        atomic_load_explicit(&counts[rate].called, memory_order_relaxed),
        atomic_load_explicit(&counts[rate].unlooked, memory_order_relaxed),
        atomic_load_explicit(&counts[rate].late, memory_order_relaxed)};
    const struct onwall_called more = {now.called - told->called, now.unlooked - told->unlooked,
                                       now.late - told->late};
    *told = now;
    return more;
}

const char *onwall_doing_name(enum onwall_doing doing)
{
    static const char *const names[] = {"running", "runnable", "asleep"};
    return doing < ONWALL_DOINGS ? names[doing] : "";
}
