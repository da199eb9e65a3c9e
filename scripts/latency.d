#!/usr/bin/env -S erltrace -s
/*
 * latency.d - time from the sending of a message until its receiver runs, by receiver.
 *
 *   erltrace -p PID --for 10s -s scripts/latency.d
 *
 * More than a few microseconds means receivers that wait for a scheduler: a run queue that is too long, or a receiver
 * that was already running. It does not include the time that a message lies in the queue of a server that waits for
 * another process: such a server runs, and goes on waiting. functions.d shows how long its callers wait.
 * Messages to other nodes do not count, since their receivers do not run here; distsends.d has them.
 * Receivers are shown by name; at the end, the ten that got most messages.
 *
 * page: view=heatmap place=heatmap
 */
#pragma D option quiet

erlang*:::message-send
{
    sent[copyinstr(arg1)] = timestamp;
}

erlang*:::process-scheduled
/sent[copyinstr(arg0)]/
{
    @["send to scheduled, ns", erlname] = quantize(timestamp - sent[copyinstr(arg0)]);
    sent[copyinstr(arg0)] = 0;
}

dtrace:::END
{
    trunc(@, 10);
}
