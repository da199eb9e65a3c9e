struct s { int a; } g;

BEGIN
{
	@a = count();
	normalize(@a, g);
}
