BEGIN
{
	trace();
	trace(1, 2);
}
