/* A slash divides when anything but a slash, a brace, a semicolon or the end follows. */
#pragma D option quiet

BEGIN
/(x = 40) / 4 == 10 && 9/3 == 3/ /* a comment may follow what closes a predicate */
{
	x /= 2;
	x = x /
	    5;
	printf("%d\n", x);
	exit(0);
}
