BEGIN
{
#line 70 "other.d"
	x = y;
}
