#pragma D option quiet

BEGIN
{
	@ = quantize(1, -3);
	@ = quantize(2, -1);
	exit(0);
}
