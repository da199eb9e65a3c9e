#pragma D option quiet
struct s { int a; int n[4]; struct t { char c; } t; } v, *p;
int arr[3], *ip;
BEGIN
{
	v.n[2] = 7;
	v.t.c = 'x';
	arr[1] = 8;
	ip = &v.n[2];
	printf("%d %d %c\n", *ip, *&arr[1], *&v.t.c);
	printf("%d %d\n", &v.n[2] - &v.n[0], (uint64_t)&v.t - (uint64_t)&v.a);
	p = (struct s *)&v.a;
	ip = &p->n[2];
	printf("%d %d\n", *ip, sizeof (&v.n));
	printf("%d %d\n", &*ip == ip, &ip[1] - ip);
	exit(0);
}
