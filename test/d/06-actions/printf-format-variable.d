BEGIN
{
	x = "a";
	printf(x);
}
