/* trace.h - a running script with its thread and its viewers.
 *
 * trace_start creates a trace, or finds one that runs the same script; the sockets' thread adds and
 * removes viewers. A trace ends within a tenth of a second after its last viewer has left: its
 * thread closes the handle, which undoes everything in the node. It waits for a while if that
 * viewer's connection was lost, and the page may come back. */
#ifndef ET_WEB_TRACE_H
#define ET_WEB_TRACE_H

#include "web/hub.h"

/* Connects a viewer to the trace that the message describes, and starts that trace if it is not
 * running. Returns NULL, or why it cannot; the viewer has left its previous trace in either
 * case. */
const char *trace_start(struct hub *h, struct viewer *v, struct message *m);
/* Connects a viewer to a running trace. Returns NULL, or why it cannot. */
const char *trace_join(struct hub *h, struct viewer *v, const struct message *m);
/* Connects a page again to the trace that it has lost: of that number, or if none is given, the one
 * that the page has started. It is told what it has missed. Returns NULL, or why it cannot. */
const char *trace_rejoin(struct hub *h, struct viewer *v, const struct message *m);
/* Removes the viewer from its trace, if any. The trace ends with its last viewer; for a page that
 * has told its number, after keep_ms, unless it comes back. */
void trace_leave(struct hub *h, struct viewer *v, unsigned keep_ms);
/* Ends the viewer's part in a trace; everybody: ends the trace for all. Returns true if the viewer
 * has left. Returns false if it has no trace, or is still to be told of the trace's end, as an only
 * viewer is, so that the last data and the output of END are not lost. An only viewer leaves at
 * once on the second call. */
bool trace_stop(struct hub *h, struct viewer *v, bool everybody);
/* Makes the viewer's trace go on without any viewer, until a viewer ends it for all or the server
 * ends; on false: no longer. Returns NULL, or why it cannot. */
const char *trace_record(struct hub *h, struct viewer *v, bool on);
/* Starts a trace that is recorded and has no viewer. Takes the message's strings. Returns NULL, or
 * why it cannot. */
const char *trace_start_recorded(struct hub *h, struct message *m);
/* Ends all traces; the sockets' thread must still exist to receive their messages. */
void trace_end_all(struct hub *h);
/* Joins the threads of finished traces. Returns true if none is left. */
bool trace_reap(struct hub *h);
/* Writes [{"trace":1,...}], the running traces. */
void trace_list(struct hub *h, struct buf *out);

#endif
