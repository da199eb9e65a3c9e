#!/usr/bin/env -S erltrace -s
/*
 * profile.d MODULE - where the time of the functions of a module goes: their own, by function and by process.
 *
 *   erltrace -p PID --for 10s -s scripts/profile.d lists
 *
 * A function's own time is that of its process running between its entry and its end, without what it calls of the same module; waiting
 * for a message does not count, and other modules' time is the caller's. MODULE may be a pattern, as in 'shop*'.
 *
 * page: view=list MODULE=lists
 */
#pragma D option quiet
#pragma D option strsize=512
#pragma D option dynvarsize=8m

self string stack; /* outermost first, a ; before and after each */
self uint64_t since;

erlang*:$1::entry,
erlang*:$1::return
/self->since/
{
    this->top = substr(self->stack, 0, strlen(self->stack) - 1);
    this->name = substr(this->top, rindex(this->top, ";") + 1);
    @function[this->name, copyinstr(arg0)] = sum(vtimestamp - self->since);
    @process[copyinstr(arg0), this->name] = sum(vtimestamp - self->since);
}

erlang*:$1::entry
{
    this->name = strjoin(probemod, strjoin(":", strjoin(probefunc, ";")));
    this->above = self->since ? self->stack : ";";
    this->on = rindex(this->above, strjoin(";", this->name));
    this->same = this->on >= 0 && this->on + 1 + strlen(this->name) == strlen(this->above);
    self->stack = this->same || strlen(this->above) > 400 ? this->above : strjoin(this->above, this->name);
    self->since = vtimestamp;
}

erlang*:$1::return
/self->since/
{
    this->on = rindex(self->stack, strjoin(";", strjoin(probemod, strjoin(":", strjoin(probefunc, ";")))));
    self->stack = this->on > 0 ? substr(self->stack, 0, this->on + 1) : this->on == 0 ? 0 : self->stack;
    self->since = this->on == 0 ? 0 : vtimestamp;
}

erlang*:::process-exit
/self->since/
{
    self->stack = 0;
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
}
