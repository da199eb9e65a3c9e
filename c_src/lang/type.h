/* type.h - the types of D and the rules between them (language.md 3).
 *
 * A type is a constant object. Two types are compared with type_same, never by address, because
 * typedef names are distinct types here (so that messages can say "uint64_t" where the program
 * did). Every value is evaluated in 64 bits; a type's size and sign matter when a value is stored,
 * recorded, cast or used as a key, and its rank decides the type of an operator's result. */
#ifndef ET_LANG_TYPE_H
#define ET_LANG_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum type_kind {
    TYPE_ERROR,  /* of an expression whose error has been reported: fits everything, silently */
    TYPE_VOID,   /* result of actions */
    TYPE_INT,    /* integers of any size */
    TYPE_FLOAT,  /* foreign data: can be read, copied and shown, but not computed with */
    TYPE_STRING, /* a NUL-terminated value of at most `strsize` characters */
    TYPE_DYN,    /* no concrete type: an aggregation, or an associative array without its index */
    TYPE_PTR,    /* to `of` */
    TYPE_ARRAY,  /* `count` elements of type `of` */
    TYPE_STRUCT, /* `sou`, also for unions */
    TYPE_UNION,
    TYPE_FUNC,     /* of an external function; only pointers to it are values */
    TYPE_STACK,    /* result of stack(); this and the next three can only be keys of aggregations */
    TYPE_USTACK,   /* ustack(), jstack(); size: bytes of the frames and of what precedes them */
    TYPE_SYMADDR,  /* sym(), func(), mod(); `place` tells which */
    TYPE_USYMADDR, /* usym(), ufunc(), umod(), uaddr() */
};

/* A member of a struct or union. A bit-field is `bits` bits, starting at bit `bit` of the unit of
 * its type's size at `offset`. */
struct type_member {
    const char *name;
    const struct type *type;
    uint32_t offset;
    uint8_t bit, bits; /* bits 0: not a bit-field */
    struct type_member *next;
};

/* The definition of a struct or union tag. All types that name it share it, so they become complete
 * together. */
struct type_sou {
    struct type_member *members; /* in order; read them with lang_members */
    const char *tag;             /* "struct file"; NULL: it has none */
    uint32_t foreign; /* its number in the system where the program runs; 0: it is the program's */
    uint32_t size, align;
    bool complete;
};

/* An enumerator. */
struct type_enum {
    const char *name;
    int32_t value;
    struct type_enum *next;
};

enum {
    TYPE_SIZE_SOU = 64 << 20 /* of a struct or union of which only members are used: those of the
                                libraries have several strings of up to 1 MiB each */
};

struct type {
    enum type_kind kind;
    const char *name; /* as a D programmer writes it */
    uint32_t size;  /* bytes; 0 for void; for a string 0, or its size in memory (the option strsize:
                       a text that fills it has no NUL); for structs and unions see type_size */
    bool is_signed; /* TYPE_INT only */
    bool is_enum;   /* TYPE_INT only; size 0: not defined yet */
    bool is_llong;  /* TYPE_INT only: long long, which has the size of long */
    uint32_t count; /* TYPE_ARRAY */
    const struct type *of;         /* TYPE_PTR, TYPE_ARRAY */
    struct type_sou *sou;          /* TYPE_STRUCT, TYPE_UNION */
    const struct type_enum *enums; /* is_enum */
    uint8_t place; /* TYPE_STACK to TYPE_USYMADDR: enum type_id, T_STACK and above */
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
    T_TERM, /* term_t: the handle of a value of the traced program */
    T_ERROR,
/* stacks and symbols: T_STACK to T_UADDR */
#define PLACE_NOT_D
#define PLACE_D(letters, least, most, flag, type, since, usage, text) T_##type,
#define WORD_KIND(num, name, text, tiers, d)                          PLACE_##d
#include "words/kinds.list"
#undef WORD_KIND
    T_COUNT
};
extern const struct type type_c[T_COUNT];

/* Returns the type of a predefined typedef name ("uint64_t"), or NULL. */
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

static inline bool type_is_void(const struct type *t)
{
    return t->kind == TYPE_VOID;
}
static inline bool type_is_sou(const struct type *t)
{
    return t->kind == TYPE_STRUCT || t->kind == TYPE_UNION;
}
/* Stacks and symbols. */
static inline bool type_is_place(const struct type *t)
{
    return t->kind >= TYPE_STACK;
}
/* Pointers, and arrays, which are used as pointers. */
static inline bool type_refers(const struct type *t)
{
    return t->kind == TYPE_PTR || t->kind == TYPE_ARRAY;
}
/* Conditions, aggregated values: integers and pointers. */
static inline bool type_is_scalar(const struct type *t)
{
    return t->kind == TYPE_INT || t->kind == TYPE_PTR;
}
/* Objects whose value in a register is their address. */
static inline bool type_is_bytes(const struct type *t)
{
    return t->kind == TYPE_ARRAY || t->kind == TYPE_FLOAT || type_is_sou(t);
}
static inline uint32_t type_size(const struct type *t)
{
    return type_is_sou(t) ? t->sou->size : t->size;
}
static inline uint32_t type_align(const struct type *t)
{
    while (t->kind == TYPE_ARRAY)
        t = t->of;
    return type_is_sou(t) ? t->sou->align : t->kind == TYPE_STRING ? 1 : t->size;
}
/* A struct, union or enum whose tag was never defined. */
static inline bool type_is_incomplete(const struct type *t)
{
    return (type_is_sou(t) && !t->sou->complete) || (t->is_enum && t->size == 0);
}
/* An array of char, or a pointer to char: a string in certain places (language.md 3.4). */
static inline bool type_is_chars(const struct type *t)
{
    return type_refers(t) && t->of->kind == TYPE_INT && t->of->size == 1 && !t->of->is_enum;
}

/* Returns whether two types are the same once typedef names are resolved. */
bool type_same(const struct type *a, const struct type *b);
static inline bool type_is_term(const struct type *t)
{
    return type_same(t, &type_c[T_TERM]);
}
/* Returns a type's rank, its bits plus one if it is unsigned, which decides the type of an
 * operator's result on two integers (language.md 3.2). */
unsigned type_rank(const struct type *t);
/* Returns the type of an arithmetic operator's result on two integers; the left one if they are
 * equivalent. */
const struct type *type_arith(const struct type *a, const struct type *b);
/* Returns v cut to the type's width, then sign-extended if it is signed. Only integers change. */
uint64_t type_truncate(const struct type *t, uint64_t v);
/* Returns the type of an integer constant (language.md 1.3): the first in its list that holds v;
 * NULL if none does. longs is the number of `l` suffixes. */
const struct type *type_of_constant(uint64_t v, bool is_decimal, bool is_unsigned, unsigned longs);

#endif
