BEGIN
{
	printf("never\n");
	exit(0);
}
END
{
	x = nosuch;
}
