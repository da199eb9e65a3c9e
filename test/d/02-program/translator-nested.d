#pragma D option quiet

struct inner { int a; int b; };
struct outer { struct inner in; int sum; struct inner *at; };
translator struct inner < int i > { a = i * 10; b = i * 100; };
translator struct outer < int i > {
	in = xlate <struct inner> (i + 1);
	sum = xlate <struct inner> (i).a + xlate <struct inner> (i).b;
	at = xlate <struct inner *> (i + 2);
};

BEGIN
{
	n = 1;
	printf("%d %d\n", xlate <struct outer> (n).in.a, xlate <struct outer> (n).in.b);
	printf("%d\n", xlate <struct outer *> (n)->sum);
	printf("%d\n", xlate <struct outer *> (n)->at->b);
	exit(0);
}
