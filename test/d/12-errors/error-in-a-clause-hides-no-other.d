BEGIN
{
	x = nosuch;
	y = strlen(5);
	z = x + y;
}
BEGIN
/bad/
{
	q = x;
}
