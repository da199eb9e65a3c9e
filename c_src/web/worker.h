/* worker.h - tasks that would delay the sockets' thread: listing nodes, listing a node's contents,
 * and compiling a script.
 *
 * There are two threads, so that a user who types does not wait for a node with many functions: one
 * for nodes and checks, one for what has to be asked of a node. A job belongs to the worker from
 * worker_add on; its owner gets it back from worker_done, or gives it up with worker_abandon. */
#ifndef ET_WEB_WORKER_H
#define ET_WEB_WORKER_H

#include <stdbool.h>

#include "web/lists.h"
#include "web/message.h"
#include "web/web.h"

enum job_kind { JOB_NODES, JOB_CHECK, JOB_MATCH, JOB_CATALOG, JOB_ABOUT };

struct job {
    enum job_kind kind;
    struct job *next;
    void *owner;     /* the owner; NULL once abandoned */
    uint64_t number; /* for the owner's use */
    /* the question */
    struct message m; /* of JOB_CHECK and JOB_MATCH */
    enum lists_what what;
    char node[256], provider[64], module[256], prefix[256];
    size_t limit;
    bool gzip; /* the answer may be compressed */
    /* the answer */
    struct buf body;
    bool packed;
    int status; /* HTTP status */
};

struct worker;

/* Returns a worker; NULL: no memory, or no threads. wake is called when worker_done has
 * something. */
struct worker *worker_new(const struct web_config *config, void (*wake)(void *), void *arg);
/* Waits for the jobs in progress; discards the others. */
void worker_free(struct worker *w);
/* Creates a job for an owner; everything else is zero. NULL: out of memory. */
struct job *job_new(enum job_kind kind, void *owner);
void job_free(struct job *j);
/* Queues a job. Returns false if there is too much to do already; the caller then keeps the job. */
bool worker_add(struct worker *w, struct job *j);
/* Removes the owner's jobs of this kind that have not begun, and returns their number: a later one
 * replaces them. */
size_t worker_cancel(struct worker *w, enum job_kind kind, uint64_t number);
/* Abandons a job: its owner ends. */
void worker_abandon(struct worker *w, struct job *j);
/* Returns a finished job, which the caller must free; NULL if there is none. */
struct job *worker_done(struct worker *w);

#endif
