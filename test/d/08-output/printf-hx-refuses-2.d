BEGIN
{
	printf("%hx", (char)1);
}
