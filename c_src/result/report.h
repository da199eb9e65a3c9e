/* report.h - what a session has to say, and the two who can say it: text.c as dtrace does, json.c
 * as lines of JSON.
 *
 * The session decodes everything (value.h) and calls the reporter's functions in order: for a
 * record begin, then action for each of its clause's actions that leave something to do, then end.
 * The reporter composes bytes and hands them to a struct out; nobody in this room prints. */
#ifndef ET_RESULT_REPORT_H
#define ET_RESULT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "util/fold.h"
#include "result/aggr.h"
#include "result/options.h"
#include "result/pf.h"
#include "result/symbol.h"
#include "result/value.h"
#include "dif/dif.h"
#include "engine/engine.h"
#include "tier/tier.h"

/* Where bytes go. data: what was traced; message: what dtrace writes to stderr, whole lines. */
struct out {
    void (*data)(void *arg, const char *s, size_t n);
    void (*message)(void *arg, const char *s, size_t n);
    void *arg;
    /* What actions ask for; each may be NULL, and then nothing happens. */
    void (*flush)(void *arg);                     /* write out what is buffered */
    int (*redirect)(void *arg, const char *path); /* append data to a file from now on; NULL:
                                                     to the first output again. 0 or errno */
    void (*truncate)(void *arg);                  /* empty the file that data goes to */
    void (*run)(void *arg, const char *command);  /* system(): run it and wait for it */
};

/* One enabled probe: a clause on a probe of a tier. */
struct report_probe {
    uint32_t epid, clause;
    uint32_t id;
    const char *prov, *mod, *func, *name;
    enum probe_kind kind;
    const char *target; /* the node, "" for the local tier */
};

struct report_record {
    const struct report_probe *probe;
    uint64_t timestamp; /* CLOCK_MONOTONIC ns of the target's host */
    uint32_t cpu;
};

struct report_fault {
    const struct report_probe *probe;
    uint32_t action; /* 1.., 0: the predicate */
    uint32_t offset; /* bytes of DIF, UINT32_MAX: unknown */
    uint32_t fault;  /* enum engine_fault */
    uint64_t value;
    uint32_t cpu;
    const char *why; /* a failure of the consumer, in words (fault is REPORT_LIBRARY); else NULL */
};
enum { REPORT_LIBRARY = 1000 };

struct report_drop {
    enum engine_drop kind;
    uint64_t count; /* since the last report */
    const char *target;
    uint64_t total; /* since the start */
    int32_t cpu;    /* -1: belongs to none */
};

/* What the probes have cost in one tier. */
struct report_stats {
    const struct tier_load *load;
    const char *target;
    uint64_t events, ns;          /* the sums over all threads */
    uint64_t drop[ENGINE_NDROPS]; /* what was lost in that time */
    uint64_t drops;               /* their sum */
};

struct report;
struct report_ops {
    void (*begin)(struct report *r, const struct report_record *rec);
    /* v: the action's parts. Called before the action changes any aggregation. */
    void (*action)(struct report *r, const struct report_record *rec, uint32_t action,
                   const struct value *v);
    void (*end)(struct report *r, const struct report_record *rec);
    /* Instead of end, when somebody else ends the record: what was composed goes out as it is. */
    void (*leave)(struct report *r, const struct report_record *rec);
    void (*fault)(struct report *r, const struct report_fault *f);
    void (*drop)(struct report *r, const struct report_drop *d);
    void (*stats)(struct report *r, const struct report_stats *st);
    /* The end of the run: every aggregation that no printa() has shown. */
    void (*aggregations)(struct report *r);
    /* Shows what is held back, from time to time, and all of it at the end. NULL: nothing is held
     * back. */
    void (*due)(struct report *r, bool all);
};
extern const struct report_ops report_text; /* report_json: json.h */

struct report {
    const struct report_ops *ops;
    struct out out;
    const struct options *opt;
    const struct dif_image *img;
    const struct aggr_table *aggr;
    const struct pf *format; /* of each action of the image; those without have n = 0 */
    struct symbols symbols;
    uint64_t target; /* $target */
    bool terminal;   /* the output goes to a terminal: see report_shown */
    /* below: the reporter's own */
    struct buf line;    /* what is being composed */
    bool oom;           /* something could not be composed, or not sorted */
    bool header;        /* the header has been written */
    struct buf head;    /* the start of a record of head_epid, as far as it is always the same */
    uint32_t head_epid; /* 0: none */
    bool first;         /* JSON: no comma before the next element */
    struct fold faults; /* JSON: those that were shown */
    int indent;         /* flowindent */
    uint32_t last_epid, last_probe; /* of the last record, for flowindent */
};

/* Text of a fault and of a drop, without prefix: shared by both reporters. */
const char *report_fault_name(uint32_t fault);                          /* "DIVZERO" */
const char *report_fault_text(uint32_t fault);                          /* "divide-by-zero" */
void report_fault_value(const struct report_fault *f, struct buf *out); /* " (0x10)", or nothing */
void report_drop_text(const struct report_drop *d, struct buf *out);    /* "3 drops on a@b" */
const char *report_drop_name(enum engine_drop kind);                    /* "PRINCIPAL" */
/* Bytes that print() shows at most. */
size_t report_print_most(const struct options *o);
/* The whole message of a fault and of a drop, without dtrace's prefix and without newline. */
void report_fault_message(const struct report_fault *f, struct buf *out);
void report_drop_message(const struct options *o, const struct report_drop *d, struct buf *out);
/* The lines about costs without dtrace's prefix, each with its newline; the share of thread i in
 * permille. */
void report_stats_text(const struct report_stats *st, struct buf *out);
/* Permille of the time that the i-th thread could run. */
uint32_t report_stats_share(const struct report_stats *st, uint32_t i);
/* How texts that a program shows as values (%s, keys, trace()) are shown, enum value_show: on a
 * terminal, without the option rawoutput, what could steer it is written out; modules of Elixir are
 * named as Elixir does, unless the option elixir is off. */
static inline unsigned report_shown(const struct report *r)
{
    return (r->terminal && !option_on(r->opt, OPTION_rawoutput) ? SHOW_VISIBLE : 0) |
           (option_on(r->opt, OPTION_elixir) ? SHOW_ELIXIR : 0);
}
/* What took so many ns on all threads, in permille of the time that one thread could run: the
 * busiest, or the one for whose sake the program was ended. */
uint32_t report_stats_part(const struct report_stats *st, uint64_t ns);
/* The sorting that the options ask for. */
struct aggr_order report_order(const struct options *o);
/* The rows of aggregations with one key signature, sorted; by a format, or (format->n = 0) as
 * dtrace has them. */
void report_rows(struct report *r, const uint32_t *aggs, size_t n, const struct pf *format,
                 struct buf *out);
/* The text of printa() with these aggregations of the image. */
void report_printa(struct report *r, const struct dif_action *act, const struct pf *format,
                   struct buf *out);

#endif
