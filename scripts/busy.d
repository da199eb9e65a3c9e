#!/usr/bin/env -S erltrace -s
/*
 * busy.d - processes that wait because a port, or the connection to another node, is busy: how long, and for which.
 *
 *   erltrace -p PID --for 10s -s scripts/busy.d
 *
 * The cause is a program at the other end of a port that does not read, or a node that is slow or behind a slow network.
 * Larger buffers (+zdbbl for connections) only hide short peaks.
 */
#pragma D option quiet

dtrace:::BEGIN
{
    printf("since %Y\n", walltimestamp);
}

erlang*:::port-not_busy
{
    @took["for a port, ns", erlname] = quantize(arg2);
    @where[copyinstr(arg0)] = sum(arg2 / 1000);
    @who[erlpid, erlname] = sum(arg2 / 1000);
}

erlang*:::dist-port_not_busy
{
    @took["for a node, ns", erlname] = quantize(arg4);
    @where[copyinstr(arg2)] = sum(arg4 / 1000);
    @who[erlpid, erlname] = sum(arg4 / 1000);
}

dtrace:::END
{
    trunc(@took, 10);
    printa(@took);
    trunc(@where, 10);
    printf("%-40s %16s\n", "PORT OR NODE", "WAITED, us");
    printa("%-40s %@16d\n", @where);
    trunc(@who, 10);
    printf("\n%-16s %-48s %16s\n", "PROCESS", "NAME", "WAITED, us");
    printa("%-16s %-48s %@16d\n", @who);
}
