/* target.c - from the command line's names, process ids and commands to open tiers. */
#include "cli/target.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/cli.h"
#include "node/node.h"
#include "tier/tier.h"

enum { SPAWN_WAIT_MS = 20000 };

int target_spawn(struct target *t, const struct args *a, struct arena *arena, struct diags *d)
{
    *t = (struct target){0};
    t->child = arena_alloc(arena, (a->nprocesses + 1) * sizeof *t->child);
    if (t->child == NULL)
        return diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory");
    for (size_t i = 0; i < a->nprocesses; i++) {
        const struct args_process *p = &a->process[i];
        pid_t pid = p->pid;
        if (p->command != NULL) {
            struct child *c = &t->child[t->nchildren];
            c->fd = -1;
            int rc = node_spawn(p->command, SPAWN_WAIT_MS, &c->pid, c->node, sizeof c->node,
                                c->cookie, sizeof c->cookie, d);
            if (rc != 0)
                return rc;
            c->fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
            t->nchildren++;
            pid = c->pid;
        }
        if (t->first == 0)
            t->first = pid;
    }
    return 0;
}

static int open_node(struct session *s, const struct node_options *opt, struct diags *d)
{
    struct tier *tier;
    int rc = tier_vm_open(opt, &tier, d);
    return rc != 0 ? rc : session_attach(s, tier);
}

int target_open(struct target *t, const struct args *a, struct arena *arena, bool local,
                struct session *s, struct diags *d)
{
    struct node_options opt = {.cookie = a->cookie,
                               .cookie_file = a->cookie_file,
                               .root = cli_root(arena),
                               .agent_dir = a->agent_dir};
    int rc = 0;
    bool named = a->nnodes > 0 || a->nprocesses > 0;
    if (a->local || (!named && local)) {
        struct tier *tier;
        rc = tier_local_open(&tier, d);
        return rc != 0 ? rc : session_attach(s, tier);
    }
    if (opt.root == NULL)
        return diag_error(
            d, ET_EAGENT, NULL, "AGENT_FILES",
            "build it with make, or set ERLTRACE_ROOT to the folder that holds ebin/ and priv/",
            "ebin/erltrace_agent.beam is not where this program expects it");
    for (size_t i = 0; rc == 0 && i < a->nnodes; i++) {
        opt.name = a->node[i];
        rc = open_node(s, &opt, d);
    }
    opt.name = NULL;
    for (size_t i = 0, child = 0; rc == 0 && i < a->nprocesses; i++) {
        struct node_options one = opt;
        if (a->process[i].command != NULL) {
            one.name = t->child[child].node;
            one.cookie = t->child[child].cookie;
            child++;
        } else {
            one.pid = a->process[i].pid;
        }
        rc = open_node(s, &one, d);
    }
    if (rc == 0 && !named)
        rc = open_node(s, &opt, d);
    return rc;
}

bool target_gone(struct target *t, int timeout_ms)
{
    bool all = t->nchildren > 0;
    for (size_t i = 0; i < t->nchildren; i++) {
        struct child *c = &t->child[i];
        struct pollfd p = {c->fd, POLLIN, 0};
        if (c->ended)
            continue;
        if (c->fd >= 0 && timeout_ms > 0)
            poll(&p, 1, timeout_ms);
        c->ended =
            waitpid(c->pid, NULL, WNOHANG) == c->pid || (kill(c->pid, 0) != 0 && errno == ESRCH);
        all &= c->ended;
    }
    return all;
}

void target_close(struct target *t)
{
    for (size_t i = 0; i < t->nchildren; i++)
        if (t->child[i].fd >= 0)
            close(t->child[i].fd);
    t->nchildren = 0;
}
