/* kbtf.c - reads BTF.
 *
 * The description is a header, a section of types and one of names:
 *
 *     magic u16, version u8, flags u8, header's length u32,
 *     types: offset u32, length u32; names: offset u32, length u32   (offsets from the header's
 * end)
 *
 * A type is three words (name, info, size or type), followed by what its kind has: see `extra`.
 * The info holds the number of parts (bits 0 to 15), the kind (24 to 28) and a flag (31). Types are
 * numbered from 1 on, in order.
 *
 * Opening checks once that every type lies within its section, and that the names end in NUL. What
 * types say of other types is checked when it is followed. Walks over types that contain each
 * other are bounded by DEPTH, and those that branch by a budget of members as well. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/size.h"
#include "linux/kbtf.h"
#include "util/buftext.h"

#define FOLDER "/sys/kernel/btf"
#define PROPER "vmlinux"
#define KERNEL FOLDER "/" PROPER

enum {
    MAGIC = 0xeb9f,
    SWAPPED = 0x9feb,
    HEADER = 24,        /* bytes that version 1 has at least */
    HEAD = 12,          /* bytes of what all types begin with */
    DEPTH = 32,         /* types that lead to each other, at most */
    MEMBERS = 1 << 18,  /* visited in one search, at most */
    TEXT = 1 << 18,     /* bytes of printed text, at most */
    NAME = 1023,        /* characters of a name, at most */
    LARGEST = 64 << 20, /* bytes of a description, at most */
    ALL = 256 << 20,    /* bytes of all, at most */
    MODULES = 4096,     /* at most */
    TRACEPOINT_NAME_MAX = 128
};
#define TRACEPOINT "btf_trace_" /* begins the typedefs of tracepoints */

struct kbtf {
    uint8_t *data;     /* the whole description, then the types of modules */
    size_t len;        /* bytes there */
    const char *names; /* nnames bytes, the last one NUL */
    uint32_t nnames;   /* at least 1 */
    char *all_names;   /* where they are, once there are modules; NULL: in `data` */
    /* Of the kernel proper. */
    uint32_t own_types, own_names;
    struct module {
        char *name;
        uint32_t first; /* type */
    } * module;         /* nmodules of them, in order of their types */
    uint32_t nmodules;
    uint32_t *at;    /* where each type begins in `data`; at[0] is not used */
    uint32_t ntypes; /* with void */
    uint32_t *slot;  /* numbers of types by kind and name, 0: free */
    uint32_t nslots; /* a power of two */
};

/* Bytes that follow the head of each kind of type, and bytes for each of its parts. */
static const struct {
    uint8_t fixed, each;
} extra[] = {
    [KBTF_INT] = {4, 0},     [KBTF_ARRAY] = {12, 0},   [KBTF_STRUCT] = {0, 12},
    [KBTF_UNION] = {0, 12},  [KBTF_ENUM] = {0, 8},     [KBTF_PROTO] = {0, 8},
    [KBTF_VAR] = {4, 0},     [KBTF_DATASEC] = {0, 12}, [KBTF_DECL_TAG] = {4, 0},
    [KBTF_ENUM64] = {0, 12},
};
enum { KINDS = sizeof extra / sizeof *extra };

static uint32_t word_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* -- opening --------------------------------------------------------------------- */

static int malformed(struct diags *d, const char *how)
{
    return diag_error(d, ET_EINVAL, NULL, "", NULL,
                      "the kernel's description of its types is malformed: %s", how);
}

/* Returns the bytes of the type at p, of which `left` are there; 0: it is cut off, or of an unknown
 * kind. */
static size_t type_bytes(const uint8_t *p, size_t left)
{
    if (left < HEAD)
        return 0;
    const uint32_t info = word_at(p + 4), kind = info >> 24 & 31;
    if (kind == KBTF_VOID || kind >= KINDS)
        return 0;
    const size_t len = HEAD + extra[kind].fixed + (size_t)extra[kind].each * (info & 0xffff);
    return len <= left ? len : 0;
}

/* The sections of a description. */
struct sections {
    const uint8_t *types;
    const char *names;
    uint32_t types_len, names_len;
    uint32_t n; /* types */
};

/* Finds the sections, and checks them. Only a module's may be without names. */
static int read_sections(const uint8_t *data, size_t len, bool module, struct sections *out,
                         struct diags *d)
{
    if (len < HEADER)
        return malformed(d, "it is cut off");
    uint16_t magic;
    memcpy(&magic, data, sizeof magic);
    if (magic == SWAPPED)
        return malformed(d, "it is made for another byte order");
    if (magic != MAGIC || data[2] != 1)
        return malformed(d, "it is not of version 1");
    uint64_t head = word_at(data + 4);
    uint64_t types = head + word_at(data + 8), types_len = word_at(data + 12);
    uint64_t names = head + word_at(data + 16), names_len = word_at(data + 20);
    if (head < HEADER || !size_within(types, types_len, len) || !size_within(names, names_len, len))
        return malformed(d, "a section is cut off");
    *out = (struct sections){data + types, (const char *)data + names, (uint32_t)types_len,
                             (uint32_t)names_len, 0};
    if (!(module && names_len == 0) && (names_len == 0 || out->names[names_len - 1] != '\0'))
        return malformed(d, "its names have no end");
    for (const char *s = out->names, *end = s + names_len; s < end; s += strlen(s) + 1)
        if (strlen(s) > NAME)
            return malformed(d, "a name is too long");
    for (size_t at = 0, n; at < types_len; at += n, out->n++)
        if ((n = type_bytes(out->types + at, types_len - at)) == 0)
            return malformed(d, "a type is cut off, or of an unknown kind");
    return 0;
}

/* Notes where types begin, `n` of them from a place of the data on. There is room for them. */
static void number_types(struct kbtf *b, size_t from, uint32_t n)
{
    for (; n > 0; n--) {
        b->at[b->ntypes++] = (uint32_t)from;
        from += type_bytes(b->data + from, b->len - from);
    }
}

static int index_names(struct kbtf *b);

/* Makes a reader of data from et_malloc, which is its own from now on. */
static int take(struct kbtf **out, uint8_t *data, size_t len, struct diags *d)
{
    struct kbtf *b = et_calloc(1, sizeof *b);
    int err = ET_ENOMEM;
    *out = NULL;
    if (b != NULL) {
        struct sections s;
        b->data = data;
        b->len = len;
        err = read_sections(data, len, false, &s, d);
        b->at = err == 0 ? et_rearray(NULL, s.n + 1u, sizeof *b->at) : NULL;
        if (err == 0 && b->at == NULL)
            err = ET_ENOMEM;
        if (err == 0) {
            b->names = s.names;
            b->nnames = b->own_names = s.names_len;
            b->at[0] = 0;
            b->ntypes = 1;
            number_types(b, (size_t)(s.types - data), s.n);
            b->own_types = b->ntypes;
            err = index_names(b);
        }
    } else {
        et_free(data);
    }
    if (err == 0)
        *out = b;
    else
        kbtf_close(b);
    return err != ET_ENOMEM ? err
                            : diag_error(d, err, NULL, "", NULL,
                                         "out of memory for the kernel's description of its types");
}

int kbtf_read(struct kbtf **out, const void *blob, size_t len, struct diags *d)
{
    uint8_t *data = len <= LARGEST ? et_malloc(len > 0 ? len : 1) : NULL;
    *out = NULL;
    if (data == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL,
                          "out of memory for the kernel's description of its types");
    memcpy(data, blob, len);
    return take(out, data, len, d);
}

/* Reads a file. Returns its bytes, *len of them, to be freed; NULL: *why is an errno. It is read,
 * not mapped: kernels before 6.16 cannot map it. */
static uint8_t *read_file(int folder, const char *name, size_t *len, int *why)
{
    struct stat st;
    uint8_t *data = NULL;
    ssize_t n = 0;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    *len = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        st.st_size <= LARGEST)
        data = et_malloc((size_t)st.st_size);
    while (data != NULL && *len < (size_t)st.st_size) {
        n = read(fd, data + *len, (size_t)st.st_size - *len);
        if (n <= 0)
            break;
        *len += (size_t)n;
    }
    *why = fd < 0 || n < 0 ? errno : ENODATA;
    if (fd >= 0)
        close(fd);
    if (data != NULL && n > 0)
        return data;
    et_free(data);
    return NULL;
}

int kbtf_open(struct kbtf **out, struct diags *d)
{
    size_t len;
    int why;
    uint8_t *data = read_file(AT_FDCWD, KERNEL, &len, &why);
    *out = NULL;
    if (data != NULL)
        return take(out, data, len, d);
    if (why == ENOENT)
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_BTF",
                          "probes of the kernel need a kernel built with CONFIG_DEBUG_INFO_BTF=y, "
                          "as those of most distributions are, and /sys mounted",
                          "this kernel does not describe its types: there is no " KERNEL);
    return diag_error(d, ET_EIO, NULL, "", NULL,
                      "the kernel's description of its types, " KERNEL ", cannot be read: %s",
                      strerror(why));
}

/* -- modules --------------------------------------------------------------------- */

/* How numbers of a module's description become ours. */
struct shift {
    uint32_t types, own_types, by_types; /* how many it has */
    uint32_t names, own_names, by_names;
};

static void put_word(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof v);
}

static void shift_type(const struct shift *s, uint8_t *p)
{
    const uint32_t id = word_at(p);
    if (id >= s->own_types)
        put_word(p, id - s->own_types < s->types ? id + s->by_types : 0);
}

static void shift_name(const struct shift *s, uint8_t *p)
{
    const uint32_t at = word_at(p);
    if (at >= s->own_names)
        put_word(p, at - s->own_names < s->names ? at + s->by_names : 0);
}

/* Renumbers what a type refers to. */
static void shift_all(const struct shift *s, uint8_t *p)
{
    const uint32_t info = word_at(p + 4), kind = info >> 24 & 31;
    uint8_t *part = p + HEAD + extra[kind].fixed;
    shift_name(s, p);
    switch (kind) {
    case KBTF_PTR:
    case KBTF_TYPEDEF:
    case KBTF_VOLATILE:
    case KBTF_CONST:
    case KBTF_RESTRICT:
    case KBTF_FUNC:
    case KBTF_PROTO:
    case KBTF_VAR:
    case KBTF_DECL_TAG:
    case KBTF_TYPE_TAG: shift_type(s, p + 8); break;
    case KBTF_ARRAY:
        shift_type(s, p + HEAD);
        shift_type(s, p + HEAD + 4);
        break;
    default: break;
    }
    for (uint32_t i = 0; i < (info & 0xffff); i++, part += extra[kind].each) {
        if (kind == KBTF_DATASEC) {
            shift_type(s, part);
            continue;
        }
        if (extra[kind].each > 0)
            shift_name(s, part);
        if (kind == KBTF_STRUCT || kind == KBTF_UNION || kind == KBTF_PROTO)
            shift_type(s, part + 4);
    }
}

/* Makes room for a module. Returns false when memory is exhausted. */
static bool room_for(struct kbtf *b, const struct sections *s)
{
    const size_t names = (size_t)b->nnames + s->names_len;
    const size_t from = b->all_names == NULL ? (size_t)(b->names - (const char *)b->data) : 0;
    char *all = et_realloc(b->all_names, names);
    if (all == NULL)
        return false;
    if (b->all_names == NULL)
        memcpy(all, b->data + from, b->nnames);
    b->names = b->all_names = all;
    uint8_t *data = et_realloc(b->data, b->len + s->types_len);
    if (data == NULL)
        return false;
    b->data = data;
    uint32_t *at = et_rearray(b->at, (size_t)b->ntypes + s->n, sizeof *at);
    if (at == NULL)
        return false;
    b->at = at;
    struct module *more = et_rearray(b->module, b->nmodules + 1u, sizeof *more);
    if (more == NULL)
        return false;
    b->module = more;
    return true;
}

int kbtf_add(struct kbtf *b, const char *module, const void *blob, size_t len, struct diags *d)
{
    struct sections s;
    const int err = read_sections(blob, len, true, &s, d);
    if (err != 0)
        return err;
    if (b->nmodules == MODULES || b->len + s.types_len > ALL ||
        (size_t)b->nnames + s.names_len > ALL)
        return malformed(d, "there are too many types");
    char *name = et_strdup(module);
    if (name == NULL || !room_for(b, &s)) {
        et_free(name);
        return diag_error(d, ET_ENOMEM, NULL, "", NULL,
                          "out of memory for the kernel's description of its types");
    }
    const struct shift by = {.types = s.n,
                             .own_types = b->own_types,
                             .by_types = b->ntypes - b->own_types,
                             .names = s.names_len,
                             .own_names = b->own_names,
                             .by_names = b->nnames - b->own_names};
    b->module[b->nmodules++] = (struct module){name, b->ntypes};
    if (s.names_len > 0)
        memcpy(b->all_names + b->nnames, s.names, s.names_len);
    b->nnames += s.names_len;
    const size_t from = b->len;
    if (s.types_len > 0)
        memcpy(b->data + from, s.types, s.types_len);
    b->len += s.types_len;
    const uint32_t first = b->ntypes;
    number_types(b, from, s.n);
    for (uint32_t id = first; id < b->ntypes; id++)
        shift_all(&by, b->data + b->at[id]);
    return 0;
}

int kbtf_index(struct kbtf *b, struct diags *d)
{
    et_free(b->slot);
    b->slot = NULL;
    return index_names(b) == 0
               ? 0
               : diag_error(d, ET_ENOMEM, NULL, "", NULL,
                            "out of memory for the kernel's description of its types");
}

static int is_module(const struct dirent *e)
{
    return e->d_name[0] != '.' && strcmp(e->d_name, PROPER) != 0;
}

int kbtf_add_folder(struct kbtf *b, const char *folder, struct diags *d)
{
    struct dirent **list;
    int err = 0, why;
    const int n = scandir(folder, &list, is_module, alphasort),
              fd = n > 0 ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (int i = 0; i < n; i++) {
        struct diags unsaid;
        size_t len;
        uint8_t *data = fd >= 0 && err == 0 ? read_file(fd, list[i]->d_name, &len, &why) : NULL;
        diags_init(&unsaid);
        if (data != NULL && kbtf_add(b, list[i]->d_name, data, len, &unsaid) == ET_ENOMEM)
            err = diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for types of modules");
        diags_free(&unsaid);
        et_free(data);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    if (fd >= 0)
        close(fd);
    return err == 0 && b->nmodules > 0 ? kbtf_index(b, d) : err;
}

int kbtf_open_all(struct kbtf **out, struct diags *d)
{
    int err = kbtf_open(out, d);
    if (err == 0)
        err = kbtf_add_folder(*out, FOLDER, d);
    if (err != 0) {
        kbtf_close(*out);
        *out = NULL;
    }
    return err;
}

const char *kbtf_module(const struct kbtf *b, uint32_t id)
{
    const char *name = PROPER;
    for (uint32_t i = 0; i < b->nmodules && b->module[i].first <= id; i++)
        name = b->module[i].name;
    return name;
}

uint32_t kbtf_find_in(const struct kbtf *b, const char *module, enum kbtf_kind kind,
                      const char *name)
{
    uint32_t id = kbtf_find(b, kind, name);
    if (module[0] == '\0' || id == 0 || strcmp(kbtf_module(b, id), module) == 0)
        return id;
    for (uint32_t i = 0; i < b->nmodules; i++) {
        const uint32_t end = i + 1 < b->nmodules ? b->module[i + 1].first : b->ntypes;
        if (strcmp(b->module[i].name, module) != 0)
            continue;
        for (id = b->module[i].first; id < end; id++)
            if (kbtf_kind(b, id) == kind && strcmp(kbtf_name(b, id), name) == 0)
                return id;
    }
    return 0;
}

void kbtf_close(struct kbtf *b)
{
    if (b == NULL)
        return;
    for (uint32_t i = 0; i < b->nmodules; i++)
        et_free(b->module[i].name);
    et_free(b->module);
    et_free(b->all_names);
    et_free(b->slot);
    et_free(b->at);
    et_free(b->data);
    et_free(b);
}

/* -- types ----------------------------------------------------------------------- */

uint32_t kbtf_count(const struct kbtf *b)
{
    return b->ntypes;
}

/* Returns a type's words; void's are zero. */
static const uint8_t *type_of(const struct kbtf *b, uint32_t id)
{
    static const uint8_t nothing[HEAD];
    return id > 0 && id < b->ntypes ? b->data + b->at[id] : nothing;
}

static uint32_t info_of(const struct kbtf *b, uint32_t id)
{
    return word_at(type_of(b, id) + 4);
}

/* Returns the third word: a size, or a type. */
static uint32_t third_of(const struct kbtf *b, uint32_t id)
{
    return word_at(type_of(b, id) + 8);
}

static uint32_t parts_of(const struct kbtf *b, uint32_t id)
{
    return info_of(b, id) & 0xffff;
}

static bool flag_of(const struct kbtf *b, uint32_t id)
{
    return info_of(b, id) >> 31 != 0;
}

static const char *name_at(const struct kbtf *b, uint32_t offset)
{
    return offset < b->nnames ? b->names + offset : "";
}

enum kbtf_kind kbtf_kind(const struct kbtf *b, uint32_t id)
{
    return (enum kbtf_kind)(info_of(b, id) >> 24 & 31);
}

const char *kbtf_name(const struct kbtf *b, uint32_t id)
{
    return name_at(b, word_at(type_of(b, id)));
}

/* A number that is none of a type reads as void. */
static uint32_t valid(const struct kbtf *b, uint32_t id)
{
    return id < b->ntypes ? id : 0;
}

uint32_t kbtf_target(const struct kbtf *b, uint32_t id)
{
    switch (kbtf_kind(b, id)) {
    case KBTF_PTR:
    case KBTF_TYPEDEF:
    case KBTF_VOLATILE:
    case KBTF_CONST:
    case KBTF_RESTRICT:
    case KBTF_TYPE_TAG:
    case KBTF_FUNC:
    case KBTF_PROTO:
    case KBTF_VAR: return valid(b, third_of(b, id));
    case KBTF_ARRAY: return valid(b, word_at(type_of(b, id) + HEAD));
    default: return 0;
    }
}

static bool stands_for_another(enum kbtf_kind k)
{
    return k == KBTF_TYPEDEF || k == KBTF_VOLATILE || k == KBTF_CONST || k == KBTF_RESTRICT ||
           k == KBTF_TYPE_TAG;
}

uint32_t kbtf_resolve(const struct kbtf *b, uint32_t id)
{
    for (int i = 0; i < DEPTH; i++, id = kbtf_target(b, id))
        if (!stands_for_another(kbtf_kind(b, id)))
            return valid(b, id);
    return 0;
}

uint32_t kbtf_elements(const struct kbtf *b, uint32_t id)
{
    id = kbtf_resolve(b, id);
    return kbtf_kind(b, id) == KBTF_ARRAY ? word_at(type_of(b, id) + HEAD + 8) : 0;
}

uint64_t kbtf_size(const struct kbtf *b, uint32_t id)
{
    uint64_t n = 1;
    for (int i = 0; i < DEPTH; i++, id = kbtf_target(b, id)) {
        id = kbtf_resolve(b, id);
        switch (kbtf_kind(b, id)) {
        case KBTF_INT:
        case KBTF_STRUCT:
        case KBTF_UNION:
        case KBTF_ENUM:
        case KBTF_FLOAT:
        case KBTF_ENUM64: n = size_mul(n, third_of(b, id)); return n == SIZE_HUGE ? 0 : n;
        case KBTF_PTR: n = size_mul(n, sizeof(void *)); return n == SIZE_HUGE ? 0 : n;
        case KBTF_ARRAY: n = size_mul(n, kbtf_elements(b, id)); break;
        default: return 0;
        }
    }
    return 0;
}

/* What follows the head of an integer: its encoding, and which bits of its bytes it has. */
enum { INT_SIGNED = 1, INT_CHAR = 2, INT_BOOL = 4 };
static void int_bits(const struct kbtf *b, uint32_t id, uint32_t *encoding, uint32_t *offset,
                     uint32_t *bits)
{
    uint32_t v = word_at(type_of(b, id) + HEAD);
    *encoding = v >> 24 & 15;
    *offset = v >> 16 & 255;
    *bits = v & 255;
}

bool kbtf_scalar(const struct kbtf *b, uint32_t id, struct kbtf_scalar *out)
{
    id = kbtf_resolve(b, id);
    enum kbtf_kind k = kbtf_kind(b, id);
    uint32_t encoding = 0, offset, bits;
    uint64_t size = kbtf_size(b, id);
    if (k != KBTF_INT && k != KBTF_PTR && k != KBTF_ENUM && k != KBTF_ENUM64)
        return false;
    if (size == 0 || size > 8 || (size & (size - 1)) != 0)
        return false;
    if (k == KBTF_INT)
        int_bits(b, id, &encoding, &offset, &bits);
    bool is_enum = k == KBTF_ENUM || k == KBTF_ENUM64;
    *out =
        (struct kbtf_scalar){.size = (uint32_t)size,
                             .is_signed = is_enum ? flag_of(b, id) : (encoding & INT_SIGNED) != 0,
                             .is_bool = (encoding & INT_BOOL) != 0,
                             .is_char = (encoding & INT_CHAR) != 0,
                             .is_pointer = k == KBTF_PTR};
    return true;
}

/* -- members ----------------------------------------------------------------------- */

static bool is_struct(const struct kbtf *b, uint32_t id)
{
    return kbtf_kind(b, id) == KBTF_STRUCT || kbtf_kind(b, id) == KBTF_UNION;
}

/* A member's place is a number of bits. With the struct's flag its upper byte is the width of a
 * bit-field; without, the member's type is an integer of fewer bits than its bytes have. */
bool kbtf_member(const struct kbtf *b, uint32_t id, uint32_t i, struct kbtf_member *out)
{
    id = kbtf_resolve(b, id);
    if (!is_struct(b, id) || i >= parts_of(b, id))
        return false;
    const uint8_t *p = type_of(b, id) + HEAD + (size_t)i * 12;
    uint32_t place = word_at(p + 8), encoding, offset, bits;
    *out = (struct kbtf_member){
        .name = name_at(b, word_at(p)), .type = valid(b, word_at(p + 4)), .bit = place};
    uint32_t type = kbtf_resolve(b, out->type);
    if (flag_of(b, id)) {
        out->bit = place & 0xffffff;
        out->bits = place >> 24;
    } else if (kbtf_kind(b, type) == KBTF_INT) {
        int_bits(b, type, &encoding, &offset, &bits);
        out->bit += offset;
        out->bits = bits == third_of(b, type) * 8 ? 0 : bits;
    }
    return true;
}

/* Finds a member by name, also in anonymous structs and unions, and adds its place to `bit`. */
static bool member_named(const struct kbtf *b, uint32_t id, const char *name, size_t len,
                         uint64_t bit, int depth, uint32_t *budget, struct kbtf_member *out)
{
    struct kbtf_member m;
    for (uint32_t i = 0; *budget > 0 && kbtf_member(b, id, i, &m); i++) {
        (*budget)--;
        m.bit += bit;
        if (strlen(m.name) == len && memcmp(m.name, name, len) == 0) {
            *out = m;
            return true;
        }
        if (m.name[0] == '\0' && depth < DEPTH && is_struct(b, kbtf_resolve(b, m.type)) &&
            member_named(b, m.type, name, len, m.bit, depth + 1, budget, out))
            return true;
    }
    return false;
}

/* Takes "[N]" off a path. */
static bool element(const struct kbtf *b, const char **path, struct kbtf_member *m)
{
    uint32_t array = kbtf_resolve(b, m->type);
    uint64_t i = 0;
    const char *p = *path + 1;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9' && i <= UINT32_MAX; p++)
        i = i * 10 + (uint64_t)(*p - '0');
    if (*p != ']' || i >= kbtf_elements(b, array))
        return false;
    uint64_t bits = size_mul(kbtf_size(b, kbtf_target(b, array)), i * 8);
    m->bit = size_add(m->bit, bits);
    m->type = kbtf_target(b, array);
    *path = p + 1;
    return m->bit != SIZE_HUGE;
}

bool kbtf_path(const struct kbtf *b, uint32_t id, const char *path, struct kbtf_member *out)
{
    struct kbtf_member m = {.name = "", .type = id};
    for (bool first = true; *path != '\0'; first = false) {
        if (*path == '[' && !first) {
            if (!element(b, &path, &m))
                return false;
            continue;
        }
        if (!first && *path++ != '.')
            return false;
        size_t len = strcspn(path, ".[");
        uint32_t budget = MEMBERS;
        if (len == 0 || m.bits != 0 || !member_named(b, m.type, path, len, m.bit, 0, &budget, &m))
            return false;
        path += len;
    }
    *out = m;
    return m.name[0] != '\0';
}

bool kbtf_enumerator(const struct kbtf *b, uint32_t id, uint32_t i, const char **name,
                     int64_t *value)
{
    id = kbtf_resolve(b, id);
    enum kbtf_kind k = kbtf_kind(b, id);
    if ((k != KBTF_ENUM && k != KBTF_ENUM64) || i >= parts_of(b, id))
        return false;
    const uint8_t *p = type_of(b, id) + HEAD + (size_t)i * extra[k].each;
    uint32_t low = word_at(p + 4);
    *name = name_at(b, word_at(p));
    if (k == KBTF_ENUM64)
        *value = (int64_t)((uint64_t)word_at(p + 8) << 32 | low);
    else
        *value = flag_of(b, id) ? (int64_t)(int32_t)low : (int64_t)low;
    return true;
}

bool kbtf_constant(const struct kbtf *b, const char *name, int64_t *value, uint32_t *id)
{
    const char *is;
    for (uint32_t t = 1; t < b->ntypes; t++)
        if (kbtf_kind(b, t) == KBTF_ENUM || kbtf_kind(b, t) == KBTF_ENUM64)
            for (uint32_t i = 0; kbtf_enumerator(b, t, i, &is, value); i++)
                if (strcmp(is, name) == 0) {
                    if (id != NULL)
                        *id = t;
                    return true;
                }
    return false;
}

bool kbtf_param(const struct kbtf *b, uint32_t id, uint32_t i, struct kbtf_param *out)
{
    if (kbtf_kind(b, id) == KBTF_FUNC)
        id = kbtf_target(b, id);
    if (kbtf_kind(b, id) != KBTF_PROTO || i >= parts_of(b, id))
        return false;
    const uint8_t *p = type_of(b, id) + HEAD + (size_t)i * 8;
    *out = (struct kbtf_param){name_at(b, word_at(p)), valid(b, word_at(p + 4))};
    return true;
}

/* -- names ------------------------------------------------------------------------- */

static uint64_t slot_of(const struct kbtf *b, enum kbtf_kind kind, const char *name)
{
    return hash_mix(hash_bytes(name, strlen(name)), kind + UINT64_C(0x9e3779b9)) & (b->nslots - 1);
}

/* Puts every type with a name into the index, the first of equal ones. */
static int index_names(struct kbtf *b)
{
    uint32_t n = 16;
    while (n < b->ntypes + b->ntypes / 2)
        n *= 2;
    b->slot = et_calloc(n, sizeof *b->slot);
    if (b->slot == NULL)
        return ET_ENOMEM;
    b->nslots = n;
    for (uint32_t id = 1; id < b->ntypes; id++) {
        const char *name = kbtf_name(b, id);
        enum kbtf_kind kind = kbtf_kind(b, id);
        if (name[0] == '\0' || kind == KBTF_DECL_TAG || kind == KBTF_TYPE_TAG)
            continue;
        uint64_t i = slot_of(b, kind, name);
        while (b->slot[i] != 0 &&
               (kbtf_kind(b, b->slot[i]) != kind || strcmp(kbtf_name(b, b->slot[i]), name) != 0))
            i = (i + 1) & (n - 1);
        if (b->slot[i] == 0)
            b->slot[i] = id;
    }
    return 0;
}

uint32_t kbtf_find(const struct kbtf *b, enum kbtf_kind kind, const char *name)
{
    for (uint64_t i = slot_of(b, kind, name); b->slot[i] != 0; i = (i + 1) & (b->nslots - 1))
        if (kbtf_kind(b, b->slot[i]) == kind && strcmp(kbtf_name(b, b->slot[i]), name) == 0)
            return b->slot[i];
    return 0;
}

/* Returns the type of the function that a typedef points to, or 0. */
static uint32_t points_to_function(const struct kbtf *b, uint32_t id)
{
    uint32_t ptr = kbtf_resolve(b, id), proto = kbtf_resolve(b, kbtf_target(b, ptr));
    return kbtf_kind(b, ptr) == KBTF_PTR && kbtf_kind(b, proto) == KBTF_PROTO ? proto : 0;
}

/* Finds what a tracepoint has under its name behind a prefix; 0: nothing. */
static uint32_t find_of(const struct kbtf *b, enum kbtf_kind kind, const char *prefix,
                        const char *name)
{
    char full[TRACEPOINT_NAME_MAX + 32];
    if (name[0] == '\0' || strlen(name) > TRACEPOINT_NAME_MAX)
        return 0;
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return kbtf_find(b, kind, full);
}

/* The typedef is there for every tracepoint, but has no names of parameters. The function that
 * calls what is attached to the tracepoint has them, on kernels that keep it as a function. */
uint32_t kbtf_tracepoint(const struct kbtf *b, const char *name)
{
    uint32_t proto = points_to_function(b, find_of(b, KBTF_TYPEDEF, TRACEPOINT, name));
    uint32_t named = kbtf_target(b, find_of(b, KBTF_FUNC, "__traceiter_", name));
    bool same = kbtf_kind(b, named) == KBTF_PROTO && parts_of(b, named) == parts_of(b, proto);
    return proto != 0 && same ? named : proto;
}

const char *kbtf_tracepoint_module(const struct kbtf *b, const char *name)
{
    return kbtf_module(b, find_of(b, KBTF_TYPEDEF, TRACEPOINT, name));
}

const char *kbtf_tracepoint_name(const struct kbtf *b, uint32_t id)
{
    size_t n = sizeof TRACEPOINT - 1;
    const char *name = kbtf_name(b, id);
    bool is = kbtf_kind(b, id) == KBTF_TYPEDEF && strncmp(name, TRACEPOINT, n) == 0 &&
              name[n] != '\0' && strlen(name + n) <= TRACEPOINT_NAME_MAX &&
              points_to_function(b, id) != 0;
    return is ? name + n : NULL;
}

/* -- text -------------------------------------------------------------------------- */

/* C writes a type around the name: what is left of it, then the name, then what is right of it. */

struct printer {
    const struct kbtf *b;
    struct buf *out;
    size_t end; /* of the text, at most */
};

static void definition(struct printer *p, uint32_t id, unsigned indent, int depth);

static bool full(struct printer *p, int depth)
{
    if (depth < DEPTH && p->out->len < p->end && !p->out->oom)
        return false;
    if (p->out->len < 3 || memcmp(p->out->data + p->out->len - 3, "...", 3) != 0)
        buf_adds(p->out, "...");
    return true;
}

/* Parts end in a letter, or in a star, which sticks to what follows. */
static void gap(struct printer *p)
{
    char last = p->out->len > 0 ? p->out->data[p->out->len - 1] : ' ';
    if (last != ' ' && last != '*' && last != '(')
        buf_addc(p->out, ' ');
}

static bool around(const struct kbtf *b, uint32_t id)
{
    return kbtf_kind(b, id) == KBTF_ARRAY || kbtf_kind(b, id) == KBTF_PROTO;
}

static void tagged(struct printer *p, const char *what, uint32_t id, unsigned indent, int depth)
{
    if (kbtf_name(p->b, id)[0] != '\0')
        buf_printf(p->out, "%s %s", what, kbtf_name(p->b, id));
    else
        definition(p, id, indent, depth);
}

static void left(struct printer *p, uint32_t id, unsigned indent, int depth)
{
    const struct kbtf *b = p->b;
    uint32_t to = kbtf_target(b, id);
    const char *word = NULL;
    if (full(p, depth))
        return;
    switch (kbtf_kind(b, id)) {
    case KBTF_VOID: buf_adds(p->out, "void"); return;
    case KBTF_STRUCT: tagged(p, "struct", id, indent, depth); return;
    case KBTF_UNION: tagged(p, "union", id, indent, depth); return;
    case KBTF_ENUM:
    case KBTF_ENUM64: tagged(p, "enum", id, indent, depth); return;
    case KBTF_FWD:
        buf_printf(p->out, "%s %s", flag_of(b, id) ? "union" : "struct", kbtf_name(b, id));
        return;
    case KBTF_PTR:
        left(p, to, indent, depth + 1);
        gap(p);
        buf_adds(p->out, around(b, to) ? "(*" : "*");
        return;
    case KBTF_ARRAY:
    case KBTF_PROTO:
    case KBTF_FUNC:
    case KBTF_VAR:
    case KBTF_TYPE_TAG: left(p, to, indent, depth + 1); return;
    case KBTF_CONST: word = "const"; break;
    case KBTF_VOLATILE: word = "volatile"; break;
    case KBTF_RESTRICT: word = "restrict"; break;
    default: buf_adds(p->out, kbtf_name(b, id)); return;
    }
    if (kbtf_kind(b, to) != KBTF_PTR)
        buf_printf(p->out, "%s ", word);
    left(p, to, indent, depth + 1);
    if (kbtf_kind(b, to) == KBTF_PTR)
        buf_adds(p->out, word);
}

static void declare(struct printer *p, uint32_t id, const char *name, unsigned indent, int depth);

static void right(struct printer *p, uint32_t id, int depth)
{
    const struct kbtf *b = p->b;
    uint32_t to = kbtf_target(b, id), i = 0;
    struct kbtf_param arg;
    if (full(p, depth))
        return;
    switch (kbtf_kind(b, id)) {
    case KBTF_PTR:
        if (around(b, to))
            buf_addc(p->out, ')');
        break;
    case KBTF_ARRAY: buf_printf(p->out, "[%u]", kbtf_elements(b, id)); break;
    case KBTF_PROTO:
        buf_addc(p->out, '(');
        for (; kbtf_param(b, id, i, &arg) && !full(p, depth); i++) {
            buf_adds(p->out, i > 0 ? ", " : "");
            if (arg.type == 0)
                buf_adds(p->out, "...");
            else
                declare(p, arg.type, arg.name, 0, depth + 1);
        }
        buf_adds(p->out, i == 0 ? "void)" : ")");
        break;
    case KBTF_FUNC:
    case KBTF_VAR:
    case KBTF_TYPE_TAG:
    case KBTF_CONST:
    case KBTF_VOLATILE:
    case KBTF_RESTRICT: break;
    default: return;
    }
    right(p, to, depth + 1);
}

static void declare(struct printer *p, uint32_t id, const char *name, unsigned indent, int depth)
{
    left(p, id, indent, depth);
    if (name[0] != '\0') {
        gap(p);
        buf_adds(p->out, name);
    }
    right(p, id, depth);
}

static void definition(struct printer *p, uint32_t id, unsigned indent, int depth)
{
    const struct kbtf *b = p->b;
    struct kbtf_member m;
    const char *name = kbtf_name(b, id), *space = name[0] != '\0' ? " " : "";
    int64_t value;
    if (full(p, depth))
        return;
    buf_printf(p->out, "%s%s%s {\n",
               !is_struct(b, id)                 ? "enum"
               : kbtf_kind(b, id) == KBTF_STRUCT ? "struct"
                                                 : "union",
               space, name);
    for (uint32_t i = 0; kbtf_member(b, id, i, &m) && !full(p, depth); i++) {
        buf_fill(p->out, ' ', indent + 4);
        declare(p, m.type, m.name, indent + 4, depth + 1);
        if (m.bits != 0)
            buf_printf(p->out, " : %u", m.bits);
        buf_adds(p->out, ";\n");
    }
    for (uint32_t i = 0; kbtf_enumerator(b, id, i, &name, &value) && !full(p, depth); i++) {
        buf_fill(p->out, ' ', indent + 4);
        buf_printf(p->out, "%s = %lld,\n", name, (long long)value);
    }
    buf_fill(p->out, ' ', indent);
    buf_addc(p->out, '}');
}

void kbtf_print(const struct kbtf *b, uint32_t id, const char *name, struct buf *out)
{
    struct printer p = {b, out, out->len + TEXT};
    declare(&p, id, name, 0, 0);
}

void kbtf_define(const struct kbtf *b, uint32_t id, struct buf *out)
{
    struct printer p = {b, out, out->len + TEXT};
    enum kbtf_kind k = kbtf_kind(b, id);
    if (k == KBTF_TYPEDEF) {
        buf_adds(out, "typedef ");
        declare(&p, kbtf_target(b, id), kbtf_name(b, id), 0, 0);
    } else if (is_struct(b, id) || k == KBTF_ENUM || k == KBTF_ENUM64) {
        definition(&p, id, 0, 0);
    } else {
        declare(&p, id, "", 0, 0);
    }
}
