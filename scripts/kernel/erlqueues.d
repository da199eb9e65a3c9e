#!/usr/bin/env -S erltrace -s
/*
 * erlqueues.d - how long a process of the node of -p waits for its scheduler once a message has come, beside how long the scheduler's thread waits for a processor.
 *
 *   erltrace -p PID --for 10s -s scripts/kernel/erlqueues.d
 *
 * The first wait contains the second one, where the thread that the process is to run on has no processor. It does not include the time for which a message lies in the
 * queue of a process that waits for something else.
 */
#pragma D option quiet

erlang$target:::message-send
{
    sent[copyinstr(arg1)] = timestamp;
}

erlang$target:::process-scheduled
/sent[erlpid]/
{
    @vm["ns from a message to its receiver's turn", erlname] = quantize(timestamp - sent[erlpid]);
    @us["processes"] = sum((timestamp - sent[erlpid]) / 1000);
    sent[erlpid] = 0;
}

sched:::wakeup
/args[1]->pr_pid == $target/
{
    woken[args[0]->pr_lwpid] = timestamp;
}

sched:::off-cpu
/pid == $target && curlwpsinfo->pr_state == SRUN/
{
    woken[tid] = timestamp;
}

sched:::on-cpu
/pid == $target && woken[tid]/
{
    @machine["ns until a thread of the VM has a processor", execname] = quantize(timestamp - woken[tid]);
    @us["threads"] = sum((timestamp - woken[tid]) / 1000);
    woken[tid] = 0;
}

dtrace:::END
{
    trunc(@vm, 5);
    trunc(@machine, 5);
    printa(@vm);
    printa(@machine);
    printf("%-16s %16s\n", "WAITED", "US IN ALL");
    printa("%-16s %@16d\n", @us);
}
