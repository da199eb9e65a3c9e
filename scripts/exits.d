#!/usr/bin/env -S erltrace -s
/*
 * exits.d - which processes end, why, and how long they lived.
 *
 *   erltrace -p PID --for 10s -s scripts/exits.d
 *
 * Processes are shown by name; those of one name are counted together. The lifetimes are those of processes born while the script was running.
 */
#pragma D option quiet

erlang*:::process-spawn
{
    born[copyinstr(arg0)] = timestamp;
}

erlang*:::process-exit
{
    @why[erlname, copyinstr(arg1)] = count();
}

erlang*:::process-exit
/born[copyinstr(arg0)]/
{
    @life["life of a process, us", erlname] = quantize((timestamp - born[copyinstr(arg0)]) / 1000);
    born[copyinstr(arg0)] = 0;
}

dtrace:::END
{
    trunc(@why, 50);
    printf("%-40s %-40s %10s\n", "PROCESS", "REASON", "PROCESSES");
    printa("%-40s %-40s %@10d\n", @why);
    trunc(@life, 10);
    printa(@life);
}
