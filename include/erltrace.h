/* erltrace.h - DTrace for the Erlang VM, for programs: the public interface of liberltrace.
 *
 * This header is the manual of the library. The library offers a program everything that the
 * command erltrace(1) does, and the command is built on nothing else: D text is compiled in this
 * process and runs inside traced nodes, and its records and aggregations come back to be printed by
 * the library or inspected by the program. doc/command.md describes the options and the language's
 * output; examples/ contains a complete program.
 *
 *     int err;
 *     erltrace_t *h = erltrace_open(ERLTRACE_VERSION, 0, &err);
 *     erltrace_setopt(h, "quiet", NULL);
 *     erltrace_target_node(h, "rabbit", NULL);
 *     erltrace_program_strcompile(h, "sched", ERLTRACE_SPEC_SCRIPT, text, 0, NULL);
 *     erltrace_go(h);
 *     while (erltrace_work(h, stdout, 1000, NULL, NULL, NULL) == ERLTRACE_WORK_OKAY)
 *         ;
 *     erltrace_aggregate_print(h, stdout);
 *     erltrace_close(h);
 *
 * Life of a handle. Every step is optional, but the order is fixed:
 *
 *     open -> setopt, handle_..., target_... -> program_..compile... -> enable -> go -> work...
 *          -> close
 *
 * Functions that query the compiled programs (erltrace_program_dump, erltrace_is_destructive,
 * erltrace_probe_iter) end compilation, as erltrace_enable does: from then on the programs are one.
 *
 * A call that comes too early or too late fails with ERLTRACE_E_STATE and changes nothing.
 * erltrace_close may be called at any time except from inside a handler: it ends a running trace,
 * undoes everything that was set in the nodes, and frees everything that the handle owns. A process
 * that ends or crashes without it leaves the nodes clean as well; they notice within seconds.
 *
 * Errors. A function that can fail returns 0 on success and -1 on failure (NULL if it returns a
 * pointer). After a failure, erltrace_errno returns a code of enum erltrace_err, and
 * erltrace_errmsg the text. Messages for people, with their position in the source and hints, go to
 * the handler of erltrace_handle_diag before the call returns. A NULL handle gives
 * ERLTRACE_E_INVAL, never a crash.
 *
 * Structures are created only by the library and passed as pointers to const. New members are added
 * at their ends, so a program must neither copy a structure as a whole nor create one itself; it
 * then continues to work with later versions of the library. Each function says how long the target
 * of a pointer lives: at least until the handler that received the pointer returns.
 *
 * Threads. A handle, and everything obtained from it, belongs to one thread at a time. That thread
 * may change between calls, except that a command of erltrace_target_command ends with the thread
 * that started it. Handles are independent of each other and may belong to different threads. Only
 * erltrace_interrupt may be called at any time, from other threads and from signal handlers. The
 * library changes no signal's disposition, writes only to the streams that it is given, and never
 * ends the process. A write to a pipe without a reader raises SIGPIPE as usual.
 *
 * All text is UTF-8 if the traced node's text is; names and messages end with NUL. Times are in
 * nanoseconds unless a name says ms. */
#ifndef ERLTRACE_H
#define ERLTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined __GNUC__
#define ERLTRACE_API __attribute__((visibility("default")))
#else
#define ERLTRACE_API
#endif

/* The version of this interface. It changes when programs must be recompiled. */
#define ERLTRACE_VERSION 1

/* One tracing session. */
typedef struct erltrace erltrace_t;
/* One of its programs, as given to a compile function. Lives as long as the handle. */
typedef struct erltrace_prog erltrace_prog_t;

/* -- opening and closing, errors --------------------------------------------------------------- */

/* The output has the format of the option `format`, set by erltrace_setopt before a program is
 * compiled: "text", as the command prints; "json", as ERLTRACE_O_JSON; or a profile of all
 * aggregations that have a stack among their keys, which is the only output and comes at the end:
 * "pprof", a message Profile of profile.proto, and "speedscope", a JSON file. doc/output.md
 * describes both. Programs without such an aggregation fail to compile (D_FORMAT_STACK). Handlers
 * are called in every format. The option stackform=folded changes how text shows stacks. */

/* Flags of erltrace_open. */
enum {
    /* The output is JSON, one object per line as described in doc/json.md: records, aggregations,
     * and in the same stream drops, faults (repeated ones with a count) and costs, which then go to
     * no handler. */
    ERLTRACE_O_JSON = 1,
    /* Programs are only checked, never started: probes that are known but not available here are
     * not an error of erltrace_enable. */
    ERLTRACE_O_CHECK = 2,
    /* The program's output goes to a terminal: texts that it shows as values (%s, %c, keys,
     * trace()) have bytes that could control a terminal written out, as "\033[2J", unless the
     * option rawoutput is set. Text in the program's own formats is not changed. */
    ERLTRACE_O_TERMINAL = 4,
    /* Programs for nodes that also describe probes of the kernel may run in the kernel of this host
     * (doc/command.md, "A node and the kernel in one script"). Without it such probes are not
     * there. They need privileges, as erltrace_target_kernel does, and the nodes have to run on
     * this host: UNSUP otherwise. */
    ERLTRACE_O_KERNEL = 8
};

enum erltrace_err {
    ERLTRACE_E_OK = 0,
    ERLTRACE_E_NOMEM,       /* out of memory */
    ERLTRACE_E_INVAL,       /* an invalid argument */
    ERLTRACE_E_COMPILE,     /* the program does not compile; diagnostics say why */
    ERLTRACE_E_IMAGE,       /* malformed data came from a node */
    ERLTRACE_E_VERIFY,      /* a program was rejected by the verifier */
    ERLTRACE_E_NOPROBE,     /* a description matches nothing */
    ERLTRACE_E_NODE,        /* a node cannot be reached */
    ERLTRACE_E_AUTH,        /* a node refused the cookie */
    ERLTRACE_E_OTP,         /* a node runs an OTP release that is not supported */
    ERLTRACE_E_AGENT,       /* the agent cannot be placed in a node */
    ERLTRACE_E_BUSY,        /* another tracer is in the way */
    ERLTRACE_E_LOST,        /* the connection to a node was lost */
    ERLTRACE_E_LIMIT,       /* a limit was exceeded */
    ERLTRACE_E_IO,          /* reading or writing failed */
    ERLTRACE_E_UNSUP,       /* not supported here */
    ERLTRACE_E_VERSION,     /* erltrace_open: the library does not speak that version */
    ERLTRACE_E_STATE,       /* not possible now: see the life of a handle */
    ERLTRACE_E_OPTNAME,     /* no such option */
    ERLTRACE_E_OPTVAL,      /* an option's value is invalid */
    ERLTRACE_E_OPEN,        /* a file cannot be opened */
    ERLTRACE_E_CPP,         /* the preprocessor failed, or was not found */
    ERLTRACE_E_DESTRUCTIVE, /* destructive actions without the option destructive */
    ERLTRACE_E_ABORT,       /* a handler ended the trace */
    ERLTRACE_E_RESTRICTED   /* an option that erltrace_restrict does not allow */
};

/* Opens a handle. version: ERLTRACE_VERSION, as the program was compiled with it. flags:
 * ERLTRACE_O_... or 0. Returns NULL on error, with the code in *err (err may be NULL): NOMEM,
 * VERSION, INVAL for unknown flags. */
ERLTRACE_API erltrace_t *erltrace_open(int version, int flags, int *err);

/* Ends a running trace and frees everything, as described above; takes at most about two seconds
 * for each node that does not answer. NULL does nothing. The handle is invalid afterwards and must
 * not be closed again. Called from inside one of the handle's handlers, it only requests the end of
 * the trace. */
ERLTRACE_API void erltrace_close(erltrace_t *h);

/* Returns the code of the last failed call on this handle. NULL: ERLTRACE_E_INVAL. */
ERLTRACE_API int erltrace_errno(const erltrace_t *h);
/* Returns the text of a code, in one line without a full stop. If err is the handle's
 * erltrace_errno, the text is everything that is known about that failure: "Invalid option name".
 * Valid until the next call on the handle. h may be NULL. */
ERLTRACE_API const char *erltrace_errmsg(const erltrace_t *h, int err);

/* Returns the version of the library, "0.1.0". */
ERLTRACE_API const char *erltrace_version(void);
/* Returns the version of the program images that the library makes; an agent in a node must support
 * it. */
ERLTRACE_API int erltrace_image_version(void);

/* -- diagnostics ------------------------------------------------------------------------------- */

enum erltrace_severity { ERLTRACE_ERROR, ERLTRACE_WARNING, ERLTRACE_NOTE };

struct erltrace_diag {
    enum erltrace_severity severity;
    const char *tag;  /* "D_IDENT_UNDEF", "NODE_COOKIE"; "" if none */
    const char *text; /* one line without a full stop */
    const char *hint; /* what to do next; NULL if unknown */
    const char *file; /* the source: the name of a file or program; NULL: no position in a source */
    int line, column; /* from 1; column counts bytes; 0: unknown */
    int length;       /* bytes that the diagnostic refers to, from column on */
    const char *source;   /* the source line without its line end; NULL if there is none */
    const char *rendered; /* everything for people: one to three lines, each with its newline, as
                             the command prints them; one JSON object with ERLTRACE_O_JSON; dtrace's
                             one line with the option errform=dtrace */
};
typedef void erltrace_diag_fn(const struct erltrace_diag *d, void *arg);

/* Sends diagnostics to fn from now on: errors, warnings, and notices, for example that a buffer had
 * to be smaller. NULL, the initial state: to nobody. Compilation continues after an error and
 * reports up to ten errors per program. Returns 0 or -1. */
ERLTRACE_API int erltrace_handle_diag(erltrace_t *h, erltrace_diag_fn *fn, void *arg);

/* -- options ----------------------------------------------------------------------------------- */

/* Sets an option of the language, such as "bufsize" to "16k". value NULL: the name alone, as for a
 * flag ("quiet"). Accepts any option until erltrace_go, afterwards those that setopt() in a program
 * can set.
 * -1: OPTNAME, OPTVAL, STATE. */
ERLTRACE_API int erltrace_setopt(erltrace_t *h, const char *name, const char *value);
/* Returns a hint about an option that erltrace_setopt has rejected: the closest name ("did you mean
 * 'bufsize'?"), or the form of its values. NULL: no hint. Valid until the next call. */
ERLTRACE_API const char *erltrace_setopt_hint(erltrace_t *h, const char *name);
/* Restricts a handle for programs from someone who may trace but do nothing else, such as a user of
 * a web page. From now on, neither erltrace_setopt (RESTRICTED) nor #pragma nor setopt() can set
 * the options that make the library read other files or run commands (cpp and related options,
 * cpppath, libdir, syslibdir), nor the option destructive, unless that is already set. While it is
 * not set, programs with actions that would affect this process or its host - system(), freopen(),
 * ftruncate() and raise() - do not compile. permit: how the reader of the errors can get
 * destructive actions allowed ("start it with -w"), which the errors then mention; NULL: there is
 * no way. The restriction cannot be undone. -1: STATE, NOMEM. */
ERLTRACE_API int erltrace_restrict(erltrace_t *h, const char *permit);
/* Stores the current value of an option of the language: bytes, nanoseconds, or a number;
 * ERLTRACE_OPT_UNSET if it is not set. -1: OPTNAME, also for options without a number (cpppath,
 * define...). */
#define ERLTRACE_OPT_UNSET (-2)
ERLTRACE_API int erltrace_getopt(erltrace_t *h, const char *name, int64_t *value);
/* Sets the options named in the environment, such as DTRACE_OPT_BUFSIZE. Returns -1 at the first
 * invalid one and stores its name in *name (name may be NULL; valid until the next call). */
ERLTRACE_API int erltrace_setopt_environment(erltrace_t *h, const char **name);

/* -- where to trace ---------------------------------------------------------------------------- */
/* A handle takes any number of targets, before erltrace_enable. Without a target, it uses the local
 * tier if the programs describe only dtrace and profile probes, the kernel if they describe only
 * its probes, else the only BEAM of this host. Aggregations are merged over all targets. A node is
 * connected to when its probes are first needed: by erltrace_enable or one of the probe iterators,
 * which report the errors. If a program reads a field of a record that it does not define, what
 * makes the image needs the nodes: erltrace_is_destructive, erltrace_prints and
 * erltrace_program_dump as well. */

/* Adds this process, with the probes of dtrace and profile; needs no node and no privileges. It
 * must precede other targets and excludes nodes (-1: STATE). Next to it, processes and commands can
 * be of any kind; they only define $target and the end of the trace. */
ERLTRACE_API int erltrace_target_local(erltrace_t *h);

/* Adds the kernel of this host: programs run in it, compiled for BPF. It needs privileges (the
 * error says which), and otherwise goes by the rules of erltrace_target_local. */
ERLTRACE_API int erltrace_target_kernel(erltrace_t *h);
/* Adds this host without its nodes: programs run in its kernel if they describe only its probes, or
 * use what only it has, and otherwise in this process. Goes by the rules of erltrace_target_local.
 */
ERLTRACE_API int erltrace_target_host(erltrace_t *h);
/* Adds a running node by name; a short name without @ is on this host. cookie NULL: the handle's
 * cookie. */
ERLTRACE_API int erltrace_target_node(erltrace_t *h, const char *name, const char *cookie);
/* Adds all nodes of a cluster, by the name of any of them: it and those that it is connected with,
 * hidden ones left out; and, while the trace runs, those that come. It must be the only target. The
 * connections are hidden ones, so that the cluster's own view of its members does not change. The
 * agent is loaded, and the program placed, in one node of eight at a time (in a cluster of fewer
 * than sixteen, in one at a time), then all are started together. A node that cannot be traced is
 * told, and does not stop the others: a warning until erltrace_go returns, then the handler of
 * erltrace_handle_member. cookie NULL: the handle's cookie. */
ERLTRACE_API int erltrace_target_cluster(erltrace_t *h, const char *name, const char *cookie);
/* Adds a running node that the caller has a way to reach. Frames (a length of four bytes,
 * big-endian, and a term) pass in both directions over the stream socket fd, and a process in the
 * node, or in a node connected to it, carries them out; doc/port-protocol.md, "The relay", has the
 * details. Neither name, address nor cookie is used to reach the node; name is for messages and
 * results. The library takes ownership of fd, even if this call fails, and closes it when it
 * disconnects from the node. */
ERLTRACE_API int erltrace_target_relay(erltrace_t *h, const char *name, int fd);
/* Adds the BEAM of this host with this process id; with the local tier, any process. */
ERLTRACE_API int erltrace_target_pid(erltrace_t *h, pid_t pid);
/* Says which process of this host the target added last is, which must be a node by name or relay,
 * or the names of one: a program that knows it may say so before programs are compiled. It is
 * $target then, if it is the first one. ($target is the process of the first target, or else of
 * the first one that was given as a process.) With ERLTRACE_O_KERNEL, and if this is known of all
 * targets, programs that describe only probes of the kernel run in the kernel, without a connection
 * to the nodes, and end with these processes. -1: STATE, INVAL. */
ERLTRACE_API int erltrace_set_process(erltrace_t *h, pid_t pid);
/* Starts a command (split at blanks, no quoting) that runs a node, waits at most 20 s until the
 * node can be traced, and returns the process id; -1 on error. The trace ends when all such
 * commands have ended. The commands continue when the handle is closed, and end with this process.
 * They are its children: the program must wait for one that outlives the handle. With the
 * local tier, any command is allowed; it is stopped until erltrace_go, where its program begins
 * (with the option evaltime=exec right after its exec), ends if the handle is closed before that,
 * and may outlive this process. */
ERLTRACE_API pid_t erltrace_target_command(erltrace_t *h, const char *command);
/* Sets the cookie for nodes without one of their own, directly or as a file that contains it. NULL,
 * NULL: the value of -setcookie of the process, else its owner's ~/.erlang.cookie. */
ERLTRACE_API int erltrace_set_cookie(erltrace_t *h, const char *cookie, const char *file);
/* Sets the name under which this process comes to nodes, NAME@HOST or NAME: one that they admit
 * (net_kernel:allow/1). NULL: one of its own. A node that knows another node of this name refuses
 * it. */
ERLTRACE_API int erltrace_set_name(erltrace_t *h, const char *name);
/* Sets an option, by name, for nodes whose distribution uses TLS. Setting any of them makes all
 * distribution connections use TLS.
 * - cert, key, cacert: files in PEM. Our certificate with those that signed it; its key (NULL: in
 *   the same file); the certificates that may have signed the node's.
 * - from_node (no value): takes options that are not set from the configuration of the node's own
 *   process, -ssl_dist_optfile and -ssl_dist_opt, for clients.
 * - verify: how to check the node's certificate. "host", the default: it is valid, signed by one of
 *   cacert, and for the node's host. "ca": the same without the host. "none". Without cacert only
 *   "none" is possible, and must be set explicitly. */
ERLTRACE_API int erltrace_set_tls(erltrace_t *h, const char *name, const char *value);
/* Sets the folder where a node may keep the agent's library while loading it; NULL: the usual
 * places. */
ERLTRACE_API int erltrace_set_agent_dir(erltrace_t *h, const char *dir);
/* Sets the folder whose priv/ holds the agent and D's libraries. NULL: ERLTRACE_ROOT of the
 * environment, else a search that starts at the library, or the program that contains it. */
ERLTRACE_API int erltrace_set_root(erltrace_t *h, const char *dir);
/* erltrace_targets returns the targets in words for people, separated by commas, "" for the local
 * tier. erltrace_enabled returns what is enabled in the only target; NULL with several targets, or
 * if it cannot be described. Valid until the next call. */
ERLTRACE_API const char *erltrace_targets(erltrace_t *h);
ERLTRACE_API const char *erltrace_enabled(erltrace_t *h);
/* Returns the privileges (Linux's capabilities, the bit 1 << CAP_... for each) that the calling
 * thread still needs after erltrace_go has returned, until the trace is closed: it may give up the
 * others. All bits: that is not known, as with nodes, or with destructive actions, whose commands
 * get the caller's. The library itself gives up none. */
ERLTRACE_API uint64_t erltrace_capabilities(erltrace_t *h);

/* What was set for the programs in one target. The figures cover these programs only, even if
 * others share what is set. */
struct erltrace_placed {
    const char *node;        /* "" for the local tier */
    uint64_t clauses;        /* enabled clauses, counted once per probe */
    uint64_t left_out;       /* clauses not enabled, because their predicates can never be true */
    uint64_t meta;           /* functions watched in every process, by a meta pattern */
    uint64_t local, global;  /* ... in processes with flags, by a local or global pattern */
    const char *flags;       /* trace flags of all processes: "procs send"; "" if none */
    uint64_t processes;      /* processes that have them; new ones get them, too */
    const char *only_flags;  /* trace flags that predicates limit to a few processes */
    uint64_t only_processes; /* processes that have those */
    uint64_t ports;          /* traced ports */
    const char *monitors;    /* other sources of events: "busy_port nodes"; "" if none */
    uint64_t ns;             /* time that all this took to set */
    uint64_t calls;          /* calls in that time that set or cleared patterns of functions */
    uint64_t filtered;       /* of `meta`: functions of which the VM reports only calls whose
                                arguments may satisfy a predicate */
    const char *filters;     /* what that is: a line "shop.d:3: argv[0] == atom(\"get\")" for each
                                clause; "" if no function is filtered */
    const char *clocks;      /* by which profile-N and wall-N take samples: "task_clock",
                                "user_clock" (outside of the kernel), "sampler" (random times);
                                "" without these probes */
    uint64_t counted;        /* functions whose calls the VM counts, in place of a pattern */
};
/* Returns 0 to continue, another value to end the walk. */
typedef int erltrace_placed_fn(const struct erltrace_placed *p, void *arg);
/* Calls fn for each target, after erltrace_go. Returns 0, what fn returned, or -1. */
ERLTRACE_API int erltrace_placed_iter(erltrace_t *h, erltrace_placed_fn *fn, void *arg);

/* How far the clocks of a node are ahead of this host's (negative: behind), now: the truth lies
 * between offset - error and offset + error. This is known by round trips, however long each way
 * takes, and holds while clocks run at rates that differ by at most 200 ppm, and unless one has
 * been set or has stood still (a suspended machine) since the node last answered, a fifth of a
 * second ago, or a second with rates that are as slow. */
struct erltrace_clock {
    const char *node;
    int known;      /* 0: nothing can be said of timestamp; offset and error are 0 */
    int64_t offset; /* of timestamp: the monotonic clock */
    uint64_t error;
    int wall_known; /* likewise of walltimestamp */
    int64_t wall_offset;
    uint64_t wall_error;
    const char *text; /* all of it for people */
};
/* Returns 0 to continue, another value to end the walk. */
typedef int erltrace_clock_fn(const struct erltrace_clock *c, void *arg);
/* Calls fn for each node that is traced, after erltrace_go, if there were several: what records of
 * one node say of time can then be compared with those of another. The clocks of a single node are
 * not asked for, and fn is not called. Returns 0, what fn returned, or -1. */
ERLTRACE_API int erltrace_clock_iter(erltrace_t *h, erltrace_clock_fn *fn, void *arg);

struct erltrace_node {
    pid_t pid;         /* of the BEAM */
    const char *name;  /* of the node, without its host part if that cannot be seen; "" if it is not
                          distributed or the name cannot be determined */
    const char *otp;   /* its release, "25"; "" if it cannot be determined */
    const char *owner; /* user name, or number */
    int attachable;    /* 0: it cannot be traced; -1: nothing that can be seen prevents it, and it
                          was not tried */
    const char *why;   /* why not; "" otherwise */
    const char *help;  /* what would help; "" if nothing is known */
    int meant; /* 1: whoever says its name on this host means it; 0: it is in a container, the
                  name says another host, or its host part cannot be seen */
};
/* Returns 0 to continue, another value to end the walk. */
typedef int erltrace_node_fn(const struct erltrace_node *n, void *arg);
/* Calls fn for each BEAM of this host, by process id. None is contacted. Returns 0, what fn
 * returned, or -1. */
ERLTRACE_API int erltrace_node_iter(erltrace_t *h, erltrace_node_fn *fn, void *arg);

/* A library of the agent: what the handle would bring into a node of that processor. */
struct erltrace_agent {
    const char *processor; /* as `uname -m` has it: "x86_64" */
    const char *path;      /* its file; in the static command the name of a file inside it */
    uint64_t hash;         /* of its bytes: equal for equal libraries, not against forgers */
};
/* Returns 0 to continue, another value to end the walk. */
typedef int erltrace_agent_fn(const struct erltrace_agent *a, void *arg);
/* Calls fn for each library of the agent that is found, by path; there may be none. Returns 0, what
 * fn returned, or -1. */
ERLTRACE_API int erltrace_agent_iter(erltrace_t *h, erltrace_agent_fn *fn, void *arg);

/* A finding about a target. Strings are valid until the function returns. */
struct erltrace_finding {
    const char *node;    /* the target in words */
    int otp;             /* its release */
    const char *subject; /* one word: "vm", "tracers", "gc" ... */
    const char *level; /* "ok"; "note": worth knowing; "limit": something cannot be traced, or only
                          in part */
    const char *text;  /* for people */
    const char *help;  /* what would help; "" if nothing is known */
};
typedef int erltrace_finding_fn(const struct erltrace_finding *f, void *arg);
/* Connects to the targets and reports for each what is on the way to it ("found", "permitted",
 * "c_library", "processor", "jit", "release", "folders", "distribution", in this order), what can
 * be traced, and what prevents tracing; with several targets also how far their clocks are ahead of
 * this host's ("clock"). Traces nothing; erltrace_about_iter reports which probes a
 * release has. Returns 0, what fn returned, or -1: the errors of nodes. Then fn was called for the
 * targets before the one that could not be opened, and for what is on the way to that one, if it is
 * a process of this host. */
ERLTRACE_API int erltrace_examine(erltrace_t *h, erltrace_finding_fn *fn, void *arg);

/* -- programs ---------------------------------------------------------------------------------- */

/* What a bare word in a probe description means: the letters of the command. */
enum erltrace_spec {
    ERLTRACE_SPEC_SCRIPT,   /* -s: a whole script */
    ERLTRACE_SPEC_NAME,     /* -n: one description, whose last part is the name, with or */
    ERLTRACE_SPEC_FUNCTION, /* -f: without predicate and clause; or a whole program */
    ERLTRACE_SPEC_MODULE,   /* -m */
    ERLTRACE_SPEC_PROVIDER, /* -P */
    ERLTRACE_SPEC_ID        /* -i: a probe id */
};

/* Compiles a text. The programs of a handle share variables, aggregations and options, and run in
 * the order in which they were added. name is the program's name in diagnostics; NULL: the
 * command's letter, "-n". argv[0] is $0, argv[1] is $1 and so on; with argc 0, $0 is the text for a
 * script, else "erltrace". Everything is copied. NULL: COMPILE, STATE, INVAL, NOMEM. After an
 * error, other programs can still be compiled to see their errors, but enabling is no longer
 * possible. */
ERLTRACE_API erltrace_prog_t *erltrace_program_strcompile(erltrace_t *h, const char *name,
                                                          enum erltrace_spec spec, const char *text,
                                                          int argc, char *const argv[]);
/* Compiles a script file, "-" for standard input; with the option cpp, the C preprocessor runs over
 * it first. As above; additional errors: OPEN, CPP. */
ERLTRACE_API erltrace_prog_t *erltrace_program_fcompile(erltrace_t *h, const char *path, int argc,
                                                        char *const argv[]);

/* The stability of something: "Evolving", "Private", "ISA". */
struct erltrace_attributes {
    const char *name, *data, *dependency;
};
struct erltrace_proginfo {
    uint64_t matches; /* clauses times probes; 0 before erltrace_enable */
    const struct erltrace_attributes *descriptions; /* minimum of its probe descriptions */
    const struct erltrace_attributes *statements;   /* minimum of its statements */
};
/* Returns information about a program; valid until the next call. NULL: INVAL. */
ERLTRACE_API const struct erltrace_proginfo *erltrace_program_info(erltrace_t *h,
                                                                   const erltrace_prog_t *p);
/* Returns whether the programs contain actions that require the option destructive: 1, 0, or -1. */
ERLTRACE_API int erltrace_is_destructive(erltrace_t *h);
/* Returns whether the programs contain actions that print, or clauses without a body, which print
 * as well: 1, 0, or -1. */
ERLTRACE_API int erltrace_prints(erltrace_t *h);
/* Writes the code of all programs as text, preceded by the programs as trees if the option tree is
 * set.
 * -1: STATE, COMPILE, IO. */
ERLTRACE_API int erltrace_program_dump(erltrace_t *h, FILE *fp);

/* Writes a C header for the providers that the programs define (provider NAME { probe ...; };).
 * For each probe order__start of a provider shop, it defines the macros
 * SHOP_ORDER_START(arguments), which is the probe, and SHOP_ORDER_START_ENABLED(), which tells
 * whether anyone watches the probe. The header is self-contained: code that includes it needs no
 * object or library of ours. name: the header's file name, for its first line and its guard. -1:
 * STATE, COMPILE, INVAL, IO, UNSUP (a probe cannot be made: it has more than 12 arguments, or one
 * that is neither integer nor pointer). */
ERLTRACE_API int erltrace_program_header(erltrace_t *h, FILE *fp, const char *name);

/* -- probes ------------------------------------------------------------------------------------ */

struct erltrace_probe {
    uint32_t id;          /* what -i takes; each target has its own */
    const char *provider; /* the four parts of its name */
    const char *module;
    const char *function;
    const char *name;
    const char *node;                             /* where it is; "" for the local tier */
    const struct erltrace_attributes *attributes; /* of its description */
    const struct erltrace_attributes *arguments;  /* of its arguments */
    size_t nargs; /* number of args[]: see erltrace_probe_argument */
};
/* Returns the type of args[i] as D writes it, "erlang_process_t *"; NULL if there is none. Static
 * text. */
ERLTRACE_API const char *erltrace_probe_argument(const struct erltrace_probe *p, size_t i);
typedef int erltrace_probe_fn(const struct erltrace_probe *p, void *arg);
/* Receives a description that no probe matches, "p:m:f:n", and why: "No probe matches
 * description". */
typedef int erltrace_missed_fn(const char *description, const char *why, void *arg);

/* Calls fn for each probe that a program's clauses describe, once per clause (p NULL: those of
 * every program, or every existing probe if there are no programs), and missed, which may be NULL,
 * for each description without a probe. Either may return a nonzero value to end the walk, which is
 * then returned. Not allowed after erltrace_go. Returns 0, that value, or -1. */
ERLTRACE_API int erltrace_probe_iter(erltrace_t *h, const erltrace_prog_t *p, erltrace_probe_fn *fn,
                                     erltrace_missed_fn *missed, void *arg);

/* What is known about a probe, whether a node has it or not. Everything is text for people, and
 * static. */
struct erltrace_about {
    const char *name; /* "process-spawn"; "user_trace-n" stands for user_trace-n0 and so on */
    const char *module, *function; /* "" and "" for most; otherwise NAME represents any name */
    const char *section;           /* of the provider's table: "Processes" */
    const char *text;              /* when it fires */
    const char *origin;            /* who defined it */
    const char *quality;           /* "exact", or what is derived, and how; "": no tier has it */
    const char *lacking;           /* why it is missing where it is missing; NULL: it never is */
    unsigned numbered; /* above 0: the name represents this many probes, which end in 0, 1, ... */
    size_t notps;      /* number of otp[] and by[] */
    const int *otp;    /* OTP releases, each valid up to the next one listed */
    const char *by[4]; /* who can deliver it on these: "vm tier", "kernel tier", "nobody" */
    size_t nargs;
    struct erltrace_about_arg {
        const char *type, *name, *text; /* "char *", "p", "the new process as text, <0.N.S>" */
    } arg[10];
};
typedef int erltrace_about_fn(const struct erltrace_about *about, void *arg);
/* Fills *about for a probe of the provider erlang or of the kernel and returns 0; returns -1 for
 * any other. What is told of the kernel is valid while `p` is; `section` is then "", and there is
 * no OTP. */
ERLTRACE_API int erltrace_probe_about(const struct erltrace_probe *p, struct erltrace_about *about);
/* Calls fn for each row of the provider's table. fn may return a nonzero value to end the walk,
 * which is then returned. */
ERLTRACE_API int erltrace_about_iter(erltrace_about_fn *fn, void *arg);

/* The names of a node's probes, kept without a connection to it: programs can be matched against
 * them, time and again, while the node is left alone. */
typedef struct erltrace_names erltrace_names_t;
/* Fetches them from the handle's only target, which must be a node; the handle can then only be
 * closed. NULL: errors of connecting, NOMEM, UNSUP. */
ERLTRACE_API erltrace_names_t *erltrace_names_take(erltrace_t *h);
ERLTRACE_API void erltrace_names_free(erltrace_names_t *n); /* NULL: nothing happens */
/* Makes names the handle's only target, for erltrace_enable, which then reports descriptions that
 * match nothing, and for erltrace_match_iter. The handle needs ERLTRACE_O_CHECK; the names must
 * outlive it. Enabling fails with LIMIT where descriptions match some hundred thousand probes.
 * Returns 0 or -1. */
ERLTRACE_API int erltrace_target_names(erltrace_t *h, erltrace_names_t *n);

/* What the description of a clause has matched. */
struct erltrace_match {
    const char *file; /* where it stands */
    int line, column, length;
    uint64_t probes, functions,
        modules;      /* functions and modules: 0 where it matches none of them */
    const char *name; /* of its first probe: "entry"; NULL: it has none */
};
typedef int erltrace_match_fn(const struct erltrace_match *m, void *arg);
/* Calls fn for each description in order, after erltrace_enable, also if that has failed because of
 * what they match; for none if it has not come as far. fn may return a nonzero value to end the
 * walk, which is then returned. Returns 0, that value, or -1. */
ERLTRACE_API int erltrace_match_iter(erltrace_t *h, erltrace_match_fn *fn, void *arg);

/* -- running ----------------------------------------------------------------------------------- */

/* Connects to the targets and matches the descriptions of all programs. Afterwards
 * erltrace_program_info has counts. Nothing fires yet. -1: NOPROBE (a description matches nothing
 * and the option zdefs is not set), the errors of nodes, COMPILE. */
ERLTRACE_API int erltrace_enable(erltrace_t *h);
/* Starts tracing; calls erltrace_enable first if needed. When it returns, the probes are set and
 * BEGIN has run. -1: DESTRUCTIVE, the errors of nodes; then nothing is left in any node. May take
 * long: see erltrace_handle_progress. */
ERLTRACE_API int erltrace_go(erltrace_t *h);

/* Return values of handlers of records. */
enum {
    ERLTRACE_CONSUME_ABORT = -1, /* ends the trace: erltrace_work fails with ABORT */
    ERLTRACE_CONSUME_THIS = 0,   /* the library prints it */
    ERLTRACE_CONSUME_NEXT = 1    /* the library does not print it */
};

/* One execution of a clause that recorded something. */
struct erltrace_record {
    uint32_t epid; /* enabled probe: a clause on a probe of a target, from 1 */
    uint32_t cpu;
    uint64_t timestamp; /* CLOCK_MONOTONIC of the target's host, ns */
    const struct erltrace_probe *probe;
    const erltrace_prog_t *program; /* the program with the clause */
};
enum erltrace_value_kind {
    ERLTRACE_VALUE_INT,    /* number: signed */
    ERLTRACE_VALUE_UINT,   /* number: (uint64_t)number is the value */
    ERLTRACE_VALUE_STRING, /* text, length; also of terms, whose text is Erlang's, and of names */
    ERLTRACE_VALUE_BYTES,  /* the same, for structs, arrays and memory; stacks and symbols as
                              addresses, whose names erltrace_aggr_key_text has */
    ERLTRACE_VALUE_FLOAT   /* real; text holds the bytes in memory */
};
struct erltrace_value {
    enum erltrace_value_kind kind;
    uint32_t size;    /* bytes of its type: 1, 2, 4 or 8 for numbers */
    int64_t number;   /* extended to 64 bits according to its type */
    const char *text; /* not NUL-terminated */
    size_t length;    /* bytes of text. For BYTES, those after them up to size are zero */
    double real;      /* for FLOAT, the closest double */
};
/* What one action recorded. */
struct erltrace_data {
    const char *action;   /* "trace", "printf", "printa", "exit", "clear" ... */
    const char *format;   /* for printf, printa, system, freopen; NULL: none */
    size_t nvalues;       /* see erltrace_data_value */
    size_t naggregations; /* see erltrace_data_aggregation */
};
/* Returns the i-th value, from 0; NULL if there is none. Valid until the handler returns. */
ERLTRACE_API const struct erltrace_value *erltrace_data_value(const struct erltrace_data *d,
                                                              size_t i);
/* Returns the name of the i-th aggregation that the action refers to, "@a" as "a"; NULL if there is
 * none. */
ERLTRACE_API const char *erltrace_data_aggregation(const struct erltrace_data *d, size_t i);
/* Returns what the library prints for this action, *length bytes followed by a NUL; "" for most
 * actions that print nothing. Valid until the handler returns. */
ERLTRACE_API const char *erltrace_data_text(const struct erltrace_data *d, size_t *length);

/* Called before each record. THIS: its actions are passed to the erltrace_data_fn, or printed.
 * NEXT: they are neither, but still take effect (exit() ends the trace, clear() clears). */
typedef int erltrace_record_fn(const struct erltrace_record *r, void *arg);
/* Called for each action of a record that recorded data or has an effect in the consumer, and with
 * d NULL after the last one. THIS prints the action; for d NULL it prints the end of the record, a
 * newline unless quiet is set. The record's prefix is printed with its first action. */
typedef int erltrace_data_fn(const struct erltrace_record *r, const struct erltrace_data *d,
                             void *arg);

enum {
    ERLTRACE_WORK_ERROR = -1,
    ERLTRACE_WORK_OKAY = 0, /* the trace continues */
    ERLTRACE_WORK_DONE = 1  /* the trace has ended, and everything has been reported */
};
/* Waits up to timeout_ms for something to happen, reads available data, prints it to fp and calls
 * the handlers. fp NULL: prints nothing, except to the handler of erltrace_handle_output. record
 * and data may be NULL. A signal ends the wait early. Returns one of the values above. The loss of
 * a node is reported as a diagnostic; the trace continues with the other nodes, and is done when
 * none is left. An error ends the trace: after it, only erltrace_close and functions that query may
 * be called. Not allowed from a handler. */
ERLTRACE_API int erltrace_work(erltrace_t *h, FILE *fp, int timeout_ms, erltrace_record_fn *record,
                               erltrace_data_fn *data, void *arg);
/* For programs with their own event loop. erltrace_fd returns a descriptor that becomes readable
 * when erltrace_work has something to do; poll it for POLLIN and never read it. It is -1 while
 * nothing runs, and belongs to the handle. Call erltrace_work with timeout 0 when the descriptor is
 * readable, and at the latest after the number of ms that erltrace_timeout returns; call
 * erltrace_timeout again after each call of erltrace_work. */
ERLTRACE_API int erltrace_fd(erltrace_t *h);
ERLTRACE_API int erltrace_timeout(erltrace_t *h);

/* Ends tracing: removes the probes and runs END. Continue to call erltrace_work until it is done. A
 * second call does nothing. -1: STATE before erltrace_go. */
ERLTRACE_API int erltrace_stop(erltrace_t *h);
/* The same, but may be called from signal handlers, other threads and handlers. Takes effect within
 * the erltrace_work in progress (at most 100 ms later), or the next one. It also ends an
 * erltrace_go that is setting probes: see erltrace_handle_progress. */
ERLTRACE_API void erltrace_interrupt(erltrace_t *h);

enum erltrace_state {
    ERLTRACE_STATE_NONE,     /* before erltrace_go */
    ERLTRACE_STATE_RUNNING,  /* probes fire */
    ERLTRACE_STATE_STOPPING, /* END has run or will run; its data is still to come */
    ERLTRACE_STATE_DONE,     /* erltrace_work has returned DONE */
    ERLTRACE_STATE_FAILED    /* erltrace_work has returned an error */
};
struct erltrace_status {
    enum erltrace_state state;
    int exited;          /* exit() has run */
    int status;          /* the argument of the last exit(); 0 without one */
    unsigned lost;       /* targets lost, except those whose command ended */
    unsigned probes;     /* enabled: clauses times probes */
    uint64_t fired;      /* events seen by all targets, as reported so far */
    uint64_t recorded;   /* records made */
    uint64_t updates;    /* updates of aggregations */
    uint64_t errors;     /* faults */
    uint64_t drops;      /* of every kind */
    unsigned overloaded; /* targets where the program was ended because its probes took more than
                            the option maxload allows; a diagnostic TRACE_OVERLOAD has reported it,
                            and the data collected there is reported nevertheless */
    uint64_t began;   /* when BEGIN ran, the start for rates and durations: CLOCK_MONOTONIC of this
                         host, ns; 0: it has not run */
    unsigned watched; /* of `probes`, those of nodes: not BEGIN, END, ERROR, tick-N, profile-N */
    uint64_t events;  /* of `fired`, the events of those */
    uint64_t filled;  /* clauses whose record found its buffer full, which has ended the trace
                         (bufpolicy=fill); these are no drops */
};
/* Returns the state of the trace. Valid until the next call. NULL only for a NULL handle. */
ERLTRACE_API const struct erltrace_status *erltrace_status(erltrace_t *h);

/* -- handlers ---------------------------------------------------------------------------------- */
/* Each handler may be set, changed, and removed with NULL at any time; these functions return 0 or
 * -1. Handlers are called from inside erltrace_work (erltrace_handle_output's also from
 * erltrace_aggregate_print). A handler returns ERLTRACE_HANDLE_OK, or ERLTRACE_HANDLE_ABORT to end
 * the trace at once with the error ERLTRACE_E_ABORT. Inside a handler, only functions that query or
 * set handlers may be called, erltrace_interrupt, and functions on the handler's arguments. */
enum { ERLTRACE_HANDLE_ABORT = -1, ERLTRACE_HANDLE_OK = 0 };

/* Output that goes to a handler instead of a FILE. */
enum erltrace_output_kind {
    ERLTRACE_OUTPUT_DATA,     /* text, length: trace output. Need not end at the end of a line */
    ERLTRACE_OUTPUT_FLUSH,    /* flush your buffers: system() is about to run a command */
    ERLTRACE_OUTPUT_REDIRECT, /* freopen(): write to the file called text from now on; NULL: to the
                                 original output. Return 0, or an errno value */
    ERLTRACE_OUTPUT_TRUNCATE  /* ftruncate(): empty the output file */
};
struct erltrace_output {
    enum erltrace_output_kind kind;
    const char *text;
    size_t length;
};
typedef int erltrace_output_fn(const struct erltrace_output *o, void *arg);
ERLTRACE_API int erltrace_handle_output(erltrace_t *h, erltrace_output_fn *fn, void *arg);

/* Receives the command of system(), after the output's ERLTRACE_OUTPUT_FLUSH. The handler runs
 * it and returns when the trace may continue. Without a handler, system(3) runs it: the
 * command's output goes to this process's standard output, and the trace waits until the command
 * has ended. */
typedef int erltrace_command_fn(const char *command, void *arg);
ERLTRACE_API int erltrace_handle_command(erltrace_t *h, erltrace_command_fn *fn, void *arg);

/* A clause that failed at run time, or an action that could not be carried out. Without a handler,
 * faults are only counted. The handler receives each fault, including repeated ones. */
struct erltrace_fault {
    const char
        *message; /* everything on one line: "error on enabled probe ID 1 (ID 1: ...): ..." */
    uint32_t epid;
    uint32_t cpu;
    const struct erltrace_probe *probe;
    uint32_t action;    /* of the clause, from 1; 0: the predicate */
    int64_t offset;     /* byte in the clause's DIF; -1: unknown */
    uint32_t code;      /* arg4 of dtrace:::ERROR; 1000 for a failure of the consumer */
    const char *name;   /* "DIVZERO" */
    uint64_t value;     /* the address, size or index, if the code has one */
    const char *reason; /* what went wrong, as in the message: "divide-by-zero" */
};
typedef int erltrace_fault_fn(const struct erltrace_fault *f, void *arg);
ERLTRACE_API int erltrace_handle_fault(erltrace_t *h, erltrace_fault_fn *fn, void *arg);

/* Data lost: for lack of space, or with the node (ENDED). Without a handler, drops are only
 * counted. */
struct erltrace_drop {
    const char *message; /* "3 aggregation drops", with [DTRACEDROP_...] if droptags is set */
    const char *kind;    /* "PRINCIPAL", "AGGREGATION", "DYNAMIC" ... as in those tags */
    uint64_t count;      /* since the last report of this kind */
    uint64_t total;      /* since the start */
    const char *node;    /* the target; "" for the local tier */
    int cpu;             /* for PRINCIPAL and AGGREGATION, the CPU; -1: belongs to no CPU */
    const char *text;    /* the message without its tag */
    uint64_t lost;       /* for ENDED, the time before the node's end of which nothing is known, ns;
                            else 0 */
};
typedef int erltrace_drop_fn(const struct erltrace_drop *d, void *arg);
ERLTRACE_API int erltrace_handle_drop(erltrace_t *h, erltrace_drop_fn *fn, void *arg);

/* The cost of probes in one node: each time that the option stats requests it, when a program is
 * ended because it took too much, and at the end. The figures are estimates from samples; only
 * `fired` is exact. The time that the VM itself spends on an event counts for threads, not for
 * probes. */
enum erltrace_stats_kind {
    ERLTRACE_STATS_PERIOD,   /* since the last one of this kind */
    ERLTRACE_STATS_OVERLOAD, /* the last seconds before the program was ended */
    ERLTRACE_STATS_TOTAL     /* since the start */
};
struct erltrace_cost {
    const char *name; /* "scheduler 2"; "message-send", "entry"; "erlang12:lists:map/2:entry" */
    uint64_t events;  /* number of events */
    uint64_t ns;      /* time that they took */
    unsigned share; /* permille of the time that the thread could run; for probes: of the time that
                       the first of the threads could run */
};
struct erltrace_stats {
    enum erltrace_stats_kind kind;
    const char
        *message; /* lines for people, each with its newline: "stats: 182344 events/s, ..." */
    const char *node;
    uint64_t interval; /* ns covered */
    uint64_t fired;    /* probe firings in the interval */
    uint64_t events;   /* events that the samples represent, and the time that they took on all
                          schedulers together */
    uint64_t ns;
    uint64_t drops; /* records and aggregations lost in the interval, of every kind */
    size_t nthreads, nkinds, nprobes; /* see below */
    unsigned share;                   /* of the most expensive thread; 0: there is none */
    size_t ncounted;                  /* see erltrace_stats_counted */
    uint64_t counted;                 /* functions whose calls the VM counts, in place of events */
};
/* Return the i-th of the VM's threads, kinds of probes, or probes (the most expensive ones only),
 * most expensive first; NULL if there is none. Valid until the next call, or until the handler
 * returns. */
ERLTRACE_API const struct erltrace_cost *erltrace_stats_thread(const struct erltrace_stats *s,
                                                               size_t i);
ERLTRACE_API const struct erltrace_cost *erltrace_stats_kind(const struct erltrace_stats *s,
                                                             size_t i);
ERLTRACE_API const struct erltrace_cost *erltrace_stats_probe(const struct erltrace_stats *s,
                                                              size_t i);
/* Returns an estimate of how much of all this the VM itself took on its way to the probes and back:
 * one row, which belongs to no probe. NULL if there is nothing to report. */
ERLTRACE_API const struct erltrace_cost *erltrace_stats_emulator(const struct erltrace_stats *s);
/* Returns the i-th of the functions whose calls the VM counts (the most called ones only), most
 * called first; NULL if there is none. Its `events` are the calls that were read in the interval.
 * They cost the program nothing, and are not among the events of `s`. */
ERLTRACE_API const struct erltrace_cost *erltrace_stats_counted(const struct erltrace_stats *s,
                                                                size_t i);
typedef int erltrace_stats_fn(const struct erltrace_stats *s, void *arg);
ERLTRACE_API int erltrace_handle_stats(erltrace_t *h, erltrace_stats_fn *fn, void *arg);

/* The progress of a long erltrace_go in a target. Each call that sets something in a node waits for
 * all of its schedulers, so thousands of functions may take a minute on a busy node. */
struct erltrace_progress {
    const char *node;     /* the target in words */
    int waiting;          /* what another trace had set there is first being removed, or extended */
    const char *unit;     /* what is counted: "functions", "processes" */
    uint64_t done, total; /* total 0: it has only started */
    int fresh;            /* the target has reported since the last call; 0: nothing new */
};
/* Called several times a second, even if a target reports nothing, and at once after a signal. A
 * program that limits its wait for erltrace_go should restart that limit with each call that is
 * fresh. HANDLE_ABORT ends erltrace_go as erltrace_interrupt does: what was set is undone, and
 * erltrace_go returns 0 with the state DONE, as erltrace_work then does at once; no probe has
 * fired, not even BEGIN. */
typedef int erltrace_progress_fn(const struct erltrace_progress *p, void *arg);
ERLTRACE_API int erltrace_handle_progress(erltrace_t *h, erltrace_progress_fn *fn, void *arg);

/* What becomes of a node of a cluster while the trace runs. */
struct erltrace_member {
    const char *what; /* "joined": it has come, or come back, and is traced; "left": it is not any
                         more, and what it had counted until then is kept; "refused": it has come
                         and cannot be traced; "silent": it has not answered for some seconds;
                         "answers": it does again. Others may be added */
    const char *node;
    const char *reason;  /* of "left" and "refused"; "" otherwise */
    const char *message; /* all this for people */
};
typedef int erltrace_member_fn(const struct erltrace_member *m, void *arg);
ERLTRACE_API int erltrace_handle_member(erltrace_t *h, erltrace_member_fn *fn, void *arg);

/* An option that setopt() in a program has set. */
struct erltrace_setopt_data {
    const char *option;
    const char *value;  /* as written in the program */
    int64_t old_number; /* the value of erltrace_getopt before, and now */
    int64_t new_number;
    const struct erltrace_record *record; /* the record with the action */
};
typedef int erltrace_setopt_fn(const struct erltrace_setopt_data *s, void *arg);
ERLTRACE_API int erltrace_handle_setopt(erltrace_t *h, erltrace_setopt_fn *fn, void *arg);

/* -- aggregations ------------------------------------------------------------------------------ */

/* Reads the aggregations of all targets now, regardless of the option aggrate; waits at most about
 * a second for each node. Records that arrive with them wait for the next erltrace_work.
 * Unnecessary once the trace is done, because all data is here then. -1: STATE before erltrace_go,
 * errors of nodes. */
ERLTRACE_API int erltrace_aggregate_snap(erltrace_t *h);

struct erltrace_bucket {
    int64_t from, to;  /* the integers that belong to it, both inclusive */
    int open_from;     /* no lower bound; from has no meaning */
    int open_to;       /* no upper bound */
    int64_t count;     /* sum of the increments; not normalized */
    const char *label; /* as printed: "1024", "< 0" */
};

/* An aggregation of the programs, whether it is empty or not. */
struct erltrace_aggregation {
    const char *name;     /* name of the variable without @; "_" for the anonymous one */
    const char *function; /* "count", "lquantize" */
    uint32_t id;          /* as in struct erltrace_aggr */
    size_t nkeys;         /* see erltrace_aggregation_key */
    size_t nbuckets; /* for histograms: all buckets, which are the words of each value; else 0 */
    int64_t parameter[4]; /* for lquantize: base, limit, step; for llquantize: factor, low, high,
                             steps; else 0 */
    uint64_t normal;      /* set by normalize(); initially 1 */
};
typedef int erltrace_aggregation_fn(const struct erltrace_aggregation *a, void *arg);
/* Calls fn for each aggregation, in the order of their ids. fn may return a nonzero value to end
 * the walk, which is then returned. Ends compilation. Returns 0, that value, or -1: COMPILE, INVAL,
 * STATE. */
ERLTRACE_API int erltrace_aggregation_iter(erltrace_t *h, erltrace_aggregation_fn *fn, void *arg);
/* Returns the type of the i-th part of its keys: "int", "uint", "string", "bytes", "stack",
 * "symbol"; NULL if there is none. Static. */
ERLTRACE_API const char *erltrace_aggregation_key(const struct erltrace_aggregation *a, size_t i);
/* Return what the i-th part is: as the program writes it ("erlname(arg1)"), of the first clause
 * that updates the aggregation; and what its values name: "process" (a name, or a pid), "pid",
 * "mfa", "function" (f/a), "module", "table". NULL: the program does not tell. Valid until the next
 * call, or until the handler returns. */
ERLTRACE_API const char *erltrace_aggregation_key_text(const struct erltrace_aggregation *a,
                                                       size_t i);
ERLTRACE_API const char *erltrace_aggregation_key_means(const struct erltrace_aggregation *a,
                                                        size_t i);
/* Returns the bucket of words[i] of struct erltrace_aggr; its count is 0. from > to: no value
 * belongs to it. NULL if there is none. Valid until the next call, or until the handler returns. */
ERLTRACE_API const struct erltrace_bucket *
erltrace_aggregation_bucket(const struct erltrace_aggregation *a, size_t i);

/* Orders of a walk; ERLTRACE_SORT_REVERSE may be added to any of the others. Integers in keys
 * compare as unsigned, text by bytes; equal values are ordered by key. */
enum {
    ERLTRACE_SORT_OPTIONS,  /* by aggsortkey, aggsortkeypos and aggsortrev, as the command does */
    ERLTRACE_SORT_NONE,     /* by variable, then in order of arrival */
    ERLTRACE_SORT_VARKEY,   /* by variable, then key */
    ERLTRACE_SORT_VARVALUE, /* by variable, then value */
    ERLTRACE_SORT_KEYVAR,   /* by key, then variable */
    ERLTRACE_SORT_VALUEVAR, /* by value, then variable */
    ERLTRACE_SORT_REVERSE = 0x100
};
/* Return values of an erltrace_aggr_fn. */
enum {
    ERLTRACE_WALK_ABORT = -1, /* end with the error ERLTRACE_E_ABORT */
    ERLTRACE_WALK_NEXT = 0,
    ERLTRACE_WALK_STOP = 1,  /* end without an error */
    ERLTRACE_WALK_CLEAR = 2, /* set this value to its start, as clear() does, and continue */
    ERLTRACE_WALK_REMOVE = 3 /* remove this entry, as trunc() does, and continue */
};
/* One key of one aggregation, with its value. */
struct erltrace_aggr {
    const char *name;     /* name of the variable without @; "_" for the anonymous one */
    const char *function; /* "count", "lquantize" */
    uint32_t id;          /* of the variable, from 0 in order of appearance in the programs */
    size_t nkeys;         /* see erltrace_aggr_key */
    int64_t value;   /* for count, sum, min, max, avg, stddev: as printed, normalized; else 0 */
    uint64_t normal; /* set by normalize(); initially 1 */
    size_t nbuckets; /* for histograms: see erltrace_aggr_bucket; else 0 */
    const uint64_t *words; /* the raw value. count, sum, min, max: one word. avg: count, sum.
                              stddev: count, sum, and the sum of squares, low word first.
                              Histograms: the counts of all buckets */
    size_t nwords;
    int at_least; /* 1: of a size in it only a part was counted: the true value may be larger */
};
typedef int erltrace_aggr_fn(const struct erltrace_aggr *a, void *arg);
/* Calls fn for each entry as of the last reading. A program that continues to run does not change
 * what the walk shows. -1: STATE before erltrace_go, NOMEM, ABORT, INVAL.
 *
 * It may also be called from inside an erltrace_data_fn. It then shows what the action finds,
 * which is what the previous action has left, so data that a clear() or trunc() is about to remove
 * can still be read there. Nothing may be changed from there: CLEAR and REMOVE end the walk with
 * INVAL. */
ERLTRACE_API int erltrace_aggregate_walk(erltrace_t *h, int order, erltrace_aggr_fn *fn, void *arg);
/* Joins several aggregations by key, as printa(@a, @b) shows them: fn receives for each key the n
 * entries in the order of names (without @); an aggregation without that key has its empty value
 * there. order: OPTIONS, KEYVAR or VALUEVAR (by the value of names[0], or of the one that
 * aggsortpos selects), with or without REVERSE. fn returns NEXT, STOP or ABORT. -1 as above; INVAL
 * if an aggregation does not exist, or their keys differ in number or type. */
typedef int erltrace_aggr_joined_fn(const struct erltrace_aggr *const a[], size_t n, void *arg);
ERLTRACE_API int erltrace_aggregate_walk_joined(erltrace_t *h, const char *const names[], size_t n,
                                                int order, erltrace_aggr_joined_fn *fn, void *arg);
/* Return the i-th key, or bucket (from one before the first nonzero bucket to one after the last,
 * as printed), from 0; NULL if there is none. Valid until the handler returns. */
ERLTRACE_API const struct erltrace_value *erltrace_aggr_key(const struct erltrace_aggr *a,
                                                            size_t i);
ERLTRACE_API const struct erltrace_bucket *erltrace_aggr_bucket(const struct erltrace_aggr *a,
                                                                size_t i);
/* Returns the type of the i-th key, as erltrace_aggregation_key does. */
ERLTRACE_API const char *erltrace_aggr_key_type(const struct erltrace_aggr *a, size_t i);
/* Returns the text of the i-th key if it is a symbol (nth 0) or a stack (the nth of its frames,
 * from 0, the innermost); NULL if it is neither, or there are no more. Valid until the next
 * call. */
ERLTRACE_API const char *erltrace_aggr_key_text(const struct erltrace_aggr *a, size_t i,
                                                size_t nth);
/* Prints what the command prints at the end: every aggregation that no printa() has shown, in the
 * order that the options set, to fp or the output handler. -1: STATE before erltrace_go, NOMEM. */
ERLTRACE_API int erltrace_aggregate_print(erltrace_t *h, FILE *fp);
/* Resets all values to their starts; keys stay. */
ERLTRACE_API int erltrace_aggregate_clear(erltrace_t *h);

#ifdef __cplusplus
}
#endif

#endif
