BEGIN
{
	x = getmajor("sda");
}
