struct s { int a; } g;
int n;

BEGIN
{
	tracemem(g, 4);
	tracemem(n, n);
	tracemem(n, -1);
	tracemem(n, "x");
	tracemem(n, 4, "x");
}
