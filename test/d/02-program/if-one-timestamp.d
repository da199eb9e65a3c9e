#pragma D option quiet


BEGIN
{
	t = timestamp;
	if (t == timestamp)
		u = timestamp;
	printf("%d %d\n", t == u, t == timestamp);
	exit(0);
}
