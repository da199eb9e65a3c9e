BEGIN
{
	printf("%A", usym(arg0));
}
