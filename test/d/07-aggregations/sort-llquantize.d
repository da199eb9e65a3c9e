#pragma D option quiet

BEGIN
{
	@["x"] = llquantize(2, 10, 0, 1, 10, 2);
	@["y"] = llquantize(3, 10, 0, 1, 10);
	@["z"] = llquantize(-3, 10, 0, 1, 10);
	exit(0);
}
