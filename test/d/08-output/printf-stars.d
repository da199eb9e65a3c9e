BEGIN
{
	printf("%**d", 1, 2, 3);
	printf("%.**d", 1, 2, 3);
}
