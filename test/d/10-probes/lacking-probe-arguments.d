/* the arguments of probes that we do not have are known, too: a number, a text */
erlang*:::user_trace-n950
{
	this->sum = args[2] + 1;
	printf("%d %s", args[3], args[6]);
}
erlang*:::port-control
/args[2] == "tcp_inet"/
{
	@[args[3]] = count();
}
