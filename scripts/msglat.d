#!/usr/bin/env -S erltrace -s
/*
 * msglat.d MODULE FUNCTION - time in the mailbox, by receiver: from the sending of a message until a receive takes it out.
 *
 *   erltrace -p PID --for 10s -w -s scripts/msglat.d gen call/4
 *
 * The VM reports only of messages with a token of seq_trace when they are taken out. So those are measured that belong to requests which begin
 * with a call of the function: each message that its caller sends, and each that whoever gets one sends on. gen:call/4 is where the calls of
 * all behaviours begin. This needs -w. Each message is known by its sender and serial, so that the order in which messages are taken does not matter.
 * One that is never taken does not count. Messages between nodes are left out, since each node has a clock of its own. latency.d needs no
 * token, but ends when the receiver runs, whatever that takes out.
 *
 * page: view=heatmap
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option dynvarsize=8m

erlang*:$1:$2:entry
{
    follow();
}

erlang*:::trace_seq
/copyinstr(arg3) == "send" && substr(copyinstr(arg7), 0, 3) == "<0."/
{
    sent[copyinstr(arg1), copyinstr(arg6), copyinstr(arg7), arg5] = timestamp;
}

erlang*:::trace_seq
/copyinstr(arg3) == "receive"/
{
    this->sent = sent[copyinstr(arg1), copyinstr(arg6), copyinstr(arg7), arg5];
}

erlang*:::trace_seq
/copyinstr(arg3) == "receive" && this->sent/
{
    this->us = (timestamp - this->sent) / 1000;
    @messages[erlname] = count();
    @wait[erlname] = avg(this->us);
    @longest[erlname] = max(this->us);
    @["in the mailbox, us", erlname] = quantize(this->us);
    sent[copyinstr(arg1), copyinstr(arg6), copyinstr(arg7), arg5] = 0;
}

dtrace:::END
{
    printf("%-32s %10s %12s %12s\n", "RECEIVER", "MESSAGES", "AVG, us", "MAX, us");
    printa("%-32s %@10d %@12d %@12d\n", @messages, @wait, @longest);
    printa(@);
}
