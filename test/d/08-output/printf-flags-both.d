#pragma D option quiet

BEGIN
{
	printf("%-05d|%0-5d|\n", 42, 42);
	exit(0);
}
