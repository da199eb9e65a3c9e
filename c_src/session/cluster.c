/* cluster.c - the nodes of a cluster: who is attached when, and what each of them says.
 *
 * cluster/members.h decides whose turn it is. Here is what takes time: reaching a node, loading the
 * agent, placing patterns. Each such step of a node runs on a thread of its own, a joiner, so that
 * the others are read meanwhile. A joiner's thread alone uses its tier while it runs; the session's
 * thread starts it, looks from time to time whether it has ended, and does everything that touches
 * what nodes share: matching, which asks the node nothing any more, and numbering. What a joiner
 * reads of the session does not change after compiling. A tier with a joiner is `pending`. */
#include "session/session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "cluster/members.h"
#include "tier/vm_open.h"
#include "util/buftext.h"
#include "util/render.h"
#include "wire/node.h"

enum {
    ASK_MS = 1000,    /* between two questions who is in the cluster */
    SILENT_MS = 3000, /* a node that owes an answer for so long is reported as silent */
    WAIT_MS = 100,    /* the longest wait for joiners, between two looks at handlers */
    GO_MOST = 64      /* nodes that are started at once */
};

enum step { STEP_OPEN, STEP_PLACE, STEP_GO };

struct joiner {
    struct joiner *next;
    struct session *s;
    size_t member;
    uint32_t attempt;
    bool goes_on; /* STEP_GO follows STEP_PLACE at once */
    enum step step;
    struct node_options how;    /* STEP_OPEN */
    char name[MEMBER_NAME + 1]; /* ... its name */
    struct tier *tier;          /* once it is open */
    size_t at;                  /* its place in the session, once it has one */
    struct tier_options asked, granted;
    const struct tier_binding *binding;
    size_t nbindings;
    int rc;
    struct diags diags;
    pthread_t thread;
    bool ended; /* guarded by session_cluster.lock, as is: */
    struct tier_progress progress;
};

struct session_cluster {
    struct members members;
    struct node_options how; /* to reach any of them; its name is not used. Borrowed */
    struct joiner *joiner;
    size_t running;     /* joiners */
    struct buf told;    /* for each member, the hash of the last reason told why it is not traced */
    struct diags diags; /* of the tier that works */
    uint64_t asked;     /* when a node was last asked for the members */
    size_t ask;         /* the tier that is asked next */
    pthread_mutex_t lock;
    pthread_cond_t end; /* a joiner has ended */
    atomic_bool giving_up;
};

/* -- threads ----------------------------------------------------------------------------------- */

static bool on_progress(void *arg, const struct tier_progress *p)
{
    struct joiner *j = arg;
    struct session_cluster *c = j->s->cluster;
    pthread_mutex_lock(&c->lock);
    j->progress = *p;
    pthread_mutex_unlock(&c->lock);
    return !atomic_load(&c->giving_up);
}

static int do_step(struct joiner *j)
{
    struct session *s = j->s;
    int rc = 0;
    if (j->step == STEP_OPEN) {
        rc = tier_vm_open(&j->how, &j->tier, &j->diags);
        return rc == 0 ? session_warm(s, j->tier, &j->diags) : rc;
    }
    const struct tier_ops *ops = j->tier->ops;
    if (j->step == STEP_PLACE) {
        rc = ops->enable(j->tier, &s->img, s->encoded.data, s->encoded.len, j->binding,
                         j->nbindings, &j->granted, &j->diags);
        if (rc == 0 && ops->prepare != NULL)
            rc = ops->prepare(j->tier, &j->diags);
        if (rc != 0 || !j->goes_on)
            return rc;
    }
    return ops->go(j->tier, &j->diags);
}

static void *run_joiner(void *arg)
{
    struct joiner *j = arg;
    struct session_cluster *c = j->s->cluster;
    const int rc = do_step(j);
    pthread_mutex_lock(&c->lock);
    j->rc = rc;
    j->ended = true;
    pthread_cond_signal(&c->end);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Starts a step. Without a thread the step has failed. */
static void begin(struct session *s, struct joiner *j, enum step step)
{
    sigset_t all, old;
    j->step = step;
    j->ended = false;
    sigfillset(&all); /* signals are for the session's thread */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int err = pthread_create(&j->thread, NULL, run_joiner, j);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err != 0) {
        j->rc =
            diag_error(&j->diags, ET_ENOMEM, NULL, "", NULL, "no thread for it: %s", strerror(err));
        j->ended = true;
        j->thread = pthread_self();
    }
    s->cluster->running++;
}

static struct joiner *new_joiner(struct session *s, size_t member, uint32_t attempt)
{
    struct session_cluster *c = s->cluster;
    struct joiner *j = et_calloc(1, sizeof *j);
    if (j == NULL)
        return NULL;
    j->s = s;
    j->member = member;
    j->attempt = attempt;
    strcpy(j->name, c->members.list[member].name);
    diags_init(&j->diags);
    j->next = c->joiner;
    c->joiner = j;
    return j;
}

static void free_joiner(struct session_cluster *c, struct joiner *j)
{
    struct joiner **p = &c->joiner;
    while (*p != j)
        p = &(*p)->next;
    *p = j->next;
    diags_free(&j->diags);
    et_free(j);
}

/* Returns a joiner whose step has ended; NULL: none has. */
static struct joiner *ended(struct session_cluster *c)
{
    struct joiner *j = c->joiner;
    pthread_mutex_lock(&c->lock);
    while (j != NULL && !j->ended)
        j = j->next;
    pthread_mutex_unlock(&c->lock);
    if (j == NULL)
        return NULL;
    if (!pthread_equal(j->thread, pthread_self()))
        pthread_join(j->thread, NULL);
    c->running--;
    return j;
}

/* Waits at most WAIT_MS for one to end. */
static void wait_end(struct session_cluster *c)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&c->lock);
    bool any = false;
    for (const struct joiner *j = c->joiner; j != NULL; j = j->next)
        any = any || j->ended;
    if (!any)
        pthread_cond_timedwait(&c->end, &c->lock, &until);
    pthread_mutex_unlock(&c->lock);
}

/* -- reports ----------------------------------------------------------------------------------- */

static void copy_diags(struct session *s, struct diags *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct diag *g = &from->list[i];
        diag_add(&s->diags, g->severity, &g->pos, g->tag, g->hint, "%s", g->text);
    }
    diags_clear(from);
}

/* Returns the first error, NULL: there is none. */
static const struct diag *error_of(const struct diags *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->list[i].severity == DIAG_ERROR)
            return &d->list[i];
    return NULL;
}

static const char *text_of(const struct diag *g, int rc)
{
    return g != NULL ? g->text : et_strerror(rc);
}

static void tell(struct session *s, const char *what, const char *node, const char *reason)
{
    struct erltrace_member e = {.what = what, .node = node, .reason = reason};
    buf_reset(&s->said);
    report_member_text(&e, &s->said);
    e.message = buf_str(&s->said);
    session_tell(s, member, &e);
}

/* Notes that a member is not traced for this reason. Returns false if that was so before. */
static bool is_news(struct session_cluster *c, size_t member, const char *reason)
{
    const uint64_t is = hash_bytes(reason, strlen(reason));
    uint64_t was = 0;
    while (c->told.len < (member + 1) * sizeof was && !c->told.oom)
        buf_add(&c->told, &was, sizeof was);
    if (c->told.oom)
        return true;
    memcpy(&was, c->told.data + member * sizeof was, sizeof was);
    memcpy(c->told.data + member * sizeof was, &is, sizeof is);
    return was != is;
}

/* -- members ----------------------------------------------------------------------------------- */

static void heard(void *arg, const char *name)
{
    struct session *s = arg;
    if (members_heard(&s->cluster->members, name, monotonic_ns()) != 0)
        session_no_memory(s);
}

void session_member(void *arg, struct tier *t, const char *name)
{
    struct session_reader *r = arg;
    (void)t;
    if (r->s->cluster != NULL)
        heard(r->s, name);
}

struct diags *session_cluster_diags(struct session *s)
{
    return s->cluster != NULL ? &s->cluster->diags : &s->diags;
}

void session_cluster_worked(struct session *s)
{
    if (s->cluster != NULL)
        copy_diags(s, &s->cluster->diags);
}

void session_cluster_lost(struct session *s, struct session_tier *t, int rc)
{
    struct session_cluster *c = s->cluster;
    if (c == NULL)
        return;
    const struct diag *g = error_of(&c->diags);
    members_lost(&c->members, t->member, t->attempt, monotonic_ns());
    is_news(c, t->member, "");
    tell(s, "left", t->t->ops->target(t->t), text_of(g, rc));
    if (t->t->ops->abandon != NULL)
        t->t->ops->abandon(t->t);
    diags_clear(&c->diags);
}

/* Whether the next attempt would fail for the same reason. A node logs each that it refuses. */
static bool is_final(int rc, const struct diag *g)
{
    static const char *const tags[] = {"NODE_COOKIE", "NODE_TLS", "NODE_PERM"};
    bool is = rc == ET_EOTP || rc == ET_EUNSUP || rc == ET_EIMAGE || rc == ET_EVERIFY;
    for (size_t i = 0; g != NULL && i < sizeof tags / sizeof *tags; i++)
        is = is || strcmp(g->tag, tags[i]) == 0;
    return is;
}

/* The members of this attempt could not be attached. */
static void failed(struct session *s, struct joiner *j)
{
    struct session_cluster *c = s->cluster;
    const struct diag *g = error_of(&j->diags);
    const char *reason = text_of(g, j->rc);
    const uint64_t now = monotonic_ns();
    if (!members_failed(&c->members, j->member, j->attempt, is_final(j->rc, g), now))
        members_lost(&c->members, j->member, j->attempt, now);
    if (j->rc == ET_EABORT || !is_news(c, j->member, reason))
        return;
    if (s->began_ns == 0)
        diag_add(&s->diags, DIAG_WARNING, NULL, g != NULL ? g->tag : "", g != NULL ? g->hint : NULL,
                 "%s is not traced: %s", j->name, reason);
    else
        tell(s, "refused", j->name, reason);
}

/* Gives up the tier of a joiner that has failed. */
static void drop(struct session *s, struct joiner *j)
{
    struct session_tier *t = &s->tier[j->at];
    if (t->t->ops->give_up != NULL)
        t->t->ops->give_up(t->t);
    if (t->t->ops->abandon != NULL)
        t->t->ops->abandon(t->t);
    t->pending = false;
    t->lost = true;
}

static void open_next(struct session *s)
{
    struct session_cluster *c = s->cluster;
    const uint64_t now = monotonic_ns();
    size_t which;
    uint32_t attempt;
    while (members_next(&c->members, now, &which, &attempt)) {
        struct joiner *j = new_joiner(s, which, attempt);
        if (j == NULL) {
            members_failed(&c->members, which, attempt, false, now);
            session_no_memory(s);
            return;
        }
        j->how = c->how;
        j->how.name = j->name;
        begin(s, j, STEP_OPEN);
    }
}

/* Gives the session a tier that has been opened. Returns 0, or the error why it cannot have it. */
static int take(struct session *s, struct joiner *j)
{
    const size_t had = s->ntiers;
    const int rc = session_attach(s, j->tier);
    j->tier = NULL;
    if (rc != 0)
        return rc;
    if (s->ntiers == had)
        return ET_EBUSY; /* it is there under another name, of which a warning has told */
    j->at = had;
    s->tier[had].member = j->member;
    s->tier[had].attempt = j->attempt;
    return 0;
}

/* Closes a tier that the session has not taken. */
static void close_own(struct joiner *j)
{
    if (j->tier != NULL)
        j->tier->ops->close(j->tier);
    j->tier = NULL;
}

/* Begins to place the program in the joiner's tier. Returns 0 or an error with a diagnostic. */
static int place(struct session *s, struct joiner *j, bool goes_on)
{
    struct session_tier *t = &s->tier[j->at];
    int rc = session_ask(s, t, &j->asked);
    if (rc != 0)
        return rc;
    j->asked.progress = on_progress;
    j->asked.progress_arg = j;
    j->granted = j->asked;
    j->tier = t->t;
    j->binding = t->binding;
    j->nbindings = t->nbindings;
    j->goes_on = goes_on;
    t->pending = true;
    begin(s, j, STEP_PLACE);
    return 0;
}

/* -- opening and starting ---------------------------------------------------------------------- */

static int new_cluster(struct session *s, const struct node_options *how)
{
    struct session_cluster *c = et_calloc(1, sizeof *c);
    pthread_condattr_t ca;
    if (c == NULL)
        return session_no_memory(s);
    members_init(&c->members);
    c->how = *how;
    diags_init(&c->diags);
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&ca);
    pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
    pthread_cond_init(&c->end, &ca);
    pthread_condattr_destroy(&ca);
    s->cluster = c;
    return 0;
}

/* What is left of a step that has ended before the program runs. */
static void opened(struct session *s, struct joiner *j)
{
    struct session_cluster *c = s->cluster;
    if (j->rc == 0 && (j->rc = take(s, j)) == 0) {
        members_placed(&c->members, j->member, j->attempt, monotonic_ns());
        copy_diags(s, &j->diags);
    } else {
        close_own(j);
        failed(s, j);
    }
    free_joiner(c, j);
}

int session_cluster_open(struct session *s, const struct node_options *how)
{
    struct tier *seed = s->tier[0].t;
    const char *name = seed->ops->node != NULL ? seed->ops->node(seed) : NULL;
    struct joiner *j;
    size_t which;
    uint32_t attempt;
    if (seed->ops->members == NULL || name == NULL)
        return diag_error(&s->diags, ET_EUNSUP, NULL, "", NULL, "%s is in no cluster",
                          seed->ops->target(seed));
    int rc = new_cluster(s, how);
    if (rc != 0)
        return rc;
    struct session_cluster *c = s->cluster;
    heard(s, name);
    if (!members_next(&c->members, monotonic_ns(), &which, &attempt))
        return diag_error(&s->diags, ET_EUNSUP, NULL, "", NULL, "%s is in no cluster", name);
    members_placed(&c->members, which, attempt, monotonic_ns());
    s->tier[0].member = which;
    s->tier[0].attempt = attempt;
    do {
        const uint64_t now = monotonic_ns();
        if (now - c->asked >=
            ASK_MS * UINT64_C(1000000)) { /* or those that wait seem to have gone */
            if ((rc = seed->ops->members(seed, heard, s, &s->diags)) != 0)
                return rc;
            c->asked = now;
        }
        open_next(s);
        if (c->running > 0)
            wait_end(c);
        while ((j = ended(c)) != NULL)
            opened(s, j);
        open_next(s);
    } while (c->running > 0);
    return 0;
}

/* Calls the handlers for progress. Returns false to give up. */
static bool tell_progress(struct session *s)
{
    struct session_cluster *c = s->cluster;
    enum verdict v = VERDICT_SHOW;
    for (struct joiner *j = c->joiner; j != NULL && v == VERDICT_SHOW; j = j->next) {
        pthread_mutex_lock(&c->lock);
        const struct tier_progress p = j->progress;
        j->progress.fresh = false;
        pthread_mutex_unlock(&c->lock);
        const struct erltrace_progress how = {.node = j->name,
                                              .waiting = p.waiting,
                                              .unit = p.unit != NULL ? p.unit : "functions",
                                              .done = p.done,
                                              .total = p.total,
                                              .fresh = p.fresh};
        for (size_t i = 0; i < s->nobservers && v == VERDICT_SHOW; i++)
            if (s->observer[i].progress != NULL)
                v = s->observer[i].progress(s->observer[i].arg, &how);
    }
    return v != VERDICT_ABORT;
}

/* Waits until all joiners have ended. Those that failed leave the session. */
static int all_ended(struct session *s, size_t most)
{
    struct session_cluster *c = s->cluster;
    struct joiner *j;
    while (c->running > most) {
        wait_end(c);
        while ((j = ended(c)) != NULL) {
            struct session_tier *t = &s->tier[j->at];
            t->pending = false;
            if (j->rc == 0 && j->step == STEP_PLACE)
                session_granted(s, t, &j->asked, &j->granted);
            if (j->rc != 0 && j->rc != ET_EABORT)
                drop(s, j);
            if (j->rc != 0)
                failed(s, j);
            else
                copy_diags(s, &j->diags);
            free_joiner(c, j);
        }
        if (!tell_progress(s))
            atomic_store(&c->giving_up, true);
    }
    return atomic_load(&c->giving_up) ? ET_EABORT : 0;
}

static struct joiner *of_tier(struct session *s, size_t at)
{
    struct joiner *j = new_joiner(s, s->tier[at].member, s->tier[at].attempt);
    if (j == NULL)
        return NULL;
    j->at = at;
    j->tier = s->tier[at].t;
    return j;
}

int session_cluster_start(struct session *s)
{
    struct session_cluster *c = s->cluster;
    const size_t width = members_width(&c->members, monotonic_ns());
    int rc = 0;
    for (size_t i = 0; i < s->ntiers && rc == 0; i++) {
        struct joiner *j = of_tier(s, i);
        rc = j == NULL ? session_no_memory(s) : place(s, j, false);
        if (rc != 0 && j != NULL)
            free_joiner(c, j);
        const int before = all_ended(s, width - 1);
        rc = rc != 0 ? rc : before;
    }
    const int placed = all_ended(s, 0);
    if (rc != 0 || placed != 0)
        return rc != 0 ? rc : placed;
    s->began_ns = s->reported_ns = monotonic_ns(); /* as in start() */
    for (size_t i = 0; i < s->ntiers; i++) {
        struct joiner *j = s->tier[i].lost ? NULL : of_tier(s, i);
        if (j != NULL) {
            s->tier[i].pending = true;
            begin(s, j, STEP_GO);
        }
        all_ended(s, GO_MOST);
    }
    all_ended(s, 0);
    for (size_t i = 0; i < s->ntiers; i++)
        if (!s->tier[i].lost)
            return 0;
    return diag_error(&s->diags, ET_ENODE, NULL, "", NULL, "no node of the cluster is traced");
}

/* -- while it runs ----------------------------------------------------------------------------- */

/* A node has been reached: gives it its probes, and has them placed. */
static int match(struct session *s, struct joiner *j)
{
    int rc = take(s, j);
    if (rc != 0)
        return rc;
    s->tier[j->at].pending = true;
    rc = session_match_tier(s, &s->tier[j->at]);
    if (rc == 0)
        rc = place(s, j, true);
    if (rc != 0)
        drop(s, j);
    return rc;
}

static void step_ended(struct session *s, struct joiner *j)
{
    struct session_cluster *c = s->cluster;
    if (j->step == STEP_OPEN) {
        if (j->rc == 0 && !s->stopped && (j->rc = match(s, j)) == 0)
            return;
        close_own(j);
        if (!s->stopped)
            failed(s, j);
    } else if (j->rc != 0 || s->stopped) {
        drop(s, j);
        if (!s->stopped)
            failed(s, j);
    } else {
        struct session_tier *t = &s->tier[j->at];
        t->pending = false;
        session_granted(s, t, &j->asked, &j->granted);
        session_set_rate(s, t); /* setopt() may have changed it meanwhile */
        members_placed(&c->members, j->member, j->attempt, monotonic_ns());
        is_news(c, j->member, "");
        copy_diags(s, &j->diags);
        tell(s, "joined", t->t->ops->target(t->t), "");
    }
    free_joiner(c, j);
}

/* Tells of nodes that do not answer, and of those that do again. */
static void look_at_silence(struct session *s)
{
    for (size_t i = 0; i < s->ntiers; i++) {
        struct session_tier *t = &s->tier[i];
        if (t->pending || t->lost || t->drained || t->t->ops->silent == NULL)
            continue;
        const bool silent = t->t->ops->silent(t->t) > SILENT_MS;
        if (silent != t->silent)
            tell(s, silent ? "silent" : "answers", t->t->ops->target(t->t), "");
        t->silent = silent;
    }
}

/* Asks one node after the other who is there. */
static void ask(struct session *s, uint64_t now)
{
    struct session_cluster *c = s->cluster;
    if (now - c->asked < ASK_MS * UINT64_C(1000000))
        return;
    for (size_t i = 0; i < s->ntiers; i++) {
        const size_t k = (c->ask + i) % s->ntiers;
        struct session_tier *t = &s->tier[k];
        if (t->pending || t->lost || t->drained || t->silent)
            continue;
        c->asked = now;
        c->ask = k + 1;
        const int rc = t->t->ops->ask_members(t->t, &c->diags);
        if (rc != 0)
            session_lose(s, t, rc);
        return;
    }
}

void session_cluster_work(struct session *s, bool alone)
{
    struct session_cluster *c = s->cluster;
    struct joiner *j;
    if (c == NULL)
        return;
    if (alone && c->running > 0)
        wait_end(c);
    while ((j = ended(c)) != NULL)
        step_ended(s, j);
    if (s->stopped || s->exiting)
        return;
    look_at_silence(s);
    ask(s, monotonic_ns());
    open_next(s);
}

bool session_cluster_ended(const struct session *s)
{
    return s->cluster == NULL || s->stopped || s->cluster->running == 0;
}

void session_cluster_close(struct session *s)
{
    struct session_cluster *c = s->cluster;
    struct joiner *j;
    if (c == NULL)
        return;
    atomic_store(&c->giving_up, true);
    s->stopped = true;
    while (c->running > 0) {
        wait_end(c);
        while ((j = ended(c)) != NULL)
            step_ended(s, j);
    }
    members_free(&c->members);
    buf_free(&c->told);
    diags_free(&c->diags);
    pthread_cond_destroy(&c->end);
    pthread_mutex_destroy(&c->lock);
    et_free(c);
    s->cluster = NULL;
}
