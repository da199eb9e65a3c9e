#!/usr/bin/env -S erltrace -s
/*
 * distsends.d - messages to other nodes: who sends how many to which node, and whose messages are sent in parts or wait for the connection.
 *
 *   erltrace -p PID --for 10s -s scripts/distsends.d
 *
 * The VM reports no sending of a message that is too large to be sent at once (from about 1 MB on), or for which the connection is busy. The probe
 * send-in_parts sees such a sender as it leaves its scheduler within the sending: IN PARTS counts these messages, of which several in a row, with no
 * other message between them, are one. SLICES is how often the sender left, and LONGEST how long one of these messages took, in microseconds. Nothing
 * tells their sizes. From OTP 27 on, a small message whose sender then has to wait is no sending either: only BUSY CONNECTION has it.
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option aggrows=30

erlang*:::send-in_parts
{
    @parts[erlname] = count();
    @slices[erlname] = sum(arg1);
    @longest[erlname] = max(arg2 / 1000);
}

erlang*:::message-send-remote
{
    @sent[erlname, args[1]] = count();
    @bytes[erlname, args[1]] = sum(8 * arg3);
}

erlang*:::dist-port_busy
{
    @busy[args[2], erlname(arg3)] = count();
}

dtrace:::END
{
    printf("%-32s %-32s %10s %14s\n", "SENDER", "NODE", "MESSAGES", "BYTES");
    printa("%-32s %-32s %@10d %@14d\n", @sent, @bytes);
    printf("\n%-32s %10s %10s %14s\n", "SENDER", "IN PARTS", "SLICES", "LONGEST");
    printa("%-32s %@10d %@10d %@14d\n", @parts, @slices, @longest);
    printf("\n%-32s %-32s %10s\n", "BUSY CONNECTION", "SENDER THAT WAITS", "TIMES");
    printa("%-32s %-32s %@10d\n", @busy);
}
