/* running.c - see running.h. */
#include "web/running.h"

#include <stdio.h>
#include <string.h>

/* How to allow destructive actions. */
static const char permit[] = "`erltrace serve -w` allows destructive actions";

static bool is_set(erltrace_t *h, int rc, const char *name, struct diag_list *diags)
{
    if (rc == 0)
        return true;
    const char *why = erltrace_errmsg(h, erltrace_errno(h));
    const char *hint = erltrace_setopt_hint(h, name);
    if (erltrace_errno(h) == ERLTRACE_E_RESTRICTED && hint == NULL)
        hint = "a page cannot set options that affect the server's host";
    diag_list_error(diags, "OPTION", hint, "failed to set option '%s': %s", name, why);
    return false;
}

static bool set(erltrace_t *h, const char *name, const char *value, struct diag_list *diags)
{
    return is_set(h, erltrace_setopt(h, name, value), name, diags);
}

/* The environment's setting for destructive actions is for commands: pages may run them only with
 * -w. */
static bool set_environment(erltrace_t *h, struct diag_list *diags)
{
    const char *name = "";
    int rc = erltrace_setopt_environment(h, &name);
    return is_set(h, rc, name, diags) && set(h, "destructive", "no", diags);
}

erltrace_t *run_open(const struct web_config *config, const struct message *m, int flags,
                     struct diag_list *diags)
{
    int err;
    erltrace_t *h = erltrace_open(ERLTRACE_VERSION,
                                  flags | (config->kernel ? (int)ERLTRACE_O_KERNEL : 0), &err);
    if (h == NULL) {
        diag_list_error(diags, "", NULL, "%s", erltrace_errmsg(NULL, err));
        return NULL;
    }
    erltrace_handle_diag(h, diag_list_add, diags);
    bool ok = set(h, "stats", "1s", diags) && set_environment(h, diags);
    for (size_t i = 0; ok && i < config->noptions; i++)
        ok = set(h, config->option[i].name, config->option[i].value, diags);
    if (ok && config->destructive)
        ok = set(h, "destructive", NULL, diags);
    if (ok && erltrace_restrict(h, permit) != 0) {
        diag_list_failed(diags, h);
        ok = false;
    }
    for (size_t i = 0; ok && i < m->noptions; i++)
        ok = set(h, m->option[i].name, m->option[i].value, diags);
    if (!ok) {
        erltrace_close(h);
        return NULL;
    }
    return h;
}

/* -- target ------------------------------------------------------------------------------------ */

/* Returns whether a name, which may be a short one, names that node. */
static bool names(const char *name, const char *node)
{
    size_t n = strcspn(node, "@");
    return strcmp(name, node) == 0 || (strlen(name) == n && strncmp(name, node, n) == 0);
}

struct wanted {
    const char *name;
    bool found;
    size_t meant; /* of those, how many the name means on this host */
    pid_t pid;    /* the last one of these */
};

static int look(const struct erltrace_node *n, void *arg)
{
    struct wanted *w = arg;
    if (n->name[0] == '\0' || !names(w->name, n->name))
        return 0;
    w->found = true;
    if (n->meant) {
        w->pid = n->pid;
        w->meant++;
    }
    return 0;
}

/* Returns the node that a page's name refers to; NULL: none that it may trace. Pages may name the
 * nodes given to the server, or if there are none, those of this host: the server's cookie must not
 * go to arbitrary hosts. A name without a host means the given node of that name; a name with a
 * host means a given node without one only if that node runs here. */
static const char *allowed(const struct web_config *config, erltrace_t *h, const char *node)
{
    bool here = config->nnodes == 0;
    for (size_t i = 0; i < config->nnodes; i++) {
        if (names(node, config->node[i]))
            return config->node[i];
        here |= strchr(config->node[i], '@') == NULL && names(config->node[i], node);
    }
    struct wanted w = {.name = node};
    if (here)
        erltrace_node_iter(h, look, &w);
    return w.found ? node : NULL;
}

/* The same of a node that pages may trace. */
static pid_t process_of(const struct web_config *config, erltrace_t *h, const char *node)
{
    struct wanted w = {.name = node};
    if (config->kernel)
        erltrace_node_iter(h, look, &w);
    return w.meant == 1 ? w.pid : 0;
}

pid_t run_process(const struct web_config *config, erltrace_t *h, const char *node)
{
    const char *allowed_node = node[0] != '\0' ? allowed(config, h, node) : NULL;
    return allowed_node != NULL ? process_of(config, h, allowed_node) : 0;
}

static int add_node(const struct web_config *config, erltrace_t *h, const char *node)
{
    const pid_t pid = process_of(config, h, node);
    int rc = erltrace_target_node(h, node, NULL);
    return rc == 0 && pid != 0 ? erltrace_set_process(h, pid) : rc;
}

bool run_set_access(const struct web_config *config, erltrace_t *h)
{
    bool ok = erltrace_set_cookie(h, config->cookie, config->cookie_file) == 0 &&
              erltrace_set_agent_dir(h, config->agent_dir) == 0;
    for (size_t i = 0; ok && i < config->ntls; i++)
        ok = erltrace_set_tls(h, config->tls[i].name, config->tls[i].value) == 0;
    return ok;
}

bool run_target(const struct web_config *config, erltrace_t *h, const char *node,
                struct diag_list *diags)
{
    const char *allowed_node;
    int rc;
    if (!run_set_access(config, h)) {
        diag_list_failed(diags, h);
        return false;
    }
    if (node == NULL || node[0] == '\0') {
        rc = config->kernel ? erltrace_target_host(h) : erltrace_target_local(h);
    } else if ((allowed_node = allowed(config, h, node)) == NULL) {
        diag_list_error(diags, "WEB_NODE",
                        config->nnodes > 0 ? "the server traces the nodes that --node gives it"
                                           : "the server traces the nodes of its own host; "
                                             "`erltrace serve --node NAME` gives it others",
                        "there is no node '%s' here", node);
        return false;
    } else {
        rc = add_node(config, h, allowed_node);
    }
    if (rc != 0)
        diag_list_failed(diags, h);
    return rc == 0;
}

/* -- script ------------------------------------------------------------------------------------ */

bool run_compile(erltrace_t *h, const struct message *m, struct diag_list *diags)
{
    char *words[MESSAGE_ARGS + 1];
    if (strlen(m->script) > MESSAGE_SCRIPT) {
        diag_list_error(diags, "WEB_SCRIPT", NULL, "the script is longer than %d bytes",
                        (int)MESSAGE_SCRIPT);
        return false;
    }
    words[0] = m->name != NULL && m->name[0] != '\0' ? m->name : (char *)"script";
    memcpy(words + 1, m->arg, m->nargs * sizeof words[0]);
    if (erltrace_program_strcompile(h, words[0], ERLTRACE_SPEC_SCRIPT, m->script, (int)m->nargs + 1,
                                    words) == NULL ||
        erltrace_is_destructive(h) < 0) { /* makes the image, which has errors of its own */
        diag_list_failed(diags, h);
        return false;
    }
    return true;
}

bool run_enable(const struct web_config *config, erltrace_t *h, struct diag_list *diags)
{
    int64_t zdefs;
    if (erltrace_is_destructive(h) == 1 && !config->destructive) {
        diag_list_error(diags, "WEB_DESTRUCTIVE", permit,
                        "destructive actions are not allowed on this server");
        return false;
    }
    if (erltrace_enable(h) != 0) {
        diag_list_failed(diags, h);
        return false;
    }
    if (erltrace_status(h)->probes == 0 &&
        (erltrace_getopt(h, "zdefs", &zdefs) != 0 || zdefs == ERLTRACE_OPT_UNSET)) {
        diag_list_error(diags, "", NULL, "no probes matched");
        return false;
    }
    return true;
}
