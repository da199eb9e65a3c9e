/* test_linux_beam.c - where an Erlang VM keeps what its threads run: looked for in memory of this
 * program's own making. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "linux/kbeam.h"
#include "linux/kjit.h"

enum { WORDS = 8192, TLS = 512, RECORD = 128, PROCESS = 128, SCHEDULERS = 2, PROCESSES = 3 };
/* As words from the beginning of each. */
enum { OWN = 107, BACK = 21, THERE = 93, ENTRY = 6, INITIAL = 56, DICTIONARY = 52 };
enum {
    ENTRIES = 3000,
    TABLE = 3200,
    BLOCK = 3300,
    ATOMS = 3400,
    NATOMS = 16,
    TEXTS = 3600,
    HEAP = 3900,
    CALL = 13,
    STACKS = 4200, /* blocks of at most BLOCK_MOST words */
    BLOCK_MOST = 700,
    CODE = 7000,
    CODE_WORDS = 1000
};
enum { FROM = 16, TO = 17, SIZE = 40, TOP = 10, STOP = 11, AGED = 62 };
#define BASE UINT64_C(0x7f0000100000)
enum { OWN_AT = KBEAM_TLS_FIRST + 8 * OWN }; /* from a thread's address */

/* The memory: thread-local ones, records, processes. */
static uint64_t memory[WORDS];
static unsigned reads;

/* Where the searched memory of a thread begins, and its address. */
static uint64_t searched_of(unsigned i)
{
    return BASE + 8 * (300 + i * TLS);
}

static uint64_t tls_of(unsigned i)
{
    return searched_of(i) - (uint64_t)(int64_t)KBEAM_TLS_FIRST;
}

static uint64_t record_of(unsigned i)
{
    return BASE + 8 * (1800 + i * RECORD);
}

static uint64_t process_of(unsigned i)
{
    return BASE + 8 * (2400 + i * PROCESS);
}

static uint64_t *word(uint64_t at)
{
    return &memory[(at - BASE) / 8];
}

static bool read_words(void *arg, uint64_t at, uint64_t *to, unsigned n)
{
    (void)arg;
    reads++;
    if (at < BASE || at % 8 != 0 || (at - BASE) / 8 + n > WORDS)
        return false;
    memcpy(to, word(at), n * sizeof *to);
    return true;
}

/* Scheduler i runs process k; -1: none. */
static void runs(unsigned i, int k)
{
    *word(record_of(i) + 8 * BACK) = k < 0 ? 0 : process_of((unsigned)k);
    if (k >= 0)
        *word(process_of((unsigned)k) + 8 * THERE) = record_of(i);
}

static const struct kbeam wide = {.shift = 7, .number = 28, .serial = 29};

static int fresh(void **state)
{
    (void)state;
    memset(memory, 0, sizeof memory);
    for (unsigned i = 0; i < SCHEDULERS; i++)
        *word(searched_of(i) + 8 * OWN) = record_of(i);
    for (unsigned i = 0; i < PROCESSES; i++)
        *word(process_of(i)) = (uint64_t)(i + 80) << 7 | 3;
    return 0;
}

static bool prove(struct kbeam_proof *p, struct kbeam *out)
{
    const uint64_t tls[SCHEDULERS] = {tls_of(0), tls_of(1)};
    *out = wide;
    const struct kbeam_threads t = {tls, SCHEDULERS, 0};
    return kbeam_prove(p, &t, read_words, NULL, out);
}

static void two_processes(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    assert_false(prove(&p, &found)); /* nothing runs */
    runs(0, 0);
    assert_false(prove(&p, &found)); /* one process proves nothing, */
    assert_false(prove(&p, &found)); /* however often it is seen */
    runs(1, 1);
    assert_true(prove(&p, &found));
    assert_int_equal(found.own, OWN_AT);
    assert_int_equal(found.back, 8 * BACK);
    assert_int_equal(found.there, 8 * THERE);
    assert_int_equal(found.shift, 7);
}

static void one_after_the_other(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    runs(0, 0);
    assert_false(prove(&p, &found));
    runs(0, 2);
    assert_true(prove(&p, &found));
}

/* One process is enough that was seen on two schedulers, */
static void from_one_to_the_other(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    runs(0, 0);
    assert_false(prove(&p, &found));
    runs(0, -1);
    assert_false(prove(&p, &found));
    runs(1, 0);
    assert_true(prove(&p, &found));
    assert_int_equal(found.back, 8 * BACK);
}

/* or that goes and comes. */
static void comes_and_goes(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    for (unsigned i = 0; i < 3; i++) {
        runs(1, 0);
        assert_false(prove(&p, &found));
        assert_false(prove(&p, &found));
        runs(1, -1);
        assert_true(prove(&p, &found) == (i == 2));
        if (i < 2)
            assert_false(prove(&p, &found)); /* it is gone once */
    }
    assert_int_equal(found.back, 8 * BACK);
    /* What stays is the scheduler's own. */
    p = (struct kbeam_proof){0};
    *word(record_of(0) + 8 * 5) = process_of(1);
    *word(process_of(1) + 8 * THERE) = record_of(0);
    for (unsigned i = 0; i < 100; i++)
        assert_false(prove(&p, &found));
    assert_int_equal(p.nchains, 1);
}

/* A thread was interrupted while it changed from one process to another: its record has the new
 * one, which has no record yet. That contradicts a chain that is right, once. */
static void interrupted(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found = wide;
    const uint64_t tls[SCHEDULERS] = {tls_of(0), tls_of(1)};
    const struct kbeam_threads t = {tls, SCHEDULERS, 0};
    runs(0, 0);
    runs(1, 1);
    *word(process_of(1) + 8 * THERE) = 0;
    assert_false(prove(&p, &found));
    assert_int_equal(p.nchains, 1);
    for (unsigned i = 0; i < 100; i++) /* within one look that is one time */
        assert_false(kbeam_check(&p, &t, read_words, NULL, &found));
    runs(1, 1);
    assert_true(prove(&p, &found));
    assert_int_equal(found.there, 8 * THERE);
    /* What is contradicted at look after look is wrong. */
    p = (struct kbeam_proof){0};
    *word(process_of(1) + 8 * THERE) = 0;
    for (unsigned i = 0; i < 3; i++)
        assert_false(prove(&p, &found));
    runs(1, 1);
    assert_false(prove(&p, &found));
}

/* A thread's own memory ends soon behind the word that matters. */
static unsigned end;

static bool read_up_to_end(void *arg, uint64_t at, uint64_t *to, unsigned n)
{
    for (unsigned i = 0; i < SCHEDULERS; i++)
        if (at >= searched_of(i) && at < searched_of(i) + 8 * TLS &&
            at + 8ull * n > searched_of(i) + 8 * end)
            return false;
    return read_words(arg, at, to, n);
}

static void short_memory(void **state)
{
    (void)state;
    const uint64_t tls[SCHEDULERS] = {tls_of(0), tls_of(1)};
    runs(0, 0);
    runs(1, 1);
    for (end = 280; end > OWN; end -= 17) {
        struct kbeam_proof p = {0};
        struct kbeam found = wide;
        assert_true(kbeam_prove(&p, &(struct kbeam_threads){tls, SCHEDULERS, 0}, read_up_to_end,
                                NULL, &found));
    }
}

/* A second way back to the record: which one it is cannot be told, until a process lacks it. */
static void two_ways(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    runs(0, 0);
    runs(1, 1);
    *word(process_of(0) + 8 * 7) = record_of(0);
    *word(process_of(1) + 8 * 7) = record_of(1);
    assert_false(prove(&p, &found));
    runs(1, 2);
    assert_true(prove(&p, &found));
    assert_int_equal(found.there, 8 * THERE);
}

/* What leads from the record to something like a process that is none: its first word is no id. */
static void no_process(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    for (unsigned i = 0; i < SCHEDULERS; i++) {
        *word(record_of(i) + 8 * 5) = process_of(i);
        *word(process_of(i) + 8 * THERE) = record_of(i);
    }
    *word(process_of(0)) = UINT64_C(0xfffffffffffffff3);
    *word(process_of(1)) = UINT64_C(0x7ffffffff83);
    assert_false(prove(&p, &found));
    assert_int_equal(p.nchains, 0);
}

/* Memory without end, or with addresses everywhere: bounded work, and nothing found. */
static void hostile(void **state)
{
    (void)state;
    struct kbeam_proof p = {0};
    struct kbeam found;
    for (unsigned i = 0; i < WORDS; i++)
        memory[i] = BASE + 8 * ((i * 7919u) % (WORDS - 600));
    reads = 0;
    assert_false(prove(&p, &found));
    assert_true(reads < 200000);
    memset(memory, 0xff, sizeof memory);
    assert_false(prove(&p, &found));
    const uint64_t nowhere[] = {8, UINT64_MAX - 7};
    assert_false(kbeam_prove(&p, &(struct kbeam_threads){nowhere, 2, 0}, read_words, NULL, &found));
    assert_false(kbeam_prove(&p, &(struct kbeam_threads){nowhere, 0, 0}, read_words, NULL, &found));
}

/* -- names ------------------------------------------------------------------------------------- */

static uint64_t address(unsigned at)
{
    return BASE + 8 * at;
}

static uint64_t atom(unsigned i)
{
    return (uint64_t)i << 6 | 0xb;
}

/* Process k begins with a function, and has a name if that is not 0. */
static void begins(unsigned k, unsigned arity, unsigned name)
{
    uint64_t *p = word(process_of(k)), *entry = &memory[ENTRIES + k * 8];
    p[INITIAL] = atom(7);
    p[INITIAL + 1] = atom(8 + k);
    p[INITIAL + 2] = arity;
    if (name == 0)
        return;
    p[ENTRY] = address(ENTRIES + k * 8);
    entry[1] = name;
    entry[2] = process_of(k);
    entry[4] = atom(name);
}

/* Process k has a dictionary with '$initial_call' among `others` more pairs of its entry. */
static void has_dictionary(unsigned k, uint32_t mask, uint32_t used, unsigned entry,
                           unsigned others)
{
    uint64_t *head = &memory[HEAP], *cell = &memory[HEAP + 40], *pair = &memory[HEAP + 100];
    word(process_of(k))[DICTIONARY] = address(HEAP);
    head[0] = (uint64_t)used << 32 | mask;
    for (unsigned i = 0; i <= others; i++) {
        pair[i * 3] = 2 << 6;
        pair[i * 3 + 1] = i == others ? atom(CALL) : atom(5);
        cell[i * 2] = address(HEAP + 100 + i * 3) | 2;
        cell[i * 2 + 1] = i == others ? 0x3b : address(HEAP + 40 + i * 2 + 2) | 1;
    }
    head[3 + entry] = others == 0 ? cell[0] : address(HEAP + 40) | 1;
}

static bool find_names(struct kbeam_names *n, struct kbeam *v)
{
    const uint64_t tls[SCHEDULERS] = {tls_of(0), tls_of(1)};
    v->own = OWN_AT;
    v->back = 8 * BACK;
    v->there = 8 * THERE;
    v->call = atom(CALL);
    const struct kbeam_threads t = {tls, SCHEDULERS, 0};
    return kbeam_name(n, &t, read_words, NULL, v);
}

static void names(void **state)
{
    (void)state;
    struct kbeam_names n = {0};
    struct kbeam v = wide;
    begins(0, 3, 0);
    begins(1, 0, 0);
    begins(2, 1, 12);
    runs(0, 0);
    assert_false(find_names(&n, &v)); /* one process may have such words by chance */
    assert_int_equal(v.initial, 0);
    runs(1, 1);
    assert_false(find_names(&n, &v));
    assert_int_equal(v.initial, 8 * INITIAL);
    assert_int_equal(v.entry, 0);
    runs(1, 2);
    assert_false(find_names(&n, &v));
    assert_int_equal(v.initial, 8 * INITIAL);
    assert_int_equal(v.entry, 8 * ENTRY);
    has_dictionary(0, 15, 8, CALL - 8, 0);
    assert_true(find_names(&n, &v));
    assert_int_equal(v.dictionary, 8 * DICTIONARY);
}

static void dictionaries(void **state)
{
    (void)state;
    static const struct {
        uint32_t mask, used;
        unsigned entry, others;
        bool good;
    } of[] = {{15, 8, CALL & 7, 0, true}, {15, 14, CALL, 0, true},     {15, 14, CALL, 7, true},
              {15, 14, CALL, 8, false},   {15, 8, CALL, 0, false},     {14, 8, CALL & 7, 0, false},
              {15, 17, CALL, 0, false},   {15, 0, CALL & 7, 0, false}, {7, 8, CALL & 7, 2, true}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct kbeam_names n = {0};
        struct kbeam v = wide;
        fresh(NULL);
        runs(0, 0);
        has_dictionary(0, of[i].mask, of[i].used, of[i].entry, of[i].others);
        find_names(&n, &v);
        assert_int_equal(v.dictionary, of[i].good ? 8 * DICTIONARY : 0);
    }
}

/* What looks like an entry of the registry but is none: each of the three signs is needed. */
static void no_entry(void **state)
{
    (void)state;
    for (unsigned wrong = 1; wrong <= 4; wrong++) {
        struct kbeam_names n = {0};
        struct kbeam v = wide;
        fresh(NULL);
        begins(0, 3, 12);
        runs(0, 0);
        memory[ENTRIES + wrong] ^= wrong == 3 ? 0 : 1;
        find_names(&n, &v);
        assert_int_equal(v.entry, wrong == 3 ? 8 * ENTRY : 0);
    }
}

/* `pointed`: bytes from where an atom points to its text. */
static void make_atoms(unsigned pointed)
{
    fresh(NULL);
    memory[TABLE] = address(BLOCK);
    for (unsigned i = 0; i < NATOMS; i++) {
        static const char *const text[] = {"false", "true", "_", "$initial_call"};
        uint64_t *a = &memory[ATOMS + i * 8];
        const char *is = text[i < 2 ? i : i == CALL ? 3 : 2];
        memory[BLOCK + i] = address(ATOMS + i * 8);
        a[2] = UINT64_C(0x7ffd00000000) | i;
        a[3] = strlen(is) << 16 | strlen(is);
        /* as a tagged pointer where the text does not come first */
        a[4] = address(TEXTS + i * 8) + (pointed > 0 ? 2 : 0);
        memcpy((char *)&memory[TEXTS + i * 8] + (pointed > 0 ? 2 : 0) + pointed, is, strlen(is));
    }
    memory[5] = address(TABLE);
}

static bool find_atoms(struct kbeam *v)
{
    return kbeam_atoms(BASE, BASE + 8 * 2048, read_words, NULL, v);
}

static void atoms(void **state)
{
    (void)state;
    static const unsigned pointed[] = {0, 14};
    for (unsigned i = 0; i < 2; i++) {
        struct kbeam v = wide;
        make_atoms(pointed[i]);
        assert_true(find_atoms(&v));
        assert_int_equal(v.atoms, address(TABLE));
        assert_int_equal(v.text, pointed[i]);
        assert_int_equal(v.call, atom(CALL));
    }
}

static void no_atoms(void **state)
{
    (void)state;
    struct kbeam v = wide;
    make_atoms(0);
    memory[ATOMS + 9 * 8 + 2]++; /* one that has another's number */
    assert_false(find_atoms(&v));
    make_atoms(0);
    memory[ATOMS + 8 + 3]++; /* `true` with another length */
    assert_false(find_atoms(&v));
    make_atoms(0);
    memory[ATOMS + 4] = 24; /* a text that cannot be read */
    assert_false(find_atoms(&v));
    make_atoms(0);
    memory[BLOCK + 15] = 0;
    assert_false(find_atoms(&v));
    assert_int_equal(v.atoms, 0);
    assert_int_equal(v.call, 0);
    make_atoms(0);
    assert_true(find_atoms(&v));
}

/* A process that runs on a dirty scheduler counts once a normal one has closed the chain. */
static void dirty(void **state)
{
    (void)state;
    const uint64_t tls[SCHEDULERS] = {tls_of(0), tls_of(1)};
    const struct kbeam_threads t = {tls, 1, 1};
    struct kbeam_proof p = {0};
    struct kbeam found = wide;
    runs(1, 1);
    *word(process_of(1) + 8 * THERE) = 0;
    assert_false(kbeam_prove(&p, &t, read_words, NULL, &found)); /* it closes none */
    assert_int_equal(p.nchains, 0);
    runs(0, 0);
    assert_true(kbeam_prove(&p, &t, read_words, NULL, &found));
    assert_int_equal(found.own, OWN_AT);
    p = (struct kbeam_proof){0};
    *word(process_of(1) + 8 * THERE) = record_of(0); /* neither 0 nor its own */
    assert_false(kbeam_prove(&p, &t, read_words, NULL, &found));
}

/* Process k has a heap of n words, and a stack of some. */
static void has_stack(unsigned k, unsigned n, unsigned stack)
{
    uint64_t *p = word(process_of(k));
    const unsigned at = STACKS + k * BLOCK_MOST;
    p[FROM] = p[AGED] = address(at);
    p[TO] = address(at + n);
    p[SIZE] = n;
    p[TOP] = address(at + 20);
    p[STOP] = address(at + n - stack);
    memory[at + n - 1] = address(CODE + 4);
}

static bool find_stack(struct kbeam_stacks *s, struct kbeam *v, unsigned times)
{
    const uint64_t tls[SCHEDULERS] = {tls_of(0), tls_of(1)};
    const struct kbeam_threads t = {tls, SCHEDULERS, 0};
    bool known = false;
    v->own = OWN_AT;
    v->back = 8 * BACK;
    v->there = 8 * THERE;
    v->code = address(CODE);
    v->code_end = address(CODE + CODE_WORDS);
    for (unsigned i = 0; i < times; i++)
        known = kbeam_stack(s, &t, read_words, NULL, v);
    return known;
}

static void stacks(void **state)
{
    (void)state;
    struct kbeam_stacks s = {0};
    struct kbeam v = wide;
    has_stack(0, 233, 9);
    has_stack(1, 610, 2);
    runs(0, 0);
    assert_false(find_stack(&s, &v, 20)); /* one process, however often */
    runs(1, 1);
    assert_true(find_stack(&s, &v, 1));
    assert_int_equal(v.end, 8 * TO);
    assert_int_equal(v.stop, 8 * STOP);
    /* What is read of a process while it gets another heap may tell something else. */
    s = (struct kbeam_stacks){0};
    v = wide;
    word(process_of(0))[STOP] = 0x1000;
    assert_false(find_stack(&s, &v, 1));
    has_stack(0, 233, 9);
    assert_true(find_stack(&s, &v, 10));
    assert_int_equal(v.stop, 8 * STOP);
}

/* Each sign of a block is needed; what lies at the end of it is no top. */
static void no_stacks(void **state)
{
    (void)state;
    for (unsigned wrong = 0; wrong < 5; wrong++) {
        struct kbeam_stacks s = {0};
        struct kbeam v = wide;
        fresh(NULL);
        for (unsigned k = 0; k < 2; k++) {
            uint64_t *p = word(process_of(k));
            has_stack(k, 233 + 10 * k, 9);
            runs(k, (int)k);
            uint64_t *last = &memory[STACKS + k * BLOCK_MOST + 233 + 10 * k - 1];
            p[SIZE] += wrong == 1;                    /* another size */
            *last += wrong == 2;                      /* a term */
            *last = wrong == 3 ? address(10) : *last; /* not code */
            p[STOP + 1] = wrong == 4 ? p[STOP] : 0;   /* two that are as high */
        }
        assert_int_equal(find_stack(&s, &v, 20), wrong == 0);
        assert_int_equal(v.stop, wrong == 0 ? 8 * STOP : 0);
    }
}

/* A VM with frame pointers: that of the process is higher than the top of its stack, and comes
 * after it. Where the frame is empty both are the same. */
static void frame_pointers(void **state)
{
    (void)state;
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        struct kbeam_stacks s = {0};
        struct kbeam v = wide;
        fresh(NULL);
        for (unsigned k = 0; k < 2; k++) {
            uint64_t *p = word(process_of(k));
            const unsigned n = 233 + 10 * k, at = STACKS + k * BLOCK_MOST + n;
            has_stack(k, n, 12);
            p[STOP + 1] = address(at - 9);
            memory[at - 9] = wrong == 1 ? 0 : address(at - 2); /* no process has another frame */
            memory[at - 8] = wrong == 2 ? 0x1234 : address(CODE + 4);
            memory[at - 2] = 0;
            p[STOP] = wrong == 3 ? p[STOP + 1] : p[STOP]; /* an empty frame */
            runs(k, (int)k);
        }
        const bool known = find_stack(&s, &v, 20);
        assert_int_equal(known, wrong != 1);
        /* Without a return address behind it, it is none. */
        assert_int_equal(v.stop, wrong == 1 ? 0 : wrong == 2 ? 8 * (STOP + 1) : 8 * STOP);
    }
}

static uint32_t code_in(const char *text, struct kpiece out[KMEM_PIECES])
{
    FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(f);
    const uint32_t n = kbeam_code_in(f, out);
    fclose(f);
    return n;
}

static void pieces_of_code(void **state)
{
    (void)state;
    struct kpiece piece[KMEM_PIECES];
    struct kbeam v = {0};
    /* Memory of its own name; what has none is something else then. */
    assert_int_equal(code_in("1000-2000 rwxp 0 00:00 0 \n"
                             "3000-4000 r-xs 0 00:01 9    /memfd:vmem (deleted)\n"
                             "4000-5000 rw-s 0 00:01 9    /memfd:vmem (deleted)\n"
                             "6000-7000 r-xs 0 00:01 9    /memfd:vmem (deleted)\n",
                             piece),
                     2);
    kbeam_set_code(&v, piece, 2);
    assert_false(kbeam_in_code(&v, 0x2fff));
    assert_true(kbeam_in_code(&v, 0x3000));
    assert_true(kbeam_in_code(&v, 0x3fff));
    assert_false(kbeam_in_code(&v, 0x4000)); /* between two pieces */
    assert_true(kbeam_in_code(&v, 0x6fff));
    assert_false(kbeam_in_code(&v, 0x7000));
    /* A VM that maps it once. What lies side by side is one piece. */
    assert_int_equal(code_in("1000-2000 rwxp 0 00:00 0 \n2000-3000 rwxp 0 00:00 0 \n"
                             "3000-4000 r-xp 0 08:01 7    /lib/libc.so.6\n"
                             "5000-6000 rw-p 0 00:00 0 \n6000-7000 rwxp 0 08:01 7    /lib/odd.so\n",
                             piece),
                     1);
    assert_int_equal(piece[0].from, 0x1000);
    assert_int_equal(piece[0].to, 0x3000);
    kbeam_set_code(&v, piece, 1);
    assert_true(kbeam_in_code(&v, 0x2fff));
    assert_false(kbeam_in_code(&v, 0x3000));
    assert_int_equal(v.npieces, 0);
    kbeam_set_code(&v, piece, 0);
    assert_false(kbeam_in_code(&v, 0));
    /* More of it than code has is something else. */
    char many[2048] = "";
    for (unsigned i = 1; i <= KMEM_PIECES + 1; i++)
        sprintf(many + strlen(many), "%x0000-%x1000 rwxp 0 00:00 0 \n", i, i);
    assert_int_equal(code_in(many, piece), 0);
    many[strlen(many) - strlen("110000-111000 rwxp 0 00:00 0 \n")] = '\0';
    assert_int_equal(code_in(many, piece), KMEM_PIECES);
}

static void functions(void **state)
{
    (void)state;
    struct kbeam v = wide;
    struct kfuncs f = {0};
    make_atoms(0);
    assert_true(find_atoms(&v));
    const uint64_t code[] = {0,        0x401000,   atom(0),   atom(1),
                             2,        0x90909090,                 /* false:true/2 */
                             0x401001, atom(0),    atom(1),   2,   /* no address before it */
                             0x401000, atom(0),    0x90,      2,   /* one atom */
                             0x401000, atom(0),    atom(1),   256, /* too many arguments */
                             0x401000, atom(0),    atom(999), 1,   /* no such atom */
                             0,        atom(CALL), atom(0),   255};
    const size_t n = sizeof code / sizeof *code;
    assert_true(kjit_scan(code, n, address(CODE), &v, read_words, NULL, &f));
    kfuncs_sort(&f);
    assert_int_equal(f.n, 2);
    const struct kfunction *found = kfuncs_find(&f, address(CODE + 5));
    assert_non_null(found);
    assert_int_equal(found->at, address(CODE + 2));
    assert_string_equal(f.names.data + found->name, "false:true/2");
    found = kfuncs_find(&f, address(CODE + 100));
    assert_int_equal(found->at, address(CODE + (unsigned)n - 3));
    assert_string_equal(f.names.data + found->name, "$initial_call:false/255");
    assert_null(kfuncs_find(&f, address(CODE + 1)));
    kfuncs_free(&f);
}

static void layouts(void **state)
{
    (void)state;
    struct kbeam v = {0};
    assert_true(kbeam_layout("/usr/lib/erlang/erts-13.1.5/bin/beam.smp", &v));
    assert_int_equal(v.shift, 4);
    assert_int_equal(v.number, 15);
    assert_int_equal(v.serial, 13);
    assert_true(kbeam_layout("/opt/erts-1/erts-14.0/bin/beam.smp", &v));
    assert_int_equal(v.shift, 7);
    assert_int_equal(v.number, 28);
    assert_false(kbeam_layout("/usr/bin/beam.smp", &v));
    assert_false(kbeam_layout("/opt/erts-/bin/beam.smp", &v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(two_processes, fresh),
        cmocka_unit_test_setup(one_after_the_other, fresh),
        cmocka_unit_test_setup(from_one_to_the_other, fresh),
        cmocka_unit_test_setup(comes_and_goes, fresh),
        cmocka_unit_test_setup(interrupted, fresh),
        cmocka_unit_test_setup(short_memory, fresh),
        cmocka_unit_test_setup(two_ways, fresh),
        cmocka_unit_test_setup(no_process, fresh),
        cmocka_unit_test_setup(hostile, fresh),
        cmocka_unit_test_setup(names, fresh),
        cmocka_unit_test(no_entry),
        cmocka_unit_test(dictionaries),
        cmocka_unit_test(atoms),
        cmocka_unit_test(no_atoms),
        cmocka_unit_test_setup(dirty, fresh),
        cmocka_unit_test_setup(stacks, fresh),
        cmocka_unit_test(no_stacks),
        cmocka_unit_test(frame_pointers),
        cmocka_unit_test(pieces_of_code),
        cmocka_unit_test(functions),
        cmocka_unit_test(layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
