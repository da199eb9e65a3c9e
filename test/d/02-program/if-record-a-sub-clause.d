/* Each run of statements between branches is a sub-clause, with a record and a line of its own. */
BEGIN
{
	trace(1);
	if (1)
		trace(2);
	else
		trace(3);
	trace(4);
	trace(5);
	exit(0);
}
