#!/usr/bin/env -S erltrace -s
/*
 * profile.d MODULE - where the time of a module's functions goes: own time, by function and by process.
 *
 *   erltrace -p PID --for 10s -s scripts/profile.d lists
 *
 * Processes are shown by name; those of one name are counted together. A function's own time is the time for which its process runs between its entry and its end, without what it calls in the same module;
 * waiting for a message does not count. A function ends when it returns, when an exception leaves it, and when it ends in a tail call of
 * another traced function. The time of other modules belongs to the function that called them, until it returns; if it called them by a
 * tail call, until that call returns, as the VM does not report such calls. MODULE may be a pattern, as in 'shop*'.
 *
 * To follow exceptions, each call leaves a frame on its process's stack until it returns. For functions whose frames pile up, such as a
 * server's loop, these probes are removed, and the command says so: from then on a function called by such a loop is charged for the time
 * between an exception and the next call, if a function that is not traced catches the exception.
 *
 * page: view=list MODULE=lists
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
    this->in = substr(self->stack, rindex(self->stack, ";") + 1);
    @function[this->in, erlname] = sum(vtimestamp - self->since);
    @process[erlname, this->in] = sum(vtimestamp - self->since);
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
    trunc(@function, 50);
    trunc(@process, 50);
    printf("%-44s %-32s %14s\n", "FUNCTION", "PROCESS", "OWN, ns");
    printa("%-44s %-32s %@14d\n", @function);
    printf("\n%-32s %-44s %14s\n", "PROCESS", "FUNCTION", "OWN, ns");
    printa("%-32s %-44s %@14d\n", @process);
    printa("\n%@d calls are left out: their depth is not known\n", @unknown);
    printa("\n%@d times functions were found to have ended only later: the time until then is left out\n", @gone);
}
