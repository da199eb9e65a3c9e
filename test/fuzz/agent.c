/* agent.c - fuzz target: the agent's library, called as a virtual machine and its server call it.
 *
 * The input is an image in its binary form, then how it is run: options of every size, the probe of
 * each clause, then events and calls with terms of every kind. What comes with an event is
 * forgotten when the event is over, so that a sanitizer sees what was kept of it; nif.h says what
 * else the agent must not do. What the program gathered is drained and walked as the consumer does
 * it. */
#include "fuzz.h"
#include "mutate.h"
#include "nif.h"

#include <unistd.h>

#include "base/err.h"
#include "result/value.h"
#include "engine/engine.h"
#include "probe/probe.h"
#include "tier/tier.h"

enum {
    CLAUSES_MOST = 12, /* of an image that is run */
    STEPS_MOST = 40,
    TERMS_MOST = 600, /* of one event */
    MANY = 9000,      /* elements of a long list: more than any look may pass */
    DEEP = 5000,
    DEPTH_MOST = 6,
    ATOMS_NEW = 3000,
    PARTS_MOST = 4096,
    ARGS = 9
};

struct run {
    struct input in;
    const struct dif_image *img;
    struct diags *d;
    unsigned terms; /* made for the event under way */
    struct value value[PARTS_MOST];
};

ErlNifEntry *nif_init(void); /* the library's one name */
static ErlNifEntry *library;
static ERL_NIF_TERM server;

/* -- calling it ---------------------------------------------------------------------- */

static ERL_NIF_TERM call(const char *s, const ERL_NIF_TERM *arg)
{
    return nif_call(library, s, arg);
}

/* Once for all inputs. */
static void start(void)
{
    static const int releases[] = {25, 27, 29, 30};
    if (library != NULL)
        return;
    /* Each process of the fuzzer is one release. */
    nif_otp = releases[(size_t)getpid() % (sizeof releases / sizeof *releases)];
    library = nif_init();
    server = nif_self = nif_pid(0, true);
    must(library->load(nif_env, NULL, nif_nil()) == 0, "the library is loaded", NULL);
    must(call("nif_start", (ERL_NIF_TERM[]){nif_int(nif_otp)}) == nif_name("ok"), "it starts",
         NULL);
    nif_reset();
}

/* -- terms --------------------------------------------------------------------------- */

static ERL_NIF_TERM any(struct run *r, unsigned depth);

static ERL_NIF_TERM integer(struct run *r, unsigned what)
{
    static const int64_t edges[] = {0,         1,         -1,         255,       256,
                                    1023,      INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MIN,
                                    1ll << 58, 1ll << 59, -1};
    if (what % 3 == 0)
        return nif_int((int64_t)input_bytes(&r->in, 8));
    if (what % 3 == 1)
        return nif_int(edges[input_byte(&r->in) % (sizeof edges / sizeof *edges)]);
    return nif_int(input_byte(&r->in));
}

static ERL_NIF_TERM an_atom(struct run *r)
{
    size_t n = input_byte(&r->in);
    if (n < 200 || nif_natoms() > ATOMS_NEW)
        return nif_atom_at((unsigned)input_bytes(&r->in, 2) % nif_natoms());
    n = (n - 200) * 19; /* up to 1045 bytes, which may be of UTF-8 */
    n = n < r->in.n ? n : r->in.n;
    ERL_NIF_TERM t = nif_atom(r->in.p, n);
    r->in.p += n;
    r->in.n -= n;
    return t;
}

static ERL_NIF_TERM a_binary(struct run *r, unsigned what)
{
    size_t n = input_byte(&r->in);
    if (what % 8 == 0)
        return nif_binary(NULL, n * 4096, false);
    n = n < r->in.n ? n : r->in.n;
    ERL_NIF_TERM t = nif_binary(r->in.p, n, what % 8 == 1);
    r->in.p += n;
    r->in.n -= n;
    return t;
}

static ERL_NIF_TERM a_list(struct run *r, unsigned what, unsigned depth)
{
    unsigned n = what % 7;
    ERL_NIF_TERM list = what % 5 == 0 ? any(r, depth + 1) : nif_nil();
    while (n-- > 0)
        list = nif_cons(any(r, depth + 1), list);
    return list;
}

/* Lists that are longer or deeper than anything may look at. */
static ERL_NIF_TERM a_large_list(struct run *r, unsigned what, unsigned depth)
{
    const bool nested = what % 3 == 0;
    r->terms += TERMS_MOST / 4;
    return nif_cells(any(r, depth + 1), nested ? DEEP : MANY, nested);
}

static ERL_NIF_TERM a_tuple(struct run *r, unsigned n, unsigned depth)
{
    ERL_NIF_TERM e[16];
    for (unsigned i = 0; i < n; i++)
        e[i] = any(r, depth + 1);
    return nif_tuple(e, n);
}

static ERL_NIF_TERM a_map(struct run *r, unsigned what, unsigned depth)
{
    ERL_NIF_TERM e[80];
    unsigned n = what % 8 == 0 ? 33 + what % 7 : what % 6;
    for (unsigned i = 0; i < n; i++) {
        e[2 * i] = what % 2 ? any(r, depth + 1) : nif_int(i);
        e[2 * i + 1] = i < 4 ? any(r, depth + 1) : nif_int(i);
    }
    return nif_map(e, n);
}

static ERL_NIF_TERM a_record(struct run *r, unsigned what, unsigned depth)
{
    enum { FIELDS = 4, ODDITIES = 10, MOSTLY = 3 };
    ERL_NIF_TERM e[2 * FIELDS];
    const unsigned n = what % (FIELDS + 1);
    for (unsigned i = 0; i < n; i++) {
        e[2 * i] = an_atom(r);
        e[2 * i + 1] = any(r, depth + 1);
    }
    return nif_record(an_atom(r), an_atom(r), e, n, what % MOSTLY ? 0 : what / 8 % ODDITIES);
}

static ERL_NIF_TERM any(struct run *r, unsigned depth)
{
    unsigned kind = input_byte(&r->in), what = kind >= 128 ? input_byte(&r->in) : kind;
    if (++r->terms > TERMS_MOST || depth > DEPTH_MOST)
        return nif_nil();
    if (kind >= 240)
        return what % 2 ? a_record(r, what / 2, depth) : nif_unknown(what / 4, what % 4 == 0);
    switch (kind % 16) {
    case 0:
    case 1: return an_atom(r);
    case 2:
    case 3: return integer(r, what);
    case 4: return what % 2 ? nif_uint(input_bytes(&r->in, 8)) : nif_bignum();
    case 5: return nif_float((double)input_bytes(&r->in, 8) * (what % 2 ? 1e290 : 1e-300));
    case 6: return nif_pid(input_byte(&r->in), what % 4 != 0);
    case 7: return nif_port(input_byte(&r->in), what % 4 != 0);
    case 8: return what % 2 ? nif_ref(input_byte(&r->in)) : nif_fun();
    case 9:
    case 10: return a_binary(r, what);
    case 11: return a_list(r, what, depth);
    case 12: return what % 4 == 0 ? a_large_list(r, what, depth) : a_list(r, what, depth);
    case 13:
    case 14: return a_tuple(r, what % 8, depth);
    default: return a_map(r, what, depth);
    }
}

/* {M, F, Args} or {M, F, Arity}: of a function with a probe, of one that is a probe, of any. */
static ERL_NIF_TERM mfa(struct run *r)
{
    static const struct {
        const char *m, *f;
        unsigned arity; /* most */
    } functions[] = {{"erltrace", "probe", ARGS},
                     {"erltrace", "probe", ARGS},
                     {"dyntrace", "user_trace_s1", 1},
                     {"dyntrace", "user_trace_i4s4", 9},
                     {"dyntrace", "user_trace_n", 10},
                     {"ets", "insert", 2},
                     {"ets", "select", 3},
                     {"erlang", "exit", 3},
                     {"erlang", "hibernate", 3},
                     {"erts_internal", "prepare_loading", 2},
                     {"m", "f", 3}};
    unsigned which = input_byte(&r->in), how = input_byte(&r->in);
    ERL_NIF_TERM e[3];
    if (which % 16 >= sizeof functions / sizeof *functions)
        return any(r, 0);
    which %= 16;
    e[0] = nif_name(functions[which].m);
    e[1] = nif_name(functions[which].f);
    unsigned n = functions[which].arity;
    if (which <= 1 || how % 8 == 0)
        n = 1 + how / 8 % n;
    e[2] = nif_nil();
    for (unsigned i = n; i > 0; i--)
        e[2] = nif_cons(i == 1 && which <= 1 && how % 8 < 6 ? nif_name("p") : any(r, 1), e[2]);
    if (how % 8 == 7)
        e[2] = nif_int(n);
    return nif_tuple(e, 3);
}

/* -- events -------------------------------------------------------------------------- */

/* What a VM calls, on a thread where something happens; or any process, with anything. */
static void event(struct run *r, unsigned what)
{
    static const char *const tags[] = {"call",
                                       "call",
                                       "call",
                                       "return_to",
                                       "return_from",
                                       "exception_from",
                                       "send",
                                       "receive",
                                       "in",
                                       "out",
                                       "in_exiting",
                                       "out_exiting",
                                       "out_exited",
                                       "spawn",
                                       "spawned",
                                       "exit",
                                       "gc_minor_start",
                                       "gc_minor_end",
                                       "gc_major_start",
                                       "gc_major_end",
                                       "gc_max_heap_size",
                                       "open",
                                       "closed",
                                       "getting_linked",
                                       "link",
                                       "register",
                                       "unregister",
                                       "seq_trace",
                                       "unlink",
                                       "send_to_non_existing_process"};
    const unsigned how = input_byte(&r->in);
    ERL_NIF_TERM arg[5], extra[4];
    arg[0] = what < 120 ? nif_name(tags[what % (sizeof tags / sizeof *tags)]) : any(r, 0);
    arg[1] = how % 16 == 0 ? any(r, 0) : how % 16 == 1 ? nif_name("global") : nif_nil();
    arg[2] = how % 8 == 2   ? any(r, 0)
             : how % 8 == 3 ? nif_port(how / 8, true)
                            : nif_pid(how / 8, true);
    arg[3] = what % 30 < 6 || how % 3 == 0 ? mfa(r) : any(r, 0);
    extra[0] = nif_name(how % 2 ? "extra" : "match_spec_result");
    extra[1] = how % 5 == 0 ? mfa(r) : any(r, 0);
    arg[4] = how % 32 == 4 ? any(r, 0) : nif_map(extra, 1);
    nif_callback = true;
    if (how % 64 == 5)
        call("enabled", arg);
    else
        call("trace", arg);
    nif_callback = false;
}

/* A function of the library, by the server or by somebody else, with anything. What would end it
 * for the inputs that follow is left out. */
static void any_call(struct run *r, ERL_NIF_TERM program)
{
    const ErlNifFunc *f = &library->funcs[input_byte(&r->in) % (unsigned)library->num_of_funcs];
    ERL_NIF_TERM arg[8];
    if (strcmp(f->name, "nif_guard") == 0 || strcmp(f->name, "nif_retire") == 0)
        return;
    for (unsigned i = 0; i < f->arity; i++) {
        unsigned how = input_byte(&r->in);
        arg[i] = how < 64 ? program : how < 128 ? nif_int(how % 8) : any(r, 0);
    }
    nif_self = input_byte(&r->in) % 4 == 0 ? nif_pid(1, true) : server;
    f->fptr(nif_env, (int)f->arity, arg);
    nif_self = server;
}

/* A named probe that the server fires with values. */
static void server_event(struct run *r)
{
    ERL_NIF_TERM arg[3];
    arg[0] = nif_int(input_byte(&r->in));
    arg[1] = nif_pid(input_byte(&r->in), true);
    arg[2] = a_tuple(r, input_byte(&r->in) % 12, 0);
    call("nif_event", arg);
}

/* -- what comes out ------------------------------------------------------------------ */

static void on_record(void *arg, struct tier *t, uint32_t epid, uint64_t timestamp, uint32_t cpu,
                      const uint8_t *parts, size_t len)
{
    struct run *r = arg;
    (void)t;
    (void)timestamp;
    (void)cpu;
    must(epid >= 1 && epid <= r->img->nclauses, "a record is of a clause", r->d);
    const struct dif_clause *c = &r->img->clauses[epid - 1];
    if (c->nsubs == 0 && c->nparts <= PARTS_MOST)
        must(values_parse(r->img->parts + c->part, c->nparts, parts, len, r->value) == 0,
             "a record has its parts", r->d);
}

static void on_aggregation(void *arg, struct tier *t, uint32_t agg, uint32_t cpu,
                           const uint8_t *key, size_t keylen, const uint64_t *words, size_t nwords)
{
    struct run *r = arg;
    (void)t;
    (void)cpu;
    (void)words;
    must(agg < r->img->naggs && nwords == dif_agg_words(&r->img->aggs[agg]),
         "an entry is of an aggregation", r->d);
    const struct dif_keys *k = &r->img->aggs[agg].keys;
    must(values_parse(k->key, k->n, key, keylen, r->value) == 0, "an entry has its keys", r->d);
}

static void on_fault(void *arg, struct tier *t, uint32_t epid, uint32_t action, uint32_t offset,
                     uint32_t fault, uint64_t value, uint32_t cpu)
{
    struct run *r = arg;
    (void)t;
    (void)action;
    (void)offset;
    (void)fault;
    (void)value;
    (void)cpu;
    must(epid >= 1 && epid <= r->img->nclauses, "a fault is of a clause", r->d);
}

static void drain(struct run *r, ERL_NIF_TERM program)
{
    struct tier_sink sink = {
        .arg = r, .record = on_record, .aggregation = on_aggregation, .fault = on_fault};
    const ERL_NIF_TERM yes = nif_name("true"), both = nif_int(3), some = nif_int(5000);
    bool more = true;
    call("nif_flip", (ERL_NIF_TERM[]){program, both}); /* badarg when it has been */
    must(call("nif_quiet", &program) == yes, "nobody is inside", r->d);
    while (more) {
        const ERL_NIF_TERM *e;
        ErlNifBinary bin;
        int n;
        ERL_NIF_TERM answer = call("nif_drain", (ERL_NIF_TERM[]){program, some});
        must(enif_get_tuple(nif_env, answer, &n, &e) && n == 2 &&
                 enif_inspect_binary(nif_env, e[0], &bin),
             "what is drained comes as a binary", r->d);
        must(tier_report(NULL, r->img, (const char *)bin.data, bin.size, &sink, r->d) == 0,
             "what is drained can be read", r->d);
        more = e[1] == yes;
    }
}

/* -- running it ---------------------------------------------------------------------- */

/* Everything about sizes that a consumer can ask for, at its least and its most. */
static ERL_NIF_TERM options(struct run *r)
{
    static const char *const names[] = {"bufsize",     "aggsize",   "dynvarsize", "specsize",
                                        "nspec",       "bufpolicy", "fixed",      "maxload",
                                        "eventbudget", "threads"};
    ERL_NIF_TERM list = nif_nil();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint64_t n = a_size(&r->in);
        if (n == SIZE_AS_IT_IS)
            continue;
        ERL_NIF_TERM e[] = {nif_name(names[i]),
                            nif_uint(strcmp(names[i], "bufpolicy") ? n : n % 4)};
        list = nif_cons(nif_tuple(e, 2), list);
    }
    return list;
}

/* The clauses, each with a probe: mostly erltrace:probe. */
static ERL_NIF_TERM bindings(struct run *r, uint32_t nclauses)
{
    ERL_NIF_TERM b[CLAUSES_MOST], list = nif_nil();
    for (uint32_t i = 0; i < nclauses; i++) {
        unsigned what = input_byte(&r->in), kind = PROBE_USER;
        ERL_NIF_TERM where = nif_binary(what % 2 ? "*" : "p", 1, false);
        ERL_NIF_TERM fn[] = {nif_name("m"), nif_name("f"), nif_int(3)};
        if (what % 8 == 5) {
            kind = PROBE_FN_ENTRY + what / 8 % (PROBE_FN_END - PROBE_FN_ENTRY);
            where = nif_tuple(fn, 3);
        } else if (what % 8 >= 6) {
            kind = input_byte(&r->in);
            where = kind == PROBE_USER_TRACE_N ? nif_int(what) : nif_nil();
        }
        ERL_NIF_TERM e[] = {nif_int(i + 1), nif_int(i), nif_int(i + 1), nif_int(kind), where};
        b[i] = nif_tuple(e, 5);
    }
    for (uint32_t i = nclauses; i > 0; i--)
        list = nif_cons(b[i - 1], list);
    return list;
}

/* One event or call: a byte says how many bytes it is made of. */
static void step(struct run *r, ERL_NIF_TERM program)
{
    void *before = nif_mark();
    size_t len = input_byte(&r->in);
    len = len < r->in.n ? len : r->in.n;
    const struct input rest = {r->in.p + len, r->in.n - len};
    r->in.n = len;
    unsigned what = input_byte(&r->in);
    r->terms = 0;
    if (what < 200)
        event(r, what);
    else if (what < 225)
        server_event(r);
    else if (what < 245)
        any_call(r, program);
    else
        drain(r, program);
    nif_forget(before);
    r->in = rest;
}

static void run(struct run *r, const uint8_t *image, size_t len)
{
    static const char *const shut[] = {"end", "stopped"};
    ERL_NIF_TERM arg[4] = {nif_binary(image, len, false), options(r), 0,
                           nif_binary("erlang4711", 10, false)};
    const ERL_NIF_TERM *e;
    int n;
    arg[2] = bindings(r, r->img->nclauses);
    ERL_NIF_TERM answer = call("nif_enable", arg), ok = nif_name("ok");
    must(enif_get_tuple(nif_env, answer, &n, &e) && (n == 6 || n == 4), "an answer", r->d);
    if (n == 4)
        return; /* refused: {error, Tag, Text, Hint} */
    const ERL_NIF_TERM program = e[1];
    const ERL_NIF_TERM all[] = {nif_cons(program, nif_nil()), nif_nil(), nif_nil()};
    const ERL_NIF_TERM nobody[] = {nif_nil(), nif_nil(), nif_nil()};
    must(call("nif_publish", all) == ok, "it is published", r->d);
    call("nif_gate", (ERL_NIF_TERM[]){nif_name("true")});
    call("nif_phase", (ERL_NIF_TERM[]){program, nif_name("running")});
    for (unsigned i = 0; i < STEPS_MOST && r->in.n > 0; i++)
        step(r, program);
    for (size_t i = 0; i < sizeof shut / sizeof *shut; i++)
        call("nif_phase", (ERL_NIF_TERM[]){program, nif_name(shut[i])});
    drain(r, program);
    call("nif_counts", &program);
    call("nif_load", (ERL_NIF_TERM[]){program, nif_int(5), nif_int(0)});
    call("nif_gate", (ERL_NIF_TERM[]){nif_name("false")});
    must(call("nif_publish", nobody) == ok, "nothing is published", r->d);
    must(call("nif_settled", NULL) == nif_name("true"), "nobody sees it any more", r->d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run r;
    struct diags d;
    struct dif_image img;
    size_t len = image_length(data, size);
    start();
    diags_init(&d);
    dif_image_init(&img);
    if (dif_decode(&img, data, len, &d) == 0 && dif_verify_for(&img, WORD_VM, &d) == 0 &&
        img.nclauses > 0 && img.nclauses <= CLAUSES_MOST) {
        r = (struct run){.in = {data + len, size - len}, .img = &img, .d = &d};
        run(&r, data, len);
        nif_reset();
    }
    dif_image_free(&img);
    diags_free(&d);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return mutate_for(WORD_VM, data, size, max, seed, true);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na, const uint8_t *b, size_t nb,
                                 uint8_t *out, size_t max, unsigned seed)
{
    return cross_over(a, na, b, nb, out, max, seed);
}
