/* A member has the type that the output struct gives it. */
#pragma D option quiet

struct narrow { char c; unsigned char u; short s; };
translator struct narrow < int i > { c = i; u = i; s = i; };

BEGIN
{
	n = 0x1ff80;
	printf("%d %d %d\n", xlate <struct narrow> (n).c, xlate <struct narrow> (n).u,
	    xlate <struct narrow> (n).s);
	printf("%d\n", sizeof (xlate <struct narrow> (n).s));
	exit(0);
}
