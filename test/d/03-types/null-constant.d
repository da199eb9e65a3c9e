#pragma D option quiet

BEGIN
{
	x = NULL;
	printf("%d %d\n", x, sizeof (NULL));
	exit(0);
}
