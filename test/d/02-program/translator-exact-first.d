/* The translator of the very type wins over an earlier one that the value would fit, too. */
#pragma D option quiet

struct out { int which; };
translator struct out < int i > { which = 1; };
translator struct out < char c > { which = 2; };
char small;

BEGIN
{
	small = 1;
	printf("%d %d %d\n", xlate <struct out> (small).which, xlate <struct out> (1).which,
	    xlate <struct out> (timestamp).which);
	exit(0);
}
