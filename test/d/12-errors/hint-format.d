BEGIN
{
	x = "text";
	printf(x);
}
