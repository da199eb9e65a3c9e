/* The value is evaluated before the target's keys. */
#pragma D option quiet
int i;
BEGIN
{
	i = 5;
	a[i++] = i;
	printf("%d %d %d\n", a[5], a[6], i);
	x = y = z = "same";
	printf("%s %s %s\n", x, y, z);
	exit(0);
}
