/* vm_agent.c - the consumer's side of the agent's protocol. See vm_agent.h. */
#include "tier/vm_agent.h"
#include "etf/write.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "util/buftext.h"
#include "util/embedded.h"
#include "util/render.h"
#include "wire/deadline.h"
#include "wire/processor.h"
#include "words/otp.h"

#define MODULE  "erltrace_agent"
#define GUARD   MODULE "_guard"          /* the registered name of its guard */
#define LOCK    "erltrace_attach"        /* ... of the process that holds back other loads */
#define LOADING "erltrace_loading"       /* ... of the process that loads it */
#define LIBRARY "priv/" MODULE "%s%s.so" /* with -MACHINE: for another processor than ours */
#define BEAM    "priv/agent/" MODULE ".beam"

enum {
    RPC_MS = 5000,
    LOAD_MS = 15000, /* for what waits for the node's code server, which may be purging the previous
                        agent */
    SERVER_MS = 32000, /* for what waits for the agent, which may be removing what another consumer
                          had, and itself gives up after 30 s */
    PLACE_MS = 20000,  /* how long to retry when others attach and detach at the same time */
    GLOBAL_LOCK_MS = 10000,
    BACKOFF_MS = 5,
    OLD_MS = 2000,     /* how long to wait for processes that run old code of the agent */
    PROGRESS_MS = 100, /* between two checks whether to continue waiting for an answer */
    GUARD_MS = 15000,  /* ... for the guard of a killed agent, which undoes what the agent did; less
                          than PLACE_MS */
    AGAIN = 1,         /* not an error: start over */
    OLD = 2,           /* likewise, once old code is gone */
    FILE_MAX = 64 << 20
};

/* -- errors ------------------------------------------------------------------------------------ */

/* The error code for an agent's tag; any other is ET_EAGENT. */
static const struct {
    const char *tag;
    int err;
} tag_err[] = {
    {"AGENT_BUSY", ET_EBUSY},   {"AGENT_VERSION", ET_EBUSY}, {"AGENT_IMAGE", ET_EIMAGE},
    {"AGENT_CLOSED", ET_ELOST}, {"AGENT_MEMORY", ET_ENOMEM}, {"", ET_ELIMIT},
};

static int err_of_tag(const char *tag)
{
    for (size_t i = 0; i < sizeof tag_err / sizeof *tag_err; i++)
        if (strcmp(tag_err[i].tag, tag) == 0)
            return tag_err[i].err;
    return ET_EAGENT;
}

int agent_malformed(struct vm_agent *a, const char *what, struct diags *d)
{
    return diag_error(d, ET_EAGENT, NULL, "AGENT_PROTOCOL",
                      "are bin/erltrace and priv/ from the same build? Build again, or use --root",
                      "the agent in %s sent a malformed answer to '%s'", a->node, what);
}

static int over(struct vm_agent *a, struct diags *d);

/* Whether we were silent for as long as the lease. The agent measures it by the node's clock, which
 * may run by one part in a hundred faster than ours, and in whole ms. */
static bool lease_over(const struct vm_agent *a)
{
    return conn_silence(a->conn) > a->lease_ms - a->lease_ms / 50 - 2;
}

/* Reads Tag, Text, Hint. */
static int read_error(struct vm_agent *a, struct etf *r, struct diags *d)
{
    char tag[ETF_ATOM_MAX];
    struct buf text = BUF_INIT, hint = BUF_INIT;
    etf_atom(r, tag);
    etf_text(r, &text);
    etf_text(r, &hint);
    int e;
    if (r->bad) {
        e = agent_malformed(a, "error", d);
    } else if (strcmp(tag, "AGENT_CLOSED") == 0 && lease_over(a)) {
        e = over(a, d);
    } else {
        e = diag_error(d, err_of_tag(tag), NULL, tag, hint.len ? buf_str(&hint) : NULL, "%s",
                       buf_str(&text));
        a->ended |= e == ET_ELOST;
    }
    buf_free(&text);
    buf_free(&hint);
    return e;
}

/* Reports that the trace is over without a reason from the agent. */
static int over(struct vm_agent *a, struct diags *d)
{
    int64_t silence = conn_silence(a->conn);
    if (a->ended)
        return ET_ELOST;
    a->ended = true;
    if (a->open && lease_over(a))
        return diag_error(
            d, ET_ELOST, NULL, "NODE_LEASE",
            "erltrace was stopped, or its machine slept; start it again (-x lease= lets it be "
            "silent for longer). Everything was removed from the node",
            "%s ended the trace: it had not heard from this process for %.1f s (it waits %.1f s)",
            a->node, (double)silence / 1000, a->lease_ms / 1000.0);
    if (conn_lost(a->conn)[0])
        return diag_error(d, ET_ELOST, NULL, "NODE_LOST",
                          "has the node ended? `erltrace nodes` lists the nodes here",
                          "the connection to %s is gone: %s", a->node, conn_lost(a->conn));
    return diag_error(d, ET_ELOST, NULL, "NODE_LOST",
                      "was the network cut, or the agent killed? The node's log may tell why",
                      "the agent in %s is gone", a->node);
}

int agent_silent(struct vm_agent *a, int timeout_ms, struct diags *d)
{
    if (a->open && lease_over(a))
        return over(a, d);
    return diag_error(d, ET_ENODE, NULL, "NODE_TIMEOUT",
                      "is the node overloaded, or its process stopped?",
                      "no answer from %s within %.0f s", a->node, timeout_ms / 1000.0);
}

void agent_warnings(struct etf *r, struct diags *d)
{
    uint32_t n = etf_list(r);
    for (uint32_t i = 0; i < n && !r->bad; i++) {
        struct buf b = BUF_INIT;
        bool is_note = etf_peek(r) == ETF_TUPLE;
        if (is_note && (etf_tuple(r) != 2 || !etf_atom_is(r, "note")))
            r->bad = true;
        etf_text(r, &b);
        if (!r->bad)
            diag_add(d, is_note ? DIAG_NOTE : DIAG_WARNING, NULL, NULL, NULL, "%s", buf_str(&b));
        buf_free(&b);
    }
    if (n)
        etf_list_end(r);
}

/* -- requests ---------------------------------------------------------------------------------- */

void agent_begin(struct vm_agent *a, struct buf *x, int64_t *id)
{
    *id = a->next_id++;
    *x = (struct buf)BUF_INIT;
    etf_put_version(x);
    etf_put_tuple(x, 4);
    etf_put_atom(x, "erltrace");
    conn_put_self(a->conn, x);
    etf_put_int(x, *id);
}

int agent_send(struct vm_agent *a, struct buf *x, struct diags *d)
{
    int e = a->ended ? ET_ELOST : conn_send(a->conn, &a->pid, x);
    buf_free(x);
    return e ? over(a, d) : 0;
}

/* Reads Serial, [Module]. */
static void read_loads(struct vm_agent *a, struct etf *m)
{
    char name[ETF_ATOM_MAX];
    int64_t serial = etf_int(m);
    uint32_t n = etf_list(m);
    for (uint32_t i = 0; i < n && !m->bad; i++) {
        etf_atom(m, name);
        if (!m->bad && a->loaded)
            a->loaded(a->loaded_arg, name, serial);
    }
}

/* Reads Own, Unit, Done, Total: the agent is doing something that takes long. */
static void read_working(struct vm_agent *a, struct etf *m)
{
    char word[ETF_ATOM_MAX];
    struct tier_progress p = {.fresh = true};
    etf_atom(m, word);
    p.waiting = strcmp(word, "true") != 0;
    etf_atom(m, word);
    p.unit = strcmp(word, "processes") == 0 ? "processes" : "functions";
    p.done = etf_uint(m);
    p.total = etf_uint(m);
    if (m->bad)
        return;
    a->at = p;
    a->told_ms = clock_ms();
}

/* Handles one message; returns true when it is an answer. */
static bool is_answer(struct vm_agent *a, struct etf *m, int64_t *id, bool *ended, struct diags *d)
{
    uint32_t arity = etf_tuple(m);
    if (!etf_atom_is(m, "erltrace"))
        return false;
    if (arity == 3 && etf_peek(m) == ETF_INT) {
        *id = etf_int(m);
        return !m->bad;
    }
    if (arity == 5 && etf_atom_is(m, "ended")) {
        if (!a->ended)
            read_error(a, m, d);
        a->ended = *ended = true;
    } else if (arity == 4 && etf_atom_is(m, "loaded")) {
        read_loads(a, m);
    } else if (arity == 6 && etf_atom_is(m, "working")) {
        read_working(a, m);
    }
    return false;
}

int agent_event(struct vm_agent *a, int timeout_ms, int64_t *id, struct etf *reply, struct diags *d)
{
    int64_t deadline = clock_ms() + timeout_ms;
    bool ended = false;
    for (;;) {
        int got = conn_recv(a->conn, clock_left(deadline), reply);
        if (got == CONN_DOWN) {
            erlang_pid gone;
            etf_pid(reply, &gone);
            /* All are of one node, whose name may have changed. */
            if (gone.num != a->pid.num || gone.serial != a->pid.serial)
                continue; /* one that we dealt with before */
        }
        if (got < 0 || got == CONN_DOWN)
            return over(a, d);
        if (got != CONN_MESSAGE || is_answer(a, reply, id, &ended, d))
            return got;
        if (ended)
            return ET_ELOST;
    }
}

int agent_reply(struct vm_agent *a, struct etf *reply, uint32_t *arity, struct diags *d)
{
    *arity = 0;
    if (etf_peek(reply) == ETF_ATOM)
        return etf_atom_is(reply, "ok") ? 0 : agent_malformed(a, "request", d);
    char tag[ETF_ATOM_MAX];
    *arity = etf_tuple(reply);
    etf_atom(reply, tag);
    if (!reply->bad && *arity == 4 && strcmp(tag, "error") == 0)
        return read_error(a, reply, d);
    if (reply->bad || *arity == 0 || strcmp(tag, "ok") != 0)
        return agent_malformed(a, "request", d);
    --*arity;
    return 0;
}

int64_t agent_heard(const struct vm_agent *a, int64_t since_ms)
{
    return a->told_ms > since_ms ? a->told_ms : since_ms;
}

int64_t agent_waited(const struct vm_agent *a, int64_t since_ms)
{
    return clock_ms() - agent_heard(a, since_ms);
}

int agent_answer(struct vm_agent *a, int64_t id, int timeout_ms, struct etf *reply, uint32_t *arity,
                 struct diags *d)
{
    int64_t begun = clock_ms(), got_id = -1;
    for (;;) {
        int64_t left = timeout_ms - agent_waited(a, begun);
        int slice = left > PROGRESS_MS ? PROGRESS_MS : left > 0 ? (int)left : 0;
        int got = agent_event(a, slice, &got_id, reply, d);
        if (got < 0)
            return got;
        if (got == CONN_MESSAGE && got_id == id)
            return agent_reply(a, reply, arity, d);
        if (a->progress && !a->progress(a->progress_arg, &a->at))
            return ET_EABORT;
        a->at.fresh = false;
        if (got == CONN_NOTHING && agent_waited(a, begun) >= timeout_ms)
            return agent_silent(a, timeout_ms, d);
    }
}

int agent_call(struct vm_agent *a, const char *request, int timeout_ms, struct etf *reply,
               uint32_t *arity, struct diags *d)
{
    struct buf x = BUF_INIT;
    int64_t id;
    agent_begin(a, &x, &id);
    etf_put_atom(&x, request);
    int e = agent_send(a, &x, d);
    return e ? e : agent_answer(a, id, timeout_ms, reply, arity, d);
}

/* -- placing ----------------------------------------------------------------------------------- */

static int read_file(const char *root, const char *rel, struct buf *out, struct diags *d)
{
    char path[4096], chunk[65536];
    const struct embedded *inside = root == embedded_root ? embedded_find(rel) : NULL;
    if (inside != NULL) {
        buf_add(out, inside->text, (size_t)(inside->end - inside->text));
        return out->oom ? diag_error(d, ET_ENOMEM, NULL, "", NULL, "out of memory") : 0;
    }
    snprintf(path, sizeof path, "%s/%s", root, rel);
    errno = ENOENT;
    FILE *f = root != embedded_root ? fopen(path, "re") : NULL; /* no file has what is not inside */
    if (!f)
        return diag_error(d, ET_EIO, NULL, "AGENT_FILES",
                          "it belongs to erltrace: is the installation complete?",
                          "cannot read %s: %m", path);
    for (size_t n; out->len < FILE_MAX && (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(out, chunk, n);
    fclose(f);
    if (out->oom || out->len == 0)
        return diag_error(d, ET_EIO, NULL, "AGENT_FILES", NULL, "cannot read %s", path);
    return 0;
}

/* Returns what is wrong with a library, or NULL. The node's loader trusts the file: a truncated
 * library would be mapped past its end and crash the VM, so it is checked before it is sent. */
static const char *library_fault(const struct buf *lib, const struct processor *m)
{
    struct elf_head e;
    if (!elf_head(&e, lib->data, lib->len) || e.type != ET_DYN)
        return "it is no library";
    if (!e.is64 || e.machine != m->elf)
        return "it was built for another processor";
    return elf_is_whole(&e) ? NULL : "it is truncated";
}

/* Reads the library for the node's processor. */
static int read_library(struct vm_agent *a, const char *root, const struct processor *m,
                        struct buf *lib, struct diags *d)
{
    char rel[64], path[4096];
    const bool ours = processor_is_ours(m);
    snprintf(rel, sizeof rel, LIBRARY, ours ? "" : "-", ours ? "" : m->name);
    snprintf(path, sizeof path, "%s/%s", root, rel);
    if (!ours && (root == embedded_root ? embedded_find(rel) == NULL : access(path, F_OK) != 0))
        return diag_error(d, ET_EOTP, NULL, "OTP_ARCH", m->build,
                          "%s runs on %s; the agent's library for that processor is missing: %s",
                          a->node, m->name, path);
    int e = read_file(root, rel, lib, d);
    const char *fault = e ? NULL : library_fault(lib, m);
    if (fault)
        e = diag_error(d, ET_EIO, NULL, "AGENT_FILES", "install or build erltrace again", "%s: %s",
                       path, fault);
    return e;
}

/* Calls through rex. */
static int rpc(struct vm_agent *a, const char *mod, const char *fun, struct buf *args,
               int timeout_ms, struct etf *r, struct diags *d)
{
    int e = conn_call(a->conn, mod, fun, args, timeout_ms, r);
    buf_free(args);
    if (e == ET_ELOST)
        return over(a, d);
    return e ? agent_silent(a, timeout_ms, d) : 0;
}

/* Calls a function of the node that takes one name. */
static int ask_of(struct vm_agent *a, const char *mod, const char *fun, const char *name,
                  int timeout_ms, struct etf *r, struct diags *d)
{
    struct buf x = BUF_INIT;
    etf_put_list(&x, 1);
    etf_put_atom(&x, name);
    etf_put_nil(&x);
    return rpc(a, mod, fun, &x, timeout_ms, r, d);
}

/* Gets erlang:system_info(Item) as text. */
static int system_info(struct vm_agent *a, const char *item, struct buf *out, struct diags *d)
{
    struct etf r;
    int e = ask_of(a, "erlang", "system_info", item, RPC_MS, &r, d);
    buf_reset(out);
    if (e == 0)
        etf_text(&r, out);
    return e ? e : r.bad ? agent_malformed(a, item, d) : 0;
}

/* Checks release and processor; *m is the latter. */
static int check_target(struct vm_agent *a, const struct processor **m, struct diags *d)
{
    struct buf b = BUF_INIT;
    int e = system_info(a, "otp_release", &b, d);
    if (e == 0 && !otp_has(atoi(buf_str(&b)), OTP_SUPPORTED))
        e = diag_error(d, ET_EOTP, NULL, "OTP_OLD", "erltrace needs OTP 25 or newer",
                       "%s runs OTP %s", a->node, buf_str(&b));
    if (e == 0)
        e = system_info(a, "system_architecture", &b, d);
    if (e == 0 && (*m = processor_of_node(buf_str(&b))) == NULL)
        e = diag_error(d, ET_EOTP, NULL, "OTP_ARCH",
                       "erltrace traces nodes on Linux, on x86_64 and aarch64", "%s runs on %s",
                       a->node, buf_str(&b));
    buf_free(&b);
    return e;
}

/* Asks whether the agent is active in the node. */
static int in_use(struct vm_agent *a, bool *yes, struct diags *d)
{
    struct buf x = BUF_INIT;
    struct etf r;
    etf_put_nil(&x);
    int e = rpc(a, MODULE, "vsn", &x, LOAD_MS, &r, d);
    *yes = e == 0 && etf_peek(&r) == ETF_BINARY;
    return e;
}

/* Takes the lock: only one consumer at a time may load the module. A second load at the same moment
 * would make the first one's agent old code, and a third would purge it. The lock is a sleeping
 * process in the node with a registered name. It is linked to us, so it ends with our connection at
 * the latest. Returns 0, an error, or AGAIN when another consumer has it. */
static int lock(struct vm_agent *a, erlang_pid *holder, struct diags *d)
{
    struct buf x = BUF_INIT;
    struct etf r;
    etf_put_list(&x, 3);
    etf_put_atom(&x, "timer");
    etf_put_atom(&x, "sleep");
    etf_put_list(&x, 1);
    etf_put_int(&x, GLOBAL_LOCK_MS);
    etf_put_nil(&x);
    etf_put_nil(&x);
    int e = rpc(a, "erlang", "spawn", &x, RPC_MS, &r, d);
    if (e)
        return e;
    etf_pid(&r, holder);
    if (r.bad)
        return agent_malformed(a, "spawn", d);
    if (conn_link(a->conn, holder) != 0)
        return over(a, d);
    etf_put_list(&x, 2);
    etf_put_atom(&x, LOCK);
    etf_put_pid(&x, holder);
    etf_put_nil(&x);
    e = rpc(a, "erlang", "register", &x, RPC_MS, &r, d);
    return e ? e : etf_atom_is(&r, "true") ? 0 : AGAIN;
}

static int unlock(struct vm_agent *a, const erlang_pid *holder, struct diags *d)
{
    struct buf x = BUF_INIT;
    struct etf r;
    etf_put_list(&x, 2);
    etf_put_pid(&x, holder);
    etf_put_atom(&x, "kill");
    etf_put_nil(&x);
    return rpc(a, "erlang", "exit", &x, RPC_MS, &r, d);
}

/* Appends the argument of code:atomic_load/1. */
static void put_module(struct buf *x, const struct buf *beam)
{
    etf_put_list(x, 1);
    etf_put_tuple(x, 3);
    etf_put_atom(x, MODULE);
    etf_put_string(x, MODULE ".beam");
    etf_put_binary(x, beam->data, beam->len);
    etf_put_nil(x);
}

static void put_dirs(struct buf *x, const char *dir)
{
    if (dir) {
        etf_put_list(x, 1);
        etf_put_string(x, dir);
    }
    etf_put_nil(x);
}

/* Appends abstract code: {Kind, 1, ...}, of which `n` parts follow. */
static void put_form(struct buf *x, const char *kind, int n)
{
    etf_put_tuple(x, 2 + n);
    etf_put_atom(x, kind);
    etf_put_int(x, 1);
}

/* Appends a clause with one pattern; its body, one expression, and the end of a list follow. */
static void put_clause(struct buf *x, const char *kind, const char *pattern)
{
    put_form(x, "clause", 3);
    etf_put_list(x, 1);
    put_form(x, kind, 1);
    etf_put_atom(x, pattern);
    etf_put_nil(x);
    etf_put_nil(x); /* guards */
    etf_put_list(x, 1);
}

/* Appends the call of a function; its arguments, if any, and the end of a list follow. */
static void put_function(struct buf *x, const char *mod, const char *fun)
{
    put_form(x, "call", 2);
    put_form(x, "remote", 2);
    put_form(x, "atom", 1);
    etf_put_atom(x, mod);
    put_form(x, "atom", 1);
    etf_put_atom(x, fun);
}

/* Appends the call of a function with variables as arguments. */
static void put_call(struct buf *x, const char *mod, const char *fun, const char *const variable[],
                     int n)
{
    put_function(x, mod, fun);
    etf_put_list(x, n);
    for (int i = 0; i < n; i++) {
        put_form(x, "var", 1);
        etf_put_atom(x, variable[i]);
    }
    etf_put_nil(x);
}

/* Reads {error, [{Module, Why}]} from code:atomic_load. Returns an error, or OLD: old code prevents
 * every load. */
static int read_not_loaded(struct vm_agent *a, struct etf *r, struct diags *d)
{
    char word[ETF_ATOM_MAX];
    word[0] = '\0';
    if (etf_list(r) > 0 && etf_tuple(r) == 2) {
        etf_skip(r);
        etf_atom(r, word);
    }
    if (!r->bad && strcmp(word, "not_purged") == 0)
        return OLD;
    return diag_error(d, ET_EAGENT, NULL, "AGENT_LOAD", "does the node allow code to be loaded?",
                      "%s does not load the agent's module%s%s", a->node, word[0] ? ": " : "",
                      word);
}

/* Reads the result of erltrace_agent:attach/2, or of the load before it. Returns 0, an error, AGAIN
 * when the agent has just been removed, or OLD. */
static int read_attached(struct vm_agent *a, struct etf *r, struct diags *d)
{
    char tag[ETF_ATOM_MAX];
    uint32_t n = etf_tuple(r);
    etf_atom(r, tag);
    if (n == 2 && strcmp(tag, "ok") == 0) {
        etf_pid(r, &a->pid);
        return r->bad ? agent_malformed(a, "attach", d) : 0;
    }
    if (n == 4 && strcmp(tag, "error") == 0)
        return read_error(a, r, d);
    if (n == 2 && strcmp(tag, "error") == 0)
        return read_not_loaded(a, r, d);
    return n == 2 && (strcmp(tag, "badrpc") == 0 || strcmp(tag, "EXIT") == 0)
               ? AGAIN
               : agent_malformed(a, "attach", d);
}

/* Calls erltrace_agent:attach/2 alone: the module is already there. */
static int attach(struct vm_agent *a, const struct buf *nif, const char *dir, struct diags *d)
{
    struct buf x = BUF_INIT;
    struct etf r;
    etf_put_list(&x, 2);
    etf_put_binary(&x, nif->data, nif->len);
    put_dirs(&x, dir);
    etf_put_nil(&x);
    int e = rpc(a, MODULE, "attach", &x, SERVER_MS, &r, d);
    return e ? e : read_attached(a, &r, d);
}

/* Purges old code of the module; the agent is not active, so it serves no consumer. Its guard,
 * which undoes what the agent did, may be running it; that is waited for, up to a limit. Returns
 * AGAIN or an error. */
static int purge(struct vm_agent *a, bool in_use_too, struct diags *d)
{
    struct etf r;
    int e = ask_of(a, "code", in_use_too ? "purge" : "soft_purge", MODULE, LOAD_MS, &r, d);
    return e ? e : AGAIN;
}

/* Asks whether a process has that registered name. */
static int is_registered(struct vm_agent *a, const char *name, bool *yes, struct diags *d)
{
    struct etf r;
    int e = ask_of(a, "erlang", "whereis", name, RPC_MS, &r, d);
    *yes = e == 0 && etf_peek(&r) == ETF_PID;
    return e;
}

/* Asks whether there is old code, which prevents every load. This must be known beforehand: before
 * OTP 27 a load that is refused because of old code removes all breakpoints from the current code
 * but keeps their count, and the next load aborts an emulator built with assertions. */
static int old_code(struct vm_agent *a, bool *yes, struct diags *d)
{
    struct etf r;
    int e = ask_of(a, "erlang", "check_old_code", MODULE, RPC_MS, &r, d);
    *yes = e == 0 && etf_atom_is(&r, "true");
    return e;
}

/* Evaluates, in one process of the node,
 *
 *     case register(L, self()) of
 *         true ->
 *             case whereis(K) of
 *                 H ->
 *                     case code:atomic_load(M) of
 *                         ok -> catch erltrace_agent:attach(N, D);
 *                         E -> E
 *                     end
 *             end
 *     end
 *
 * so that a consumer that dies in between, or whose connection is cut, leaves no module behind that
 * nothing would remove. If the module cannot be loaded, the existing one is not called: it is left
 * from an earlier agent, and may still have its library.
 *
 * The lock (K) ends with us or when its time is over, but the node continues an evaluation that it
 * has begun. The evaluating process therefore takes a registered name (L), and then checks that the
 * lock is still ours (H). A process that removes the module checks in the opposite order: it takes
 * the lock, then checks whether L is registered. So nothing is loaded while the module is being
 * removed. An expression that fails is a {badrpc, Reason}. Returns 0, an error, AGAIN or OLD. */
static int load_and_attach(struct vm_agent *a, const struct buf *beam, const struct buf *nif,
                           const char *dir, const erlang_pid *holder, struct diags *d)
{
    struct buf x = BUF_INIT;
    struct etf r;
    etf_put_list(&x, 5);
    put_form(&x, "case", 2);
    put_function(&x, "erlang", "register");
    etf_put_list(&x, 2);
    put_form(&x, "atom", 1);
    etf_put_atom(&x, LOADING);
    put_function(&x, "erlang", "self");
    etf_put_nil(&x);
    etf_put_nil(&x);
    etf_put_list(&x, 1);
    put_clause(&x, "atom", "true");
    put_form(&x, "case", 2);
    put_call(&x, "erlang", "whereis", (const char *const[]){"K"}, 1);
    etf_put_list(&x, 1);
    put_clause(&x, "var", "H");
    put_form(&x, "case", 2);
    put_call(&x, "code", "atomic_load", (const char *const[]){"M"}, 1);
    etf_put_list(&x, 2);
    put_clause(&x, "atom", "ok");
    put_form(&x, "catch", 1);
    put_call(&x, MODULE, "attach", (const char *const[]){"N", "D"}, 2);
    etf_put_nil(&x);
    put_clause(&x, "var", "E");
    put_form(&x, "var", 1);
    etf_put_atom(&x, "E");
    for (int i = 0; i < 6; i++) /* for each case: its last clause's body, its clauses */
        etf_put_nil(&x);
    etf_put_list(&x, 5); /* the variables, sorted */
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "D");
    put_dirs(&x, dir);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "H");
    etf_put_pid(&x, holder);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "K");
    etf_put_atom(&x, LOCK);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "M");
    put_module(&x, beam);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "N");
    etf_put_binary(&x, nif->data, nif->len);
    etf_put_nil(&x);
    etf_put_atom(&x, "none");
    etf_put_atom(&x, "none");
    etf_put_atom(&x, "value"); /* only the value is returned, without the variables */
    etf_put_nil(&x);
    int e = rpc(a, "erl_eval", "expr", &x, SERVER_MS, &r, d);
    return e ? e : read_attached(a, &r, d);
}

/* Sends {open, LeaseMs}. Returns 0, an error, or AGAIN: the agent was removed before it knew us. */
static int open_consumer(struct vm_agent *a, int lease_ms, struct etf *info, uint32_t *arity,
                         struct diags *d)
{
    struct diags mine;
    struct buf x = BUF_INIT;
    int64_t id;
    if (conn_link(a->conn, &a->pid) != 0)
        return over(a, d);
    agent_begin(a, &x, &id);
    etf_put_tuple(&x, 2);
    etf_put_atom(&x, "open");
    etf_put_int(&x, lease_ms);
    diags_init(&mine); /* what is retried need not be reported */
    int e = agent_send(a, &x, &mine);
    if (e == 0)
        e = agent_answer(a, id, SERVER_MS, info, arity, &mine);
    if (e == ET_ELOST && !conn_lost(a->conn)[0]) {
        a->ended = false;
        e = AGAIN;
    }
    for (size_t i = 0; e < 0 && i < mine.count; i++)
        diag_add(d, mine.list[i].severity, NULL, mine.list[i].tag, mine.list[i].hint, "%s",
                 mine.list[i].text);
    diags_free(&mine);
    a->open = e == 0;
    return e;
}

/* Makes one attempt. Returns 0, an error, or AGAIN. waited: ms spent on attempts so far; processes
 * that run old code may continue for a while. */
static int place(struct vm_agent *a, const struct buf *beam, const struct buf *nif,
                 const struct agent_options *opt, int64_t waited, struct etf *info, uint32_t *arity,
                 struct diags *d)
{
    erlang_pid holder;
    bool used, guarded = false, loading = false, old = false, locked = false;
    int e = in_use(a, &used, d);
    if (e == 0 && !used) {
        e = lock(a, &holder, d);
        locked = e == 0 || e == AGAIN; /* the process exists in either case */
        if (e == 0)
            e = in_use(a, &used, d);
    }
    /* The guard needs the library, so nothing is loaded in its place until it is done. */
    if (e == 0 && !used && waited < GUARD_MS)
        e = is_registered(a, GUARD, &guarded, d);
    /* A load by a consumer that has meanwhile disappeared. */
    if (e == 0 && !used && !guarded)
        e = is_registered(a, LOADING, &loading, d);
    if (guarded || loading)
        e = AGAIN;
    if (e == 0 && !used)
        e = old_code(a, &old, d);
    if (old)
        e = OLD;
    if (e == 0)
        e = used ? attach(a, nif, opt->dir, d)
                 : load_and_attach(a, beam, nif, opt->dir, &holder, d);
    if (e == OLD)
        e = purge(a, waited >= OLD_MS, d);
    if (locked) {
        int u = unlock(a, &holder, d);
        e = e ? e : u;
    }
    return e ? e : open_consumer(a, opt->lease_ms, info, arity, d);
}

int agent_open(struct vm_agent *a, struct conn *conn, const struct agent_options *opt,
               struct etf *info, uint32_t *arity, struct diags *d)
{
    struct buf beam = BUF_INIT, nif = BUF_INIT;
    int64_t begun = clock_ms(), deadline = begun + PLACE_MS;
    const struct processor *m;
    memset(a, 0, sizeof *a);
    a->conn = conn;
    a->next_id = 1;
    a->lease_ms = opt->lease_ms;
    snprintf(a->node, sizeof a->node, "%s", opt->node);
    int e = check_target(a, &m, d);
    if (e == 0)
        e = read_file(opt->root, BEAM, &beam, d);
    if (e == 0)
        e = read_library(a, opt->root, m, &nif, d);
    for (int pause = BACKOFF_MS; e == 0;) {
        e = place(a, &beam, &nif, opt, clock_ms() - begun, info, arity, d);
        if (e != AGAIN)
            break;
        if (clock_ms() > deadline) {
            e = diag_error(d, ET_EAGENT, NULL, "AGENT_BUSY", "try again in a moment",
                           "the agent in %s was removed at each attempt to attach", a->node);
            break;
        }
        /* Random, so that consumers that collided do not collide again. */
        poll(NULL, 0, pause + (int)(clock_ns() / 1000 % pause));
        pause = pause < 100 ? pause * 2 : pause;
        e = 0;
    }
    buf_free(&beam);
    buf_free(&nif);
    return e;
}
