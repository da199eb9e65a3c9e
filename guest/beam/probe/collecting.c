/* collecting.c - see collecting.h.
 *
 * What always holds: the process that looks writes everything but `amid`, which the watcher alone
 * writes, and `seen`. A look is kept only if the watcher has said, by the number of this very turn,
 * that its `amid` is whole. */
#include "beam/probe/collecting.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "beam/agent.h"

enum {
    HALVES = 2, /* of a word */
    HALF_BITS = 32,
    EARLY = 1,           /* copies of a turn that are not used: it may have just begun */
    PAUSE_NS = 20000,    /* between two looks at the turn; its end displaces who is collected */
    WATCH_NS = 300000000 /* of one watch, at most */
};

/* -- proof ------------------------------------------------------------------------------------- */

static uint32_t half_of(const uint64_t *words, uint32_t half)
{
    return (uint32_t)(words[half / HALVES] >> (half % HALVES * HALF_BITS));
}

/* Returns the bit that one half of a word shows, of that half, and sets the looks that show it, a
 * bit each; 0: it shows none. */
static uint32_t shown_by(const struct collecting_look *look, uint32_t n, uint32_t half,
                         uint32_t *shown)
{
    uint32_t more = 0, outside = 0, controls = 0;
    *shown = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t before = half_of(look[i].before, half), amid = half_of(look[i].amid, half);
        if (half_of(look[i].after, half) != before || (look[i].control && amid != before))
            return 0;
        more |= amid ^ before;
        outside |= before;
        *shown |= (uint32_t)(amid != before) << i;
        controls += look[i].control;
    }
    const bool one = more != 0 && (more & (more - 1)) == 0 && (more & outside) == 0;
    return one && __builtin_popcount(*shown) >= COLLECTING_LEAST && controls >= COLLECTING_LEAST
               ? more
               : 0;
}

struct collecting_bits collecting_prove(const struct collecting_look *look, uint32_t n,
                                        uint16_t words)
{
    struct collecting_bits answer = {.mask = 0};
    uint32_t all = 0;
    for (uint32_t half = HALVES; half < HALVES * (uint32_t)words; half++) {
        uint32_t shown;
        const uint32_t bit = shown_by(look, n, half, &shown);
        if (bit == 0)
            continue;
        if (answer.mask != 0 && (answer.word != half / HALVES || shown != all))
            return (struct collecting_bits){.mask = 0};
        answer.word = (uint16_t)(half / HALVES);
        answer.mask |= (uint64_t)bit << (half % HALVES * HALF_BITS);
        all = shown;
    }
    return answer;
}

/* -- looking ----------------------------------------------------------------------------------- */

static _Atomic uint64_t known_mask; /* 0: not known; set after the word */
static _Atomic uint16_t known_word;

static _Atomic ERL_NIF_TERM looker; /* 0: none */
static _Atomic uint64_t looker_at;  /* its structure */
static _Atomic uint32_t turn;       /* odd: between before and after */
static _Atomic uint32_t seen;       /* the last turn whose `amid` is whole */
static _Atomic uint32_t nlooks;     /* that are kept; the next one is being made */
static _Atomic bool asked;          /* one watch is allowed */
static _Atomic int watcher;         /* its thread; 0: there is none */
static struct collecting_look looks[COLLECTING_LOOKS];

static ERL_NIF_TERM boolean(bool b)
{
    return b ? agent.atom.true_ : agent.atom.false_;
}

struct collecting_bits collecting_bits(void)
{
    const uint64_t mask = atomic_load_explicit(&known_mask, memory_order_acquire);
    return (struct collecting_bits){
        .mask = mask, .word = atomic_load_explicit(&known_word, memory_order_relaxed)};
}

/* Returns the facts if the caller may look, and they suffice; else NULL. */
static const struct inside_facts *may_look(ErlNifEnv *env)
{
    ErlNifPid self;
    const struct inside_facts *f = inside_found();
    return f != NULL && enif_thread_type() == ERL_NIF_THR_NORMAL_SCHEDULER &&
                   enif_self(env, &self) && self.pid == atomic_load(&looker)
               ? f
               : NULL;
}

ERL_NIF_TERM collecting_ask_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid pid;
    if (!agent_is_server(env) || !enif_get_local_pid(env, argv[0], &pid))
        return enif_make_badarg(env);
    if (atomic_load(&turn) % 2 != 0) /* the one before it was killed in a turn */
        atomic_fetch_add(&turn, 1);
    atomic_store(&looker, pid.pid);
    atomic_store(&asked, true);
    return agent.atom.ok;
}

ERL_NIF_TERM collecting_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct inside_facts *f = may_look(env);
    const uint32_t n = atomic_load(&nlooks);
    uint64_t at;
    if (f == NULL || n == COLLECTING_LOOKS || atomic_load(&turn) % 2 != 0)
        return agent.atom.false_;
    struct collecting_look *l = &looks[n];
    if (!inside_self(env, &at, l->before) || l->before[f->there] == 0)
        return agent.atom.false_;
    l->control = argv[0] == agent.atom.true_;
    atomic_store(&looker_at, at);
    atomic_fetch_add(&turn, 1);
    return agent.atom.true_;
}

ERL_NIF_TERM collecting_end_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    const struct inside_facts *f = may_look(env);
    const uint32_t now = atomic_load(&turn), n = atomic_load(&nlooks);
    uint64_t at;
    if (f == NULL || n == COLLECTING_LOOKS || now % 2 == 0)
        return agent.atom.false_;
    struct collecting_look *l = &looks[n];
    atomic_fetch_add(&turn, 1);
    if (atomic_load(&seen) == now && inside_self(env, &at, l->after) &&
        l->before[0] == l->amid[0] && l->before[f->there] == l->amid[f->there] &&
        l->before[f->there] == l->after[f->there])
        atomic_store(&nlooks, n + 1);
    return boolean(atomic_load(&nlooks) == COLLECTING_LOOKS);
}

ERL_NIF_TERM collecting_prove_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    const struct inside_facts *f = may_look(env);
    struct collecting_bits bits = collecting_bits();
    if (bits.mask != 0) /* what is proven is kept */
        return agent.atom.true_;
    if (f != NULL)
        bits = collecting_prove(looks, atomic_load(&nlooks), f->there);
    if (bits.mask != 0) {
        atomic_store(&known_word, bits.word);
        atomic_store_explicit(&known_mask, bits.mask, memory_order_release);
    } else if (f != NULL && atomic_load(&nlooks) == COLLECTING_LOOKS)
        atomic_store(&nlooks, 0); /* something was disturbed */
    return boolean(bits.mask != 0);
}

bool collecting_is_watcher(int tid)
{
    return atomic_load_explicit(&watcher, memory_order_relaxed) == tid;
}

/* Copies the process that looks, in a turn that has not just begun. */
static void watch_turn(int memory, uint32_t now)
{
    uint64_t words[INSIDE_WORDS];
    for (unsigned i = 0; i <= EARLY; i++)
        if (!inside_read(memory, atomic_load(&looker_at), words, INSIDE_WORDS) ||
            atomic_load(&turn) != now)
            return;
    const uint32_t n = atomic_load(&nlooks);
    if (n == COLLECTING_LOOKS)
        return;
    memcpy(looks[n].amid, words, sizeof words);
    atomic_store(&seen, now);
}

ERL_NIF_TERM collecting_watch_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    const uint64_t until = monotonic_ns() + WATCH_NS;
    int none = 0;
    if (enif_thread_type() != ERL_NIF_THR_DIRTY_IO_SCHEDULER || !atomic_exchange(&asked, false) ||
        !atomic_compare_exchange_strong(&watcher, &none, (int)syscall(SYS_gettid)))
        return enif_make_badarg(env);
    const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    while (memory >= 0 && atomic_load(&nlooks) < COLLECTING_LOOKS && monotonic_ns() < until) {
        const uint32_t now = atomic_load(&turn);
        if (now % 2 != 0 && atomic_load(&seen) != now)
            watch_turn(memory, now);
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    if (memory >= 0)
        close(memory);
    atomic_store(&watcher, 0);
    return agent.atom.ok;
}

ERL_NIF_TERM collecting_proven_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return boolean(collecting_bits().mask != 0);
}
