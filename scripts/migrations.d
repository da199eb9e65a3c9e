#!/usr/bin/env -S erltrace -s
/*
 * migrations.d MODULE - calls that return on a different CPU from the one they entered on.
 *
 *   erltrace -p PID --for 10s -s scripts/migrations.d lists
 *
 * A process that waits, or uses up its time slice, inside a call may continue elsewhere, on a core whose caches are cold. The script shows,
 * for each function, its calls, and those that moved, with the two CPUs. Of recursive calls only the innermost counts. MODULE may be a
 * pattern, as in 'shop*'.
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
