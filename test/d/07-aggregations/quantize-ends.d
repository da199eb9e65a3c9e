#pragma D option quiet

BEGIN
{
	@ = quantize(0x7fffffffffffffff);
	@ = quantize(0x4000000000000000);
	exit(0);
}
