#!/usr/bin/env -S erltrace -s
/*
 * erlcpu.d [PID] - which Erlang processes and functions use the processors, in each Erlang VM of this host, or in that of PID: samples and stacks.
 *
 *   erltrace --for 10s -s scripts/kernel/erlcpu.d
 *
 * The kernel samples each CPU 997 times a second. Unlike cpu.d this places nothing in a node, and shows what runs in the kernel and in C as well.
 *
 * page: view=flame PID=0
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option aggsize=16m

profile-997
/erlpid != "" && ($1 == 0 || pid == $1)/
{
    @samples[erlname, erlpid, erlfunc] = count();
    @stacks[stack(8), ustack(24)] = count();
}

dtrace:::END
{
    trunc(@stacks, 10);
    trunc(@samples, 30);
    printa(@stacks);
    printf("%-32s %-16s %-48s %8s\n", "NAME", "PROCESS", "FUNCTION", "SAMPLES");
    printa("%-32s %-16s %-48s %@8d\n", @samples);
}
