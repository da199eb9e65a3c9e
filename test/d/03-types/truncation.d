uint8_t a;
int8_t b;
uint16_t c;
int16_t d;
uint32_t e;
int32_t f;
#pragma D option quiet

BEGIN
{
	a = 300;
	b = 200;
	c = 65537;
	d = 40000;
	e = -1;
	f = 0xffffffff;
	printf("%d %d %d %d %d %d\n", a, b, c, d, e, f);
	exit(0);
}
