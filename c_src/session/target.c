/* target.c - opens tiers from names, process ids and commands. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/handle.h"
#include "base/err.h"
#include "tier/vm_open.h"
#include "tier/tier.h"

enum { SPAWN_WAIT_MS = 20000, NAME_LEN = 256 };

/* Adds a target; returns NULL with the error set when memory is out. */
static struct api_target *add(erltrace_t *h)
{
    if (h->target != NULL && h->target->cluster) {
        api_fail_text(h, ERLTRACE_E_STATE, "a cluster goes with no other target");
        return NULL;
    }
    struct api_target *t = arena_alloc(&h->session.arena, sizeof *t);
    if (t == NULL) {
        api_fail(h, ERLTRACE_E_NOMEM);
        return NULL;
    }
    t->pidfd = t->relay = -1;
    *h->target_tail = t;
    h->target_tail = &t->next;
    h->ntargets++;
    return t;
}

static bool may_add(erltrace_t *h)
{
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return false;
    if (h->opened)
        api_fail_text(h, ERLTRACE_E_STATE, "the targets have been connected to");
    return !h->opened;
}

int erltrace_target_local(erltrace_t *h)
{
    if (!may_add(h))
        return -1;
    if (h->ntargets > 0)
        return api_fail_text(h, ERLTRACE_E_STATE, "the local tier comes before other targets");
    h->local = true;
    return 0;
}

int erltrace_target_kernel(erltrace_t *h)
{
    if (erltrace_target_local(h) != 0)
        return -1;
    h->kernel = true;
    return 0;
}

int erltrace_target_host(erltrace_t *h)
{
    if (erltrace_target_local(h) != 0)
        return -1;
    h->host = true;
    return 0;
}

int erltrace_target_node(erltrace_t *h, const char *name, const char *cookie)
{
    if (!may_add(h))
        return -1;
    if (h->local)
        return api_fail_text(h, ERLTRACE_E_STATE, "the local tier goes with no node");
    if (name == NULL || *name == '\0')
        return api_fail(h, ERLTRACE_E_INVAL);
    struct api_target *t = add(h);
    if (t == NULL)
        return -1;
    t->node = api_strdup(h, name);
    t->cookie = api_strdup(h, cookie);
    return t->node != NULL && (cookie == NULL || t->cookie != NULL) ? 0
                                                                    : api_fail(h, ERLTRACE_E_NOMEM);
}

int erltrace_target_cluster(erltrace_t *h, const char *name, const char *cookie)
{
    if (h != NULL && (h->target != NULL || h->names != NULL))
        return api_fail_text(h, ERLTRACE_E_STATE, "a cluster goes with no other target");
    if (erltrace_target_node(h, name, cookie) != 0)
        return -1;
    h->target->cluster = true;
    return 0;
}

int erltrace_target_relay(erltrace_t *h, const char *name, int fd)
{
    struct api_target *t = NULL;
    if (may_add(h)) {
        if (h->local)
            api_fail_text(h, ERLTRACE_E_STATE, "the local tier goes with no node");
        else if (name == NULL || *name == '\0' || fd < 0)
            api_fail(h, ERLTRACE_E_INVAL);
        else
            t = add(h);
    }
    if (t == NULL) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    t->by_relay = true;
    t->relay = fd;
    t->node = api_strdup(h, name);
    return t->node != NULL ? 0 : api_fail(h, ERLTRACE_E_NOMEM);
}

/* Makes the trace end with this process. Returns false, with errno set, when there is none. */
static bool watch(erltrace_t *h, struct api_target *t)
{
    t->watched = true;
    h->nwatched++;
    t->pidfd = (int)syscall(SYS_pidfd_open, t->pid, 0);
    return t->pidfd >= 0 || kill(t->pid, 0) == 0 || errno != ESRCH;
}

int erltrace_target_pid(erltrace_t *h, pid_t pid)
{
    if (!may_add(h))
        return -1;
    if (pid <= 0)
        return api_fail(h, ERLTRACE_E_INVAL);
    struct api_target *t = add(h);
    if (t == NULL)
        return -1;
    t->pid = pid;
    if (!h->local)
        return 0;
    if (!watch(h, t))
        return api_fail_text(h, ERLTRACE_E_NODE, "failed to grab pid %d: %s", (int)pid,
                             strerror(errno));
    return 0;
}

int erltrace_set_process(erltrace_t *h, pid_t pid)
{
    if (!may_add(h))
        return -1;
    struct api_target *t = h->target;
    while (t != NULL && t->next != NULL)
        t = t->next;
    if (h->names == NULL && (t == NULL || (t->node == NULL && !t->by_relay)))
        return api_fail_text(h, ERLTRACE_E_STATE, "the last target is not a node by name or relay");
    if (pid <= 0)
        return api_fail(h, ERLTRACE_E_INVAL);
    *(h->names != NULL ? &h->names_process : &t->pid) = pid;
    return 0;
}

enum { EVALTIME_EXEC = 0 }; /* the first word of the option */

pid_t erltrace_target_command(erltrace_t *h, const char *command)
{
    char name[NAME_LEN] = "", cookie[NAME_LEN] = "";
    pid_t pid;
    if (!may_add(h))
        return -1;
    if (command == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    const bool at_exec = h->session.opt.value[OPTION_evaltime] == EVALTIME_EXEC;
    int rc = h->local ? api_start_process(command, at_exec, &pid)
                      : node_spawn(command, SPAWN_WAIT_MS, &h->tls, &pid, name, sizeof name, cookie,
                                   sizeof cookie, &h->session.diags);
    if (h->local && rc != 0)
        return api_fail_text(h, ERLTRACE_E_NODE, "failed to execute %s: %s", command, strerror(rc));
    struct api_target *t = rc == 0 ? add(h) : NULL;
    if (t != NULL) {
        t->command = api_strdup(h, command);
        t->node = api_strdup(h, name);
        t->cookie = api_strdup(h, cookie);
        t->pid = pid;
        t->stopped = h->local;
        watch(h, t);
        if (h->local)
            h->session.child = pid;
        if (t->command == NULL || t->node == NULL || t->cookie == NULL)
            rc = ET_ENOMEM;
    } else if (rc == 0) {
        rc = ET_ENOMEM;
    }
    explicit_bzero(cookie, sizeof cookie);
    return api_leave(h, rc) == 0 ? pid : -1;
}

int erltrace_set_cookie(erltrace_t *h, const char *cookie, const char *file)
{
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return -1;
    h->cookie = api_strdup(h, cookie);
    h->cookie_file = api_strdup(h, file);
    return (cookie == NULL || h->cookie != NULL) && (file == NULL || h->cookie_file != NULL)
               ? 0
               : api_fail(h, ERLTRACE_E_NOMEM);
}

/* Returns whether a text can be a node's name, with or without its host part. */
static bool is_name(const char *name)
{
    const char *at = strchr(name, '@');
    const size_t n = strlen(name);
    enum { LONGEST = 255 };
    if (n == 0 || n > LONGEST || at == name)
        return false;
    if (at != NULL && (at[1] == '\0' || strchr(at + 1, '@') != NULL))
        return false;
    for (const char *p = name; *p != '\0'; p++)
        if ((unsigned char)*p <= ' ' || *p == 127)
            return false;
    return true;
}

int erltrace_set_name(erltrace_t *h, const char *name)
{
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return -1;
    if (name != NULL && !is_name(name))
        return api_fail_text(h, ERLTRACE_E_INVAL, "'%s' cannot be the name of a node: NAME@HOST",
                             name);
    h->as = api_strdup(h, name);
    return name == NULL || h->as != NULL ? 0 : api_fail(h, ERLTRACE_E_NOMEM);
}

int erltrace_set_tls(erltrace_t *h, const char *name, const char *value)
{
    const char *why;
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return -1;
    const char *kept = api_strdup(h, value);
    if (value != NULL && kept == NULL)
        return api_fail(h, ERLTRACE_E_NOMEM);
    if (name != NULL && cred_option(&h->tls, name, kept, &why))
        return 0;
    return name == NULL ? api_fail(h, ERLTRACE_E_INVAL)
                        : api_fail_text(h, ERLTRACE_E_OPTVAL, "TLS option %s%s%s: %s", name,
                                        value ? " " : "", value ? value : "", why);
}

static int set_folder(erltrace_t *h, const char **which, const char *dir)
{
    if (!api_enter(h, API_OPEN, API_COMPILED))
        return -1;
    *which = api_strdup(h, dir);
    return dir == NULL || *which != NULL ? 0 : api_fail(h, ERLTRACE_E_NOMEM);
}

int erltrace_set_agent_dir(erltrace_t *h, const char *dir)
{
    return h != NULL ? set_folder(h, &h->agent_dir, dir) : -1;
}

int erltrace_set_root(erltrace_t *h, const char *dir)
{
    return h != NULL ? set_folder(h, &h->root, dir) : -1;
}

/* -- opening ----------------------------------------------------------------------------------- */

static int open_node(erltrace_t *h, const struct node_options *opt)
{
    struct tier *tier;
    api_look_before(h, opt);
    int rc = tier_vm_open(opt, &tier, &h->session.diags);
    api_look_after(h, rc);
    return rc != 0 ? rc : session_attach(&h->session, tier);
}

static int open_local(erltrace_t *h, bool kernel)
{
    struct tier *tier;
    int rc = kernel ? tier_kernel_open(&tier, &h->session.diags)
                    : tier_local_open(&tier, &h->session.diags);
    return rc != 0 ? rc : session_attach(&h->session, tier);
}

static int open_names(erltrace_t *h)
{
    struct tier *tier = api_names_open(h->names);
    return tier != NULL ? session_attach(&h->session, tier) : session_no_memory(&h->session);
}

/* Puts dtrace's message about a process that it cannot trace before the error. */
static void not_grabbed(erltrace_t *h, pid_t pid)
{
    struct diag *g =
        h->session.diags.count > 0 ? &h->session.diags.list[h->session.diags.count - 1] : NULL;
    const char *text = g != NULL ? arena_printf(&h->session.diags.arena,
                                                "failed to grab pid %d: %s", (int)pid, g->text)
                                 : NULL;
    if (text != NULL && g->severity == DIAG_ERROR)
        g->text = text;
}

bool api_names_node(const erltrace_t *h)
{
    const struct api_target *t = h->target;
    while (t != NULL && t->node == NULL && !t->by_relay)
        t = t->next;
    return t != NULL;
}

/* Returns whether each target is a process of this host: of a script of the kernel they are any
 * programs, which $target names. A node that only its name tells of may be on another one. */
static bool are_processes(const erltrace_t *h)
{
    const struct api_target *t = h->target;
    while (t != NULL && t->pid > 0)
        t = t->next;
    return t == NULL && (h->names == NULL || h->names_process > 0);
}

static bool may_be_kernel(const erltrace_t *h)
{
    const bool of_node = h->names != NULL || api_names_node(h);
    const bool may = h->host || (!h->local && are_processes(h) &&
                                 (!of_node || (h->session.flags & ERLTRACE_O_KERNEL) != 0));
    return may && h->session.program != NULL && !session_asks(&h->session) &&
           session_is_kernel(&h->session);
}

/* The trace ends with the processes. */
static int watch_all(erltrace_t *h)
{
    for (struct api_target *t = h->target; t != NULL; t = t->next)
        if (!t->watched && !watch(h, t))
            return diag_error(&h->session.diags, ET_ENODE, NULL, "", NULL,
                              "failed to grab pid %d: %s", (int)t->pid, strerror(errno));
    return 0;
}

int api_open_targets(erltrace_t *h)
{
    int rc = 0;
    if (h->opened)
        return 0;
    h->opened = true; /* also on failure: what is already open must not be opened again */
    bool any = h->ntargets == 0 && !h->local && h->names == NULL;
    if (may_be_kernel(h)) {
        h->kernel = true;
        if ((rc = watch_all(h)) != 0)
            return rc;
    }
    if (h->local || h->kernel ||
        (any && h->session.program != NULL && !session_asks(&h->session) &&
         session_is_local(&h->session)))
        return open_local(h, h->kernel);
    struct node_options common = {.cookie = h->cookie,
                                  .cookie_file = h->cookie_file,
                                  .as = h->as,
                                  .tls = &h->tls,
                                  .root = api_root(h),
                                  .agent_dir = h->agent_dir,
                                  .lease_ms = (int)(h->session.opt.value[OPTION_lease] / 1000000)};
    if (common.root == NULL && h->names == NULL)
        return diag_error(&h->session.diags, ET_EAGENT, NULL, "AGENT_FILES",
                          "build it with make, or set ERLTRACE_ROOT to the folder that holds priv/",
                          "priv/agent/erltrace_agent.beam is not where this program expects it");
    h->session.mixed = session_is_mixed(&h->session);
    if (h->session.mixed)
        rc = open_local(h, true);
    if (h->names != NULL && rc == 0)
        return open_names(h);
    if (any && rc == 0)
        return open_node(h, &common);
    for (struct api_target *t = any ? NULL : h->target; rc == 0 && t != NULL; t = t->next) {
        struct node_options one = common;
        one.name = t->node;
        one.pid = t->node == NULL ? t->pid : 0;
        if (t->cookie != NULL)
            one.cookie = t->cookie;
        one.by_relay = t->by_relay;
        one.relay = t->relay;
        t->relay = -1;
        rc = open_node(h, &one);
        if (rc != 0 && t->node == NULL)
            not_grabbed(h, t->pid);
        if (rc == 0 && t->cluster)
            rc = h->session.mixed
                     ? diag_error(&h->session.diags, ET_EUNSUP, NULL, "", "leave its probes out",
                                  "a script of a cluster cannot have probes of the kernel")
                     : session_cluster_open(&h->session, &one);
    }
    return rc;
}

bool api_commands_ended(erltrace_t *h, int timeout_ms)
{
    bool all = h->nwatched > 0;
    for (struct api_target *t = h->target; t != NULL; t = t->next) {
        struct pollfd p = {t->pidfd, POLLIN, 0};
        if (!t->watched || t->ended)
            continue;
        if (t->pidfd >= 0)
            t->ended = poll(&p, 1, timeout_ms) > 0;
        if (t->command != NULL && waitpid(t->pid, NULL, WNOHANG) == t->pid)
            t->ended = true;
        if (t->pidfd < 0 && kill(t->pid, 0) != 0 && errno == ESRCH)
            t->ended = true;
        all &= t->ended;
    }
    return all;
}

void api_release(erltrace_t *h)
{
    for (struct api_target *t = h->target; t != NULL; t = t->next) {
        if (t->stopped)
            kill(t->pid, SIGCONT);
        t->stopped = false;
    }
}

void api_close_targets(erltrace_t *h)
{
    for (struct api_target *t = h->target; t != NULL; t = t->next) {
        if (t->stopped) { /* it has not begun to run, and nothing else would start it */
            kill(t->pid, SIGKILL);
            waitpid(t->pid, NULL, 0);
        }
        if (t->pidfd >= 0)
            close(t->pidfd);
        if (t->relay >= 0)
            close(t->relay);
        if (t->cookie != NULL)
            explicit_bzero((char *)t->cookie, strlen(t->cookie));
    }
    if (h->cookie != NULL)
        explicit_bzero((char *)h->cookie, strlen(h->cookie));
}

const char *erltrace_targets(erltrace_t *h)
{
    return h != NULL ? session_targets(&h->session) : "";
}

const char *erltrace_enabled(erltrace_t *h)
{
    struct tier *t = h != NULL && h->session.ntiers == 1 ? h->session.tier[0].t : NULL;
    return t != NULL && t->ops->enabled != NULL ? t->ops->enabled(t) : NULL;
}

uint64_t erltrace_capabilities(erltrace_t *h)
{
    uint64_t set = 0;
    if (h == NULL || h->phase < ERLTRACE_STATE_RUNNING || h->session.ntiers == 0 ||
        option_on(&h->session.opt, OPTION_destructive))
        return UINT64_MAX;
    for (size_t i = 0; i < h->session.ntiers; i++) {
        struct tier *t = h->session.tier[i].t;
        set |= t->ops->keeps != NULL ? t->ops->keeps(t) : UINT64_MAX;
    }
    return set;
}

int erltrace_placed_iter(erltrace_t *h, erltrace_placed_fn *fn, void *arg)
{
    if (!api_enter(h, ERLTRACE_STATE_RUNNING, ERLTRACE_STATE_DONE))
        return -1;
    if (fn == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    for (size_t i = 0; i < h->session.ntiers; i++) {
        static const struct tier_placed nothing = {0};
        const struct session_tier *t = &h->session.tier[i];
        const struct tier_ops *ops = t->t->ops;
        const struct tier_placed *placed =
            ops->placed != NULL && !t->pending ? ops->placed(t->t) : NULL;
        const struct tier_placed *p = placed != NULL ? placed : &nothing;
        struct erltrace_placed out = {
            .node = ops->target(t->t),
            .clauses = session_passes(&h->session, t) ? session_passed(t) : t->nbindings,
            .left_out = t->left_out,
            .meta = p->meta,
            .local = p->local,
            .global = p->global,
            .flags = p->flags,
            .processes = p->processes,
            .only_flags = p->only_flags,
            .only_processes = p->only_processes,
            .ports = p->ports,
            .monitors = p->monitors,
            .clocks = p->clocks,
            .ns = p->ns,
            .calls = p->calls,
            .counted = p->counted,
            .filtered = p->filtered,
            .filters = p->filtered > 0 && p->filters != NULL ? p->filters : ""};
        int rc = fn(&out, arg);
        if (rc != 0)
            return rc;
    }
    return 0;
}
