#pragma D option quiet

/* By the average, not by the sum. */
BEGIN
{
	@["a"] = avg(10);
	@["a"] = avg(10);
	@["a"] = avg(10);
	@["b"] = avg(20);
	printa("%s ", @);
	exit(0);
}
