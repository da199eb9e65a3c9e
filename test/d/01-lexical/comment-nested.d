BEGIN
{
	/* one /* two */
	trace(1);
}
