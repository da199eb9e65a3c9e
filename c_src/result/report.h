/* report.h - the observers (observer.h) that write what a session reports: text.c as dtrace does,
 * json_lines.c as lines of JSON, pprof.c and speedscope.c as profiles.
 *
 * The session decodes everything (value.h) and passes it to them. A reporter composes bytes and
 * passes them to a struct out; nothing in this room prints. */
#ifndef ET_RESULT_REPORT_H
#define ET_RESULT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "util/fold.h"
#include "result/aggr.h"
#include "result/observer.h"
#include "result/options.h"
#include "result/pf.h"
#include "result/symbol.h"
#include "result/value.h"
#include "dif/dif.h"
#include "dif/record.h"
#include "tier/tier.h"

/* The destination of traced data. */
struct out {
    void (*data)(void *arg, const char *s, size_t n);
    void *arg;
    /* Requests of actions; each may be NULL, and then nothing happens. */
    void (*flush)(void *arg);                     /* write out what is buffered */
    int (*redirect)(void *arg, const char *path); /* append data to a file from now on; NULL:
                                                     to the first output again. 0 or errno */
    void (*truncate)(void *arg);                  /* empty the file that data goes to */
    void (*run)(void *arg, const char *command);  /* system(): run it and wait for it */
};

/* The reporters: observers whose argument is a struct report. */
#define FORMAT(name, flag, how, reporter) extern const struct observer reporter;
#include "util/formats.list"
#undef FORMAT
/* Returns the reporter that flags of erltrace_open ask for, else the one of a value of the option
 * `format`. */
const struct observer *report_format(int flags, int64_t format);
/* Returns the name of a reporter; whether it makes a profile (result/profile.h) at the end. */
const char *report_format_name(const struct observer *reporter);
bool report_is_profile(const struct observer *reporter);
/* Returns all those flags. */
int report_flags(void);

struct report {
    struct out out;
    const struct options *opt;
    const struct dif_image *img;
    const struct aggr_table *aggr;
    const struct pf *format; /* of each action of the image; those without have n = 0 */
    struct symbols symbols;
    uint64_t target;       /* $target */
    bool terminal;         /* the output goes to a terminal: see report_shown */
    const uint64_t *began; /* when BEGIN ran, CLOCK_MONOTONIC in ns; NULL: not known. Borrowed */
    /* Returns what the program writes as the key of an aggregation, from 0; NULL: not known. May be
     * NULL. */
    const char *(*key_name)(void *arg, uint32_t agg, unsigned key);
    void *key_name_arg;
    /* below: the reporter's own */
    struct buf line;    /* what is being composed */
    bool begun;         /* the start of the record is written: it comes with the first action */
    bool oom;           /* something could not be composed or sorted */
    bool header;        /* the header has been written */
    struct buf head;    /* the constant part of the start of a record of head_epid */
    uint32_t head_epid; /* 0: none */
    bool first;         /* JSON: no comma before the next element */
    struct fold faults; /* JSON: the faults shown */
    int indent;         /* flowindent */
    uint32_t last_epid, last_probe; /* of the last record, for flowindent */
};

/* Return the texts of a fault and of a drop, without prefix; both reporters use them. */
const char *report_fault_name(uint32_t code); /* "DIVZERO" */
const char *report_fault_text(uint32_t code); /* "divide-by-zero" */
/* Appends the whole message of a fault, without dtrace's prefix and without newline; ignores
 * f->message. A reason that is not its code's text is the whole message. */
void report_fault_message(const struct erltrace_fault *f, struct buf *out);
/* "the trace in a@b ended there: what fired in its last 120 ms is lost" */
void report_ended_text(const char *node, uint64_t ns, struct buf *out);
/* "b@host is traced from now on" and the like; m->message is not read. */
void report_member_text(const struct erltrace_member *m, struct buf *out);
/* "3 drops on CPU 1 of a@b"; cpu -1: it belongs to none. */
void report_drop_text(enum record_drop kind, uint64_t count, int cpu, const char *node,
                      struct buf *out);
const char *report_drop_name(enum record_drop kind); /* "PRINCIPAL" */
/* Returns the most bytes that print() shows. */
size_t report_print_most(const struct options *o);
/* Appends what text shows of one action of a record. */
void report_action_text(struct report *r, const struct event_data *d, struct buf *out);
/* Returns the cost on the i-th thread in permille of the time that the thread could run. */
uint32_t report_stats_share(const struct event_cost *c, uint32_t i);
/* Returns how texts that a program shows as values (%s, keys, trace()) are shown, enum value_show:
 * on a terminal, without the option rawoutput, characters that could steer it are written out;
 * modules of Elixir are named as Elixir does, unless the option elixir is off. */
static inline unsigned report_shown(const struct report *r)
{
    return (r->terminal && !option_on(r->opt, OPTION_rawoutput) ? SHOW_VISIBLE : 0) |
           (option_on(r->opt, OPTION_elixir) ? SHOW_ELIXIR : 0);
}
/* Returns the sorting that the options ask for. */
struct aggr_order report_order(const struct options *o);
/* The same for what is printed, of which there may be only so many rows. */
struct aggr_order report_printed(const struct options *o);
/* Appends the rows of aggregations with one key signature, sorted; by a format, or (format->n = 0)
 * as dtrace prints them. */
void report_rows(struct report *r, const uint32_t *aggs, size_t n, const struct pf *format,
                 struct buf *out);
/* Appends the text of printa() with these aggregations of the image. */
void report_printa(struct report *r, const struct dif_action *act, const struct pf *format,
                   struct buf *out);

#endif
