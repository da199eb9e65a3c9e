struct s { int a; } g;

BEGIN
{
	exit(g);
	exit("0");
}
