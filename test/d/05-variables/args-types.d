/* The types that the erlang provider's probes have. No such probe is in the local tier, so that
 * nothing but BEGIN fires. */
#pragma D option quiet
#pragma D option zdefs

erlang*:::message-send
{
	@sent[args[0], args[1] == "<0.1.0>"] = sum(args[2]);
	this->size = args[2];
	this->label = args[3];
}

erlang*:lists::entry
/args[1] == "lists:map/2" && args[2] < 0/
{
	printf("%s %d\n", args[0], args[2]);
}

BEGIN
{
	printf("compiled\n");
	exit(0);
}
