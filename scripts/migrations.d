#!/usr/bin/env -S erltrace -s
/*
 * migrations.d MODULE - calls that return on another CPU than they entered on.
 *
 *   erltrace -p PID --for 10s -s scripts/migrations.d lists
 *
 * A process that waits or runs out of its time slice inside a call may go on elsewhere, on a core whose caches know nothing of
 * it. For each function: its calls, and those that moved, from which CPU to which. Recursive calls count as their innermost. MODULE may be
 * a pattern, as in 'shop*'.
 */
#pragma D option quiet

erlang*:$1::entry
{
    self->from[copyinstr(arg1)] = cpu + 1;
}

erlang*:$1::return
/self->from[copyinstr(arg1)]/
{
    @calls["calls", copyinstr(arg1)] = count();
}

erlang*:$1::return
/self->from[copyinstr(arg1)] && self->from[copyinstr(arg1)] != cpu + 1/
{
    @moved["moved", copyinstr(arg1), self->from[copyinstr(arg1)] - 1, cpu] = count();
}

erlang*:$1::return
{
    self->from[copyinstr(arg1)] = 0;
}

dtrace:::END
{
    printa("%-8s %-40s %@12d\n", @calls);
    printa("%-8s %-40s from CPU %3d to %3d %@12d\n", @moved);
}
