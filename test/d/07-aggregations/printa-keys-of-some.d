BEGIN
{
	@a[1, "x"] = count();
	@b[1, "x"] = count();
	@c[1, 2] = count();
	printa(@a, @b, @c);
}
