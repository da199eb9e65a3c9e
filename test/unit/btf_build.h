/* btf_build.h - small BTF by hand, for tests of what reads it: just enough to say what a test
 * means. Types get the numbers 1, 2, 3 ... in the order in which they are added. */
#ifndef ET_TEST_BTF_BUILD_H
#define ET_TEST_BTF_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "linux/kbtf.h"
#include "util/buftext.h"

enum { INT_SIGNED = 1, INT_CHAR = 2, INT_BOOL = 4 };

struct btf_build {
    struct buf types, names;
    uint32_t last;       /* the number of the newest type */
    uint32_t names_from; /* of a module: where its names begin, behind those of the kernel */
};

static inline uint32_t btf_name(struct btf_build *b, const char *name)
{
    if (b->names.len == 0)
        buf_addc(&b->names, '\0');
    uint32_t at = b->names_from + (uint32_t)b->names.len;
    if (name[0] == '\0')
        return 0;
    buf_add(&b->names, name, strlen(name) + 1);
    return at;
}

/* Adds the head of a type of any kind. */
static inline uint32_t btf_type(struct btf_build *b, enum kbtf_kind kind, const char *name,
                                bool flag, uint32_t parts, uint32_t third)
{
    buf_u32(&b->types, btf_name(b, name));
    buf_u32(&b->types, (uint32_t)flag << 31 | (uint32_t)kind << 24 | parts);
    buf_u32(&b->types, third);
    return ++b->last;
}

static inline uint32_t btf_int(struct btf_build *b, const char *name, uint32_t size,
                               uint32_t encoding)
{
    uint32_t id = btf_type(b, KBTF_INT, name, false, 0, size);
    buf_u32(&b->types, encoding << 24 | size * 8);
    return id;
}

/* Adds a pointer, a typedef, a qualifier or a function. */
static inline uint32_t btf_to(struct btf_build *b, enum kbtf_kind kind, const char *name,
                              uint32_t to)
{
    return btf_type(b, kind, name, false, 0, to);
}

static inline uint32_t btf_array(struct btf_build *b, uint32_t of, uint32_t n)
{
    uint32_t id = btf_type(b, KBTF_ARRAY, "", false, 0, 0);
    buf_u32(&b->types, of);
    buf_u32(&b->types, of);
    buf_u32(&b->types, n);
    return id;
}

struct btf_part {
    const char *name; /* NULL: there are no more */
    uint32_t type;
    uint32_t at;   /* of a member: bytes, or with a width bits, from its struct's start */
    uint32_t bits; /* its width, if it is a bit-field */
};

/* Adds a struct, union or type of a function. Members have the struct's flag. */
static inline uint32_t btf_parts(struct btf_build *b, enum kbtf_kind kind, const char *name,
                                 uint32_t third, const struct btf_part *part)
{
    uint32_t n = 0;
    while (part[n].name != NULL)
        n++;
    uint32_t id = btf_type(b, kind, name, kind != KBTF_PROTO, n, third);
    for (uint32_t i = 0; i < n; i++) {
        buf_u32(&b->types, btf_name(b, part[i].name));
        buf_u32(&b->types, part[i].type);
        if (kind != KBTF_PROTO)
            buf_u32(&b->types,
                    part[i].bits != 0 ? part[i].bits << 24 | part[i].at : part[i].at * 8);
    }
    return id;
}
#define PARTS(...) ((const struct btf_part[]){__VA_ARGS__, {.name = NULL}})

/* Adds a tracepoint: the function's type, a pointer to it, the typedef. */
static inline void btf_tracepoint(struct btf_build *b, const char *name,
                                  const struct btf_part *part)
{
    char full[64] = "btf_trace_";
    strcat(full, name);
    uint32_t proto = btf_parts(b, KBTF_PROTO, "", 0, part);
    btf_to(b, KBTF_TYPEDEF, full, btf_to(b, KBTF_PTR, "", proto));
}

/* Writes header, types and names to `out`, and frees the builder's memory. */
static inline void btf_finish(struct btf_build *b, struct buf *out)
{
    btf_name(b, "");
    buf_u16(out, 0xeb9f);
    buf_u8(out, 1);
    buf_u8(out, 0);
    buf_u32(out, 24);
    buf_u32(out, 0);
    buf_u32(out, (uint32_t)b->types.len);
    buf_u32(out, (uint32_t)b->types.len);
    buf_u32(out, (uint32_t)b->names.len);
    buf_add(out, b->types.data, b->types.len);
    buf_add(out, b->names.data, b->names.len);
    buf_free(&b->types);
    buf_free(&b->names);
    b->last = 0;
}

/* Begins the description of a module, for the kernel that a blob describes. */
static inline struct btf_build btf_module(const struct buf *kernel)
{
    uint32_t types_len, names_len, n = 0;
    memcpy(&types_len, kernel->data + 12, sizeof types_len);
    memcpy(&names_len, kernel->data + 20, sizeof names_len);
    struct kbtf *k;
    struct diags d;
    diags_init(&d);
    if (kbtf_read(&k, kernel->data, kernel->len, &d) == 0) {
        n = kbtf_count(k) - 1;
        kbtf_close(k);
    }
    diags_free(&d);
    return (struct btf_build){.last = n, .names_from = names_len};
}

/* Asks a reader everything about every type, and prints it. */
static inline void btf_ask_all(const struct kbtf *b)
{
    struct kbtf_member m;
    struct kbtf_scalar scalar;
    struct kbtf_param param;
    const char *name;
    int64_t value;
    struct buf out = BUF_INIT;
    for (uint32_t id = 0; id <= kbtf_count(b); id++) {
        kbtf_resolve(b, id);
        kbtf_size(b, id);
        kbtf_scalar(b, id, &scalar);
        kbtf_tracepoint_name(b, id);
        kbtf_find(b, kbtf_kind(b, id), kbtf_name(b, id));
        kbtf_path(b, id, "no.such[1].member", &m);
        for (uint32_t i = 0; kbtf_member(b, id, i, &m); i++)
            kbtf_path(b, id, m.name, &m);
        for (uint32_t i = 0; kbtf_enumerator(b, id, i, &name, &value); i++)
            ;
        for (uint32_t i = 0; kbtf_param(b, id, i, &param); i++)
            ;
        buf_reset(&out);
        kbtf_print(b, id, "x", &out);
        kbtf_define(b, id, &out);
    }
    kbtf_constant(b, "no_such", &value, NULL);
    buf_free(&out);
}

#endif
