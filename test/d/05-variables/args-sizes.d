/* What the compiler knows about the types is constant; were it something else, the other branch
 * would be compiled, which is an error. */
#pragma D option quiet
#pragma D option zdefs

erlang*:::message-send
{
	trace(sizeof (args[0]) == sizeof (string) ? 1 : 1 / 0);
	trace(sizeof (args[2]) == 4 ? 1 : 1 / 0);
	trace(sizeof (args[5]) == 4 ? 1 : 1 / 0);
}

shop:::sold
{
	trace(args[0]);
}

provider shop { probe sold(char *what, short n); };

shop:::sold
{
	trace(sizeof (args[0]) == 8 ? 1 : 1 / 0);
	trace(sizeof (args[1]) == 2 ? 1 : 1 / 0);
	trace(sizeof (args[1]) == 4 ? 1 : 1 / 0);
}

BEGIN { exit(0); }
