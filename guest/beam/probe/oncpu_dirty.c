/* oncpu_dirty.c - see oncpu_dirty.h. */
#include "beam/probe/oncpu_dirty.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beam/agent.h"
#include "beam/probe/inside.h"

enum { KEYS = 32, /* of the first ones */ MFA = 3, WORDS = ONCPU_DIRTY_WORDS };

static _Atomic uint32_t candidates = UINT32_MAX; /* keys at which all normal ones have theirs */

/* What is proven; it does not change. */
static struct {
    pthread_key_t key;
    uint16_t current;
} found;
static _Atomic bool taken; /* somebody fills it in, or has */
static _Atomic bool proven;

static uint64_t value_at(pthread_key_t key)
{
    return (uint64_t)(uintptr_t)pthread_getspecific(key);
}

void oncpu_dirty_normal(uint64_t record)
{
    uint32_t here = 0;
    for (pthread_key_t k = 0; k < KEYS; k++)
        here |= (uint32_t)(value_at(k) == record) << k;
    atomic_fetch_and(&candidates, here);
}

enum oncpu_dirty_is oncpu_dirty_record(int memory, uint16_t back, uint64_t *record)
{
    uint64_t process;
    if (!atomic_load_explicit(&proven, memory_order_acquire))
        return ONCPU_DIRTY_UNPROVEN;
    *record = value_at(found.key);
    return inside_is_address(*record) && inside_read(memory, *record + back * 8ull, &process, 1)
               ? ONCPU_DIRTY_FOUND
               : ONCPU_DIRTY_NOT;
}

/* Returns where a thread's list of robust mutexes begins; 0: not known. */
static uint64_t list_of(int tid)
{
    void *head = NULL;
    size_t size;
    return syscall(SYS_get_robust_list, tid, &head, &size) == 0 ? (uint64_t)(uintptr_t)head : 0;
}

void oncpu_dirty_agree(struct oncpu_dirty_place *p, int memory, int tid, uint64_t self,
                       uint64_t record)
{
    uint64_t word[WORDS];
    const uint64_t list = self != 0 && !p->bad ? list_of(tid) : 0;
    const ssize_t size = list != 0 ? pread(memory, word, sizeof word, (off_t)self) : 0;
    if (size <= 0 || (p->threads > 0 && list - self != p->list)) {
        p->bad = true;
        return;
    }
    p->list = list - self;
    for (unsigned w = 0; w < WORDS; w++) {
        const bool has = w < (size_t)size / sizeof *word && word[w] == record;
        if (!has)
            p->words[w / 64] &= ~(UINT64_C(1) << w % 64);
        else if (p->threads == 0)
            p->words[w / 64] |= UINT64_C(1) << w % 64;
    }
    p->threads++;
}

/* Returns the only word that is left; WORDS: there is none, or more. */
static unsigned only_word(const struct oncpu_dirty_place *p)
{
    unsigned answer = WORDS, n = 0;
    for (unsigned w = 0; w < WORDS; w++)
        if ((p->words[w / 64] >> w % 64 & 1) != 0)
            answer = ++n == 1 ? w : WORDS;
    return answer;
}

enum oncpu_dirty_is oncpu_dirty_record_of(const struct oncpu_dirty_place *p, int memory,
                                          uint16_t back, int tid, uint64_t *record)
{
    uint64_t process;
    const unsigned w = only_word(p);
    const uint64_t list = p->threads > 0 && !p->bad && w < WORDS ? list_of(tid) : 0;
    if (list <= p->list || !inside_is_address(list - p->list) ||
        !inside_read(memory, list - p->list + w * 8ull, record, 1))
        return ONCPU_DIRTY_UNPROVEN;
    return inside_is_address(*record) && inside_read(memory, *record + back * 8ull, &process, 1)
               ? ONCPU_DIRTY_FOUND
               : ONCPU_DIRTY_NOT;
}

uint16_t oncpu_dirty_current(void)
{
    return atomic_load_explicit(&proven, memory_order_acquire) ? found.current : INSIDE_NONE;
}

/* Copies the process that the record at a key leads to. Returns whether it is this one. */
static bool leads_to(int memory, pthread_key_t key, const struct inside_facts *f, ERL_NIF_TERM pid,
                     uint64_t words[INSIDE_WORDS])
{
    const uint64_t record = value_at(key);
    uint64_t process;
    return inside_is_address(record) && inside_read(memory, record + f->back * 8ull, &process, 1) &&
           inside_is_address(process) && inside_read(memory, process, words, f->there + 1u) &&
           words[0] == pid && words[f->there] == 0;
}

/* Returns the only word that leads to the three words of a function. */
static uint16_t current_in(int memory, const uint64_t *words, uint16_t n, const ERL_NIF_TERM *mfa,
                           uint64_t arity)
{
    uint16_t answer = INSIDE_NONE;
    uint64_t there[MFA];
    unsigned places = 0;
    for (uint16_t w = 1; w < n; w++)
        if (inside_is_address(words[w]) && inside_read(memory, words[w], there, MFA) &&
            there[0] == mfa[0] && there[1] == mfa[1] && there[2] == arity)
            answer = ++places == 1 ? w : INSIDE_NONE;
    return answer;
}

ERL_NIF_TERM oncpu_dirty_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    const struct inside_facts *f = inside_found();
    const ERL_NIF_TERM *mfa;
    uint64_t words[INSIDE_WORDS];
    unsigned arity;
    int n;
    ErlNifPid self;
    const int type = enif_thread_type();
    if ((type != ERL_NIF_THR_DIRTY_CPU_SCHEDULER && type != ERL_NIF_THR_DIRTY_IO_SCHEDULER) ||
        !enif_get_tuple(env, argv[0], &n, &mfa) || n != MFA ||
        !enif_get_uint(env, mfa[2], &arity) || !enif_self(env, &self))
        return enif_make_badarg(env);
    if (atomic_load(&proven))
        return agent.atom.true_;
    const int memory = f != NULL ? open("/proc/self/mem", O_RDONLY | O_CLOEXEC) : -1;
    const uint32_t keys = atomic_load(&candidates);
    pthread_key_t k = memory < 0 || keys == UINT32_MAX ? KEYS : 0;
    while (k < KEYS && ((keys >> k & 1) == 0 || !leads_to(memory, k, f, self.pid, words)))
        k++;
    if (k < KEYS && !atomic_exchange(&taken, true)) {
        found.key = k;
        found.current = current_in(memory, words, f->there, mfa, arity);
        atomic_store_explicit(&proven, true, memory_order_release);
    }
    if (memory >= 0)
        close(memory);
    return k < KEYS ? agent.atom.true_ : agent.atom.false_;
}

bool oncpu_dirty_is_proven(void)
{
    return atomic_load(&proven);
}

ERL_NIF_TERM oncpu_proven_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)env;
    (void)argc;
    (void)argv;
    return oncpu_dirty_is_proven() ? agent.atom.true_ : agent.atom.false_;
}
