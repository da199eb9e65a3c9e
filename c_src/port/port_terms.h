/* port_terms.h - what erltrace.h shows, as Erlang terms; doc/port-protocol.md says how each looks.
 * All append to a buffer, whose errors stick. */
#ifndef ET_PORT_PORT_TERMS_H
#define ET_PORT_PORT_TERMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "erltrace.h"

/* #{code := .., text := ..}; for a code of the library, or a word of our own. */
void port_put_error(struct buf *b, const char *code, const char *text);
/* A code of enum erltrace_err in small letters. */
const char *port_code(int err);
void port_put_state(struct buf *b, enum erltrace_state state);
void port_put_diag(struct buf *b, const struct erltrace_diag *d);
/* An error of a request that the library has no diagnostic for, and what may help. */
void port_put_hint(struct buf *b, const char *subject, const char *text, const char *hint);
/* {Provider, Module, Function, Name} */
void port_put_probe(struct buf *b, const struct erltrace_probe *p);
/* One entry of an aggregation. */
void port_put_aggr(struct buf *b, const struct erltrace_aggr *a);
/* The item of an action; false when it gives none. */
bool port_put_data(struct buf *b, const struct erltrace_record *r, const struct erltrace_data *d);
/* As the members of struct erltrace_drop; for drops of the queue, too. */
void port_put_drop(struct buf *b, const char *kind, uint64_t count, uint64_t total,
                   const char *node, int cpu, const char *text);
void port_put_fault(struct buf *b, const struct erltrace_fault *f);
void port_put_stats(struct buf *b, const struct erltrace_stats *s);
/* The frame {progress, Ref, Map} */
void port_put_progress(struct buf *b, int64_t ref, const struct erltrace_progress *p);
/* {diag, Diag} */
void port_put_notice(struct buf *b, const struct erltrace_diag *d);

#endif
