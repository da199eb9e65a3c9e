#pragma D option quiet


int n;

BEGIN
{
	if (n = 5, n > 4)
		printf("%d\n", n);
	if ((n = 0))
		printf("never\n");
	if (-1)
		printf("any number but 0\n");
	exit(0);
}
