#!/usr/bin/env -S erltrace -s
/*
 * uneven.d - which processes keep which schedulers busy.
 *
 *   erltrace -p PID --for 10s -s scripts/uneven.d
 *
 * For each scheduler the time for which processes ran on it; then for the processes on each, and their reductions. A scheduler that one
 * process keeps busy is busier than others without reason: the VM moves processes, not their work. In a process's time is the time in which
 * the host gave the scheduler no processor.
 *
 * page: view=list
 */
#pragma D option quiet

erlang*:::process-scheduled
{
    self->since = timestamp;
    self->before = reductions;
}

erlang*:::process-unscheduled
/self->since/
{
    @schedulers[schedtype, sched] = sum((timestamp - self->since) / 1000);
    @us[schedtype, sched, erlname] = sum((timestamp - self->since) / 1000);
    @reductions[schedtype, sched, erlname] = sum(reductions - self->before);
    self->since = 0;
}

dtrace:::END
{
    trunc(@us, 20);
    trunc(@reductions, 20);
    printf("%-10s %6s %12s\n", "SCHEDULER", "", "RAN, us");
    printa("%-10s %6d %@12d\n", @schedulers);
    printf("\n%-10s %6s %-48s %12s\n", "SCHEDULER", "", "PROCESS", "RAN, us");
    printa("%-10s %6d %-48s %@12d\n", @us);
    printf("\n%-10s %6s %-48s %12s\n", "SCHEDULER", "", "PROCESS", "REDUCTIONS");
    printa("%-10s %6d %-48s %@12d\n", @reductions);
}
