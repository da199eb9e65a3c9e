#!/usr/bin/env -S erltrace -s
/*
 * calllat.d - calls of gen_server and gen_statem, by server: how long requests lay in the server's queue, and how long it took to answer them.
 *
 *   erltrace -p PID --for 10s -s scripts/calllat.d
 *
 * A request is followed by its tag, from its sending to the server's callback (queue) and from there to its reply (service), which another process
 * may send. Times are in microseconds. Calls of processes on other nodes have no sending here, and are left out.
 *
 * page: view=heatmap
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option zdefs
#pragma D option dynvarsize=8m

erlang*:::message-send
/term_string(term_element(message, 1)) == "$gen_call"/
{
    this->tag = term_text(term_element(term_element(message, 2), 2));
    sent[this->tag] = timestamp;
    server[this->tag] = erlname(arg1);
}

/* handle_call(Request, From, State) */
erlang*::handle_call/3:entry
/sent[term_text(term_element(argv[1], 2))]/
{
    this->tag = term_text(term_element(argv[1], 2));
    taken[this->tag] = timestamp;
}

/* loop_event(Parameters, Debug, State, Event, ...), from OTP 28 on with a list of events; Event is {{call, From}, Request} */
erlang*:gen_statem:loop_event/5:entry
{
    this->event = term_kind(argv[3]) == "list" ? term_element(argv[3], 1) : argv[3];
    this->tag = term_text(term_element(term_element(term_element(this->event, 1), 2), 2));
}

erlang*:gen_statem:loop_event/5:entry
/sent[this->tag]/
{
    taken[this->tag] = timestamp;
}

/* {Tag, Reply} */
erlang*:::message-send
/taken[term_text(term_element(message, 1))]/
{
    this->tag = term_text(term_element(message, 1));
    this->queue = (taken[this->tag] - sent[this->tag]) / 1000;
    this->service = (timestamp - taken[this->tag]) / 1000;
    @calls[server[this->tag]] = count();
    @queue[server[this->tag]] = avg(this->queue);
    @longest[server[this->tag]] = max(this->queue);
    @service[server[this->tag]] = avg(this->service);
    @slowest[server[this->tag]] = max(this->service);
    @["queue, us", server[this->tag]] = quantize(this->queue);
    @["service, us", server[this->tag]] = quantize(this->service);
    sent[this->tag] = taken[this->tag] = 0;
    server[this->tag] = 0;
}

dtrace:::END
{
    printf("%-32s %8s %12s %12s %12s %12s\n", "SERVER", "CALLS", "QUEUE AVG", "MAX", "SERVICE AVG", "MAX");
    printa("%-32s %@8d %@12d %@12d %@12d %@12d\n", @calls, @queue, @longest, @service, @slowest);
    printa(@);
}
