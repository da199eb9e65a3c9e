#!/usr/bin/env -S erltrace -s
/*
 * spawns.d - functions that processes are started with, and how often.
 *
 *   erltrace -p PID --for 10s -s scripts/spawns.d
 *
 * Processes started from funs all show as erlang:apply/2, those of OTP behaviours as proc_lib:init_p/5.
 */
#pragma D option quiet

erlang*:::process-spawn
{
    @[copyinstr(arg1)] = count();
}

dtrace:::END
{
    printf("%-60s %10s\n", "STARTED WITH", "PROCESSES");
    printa("%-60s %@10d\n", @);
}
