BEGIN
{
	trace(x);
}
BEGIN
{
	x = 1;
}
