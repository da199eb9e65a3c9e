/* handle.c - opening and closing handles, errors.
 *
 * The handles that are open are in a list, so that closing one twice does nothing. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "session/api.h"
#include "base/err.h"
#include "util/buftext.h"
#include "util/render.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct erltrace *handles;

/* -- errors ------------------------------------------------------------------------------------ */

static const struct {
    int base; /* code of base/err.h, 0: it has none */
    const char *text;
} errors[] = {
    [ERLTRACE_E_OK] = {0, "no error"},
    [ERLTRACE_E_NOMEM] = {ET_ENOMEM, "Memory allocation failure"},
    [ERLTRACE_E_INVAL] = {ET_EINVAL, "invalid argument"},
    [ERLTRACE_E_COMPILE] = {ET_ECOMPILE, "the program does not compile"},
    [ERLTRACE_E_IMAGE] = {ET_EIMAGE, "malformed data"},
    [ERLTRACE_E_VERIFY] = {ET_EVERIFY, "the program was rejected by the verifier"},
    [ERLTRACE_E_NOPROBE] = {ET_ENOPROBE, "no probe matches"},
    [ERLTRACE_E_NODE] = {ET_ENODE, "the node cannot be reached"},
    [ERLTRACE_E_AUTH] = {ET_EAUTH, "the node refused the cookie"},
    [ERLTRACE_E_OTP] = {ET_EOTP, "the node runs an OTP release that is not supported"},
    [ERLTRACE_E_AGENT] = {ET_EAGENT, "the agent cannot be placed in the node"},
    [ERLTRACE_E_BUSY] = {ET_EBUSY, "another tracer is in the way"},
    [ERLTRACE_E_LOST] = {ET_ELOST, "the connection to the node was lost"},
    [ERLTRACE_E_LIMIT] = {ET_ELIMIT, "a limit was exceeded"},
    [ERLTRACE_E_IO] = {ET_EIO, "input or output failed"},
    [ERLTRACE_E_UNSUP] = {ET_EUNSUP, "not supported here"},
    [ERLTRACE_E_VERSION] = {0, "the library does not speak this version of its interface"},
    [ERLTRACE_E_STATE] = {0, "Operation illegal when tracing is active"},
    [ERLTRACE_E_OPTNAME] = {0, "Invalid option name"},
    [ERLTRACE_E_OPTVAL] = {0, "Invalid value for specified option"},
    [ERLTRACE_E_OPEN] = {0, "the file cannot be opened"},
    [ERLTRACE_E_CPP] = {0, "Preprocessor failed to process input program"},
    [ERLTRACE_E_DESTRUCTIVE] = {0, "Destructive actions not allowed"},
    [ERLTRACE_E_ABORT] = {ET_EABORT, "a handler ended the trace"},
    [ERLTRACE_E_RESTRICTED] = {0, "Option not allowed for this program"},
};
enum { NERRORS = sizeof errors / sizeof errors[0] };

static int code_of(int rc)
{
    for (int i = 1; i < NERRORS; i++)
        if (errors[i].base == rc)
            return i;
    return ERLTRACE_E_INVAL;
}

int api_fail_text(erltrace_t *h, int code, const char *fmt, ...)
{
    va_list ap;
    h->error = code;
    buf_reset(&h->message);
    va_start(ap, fmt);
    buf_vprintf(&h->message, fmt, ap);
    va_end(ap);
    return -1;
}

int api_fail(erltrace_t *h, int code)
{
    h->error = code;
    buf_reset(&h->message);
    return -1;
}

int erltrace_errno(const erltrace_t *h)
{
    return h != NULL ? h->error : ERLTRACE_E_INVAL;
}

const char *erltrace_errmsg(const erltrace_t *h, int err)
{
    if (h != NULL && err == h->error && h->message.len > 0)
        return buf_str(&h->message);
    return err >= 0 && err < NERRORS ? errors[err].text : "unknown error";
}

const char *erltrace_version(void)
{
    return ET_VERSION;
}

int erltrace_image_version(void)
{
    return DIF_VERSION;
}

/* -- entering and leaving ---------------------------------------------------------------------- */

int api_leave(erltrace_t *h, int rc)
{
    for (size_t i = 0; rc != 0 && i < h->diags.count; i++) {
        if (h->diags.list[i].severity == DIAG_ERROR) {
            api_fail_text(h, code_of(rc), "%s", h->diags.list[i].text);
            break;
        }
        if (i + 1 == h->diags.count)
            api_fail(h, code_of(rc));
    }
    if (rc != 0 && h->diags.count == 0)
        api_fail(h, code_of(rc));
    if (h->diags.count > 0 || h->diags.errors > 0)
        api_hand_out(h);
    diags_clear(&h->diags);
    return rc != 0 ? -1 : 0;
}

bool api_enter(erltrace_t *h, enum api_phase from, enum api_phase to)
{
    if (h == NULL)
        return false;
    if (h->busy || h->phase < from || h->phase > to) {
        api_fail_text(h, ERLTRACE_E_STATE, "%s",
                      h->busy                  ? "this cannot be done from inside a handler"
                      : h->phase < from        ? "it is too early for this"
                      : h->phase < API_RUNNING ? "it is too late for this"
                                               : errors[ERLTRACE_E_STATE].text);
        return false;
    }
    return true;
}

char *api_strdup(erltrace_t *h, const char *s)
{
    return s != NULL ? arena_strdup(&h->arena, s) : NULL;
}

/* -- opening and closing ----------------------------------------------------------------------- */

static erltrace_t *no_handle(int code, int *err)
{
    if (err != NULL)
        *err = code;
    return NULL;
}

erltrace_t *erltrace_open(int version, int flags, int *err)
{
    if (version != ERLTRACE_VERSION)
        return no_handle(ERLTRACE_E_VERSION, err);
    if ((flags & ~(ERLTRACE_O_JSON | ERLTRACE_O_CHECK | ERLTRACE_O_TERMINAL)) != 0)
        return no_handle(ERLTRACE_E_INVAL, err);
    struct erltrace *h = et_calloc(1, sizeof *h);
    if (h == NULL)
        return no_handle(ERLTRACE_E_NOMEM, err);
    h->flags = flags;
    h->first_fd = h->fd = -1;
    h->program_tail = &h->program;
    h->target_tail = &h->target;
    arena_init(&h->arena);
    diags_init(&h->diags);
    options_init(&h->opt);
    h->watch = api_watch;
    h->watch.arg = h;
    if ((flags & ERLTRACE_O_JSON) != 0) /* then these are a part of the output */
        h->watch.fault = NULL, h->watch.drop = NULL, h->watch.cost = NULL;
    pthread_mutex_lock(&lock);
    h->next = handles;
    handles = h;
    pthread_mutex_unlock(&lock);
    return h;
}

/* Takes it from the list of those that are open; false when it is not there. */
static bool forget(erltrace_t *h)
{
    bool known = false;
    pthread_mutex_lock(&lock);
    for (struct erltrace **p = &handles; *p != NULL; p = &(*p)->next) {
        if (*p == h) {
            known = !h->busy;
            if (known)
                *p = h->next;
            else
                erltrace_interrupt(h);
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void erltrace_close(erltrace_t *h)
{
    if (h == NULL || !forget(h))
        return;
    session_close(h->session);
    api_close_targets(h);
    if (h->first_fd >= 0)
        close(h->first_fd);
    if (h->fd >= 0)
        close(h->fd);
    buf_free(&h->message);
    buf_free(&h->cpp);
    buf_free(&h->text);
    diags_free(&h->diags);
    arena_free(&h->arena);
    et_free(h);
}
