#pragma D option quiet

BEGIN
{
	@ = sum(1);
	@_ = sum(2);
	@a1[5] = sum(4);
	@strlen = sum(8);
	@if = sum(16);
	printa("%@d ", @);
	printa("%@d ", @a1);
	printa("%@d ", @strlen);
	printa("%@d\n", @if);
	trunc(@);
	trunc(@a1);
	trunc(@strlen);
	trunc(@if);
	exit(0);
}
