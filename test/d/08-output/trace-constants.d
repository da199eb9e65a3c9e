/* A constant is recorded with the type that it has. */
BEGIN
{
	trace(1);
	trace(1L);
	trace(1u);
	trace(1UL);
	trace('a');
	trace(sizeof (int));
	exit(0);
}
