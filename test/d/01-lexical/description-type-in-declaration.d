/* A word that names a type, up to a *, opens a declaration; BEGIN, END and ERROR never do. */
#pragma D option quiet
typedef int END;
uint16_t a;
int*p;
uint8_t*q, r;

BEGIN
{
	a = 70000;
	r = 300;
	printf("%d %d %d %d\n", a, r, sizeof (p), sizeof (*q));
	exit(0);
}

END
{
	printf("end\n");
}
