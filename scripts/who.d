#!/usr/bin/env -S erltrace -s
/*
 * who.d - who sends messages to whom, and how much: for each receiver its senders, with messages and bytes.
 *
 *   erltrace -p PID --for 10s -s scripts/who.d
 *
 * Bytes are those of the message on the receiver's heap, without the data of large binaries.
 */
#pragma D option quiet
#pragma D option aggsortrev

erlang*:::message-send
{
    @n[args[1], args[0]] = count();
    @bytes[args[1], args[0]] = sum(8 * arg2);
    @size[args[1], args[0]] = avg(8 * arg2);
}

dtrace:::END
{
    trunc(@bytes, 30);
    printf("%-24s %-24s %10s %14s %10s\n", "RECEIVER", "SENDER", "MESSAGES", "BYTES", "EACH");
    printa("%-24s %-24s %@10d %@14d %@10d\n", @n, @bytes, @size);
}
