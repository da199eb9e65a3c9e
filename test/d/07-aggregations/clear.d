#pragma D option quiet

BEGIN
{
	@c["k"] = count();
	@s["k"] = sum(5);
	@lo["k"] = min(5);
	@hi["k"] = max(5);
	@av["k"] = avg(5);
	clear(@c);
	clear(@s);
	clear(@lo);
	clear(@hi);
	clear(@av);
	exit(0);
}
