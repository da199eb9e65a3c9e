#pragma D option quiet

/* Each power of two opens a bucket, on both sides. */
BEGIN
{
	@ = quantize(2);
	@ = quantize(3);
	@ = quantize(4);
	@ = quantize(-2);
	@ = quantize(-3);
	@ = quantize(-4);
	exit(0);
}
