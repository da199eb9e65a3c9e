#!/usr/bin/env -S erltrace -s
/*
 * erlwait.d [PID] - how long Erlang processes keep their scheduler thread off the processor, by process, function and system call.
 *
 *   erltrace --for 10s -s scripts/kernel/erlwait.d
 *
 * While a thread sleeps in the kernel for one process, its scheduler runs no other: a slow disk shows here, a lock, and a machine with too
 * few processors ("preempted").
 *
 * page: view=list PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall:::entry
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->call = probefunc;
}

syscall:::return
{
    self->call = 0;
}

sched:::off-cpu
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->off = timestamp;
    self->name = erlname;
    self->process = erlpid;
    self->function = erlfunc;
}

sched:::on-cpu
/self->off/
{
    this->in = self->call == NULL ? "preempted" : self->call;
    @total[self->name, self->process, self->function, this->in] = sum((timestamp - self->off) / 1000);
    @longest[self->name, self->process, self->function, this->in] = max((timestamp - self->off) / 1000);
}

sched:::on-cpu
{
    self->off = 0;
    self->name = 0;
    self->process = 0;
    self->function = 0;
}

dtrace:::END
{
    trunc(@total, 20);
    trunc(@longest, 20);
    printf("%-24s %-16s %-40s %-16s %10s\n", "NAME", "PROCESS", "FUNCTION", "IN", "US IN ALL");
    printa("%-24s %-16s %-40s %-16s %@10d\n", @total);
    printf("\n%-24s %-16s %-40s %-16s %10s\n", "NAME", "PROCESS", "FUNCTION", "IN", "US AT MOST");
    printa("%-24s %-16s %-40s %-16s %@10d\n", @longest);
}
