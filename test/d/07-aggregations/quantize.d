#pragma D option quiet

BEGIN
{
	@ = quantize(0);
	@ = quantize(1);
	@ = quantize(5);
	@ = quantize(7);
	exit(0);
}
