#!/usr/bin/env -S erltrace -s
/*
 * spawns.d - functions that processes are started with, and how often.
 *
 *   erltrace -p PID --for 10s -s scripts/spawns.d
 *
 * Servers and other behaviours of OTP are shown by their callback module, funs by the module and their number in it. A process that is started
 * under a name in global or in a registry is shown by that.
 */
#pragma D option quiet

erlang*:::process-spawn
{
    @[erlname] = count();
}

dtrace:::END
{
    printf("%-60s %10s\n", "STARTED WITH", "PROCESSES");
    printa("%-60s %@10d\n", @);
}
