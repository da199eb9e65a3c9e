#pragma D option quiet

BEGIN
{
	@ = quantize(1, 100);
	@ = quantize(2, 100);
	normalize(@, 10);
	exit(0);
}
