#!/usr/bin/env -S erltrace -s
/*
 * messages.d - which processes send most messages, which receive most, and how large the messages
 * are.
 *
 *   erltrace -p PID --for 10s -s scripts/messages.d
 *
 * Processes are shown by name; those of one name are counted together. Sizes are in words (8 bytes), without the data of large binaries.
 * Of messages to other nodes, those that the VM sends in parts (from about 1 MB on, or for a busy connection) are not seen here: distsends.d has them.
 */
#pragma D option quiet

erlang*:::message-send
{
    this->to = erlname(arg1);
    @pairs[erlname, this->to] = count();
    @size["words in a message", erlname, this->to] = quantize(arg2);
}

erlang*:::message-send-remote
{
    @remote = count();
}

dtrace:::END
{
    trunc(@pairs, 20);
    printf("%-40s %-40s %10s\n", "SENDER", "RECEIVER", "MESSAGES");
    printa("%-40s %-40s %@10d\n", @pairs);
    trunc(@size, 10);
    printa(@size);
    printa("\n%@d of all messages went to other nodes; distsends shows also those that are sent in parts, which are not seen here\n", @remote);
}
