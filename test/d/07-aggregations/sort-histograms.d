#pragma D option quiet

BEGIN
{
	@["some"] = quantize(4);
	@["more"] = quantize(2);
	@["more"] = quantize(4);
	@["zero"] = quantize(0);
	exit(0);
}
