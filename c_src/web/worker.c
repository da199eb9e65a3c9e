/* worker.c - see worker.h. */
#include "web/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "util/buftext.h"
#include "util/json.h"
#include "web/pack.h"
#include "web/running.h"

#define SECOND UINT64_C(1000000000)

enum {
    WAITING = 64, /* jobs that may wait, in each queue */
    CATALOGS = 4, /* catalogs kept, */
    LISTS_SECONDS = 60,
    FAILURE_SECONDS = 3
};

struct kept {
    char node[256];
    struct lists *catalog; /* NULL: it could not be made, and diags says why */
    struct diag_list diags;
    uint64_t made_ns; /* 0: unused */
};

struct queue {
    struct worker *worker;
    pthread_t thread;
    bool started;
    struct job *first, **last;
    size_t n;
    struct job *busy; /* the job in progress */
};

struct worker {
    const struct web_config *config;
    void (*wake)(void *arg);
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t more;
    bool ending;
    struct queue queue[2]; /* nodes and checks; what is asked of a node */
    struct job *done, **done_last;
    /* Of the first thread. */
    struct buf nodes;
    uint64_t nodes_ns;
    /* Of the second. */
    struct kept kept[CATALOGS];
};

/* -- answers ----------------------------------------------------------------------------------- */

static void add_node(struct buf *b, const char *name, long pid, const char *otp, bool attachable,
                     const char *why, const char *help)
{
    buf_adds(b, b->data != NULL && b->len > 0 && b->data[b->len - 1] == '}' ? ",{\"node\":"
                                                                            : "{\"node\":");
    json_text(b, name);
    if (pid > 0)
        json_safe_int_field(b, "pid", pid);
    else
        buf_adds(b, ",\"pid\":null");
    json_text_field(b, "otp", otp != NULL && otp[0] != '\0' ? otp : NULL);
    json_bool_field(b, "attachable", attachable);
    json_text_field(b, "why", why != NULL && why[0] != '\0' ? why : NULL);
    json_text_field(b, "help", help != NULL && help[0] != '\0' ? help : NULL);
    buf_addc(b, '}');
}

struct listing {
    const struct web_config *config;
    struct buf *out;
    uint64_t seen; /* bit set of the nodes given to the server */
};

static int on_node(const struct erltrace_node *n, void *arg)
{
    struct listing *l = arg;
    bool wanted = l->config->nnodes == 0;
    for (size_t i = 0; i < l->config->nnodes && i < 64; i++) {
        size_t len = strcspn(n->name, "@");
        const char *given = l->config->node[i];
        if (strcmp(given, n->name) == 0 ||
            (strlen(given) == len && strncmp(given, n->name, len) == 0)) {
            l->seen |= UINT64_C(1) << i;
            wanted = true;
        }
    }
    if (wanted)
        add_node(l->out, n->name, (long)n->pid, n->otp, n->attachable != 0 && n->name[0] != '\0',
                 n->why, n->help);
    return 0;
}

/* Lists the nodes of this host; for the nodes given to the server, includes others, of which
 * nothing is known. */
static void list_nodes(struct worker *w)
{
    struct diag_list diags = {0};
    struct listing l = {w->config, &w->nodes, 0};
    const struct message none = {0};
    if (w->nodes.len > 0 && monotonic_ns() - w->nodes_ns < 2 * SECOND)
        return;
    buf_reset(&w->nodes);
    buf_adds(&w->nodes, "{\"nodes\":[");
    erltrace_t *h = run_open(w->config, &none, 0, &diags);
    if (h != NULL && run_set_access(w->config, h))
        erltrace_node_iter(h, on_node, &l);
    erltrace_close(h);
    for (size_t i = 0; i < w->config->nnodes && i < 64; i++)
        if ((l.seen >> i & 1) == 0)
            add_node(&w->nodes, w->config->node[i], 0, NULL, true, NULL, NULL);
    add_node(&w->nodes, "", (long)getpid(), NULL, true, NULL, NULL);
    buf_adds(&w->nodes, "]}");
    w->nodes_ns = monotonic_ns();
    diag_list_free(&diags);
}

static void do_nodes(struct worker *w, struct job *j)
{
    list_nodes(w);
    buf_add(&j->body, buf_str(&w->nodes), w->nodes.len);
    j->status = 200;
}

static void do_check(struct worker *w, struct job *j)
{
    struct diag_list diags = {0};
    erltrace_t *h = run_open(w->config, &j->m, ERLTRACE_O_CHECK, &diags);
    if (h != NULL)
        run_compile(h, &j->m, &diags);
    erltrace_close(h);
    buf_adds(&j->body, "{\"type\":\"checked\"");
    json_safe_int_field(&j->body, "id", j->m.id);
    buf_adds(&j->body, ",\"diagnostics\":[");
    buf_add(&j->body, buf_str(&diags.text), diags.text.len);
    buf_adds(&j->body, "]}");
    diag_list_free(&diags);
}

/* Returns the catalog of the node, or why there is none. It is at most a minute old, and a failure
 * some seconds, so that a user who types the name of a node that does not answer need not wait at
 * each letter. */
static const struct kept *lists_of(struct worker *w, const char *node)
{
    struct kept *at = &w->kept[0];
    for (struct kept *k = w->kept; k < w->kept + CATALOGS; k++) {
        if (k->made_ns != 0 && strcmp(k->node, node) == 0) {
            uint64_t most = k->catalog != NULL ? LISTS_SECONDS : FAILURE_SECONDS;
            if (monotonic_ns() - k->made_ns < most * SECOND)
                return k;
            at = k;
            break;
        }
        if (k->made_ns < at->made_ns)
            at = k;
    }
    lists_free(at->catalog);
    diag_list_reset(&at->diags);
    snprintf(at->node, sizeof at->node, "%s", node);
    at->catalog = lists_make(w->config, node, &at->diags);
    at->made_ns = monotonic_ns();
    return at;
}

/* Answers with the first error. */
static void put_error(struct job *j, const struct diag_list *diags)
{
    buf_adds(&j->body, "{\"error\":{\"tag\":");
    json_text(&j->body, diags->tag);
    json_text_field(&j->body, "text", diags->first[0] != '\0' ? diags->first : "out of memory");
    if (diags->hint[0] != '\0')
        json_text_field(&j->body, "hint", diags->hint);
    buf_adds(&j->body, "}}");
    j->status = strcmp(diags->tag, "WEB_NODE") == 0 ? 404 : 503;
}

static void do_catalog(struct worker *w, struct job *j)
{
    const struct kept *k = lists_of(w, j->node);
    const struct diag_list *diags = &k->diags;
    if (k->catalog != NULL) {
        lists_list(k->catalog, j->what, j->provider, j->module, j->prefix, j->limit, &j->body);
        j->status = 200;
        return;
    }
    put_error(j, diags);
}

/* A node that does not answer is no error of the script. */
static void do_match(struct worker *w, struct job *j)
{
    const char *node = j->m.node != NULL ? j->m.node : "";
    const struct kept *k = lists_of(w, node);
    struct diag_list diags = {0};
    struct buf b = BUF_INIT;
    buf_adds(&j->body, "{\"type\":\"matched\"");
    json_safe_int_field(&j->body, "id", j->m.id);
    json_text_field(&j->body, "node", node);
    if (k->catalog != NULL) {
        lists_match(k->catalog, w->config, &j->m, &diags, &b);
        buf_addc(&j->body, ',');
        buf_add(&j->body, buf_str(&b), b.len);
    } else {
        json_text_field(&j->body, "error",
                        k->diags.first[0] != '\0' ? k->diags.first : "out of memory");
    }
    buf_adds(&j->body, ",\"diagnostics\":[");
    buf_add(&j->body, buf_str(&diags.text), diags.text.len);
    buf_adds(&j->body, "]}");
    buf_free(&b);
    diag_list_free(&diags);
}

static void do_about(struct worker *w, struct job *j)
{
    struct diag_list diags = {0};
    j->status = 200;
    if (!lists_about(w->config, j->node, &diags, &j->body)) {
        buf_reset(&j->body);
        put_error(j, &diags);
    }
    diag_list_free(&diags);
}

/* -- threads ----------------------------------------------------------------------------------- */

static void *work(void *arg)
{
    static void (*const todo[])(struct worker *, struct job *) = {[JOB_NODES] = do_nodes,
                                                                  [JOB_CHECK] = do_check,
                                                                  [JOB_MATCH] = do_match,
                                                                  [JOB_CATALOG] = do_catalog,
                                                                  [JOB_ABOUT] = do_about};
    struct queue *q = arg;
    struct worker *w = q->worker;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        struct job *j = q->first;
        if (j == NULL) {
            pthread_cond_wait(&w->more, &w->lock);
            continue;
        }
        if ((q->first = j->next) == NULL)
            q->last = &q->first;
        q->n--;
        q->busy = j;
        bool wanted = j->owner != NULL;
        pthread_mutex_unlock(&w->lock);
        if (wanted) {
            todo[j->kind](w, j);
            j->packed = j->gzip && pack_gzip(&j->body);
        }
        pthread_mutex_lock(&w->lock);
        q->busy = NULL;
        j->next = NULL;
        *w->done_last = j;
        w->done_last = &j->next;
        pthread_mutex_unlock(&w->lock);
        w->wake(w->arg);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct worker *worker_new(const struct web_config *config, void (*wake)(void *), void *arg)
{
    struct worker *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->config = config;
    w->wake = wake;
    w->arg = arg;
    w->done_last = &w->done;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 8 << 20);
    bool ok = true;
    for (size_t i = 0; i < 2; i++) {
        struct queue *q = &w->queue[i];
        q->worker = w;
        q->last = &q->first;
        q->started = ok && pthread_create(&q->thread, &attr, work, q) == 0;
        ok = q->started;
    }
    pthread_attr_destroy(&attr);
    if (ok)
        return w;
    worker_free(w);
    return NULL;
}

void worker_free(struct worker *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->more);
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < 2; i++) {
        struct queue *q = &w->queue[i];
        if (q->started)
            pthread_join(q->thread, NULL);
        for (struct job *j = q->first, *next; j != NULL; j = next) {
            next = j->next;
            job_free(j);
        }
    }
    for (struct job *j = w->done, *next; j != NULL; j = next) {
        next = j->next;
        job_free(j);
    }
    for (size_t i = 0; i < CATALOGS; i++) {
        lists_free(w->kept[i].catalog);
        diag_list_free(&w->kept[i].diags);
    }
    buf_free(&w->nodes);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

struct job *job_new(enum job_kind kind, void *owner)
{
    struct job *j = calloc(1, sizeof *j);
    if (j != NULL) {
        j->kind = kind;
        j->owner = owner;
    }
    return j;
}

void job_free(struct job *j)
{
    if (j == NULL)
        return;
    message_free(&j->m);
    buf_free(&j->body);
    free(j);
}

bool worker_add(struct worker *w, struct job *j)
{
    struct queue *q = &w->queue[j->kind >= JOB_MATCH];
    pthread_mutex_lock(&w->lock);
    bool room = q->n < WAITING;
    if (room) {
        j->next = NULL;
        *q->last = j;
        q->last = &j->next;
        q->n++;
        pthread_cond_broadcast(&w->more);
    }
    pthread_mutex_unlock(&w->lock);
    return room;
}

size_t worker_cancel(struct worker *w, enum job_kind kind, uint64_t number)
{
    struct queue *q = &w->queue[kind >= JOB_MATCH];
    size_t n = 0;
    pthread_mutex_lock(&w->lock);
    for (struct job **at = &q->first, *j; (j = *at) != NULL;) {
        if (j->kind != kind || j->number != number) {
            at = &j->next;
            continue;
        }
        *at = j->next;
        job_free(j);
        n++;
    }
    q->last = &q->first;
    while (*q->last != NULL)
        q->last = &(*q->last)->next;
    q->n -= n;
    pthread_mutex_unlock(&w->lock);
    return n;
}

void worker_abandon(struct worker *w, struct job *j)
{
    pthread_mutex_lock(&w->lock);
    j->owner = NULL;
    pthread_mutex_unlock(&w->lock);
}

struct job *worker_done(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    struct job *j = w->done;
    if (j != NULL && (w->done = j->next) == NULL)
        w->done_last = &w->done;
    pthread_mutex_unlock(&w->lock);
    return j;
}
