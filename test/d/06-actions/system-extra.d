BEGIN
{
	system("date", 1);
}
