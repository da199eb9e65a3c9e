BEGIN
{
	trace((void)1);
	trace(bcopy("x", alloca(1), 1));
}
