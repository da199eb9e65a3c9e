#pragma D option quiet

struct box { int twice; char text[16]; };
translator struct box < int i > {
	twice = i * 2;
	text = i > 5 ? "large" : "small";
};

BEGIN
{
	n = 3;
	printf("%d %s\n", xlate < struct box > (n).twice, xlate < struct box > (n).text);
	printf("%d %s\n", xlate < struct box > (4 + 4).twice, xlate < struct box > (4 + 4).text);
	printf("%d\n", xlate < struct box > ((char)7).twice);
	exit(0);
}
