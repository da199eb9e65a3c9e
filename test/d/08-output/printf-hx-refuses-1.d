BEGIN
{
	printf("%hx", 1);
}
