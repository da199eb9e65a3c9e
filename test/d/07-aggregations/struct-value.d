struct s { int a; };
struct s g;

BEGIN
{
	@a = sum(g);
	@b = avg(g);
	@c = quantize(g);
	@d = lquantize(g, 0, 1);
}
