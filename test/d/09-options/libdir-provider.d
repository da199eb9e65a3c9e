/* A library may define providers, whose probes then have typed arguments. */
#pragma D option quiet
#pragma D option zdefs

shop*:::sold
/args[0]->cents > 100/
{
	@[args[1]] = sum(args[0]->cents);
}

BEGIN { printf("fine\n"); exit(0); }
