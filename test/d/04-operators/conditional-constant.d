/* A constant condition chooses when the program is compiled; the other branch is not looked at. */
#pragma D option quiet
inline int DEBUG = 0;
BEGIN
{
	x = 1 ? 5 : nosuch;
	y = 0 ? "text" : 6;
	z = DEBUG ? strlen(5) : 7;
	w = !DEBUG ? 8 : 1 / 0;
	printf("%d %d %d %d\n", x, y, z, w);
	exit(0);
}
