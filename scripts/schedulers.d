#!/usr/bin/env -S erltrace -s
/*
 * schedulers.d - how busy the schedulers are, and what waits for them, each second.
 *
 *   erltrace -p PID -s scripts/schedulers.d
 *
 * BUSY is the mean of the normal schedulers, DIRTY CPU and DIRTY I/O those of the others, in percent; WAITING is the number of
 * processes and ports that are ready to run on normal schedulers. If many wait while schedulers are idle, something else holds
 * them up: see busy.d and long.d.
 */
#pragma D option quiet

string kind;
int used[string], n[string], waiting;

dtrace:::BEGIN
{
    printf("%20s %8s %10s %10s %10s\n", "", "BUSY", "DIRTY CPU", "DIRTY I/O", "WAITING");
}

erlang*:::scheduler-utilization
{
    kind = copyinstr(arg1);
    n[kind]++;
    used[kind] += arg2;
}

erlang*:::scheduler-run_queue
/copyinstr(arg1) == "normal"/
{
    waiting += arg2;
}

/* The last run queue of a round. Nothing is known of the schedulers if one of them did not answer in time. */
erlang*:::scheduler-run_queue
/copyinstr(arg1) == "dirty_io" && n["normal"]/
{
    printf("%20Y %8d %10d %10d %10d\n", walltimestamp, used["normal"] / (10 * n["normal"]),
           used["dirty_cpu"] / (10 * n["dirty_cpu"]), used["dirty_io"] / (10 * n["dirty_io"]), waiting);
    used["normal"] = used["dirty_cpu"] = used["dirty_io"] = 0;
    n["normal"] = n["dirty_cpu"] = n["dirty_io"] = 0;
}

erlang*:::scheduler-run_queue
/copyinstr(arg1) == "dirty_io"/
{
    waiting = 0;
}
