/* Pointers step by what they point to; the difference of two is a long. */
#pragma D option quiet
struct s { long a; char b; } v[4];
short h[8];
short *p;
struct s *q;
BEGIN
{
	p = h;
	q = v;
	h[3] = 5;
	v[2].b = 'x';
	printf("%d %d %d\n", (uint64_t)(p + 1) - (uint64_t)p, (uint64_t)(q + 1) - (uint64_t)q, (uint64_t)p - (uint64_t)(p - 2));
	printf("%d %c %d\n", *(p + 3), (2 + q)->b, *(3 + h));
	printf("%d %d %d\n", &h[5] - p, &v[3] - q, sizeof (p - p));
	printf("%d %d\n", (p - &h[5]) < 0, &v[1] - &v[3]);
	p += 3;
	printf("%d %d %d\n", *p, p - h, *p++);
	p -= 2;
	printf("%d\n", --p - h);
	exit(0);
}
