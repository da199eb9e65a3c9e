#!/usr/bin/env -S erltrace -s
/*
 * erlfiles.d - the system calls that functions of file and prim_file make, by process and function, in the node of -p: how many, how long they took, and how long the functions did.
 *
 *   erltrace -p PID --for 10s -s scripts/kernel/erlfiles.d
 *
 * The function is the one that the program called: those that it calls in turn count as it. For files that were not opened raw, and for whole files, file_server_2 makes
 * the calls.
 */
#pragma D option quiet

erlang$target:file::entry, erlang$target:prim_file::entry
/depth[erlpid]++ == 0/
{
    within[erlpid] = probefunc;
}

erlang$target:file::return, erlang$target:prim_file::return, erlang$target:file::exception, erlang$target:prim_file::exception
/depth[erlpid] > 0 && --depth[erlpid] == 0/
{
    @took[erlname, within[erlpid]] = quantize(elapsed); /* which also has functions return that call another one at their end */
    @times[erlname, erlpid, within[erlpid]] = count();
    within[erlpid] = 0;
}

syscall:::entry
/pid == $target && depth[erlpid] > 0/
{
    self->at = timestamp;
    self->name = erlname;
    self->function = within[erlpid];
}

syscall:::return
/self->at/
{
    @calls[self->name, self->function, probefunc] = count();
    @us[self->name, self->function, probefunc] = sum((timestamp - self->at) / 1000);
    self->at = 0;
    self->name = 0;
    self->function = 0;
}

dtrace:::END
{
    trunc(@took, 5);
    trunc(@times, 20);
    trunc(@calls, 30);
    trunc(@us, 30);
    printf("ns in a function");
    printa(@took);
    printf("%-24s %-16s %-28s %10s\n", "NAME", "PROCESS", "FUNCTION", "TIMES");
    printa("%-24s %-16s %-28s %@10d\n", @times);
    printf("\n%-24s %-28s %-16s %10s\n", "NAME", "FUNCTION", "CALL", "COUNT");
    printa("%-24s %-28s %-16s %@10d\n", @calls);
    printf("\n%-24s %-28s %-16s %10s\n", "NAME", "FUNCTION", "CALL", "US IN ALL");
    printa("%-24s %-28s %-16s %@10d\n", @us);
}
