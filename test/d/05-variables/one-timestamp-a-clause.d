#pragma D option quiet

BEGIN
{
	t = timestamp;
	w = walltimestamp;
	printf("%d %d %d\n", t == timestamp, w == walltimestamp, t > 0);
}
BEGIN
{
	printf("%d %d\n", timestamp >= t, walltimestamp >= w);
	exit(0);
}
