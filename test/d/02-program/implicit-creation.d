#pragma D option quiet

BEGIN
{
	x++;
	y = 5;
	z = "text";
	++w;
	printf("%d %d %s %d %d\n", x, y, z, w, sizeof (x));
	exit(0);
}
