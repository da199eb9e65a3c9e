#pragma D option quiet
/* fields fill from the least significant bit; one that does not fit its unit opens the next */
struct f { unsigned a:3; int b:5; unsigned c:20; unsigned d:8; unsigned long e:40; char g; };
union v { struct f f; unsigned u[2]; } x;
BEGIN
{
	x.f.a = 5;
	x.f.b = -3;
	x.f.c = 0xabcde;
	x.f.d = 0x1ff;
	x.f.e = 0xfedcba9876;
	x.f.g = 'z';
	printf("%d %d %x %x %x %c\n", x.f.a, x.f.b, x.f.c, x.f.d, x.f.e, x.f.g);
	printf("%x %x\n", x.u[0], x.u[1]);
	x.f.a++;
	x.f.b -= 20;
	printf("%d %d %x\n", x.f.a, x.f.b, x.u[0]);
	printf("%d\n", (x.f.a = 15));
	printf("%d %d\n", sizeof (struct f), offsetof(struct f, g));
	exit(0);
}
