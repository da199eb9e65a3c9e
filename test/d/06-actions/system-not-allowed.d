BEGIN
{
	system("echo never");
	exit(0);
}
