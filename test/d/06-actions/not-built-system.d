BEGIN
{
	system("date");
}
