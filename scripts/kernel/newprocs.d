#!/usr/bin/env -S erltrace -s
/*
 * newprocs.d - each program that is started, by whom, and how long it has run when it ends.
 *
 *   erltrace --for 1m -s scripts/kernel/newprocs.d
 *
 * page: view=console
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("%-20s %8s %8s %6s %-16s\n", "WHEN", "PID", "PARENT", "UID", "PROGRAM");
}

proc:::exec-success
{
    began[pid] = timestamp;
    printf("%Y %8d %8d %6d %-16s\n", walltimestamp, pid, ppid, uid, execname);
}

proc:::exit
/began[pid] && pid == tid/
{
    @["ms from start to end", execname] = quantize((timestamp - began[pid]) / 1000000);
    began[pid] = 0;
}
