/* foreign.h - what the system where a program will run says of itself: its types, its variables and
 * the arguments of its probes. The compiler asks; who knows fills in the functions.
 *
 * Types have numbers; 0 is void. Qualifiers are left out. Names are borrowed, and live as long as
 * the struct foreign. The compiler trusts none of this: sizes and numbers can be anything, and
 * chains of types can have no end. */
#ifndef ET_PROBE_FOREIGN_H
#define ET_PROBE_FOREIGN_H

#include "base/buf.h"
#include "probe/probe.h"

enum foreign_kind {
    FOREIGN_VOID,
    FOREIGN_INT,
    FOREIGN_FLOAT,
    FOREIGN_POINTER,
    FOREIGN_ARRAY,
    FOREIGN_STRUCT,
    FOREIGN_UNION,
    FOREIGN_ENUM,
    FOREIGN_TYPEDEF,
    FOREIGN_FUNCTION
};

struct foreign_type {
    enum foreign_kind kind;
    uint32_t number;         /* its own, without qualifiers */
    const char *name;        /* without "struct" and the like; "": it has none */
    uint64_t size;           /* bytes; 0: none, or unknown */
    bool is_signed, is_bool; /* FOREIGN_INT and _ENUM */
    bool is_complete;        /* FOREIGN_STRUCT and _UNION: it is not only declared */
    uint32_t of;             /* what a pointer, an array and a typedef stand on */
    uint32_t count;          /* elements of an array */
};

struct foreign_member {
    const char *name; /* "": an anonymous struct or union */
    uint32_t type;
    uint64_t bit;  /* where it begins, from the start of its struct */
    uint32_t bits; /* the width of a bit-field; 0: it is none */
};

struct foreign_variable {
    uint64_t address;
    uint32_t type;     /* 0: unknown */
    uint64_t each_cpu; /* the address of an array with what each CPU adds to the address; 0: there
                          is one variable for all */
};

/* An argument of a probe. */
struct foreign_arg {
    const char *name;
    const char *type; /* as D writes it; NULL: `number` */
    uint32_t number;  /* of its type */
    bool pointed;     /* it is the address of such a value */
    const char *as;   /* the type that args[N] has by a translator; NULL: the same */
};

/* Takes a probe and its n arguments. Returns false to end the walk. */
typedef bool foreign_probe_fn(void *arg, const char *prov, const char *name,
                              const struct foreign_arg *a, size_t n);

struct foreign {
    void *arg;
    /* Returns the first type of that kind and name in a module, "" for any; 0: none. */
    uint32_t (*find)(void *arg, const char *module, enum foreign_kind kind, const char *name);
    void (*type)(void *arg, uint32_t number, struct foreign_type *out);
    /* Read the i-th member of a struct or union, and the i-th name of an enum. Return false after
     * the last one. */
    bool (*member)(void *arg, uint32_t number, uint32_t i, struct foreign_member *out);
    bool (*enumerator)(void *arg, uint32_t number, uint32_t i, const char **name, int64_t *value);
    /* Finds a name of any enum. */
    bool (*constant)(void *arg, const char *name, int64_t *value, uint32_t *number);
    /* Finds a variable of a module, "" for any. Returns NULL, or why it is not known: a sentence,
     * borrowed until the next call. */
    const char *(*variable)(void *arg, const char *module, const char *name,
                            struct foreign_variable *out);
    /* Appends a type as C has it. */
    void (*text)(void *arg, uint32_t number, struct buf *out);
    /* Calls fn for each probe that a description matches. */
    void (*probes)(void *arg, const struct probe_spec *spec, foreign_probe_fn *fn, void *fn_arg);
};

#endif
