#pragma D option quiet

BEGIN
{
	a[1, 2, 3, 4, "five", 6, 7, 8] = 9;
	printf("%d %d\n", a[1, 2, 3, 4, "five", 6, 7, 8], a[1, 2, 3, 4, "five", 6, 7, 0]);
	exit(0);
}
