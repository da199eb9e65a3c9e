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
    this->to = erlname(arg1);
    @pairs[erlname, this->to] = count();
    @size["words in a message", erlname, this->to] = quantize(arg2);
}

dtrace:::END
{
    trunc(@pairs, 20);
    printf("%-40s %-40s %10s\n", "SENDER", "RECEIVER", "MESSAGES");
    printa("%-40s %-40s %@10d\n", @pairs);
    trunc(@size, 10);
    printa(@size);
}
