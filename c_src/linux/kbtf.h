/* kbtf.h - reads BTF, in which a Linux kernel describes its own types and functions.
 *
 * A kernel built with CONFIG_DEBUG_INFO_BTF shows this description in /sys/kernel/btf/vmlinux, and
 * everybody may read it. Types have the numbers by which the kernel knows them; 0 is void. Nothing
 * in the description is trusted: a number or a name that leads nowhere reads as void or "", a chain
 * of types that never ends as void, and each walk visits a bounded number of types.
 *
 * Modules of the kernel have descriptions of their own, /sys/kernel/btf/MODULE, which refer to the
 * types and names of the kernel proper, and go on from its numbers. Here each gets numbers of its
 * own behind those of what was read before it: they are the kernel's only for the kernel proper.
 *
 * A reader never changes after it was opened, so threads may share it. Strings are borrowed until
 * it is closed. */
#ifndef ET_LINUX_KBTF_H
#define ET_LINUX_KBTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

struct kbtf;

/* The numbers are the format's. */
enum kbtf_kind {
    KBTF_VOID = 0,
    KBTF_INT = 1,
    KBTF_PTR = 2,
    KBTF_ARRAY = 3,
    KBTF_STRUCT = 4,
    KBTF_UNION = 5,
    KBTF_ENUM = 6,
    KBTF_FWD = 7, /* a struct or union that is only declared */
    KBTF_TYPEDEF = 8,
    KBTF_VOLATILE = 9,
    KBTF_CONST = 10,
    KBTF_RESTRICT = 11,
    KBTF_FUNC = 12,
    KBTF_PROTO = 13, /* the type of a function */
    KBTF_VAR = 14,
    KBTF_DATASEC = 15,
    KBTF_FLOAT = 16,
    KBTF_DECL_TAG = 17,
    KBTF_TYPE_TAG = 18,
    KBTF_ENUM64 = 19
};

/* Opens the running kernel's description. Fails with ET_EUNSUP where the kernel has none. */
int kbtf_open(struct kbtf **out, struct diags *d);
/* Reads a description from memory, which it copies. Fails with ET_EINVAL where it is malformed. */
int kbtf_read(struct kbtf **out, const void *blob, size_t len, struct diags *d);
/* Opens it with those of all modules that are loaded. What is malformed of these is left out. */
int kbtf_open_all(struct kbtf **out, struct diags *d);
/* Adds the description of a module, of len bytes; only before anything is looked for. Fails with
 * ET_EINVAL where it is malformed; the reader is then as it was. kbtf_index must follow. */
int kbtf_add(struct kbtf *b, const char *module, const void *blob, size_t len, struct diags *d);
/* Adds the files of a folder but vmlinux, each by its name, as far as they can be read. */
int kbtf_add_folder(struct kbtf *b, const char *folder, struct diags *d);
/* Makes names known that were added. Returns 0 or an error with a diagnostic. */
int kbtf_index(struct kbtf *b, struct diags *d);
void kbtf_close(struct kbtf *b);

/* Returns how many types there are, with void: their numbers are below it. */
uint32_t kbtf_count(const struct kbtf *b);
/* Returns the first type of that kind and name, in constant time; 0: none. A struct that is only
 * declared is a KBTF_FWD. Of static functions, several can have one name. */
uint32_t kbtf_find(const struct kbtf *b, enum kbtf_kind kind, const char *name);
/* The same of one module, in time that grows with it; "vmlinux" is the kernel proper, "" any. */
uint32_t kbtf_find_in(const struct kbtf *b, const char *module, enum kbtf_kind kind,
                      const char *name);
/* Returns the module that a type is of. */
const char *kbtf_module(const struct kbtf *b, uint32_t id);
enum kbtf_kind kbtf_kind(const struct kbtf *b, uint32_t id);
const char *kbtf_name(const struct kbtf *b, uint32_t id); /* "": it has none */

/* Returns what the type is below its typedefs and qualifiers. */
uint32_t kbtf_resolve(const struct kbtf *b, uint32_t id);
/* Returns what a pointer points to, the elements of an array, what a typedef or a qualifier stands
 * on, what a function's type returns, and the type of a function or variable; 0 for others. */
uint32_t kbtf_target(const struct kbtf *b, uint32_t id);
/* Returns the bytes of a value of the type; 0: it has no size, or an unknown one. */
uint64_t kbtf_size(const struct kbtf *b, uint32_t id);
/* Returns the number of elements of an array. */
uint32_t kbtf_elements(const struct kbtf *b, uint32_t id);

/* A type, below its typedefs, whose values fit a register. */
struct kbtf_scalar {
    uint32_t size; /* bytes: 1, 2, 4 or 8 */
    bool is_signed, is_bool, is_char;
    bool is_pointer;
};
/* Returns false if it is another type. */
bool kbtf_scalar(const struct kbtf *b, uint32_t id, struct kbtf_scalar *out);

struct kbtf_member {
    const char *name; /* "": an anonymous struct or union */
    uint32_t type;
    uint64_t bit;  /* where it begins, from the start of the outermost struct */
    uint32_t bits; /* the width of a bit-field; 0: it is none */
};
/* Reads the i-th member of a struct or union. Returns false after the last one. */
bool kbtf_member(const struct kbtf *b, uint32_t id, uint32_t i, struct kbtf_member *out);
/* Follows a path such as "se.avg.load_sum" or "comm[3]" from a struct or union, through anonymous
 * ones. Pointers are not followed. Returns false if it leads nowhere. */
bool kbtf_path(const struct kbtf *b, uint32_t id, const char *path, struct kbtf_member *out);

/* Reads the i-th name of an enum. Returns false after the last one. */
bool kbtf_enumerator(const struct kbtf *b, uint32_t id, uint32_t i, const char **name,
                     int64_t *value);
/* Finds a name of any enum; *id, if not NULL, receives the enum. Returns false if there is none. */
bool kbtf_constant(const struct kbtf *b, const char *name, int64_t *value, uint32_t *id);

struct kbtf_param {
    const char *name; /* "": it has none */
    uint32_t type;    /* 0: more arguments follow, of any type ("...") */
};
/* Reads the i-th parameter of a function or of its type. Returns false after the last one. */
bool kbtf_param(const struct kbtf *b, uint32_t id, uint32_t i, struct kbtf_param *out);
/* Returns the type of the function that the raw tracepoint calls; its first parameter is not an
 * argument of the tracepoint. The others have names on kernels since 5.10. 0: there is no such
 * tracepoint. */
uint32_t kbtf_tracepoint(const struct kbtf *b, const char *name);
/* Returns the module that the tracepoint is of. */
const char *kbtf_tracepoint_module(const struct kbtf *b, const char *name);
/* Returns the name of the tracepoint that a type stands for, if that is what it is; else NULL. */
const char *kbtf_tracepoint_name(const struct kbtf *b, uint32_t id);

/* Appends the type as C has it, around a name if that is not "": "const char *s". Structs with a
 * name are written by it, others in full. Text beyond some pages ends in "...". */
void kbtf_print(const struct kbtf *b, uint32_t id, const char *name, struct buf *out);
/* Appends the definition of a struct, union or enum, or that of a typedef, without a semicolon at
 * its end. */
void kbtf_define(const struct kbtf *b, uint32_t id, struct buf *out);

#endif
