#pragma D option quiet


#pragma D option destructive

BEGIN
{
	printf("before\n");
	system("echo command; echo '%s %d'", "with words", 7);
	printf("after\n");
	exit(0);
}
