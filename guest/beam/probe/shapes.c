/* shapes.c - see shapes.h. The rows of shapes.list that the release has lie in one array, in the
 * list's order: what comes often is found first. It is written once, before there are events. */
#include "beam/probe/shapes.h"
#include "beam/probe/term_read.h"

#include <string.h>

enum tracee { OF_PROCESS, OF_PORT, OF_TERM };
enum term_shape {
    SHAPE_ANY,
    SHAPE_NONE,
    SHAPE_CALL,
    SHAPE_MFA,
    SHAPE_TURN,
    SHAPE_PLACE,
    SHAPE_START,
    SHAPE_RAISED,
    SHAPE_TO,
    SHAPE_PID,
    SHAPE_END,
    SHAPE_ACTOR,
    SHAPE_NAME,
    SHAPE_WORDS,
    SHAPE_SIZES,
    SHAPE_TOLD,
    SHAPE_WORK,
    SHAPE_SEQ
};

static const struct {
    size_t atom; /* of the tag, its place in struct atoms */
    enum tracee tracee;
    enum term_shape msg, extra;
    uint32_t needs;  /* of the programs that it is an event of */
    int first, last; /* releases; last 0: none is the last */
} list[] = {
#define WORD_SHAPE(tracee, tag, msg, extra, needs, first, last)                                    \
    {offsetof(struct atoms, tag), OF_##tracee, SHAPE_##msg, SHAPE_##extra, needs, first, last},
#include "words/shapes.list"
#undef WORD_SHAPE
};

enum { ROWS = sizeof list / sizeof *list, OTHER = ROWS };
_Static_assert(OTHER < 64, "a bit for each");

static struct row {
    ERL_NIF_TERM tag;
    uint8_t tracee, msg, extra;
    uint8_t number; /* in the list */
    uint32_t needs;
} rows[ROWS];
static uint32_t nrows;

static _Atomic uint64_t unknown; /* bits of rows whose shape has been another one */

/* Returns a shape, or `read` for one that is examined where the term is read (see shapes.h). */
static uint8_t taken(enum term_shape shape, enum term_shape read)
{
    return (uint8_t)(shape == SHAPE_CALL || shape == SHAPE_TO ? read : shape);
}

void shapes_init(int otp)
{
    nrows = 0;
    for (uint8_t i = 0; i < ROWS; i++) {
        struct row *r = &rows[nrows];
        if (otp < list[i].first || (list[i].last != 0 && otp > list[i].last))
            continue;
        *r = (struct row){.tracee = (uint8_t)list[i].tracee,
                          .msg = taken(list[i].msg, SHAPE_ANY),
                          .extra = taken(list[i].extra, SHAPE_NONE),
                          .number = i,
                          .needs = list[i].needs};
        memcpy(&r->tag, (const char *)&agent.atom + list[i].atom, sizeof r->tag);
        nrows++;
    }
}

/* Returns NULL when the release has no such event. */
static const struct row *row_of(ERL_NIF_TERM tag, enum tracee tracee)
{
    for (uint32_t i = 0; i < nrows; i++)
        if (rows[i].tag == tag && rows[i].tracee == tracee)
            return &rows[i];
    return NULL;
}

/* *local: it is a process or a port of this node, or the event has none. (The VM is not asked:
 * events are many.) */
static enum tracee tracee_of(ErlNifEnv *env, const ERL_NIF_TERM argv[], bool *local)
{
    *local = true;
    if (argv[0] == agent.atom.seq_trace)
        return OF_TERM;
    if (read_is_local_pid(argv[2]))
        return OF_PROCESS;
    const int type = event_is_word(argv[2]) ? read_type(env, argv[2]) : READ_UNKNOWN;
    *local = type == ERL_NIF_TERM_TYPE_PID || type == ERL_NIF_TERM_TYPE_PORT;
    return type == ERL_NIF_TERM_TYPE_PORT ? OF_PORT : OF_PROCESS;
}

/* -- shapes ------------------------------------------------------------------------------------ */

/* Returns whether this is {M, F, Arity}, or {M, F, Args} where `args`. */
static bool is_mfa(ErlNifEnv *env, ERL_NIF_TERM t, bool args)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool list_of;
    if (read_mfa(t, &m, &f, &arity))
        return !args;
    return event_get_mfa(env, t, &m, &f, &arity, &list_of) && list_of == args &&
           enif_is_atom(env, m) && enif_is_atom(env, f);
}

static bool is_end(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return enif_is_pid(env, t) || enif_is_port(env, t);
}

static bool is_actor(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return is_end(env, t) || enif_is_atom(env, t);
}

static bool is_zero(ErlNifEnv *env, ERL_NIF_TERM t)
{
    int n;
    return event_is_word(t) && enif_get_int(env, t, &n) && n == 0;
}

static bool is_pair(ErlNifEnv *env, ERL_NIF_TERM t, const ERL_NIF_TERM **e)
{
    int n;
    return enif_get_tuple(env, t, &n, e) && n == 2;
}

static bool is_bytes(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return enif_is_binary(env, t) || enif_is_list(env, t);
}

/* Returns whether this is a list of {Key, Words} with every key that is read. */
static bool is_words(ErlNifEnv *env, ERL_NIF_TERM t, bool wordsize)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM key[] = {a->heap_size,  a->old_heap_size,      a->heap_block_size,
                                a->stack_size, a->bin_vheap_size,     a->bin_old_vheap_size,
                                a->wordsize,   a->old_heap_block_size};
    enum { KEYS = sizeof key / sizeof *key };
    const ERL_NIF_TERM *e;
    ERL_NIF_TERM head;
    ErlNifUInt64 words;
    unsigned have = 0;
    for (unsigned n = 0; n < SHAPES_WORDS && enif_get_list_cell(env, t, &head, &t); n++) {
        if (!is_pair(env, head, &e) || !event_is_word(e[0]) || !enif_get_uint64(env, e[1], &words))
            return false;
        for (unsigned i = 0; i < KEYS; i++)
            if (e[0] == key[i])
                have |= 1u << i;
    }
    if (!wordsize)
        for (unsigned i = 0; i < KEYS; i++)
            if (key[i] == a->wordsize)
                have |= 1u << i;
    return t == agent.nil && have == (1u << KEYS) - 1;
}

static bool is_operation(ErlNifEnv *env, ERL_NIF_TERM t)
{
    const ERL_NIF_TERM *e;
    unsigned operation;
    return is_pair(env, t, &e) && enif_get_uint(env, e[0], &operation) && is_bytes(env, e[1]);
}

static bool is_told(ErlNifEnv *env, ERL_NIF_TERM t)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM *e, *what;
    if (t == a->timeout)
        return true;
    if (!is_pair(env, t, &e) || !is_actor(env, e[0]))
        return false;
    if (e[1] == a->close)
        return true;
    if (!is_pair(env, e[1], &what))
        return false;
    return what[0] == a->command                         ? is_bytes(env, what[1])
           : what[0] == a->connect                       ? is_end(env, what[1])
           : what[0] == a->control || what[0] == a->call ? is_operation(env, what[1])
                                                         : false;
}

/* Returns whether this sends or receives with a token: anybody, a node's name, [] for none. */
static bool is_party(ErlNifEnv *env, ERL_NIF_TERM t)
{
    const ERL_NIF_TERM *e;
    return is_actor(env, t) || t == agent.nil || enif_is_ref(env, t) ||
           (is_pair(env, t, &e) && enif_is_atom(env, e[0]) && enif_is_atom(env, e[1]));
}

static bool is_seq(ErlNifEnv *env, ERL_NIF_TERM t)
{
    const struct atoms *a = &agent.atom;
    const ERL_NIF_TERM *e, *serial;
    ErlNifSInt64 i;
    int n;
    return enif_get_tuple(env, t, &n, &e) && n == 5 &&
           (e[0] == a->send || e[0] == a->receive || e[0] == a->print) &&
           is_pair(env, e[1], &serial) && enif_get_int64(env, serial[0], &i) &&
           enif_get_int64(env, serial[1], &i) && is_party(env, e[2]) && is_party(env, e[3]);
}

static bool is(ErlNifEnv *env, enum term_shape shape, ERL_NIF_TERM t)
{
    const ERL_NIF_TERM *e;
    switch (shape) {
    case SHAPE_MFA: return is_mfa(env, t, false);
    case SHAPE_TURN: return is_mfa(env, t, false) || is_zero(env, t);
    case SHAPE_PLACE: return t == agent.atom.undefined || is_mfa(env, t, false);
    case SHAPE_START: return is_mfa(env, t, true);
    case SHAPE_RAISED: return is_pair(env, t, &e) && enif_is_atom(env, e[0]);
    case SHAPE_PID: return enif_is_pid(env, t);
    case SHAPE_END: return is_end(env, t);
    case SHAPE_ACTOR: return is_actor(env, t);
    case SHAPE_NAME: return enif_is_atom(env, t);
    case SHAPE_WORDS: return is_words(env, t, true);
    case SHAPE_SIZES: return is_words(env, t, false);
    case SHAPE_TOLD: return is_told(env, t);
    case SHAPE_WORK: return enif_is_atom(env, t) || is_zero(env, t);
    case SHAPE_SEQ: return is_seq(env, t);
    case SHAPE_ANY: return true;
    default: return false;
    }
}

bool shapes_known(ErlNifEnv *env, const ERL_NIF_TERM argv[], bool *port)
{
    bool local;
    const enum tracee tracee = tracee_of(env, argv, &local);
    *port = tracee == OF_PORT;
    const struct row *r = row_of(argv[0], tracee);
    ERL_NIF_TERM extra;
    if (!r || !local)
        return false;
    if (r->msg != SHAPE_ANY && !is(env, (enum term_shape)r->msg, argv[3]))
        return false;
    if (r->extra == SHAPE_NONE)
        return true;
    return enif_get_map_value(env, argv[4], agent.atom.extra, &extra) &&
           is(env, (enum term_shape)r->extra, extra);
}

/* -- what is lost ------------------------------------------------------------------------------ */

/* Threads write the word only when it changes. */
static void note(uint64_t bit)
{
    if ((atomic_load_explicit(&unknown, memory_order_relaxed) & bit) == 0)
        atomic_fetch_or_explicit(&unknown, bit, memory_order_relaxed);
}

void shapes_lost(const struct snapshot *s, struct engine_thread *t, ErlNifEnv *env,
                 const ERL_NIF_TERM argv[])
{
    bool local;
    const struct row *r = row_of(argv[0], tracee_of(env, argv, &local));
    const uint64_t bit = UINT64_C(1) << (r ? r->number : OTHER);
    for (uint32_t i = 0; s && i < s->nprograms; i++)
        if (!r || (s->load[i]->needs & r->needs) != 0)
            engine_drop(s->program[i]->engine, t, RECORD_DROP_SHAPE);
    note(bit);
}

void shapes_lost_call(const struct bounds *b, const struct engine_thread *t)
{
    for (uint32_t i = 0; i < b->n; i++)
        engine_drop(b->v[i].engine, t, RECORD_DROP_SHAPE);
    note(UINT64_C(1) << OTHER);
}

ERL_NIF_TERM shapes_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    ERL_NIF_TERM all = enif_make_list(env, 0), tag;
    uint64_t bits = atomic_exchange_explicit(&unknown, 0, memory_order_relaxed);
    for (unsigned i = 0; i < ROWS; i++) {
        memcpy(&tag, (const char *)&agent.atom + list[i].atom, sizeof tag);
        if ((bits >> i & 1) != 0)
            all = enif_make_list_cell(env, tag, all);
    }
    return (bits >> OTHER & 1) != 0 ? enif_make_list_cell(env, agent.atom.other, all) : all;
}
