/* The input is evaluated once, however often the member's expression has it, or does not. */
#pragma D option quiet

struct many { int thrice; int none; };
translator struct many < int i > { thrice = i + i + i; none = 7; };

BEGIN
{
	n = 5;
	printf("%d", xlate <struct many> (n++).thrice);
	printf(" %d\n", n);
	printf("%d", xlate <struct many> (++n).none);
	printf(" %d\n", n);
	exit(0);
}
