/* handle.h - the handle behind include/erltrace.h: a session, and what else programs ask for.
 *
 * Every public function that can fail begins with api_enter, which refuses what is not allowed in
 * the current phase, and ends with api_leave, which hands collected diagnostics to the program and
 * turns codes of base/err.h into those of the public header. The phase only moves forward. */
#ifndef ET_SESSION_HANDLE_H
#define ET_SESSION_HANDLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "session/session.h"
#include "wire/cred.h"
#include "wire/node.h"

/* The phase of a handle: one of these, then enum erltrace_state. */
enum {
    API_OPEN = -2,                    /* programs may be compiled */
    API_COMPILED = -1,                /* the image is made */
    API_ENABLED = ERLTRACE_STATE_NONE /* descriptions have been matched */
};

/* Something to trace. */
struct api_target {
    struct api_target *next;
    const char *node;    /* its name, or NULL */
    const char *cookie;  /* for this node; NULL: the handle's */
    bool cluster;        /* ... and with it all nodes of its cluster */
    bool by_relay;       /* through a relay; node is then the name to show */
    int relay;           /* the socket, -1 when the tier has it */
    pid_t pid;           /* given, or of the command; 0: none */
    const char *command; /* started by us, or NULL */
    int pidfd;    /* readable when the process, whose end ends the trace, has ended; -1: none */
    bool watched; /* the trace ends when all watched targets have ended */
    bool stopped; /* waits for erltrace_go */
    bool ended;   /* has ended */
};

struct erltrace {
    struct erltrace *next; /* in the list of open handles */
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
    bool kernel;                  /* with `local`: the kernel tier */
    bool host;                    /* with `local`: the kernel tier, if the programs are for it */
    struct erltrace_names *names; /* instead of nodes; NULL: none. Borrowed */
    pid_t names_process;          /* of the node that they are of, on this host; 0: not known */
    bool opened;                  /* tiers are attached */
    bool looking;                 /* erltrace_examine: what may be in the way is noted */
    struct api_look *look;        /* for each node that was opened, the last one first */
    const char *cookie, *cookie_file, *agent_dir, *root, *as;
    struct cred_options tls;
    unsigned lost_commands; /* targets lost because their command ended */
    size_t lost_seen;

    FILE *fp;     /* of the erltrace_work in progress; NULL: none */
    int first_fd; /* its file before freopen(), or -1 */
    bool io_failed;
    int fd;            /* epoll, -1: not asked for so far */
    uint64_t reported; /* events handed out; a wait ends when there are any */
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
    erltrace_member_fn *member_fn;
    void *member_arg;
    erltrace_progress_fn *progress_fn;
    void *progress_arg;
    erltrace_setopt_fn *setopt_fn;
    void *setopt_arg;
    erltrace_record_fn *record_fn; /* these two are of the erltrace_work in progress */
    erltrace_data_fn *data_fn;
    void *work_arg;
    struct buf text; /* of erltrace_data_text */
};

/* -- handle.c -- */
/* Returns whether the handle may do this now: it is a handle, no handler is running, and its phase
 * lies between the two. Sets the error if not. */
bool api_enter(erltrace_t *h, int from, int to);
/* Sets an error and returns -1. The text is the code's own, or the format's. */
int api_fail(erltrace_t *h, int code);
int api_fail_text(erltrace_t *h, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Hands out the diagnostics. rc is the result of the rooms below: 0, or a code of base/err.h.
 * Returns 0 or -1. */
int api_leave(erltrace_t *h, int rc);
char *api_strdup(erltrace_t *h, const char *s); /* NULL for NULL, and when out of memory */

/* -- diagnose.c -- */
/* Passes the diagnostics collected so far to the program's handler. */
void api_hand_out(erltrace_t *h);

/* -- programs.c -- */
/* Makes the image if there is none yet. Returns 0 or -1. */
int api_compile(erltrace_t *h);
/* Reads the rest of f: *len bytes and a NUL, in the arena. Returns NULL with errno set on failure.
 */
char *api_read(erltrace_t *h, FILE *f, size_t *len);
/* -- cpp.c -- */
/* Sets an option of the preprocessor: define, undef, incdir, cpphdrs, cppargs, stdc. Returns false
 * when the name is none of these; *ok tells whether the value is valid. */
bool api_cpp_option(erltrace_t *h, const char *name, const char *value, bool *ok);
/* Returns the text after the C preprocessor, *len bytes in the arena; NULL on failure, with *why in
 * dtrace's words. */
char *api_preprocess(erltrace_t *h, const char *text, size_t *len, const char **why);
/* -- target.c -- */
/* Returns whether a target is a node by its name, or by a relay. */
bool api_names_node(const erltrace_t *h);
/* Returns a tier with these names. NULL: memory is exhausted. */
struct tier *api_names_open(const struct erltrace_names *n);
/* Connects to all targets asked for. Returns 0 or a code of base/err.h. */
int api_open_targets(erltrace_t *h);

/* -- looks.c -- */
/* Notes what may be in the way to a node that is about to be opened, and then what came of it:
 * `rc`, with its diagnostic. Does nothing unless the handle is looking. */
void api_look_before(erltrace_t *h, const struct node_options *opt);
void api_look_after(erltrace_t *h, int rc);
/* Reports these findings about the nth node that was opened, or about the one that could not be
 * opened. `target`: its name, or NULL for what was found out of it. Returns 0 or what fn returned.
 */
int api_look_report(const erltrace_t *h, size_t nth, const char *target, erltrace_finding_fn *fn,
                    void *arg);
/* Returns whether every process that the trace ends with has ended; waits for that at most
 * timeout_ms. Returns false when there is no such process. */
bool api_commands_ended(erltrace_t *h, int timeout_ms);
/* Lets commands that wait for tracing run. */
void api_release(erltrace_t *h);
void api_close_targets(erltrace_t *h);
/* -- child.c -- */
/* Starts a command that is not a node; it stands still until it gets SIGCONT, after its exec or at
 * the program's first instruction. Returns 0 or an errno value. */
int api_start_process(const char *command, bool at_exec, pid_t *pid);

/* -- watch.c -- */
extern const struct observer api_watch; /* arg is the handle */
/* Returns a value of a record or a key in its public form. */
struct erltrace_value api_value(const struct value *v);
/* -- output.c -- */
struct out api_out(erltrace_t *h);
/* -- root.c -- */
/* Returns the folder whose priv/ holds the agent and D's libraries; NULL when it is not found. */
const char *api_root(erltrace_t *h);
/* -- libdir.c -- */
/* Returns the library folder under the PREFIX that this library was installed with. */
const char *api_libdir(void);

#endif
