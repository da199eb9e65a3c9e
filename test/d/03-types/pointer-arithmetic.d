#pragma D option quiet
struct s { int a, b, c; };
struct s v[4];
int i[4];
BEGIN
{
	v[2].b = 5;
	i[3] = 6;
	p = &v[0];
	p += 2;
	printf("%d ", p->b);
	p--;
	printf("%d %d\n", p[1].b, (p + 1)->b);
	printf("%d %d\n", p - &v[0], &i[3] - &i[0]);
	printf("%d %d %d\n", &i[3] > &i[2], &i[1] == i + 1, 1 + &i[2] == &i[3]);
	printf("%d\n", (uint64_t)&v[1] - (uint64_t)&v[0]);
	q = &i[0];
	printf("%d %d\n", *q++ == i[0], q - &i[0]);
	printf("%d\n", *(int *)((char *)&i[0] + 12));
	exit(0);
}
