/* term_read.c - see term_read.h. */
#include "beam/probe/term_read.h"

#include <string.h>

#include "base/size.h"
#include "beam/probe/frozen.h"
#include "beam/probe/term.h"

static const uint64_t *words(ERL_NIF_TERM t)
{
    return (const uint64_t *)(uintptr_t)(t & ~(ERL_NIF_TERM)FROZEN_CELL);
}

static bool is_cell(ERL_NIF_TERM t)
{
    return read_is_frozen(t) && (t & FROZEN_CELL) != 0;
}

/* Returns the object if it is of that kind, NULL if not. */
static const uint64_t *object(ERL_NIF_TERM t, enum frozen_kind kind)
{
    if (!read_is_frozen(t) || is_cell(t) || t == 0) /* 0: the emulator's word for no term */
        return NULL;
    const uint64_t *o = words(t);
    return (o[0] & ((1u << FROZEN_KIND_BITS) - 1)) == kind ? o : NULL;
}

/* -- kinds ------------------------------------------------------------------------------------- */

/* Tags of words, the same on all releases that words/terms.list has. */
enum {
    TAG_LIST = 1,
    TAG_BOXED = 2,
    TAG_WORD = 3,
    TAG_BITS = 7, /* of an address: of these the third one marks literals in some builds */
    WORD_PID = 3,
    WORD_PORT = 7,
    WORD_SMALL = 15,
    WORD_BITS = 15,
    WORD_ATOM = 11,
    WORD_NIL = 59,
    WORD_MORE_BITS = 63,
    SMALL_SHIFT = 4,
    HEADER_TAGS = 16,
    HEADER_SHIFT = 2,
    ARITY_SHIFT = 6,
    FIELDS_MOST = 1 << 24 /* of a record: the VM's limit for tuples */
};

/* Forms of bitstrings: READ_HEAP and READ_BITS since OTP 27, READ_BYTES and READ_PART before. Two
 * may begin within a byte; the emulator copies these whole for who asks for their bytes. */
enum { READ_BYTES = READ_UNKNOWN + 1, READ_HEAP, READ_BITS, READ_PART };
enum { SIZE = 1 /* of all but READ_BITS */, BITS_START, BITS_END, PART_FLAGS = 3 };
enum { BYTE = 8, BYTE_MASK = 255, COPIED_MOST = 1 << 16 };

/* The words of a record and of its definition (erl_record.h), which has the header of a tuple. */
enum { RECORD_DEFINITION = 1, RECORD_VALUES };
enum {
    DEFINITION_ORDER = 1,
    DEFINITION_MODULE = 3,
    DEFINITION_NAME,
    DEFINITION_EXPORTED,
    DEFINITION_KEYS
};
_Static_assert(RECORD_VALUES + DEFINITION_KEYS == READ_RECORD_HEADS, "what sizes are made of");

/* Nodes of large maps (erl_map.h): what follows the tag in their headers. Those at the root have
 * the number of pairs behind the header. Keys whose hashes are the same lie in a tuple. */
enum { NODE_MASK = 3, NODE_FLAT = 0, NODE_INNER, NODE_ROOT_FULL, NODE_ROOT };
enum {
    NODE_BITS_SHIFT = 16,
    NODE_BITS_MASK = 0xffff,
    NODE_FULL = 16,
    NODE_DEEPEST = 32,
    NODE_SAME_MOST = 1 << 16
};
enum { INTEGER_MOST = 1 << 20 /* words: more than the VM allows */ };

/* The kinds of this release by the tags of headers; `known`: they can be relied on; `nodes`: so can
 * what is known of large maps. */
static struct {
    bool known, nodes;
    uint8_t type[HEADER_TAGS];
} kinds;

static const uint64_t *boxed(ERL_NIF_TERM t)
{
    return (const uint64_t *)(uintptr_t)(t & ~(ERL_NIF_TERM)TAG_BITS);
}

static bool is_boxed(ERL_NIF_TERM t)
{
    return (t & 3) == TAG_BOXED;
}

static unsigned tag_of(uint64_t header)
{
    return header >> HEADER_SHIFT & (HEADER_TAGS - 1);
}

static bool is_atom(ERL_NIF_TERM t)
{
    return (t & WORD_MORE_BITS) == WORD_ATOM;
}

/* Returns the words of a tuple of n elements, NULL: it is none. */
static const uint64_t *tuple_of(ERL_NIF_TERM t, size_t n)
{
    return is_boxed(t) && boxed(t)[0] == (uint64_t)n << ARITY_SHIFT ? boxed(t) : NULL;
}

/* Reads a boxed term whose header is that of a record. */
static bool record_of(ERL_NIF_TERM t, struct read_record *r)
{
    const uint64_t *w = boxed(t), arity = w[0] >> ARITY_SHIFT;
    if (arity < 1 || arity > FIELDS_MOST)
        return false;
    const size_t n = arity - 1;
    const uint64_t *d = tuple_of(w[RECORD_DEFINITION], n + DEFINITION_KEYS - 1);
    const uint64_t *order = d ? tuple_of(d[DEFINITION_ORDER], n) : NULL;
    if (!order || !is_atom(d[DEFINITION_MODULE]) || !is_atom(d[DEFINITION_NAME]) ||
        !is_atom(d[DEFINITION_EXPORTED]))
        return false;
    *r = (struct read_record){.module = d[DEFINITION_MODULE],
                              .name = d[DEFINITION_NAME],
                              .exported = d[DEFINITION_EXPORTED],
                              .n = n,
                              .key = d + DEFINITION_KEYS,
                              .value = w + RECORD_VALUES,
                              .order = order + 1};
    return true;
}

static int type_of_word(ERL_NIF_TERM t)
{
    switch (t & WORD_BITS) {
    case WORD_PID: return ERL_NIF_TERM_TYPE_PID;
    case WORD_PORT: return ERL_NIF_TERM_TYPE_PORT;
    case WORD_SMALL: return ERL_NIF_TERM_TYPE_INTEGER;
    default:
        return is_atom(t)                         ? ERL_NIF_TERM_TYPE_ATOM
               : (t & WORD_MORE_BITS) == WORD_NIL ? ERL_NIF_TERM_TYPE_LIST
                                                  : READ_UNKNOWN;
    }
}

static int type_of_boxed(ERL_NIF_TERM t)
{
    struct read_record r;
    const uint64_t header = boxed(t)[0];
    const int type = (header & 3) == 0 ? kinds.type[tag_of(header)] : READ_UNKNOWN;
    if (type >= READ_BYTES)
        return ERL_NIF_TERM_TYPE_BITSTRING;
    return type == READ_RECORD && !record_of(t, &r) ? READ_UNKNOWN : type;
}

/* The same by what the emulator says: each of these looks at the word or at the header alone. */
static int type_by_tests(ErlNifEnv *env, ERL_NIF_TERM t)
{
    double d;
    return enif_is_atom(env, t)          ? ERL_NIF_TERM_TYPE_ATOM
           : enif_is_list(env, t)        ? ERL_NIF_TERM_TYPE_LIST
           : enif_is_tuple(env, t)       ? ERL_NIF_TERM_TYPE_TUPLE
           : enif_is_map(env, t)         ? ERL_NIF_TERM_TYPE_MAP
           : enif_is_binary(env, t)      ? ERL_NIF_TERM_TYPE_BITSTRING
           : enif_is_pid(env, t)         ? ERL_NIF_TERM_TYPE_PID
           : enif_is_port(env, t)        ? ERL_NIF_TERM_TYPE_PORT
           : enif_is_ref(env, t)         ? ERL_NIF_TERM_TYPE_REFERENCE
           : enif_is_fun(env, t)         ? ERL_NIF_TERM_TYPE_FUN
           : !enif_is_number(env, t)     ? READ_UNKNOWN
           : enif_get_double(env, t, &d) ? ERL_NIF_TERM_TYPE_FLOAT
                                         : ERL_NIF_TERM_TYPE_INTEGER;
}

/* The bits of a bitstring, from its own words; false: it is none. */
struct bits {
    uint64_t n;
    bool shifted; /* they begin within a byte */
};
static bool bits_of(ERL_NIF_TERM t, struct bits *b)
{
    if (!kinds.known || !is_boxed(t))
        return false;
    const uint64_t *w = boxed(t);
    switch ((w[0] & 3) == 0 ? kinds.type[tag_of(w[0])] : READ_UNKNOWN) {
    case READ_BYTES: *b = (struct bits){w[SIZE] * BYTE, false}; return true;
    case READ_HEAP: *b = (struct bits){w[SIZE], false}; return true;
    case READ_BITS:
        *b = (struct bits){w[BITS_END] - w[BITS_START], w[BITS_START] % BYTE != 0};
        return true;
    case READ_PART:
        *b = (struct bits){w[SIZE] * BYTE + (w[PART_FLAGS] & BYTE_MASK),
                           (w[PART_FLAGS] >> BYTE & BYTE_MASK) != 0};
        return true;
    default: return false;
    }
}

/* Counts the pairs below a node of a map. Returns false unless the map has each of them, under its
 * key and with its value. */
static bool node_agrees(ErlNifEnv *env, ERL_NIF_TERM map, ERL_NIF_TERM t, unsigned depth,
                        size_t *pairs)
{
    struct read_node node;
    ERL_NIF_TERM key, value, has;
    if (depth > NODE_DEEPEST || !read_node(t, &node))
        return false;
    for (size_t i = 0; i < node.n; i++) {
        if (!enif_get_list_cell(env, node.child[i], &key, &value)) {
            if (!node_agrees(env, map, node.child[i], depth + 1, pairs))
                return false;
            continue;
        }
        if (!enif_get_map_value(env, map, key, &has) || has != value)
            return false;
        ++*pairs;
    }
    return true;
}

/* Returns whether large maps are made as read_node reads them: all pairs are found, in a
 * small tree and in one whose root is full. */
static bool nodes_agree(ErlNifEnv *env)
{
    enum { SMALL = 40, LARGE = 200, STEP = 7919 };
    for (size_t n = SMALL; n <= LARGE; n += LARGE - SMALL) {
        ERL_NIF_TERM map = enif_make_new_map(env);
        size_t pairs = 0, has;
        for (size_t i = 0; i < n; i++)
            if (!enif_make_map_put(env, map, enif_make_int64(env, (int64_t)i * STEP),
                                   enif_make_int64(env, (int64_t)i), &map))
                return false;
        if (!node_agrees(env, map, map, 0, &pairs) || pairs != n ||
            !enif_get_map_size(env, map, &has) || has != n)
            return false;
    }
    return true;
}

/* Returns whether the list has, for this release, the kinds that the emulator gives its terms. */
static bool agrees(ErlNifEnv *env)
{
    enum { SMALL_BINARY = 1, LARGE_BINARY = 100 };
    ERL_NIF_TERM small, large;
    unsigned char *bytes = enif_make_new_binary(env, SMALL_BINARY, &small);
    if (!bytes)
        return false;
    bytes[0] = 0;
    bytes = enif_make_new_binary(env, LARGE_BINARY, &large);
    if (!bytes)
        return false;
    memset(bytes, 0, LARGE_BINARY);
    const struct {
        int type;
        ERL_NIF_TERM t;
    } made[] = {
        {ERL_NIF_TERM_TYPE_ATOM, enif_make_atom(env, "true")},
        {ERL_NIF_TERM_TYPE_INTEGER, enif_make_int64(env, 1)},
        {ERL_NIF_TERM_TYPE_LIST, enif_make_list(env, 0)},
        {ERL_NIF_TERM_TYPE_LIST, enif_make_list_cell(env, small, large)},
        {ERL_NIF_TERM_TYPE_TUPLE, enif_make_tuple2(env, small, large)},
        {ERL_NIF_TERM_TYPE_INTEGER, enif_make_uint64(env, UINT64_MAX)},
        {ERL_NIF_TERM_TYPE_INTEGER, enif_make_int64(env, INT64_MIN)},
        {ERL_NIF_TERM_TYPE_FLOAT, enif_make_double(env, 1.5)},
        {ERL_NIF_TERM_TYPE_REFERENCE, enif_make_ref(env)},
        {ERL_NIF_TERM_TYPE_MAP, enif_make_new_map(env)},
        {ERL_NIF_TERM_TYPE_BITSTRING, small},
        {ERL_NIF_TERM_TYPE_BITSTRING, large},
        {ERL_NIF_TERM_TYPE_BITSTRING, enif_make_sub_binary(env, large, 1, LARGE_BINARY - 2)}};
    const ERL_NIF_TERM part = made[sizeof made / sizeof *made - 1].t;
    size_t n[3];
    if (!read_size(env, small, &n[0]) || !read_size(env, large, &n[1]) ||
        !read_size(env, part, &n[2]) || n[0] != SMALL_BINARY || n[1] != LARGE_BINARY ||
        n[2] != LARGE_BINARY - 2)
        return false;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (read_type(env, made[i].t) != made[i].type ||
            type_by_tests(env, made[i].t) != made[i].type)
            return false;
    return true;
}

bool read_init(ErlNifEnv *env, int otp)
{
    static const struct {
        uint8_t tag, first, last, type;
    } rows[] = {
#define ERL_NIF_TERM_TYPE_RECORD          READ_RECORD
#define ERL_NIF_TERM_TYPE_BYTES           READ_BYTES
#define ERL_NIF_TERM_TYPE_HEAP            READ_HEAP
#define ERL_NIF_TERM_TYPE_BITS            READ_BITS
#define ERL_NIF_TERM_TYPE_PART            READ_PART
#define WORD_TERM(tag, first, last, type) {tag, first, last, ERL_NIF_TERM_TYPE_##type},
#include "words/terms.list"
#undef WORD_TERM
#undef ERL_NIF_TERM_TYPE_RECORD
#undef ERL_NIF_TERM_TYPE_BYTES
#undef ERL_NIF_TERM_TYPE_HEAP
#undef ERL_NIF_TERM_TYPE_BITS
#undef ERL_NIF_TERM_TYPE_PART
    };
    kinds.known = false;
    memset(kinds.type, READ_UNKNOWN, sizeof kinds.type);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (otp >= rows[i].first && otp <= rows[i].last) {
            kinds.type[rows[i].tag] = rows[i].type;
            kinds.known = true;
        }
    kinds.known = kinds.known && agrees(env);
    kinds.nodes = kinds.known; /* so that the nodes can be read */
    kinds.nodes = kinds.nodes && nodes_agree(env);
    return kinds.known;
}

bool read_is_local_pid(ERL_NIF_TERM t)
{
    return (t & WORD_BITS) == WORD_PID && kinds.known;
}

bool read_mfa(ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f, unsigned *arity)
{
    enum { M = 1, F, ARITY, ELEMENTS = ARITY };
    const uint64_t *w = kinds.known ? tuple_of(t, ELEMENTS) : NULL;
    if (!w || !is_atom(w[M]) || !is_atom(w[F]) || (w[ARITY] & WORD_BITS) != WORD_SMALL ||
        w[ARITY] >> SMALL_SHIFT > READ_ARITY_MOST)
        return false;
    *m = w[M];
    *f = w[F];
    *arity = (unsigned)(w[ARITY] >> SMALL_SHIFT);
    return true;
}

bool read_call(ERL_NIF_TERM t, ERL_NIF_TERM *m, ERL_NIF_TERM *f, unsigned *arity,
               ERL_NIF_TERM *args)
{
    enum { M = 1, F, ARGS, ELEMENTS = ARGS, TAIL = 1 };
    const uint64_t *w = kinds.known ? tuple_of(t, ELEMENTS) : NULL;
    if (!w || !is_atom(w[M]) || !is_atom(w[F]))
        return false;
    unsigned n = 0;
    ERL_NIF_TERM list = w[ARGS];
    for (; (list & 3) == TAG_LIST; list = boxed(list)[TAIL])
        if (n++ == READ_ARITY_MOST)
            return false;
    if ((list & WORD_MORE_BITS) != WORD_NIL)
        return false;
    *m = w[M];
    *f = w[F];
    *arity = n;
    *args = w[ARGS];
    return true;
}

/* -- copies of the agent ----------------------------------------------------------------------- */

static size_t number(const uint64_t *o)
{
    return (size_t)(o[0] >> FROZEN_KIND_BITS);
}

bool read_is_cut(ERL_NIF_TERM t)
{
    return object(t, FROZEN_CUT) != NULL;
}

int read_type(ErlNifEnv *env, ERL_NIF_TERM t)
{
    if (!read_is_frozen(t)) {
        if (!kinds.known)
            return type_by_tests(env, t);
        return (t & 3) == TAG_LIST   ? (int)ERL_NIF_TERM_TYPE_LIST
               : (t & 3) == TAG_WORD ? type_of_word(t)
                                     : type_of_boxed(t);
    }
    if (is_cell(t))
        return ERL_NIF_TERM_TYPE_LIST;
    if (t == 0)
        return READ_UNKNOWN;
    const uint64_t *o = words(t);
    switch ((enum frozen_kind)(o[0] & ((1u << FROZEN_KIND_BITS) - 1))) {
    case FROZEN_TUPLE: return ERL_NIF_TERM_TYPE_TUPLE;
    case FROZEN_MAP:
    case FROZEN_LARGE_MAP: return ERL_NIF_TERM_TYPE_MAP;
    case FROZEN_INT: return ERL_NIF_TERM_TYPE_INTEGER;
    case FROZEN_FLOAT: return ERL_NIF_TERM_TYPE_FLOAT;
    case FROZEN_BINARY: return ERL_NIF_TERM_TYPE_BITSTRING;
    case FROZEN_PRINTED: return (int)(o[1] & (FROZEN_NEGATIVE - 1));
    case FROZEN_RECORD: return READ_RECORD;
    case FROZEN_UNKNOWN: return READ_UNKNOWN;
    case FROZEN_CUT: break;
    }
    return 0;
}

uint64_t read_header(ERL_NIF_TERM t)
{
    const uint64_t *o = object(t, FROZEN_UNKNOWN);
    return o ? o[1] : is_boxed(t) ? boxed(t)[0] : t;
}

bool read_is_list(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return read_is_frozen(t) ? is_cell(t) : enif_is_list(env, t);
}

bool read_is_map(ErlNifEnv *env, ERL_NIF_TERM t)
{
    return read_is_frozen(t) ? read_type(env, t) == ERL_NIF_TERM_TYPE_MAP : enif_is_map(env, t);
}

bool read_tuple(ErlNifEnv *env, ERL_NIF_TERM t, int *n, const ERL_NIF_TERM **e)
{
    if (!read_is_frozen(t))
        return enif_get_tuple(env, t, n, e);
    const uint64_t *o = object(t, FROZEN_TUPLE);
    if (!o)
        return false;
    *n = (int)number(o);
    *e = (const ERL_NIF_TERM *)(o + 1);
    return true;
}

bool read_cell(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *head, ERL_NIF_TERM *tail)
{
    if (!read_is_frozen(t))
        return enif_get_list_cell(env, t, head, tail);
    if (!is_cell(t))
        return false;
    *head = words(t)[0];
    *tail = words(t)[1];
    return true;
}

bool read_int64(ErlNifEnv *env, ERL_NIF_TERM t, int64_t *i)
{
    ErlNifSInt64 value;
    if (read_is_frozen(t)) {
        const uint64_t *o = object(t, FROZEN_INT);
        if (o)
            *i = (int64_t)o[1];
        return o != NULL;
    }
    if (!enif_get_int64(env, t, &value))
        return false;
    *i = value;
    return true;
}

/* Returns the object of an integer of more than 64 bits, NULL: it is none. */
static const uint64_t *large_integer(ERL_NIF_TERM t)
{
    const uint64_t *o = object(t, FROZEN_PRINTED);
    return o && (o[1] & (FROZEN_NEGATIVE - 1)) == ERL_NIF_TERM_TYPE_INTEGER ? o : NULL;
}

bool read_is_uint64(ErlNifEnv *env, ERL_NIF_TERM t)
{
    ErlNifUInt64 u;
    int64_t i;
    if (!read_is_frozen(t))
        return enif_get_uint64(env, t, &u);
    const uint64_t *o = large_integer(t);
    return o ? (o[1] & FROZEN_UINT64) != 0 : read_int64(env, t, &i) && i >= 0;
}

bool read_double(ErlNifEnv *env, ERL_NIF_TERM t, double *d)
{
    if (!read_is_frozen(t))
        return enif_get_double(env, t, d);
    const uint64_t *o = object(t, FROZEN_FLOAT);
    if (o)
        memcpy(d, &o[1], sizeof *d);
    return o != NULL;
}

bool read_is_negative(ErlNifEnv *env, ERL_NIF_TERM t)
{
    int64_t i;
    if (read_int64(env, t, &i))
        return i < 0;
    if (!read_is_frozen(t))
        return enif_compare(t, enif_make_int64(env, 0)) < 0;
    const uint64_t *o = large_integer(t);
    return o && (o[1] & FROZEN_NEGATIVE) != 0;
}

bool read_is_short(ERL_NIF_TERM t)
{
    if (!read_is_frozen(t))
        return term_is_short(t);
    const uint64_t *o = large_integer(t);
    return o && number(o) > 0;
}

bool read_binary(ErlNifEnv *env, ERL_NIF_TERM t, struct read_bytes *b)
{
    ErlNifBinary bin;
    if (read_is_frozen(t)) {
        const uint64_t *o = object(t, FROZEN_BINARY);
        if (o)
            *b = (struct read_bytes){(const unsigned char *)(o + 2), number(o), o[1]};
        return o != NULL;
    }
    if (!enif_is_binary(env, t))
        return false;
    struct bits bits;
    if (bits_of(t, &bits) && bits.shifted && bits.n / BYTE > COPIED_MOST) {
        *b = (struct read_bytes){(const unsigned char *)"", 0, bits.n / BYTE};
        return true;
    }
    if (!enif_inspect_binary(env, t, &bin))
        return false;
    *b = (struct read_bytes){bin.data, bin.size, bin.size};
    return true;
}

bool read_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *bytes)
{
    struct read_bytes b;
    struct bits bits;
    if (bits_of(t, &bits)) {
        *bytes = bits.n / BYTE;
        return bits.n % BYTE == 0;
    }
    if (kinds.known && !read_is_frozen(t))
        return false;
    if (!read_binary(env, t, &b))
        return false;
    *bytes = b.size;
    return true;
}

/* -- maps -------------------------------------------------------------------------------------- */

bool read_map_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *pairs)
{
    if (!read_is_frozen(t))
        return enif_get_map_size(env, t, pairs);
    const uint64_t *o = object(t, FROZEN_MAP);
    if (o)
        *pairs = number(o);
    else if ((o = object(t, FROZEN_LARGE_MAP)) != NULL)
        *pairs = o[1];
    return o != NULL;
}

bool read_map_value(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM *value)
{
    struct read_pairs p;
    ERL_NIF_TERM k;
    bool found = false;
    if (!read_is_frozen(t) && kinds.known)
        return enif_get_map_value(env, t, key, value);
    if (!read_pairs_begin(env, t, &p))
        return false;
    while (!found && read_pairs_next(&p, &k, value))
        found = k == key;
    read_pairs_end(&p);
    return found;
}

bool read_pairs_begin(ErlNifEnv *env, ERL_NIF_TERM t, struct read_pairs *p)
{
    size_t pairs;
    *p = (struct read_pairs){.env = env};
    if (!read_is_frozen(t))
        return enif_get_map_size(env, t, &pairs) && pairs <= READ_PAIRS &&
               enif_map_iterator_create(env, t, &p->it, ERL_NIF_MAP_ITERATOR_FIRST);
    const uint64_t *o = object(t, FROZEN_MAP);
    if (!o)
        return false;
    p->frozen = (const ERL_NIF_TERM *)(o + 1);
    p->left = number(o);
    return true;
}

bool read_pairs_next(struct read_pairs *p, ERL_NIF_TERM *key, ERL_NIF_TERM *value)
{
    if (!p->frozen) {
        if (!enif_map_iterator_get_pair(p->env, &p->it, key, value))
            return false;
        enif_map_iterator_next(p->env, &p->it);
        return true;
    }
    if (p->left == 0)
        return false;
    *key = p->frozen[0];
    *value = p->frozen[1];
    p->frozen += 2;
    p->left--;
    return true;
}

void read_pairs_end(struct read_pairs *p)
{
    if (!p->frozen)
        enif_map_iterator_destroy(p->env, &p->it);
}

bool read_node(ERL_NIF_TERM t, struct read_node *n)
{
    if (!kinds.nodes || read_is_frozen(t) || !is_boxed(t) || (boxed(t)[0] & 3) != 0)
        return false;
    const uint64_t *w = boxed(t), header = w[0];
    const int type = kinds.type[tag_of(header)];
    const unsigned kind = header >> ARITY_SHIFT & NODE_MASK;
    size_t before = 1, children = (size_t)(header >> ARITY_SHIFT);
    if (type == ERL_NIF_TERM_TYPE_MAP) {
        if (kind == NODE_FLAT)
            return false;
        before += kind != NODE_INNER;
        children = kind == NODE_ROOT_FULL
                       ? NODE_FULL
                       : (size_t)__builtin_popcountll(header >> NODE_BITS_SHIFT & NODE_BITS_MASK);
    } else if (type != ERL_NIF_TERM_TYPE_TUPLE || children > NODE_SAME_MOST) {
        return false;
    }
    *n = (struct read_node){w + before, children, before + children};
    return true;
}

size_t read_frozen_words(ERL_NIF_TERM t)
{
    const uint64_t *o = object(t, FROZEN_PRINTED);
    return o ? o[1] >> FROZEN_WORDS_SHIFT : 0;
}

size_t read_integer_words(ERL_NIF_TERM t)
{
    if (read_is_frozen(t))
        return read_type(NULL, t) == ERL_NIF_TERM_TYPE_INTEGER ? read_frozen_words(t) : 0;
    if (!kinds.known || !is_boxed(t) || (boxed(t)[0] & 3) != 0 ||
        kinds.type[tag_of(boxed(t)[0])] != ERL_NIF_TERM_TYPE_INTEGER)
        return 0;
    const uint64_t arity = boxed(t)[0] >> ARITY_SHIFT;
    return arity <= INTEGER_MOST ? (size_t)arity + 1 : 0;
}

/* -- funs -------------------------------------------------------------------------------------- */

/* How funs of this VM are made: the number of captured terms, and `more`, is in a byte of one of
 * the words before these, of which there are `heads`; 0: not known. Where there is more it is not
 * in external funs (fun m:f/a), which then are these words alone. `least`: the words of a local fun
 * beside the captured terms. Some of these words may lie behind the captured terms. */
static struct {
    unsigned heads, word, shift;
    size_t least;
    uint64_t more;
} funs;

enum { WORD_BITS_IN_ALL = 64 };

static const uint64_t *fun_of(ERL_NIF_TERM t)
{
    return !read_is_frozen(t) && kinds.known && is_boxed(t) && (boxed(t)[0] & 3) == 0 &&
                   kinds.type[tag_of(boxed(t)[0])] == ERL_NIF_TERM_TYPE_FUN
               ? boxed(t)
               : NULL;
}

bool read_fun(ERL_NIF_TERM t, struct read_fun *f)
{
    const uint64_t *w = funs.heads != 0 ? fun_of(t) : NULL;
    if (!w)
        return false;
    const uint64_t n = w[funs.word] >> funs.shift & BYTE_MASK;
    *f = n < funs.more ? (struct read_fun){.words = funs.heads}
                       : (struct read_fun){w + funs.heads, (size_t)(n - funs.more),
                                           funs.least + (size_t)(n - funs.more)};
    return true;
}

/* Returns whether a fun has these words from there on, in whatever order. */
static bool has_captured(ErlNifEnv *env, const uint64_t *from, ERL_NIF_TERM list, unsigned n)
{
    ERL_NIF_TERM word;
    while (enif_get_list_cell(env, list, &word, &list)) {
        unsigned i = 0;
        while (i < n && from[i] != word)
            i++;
        if (i == n)
            return false;
    }
    return true;
}

/* Returns whether all funs have what they have captured behind so many words. */
static bool heads_agree(ErlNifEnv *env, ERL_NIF_TERM of, unsigned heads)
{
    ERL_NIF_TERM one, fun, captured;
    unsigned n;
    while (enif_get_list_cell(env, of, &one, &of))
        if (!enif_get_list_cell(env, one, &fun, &captured) || fun_of(fun) == NULL ||
            !enif_get_list_length(env, captured, &n) ||
            !has_captured(env, fun_of(fun) + heads, captured, n))
            return false;
    return true;
}

/* Returns whether all funs have the number there, and so much more. */
static bool number_is_at(ErlNifEnv *env, ERL_NIF_TERM of, unsigned word, unsigned shift,
                         uint64_t more)
{
    ERL_NIF_TERM one, fun, captured;
    unsigned n;
    while (enif_get_list_cell(env, of, &one, &of))
        if (!enif_get_list_cell(env, one, &fun, &captured) ||
            !enif_get_list_length(env, captured, &n) ||
            (fun_of(fun)[word] >> shift & BYTE_MASK) != n + more)
            return false;
    return true;
}

bool read_learn_funs(ErlNifEnv *env, ERL_NIF_TERM of, size_t least)
{
    unsigned heads = 1, found = 0;
    funs.heads = 0;
    while (heads <= least && !heads_agree(env, of, heads))
        heads++;
    for (unsigned word = 0; heads <= least && word < heads; word++)
        for (unsigned shift = 0; shift < WORD_BITS_IN_ALL; shift += BYTE)
            for (uint64_t more = 0; more <= 1; more++)
                if (number_is_at(env, of, word, shift, more)) {
                    found++;
                    funs.word = word;
                    funs.shift = shift;
                    funs.more = more;
                }
    funs.least = least;
    funs.heads = found == 1 ? heads : 0;
    return found == 1;
}

/* -- records ----------------------------------------------------------------------------------- */

bool read_record(ERL_NIF_TERM t, struct read_record *r)
{
    if (!read_is_frozen(t))
        return kinds.known && is_boxed(t) && (boxed(t)[0] & 3) == 0 &&
               kinds.type[tag_of(boxed(t)[0])] == READ_RECORD && record_of(t, r);
    const uint64_t *o = object(t, FROZEN_RECORD);
    if (o)
        *r = (struct read_record){o[1], o[2], o[3], number(o), o + 4, o + 4 + number(o), NULL};
    return o != NULL;
}

bool read_field(const struct read_record *r, size_t i, ERL_NIF_TERM *key, ERL_NIF_TERM *value)
{
    size_t at = i;
    if (i >= r->n)
        return false;
    if (r->order) {
        at = (size_t)(r->order[i] >> SMALL_SHIFT);
        if ((r->order[i] & WORD_BITS) != WORD_SMALL || at >= r->n || !is_atom(r->key[at]))
            return false;
    }
    if (r->order && read_is_frozen(r->value[at]))
        return false;
    *key = r->key[at];
    *value = r->value[at];
    return true;
}

bool read_field_value(const struct read_record *r, ERL_NIF_TERM key, size_t most,
                      ERL_NIF_TERM *value)
{
    const size_t n = size_min(r->n, most);
    for (size_t i = 0; i < n; i++)
        if (r->key[i] == key) {
            *value = r->value[i];
            return !r->order || !read_is_frozen(*value);
        }
    return false;
}

/* -- what only the emulator can print ---------------------------------------------------------- */

size_t read_printed(ERL_NIF_TERM t, char *out, size_t cap)
{
    if (cap == 0)
        return 0;
    if (!read_is_frozen(t)) {
        const int n = enif_snprintf(out, cap, "%T", t);
        return n < 0 ? 0 : size_min((size_t)n, cap - 1);
    }
    const uint64_t *o = object(t, FROZEN_PRINTED);
    const size_t n = o ? size_min(number(o), cap - 1) : 0;
    if (n > 0)
        memcpy(out, o + 3, n);
    out[n] = '\0';
    return n;
}

bool read_same(ErlNifEnv *env, ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    char p[FROZEN_TEXT + 1], q[FROZEN_TEXT + 1];
    if (!read_is_frozen(a) && !read_is_frozen(b))
        return enif_is_identical(a, b);
    double d, e;
    if (read_double(env, a, &d) && read_double(env, b, &e))
        return memcmp(&d, &e, sizeof d) == 0;
    const size_t n = read_printed(a, p, sizeof p);
    return n > 0 && n == read_printed(b, q, sizeof q) && memcmp(p, q, n) == 0;
}

uint64_t read_hash(ERL_NIF_TERM t)
{
    if (!read_is_frozen(t))
        return enif_hash(ERL_NIF_PHASH2, t, 0);
    const uint64_t *o = object(t, FROZEN_PRINTED);
    return o ? o[2] : 0;
}
