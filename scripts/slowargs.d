#!/usr/bin/env -S erltrace -s
/*
 * slowargs.d MODULE FUNCTION MS - calls of a function that take longer than MS milliseconds: who called it with what, how long, and what it returned.
 *
 *   erltrace -p PID -s scripts/slowargs.d shop price 10
 *
 * FUNCTION may have its arity, as in price/2, and both may be patterns. Of a function that calls itself, each slow call counts. Texts of arguments
 * and results are cut at the option strsize, and arguments also at argsize. While this runs, each call leaves a frame on the stack until it returns.
 */
#pragma D option quiet
#pragma D option strsize=512

dtrace:::BEGIN
{
    printf("%-24s  %9s  %s\n", "PROCESS", "MS", "CALL");
}

erlang*:$1:$2:return
/elapsed > $3 * 1000000/
{
    this->us = elapsed / 1000;
    printf("%-24s  %5d.%03d  %s:%s %s -> %s\n", erlname, this->us / 1000, this->us % 1000, probemod, probefunc, term_text(argv), term_text(retval));
    @slow[probemod, probefunc] = quantize(this->us / 1000);
}
