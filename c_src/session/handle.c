/* handle.c - opens and closes handles, and keeps their errors.
 *
 * A list holds the open handles, so that closing one twice does nothing. */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "session/handle.h"
#include "base/err.h"
#include "util/buftext.h"
#include "util/render.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct erltrace *handles;

/* -- errors ------------------------------------------------------------------------------------ */

/* The codes up to UNSUP are those of base/err.h, without their sign. */
_Static_assert(ERLTRACE_E_NOMEM == -ET_ENOMEM && ERLTRACE_E_UNSUP == -ET_EUNSUP &&
                   ERLTRACE_E_VERIFY == -ET_EVERIFY && ERLTRACE_E_LOST == -ET_ELOST,
               "codes of the library are those of the rooms below");

/* The texts of codes that base/err.h lacks, or describes for people who make images. */
static const char *const texts[] = {
    [ERLTRACE_E_OK] = "no error",
    [ERLTRACE_E_IMAGE] = "malformed data",
    [ERLTRACE_E_VERIFY] = "the program was rejected by the verifier",
    [ERLTRACE_E_VERSION] = "the library does not speak this version of its interface",
    [ERLTRACE_E_STATE] = "Operation illegal when tracing is active",
    [ERLTRACE_E_OPTNAME] = "Invalid option name",
    [ERLTRACE_E_OPTVAL] = "Invalid value for specified option",
    [ERLTRACE_E_OPEN] = "the file cannot be opened",
    [ERLTRACE_E_CPP] = "Preprocessor failed to process input program",
    [ERLTRACE_E_DESTRUCTIVE] = "Destructive actions not allowed",
    [ERLTRACE_E_ABORT] = "a handler ended the trace",
    [ERLTRACE_E_RESTRICTED] = "Option not allowed for this program",
};
enum { NCODES = sizeof texts / sizeof texts[0] };

static int code_of(int rc)
{
    return rc == ET_EABORT                     ? ERLTRACE_E_ABORT
           : rc < 0 && -rc <= ERLTRACE_E_UNSUP ? -rc
                                               : ERLTRACE_E_INVAL;
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
    return err >= 0 && err < NCODES && texts[err] != NULL ? texts[err]
           : err > 0 && err <= ERLTRACE_E_UNSUP           ? et_strerror(-err)
                                                          : "unknown error";
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
    for (size_t i = 0; rc != 0 && i < h->session.diags.count; i++) {
        if (h->session.diags.list[i].severity == DIAG_ERROR) {
            api_fail_text(h, code_of(rc), "%s", h->session.diags.list[i].text);
            break;
        }
        if (i + 1 == h->session.diags.count)
            api_fail(h, code_of(rc));
    }
    if (rc != 0 && h->session.diags.count == 0)
        api_fail(h, code_of(rc));
    if (h->session.diags.count > 0 || h->session.diags.errors > 0)
        api_hand_out(h);
    diags_clear(&h->session.diags);
    return rc != 0 ? -1 : 0;
}

bool api_enter(erltrace_t *h, int from, int to)
{
    if (h == NULL)
        return false;
    if (h->busy || h->phase < from || h->phase > to) {
        api_fail_text(h, ERLTRACE_E_STATE, "%s",
                      h->busy           ? "this cannot be done from inside a handler"
                      : h->phase < from ? "it is too early for this"
                      : h->phase < ERLTRACE_STATE_RUNNING ? "it is too late for this"
                                                          : texts[ERLTRACE_E_STATE]);
        return false;
    }
    return true;
}

char *api_strdup(erltrace_t *h, const char *s)
{
    return s != NULL ? arena_strdup(&h->session.arena, s) : NULL;
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
    if ((flags & ~(report_flags() | ERLTRACE_O_CHECK | ERLTRACE_O_TERMINAL | ERLTRACE_O_KERNEL)) !=
        0)
        return no_handle(ERLTRACE_E_INVAL, err);
    struct erltrace *h = et_calloc(1, sizeof *h);
    if (h == NULL)
        return no_handle(ERLTRACE_E_NOMEM, err);
    h->phase = API_OPEN;
    h->first_fd = h->fd = -1;
    h->target_tail = &h->target;
    session_init(&h->session);
    h->session.flags = flags;
    h->session.out = api_out(h);
    h->session.watch = api_watch;
    h->session.watch.arg = h;
    pthread_mutex_lock(&lock);
    h->next = handles;
    handles = h;
    pthread_mutex_unlock(&lock);
    return h;
}

/* Removes a handle from the list of open ones. Returns false when it is not in the list. */
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
    session_detach(&h->session);
    api_close_targets(h);
    if (h->first_fd >= 0)
        close(h->first_fd);
    if (h->fd >= 0)
        close(h->fd);
    buf_free(&h->message);
    buf_free(&h->cpp);
    buf_free(&h->text);
    session_free(&h->session);
    et_free(h);
}
