#pragma D option quiet
const int c;
volatile int v;
int const volatile cv;
const char *restrict p;
unsigned const long ul;

BEGIN
{
	c = 1;
	v = 2;
	cv = 3;
	ul = 4;
	printf("%d %d %d %d %d\n", c, v, cv, ul, sizeof (ul));
	exit(0);
}
