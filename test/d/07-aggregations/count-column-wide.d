#pragma D option quiet

BEGIN
{
	@ = quantize(1, 12345678901);
	@ = quantize(2, 123456789);
	exit(0);
}
