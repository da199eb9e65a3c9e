#line
#line abc
#line 5x
BEGIN
{
	exit(0);
}
