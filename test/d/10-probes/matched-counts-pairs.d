/* Clauses times probes. */
BEGIN, END, dtrace:::
{
	x = 1;
}
END
{
	x = 2;
}
BEGIN
{
	exit(0);
}
