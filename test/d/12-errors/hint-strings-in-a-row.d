BEGIN
{
	printf("a" "b");
}
