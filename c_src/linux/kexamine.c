/* kexamine.c - see kexamine.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "linux/kexamine.h"
#include "linux/kload.h"
#include "linux/kmem.h"
#include "linux/kplace.h"
#include "linux/kprobes.h"
#include "linux/ktypes.h"
#include "util/buftext.h"

#define FRAMES "/proc/sys/kernel/perf_event_max_stack"

struct teller {
    kexamine_fn *fn;
    void *arg;
};

static void tell(const struct teller *t, const char *subject, const char *level, const char *text,
                 const char *help)
{
    t->fn(t->arg, subject, level, text, help != NULL ? help : "");
}

/* Tells the first error, which is a limit, or that there is none. */
static void tell_error(const struct teller *t, const char *subject, int err, const struct diags *d,
                       const char *fine)
{
    static const char prefix[] = "could not enable tracing: ";
    if (err == 0) {
        tell(t, subject, "ok", fine, "");
    } else if (d->count > 0) {
        const char *text = d->list[0].text;
        if (strncmp(text, prefix, sizeof prefix - 1) == 0)
            text += sizeof prefix - 1;
        tell(t, subject, "limit", text, d->list[0].hint);
    }
}

/* Returns whether there is a probe of this name that another tracepoint makes. */
static bool has(const struct kprobes *k, const struct kprobe_lack *l)
{
    for (size_t i = 0; i < kprobes_count(k); i++) {
        const struct kprobe *p = kprobes_at(k, i);
        if (strcmp(p->prov, l->prov) == 0 && strcmp(p->name, l->name) == 0)
            return true;
    }
    return false;
}

/* Tells the probes that were collected, if there are any. */
static void tell_missing(const struct teller *t, struct buf *names, const char *why)
{
    if (names->len == 0)
        return;
    buf_printf(names, ": %s", why);
    tell(t, "probes", "note", buf_str(names), "");
    buf_reset(names);
}

/* Tells of each provider how many probes it has, and which of DTrace's are missing, by reason. */
static void tell_probes(const struct teller *t, const struct kprobes *k)
{
    struct buf text = BUF_INIT;
    size_t n = 0;
    for (size_t i = 0; i < kprobes_count(k); i++) {
        const char *prov = kprobes_at(k, i)->prov;
        const struct kprobe *next = kprobes_at(k, i + 1);
        n++;
        if (next != NULL && strcmp(next->prov, prov) == 0)
            continue;
        buf_printf(&text, "%s%s %zu", text.len > 0 ? ", " : "", prov, n);
        n = 0;
    }
    tell(t, "probes", "ok", buf_str(&text), "");
    const struct kprobe_lack *l;
    const char *prov = "", *why = "";
    buf_reset(&text);
    for (size_t i = 0; (l = kprobes_lack(k, i)) != NULL; i++) {
        if (has(k, l))
            continue;
        if (strcmp(prov, l->prov) != 0 || strcmp(why, l->why) != 0) {
            tell_missing(t, &text, why);
            buf_printf(&text, "not %s:::%s", l->prov, l->name);
        } else {
            buf_printf(&text, ", %s", l->name);
        }
        prov = l->prov;
        why = l->why;
    }
    tell_missing(t, &text, why);
    buf_free(&text);
}

static void tell_places(const struct teller *t)
{
    if (!kplaces_any())
        tell(t, "processes", "limit",
             "functions of processes and the probes that they define cannot be traced",
             "a kernel built with CONFIG_UPROBE_EVENTS=y");
    else if (!kplaces_many())
        tell(t, "processes", "note",
             "functions of processes and the probes that they define, up to 100 at a time",
             "Linux 6.10 or later takes thousands");
    else
        tell(t, "processes", "ok", "functions of processes, and the probes that they define", "");
}

static void tell_frames(const struct teller *t)
{
    char text[32] = "", said[64];
    FILE *f = fopen(FRAMES, "re");
    if (f != NULL) {
        if (fgets(text, sizeof text, f) == NULL)
            text[0] = '\0';
        fclose(f);
    }
    const long most = strtol(text, NULL, 10);
    const bool few = most > 0 && most < KMEM_FRAMES;
    snprintf(said, sizeof said, "up to %ld frames", few ? most : (long)KMEM_FRAMES);
    tell(t, "stacks", few ? "note" : "ok", said,
         few ? "sysctl kernel.perf_event_max_stack=127" : "");
}

int kexamine(kexamine_fn *fn, void *arg, struct diags *d)
{
    const struct teller t = {fn, arg};
    struct diags said;
    struct kprobes *k;
    diags_init(&said);
    tell_error(&t, "programs", kload_ready(&said), &said,
               "the kernel takes programs of this process");
    diags_free(&said);
    diags_init(&said);
    int err = kprobes_open(&k, &said);
    tell_error(&t, "types", err, &said, "structures, enumerations and types can be named");
    diags_free(&said);
    if (err == ET_ENOMEM)
        return diag_error(d, err, NULL, "", NULL, "out of memory");
    if (err == 0) {
        const char *why = ktypes_no_variables();
        tell(&t, "variables", why == NULL ? "ok" : "note",
             why == NULL ? "variables can be named" : why, "");
        tell_probes(&t, k);
        kprobes_close(k);
    }
    tell_places(&t);
    tell_frames(&t);
    return 0;
}
