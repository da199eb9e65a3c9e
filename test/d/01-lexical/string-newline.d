BEGIN
{
	trace("open
");
}
