#pragma D option quiet

/* An entry that is missing counts as zero, which is not the smallest. */
BEGIN
{
	@a["one"] = sum(-5);
	@b["two"] = sum(1);
	printa("%s %@d %@d\n", @a, @b);
	exit(0);
}
