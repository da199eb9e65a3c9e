struct s { int a; } g;

BEGIN
{
	printf("%p", "s");
	printf("%p", g);
}
