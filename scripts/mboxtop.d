#!/usr/bin/env -S erltrace -s
/*
 * mboxtop.d - the processes with most messages in their queues, each second, and whether the queues grow.
 *
 *   erltrace -p PID -s scripts/mboxtop.d
 *
 * A queue is measured when its process is scheduled in, which each message to a waiting process causes, and once a second, also if the process does
 * nothing. GROWTH is the change since the process was first seen: a server that is always behind grows, one with bursts of work does not.
 *
 * page: view=console
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option aggrows=10

self int64_t first;

erlang*:::process-scheduled
/mqlen > 0/
{
    self->first = self->first ? self->first : mqlen;
    @longest[erlname, erlpid] = max(mqlen);
    @growth[erlname, erlpid] = max(mqlen - self->first);
}

erlang*:::process
/arg1 > 0/
{
    self->first = self->first ? self->first : arg1;
    @longest[erlname, erlpid] = max(arg1);
    @growth[erlname, erlpid] = max(arg1 - self->first);
}

erlang*:::process-exit
{
    self->first = 0;
}

profile:::tick-1sec
{
    printf("\n%Y\n%-32s %-16s %10s %10s\n", walltimestamp, "PROCESS", "", "MESSAGES", "GROWTH");
    printa("%-32s %-16s %@10d %@10d\n", @longest, @growth);
    trunc(@longest);
    trunc(@growth);
}
