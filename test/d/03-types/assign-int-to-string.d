string x;
BEGIN
{
	x = 5;
}
