/* An anonymous field takes its bits and has no name; one of width 0 is ignored. */
#pragma D option quiet
struct s { unsigned char a:2, :0, b:2, :3, c:1; };
union u { struct s s; unsigned char byte; } v;

BEGIN
{
	v.s.a = 1;
	v.s.b = 2;
	v.s.c = 1;
	printf("%d %d\n", sizeof (struct s), v.byte);
	exit(0);
}
