BEGIN
{
	print(1);
	print("%d\n", 1);
}
