/* port_terms.h - the values of erltrace.h as Erlang terms; doc/port-protocol.md describes each. All
 * functions append to a buffer, whose errors stick. */
#ifndef ET_PORT_PORT_TERMS_H
#define ET_PORT_PORT_TERMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "erltrace.h"

/* Writes #{code := .., text := ..} for a code of the library, or a word of our own. */
void port_put_error(struct buf *b, const char *code, const char *text);
/* Returns a code of enum erltrace_err in lower case. */
const char *port_code(int err);
void port_put_state(struct buf *b, enum erltrace_state state);
void port_put_diag(struct buf *b, const struct erltrace_diag *d);
/* Writes an error of a request for which the library has no diagnostic, with a hint. */
void port_put_hint(struct buf *b, const char *subject, const char *text, const char *hint);
/* {Provider, Module, Function, Name} */
void port_put_probe(struct buf *b, const struct erltrace_probe *p);
/* Writes one entry of an aggregation. */
void port_put_aggr(struct buf *b, const struct erltrace_aggr *a);
/* Writes the item of an action; returns false if it has none. */
bool port_put_data(struct buf *b, const struct erltrace_record *r, const struct erltrace_data *d);
/* Writes the members of struct erltrace_drop; used for drops of the queue as well. */
void port_put_drop(struct buf *b, const char *kind, uint64_t count, uint64_t total,
                   const char *node, int cpu, const char *text);
void port_put_fault(struct buf *b, const struct erltrace_fault *f);
void port_put_stats(struct buf *b, const struct erltrace_stats *s);
/* Writes the frame {progress, Ref, Map}. */
void port_put_progress(struct buf *b, int64_t ref, const struct erltrace_progress *p);
/* Writes {diag, Diag}. */
void port_put_notice(struct buf *b, const struct erltrace_diag *d);

#endif
