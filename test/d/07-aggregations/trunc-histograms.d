#pragma D option quiet

BEGIN
{
	@["a"] = quantize(1);
	@["b"] = quantize(4);
	trunc(@, 1);
	exit(0);
}
