#!/usr/bin/env -S erltrace -s
/*
 * functions.d MODULE - how long a module's functions take, including what they call, and how often they are called.
 *
 *   erltrace -p PID --for 10s -s scripts/functions.d lists
 *
 * Tracing each call of a busy module costs its callers some hundred nanoseconds a call; of a function that
 * calls itself, only the innermost call is measured. MODULE may be a pattern, as in 'shop*'.
 *
 * page: view=list place=list MODULE=lists
 */
#pragma D option quiet

self uint64_t start[string];

erlang*:$1::return
/self->start[copyinstr(arg1)]/
{
    @["ns", copyinstr(arg1)] = quantize(timestamp - self->start[copyinstr(arg1)]);
    self->start[copyinstr(arg1)] = 0;
}

erlang*:$1::entry
{
    self->start[copyinstr(arg1)] = timestamp;
    @calls[copyinstr(arg1)] = count();
}

dtrace:::END
{
    printf("%-60s %10s\n", "FUNCTION", "CALLS");
    printa("%-60s %@10d\n", @calls);
    printa(@);
}
