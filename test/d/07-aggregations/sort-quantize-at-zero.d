#pragma D option quiet

/* Equal sums: the count at zero decides, then the key. */
BEGIN
{
	@["a"] = quantize(0, 2);
	@["a"] = quantize(1);
	@["b"] = quantize(0);
	@["b"] = quantize(1);
	@["c"] = quantize(0);
	@["c"] = quantize(1);
	exit(0);
}
