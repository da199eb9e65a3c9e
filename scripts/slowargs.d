#!/usr/bin/env -S erltrace -s
/*
 * slowargs.d MODULE FUNCTION MS - calls of a function that take longer than MS milliseconds: who called it with what, how long, and what it returned.
 *
 *   erltrace -p PID -s scripts/slowargs.d shop price 10
 *
 * FUNCTION may have its arity, as in price/2, and both may be patterns. Of a function that calls itself, the outermost call counts. Texts of arguments
 * and results are cut at the option strsize. While this runs, each call leaves a frame on the stack until it returns.
 */
#pragma D option quiet
#pragma D option strsize=512

dtrace:::BEGIN
{
    printf("%-24s  %9s  %s\n", "PROCESS", "MS", "CALL");
}

erlang*:$1:$2:entry
/self->depth[probemod, probefunc]++ == 0/
{
    self->began[probemod, probefunc] = timestamp;
    self->with[probemod, probefunc] = term_text(argv);
}

erlang*:$1:$2:return
/self->depth[probemod, probefunc] == 1 && timestamp - self->began[probemod, probefunc] > $3 * 1000000/
{
    this->us = (timestamp - self->began[probemod, probefunc]) / 1000;
    printf("%-24s  %5d.%03d  %s:%s %s -> %s\n", erlname, this->us / 1000, this->us % 1000, probemod, probefunc,
        self->with[probemod, probefunc], term_text(retval));
    @slow[probemod, probefunc] = quantize(this->us / 1000);
}

erlang*:$1:$2:return,
erlang*:$1:$2:exception
/self->depth[probemod, probefunc] > 0 && --self->depth[probemod, probefunc] == 0/
{
    self->began[probemod, probefunc] = 0;
    self->with[probemod, probefunc] = 0;
}
