#pragma D option quiet

BEGIN
{
	@ = quantize(1);
	@ = quantize(2);
	@ = quantize(4);
	exit(0);
}
