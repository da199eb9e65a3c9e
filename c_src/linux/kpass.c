/* kpass.c - the probes of a process that passes its events on. See kpass.h. */
#include "linux/kpass.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "linux/kload.h"
#include "linux/kmem.h"
#include "linux/kregs.h"

_Static_assert((int)KABOUT_ERLPID == (int)DIF_KEPT_ERLPID &&
                   (int)KABOUT_ERLNAME == (int)DIF_KEPT_ERLNAME &&
                   (int)KABOUT_ERLFUNC == (int)DIF_KEPT_ERLFUNC &&
                   (int)KABOUT_STACK == (int)DIF_KEPT_USTACK &&
                   (int)KABOUT_LOWER == (int)DIF_KEPT_LOWER &&
                   (int)KABOUT_NAME == (int)DIF_KEPT_NAME && (int)KABOUT_TEXT == (int)DIF_KEPT_MOST,
               "a node's program and the kernel's agree");

static const char module[] = "erltrace_agent*", function[] = "erltrace_event";

struct passer {
    struct passer *next;
    uint64_t pid, at;           /* as it sees itself */
    const struct kprobe *place; /* of the function */
    bool several;               /* processes have it there */
    const char *point;
};

struct kpass {
    struct arena mem;
    struct kuser *user;
    struct passer *processes;
    struct kprobe **probe; /* by id - KPASS_ID */
    uint32_t n, cap;
    struct kstep step[2 * KMEM_ARGS + 2];
    struct kvalue number, about;
    struct kprobe_arg arg[KMEM_ARGS];
};

struct kpass *kpass_open(struct kuser *user)
{
    static const char *const name[KMEM_ARGS] = {"arg0", "arg1", "arg2", "arg3", "arg4",
                                                "arg5", "arg6", "arg7", "arg8", "arg9"};
    struct kpass *p = et_calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    arena_init(&p->mem);
    p->user = user;
    for (unsigned i = 0; i < KMEM_ARGS; i++) {
        struct kstep *step = &p->step[2 * i];
        step[0] = (struct kstep){.op = KSTEP_ARG, .n = kregs_argument(1)};
        step[1] = (struct kstep){.op = KSTEP_LOAD_USER, .size = 8, .n = 8 * (int64_t)i};
        p->arg[i] = (struct kprobe_arg){name[i], "", "int64_t", NULL, {step, 2, 0}, false};
    }
    p->step[2 * KMEM_ARGS] = (struct kstep){.op = KSTEP_ARG, .n = kregs_argument(0)};
    p->step[2 * KMEM_ARGS + 1] = (struct kstep){.op = KSTEP_ARG, .n = kregs_argument(2)};
    p->number = (struct kvalue){&p->step[2 * KMEM_ARGS], 1, 0};
    p->about = (struct kvalue){&p->step[2 * KMEM_ARGS + 1], 1, 0};
    return p;
}

void kpass_close(struct kpass *p)
{
    if (p == NULL)
        return;
    et_free(p->probe);
    arena_free(&p->mem);
    et_free(p);
}

/* -- the place --------------------------------------------------------------------------------- */

static int no_memory(struct diags *d)
{
    return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory for probes");
}

static int take_place(void *arg, const struct kprobe *p)
{
    enum { PAGE = 4096 };
    struct passer *of = arg;
    if (of->at >= p->file->start && of->at < p->file->end && of->at % PAGE == p->offset % PAGE) {
        of->several |= of->place != NULL && of->place->file->pid != p->file->pid;
        of->place = p;
    }
    return 0;
}

/* Looks for the place in the process that this host knows by a number. */
static int look_in(struct kpass *p, uint64_t pid, struct passer *of, struct diags *d)
{
    char *prov = arena_printf(&p->mem, "pid%llu", (unsigned long long)pid);
    const struct probe_spec spec = {prov, module, function, "entry", 0};
    return prov != NULL ? kuser_match(p->user, &spec, take_place, of, d) : no_memory(d);
}

/* Returns the number that a process of this host has in its own namespace; 0: there is none. */
static uint64_t own_number(const char *pid)
{
    static const char field[] = "NSpid:";
    char path[64], line[256];
    uint64_t own = 0;
    snprintf(path, sizeof path, "/proc/%.20s/status", pid);
    FILE *f = fopen(path, "re");
    while (f != NULL && own == 0 && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, field, strlen(field)) == 0) {
            const char *last = strrchr(line, '\t');
            own = last != NULL ? strtoull(last, NULL, 10) : 0;
        }
    if (f != NULL)
        fclose(f);
    return own;
}

/* Looks for a process in a namespace of its own: another one may have its number here. */
static int look_everywhere(struct kpass *p, struct passer *of, struct diags *d)
{
    DIR *dir = opendir("/proc");
    const struct dirent *e;
    int err = 0;
    while (dir != NULL && err == 0 && (e = readdir(dir)) != NULL) {
        const uint64_t pid = strtoull(e->d_name, NULL, 10);
        if (pid != 0 && pid != of->pid && own_number(e->d_name) == of->pid)
            err = look_in(p, pid, of, d);
    }
    if (dir != NULL)
        closedir(dir);
    return err;
}

/* Finds a process and its place. */
static int find_process(struct kpass *p, uint64_t pid, uint64_t at, const struct passer **out,
                        struct diags *d)
{
    for (*out = p->processes; *out != NULL; *out = (*out)->next)
        if ((*out)->pid == pid && (*out)->at == at)
            return 0;
    struct passer *of = arena_alloc(&p->mem, sizeof *of);
    if (of == NULL)
        return no_memory(d);
    *of = (struct passer){.next = p->processes, .pid = pid, .at = at};
    int err = look_in(p, pid, of, d);
    if (err == 0)
        err = look_everywhere(p, of, d);
    if (err != 0)
        return err;
    if (of->several)
        return diag_error(d, ET_EUNSUP, NULL, "KERNEL_PASS", NULL,
                          "could not enable tracing: several processes of this host could be the "
                          "node with pid %llu",
                          (unsigned long long)pid);
    if (of->place == NULL)
        return diag_error(
            d, ET_EUNSUP, NULL, "KERNEL_PASS",
            "it has to run on this host, in a process that this user may look into",
            "could not enable tracing: the agent of the node with pid %llu is not found among the "
            "processes of this host, so that the kernel cannot be given its events",
            (unsigned long long)pid);
    of->point = arena_printf(&p->mem, "events passed by process %llu",
                             (unsigned long long)of->place->file->pid);
    if (of->point == NULL)
        return no_memory(d);
    p->processes = of;
    *out = of;
    return 0;
}

/* -- probes ------------------------------------------------------------------------------------ */

static bool grow(struct kpass *p)
{
    if (p->n < p->cap)
        return true;
    const uint32_t cap = p->cap ? p->cap * 2 : 64;
    struct kprobe **more = et_rearray(p->probe, cap, sizeof *more);
    if (more == NULL)
        return false;
    p->probe = more;
    p->cap = cap;
    return true;
}

int kpass_add(struct kpass *p, uint64_t pid, uint64_t at, const struct engine_probe *as,
              const struct kprobe **out, struct diags *d)
{
    const struct passer *of;
    int err = p->n == 0 ? kload_ready(d) : 0; /* else the place would seem to be what is missing */
    if (err == 0)
        err = find_process(p, pid, at, &of, d);
    if (err != 0)
        return err;
    struct kprobe *q = grow(p) ? arena_alloc(&p->mem, sizeof *q) : NULL;
    if (q == NULL)
        return no_memory(d);
    *q = *of->place;
    q->id = KPASS_ID + p->n;
    q->shown = as->id;
    q->prov = as->prov;
    q->mod = as->mod;
    q->func = as->func;
    q->name = as->name;
    q->text = "the node has such an event";
    q->point = of->point;
    q->key = &p->number;
    q->about = &p->about;
    q->is = (int64_t)p->n + 1;
    q->shares = true;
    q->more = NULL;
    p->probe[p->n++] = q;
    *out = q;
    return 0;
}

const struct kprobe *kpass_by_id(const struct kpass *p, uint32_t id)
{
    return id - KPASS_ID < p->n ? p->probe[id - KPASS_ID] : NULL;
}

const struct kprobe_arg *kpass_args(const struct kpass *p, size_t *n)
{
    *n = KMEM_ARGS;
    return p->arg;
}
