#pragma D option quiet

/* A printa() of nothing counts as one. */
BEGIN
{
	printf("early\n");
}
BEGIN
/0/
{
	@a = count();
}
BEGIN
{
	printa("%@d\n", @a);
	exit(0);
}
END
{
	@a = count();
}
