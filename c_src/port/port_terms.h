/* port_terms.h - the values of erltrace.h as Erlang terms; doc/port-protocol.md describes each. All
 * functions append to a buffer, whose errors stick. */
#ifndef ET_PORT_PORT_TERMS_H
#define ET_PORT_PORT_TERMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "erltrace.h"
#include "event/event.h"

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
/* Writes a fault, a drop, a cost or a diagnostic: {error | drop | stats | diag, Map}. */
void port_put_event(struct buf *b, enum event_kind kind, const void *event);
/* Writes the frame {progress, Ref, Map}. */
void port_put_progress(struct buf *b, int64_t ref, const struct erltrace_progress *p);

#endif
