#!/usr/bin/env -S erltrace -s
/*
 * latency.d - how long from a message being sent until its receiver runs.
 *
 *   erltrace -p PID --for 10s -s scripts/latency.d
 *
 * What it shows beyond a few microseconds is receivers waiting for a scheduler: a run queue that is too long, or a
 * receiver that was running already. How long a message lies in the queue of a server that waits for somebody else
 * is not in it: such a server runs, and goes on waiting. functions.d shows how long its callers wait.
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
    @["send to scheduled, ns"] = quantize(timestamp - sent[copyinstr(arg0)]);
    sent[copyinstr(arg0)] = 0;
}
