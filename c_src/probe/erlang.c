/* erlang.c - the erlang provider: its named probes, its function probes, and the dtrace intervals.
 *
 * Names and argument order are those of OTP's own provider. Where the VM does not tell an argument,
 * its text says what stands there instead. */
#include <ctype.h>
#include <string.h>

#include "base/units.h"
#include "probe/probe.h"

#define PID_TEXT(name, what)                                                                       \
    {                                                                                              \
        "char *", name, what " as text, <0.N.S>"                                                   \
    }
#define TOKEN(name)                                                                                \
    {                                                                                              \
        "int", name, "seq_trace: not known here, 0"                                                \
    }

/* clang-format off */
static const struct probe_def erlang_probes[] = {
    {PROBE_PROCESS_SPAWN, "process-spawn", PROBE_NEED_PROCS, "a process is spawned, in the spawner",
     {PID_TEXT("p", "the new process"), {"char *", "mfa", "its start function, m:f/a"}}},
    {PROBE_PROCESS_EXIT, "process-exit", PROBE_NEED_PROCS, "a process exits",
     {PID_TEXT("p", "the process"), {"char *", "reason", "its exit reason as text, at most 255 bytes"}}},
    {PROBE_PROCESS_SCHEDULED, "process-scheduled", PROBE_NEED_RUNNING, "a process begins to run on a scheduler",
     {PID_TEXT("p", "the process"), {"char *", "mfa", "the function it resumes in; <exiting> for one that exits"}}},
    {PROBE_PROCESS_UNSCHEDULED, "process-unscheduled", PROBE_NEED_RUNNING, "a process stops running on a scheduler",
     {PID_TEXT("p", "the process"), {"char *", "mfa", "the function it stopped in: our addition"}}},
    {PROBE_MESSAGE_SEND, "message-send", PROBE_NEED_SEND, "a process sends a message",
     {PID_TEXT("sender", "the sender"), PID_TEXT("receiver", "the receiver, also behind a name or an alias"),
      {"uint32_t", "size", "message size in words; 4294967295: too large to count"},
      TOKEN("token_label"), TOKEN("token_previous"), TOKEN("token_current")}},
    {PROBE_MESSAGE_QUEUED, "message-queued", PROBE_NEED_RECEIVE, "a message is put in a process's queue",
     {PID_TEXT("receiver", "the receiver"), {"uint32_t", "size", "message size in words; 4294967295: too large to count"},
      {"uint32_t", "queue_len", "not known here, 4294967295"},
      TOKEN("token_label"), TOKEN("token_previous"), TOKEN("token_current")}},
    {PROBE_GC_MINOR_START, "gc_minor-start", PROBE_NEED_GC, "a minor garbage collection begins",
     {PID_TEXT("p", "the process"), {"int", "need", "words that must be free afterwards"}}},
    {PROBE_GC_MINOR_END, "gc_minor-end", PROBE_NEED_GC, "a minor garbage collection ends",
     {PID_TEXT("p", "the process"), {"int", "reclaimed", "words reclaimed"}}},
    {PROBE_GC_MAJOR_START, "gc_major-start", PROBE_NEED_GC, "a major garbage collection begins",
     {PID_TEXT("p", "the process"), {"int", "need", "words that must be free afterwards"}}},
    {PROBE_GC_MAJOR_END, "gc_major-end", PROBE_NEED_GC, "a major garbage collection ends",
     {PID_TEXT("p", "the process"), {"int", "reclaimed", "words reclaimed"}}},
};

#define FN_ARGS {PID_TEXT("p", "the process"), {"char *", "mfa", "the function, m:f/a"}, \
                 {"int", "depth", "stack depth: not known here, -1"}}
static const struct probe_def fn_probes[] = {
    {PROBE_FN_ENTRY, "entry", PROBE_NEED_CALL, "a function is called", FN_ARGS},
    {PROBE_FN_RETURN, "return", PROBE_NEED_RETURN,
     "a function, or the last of a chain of tail calls, returns; also when an exception in it is caught further up, unless "
     "it has an exception probe, too", FN_ARGS},
    {PROBE_FN_EXCEPTION, "exception", PROBE_NEED_EXCEPTION, "a function is left by an exception", FN_ARGS},
};

/* Every name of a function probe. */
static const struct {
    const char *name;
    enum probe_kind kind;
} fn_names[] = {
    {"entry", PROBE_FN_ENTRY}, {"return", PROBE_FN_RETURN}, {"exception", PROBE_FN_EXCEPTION},
    {"function-entry", PROBE_FN_ENTRY}, {"local-function-entry", PROBE_FN_ENTRY},
    {"global-function-entry", PROBE_FN_ENTRY}, {"function-return", PROBE_FN_RETURN},
};
const char *const probe_fn_names[] = {"entry", "return", "exception", "function-entry", "local-function-entry",
                                      "global-function-entry", "function-return", NULL};
/* clang-format on */

enum {
    NAMED = sizeof erlang_probes / sizeof *erlang_probes,
    FN_KINDS = sizeof fn_probes / sizeof *fn_probes
};

const struct probe_def *probe_erlang(size_t *n)
{
    *n = NAMED;
    return erlang_probes;
}

const struct probe_def *probe_erlang_name(const char *name)
{
    for (size_t i = 0; i < NAMED; i++)
        if (strcmp(erlang_probes[i].name, name) == 0)
            return &erlang_probes[i];
    return NULL;
}

const struct probe_def *probe_erlang_kind(enum probe_kind kind)
{
    for (size_t i = 0; i < NAMED; i++)
        if (erlang_probes[i].kind == kind)
            return &erlang_probes[i];
    return NULL;
}

unsigned probe_fn_match(const char *name_pattern)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < sizeof fn_names / sizeof *fn_names; i++)
        if (probe_glob(name_pattern, fn_names[i].name))
            kinds |= 1u << (fn_names[i].kind - PROBE_FN_ENTRY);
    return kinds;
}

const struct probe_def *probe_fn_def(enum probe_kind kind)
{
    return kind >= PROBE_FN_ENTRY && kind < PROBE_FN_ENTRY + FN_KINDS
               ? &fn_probes[kind - PROBE_FN_ENTRY]
               : NULL;
}

const char *probe_fn_name(enum probe_kind kind)
{
    const struct probe_def *def = probe_fn_def(kind);
    return def != NULL ? def->name : "";
}

/* -- intervals ------------------------------------------------------------------- */

bool probe_tick_period(const char *name, uint64_t *ns)
{
    const uint64_t least = 200000;
    uint64_t n = 0;
    if (strncmp(name, "tick-", 5) != 0 || !isdigit((unsigned char)name[5]))
        return false;
    const char *p = name + 5;
    for (; isdigit((unsigned char)*p); p++)
        if (__builtin_mul_overflow(n, UINT64_C(10), &n) ||
            __builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
            return false;
    return units_time(n, *p == '\0' ? "hz" : p, ns) && *ns >= least;
}
