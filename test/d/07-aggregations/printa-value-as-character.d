BEGIN
{
	@a = count();
	printa("%@c\n", @a);
}
