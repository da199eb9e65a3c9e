/* One clause shows all that is wrong with it, each mistake once. */
BEGIN
/nosuch1 && "text"/
{
	a = nosuch2 + nosuch3;
	b = a * 2;
	strlen(5, nosuch4);
	printf("%d %s", nosuch5, 6);
	c = "x" + nosuch2;
	d.e = 1;
	@f[nosuch6] = sum(nosuch7);
	@g = nosuch8;
}
