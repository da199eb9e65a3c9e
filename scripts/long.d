#!/usr/bin/env -S erltrace -s
/*
 * long.d - garbage collections and turns on a scheduler that take long, and heaps that are large, as they happen.
 *
 *   erltrace -p PID -x longgc=50ms -x longschedule=50ms -x largeheap=1m -s scripts/long.d
 *
 * A long turn is usually a NIF or a BIF that does not yield: everything else on that scheduler waits. Before OTP 28 a node has
 * one system monitor; if another tool has it (in RabbitMQ sysmon_handler), this script is refused.
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("since %Y\n", walltimestamp);
}

erlang*:::gc-long
{
    printf("%Y %-16s %-32s collected for %d ms, %d words are left\n", walltimestamp, copyinstr(arg0), erlname(arg0), arg1, arg2 + arg3);
}

erlang*:::heap-large
{
    printf("%Y %-16s %-32s has a heap of %d words, %d of them in use\n", walltimestamp, copyinstr(arg0), erlname(arg0), arg1, arg2 + arg3);
}

erlang*:::schedule-long
{
    printf("%Y %-16s %-32s ran for %d ms, from %s to %s\n", walltimestamp, copyinstr(arg0), erlname(arg0), arg1, copyinstr(arg2), copyinstr(arg3));
}
