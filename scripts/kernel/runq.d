#!/usr/bin/env -S erltrace -s
/*
 * runq.d - how long threads that could run wait for a processor, by program, in microseconds.
 *
 *   erltrace --for 10s -s scripts/kernel/runq.d
 *
 * From when a thread loses the processor while it could go on, until it has one again.
 */
#pragma D option quiet

sched:::preempt
{
    self->since = timestamp;
}

sched:::on-cpu
/self->since/
{
    @["us", execname] = quantize((timestamp - self->since) / 1000);
    self->since = 0;
}
