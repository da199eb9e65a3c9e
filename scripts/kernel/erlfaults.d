#!/usr/bin/env -S erltrace -s
/*
 * erlfaults.d [PID] - page faults by Erlang process and function, in each Erlang VM of this host, or in that of PID: who makes the VM touch memory that it has not yet.
 *
 *   erltrace --for 10s -s scripts/kernel/erlfaults.d
 *
 * page: view=list PID=0
 */
#pragma D option quiet
#pragma D option defaultargs

vminfo:::as_fault
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    @faults[erlname, erlpid, erlfunc] = count();
    @stacks[ustack(12)] = count();
}

dtrace:::END
{
    trunc(@stacks, 5);
    trunc(@faults, 30);
    printa(@stacks);
    printf("%-32s %-16s %-48s %8s\n", "NAME", "PROCESS", "FUNCTION", "FAULTS");
    printa("%-32s %-16s %-48s %@8d\n", @faults);
}
