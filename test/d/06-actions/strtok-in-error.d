#pragma D option quiet


/* ERROR is a firing of its own: it begins without a string, and disturbs none. */
int zero;

BEGIN
{
	printf("%s\n", strtok("a b c", " "));
}
BEGIN
{
	x = 1 / zero;
}
BEGIN
{
	printf("%s\n", strtok(NULL, " "));
	exit(0);
}
ERROR
{
	printf("%s\n", strtok("error text", " "));
}
ERROR
{
	printf("%s\n", strtok(NULL, " "));
}
