#!/usr/bin/env -S erltrace -s
/*
 * calltimeouts.d - calls of gen_server and gen_statem that fail: who asked whom for what, and why the call failed.
 *
 *   erltrace -p PID -s scripts/calltimeouts.d
 *
 * A line for each call that exits: timeout, noproc, nodedown, or the reason for which the server ended. Calls that wait are not disturbed. While
 * this runs, each call leaves a frame on its caller's stack until it returns.
 */
#pragma D option quiet
#pragma D option zdefs
#pragma D option strsize=512

dtrace:::BEGIN
{
    printf("%-20s  %-24s  %-12s  %s\n", "TIME", "CALLER", "WHY", "CALL");
}

erlang*:gen_server:call/2:exception,
erlang*:gen_server:call/3:exception,
erlang*:gen_statem:call/2:exception,
erlang*:gen_statem:call/3:exception
/class == "exit"/
{
    this->why = term_element(reason, 1);
    printf("%Y  %-24s  %-12s  %s\n", walltimestamp, erlname,
        term_kind(this->why) == "atom" ? term_string(this->why) : "exit",
        term_text(term_element(term_element(reason, 2), 3)));
    @failed[erlname, term_text(term_element(term_element(term_element(reason, 2), 3), 1))] = count();
}
