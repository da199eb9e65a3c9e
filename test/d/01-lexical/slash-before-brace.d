BEGIN
/1 /
{
	x = 8 / { 2 };
}
