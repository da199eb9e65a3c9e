/* kelf.c - the functions of an ELF file. See kelf.h. */
#include "linux/kelf.h"

#include <dlfcn.h>
#include <elf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

enum { FUNCTIONS_MOST = 4 << 20, NAME_MOST = 4096 };

/* -- functions by address ---------------------------------------------------------------------- */

bool kfuncs_add(struct kfuncs *t, uint64_t at, uint64_t size, const char *name, size_t len,
                uint32_t owner)
{
    if (t->n == t->cap) {
        const size_t cap = t->cap ? t->cap * 2 : 1024;
        void *p = t->n < FUNCTIONS_MOST ? et_rearray(t->f, cap, sizeof *t->f) : NULL;
        if (p == NULL)
            return false;
        t->f = p;
        t->cap = cap;
    }
    if (t->names.len > UINT32_MAX - NAME_MOST)
        return false;
    t->f[t->n++] = (struct kfunction){at, size, (uint32_t)t->names.len, owner};
    buf_add(&t->names, name, len < NAME_MOST - 1 ? len : NAME_MOST - 1);
    buf_u8(&t->names, 0);
    t->n -= t->names.oom;
    return !t->names.oom;
}

static int by_address(const void *a, const void *b)
{
    const struct kfunction *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    /* Of several names the one with a size is first, then the one that came first. */
    if ((x->size == 0) != (y->size == 0))
        return x->size == 0 ? 1 : -1;
    return x->name < y->name ? -1 : x->name > y->name;
}

void kfuncs_sort(struct kfuncs *t)
{
    size_t n = 0;
    if (t->n > 0)
        qsort(t->f, t->n, sizeof *t->f, by_address);
    for (size_t i = 0; i < t->n; i++) /* one of each address */
        if (n == 0 || t->f[n - 1].at != t->f[i].at)
            t->f[n++] = t->f[i];
    t->n = n;
}

const struct kfunction *kfuncs_find(const struct kfuncs *t, uint64_t at)
{
    size_t lo = 0, hi = t->n; /* the first that begins behind it */
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (t->f[mid].at <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct kfunction *f = lo > 0 ? &t->f[lo - 1] : NULL;
    return f != NULL && (f->size == 0 || at - f->at < f->size) ? f : NULL;
}

bool kfuncs_named(const struct kfuncs *t, const char *name)
{
    size_t i = 0;
    while (i < t->n && strcmp(t->names.data + t->f[i].name, name) != 0)
        i++;
    return i < t->n;
}

void kfuncs_free(struct kfuncs *t)
{
    et_free(t->f);
    buf_free(&t->names);
    *t = (struct kfuncs){0};
}

/* -- libelf ------------------------------------------------------------------------------------ */

#define FUNCTIONS(X)                                                                               \
    X(elf_version)                                                                                 \
    X(elf_begin)                                                                                   \
    X(elf_end)                                                                                     \
    X(elf_nextscn)                                                                                 \
    X(elf_getdata)                                                                                 \
    X(elf_strptr)                                                                                  \
    X(elf_getphdrnum)                                                                              \
    X(elf_getshdrstrndx)                                                                           \
    X(gelf_getshdr)                                                                                \
    X(gelf_getphdr)                                                                                \
    X(gelf_getsym)                                                                                 \
    X(gelf_getnote)

static struct {
#define X(name) __typeof__(name) *name;
    FUNCTIONS(X)
#undef X
    bool tried, there;
} lib;

static bool lib_open(void)
{
    if (lib.tried)
        return lib.there;
    lib.tried = true;
    void *h = dlopen("libelf.so.1", RTLD_NOW | RTLD_LOCAL);
    bool ok = h != NULL;
#define X(name)                                                                                    \
    if (ok) {                                                                                      \
        void *f = dlsym(h, #name);                                                                 \
        memcpy(&lib.name, &f, sizeof f);                                                           \
        ok = f != NULL;                                                                            \
    }
    FUNCTIONS(X)
#undef X
    lib.there = ok && lib.elf_version(EV_CURRENT) != EV_NONE;
    return lib.there;
}

static void segments(struct kelf *e, Elf *elf)
{
    size_t n = 0;
    if (lib.elf_getphdrnum(elf, &n) != 0)
        return;
    for (size_t i = 0; i < n && e->nsegments < KELF_SEGMENTS; i++) {
        GElf_Phdr p;
        if (lib.gelf_getphdr(elf, (int)i, &p) == NULL || p.p_type != PT_LOAD)
            continue;
        const struct ksegment g = {p.p_offset, p.p_filesz, p.p_vaddr};
        if ((p.p_flags & PF_X) != 0)
            e->segment[e->nsegments++] = g;
        if ((p.p_flags & PF_W) != 0 && e->ndata < KELF_SEGMENTS)
            e->data[e->ndata++] = g;
    }
}

static void functions(Elf *elf, Elf_Scn *section, const GElf_Shdr *h, kelf_symbol_fn *use,
                      void *arg)
{
    Elf_Data *data = lib.elf_getdata(section, NULL);
    const size_t n = data != NULL && h->sh_entsize > 0 ? data->d_size / h->sh_entsize : 0;
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        GElf_Sym s;
        if (lib.gelf_getsym(data, (int)i, &s) == NULL)
            break;
        const int type = GELF_ST_TYPE(s.st_info);
        if ((type != STT_FUNC && type != STT_GNU_IFUNC) || s.st_shndx == SHN_UNDEF)
            continue;
        const char *name = lib.elf_strptr(elf, h->sh_link, s.st_name);
        if (name != NULL && name[0] != '\0')
            use(arg, name, strnlen(name, NAME_MOST), s.st_value, s.st_size, type != STT_FUNC);
    }
}

static void add_function(void *arg, const char *name, size_t len, uint64_t at, uint64_t size,
                         bool chosen)
{
    (void)chosen;
    kfuncs_add(arg, at, size, name, len, 0);
}

void kelf_symbols(int fd, kelf_symbol_fn *use, void *arg)
{
    Elf *elf = lib_open() ? lib.elf_begin(fd, ELF_C_READ, NULL) : NULL;
    GElf_Shdr h;
    if (elf == NULL)
        return;
    bool whole = false, dynamic = false; /* a file has one table of each */
    for (Elf_Scn *s = NULL; (s = lib.elf_nextscn(elf, s)) != NULL;) {
        bool *done = lib.gelf_getshdr(s, &h) == NULL ? NULL
                     : h.sh_type == SHT_SYMTAB       ? &whole
                     : h.sh_type == SHT_DYNSYM       ? &dynamic
                                                     : NULL;
        if (done == NULL || *done)
            continue;
        *done = true;
        functions(elf, s, &h, use, arg);
    }
    lib.elf_end(elf);
}

static void build_id(struct kelf *e, Elf_Scn *section)
{
    Elf_Data *data = lib.elf_getdata(section, NULL);
    size_t at = 0, name, desc;
    GElf_Nhdr n;
    while (data != NULL && (at = lib.gelf_getnote(data, at, &n, &name, &desc)) > 0)
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
            memcmp((char *)data->d_buf + name, "GNU", 4) == 0 && n.n_descsz > 1 &&
            n.n_descsz <= sizeof e->build_id) {
            e->nbuild_id = n.n_descsz;
            memcpy(e->build_id, (char *)data->d_buf + desc, n.n_descsz);
        }
}

bool kelf_read(struct kelf *e, int fd)
{
    *e = (struct kelf){.stripped = true};
    if (!lib_open())
        return false;
    Elf *elf = lib.elf_begin(fd, ELF_C_READ, NULL);
    if (elf == NULL)
        return true;
    segments(e, elf);
    Elf_Scn *dynamic = NULL;
    GElf_Shdr h, of_dynamic;
    for (Elf_Scn *s = NULL; (s = lib.elf_nextscn(elf, s)) != NULL;) {
        if (lib.gelf_getshdr(s, &h) == NULL)
            continue;
        if (h.sh_type == SHT_SYMTAB && e->stripped) {
            e->stripped = false;
            functions(elf, s, &h, add_function, &e->funcs);
        } else if (h.sh_type == SHT_DYNSYM) {
            dynamic = s;
            of_dynamic = h;
        } else if (h.sh_type == SHT_NOTE) {
            build_id(e, s);
        }
    }
    if (e->stripped && dynamic != NULL)
        functions(elf, dynamic, &of_dynamic, add_function, &e->funcs);
    lib.elf_end(elf);
    kfuncs_sort(&e->funcs);
    return !e->funcs.names.oom;
}

void kelf_section(int fd, const char *name, kelf_section_fn *use, void *arg)
{
    Elf *elf = lib_open() ? lib.elf_begin(fd, ELF_C_READ, NULL) : NULL;
    size_t names;
    GElf_Shdr h;
    if (elf == NULL)
        return;
    if (lib.elf_getshdrstrndx(elf, &names) == 0)
        for (Elf_Scn *s = NULL; (s = lib.elf_nextscn(elf, s)) != NULL;) {
            const char *is = lib.gelf_getshdr(s, &h) != NULL && h.sh_type != SHT_NOBITS
                                 ? lib.elf_strptr(elf, names, h.sh_name)
                                 : NULL;
            Elf_Data *data = is != NULL && strcmp(is, name) == 0 ? lib.elf_getdata(s, NULL) : NULL;
            if (data != NULL && data->d_buf != NULL) {
                use(arg, data->d_buf, data->d_size, h.sh_addr);
                break;
            }
        }
    lib.elf_end(elf);
}

void kelf_free(struct kelf *e)
{
    kfuncs_free(&e->funcs);
}
