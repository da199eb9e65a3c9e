#!/usr/bin/env -S erltrace -s
/*
 * syscalls.d [PID] - system calls by program and call: how many, how many failed, how long they took in all.
 *
 *   erltrace --for 10s -s scripts/kernel/syscalls.d
 *
 * page: view=list PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall:::entry
/$1 == 0 || pid == $1/
{
    self->at = timestamp;
}

syscall:::return
/self->at/
{
    @calls[execname, pid, probefunc] = count();
    @total[execname, pid, probefunc] = sum((timestamp - self->at) / 1000);
}

syscall:::return
/self->at && errno != 0/
{
    @failed[execname, pid, probefunc, errno] = count();
}

syscall:::return
{
    self->at = 0;
}

dtrace:::END
{
    trunc(@calls, 20);
    trunc(@total, 20);
    trunc(@failed, 10);
    printf("%-16s %8s %-20s %12s\n", "PROGRAM", "PID", "CALL", "COUNT");
    printa("%-16s %8d %-20s %@12d\n", @calls);
    printf("\n%-16s %8s %-20s %12s\n", "PROGRAM", "PID", "CALL", "US IN ALL");
    printa("%-16s %8d %-20s %@12d\n", @total);
    printf("\n%-16s %8s %-20s %5s %6s\n", "PROGRAM", "PID", "CALL", "ERRNO", "FAILED");
    printa("%-16s %8d %-20s %5d %@6d\n", @failed);
}
