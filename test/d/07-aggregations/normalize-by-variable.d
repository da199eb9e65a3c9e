#pragma D option quiet

uint64_t n;

BEGIN
{
	n = 4;
	@ = sum(1000);
	normalize(@, n * 2);
	exit(0);
}
