BEGIN
{
	x = system("date");
}
