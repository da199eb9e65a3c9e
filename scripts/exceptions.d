#!/usr/bin/env -S erltrace -s
/*
 * exceptions.d MODULE - functions of a module that were left by an exception, caught or not.
 *
 *   erltrace -p PID --for 10s -s scripts/exceptions.d lists
 *
 * An exception is counted in each function of the module that it passes through. MODULE may be a
 * pattern, as in 'shop*'.
 */
#pragma D option quiet

erlang*:$1::exception
{
    @[copyinstr(arg1)] = count();
}

dtrace:::END
{
    printf("%-60s %10s\n", "FUNCTION", "EXCEPTIONS");
    printa("%-60s %@10d\n", @);
}
