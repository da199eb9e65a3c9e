/* type.h - the types of D and the rules between them (reference 3).
 *
 * A type is a constant object; two types are compared with type_same, never by address, since
 * typedef names are types of their own here (so that messages can say "uint64_t" where the program
 * did). Every value is evaluated in 64 bits; a type's size and sign matter when a value is stored,
 * recorded, cast or used as a key, and its rank decides the type of an operator's result. */
#ifndef ET_LANG_TYPE_H
#define ET_LANG_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_kind {
    TYPE_ERROR,  /* of an expression that was already complained about: fits everything, silently */
    TYPE_VOID,   /* what actions give */
    TYPE_INT,    /* integers of any size */
    TYPE_FLOAT,  /* parsed, nothing can be computed with it */
    TYPE_STRING, /* a NUL-terminated value of at most `strsize` characters */
    TYPE_DYN     /* no concrete type: an aggregation, an associative array without its index */
};

struct type {
    enum type_kind kind;
    const char *name; /* as a D programmer writes it */
    uint8_t size;     /* bytes; 0 for void and string (whose size is an option) */
    bool is_signed;   /* TYPE_INT only */
};

/* The C integer types; the numbers index type_c. */
enum type_id {
    T_CHAR,
    T_SCHAR,
    T_UCHAR,
    T_SHORT,
    T_USHORT,
    T_INT,
    T_UINT,
    T_LONG,
    T_ULONG,
    T_LLONG,
    T_ULLONG,
    T_BOOL,
    T_FLOAT,
    T_DOUBLE,
    T_LDOUBLE,
    T_VOID,
    T_STRING,
    T_DYN,
    T_ERROR,
    T_COUNT
};
extern const struct type type_c[T_COUNT];

/* A predefined typedef name ("uint64_t"), or NULL. */
const struct type *type_typedef(const char *name, size_t len);

static inline bool type_is_int(const struct type *t)
{
    return t->kind == TYPE_INT;
}
static inline bool type_is_string(const struct type *t)
{
    return t->kind == TYPE_STRING;
}
static inline bool type_is_error(const struct type *t)
{
    return t->kind == TYPE_ERROR;
}

/* The same type once typedef names are resolved. */
bool type_same(const struct type *a, const struct type *b);
/* Bits, plus one when unsigned: which of two integer types an operator's result has
 * (reference 3.2). */
unsigned type_rank(const struct type *t);
/* The type of an arithmetic operator's result on two integers; the left one when they are
 * equivalent. */
const struct type *type_arith(const struct type *a, const struct type *b);
/* v cut to the type's width, then extended by its sign. Only integers change. */
uint64_t type_truncate(const struct type *t, uint64_t v);
/* The type of an integer constant (reference 1.3): the first in its list that holds v. Returns NULL
 * when none does. longs is the number of `l` given. */
const struct type *type_of_constant(uint64_t v, bool is_decimal, bool is_unsigned, unsigned longs);

#endif
