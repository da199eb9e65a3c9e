BEGIN
{
	printf("never\n");
}
