BEGIN
{
	printf("only this\n");
	exit(0);
}
