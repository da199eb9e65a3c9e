/* erltrace.h - DTrace for the Erlang VM, for programs: the public interface of liberltrace.
 *
 * This header is the manual of the library. It offers a program what the command erltrace(1) does,
 * which is built on nothing else: D text is compiled in this process, runs inside traced nodes, and
 * its records and aggregations come back to be printed by the library or looked at by the program.
 * doc/command.md describes options and the language's output, examples/ holds a whole program.
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
 * The life of a handle. Each step is optional but for the arrows' order:
 *
 *     open -> setopt, handle_..., target_... -> program_..compile... -> enable -> go -> work... ->
 * close
 *
 * Asking for what was compiled (erltrace_program_dump, erltrace_is_destructive,
 * erltrace_probe_iter) ends the compiling as erltrace_enable does: the programs are one from then
 * on.
 *
 * A call that comes too early or too late fails with ERLTRACE_E_STATE and changes nothing.
 * erltrace_close is allowed at any moment but from inside a handler: it ends a running trace,
 * undoes in the nodes whatever was set there and frees all that the handle owns. A process that
 * ends, or crashes, without it leaves the nodes clean as well; they notice that within seconds.
 *
 * Errors. A function that can fail returns 0, or -1 (NULL where it returns a pointer); then
 * erltrace_errno has a code of enum erltrace_err and erltrace_errmsg the text. What a person should
 * read with its place in the source, hints included, goes to the handler of erltrace_handle_diag
 * before the call returns. NULL for a handle is ERLTRACE_E_INVAL, never a crash.
 *
 * Structures are made by the library alone and handed out as pointers to const. New members are
 * added at their ends, so a program must not copy one as a whole, or make one itself; then it goes
 * on working with later versions of the library. What a pointer points at lives as each function
 * says, at the least until the handler returns to which it was given.
 *
 * Threads. A handle, and everything got from it, belongs to one thread at a time; which one may
 * change between calls, except that a command of erltrace_target_command ends with the thread that
 * started it. Handles are independent of each other and may live in different threads. Only
 * erltrace_interrupt may be called at any time, from other threads and from signal handlers. The
 * library changes no signal's disposition, writes to no stream but those it is given, and never
 * ends the process. A write to a pipe nobody reads raises SIGPIPE as always.
 *
 * All text is UTF-8 as far as the traced node has it so; names and messages end with NUL. Times are
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

/* The version of this interface; goes up when a program has to be compiled anew. */
#define ERLTRACE_VERSION 1

/* One tracing session. */
typedef struct erltrace erltrace_t;
/* One program of it, as given to one of the compile functions. Lives as long as the handle. */
typedef struct erltrace_prog erltrace_prog_t;

/* -- opening and closing, errors --------------------------------------------------------------- */

/* Flags of erltrace_open. */
enum {
    /* What would be printed is JSON, an object a line as doc/json.md has it: records, aggregations,
     * and in the same stream drops, faults (those that repeat with a count) and costs, which then
     * go to no handler. */
    ERLTRACE_O_JSON = 1,
    /* Programs are only checked, and never started: probes that are known but not to be had here
     * are no error of erltrace_enable. */
    ERLTRACE_O_CHECK = 2,
    /* What a program prints goes to a terminal: texts that it shows as values (%s, %c, keys,
     * trace()) have what could steer a terminal written out, "\033[2J", unless the option rawoutput
     * is set. What its own formats say stays as it is. */
    ERLTRACE_O_TERMINAL = 4
};

enum erltrace_err {
    ERLTRACE_E_OK = 0,
    ERLTRACE_E_NOMEM,       /* out of memory */
    ERLTRACE_E_INVAL,       /* an argument that cannot be meant */
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
    ERLTRACE_E_OPTVAL,      /* an option's value is not one it can have */
    ERLTRACE_E_OPEN,        /* a file cannot be opened */
    ERLTRACE_E_CPP,         /* the preprocessor failed, or was not found */
    ERLTRACE_E_DESTRUCTIVE, /* destructive actions without the option destructive */
    ERLTRACE_E_ABORT,       /* a handler wanted the trace to end */
    ERLTRACE_E_RESTRICTED   /* an option that erltrace_restrict does not allow */
};

/* Opens a handle. version: ERLTRACE_VERSION, as the program was compiled with it. flags:
 * ERLTRACE_O_... or 0. NULL on error, with the code in *err (err may be NULL): NOMEM, VERSION,
 * INVAL for unknown flags. */
ERLTRACE_API erltrace_t *erltrace_open(int version, int flags, int *err);

/* Ends what is running and frees everything, as said above; takes at most about two seconds a node
 * that does not answer. NULL does nothing. A handle is closed once: afterwards it is no handle any
 * more. From inside a handler of the handle it does nothing but ask the trace to end. */
ERLTRACE_API void erltrace_close(erltrace_t *h);

/* The code of the last call on this handle that failed. NULL: ERLTRACE_E_INVAL. */
ERLTRACE_API int erltrace_errno(const erltrace_t *h);
/* The text of a code, one line, no final stop. With err the handle's erltrace_errno, all that is
 * known about that failure: "Invalid option name". Valid until the next call on the handle. h may
 * be NULL. */
ERLTRACE_API const char *erltrace_errmsg(const erltrace_t *h, int err);

/* The version of the library, "0.1.0". */
ERLTRACE_API const char *erltrace_version(void);
/* The version of the program images that it makes, which an agent in a node has to know. */
ERLTRACE_API int erltrace_image_version(void);

/* -- diagnostics ------------------------------------------------------------------------------- */

enum erltrace_severity { ERLTRACE_ERROR, ERLTRACE_WARNING, ERLTRACE_NOTE };

struct erltrace_diag {
    enum erltrace_severity severity;
    const char *tag;      /* "D_IDENT_UNDEF", "NODE_COOKIE"; "" when it has none */
    const char *text;     /* one line, no final stop */
    const char *hint;     /* what to do next, NULL when nothing is known */
    const char *file;     /* the source: a file's name or a program's; NULL: no place in a source */
    int line, column;     /* from 1; column counts bytes; 0: not known */
    int length;           /* bytes that it is about, from column on */
    const char *source;   /* the source line without its end; NULL when there is none */
    const char *rendered; /* all of it for people: one to three lines, each with its newline, as the
                             command prints them; one JSON object with ERLTRACE_O_JSON; with the
                             option errform=dtrace dtrace's one line */
};
typedef void erltrace_diag_fn(const struct erltrace_diag *d, void *arg);

/* Diagnostics go to fn from now on: errors, warnings, and notices such as a buffer that had to be
 * smaller. NULL, as at first: to nobody. Compiling goes on after an error, up to ten are reported
 * for a program. 0 or -1. */
ERLTRACE_API int erltrace_handle_diag(erltrace_t *h, erltrace_diag_fn *fn, void *arg);

/* -- options ----------------------------------------------------------------------------------- */

/* Sets an option of the language, "bufsize" to "16k"; value NULL: the name alone, as for a flag
 * ("quiet"). Until erltrace_go any of them, afterwards those that setopt() in a program can set.
 * -1: OPTNAME, OPTVAL, STATE. */
ERLTRACE_API int erltrace_setopt(erltrace_t *h, const char *name, const char *value);
/* What may help with an option that erltrace_setopt has refused: the nearest name ("did you mean
 * 'bufsize'?"), or the form of its values. NULL: nothing. Valid until the next call. */
ERLTRACE_API const char *erltrace_setopt_hint(erltrace_t *h, const char *name);
/* For programs of somebody who may trace, and nothing else: a page in a browser, say. From now on
 * nobody can set, by erltrace_setopt (RESTRICTED), #pragma or setopt(), the options that make the
 * library read other files or run commands (cpp and its kin, cpppath, libdir, syslibdir), nor
 * destructive, unless it is set already. While it is not, programs with actions that would act on
 * this process or its host, system(), freopen(), ftruncate() and raise(), do not compile.
 * permit: how whoever reads the errors gets destructive actions allowed ("start it with -w"), which
 * they say then; NULL: no way. It cannot be taken back. -1: STATE, NOMEM. */
ERLTRACE_API int erltrace_restrict(erltrace_t *h, const char *permit);
/* The value that an option of the language has now: bytes, nanoseconds, a number;
 * ERLTRACE_OPT_UNSET when it is not set. -1: OPTNAME, also for those that have no number (cpppath,
 * define...). */
#define ERLTRACE_OPT_UNSET (-2)
ERLTRACE_API int erltrace_getopt(erltrace_t *h, const char *name, int64_t *value);
/* Sets the options that the environment names, as DTRACE_OPT_BUFSIZE. -1 at the first bad one,
 * whose name is in *name (may be NULL; valid until the next call). */
ERLTRACE_API int erltrace_setopt_environment(erltrace_t *h, const char **name);

/* -- where to trace ---------------------------------------------------------------------------- */
/* Any number of targets, before erltrace_enable. Without any: the local tier, if all that the
 * programs describe are dtrace and profile probes, else the only BEAM of this host. Aggregations
 * are merged over all targets. A node is connected to when its probes are first needed: by
 * erltrace_enable or one of the probe iterators, which give the errors. */

/* This process, with the probes of dtrace and profile; no node, no privilege. Comes before other
 * targets and excludes nodes (-1: STATE): processes and commands beside it may be any, and are only
 * what $target means and what the trace ends with. */
ERLTRACE_API int erltrace_target_local(erltrace_t *h);
/* A running node by name; a short name without @ is one of this host. cookie NULL: the handle's. */
ERLTRACE_API int erltrace_target_node(erltrace_t *h, const char *name, const char *cookie);
/* A running node that somebody else has the way to: frames (a length of four bytes, big-endian, and
 * a term) come and go on the stream socket fd, and a process of the node itself, or of one
 * connected to it, does what they say; doc/port-protocol.md, "The relay", has all of it. Neither
 * name, address nor cookie are used to get there; name is for messages and results. The library
 * takes fd over, also when this fails, and closes it when it lets go of the node. */
ERLTRACE_API int erltrace_target_relay(erltrace_t *h, const char *name, int fd);
/* The BEAM of this host with this process id; beside the local tier, any process. */
ERLTRACE_API int erltrace_target_pid(erltrace_t *h, pid_t pid);
/* Starts a command (split at blanks, no quoting) that runs a node, waits until that can be traced,
 * at most 20 s, and returns the process id; -1 on error. The trace ends when all such commands have
 * ended. They run on when the handle is closed, and end with this process. They are its children:
 * one that outlives the handle is the program's to wait for. Beside the local tier it is any
 * command; it stands still until erltrace_go, ends when the handle is closed before that, and may
 * outlive this process. */
ERLTRACE_API pid_t erltrace_target_command(erltrace_t *h, const char *command);
/* For nodes without a cookie of their own: the cookie, or a file with it. NULL, NULL: what
 * -setcookie of the process says, else its owner's ~/.erlang.cookie. */
ERLTRACE_API int erltrace_set_cookie(erltrace_t *h, const char *cookie, const char *file);
/* For nodes whose distribution speaks TLS: an option by its name. Any of them makes all connections
 * by distribution TLS ones.
 *   cert, key, cacert  files in PEM: our certificate with those that signed it, its key (NULL: it
 * is in the same file), and who may have signed the node's from_node          (no value) what is
 * not given is taken from the configuration of the node's own process, -ssl_dist_optfile and
 * -ssl_dist_opt, for clients verify             what the node's certificate is looked at for:
 * "host" (the default: it is valid, signed by one of cacert, and for the node's host), "ca" (the
 * same without the host), "none". Without cacert nothing but "none" is possible, and has to be said
 */
ERLTRACE_API int erltrace_set_tls(erltrace_t *h, const char *name, const char *value);
/* Where a node may keep the agent's library while it is being loaded; NULL: the usual places. */
ERLTRACE_API int erltrace_set_agent_dir(erltrace_t *h, const char *dir);
/* The folder whose priv/ holds the agent and D's libraries. NULL: ERLTRACE_ROOT of the environment,
 * else it is looked for from where the library, or the program that holds it, lies. */
ERLTRACE_API int erltrace_set_root(erltrace_t *h, const char *dir);
/* The targets in words for people, separated by commas, "" for the local tier; and what is enabled
 * in the only one, NULL with several or when it cannot be said. Valid until the next call. */
ERLTRACE_API const char *erltrace_targets(erltrace_t *h);
ERLTRACE_API const char *erltrace_enabled(erltrace_t *h);

/* What was set for the programs in one target. Figures are of these programs alone, also where
 * others share what is set. */
struct erltrace_placed {
    const char *node;        /* "" the local tier */
    uint64_t clauses;        /* clauses on probes that are enabled */
    uint64_t left_out;       /* that are not: their predicates can never be true there */
    uint64_t meta;           /* functions seen in every process: their pattern is of this kind */
    uint64_t local, global;  /* ... in processes with flags */
    const char *flags;       /* trace flags of all processes: "procs send"; "" */
    uint64_t processes;      /* that have them, and new ones will */
    const char *only_flags;  /* those for which predicates allow a few processes only */
    uint64_t only_processes; /* that have them */
    uint64_t ports;          /* that are traced */
    const char *monitors;    /* what else tells of events: "busy_port nodes"; "" */
    uint64_t ns;             /* that it took to set all this */
    uint64_t calls;          /* that set or cleared patterns of functions, meanwhile */
};
/* Returns 0 to go on, another value to end the walk. */
typedef int erltrace_placed_fn(const struct erltrace_placed *p, void *arg);
/* Calls fn for each target, after erltrace_go. 0, what fn returned, or -1. */
ERLTRACE_API int erltrace_placed_iter(erltrace_t *h, erltrace_placed_fn *fn, void *arg);

struct erltrace_node {
    pid_t pid;         /* of the BEAM */
    const char *name;  /* of the node, "" when it is not distributed or cannot be found out */
    const char *otp;   /* its release, "25"; "" when that cannot be found out */
    const char *owner; /* user name, or the number */
    int attachable;    /* it can be traced */
    const char *why;   /* why not; "" when it can */
    const char *help;  /* what would help; "" */
};
/* Return 0 to go on, another value to end the walk. */
typedef int erltrace_node_fn(const struct erltrace_node *n, void *arg);
/* Calls fn for each BEAM of this host, by process id; tries to reach each with the handle's cookie.
 * 0, what fn returned, or -1. */
ERLTRACE_API int erltrace_node_iter(erltrace_t *h, erltrace_node_fn *fn, void *arg);

/* What an examination of a target found. Strings are valid until the function returns. */
struct erltrace_finding {
    const char *node;    /* the target in words */
    int otp;             /* its release */
    const char *subject; /* one word: "vm", "tracers", "gc" ... */
    const char
        *level; /* "ok"; "note": worth knowing; "limit": something cannot be traced, or not all */
    const char *text; /* for people */
    const char *help; /* what would help; "" */
};
typedef int erltrace_finding_fn(const struct erltrace_finding *f, void *arg);
/* Connects to the targets, and tells of each what can be traced and what is in the way. Nothing is
 * traced; which probes a release has is said by erltrace_about_iter. 0, what fn returned, or -1:
 * the errors of nodes. */
ERLTRACE_API int erltrace_examine(erltrace_t *h, erltrace_finding_fn *fn, void *arg);

/* -- programs ---------------------------------------------------------------------------------- */

/* What a bare word in a probe description means: the letters of the command. */
enum erltrace_spec {
    ERLTRACE_SPEC_SCRIPT,   /* -s: a whole script */
    ERLTRACE_SPEC_NAME,     /* -n: one description, the last part of which is the name, with or */
    ERLTRACE_SPEC_FUNCTION, /* -f: without predicate and clause; or a whole program */
    ERLTRACE_SPEC_MODULE,   /* -m */
    ERLTRACE_SPEC_PROVIDER, /* -P */
    ERLTRACE_SPEC_ID        /* -i: a probe id */
};

/* Compiles a text; the programs of a handle share variables, aggregations and options, and run in
 * the order in which they were given. name is what diagnostics call it; NULL: the command's letter,
 * "-n". argv[0] is $0, argv[1] $1 and so on; with argc 0 $0 is the text of a script, else
 * "erltrace". Everything is copied. NULL: COMPILE, STATE, INVAL, NOMEM. After an error others may
 * still be compiled, for their errors; enabling is over. */
ERLTRACE_API erltrace_prog_t *erltrace_program_strcompile(erltrace_t *h, const char *name,
                                                          enum erltrace_spec spec, const char *text,
                                                          int argc, char *const argv[]);
/* Compiles a script file, "-" for standard input; with the option cpp it goes through the C
 * preprocessor first. As above; and OPEN, CPP. */
ERLTRACE_API erltrace_prog_t *erltrace_program_fcompile(erltrace_t *h, const char *path, int argc,
                                                        char *const argv[]);

/* How stable a thing is: "Evolving", "Private", "ISA". */
struct erltrace_attributes {
    const char *name, *data, *dependency;
};
struct erltrace_proginfo {
    uint64_t matches; /* clauses times probes; 0 before erltrace_enable */
    const struct erltrace_attributes *descriptions; /* the least of its probe descriptions */
    const struct erltrace_attributes *statements;   /* the least of its statements */
};
/* What is known of a program; valid until the next call. NULL: INVAL. */
ERLTRACE_API const struct erltrace_proginfo *erltrace_program_info(erltrace_t *h,
                                                                   const erltrace_prog_t *p);
/* Whether the programs hold actions that need the option destructive: 1, 0, or -1. */
ERLTRACE_API int erltrace_is_destructive(erltrace_t *h);
/* Whether the programs hold actions that print, or clauses without a body, which do: 1, 0, or -1.
 */
ERLTRACE_API int erltrace_prints(erltrace_t *h);
/* Writes the code of all programs as text; before it, if the option tree is set, the programs as
 * trees. -1: STATE, COMPILE, IO. */
ERLTRACE_API int erltrace_program_dump(erltrace_t *h, FILE *fp);

/* Writes a C header for the providers that the programs define (provider NAME { probe ...; };): for
 * each probe order__start of a provider shop the macros SHOP_ORDER_START(arguments), which is the
 * probe, and SHOP_ORDER_START_ENABLED(), which tells whether somebody watches it. The header is
 * complete by itself: what includes it needs no object or library of ours. name: the header's file
 * name, for its first line and its guard. -1: STATE, COMPILE, INVAL, IO, UNSUP (a probe cannot be
 * made: more than 12 arguments, or one that is neither integer nor pointer). */
ERLTRACE_API int erltrace_program_header(erltrace_t *h, FILE *fp, const char *name);

/* -- probes ------------------------------------------------------------------------------------ */

struct erltrace_probe {
    uint32_t id;          /* what -i takes; a target's own */
    const char *provider; /* the four parts of its name */
    const char *module;
    const char *function;
    const char *name;
    const char *node;                             /* where it is, "" for the local tier */
    const struct erltrace_attributes *attributes; /* of its description */
    const struct erltrace_attributes *arguments;  /* of its arguments */
    size_t nargs;                                 /* of args[]: see erltrace_probe_argument */
};
/* The type of args[i] as D writes it, "erlang_process_t *"; NULL when there is none. Static text.
 */
ERLTRACE_API const char *erltrace_probe_argument(const struct erltrace_probe *p, size_t i);
typedef int erltrace_probe_fn(const struct erltrace_probe *p, void *arg);
/* A description that no probe matches, "p:m:f:n", and why: "No probe matches description". */
typedef int erltrace_missed_fn(const char *description, const char *why, void *arg);

/* Calls fn for each probe that a program's clauses describe, once a clause (p NULL: those of every
 * program, or every probe there is when there are no programs), and missed, which may be NULL, for
 * each description without any. Either may return another value than 0 to end the walk, which is
 * then returned. Not after erltrace_go. 0, that value, or -1. */
ERLTRACE_API int erltrace_probe_iter(erltrace_t *h, const erltrace_prog_t *p, erltrace_probe_fn *fn,
                                     erltrace_missed_fn *missed, void *arg);

/* What is known of a probe, whether a node has it or not. All of it is text for people, and static.
 */
struct erltrace_about {
    const char *name; /* "process-spawn"; "user_trace-n" stands for user_trace-n0 and so on */
    const char *module, *function; /* "", "": most have none; else NAME stands for any name */
    const char *section;           /* of the provider's table: "Processes" */
    const char *text;              /* when it fires */
    const char *origin;            /* whose it is */
    const char *quality; /* "exact", or what of it is derived, and how; "": nobody has it */
    const char *lacking; /* why it is not there where it is not; NULL: it always is */
    unsigned numbered;   /* not 0: the name stands for so many probes, which end in 0, 1, ... */
    size_t notps;        /* of otp[] and by[] */
    const int *otp;      /* OTP releases, each also for those up to the next one here */
    const char *by[4];   /* who can deliver it there: "vm tier", "kernel tier", "nobody" */
    size_t nargs;
    struct erltrace_about_arg {
        const char *type, *name, *text; /* "char *", "p", "the new process as text, <0.N.S>" */
    } arg[10];
};
typedef int erltrace_about_fn(const struct erltrace_about *about, void *arg);
/* Fills *about for a probe of the provider erlang and returns 0; -1 for any other. */
ERLTRACE_API int erltrace_probe_about(const struct erltrace_probe *p, struct erltrace_about *about);
/* Calls fn for each row of the provider's table. It may return another value than 0 to end the
 * walk, which is then returned. */
ERLTRACE_API int erltrace_about_iter(erltrace_about_fn *fn, void *arg);

/* -- running ----------------------------------------------------------------------------------- */

/* Connects to the targets and matches the descriptions of all programs. Afterwards
 * erltrace_program_info has counts. Nothing fires yet. -1: NOPROBE (a description matches nothing
 * and the option zdefs is not set), the errors of nodes, COMPILE. */
ERLTRACE_API int erltrace_enable(erltrace_t *h);
/* Starts tracing, after erltrace_enable or doing that, too: probes are set, BEGIN has run when it
 * returns. -1: DESTRUCTIVE, the errors of nodes; then nothing is left in any of them. May take
 * long: see erltrace_handle_progress. */
ERLTRACE_API int erltrace_go(erltrace_t *h);

/* What a handler of records returns. */
enum {
    ERLTRACE_CONSUME_ABORT = -1, /* end: erltrace_work fails with ABORT, and the trace is over */
    ERLTRACE_CONSUME_THIS = 0,   /* the library prints it */
    ERLTRACE_CONSUME_NEXT = 1    /* the library does not */
};

/* One execution of a clause that recorded something. */
struct erltrace_record {
    uint32_t epid; /* enabled probe: a clause on a probe of a target, from 1 */
    uint32_t cpu;
    uint64_t timestamp; /* when: CLOCK_MONOTONIC of the target's host, ns */
    const struct erltrace_probe *probe;
    const erltrace_prog_t *program; /* that holds the clause */
};
enum erltrace_value_kind {
    ERLTRACE_VALUE_INT,    /* number: signed */
    ERLTRACE_VALUE_UINT,   /* number: (uint64_t)number is the value */
    ERLTRACE_VALUE_STRING, /* text, length */
    ERLTRACE_VALUE_BYTES,  /* the same, of structs, arrays and memory; stacks and symbols as
                              addresses */
    ERLTRACE_VALUE_FLOAT   /* real; text holds it as it is in memory */
};
struct erltrace_value {
    enum erltrace_value_kind kind;
    uint32_t size;    /* bytes of its type: 1, 2, 4 or 8 for numbers */
    int64_t number;   /* extended to 64 bits as its type asks */
    const char *text; /* not NUL-terminated */
    size_t length;    /* bytes of text. Of BYTES, what is behind them up to size is zero */
    double real;      /* of a FLOAT, as near as a double comes to it */
};
/* What one action recorded. */
struct erltrace_data {
    const char *action;   /* "trace", "printf", "printa", "exit", "clear" ... */
    const char *format;   /* of printf, printa, system, freopen; NULL: none */
    size_t nvalues;       /* see erltrace_data_value */
    size_t naggregations; /* see erltrace_data_aggregation */
};
/* The i-th value, from 0; NULL when there is none. Valid until the handler returns. */
ERLTRACE_API const struct erltrace_value *erltrace_data_value(const struct erltrace_data *d,
                                                              size_t i);
/* The name of the i-th aggregation that the action is about, "@a" as "a"; NULL when there is none.
 */
ERLTRACE_API const char *erltrace_data_aggregation(const struct erltrace_data *d, size_t i);
/* What the library prints for this action, *length bytes (NUL-terminated behind them); "" for most
 * actions that print nothing. Valid until the handler returns. */
ERLTRACE_API const char *erltrace_data_text(const struct erltrace_data *d, size_t *length);

/* Called before each record. THIS: its actions are shown to the erltrace_data_fn, or printed; NEXT:
 * they are neither, but still act (exit() ends the trace, clear() clears). */
typedef int erltrace_record_fn(const struct erltrace_record *r, void *arg);
/* Called for each action of a record that recorded data or does something in the consumer, and with
 * d NULL after the last one. THIS prints the action; for d NULL it prints what belongs to the end
 * of the record, a newline unless quiet. The prefix of the record is printed with its first action.
 */
typedef int erltrace_data_fn(const struct erltrace_record *r, const struct erltrace_data *d,
                             void *arg);

enum {
    ERLTRACE_WORK_ERROR = -1,
    ERLTRACE_WORK_OKAY = 0, /* go on */
    ERLTRACE_WORK_DONE = 1  /* the trace has ended, and everything has been reported */
};
/* Waits up to timeout_ms for something to happen, reads what there is, prints it to fp and calls
 * the handlers. fp NULL: nothing is printed, unless to the handler of erltrace_handle_output.
 * record and data may be NULL. A signal ends the wait early. Returns one of the above. A node that
 * is lost is a diagnostic; the trace goes on with the others, and is done when none is left. An
 * error is the end of the trace: only erltrace_close and the functions that ask may follow. Not
 * from a handler. */
ERLTRACE_API int erltrace_work(erltrace_t *h, FILE *fp, int timeout_ms, erltrace_record_fn *record,
                               erltrace_data_fn *data, void *arg);
/* For programs with a loop of their own: a descriptor that becomes readable when erltrace_work has
 * something to do, to be polled for POLLIN and never read; -1 while nothing runs. It belongs to the
 * handle. erltrace_work has to be called with timeout 0 when it is readable, and at the latest
 * after as many ms as erltrace_timeout says, which is asked anew after each call. */
ERLTRACE_API int erltrace_fd(erltrace_t *h);
ERLTRACE_API int erltrace_timeout(erltrace_t *h);

/* Ends tracing: probes are taken away, END runs; go on with erltrace_work until it is done. Again:
 * nothing. -1: STATE before erltrace_go. */
ERLTRACE_API int erltrace_stop(erltrace_t *h);
/* The same, but may be called from signal handlers, other threads and handlers; acts within the
 * erltrace_work that is under way (at most 100 ms later), or the next. It ends erltrace_go, too,
 * while that sets what the probes need: see erltrace_handle_progress. */
ERLTRACE_API void erltrace_interrupt(erltrace_t *h);

enum erltrace_state {
    ERLTRACE_STATE_NONE,     /* before erltrace_go */
    ERLTRACE_STATE_RUNNING,  /* probes fire */
    ERLTRACE_STATE_STOPPING, /* END has run or will, its data is still to come */
    ERLTRACE_STATE_DONE,     /* erltrace_work has returned DONE */
    ERLTRACE_STATE_FAILED    /* or an error */
};
struct erltrace_status {
    enum erltrace_state state;
    int exited;          /* exit() has run */
    int status;          /* with this argument, the last one; 0 */
    unsigned lost;       /* targets lost, those whose command ended not counted */
    unsigned probes;     /* enabled: clauses times probes */
    uint64_t fired;      /* events seen by all targets, as far as they have reported */
    uint64_t recorded;   /* records made */
    uint64_t updates;    /* of aggregations */
    uint64_t errors;     /* faults */
    uint64_t drops;      /* of every kind */
    unsigned overloaded; /* targets where the program was ended because its probes took more than
                            the option maxload allows; a diagnostic TRACE_OVERLOAD has said so, and
                            what had been collected there is reported all the same */
    uint64_t began;      /* when BEGIN ran, from when rates and durations count: CLOCK_MONOTONIC of
                            this host, ns; 0: it has not run */
    unsigned watched;    /* of `probes`, those of nodes: not BEGIN, END, ERROR, tick-N, profile-N */
    uint64_t events;     /* of `fired`, what those have fired */
};
/* Valid until the next call. NULL only for a handle that is NULL. */
ERLTRACE_API const struct erltrace_status *erltrace_status(erltrace_t *h);

/* -- handlers ---------------------------------------------------------------------------------- */
/* Each may be set, changed, and taken back with NULL at any time; 0 or -1. They are called from
 * inside erltrace_work (erltrace_handle_output also from erltrace_aggregate_print). A handler
 * returns ERLTRACE_HANDLE_OK or, to end the trace at once with the error ERLTRACE_E_ABORT,
 * ERLTRACE_HANDLE_ABORT. Inside one, only functions that ask or set handlers may be called,
 * erltrace_interrupt, and those on what the handler was given. */
enum { ERLTRACE_HANDLE_ABORT = -1, ERLTRACE_HANDLE_OK = 0 };

/* Output that goes to a handler instead of a FILE. */
enum erltrace_output_kind {
    ERLTRACE_OUTPUT_DATA,     /* text, length: what was traced. Need not end at the end of a line */
    ERLTRACE_OUTPUT_FLUSH,    /* write out what you hold: system() is about to run a command */
    ERLTRACE_OUTPUT_REDIRECT, /* freopen(): from now on to the file called text; NULL: to where it
                                 went first. Set by the return value: 0, or an errno value */
    ERLTRACE_OUTPUT_TRUNCATE  /* ftruncate(): empty the file that it goes to */
};
struct erltrace_output {
    enum erltrace_output_kind kind;
    const char *text;
    size_t length;
};
typedef int erltrace_output_fn(const struct erltrace_output *o, void *arg);
ERLTRACE_API int erltrace_handle_output(erltrace_t *h, erltrace_output_fn *fn, void *arg);

/* What system() is to run, after the output's ERLTRACE_OUTPUT_FLUSH. The handler runs it, and
 * returns when the trace may go on. Without one system(3) does: what the command prints goes where
 * this process's own standard output goes, and the trace waits until it has ended. */
typedef int erltrace_command_fn(const char *command, void *arg);
ERLTRACE_API int erltrace_handle_command(erltrace_t *h, erltrace_command_fn *fn, void *arg);

/* A clause that failed at run time, or an action that could not be done. Without a handler it is
 * counted, no more. The handler gets each fault, also those that repeat. */
struct erltrace_fault {
    const char *message; /* all of it on one line: "error on enabled probe ID 1 (ID 1: ...): ..." */
    uint32_t epid;
    uint32_t cpu;
    const struct erltrace_probe *probe;
    uint32_t action;    /* of the clause, from 1; 0: the predicate */
    int64_t offset;     /* byte in the clause's DIF, -1: not known */
    uint32_t code;      /* reference: arg4 of dtrace:::ERROR; 1000 for a failure of the consumer */
    const char *name;   /* "DIVZERO" */
    uint64_t value;     /* the address, size or index, as far as the code has one */
    const char *reason; /* of the message, what went wrong: "divide-by-zero" */
};
typedef int erltrace_fault_fn(const struct erltrace_fault *f, void *arg);
ERLTRACE_API int erltrace_handle_fault(erltrace_t *h, erltrace_fault_fn *fn, void *arg);

/* Data that was lost for want of room. Without a handler it is counted, no more. */
struct erltrace_drop {
    const char *message; /* "3 aggregation drops", with [DTRACEDROP_...] if droptags is set */
    const char *kind;    /* "PRINCIPAL", "AGGREGATION", "DYNAMIC" ... as in those tags */
    uint64_t count;      /* since the last report of this kind */
    uint64_t total;      /* since the start */
    const char *node;    /* of which target, "" for the local tier */
    int cpu;             /* of PRINCIPAL and AGGREGATION, where it was; -1: belongs to no CPU */
    const char *text;    /* the message without its tag */
};
typedef int erltrace_drop_fn(const struct erltrace_drop *d, void *arg);
ERLTRACE_API int erltrace_handle_drop(erltrace_t *h, erltrace_drop_fn *fn, void *arg);

/* What probes cost in one node: each time that the option stats asks for it, when a program is
 * ended because it took too much, and at the end. Estimates from samples; only `fired` is exact.
 * What the VM itself spends on an event is part of what threads spend, not of what probes do. */
enum erltrace_stats_kind {
    ERLTRACE_STATS_PERIOD,   /* since the last one of this kind */
    ERLTRACE_STATS_OVERLOAD, /* of the last seconds before the program was ended */
    ERLTRACE_STATS_TOTAL     /* since the start */
};
struct erltrace_cost {
    const char *name; /* "scheduler 2"; "message-send", "entry"; "erlang12:lists:map/2:entry" */
    uint64_t events;  /* that it is about */
    uint64_t ns;      /* that they took */
    unsigned share; /* permille of the time that the thread could run; of probes: that the first of
                       the threads could */
};
struct erltrace_stats {
    enum erltrace_stats_kind kind;
    const char
        *message; /* lines for people, each with its newline: "stats: 182344 events/s, ..." */
    const char *node;
    uint64_t interval; /* ns that it is about */
    uint64_t fired;    /* probe firings in it */
    uint64_t events;   /* what samples stand for, and what it took on all schedulers together */
    uint64_t ns;
    uint64_t drops;                   /* records and aggregations lost in it, of every kind */
    size_t nthreads, nkinds, nprobes; /* see below */
    unsigned share;                   /* of the dearest thread; 0: there is none */
};
/* The i-th of the VM's threads, kinds of probes, or probes (only the dearest), the dearest first;
 * NULL when there is none. Valid until the next call, or until the handler returns. */
ERLTRACE_API const struct erltrace_cost *erltrace_stats_thread(const struct erltrace_stats *s,
                                                               size_t i);
ERLTRACE_API const struct erltrace_cost *erltrace_stats_kind(const struct erltrace_stats *s,
                                                             size_t i);
ERLTRACE_API const struct erltrace_cost *erltrace_stats_probe(const struct erltrace_stats *s,
                                                              size_t i);
/* What of all this the VM itself took on its way to the probes and back, an estimate: one row,
 * which belongs to no probe. NULL when there is nothing to tell. */
ERLTRACE_API const struct erltrace_cost *erltrace_stats_emulator(const struct erltrace_stats *s);
typedef int erltrace_stats_fn(const struct erltrace_stats *s, void *arg);
ERLTRACE_API int erltrace_handle_stats(erltrace_t *h, erltrace_stats_fn *fn, void *arg);

/* While erltrace_go takes long: how far it is in a target. Each call that sets something in a node
 * waits for all of its schedulers, so that thousands of functions may take a busy node a minute. */
struct erltrace_progress {
    const char *node;     /* the target in words */
    int waiting;          /* what another trace had set there is being taken away first, or added */
    const char *unit;     /* what is counted: "functions", "processes" */
    uint64_t done, total; /* total 0: it has only begun */
    int fresh; /* the target has said so since the last call; 0: it has said nothing new */
};
/* Called some times a second, also while a target says nothing, and at once after a signal: a
 * program that bounds its wait for erltrace_go begins that bound again with each call that is
 * fresh. HANDLE_ABORT ends it as erltrace_interrupt does: what was set is undone, erltrace_go
 * returns 0 with the state DONE, and so does erltrace_work at once; no probe has fired, BEGIN
 * neither. */
typedef int erltrace_progress_fn(const struct erltrace_progress *p, void *arg);
ERLTRACE_API int erltrace_handle_progress(erltrace_t *h, erltrace_progress_fn *fn, void *arg);

/* setopt() in a program has set an option. */
struct erltrace_setopt_data {
    const char *option;
    const char *value;  /* as the program gave it */
    int64_t old_number; /* what erltrace_getopt gave before, and gives now */
    int64_t new_number;
    const struct erltrace_record *record; /* that holds the action */
};
typedef int erltrace_setopt_fn(const struct erltrace_setopt_data *s, void *arg);
ERLTRACE_API int erltrace_handle_setopt(erltrace_t *h, erltrace_setopt_fn *fn, void *arg);

/* -- aggregations ------------------------------------------------------------------------------ */

/* Reads the aggregations of all targets now, whatever the option aggrate says, waiting at most
 * about a second for each node. Records that come with them wait for the next erltrace_work. Not
 * necessary once the trace is done: then all is here. -1: STATE before erltrace_go, errors of
 * nodes. */
ERLTRACE_API int erltrace_aggregate_snap(erltrace_t *h);

struct erltrace_bucket {
    int64_t from, to;  /* the integers that fall into it, both included */
    int open_from;     /* nothing bounds it below; from means nothing */
    int open_to;       /* nothing bounds it above */
    int64_t count;     /* sum of the increments; not normalized */
    const char *label; /* as printed: "1024", "< 0" */
};

/* An aggregation of the programs, whether anything is in it or not. */
struct erltrace_aggregation {
    const char *name;     /* of the variable without @; "_" for the anonymous one */
    const char *function; /* "count", "lquantize" */
    uint32_t id;          /* as in struct erltrace_aggr */
    size_t nkeys;         /* see erltrace_aggregation_key */
    size_t nbuckets; /* of histograms: all that there are, which are the words of each value; 0 */
    int64_t parameter[4]; /* of lquantize: base, limit, step; of llquantize: factor, low, high,
                             steps; else 0 */
    uint64_t normal;      /* what normalize() has set, 1 */
};
typedef int erltrace_aggregation_fn(const struct erltrace_aggregation *a, void *arg);
/* Calls fn for each aggregation, in the order of their ids. It may return another value than 0 to
 * end the walk, which is then returned. Ends the compiling. 0, that value, or -1: COMPILE, INVAL,
 * STATE. */
ERLTRACE_API int erltrace_aggregation_iter(erltrace_t *h, erltrace_aggregation_fn *fn, void *arg);
/* The type of the i-th part of its keys: "int", "uint", "string", "bytes", "stack", "symbol"; NULL
 * when there is none. Static. */
ERLTRACE_API const char *erltrace_aggregation_key(const struct erltrace_aggregation *a, size_t i);
/* What the i-th bucket stands for, the one of words[i] of struct erltrace_aggr; its count is 0.
 * from > to: no value falls into it. NULL when there is none. Valid until the next call, or until
 * the handler returns. */
ERLTRACE_API const struct erltrace_bucket *
erltrace_aggregation_bucket(const struct erltrace_aggregation *a, size_t i);

/* Orders of a walk; ERLTRACE_SORT_REVERSE may be added to any of the others. Integers in keys
 * compare unsigned, text by bytes; equal values are ordered by key. */
enum {
    ERLTRACE_SORT_OPTIONS,  /* as aggsortkey, aggsortkeypos and aggsortrev ask: the command's order
                             */
    ERLTRACE_SORT_NONE,     /* by variable, then as they came */
    ERLTRACE_SORT_VARKEY,   /* by variable, then key */
    ERLTRACE_SORT_VARVALUE, /* by variable, then value */
    ERLTRACE_SORT_KEYVAR,   /* by key, then variable */
    ERLTRACE_SORT_VALUEVAR, /* by value, then variable */
    ERLTRACE_SORT_REVERSE = 0x100
};
/* What an erltrace_aggr_fn returns. */
enum {
    ERLTRACE_WALK_ABORT = -1, /* end with ERLTRACE_E_ABORT */
    ERLTRACE_WALK_NEXT = 0,
    ERLTRACE_WALK_STOP = 1,  /* end without an error */
    ERLTRACE_WALK_CLEAR = 2, /* set this value to its start, as clear() does, and go on */
    ERLTRACE_WALK_REMOVE = 3 /* remove this entry, as trunc() does, and go on */
};
/* One key of one aggregation with its value. */
struct erltrace_aggr {
    const char *name;      /* of the variable without @; "_" for the anonymous one */
    const char *function;  /* "count", "lquantize" */
    uint32_t id;           /* of the variable, from 0 in order of appearance in the programs */
    size_t nkeys;          /* see erltrace_aggr_key */
    int64_t value;         /* count, sum, min, max, avg, stddev: as printed, normalized; else 0 */
    uint64_t normal;       /* what normalize() has set, 1 */
    size_t nbuckets;       /* of the histograms: see erltrace_aggr_bucket; else 0 */
    const uint64_t *words; /* the raw value. count, sum, min, max: one word. avg: count, sum.
                              stddev: count, sum, and the sum of squares, low word first.
                              Histograms: the counts of all buckets */
    size_t nwords;
};
typedef int erltrace_aggr_fn(const struct erltrace_aggr *a, void *arg);
/* Calls fn for each entry as of the last reading. A program that runs on does not change what is
 * being walked. -1: STATE before erltrace_go, NOMEM, ABORT, INVAL.
 *
 * It may also be called from inside an erltrace_data_fn, and shows then what the action finds, and
 * what the one before it has left: what a clear() or trunc() throws away can be looked at there.
 * But nothing may be changed from there: CLEAR and REMOVE end it with INVAL. */
ERLTRACE_API int erltrace_aggregate_walk(erltrace_t *h, int order, erltrace_aggr_fn *fn, void *arg);
/* Several aggregations joined by key, as printa(@a, @b) shows them: fn gets for each key the n
 * entries in the order of names (without @); one that has no such key has its empty value there.
 * order: OPTIONS, KEYVAR or VALUEVAR (by the value of names[0], or of the one that aggsortpos
 * says), with or without REVERSE. fn returns NEXT, STOP or ABORT. -1 as above; INVAL when there is
 * no such aggregation, or their keys differ in number or type. */
typedef int erltrace_aggr_joined_fn(const struct erltrace_aggr *const a[], size_t n, void *arg);
ERLTRACE_API int erltrace_aggregate_walk_joined(erltrace_t *h, const char *const names[], size_t n,
                                                int order, erltrace_aggr_joined_fn *fn, void *arg);
/* The i-th key, or bucket (from one before the first that is not zero to one after the last, as
 * printed), from 0; NULL when there is none. Valid until the handler returns. */
ERLTRACE_API const struct erltrace_value *erltrace_aggr_key(const struct erltrace_aggr *a,
                                                            size_t i);
ERLTRACE_API const struct erltrace_bucket *erltrace_aggr_bucket(const struct erltrace_aggr *a,
                                                                size_t i);
/* The text of the i-th key when it is a symbol (nth 0) or a stack (the nth of its frames, from 0,
 * the innermost); NULL when it is neither, or there are no more. Valid until the next call. */
ERLTRACE_API const char *erltrace_aggr_key_text(const struct erltrace_aggr *a, size_t i,
                                                size_t nth);
/* Prints what the command prints at the end: every aggregation that no printa() has shown, in the
 * order of the options, to fp or the output handler. -1: STATE before erltrace_go, NOMEM. */
ERLTRACE_API int erltrace_aggregate_print(erltrace_t *h, FILE *fp);
/* Sets all values to their starts; keys stay. */
ERLTRACE_API int erltrace_aggregate_clear(erltrace_t *h);

#ifdef __cplusplus
}
#endif

#endif
