BEGIN
{
	@a[1] = count();
	trace(@a);
	trace(@a[1]);
}
