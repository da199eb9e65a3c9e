#!/usr/bin/env -S erltrace -s
/*
 * flame.d MODULE - stacks of the functions of a module with their own time, for a flame graph.
 *
 *   erltrace -p PID --for 10s -s scripts/flame.d lists
 *
 * The time is nanoseconds that the process was running, so that waiting for a message does not count. A stack has the traced functions
 * only, one frame for a function that calls itself, and one that ends in a call of another stays below it until its caller
 * goes on. MODULE may be a pattern, as in 'shop*'. What the command prints is what flame graph tools read.
 *
 * page: view=flame MODULE=lists
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
    @stacks[self->stack] = sum(vtimestamp - self->since);
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
    printa("%s %@d\n", @stacks);
}
