BEGIN
{
	x = lltostr("1");
}
