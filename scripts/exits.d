#!/usr/bin/env -S erltrace -s
/*
 * exits.d - why processes end, and how long they lived.
 *
 *   erltrace -p PID --for 10s -s scripts/exits.d
 *
 * The lifetimes are those of processes born while the script was running.
 */
#pragma D option quiet

erlang*:::process-spawn
{
    born[copyinstr(arg0)] = timestamp;
}

erlang*:::process-exit
{
    @why[copyinstr(arg1)] = count();
}

erlang*:::process-exit
/born[copyinstr(arg0)]/
{
    @life["life of a process, us"] = quantize((timestamp - born[copyinstr(arg0)]) / 1000);
    born[copyinstr(arg0)] = 0;
}

dtrace:::END
{
    printf("%-60s %10s\n", "REASON", "PROCESSES");
    printa("%-60s %@10d\n", @why);
    printa(@life);
}
