#pragma D option quiet

BEGIN
{
	@["big"] = stddev(0);
	@["big"] = stddev(100);
	@["none"] = stddev(1000);
	printa("%s ", @);
	exit(0);
}
