#!/usr/bin/env -S erltrace -s
/*
 * calltimeouts.d - calls to processes that fail: who asked whom for what, and why the call failed.
 *
 *   erltrace -p PID -s scripts/calltimeouts.d
 *
 * A line for each call that exits: timeout, noproc, nodedown, or the reason for which the server ended. Seen are calls of gen_server, gen_statem,
 * gen_event, sys, RabbitMQ's gen_server2 and Elixir's GenServer and Agent, all of which go through gen:call/4; Elixir's Task.await/2; and erpc and
 * rpc, of which what failed in the called function itself is left out. While this runs, each of these calls leaves a frame on its caller's stack
 * until it returns.
 */
#pragma D option quiet
#pragma D option zdefs
#pragma D option strsize=512

dtrace:::BEGIN
{
    printf("%-20s  %-32s  %-12s  %-32s  %s\n", "TIME", "CALLER", "WHY", "SERVER", "REQUEST");
}

/* gen_statem may have another process call for the one that waits. */
erlang*:gen_statem:call/3:entry
{
    self->statem = 1;
}

erlang*:gen_statem:call/3:return,
erlang*:gen_statem:call/3:exception
{
    self->statem = 0;
}

/* call(Server, Request, Timeout); reason is {Why, {gen_statem, call, Arguments}}. */
erlang*:gen_statem:call/3:exception
/class == "exit"/
{
    this->why = element(1, reason);
    printf("%Y  %-32s  %-12s  %-32s  %s, %s ms\n", walltimestamp, erlname, is_atom(this->why) ? term_string(this->why) : "exit", erlname(argv[0]),
        term_text(argv[1]), term_text(argv[2]));
    @failed[erlname, erlname(argv[0]), is_atom(this->why) ? term_string(this->why) : "exit"] = count();
}

/* call(Server, Label, Request, Timeout) */
erlang*:gen:call/4:exception
/class == "exit" && !self->statem && index(erlname, "gen_statem:") != 0/
{
    this->why = is_tuple(reason) ? element(1, reason) : reason;
    printf("%Y  %-32s  %-12s  %-32s  %s, %s ms\n", walltimestamp, erlname, is_atom(this->why) ? term_string(this->why) : "exit", erlname(argv[0]),
        term_text(argv[2]), term_text(argv[3]));
    @failed[erlname, erlname(argv[0]), is_atom(this->why) ? term_string(this->why) : "exit"] = count();
}

/* Elixir looks for a name itself. */
erlang*:Elixir.GenServer:call/3:exception
/class == "exit" && !is_pid(argv[0]) && element(1, reason) == atom("noproc")/
{
    printf("%Y  %-32s  %-12s  %-32s  %s, %s ms\n", walltimestamp, erlname, "noproc", term_text(argv[0]), term_text(argv[1]), term_text(argv[2]));
    @failed[erlname, term_text(argv[0]), "noproc"] = count();
}

/* await(Task, Timeout); reason is {Why, {Task, await, Arguments}}. */
erlang*:Elixir.Task:await/2:exception
/class == "exit"/
{
    this->why = element(1, reason);
    printf("%Y  %-32s  %-12s  %-32s  await %s, %s ms\n", walltimestamp, erlname, is_atom(this->why) ? term_string(this->why) : "exit", erlname(argv[0].pid),
        term_text(argv[0].mfa), term_text(argv[1]));
    @failed[erlname, erlname(argv[0].pid), is_atom(this->why) ? term_string(this->why) : "exit"] = count();
}

/* call(Node, Module, Function, Arguments, Timeout or options), which rpc:call/5 calls as well. It may call itself: the innermost is told. */
erlang*:erpc:call/5:entry
{
    self->told = 0;
}

erlang*:erpc:call/5:exception
/class == "error" && element(1, reason) == atom("erpc") && !self->told/
{
    self->told = 1;
    printf("%Y  %-32s  %-12s  %-32s  %s:%s %s, %s ms\n", walltimestamp, erlname, term_text(element(2, reason)), term_text(argv[0]), term_text(argv[1]),
        term_text(argv[2]), term_text(argv[3]), term_text(is_map(argv[4]) ? argv[4].timeout : argv[4]));
    @failed[erlname, term_text(argv[0]), term_text(element(2, reason))] = count();
}

dtrace:::END
{
    printf("\n%-32s  %-32s  %-12s  %10s\n", "CALLER", "SERVER", "WHY", "FAILED");
    printa("%-32s  %-32s  %-12s  %@10d\n", @failed);
}
