BEGIN
{
	trace(term_int(NULL));
	exit(0);
}
