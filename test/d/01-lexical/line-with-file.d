#line 10 "other.d"
BEGIN
{
	trace(nosuch);
}
