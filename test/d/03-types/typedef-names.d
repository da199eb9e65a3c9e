int8_t a;
uint64_t b;
size_t c;
uchar_t d;
id_t e;
#pragma D option quiet

BEGIN
{
	a = -1;
	b = -1;
	c = -1;
	d = -1;
	e = -1;
	printf("%d %d %d %d %d\n", a, b, c, d, e);
	exit(0);
}
