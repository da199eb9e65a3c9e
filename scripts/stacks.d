#!/usr/bin/env -S erltrace -s
/*
 * stacks.d - where processes spend their time: stacks, by the time for which processes had run when they stopped there.
 *
 *   erltrace -p PID --for 10s -s scripts/stacks.d
 *
 * A process stops when it waits, or when its turn of some 4,000 reductions is over. So a stack has the time of the whole turn, and calls at which
 * turns end are seen more often than others; a process that works for long is seen again and again. Nothing is paid for the calls themselves.
 *
 * page: view=flame
 */
#pragma D option quiet

erlang*:::process-scheduled
{
    self->began = timestamp;
}

erlang*:::process-unscheduled
/self->began/
{
    @us[erlname, ustack(40)] = sum((timestamp - self->began) / 1000);
    self->began = 0;
}

dtrace:::END
{
    trunc(@us, 20);
}
