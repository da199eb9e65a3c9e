int x;
#pragma D option quiet

BEGIN
{
	x = 1 << 30;
	printf("%d %d\n", (x + x) > 0, (int)(x + x));
	exit(0);
}
