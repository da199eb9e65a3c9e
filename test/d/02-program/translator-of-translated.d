#pragma D option quiet

struct one { int n; };
struct two { int m; };
translator struct one < int i > { n = i + 1; };
translator struct two < struct one o > { m = o.n * 2; };

BEGIN
{
	k = 4;
	printf("%d\n", xlate <struct two> (xlate <struct one> (k)).m);
	exit(0);
}
