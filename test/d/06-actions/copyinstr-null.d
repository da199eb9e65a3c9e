BEGIN
{
	trace(copyinstr(0));
}
BEGIN
{
	exit(0);
}
