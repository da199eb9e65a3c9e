/* kelf.h - the functions of an ELF file, through libelf, which is loaded when it is first needed.
 */
#ifndef ET_LINUX_KELF_H
#define ET_LINUX_KELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Functions in order of their addresses. */
struct kfuncs {
    struct kfunction {
        uint64_t at;
        uint64_t size;  /* 0: unknown, up to the next one */
        uint32_t name;  /* offset in `names` */
        uint32_t owner; /* the same; of a kernel's function, its module */
    } * f;
    size_t n, cap;
    struct buf names;
};

/* Appends a function. Returns false when memory is exhausted. */
bool kfuncs_add(struct kfuncs *t, uint64_t at, uint64_t size, const char *name, size_t len,
                uint32_t owner);
/* Sorts; must be called before kfuncs_find. */
void kfuncs_sort(struct kfuncs *t);
/* Returns the function that an address lies in, NULL if there is none. */
const struct kfunction *kfuncs_find(const struct kfuncs *t, uint64_t at);
/* Returns whether there is a function of this name. */
bool kfuncs_named(const struct kfuncs *t, const char *name);
void kfuncs_free(struct kfuncs *t);

/* Where the file's bytes are executed. */
struct ksegment {
    uint64_t offset, size, address; /* in the file, bytes, as linked */
};
enum { KELF_SEGMENTS = 8 };

struct kelf {
    struct kfuncs funcs; /* of .symtab, or where that is missing of .dynsym */
    struct ksegment segment[KELF_SEGMENTS];
    unsigned nsegments;
    struct ksegment data[KELF_SEGMENTS]; /* the same of what is written to */
    unsigned ndata;
    unsigned char build_id[32];
    unsigned nbuild_id;
    bool stripped; /* there is no .symtab */
};

/* Reads a file that was opened. What is not understood is left out: a file without functions is no
 * error. Returns false when libelf is missing or memory is exhausted. */
bool kelf_read(struct kelf *e, int fd);
/* Passes a section of a file that was opened to `use`, with the address at which it is linked. If
 * there is none, or libelf is missing, nothing is called. */
typedef void kelf_section_fn(void *arg, const unsigned char *bytes, size_t n, uint64_t address);
void kelf_section(int fd, const char *name, kelf_section_fn *use, void *arg);
/* Passes each function of .symtab and .dynsym to `use`, in no order: under all of its names,
 * perhaps twice. `chosen`: what is at the address chooses the function when the file is loaded (an
 * IFUNC). The name is borrowed until `use` returns. If libelf is missing, nothing is called. */
typedef void kelf_symbol_fn(void *arg, const char *name, size_t len, uint64_t at, uint64_t size,
                            bool chosen);
void kelf_symbols(int fd, kelf_symbol_fn *use, void *arg);
void kelf_free(struct kelf *e);

#endif
