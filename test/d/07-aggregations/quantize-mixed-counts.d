#pragma D option quiet

BEGIN
{
	@ = quantize(1, -123);
	@ = quantize(4, 246);
	@ = quantize(2, -123);
	exit(0);
}
