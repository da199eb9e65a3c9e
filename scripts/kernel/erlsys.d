#!/usr/bin/env -S erltrace -s
/*
 * erlsys.d [PID] - system calls by Erlang process and function, in each Erlang VM of this host, or in that of PID: how many, how many failed, how long they took.
 *
 *   erltrace --for 10s -s scripts/kernel/erlsys.d
 *
 * The function is the one that has called into C. Nothing is switched on in the VMs.
 *
 * page: PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

syscall:::entry
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    self->at = timestamp;
}

syscall:::return
/self->at && erlpid != ""/
{
    @calls[erlname, erlpid, erlfunc, probefunc] = count();
    @took[erlname, erlpid, erlfunc, probefunc] = sum((timestamp - self->at) / 1000);
    @each[erlname, probefunc] = quantize(timestamp - self->at);
}

syscall:::return
/self->at && errno != 0 && erlpid != ""/
{
    @failed[erlname, erlpid, erlfunc, probefunc, errno] = count();
}

syscall:::return
{
    self->at = 0;
}

dtrace:::END
{
    trunc(@calls, 20);
    trunc(@took, 20);
    trunc(@failed, 10);
    trunc(@each, 3);
    printf("ns a call");
    printa(@each);
    printf("%-24s %-16s %-40s %-16s %10s\n", "NAME", "PROCESS", "FUNCTION", "CALL", "COUNT");
    printa("%-24s %-16s %-40s %-16s %@10d\n", @calls);
    printf("\n%-24s %-16s %-40s %-16s %10s\n", "NAME", "PROCESS", "FUNCTION", "CALL", "US IN ALL");
    printa("%-24s %-16s %-40s %-16s %@10d\n", @took);
    printf("\n%-24s %-16s %-40s %-16s %5s %6s\n", "NAME", "PROCESS", "FUNCTION", "CALL", "ERRNO", "FAILED");
    printa("%-24s %-16s %-40s %-16s %5d %@6d\n", @failed);
}
