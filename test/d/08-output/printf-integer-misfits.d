struct s { int a; } g;
int v[1];
int *p;

BEGIN
{
	printf("%d", "s");
	printf("%x", v);
	printf("%u", g);
	printf("%o", p);
}
