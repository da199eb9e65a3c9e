/* agent.c - fuzz target: the agent's library, called as a virtual machine and its server call it.
 *
 * The input is an image in its binary form, then how it is run: options of every size, the probe of
 * each clause, then events and calls with terms of every kind. What comes with an event is
 * forgotten when the event is over, so that a sanitizer sees what was kept of it; nif.h says what
 * else the agent must not do. What the program gathered is drained and walked as the consumer does
 * it. */
#include "fuzz.h"
#include "made.h"
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
    PARTS_MOST = 4096,
    ARGS = 9
};

struct run {
    struct made m; /* terms: those made for the event under way */
    const struct dif_image *img;
    struct diags *d;
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
    must(call("nif_start", (ERL_NIF_TERM[]){nif_int(nif_otp), nif_name("etw@host")}) ==
             nif_name("ok"),
         "it starts", NULL);
    nif_reset();
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
    unsigned which = input_byte(&r->m.in), how = input_byte(&r->m.in);
    ERL_NIF_TERM e[3];
    if (which % 16 >= sizeof functions / sizeof *functions)
        return made_any(&r->m, 0);
    which %= 16;
    e[0] = nif_name(functions[which].m);
    e[1] = nif_name(functions[which].f);
    unsigned n = functions[which].arity;
    if (which <= 1 || how % 8 == 0)
        n = 1 + how / 8 % n;
    e[2] = nif_nil();
    for (unsigned i = n; i > 0; i--)
        e[2] = nif_cons(i == 1 && which <= 1 && how % 8 < 6 ? nif_name("p") : made_any(&r->m, 1),
                        e[2]);
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
    const unsigned how = input_byte(&r->m.in);
    ERL_NIF_TERM arg[5], extra[4];
    arg[0] = what < 120 ? nif_name(tags[what % (sizeof tags / sizeof *tags)]) : made_any(&r->m, 0);
    arg[1] = how % 16 == 0 ? made_any(&r->m, 0) : how % 16 == 1 ? nif_name("global") : nif_nil();
    arg[2] = how % 8 == 2   ? made_any(&r->m, 0)
             : how % 8 == 3 ? nif_port(how / 8, true)
                            : nif_pid(how / 8, true);
    arg[3] = what % 30 < 6 || how % 3 == 0 ? mfa(r) : made_any(&r->m, 0);
    extra[0] = nif_name(how % 2 ? "extra" : "match_spec_result");
    extra[1] = how % 5 == 0 ? mfa(r) : made_any(&r->m, 0);
    arg[4] = how % 32 == 4 ? made_any(&r->m, 0) : nif_map(extra, 1);
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
    const ErlNifFunc *f = &library->funcs[input_byte(&r->m.in) % (unsigned)library->num_of_funcs];
    ERL_NIF_TERM arg[8];
    if (strcmp(f->name, "nif_guard") == 0 || strcmp(f->name, "nif_retire") == 0)
        return;
    for (unsigned i = 0; i < f->arity; i++) {
        unsigned how = input_byte(&r->m.in);
        arg[i] = how < 64 ? program : how < 128 ? nif_int(how % 8) : made_any(&r->m, 0);
    }
    nif_self = input_byte(&r->m.in) % 4 == 0 ? nif_pid(1, true) : server;
    f->fptr(nif_env, (int)f->arity, arg);
    nif_self = server;
}

/* A named probe that the server fires with values. */
static void server_event(struct run *r)
{
    ERL_NIF_TERM arg[3];
    arg[0] = nif_int(input_byte(&r->m.in));
    arg[1] = nif_pid(input_byte(&r->m.in), true);
    arg[2] = made_tuple(&r->m, input_byte(&r->m.in) % 12, 0);
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
                           const uint8_t *key, size_t keylen, const uint64_t *words, size_t nwords,
                           bool lower)
{
    struct run *r = arg;
    (void)t;
    (void)cpu;
    (void)words;
    (void)lower;
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
        const uint64_t n = a_size(&r->m.in);
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
        unsigned what = input_byte(&r->m.in), kind = PROBE_USER;
        ERL_NIF_TERM where = nif_binary(what % 2 ? "*" : "p", 1, false);
        ERL_NIF_TERM fn[] = {nif_name("m"), nif_name("f"), nif_int(3)};
        if (what % 8 == 5) {
            kind = PROBE_FN_ENTRY + what / 8 % (PROBE_FN_END - PROBE_FN_ENTRY);
            where = nif_tuple(fn, 3);
        } else if (what % 8 >= 6) {
            kind = input_byte(&r->m.in);
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
    size_t len = input_byte(&r->m.in);
    len = len < r->m.in.n ? len : r->m.in.n;
    const struct input rest = {r->m.in.p + len, r->m.in.n - len};
    r->m.in.n = len;
    unsigned what = input_byte(&r->m.in);
    r->m.terms = 0;
    if (what < 200)
        event(r, what);
    else if (what < 225)
        server_event(r);
    else if (what < 245)
        any_call(r, program);
    else
        drain(r, program);
    nif_forget(before);
    r->m.in = rest;
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
    for (unsigned i = 0; i < STEPS_MOST && r->m.in.n > 0; i++)
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
        r = (struct run){.m.in = {data + len, size - len}, .img = &img, .d = &d};
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
