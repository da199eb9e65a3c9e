/* trace.h - a running script with its thread and its viewers.
 *
 * trace_start creates a trace, or finds one that runs the same script; the sockets' thread adds and
 * removes viewers. A trace ends within a tenth of a second after its last viewer has left: its
 * thread closes the handle, which undoes everything in the node. */
#ifndef ET_WEB_TRACE_H
#define ET_WEB_TRACE_H

#include "web/hub.h"

/* Connects a viewer to the trace that the message describes, and starts that trace if it is not
 * running. Returns NULL, or why it cannot; the viewer has left its previous trace in either
 * case. */
const char *trace_start(struct hub *h, struct viewer *v, struct message *m);
/* Connects a viewer to a running trace. Returns NULL, or why it cannot. */
const char *trace_join(struct hub *h, struct viewer *v, const struct message *m);
/* Removes the viewer from its trace, if any; the trace ends with its last viewer. */
void trace_leave(struct hub *h, struct viewer *v);
/* Ends the viewer's part in a trace; everybody: ends the trace for all. Returns true if the viewer
 * has left. Returns false if it has no trace, or is still to be told of the trace's end, as an only
 * viewer is, so that the last data and the output of END are not lost. An only viewer leaves at
 * once on the second call. */
bool trace_stop(struct hub *h, struct viewer *v, bool everybody);
/* Ends all traces; the sockets' thread must still exist to receive their messages. */
void trace_end_all(struct hub *h);
/* Joins the threads of finished traces. Returns true if none is left. */
bool trace_reap(struct hub *h);
/* Writes [{"trace":1,...}], the running traces. */
void trace_list(struct hub *h, struct buf *out);

#endif
