int x;

BEGIN
{
	clear(x);
	trunc("a", 1);
	normalize(x, 1);
	printa(x);
}
