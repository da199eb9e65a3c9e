/*
 * A typical script of a runbook: latencies of one server's calls as a heat map, which processes
 * wait for which, and what the garbage collector takes, each second.
 */
#pragma D option quiet
#pragma D option aggsortrev
#pragma D option strsize=64

inline int SLOW = 10 * 1000 * 1000;	/* ns */

dtrace:::BEGIN
{
	start = timestamp;
	lines = 0;
	slow = 0;
	printf("%-20s %8s %8s\n", "TIME", "CALLS", "SLOW");
}

erlang*:gen_server:try_handle_call*:entry
{
	self->ts = timestamp;
	self->who = copyinstr(arg0);
}

erlang*:gen_server:try_handle_call*:return
/self->ts != 0/
{
	this->ns = timestamp - self->ts;
	this->us = this->ns / 1000;
	@calls = count();
	@heat["latency (us)"] = llquantize(this->us, 10, 0, 6, 20);
	@second[(timestamp - start) / 1000000000] = lquantize(this->us, 0, 10000, 200);
	@who[self->who, probemod] = sum(this->ns);
	@worst[self->who] = max(this->ns);
	@mean[self->who] = avg(this->ns);
	slow += this->ns > SLOW ? 1 : 0;
	self->ts = 0;
	self->who = 0;
}

erlang*:::gc_minor-start { self->gc = timestamp; }

erlang*:::gc_minor-end
/self->gc/
{
	@gc["gc (ns)", probename] = quantize(timestamp - self->gc);
	self->gc = 0;
}

erlang*:::message-send
/arg2 > 1024/
{
	@large[copyinstr(arg0), copyinstr(arg1)] = count();
	@size = stddev(arg2);
}

profile:::tick-1sec
{
	printf("%-20Y ", walltimestamp);
	printa("%@8d ", @calls);
	printf("%8d\n", slow);
	clear(@calls);
	slow = 0;
	lines++;
}

profile:::tick-10sec
/lines > 0/
{
	trunc(@who, 10);
	printa("%-24s %-24s %@12d\n", @who);
	normalize(@mean, 1000);
	printa("%-24s %@8d us, at most %@12d ns\n", @mean, @worst);
}

dtrace:::END
{
	printa(@heat);
	printa(@gc);
	printa(@size);
}
