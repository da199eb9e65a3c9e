#pragma D option quiet

BEGIN
{
	@["h"] = quantize(1);
	printa("[%s%@d]\n", @);
	exit(0);
}
