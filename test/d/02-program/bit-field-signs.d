#pragma D option quiet
struct s { int a:1; unsigned b:1; long c:33; char d:8; } v;

BEGIN
{
	v.a = 1;
	v.b = 1;
	v.c = 0x100000000;
	v.d = 200;
	printf("%d %d %d %d\n", v.a, v.b, v.c, v.d);
	v.b++;
	v.a += 1;
	printf("%d %d\n", v.b, v.a);
	exit(0);
}
