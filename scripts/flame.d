#!/usr/bin/env -S erltrace -s
/*
 * flame.d MODULE - stacks of a module's functions with their own time, for a flame graph.
 *
 *   erltrace -p PID --for 10s -s scripts/flame.d lists
 *
 * The time is nanoseconds for which the process was running, so waiting for a message does not count. A stack has only the traced
 * functions, and one frame for a function that calls itself; a function that ends in a tail call of another traced function is replaced by
 * it. The time of other modules belongs to the function that called them, until it returns; if it called them by a tail call, until that
 * call returns, as the VM does not report such calls. MODULE may be a pattern, as in 'shop*'. Flame graph tools read what the command
 * prints.
 *
 * To follow exceptions, each call leaves a frame on its process's stack until it returns. For functions whose frames pile up, such as a
 * server's loop, these probes are removed, and the command says so: from then on a function called by such a loop is charged for the time
 * between an exception and the next call, if a function that is not traced catches the exception.
 *
 * page: view=flame MODULE=lists
 */
#pragma D option quiet
#pragma D option strsize=512
#pragma D option dynvarsize=8m

self string stack;   /* the functions that the process is in, outermost first, separated by ; */
self string ends;    /* where each of them ends in that, four digits a function */
self uint64_t since; /* when that list last changed; 0: the process is in none */

erlang*:$1::entry
{
    this->gone = arg3;
}

erlang*:$1::return,
erlang*:$1::exception,
erlang*:::exception-caught
{
    this->gone = 0;
}

erlang*:$1::entry,
erlang*:$1::return,
erlang*:$1::exception,
erlang*:::exception-caught
/self->since && self->stack != "" && !this->gone/
{
    @stacks[self->stack] = sum(vtimestamp - self->since);
}

/* The functions at this depth and above have ended. */
erlang*:$1::entry,
erlang*:$1::return,
erlang*:$1::exception,
erlang*:::exception-caught
/self->since && arg2 > 0/
{
    this->rest = (arg2 < 100 ? arg2 : 100) - 1;
    self->stack = this->rest > 0 ? substr(self->stack, 0, strtoll(substr(self->ends, 4 * this->rest - 4, 4))) : 0;
    self->ends = this->rest > 0 ? substr(self->ends, 0, 4 * this->rest) : 0;
    self->since = this->rest > 0 ? vtimestamp : 0;
}

erlang*:$1::entry
{
    this->stack = self->since ? self->stack : "";
    this->ends = self->since ? self->ends : "";
    this->missing = 4 * (arg2 - 1) - strlen(this->ends);
}

/* Between these functions and the called one are others, which another program traces. */
erlang*:$1::entry
/arg2 < 100 && this->missing > 0/
{
    this->fill = this->ends == "" ? "0000" : substr(this->ends, strlen(this->ends) - 4);
    this->fill = strjoin(this->fill, strjoin(this->fill, strjoin(this->fill, this->fill)));
    this->fill = strjoin(this->fill, strjoin(this->fill, strjoin(this->fill, this->fill)));
    this->fill = strjoin(this->fill, strjoin(this->fill, strjoin(this->fill, this->fill)));
    this->ends = strjoin(this->ends, substr(this->fill, 0, this->missing));
}

erlang*:$1::entry
/arg2 > 0/
{
    this->name = strjoin(probemod, strjoin(":", probefunc));
    this->last = substr(this->stack, rindex(this->stack, ";") + 1);
    self->stack = this->stack == "" ? this->name
        : this->last == this->name || strlen(this->stack) > 400 ? this->stack
        : strjoin(this->stack, strjoin(";", this->name));
    self->ends = strjoin(this->ends, substr(lltostr(10000 + strlen(self->stack)), 1));
    self->since = vtimestamp;
}

erlang*:$1::entry
/self->since && this->gone/
{
    @gone = count();
}

erlang*:$1::entry
/arg2 <= 0/
{
    @unknown = count();
}

erlang*:::process-exit
/self->since/
{
    self->stack = 0;
    self->ends = 0;
    self->since = 0;
}

dtrace:::END
{
    printa("%s %@d\n", @stacks);
    printa("# %@d calls are left out: their depth is not known\n", @unknown);
    printa("# %@d times functions were found to have ended only later: the time until then is left out\n", @gone);
}
