/* One value in a clause however often it is read, also in its predicate; that of the next clause is not earlier. */
#pragma D option quiet
BEGIN
/(first = timestamp) > 0/
{
	same = first == timestamp && timestamp == timestamp;
	wall = walltimestamp;
	same = same && wall == walltimestamp;
}

BEGIN
{
	second = timestamp;
}

BEGIN
{
	printf("%d %d %d\n", same, second >= first, timestamp >= second);
	printf("%d\n", walltimestamp / 1000000000 > 1600000000);
	exit(0);
}
