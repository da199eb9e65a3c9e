BEGIN
{
	speculate(1);
	system("date");
}
