BEGIN
{
	printf("[%?d][%-?d][%?x]\n", 42, 42, 255);
	exit(0);
}
