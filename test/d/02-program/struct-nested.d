#pragma D option quiet
struct outer { int a; struct inner { char b; long c; } in[2]; union { int d; char e[4]; } u; } v;
struct inner w;

BEGIN
{
	v.in[1].c = 5;
	v.in[0].b = 'x';
	v.u.d = 0x41424344;
	w = v.in[1];
	printf("%d %d %c %c%c\n", w.c, sizeof (v), v.in[0].b, v.u.e[0], v.u.e[3]);
	printf("%d %d %d\n", offsetof(struct outer, in), offsetof(struct outer, u), sizeof (struct inner));
	exit(0);
}
