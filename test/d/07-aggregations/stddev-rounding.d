#pragma D option quiet

/* The mean is cut, the mean of the squares is cut, the root is cut. */
BEGIN
{
	@["a"] = stddev(1);
	@["a"] = stddev(2);
	@["b"] = stddev(10);
	@["b"] = stddev(13);
	@["c"] = stddev(-3);
	@["c"] = stddev(4);
	@["one"] = stddev(77);
	exit(0);
}
