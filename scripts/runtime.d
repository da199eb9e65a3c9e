#!/usr/bin/env -S erltrace -s
/*
 * runtime.d - which processes use the schedulers, and in what slices.
 *
 *   erltrace -p PID --for 10s -s scripts/runtime.d
 *
 * The first table shows time in milliseconds, the histogram the length of a slice in microseconds.
 */
#pragma D option quiet

erlang*:::process-scheduled
{
    self->since = timestamp;
}

erlang*:::process-unscheduled
/self->since/
{
    @busy[erlpid, erlname] = sum(timestamp - self->since);
    @slice["slice, us", erlname] = quantize((timestamp - self->since) / 1000);
    self->since = 0;
}

dtrace:::END
{
    trunc(@busy, 20);
    normalize(@busy, 1000000);
    printf("%-16s %-48s %10s\n", "PROCESS", "NAME", "MS");
    printa("%-16s %-48s %@10d\n", @busy);
    trunc(@slice, 10);
    printa(@slice);
}
