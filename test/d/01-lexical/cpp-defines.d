#pragma D option quiet

BEGIN
{
	printf("%d %d %s\n", ONE, TWO, NAME);
#ifdef GONE
	printf("never\n");
#endif
	exit(0);
}
