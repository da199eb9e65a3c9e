#pragma D option quiet

BEGIN
{
	@[7] = sum(42);
	printa("%8@d|%@8d|%-8@d|%@u|%@x|%@X|%@o|%@i\n", @);
	exit(0);
}
