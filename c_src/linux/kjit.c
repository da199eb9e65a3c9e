/* kjit.c - see kjit.h. */
#include "linux/kjit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"

enum {
    PAGE = 4096,
    PAGE_WORDS = PAGE / 8,
    BEFORE = 3,              /* words that a function may begin with, before a piece */
    CODE_MOST = 1 << 28,     /* bytes of one piece that are searched */
    FUNCTION_MOST = 1 << 20, /* bytes of a function */
    MODULE_MOST = 8 << 10,   /* functions of one module whose lines are known */
    WORDS = 24,              /* bytes of a function's three words */
    NAME_MOST = 2 * KBEAM_ATOM + 8,
    PRESENT = 63, /* bits of a word of /proc/PID/pagemap */
    SWAPPED = 62
};

/* Returns whether a function's code begins behind these four words. */
static bool begins(const uint64_t w[4])
{
    return w[0] % 8 == 0 && w[0] >> 47 == 0 && kmem_is_atom(w[1]) && kmem_is_atom(w[2]) &&
           w[3] < KMEM_ARITY;
}

bool kjit_scan(const uint64_t *word, size_t n, uint64_t at, const struct kbeam *v,
               kbeam_read_fn *read, void *arg, struct kfuncs *out)
{
    char module[KBEAM_ATOM], function[KBEAM_ATOM], name[NAME_MOST];
    for (size_t i = BEFORE; i < n; i++) {
        const uint64_t *w = word + i - BEFORE;
        if (!begins(w) || kbeam_text(v, w[1], read, arg, module) == 0 ||
            kbeam_text(v, w[2], read, arg, function) == 0)
            continue;
        const int len = snprintf(name, sizeof name, "%s:%s/%u", module, function, (unsigned)w[3]);
        if (!kfuncs_add(out, at + (i - 2) * 8, 0, name, (size_t)len, 0))
            return false;
    }
    return true;
}

static int open_of(uint64_t pid, const char *what)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, what);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_touched(int pagemap, uint64_t at)
{
    uint64_t word;
    return pread(pagemap, &word, sizeof word, (off_t)(at / PAGE * sizeof word)) == sizeof word &&
           ((word >> PRESENT & 1) != 0 || (word >> SWAPPED & 1) != 0);
}

/* What is read from. */
struct source {
    int memory, pagemap;
    struct kbeam_pages *pages;
    const struct kbeam *v;
    bool any; /* something could be read */
    struct code_extent code[CODE_RANGES];
    uint32_t ncode;
};

void kjit_free(struct kjit *j)
{
    kfuncs_free(&j->funcs);
    et_free(j->module);
    if (j->lines != NULL)
        lines_end(j->lines);
    et_free(j->lines);
    *j = (struct kjit){.nmodules = 0};
}

/* Names that have occurred in the module that is looked at, by their hash. */
struct seen {
    struct {
        uint32_t turn, hash;
    } cell[2 * MODULE_MOST];
    uint32_t turn; /* the number of the module */
};

/* Returns whether a name occurs for the first time. */
static bool is_first(struct seen *s, const char *name)
{
    const uint64_t hash = hash_bytes(name, strlen(name));
    uint32_t i = (uint32_t)hash % (2 * MODULE_MOST);
    for (; s->cell[i].turn == s->turn; i = (i + 1) % (2 * MODULE_MOST))
        if (s->cell[i].hash == (uint32_t)(hash >> 32))
            return false;
    s->cell[i].turn = s->turn;
    s->cell[i].hash = (uint32_t)(hash >> 32);
    return true;
}

/* Returns the number of functions from the i-th on that are of one module. What is left of older
 * code of a module may lie beside it, and has the same names once more. */
static uint32_t module_of(const struct kfuncs *f, size_t i, struct seen *seen,
                          uint64_t at[MODULE_MOST])
{
    const char *name = f->names.data + f->f[i].name;
    const size_t len = strcspn(name, ":") + 1;
    uint32_t n = 0;
    seen->turn++;
    while (n < MODULE_MOST && i + n < f->n) {
        const char *next = f->names.data + f->f[i + n].name;
        if (strncmp(next, name, len) != 0 || !is_first(seen, next))
            break;
        at[n] = f->f[i + n].at;
        n++;
    }
    return n;
}

/* Finds the headers of modules, from which lines are read. */
static void find_modules(struct kjit *j, const struct source *s)
{
    static _Thread_local uint64_t at[MODULE_MOST];
    struct seen *seen = et_calloc(1, sizeof *seen);
    j->lines = et_calloc(1, sizeof *j->lines);
    j->module = et_calloc(j->funcs.n / 2 + 1, sizeof *j->module);
    if (j->lines == NULL || j->module == NULL || seen == NULL ||
        !lines_begin(j->lines, s->memory, s->code, s->ncode)) {
        et_free(seen);
        return;
    }
    for (size_t i = 0, n; i < j->funcs.n; i += n) {
        n = module_of(&j->funcs, i, seen, at);
        lines_count(j->lines, at, (uint32_t)n);
    }
    const bool known = lines_shape(j->lines);
    for (size_t i = 0, n; known && i < j->funcs.n && j->nmodules < j->funcs.n / 2 + 1; i += n) {
        n = module_of(&j->funcs, i, seen, at);
        if (!lines_find(j->lines, at, (uint32_t)n, &j->module[j->nmodules]))
            continue;
        j->nmodules++;
        for (size_t k = i; k < i + n; k++)
            j->funcs.f[k].owner = j->nmodules;
    }
    lines_end(j->lines);
    et_free(seen);
}

/* Adds the functions of one piece. Returns false when memory is exhausted. */
static bool read_piece(struct source *s, uint64_t from, uint64_t to, struct kjit *j)
{
    uint64_t word[BEFORE + PAGE_WORDS] = {0};
    for (uint64_t at = from; at < to && at - from < CODE_MOST; at += PAGE) {
        memmove(word, word + PAGE_WORDS, BEFORE * sizeof *word);
        if (!is_touched(s->pagemap, at) || !kbeam_read(&s->memory, at, word + BEFORE, PAGE_WORDS)) {
            memset(word + BEFORE, 0xff, PAGE_WORDS * sizeof *word);
            continue;
        }
        if (!s->any)
            kjit_free(j);
        s->any = true;
        if (!kjit_scan(word, BEFORE + PAGE_WORDS, at - BEFORE * 8, s->v, kbeam_read_paged, s->pages,
                       &j->funcs))
            return false;
    }
    return true;
}

bool kjit_read(uint64_t pid, const struct kbeam *v, struct kjit *j)
{
    struct source s = {.memory = open_of(pid, "mem"), .pagemap = open_of(pid, "pagemap"), .v = v};
    struct kpiece piece[KMEM_PIECES];
    s.pages = kbeam_pages(s.memory);
    const uint32_t n =
        s.pages != NULL && s.memory >= 0 && s.pagemap >= 0 ? kbeam_code(pid, piece) : 0;
    for (uint32_t i = 0; i < n && i < CODE_RANGES; i++)
        s.code[s.ncode++] = (struct code_extent){piece[i].from, piece[i].to};
    for (uint32_t i = 0; i < n && read_piece(&s, piece[i].from, piece[i].to, j); i++)
        ;
    if (s.any) {
        kfuncs_sort(&j->funcs);
        find_modules(j, &s);
    }
    et_free(s.pages);
    if (s.memory >= 0)
        close(s.memory);
    if (s.pagemap >= 0)
        close(s.pagemap);
    return s.any;
}

uint32_t kjit_line(uint64_t pid, struct kjit *j, const struct kfunction *f, uint64_t address,
                   const char **file)
{
    static _Thread_local struct lines_site site[LINES_SITES];
    const struct lines_module *m = f->owner > 0 ? &j->module[f->owner - 1] : NULL;
    const int memory = m != NULL && address - f->at > WORDS ? open_of(pid, "mem") : -1;
    if (memory < 0)
        return 0;
    const size_t n = lines_read(j->lines, memory, m, f->at, site);
    const uint32_t location = lines_location(site, n, address - 1 - f->at);
    const size_t len = location != 0 ? lines_file(j->lines, memory, m, location >> 24, j->file) : 0;
    close(memory);
    j->file[len] = '\0';
    *file = j->file;
    return len > 0 ? location & 0xffffff : 0;
}

bool kjit_changed(uint64_t pid, const struct kjit *j, const struct kfunction *f)
{
    const int memory = f->owner > 0 ? open_of(pid, "mem") : -1;
    const bool changed = memory >= 0 && !lines_still(j->lines, memory, &j->module[f->owner - 1]);
    if (memory >= 0)
        close(memory);
    return changed;
}

bool kjit_holds(uint64_t pid, const struct kbeam *v, const struct kfunction *f, uint64_t address)
{
    const uint64_t from = f->at - 8, n = (address - from) / 8;
    uint64_t word[PAGE_WORDS];
    bool holds =
        address - f->at < FUNCTION_MOST && kbeam_in_code(v, from) && kbeam_in_code(v, address);
    int memory = holds ? open_of(pid, "mem") : -1;
    holds = memory >= 0;
    /* Pieces overlap by three words; only the first of all words begins a function. */
    for (uint64_t i = 0; holds && i + BEFORE < n; i += PAGE_WORDS - BEFORE) {
        const unsigned some = n - i < PAGE_WORDS ? (unsigned)(n - i) : PAGE_WORDS;
        holds = kbeam_read(&memory, from + i * 8, word, some);
        for (unsigned k = 0; holds && k + BEFORE < some; k++)
            holds = begins(word + k) == (i + k == 0);
    }
    if (memory >= 0)
        close(memory);
    return holds;
}
