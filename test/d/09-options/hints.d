/* A misspelt option is answered with the nearest name, a bad value with the form of values. */
#pragma D option quite
#pragma D option switchrate=often
#pragma D option bufpolicy=round
BEGIN
{
	exit(0);
}
