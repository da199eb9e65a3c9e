BEGIN
{
	trace(1);
	printf("|%d|", 2);
	trace("x");
	trace((char)3);
	exit(0);
}
