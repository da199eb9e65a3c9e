#!/usr/bin/env -S erltrace -s
/*
 * messages.d - which processes send most messages, which receive most, and how large the messages
 * are.
 *
 *   erltrace -p PID --for 10s -s scripts/messages.d
 *
 * Processes are shown by name; those of one name are counted together. Sizes are in words (8 bytes), without the data of large binaries.
 */
#pragma D option quiet

erlang*:::message-send
{
    @pairs[erlname, erlname(arg1)] = count();
    @size["words in a message"] = quantize(arg2);
}

dtrace:::END
{
    trunc(@pairs, 20);
    printf("%-40s %-40s %10s\n", "SENDER", "RECEIVER", "MESSAGES");
    printa("%-40s %-40s %@10d\n", @pairs);
    printa(@size);
}
