int x;

BEGIN
{
	@a = count();
	x = (@a, 1);
	x = (1, @a[1]);
	x = x ? @a : 2;
	x = x ? 1 : @a;
}
