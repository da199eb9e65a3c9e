#pragma D option quiet
#pragma D option zdefs

provider shop { probe count(int n); probe name(char *item) : (string item); };

shop123:::count,
shop*:::name,
BEGIN
/probename != "BEGIN"/
{
	trace(args[0]);
}

shop:::count,
shop:::name
{
	trace(args[0]);
	if (probename == "name")
		printf("%d", sizeof (args[0]));
}

BEGIN { exit(0); }
