BEGIN
{
	*(string *)arg0 = "x";
}
