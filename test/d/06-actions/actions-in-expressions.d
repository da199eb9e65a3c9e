int x;

BEGIN
{
	x = printf("x");
	x = 1 + exit(0);
	x = clear(@a);
	x = tracemem(x, 4);
	x = printa("x");
}
