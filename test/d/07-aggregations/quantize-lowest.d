#pragma D option quiet

BEGIN
{
	@ = quantize(-0x7fffffffffffffff - 1);
	@ = quantize(-0x4000000000000000);
	@ = quantize(-0x3fffffffffffffff);
	exit(0);
}
