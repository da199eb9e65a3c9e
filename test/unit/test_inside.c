/* test_inside.c - what the VM keeps of a process, in made-up VMs: a process is an array of words
 * whose members lie where the test says. Also the names of scheduler threads. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fuzz/nif.h"

#include "beam/agent.h"
#include "beam/probe/dictionary.h"
#include "beam/probe/inside.h"
#include "beam/probe/procname.h"
#include "beam/probe/scheduler.h"

ErlNifEntry *nif_init(void);
static ErlNifEntry *library;

/* Where this VM has its members; that of OTP 27, but for the words of `unreal`. */
enum { THERE = 93, BACK = 21, INNER = 42, OUTER = 82, BLOCK = 27, OLD = 64, OLD_END = 62 };
enum {
    REDS = 34,
    GIVEN = 23,
    LEFT = 15,
    UNREAL = 61,
    HEAP = 24,
    HEAP_END = 25,
    TOP = 10,
    STOP = 11,
    DICTIONARY = 58
};
/* A dictionary: its header, and slots of which the first 8 are used as a rule. */
enum { MASK_USED, ALL_SPLIT, ELEMENTS, SLOTS, ROOM = SLOTS + 2 * DICTIONARY_SLOTS };
enum { LOOKS = 20, SERVER = 0, PROCESS = 2, ANOTHER = 4 };

static uint64_t process[2][INSIDE_WORDS], record[INSIDE_RECORD];
static uint64_t of_server[INSIDE_WORDS];
static uint64_t
    crowd[INSIDE_RECORD]; /* memory that is full of a process's address, and no record */
static uint64_t dictionary[2][ROOM];
static ERL_NIF_TERM server, id[2];

/* An environment: its second word is the process. */
static uint64_t words_of_env[4];

static ErlNifEnv *env_of(const void *of)
{
    words_of_env[1] = (uint64_t)(uintptr_t)of;
    words_of_env[2] = of == process[0] || of == process[1] ? ((const uint64_t *)of)[TOP] : 0;
    return (ErlNifEnv *)(void *)words_of_env;
}

static void runs(unsigned p)
{
    process[p][0] = id[p];
    process[p][THERE] = (uint64_t)(uintptr_t)record;
    record[BACK] = (uint64_t)(uintptr_t)process[p];
}

static int start(void **state)
{
    (void)state;
    nif_otp = 25;
    library = nif_init();
    server = nif_self = nif_pid(SERVER, true);
    id[0] = nif_pid(PROCESS, true);
    id[1] = nif_pid(ANOTHER, true);
    assert_int_equal(library->load(nif_env, NULL, nif_nil()), 0);
    const ERL_NIF_TERM otp_and_node[] = {nif_int(nif_otp), nif_name("etw@host")};
    nif_call(library, "nif_start", otp_and_node);
    memset(process, 0, sizeof process);
    memset(record, 0, sizeof record);
    runs(0);
    return 0;
}

/* The state in look i. */
struct state {
    uint64_t inner, outer, block, old, stack, reds, sensitive, elements;
};

static struct state state_of(unsigned i)
{
    return (struct state){.inner = i * 5,
                          .outer = i % 3 * 41,
                          .block = 1000 + i / 4 * 377,
                          .old = i / 7 * 610,
                          .stack = 10 + i % 5,
                          .reds = 4000 + (uint64_t)i * 1500,
                          .sensitive = 0xb2d36u >> i & 1,
                          .elements = i % 3 == 1 ? 0 : 1 + i * 7 % 19};
}

static void set_half(uint64_t *word, unsigned half, uint32_t value)
{
    memcpy((unsigned char *)word + (size_t)half * 4, &value, 4);
}

static ERL_NIF_TERM element(uint64_t i)
{
    const ERL_NIF_TERM pair[] = {nif_name("key"), nif_int((int64_t)i)};
    return nif_tuple(pair, 2);
}

static void set_header(uint64_t *d, uint32_t mask, uint32_t used, uint32_t all, uint32_t split)
{
    d[MASK_USED] = mask | (uint64_t)used << 32;
    d[ALL_SPLIT] = all | (uint64_t)split << 32;
}

/* Puts elements into the first `used` slots, a power of two. A slot with one has that, a slot with
 * several a list. */
static void fill(uint64_t *d, uint32_t used, uint64_t elements)
{
    for (uint64_t i = 0; i < ROOM - SLOTS; i++)
        d[SLOTS + i] = nif_nil();
    set_header(d, 2 * used - 1, used, used + 2, 0);
    d[ELEMENTS] = elements;
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t *slot = &d[SLOTS + i % used];
        if (*slot == nif_nil())
            *slot = element(i);
        else
            *slot = nif_cons(element(i), (*slot & 3) == 1 ? *slot : nif_cons(*slot, nif_nil()));
    }
}

static void bring(unsigned p, const struct state *s)
{
    uint64_t *w = process[p];
    runs(p);
    w[INNER] = s->inner;
    w[OUTER] = s->outer;
    w[BLOCK] = s->block;
    w[3] = s->sensitive << 17 | 4;
    w[OLD] = s->old ? 0x7000000 : 0;
    w[OLD_END] = s->old ? 0x7000000 + s->old * 8 : 0;
    w[HEAP] = 0x9000000;
    w[HEAP_END] = 0x9000000 + s->block * 8;
    w[TOP] = w[HEAP] + s->inner * 8;
    w[STOP] = w[HEAP_END] - s->stack * 8;
    fill(dictionary[p], 8, s->elements);
    w[DICTIONARY] = s->elements ? (uint64_t)(uintptr_t)dictionary[p] : 0;
    w[REDS] = s->reds - 1100;
    set_half(&w[GIVEN], 0, 3990);
    set_half(&w[GIVEN], 1, 77);
    set_half(&w[LEFT], 0, 2800);
    set_half(&w[LEFT], 1, 8);
    set_half(&record[UNREAL / 2], UNREAL % 2, 90);
}

/* Lets both processes look, in turn; `lie` is added to what each says of its messages. Returns the
 * number of looks that were kept. */
static unsigned look(uint64_t lie)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < LOOKS; i++) {
        unsigned p = i < LOOKS / 2 ? 0 : 1;
        struct state s = state_of(i);
        if (i == 0 || i == LOOKS / 2) {
            const ERL_NIF_TERM begin[] = {id[p], i == 0 ? agent.atom.true_ : agent.atom.false_};
            nif_self = server;
            of_server[THERE] = (uint64_t)(uintptr_t)record;
            assert_int_equal(inside_begin_nif(env_of(of_server), 2, begin), agent.atom.ok);
        }
        bring(p, &s);
        memset(crowd, 0, sizeof crowd);
        for (unsigned w = 0; w < INSIDE_RECORD; w++)
            crowd[w] = (uint64_t)(uintptr_t)process[p];
        process[p][THERE - 1] = (uint64_t)(uintptr_t)crowd;
        nif_self = id[p];
        inside_look_nif(env_of(process[p]), 0, NULL);
        const ERL_NIF_TERM said[] = {
            nif_uint(s.inner + lie), nif_uint(s.outer + lie), nif_uint(s.block),
            nif_uint(s.old),         nif_uint(s.stack),       nif_uint(s.reds - 1),
            nif_uint(s.reds + 1),    nif_uint(s.sensitive),   nif_uint(s.elements)};
        const ERL_NIF_TERM all = nif_tuple(said, 9);
        kept += inside_keep_nif(env_of(process[p]), 1, &all) == agent.atom.true_;
    }
    return kept;
}

static unsigned prove(void)
{
    unsigned n = 0;
    nif_self = server;
    ERL_NIF_TERM list = inside_prove_nif(nif_env, 0, NULL);
    enif_get_list_length(nif_env, list, &n);
    return n;
}

static int64_t value(unsigned p, enum inside_what what, bool between)
{
    static struct inside_thread mine;
    nif_self = id[p];
    return inside_value(env_of(process[p]), &mine, id[p], what, between);
}

static void all_are_unknown(void)
{
    for (int what = INSIDE_MQLEN; what <= INSIDE_OLD_HEAP; what++)
        assert_int_equal(value(0, (enum inside_what)what, false), -1);
}

static void proven(void)
{
    assert_int_equal(look(0), LOOKS);
    assert_int_equal(prove(), 7);
}

/* -- in this order: what was proven once stays
 * ---------------------------------------------------------------------------------------------- */

static void test_nothing_is_known_at_first(void **state)
{
    (void)state;
    all_are_unknown();
    assert_int_equal(prove(), 0); /* without a look */
    all_are_unknown();
}

static void test_only_who_may_look(void **state)
{
    (void)state;
    const ERL_NIF_TERM badarg = enif_make_badarg(nif_env);
    const ERL_NIF_TERM begin[] = {id[0], agent.atom.true_};
    nif_self = id[0];
    assert_int_equal(inside_begin_nif(nif_env, 2, begin), badarg);
    assert_int_equal(inside_prove_nif(nif_env, 0, NULL), badarg);
    assert_int_equal(inside_known_nif(nif_env, 0, NULL), badarg);
    nif_self = server;
    assert_int_equal(inside_begin_nif(env_of(of_server), 2, begin), agent.atom.ok);
    nif_self = id[1];
    assert_int_equal(inside_look_nif(env_of(process[1]), 0, NULL), badarg);
    /* Its turn, but no such memory */
    nif_self = id[0];
    assert_int_equal(inside_look_nif(env_of((void *)0x1000), 0, NULL), agent.atom.false_);
    assert_int_equal(inside_look_nif(env_of((void *)0x123457), 0, NULL), agent.atom.false_);
    const ERL_NIF_TERM none = nif_tuple(NULL, 0);
    assert_int_equal(inside_keep_nif(nif_env, 1, &none), badarg);
}

static void test_no_chain_no_facts(void **state)
{
    (void)state;
    assert_int_equal(look(0), LOOKS);
    /* A process of which another thread runs a copy: its record points elsewhere */
    struct inside_look l[INSIDE_ENOUGH];
    memset(l, 0, sizeof l);
    struct inside_facts f;
    inside_prove(l, INSIDE_ENOUGH, NULL, &f);
    assert_int_equal(f.there, INSIDE_NONE);
    assert_int_equal(f.inner, INSIDE_NONE);
    assert_int_equal(f.block, INSIDE_NONE);
}

/* Where one key can be asked for, nobody looks for dictionaries. */
static void test_no_dictionary_where_there_are_labels(void **state)
{
    (void)state;
    const uint32_t features = agent.features;
    uint32_t words;
    agent.features = otp_features(27);
    assert_int_equal(look(1), LOOKS);
    assert_int_equal(prove(), 5);
    assert_false(inside_dictionary(env_of(process[0]), &(struct inside_thread){0}, id[0], &words));
    agent.features = features;
}

static void test_lies_prove_nothing(void **state)
{
    (void)state;
    assert_int_equal(look(1), LOOKS); /* no word says that */
    assert_int_equal(prove(), 6);
    bring(0, &(struct state){.inner = 5, .outer = 41, .block = 987, .old = 10, .reds = 9000});
    assert_int_equal(value(0, INSIDE_MQLEN, false), -1);
    assert_int_equal(value(0, INSIDE_HEAP, false), 987);
}

static void test_two_places_are_none(void **state)
{
    (void)state;
    struct inside_look l[LOOKS];
    struct inside_facts f;
    memset(l, 0, sizeof l);
    for (unsigned i = 0; i < LOOKS; i++) {
        struct state s = state_of(i);
        unsigned p = i % 2;
        bring(p, &s);
        l[i].at = (uint64_t)(uintptr_t)process[p];
        l[i].pid = id[p];
        memcpy(l[i].word, process[p], sizeof l[i].word);
        l[i].chain[0].there = THERE;
        l[i].chain[0].back = BACK;
        l[i].nchains = 1;
        l[i].inner = s.inner;
        l[i].outer = s.outer;
        l[i].block = s.block;
        l[i].word[INSIDE_WORDS - 1] = s.outer; /* behind what is surely of the process */
        l[i].word[70] = s.block;
        l[i].sensitive = s.sensitive;
    }
    inside_prove(l, LOOKS, NULL, &f);
    assert_int_equal(f.there, THERE);
    assert_int_equal(f.inner, INNER);
    assert_int_equal(f.outer, OUTER);
    assert_int_equal(f.block, INSIDE_NONE);
    assert_int_equal(f.reds, INSIDE_NONE); /* nothing was said of them */
    assert_int_equal(f.sensitive, 3 * 64 + 17);
    for (unsigned i = 0; i < LOOKS; i++)
        l[i].word[71] = l[i].word[72] = l[i].outer;
    for (unsigned i = 0; i < LOOKS; i++)
        l[i].word[5] = l[i].sensitive << 9;
    inside_prove(l, LOOKS, NULL, &f);
    assert_int_equal(f.outer, INSIDE_NONE);
    assert_int_equal(f.sensitive, INSIDE_NONE);
    /* Too few looks, or values */
    inside_prove(l, INSIDE_ENOUGH - 1, NULL, &f);
    assert_int_equal(f.inner, INSIDE_NONE);
    for (unsigned i = 0; i < LOOKS; i++)
        l[i].word[INNER] = l[i].inner = 7;
    inside_prove(l, LOOKS, NULL, &f);
    assert_int_equal(f.inner, INSIDE_NONE);
}

/* A frame pointer is the same as the top while a NIF runs, and above it while the process waits. */
static void test_a_frame_pointer_is_no_top(void **state)
{
    (void)state;
    enum { FRAME = STOP + 1, BELOW = STOP - 2 };
    struct inside_look l[LOOKS];
    uint64_t rest[INSIDE_WORDS];
    struct inside_facts f;
    memset(l, 0, sizeof l);
    for (unsigned i = 0; i < LOOKS; i++) {
        struct state s = state_of(i);
        bring(i % 2, &s);
        l[i].at = (uint64_t)(uintptr_t)process[i % 2];
        l[i].pid = id[i % 2];
        memcpy(l[i].word, process[i % 2], sizeof l[i].word);
        l[i].word[FRAME] = l[i].word[BELOW] = l[i].word[STOP];
        l[i].chain[0].there = THERE;
        l[i].chain[0].back = BACK;
        l[i].nchains = 1;
        l[i].block = s.block;
        l[i].stack = s.stack;
    }
    memcpy(rest, l[LOOKS - 1].word, sizeof rest);
    inside_prove(l, LOOKS, NULL, &f);
    assert_int_equal(f.stop, INSIDE_NONE);
    inside_prove(l, LOOKS, rest, &f); /* it has not been scheduled out: they are still the same */
    assert_int_equal(f.stop, INSIDE_NONE);
    rest[FRAME] += 16;
    inside_prove(l, LOOKS, rest, &f); /* two are lowest */
    assert_int_equal(f.stop, INSIDE_NONE);
    rest[BELOW] = 0; /* no address of the heap */
    inside_prove(l, LOOKS, rest, &f);
    assert_int_equal(f.stop, STOP);
    assert_int_equal(f.heap, HEAP);
    rest[BELOW] = rest[STOP] + 8;
    inside_prove(l, LOOKS, rest, &f);
    assert_int_equal(f.stop, STOP);
    rest[BELOW] = rest[STOP] - 8;
    inside_prove(l, LOOKS, rest, &f);
    assert_int_equal(f.stop, BELOW);
    rest[HEAP] = rest[FRAME] + 8; /* none of them is */
    inside_prove(l, LOOKS, rest, &f);
    assert_int_equal(f.stop, INSIDE_NONE);
}

static void test_values(void **state)
{
    (void)state;
    proven();
    bring(1, &(struct state){.inner = 131, .outer = 6, .block = 987, .old = 2586, .reds = 9000});
    assert_int_equal(value(1, INSIDE_MQLEN, false), 137);
    assert_int_equal(value(1, INSIDE_HEAP, false), 987);
    assert_int_equal(value(1, INSIDE_OLD_HEAP, false), 2586);
    assert_int_equal(value(1, INSIDE_REDUCTIONS, false), 9000);
    assert_int_equal(value(1, INSIDE_REDUCTIONS, true), 7900); /* until it was scheduled in */
    bring(1, &(struct state){.block = 233, .reds = 9000});
    assert_int_equal(value(1, INSIDE_MQLEN, false), 0);
    assert_int_equal(value(1, INSIDE_OLD_HEAP, false), 0);
    /* Its calls are saved: the VM counts from -4000 to 0 */
    set_half(&process[1][LEFT], 0, (uint32_t)-1200);
    assert_int_equal(value(1, INSIDE_REDUCTIONS, false), 9000);
}

static void test_values_that_cannot_be(void **state)
{
    (void)state;
    proven();
    bring(0, &(struct state){.block = 233, .old = 5, .reds = 9000});
    process[0][INNER] = UINT64_MAX;
    assert_int_equal(value(0, INSIDE_MQLEN, false), -1);
    process[0][INNER] = (uint64_t)1 << 60;
    assert_int_equal(value(0, INSIDE_MQLEN, false), -1);
    process[0][BLOCK] = ((uint64_t)1 << 40) + 1; /* words: as many as no heap has */
    assert_int_equal(value(0, INSIDE_HEAP, false), -1);
    process[0][OLD_END]--;
    assert_int_equal(value(0, INSIDE_OLD_HEAP, false), -1);
    process[0][OLD_END] = 8;
    assert_int_equal(value(0, INSIDE_OLD_HEAP, false), -1);
    process[0][REDS] = UINT64_MAX;
    assert_int_equal(value(0, INSIDE_REDUCTIONS, false), -1);
}

/* Nothing is loaded from where the process does not lead by the chain. */
static void test_another_process_is_not_read(void **state)
{
    (void)state;
    struct inside_thread fresh = {0};
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(hole != MAP_FAILED);
    proven();
    bring(0, &(struct state){.block = 233, .reds = 9000});
    nif_self = id[0];
    /* No process runs; the event is about another process; the process has another id */
    nif_self = 0;
    assert_int_equal(inside_value(env_of(process[0]), &fresh, id[0], INSIDE_HEAP, false), -1);
    nif_self = id[1];
    assert_int_equal(inside_value(env_of(process[0]), &fresh, id[0], INSIDE_HEAP, false), -1);
    nif_self = id[0];
    assert_int_equal(inside_value(env_of(process[0]), &fresh, id[1], INSIDE_HEAP, false), -1);
    process[0][0] = id[1];
    assert_int_equal(inside_value(env_of(process[0]), &fresh, id[0], INSIDE_HEAP, false), -1);
    process[0][0] = id[0];
    /* No record; no address; memory that cannot be read; a record that points elsewhere */
    const uint64_t wrong[] = {0,
                              0xb,
                              0x1001,
                              (uint64_t)(uintptr_t)hole,
                              UINT64_MAX & ~UINT64_C(7),
                              (uint64_t)(uintptr_t)process[1]};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct inside_thread known = {.record = (uint64_t)(uintptr_t)record};
        fresh = (struct inside_thread){0};
        process[0][THERE] = wrong[i];
        assert_int_equal(inside_value(env_of(process[0]), &fresh, id[0], INSIDE_HEAP, false), -1);
        assert_int_equal(fresh.record, 0);
        assert_int_equal(inside_value(env_of(process[0]), &known, id[0], INSIDE_HEAP, false), -1);
    }
    runs(0);
    record[BACK] = (uint64_t)(uintptr_t)process[1];
    assert_int_equal(inside_value(env_of(process[0]), &fresh, id[0], INSIDE_HEAP, false), -1);
    runs(0);
    fresh = (struct inside_thread){0};
    assert_int_equal(inside_value(env_of(process[0]), &fresh, id[0], INSIDE_HEAP, false), 233);
    munmap(hole, 4096);
}

/* A thread that never runs what the chain shows soon stops asking the system. */
static void test_attempts_become_rare(void **state)
{
    (void)state;
    struct inside_thread mine = {0};
    proven();
    bring(0, &(struct state){.block = 233, .reds = 9000});
    nif_self = id[0];
    process[0][THERE] = 8;
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(inside_value(env_of(process[0]), &mine, id[0], INSIDE_HEAP, false), -1);
    assert_int_equal(mine.tries, 64);
    runs(0); /* attempt 65 is none, and so on until 128 */
    for (unsigned i = 65; i < 128; i++)
        assert_int_equal(inside_value(env_of(process[0]), &mine, id[0], INSIDE_HEAP, false), -1);
    assert_int_equal(inside_value(env_of(process[0]), &mine, id[0], INSIDE_HEAP, false), 233);
}

/* -- dictionaries ------------------------------------------------------------------------------ */

/* Looks of which word DICTIONARY leads to a dictionary; inside_prove is called with them. */
static struct inside_look seen[LOOKS];

static uint16_t found(void)
{
    struct inside_facts f;
    inside_prove(seen, LOOKS, NULL, &f);
    return f.dictionary;
}

static void see(void)
{
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < LOOKS; i++) {
        struct inside_look *l = &seen[i];
        const struct state s = state_of(i);
        bring(i % 2, &s);
        l->at = (uint64_t)(uintptr_t)process[i % 2];
        l->pid = id[i % 2];
        memcpy(l->word, process[i % 2], sizeof l->word);
        l->chain[0].there = THERE;
        l->chain[0].back = BACK;
        l->nchains = 1;
        l->elements = s.elements;
        for (unsigned w = 0; w < INSIDE_WORDS; w++)
            l->leads[w] = DICTIONARY_NONE;
        l->leads[DICTIONARY] = s.elements ? s.elements : DICTIONARY_NONE;
    }
}

static void test_proof_of_a_dictionary(void **state)
{
    (void)state;
    see();
    assert_int_equal(found(), DICTIONARY);
    /* A word that leads to as many elements, but to some where there is no dictionary */
    for (unsigned i = 0; i < LOOKS; i++) {
        seen[i].word[70] = 0x7000;
        seen[i].leads[70] = seen[i].elements;
    }
    assert_int_equal(found(), DICTIONARY);
    /* Two that fit; the second behind what is surely of the process */
    for (unsigned i = 0; i < LOOKS; i++) {
        seen[i].word[70] = seen[i].word[THERE + 1] = seen[i].word[DICTIONARY];
        seen[i].leads[70] = seen[i].leads[THERE + 1] = seen[i].leads[DICTIONARY];
    }
    assert_int_equal(found(), INSIDE_NONE);
    for (unsigned i = 0; i < LOOKS; i++)
        seen[i].leads[70] = DICTIONARY_NONE;
    assert_int_equal(found(), DICTIONARY);
    /* One element more at one look */
    seen[3].leads[DICTIONARY]++;
    assert_int_equal(found(), INSIDE_NONE);
    /* No look without a dictionary; none with one; all with as many elements */
    see();
    for (unsigned i = 0; i < LOOKS; i++)
        if (seen[i].elements == 0) {
            seen[i].elements = seen[i].leads[DICTIONARY] = 2;
            seen[i].word[DICTIONARY] = 0x7000;
        }
    assert_int_equal(found(), INSIDE_NONE);
    for (unsigned i = 0; i < LOOKS; i++)
        seen[i].elements = seen[i].word[DICTIONARY] = 0;
    assert_int_equal(found(), INSIDE_NONE);
    see();
    for (unsigned i = 0; i < LOOKS; i++)
        if (seen[i].elements != 0)
            seen[i].elements = seen[i].leads[DICTIONARY] = 2;
    assert_int_equal(found(), INSIDE_NONE);
}

/* Ways in which a dictionary is none, or is not counted. d has 20 elements in 8 slots. */
static void has_no_mask(uint64_t *d)
{
    set_header(d, 7, 8, 10, 0);
}
static void has_too_few_slots(uint64_t *d)
{
    set_header(d, 15, 8, 7, 0);
}
static void has_no_slots(uint64_t *d)
{
    set_header(d, 15, 0, 10, 0);
}
static void has_an_odd_size(uint64_t *d)
{
    set_header(d, 13, 7, 10, 0);
}
static void is_split_too_far(uint64_t *d)
{
    set_header(d, 3, 8, 10, 6);
}
static void splits_behind_its_end(uint64_t *d)
{
    set_header(d, 15, 8, 10, 9);
}
static void has_a_number(uint64_t *d)
{
    d[SLOTS + 2] = nif_int(5);
}
static void has_more_than_it_says(uint64_t *d)
{
    d[ELEMENTS] = 3;
}
static void is_not_empty(uint64_t *d)
{
    d[ELEMENTS] = 0;
}
static void is_full_of_nothing(uint64_t *d)
{
    fill(d, 8, 0);
    d[ELEMENTS] = 20;
}
static void has_many_slots(uint64_t *d)
{
    fill(d, 2 * DICTIONARY_SLOTS, 20);
}
static void has_a_header_of_anything(uint64_t *d)
{
    d[SLOTS + 2] = 0x80;
}
/* What only counting shows */
static void has_an_element_less(uint64_t *d)
{
    d[ELEMENTS]--;
}
static void has_an_element_more(uint64_t *d)
{
    d[ELEMENTS]++;
}
static void has_a_triple(uint64_t *d)
{
    const ERL_NIF_TERM e[] = {nif_nil(), nif_nil(), nif_nil()};
    d[SLOTS + 7] = nif_cons(element(1), nif_cons(nif_tuple(e, 3), nif_nil()));
}
static void has_a_list_of_atoms(uint64_t *d)
{
    d[SLOTS + 7] = nif_cons(nif_name("a"), nif_cons(nif_name("b"), nif_nil()));
}
static void has_a_binary(uint64_t *d)
{
    d[SLOTS + 7] = nif_binary("abc", 3, false);
}
static void has_a_list_without_end(uint64_t *d)
{
    d[SLOTS + 7] = nif_cons(element(1), nif_cons(element(2), nif_int(1)));
}
static void has_many_parts(uint64_t *d)
{
    const ERL_NIF_TERM pair[] = {nif_nil(), nif_cells(nif_nil(), DICTIONARY_PARTS, false)};
    d[SLOTS] = nif_cons(nif_tuple(pair, 2), d[SLOTS]);
    d[ELEMENTS]++;
}
static void has_many_elements(uint64_t *d)
{
    fill(d, 8, DICTIONARY_PARTS / 2);
}
static void has_a_term_of_no_kind(uint64_t *d)
{
    const ERL_NIF_TERM pair[] = {nif_nil(), nif_unknown(0, false)};
    d[SLOTS] = nif_cons(nif_tuple(pair, 2), d[SLOTS]);
    d[ELEMENTS]++;
}

static uint64_t looked_at(const void *at)
{
    int fd = open("/proc/self/mem", O_RDONLY);
    uint64_t elements = dictionary_elements(fd, (uint64_t)(uintptr_t)at);
    close(fd);
    return elements;
}

static uint32_t counted(const void *at)
{
    nif_callback = true;
    uint32_t words = dictionary_words(nif_env, (uint64_t)(uintptr_t)at);
    nif_callback = false;
    return words;
}

static void test_form_of_a_dictionary(void **state)
{
    (void)state;
    enum { EACH = 3 + 2 }; /* words of a pair, and of its cell */
    static const struct {
        void (*is)(uint64_t *d);
        bool seen; /* when one only looks, without what the slots refer to */
    } wrong[] = {
        {has_no_mask, false},          {has_too_few_slots, false},
        {has_no_slots, false},         {has_an_odd_size, false},
        {is_split_too_far, false},     {splits_behind_its_end, false},
        {has_a_number, false},         {has_more_than_it_says, false},
        {is_not_empty, false},         {is_full_of_nothing, false},
        {has_many_slots, false},       {has_a_header_of_anything, false},
        {has_an_element_less, true},   {has_an_element_more, true},
        {has_a_triple, true},          {has_a_list_of_atoms, true},
        {has_a_binary, true},          {has_a_list_without_end, true},
        {has_many_parts, true},        {has_many_elements, true},
        {has_a_term_of_no_kind, true},
    };
    static const struct {
        uint32_t used;
        uint64_t elements;
    } right[] = {{1, 1}, {8, 0}, {8, 7}, {8, 20}, {64, 50}, {DICTIONARY_SLOTS, 300}};
    uint64_t *d = dictionary[0];
    for (unsigned i = 0; i < sizeof right / sizeof *right; i++) {
        fill(d, right[i].used, right[i].elements);
        assert_int_equal(looked_at(d), right[i].elements);
        assert_int_equal(counted(d), EACH * right[i].elements);
    }
    fill(d, 8, 8); /* three slots have been split: 11 are used */
    set_header(d, 15, 11, 20, 3);
    assert_int_equal(looked_at(d), 8);
    assert_int_equal(counted(d), EACH * 8);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fill(d, 8, 20);
        wrong[i].is(d);
        if ((looked_at(d) != DICTIONARY_NONE) != wrong[i].seen || counted(d) != DICTIONARY_LARGE)
            fail_msg("%u is taken for a dictionary", i);
    }
    void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(hole != MAP_FAILED);
    assert_int_equal(looked_at(NULL), DICTIONARY_NONE);
    assert_int_equal(looked_at(hole), DICTIONARY_NONE);
    assert_int_equal(looked_at((const char *)d + 4), DICTIONARY_NONE);
    assert_int_equal(counted((const void *)0x123457), DICTIONARY_LARGE);
    assert_int_equal(counted((const void *)0x18), DICTIONARY_LARGE);
    assert_int_equal(counted(NULL), 0);
    munmap(hole, 4096);
}

static void mark(ERL_NIF_TERM pid)
{
    const ERL_NIF_TERM fact[] = {pid, nif_name("large"), agent.atom.true_};
    const ERL_NIF_TERM facts = nif_cons(nif_tuple(fact, 3), nif_nil());
    nif_self = server;
    assert_int_equal(nif_call(library, "nif_names", &facts), agent.atom.ok);
}

/* Has the process of an environment count, at an event of process p. Returns how many processes
 * have small dictionaries. */
static unsigned count(ErlNifEnv *env, unsigned p)
{
    static struct inside_thread mine;
    unsigned n = 0;
    nif_self = id[p];
    nif_callback = true;
    procname_count(env, &mine, id[p]);
    nif_callback = false;
    nif_self = server;
    ERL_NIF_TERM head, list = nif_call(library, "nif_small", NULL);
    for (; enif_get_list_cell(nif_env, list, &head, &list); n++)
        assert_int_equal(head, id[p]);
    return n;
}

static void test_who_counts(void **state)
{
    (void)state;
    const ERL_NIF_TERM on = agent.atom.true_, off = agent.atom.false_;
    proven();
    nif_self = server;
    assert_int_equal(nif_call(library, "nif_names", &on), agent.atom.ok);
    bring(0, &(struct state){.elements = 20, .block = 233, .reds = 9000});
    assert_false(procname_counts());
    assert_int_equal(count(env_of(process[0]), 0), 0); /* nobody wants it */
    mark(id[0]);
    assert_true(procname_counts());
    assert_int_equal(count(env_of(process[0]), 0), 1);
    assert_false(procname_counts());
    assert_int_equal(count(env_of(process[0]), 0), 0); /* once */
    /* It is large */
    has_many_parts(dictionary[0]);
    mark(id[0]);
    assert_int_equal(count(env_of(process[0]), 0), 0);
    assert_false(procname_counts());
    /* Not the process that runs, as far as can be seen: it waits for another event */
    fill(dictionary[0], 8, 20);
    mark(id[0]);
    record[BACK] = (uint64_t)(uintptr_t)process[1];
    assert_int_equal(count(env_of(process[0]), 0), 0);
    runs(1);
    assert_int_equal(count(env_of(process[1]), 1), 0); /* nor another one */
    process[0][THERE] = 0;
    assert_int_equal(count(env_of(process[0]), 0), 0);
    nif_thread = ERL_NIF_THR_DIRTY_CPU_SCHEDULER; /* where other values can be read */
    assert_int_equal(count(env_of(process[0]), 0), 0);
    assert_int_equal(value(0, INSIDE_HEAP, false), 233);
    nif_thread = ERL_NIF_THR_UNDEFINED;
    assert_true(procname_counts());
    runs(0);
    assert_int_equal(count(env_of(process[0]), 0), 1);
    /* Dead; or names are no longer wanted */
    mark(nif_pid(PROCESS + 1, true));
    assert_true(procname_counts());
    nif_call(library, "nif_small", NULL);
    assert_false(procname_counts());
    mark(id[0]);
    nif_self = server;
    assert_int_equal(nif_call(library, "nif_names", &off), agent.atom.ok);
    assert_false(procname_counts());
}

static void test_names_of_threads(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t number;
        enum scheduler_type type;
    } names[] = {
        {"1_scheduler", 1, SCHEDULER_NORMAL},        {"1024_scheduler", 1024, SCHEDULER_NORMAL},
        {"3_dirty_cpu_sch", 3, SCHEDULER_DIRTY_CPU}, {"64_dirty_cpu_sc", 64, SCHEDULER_DIRTY_CPU},
        {"1_dirty_io_sche", 1, SCHEDULER_DIRTY_IO},  {"10_dirty_io_sch", 10, SCHEDULER_DIRTY_IO},
        {"erts_sched_1", 1, SCHEDULER_NORMAL},       {"erts_sched_128", 128, SCHEDULER_NORMAL},
        {"erts_dcpus_12", 12, SCHEDULER_DIRTY_CPU},  {"erts_dios_7", 7, SCHEDULER_DIRTY_IO},
        {"erts_sched_", 0, SCHEDULER_NONE},          {"erts_sched_1x", 0, SCHEDULER_NONE},
        {"erts_aux_1", 0, SCHEDULER_NONE},           {"_scheduler", 0, SCHEDULER_NONE},
        {"1_schedule", 0, SCHEDULER_NONE},           {"", 0, SCHEDULER_NONE},
        {"9999999999_sche", 0, SCHEDULER_NONE},      {"beam.smp", 0, SCHEDULER_NONE},
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        struct scheduler s = scheduler_of_name(names[i].name);
        if (s.number != names[i].number || s.type != names[i].type)
            fail_msg("%s: %u, type %u", names[i].name, s.number, s.type);
    }
    /* The VM says that this thread is no scheduler, whatever its name. */
    struct scheduler kept = {0};
    assert_int_equal(scheduler_self(&kept).number, 0);
    assert_int_equal(kept.type, SCHEDULER_NONE);
    assert_string_equal(scheduler_type_name(SCHEDULER_NONE), "");
    assert_string_equal(scheduler_type_name(SCHEDULER_DIRTY_IO), "dirty-io");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_known_at_first),
        cmocka_unit_test(test_only_who_may_look),
        cmocka_unit_test(test_no_chain_no_facts),
        cmocka_unit_test(test_no_dictionary_where_there_are_labels),
        cmocka_unit_test(test_lies_prove_nothing),
        cmocka_unit_test(test_two_places_are_none),
        cmocka_unit_test(test_a_frame_pointer_is_no_top),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_values_that_cannot_be),
        cmocka_unit_test(test_another_process_is_not_read),
        cmocka_unit_test(test_attempts_become_rare),
        cmocka_unit_test(test_proof_of_a_dictionary),
        cmocka_unit_test(test_form_of_a_dictionary),
        cmocka_unit_test(test_who_counts),
        cmocka_unit_test(test_names_of_threads),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
