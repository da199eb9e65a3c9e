/* Refused as a whole, wherever the action stands. */
BEGIN
{
	printf("nor this\n");
	exit(0);
}
END
/0/
{
	system("true");
}
