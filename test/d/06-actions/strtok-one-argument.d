BEGIN
{
	x = strtok("abc");
}
