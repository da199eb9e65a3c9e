/* fingers.c - writes c_src/linux/k_erts.list: the functions of Erlang VMs that these do not export,
 * known by their code (kfinger.h).
 *
 *   fingers list FULL STRIPPED...          the rows of these VMs: each is given twice, with its
 *                                          table of symbols, and without (strip)
 *   fingers compare FULL STRIPPED OTHER    how many functions that OTHER exports are known by their
 *                                          code in the other VM, and by which names: a measure of
 *                                          what a row is worth
 *
 * scripts/dev/fingers makes the list of these. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux/kcfi.h"
#include "linux/kelf.h"
#include "linux/kfinger.h"

enum { MOST = 1 << 17 };

struct print {
    uint64_t hash;
    char name[120];
    bool exported, twice;
};

struct prints {
    struct print *p;
    size_t n, nameless, alike;
};

struct vm {
    struct kelf full, stripped; /* full: only of a VM that is given twice */
    struct kcfi rows;
    bool twice;
    struct prints *to;
};

static void fail(const char *what, const char *of)
{
    fprintf(stderr, "fingers: %s: %s\n", of, what);
    exit(1);
}

static void rows(void *arg, const unsigned char *bytes, size_t n, uint64_t address)
{
    kcfi_read(arg, bytes, n, address);
}

static const char *name_in(const struct kelf *e, uint64_t at)
{
    const struct kfunction *f = kfuncs_find(&e->funcs, at);
    return f != NULL && f->at == at ? e->funcs.names.data + f->name : NULL;
}

static void code(void *arg, const unsigned char *bytes, size_t n, uint64_t address)
{
    struct vm *v = arg;
    const struct kfinger_code c = {bytes, n, address, &v->stripped.funcs};
    for (size_t i = 0; i < v->rows.nfuncs && v->to->n < MOST; i++) {
        const struct kextent *f = &v->rows.func[i];
        const char *exported = name_in(&v->stripped, f->at);
        const char *name = exported != NULL || !v->twice ? exported : name_in(&v->full, f->at);
        const uint64_t hash = kfinger_of(&c, f->at, f->size);
        struct print *p = &v->to->p[v->to->n];
        if (hash == 0)
            continue;
        v->to->n++;
        p->hash = hash;
        p->exported = exported != NULL;
        if (name != NULL && strlen(name) < sizeof p->name)
            strcpy(p->name, name);
        v->to->nameless += name == NULL;
    }
}

static void read_one(const char *path, struct kelf *e, struct kcfi *frames, struct vm *v)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !kelf_read(e, fd))
        fail("cannot be read", path);
    if (frames != NULL)
        kelf_section(fd, ".eh_frame", rows, frames);
    if (v != NULL)
        kelf_section(fd, ".text", code, v);
    close(fd);
}

static int by_hash(const void *a, const void *b)
{
    const struct print *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : strcmp(x->name, y->name);
}

/* Adds the functions of a VM. Those that are alike in it are marked. */
static void add(struct prints *to, const char *full, const char *stripped)
{
    struct vm v = {.twice = full != NULL, .to = to};
    const size_t first = to->n;
    if (full != NULL)
        read_one(full, &v.full, NULL, NULL);
    if (full != NULL && v.full.stripped)
        fail("has no table of symbols", full);
    read_one(stripped, &v.stripped, &v.rows, &v);
    if (!v.stripped.stripped)
        fail("is not stripped", stripped);
    struct print *p = to->p + first;
    const size_t n = to->n - first;
    qsort(p, n, sizeof *p, by_hash);
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && p[i + same].hash == p[i].hash; same++)
            ;
        for (size_t k = 0; same > 1 && k < same; k++)
            p[i + k].twice = true;
        to->alike += same > 1 ? same : 0;
    }
    kelf_free(&v.full);
    kelf_free(&v.stripped);
    kcfi_free(&v.rows);
}

/* Writes one row for each hash: what is one function's in one VM, and another's in another, is
 * nobody's. */
static void list(struct prints *all)
{
    size_t written = 0;
    qsort(all->p, all->n, sizeof *all->p, by_hash);
    for (size_t i = 0, same; i < all->n; i += same) {
        const struct print *p = &all->p[i];
        bool good = true;
        for (same = 0; i + same < all->n && all->p[i + same].hash == p->hash; same++)
            good = good && !p[same].twice && !p[same].exported && p[same].name[0] != '\0' &&
                   strcmp(p[same].name, p->name) == 0;
        if (good)
            printf("ROW(0x%016" PRIx64 ", \"%s\")\n", p->hash, p->name);
        written += good;
    }
    fprintf(stderr, "%zu functions, %zu alike, %zu without a name; %zu rows\n", all->n, all->alike,
            all->nameless, written);
}

static void compare(const struct prints *known, const struct prints *other)
{
    size_t exported = 0, right = 0, wrong = 0, nameless = 0, found = 0;
    for (size_t i = 0; i < other->n; i++) {
        const struct print *o = &other->p[i];
        const struct print *k = NULL;
        for (size_t j = 0; j < known->n && k == NULL; j++)
            k = known->p[j].hash == o->hash && !known->p[j].twice ? &known->p[j] : NULL;
        if (o->twice || (k != NULL && k->name[0] == '\0'))
            k = NULL;
        exported += o->exported;
        nameless += !o->exported;
        found += !o->exported && k != NULL;
        if (!o->exported || k == NULL)
            continue;
        right += strcmp(k->name, o->name) == 0;
        wrong += strcmp(k->name, o->name) != 0;
        if (strcmp(k->name, o->name) != 0)
            printf("  %s is taken for %s\n", o->name, k->name);
    }
    printf(
        "%zu exported functions: %zu known by their code under the same name, %zu under another, "
        "%zu not known\n%zu without a name: %zu known by their code\n",
        exported, right, wrong, exported - right - wrong, nameless, found);
}

int main(int argc, char **argv)
{
    struct prints a = {.p = calloc(MOST, sizeof *a.p)}, b = {.p = calloc(MOST, sizeof *b.p)};
    const bool lists = argc >= 4 && argc % 2 == 0 && strcmp(argv[1], "list") == 0;
    const bool compares = argc == 5 && strcmp(argv[1], "compare") == 0;
    if (a.p == NULL || b.p == NULL || (!lists && !compares)) {
        fprintf(stderr, "usage: fingers list FULL STRIPPED... | compare FULL STRIPPED OTHER\n");
        return 2;
    }
    for (int i = 2; i + 1 < argc && (lists || i == 2); i += 2)
        add(&a, argv[i], argv[i + 1]);
    if (compares)
        add(&b, NULL, argv[4]);
    if (lists)
        list(&a);
    else
        compare(&a, &b);
    free(a.p);
    free(b.p);
    return 0;
}
