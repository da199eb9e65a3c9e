#pragma D option quiet

#pragma D option destructive

BEGIN
{
	printf("one ");
	system("printf two");
	printf(" three ");
	system("printf %s%d", "four", 4);
	printf("\n");
	exit(0);
}
