#pragma D option quiet

BEGIN
{
	@ = stddev(20);
	@ = stddev(40);
	normalize(@, 10);
	exit(0);
}
