#pragma D option quiet
int n;
BEGIN
{
	x = (n++, n++, n);
	y = ("text", 5);
	z = (5, "text");
	n++, n++;
	printf("%d %d %s %d %d\n", x, y, z, n, sizeof ((1L, 'a')));
	exit(0);
}
