/* handle.h - the handle behind include/erltrace.h: a session, and what programs ask for beside it.
 *
 * Every public function that can fail begins with api_enter, which refuses what is not possible
 * now, and ends with api_leave, which hands collected diagnostics to the program and turns codes of
 * base/err.h into those of the public header. The phase only goes forward. */
#ifndef ET_SESSION_HANDLE_H
#define ET_SESSION_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "session/session.h"
#include "wire/cred.h"

/* Where a handle is on its way: one of these, then enum erltrace_state. */
enum {
    API_OPEN = -2,                    /* programs may be compiled */
    API_COMPILED = -1,                /* the image is made */
    API_ENABLED = ERLTRACE_STATE_NONE /* descriptions have been matched */
};

/* Something to trace. */
struct api_target {
    struct api_target *next;
    const char *node;    /* by name, or NULL */
    const char *cookie;  /* its own; NULL: the handle's */
    bool by_relay;       /* through a relay; node is its name for people */
    int relay;           /* the socket, -1 when the tier has it */
    pid_t pid;           /* by process id, or of the command; 0 */
    const char *command; /* started by us, or NULL */
    int pidfd;           /* of a process that the trace ends with: readable when it has; -1 */
    bool watched;        /* the trace ends when all of these have ended */
    bool stopped;        /* it waits for erltrace_go */
    bool ended;          /* it has */
};

struct erltrace {
    struct erltrace *next; /* of all that are open */
    int phase;             /* API_OPEN ... API_ENABLED, then enum erltrace_state */
    bool busy;             /* inside a function that calls handlers */
    bool acting;           /* inside the program's handler of an action */
    int error;             /* enum erltrace_err */
    struct buf message;    /* of error */
    atomic_int interrupted;

    struct session session;
    struct buf cpp; /* arguments of the preprocessor, each with its NUL */
    size_t ncpp;
    bool traditional; /* option stdc=s */
    struct erltrace_prog *compiling;
    bool compile_failed;

    struct api_target *target, **target_tail;
    size_t ntargets, nwatched;
    bool local;
    bool opened; /* tiers are attached */
    const char *cookie, *cookie_file, *agent_dir, *root;
    struct cred_options tls;
    unsigned lost_commands; /* targets lost because their command has ended */
    size_t lost_seen;

    FILE *fp;     /* of the erltrace_work that is under way; NULL: none */
    int first_fd; /* what it stood for before freopen(), or -1 */
    bool io_failed;
    int fd;            /* epoll, -1: not asked for yet */
    uint64_t reported; /* things handed out, for the end of a wait */
    struct erltrace_status status;

    erltrace_diag_fn *diag_fn;
    void *diag_arg;
    erltrace_output_fn *output_fn;
    void *output_arg;
    erltrace_command_fn *command_fn;
    void *command_arg;
    erltrace_fault_fn *fault_fn;
    void *fault_arg;
    erltrace_drop_fn *drop_fn;
    void *drop_arg;
    erltrace_stats_fn *stats_fn;
    void *stats_arg;
    erltrace_progress_fn *progress_fn;
    void *progress_arg;
    erltrace_setopt_fn *setopt_fn;
    void *setopt_arg;
    erltrace_record_fn *record_fn; /* these two of the erltrace_work that is under way */
    erltrace_data_fn *data_fn;
    void *work_arg;
    struct buf text; /* of erltrace_data_text */
};

/* -- handle.c -- */
/* Whether the handle may do this now: it is one, no handler is running, and the phase lies between
 * the two. Sets the error if not. */
bool api_enter(erltrace_t *h, int from, int to);
/* Sets an error and returns -1. The text is the code's own, or the format's. */
int api_fail(erltrace_t *h, int code);
int api_fail_text(erltrace_t *h, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Hands out the diagnostics; rc is what the rooms below returned: 0, or a code of base/err.h.
 * Returns 0 or -1. */
int api_leave(erltrace_t *h, int rc);
char *api_strdup(erltrace_t *h, const char *s); /* NULL for NULL, and when memory is out */

/* -- diagnose.c -- */
/* Gives the diagnostics collected so far to the program's handler. */
void api_hand_out(erltrace_t *h);

/* -- programs.c -- */
/* The image, if it is not made yet. 0 or -1. */
int api_compile(erltrace_t *h);
/* What is left of f, *len bytes and a NUL, in the arena; NULL with errno set. */
char *api_read(erltrace_t *h, FILE *f, size_t *len);
/* -- cpp.c -- */
/* An option of the preprocessor: define, undef, incdir, cpphdrs, cppargs, stdc. False when it is
 * none; *ok whether the value is good. */
bool api_cpp_option(erltrace_t *h, const char *name, const char *value, bool *ok);
/* The text after the C preprocessor, *len bytes of it in the arena; NULL with *why in dtrace's
 * words when that failed. */
char *api_preprocess(erltrace_t *h, const char *text, size_t *len, const char **why);
/* -- target.c -- */
/* Connects to everything that was asked for. 0 or a code of base/err.h. */
int api_open_targets(erltrace_t *h);
/* Whether every process that the trace ends with has ended; waits for that at most timeout_ms.
 * False without any. */
bool api_commands_ended(erltrace_t *h, int timeout_ms);
/* Lets the commands run that wait for tracing. */
void api_release(erltrace_t *h);
void api_close_targets(erltrace_t *h);
/* -- child.c -- */
/* Starts a command that is no node; it stands still until it gets SIGCONT. 0, or an errno value. */
int api_start_process(const char *command, pid_t *pid);
/* -- watch.c -- */
extern const struct observer api_watch; /* arg is the handle */
/* What a value of a record or a key is for the program. */
struct erltrace_value api_value(const struct value *v);
/* -- output.c -- */
struct out api_out(erltrace_t *h);
/* -- root.c -- */
/* The folder whose priv/ holds the agent and D's libraries; NULL when it is not found. */
const char *api_root(erltrace_t *h);
/* -- libdir.c -- */
/* The folder for libraries under the PREFIX that this library was installed with. */
const char *api_libdir(void);

#endif
