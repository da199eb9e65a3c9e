BEGIN
{
	system("exit 7");
}
BEGIN
{
	system("kill -9 $$");
	exit(4);
}
