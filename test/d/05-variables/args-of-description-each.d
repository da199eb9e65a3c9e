/* A clause is compiled once for each of its descriptions: args[0] is a number in one and a string
 * in the other. */
#pragma D option quiet
#pragma D option zdefs

provider shop { probe count(int n); probe name(char *item) : (string item); };

shop123:::count,
shop*:::name
{
	trace(args[0]);
	@[args[0]] = count();
}

BEGIN { exit(0); }
