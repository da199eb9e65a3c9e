BEGIN
{
	printf("%hd", (char)1);
}
