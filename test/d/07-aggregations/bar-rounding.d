#pragma D option quiet

BEGIN
{
	@a = quantize(1, 79);
	@a = quantize(2);
	@b = quantize(1, 81);
	@b = quantize(2);
	exit(0);
}
