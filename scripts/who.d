#!/usr/bin/env -S erltrace -s
/*
 * who.d - who sends messages to whom, and how much: for each receiver its senders, with messages and bytes.
 *
 *   erltrace -p PID --for 10s -s scripts/who.d
 *
 * Processes are shown by name; those of one name are counted together. Bytes are those of the message on the receiver's heap, without the data
 * of large binaries.
 * Of messages to other nodes, those that the VM sends in parts (from about 1 MB on, or for a busy connection) are not seen here: distsends.d has them.
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option aggsortpos=1
#pragma D option aggrows=30

erlang*:::message-send
{
    this->to = erlname(arg1);
    @n[this->to, erlname] = count();
    @bytes[this->to, erlname] = sum(8 * arg2);
    @size[this->to, erlname] = avg(8 * arg2);
}

erlang*:::message-send-remote
{
    @remote = count();
}

dtrace:::END
{
    printf("%-32s %-32s %10s %14s %10s\n", "RECEIVER", "SENDER", "MESSAGES", "BYTES", "EACH");
    printa("%-32s %-32s %@10d %@14d %@10d\n", @n, @bytes, @size);
    printa("\n%@d of all messages went to other nodes; distsends shows also those that are sent in parts, which are not seen here\n", @remote);
}
