#pragma D option quiet
int x, y, z, a[2];
BEGIN
{
	x = y = z = 5;
	printf("%d %d %d\n", x, y, z);
	x -= y -= 2;
	printf("%d %d\n", x, y);
	printf("%d %d\n", 1 ? 2 : 1 ? 3 : 4, z == 1 ? 10 : z == 5 ? 50 : 0);
	printf("%d %d %d %d\n", -~5, ~-5, !!z, - -z);
	a[1] = 300;
	printf("%d %d\n", *&a[1], (int)(char)a[1]);
	exit(0);
}
