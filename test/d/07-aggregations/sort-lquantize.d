#pragma D option quiet

/* Below the base counts as base - 1, from the limit on as one above. */
BEGIN
{
	@["a"] = lquantize(12, 0, 10, 5);
	@["b"] = lquantize(5, 0, 10, 5, 2);
	@["c"] = lquantize(-3, 0, 10, 5);
	@["d"] = lquantize(0, 0, 10, 5);
	exit(0);
}
