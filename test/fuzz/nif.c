/* nif.c - see nif.h. A term is the address of a record, with the emulator's tag in its lowest bits:
 * 01 for lists, 10 for what has a header there, which is the record's first word; for what is all
 * in its word there (atoms, [], small integers, processes and ports of this node) a tag of 4 or 6
 * bits, as there. Atoms, processes and ports of this node are equal when their words are, and last
 * for ever, as there. */
#include "nif.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONS = 1, BOXED = 2, TAGS = 15 };
/* Words: those of 6 bits have the address 2 bits higher. */
enum { PID = 3, PORT = 7, SMALL = 15, ATOM = 0x0b, NIL = 0x3b, NOBODYS = 0x2b, MORE_TAGS = 63 };
enum { LOCALS = 256 /* processes, and ports, of this node */ };
enum { COPIED_MOST = 1 << 16 };
enum { RECORD_FIELDS = 4, RECORD_FREE = 7 /* its tag was no term's before OTP 29 */ };
enum { ATOM_BYTES = 255 * 4, ATOMS_MOST = 4096, FLAT_MAP = 32, HEX = 16 };

/* Beside those of the emulator: a resource is a reference. Unknown: of a kind that nobody has
 * defined. */
enum { TYPE_RESOURCE = 100, TYPE_BADARG, TYPE_RECORD, TYPE_UNKNOWN };

enum { PAIRS_MOST = 64 };

struct nif_term {
    _Alignas(16) uint64_t header;
    ERL_NIF_TERM record[1 + RECORD_FIELDS]; /* of a native one: its definition, its values */
    struct nif_term *next;                  /* of those that nif_reset forgets */
    int type;                               /* ErlNifTermType, or one of the above */
    bool local;                             /* pid, port */
    bool bits;                              /* binary: a bit string */
    bool latin1;                            /* atom: `bytes` is, too */
    bool wide;                              /* integer: u; with `bits`: no word holds it */
    int64_t i;
    uint64_t u;
    double d;
    size_t n;             /* bytes, elements, pairs */
    unsigned char *bytes; /* atom: UTF-8 */
    ERL_NIF_TERM *e;      /* tuple: elements; list: head and tail, NULL: []; map: keys and values */
};

struct enif_environment_t {
    int unused;
};
static struct enif_environment_t env_of_all;
ErlNifEnv *const nif_env = &env_of_all;
int nif_otp = 25;
bool nif_callback;
int nif_thread = ERL_NIF_THR_UNDEFINED;
unsigned long nif_calls;
ERL_NIF_TERM nif_self;

static struct nif_term badarg = {.type = TYPE_BADARG};
static struct nif_term nil = {.type = ERL_NIF_TERM_TYPE_LIST};
static struct nif_term *made, *atoms[ATOMS_MOST];
static unsigned natoms;

static void nif_must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "the agent may not: %s\n", what);
    abort();
}

/* The tag in the header of what has one, and what is above it: a size, mostly. A release that the
 * agent does not know (30) has other tags for everything. */
static uint64_t header_of(const struct nif_term *t)
{
    enum { TUPLE, BIG = 2, REF = 4, FUN, FLOAT, BITS = 9, HEAP = 9, PART };
    enum { EXTERNAL_PID = 12, EXTERNAL_PORT };
    unsigned tag = 0;
    size_t arity = 1;
    switch (t->type) {
    case ERL_NIF_TERM_TYPE_TUPLE: tag = TUPLE, arity = t->n; break;
    case ERL_NIF_TERM_TYPE_INTEGER: tag = BIG + (t->i < 0 && !t->wide); break;
    case ERL_NIF_TERM_TYPE_REFERENCE:
    case TYPE_RESOURCE: tag = REF; break;
    case ERL_NIF_TERM_TYPE_FUN: tag = FUN; break;
    case ERL_NIF_TERM_TYPE_FLOAT: tag = FLOAT; break;
    case TYPE_RECORD: tag = RECORD_FREE, arity = t->n + 1; break;
    case ERL_NIF_TERM_TYPE_BITSTRING:
        tag = t->record[2] != 0 ? (nif_otp < 27 ? PART : BITS)
              : nif_otp < 27    ? HEAP - (t->n > 64)
                                : HEAP - 1;
        break; /* the words behind it: nif_binary, part_of */
    case ERL_NIF_TERM_TYPE_MAP: tag = nif_otp < 27 ? 15 : 11; break;
    case ERL_NIF_TERM_TYPE_PID: tag = EXTERNAL_PID; break;
    case ERL_NIF_TERM_TYPE_PORT: tag = EXTERNAL_PORT; break;
    default: tag = nif_otp < 29 ? RECORD_FREE : 1; break;
    }
    if (nif_otp >= 30)
        tag ^= 5;
    return (uint64_t)arity << 6 | tag << 2;
}

/* The word that a term is. */
static ERL_NIF_TERM word(struct nif_term *t)
{
    const int64_t small = INT64_C(1) << 59;
    const ERL_NIF_TERM at = (ERL_NIF_TERM)(uintptr_t)t;
    if (t->type == ERL_NIF_TERM_TYPE_ATOM || t == &badarg)
        return at << 2 | ATOM;
    if (t == &nil)
        return at << 2 | NIL;
    if (t->type == TYPE_UNKNOWN && t->local)
        return at << 2 | NOBODYS;
    if (t->local && (t->type == ERL_NIF_TERM_TYPE_PID || t->type == ERL_NIF_TERM_TYPE_PORT))
        return at | (t->type == ERL_NIF_TERM_TYPE_PID ? PID : PORT);
    if (t->type == ERL_NIF_TERM_TYPE_INTEGER && !t->wide && t->i >= -small && t->i < small)
        return at | SMALL;
    t->header = header_of(t);
    return at | (t->type == ERL_NIF_TERM_TYPE_LIST ? CONS : BOXED);
}

static void *memory(size_t n)
{
    void *p = calloc(n > 0 ? n : 1, 1);
    nif_must(p != NULL, "(memory is out)");
    return p;
}

/* -- resources ----------------------------------------------------------------------- */

enum { TYPES = 8 };
static struct enif_resource_type_t {
    const char *name; /* NULL: free */
    ErlNifResourceDtor *dtor;
} resource_type[TYPES];

struct resource {
    struct enif_resource_type_t *type;
    unsigned refs;
    _Alignas(16) unsigned char data[];
};

static struct resource *resource_of(void *obj)
{
    return (struct resource *)(void *)((unsigned char *)obj - offsetof(struct resource, data));
}

ErlNifResourceType *enif_open_resource_type_x(ErlNifEnv *env, const char *name,
                                              const ErlNifResourceTypeInit *init,
                                              ErlNifResourceFlags flags, ErlNifResourceFlags *tried)
{
    struct enif_resource_type_t *type = resource_type;
    (void)env, (void)flags, (void)tried;
    nif_must(init->dtor != NULL, "hold the library by a type without a destructor");
    while (type->name != NULL && strcmp(type->name, name) != 0)
        nif_must(++type < resource_type + TYPES, "open so many types");
    *type = (struct enif_resource_type_t){name, init->dtor};
    return type;
}

void *enif_alloc_resource(ErlNifResourceType *type, size_t size)
{
    nif_must(!nif_callback, "allocate in a callback");
    struct resource *r = memory(sizeof *r + size);
    *r = (struct resource){.type = type, .refs = 1};
    return r->data;
}

void enif_keep_resource(void *obj)
{
    resource_of(obj)->refs++;
}

void enif_release_resource(void *obj)
{
    struct resource *r = resource_of(obj);
    nif_must(r->refs > 0, "release a resource that nobody holds");
    if (--r->refs > 0)
        return;
    if (r->type->dtor != NULL)
        r->type->dtor(nif_env, obj);
    free(r);
}

/* -- making terms -------------------------------------------------------------------- */

static struct nif_term *make(int type)
{
    struct nif_term *t = memory(sizeof *t);
    t->type = type;
    t->next = made;
    made = t;
    return t;
}

void *nif_mark(void)
{
    return made;
}

void nif_forget(void *mark)
{
    for (struct nif_term *t = made, *next; t != mark; t = next) {
        next = t->next;
        if (t->type == TYPE_RESOURCE)
            enif_release_resource(t->bytes);
        else
            free(t->bytes);
        free(t->e);
        free(t);
    }
    made = mark;
}

void nif_reset(void)
{
    nif_forget(NULL);
}

/* Characters of UTF-8, or -1; *latin1: all are below 256. */
static long characters(const unsigned char *p, size_t n, bool *latin1)
{
    long count = 0;
    *latin1 = true;
    for (size_t i = 0; i < n; count++) {
        unsigned char c = p[i];
        size_t len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 0;
        len = c >= 0xf0 && c < 0xf5 ? 4 : len;
        if (len == 0 || len > n - i)
            return -1;
        for (size_t k = 1; k < len; k++)
            if ((p[i + k] & 0xc0) != 0x80)
                return -1;
        *latin1 = *latin1 && c < 0xc4;
        i += len;
    }
    return count;
}

static size_t utf8_of_latin1(unsigned char *to, const unsigned char *p, size_t n)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] >= 0x80)
            to[o++] = (unsigned char)(0xc0 | p[i] >> 6);
        to[o++] = p[i] < 0x80 ? p[i] : (unsigned char)(0x80 | (p[i] & 0x3f));
    }
    return o;
}

/* The atom, made when there is none. */
ERL_NIF_TERM nif_atom(const void *name, size_t n)
{
    unsigned char text[ATOM_BYTES];
    bool latin1;
    n = n < ATOM_BYTES ? n : ATOM_BYTES;
    long count = characters(name, n, &latin1);
    if (count < 0 || count > 255) {
        n = utf8_of_latin1(text, name, n < 255 ? n : 255);
        latin1 = true;
    } else if (n > 0) {
        memcpy(text, name, n);
    }
    for (unsigned i = 0; i < natoms; i++)
        if (atoms[i]->n == n && memcmp(atoms[i]->bytes, text, n) == 0)
            return word(atoms[i]);
    if (natoms == ATOMS_MOST)
        return word(atoms[n % ATOMS_MOST]);
    struct nif_term *t = memory(sizeof *t);
    *t = (struct nif_term){.type = ERL_NIF_TERM_TYPE_ATOM, .latin1 = latin1, .n = n};
    t->bytes = memory(n);
    memcpy(t->bytes, text, n);
    atoms[natoms++] = t;
    return word(t);
}

ERL_NIF_TERM nif_name(const char *text)
{
    return nif_atom(text, strlen(text));
}

unsigned nif_natoms(void)
{
    return natoms;
}

ERL_NIF_TERM nif_atom_at(unsigned i)
{
    return word(atoms[i]);
}

ERL_NIF_TERM nif_int(int64_t i)
{
    struct nif_term *t = make(ERL_NIF_TERM_TYPE_INTEGER);
    t->i = i;
    t->u = (uint64_t)i;
    return word(t);
}

ERL_NIF_TERM nif_uint(uint64_t u)
{
    struct nif_term *t = make(ERL_NIF_TERM_TYPE_INTEGER);
    t->i = (int64_t)u;
    t->u = u;
    t->wide = u > INT64_MAX;
    return word(t);
}

ERL_NIF_TERM nif_bignum(void)
{
    struct nif_term *t = make(ERL_NIF_TERM_TYPE_INTEGER);
    t->wide = t->bits = true;
    t->i = 2;
    return word(t);
}

ERL_NIF_TERM nif_float(double d)
{
    struct nif_term *t = make(ERL_NIF_TERM_TYPE_FLOAT);
    t->d = d;
    return word(t);
}

static ERL_NIF_TERM numbered(int type, uint32_t number, bool local)
{
    struct nif_term *t = make(type);
    t->u = number;
    t->local = local;
    return word(t);
}

/* One of this node. */
static ERL_NIF_TERM local_of(int type, uint32_t number)
{
    static struct nif_term locals[2][LOCALS];
    struct nif_term *t = &locals[type == ERL_NIF_TERM_TYPE_PORT][number % LOCALS];
    *t = (struct nif_term){.type = type, .local = true, .u = number % LOCALS};
    return word(t);
}

ERL_NIF_TERM nif_pid(uint32_t number, bool local)
{
    return local ? local_of(ERL_NIF_TERM_TYPE_PID, number)
                 : numbered(ERL_NIF_TERM_TYPE_PID, number, false);
}

ERL_NIF_TERM nif_port(uint32_t number, bool local)
{
    return local ? local_of(ERL_NIF_TERM_TYPE_PORT, number)
                 : numbered(ERL_NIF_TERM_TYPE_PORT, number, false);
}

ERL_NIF_TERM nif_ref(uint32_t number)
{
    return numbered(ERL_NIF_TERM_TYPE_REFERENCE, number, true);
}

ERL_NIF_TERM nif_fun(void)
{
    return numbered(ERL_NIF_TERM_TYPE_FUN, 0, true);
}

ERL_NIF_TERM nif_binary(const void *p, size_t n, bool bits)
{
    struct nif_term *t = make(ERL_NIF_TERM_TYPE_BITSTRING);
    t->bits = bits;
    t->n = n;
    t->bytes = memory(n);
    if (p != NULL && n > 0)
        memcpy(t->bytes, p, n);
    t->record[0] = nif_otp < 27 ? n : 8 * n + (bits ? 3 : 0);
    t->record[2] = nif_otp < 27 && bits ? 3 : 0;
    return word(t);
}

/* The words behind the header: a size in bytes, an offset, bits in the second byte of the last; or
 * an address, start and end in bits. */
static ERL_NIF_TERM part_of(ERL_NIF_TERM t, size_t n, unsigned shift)
{
    struct nif_term *p = (struct nif_term *)(uintptr_t)(t & ~(ERL_NIF_TERM)TAGS);
    const uint64_t start = 64 + shift;
    p->record[0] = nif_otp < 27 ? n : 0;
    p->record[1] = nif_otp < 27 ? 8 : start;
    p->record[2] = nif_otp < 27 ? (uint64_t)shift << 8 | (uint64_t)1 << 16 : start + 8 * n;
    return word(p);
}

ERL_NIF_TERM nif_shifted(size_t n)
{
    return part_of(nif_binary(NULL, n, false), n, 3);
}

ERL_NIF_TERM nif_nil(void)
{
    return word(&nil);
}

ERL_NIF_TERM nif_cons(ERL_NIF_TERM head, ERL_NIF_TERM tail)
{
    struct nif_term *t = make(ERL_NIF_TERM_TYPE_LIST);
    t->e = memory(2 * sizeof *t->e);
    t->e[0] = head;
    t->e[1] = tail;
    return word(t);
}

ERL_NIF_TERM nif_cells(ERL_NIF_TERM one, unsigned n, bool nested)
{
    struct cell {
        struct nif_term list;
        ERL_NIF_TERM e[2];
    };
    struct nif_term *owner = make(TYPE_BADARG);
    owner->bytes = memory(n * sizeof(struct cell));
    struct cell *cell = (struct cell *)(void *)owner->bytes;
    ERL_NIF_TERM t = word(&nil);
    for (unsigned i = 0; i < n; i++) {
        cell[i].e[0] = nested ? t : one;
        cell[i].e[1] = nested ? word(&nil) : t;
        cell[i].list = (struct nif_term){.type = ERL_NIF_TERM_TYPE_LIST, .e = cell[i].e};
        t = word(&cell[i].list);
    }
    return t;
}

static ERL_NIF_TERM terms(int type, const ERL_NIF_TERM *e, size_t n, size_t words)
{
    struct nif_term *t = make(type);
    t->n = n;
    t->e = memory(words * sizeof *t->e);
    if (words > 0)
        memcpy(t->e, e, words * sizeof *t->e);
    return word(t);
}

ERL_NIF_TERM nif_tuple(const ERL_NIF_TERM *e, unsigned n)
{
    return terms(ERL_NIF_TERM_TYPE_TUPLE, e, n, n);
}

ERL_NIF_TERM nif_map(const ERL_NIF_TERM *pairs, unsigned n)
{
    return terms(ERL_NIF_TERM_TYPE_MAP, pairs, n, 2 * (size_t)n);
}

ERL_NIF_TERM nif_unknown(uint32_t number, bool in_its_word)
{
    return numbered(TYPE_UNKNOWN, number, in_its_word);
}

/* The form of OTP 29; in a release without native records it is of an unknown kind. `odd`: it has
 * another form, in one of several places. */
ERL_NIF_TERM nif_record(ERL_NIF_TERM module, ERL_NIF_TERM name, const ERL_NIF_TERM *pairs,
                        unsigned n, unsigned odd)
{
    enum { HEADS = 6, ARITY = 6, LOW = 15 /* of small integers */ };
    n = n < RECORD_FIELDS ? n : RECORD_FIELDS;
    struct nif_term *t = make(TYPE_RECORD);
    /* In one piece: the definition, then the order of its fields, which is the other way round. */
    uint64_t *d = memory((HEADS + 2 * (size_t)n + 1) * sizeof *d), *order = d + HEADS + n;
    t->bytes = (unsigned char *)d;
    t->n = n;
    d[0] = (uint64_t)(n + HEADS - 1 + (odd == 1)) << ARITY;
    d[1] = odd == 2 ? name : (uint64_t)(uintptr_t)order | BOXED;
    d[2] = LOW;
    d[3] = odd == 3 ? word(&nil) : module;
    d[4] = odd == 4 ? d[1] : name;
    d[5] = odd == 5 ? LOW : nif_name("false");
    order[0] = (uint64_t)(n + (odd == 6)) << ARITY;
    t->record[0] = odd == 7 ? word(&nil) : (ERL_NIF_TERM)(uintptr_t)d | BOXED;
    for (unsigned i = 0; i < n; i++) {
        const unsigned at = n - 1 - i;
        order[1 + i] = (uint64_t)(odd == 8 ? n : at) << 4 | LOW;
        d[HEADS + at] = odd == 9 ? d[1] : pairs[2 * i];
        t->record[1 + at] = pairs[2 * i + 1];
    }
    return word(t);
}

static void heap(void)
{
    nif_must(!nif_callback, "make a term on a heap in a callback");
}

ERL_NIF_TERM enif_make_atom(ErlNifEnv *env, const char *name)
{
    (void)env;
    return nif_name(name);
}

int enif_make_existing_atom_len(ErlNifEnv *env, const char *name, size_t len, ERL_NIF_TERM *atom,
                                ErlNifCharEncoding encoding)
{
    unsigned char text[2 * 255];
    (void)env;
    nif_must(encoding == ERL_NIF_LATIN1 || nif_otp >= 26, "use an encoding that OTP 25 lacks");
    if (len > 255)
        return 0;
    size_t n = utf8_of_latin1(text, (const unsigned char *)name, len);
    for (unsigned i = 0; i < natoms; i++)
        if (atoms[i]->n == n && memcmp(atoms[i]->bytes, text, n) == 0) {
            *atom = word(atoms[i]);
            return 1;
        }
    return 0;
}

ERL_NIF_TERM enif_make_badarg(ErlNifEnv *env)
{
    (void)env;
    return word(&badarg);
}

/* Integers of less than 60 bits are words. */
ERL_NIF_TERM enif_make_int64(ErlNifEnv *env, ErlNifSInt64 i)
{
    (void)env;
    if (i < -(INT64_C(1) << 59) || i >= INT64_C(1) << 59)
        heap();
    return nif_int(i);
}

ERL_NIF_TERM enif_make_uint64(ErlNifEnv *env, ErlNifUInt64 u)
{
    (void)env;
    if (u >= UINT64_C(1) << 59)
        heap();
    return nif_uint(u);
}

ERL_NIF_TERM enif_make_uint(ErlNifEnv *env, unsigned u)
{
    (void)env;
    return nif_int(u);
}

ErlNifEnv *enif_alloc_env(void)
{
    nif_must(!nif_callback, "ask for an environment in a callback");
    return nif_env;
}

void enif_free_env(ErlNifEnv *env)
{
    (void)env;
}

/* An atom, or an integer of more than 64 bits, which lasts for ever. */
size_t enif_binary_to_term(ErlNifEnv *env, const unsigned char *p, size_t n, ERL_NIF_TERM *t,
                           unsigned int opts)
{
    enum { ATOM_UTF8_EXT = 118, SMALL_BIG_EXT = 110, HEADER = 4 };
    static struct nif_term large[2] = {
        {.type = ERL_NIF_TERM_TYPE_INTEGER, .wide = true, .bits = true, .i = 1},
        {.type = ERL_NIF_TERM_TYPE_INTEGER, .wide = true, .bits = true, .i = -1}};
    bool latin1;
    (void)env, (void)opts;
    nif_must(!nif_callback, "decode a term in a callback");
    if (n < HEADER)
        return 0;
    if (p[1] == SMALL_BIG_EXT) {
        *t = word(&large[p[3] != 0]);
        return n;
    }
    const size_t len = (size_t)p[2] << 8 | p[3];
    if (p[1] != ATOM_UTF8_EXT || len > n - HEADER || characters(p + HEADER, len, &latin1) < 0 ||
        characters(p + HEADER, len, &latin1) > 255)
        return 0;
    *t = nif_atom(p + HEADER, len);
    return HEADER + len;
}

unsigned char *enif_make_new_binary(ErlNifEnv *env, size_t size, ERL_NIF_TERM *t)
{
    (void)env;
    heap();
    *t = nif_binary(NULL, size, false);
    return made->bytes;
}

ERL_NIF_TERM enif_make_double(ErlNifEnv *env, double d)
{
    (void)env;
    heap();
    return nif_float(d);
}

ERL_NIF_TERM enif_make_ref(ErlNifEnv *env)
{
    (void)env;
    heap();
    return nif_ref(0);
}

ERL_NIF_TERM enif_make_new_map(ErlNifEnv *env)
{
    (void)env;
    heap();
    return nif_map(NULL, 0);
}

ERL_NIF_TERM enif_make_sub_binary(ErlNifEnv *env, ERL_NIF_TERM t, size_t at, size_t n)
{
    ErlNifBinary bin;
    heap();
    nif_must(enif_inspect_binary(env, t, &bin) && at <= bin.size && n <= bin.size - at,
             "make a part of what is no such binary");
    return part_of(nif_binary(bin.data + at, n, false), n, 0);
}

ERL_NIF_TERM enif_make_list_cell(ErlNifEnv *env, ERL_NIF_TERM head, ERL_NIF_TERM tail)
{
    (void)env;
    heap();
    return nif_cons(head, tail);
}

ERL_NIF_TERM enif_make_list(ErlNifEnv *env, unsigned n, ...)
{
    ERL_NIF_TERM e[16], list = nif_nil();
    va_list ap;
    (void)env;
    nif_must(n <= 16, "(more elements than this knows)");
    if (n > 0)
        heap();
    va_start(ap, n);
    for (unsigned i = 0; i < n; i++)
        e[i] = va_arg(ap, ERL_NIF_TERM);
    va_end(ap);
    while (n-- > 0)
        list = nif_cons(e[n], list);
    return list;
}

ERL_NIF_TERM enif_make_tuple_from_array(ErlNifEnv *env, const ERL_NIF_TERM e[], unsigned n)
{
    (void)env;
    heap();
    return nif_tuple(e, n);
}

ERL_NIF_TERM enif_make_tuple(ErlNifEnv *env, unsigned n, ...)
{
    ERL_NIF_TERM e[16];
    va_list ap;
    nif_must(n <= 16, "(more elements than this knows)");
    va_start(ap, n);
    for (unsigned i = 0; i < n; i++)
        e[i] = va_arg(ap, ERL_NIF_TERM);
    va_end(ap);
    return enif_make_tuple_from_array(env, e, n);
}

ERL_NIF_TERM enif_make_resource(ErlNifEnv *env, void *obj)
{
    (void)env;
    heap();
    enif_keep_resource(obj);
    struct nif_term *t = make(TYPE_RESOURCE);
    t->bytes = obj;
    return word(t);
}

/* -- looking at terms ---------------------------------------------------------------- */

static const struct nif_term *glance(ERL_NIF_TERM t)
{
    const bool more = (t & TAGS) == (ATOM & TAGS);
    nif_calls++;
    nif_must(t != 0, "look at a term that is none");
    nif_must((t & 3) != 0, "hand the emulator a word that is none of its own");
    return (const struct nif_term *)(uintptr_t)(more ? (t & ~(ERL_NIF_TERM)MORE_TAGS) >> 2
                                                     : t & ~(ERL_NIF_TERM)TAGS);
}

/* For what does more than to compare a kind. */
static const struct nif_term *look(ERL_NIF_TERM t)
{
    const struct nif_term *p = glance(t);
    nif_must(p->type != TYPE_UNKNOWN && p->type != TYPE_RECORD,
             "ask the emulator about a term of a kind that the interface does not have");
    return p;
}

static const struct nif_term *look_for(ERL_NIF_TERM t, int type)
{
    const struct nif_term *p = glance(t);
    return p->type == type ? p : NULL;
}

ErlNifTermType enif_term_type(ErlNifEnv *env, ERL_NIF_TERM t)
{
    (void)env;
    const int type = look(t)->type;
    return type == TYPE_RESOURCE ? ERL_NIF_TERM_TYPE_REFERENCE : (ErlNifTermType)type;
}

#define IS(name, type)                                                                             \
    int enif_is_##name(ErlNifEnv *env, ERL_NIF_TERM t)                                             \
    {                                                                                              \
        (void)env;                                                                                 \
        return look_for(t, ERL_NIF_TERM_TYPE_##type) != NULL;                                      \
    }
IS(atom, ATOM)
IS(list, LIST)
IS(map, MAP)
IS(pid, PID)
IS(port, PORT)
IS(tuple, TUPLE)

IS(fun, FUN)

int enif_is_ref(ErlNifEnv *env, ERL_NIF_TERM t)
{
    (void)env;
    return look_for(t, ERL_NIF_TERM_TYPE_REFERENCE) != NULL || look_for(t, TYPE_RESOURCE) != NULL;
}

int enif_is_number(ErlNifEnv *env, ERL_NIF_TERM t)
{
    (void)env;
    return look_for(t, ERL_NIF_TERM_TYPE_INTEGER) != NULL ||
           look_for(t, ERL_NIF_TERM_TYPE_FLOAT) != NULL;
}

int enif_is_binary(ErlNifEnv *env, ERL_NIF_TERM t)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_BITSTRING);
    (void)env;
    return p != NULL && !p->bits;
}

int enif_is_empty_list(ErlNifEnv *env, ERL_NIF_TERM t)
{
    (void)env;
    return glance(t) == &nil;
}

int enif_get_int64(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifSInt64 *i)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_INTEGER);
    (void)env;
    if (p == NULL || p->wide)
        return 0;
    *i = p->i;
    return 1;
}

int enif_get_uint64(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifUInt64 *u)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_INTEGER);
    (void)env;
    if (p == NULL || p->bits || (!p->wide && p->i < 0))
        return 0;
    *u = p->u;
    return 1;
}

int enif_get_uint(ErlNifEnv *env, ERL_NIF_TERM t, unsigned *u)
{
    ErlNifSInt64 i;
    if (!enif_get_int64(env, t, &i) || i < 0 || i > UINT32_MAX)
        return 0;
    *u = (unsigned)i;
    return 1;
}

int enif_get_int(ErlNifEnv *env, ERL_NIF_TERM t, int *to)
{
    ErlNifSInt64 i;
    if (!enif_get_int64(env, t, &i) || i < INT32_MIN || i > INT32_MAX)
        return 0;
    *to = (int)i;
    return 1;
}

int enif_get_double(ErlNifEnv *env, ERL_NIF_TERM t, double *d)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_FLOAT);
    (void)env;
    if (p == NULL)
        return 0;
    *d = p->d;
    return 1;
}

int enif_get_local_pid(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifPid *pid)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_PID);
    (void)env;
    if (p == NULL || !p->local)
        return 0;
    pid->pid = t;
    return 1;
}

int enif_get_local_port(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifPort *port)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_PORT);
    (void)env;
    if (p == NULL || !p->local)
        return 0;
    port->port_id = t;
    return 1;
}

int enif_get_list_cell(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM *head, ERL_NIF_TERM *tail)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_LIST);
    (void)env;
    if (p == NULL || p->e == NULL)
        return 0;
    *head = p->e[0];
    *tail = p->e[1];
    return 1;
}

int enif_get_list_length(ErlNifEnv *env, ERL_NIF_TERM t, unsigned *len)
{
    ERL_NIF_TERM head;
    unsigned n = 0;
    nif_must(!nif_callback, "ask for the length of a list in a callback");
    while (enif_get_list_cell(env, t, &head, &t))
        n++;
    *len = n;
    return enif_is_empty_list(env, t);
}

int enif_get_tuple(ErlNifEnv *env, ERL_NIF_TERM t, int *n, const ERL_NIF_TERM **e)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_TUPLE);
    (void)env;
    if (p == NULL)
        return 0;
    *n = (int)p->n;
    *e = p->e;
    return 1;
}

int enif_get_map_size(ErlNifEnv *env, ERL_NIF_TERM t, size_t *n)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_MAP);
    (void)env;
    if (p == NULL)
        return 0;
    *n = p->n;
    return 1;
}

/* Keys that are integers, binaries, or the same. */
static bool equal(ERL_NIF_TERM x, ERL_NIF_TERM y)
{
    const struct nif_term *a = glance(x), *b = glance(y);
    nif_must(nif_otp < 30 || (a->type != TYPE_UNKNOWN && b->type != TYPE_UNKNOWN),
             "have the emulator compare terms of a kind that is not known");
    if (a == b)
        return true;
    if (a->type != b->type || a->bits != b->bits || a->wide != b->wide)
        return false;
    if (a->type == ERL_NIF_TERM_TYPE_INTEGER)
        return !a->bits && a->u == b->u;
    return a->type == ERL_NIF_TERM_TYPE_BITSTRING && a->n == b->n &&
           memcmp(a->bytes, b->bytes, a->n) == 0;
}

int enif_get_map_value(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM *value)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_MAP);
    const unsigned long calls = nif_calls; /* this is one */
    (void)env;
    for (size_t i = 0; p != NULL && i < p->n; i++)
        if (equal(p->e[2 * i], key)) {
            *value = p->e[2 * i + 1];
            nif_calls = calls;
            return 1;
        }
    nif_calls = calls;
    return 0;
}

/* A new key; large maps of these are flat, too, which no agent takes for those of the VM. */
int enif_make_map_put(ErlNifEnv *env, ERL_NIF_TERM t, ERL_NIF_TERM key, ERL_NIF_TERM value,
                      ERL_NIF_TERM *out)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_MAP);
    ERL_NIF_TERM pairs[2 * PAIRS_MOST];
    (void)env;
    if (p == NULL || p->n >= PAIRS_MOST)
        return 0;
    memcpy(pairs, p->e, 2 * p->n * sizeof *pairs);
    pairs[2 * p->n] = key;
    pairs[2 * p->n + 1] = value;
    *out = nif_map(pairs, (unsigned)p->n + 1);
    return 1;
}

int enif_map_iterator_create(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifMapIterator *it,
                             ErlNifMapIteratorEntry entry)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_MAP);
    (void)env;
    (void)entry;
    if (p == NULL)
        return 0;
    nif_must(p->n <= FLAT_MAP, "iterate over a map that is no flat one");
    it->map = t;
    it->idx = 0;
    return 1;
}

int enif_map_iterator_get_pair(ErlNifEnv *env, ErlNifMapIterator *it, ERL_NIF_TERM *key,
                               ERL_NIF_TERM *value)
{
    const struct nif_term *p = look(it->map);
    (void)env;
    if (it->idx >= p->n)
        return 0;
    *key = p->e[2 * it->idx];
    *value = p->e[2 * it->idx + 1];
    return 1;
}

int enif_map_iterator_next(ErlNifEnv *env, ErlNifMapIterator *it)
{
    (void)env;
    return ++it->idx < look(it->map)->n;
}

void enif_map_iterator_destroy(ErlNifEnv *env, ErlNifMapIterator *it)
{
    (void)env;
    it->map = 0;
}

/* Begins within a byte. */
static bool shifted(const struct nif_term *p)
{
    return nif_otp < 27 ? (p->record[2] >> 8 & 255) != 0 : p->record[1] % 8 != 0;
}

int enif_inspect_binary(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifBinary *bin)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_BITSTRING);
    (void)env;
    if (p == NULL || p->bits)
        return 0;
    nif_must(!nif_callback || nif_otp >= 30 || p->n <= COPIED_MOST || !shifted(p),
             "have the emulator copy a binary that can be large");
    bin->size = p->n;
    bin->data = p->bytes;
    return 1;
}

int enif_get_resource(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifResourceType *type, void **obj)
{
    const struct nif_term *p = look_for(t, TYPE_RESOURCE);
    (void)env;
    if (p == NULL || resource_of(p->bytes)->type != type)
        return 0;
    *obj = p->bytes;
    return 1;
}

/* Returns the integer; of one that has more than 64 bits one that is larger than those that have,
 * and nearer to 0 when enif_binary_to_term has made it. */
static __int128 value_of(const struct nif_term *p)
{
    return p->bits ? (__int128)p->i * ((__int128)1 << 64) : p->wide ? (__int128)p->u : p->i;
}

int enif_compare(ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    const struct nif_term *p = look(a), *q = look(b);
    if (p->type == ERL_NIF_TERM_TYPE_INTEGER && q->type == ERL_NIF_TERM_TYPE_INTEGER)
        return value_of(p) < value_of(q) ? -1 : value_of(p) > value_of(q);
    return a < b ? -1 : a > b;
}

/* Whether what has a limited size is the same. */
int enif_is_identical(ERL_NIF_TERM a, ERL_NIF_TERM b)
{
    const struct nif_term *p = look(a), *q = look(b);
    nif_must(p->type != ERL_NIF_TERM_TYPE_LIST && p->type != ERL_NIF_TERM_TYPE_TUPLE &&
                 p->type != ERL_NIF_TERM_TYPE_MAP && p->type != ERL_NIF_TERM_TYPE_BITSTRING &&
                 p->type != ERL_NIF_TERM_TYPE_FUN,
             "have the emulator compare terms that can be large");
    if (p == q || p->type != q->type)
        return p == q;
    return p->type == ERL_NIF_TERM_TYPE_FLOAT ? p->d == q->d : p->u == q->u && p->local == q->local;
}

ErlNifUInt64 enif_hash(ErlNifHash type, ERL_NIF_TERM t, ErlNifUInt64 salt)
{
    const struct nif_term *p = look(t);
    (void)type;
    nif_must(p->e == NULL && p->bytes == NULL && p->type != ERL_NIF_TERM_TYPE_FUN,
             "have the emulator hash a term that can be large");
    return (p->u ^ salt) & UINT32_MAX;
}

/* -- texts --------------------------------------------------------------------------- */

int enif_get_atom(ErlNifEnv *env, ERL_NIF_TERM t, char *out, unsigned cap,
                  ErlNifCharEncoding encoding)
{
    const struct nif_term *p = look_for(t, ERL_NIF_TERM_TYPE_ATOM);
    size_t o = 0;
    (void)env;
    nif_must(encoding == ERL_NIF_LATIN1 || nif_otp >= 26, "use an encoding that OTP 25 lacks");
    if (p == NULL)
        return 0;
    if (encoding != ERL_NIF_LATIN1) {
        if (p->n >= cap)
            return 0;
        memcpy(out, p->bytes, p->n);
        out[p->n] = '\0';
        return (int)p->n + 1;
    }
    if (!p->latin1)
        return 0;
    for (size_t i = 0; i < p->n; i++, o++) {
        unsigned char c = p->bytes[i];
        if (o + 1 >= cap)
            return 0;
        if (c >= 0x80)
            c = (unsigned char)(c << 6 | (p->bytes[++i] & 0x3f));
        out[o] = (char)c;
    }
    if (o >= cap)
        return 0;
    out[o] = '\0';
    return (int)o + 1;
}

/* An atom in quotes, as the emulator writes it. */
static size_t quoted(const struct nif_term *p, char *to)
{
    size_t o = 0;
    to[o++] = '\'';
    for (size_t i = 0; i < p->n; i++) {
        unsigned char c = p->bytes[i];
        if (c == '\'' || c == '\\')
            o += (size_t)sprintf(to + o, "\\%c", c);
        else if (c == '\n')
            o += (size_t)sprintf(to + o, "\\n");
        else if (c < 0x20 || c == 0x7f)
            o += (size_t)sprintf(to + o, "\\%o", c);
        else
            to[o++] = (char)c;
    }
    to[o++] = '\'';
    to[o] = '\0';
    return o;
}

/* "%T" only; of pids, ports, references, atoms, funs, and of integers that need no memory: of
 * others it would walk the whole term. */
int enif_snprintf(char *out, size_t size, const char *format, ...)
{
    static char text[4 * ATOM_BYTES + 3];
    va_list ap;
    va_start(ap, format);
    const struct nif_term *p = look(va_arg(ap, ERL_NIF_TERM));
    va_end(ap);
    nif_must(strcmp(format, "%T") == 0, "(another format than this knows)");
    const unsigned n = (unsigned)p->u;
    switch (p->type) {
    case ERL_NIF_TERM_TYPE_ATOM: quoted(p, text); break;
    case ERL_NIF_TERM_TYPE_PID:
        sprintf(text, p->local ? "<0.%u.%u>" : "<8745.%u.%u>", n % 1000000, n / 1000000);
        break;
    case ERL_NIF_TERM_TYPE_PORT:
        sprintf(text, p->local ? "#Port<0.%u>" : "#Port<8745.%u>", n);
        break;
    case ERL_NIF_TERM_TYPE_REFERENCE:
    case TYPE_RESOURCE: sprintf(text, "#Ref<0.%u.%u.%u>", n, n ^ 0x5555, n / 3); break;
    case ERL_NIF_TERM_TYPE_FUN: sprintf(text, n % 2 ? "fun m:f/1" : "#Fun<m.%u.4711>", n); break;
    case ERL_NIF_TERM_TYPE_INTEGER:
        nif_must(!p->bits, "have the emulator print an integer that can be large");
        sprintf(text, "%llu", (unsigned long long)p->u);
        break;
    default: nif_must(0, "have the emulator print a term that can be large");
    }
    return snprintf(out, size, "%s", text);
}

/* A pid of this node, as the distribution sends it. */
int enif_term_to_binary(ErlNifEnv *env, ERL_NIF_TERM t, ErlNifBinary *bin)
{
    static const unsigned char pid[] = {131, 88, 119, 6, 'n', 'o', 'd', 'e', '@', 'h', 0,
                                        0,   0,  1,   0, 0,   0,   0,   0,   0,   0,   0};
    (void)env;
    look(t);
    *bin = (ErlNifBinary){.size = sizeof pid, .data = memory(sizeof pid)};
    memcpy(bin->data, pid, sizeof pid);
    return 1;
}

void enif_release_binary(ErlNifBinary *bin)
{
    free(bin->data);
}

/* -- processes ----------------------------------------------------------------------- */

ErlNifPid *enif_self(ErlNifEnv *env, ErlNifPid *pid)
{
    (void)env;
    pid->pid = nif_self;
    return nif_self != 0 ? pid : NULL;
}

int enif_is_process_alive(ErlNifEnv *env, ErlNifPid *pid)
{
    (void)env;
    return pid->pid == nif_self || look(pid->pid)->u % 2 == 0;
}

int enif_thread_type(void)
{
    return nif_thread;
}

int enif_is_port_alive(ErlNifEnv *env, ErlNifPort *port)
{
    (void)env;
    return look(port->port_id)->u % 2 == 0;
}

int enif_whereis_pid(ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPid *pid)
{
    (void)env;
    (void)name;
    (void)pid;
    return 0;
}

int enif_whereis_port(ErlNifEnv *env, ERL_NIF_TERM name, ErlNifPort *port)
{
    (void)env;
    (void)name;
    (void)port;
    return 0;
}

int enif_consume_timeslice(ErlNifEnv *env, int percent)
{
    (void)env;
    (void)percent;
    return 0;
}

/* -- calling the library -------------------------------------------------------------- */

ERL_NIF_TERM nif_call(const ErlNifEntry *library, const char *name, const ERL_NIF_TERM *arg)
{
    for (int i = 0; i < library->num_of_funcs; i++) {
        const ErlNifFunc *f = &library->funcs[i];
        if (strcmp(f->name, name) == 0)
            return f->fptr(nif_env, (int)f->arity, arg);
    }
    fprintf(stderr, "the library has no function %s\n", name);
    abort();
}
