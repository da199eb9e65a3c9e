#pragma D option quiet

BEGIN
{
	@["x"] = lquantize(5, 0, 10, 5);
	@["w"] = lquantize(5, 0, 10, 5);
	exit(0);
}
