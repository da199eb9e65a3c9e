#!/usr/bin/env -S erltrace -s
/*
 * calllat.d [MS] - calls of gen_server, gen_statem and gen_event, by server: how long requests lay in the server's queue, and how long it took to answer.
 *
 *   erltrace -p PID --for 10s -s scripts/calllat.d
 *
 * A request is followed by its tag, from its sending to the server's callback (queue) and from there to its reply (service), which another process
 * may send. Times are in microseconds. With MS, each call that takes longer than MS milliseconds has a line of its own: tag, caller, server and
 * request. A caller that gives up, since its time is over or the server has ended, has waited until then; an answer that comes nevertheless is told
 * as too late. Of casts, and of events that gen_event is notified of, only the queue is known; equal ones to one server are told apart by their
 * order. Calls and casts of processes on other nodes have no sending here, and are left out. What is never answered or handled keeps its place in
 * memory.
 *
 * page: view=heatmap
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option zdefs
#pragma D option defaultargs
#pragma D option dynvarsize=16m

uint64_t casts[string, size_t], handled[string, size_t], cast[string, size_t, uint64_t];

int64_t limit;

dtrace:::BEGIN
{
    limit = $1 > 0 ? $1 * 1000000 : 0x7fffffffffffffff;
}

erlang*:::message-send
/is_gen_call[message]/
{
    this->id = gen_call_id[message];
    sent[this->id] = timestamp;
    server[this->id] = erlname(arg1);
    serverpid[this->id] = copyinstr(arg1);
    asker[this->id] = erlname;
    self->asks = this->id;
    request[this->id] = $1 > 0 ? term_text(gen_call_request[message]) : "-";
}

/* call(Server, Label, Request, Timeout) */
erlang*:gen:call/4:exception
/class == "exit" && sent[self->asks]/
{
    gone[self->asks] = 1;
    this->waited = (timestamp - sent[self->asks]) / 1000;
    @gaveup[asker[self->asks], server[self->asks]] = count();
    @patience[asker[self->asks], server[self->asks]] = avg(this->waited);
    @longestpatience[asker[self->asks], server[self->asks]] = max(this->waited);
}

erlang*:gen:call/4:exception
/class == "exit" && sent[self->asks] && (int64_t)(timestamp - sent[self->asks]) > limit/
{
    printf("%Y %s %s asked %s for %s: gave up after %d us\n", walltimestamp, self->asks, asker[self->asks], server[self->asks], request[self->asks],
        (timestamp - sent[self->asks]) / 1000);
}

erlang*:gen:call/4:exception
/class == "exit"/
{
    self->asks = 0;
}

/* Equal casts that one server has not handled yet are numbered. */
erlang*:::message-send
/is_gen_cast[message] || is_gen_notify[message]/
{
    this->cast = term_hash(gen_cast_request[message]);
    cast[copyinstr(arg1), this->cast, casts[copyinstr(arg1), this->cast]++] = timestamp;
}

/* handle_call(Request, From, State) */
erlang*::handle_call/3:entry
/sent[gen_from_id[argv[1]]]/
{
    taken[gen_from_id[argv[1]]] = timestamp;
}

/* handle_cast(Request, State) */
erlang*::handle_cast/2:entry
{
    this->cast = term_hash(argv[0]);
}

/* loop_event(Parameters, Debug, State, Event, ...), from OTP 28 on with a list of events; Event is {{call, From}, Request} or {cast, Request} */
erlang*:gen_statem:loop_event/5:entry
{
    this->event = is_list(argv[3]) ? hd(argv[3]) : argv[3];
    this->id = gen_from_id[element(2, element(1, this->event))];
    this->cast = element(1, this->event) == atom("cast") ? term_hash(element(2, this->event)) : 0;
}

/* handle_msg(Message, ...) */
erlang*:gen_event:handle_msg:entry
{
    this->id = gen_call_id[argv[0]];
    this->cast = is_gen_notify[argv[0]] ? term_hash(gen_cast_request[argv[0]]) : 0;
}

erlang*:gen_statem:loop_event/5:entry,
erlang*:gen_event:handle_msg:entry
/sent[this->id]/
{
    taken[this->id] = timestamp;
}

erlang*::handle_cast/2:entry,
erlang*:gen_statem:loop_event/5:entry,
erlang*:gen_event:handle_msg:entry
/this->cast && (this->sent = cast[erlpid, this->cast, handled[erlpid, this->cast]])/
{
    @casts[erlname, erlpid] = count();
    @castqueue[erlname, erlpid] = avg((timestamp - this->sent) / 1000);
    @castlongest[erlname, erlpid] = max((timestamp - this->sent) / 1000);
    @["queue of casts, us", erlname] = quantize((timestamp - this->sent) / 1000);
    cast[erlpid, this->cast, handled[erlpid, this->cast]++] = 0;
}

erlang*::handle_cast/2:entry,
erlang*:gen_statem:loop_event/5:entry,
erlang*:gen_event:handle_msg:entry
/this->cast && handled[erlpid, this->cast] == casts[erlpid, this->cast]/
{
    handled[erlpid, this->cast] = 0;
    casts[erlpid, this->cast] = 0;
}

erlang*:::message-send
/is_gen_reply[message] && taken[gen_reply_id[message]]/
{
    this->id = gen_reply_id[message];
    this->server = server[this->id];
    this->queue = (taken[this->id] - sent[this->id]) / 1000;
    this->service = (timestamp - taken[this->id]) / 1000;
    this->pid = serverpid[this->id];
    @calls[this->server, this->pid] = count();
    @queue[this->server, this->pid] = avg(this->queue);
    @longest[this->server, this->pid] = max(this->queue);
    @service[this->server, this->pid] = avg(this->service);
    @slowest[this->server, this->pid] = max(this->service);
    @["queue, us", this->server] = quantize(this->queue);
    @["service, us", this->server] = quantize(this->service);
}

erlang*:::message-send
/is_gen_reply[message] && taken[gen_reply_id[message]] && !gone[gen_reply_id[message]]/
{
    this->id = gen_reply_id[message];
    this->waited = (timestamp - sent[this->id]) / 1000;
    @callers[asker[this->id], server[this->id]] = count();
    @waited[asker[this->id], server[this->id]] = avg(this->waited);
    @most[asker[this->id], server[this->id]] = max(this->waited);
}

erlang*:::message-send
/is_gen_reply[message] && gone[gen_reply_id[message]]/
{
    this->id = gen_reply_id[message];
    @late[asker[this->id], server[this->id]] = count();
}

erlang*:::message-send
/is_gen_reply[message] && taken[gen_reply_id[message]] && (int64_t)(timestamp - sent[gen_reply_id[message]]) > limit/
{
    this->id = gen_reply_id[message];
    printf("%Y %s %s asked %s for %s: queue %d us, service %d us%s\n", walltimestamp, this->id, asker[this->id], server[this->id], request[this->id],
        (taken[this->id] - sent[this->id]) / 1000, (timestamp - taken[this->id]) / 1000, gone[this->id] ? ", too late" : "");
}

erlang*:::message-send
/is_gen_reply[message] && sent[gen_reply_id[message]]/
{
    this->id = gen_reply_id[message];
    sent[this->id] = taken[this->id] = 0;
    gone[this->id] = 0;
    server[this->id] = 0;
    serverpid[this->id] = 0;
    asker[this->id] = 0;
    request[this->id] = 0;
}

dtrace:::END
{
    printf("%-32s %-14s %8s %12s %12s %12s %12s\n", "SERVER", "PROCESS", "CALLS", "QUEUE AVG", "MAX", "SERVICE AVG", "MAX");
    printa("%-32s %-14s %@8d %@12d %@12d %@12d %@12d\n", @calls, @queue, @longest, @service, @slowest);
    printf("\n%-32s %-32s %8s %12s %12s\n", "CALLER", "SERVER", "CALLS", "WAITED AVG", "MAX");
    printa("%-32s %-32s %@8d %@12d %@12d\n", @callers, @waited, @most);
    printf("\n%-32s %-32s %8s %12s %12s %14s\n", "CALLER", "SERVER", "GAVE UP", "AFTER AVG", "MAX", "ANSWERED LATE");
    printa("%-32s %-32s %@8d %@12d %@12d %@14d\n", @gaveup, @patience, @longestpatience, @late);
    printf("\n%-32s %-14s %8s %12s %12s\n", "SERVER", "PROCESS", "CASTS", "QUEUE AVG", "MAX");
    printa("%-32s %-14s %@8d %@12d %@12d\n", @casts, @castqueue, @castlongest);
    printa(@);
}
