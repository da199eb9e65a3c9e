#pragma D option quiet

BEGIN
{
	@ = avg(500);
	@ = avg(500);
	@ = avg(0);
	normalize(@, 7);
	exit(0);
}
