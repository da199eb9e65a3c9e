BEGIN
{
	x = 8 / ;
}
