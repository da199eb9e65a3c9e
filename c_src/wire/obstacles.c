/* obstacles.c - what may be in the way to a BEAM of this host, as far as can be seen without
 * connecting to it: a row for each thing, in the order in which `erltrace doctor` tells them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "util/embedded.h"
#include "wire/enter.h"
#include "wire/processor.h"
#include "wire/reach.h"
#include "words/otp.h"

/* What remains when no connection can be made. */
#define FROM_INSIDE "its application can trace from inside: erltrace:run/2 (doc/erlang-api.md)"

void beam_title(const struct beam *b, char *out, size_t cap)
{
    if (b->name[0])
        snprintf(out, cap, "%s", b->name);
    else if (b->alive[0])
        snprintf(out, cap, "%s", b->alive);
    else
        snprintf(out, cap, "process %d", (int)b->pid);
}

/* Says what is there, where nothing is in the way. */
static void fine(struct reach_problem *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void fine(struct reach_problem *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->text, sizeof p->text, fmt, ap);
    va_end(ap);
}

static void unseen(struct reach_problem *p)
{
    fine(p, "not known: the process or its files cannot be read from here");
    p->level = "note";
}

/* Says what is in the way. */
static void wrong(struct reach_problem *p, int err, const char *tag, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void wrong(struct reach_problem *p, int err, const char *tag, const char *fmt, ...)
{
    va_list ap;
    p->err = err;
    p->tag = tag;
    p->level = "limit";
    va_start(ap, fmt);
    vsnprintf(p->text, sizeof p->text, fmt, ap);
    va_end(ap);
}

/* Says what would help. */
static void help(struct reach_problem *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void help(struct reach_problem *p, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(p->help, sizeof p->help, fmt, ap);
    va_end(ap);
}

/* What a row looks at. */
struct sight {
    const struct beam *b;
    const char *title;              /* its name in messages */
    const struct cred_options *tls; /* may be NULL */
};

static void found(const struct sight *s, struct reach_problem *p)
{
    fine(p, "process %d of user %s", (int)s->b->pid, s->b->owner);
}

/* Of the process that the user named it tries, because no other rule says exactly what the kernel
 * and its security modules permit. */
static bool may_not_enter(const struct beam *b)
{
    if (!b->named)
        return !b->fds_known;
    int fd = b->fds_known ? enter_socket(b->pid, b->start, AF_INET) : -EPERM;
    if (fd >= 0)
        close(fd);
    return fd == -EPERM;
}

static void permitted(const struct sight *s, struct reach_problem *p)
{
    const struct beam *b = s->b;
    if (b->other_net && may_not_enter(b)) {
        wrong(p, ET_ENODE, "NODE_PERM",
              "%s runs in another network namespace (a container), which this process may not "
              "enter",
              s->title);
        help(p, "run erltrace as root of this host (it takes CAP_SYS_ADMIN, and CAP_SYS_PTRACE to "
                "look at the process), as the user who made the container, or inside it");
    } else if (!b->alive[0] && !b->port && !b->fds_known && b->uid != geteuid()) {
        wrong(p, ET_ENODE, "NODE_PERM",
              "the Erlang VM of process %d was started without a name, and its sockets may not be "
              "looked at",
              (int)b->pid);
        help(p,
             "run erltrace as user %s or with sudo; or, if it has been given a name since, give "
             "that with --node",
             b->owner);
    } else {
        fine(p, b->fds_known ? "the process may be looked at"
                             : "the process may not be looked at, which its name makes up for");
    }
}

static void c_library(const struct sight *s, struct reach_problem *p)
{
    const char *loader = s->b->loader;
    if (s->b->loads_nothing) {
        wrong(p, ET_EOTP, "OTP_ARCH",
              "the emulator of %s is linked statically: it can load no library", s->title);
        help(p, "the agent is a library; an emulator that is linked with its C library as usual "
                "loads it");
    } else if (loader[0] == '\0') {
        unseen(p);
    } else {
        fine(p, "%s (%s)",
             strstr(loader, "/ld-musl") != NULL    ? "musl"
             : strstr(loader, "/ld-linux") != NULL ? "glibc"
                                                   : "one that erltrace was not tried with",
             loader);
    }
}

static void processor(const struct sight *s, struct reach_problem *p)
{
    const struct processor *its = processor_of(s->b->machine);
    if (s->b->machine == EM_NONE) {
        unseen(p);
    } else if (its == NULL || its->build == NULL) {
        wrong(p, ET_EOTP, "OTP_ARCH", "%s runs on an emulator for %s", s->title,
              processor_name(s->b->machine));
        help(p, "erltrace traces nodes on x86_64 and aarch64");
    } else {
        fine(p, "%s%s", its->name, processor_is_ours(its) ? "" : ", another one than erltrace's");
    }
}

static void jit(const struct sight *s, struct reach_problem *p)
{
    if (s->b->no_jit) {
        fine(p, "the emulator was started without the JIT");
        help(p, "profile-N, wall-N and ustack() need it: leave out -emu_flavor emu");
        p->level = "note";
    } else if (s->b->emulated && !s->b->jit_single) {
        fine(p, "an emulator of another processor runs the node, which may not see that functions "
                "are traced: their probes are silent then");
        help(p, "start the node with +JMsingle true");
        p->level = "limit";
    } else if (!s->b->jit_single && strstr(s->b->loader, "/ld-musl") != NULL) {
        fine(p, "no flag is in the way, but emulators for musl are often built without the JIT");
        help(p, "profile-N, wall-N and ustack() need it: erlang:system_info(emu_flavor) tells");
        p->level = "note";
    } else {
        fine(p, "no flag is in the way");
    }
}

static void release(const struct sight *s, struct reach_problem *p)
{
    if (s->b->otp[0] && !otp_has(atoi(s->b->otp), OTP_SUPPORTED)) {
        wrong(p, ET_EOTP, "OTP_OLD", "%s runs OTP %s", s->title, s->b->otp);
        help(p, "erltrace needs OTP 25 or newer");
    } else if (s->b->otp[0] == '\0') {
        unseen(p);
    } else {
        fine(p, "OTP %s", s->b->otp);
    }
}

/* Checks that the node speaks TLS exactly when the user asks for it. */
static void check_tls(const struct sight *s, struct reach_problem *p)
{
    const struct beam *b = s->b;
    bool on = s->tls && s->tls->on;
    if (beam_tls(b) && !on) {
        wrong(p, ET_ENODE, "NODE_TLS", "%s speaks distribution over TLS (-proto_dist %s)", s->title,
              b->proto);
        help(p, "%s",
             embedded_static()
                 ? cred_static
                 : "give --tls-from-node, for the certificates of its own configuration, or "
                   "--tls-cacert FILE, with --tls-cert FILE and --tls-key FILE if it asks for "
                   "ours");
    } else if (beam_tls(b) || (!on && strcmp(b->proto, "inet_tcp") == 0) ||
               (!on && strcmp(b->proto, "inet6_tcp") == 0)) {
        fine(p, "%s, at port %u", beam_tls(b) ? "over TLS" : "over TCP", b->port);
    } else {
        wrong(p, ET_ENODE, on ? "NODE_TLS" : "NODE_DOWN", "%s speaks distribution over %s, %s",
              s->title, b->proto, on ? "without TLS" : "which erltrace does not");
        help(p, "%s",
             on ? "leave out the --tls options"
                : "it connects over TCP and TLS (-proto_dist inet_tcp, inet_tls); " FROM_INSIDE
                  ", and so can another node of its cluster");
    }
}

static void distribution(const struct sight *s, struct reach_problem *p)
{
    const struct beam *b = s->b;
    if (b->other_net && !b->named && b->alive[0] && !b->port && b->nlisten > 1) {
        fine(p, "it listens at several ports: -p asks which of them is its own");
    } else if (!b->alive[0] && !b->port) {
        wrong(p, ET_ENODE, "NODE_NOTDIST", "the Erlang VM of process %d is not distributed",
              (int)b->pid);
        help(p, "start it with -sname NAME (a release of Elixir: RELEASE_DISTRIBUTION=sname), or "
                "make it distributed in its shell: os:cmd(\"epmd -daemon\"), "
                "net_kernel:start([NAME, shortnames]); or " FROM_INSIDE);
    } else if (b->deaf && !b->port) {
        wrong(p, ET_ENODE, "NODE_DOWN",
              "%s accepts no connections: it was started with -dist_listen false", s->title);
        help(p, "start it without that; or " FROM_INSIDE
                ", and so can a node that it is connected to");
    } else if (!b->port) {
        wrong(p, ET_ENODE, "NODE_DOWN", "%s runs (process %d), but epmd does not know it", s->title,
              (int)b->pid);
        help(p,
             "is it just starting, or was epmd restarted since? `epmd -names` lists what is "
             "registered%s",
             b->fds_known ? ""
                          : ". Or is it in a container? To look there, run erltrace as root of "
                            "this host, or as the user who made the container");
    } else if (b->foreign_port) {
        wrong(p, ET_ENODE, "NODE_DOWN",
              "what listens at port %u, which should be that of %.200s, is not a process of user "
              "%s",
              b->port, s->title, b->owner);
        help(p, "no cookie is shown to it. Has the node ended, or did another process register its "
                "name? `epmd -names` lists what is registered");
    } else {
        check_tls(s, p);
    }
}

static const struct {
    const char *subject;
    void (*look)(const struct sight *s, struct reach_problem *p);
} rows[] = {
    {"found", found},
    {"permitted", permitted},
    {"c_library", c_library},
    {"processor", processor},
    {"jit", jit},
    {"release", release},
    {"folders", NULL}, /* is seen when the agent is placed */
    {"distribution", distribution},
};
_Static_assert(sizeof rows / sizeof *rows == REACH_ROWS, "the rows of a reach_table");

void reach_table(const struct beam *b, const struct cred_options *tls, struct reach_row *out)
{
    char title[256];
    beam_title(b, title, sizeof title);
    const struct sight s = {b, title, tls};
    for (size_t i = 0; i < REACH_ROWS; i++) {
        out[i] = (struct reach_row){.subject = rows[i].subject};
        if (rows[i].look != NULL)
            rows[i].look(&s, &out[i].p);
    }
}

int reach_check(const struct beam *b, const struct cred_options *tls, struct reach_problem *p)
{
    struct reach_row table[REACH_ROWS];
    reach_table(b, tls, table);
    *p = (struct reach_problem){0};
    for (size_t i = 0; i < REACH_ROWS && p->err == 0; i++)
        if (table[i].p.err != 0)
            *p = table[i].p;
    return p->err;
}
