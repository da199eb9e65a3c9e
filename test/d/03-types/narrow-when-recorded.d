/* 200 in a char is kept in 64 bits until it is recorded, cast, stored or a key. */
#pragma D option quiet
char a, b, c;
BEGIN
{
	a = 100;
	b = 100;
	printf("%d %d %d\n", (a + b) > 0, (a + b) == 200, (long)(a + b));
	printf("%d %d\n", a + b, (char)(a + b));
	c = a + b;
	printf("%d\n", c);
	m[(char)1] = 5;
	m[a + b + 57] = 6;
	printf("%d %d\n", m[1], m[257]);
	@k[a + b] = sum(1);
	printa("%d %@d\n", @k);
	trunc(@k);
	exit(0);
}
