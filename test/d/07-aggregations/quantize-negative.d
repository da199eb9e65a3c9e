#pragma D option quiet

BEGIN
{
	@ = quantize(-1);
	@ = quantize(-5);
	@ = quantize(-8);
	@ = quantize(3);
	exit(0);
}
