#!/usr/bin/env -S erltrace -s
/*
 * functions.d MODULE - how long a module's functions take, in all and of their own, and how often they are called.
 *
 *   erltrace -p PID --for 10s -s scripts/functions.d lists
 *
 * TOTAL is the time of a function's calls with all that they call; of calls within calls of the same function only the outermost counts. OWN leaves
 * out what other calls of functions of the module took. A call ends where it returns, or with a tail call of another function of the module. Times
 * are in nanoseconds, and include what tracing costs: some hundred nanoseconds a call. MODULE may be a pattern, as in 'shop*'.
 *
 * page: view=list place=list MODULE=lists
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option dynvarsize=16m

/* The calls that a process is in, by their depth: since when, of what, and the time of the calls that they have made. */
self uint64_t start[int64_t], inner[int64_t];
self string name[int64_t];
/* The depth of the outermost call of a function. */
self int64_t outer[string];

/* One that made a tail call. */
erlang*:$1::entry
/arg2 > 0 && self->start[arg2]/
{
    this->took = timestamp - self->start[arg2];
    @own[self->name[arg2]] = sum(this->took - self->inner[arg2]);
    @total[self->name[arg2]] = sum(self->outer[self->name[arg2]] == arg2 ? this->took : 0);
    @["ns", self->name[arg2]] = quantize(this->took);
    self->outer[self->name[arg2]] = self->outer[self->name[arg2]] == arg2 ? 0 : self->outer[self->name[arg2]];
    self->inner[arg2 - 1] += arg2 > 1 ? this->took : 0;
}

erlang*:$1::entry
/arg2 > 0/
{
    self->name[arg2] = copyinstr(arg1);
    self->inner[arg2] = 0;
    self->outer[copyinstr(arg1)] = self->outer[copyinstr(arg1)] && self->outer[copyinstr(arg1)] < arg2 ? self->outer[copyinstr(arg1)] : arg2;
    @calls[copyinstr(arg1)] = count();
    self->start[arg2] = timestamp;
}

erlang*:$1::return
/arg2 > 0 && self->start[arg2]/
{
    this->took = timestamp - self->start[arg2];
    @own[copyinstr(arg1)] = sum(this->took - self->inner[arg2]);
    @total[copyinstr(arg1)] = sum(self->outer[copyinstr(arg1)] == arg2 ? this->took : 0);
    @["ns", copyinstr(arg1)] = quantize(this->took);
    self->outer[copyinstr(arg1)] = self->outer[copyinstr(arg1)] == arg2 ? 0 : self->outer[copyinstr(arg1)];
    self->inner[arg2 - 1] += arg2 > 1 ? this->took : 0;
    self->start[arg2] = 0;
    self->inner[arg2] = 0;
    self->name[arg2] = 0;
}

dtrace:::END
{
    printf("%-60s %10s %16s %16s\n", "FUNCTION", "CALLS", "TOTAL NS", "OWN NS");
    printa("%-60s %@10d %@16d %@16d\n", @calls, @total, @own);
    printa(@);
}
