/* inside.c - see inside.h. */
#include "beam/probe/inside.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "beam/agent.h"
#include "beam/probe/dictionary.h"

enum {
    SLICE = 4000, /* reductions that a process is scheduled in with, at most */
    OVERSHOT = 64 /* by which they may be exceeded before the VM notices */
};
#define VALUE_MOST (INT64_C(1) << 40) /* of a number of words or messages */

/* -- proof ------------------------------------------------------------------------------------- */

typedef uint64_t value_fn(const struct inside_look *l);

static uint64_t inner_of(const struct inside_look *l)
{
    return l->inner;
}
static uint64_t outer_of(const struct inside_look *l)
{
    return l->outer;
}
static uint64_t block_of(const struct inside_look *l)
{
    return l->block;
}
static uint64_t old_of(const struct inside_look *l)
{
    return l->old;
}
static uint64_t stack_of(const struct inside_look *l)
{
    return l->stack;
}
static uint64_t top_of(const struct inside_look *l)
{
    return l->top;
}
static uint64_t sensitive_of(const struct inside_look *l)
{
    return l->sensitive;
}
static uint64_t elements_of(const struct inside_look *l)
{
    return l->elements;
}
static uint64_t at_of(const struct inside_look *l)
{
    return l->at;
}

/* Returns whether the looks have at least `least` different values of this. */
static bool varies(const struct inside_look *look, uint32_t n, value_fn *value, unsigned least)
{
    unsigned different = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool seen = false;
        for (uint32_t j = 0; j < i && !seen; j++)
            seen = value(&look[j]) == value(&look[i]);
        different += !seen;
    }
    return different >= least;
}

/* Finds the word that always has the value. (Here and below, a second candidate leaves none.) */
static uint16_t word_of(const struct inside_look *look, uint32_t n, uint16_t words, value_fn *value)
{
    uint16_t answer = INSIDE_NONE;
    unsigned found = 0;
    if (!varies(look, n, value, INSIDE_VALUES))
        return INSIDE_NONE;
    for (uint16_t w = 1; w < words; w++) {
        uint32_t i = 0;
        while (i < n && look[i].word[w] == value(&look[i]))
            i++;
        if (i == n)
            answer = ++found == 1 ? w : INSIDE_NONE;
    }
    return answer;
}

/* Returns whether two words hold the first address of a block of this many words, and its end. No
 * block: both are 0. */
static bool is_block(const struct inside_look *l, uint16_t first, uint16_t end, uint64_t words)
{
    uint64_t a = l->word[first], b = l->word[end];
    if (words == 0)
        return a == 0 && b == 0;
    return a >= INSIDE_LOWEST && a % 8 == 0 && b > a && b - a == words * 8;
}

static void block_at(const struct inside_look *look, uint32_t n, uint16_t words, value_fn *value,
                     uint16_t *first, uint16_t *end)
{
    unsigned found = 0;
    if (!varies(look, n, value, INSIDE_VALUES))
        return;
    for (uint16_t a = 1; a < words; a++)
        for (uint16_t b = 1; b < words; b++) {
            uint32_t i = 0;
            while (i < n && is_block(&look[i], a, b, value(&look[i])))
                i++;
            if (i < n)
                continue;
            bool one = ++found == 1;
            *first = one ? a : INSIDE_NONE;
            *end = one ? b : INSIDE_NONE;
        }
}

static bool is_in_heap(const uint64_t *words, const struct inside_facts *f, uint16_t w)
{
    return words[f->heap] <= words[w] && words[w] <= words[f->heap_end];
}

/* Finds the young heap's block, and the top of the stack, which grows from its end. Where several
 * words could be the top, it is what is below all others while the process waits (AT REST). */
static void stack_at(const struct inside_look *look, uint32_t n, const uint64_t *rest,
                     uint16_t words, struct inside_facts *f)
{
    unsigned lowest = 0;
    block_at(look, n, words, block_of, &f->heap, &f->heap_end);
    if (f->heap_end == INSIDE_NONE || !varies(look, n, stack_of, INSIDE_VALUES))
        return;
    for (uint16_t w = 1; w < words; w++) {
        uint32_t i = 0;
        while (i < n && look[i].word[f->heap_end] - look[i].word[w] == look[i].stack * 8)
            i++;
        if (i < n || (rest && !is_in_heap(rest, f, w)))
            continue;
        if (lowest > 0 && rest && rest[w] > rest[f->stop])
            continue;
        lowest = lowest > 0 && (!rest || rest[w] == rest[f->stop]) ? lowest + 1 : 1;
        f->stop = w;
    }
    if (lowest != 1)
        f->stop = INSIDE_NONE;
}

/* Finds the bit that is set while the process is sensitive. */
static uint16_t sensitive_at(const struct inside_look *look, uint32_t n, uint16_t words)
{
    uint16_t answer = INSIDE_NONE;
    unsigned found = 0;
    if (!varies(look, n, sensitive_of, 2))
        return INSIDE_NONE;
    for (uint16_t bit = 64; bit < words * 64; bit++) {
        uint32_t i = 0;
        while (i < n && (look[i].word[bit / 64] >> bit % 64 & 1) == look[i].sensitive)
            i++;
        if (i == n)
            answer = ++found == 1 ? bit : INSIDE_NONE;
    }
    return answer;
}

static bool is_dictionary(const struct inside_look *l, uint16_t w)
{
    return l->elements == 0 ? l->word[w] == 0 : l->word[w] != 0 && l->leads[w] == l->elements;
}

static uint64_t without_of(const struct inside_look *l)
{
    return l->elements == 0;
}

/* Finds the word that leads to the dictionary, and is 0 where the process has none. */
static uint16_t dictionary_at(const struct inside_look *look, uint32_t n, uint16_t words)
{
    uint16_t answer = INSIDE_NONE;
    unsigned found = 0;
    if (!varies(look, n, elements_of, INSIDE_VALUES) || !varies(look, n, without_of, 2))
        return INSIDE_NONE;
    for (uint16_t w = 1; w < words; w++) {
        uint32_t i = 0;
        while (i < n && is_dictionary(&look[i], w))
            i++;
        if (i == n)
            answer = ++found == 1 ? w : INSIDE_NONE;
    }
    return answer;
}

static int64_t low_half(uint64_t word)
{
    return (int32_t)(uint32_t)word;
}

static int64_t half_of(const uint64_t *words, uint16_t half)
{
    return low_half(words[half / 2] >> (half % 2 != 0 ? 32 : 0));
}

/* Where the members that make up the reductions may lie. */
struct places {
    uint16_t v[INSIDE_WORDS > 2 * INSIDE_RECORD ? INSIDE_WORDS : 2 * INSIDE_RECORD];
    unsigned n;
};

static bool could_be_reds(const struct inside_look *l, const struct inside_facts *f, uint16_t w)
{
    (void)f;
    return l->word[w] <= l->reds[1] && l->reds[0] - l->word[w] <= 2 * SLICE;
}

static bool of_a_slice(int64_t v)
{
    return v >= 0 && v <= SLICE;
}

static bool could_be_part(const struct inside_look *l, const struct inside_facts *f, uint16_t w)
{
    (void)f;
    return of_a_slice(low_half(l->word[w]));
}

/* The record of the look's scheduler: once the chain is known. */
static const uint64_t *record_of(const struct inside_look *l, const struct inside_facts *f)
{
    uint32_t c = 0;
    while (l->chain[c].there != f->there || l->chain[c].back != f->back)
        c++;
    return l->chain[c].record;
}

static bool could_be_unreal(const struct inside_look *l, const struct inside_facts *f,
                            uint16_t half)
{
    return of_a_slice(half_of(record_of(l, f), half));
}

typedef bool could_fn(const struct inside_look *l, const struct inside_facts *f, uint16_t at);

/* Collects those from `first` to `end` that could be a member in every look. */
static void members_of(const struct inside_look *look, uint32_t n, uint16_t first, uint16_t end,
                       const struct inside_facts *f, could_fn *could, struct places *out)
{
    out->n = 0;
    for (uint16_t w = first; w < end; w++) {
        uint32_t i = 0;
        while (i < n && could(&look[i], f, w))
            i++;
        if (i == n)
            out->v[out->n++] = w;
    }
}

static bool adds_up(const struct inside_look *l, const struct inside_facts *f, const uint16_t at[4])
{
    uint64_t total =
        l->word[at[0]] + (uint64_t)(low_half(l->word[at[1]]) - low_half(l->word[at[2]]) -
                                    half_of(record_of(l, f), at[3]));
    return total >= l->reds[0] && total <= l->reds[1];
}

static uint64_t reds_of(const struct inside_look *l)
{
    return l->reds[0];
}

static uint64_t far_of(const struct inside_look *l)
{
    return l->reds[0] > (uint64_t)2 * SLICE;
}

static void reds_at(const struct inside_look *look, uint32_t n, struct inside_facts *f)
{
    struct places m[4];
    unsigned found = 0;
    if (!varies(look, n, reds_of, INSIDE_VALUES) || !varies(look, n, far_of, 2))
        return;
    members_of(look, n, 1, f->there, f, could_be_reds, &m[0]);
    members_of(look, n, 1, f->there, f, could_be_part, &m[1]);
    members_of(look, n, 1, f->there, f, could_be_part, &m[2]);
    members_of(look, n, 0, 2 * INSIDE_RECORD, f, could_be_unreal, &m[3]);
    for (unsigned a = 0; a < m[0].n; a++)
        for (unsigned b = 0; b < m[1].n; b++)
            for (unsigned c = 0; c < m[2].n; c++)
                for (unsigned d = 0; d < m[3].n; d++) {
                    const uint16_t at[4] = {m[0].v[a], m[1].v[b], m[2].v[c], m[3].v[d]};
                    uint32_t i = 0;
                    while (i < n && adds_up(&look[i], f, at))
                        i++;
                    if (i < n)
                        continue;
                    bool one = ++found == 1;
                    f->reds = one ? at[0] : INSIDE_NONE;
                    f->given = one ? at[1] : INSIDE_NONE;
                    f->left = one ? at[2] : INSIDE_NONE;
                    f->unreal = one ? at[3] : INSIDE_NONE;
                }
}

static bool has_chain(const struct inside_look *l, const struct inside_chain *c)
{
    for (uint32_t i = 0; i < l->nchains; i++)
        if (l->chain[i].there == c->there && l->chain[i].back == c->back)
            return true;
    return false;
}

static void chain_at(const struct inside_look *look, uint32_t n, struct inside_facts *f)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < n; i++)
        if (look[i].word[0] != look[i].pid)
            return;
    if (!varies(look, n, at_of, INSIDE_PROCESSES))
        return;
    for (uint32_t c = 0; c < look[0].nchains; c++) {
        uint32_t i = 0;
        while (i < n && has_chain(&look[i], &look[0].chain[c]))
            i++;
        if (i < n)
            continue;
        bool one = ++found == 1;
        f->there = one ? look[0].chain[c].there : INSIDE_NONE;
        f->back = one ? look[0].chain[c].back : INSIDE_NONE;
    }
}

void inside_prove(const struct inside_look *look, uint32_t n, const uint64_t rest[INSIDE_WORDS],
                  struct inside_facts *f)
{
    memset(f, 0xff, sizeof *f);
    if (n < INSIDE_ENOUGH)
        return;
    chain_at(look, n, f);
    if (f->there == INSIDE_NONE)
        return;
    /* The structure goes on to there at least. Behind it may be anything. */
    uint16_t words = f->there;
    f->inner = word_of(look, n, words, inner_of);
    f->outer = word_of(look, n, words, outer_of);
    f->block = word_of(look, n, words, block_of);
    block_at(look, n, words, old_of, &f->old, &f->old_end);
    stack_at(look, n, rest, words, f);
    f->top = word_of(look, n, words, top_of);
    f->sensitive = sensitive_at(look, n, words);
    f->dictionary = dictionary_at(look, n, words);
    reds_at(look, n, f);
}

static bool knows_queue(const struct inside_facts *f)
{
    return f->inner != INSIDE_NONE && f->outer != INSIDE_NONE;
}

/* -- what is known ----------------------------------------------------------------------------- */

enum { FACTS = 7 };

/* By the number of facts: what is known grows, and never changes. Events read the last one. */
static struct inside_facts kept[FACTS + 1];
static _Atomic(const struct inside_facts *) known;

/* Returns the number of facts, with their names. */
static unsigned count(const struct inside_facts *f, ERL_NIF_TERM names[FACTS])
{
    const struct atoms *a = &agent.atom;
    unsigned n = 0;
    if (!f)
        return 0;
    if (knows_queue(f))
        names[n++] = a->mqlen;
    if (f->block != INSIDE_NONE)
        names[n++] = a->heapsize;
    if (f->old != INSIDE_NONE)
        names[n++] = a->oldheapsize;
    if (f->reds != INSIDE_NONE)
        names[n++] = a->reductions;
    if (f->stop != INSIDE_NONE && f->top != INSIDE_NONE)
        names[n++] = a->stack;
    if (f->sensitive != INSIDE_NONE)
        names[n++] = a->sensitive;
    if (f->dictionary != INSIDE_NONE)
        names[n++] = a->dictionary;
    return n;
}

const struct inside_facts *inside_found(void)
{
    return atomic_load_explicit(&known, memory_order_acquire);
}

static ERL_NIF_TERM known_list(ErlNifEnv *env)
{
    ERL_NIF_TERM names[FACTS];
    ERL_NIF_TERM list = enif_make_list(env, 0);
    for (unsigned n = count(atomic_load(&known), names); n > 0; n--)
        list = enif_make_list_cell(env, names[n - 1], list);
    return list;
}

ERL_NIF_TERM inside_known_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    return agent_is_server(env) ? known_list(env) : enif_make_badarg(env);
}

/* -- looking ----------------------------------------------------------------------------------- */

/* The server says who may look, and waits until that process has ended before it goes on. */
static _Atomic ERL_NIF_TERM looker; /* the process that may look; 0: none */
static struct inside_look looks[INSIDE_LOOKS];
static uint32_t nlooks;
static bool looked;                      /* looks[nlooks] waits to be kept */
static uint64_t rest[INSIDE_WORDS];      /* of the last look at rest; word 0 is 0: there was none */
static uint64_t rested[INSIDE_WORDS];    /* the last one before facts were sought; zeros: none */
static uint64_t of_server[INSIDE_WORDS]; /* when it said so first */

/* Copies words without ever faulting. Returns whether all of them could be read. (A service's
 * filter of system calls may end a process that calls process_vm_readv. It lets a VM read files.)
 */
bool inside_read(int fd, uint64_t at, uint64_t *out, size_t n)
{
    return pread(fd, out, n * sizeof *out, (off_t)at) == (ssize_t)(n * sizeof *out);
}

static bool read_words(uint64_t at, uint64_t *out, size_t n)
{
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    bool read = fd >= 0 && inside_read(fd, at, out, n);
    if (fd >= 0)
        close(fd);
    return read;
}

static uint64_t word_of_env(const ErlNifEnv *env, unsigned w)
{
    return ((const volatile uint64_t *)(const volatile void *)env)[w];
}

static uint64_t process_in(const ErlNifEnv *env)
{
    return word_of_env(env, 1);
}

bool inside_self(ErlNifEnv *env, uint64_t *at, uint64_t out[INSIDE_WORDS])
{
    ErlNifPid self;
    *at = process_in(env);
    return enif_self(env, &self) && inside_is_address(*at) && read_words(*at, out, INSIDE_WORDS) &&
           out[0] == self.pid;
}

static void find_chains(struct inside_look *l)
{
    uint64_t record[INSIDE_RECORD];
    for (uint16_t there = 1; there < INSIDE_WORDS; there++) {
        uint64_t to = l->word[there];
        if (!inside_is_address(to) || to == l->at || to != of_server[there] ||
            !read_words(to, record, INSIDE_RECORD))
            continue;
        for (uint16_t back = 0; back < INSIDE_RECORD && l->nchains < INSIDE_CHAINS; back++) {
            if (record[back] != l->at)
                continue;
            struct inside_chain *c = &l->chain[l->nchains++];
            c->there = there;
            c->back = back;
            memcpy(c->record, record, sizeof record);
        }
    }
}

/* Finds the dictionaries to which words of the process lead. */
static void find_dictionaries(struct inside_look *l)
{
    int fd = agent_has(OTP_LABELS) ? -1 : open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    for (unsigned w = 0; w < INSIDE_WORDS; w++)
        l->leads[w] = fd < 0 ? DICTIONARY_NONE : dictionary_elements(fd, l->word[w]);
    if (fd >= 0)
        close(fd);
}

static bool is_looker(ErlNifEnv *env, ErlNifPid *self)
{
    return enif_self(env, self) && self->pid == atomic_load(&looker);
}

ERL_NIF_TERM inside_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid pid;
    if (!agent_is_server(env) || !enif_get_local_pid(env, argv[0], &pid))
        return enif_make_badarg(env);
    if (argv[1] == agent.atom.true_) {
        nlooks = 0;
        if (!read_words(process_in(env), of_server, INSIDE_WORDS))
            memset(of_server, 0, sizeof of_server);
    }
    rest[0] = 0;
    looked = false;
    atomic_store(&looker, pid.pid);
    return agent.atom.ok;
}

ERL_NIF_TERM inside_look_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    ErlNifPid self;
    if (!is_looker(env, &self))
        return enif_make_badarg(env);
    looked = false;
    if (nlooks == INSIDE_LOOKS)
        return agent.atom.false_;
    struct inside_look *l = &looks[nlooks];
    l->at = process_in(env);
    l->top = word_of_env(env, 2);
    l->pid = self.pid;
    l->nchains = 0;
    if (!inside_is_address(l->at) || !read_words(l->at, l->word, INSIDE_WORDS))
        return agent.atom.false_;
    find_chains(l);
    find_dictionaries(l);
    looked = true;
    return agent.atom.true_;
}

enum { SAID = 9 };

ERL_NIF_TERM inside_keep_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ErlNifPid self;
    const ERL_NIF_TERM *e;
    int n;
    if (!is_looker(env, &self) || !enif_get_tuple(env, argv[0], &n, &e) || n != SAID)
        return enif_make_badarg(env);
    ErlNifUInt64 said[SAID];
    for (int i = 0; i < SAID; i++)
        if (!enif_get_uint64(env, e[i], &said[i]))
            return enif_make_badarg(env);
    if (!looked)
        return agent.atom.false_;
    struct inside_look *l = &looks[nlooks++];
    looked = false;
    l->inner = said[0];
    l->outer = said[1];
    l->block = said[2];
    l->old = said[3];
    l->stack = said[4];
    l->reds[0] = said[5];
    l->reds[1] = said[6];
    l->sensitive = said[7];
    l->elements = said[8];
    return agent.atom.true_;
}

uint64_t inside_rested(uint16_t word)
{
    return word < INSIDE_WORDS ? rested[word] : 0;
}

ERL_NIF_TERM inside_rest_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    rest[0] = 0;
    const struct inside_look *l = &looks[nlooks > 0 ? nlooks - 1 : 0];
    if (nlooks == 0 || l->pid != atomic_load(&looker) || !read_words(l->at, rest, INSIDE_WORDS) ||
        rest[0] != l->pid) {
        rest[0] = 0;
        return agent.atom.false_;
    }
    struct inside_facts f;
    memset(&f, 0xff, sizeof f);
    chain_at(looks, nlooks, &f);
    if (f.there != INSIDE_NONE)
        stack_at(looks, nlooks, rest, f.there, &f);
    return f.stop != INSIDE_NONE ? agent.atom.true_ : agent.atom.false_;
}

/* Adds what was known before: looks that prove one fact need not prove another. */
static void add_known(struct inside_facts *found, const struct inside_facts *had)
{
    uint16_t now[sizeof *found / sizeof(uint16_t)], before[sizeof now / sizeof *now];
    if (had == NULL || had->there != found->there || had->back != found->back)
        return;
    memcpy(now, found, sizeof now);
    memcpy(before, had, sizeof before);
    for (size_t i = 0; i < sizeof now / sizeof *now; i++)
        now[i] = before[i] != INSIDE_NONE ? before[i] : now[i];
    memcpy(found, now, sizeof now);
}

ERL_NIF_TERM inside_prove_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    atomic_store(&looker, 0);
    ERL_NIF_TERM names[FACTS];
    unsigned before = count(atomic_load(&known), names);
    struct inside_facts found;
    inside_prove(looks, nlooks, rest[0] != 0 ? rest : NULL, &found);
    if (rest[0] != 0)
        memcpy(rested, rest, sizeof rested);
    add_known(&found, inside_found());
    unsigned now = count(&found, names);
    if (now > before) {
        kept[now] = found;
        atomic_store(&known, &kept[now]);
    }
    nlooks = 0;
    rest[0] = 0;
    return known_list(env);
}

/* -- reading ----------------------------------------------------------------------------------- */

typedef const volatile uint64_t members; /* of a process or record; each load is one instruction */

/* There the VM keeps no record with the process. */
static bool on_dirty_scheduler(void)
{
    int type = enif_thread_type();
    return type == ERL_NIF_THR_DIRTY_CPU_SCHEDULER || type == ERL_NIF_THR_DIRTY_IO_SCHEDULER;
}

/* Returns the process that runs here if it is this one, by the facts; else NULL. */
static members *running(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                        const struct inside_facts *f)
{
    ErlNifPid self;
    if (!enif_self(env, &self) || self.pid != pid)
        return NULL;
    uint64_t at = process_in(env);
    members *p = (members *)(uintptr_t)at;
    if (p[0] != pid) /* enif_self has read this word */
        return NULL;
    uint64_t record = p[f->there];
    if (record == 0)
        return on_dirty_scheduler() ? p : NULL;
    if (record != mine->record) {
        uint64_t back;
        uint32_t tries = mine->record == 0 ? ++mine->tries : 0;
        if (tries == 0 || (tries & (tries - 1)) != 0 || !inside_is_address(record) ||
            !read_words(record + 8u * f->back, &back, 1) || back != at)
            return NULL;
        mine->record = record;
    }
    return ((members *)(uintptr_t)record)[f->back] == at ? p : NULL;
}

bool inside_record(ErlNifEnv *env, struct inside_thread *mine, uint64_t *record)
{
    const struct inside_facts *f = inside_found();
    ErlNifPid self;
    members *p = f && enif_self(env, &self) ? running(env, mine, self.pid, f) : NULL;
    *record = p ? p[f->there] : 0;
    return *record != 0;
}

static int64_t possible(uint64_t value)
{
    return value <= (uint64_t)VALUE_MOST ? (int64_t)value : -1;
}

static int64_t messages(members *p, const struct inside_facts *f)
{
    int64_t inner = possible(p[f->inner]), outer = possible(p[f->outer]);
    return inner < 0 || outer < 0 ? -1 : inner + outer;
}

/* While calls are saved (process_flag/2), the VM counts from -SLICE to 0. */
static int64_t reductions(members *p, const struct inside_facts *f, bool between)
{
    int64_t used = 0, total = possible(p[f->reds]);
    members *record = (members *)(uintptr_t)p[f->there];
    if (!between && record) {
        used = low_half(p[f->given]) - low_half(p[f->left]);
        used -= used > SLICE + OVERSHOT ? SLICE : 0;
        used -= low_half(record[f->unreal / 2] >> (f->unreal % 2 != 0 ? 32 : 0));
    }
    return total < 0 ? -1 : used > 0 && used <= 2 * SLICE ? total + used : total;
}

static int64_t old_block(members *p, const struct inside_facts *f)
{
    uint64_t first = p[f->old], end = p[f->old_end];
    return end < first || (end - first) % 8 != 0 ? -1 : possible((end - first) / 8);
}

int64_t inside_value(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                     enum inside_what what, bool between)
{
    const struct inside_facts *f = atomic_load_explicit(&known, memory_order_acquire);
    members *p = f ? running(env, mine, pid, f) : NULL;
    if (!p)
        return -1;
    switch (what) {
    case INSIDE_MQLEN: return knows_queue(f) ? messages(p, f) : -1;
    case INSIDE_REDUCTIONS: return f->reds != INSIDE_NONE ? reductions(p, f, between) : -1;
    case INSIDE_HEAP: return f->block != INSIDE_NONE ? possible(p[f->block]) : -1;
    case INSIDE_OLD_HEAP: return f->old != INSIDE_NONE ? old_block(p, f) : -1;
    }
    return -1;
}

bool inside_stack(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                  const uint64_t **from, const uint64_t **to)
{
    const struct inside_facts *f = atomic_load_explicit(&known, memory_order_acquire);
    members *p = f && f->stop != INSIDE_NONE ? running(env, mine, pid, f) : NULL;
    if (!p)
        return false;
    uint64_t heap = p[f->heap], stop = p[f->stop], end = p[f->heap_end];
    if (!inside_is_address(heap) || heap > stop || stop > end || (end - heap) % 8 != 0 ||
        stop % 8 != 0)
        return false;
    *from = (const uint64_t *)(uintptr_t)stop;
    *to = (const uint64_t *)(uintptr_t)end;
    return true;
}

bool inside_dictionary(ErlNifEnv *env, struct inside_thread *mine, ERL_NIF_TERM pid,
                       uint32_t *words)
{
    const struct inside_facts *f = inside_found();
    members *p = f && f->dictionary != INSIDE_NONE ? running(env, mine, pid, f) : NULL;
    if (!p || p[f->there] == 0) /* on a dirty scheduler it need not be at rest */
        return false;
    *words = dictionary_words(env, p[f->dictionary]);
    return true;
}
