BEGIN
{
	trace(1;
}
BEGIN
{
	trace(nosuch);
}
BEGIN
{
	x = = 1;
}
END
{
	commit();
}
