/* code.c - see code.h. */
#include "beam/probe/code.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "arch/page.h"
#include "beam/probe/maps.h"

enum {
    FUNCTIONS_MOST = 1 << 20,
    SYMBOLS_MOST = 1 << 16,
    PART = 256 << 10, /* bytes searched in one call: several pages, however large */
    PAGE_LEAST = 4096,
    HEAD = 3,                /* words in front of a function's code */
    UNKNOWN = 8,             /* bytes before its code: in it, but nobody knows where */
    EXTENT_MOST = 4 << 20,   /* bytes of one function's code */
    STACK_LOOKED = 16 << 10, /* words of a stack that are examined */
    EVENT_LOOKED = 64 << 10, /* words of code, for all frames of a stack */
    MAPPING_LINE = 512,      /* bytes of a line of the list of mappings */
    BODY_LOOKED = 4 << 10,   /* words of a function's code, for each frame */
    ATOM_BITS = 63,          /* of a word that is an atom ... */
    ATOM = 11,               /* ... these are so */
    NAMES_AT_ONCE = 64,      /* handed over in one answer ... */
    SITES_AT_ONCE = 8192,    /* ... with about as many lines */
    MODULES_AT_ONCE = 16,    /* whose headers are looked for in one call */
    MODULE_MOST = 8 << 10,   /* functions of one module whose lines are known */
    ARITY_MOST = 255,
    WINDOW = 64,     /* words that are read at once, where there is no view */
    LOOKS_FRAME = 16 /* units of work for one frame */
};
#define VIEW_NAME "memfd:vmem"

struct entry {
    uint64_t at; /* of its three words */
    ERL_NIF_TERM m, f;
    uint32_t arity;
    uint32_t header;   /* of its module, plus 1; 0: not known */
    _Atomic bool told; /* it is in the log */
};

/* A mapping of code, and our own view of the same memory, which stays when the VM gives up its own.
 * A SINGLE mapping (+JMsingle, +JPperf) belongs to no file, so it can have no view. */
struct mapping {
    struct code_extent code;
    uint64_t inode;            /* of the memory, so that another one at this place is noticed */
    const unsigned char *view; /* read-only; NULL: none, it is a single one */
    uint64_t first;            /* the first entry in it */
};

struct table {
    struct entry *v; /* in order of `at` */
    uint32_t n;
    uint32_t *index; /* of entries, by name, plus 1; open addressing */
    uint32_t mask;
    struct lines_module *header; /* of modules */
    struct mapping code[CODE_RANGES];
    uint32_t ncode;
    int memory;           /* /proc/self/mem, if there are single mappings; else -1. The server's */
    _Atomic bool resting; /* no program takes stacks: it is not read, and loses its views */
    struct engine_mark rests;
};

static struct lines shape; /* what is known of line tables; the server's */
static _Atomic(struct table *) current;
static _Atomic bool stale;     /* a frame was not explained */
static _Atomic bool nameless;  /* a function was not found, which may have no code of its own */
static _Atomic bool elsewhere; /* a return address was seen outside of all mappings */

/* Returns the table that may be read; NULL: there is none. */
static const struct table *in_use(void)
{
    const struct table *t = atomic_load_explicit(&current, memory_order_acquire);
    return t != NULL && !atomic_load(&t->resting) ? t : NULL;
}

static uint32_t slot(const struct table *t, ERL_NIF_TERM m, ERL_NIF_TERM f, uint64_t arity)
{
    return (uint32_t)hash_mix(m, f ^ arity << 32) & t->mask;
}

/* -- the log ----------------------------------------------------------------------------------- */

static struct symbol {
    uint64_t from, to;
    ERL_NIF_TERM m, f;
    uint32_t arity;
    struct lines_module header;
    char *name; /* NULL: that of the function m:f/arity */
    _Atomic bool ready;
} * symbols; /* SYMBOLS_MOST; NULL until the first table */
static _Atomic uint32_t nsymbols;

static void tell(const struct table *t, struct entry *e)
{
    if (atomic_load_explicit(&e->told, memory_order_relaxed) || atomic_exchange(&e->told, true))
        return;
    uint32_t i = atomic_fetch_add(&nsymbols, 1);
    if (i >= SYMBOLS_MOST) { /* its frames stay without names */
        atomic_store(&nsymbols, SYMBOLS_MOST);
        return;
    }
    symbols[i].from = e->at;
    symbols[i].to = e + 1 < t->v + t->n ? e[1].at : e->at + EXTENT_MOST;
    symbols[i].m = e->m;
    symbols[i].f = e->f;
    symbols[i].arity = e->arity;
    symbols[i].header = e->header > 0 ? t->header[e->header - 1] : (struct lines_module){0};
    atomic_store_explicit(&symbols[i].ready, true, memory_order_release);
}

bool code_tell(uint64_t from, uint64_t to, const char *name)
{
    char *kept = symbols != NULL ? et_calloc(1, strlen(name) + 1) : NULL;
    const uint32_t i = kept != NULL ? atomic_fetch_add(&nsymbols, 1) : SYMBOLS_MOST;
    if (kept == NULL)
        return false;
    if (i >= SYMBOLS_MOST) {
        atomic_store(&nsymbols, SYMBOLS_MOST);
        et_free(kept);
        return false;
    }
    symbols[i].from = from;
    symbols[i].to = to;
    symbols[i].name = strcpy(kept, name);
    atomic_store_explicit(&symbols[i].ready, true, memory_order_release);
    return true;
}

/* Returns whether the words of a function are still at an address. */
static bool is_there(int memory, const struct symbol *s)
{
    uint64_t word[HEAD];
    return s->name == NULL && pread(memory, word, sizeof word, (off_t)s->from) == sizeof word &&
           word[0] == s->m && word[1] == s->f && word[2] == s->arity;
}

static ERL_NIF_TERM text_term(ErlNifEnv *env, const char *text, size_t len)
{
    ERL_NIF_TERM term;
    memcpy(enif_make_new_binary(env, len, &term), text, len);
    return term;
}

/* Makes the two terms of a function's lines: its module's files as far as they occur, and its
 * sites. Returns the number of sites. */
static size_t lines_terms(ErlNifEnv *env, int memory, const struct symbol *s, ERL_NIF_TERM out[2])
{
    static struct lines_site site[LINES_SITES];
    char name[LINES_FILE_MOST];
    uint32_t nfiles = 0;
    size_t n = is_there(memory, s) ? lines_read(&shape, memory, &s->header, s->from, site) : 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t file = site[i].location >> 24;
        if (site[i].location != 0 && file >= nfiles && file < LINES_FILES)
            nfiles = file + 1;
    }
    out[0] = enif_make_list(env, 0);
    for (uint32_t i = nfiles; i-- > 0;) {
        ERL_NIF_TERM file = text_term(env, name, lines_file(&shape, memory, &s->header, i, name));
        out[0] = enif_make_list_cell(env, file, out[0]);
    }
    if (n > 0 && (!is_there(memory, s) || !lines_still(&shape, memory, &s->header)))
        n = 0; /* other code came meanwhile */
    out[1] = text_term(env, (const char *)site, n * sizeof *site);
    return n;
}

ERL_NIF_TERM code_names_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned i;
    char text[2 * 1024 + 16];
    if (!agent_is_server(env) || !enif_get_uint(env, argv[0], &i))
        return enif_make_badarg(env);
    ERL_NIF_TERM list = enif_make_list(env, 0), lines[2];
    size_t sites = 0;
    int memory = -1;
    for (unsigned n = 0;
         symbols != NULL && n < NAMES_AT_ONCE && sites < SITES_AT_ONCE && i < SYMBOLS_MOST &&
         atomic_load_explicit(&symbols[i].ready, memory_order_acquire);
         i++, n++) {
        const struct symbol *s = &symbols[i];
        if (memory < 0)
            memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        sites += lines_terms(env, memory, s, lines);
        ERL_NIF_TERM name =
            s->name != NULL
                ? text_term(env, s->name, strlen(s->name))
                : text_term(env, text, term_mfa(env, s->m, s->f, s->arity, text, sizeof text));
        list = enif_make_list_cell(env,
                                   enif_make_tuple5(env, enif_make_uint64(env, s->from),
                                                    enif_make_uint64(env, s->to), name, lines[0],
                                                    lines[1]),
                                   list);
    }
    if (memory >= 0)
        close(memory);
    return enif_make_tuple2(env, enif_make_uint(env, i), list);
}

/* -- stacks ------------------------------------------------------------------------------------ */

/* Returns the mapping that an address lies in, NULL: it is not code of this table. */
static const struct mapping *mapping_of(const struct table *t, uint64_t at)
{
    for (uint32_t i = 0; i < t->ncode; i++)
        if (at >= t->code[i].code.from && at < t->code[i].code.to)
            return &t->code[i];
    return NULL;
}

typedef const volatile uint64_t words_read; /* other threads may write it */

/* Returns where the words in front of a function at this address can be read whatever has become of
 * the VM's mapping; NULL: nowhere. */
static words_read *view_of(const struct table *t, uint64_t at)
{
    const struct mapping *m = mapping_of(t, at);
    return m != NULL && m->view != NULL && at + HEAD * 8 <= m->code.to
               ? (words_read *)(const volatile void *)(m->view + (at - m->code.from))
               : NULL;
}

/* How what lies in front of an address is read: where it is, since the process that runs here will
 * return there; or whatever has become of it, in views, and through the system where there is none.
 * The last one is for the server alone. */
enum reading { LIVE, VIEWED };

/* Words of code, in order of addresses. */
struct window {
    uint64_t from;
    uint64_t word[WINDOW];
    uint64_t n; /* that have been read */
};

/* Reads words that end behind the three at this address. */
static bool window_read(struct window *w, const struct table *t, const struct mapping *m,
                        uint64_t at)
{
    const uint64_t room =
        at - m->code.from < (WINDOW - HEAD) * 8 ? (at - m->code.from) / 8 : WINDOW - HEAD;
    w->from = at - room * 8;
    w->n = room + HEAD;
    if (at + HEAD * 8 > m->code.to || !inside_read(t->memory, w->from, w->word, w->n))
        w->n = 0;
    return w->n > 0;
}

/* Returns the three words at an address of a mapping; NULL: they cannot be read. */
static words_read *words_at(const struct table *t, const struct mapping *m, uint64_t at,
                            enum reading how, struct window *w)
{
    if (how == LIVE)
        return (words_read *)(uintptr_t)at;
    if (m->view != NULL)
        return view_of(t, at);
    if ((w->n == 0 || at < w->from || at + HEAD * 8 > w->from + w->n * 8) &&
        !window_read(w, t, m, at))
        return NULL;
    return &w->word[(at - w->from) / 8];
}

static bool is_entry_at(words_read *word, const struct entry *e)
{
    return word[0] == e->m && word[1] == e->f && word[2] == e->arity;
}

/* Returns whether the words of an entry are still in front of its code. */
static bool still_there(const struct table *t, const struct entry *e, enum reading how)
{
    struct window w; /* large: only its number is set */
    w.n = 0;
    const struct mapping *m = mapping_of(t, e->at);
    words_read *word = how == LIVE ? view_of(t, e->at) : words_at(t, m, e->at, how, &w);
    return word != NULL && is_entry_at(word, e);
}

/* Returns the last entry at or before an address, NULL: there is none. */
static struct entry *before(const struct table *t, uint64_t at)
{
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->v[mid].at <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? &t->v[low - 1] : NULL;
}

/* Returns whether these could be the words in front of a function: two atoms and an arity. */
static bool is_head(words_read *word)
{
    return word[2] <= ARITY_MOST && (word[0] & ATOM_BITS) == ATOM && (word[1] & ATOM_BITS) == ATOM;
}

/* Returns the function that an address in code belongs to, NULL: the table does not explain it.
 *
 * Another function may begin between the entry and the address, which came after the table, in what
 * was free space then: the nearest words that could be a function's must be the entry's.
 *
 * LIVE: the process that runs here will return there. Then all code from the function's words on
 * is mapped, and is read where it is: from the address downwards, no further than to the first
 * words that could be a function's, which are those of its own function at the latest. Any other
 * address may have been unmapped, or be memory of something else by now: it is read in the view of
 * the mapping that the table has found, and so are the words of a function that begins too far
 * away. */
static struct entry *explain(const struct table *t, uint64_t at, enum reading how, uint64_t *looked)
{
    struct window w; /* large: only its number is set */
    w.n = 0;
    struct entry *e = before(t, at);
    const struct mapping *m = mapping_of(t, at);
    if (m == NULL || e == NULL || e->at < m->code.from || at - e->at > EXTENT_MOST)
        return NULL;
    uint64_t p = (at - HEAD * 8) & ~UINT64_C(7);
    for (unsigned n = 0; at >= e->at + HEAD * 8 && p >= e->at && n < BODY_LOOKED; p -= 8, n++) {
        words_read *word = words_at(t, m, p, how, &w);
        ++*looked;
        if (word == NULL)
            return NULL;
        if (is_head(word))
            return p == e->at && is_entry_at(word, e) ? e : NULL;
    }
    return still_there(t, e, how) ? e : NULL;
}

/* Returns where an address lies; *found: in which function, if it is in one. Notes the function for
 * the log. In front of the first function are pieces that the VM's own code and all functions
 * share, such as the end of every process: no frames. */
static enum code_place place_of(const struct table *t, uint64_t at, enum reading how,
                                struct entry **found, uint64_t *looked)
{
    const struct mapping *m = mapping_of(t, at);
    if (m == NULL || at < m->first)
        return CODE_ELSEWHERE;
    struct entry *e = *found = explain(t, at, how, looked);
    if (e == NULL) {
        atomic_store_explicit(&stale, true, memory_order_relaxed);
        return CODE_UNKNOWN;
    }
    if (at < e->at + HEAD * 8)
        return CODE_ELSEWHERE;
    tell(t, e);
    return CODE_FUNCTION;
}

/* Returns whether a word of a process's stack is a return address. Only these have such a tag, the
 * frames of trace patterns, which also have the address of their function's three words, and frame
 * pointers (+JPperf fp), which lead into the stack. One that is in no mapping is in one that is
 * younger than the table. */
static bool is_frame(const struct table *t, uint64_t word, const uint64_t *from, const uint64_t *to,
                     uint64_t *looked)
{
    if ((word & 3) != 0 || word < INSIDE_LOWEST ||
        (word >= (uint64_t)(uintptr_t)from && word <= (uint64_t)(uintptr_t)to))
        return false;
    struct entry *in;
    if (mapping_of(t, word) != NULL)
        return place_of(t, word, LIVE, &in, looked) != CODE_ELSEWHERE;
    atomic_store_explicit(&elsewhere, true, memory_order_relaxed);
    return true;
}

enum code_place code_place(uint64_t at, struct code_function *fn, uint64_t *looked)
{
    const struct table *t = in_use();
    struct entry *in;
    const enum code_place place = t == NULL ? CODE_ELSEWHERE : place_of(t, at, VIEWED, &in, looked);
    if (place == CODE_FUNCTION)
        *fn = (struct code_function){in->m, in->f, in->arity};
    return place;
}

uint32_t code_ranges(struct code_extent out[CODE_RANGES])
{
    const struct table *t = in_use();
    if (t == NULL || t->n == 0)
        return 0;
    for (uint32_t i = 0; i < t->ncode; i++)
        out[i] = t->code[i].code;
    return t->ncode;
}

/* Returns the entry of a function, NULL: not known. In a single mapping it may be that of code that
 * has been replaced since the table was made: its name is right. */
static struct entry *entry_of(const struct table *t, ERL_NIF_TERM m, ERL_NIF_TERM f, uint32_t arity)
{
    for (uint32_t i = slot(t, m, f, arity); t->index[i]; i = (i + 1) & t->mask) {
        struct entry *e = &t->v[t->index[i] - 1];
        if (e->m == m && e->f == f && e->arity == arity &&
            (mapping_of(t, e->at)->view == NULL || still_there(t, e, LIVE)))
            return e;
    }
    atomic_store_explicit(&nameless, true, memory_order_relaxed);
    return NULL;
}

uint64_t code_address(uint64_t m, uint64_t f, uint64_t arity)
{
    const struct table *t = in_use();
    struct entry *e = t != NULL && arity <= ARITY_MOST ? entry_of(t, m, f, (uint32_t)arity) : NULL;
    if (e == NULL)
        return 0;
    tell(t, e);
    return e->at + HEAD * 8 - UNKNOWN;
}

/* Returns the function that the process is in, where the event is about it or tells it: its own
 * return address is not on the stack. */
static struct entry *innermost(const struct table *t, const struct event *ev)
{
    ERL_NIF_TERM m, f;
    unsigned arity;
    bool args;
    if (ev->fn != NULL)
        return entry_of(t, ev->fn->m, ev->fn->f, ev->fn->arity);
    return ev->msg_is == DIF_BUILTIN_erlfunc &&
                   event_get_mfa(ev->env, ev->msg, &m, &f, &arity, &args)
               ? entry_of(t, m, f, arity)
               : NULL;
}

/* Returns whether the process is at the beginning of that function. */
static bool is_entry(const struct event *ev)
{
    return ev->fn != NULL && !ev->at.left;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
    return a != NULL && b != NULL && a->m == b->m && a->f == b->f && a->arity == b->arity;
}

uint32_t code_stack(struct engine_ctx *ctx, uint64_t *frames, uint32_t most)
{
    struct event *ev = event_of(ctx);
    const struct table *t = in_use();
    const uint64_t *from, *to;
    uint32_t n = 0, looked = 0;
    if (ctx->own || t == NULL ||
        !inside_stack(ev->env, &tracer_thread(ev->t)->inside, ev->pid, &from, &to))
        return 0;
    struct entry *own = innermost(t, ev);
    if (own != NULL && most > 0) {
        tell(t, own);
        frames[n++] = own->at + HEAD * 8 - (is_entry(ev) ? 0 : UNKNOWN);
    }
    for (const uint64_t *w = from;
         w < to && n < most && looked < STACK_LOOKED && ctx->looked < EVENT_LOOKED; w++, looked++) {
        const uint64_t word = *w;
        if (is_frame(t, word, from, to, &ctx->looked))
            frames[n++] = word;
    }
    /* A function that an exception leaves may still have its frame, and that of the call in it. */
    while (ev->other != 0 && own != NULL && n > 1 &&
           is_same(before(t, frames[0]), before(t, frames[1]))) {
        memmove(frames, frames + 1, --n * sizeof *frames);
        frames[n] = 0;
    }
    ctx->looked += looked + n * LOOKS_FRAME;
    return n;
}

bool code_caller(struct engine_ctx *ctx, ERL_NIF_TERM *m, ERL_NIF_TERM *f, unsigned *arity)
{
    uint64_t frame[2] = {0};
    struct event *ev = event_of(ctx);
    const struct table *t = in_use();
    /* A function that has no code of its own is not among the frames. */
    const bool alone = t != NULL && ev->fn != NULL && innermost(t, ev) == NULL;
    const uint32_t n = t != NULL && ctx->stack != NULL ? ctx->stack(ctx, frame, alone ? 1 : 2) : 0;
    const enum reading how = ctx->stack == code_stack ? LIVE : VIEWED;
    const struct entry *e =
        n == (alone ? 1u : 2u) ? explain(t, frame[n - 1], how, &ctx->looked) : NULL;
    if (e == NULL)
        return false;
    *m = e->m;
    *f = e->f;
    *arity = e->arity;
    return true;
}

/* -- making a table ---------------------------------------------------------------------------- */

/* The server alone. */
static struct making {
    struct entry *known; /* by name, open addressing; m 0: free */
    uint64_t mask;
    uint32_t n, most;
    struct entry *found; /* in order of addresses */
    uint32_t nfound, cap;
    struct mapping code[CODE_RANGES];
    uint32_t ncode;
    uint32_t range; /* being searched, from `at` on */
    uint64_t at;
    int memory; /* /proc/self/mem; -1: closed */
    /* After the search, modules are counted, then their headers are found (lines.h). */
    enum { SEARCHING, COUNTING, FINDING } phase;
    uint32_t next;               /* of the found: the first of the next module */
    struct lines_module *header; /* nheaders, of headers_most: as many as modules were added */
    uint32_t nheaders, headers_most;
} making = {.memory = -1};
static struct table *old; /* replaced, until `left` is quiet */
static struct engine_mark left;

/* Gives up the views of mappings. */
static void views_end(struct mapping *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (m[i].view != NULL)
            munmap((void *)(uintptr_t)m[i].view, m[i].code.to - m[i].code.from);
        m[i].view = NULL;
    }
}

static void table_free(struct table *t)
{
    if (t == NULL)
        return;
    views_end(t->code, t->ncode);
    if (t->memory >= 0)
        close(t->memory);
    et_free(t->v);
    et_free(t->index);
    et_free(t->header);
    et_free(t);
}

static void making_end(void)
{
    if (making.memory >= 0)
        close(making.memory);
    et_free(making.known);
    et_free(making.found);
    et_free(making.header);
    views_end(making.code, making.ncode);
    lines_end(&shape);
    making = (struct making){.memory = -1};
}

static struct entry *known(ERL_NIF_TERM m, ERL_NIF_TERM f, uint64_t arity)
{
    uint64_t i = hash_mix(m, f ^ arity << 32) & making.mask;
    while (making.known[i].m != 0 &&
           (making.known[i].m != m || making.known[i].f != f || making.known[i].arity != arity))
        i = (i + 1) & making.mask;
    return &making.known[i];
}

/* Calls fn for the mappings of the VM's code: those that are as `rights` says, and of the name that
 * it gives to its memory of code; NULL: without a name. */
static void each_mapping(const char *rights, const char *name,
                         void (*fn)(void *arg, const struct mapping *m), void *arg)
{
    char line[MAPPING_LINE];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        struct maps_line l;
        const bool named = name == NULL ? strpbrk(line, "/[") == NULL : strstr(line, name) != NULL;
        if (strstr(line, rights) != NULL && named && maps_read(line, &l)) {
            const struct mapping m = {.code = {l.from, l.to}, .inode = l.inode};
            fn(arg, &m);
        }
    }
    if (maps != NULL)
        fclose(maps);
}

struct mappings {
    struct mapping v[CODE_RANGES];
    uint32_t n;
};

static void add_mapping(void *arg, const struct mapping *m)
{
    struct mappings *all = arg;
    if (all->n < CODE_RANGES)
        all->v[all->n++] = *m;
}

/* The same, of memory without a name: the system may list one piece of it as several. */
static void add_single(void *arg, const struct mapping *m)
{
    struct mappings *all = arg;
    struct mapping *last = all->n > 0 ? &all->v[all->n - 1] : NULL;
    if (last != NULL && last->code.to == m->code.from)
        last->code.to = m->code.to;
    else
        add_mapping(arg, m);
}

/* Finds the VM's mappings of code. Ours cannot be executed. A VM that maps its code once has memory
 * without a name that can be both written and executed; if there is more of that than mappings of
 * code can be, it is something else. */
static void find_code(struct mappings *out)
{
    out->n = 0;
    each_mapping(" r-xs ", VIEW_NAME, add_mapping, out);
    if (out->n > 0)
        return;
    each_mapping(" rwxp ", NULL, add_single, out);
    if (out->n == CODE_RANGES)
        out->n = 0;
}

/* Confirms a view that is the memory which it should be. */
static void confirm(void *arg, const struct mapping *seen)
{
    struct mappings *all = arg;
    for (uint32_t i = 0; i < all->n; i++)
        if ((uint64_t)(uintptr_t)all->v[i].view == seen->code.from &&
            seen->code.to - seen->code.from == all->v[i].code.to - all->v[i].code.from &&
            seen->inode == all->v[i].inode)
            all->v[i].first = 1;
}

/* Makes a view of each mapping: the system maps the same memory once more (mremap(2), old_size 0).
 * The VM may unmap its own meanwhile, or map another there: so what came is looked at. Mappings
 * without a view are left out. */
static void make_views(struct mappings *all)
{
    for (uint32_t i = 0; i < all->n; i++) {
        struct mapping *m = &all->v[i];
        m->first = m->inode == 0;
        if (m->inode == 0)
            continue;
        const size_t size = m->code.to - m->code.from;
        void *view = mremap((void *)(uintptr_t)m->code.from, 0, size, MREMAP_MAYMOVE);
        if (view != MAP_FAILED && mprotect(view, size, PROT_READ) == 0)
            m->view = view;
        else if (view != MAP_FAILED)
            munmap(view, size);
    }
    each_mapping(" r--s ", VIEW_NAME, confirm, all);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (all->v[i].first != 0)
            all->v[n++] = all->v[i];
        else
            views_end(&all->v[i], 1);
    all->n = n;
}

/* Returns whether the VM's mappings are not those of the table. */
static bool has_moved(const struct table *t)
{
    struct mappings now;
    find_code(&now);
    bool same = now.n == t->ncode;
    for (uint32_t i = 0; same && i < now.n; i++)
        same = now.v[i].code.from == t->code[i].code.from &&
               now.v[i].code.to == t->code[i].code.to && now.v[i].inode == t->code[i].inode;
    return !same;
}

/* Frees the table that was replaced, once no thread can be reading it. Returns whether it is gone.
 */
static bool old_ends(void)
{
    if (old != NULL && engine_quiet(&left)) {
        table_free(old);
        old = NULL;
    }
    return old == NULL;
}

ERL_NIF_TERM code_begin_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    unsigned n;
    uint64_t cap = 64;
    if (!agent_is_server(env) || !enif_get_uint(env, argv[0], &n))
        return enif_make_badarg(env);
    making_end();
    if (n > FUNCTIONS_MOST || !old_ends())
        return agent.atom.false_;
    if (symbols == NULL && (symbols = et_calloc(SYMBOLS_MOST, sizeof *symbols)) == NULL)
        return agent.atom.false_;
    while (cap < 2 * (uint64_t)n)
        cap *= 2;
    struct mappings all;
    find_code(&all);
    make_views(&all);
    memcpy(making.code, all.v, sizeof all.v);
    making.ncode = all.n;
    making.known = et_calloc(cap, sizeof *making.known);
    making.memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    if (making.known == NULL || making.memory < 0 || making.ncode == 0) {
        making_end();
        return agent.atom.false_;
    }
    making.mask = cap - 1;
    making.most = n;
    making.at = making.code[0].code.from;
    atomic_store(&stale, false);
    atomic_store(&nameless, false);
    atomic_store(&elsewhere, false);
    return agent.atom.true_;
}

ERL_NIF_TERM code_add_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    ERL_NIF_TERM head, list = argv[1];
    const ERL_NIF_TERM *fa;
    int n;
    unsigned arity;
    if (!agent_is_server(env) || making.known == NULL || !enif_is_atom(env, argv[0]))
        return enif_make_badarg(env);
    while (making.n < making.most && enif_get_list_cell(env, list, &head, &list)) {
        if (!enif_get_tuple(env, head, &n, &fa) || n != 2 || !enif_is_atom(env, fa[0]) ||
            !enif_get_uint(env, fa[1], &arity) || arity > ARITY_MOST)
            continue;
        struct entry *e = known(argv[0], fa[0], arity);
        making.n += e->m == 0;
        e->m = argv[0];
        e->f = fa[0];
        e->arity = arity;
    }
    return agent.atom.ok;
}

/* Notes the functions whose words begin in the first `n` of these. */
static void search(const uint64_t *word, size_t n, uint64_t at)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_head(&word[i]))
            continue;
        struct entry *e = known(word[i], word[i + 1], word[i + 2]);
        uint64_t here = at + i * 8;
        if (e->m == 0 || making.nfound == FUNCTIONS_MOST ||
            (making.nfound > 0 && making.found[making.nfound - 1].at >= here)) /* searched twice */
            continue;
        if (making.nfound == making.cap) {
            uint32_t cap = making.cap > 0 ? 2 * making.cap : 1024;
            struct entry *more = et_rearray(making.found, cap, sizeof *more);
            if (more == NULL)
                return;
            making.found = more;
            making.cap = cap;
        }
        making.found[making.nfound++] =
            (struct entry){.at = here, .m = e->m, .f = e->f, .arity = e->arity};
    }
}

/* The functions of the module that is being examined, by name: numbers of found entries, plus 1.
 * Those of modules before it count as free. */
static uint32_t named[2 * MODULE_MOST];

/* Returns whether the module has not had a function of this name yet, which is kept. */
static bool is_first(uint32_t i)
{
    const struct entry *e = &making.found[i];
    uint32_t slot = (uint32_t)hash_mix(e->f, e->arity);
    for (;; slot++) {
        uint32_t *there = &named[slot % (2 * MODULE_MOST)];
        if (*there <= making.next) {
            *there = i + 1;
            return true;
        }
        if (making.found[*there - 1].f == e->f && making.found[*there - 1].arity == e->arity)
            return false;
    }
}

/* Examines the next modules of those that were found. Returns false after the last one. What is
 * left of older code of a module may lie in front of it: there its names begin again. */
static bool look_at_headers(void)
{
    static uint64_t at[MODULE_MOST]; /* the server is one process */
    for (unsigned done = 0; done < MODULES_AT_ONCE && making.next < making.nfound; done++) {
        const struct entry *e = &making.found[making.next];
        uint32_t n = 0;
        while (n < MODULE_MOST && making.next + n < making.nfound && e[n].m == e->m &&
               is_first(making.next + n)) {
            at[n] = e[n].at;
            n++;
        }
        struct lines_module *header = &making.header[making.nheaders];
        if (making.phase == COUNTING) {
            lines_count(&shape, at, n);
        } else if (making.nheaders < making.headers_most && lines_find(&shape, at, n, header)) {
            making.nheaders++;
            for (uint32_t i = 0; i < n; i++)
                making.found[making.next + i].header = making.nheaders;
        }
        making.next += n;
    }
    if (making.next < making.nfound)
        return true;
    making.next = 0;
    memset(named, 0, sizeof named);
    if (making.phase == FINDING || !lines_shape(&shape))
        return false;
    making.phase = FINDING;
    return true;
}

/* Returns whether modules will be examined. */
static bool search_ends(void)
{
    making.phase = COUNTING;
    memset(named, 0, sizeof named);
    making.headers_most = making.nfound / 2 + 1; /* most modules have two functions at least */
    making.header = et_calloc(making.headers_most, sizeof *making.header);
    struct code_extent code[CODE_RANGES];
    for (uint32_t i = 0; i < making.ncode; i++)
        code[i] = making.code[i].code;
    return making.nfound > 0 && making.header != NULL &&
           lines_begin(&shape, making.memory, code, making.ncode);
}

/* Searches a part of the mapping, but only its pages that are in memory: reading another one would
 * make the system provide it. Then examines modules. */
ERL_NIF_TERM code_scan_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    static uint64_t words[PART / 8 + HEAD];
    unsigned char there[PART / PAGE_LEAST];
    const size_t page = page_size();
    if (!agent_is_server(env) || making.known == NULL)
        return enif_make_badarg(env);
    if (making.phase != SEARCHING)
        return look_at_headers() ? agent.atom.true_ : agent.atom.false_;
    const struct code_extent *code = &making.code[making.range].code;
    uint64_t bytes = code->to - making.at;
    bytes = bytes < PART ? bytes : PART;
    memset(words, 0, sizeof words);
    memset(there, 0, sizeof there);
    if (mincore((void *)(uintptr_t)making.at, bytes, there) == 0)
        for (uint64_t p = 0; p < bytes; p += page)
            if ((there[p / page] & 1) != 0 &&
                pread(making.memory, &words[p / 8], page, (off_t)(making.at + p)) != (ssize_t)page)
                memset(&words[p / 8], 0, page);
    /* The last ones are searched with the next part, unless this is the end. */
    bool last = making.at + bytes >= code->to;
    search(words, bytes / 8 - (last ? HEAD : HEAD - 1), making.at);
    if (!last) {
        making.at += bytes - page;
        return agent.atom.true_;
    }
    making.range++;
    making.at = making.range < making.ncode ? making.code[making.range].code.from : 0;
    return making.range < making.ncode || search_ends() ? agent.atom.true_ : agent.atom.false_;
}

/* Fills in a table from what was found. Returns false when out of memory. */
static bool fill(struct table *t)
{
    uint64_t cap = 64;
    t->n = making.nfound;
    while (cap < 2 * (uint64_t)t->n)
        cap *= 2;
    t->mask = (uint32_t)(cap - 1);
    t->index = et_calloc(cap, sizeof *t->index);
    if (t->index == NULL || making.found == NULL)
        return false;
    t->v = making.found;
    making.found = NULL;
    t->header = making.header;
    making.header = NULL;
    const struct table *was = atomic_load(&current);
    for (uint32_t i = 0; i < t->n; i++) {
        struct entry *e = &t->v[i], *twin = was != NULL ? before(was, e->at) : NULL;
        if (twin != NULL && twin->at == e->at && twin->m == e->m && twin->f == e->f &&
            twin->arity == e->arity)
            atomic_store(&e->told, atomic_load(&twin->told));
        uint32_t k = slot(t, e->m, e->f, e->arity);
        while (t->index[k])
            k = (k + 1) & t->mask;
        t->index[k] = i + 1;
    }
    memcpy(t->code, making.code, sizeof t->code);
    t->ncode = making.ncode;
    making.ncode = 0; /* the views are the table's, and the way to single mappings is */
    for (uint32_t i = 0; i < t->ncode && t->memory < 0; i++)
        if (t->code[i].view == NULL) {
            t->memory = making.memory;
            making.memory = -1;
        }
    for (uint32_t i = 0; i < t->ncode; i++) {
        struct mapping *m = &t->code[i];
        m->first = m->code.to;
        for (uint32_t j = t->n; j > 0; j--)
            if (t->v[j - 1].at >= m->code.from && t->v[j - 1].at < m->code.to)
                m->first = t->v[j - 1].at;
    }
    return true;
}

ERL_NIF_TERM code_end_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    if (!agent_is_server(env) || making.known == NULL)
        return enif_make_badarg(env);
    struct table *t = et_calloc(1, sizeof *t);
    if (t != NULL)
        t->memory = -1;
    bool good = t != NULL && fill(t);
    making_end();
    if (!good) {
        table_free(t);
        return enif_make_uint(env, 0);
    }
    old = atomic_exchange(&current, t);
    engine_mark(&left);
    return enif_make_uint(env, t->n);
}

ERL_NIF_TERM code_stale_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    const struct table *t = in_use();
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    old_ends();
    if (t == NULL) { /* without such mappings there is nothing to find */
        struct mappings now;
        find_code(&now);
        return now.n > 0 ? agent.atom.true_ : agent.atom.false_;
    }
    if (atomic_load(&stale) || atomic_load(&elsewhere) || has_moved(t))
        return agent.atom.true_;
    return atomic_load(&nameless) ? agent.atom.undefined : agent.atom.false_;
}

ERL_NIF_TERM code_rest_nif(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    (void)argc;
    (void)argv;
    struct table *t = atomic_load(&current);
    if (!agent_is_server(env))
        return enif_make_badarg(env);
    old_ends();
    if (t == NULL)
        return agent.atom.ok;
    if (!atomic_exchange(&t->resting, true))
        engine_mark(&t->rests);
    else if (engine_quiet(&t->rests))
        views_end(t->code, t->ncode);
    return agent.atom.ok;
}

void code_unload(void)
{
    making_end();
    table_free(atomic_exchange(&current, NULL));
    table_free(old);
    old = NULL;
    for (uint32_t i = 0; symbols != NULL && i < SYMBOLS_MOST && i < atomic_load(&nsymbols); i++)
        et_free(symbols[i].name);
    et_free(symbols);
    symbols = NULL;
    atomic_store(&nsymbols, 0); /* the VM may keep the library, and use it again */
}
