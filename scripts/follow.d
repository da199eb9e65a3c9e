#!/usr/bin/env -S erltrace -s
/*
 * follow.d MODULE FUNCTION - requests on their way through processes and nodes: each message, how long its sender worked before, and how long it waited.
 *
 *   erltrace --node shop@host,store@host -w -s scripts/follow.d shop sell/4
 *
 * A request begins with a call of the function and ends when that call returns or fails. It is known by the number of the process that made the call. The VM gives
 * that process a token of seq_trace, which its messages carry on to whoever works for the request, also on other nodes. This needs -w. Nodes
 * that are not among those named pass the token on unseen.
 *
 * WORK is the time since the sender last took or sent a message of the request; WAIT the time from the sending to the moment a receive takes the
 * message out of the queue. A message to another node has two lines, one of each node; its WAIT is not known, since each node has a clock of its own.
 * TOTAL is by the clock of the node where the request began. Lines of several nodes come in blocks: within a request, STEP orders them.
 */
#pragma D option quiet
#pragma D option dynvarsize=8m

dtrace:::BEGIN
{
    printf("%-12s %5s  %-24s %-30s %-30s %10s %10s\n", "REQUEST", "STEP", "NODE", "FROM", "TO", "WORK, us", "WAIT, us");
}

erlang*:$1:$2:entry
{
    follow();
}

erlang*:$1:$2:entry
/self->depth++ == 0/
{
    self->began = self->last = timestamp;
    open[erlpid] = 1;
}

/* What comes after the request has ended still has its token. On other nodes that is not known. */
erlang*:::trace_seq
{
    this->label = copyinstr(arg1);
    this->mine = substr(this->label, 0, 3) != "<0." || open[this->label];
    this->request = strjoin("<", substr(strchr(this->label, '.'), 1));
    this->event = copyinstr(arg3);
    this->from = copyinstr(arg6);
    this->to = copyinstr(arg7);
}

erlang*:::trace_seq
/this->mine && this->event == "send"/
{
    this->work = self->last ? (timestamp - self->last) / 1000 : 0;
    self->last = timestamp;
}

erlang*:::trace_seq
/this->mine && this->event == "send" && substr(this->to, 0, 3) == "<0."/
{
    sent[this->label, this->from, arg5] = timestamp;
    work[this->label, this->from, arg5] = this->work;
}

erlang*:::trace_seq
/this->mine && this->event == "send" && substr(this->to, 0, 3) != "<0."/
{
    printf("%-12s %5d  %-24s %-30s %-30s %10d %10s\n", this->request, arg5, copyinstr(arg9), erlname, this->to, this->work, "-");
}

erlang*:::trace_seq
/this->mine && this->event == "receive"/
{
    self->last = timestamp;
    this->sent = sent[this->label, this->from, arg5];
}

erlang*:::trace_seq
/this->mine && this->event == "receive" && this->sent/
{
    printf("%-12s %5d  %-24s %-30s %-30s %10d %10d\n", this->request, arg5, copyinstr(arg9), erlname(arg6), erlname,
        work[this->label, this->from, arg5], (timestamp - this->sent) / 1000);
    sent[this->label, this->from, arg5] = 0;
    work[this->label, this->from, arg5] = 0;
}

erlang*:::trace_seq
/this->mine && this->event == "receive" && substr(this->from, 0, 3) != "<0."/
{
    printf("%-12s %5d  %-24s %-30s %-30s %10s %10s\n", this->request, arg5, copyinstr(arg9), this->from, erlname, "-", "-");
}

erlang*:$1:$2:return,
erlang*:$1:$2:exception
/self->depth > 0 && --self->depth == 0/
{
    this->request = strjoin("<", substr(strchr(erlpid, '.'), 1));
    printf("%-12s %5s  %s of %s:%s, TOTAL %d us, WORK since the last message %d us\n", this->request, "end", probename, probemod, probefunc,
        (timestamp - self->began) / 1000, (timestamp - self->last) / 1000);
    @["total, us", probemod, probefunc] = quantize((timestamp - self->began) / 1000);
    open[erlpid] = 0;
    self->began = self->last = 0;
}

erlang*:::process-exit
/self->depth/
{
    open[erlpid] = 0;
    self->depth = 0;
    self->began = self->last = 0;
}
