/* type.c - the table of types and the arithmetic rules between them (language.md 3.1, 3.2). */
#include "lang/type.h"

#include <string.h>

/* clang-format off */
#define TYPE(KIND, NAME, SIZE, SIGNED)                                                             \
    {.kind = TYPE_##KIND, .name = (NAME), .size = (SIZE), .is_signed = (SIGNED)}

#define LLONG(NAME, SIGNED)                                                                        \
    {.kind = TYPE_INT, .name = (NAME), .size = 8, .is_signed = (SIGNED), .is_llong = true}
#define PLACE(ID, KIND, NAME, SIZE)                                                                \
    {.kind = TYPE_##KIND, .name = (NAME), .size = (SIZE), .place = T_##ID}

/* The target of a term's handle, as D sees it: it has no members. */
static struct type_sou term_sou;
static const struct type term = {.kind = TYPE_STRUCT, .name = "struct term", .sou = &term_sou};

const struct type type_c[T_COUNT] = {
    [T_CHAR]    = TYPE(INT, "char", 1, true),
    [T_SCHAR]   = TYPE(INT, "signed char", 1, true),
    [T_UCHAR]   = TYPE(INT, "unsigned char", 1, false),
    [T_SHORT]   = TYPE(INT, "short", 2, true),
    [T_USHORT]  = TYPE(INT, "unsigned short", 2, false),
    [T_INT]     = TYPE(INT, "int", 4, true),
    [T_UINT]    = TYPE(INT, "unsigned int", 4, false),
    [T_LONG]    = TYPE(INT, "long", 8, true),
    [T_ULONG]   = TYPE(INT, "unsigned long", 8, false),
    [T_LLONG]   = LLONG("long long", true),
    [T_ULLONG]  = LLONG("unsigned long long", false),
    [T_BOOL]    = TYPE(INT, "_Bool", 1, false),
    [T_FLOAT]   = TYPE(FLOAT, "float", 4, true),
    [T_DOUBLE]  = TYPE(FLOAT, "double", 8, true),
    [T_LDOUBLE] = TYPE(FLOAT, "long double", 16, true),
    [T_VOID]    = TYPE(VOID, "void", 0, false),
    [T_STRING]  = TYPE(STRING, "string", 0, false),
    [T_DYN]     = TYPE(DYN, "<dynamic>", 0, false),
    [T_TERM]    = {.kind = TYPE_PTR, .name = "term_t", .size = 8, .of = &term},
    [T_ERROR]   = TYPE(ERROR, "<error>", 0, false),
    [T_STACK]   = PLACE(STACK, STACK, "stack", 8),
    [T_USTACK]  = PLACE(USTACK, USTACK, "stack", 8),
    [T_JSTACK]  = PLACE(JSTACK, USTACK, "stack", 8),
    [T_SYM]     = PLACE(SYM, SYMADDR, "_symaddr", 8),
    [T_FUNC]    = PLACE(FUNC, SYMADDR, "_symaddr", 8),
    [T_MOD]     = PLACE(MOD, SYMADDR, "_symaddr", 8),
    [T_USYM]    = PLACE(USYM, USYMADDR, "_usymaddr", 16),
    [T_UFUNC]   = PLACE(UFUNC, USYMADDR, "_usymaddr", 16),
    [T_UMOD]    = PLACE(UMOD, USYMADDR, "_usymaddr", 16),
    [T_UADDR]   = PLACE(UADDR, USYMADDR, "_usymaddr", 16),
};

static const struct type typedefs[] = {
    TYPE(INT, "int8_t", 1, true),     TYPE(INT, "int16_t", 2, true),
    TYPE(INT, "int32_t", 4, true),    TYPE(INT, "int64_t", 8, true),
    TYPE(INT, "uint8_t", 1, false),   TYPE(INT, "uint16_t", 2, false),
    TYPE(INT, "uint32_t", 4, false),  TYPE(INT, "uint64_t", 8, false),
    TYPE(INT, "intptr_t", 8, true),   TYPE(INT, "uintptr_t", 8, false),
    TYPE(INT, "ssize_t", 8, true),    TYPE(INT, "size_t", 8, false),
    TYPE(INT, "ptrdiff_t", 8, true),  TYPE(INT, "uchar_t", 1, false),
    TYPE(INT, "ushort_t", 2, false),  TYPE(INT, "uint_t", 4, false),
    TYPE(INT, "ulong_t", 8, false),   LLONG("u_longlong_t", false),
    LLONG("longlong_t", true),        TYPE(INT, "id_t", 4, true),
    TYPE(INT, "pid_t", 4, true),      TYPE(INT, "uid_t", 4, false),
    TYPE(INT, "gid_t", 4, false),     TYPE(INT, "zoneid_t", 4, true),
    TYPE(INT, "taskid_t", 4, true),   TYPE(INT, "processorid_t", 4, true),
    TYPE(INT, "_Bool", 1, false),
};
/* clang-format on */

const struct type *type_typedef(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof typedefs / sizeof typedefs[0]; i++) {
        const char *t = typedefs[i].name; /* most names differ in the first letter */
        if (len > 0 && t[0] == name[0] && strlen(t) == len && memcmp(t, name, len) == 0)
            return &typedefs[i];
    }
    return len == strlen("term_t") && memcmp(name, "term_t", len) == 0 ? &type_c[T_TERM] : NULL;
}

/* What the program declared, and what it is in the system where it runs, are one. */
static bool same_sou(const struct type_sou *a, const struct type_sou *b)
{
    return a == b || (a && b && a->foreign != 0 && a->foreign == b->foreign);
}

bool type_same(const struct type *a, const struct type *b)
{
    for (; a->kind == b->kind && type_refers(a) && a->count == b->count; a = a->of, b = b->of)
        ;
    if (a->kind == TYPE_STRING)
        return b->kind == TYPE_STRING;
    return a->kind == b->kind && a->size == b->size && a->is_signed == b->is_signed &&
           a->count == b->count && same_sou(a->sou, b->sou) && a->enums == b->enums;
}

unsigned type_rank(const struct type *t)
{
    return t->size * 8u + (t->is_signed ? 0u : 1u);
}

const struct type *type_arith(const struct type *a, const struct type *b)
{
    return type_rank(b) > type_rank(a) ? b : a;
}

uint64_t type_truncate(const struct type *t, uint64_t v)
{
    if (t->kind != TYPE_INT || t->size >= 8)
        return v;
    unsigned bits = t->size * 8u;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    v &= mask;
    if (t->is_signed && (v >> (bits - 1)) != 0)
        v |= ~mask;
    return v;
}

const struct type *type_of_constant(uint64_t v, bool is_decimal, bool is_unsigned, unsigned longs)
{
    /* The C order; `long` and `long long` have the same width here, so only a suffix selects the
     * second. */
    static const enum type_id order[] = {T_INT, T_UINT, T_LONG, T_ULONG, T_LLONG, T_ULLONG};
    for (size_t i = longs * 2u; i < sizeof order / sizeof order[0]; i++) {
        const struct type *t = &type_c[order[i]];
        if (is_unsigned && t->is_signed)
            continue;
        if (!is_unsigned && is_decimal && !t->is_signed)
            continue;
        if (v <= UINT64_MAX >> (64 - t->size * 8u + (t->is_signed ? 1u : 0u)))
            return t;
    }
    return NULL;
}
