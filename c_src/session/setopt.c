/* setopt.c - options of the language, and of the preprocessor. */
#include <string.h>

#include "session/handle.h"

/* Reports a reason of options_set as an error. */
static int refused(erltrace_t *h, const char *why)
{
    static const int codes[] = {ERLTRACE_E_OPTNAME, ERLTRACE_E_OPTVAL, ERLTRACE_E_STATE,
                                ERLTRACE_E_RESTRICTED};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(why, erltrace_errmsg(NULL, codes[i])) == 0)
            return api_fail(h, codes[i]);
    return api_fail_text(h, ERLTRACE_E_OPTVAL, "%s", why);
}

int erltrace_setopt(erltrace_t *h, const char *name, const char *value)
{
    bool running = h != NULL && h->phase >= ERLTRACE_STATE_RUNNING, ok;
    const char *why;
    if (!api_enter(h, API_OPEN, ERLTRACE_STATE_STOPPING))
        return -1;
    if (name == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    if (api_cpp_option(h, name, value, &ok)) {
        if (ok && running)
            return api_fail(h, ERLTRACE_E_STATE);
        return ok ? 0 : api_fail(h, ERLTRACE_E_OPTVAL);
    }
    char *copy = api_strdup(h, value); /* options borrow paths */
    if (value != NULL && copy == NULL)
        return api_fail(h, ERLTRACE_E_NOMEM);
    bool late =
        running || (h->opened && strcmp(name, "lease") == 0); /* agreed on when a node is opened */
    if (options_set(&h->session.opt, name, copy, late ? OPTION_BY_RUNNING : OPTION_BY_COMMAND,
                    &why) != 0)
        return refused(h, why);
    session_options_changed(&h->session);
    return 0;
}

int erltrace_restrict(erltrace_t *h, const char *permit)
{
    if (!api_enter(h, API_OPEN, API_OPEN))
        return -1;
    char *copy = api_strdup(h, permit);
    if (permit != NULL && copy == NULL)
        return api_fail(h, ERLTRACE_E_NOMEM);
    h->session.opt.restricted = true;
    h->session.opt.permit = copy;
    return 0;
}

const char *erltrace_setopt_hint(erltrace_t *h, const char *name)
{
    return h != NULL && name != NULL ? options_hint(&h->session.opt, name, h->session.option_hint)
                                     : NULL;
}

int erltrace_getopt(erltrace_t *h, const char *name, int64_t *value)
{
    if (h == NULL)
        return -1;
    if (name == NULL || value == NULL)
        return api_fail(h, ERLTRACE_E_INVAL);
    return options_get(&h->session.opt, name, value) ? 0 : api_fail(h, ERLTRACE_E_OPTNAME);
}

static int set(void *arg, const char *name, const char *value)
{
    return erltrace_setopt(arg, name, value);
}

int erltrace_setopt_environment(erltrace_t *h, const char **name)
{
    const char *which = "";
    if (!api_enter(h, API_OPEN, API_OPEN))
        return -1;
    int rc = options_environment(set, h, &which);
    if (rc != 0 && name != NULL)
        *name = which;
    return rc;
}
