#!/usr/bin/env -S erltrace -s
/*
 * births.d - process births and deaths, each second.
 *
 *   erltrace -p PID -s scripts/births.d
 *
 * A node that starts many more processes than it ends is leaking them; one that starts thousands a second may need
 * a pool. The script costs nothing between births and deaths.
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("%20s %10s %10s\n", "", "BIRTHS", "DEATHS");
}

erlang*:::process-spawn
{
    born++;
}

erlang*:::process-exit
{
    died++;
}

profile:::tick-1sec
{
    printf("%20Y %10d %10d\n", walltimestamp, born, died);
    born = 0;
    died = 0;
}
