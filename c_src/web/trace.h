/* trace.h - a running script with its thread, and those who look on at it.
 *
 * trace_start makes one, or finds the one that runs the same; viewers are added and taken away by
 * the thread of the sockets. With its last viewer a trace ends, within a tenth of a second: its
 * thread closes the handle, which undoes everything in the node. */
#ifndef ET_WEB_TRACE_H
#define ET_WEB_TRACE_H

#include "web/hub.h"

/* Lets a viewer look on at what the message asks for: starts it, if the same is not running. NULL,
 * or why that cannot be; the viewer has left what it looked on at in any case. */
const char *trace_start(struct hub *h, struct viewer *v, struct message *m);
/* Lets a viewer look on at a trace that runs. NULL, or why not. */
const char *trace_join(struct hub *h, struct viewer *v, const struct message *m);
/* The viewer is gone from the trace that it looks on at, if any; the last one takes the trace with
 * it. */
void trace_leave(struct hub *h, struct viewer *v);
/* The viewer has had enough; everybody: the trace ends for all. True when it has left; false when
 * it looks on at nothing, or is still to hear of the trace's end, which its only viewer causes,
 * too: then the last data and what END prints are not lost. The only viewer leaves at once the
 * second time. */
bool trace_stop(struct hub *h, struct viewer *v, bool everybody);
/* Ends all traces; with the sockets' thread still there to take what they say. */
void trace_end_all(struct hub *h);
/* Joins the threads of traces that are over. True when none is left. */
bool trace_reap(struct hub *h);
/* [{"trace":1,...}]: what runs. */
void trace_list(struct hub *h, struct buf *out);

#endif
