#!/usr/bin/env -S erltrace -s
/*
 * profile.d MODULE - where the time of the functions of a module goes: their own, by function and by process.
 *
 *   erltrace -p PID --for 10s -s scripts/profile.d lists
 *
 * A function's own time is that of its process running between its entry and its end, without what it calls of the same module; waiting
 * for a message does not count. It ends when it returns, when an exception leaves it, and when it ends in a call of another traced
 * function. The time of other modules is that of the function that called them, until it returns; where it ended in that call, until what
 * it called returns, as the VM tells of no such call. MODULE may be a pattern, as in 'shop*'.
 *
 * To see where exceptions go, each call leaves a frame on its process's stack until it returns. Of functions whose frames pile up, as a
 * server's loop, these probes are taken off, and the command says so: from then on a function that such a loop calls keeps the time
 * between an exception and the next call, if a function that is not traced catches it for another one.
 *
 * page: view=list MODULE=lists
 */
#pragma D option quiet
#pragma D option strsize=512
#pragma D option dynvarsize=8m

self string stack;   /* the functions that the process is in, outermost first, a ; between them */
self string ends;    /* where each of them ends there, four digits a function */
self uint64_t since; /* when the process came to be in these; 0: it is in none */

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
    this->in = substr(self->stack, rindex(self->stack, ";") + 1);
    @function[this->in, copyinstr(arg0)] = sum(vtimestamp - self->since);
    @process[copyinstr(arg0), this->in] = sum(vtimestamp - self->since);
}

/* What was at this depth, and above, is over. */
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

/* Between these and the function are some that another program watches. */
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
    trunc(@function, 50);
    trunc(@process, 50);
    printf("%-44s %-16s %14s\n", "FUNCTION", "PROCESS", "OWN, ns");
    printa("%-44s %-16s %@14d\n", @function);
    printf("\n%-16s %-44s %14s\n", "PROCESS", "FUNCTION", "OWN, ns");
    printa("%-16s %-44s %@14d\n", @process);
    printa("\n%@d calls are not in it: how deep they were is not known\n", @unknown);
    printa("\n%@d times it showed only later that functions had gone: the time until then is not in it\n", @gone);
}
