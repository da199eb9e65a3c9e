#!/usr/bin/env -S erltrace -s
/*
 * calls.d MODULE - calls of the functions of a module, each second: the ten most called.
 *
 *   erltrace -p PID -s scripts/calls.d ets
 *
 * MODULE may be a pattern, as in 'shop*'.
 *
 * page: view=console MODULE=ets
 */
#pragma D option quiet

erlang*:$1::entry
{
    @[copyinstr(arg1)] = count();
}

profile:::tick-1sec
{
    trunc(@, 10);
    printf("\n%Y\n", walltimestamp);
    printa("%-60s %@10d\n", @);
    clear(@);
}
