BEGIN
{
	printf("hi %s %d\n", "a\"b", 5);
	trace("t");
	trace(-7);
	exit(4);
}
