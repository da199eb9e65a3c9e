BEGIN
{
	printf();
	printf(5);
	printf("");
	printf("%@d", 1);
	printf('a');
}
