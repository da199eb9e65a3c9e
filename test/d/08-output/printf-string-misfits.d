struct s { int a; } g;
int v[1];
char *p;

BEGIN
{
	printf("%s", 5);
	printf("%s", p);
	printf("%S", 5);
	printf("%s", g);
	printf("%s", v);
}
