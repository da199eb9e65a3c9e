#pragma D option quiet

BEGIN
{
	@a["x"] = count();
	@a["y"] = count();
	@d["k"] = stddev(1);
	@d["k"] = stddev(5);
	clear(@a);
	clear(@d);
	exit(0);
}
