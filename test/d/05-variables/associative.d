#pragma D option quiet

BEGIN
{
	a["x", 1] = 5;
	a["x", 2] = 6;
	a["y", 1] = 7;
	printf("%d %d %d %d\n", a["x", 1], a["x", 2], a["y", 1], a["z", 9]);
	a["x", 1]++;
	a["n", 0]++;
	a["x", 2] += 10;
	printf("%d %d %d\n", a["x", 1], a["n", 0], a["x", 2]);
	exit(0);
}
