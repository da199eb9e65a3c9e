BEGIN
{
	@a = count();
}
BEGIN
/@a/
{
}
BEGIN
/@a[1]/
{
}
