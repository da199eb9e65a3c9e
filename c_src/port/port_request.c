/* port_request.c - requests of the owner: a table of their names and forms, with one function each.
 *
 * A reader that trusts nothing (etf.h) reads each request twice: first it skips the whole, so that
 * a malformed term never gets further, then it reads part by part. Texts go to the library as C
 * strings, so a text with a NUL in it is rejected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "port/port.h"
#include "port/port_terms.h"
#include "etf/write.h"
#include "util/buftext.h"

enum {
    ANSWER_BYTES = 1 << 20, /* of items in one answer; the last one may exceed it */
    STOP_SLICE_MS = 100,
    ARGS_MOST = 1000
};

/* How a request ended. */
enum outcome {
    OUT_OK,      /* {ok, Term}, or ok if the value is empty */
    OUT_FAILED,  /* the library has an error text */
    OUT_REFUSED, /* malformed: {error, #{code := request}}; p->value holds the text */
    OUT_STATE,   /* not possible now; likewise */
    OUT_ENDED,   /* another request has ended it; likewise */
    OUT_LATER,   /* the answer comes when it is due */
    OUT_CLOSED,  /* ok, and the program ends */
    OUT_VERSION  /* unknown protocol version: an error, and the program ends; likewise */
};

/* -- answers ----------------------------------------------------------------------------------- */

/* Sends {reply, Ref, Result, Diags}; the value is Term. */
static void answer(struct port *p, int64_t ref, enum outcome out)
{
    struct buf head = BUF_INIT, tail = BUF_INIT;
    const struct buf *term = NULL;
    etf_put_version(&head);
    etf_put_tuple(&head, 4);
    etf_put_atom(&head, "reply");
    etf_put_int(&head, ref);
    if (out == OUT_OK && p->value.len > 0) {
        etf_put_tuple(&head, 2);
        etf_put_atom(&head, "ok");
        term = &p->value;
    } else if (out == OUT_OK || out == OUT_CLOSED) {
        etf_put_atom(&head, "ok");
    } else {
        int err = erltrace_errno(p->h);
        etf_put_tuple(&head, 2);
        etf_put_atom(&head, "error");
        if (out == OUT_FAILED)
            port_put_error(&head, port_code(err), erltrace_errmsg(p->h, err));
        else
            port_put_error(&head,
                           out == OUT_STATE     ? "state"
                           : out == OUT_ENDED   ? "abort"
                           : out == OUT_VERSION ? "version"
                                                : "request",
                           buf_str(&p->value));
    }
    size_t at = etf_list_begin(&tail);
    buf_add(&tail, p->diags.data, p->diags.len);
    etf_list_finish(&tail, at, p->ndiags);
    if (term != NULL)
        buf_add(&head, term->data, term->len);
    if (head.oom || tail.oom || p->value.oom || p->diags.oom)
        p->no_memory = true;
    else
        port_io_put(p->io, &head, &tail);
    buf_free(&head);
    buf_free(&tail);
    buf_reset(&p->diags);
    p->ndiags = 0;
    if (p->value.cap > 16 * ANSWER_BYTES)
        buf_free(&p->value);
    buf_reset(&p->value);
}

void port_fatal(struct port *p, const char *code, const char *why)
{
    struct buf b = BUF_INIT;
    etf_put_version(&b);
    etf_put_tuple(&b, 2);
    etf_put_atom(&b, "fatal");
    port_put_error(&b, code, why);
    if (!b.oom)
        port_io_put(p->io, &b, NULL);
    buf_free(&b);
    fprintf(stderr, "erltrace: port: %s\n", why);
    p->over = true;
    p->code = strcmp(code, "nomem") == 0 ? EXIT_ERROR : EXIT_USAGE;
}

static enum outcome refuse(struct port *p, enum outcome out, const char *why)
{
    buf_reset(&p->value);
    buf_adds(&p->value, why);
    return out;
}

/* -- parts of requests ------------------------------------------------------------------------- */

/* Reads a text. Returns false if it is not one, or contains a NUL. */
static bool text(struct etf *r, struct buf *out)
{
    buf_reset(out);
    etf_text(r, out);
    return !r->bad && !out->oom && (out->len == 0 || memchr(out->data, '\0', out->len) == NULL);
}

/* Reads a text or the atom `none`; then sets *none. */
static bool text_or_none(struct etf *r, struct buf *out, bool *none)
{
    struct etf look = *r;
    char atom[ETF_ATOM_MAX];
    *none = etf_peek(r) == ETF_ATOM && etf_atom(&look, atom) > 0 && strcmp(atom, "none") == 0;
    return text(r, out);
}

/* A list of texts as an array that ends with NULL, preceded by $0. Its strings are in `all`. */
struct words {
    struct buf all;
    char *word[ARGS_MOST + 2];
    int n;
};

static bool words(struct etf *r, const char *zero, struct words *w)
{
    struct buf one = BUF_INIT;
    size_t at[ARGS_MOST + 1] = {0};
    if (etf_peek(r) == ETF_STRING) /* a list of small integers is not a list of texts */
        return false;
    uint32_t n = etf_list(r);
    bool ok = n <= ARGS_MOST;
    buf_add(&w->all, zero, strlen(zero) + 1);
    for (w->n = 1; ok && (uint32_t)w->n <= n; w->n++) {
        ok = text(r, &one);
        at[w->n] = w->all.len;
        buf_add(&w->all, buf_str(&one), one.len + 1);
    }
    if (n > 0)
        etf_list_end(r);
    buf_free(&one);
    for (int i = 0; ok && i < w->n && !w->all.oom; i++)
        w->word[i] = w->all.data + at[i];
    return ok && !r->bad && !w->all.oom;
}

/* -- the session ------------------------------------------------------------------------------- */

static bool hello_option(struct port *p, struct etf *r, struct buf *b)
{
    char key[ETF_ATOM_MAX];
    if (etf_tuple(r) != 2)
        return false;
    etf_atom(r, key);
    if (strcmp(key, "queue") == 0) {
        uint64_t limit = etf_uint(r);
        if (r->bad || limit > SIZE_MAX / 4)
            return false;
        port_queue_init(&p->queue, (size_t)limit);
        return true;
    }
    if (!text(r, b))
        return false;
    if (strcmp(key, "cookie") == 0)
        return erltrace_set_cookie(p->h, buf_str(b), NULL) == 0;
    if (strcmp(key, "tls_from_node") == 0)
        return strcmp(buf_str(b), "true") == 0 && erltrace_set_tls(p->h, key + 4, NULL) == 0;
    if (strncmp(key, "tls_", 4) == 0)
        return erltrace_set_tls(p->h, key + 4, buf_str(b)) == 0;
    if (strcmp(key, "root") == 0)
        return erltrace_set_root(p->h, buf_str(b)) == 0;
    if (strcmp(key, "agent_dir") == 0)
        return erltrace_set_agent_dir(p->h, buf_str(b)) == 0;
    return false;
}

static enum outcome do_hello(struct port *p, struct etf *r)
{
    char why[160];
    struct buf b = BUF_INIT;
    bool ok = true;
    int64_t version = etf_int(r);
    if (p->greeted)
        return refuse(p, OUT_STATE, "hello has already been received");
    if (r->bad || version != PORT_PROTOCOL) {
        snprintf(why, sizeof why,
                 "erltrace %s speaks version %d of the port protocol, its owner another one: are "
                 "the application and the program from the same build?",
                 erltrace_version(), PORT_PROTOCOL);
        return refuse(p, OUT_VERSION, why);
    }
    uint32_t n = etf_list(r);
    for (uint32_t i = 0; ok && i < n; i++)
        ok = hello_option(p, r, &b);
    if (n > 0)
        etf_list_end(r);
    buf_free(&b);
    if (!ok || r->bad)
        return refuse(p, OUT_REFUSED, "an option of hello is unknown or malformed");
    p->greeted = true;
    etf_put_map(&p->value, 4);
    etf_put_atom(&p->value, "protocol");
    etf_put_int(&p->value, PORT_PROTOCOL);
    etf_put_atom(&p->value, "version");
    etf_put_text(&p->value, erltrace_version());
    etf_put_atom(&p->value, "image");
    etf_put_int(&p->value, erltrace_image_version());
    etf_put_atom(&p->value, "pid");
    etf_put_int(&p->value, getpid());
    return OUT_OK;
}

static enum outcome done(int rc)
{
    return rc == 0 ? OUT_OK : OUT_FAILED;
}

static enum outcome do_setopt(struct port *p, struct etf *r)
{
    struct buf name = BUF_INIT, value = BUF_INIT;
    bool none = false, ok = text(r, &name);
    if (ok && etf_peek(r) == ETF_INT)
        buf_printf(&value, "%lld", (long long)etf_int(r));
    else
        ok = ok && text_or_none(r, &value, &none);
    enum outcome out = OUT_REFUSED;
    if (ok && !r->bad) {
        out = done(erltrace_setopt(p->h, buf_str(&name), none ? NULL : buf_str(&value)));
        const char *hint = out == OUT_FAILED ? erltrace_setopt_hint(p->h, buf_str(&name)) : NULL;
        if (hint != NULL) {
            port_put_hint(&p->diags, buf_str(&name), erltrace_errmsg(p->h, erltrace_errno(p->h)),
                          hint);
            p->ndiags++;
        }
    } else {
        refuse(p, OUT_REFUSED, "setopt needs a name, and a text, an integer or none");
    }
    buf_free(&name);
    buf_free(&value);
    return out;
}

static enum outcome do_getopt(struct port *p, struct etf *r)
{
    struct buf name = BUF_INIT;
    int64_t value;
    enum outcome out = text(r, &name) ? done(erltrace_getopt(p->h, buf_str(&name), &value))
                                      : refuse(p, OUT_REFUSED, "getopt needs a name");
    buf_free(&name);
    if (out == OUT_OK && value == ERLTRACE_OPT_UNSET)
        etf_put_atom(&p->value, "unset");
    else if (out == OUT_OK)
        etf_put_int(&p->value, value);
    return out;
}

/* -- targets ----------------------------------------------------------------------------------- */

/* Reads a process id; returns 0 if it is none. */
static pid_t process(struct etf *r)
{
    int64_t pid = etf_int(r);
    return !r->bad && pid > 0 && pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* With its process, or without. */
static enum outcome by_relay(struct port *p, struct etf *r, bool known)
{
    struct buf name = BUF_INIT;
    enum outcome out;
    uint64_t n = etf_uint(r);
    bool ok = !r->bad && n < PORT_RELAYS && text(r, &name);
    const pid_t pid = ok && known ? process(r) : 0;
    if (!ok || (known && pid == 0)) {
        out = refuse(p, OUT_REFUSED,
                     "a relay has a number from 0 to 255, a node's name, and perhaps its process "
                     "id");
    } else {
        int fd = port_io_relay(p->io, (unsigned)n);
        out = fd < 0 ? refuse(p, OUT_REFUSED,
                              errno == EEXIST ? "the relay is in use" : "no socket for the relay")
                     : done(erltrace_target_relay(p->h, buf_str(&name), fd));
        if (out == OUT_OK && known)
            out = done(erltrace_set_process(p->h, pid));
    }
    buf_free(&name);
    return out;
}

/* A node, or all nodes of its cluster. */
static enum outcome by_node(struct port *p, struct etf *r, bool cluster)
{
    struct buf name = BUF_INIT, cookie = BUF_INIT;
    bool none = false;
    bool ok = text(r, &name) && text_or_none(r, &cookie, &none);
    const char *secret = none ? NULL : buf_str(&cookie);
    enum outcome out = !ok       ? refuse(p, OUT_REFUSED, "a node has a name, and a cookie or none")
                       : cluster ? done(erltrace_target_cluster(p->h, buf_str(&name), secret))
                                 : done(erltrace_target_node(p->h, buf_str(&name), secret));
    if (cookie.data != NULL)
        explicit_bzero(cookie.data, cookie.cap);
    buf_free(&name);
    buf_free(&cookie);
    return out;
}

static enum outcome do_target(struct port *p, struct etf *r)
{
    char what[ETF_ATOM_MAX];
    uint32_t n = etf_peek(r) == ETF_ATOM ? 0 : etf_tuple(r);
    etf_atom(r, what);
    if (!r->bad && n == 0 && strcmp(what, "local") == 0)
        return done(erltrace_target_local(p->h));
    if (!r->bad && n == 0 && strcmp(what, "kernel") == 0)
        return done(erltrace_target_kernel(p->h));
    if (!r->bad && (n == 3 || n == 4) && strcmp(what, "relay") == 0)
        return by_relay(p, r, n == 4);
    if (!r->bad && n == 3 && (strcmp(what, "node") == 0 || strcmp(what, "cluster") == 0))
        return by_node(p, r, what[0] == 'c');
    if (!r->bad && n == 2 && strcmp(what, "pid") == 0) {
        const pid_t pid = process(r);
        if (pid > 0)
            return done(erltrace_target_pid(p->h, pid));
    }
    return refuse(p, OUT_REFUSED,
                  "a target is local, kernel, a relay, a node, a cluster or a process id");
}

/* -- programs ---------------------------------------------------------------------------------- */

static enum outcome compiled(struct port *p, erltrace_prog_t *program)
{
    if (program == NULL)
        return OUT_FAILED;
    erltrace_prog_t **more = et_realloc(p->program, (p->nprograms + 1) * sizeof(erltrace_prog_t *));
    if (more == NULL) {
        p->no_memory = true;
        return OUT_OK;
    }
    p->program = more;
    p->program[p->nprograms++] = program;
    etf_put_map(&p->value, 1);
    etf_put_atom(&p->value, "program");
    etf_put_uint(&p->value, p->nprograms);
    return OUT_OK;
}

static bool spec_of(struct etf *r, enum erltrace_spec *spec)
{
    static const char *const names[] = {
        [ERLTRACE_SPEC_SCRIPT] = "script",     [ERLTRACE_SPEC_NAME] = "name",
        [ERLTRACE_SPEC_FUNCTION] = "function", [ERLTRACE_SPEC_MODULE] = "module",
        [ERLTRACE_SPEC_PROVIDER] = "provider", [ERLTRACE_SPEC_ID] = "id",
    };
    char word[ETF_ATOM_MAX];
    etf_atom(r, word);
    for (size_t i = 0; !r->bad && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i]) == 0) {
            *spec = (enum erltrace_spec)i;
            return true;
        }
    }
    return false;
}

static enum outcome do_compile(struct port *p, struct etf *r)
{
    struct buf name = BUF_INIT, script = BUF_INIT;
    struct words *args = et_calloc(1, sizeof *args);
    enum erltrace_spec spec = ERLTRACE_SPEC_SCRIPT;
    bool ok = args != NULL && text(r, &name) && spec_of(r, &spec) && text(r, &script) &&
              words(r, buf_str(&name), args);
    enum outcome out =
        ok ? compiled(p, erltrace_program_strcompile(p->h, buf_str(&name), spec, buf_str(&script),
                                                     args->n, args->word))
           : refuse(p, OUT_REFUSED,
                    "compile needs a name, a kind (script, name ...), a text without NUL and a "
                    "list of texts");
    buf_free(&name);
    buf_free(&script);
    if (args != NULL)
        buf_free(&args->all);
    et_free(args);
    return out;
}

static enum outcome do_compile_file(struct port *p, struct etf *r)
{
    struct buf path = BUF_INIT;
    struct words *args = et_calloc(1, sizeof *args);
    bool ok = args != NULL && text(r, &path) && words(r, buf_str(&path), args);
    enum outcome out =
        ok ? compiled(p, erltrace_program_fcompile(p->h, buf_str(&path), args->n, args->word))
           : refuse(p, OUT_REFUSED, "compile_file needs a path and a list of texts");
    buf_free(&path);
    if (args != NULL)
        buf_free(&args->all);
    et_free(args);
    return out;
}

static enum outcome do_go(struct port *p, struct etf *r)
{
    (void)r;
    if (erltrace_go(p->h) != 0) {
        if (erltrace_status(p->h)->state == ERLTRACE_STATE_FAILED && !p->settled)
            port_settle(p);
        return OUT_FAILED;
    }
    if (erltrace_status(p->h)->state == ERLTRACE_STATE_DONE) {
        port_settle(p);
        return refuse(p, OUT_ENDED, "ended while probes were being placed: nothing was traced");
    }
    etf_put_map(&p->value, 3);
    etf_put_atom(&p->value, "targets");
    etf_put_text(&p->value, erltrace_targets(p->h));
    etf_put_atom(&p->value, "probes");
    etf_put_uint(&p->value, erltrace_status(p->h)->probes);
    etf_put_atom(&p->value, "programs");
    size_t at = etf_list_begin(&p->value);
    for (size_t i = 0; i < p->nprograms; i++)
        etf_put_uint(&p->value, erltrace_program_info(p->h, p->program[i])->matches);
    etf_list_finish(&p->value, at, (uint32_t)p->nprograms);
    return OUT_OK;
}

static enum outcome do_go_and_tell(struct port *p, struct etf *r)
{
    if (!etf_atom_is(r, "progress"))
        return refuse(p, OUT_REFUSED, "go has no argument, or the atom progress");
    p->progress = true;
    enum outcome out = do_go(p, r);
    p->progress = false;
    return out;
}

/* -- results ----------------------------------------------------------------------------------- */

/* The entries of one aggregation, in order of arrival. */
struct group {
    uint32_t id, n;
    const char *name;
    struct buf entries;
};
struct walk {
    struct group *group; /* by id; ngroups of them */
    size_t ngroups;
    bool take, no_memory;
};

static int on_aggr(const struct erltrace_aggr *a, void *arg)
{
    struct walk *w = arg;
    if (a->id >= w->ngroups) {
        struct group *more = et_realloc(w->group, (a->id + 1ul) * sizeof *more);
        if (more == NULL) {
            w->no_memory = true;
            return ERLTRACE_WALK_ABORT;
        }
        memset(more + w->ngroups, 0, (a->id + 1 - w->ngroups) * sizeof *more);
        w->group = more;
        w->ngroups = a->id + 1ul;
    }
    struct group *g = &w->group[a->id];
    g->name = a->name;
    g->n++;
    port_put_aggr(&g->entries, a);
    return w->take ? ERLTRACE_WALK_REMOVE : ERLTRACE_WALK_NEXT;
}

static void put_groups(struct port *p, struct walk *w)
{
    uint32_t n = 0;
    etf_put_map(&p->value, 2);
    etf_put_atom(&p->value, "state");
    port_put_state(&p->value, erltrace_status(p->h)->state);
    etf_put_atom(&p->value, "aggregations");
    size_t list = etf_list_begin(&p->value);
    for (size_t i = 0; i < w->ngroups; i++) {
        struct group *g = &w->group[i];
        if (g->n == 0)
            continue;
        n++;
        etf_put_tuple(&p->value, 2);
        etf_put_text(&p->value, g->name);
        size_t at = etf_list_begin(&p->value);
        buf_add(&p->value, g->entries.data, g->entries.len);
        etf_list_finish(&p->value, at, g->n);
        w->no_memory = w->no_memory || g->entries.oom;
    }
    etf_list_finish(&p->value, list, n);
}

static enum outcome do_walk(struct port *p, struct etf *r)
{
    char mode[ETF_ATOM_MAX];
    struct walk w = {0};
    etf_atom(r, mode);
    w.take = strcmp(mode, "take") == 0;
    if (r->bad || (!w.take && strcmp(mode, "keep") != 0))
        return refuse(p, OUT_REFUSED, "walk takes one of the atoms keep and take");
    int rc = 0;
    if (!p->settled)
        rc = erltrace_aggregate_snap(p->h);
    if (rc != 0 && !p->settled && erltrace_status(p->h)->state == ERLTRACE_STATE_FAILED)
        port_settle(p);
    if (rc == 0)
        rc = erltrace_aggregate_walk(p->h, ERLTRACE_SORT_OPTIONS, on_aggr, &w);
    if (rc == 0)
        put_groups(p, &w);
    p->no_memory = p->no_memory || w.no_memory;
    for (size_t i = 0; i < w.ngroups; i++)
        buf_free(&w.group[i].entries);
    et_free(w.group);
    return done(rc);
}

/* Reports what the queue has dropped since the last report. */
static uint32_t put_queue_drops(struct port *p)
{
    char why[96];
    uint64_t n = p->queue.dropped - p->queue.told;
    if (n == 0)
        return 0;
    p->queue.told = p->queue.dropped;
    snprintf(why, sizeof why, "%llu records that were not consumed in time", (unsigned long long)n);
    port_put_event(&p->value, EVENT_DROP,
                   &(struct erltrace_drop){.message = why,
                                           .kind = "QUEUE",
                                           .count = n,
                                           .total = p->queue.dropped,
                                           .node = "",
                                           .cpu = -1});
    return 1;
}

static void put_items(struct port *p, int64_t most)
{
    const void *item;
    size_t len;
    uint32_t n = 0;
    etf_put_map(&p->value, 3);
    etf_put_atom(&p->value, "state");
    port_put_state(&p->value, erltrace_status(p->h)->state);
    etf_put_atom(&p->value, "items");
    size_t at = etf_list_begin(&p->value);
    while (n < most && p->value.len < ANSWER_BYTES &&
           (item = port_queue_take(&p->queue, &len)) != NULL) {
        buf_add(&p->value, item, len);
        n++;
    }
    if (n < most &&
        p->queue.n == 0) /* they were dropped after the items here, so they are reported last */
        n += put_queue_drops(p);
    etf_list_finish(&p->value, at, n);
    etf_put_atom(&p->value, "more");
    etf_put_atom(&p->value, p->queue.n > 0 || p->queue.dropped > p->queue.told ? "true" : "false");
}

static bool has_items(const struct port *p)
{
    return p->queue.n > 0 || p->queue.dropped > p->queue.told;
}

static void answer_waiting(struct port *p)
{
    p->waiting.on = false;
    put_items(p, p->waiting.most);
    answer(p, p->waiting.ref, OUT_OK);
}

void port_answer_waiting(struct port *p)
{
    if (p->waiting.on && (has_items(p) || p->settled || port_now_ms() >= p->waiting.until))
        answer_waiting(p);
}

static enum outcome do_consume(struct port *p, struct etf *r)
{
    int64_t most = etf_int(r), wait_ms = etf_int(r);
    if (r->bad || most < 1 || wait_ms < 0)
        return refuse(p, OUT_REFUSED, "consume needs a number, at least 1, and a time in ms");
    if (!port_has_begun(p))
        return refuse(p, OUT_STATE, "it is too early for this");
    port_work(p, 0);
    if (most > UINT32_MAX)
        most = UINT32_MAX;
    if (has_items(p) || p->settled || wait_ms == 0) {
        put_items(p, most);
        return OUT_OK;
    }
    p->waiting.on = true;
    p->waiting.most = most;
    p->waiting.until = port_now_ms() + (wait_ms < INT32_MAX ? wait_ms : INT32_MAX);
    return OUT_LATER;
}

struct clock_list {
    struct buf *out;
    uint32_t n;
};

static int put_clock(const struct erltrace_clock *c, void *arg)
{
    struct clock_list *l = arg;
    etf_put_map(l->out, 1u + (c->known ? 2 : 0) + (c->wall_known ? 2 : 0));
    etf_put_atom(l->out, "node");
    etf_put_text(l->out, c->node);
    if (c->known) {
        etf_put_atom(l->out, "offset");
        etf_put_int(l->out, c->offset);
        etf_put_atom(l->out, "error");
        etf_put_uint(l->out, c->error);
    }
    if (c->wall_known) {
        etf_put_atom(l->out, "wall_offset");
        etf_put_int(l->out, c->wall_offset);
        etf_put_atom(l->out, "wall_error");
        etf_put_uint(l->out, c->wall_error);
    }
    l->n++;
    return 0;
}

static enum outcome do_status(struct port *p, struct etf *r)
{
    const struct erltrace_status *s = erltrace_status(p->h);
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"lost", s->lost},       {"probes", s->probes},
        {"fired", s->fired},     {"recorded", s->recorded},
        {"updates", s->updates}, {"errors", s->errors},
        {"drops", s->drops},     {"overloaded", s->overloaded},
        {"queued", p->queue.n},  {"queue_drops", p->queue.dropped},
        {"filled", s->filled},
    };
    uint32_t n = sizeof numbers / sizeof numbers[0];
    bool failed = s->state == ERLTRACE_STATE_FAILED;
    (void)r;
    etf_put_map(&p->value, n + 5 + failed);
    for (uint32_t i = 0; i < n; i++) {
        etf_put_atom(&p->value, numbers[i].key);
        etf_put_uint(&p->value, numbers[i].value);
    }
    etf_put_atom(&p->value, "state");
    port_put_state(&p->value, s->state);
    etf_put_atom(&p->value, "exited");
    etf_put_atom(&p->value, s->exited ? "true" : "false");
    etf_put_atom(&p->value, "status");
    etf_put_int(&p->value, s->status);
    etf_put_atom(&p->value, "targets");
    etf_put_text(&p->value, erltrace_targets(p->h));
    etf_put_atom(&p->value, "clocks");
    struct clock_list clocks = {&p->value, 0};
    size_t list = etf_list_begin(&p->value);
    if (port_has_begun(p) && !failed)
        erltrace_clock_iter(p->h, put_clock, &clocks);
    etf_list_finish(&p->value, list, clocks.n);
    if (failed) {
        etf_put_atom(&p->value, "error");
        port_put_error(&p->value, port_code(p->failure), buf_str(&p->failure_text));
    }
    return OUT_OK;
}

/* -- ends -------------------------------------------------------------------------------------- */

static enum outcome do_stop(struct port *p, struct etf *r)
{
    (void)r;
    if (p->settled)
        return OUT_OK;
    if (erltrace_stop(p->h) != 0)
        return OUT_FAILED;
    while (!p->settled && !port_is_alone(p))
        port_work(p, STOP_SLICE_MS);
    return OUT_OK;
}

static enum outcome do_close(struct port *p, struct etf *r)
{
    (void)r;
    if (p->waiting.on) /* so that no request stays unanswered */
        answer_waiting(p);
    erltrace_close(p->h);
    p->h = NULL;
    return OUT_CLOSED;
}

/* -- one request ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint32_t arity; /* of the tuple; 0: the name alone */
    enum outcome (*run)(struct port *p, struct etf *r);
} requests[] = {
    {"hello", 3, do_hello},     {"setopt", 3, do_setopt},   {"getopt", 2, do_getopt},
    {"target", 2, do_target},   {"compile", 5, do_compile}, {"compile_file", 3, do_compile_file},
    {"go", 0, do_go},           {"go", 2, do_go_and_tell},  {"walk", 2, do_walk},
    {"consume", 3, do_consume}, {"status", 0, do_status},   {"stop", 0, do_stop},
    {"close", 0, do_close},
};
enum { NREQUESTS = sizeof requests / sizeof requests[0] };

/* Reads {request, Ref, Request}; afterwards r is after the request's name. */
static bool read_head(struct etf *r, int64_t *ref, char *name, uint32_t *arity)
{
    struct etf all;
    etf_version(r);
    all = *r;
    etf_skip(&all);
    if (all.bad || all.p != all.end)
        return false;
    if (etf_tuple(r) != 3 || !etf_atom_is(r, "request"))
        return false;
    *ref = etf_int(r);
    *arity = etf_peek(r) == ETF_TUPLE ? etf_tuple(r) : 0;
    etf_atom(r, name);
    return !r->bad;
}

bool port_request_ends(const void *term, size_t n)
{
    char name[ETF_ATOM_MAX];
    struct etf r = etf_over(term, n);
    int64_t ref;
    uint32_t arity;
    return read_head(&r, &ref, name, &arity) && arity == 0 &&
           (strcmp(name, "stop") == 0 || strcmp(name, "close") == 0);
}

void port_request(struct port *p, const void *term, size_t n)
{
    char name[ETF_ATOM_MAX];
    struct etf r = etf_over(term, n);
    int64_t ref;
    uint32_t arity;
    size_t i = 0;
    if (!read_head(&r, &ref, name, &arity)) {
        port_fatal(p, "request", "not a request, which has the form {request, Ref, Request}");
        return;
    }
    if (!p->greeted && strcmp(name, "hello") != 0) {
        port_fatal(p, "request", "the first request has to be hello");
        return;
    }
    while (i < NREQUESTS && (strcmp(requests[i].name, name) != 0 || requests[i].arity != arity))
        i++;
    /* A new consume ends the waiting of an earlier one. */
    if (i < NREQUESTS && requests[i].run == do_consume && p->waiting.on)
        answer_waiting(p);
    p->asked = true;
    p->go_ref = ref;
    enum outcome out =
        i < NREQUESTS ? requests[i].run(p, &r) : refuse(p, OUT_REFUSED, "there is no such request");
    p->asked = false;
    if (out == OUT_LATER) {
        p->waiting.ref = ref;
        return;
    }
    answer(p, ref, out);
    if (out == OUT_CLOSED || out == OUT_VERSION) {
        p->over = true;
        p->code = out == OUT_CLOSED ? EXIT_OK : EXIT_USAGE;
    }
}
