#pragma D option quiet
int zero, n;
BEGIN
{
	x = zero && 1 / zero;
	y = 1 || 1 / zero;
	z = zero ? 1 / zero : 5;
	w = !zero || n++;
	v = (n++, 0) && n++;
	printf("%d %d %d %d %d %d\n", x, y, z, w, v, n);
	u = (n++ ^^ n++);
	printf("%d %d\n", u, n);
	exit(0);
}
BEGIN { x = zero ^^ 1 / zero; }
