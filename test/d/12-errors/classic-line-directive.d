BEGIN
{
#line 7 "other.d"
	x = y;
}
