BEGIN
{
	@ = 5;
}
BEGIN
{
	x = @;
}
