/* kunwind.c - see kunwind.h. */
#include "linux/kunwind.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"

enum { FILES = 1024 };
static const uint64_t again_ns = 1000000000; /* a process is read so often */

struct kunwind_state {
    struct kunwind *shared;
    struct ksyms *syms;
    uint32_t rows; /* of `shared`, that are in use */
    /* Whose rows lie where. */
    struct {
        const struct kcfi *of;
        uint32_t at;
    } file[FILES];
    uint32_t nfiles;
    uint64_t read_at[KMEM_SPACES], swept_at;
};

struct kunwind_state *kunwind_open(struct kunwind *shared, struct ksyms *syms)
{
    struct kunwind_state *u = et_calloc(1, sizeof *u);
    if (u != NULL) {
        u->shared = shared;
        u->syms = syms;
    }
    return u;
}

void kunwind_close(struct kunwind_state *u)
{
    et_free(u);
}

/* Puts the rows of a file where the program reads them. Returns the first one's number, and none
 * when there is no more room. */
static uint32_t place(struct kunwind_state *u, const struct kcfi *rows, uint32_t *n)
{
    for (uint32_t i = 0; i < u->nfiles; i++)
        if (u->file[i].of == rows) {
            *n = (uint32_t)rows->n;
            return u->file[i].at;
        }
    const uint32_t at = u->rows;
    *n = 0;
    if (u->nfiles == FILES || rows->n == 0 || rows->n > KMEM_ROWS - at)
        return 0;
    memcpy(u->shared->row + at, rows->row, rows->n * sizeof *rows->row);
    u->rows += (uint32_t)rows->n;
    u->file[u->nfiles].of = rows;
    u->file[u->nfiles++].at = at;
    *n = (uint32_t)rows->n;
    return at;
}

struct filling {
    struct kunwind_state *u;
    struct kspace *space;
};

static void map(void *arg, const struct ksyms_mapped *m)
{
    struct filling *f = arg;
    struct kspace *s = f->space;
    if (s->n == KMEM_MAPPINGS)
        return;
    struct kmapping *to = &s->map[s->n];
    *to = (struct kmapping){.start = m->start, .end = m->end, .base = m->base};
    to->row = place(f->u, m->rows, &to->rows);
    s->n++;
}

static struct kspace *cell(struct kunwind_state *u, uint32_t tgid, uint32_t wanted)
{
    for (uint32_t i = 0; i < KMEM_TRIES; i++) {
        struct kspace *s = &u->shared->space[(tgid + i) % KMEM_SPACES];
        if (s->tgid == wanted)
            return s;
    }
    return NULL;
}

static bool is_gone(uint32_t tgid)
{
    return kill((pid_t)tgid, 0) != 0 && errno == ESRCH;
}

/* Reads a process, also once more. */
static void read_process(struct kunwind_state *u, uint32_t tgid)
{
    struct kspace *s = cell(u, tgid, tgid);
    s = s != NULL ? s : cell(u, tgid, 0);
    if (s == NULL)
        return;
    const size_t i = (size_t)(s - u->shared->space);
    const uint64_t now = monotonic_ns();
    if (s->tgid == tgid && now - u->read_at[i] < again_ns)
        return;
    struct kspace *next = et_calloc(1, sizeof *next);
    if (next == NULL)
        return;
    const bool there = ksyms_mapped(u->syms, tgid, map, &(struct filling){u, next});
    u->read_at[i] = now;
    /* Events may read it meanwhile: they find no such process then. */
    __atomic_store_n(&s->tgid, 0, __ATOMIC_SEQ_CST);
    if (there) {
        s->n = next->n;
        memcpy(s->map, next->map, sizeof s->map);
        __atomic_store_n(&s->tgid, tgid, __ATOMIC_SEQ_CST);
    }
    et_free(next);
}

void kunwind_add(struct kunwind_state *u, uint32_t tgid)
{
    if (cell(u, tgid, tgid) == NULL)
        read_process(u, tgid);
}

void kunwind_changed(struct kunwind_state *u, uint32_t tgid)
{
    const struct kspace *s = cell(u, tgid, tgid);
    if (s != NULL)
        u->read_at[s - u->shared->space] = 0;
    read_process(u, tgid);
}

void kunwind_look(struct kunwind_state *u)
{
    const uint64_t now = monotonic_ns();
    const bool sweep = now - u->swept_at >= again_ns;
    if (sweep)
        u->swept_at = now;
    for (uint32_t i = 0; sweep && i < KMEM_SPACES; i++) {
        const uint32_t tgid = u->shared->space[i].tgid;
        if (tgid != 0 && is_gone(tgid))
            __atomic_store_n(&u->shared->space[i].tgid, 0, __ATOMIC_SEQ_CST);
    }
    for (uint32_t i = 0; i < KMEM_WANTED; i++) {
        const uint32_t tgid = __atomic_exchange_n(&u->shared->wanted[i], 0, __ATOMIC_SEQ_CST);
        if (tgid != 0)
            read_process(u, tgid);
    }
}
