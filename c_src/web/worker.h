/* worker.h - what takes longer than the thread of the sockets may wait: which nodes there are, what
 * is in one, and whether a script compiles.
 *
 * Two threads, so that somebody who types is not kept waiting by a node with many functions: one
 * for nodes and checks, one for catalogs. A job belongs to the worker from worker_add on; its owner
 * gets it back by worker_done, or lets go of it by worker_abandon. */
#ifndef ET_WEB_WORKER_H
#define ET_WEB_WORKER_H

#include <stdbool.h>

#include "web/lists.h"
#include "web/message.h"
#include "web/web.h"

enum job_kind { JOB_NODES, JOB_CHECK, JOB_CATALOG };

struct job {
    enum job_kind kind;
    struct job *next;
    void *owner;     /* the owner's; NULL once it was abandoned */
    uint64_t number; /* the owner's */
    /* the question */
    struct message m; /* of a check */
    enum lists_what what;
    char node[256], module[256], prefix[256];
    size_t limit;
    bool gzip; /* the answer may be packed */
    /* the answer */
    struct buf body;
    bool packed;
    int status; /* of HTTP */
};

struct worker;

/* wake is called when there is something for worker_done. NULL: no memory, or no threads. */
struct worker *worker_new(const struct web_config *config, void (*wake)(void *), void *arg);
/* Waits for the jobs that are being done; others are thrown away. */
void worker_free(struct worker *w);
/* A job for an owner, all zero but for that. NULL: out of memory. */
struct job *job_new(enum job_kind kind, void *owner);
void job_free(struct job *j);
/* False when there is too much to do already; then the job is still the caller's. */
bool worker_add(struct worker *w, struct job *j);
/* The owner goes away. */
void worker_abandon(struct worker *w, struct job *j);
/* A job that is done, the caller's to free; NULL when there is none. */
struct job *worker_done(struct worker *w);

#endif
