BEGIN
{
#line 70
	x = y;
}
