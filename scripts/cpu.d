#!/usr/bin/env -S erltrace -s
/*
 * cpu.d - what uses the processors: stacks of Erlang processes, sampled 97 times for each second of processor time of a scheduler.
 *
 *   erltrace -p PID --for 10s -s scripts/cpu.d
 *
 * A sample is taken wherever the process is, also in BIFs, NIFs and collections, so that shares are true. "- no process" is what the
 * schedulers themselves use, as they look for work, and sensitive processes; functions of native code, and files of it ([beam.smp]), are what
 * they are in then. The cost does not depend on the load.
 *
 * page: view=flame
 */
#pragma D option quiet

profile-97
{
    this->nobody = erlpid != "" ? "" : schedtype == "normal" ? "- no process" : "- no process, on a dirty scheduler";
    @functions[erlfunc != "" ? erlfunc : "- unknown"] = count();
    @processes[this->nobody != "" ? this->nobody : erlname] = count();
    @stacks[ustack(60)] = count();
}

dtrace:::END
{
    trunc(@functions, 15);
    printf("%-60s %8s\n", "FUNCTION", "SAMPLES");
    printa("%-60s %@8d\n", @functions);
    trunc(@processes, 15);
    printf("\n%-60s %8s\n", "PROCESS", "SAMPLES");
    printa("%-60s %@8d\n", @processes);
    trunc(@stacks, 20);
    printf("\nSTACKS\n");
    printa(@stacks);
}
